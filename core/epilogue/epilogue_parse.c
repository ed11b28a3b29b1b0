/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_parse.c - the statements of an epilogue, and its shorthands. epilogue.h has the
 * grammar. */
#include "core/epilogue/epilogue_expression.h"
#include "core/epilogue/epilogue_op.h"
#include "core/text.h"

#include <string.h>

/* ---- statements ------------------------------------------------------------ */

/* Adds a statement; its name has been checked. */
static bool add_statement(struct gt_epi_parser *p, const char *word, size_t len, int root) {
    struct gt_epilogue *e = p->e;
    if (e->node[root].kind == GT_EPI_TRUTH)
        return gt_epi_refuse(p, word, len, "is assigned a comparison, not a number") > 0;
    if (e->statements == GT_EPILOGUE_STATEMENTS_MAX)
        return gt_epi_refuse(p, word, len,
                             "is one assignment too many: at most %d are allowed",
                             GT_EPILOGUE_STATEMENTS_MAX) > 0;
    struct gt_epi_statement *s = &e->statement[e->statements];
    memcpy(s->name, word, len);
    s->root = root;
    if (gt_epi_is_word("d", word, len))
        e->d = e->statements;
    if (gt_epi_is_word("d2", word, len))
        e->d2 = e->statements;
    e->statements++;
    return true;
}

/* Takes "=expression" after a name. */
static bool take_assignment(struct gt_epi_parser *p, const char *word, size_t len) {
    if (!gt_epi_check_name(p, word, len) || !gt_epi_expect(p, "=", "\"=\""))
        return false;
    const int root = gt_epi_take_expression(p);
    return root >= 0 && add_statement(p, word, len, root);
}

/* d2 is declared like a matrix; *seen tells whether it was. */
static bool declare_d2(struct gt_epi_parser *p, const char *word, int32_t shape,
                       gemmtune_dtype type, bool *seen) {
    if (shape != GT_EPI_MATRIX)
        return gt_epi_refuse(p, word, 2, "is a matrix: its declaration is d2[i,j]:<type>") >
               0;
    if (*seen)
        return gt_epi_refuse(p, word, 2, "is named a second time") > 0;
    *seen = true;
    p->e->type_d2 = (int32_t)type;
    return true;
}

/* Takes "[index]:type" after a name. */
static bool take_declaration(struct gt_epi_parser *p, const char *word, size_t len,
                             bool *d2) {
    int32_t shape;
    gemmtune_dtype type;
    if (!gt_epi_check_name(p, word, len) || !gt_epi_take_index(&shape, p) ||
        !gt_epi_expect(p, ":", "\":\""))
        return false;
    const char *name = p->at;
    const size_t name_len = gt_epi_word_length(p);
    if (!gt_type_by_name(&type, name, name_len))
        return (name_len > 0 ? gt_epi_refuse(p, name, name_len, "is not a type")
                             : gt_epi_expected(p, "a type")) > 0;
    p->at += name_len;
    if (gt_epi_is_word("d", word, len))
        return gt_epi_refuse(p, word, len, "is C, which has the problem's type") > 0;
    if (gt_epi_is_word("d2", word, len))
        return declare_d2(p, word, shape, type, d2);
    if (gt_type_is_float(type) && gt_type_unit(type) < gt_type_unit(gt_epilogue_real(p->e)))
        return gt_epi_refuse(p, name, name_len, "holds more than the arithmetic does") > 0;
    return gt_epi_add_operand(p, word, len, shape, type);
}

/* ---- shorthands ------------------------------------------------------------ */

/* Declares the operands of a step that are not there yet. */
static bool declare_step(struct gt_epi_parser *p, const struct gt_epilogue_step *step) {
    const struct gt_epilogue *e = p->e;
    const gemmtune_dtype type =
        step->scales ? gt_epilogue_real(e) : (gemmtune_dtype)e->type_c;
    struct gt_epi_parser q = *p;
    q.at = step->operands;
    q.end = q.at + strlen(q.at);
    while (q.at < q.end) {
        const char *word = q.at;
        const size_t len = gt_epi_word_length(&q);
        int32_t shape;
        q.at += len;
        if (!gt_epi_take_index(&shape, &q))
            return false;
        (void)gt_epi_accept(&q, ";");
        if (gt_epi_operand_named(e, word, len) < 0 &&
            !gt_epi_add_operand(&q, word, len, shape, type))
            return false;
    }
    return true;
}

/* Applies a step to the node p->x; returns the new node. */
static int apply_step(struct gt_epi_parser *p, const struct gt_epilogue_step *step) {
    struct gt_epi_parser q = *p;
    if (!declare_step(&q, step))
        return -1;
    q.at = step->means;
    q.end = q.at + strlen(q.at);
    const int at = gt_epi_take_expression(&q);
    p->read = q.read;
    return at;
}

static const char *nearest_step(const char *word, size_t len) {
    const char *names[32];
    char copy[GT_EPILOGUE_NAME_MAX];
    size_t count = 0;
    for (const struct gt_epilogue_step *s = gt_epilogue_steps; s->name != NULL; s++)
        names[count++] = s->name;
    names[count] = NULL;
    if (len >= sizeof copy)
        return NULL;
    memcpy(copy, word, len);
    copy[len] = '\0';
    return gt_text_nearest(copy, names);
}

static bool refuse_shorthand(struct gt_epi_parser *p, const char *word, size_t len) {
    const char *nearest = nearest_step(word, len);
    (void)gt_fail(p->err, GEMMTUNE_EPARSE,
                  "column %d of the epilogue: \"%.*s\" is neither a shorthand nor an "
                  "assignment%s%s%s",
                  (int)(word - p->start) + 1, (int)len, word,
                  nearest != NULL ? ": did you mean \"" : "",
                  nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
    return false;
}

/* Takes the word of len bytes as steps that are applied to x one after another. */
static bool take_shorthand(struct gt_epi_parser *p, const char *word, size_t len) {
    const char *at = word, *end = word + len;
    bool more = true;
    for (p->x = -1; more; at++) {
        const struct gt_epilogue_step *step = gt_epilogue_step_at(at, (size_t)(end - at));
        if (step == NULL)
            return refuse_shorthand(p, at, (size_t)(end - at));
        p->inside = at;
        if ((p->x = apply_step(p, step)) < 0)
            return false;
        at += strlen(step->name);
        more = at < end; /* "_" follows */
    }
    p->inside = NULL;
    return add_statement(p, "d", 1, p->x);
}

/* ---- the whole ------------------------------------------------------------- */

/* The kind of a statement, which decides what kind may come next. */
enum statement { DECLARATION, ASSIGNMENT, SHORTHAND };

/* Says what should stand here. A comma looks like an option of the problem. */
static bool expect(struct gt_epi_parser *p, const char *what) {
    if (p->at < p->end && *p->at == ',')
        return gt_epi_refuse(p, p->at, 1,
                             "cannot stand here; a problem's name has its options "
                             "ahead of \"epi=\"") > 0;
    return gt_epi_expected(p, what) > 0;
}

static bool take_statement(enum statement *last, struct gt_epi_parser *p, bool *d2) {
    const char *word = p->at;
    const size_t len = gt_epi_word_length(p);
    if (len == 0)
        return gt_epi_expected(p, "a name") > 0;
    p->at += len;
    const char next = p->at < p->end ? *p->at : '\0';
    const enum statement kind = next == '='                  ? ASSIGNMENT
                                : next == '[' || next == ':' ? DECLARATION
                                                             : SHORTHAND;
    if (kind == SHORTHAND && p->at < p->end && next != ';')
        return expect(p, "\"=\" (as in \"d=x+1\"), \":\", \"[\" or the end");
    if (*last == SHORTHAND || (*last == ASSIGNMENT && kind != ASSIGNMENT))
        return gt_epi_refuse(p, word, len, "stands behind the last statement") > 0;
    *last = kind;
    return kind == ASSIGNMENT    ? take_assignment(p, word, len)
           : kind == DECLARATION ? take_declaration(p, word, len, d2)
                                 : take_shorthand(p, word, len);
}

static gt_status refuse_name(const char *name, const char *what, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EPARSE, "the epilogue: \"%s\" %s", name, what);
}

/* Whatever is named has a use. */
static gt_status check_use(const struct gt_epi_parser *p, bool declares_d2) {
    const struct gt_epilogue *e = p->e;
    if (e->d < 0)
        return refuse_name("d", "is not assigned", p->err);
    if (declares_d2 && e->d2 < 0)
        return refuse_name("d2", "is not assigned", p->err);
    for (int i = 0; i < e->operands; i++)
        if ((p->read >> i & 1) == 0)
            return refuse_name(e->operand[i].name, "is declared and not read", p->err);
    for (int i = 0; i < e->statements; i++)
        if (!e->statement[i].used && i != e->d && i != e->d2)
            return refuse_name(e->statement[i].name, "is assigned and not read", p->err);
    return GEMMTUNE_OK;
}

static gt_status parse(struct gt_epi_parser *p) {
    enum statement last = DECLARATION;
    bool declares_d2 = false;
    do {
        if (!take_statement(&last, p, &declares_d2))
            return GEMMTUNE_EPARSE;
    } while (gt_epi_accept(p, ";"));
    if (p->at < p->end) {
        (void)expect(p, "an operator, \";\" or the end");
        return GEMMTUNE_EPARSE;
    }
    return check_use(p, declares_d2);
}

gt_status gt_epilogue_parse(struct gt_epilogue *out, const char *text,
                            gemmtune_dtype type_c, gemmtune_dtype type_acc,
                            struct gt_err *err) {
    static const struct gt_epilogue empty;
    const size_t len = strlen(text);
    struct gt_epi_parser p = {
        .start = text, .at = text, .end = text + len, .x = -1, .err = err};
    *out = empty;
    p.e = out;
    out->type_c = out->type_d2 = (int32_t)type_c;
    out->type_acc = (int32_t)type_acc;
    out->d = out->d2 = -1;
    if (len >= GT_EPILOGUE_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE, "an epilogue of %zu bytes: the limit is %d",
                       len, GT_EPILOGUE_MAX - 1);
    return parse(&p);
}
