/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_text.c - from tree to text, and the canonical text. */
#include "core/decimal.h"
#include "core/epilogue/epilogue_expression.h"
#include "core/epilogue/epilogue_op.h"
#include "core/page.h"

#include <string.h>

/* ---- expressions ----------------------------------------------------------- */

static void put_node(struct gt_page *w, const struct gt_epilogue *e, int at,
                     enum gt_epi_level level);

static void put_number(struct gt_page *w, double number) {
    char text[GT_DECIMAL_MAX];
    (void)gt_decimal_write(text, number);
    gt_page_put(w, "%s", text);
}

static void put_leaf(struct gt_page *w, const struct gt_epilogue *e,
                     const struct gt_epi_node *node) {
    const int index = node->arg[0];
    if (node->op == GT_EPI_NUMBER)
        put_number(w, node->number);
    else if (node->op == GT_EPI_OPERAND)
        gt_page_put(w, "%s%s", e->operand[index].name,
                    gt_epi_index[e->operand[index].shape]);
    else
        gt_page_put(w, "%s",
                    node->op == GT_EPI_LOCAL ? e->statement[index].name
                                             : gt_epi_ops[node->op].text);
}

static void put_call(struct gt_page *w, const struct gt_epilogue *e,
                     const struct gt_epi_node *node) {
    gt_page_put(w, "%s",
                node->op == GT_EPI_CAST ? gt_type_name((gemmtune_dtype)node->arg[1])
                                        : gt_epi_ops[node->op].text);
    for (int i = 0; i < gt_epi_ops[node->op].args; i++) {
        gt_page_put(w, i == 0 ? "(" : ",");
        put_node(w, e, node->arg[i], GT_EPI_LOOSE);
    }
    gt_page_put(w, ")");
}

static void put_select(struct gt_page *w, const struct gt_epilogue *e,
                       const struct gt_epi_node *node) {
    put_node(w, e, node->arg[0], GT_EPI_COMPARES);
    gt_page_put(w, "?");
    put_node(w, e, node->arg[1], GT_EPI_LOOSE);
    gt_page_put(w, ":");
    put_node(w, e, node->arg[2], GT_EPI_LOOSE);
}

static void put_operator(struct gt_page *w, const struct gt_epilogue *e,
                         const struct gt_epi_node *node) {
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    if (op->args == 2)
        put_node(w, e, node->arg[0], op->level);
    gt_page_put(w, "%s", op->text);
    put_node(w, e, node->arg[op->args - 1],
             (enum gt_epi_level)(op->args == 2 ? op->level + 1 : op->level));
}

/* Writes a node in brackets when it binds less tightly than `level`. The recursion ends:
 * operands have lower indices. */
static void put_node(struct gt_page *w, const struct gt_epilogue *e, int at,
                     enum gt_epi_level level) {
    const struct gt_epi_node *node = &e->node[at];
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    const bool brackets = op->level < level;
    gt_page_put(w, brackets ? "(" : "");
    if (op->args == 0)
        put_leaf(w, e, node);
    else if (node->op == GT_EPI_SELECT)
        put_select(w, e, node);
    else if (op->level == GT_EPI_TIGHT)
        put_call(w, e, node);
    else
        put_operator(w, e, node);
    gt_page_put(w, brackets ? ")" : "");
}

/* ---- statements ------------------------------------------------------------ */

static void put_operand(struct gt_page *w, const struct gt_epi_operand *x) {
    gt_page_put(w, "%s%s:%s;", x->name, gt_epi_index[x->shape],
                gt_type_name((gemmtune_dtype)x->type));
}

int gt_epilogue_print(const struct gt_epilogue *e, char *buf, size_t size) {
    struct gt_page w = gt_page_of(buf, size);
    for (int i = 0; i < e->operands; i++)
        put_operand(&w, &e->operand[i]);
    if (e->d2 >= 0 && e->type_d2 != e->type_c)
        gt_page_put(&w, "d2[i,j]:%s;", gt_type_name((gemmtune_dtype)e->type_d2));
    for (int i = 0; i < e->statements; i++) {
        gt_page_put(&w, "%s%s=", i > 0 ? ";" : "", e->statement[i].name);
        put_node(&w, e, e->statement[i].root, GT_EPI_LOOSE);
    }
    return w.len;
}

/* ---- shorthands ------------------------------------------------------------ */

/* The longest `means` of a step, with its NUL. */
enum { MEANING_MAX = 32 };

/* The step that means the node, when the node `inner` is the step's x; or NULL. */
static const char *step_from(int inner, const struct gt_epilogue *e, int at) {
    struct gt_epilogue cut = *e;
    char text[MEANING_MAX];
    struct gt_page w = gt_page_of(text, sizeof text);
    cut.node[inner] = (struct gt_epi_node){.op = GT_EPI_X};
    put_node(&w, &cut, at, GT_EPI_LOOSE);
    for (const struct gt_epilogue_step *s = gt_epilogue_steps; s->name != NULL; s++)
        if (w.len < MEANING_MAX && strcmp(s->means, text) == 0)
            return s->name;
    return NULL;
}

/* The step that makes the node, and the node that it is applied to. A step is one operation
 * or two; the longer one is preferred. */
static const char *step_of(int *inner, const struct gt_epilogue *e, int at) {
    const int left = e->node[at].arg[0];
    const char *two = NULL;
    if (gt_epi_ops[e->node[at].op].args == 0)
        return NULL;
    if (gt_epi_ops[e->node[left].op].args > 0)
        two = step_from(e->node[left].arg[0], e, at);
    *inner = two != NULL ? e->node[left].arg[0] : left;
    return two != NULL ? two : step_from(left, e, at);
}

/* Writes the steps that lead from x to the node; false when the text does not fit or there
 * are none. The outermost is found first and stands last. */
static bool find_steps(char word[GT_EPILOGUE_MAX], const struct gt_epilogue *e, int at) {
    size_t len = 0;
    word[0] = '\0';
    while (e->node[at].op != GT_EPI_X) {
        int inner = 0;
        const char *step = step_of(&inner, e, at);
        const size_t more = step == NULL ? 0 : strlen(step);
        if (more == 0 || len + more + 2 > GT_EPILOGUE_MAX)
            return false;
        memmove(word + more + (len > 0), word, len + 1);
        memcpy(word, step, more);
        if (len > 0)
            word[more] = '_';
        len += more + (len > 0);
        at = inner;
    }
    return len > 0;
}

/* Whether the text means the tree. */
static bool means(const char *text, const struct gt_epilogue *e) {
    struct gt_epilogue again;
    return gt_epilogue_parse(&again, text, (gemmtune_dtype)e->type_c,
                             (gemmtune_dtype)e->type_acc, NULL) == GEMMTUNE_OK &&
           gt_epilogue_same(&again, e);
}

/* The shorthand with declarations of those operands that `declared` has a bit for. */
static bool try_shorthand(char text[GT_EPILOGUE_MAX], const struct gt_epilogue *e,
                          const char *word, unsigned declared) {
    struct gt_page w = gt_page_of(text, GT_EPILOGUE_MAX);
    for (int i = 0; i < e->operands; i++)
        if (declared >> i & 1)
            put_operand(&w, &e->operand[i]);
    gt_page_put(&w, "%s", word);
    return w.len < GT_EPILOGUE_MAX && means(text, e);
}

/* A bit for each operand of another type than the shorthand gives it. */
static unsigned unusual_types(const struct gt_epilogue *e, const char *word) {
    struct gt_epilogue usual;
    unsigned unusual = 0;
    if (gt_epilogue_parse(&usual, word, (gemmtune_dtype)e->type_c,
                          (gemmtune_dtype)e->type_acc, NULL) != GEMMTUNE_OK)
        return ~0U;
    for (int i = 0; i < e->operands; i++) {
        const char *name = e->operand[i].name;
        const int same = gt_epi_operand_named(&usual, name, strlen(name));
        if (same < 0 || usual.operand[same].type != e->operand[i].type)
            unusual |= 1U << i;
    }
    return unusual;
}

static bool find_shorthand(char text[GT_EPILOGUE_MAX], const struct gt_epilogue *e) {
    char word[GT_EPILOGUE_MAX];
    return e->statements == 1 && find_steps(word, e, e->statement[e->d].root) &&
           (try_shorthand(text, e, word, unusual_types(e, word)) ||
            try_shorthand(text, e, word, ~0U));
}

gt_status gt_epilogue_canonical(char text[GT_EPILOGUE_MAX], const struct gt_epilogue *e,
                                struct gt_err *err) {
    if (find_shorthand(text, e))
        return GEMMTUNE_OK;
    const int len = gt_epilogue_print(e, text, GT_EPILOGUE_MAX);
    if (len < GT_EPILOGUE_MAX && means(text, e))
        return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EPARSE,
                   "the epilogue's canonical text has %d bytes, or is nested too deep: the "
                   "limits are %d and %d",
                   len, GT_EPILOGUE_MAX - 1, GT_EPILOGUE_DEPTH_MAX);
}

gt_status gt_epilogue_settle(char canonical[GT_EPILOGUE_MAX], const char *text,
                             gemmtune_dtype type_c, gemmtune_dtype type_acc,
                             struct gt_err *err) {
    struct gt_epilogue e;
    const gt_status status = gt_epilogue_parse(&e, text, type_c, type_acc, err);
    return status == GEMMTUNE_OK ? gt_epilogue_canonical(canonical, &e, err) : status;
}
