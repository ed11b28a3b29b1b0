/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_expression.c - words and expressions of an epilogue. epilogue.h has the
 * grammar. */
#include "core/epilogue/epilogue_expression.h"

#include "core/decimal.h"
#include "core/element.h"
#include "core/epilogue/epilogue_op.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---------------------------------------------------------------- */

int gt_epi_refuse(const struct gt_epi_parser *p, const char *at, size_t len,
                  const char *fmt, ...) {
    const char *where = p->inside != NULL ? p->inside : at;
    char what[128];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    (void)gt_fail(p->err, GEMMTUNE_EPARSE, "column %d of the epilogue: \"%.*s\" %s",
                  (int)(where - p->start) + 1, (int)len, at, what);
    return -1;
}

int gt_epi_expected(const struct gt_epi_parser *p, const char *what) {
    const int column = (int)(p->at - p->start) + 1;
    const size_t len = p->at < p->end ? gt_text_utf8(p->at, (size_t)(p->end - p->at)) : 0;
    if (p->at == p->end)
        (void)gt_fail(p->err, GEMMTUNE_EPARSE,
                      "column %d of the epilogue: expected %s, not its end", column, what);
    else
        (void)gt_fail(p->err, GEMMTUNE_EPARSE,
                      "column %d of the epilogue: expected %s, not \"%.*s\"", column, what,
                      len > 0 ? (int)len : 1, p->at);
    return -1;
}

/* ---- words ----------------------------------------------------------------- */

bool gt_epi_accept(struct gt_epi_parser *p, const char *text) {
    const size_t len = strlen(text);
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len) != 0)
        return false;
    p->at += len;
    return true;
}

bool gt_epi_expect(struct gt_epi_parser *p, const char *text, const char *what) {
    return gt_epi_accept(p, text) || gt_epi_expected(p, what) > 0;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

size_t gt_epi_word_length(const struct gt_epi_parser *p) {
    const char *at = p->at;
    while (at < p->end &&
           ((*at >= 'a' && *at <= 'z') || (at > p->at && (is_digit(*at) || *at == '_'))))
        at++;
    return (size_t)(at - p->at);
}

bool gt_epi_is_word(const char *name, const char *word, size_t len) {
    return strlen(name) == len && memcmp(name, word, len) == 0;
}

int gt_epi_operand_named(const struct gt_epilogue *e, const char *word, size_t len) {
    int i = 0;
    while (i < e->operands && !gt_epi_is_word(e->operand[i].name, word, len))
        i++;
    return i < e->operands ? i : -1;
}

static int statement_named(const struct gt_epilogue *e, const char *word, size_t len) {
    int i = 0;
    while (i < e->statements && !gt_epi_is_word(e->statement[i].name, word, len))
        i++;
    return i < e->statements ? i : -1;
}

bool gt_epi_take_index(int32_t *shape, struct gt_epi_parser *p) {
    *shape = GT_EPI_SCALAR;
    if (p->at == p->end || *p->at != '[')
        return true;
    for (int i = GT_EPI_ROWS; i < GT_EPI_SHAPES; i++)
        if (gt_epi_accept(p, gt_epi_index[i])) {
            *shape = i;
            return true;
        }
    const char *close = memchr(p->at, ']', (size_t)(p->end - p->at));
    const size_t len = close != NULL ? (size_t)(close - p->at) + 1 : 1;
    return gt_epi_refuse(p, p->at, len, "is not [i], [j], [i,j], [z] or [z,j]") > 0;
}

/* ---- names ----------------------------------------------------------------- */

bool gt_epi_check_name(const struct gt_epi_parser *p, const char *word, size_t len) {
    gemmtune_dtype type;
    if (len >= GT_EPILOGUE_NAME_MAX)
        return gt_epi_refuse(p, word, len, "is a name of more than %d bytes",
                             GT_EPILOGUE_NAME_MAX - 1) > 0;
    if (gt_epi_op_named(word, len) != GT_EPI_OPS || gt_type_by_name(&type, word, len) ||
        gt_epi_is_word("i", word, len) || gt_epi_is_word("j", word, len) ||
        gt_epi_is_word("z", word, len))
        return gt_epi_refuse(p, word, len, "has a meaning already") > 0;
    if (gt_epi_operand_named(p->e, word, len) >= 0 || statement_named(p->e, word, len) >= 0)
        return gt_epi_refuse(p, word, len, "is named a second time") > 0;
    return true;
}

bool gt_epi_add_operand(struct gt_epi_parser *p, const char *word, size_t len,
                        int32_t shape, gemmtune_dtype type) {
    struct gt_epilogue *e = p->e;
    if (e->operands == GT_EPILOGUE_OPERANDS_MAX)
        return gt_epi_refuse(p, word, len,
                             "is one operand too many: at most %d are allowed",
                             GT_EPILOGUE_OPERANDS_MAX) > 0;
    struct gt_epi_operand *x = &e->operand[e->operands++];
    memcpy(x->name, word, len);
    x->shape = shape;
    x->type = (int32_t)type;
    return true;
}

/* ---- nodes ----------------------------------------------------------------- */

static bool has_int_sums(const struct gt_epilogue *e) {
    return !gt_type_is_float((gemmtune_dtype)e->type_acc);
}

static enum gt_epi_kind kind_of_type(const struct gt_epilogue *e, int32_t type) {
    return has_int_sums(e) && !gt_type_is_float((gemmtune_dtype)type) ? GT_EPI_INT
                                                                      : GT_EPI_REAL;
}

static int add_node(struct gt_epi_parser *p, struct gt_epi_node node) {
    if (p->e->nodes == GT_EPILOGUE_NODES_MAX)
        return gt_epi_refuse(p, p->at, 0, "too many operations");
    p->e->node[p->e->nodes] = node;
    return p->e->nodes++;
}

static int add_leaf(struct gt_epi_parser *p, enum gt_epi_op_id op, int index,
                    enum gt_epi_kind kind) {
    return add_node(p, (struct gt_epi_node){.op = (uint8_t)op,
                                            .arg = {(int16_t)index, 0, 0},
                                            .kind = (uint8_t)kind});
}

/* The kind of an operation on nodes; `first` is the first of them that is a number. */
static enum gt_epi_kind kind_of_operation(const struct gt_epilogue *e,
                                          const struct gt_epi_node *node, int first) {
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    if (op->rule == GT_EPI_IS_TRUTH)
        return GT_EPI_TRUTH;
    bool integer = op->rule == GT_EPI_IS_ARITHMETIC;
    for (int i = first; i < op->args; i++)
        integer = integer && e->node[node->arg[i]].kind == GT_EPI_INT;
    return integer ? GT_EPI_INT : GT_EPI_REAL;
}

/* Adds an operation on the nodes of arg. `at` is its operator or function. */
static int add_operation(struct gt_epi_parser *p, enum gt_epi_op_id op, const int arg[3],
                         const char *at, size_t len) {
    struct gt_epi_node node = {.op = (uint8_t)op};
    const int first = op == GT_EPI_SELECT ? 1 : 0;
    for (int i = 0; i < gt_epi_ops[op].args; i++) {
        const bool truth = p->e->node[arg[i]].kind == GT_EPI_TRUTH;
        if (truth && i >= first)
            return gt_epi_refuse(p, at, len, "needs a number, not a comparison");
        if (!truth && i < first)
            return gt_epi_refuse(p, at, len, "needs a comparison ahead of it");
        node.arg[i] = (int16_t)arg[i];
    }
    node.kind = (uint8_t)kind_of_operation(p->e, &node, first);
    return add_node(p, node);
}

/* ---- primaries ------------------------------------------------------------- */

/* Real numbers must be normal ones of the arithmetic, since devices differ below them. */
static int parse_number(struct gt_epi_parser *p) {
    const char *word = p->at;
    const gemmtune_dtype real = gt_epilogue_real(p->e);
    const double least = gt_type_least(real),
                 most = (2 - 2 * gt_type_unit(real)) / least * 2;
    struct gt_epi_node node = {.op = GT_EPI_NUMBER, .kind = GT_EPI_REAL};
    const size_t len = gt_decimal_read(&node.number, word, (size_t)(p->end - word));
    p->at += len;
    if (gt_epi_word_length(p) > 0 ||
        (p->at < p->end && (is_digit(*p->at) || *p->at == '.')))
        return gt_epi_refuse(p, word, len + 1, "is not a number");
    bool zero = true;
    for (const char *c = word; c < word + len && *c != 'e'; c++)
        zero = zero && (*c == '0' || *c == '.');
    if (!zero && !(node.number >= least && node.number <= most))
        return gt_epi_refuse(p, word, len, "is beyond the numbers of the arithmetic");
    if (has_int_sums(p->e) && node.number <= INT32_MAX &&
        nearbyint(node.number) >= node.number && nearbyint(node.number) <= node.number)
        node.kind = GT_EPI_INT;
    return add_node(p, node);
}

static int parse_operand(struct gt_epi_parser *p, int index, const char *word, size_t len) {
    const struct gt_epi_operand *x = &p->e->operand[index];
    int32_t shape;
    if (!gt_epi_take_index(&shape, p))
        return -1;
    if (shape != x->shape)
        return gt_epi_refuse(p, word, len, "has another index where it stands first");
    p->read |= 1U << index;
    return add_leaf(p, GT_EPI_OPERAND, index, kind_of_type(p->e, x->type));
}

/* A name with an index that was not declared is an operand of C's type. A name without one
 * may be a slip of the pen. */
static int parse_undeclared(struct gt_epi_parser *p, const char *word, size_t len) {
    int32_t shape;
    const char *index = p->at;
    if (index < p->end && *index == '(')
        return gt_epi_refuse(p, word, len, "is no function");
    if (!gt_epi_take_index(&shape, p))
        return -1;
    if (gt_epi_is_word("d", word, len) || gt_epi_is_word("d2", word, len))
        return gt_epi_refuse(p, word, len, "is an output, not an operand");
    if (shape == GT_EPI_SCALAR && gt_epilogue_step_at(word, len) != NULL)
        return gt_epi_refuse(p, word, len,
                             "is a shorthand, which stands alone and not in an expression");
    if (shape == GT_EPI_SCALAR)
        return gt_epi_refuse(p, word, len,
                             "is not declared: a scalar needs a declaration such as "
                             "%.*s:f32 ahead of the assignments",
                             (int)len, word);
    if (!gt_epi_check_name(p, word, len) ||
        !gt_epi_add_operand(p, word, len, shape, (gemmtune_dtype)p->e->type_c))
        return -1;
    p->at = index;
    return parse_operand(p, p->e->operands - 1, word, len);
}

static int parse_local(struct gt_epi_parser *p, int index) {
    struct gt_epi_statement *s = &p->e->statement[index];
    s->used = 1;
    return add_leaf(p, GT_EPI_LOCAL, index, (enum gt_epi_kind)p->e->node[s->root].kind);
}

/* The kind of a leaf of the problem. x is alpha acc + beta c. */
static enum gt_epi_kind kind_of_leaf(const struct gt_epilogue *e, enum gt_epi_op_id op) {
    return op == GT_EPI_C || op == GT_EPI_X ? kind_of_type(e, e->type_c)
                                            : kind_of_type(e, e->type_acc);
}

static int parse_arguments(struct gt_epi_parser *p, enum gt_epi_op_id op, const char *word,
                           size_t len) {
    int arg[3] = {0};
    if (!gt_epi_expect(p, "(", "\"(\""))
        return -1;
    for (int i = 0; i < gt_epi_ops[op].args; i++)
        if ((i > 0 && !gt_epi_expect(p, ",", "\",\"")) ||
            (arg[i] = gt_epi_take_expression(p)) < 0)
            return -1;
    return gt_epi_expect(p, ")", "\")\"") ? add_operation(p, op, arg, word, len) : -1;
}

static int parse_cast(struct gt_epi_parser *p, gemmtune_dtype type, const char *word,
                      size_t len) {
    if (gt_type_is_float(type) && gt_type_unit(type) < gt_type_unit(gt_epilogue_real(p->e)))
        return gt_epi_refuse(p, word, len, "holds more than the arithmetic does");
    const int at = parse_arguments(p, GT_EPI_CAST, word, len);
    if (at < 0)
        return -1;
    p->e->node[at].arg[1] = (int16_t)type;
    p->e->node[at].kind = (uint8_t)kind_of_type(p->e, (int32_t)type);
    return at;
}

static int parse_word(struct gt_epi_parser *p) {
    const char *word = p->at;
    const size_t len = gt_epi_word_length(p);
    const enum gt_epi_op_id op = gt_epi_op_named(word, len);
    const int operand = gt_epi_operand_named(p->e, word, len);
    const int local = statement_named(p->e, word, len);
    gemmtune_dtype type;
    p->at += len;
    if (op == GT_EPI_X && p->x >= 0)
        return p->x;
    if (op != GT_EPI_OPS && gt_epi_ops[op].args == 0)
        return add_leaf(p, op, 0, kind_of_leaf(p->e, op));
    if (op != GT_EPI_OPS)
        return parse_arguments(p, op, word, len);
    if (gt_type_by_name(&type, word, len))
        return parse_cast(p, type, word, len);
    if (operand >= 0)
        return parse_operand(p, operand, word, len);
    return local >= 0 ? parse_local(p, local) : parse_undeclared(p, word, len);
}

static int parse_primary(struct gt_epi_parser *p) {
    if (p->at < p->end && is_digit(*p->at))
        return parse_number(p);
    if (gt_epi_word_length(p) > 0)
        return parse_word(p);
    if (!gt_epi_accept(p, "("))
        return gt_epi_expected(p, "a number, a name or \"(\"");
    const int inner = gt_epi_take_expression(p);
    return inner >= 0 && gt_epi_expect(p, ")", "\")\" or an operator") ? inner : -1;
}

/* ---- operators ------------------------------------------------------------- */

static bool enter(struct gt_epi_parser *p) {
    return p->depth++ < GT_EPILOGUE_DEPTH_MAX ||
           gt_epi_refuse(p, p->at, 1, "is nested more than %d deep",
                         GT_EPILOGUE_DEPTH_MAX) > 0;
}

static int parse_unary(struct gt_epi_parser *p) {
    const char *sign = p->at;
    int arg[3] = {0};
    if (!gt_epi_accept(p, "-"))
        return parse_primary(p);
    if (!enter(p) || (arg[0] = parse_unary(p)) < 0)
        return -1;
    p->depth--;
    return add_operation(p, GT_EPI_NEGATE, arg, sign, 1);
}

/* Takes the operator at the parser's place when it binds at least as tightly as `level`. */
static enum gt_epi_op_id take_operator(struct gt_epi_parser *p, enum gt_epi_level level) {
    for (int op = GT_EPI_LE; op <= GT_EPI_DIV; op++)
        if (gt_epi_ops[op].level >= level && gt_epi_accept(p, gt_epi_ops[op].text))
            return (enum gt_epi_op_id)op;
    return GT_EPI_OPS;
}

static int parse_binary(struct gt_epi_parser *p, enum gt_epi_level level) {
    int left = parse_unary(p);
    while (left >= 0) {
        const char *sign = p->at;
        const enum gt_epi_op_id op = take_operator(p, level);
        if (op == GT_EPI_OPS)
            break;
        const size_t len = (size_t)(p->at - sign);
        const int right = parse_binary(p, (enum gt_epi_level)(gt_epi_ops[op].level + 1));
        left = right < 0 ? -1 : add_operation(p, op, (int[3]){left, right}, sign, len);
    }
    return left;
}

int gt_epi_take_expression(struct gt_epi_parser *p) {
    int arg[3] = {0};
    if (!enter(p) || (arg[0] = parse_binary(p, GT_EPI_COMPARES)) < 0)
        return -1;
    const char *sign = p->at;
    int at = arg[0];
    if (gt_epi_accept(p, "?"))
        at = (arg[1] = gt_epi_take_expression(p)) < 0 ||
                     !gt_epi_expect(p, ":", "\":\" or an operator") ||
                     (arg[2] = gt_epi_take_expression(p)) < 0
                 ? -1
                 : add_operation(p, GT_EPI_SELECT, arg, sign, 1);
    p->depth--;
    return at;
}
