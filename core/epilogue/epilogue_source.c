/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_source.c - see epilogue_source.h. */
#include "core/epilogue/epilogue_source.h"

#include "core/decimal.h"
#include "core/epilogue/epilogue_op.h"
#include "core/page.h"

#include <string.h>

struct sheet {
    const struct gt_epilogue *e;
    struct gt_page page;
    bool once; /* integers become reals that a second rounding does not notice */
};

#define PUT(w, ...) gt_page_put(&(w)->page, __VA_ARGS__)

static void put_node(struct sheet *w, int at);

/* A real needs a point or an exponent, and the suffix of its type. */
static void put_number(struct sheet *w, const struct gt_epi_node *node) {
    char text[GT_DECIMAL_MAX];
    (void)gt_decimal_write(text, node->number);
    PUT(w, "%s", text);
    if (node->kind == GT_EPI_INT)
        return;
    PUT(w, "%s%s", strpbrk(text, ".e") == NULL ? ".0" : "",
        gt_epilogue_real(w->e) == GEMMTUNE_F32 ? "f" : "");
}

static void put_leaf(struct sheet *w, const struct gt_epi_node *node) {
    if (node->op == GT_EPI_NUMBER)
        put_number(w, node);
    else if (node->op == GT_EPI_OPERAND)
        PUT(w, "gt_in_%d", node->arg[0]);
    else if (node->op == GT_EPI_LOCAL)
        PUT(w, "gt_%c%d", w->once && node->kind == GT_EPI_REAL ? 'o' : 'v', node->arg[0]);
    else if (node->op == GT_EPI_X && node->kind == GT_EPI_REAL && w->once)
        PUT(w, "gt_once_x");
    else
        PUT(w, "gt_in_%s", gt_epi_ops[node->op].text);
}

/* Writes a node as a real when `real` is set. */
static void put_as(struct sheet *w, int at, bool real) {
    const bool converts = real && w->e->node[at].kind == GT_EPI_INT;
    PUT(w, !converts ? "" : w->once ? "gt_iodd(" : "(gt_real)(");
    put_node(w, at);
    PUT(w, converts ? ")" : "");
}

static void put_call(struct sheet *w, const struct gt_epi_node *node) {
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    const bool integer = node->kind == GT_EPI_INT;
    PUT(w, "gt_%s%s(", integer ? "i" : "", integer ? op->integer : op->text);
    for (int i = 0; i < gt_epi_ops[node->op].args; i++) {
        PUT(w, i > 0 ? ", " : "");
        put_as(w, node->arg[i], node->kind == GT_EPI_REAL);
    }
    PUT(w, ")");
}

static void put_cast(struct sheet *w, const struct gt_epi_node *node) {
    const bool from_int = w->e->node[node->arg[0]].kind == GT_EPI_INT;
    const char *name = node->kind == GT_EPI_REAL ? "cast" : from_int ? "iint" : "int";
    const bool once = w->once;
    PUT(w, "gt_%s_%s(", name, gt_type_name((gemmtune_dtype)node->arg[1]));
    w->once = gt_epilogue_casts_once(w->e, node);
    put_as(w, node->arg[0], node->kind == GT_EPI_REAL);
    w->once = once;
    PUT(w, ")");
}

static void put_select(struct sheet *w, const struct gt_epi_node *node) {
    PUT(w, "(");
    put_node(w, node->arg[0]);
    PUT(w, " ? ");
    put_as(w, node->arg[1], node->kind == GT_EPI_REAL);
    PUT(w, " : ");
    put_as(w, node->arg[2], node->kind == GT_EPI_REAL);
    PUT(w, ")");
}

/* A comparison of two ints is one of ints. */
static void put_binary(struct sheet *w, const struct gt_epi_node *node) {
    const struct gt_epi_node *left = &w->e->node[node->arg[0]];
    const struct gt_epi_node *right = &w->e->node[node->arg[1]];
    const bool ints = left->kind == GT_EPI_INT && right->kind == GT_EPI_INT;
    const bool real = node->kind == GT_EPI_REAL || !ints;
    PUT(w, "(");
    put_as(w, node->arg[0], real);
    PUT(w, " %s ", gt_epi_ops[node->op].text);
    put_as(w, node->arg[1], real);
    PUT(w, ")");
}

/* Every operation is in brackets. The recursion ends: operands have lower indices. */
static void put_node(struct sheet *w, int at) {
    const struct gt_epi_node *node = &w->e->node[at];
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    if (op->args == 0)
        put_leaf(w, node);
    else if (node->op == GT_EPI_CAST)
        put_cast(w, node);
    else if (node->op == GT_EPI_SELECT)
        put_select(w, node);
    else if (node->kind == GT_EPI_INT || op->level == GT_EPI_TIGHT)
        put_call(w, node);
    else if (node->op == GT_EPI_NEGATE) {
        PUT(w, "(-");
        put_node(w, node->arg[0]);
        PUT(w, ")");
    } else
        put_binary(w, node);
}

bool gt_epilogue_stores_int(const struct gt_epilogue *e, bool second) {
    const int32_t statement = second ? e->d2 : e->d;
    return statement >= 0 && e->node[e->statement[statement].root].kind == GT_EPI_INT;
}

static void put_statement(struct sheet *w, int i, bool once) {
    const int root = w->e->statement[i].root;
    const bool integer = w->e->node[root].kind == GT_EPI_INT;
    PUT(w, "const %s gt_%c%d = ", integer ? "int" : "gt_real", once ? 'o' : 'v', i);
    w->once = once;
    put_node(w, root);
    PUT(w, ";\n");
}

/* A statement of integers that become reals has a second value, for stores and casts that
 * round it again. */
static void put_statements(struct sheet *w) {
    const bool needed = gt_epilogue_has_once(w->e);
    for (int i = 0; i < w->e->statements; i++) {
        const int root = w->e->statement[i].root;
        put_statement(w, i, false);
        if (needed && w->e->node[root].kind == GT_EPI_REAL && gt_epilogue_keeps(w->e, root))
            put_statement(w, i, true);
    }
}

static void put_store(struct sheet *w, const char *name, int i, bool once) {
    const bool integer = w->e->node[w->e->statement[i].root].kind == GT_EPI_INT;
    PUT(w, "%s(gt_%c%d);\n", name, once && !integer ? 'o' : 'v', i);
}

int gt_epilogue_source(const struct gt_epilogue *e, char *buf, size_t size) {
    struct sheet w = {e, gt_page_of(buf, size), false};
    put_statements(&w);
    put_store(&w, "GT_PUT_D", e->d, gt_epilogue_rounds_once(e, false));
    if (e->d2 >= 0)
        put_store(&w, "GT_PUT_D2", e->d2, gt_epilogue_rounds_once(e, true));
    return w.page.len;
}
