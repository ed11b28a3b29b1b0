/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_range.c - see epilogue_range.h. Nodes follow their operands, so one pass
 * over the array evaluates the tree. A node is evaluated for all elements of a block before
 * the next node: one element's arithmetic does not wait for the arithmetic of the element
 * before. */
#include "core/epilogue/epilogue_range.h"

#include "core/element.h"
#include "core/epilogue/epilogue_element.h"
#include "core/epilogue/epilogue_op.h"

#include <math.h>

struct pass {
    const struct gt_epilogue *e;
    const struct gt_epi_block *block;
    int count; /* of elements */
    struct gt_arithmetic arithmetic;
    struct gt_grid grid; /* of its numbers */
    bool brief;          /* gt_epilogue_is_brief */
    bool exact;          /* results are not widened: a range of one number stays one */
    bool once;           /* integers stay what they are until they are stored */
    struct gt_epi_ranges range[GT_EPILOGUE_NODES_MAX];
};

static inline struct gt_range get(const struct gt_epi_ranges *x, int i) {
    return (struct gt_range){x->low[i], x->high[i], x->nan[i] > 0};
}

static inline void put(struct gt_epi_ranges *x, int i, struct gt_range value) {
    x->low[i] = value.low;
    x->high[i] = value.high;
    x->nan[i] = value.nan ? 1 : 0;
}

/* Sets the range of each element i to an expression. It stands in the loop, and is no
 * function that a loop calls, so that its constants are computed once. */
#define EACH(p, out, expression)                                                           \
    for (int i = 0; i < (p)->count; i++)                                                   \
    put(out, i, expression)

/* ---- reals ----------------------------------------------------------------- */

static void apply_function(const struct pass *p, struct gt_epi_ranges *out,
                           enum gt_epi_op_id op, const struct gt_epi_ranges *t) {
    const struct gt_epi_function *f = gt_epi_function_of(op);
    EACH(p, out, gt_epi_function_range(f, get(t, i)));
}

/* Widens x by an error in units of the arithmetic's roundoff. */
static void round_all(const struct pass *p, struct gt_epi_ranges *x, double relative) {
    const struct gt_arithmetic a = p->arithmetic; /* a copy: no store changes it */
    const struct gt_slack slack = {relative * a.unit, 0};
    if (p->exact)
        return;
    EACH(p, x, gt_range_round(get(x, i), slack, &a));
}

/* A number or integers that become real: exact where the arithmetic holds them. */
static inline struct gt_range as_real(struct gt_range x, const struct gt_arithmetic *a,
                                      const struct gt_grid *grid) {
    const double exact = 1 / a->unit, element = gt_grid_round(grid, x.low);
    const bool is_element = (element >= x.low) & (element <= x.low);
    const bool held =
        gt_range_is_point(x) ? is_element : (x.low >= -exact) & (x.high <= exact);
    return gt_range_round(x, (struct gt_slack){held ? 0 : a->unit, 0}, a);
}

static void all_as_real(const struct pass *p, struct gt_epi_ranges *x) {
    if (!p->exact)
        EACH(p, x, as_real(get(x, i), &p->arithmetic, &p->grid));
}

/* The same for integers. */
static void integers_as_real(const struct pass *p, struct gt_epi_ranges *x) {
    if (!p->once)
        all_as_real(p, x);
}

/* Adds the slack of an operation to its results; t is its first operand. */
static void round_results(const struct pass *p, struct gt_epi_ranges *out,
                          enum gt_epi_op_id op, const struct gt_epi_ranges *t) {
    const struct gt_epi_op *row = &gt_epi_ops[op];
    const struct gt_arithmetic a = p->arithmetic;
    const double relative = p->brief && row->brief > 0 ? row->brief : row->relative;
    const double of_operand = row->of_operand * a.unit, tiny = row->tiny * a.least;
    if (relative <= 0 || p->exact)
        return;
    for (int i = 0; i < p->count; i++) {
        const double operand = gt_range_greater(fabs(t->low[i]), fabs(t->high[i]));
        const double result = gt_range_greater(fabs(out->low[i]), fabs(out->high[i]));
        const double part = gt_range_lesser(of_operand * gt_range_lesser(operand, a.most),
                                            row->tail * gt_range_lesser(result, a.most));
        const struct gt_slack slack = {relative * a.unit, part + tiny};
        put(out, i, gt_range_round(get(out, i), slack, &a));
    }
}

static void apply_real(const struct pass *p, struct gt_epi_ranges *out,
                       enum gt_epi_op_id op, const struct gt_epi_ranges *x,
                       const struct gt_epi_ranges *y) {
    switch (op) {
    case GT_EPI_ADD:
        EACH(p, out, gt_range_add(get(x, i), get(y, i)));
        break;
    case GT_EPI_SUB:
        EACH(p, out, gt_range_add(get(x, i), gt_range_negate(get(y, i))));
        break;
    case GT_EPI_MUL:
        EACH(p, out, gt_range_multiply(get(x, i), get(y, i)));
        break;
    case GT_EPI_DIV:
        EACH(p, out, gt_range_divide(get(x, i), get(y, i)));
        break;
    case GT_EPI_NEGATE:
        EACH(p, out, gt_range_negate(get(x, i)));
        break;
    case GT_EPI_MIN:
        EACH(p, out, gt_range_min(get(x, i), get(y, i)));
        break;
    case GT_EPI_MAX:
        EACH(p, out, gt_range_max(get(x, i), get(y, i)));
        break;
    case GT_EPI_ABS:
        EACH(p, out, gt_range_abs(get(x, i)));
        break;
    case GT_EPI_RELU:
        EACH(p, out, gt_range_max(get(x, i), gt_range_point(0)));
        break;
    default:
        apply_function(p, out, op, x);
    }
}

/* ---- leaves ---------------------------------------------------------------- */

static gemmtune_dtype type_of(const struct pass *p, enum gt_epi_op_id leaf, int operand) {
    return (gemmtune_dtype)(leaf == GT_EPI_C         ? p->e->type_c
                            : leaf == GT_EPI_OPERAND ? p->e->operand[operand].type
                                                     : p->e->type_acc);
}

/* A number within `error` of the value; without an error the value itself. */
static inline struct gt_range known(double value, double error) {
    const bool certain = (error >= 0) & (error <= 0);
    const struct gt_range about = gt_range_about(value, error);
    return certain ? gt_range_point(value) : about;
}

/* The numbers of a leaf, before its type matters. */
static void read_leaf(const struct pass *p, struct gt_epi_ranges *out,
                      enum gt_epi_op_id leaf, int operand) {
    const struct gt_epi_block *block = p->block;
    switch (leaf) {
    case GT_EPI_ALPHA:
        EACH(p, out, gt_range_point(block->alpha));
        break;
    case GT_EPI_BETA:
        EACH(p, out, gt_range_point(block->beta));
        break;
    case GT_EPI_C:
        EACH(p, out, gt_range_point(block->c[i]));
        break;
    case GT_EPI_OPERAND:
        EACH(p, out, gt_range_point(block->operand[operand][i]));
        break;
    default: /* acc */
        if (p->exact)
            EACH(p, out, gt_range_point(block->acc[i]));
        else
            EACH(p, out, known(block->acc[i], block->acc_error[i]));
    }
}

/* out = x as elements of a type. */
static void convert_all(const struct pass *p, struct gt_epi_ranges *out,
                        const struct gt_epi_ranges *x, gemmtune_dtype type, bool saturate) {
    const struct gt_conversion to = gt_conversion_to(type, saturate);
    if (to.integer)
        EACH(p, out, gt_range_to_integer(get(x, i), &to));
    else
        EACH(p, out, gt_range_to_float(get(x, i), &to));
}

/* The numbers of a leaf, as its type has them: in this arithmetic, or as integers. */
static void load(const struct pass *p, struct gt_epi_ranges *out, enum gt_epi_op_id leaf,
                 int operand) {
    const gemmtune_dtype type = type_of(p, leaf, operand);
    read_leaf(p, out, leaf, operand);
    if (gt_type_is_float(type))
        round_all(p, out, gt_type_unit(type) >= p->arithmetic.unit ? 0 : 1);
    else
        convert_all(p, out, out, type, true);
}

/* The same as REAL numbers, unless `integer`. */
static void load_as(const struct pass *p, struct gt_epi_ranges *out, enum gt_epi_op_id leaf,
                    int operand, bool integer) {
    load(p, out, leaf, operand);
    if (!integer && !gt_type_is_float(type_of(p, leaf, operand)))
        all_as_real(p, out);
}

/* alpha acc. With integer sums it is an integer. */
static void scaled_sum(const struct pass *p, struct gt_epi_ranges *out, bool integer) {
    struct gt_epi_ranges alpha;
    const bool integer_sums = !gt_type_is_float((gemmtune_dtype)p->e->type_acc);
    load(p, &alpha, GT_EPI_ALPHA, 0);
    load(p, out, GT_EPI_ACC, 0);
    if (integer_sums) {
        EACH(p, out, gt_epi_integer_range(GT_EPI_MUL, get(&alpha, i), get(out, i)));
        if (!integer)
            integers_as_real(p, out);
    } else {
        EACH(p, out, gt_range_multiply(get(&alpha, i), get(out, i)));
        round_all(p, out, 1);
    }
}

/* alpha acc + beta c. With integer sums, alpha acc is an integer; beta c is one when C
 * has integers. */
static void product_of(const struct pass *p, struct gt_epi_ranges *out, bool integer) {
    struct gt_epi_ranges beta, c;
    scaled_sum(p, out, integer);
    if (p->block->beta >= 0 && p->block->beta <= 0)
        return;
    load_as(p, &beta, GT_EPI_BETA, 0, integer);
    load_as(p, &c, GT_EPI_C, 0, integer);
    if (integer) {
        EACH(p, &c, gt_epi_integer_range(GT_EPI_MUL, get(&beta, i), get(&c, i)));
        EACH(p, out, gt_epi_integer_range(GT_EPI_ADD, get(out, i), get(&c, i)));
    } else {
        EACH(p, &c, gt_range_multiply(get(&beta, i), get(&c, i)));
        round_all(p, &c, 1);
        EACH(p, out, gt_range_add(get(out, i), get(&c, i)));
        round_all(p, out, 1);
    }
}

static void eval_leaf(struct pass *p, struct gt_epi_ranges *out,
                      const struct gt_epi_node *node) {
    const bool integer = node->kind == GT_EPI_INT;
    switch (node->op) {
    case GT_EPI_LOCAL:
        *out = p->range[p->e->statement[node->arg[0]].root];
        break;
    case GT_EPI_X:
        product_of(p, out, integer);
        break;
    case GT_EPI_NUMBER:
        EACH(p, out, gt_range_point(node->number));
        if (!integer)
            all_as_real(p, out);
        break;
    default:
        load_as(p, out, (enum gt_epi_op_id)node->op, node->arg[0], integer);
    }
}

/* ---- nodes ----------------------------------------------------------------- */

/* Operand i of a node of this kind. One that becomes REAL is written to `room`. */
static const struct gt_epi_ranges *operand_of(struct gt_epi_ranges *room,
                                              const struct pass *p,
                                              const struct gt_epi_node *node, int i,
                                              enum gt_epi_kind kind) {
    const int at = node->arg[i];
    if (p->e->node[at].kind != GT_EPI_INT || kind != GT_EPI_REAL)
        return &p->range[at];
    *room = p->range[at];
    integers_as_real(p, room);
    return room;
}

static void eval_cast(struct pass *p, struct gt_epi_ranges *out,
                      const struct gt_epi_node *node) {
    const gemmtune_dtype type = (gemmtune_dtype)node->arg[1];
    const enum gt_epi_kind from = gt_type_is_float(type) ? node->kind : GT_EPI_INT;
    struct gt_epi_ranges room;
    const struct gt_epi_ranges *x = operand_of(&room, p, node, 0, from);
    convert_all(p, out, x, type, true);
    if (node->kind == GT_EPI_REAL && !gt_type_is_float(type))
        all_as_real(p, out);
}

static struct gt_range selected(struct gt_range condition, struct gt_range yes,
                                struct gt_range no) {
    if (condition.low > 0)
        return yes;
    return condition.high < 1 ? no : gt_range_join(yes, no);
}

static void eval_select(struct pass *p, struct gt_epi_ranges *out,
                        const struct gt_epi_node *node) {
    struct gt_epi_ranges room[2];
    const struct gt_epi_ranges *condition = &p->range[node->arg[0]];
    const struct gt_epi_ranges *yes = operand_of(&room[0], p, node, 1, node->kind);
    const struct gt_epi_ranges *no = operand_of(&room[1], p, node, 2, node->kind);
    EACH(p, out, selected(get(condition, i), get(yes, i), get(no, i)));
}

/* Operands of a comparison are INT only when both are. */
static void eval_comparison(struct pass *p, struct gt_epi_ranges *out,
                            const struct gt_epi_node *node) {
    const enum gt_epi_op_id op = (enum gt_epi_op_id)node->op;
    const bool integers = p->e->node[node->arg[0]].kind == GT_EPI_INT &&
                          p->e->node[node->arg[1]].kind == GT_EPI_INT;
    const enum gt_epi_kind kind = integers ? GT_EPI_INT : GT_EPI_REAL;
    struct gt_epi_ranges room[2];
    const struct gt_epi_ranges *x = operand_of(&room[0], p, node, 0, kind);
    const struct gt_epi_ranges *y = operand_of(&room[1], p, node, 1, kind);
    EACH(p, out, gt_epi_truth_range(op, get(x, i), get(y, i)));
}

static void eval_arithmetic(struct pass *p, struct gt_epi_ranges *out,
                            const struct gt_epi_node *node) {
    const enum gt_epi_op_id op = (enum gt_epi_op_id)node->op;
    struct gt_epi_ranges room[2];
    const struct gt_epi_ranges *x = operand_of(&room[0], p, node, 0, node->kind), *y = x;
    if (gt_epi_ops[op].args > 1)
        y = operand_of(&room[1], p, node, 1, node->kind);
    if (node->kind == GT_EPI_INT) {
        EACH(p, out, gt_epi_integer_range(op, get(x, i), get(y, i)));
    } else {
        apply_real(p, out, op, x, y);
        round_results(p, out, op, x);
    }
}

static void eval_node(struct pass *p, struct gt_epi_ranges *out,
                      const struct gt_epi_node *node) {
    const struct gt_epi_op *op = &gt_epi_ops[node->op];
    if (op->args == 0)
        eval_leaf(p, out, node);
    else if (node->op == GT_EPI_CAST)
        eval_cast(p, out, node);
    else if (node->op == GT_EPI_SELECT)
        eval_select(p, out, node);
    else if (op->rule == GT_EPI_IS_TRUTH)
        eval_comparison(p, out, node);
    else
        eval_arithmetic(p, out, node);
}

/* ---- the whole ------------------------------------------------------------- */

/* The elements of `type` that x is stored as. A device may flush a subnormal f32 or f64, as
 * in its arithmetic. */
static void store(const struct pass *p, struct gt_epi_ranges *out,
                  const struct gt_epi_ranges *x, gemmtune_dtype type) {
    const double least = gt_type_size(type) < sizeof(float) ? 0 : gt_type_least(type);
    convert_all(p, out, x, type, false);
    EACH(p, out, gt_range_flush(get(out, i), least));
}

/* Evaluates all nodes, each exactly or as a kernel may round it. */
static void run(struct pass *p, const struct gt_epilogue *e,
                const struct gt_epi_block *block, int count, bool exact, bool once) {
    p->e = e;
    p->block = block;
    p->count = count;
    p->arithmetic = gt_arithmetic_of(gt_epilogue_real(e));
    p->grid = gt_grid_of(gt_epilogue_real(e));
    p->brief = gt_epilogue_is_brief(e);
    p->exact = exact;
    p->once = once;
    for (int i = 0; i < e->nodes; i++)
        eval_node(p, &p->range[i], &e->node[i]);
}

/* Whether an output of integers is rounded once in this call. x is not when beta c is added
 * to it. */
static bool rounds_once(const struct gt_epilogue *e, const struct gt_epi_block *block,
                        bool second) {
    const bool adds = !(block->beta >= 0 && block->beta <= 0);
    return gt_epilogue_rounds_once(e, second) && !(adds && gt_epilogue_reads(e, GT_EPI_X));
}

/* Evaluates all nodes as a kernel may round them, and writes what it may store. Usually
 * both outputs take their numbers from one pass. */
static void run_rounded(struct pass *p, struct gt_epi_ranges out[2],
                        const struct gt_epilogue *e, const struct gt_epi_block *block,
                        int count) {
    const int32_t output[] = {e->d, e->d2}, type[] = {e->type_c, e->type_d2};
    for (int k = 0; k < 2 && output[k] >= 0; k++) {
        const bool once = rounds_once(e, block, k == 1);
        if (k == 0 || once != p->once)
            run(p, e, block, count, false, once);
        store(p, &out[k], &p->range[e->statement[output[k]].root], (gemmtune_dtype)type[k]);
    }
}

void gt_epilogue_ranges(struct gt_epi_ranges out[2], const struct gt_epilogue *e,
                        const struct gt_epi_block *block, int count) {
    struct pass p; /* 0.4 MB; only nodes that exist are written */
    run_rounded(&p, out, e, block, count);
}

void gt_epilogue_eval(struct gt_epi_result out[2], const struct gt_epilogue *e,
                      const struct gt_epi_values *values) {
    const int32_t output[] = {e->d, e->d2};
    struct gt_epi_block one;
    struct gt_epi_ranges right[2];
    struct pass p;
    one.alpha = values->alpha;
    one.beta = values->beta;
    one.acc[0] = values->acc;
    one.acc_error[0] = values->acc_error;
    one.c[0] = values->c;
    for (int i = 0; i < e->operands; i++)
        one.operand[i][0] = values->operand[i];
    run(&p, e, &one, 1, true, false);
    for (int k = 0; k < 2 && output[k] >= 0; k++) {
        const struct gt_range x = get(&p.range[e->statement[output[k]].root], 0);
        out[k].value = gt_range_is_point(x) ? x.low : NAN;
    }
    run_rounded(&p, right, e, &one, 1);
    for (int k = 0; k < 2 && output[k] >= 0; k++)
        out[k].store = get(&right[k], 0);
}
