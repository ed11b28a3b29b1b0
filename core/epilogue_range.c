/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_range.c - see epilogue_range.h. Nodes stand behind their operands, so one pass
 * over the array evaluates the tree. A node is evaluated for all elements of a block before
 * the next node: one element's arithmetic does not wait for that of the one before. */
#include "core/epilogue_range.h"

#include "core/element.h"
#include "core/epilogue_op.h"

#include <math.h>

struct pass {
    const struct gt_epilogue *e;
    const struct gt_epi_block *block;
    int count; /* of elements */
    struct gt_arithmetic arithmetic;
    struct gt_grid grid; /* of its numbers */
    bool brief;          /* gt_epilogue_is_brief */
    bool exact;          /* results are not widened: a range of one number stays one */
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

/* ---- functions of one number ----------------------------------------------- */

static double sigmoid(double t) {
    return 1 / (1 + exp(-t));
}

static double silu(double t) {
    return isinf(t) && t < 0 ? 0 : t * sigmoid(t);
}

/* t / 2 erfc(-t / sqrt 2): as t / 2 (1 + erf(t / sqrt 2)), without cancellation. */
static double gelu(double t) {
    static const double root_half = 0.70710678118654752440;
    return isinf(t) && t < 0 ? 0 : 0.5 * t * erfc(-t * root_half);
}

/* (1 + tanh z) / 2 is the sigmoid of 2 z. */
static double gelu_tanh(double t) {
    static const double root_two_by_pi = 0.79788456080286535588;
    return isinf(t) && t < 0 ? 0
                             : t * sigmoid(2 * root_two_by_pi * (t + 0.044715 * t * t * t));
}

static const struct function {
    enum gt_epi_op_id op;
    double (*f)(double);
    double turn, bottom; /* where the function is least, and its value; both 0: it rises */
} functions[] = {
    {GT_EPI_EXP, exp, 0, 0},
    {GT_EPI_LOG, log, 0, 0},
    {GT_EPI_TANH, tanh, 0, 0},
    {GT_EPI_ERF, erf, 0, 0},
    {GT_EPI_SQRT, sqrt, 0, 0},
    {GT_EPI_SIGMOID, sigmoid, 0, 0},
    {GT_EPI_GELU, gelu, -0.75179152469131, -0.16997120747990369},
    {GT_EPI_GELU_TANH, gelu_tanh, -0.75246142174, -0.17004075057125412},
    {GT_EPI_SILU, silu, -1.2784645427610738, -0.27846454276107379},
};

static struct gt_range function_of(const struct function *f, struct gt_range t) {
    const bool dips = f->bottom < 0;
    const bool positive = f->op == GT_EPI_LOG || f->op == GT_EPI_SQRT; /* NaN below 0 */
    const bool nan = t.nan || (positive && t.low < 0) || (dips && isinf(t.low));
    if (positive)
        t = (struct gt_range){gt_range_greater(t.low, 0), gt_range_greater(t.high, 0),
                              t.nan};
    struct gt_range out =
        dips ? gt_range_dipping(f->f, f->turn, f->bottom, t) : gt_range_rising(f->f, t);
    if (dips && isinf(t.low)) /* times 0, or times a roundoff of either sign */
        out = (struct gt_range){-INFINITY, INFINITY, true};
    out.nan = nan;
    return out;
}

static void apply_function(const struct pass *p, struct gt_epi_ranges *out,
                           enum gt_epi_op_id op, const struct gt_epi_ranges *t) {
    size_t f = 0;
    while (functions[f].op != op)
        f++;
    EACH(p, out, function_of(&functions[f], get(t, i)));
}

/* ---- integers: modulo 2^32 ------------------------------------------------- */

static const struct gt_range all_integers = {INT32_MIN, INT32_MAX, false};

static int32_t wrapped(int64_t value) {
    const int64_t low = (int64_t)((uint64_t)value & UINT32_MAX);
    return (int32_t)(low > INT32_MAX ? low - INT64_C(4294967296) : low);
}

/* The integers from low to high, or all when some are beyond 32 bits. */
static struct gt_range integers(int64_t low, int64_t high) {
    if (low == high)
        return gt_range_point(wrapped(low));
    return low < INT32_MIN || high > INT32_MAX
               ? all_integers
               : (struct gt_range){(double)low, (double)high, false};
}

static struct gt_range multiply_integers(struct gt_range x, struct gt_range y) {
    const int64_t ends[] = {
        (int64_t)x.low * (int64_t)y.low, (int64_t)x.low * (int64_t)y.high,
        (int64_t)x.high * (int64_t)y.low, (int64_t)x.high * (int64_t)y.high};
    int64_t low = ends[0], high = ends[0];
    for (int i = 1; i < 4; i++) {
        low = ends[i] < low ? ends[i] : low;
        high = ends[i] > high ? ends[i] : high;
    }
    return integers(low, high);
}

static struct gt_range apply_integer(enum gt_epi_op_id op, struct gt_range x,
                                     struct gt_range y) {
    const int64_t x_low = (int64_t)x.low, x_high = (int64_t)x.high;
    const int64_t y_low = (int64_t)y.low, y_high = (int64_t)y.high;
    struct gt_range size;
    switch (op) {
    case GT_EPI_ADD:
        return integers(x_low + y_low, x_high + y_high);
    case GT_EPI_SUB:
        return integers(x_low - y_high, x_high - y_low);
    case GT_EPI_MUL:
        return multiply_integers(x, y);
    case GT_EPI_NEGATE:
        return integers(-x_high, -x_low);
    case GT_EPI_MIN:
        return gt_range_min(x, y);
    case GT_EPI_MAX:
        return gt_range_max(x, y);
    case GT_EPI_RELU:
        return gt_range_max(x, gt_range_point(0));
    default: /* abs */
        size = gt_range_abs(x);
        return integers((int64_t)size.low, (int64_t)size.high);
    }
}

/* ---- reals ----------------------------------------------------------------- */

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
        const struct gt_slack slack = {
            relative * a.unit, of_operand * gt_range_lesser(operand, a.most) + tiny};
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

/* ---- comparisons: 0 is false, 1 true, [0, 1] either ------------------------ */

static struct gt_range truth(bool can_be_false, bool can_be_true) {
    return (struct gt_range){can_be_false ? 0 : 1, can_be_true ? 1 : 0, false};
}

static struct gt_range less(struct gt_range x, struct gt_range y) {
    return truth(x.high >= y.low, x.low < y.high);
}

static struct gt_range inverse(struct gt_range x) {
    return (struct gt_range){1 - x.high, 1 - x.low, false};
}

static struct gt_range equal(struct gt_range x, struct gt_range y) {
    const bool one = gt_range_is_point(x) && gt_range_is_point(y);
    const bool meet = x.low <= y.high && y.low <= x.high;
    return truth(!one || !meet, meet);
}

static struct gt_range compare(enum gt_epi_op_id op, struct gt_range x, struct gt_range y) {
    if (x.nan || y.nan)
        return truth(true, true);
    switch (op) {
    case GT_EPI_LT:
        return less(x, y);
    case GT_EPI_GT:
        return less(y, x);
    case GT_EPI_LE:
        return inverse(less(y, x));
    case GT_EPI_GE:
        return inverse(less(x, y));
    case GT_EPI_EQ:
        return equal(x, y);
    default:
        return inverse(equal(x, y));
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
        EACH(p, out, multiply_integers(get(&alpha, i), get(out, i)));
        if (!integer)
            all_as_real(p, out);
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
        EACH(p, &c, multiply_integers(get(&beta, i), get(&c, i)));
        EACH(p, out, apply_integer(GT_EPI_ADD, get(out, i), get(&c, i)));
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
    all_as_real(p, room);
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
    EACH(p, out, compare(op, get(x, i), get(y, i)));
}

static void eval_arithmetic(struct pass *p, struct gt_epi_ranges *out,
                            const struct gt_epi_node *node) {
    const enum gt_epi_op_id op = (enum gt_epi_op_id)node->op;
    struct gt_epi_ranges room[2];
    const struct gt_epi_ranges *x = operand_of(&room[0], p, node, 0, node->kind), *y = x;
    if (gt_epi_ops[op].args > 1)
        y = operand_of(&room[1], p, node, 1, node->kind);
    if (node->kind == GT_EPI_INT) {
        EACH(p, out, apply_integer(op, get(x, i), get(y, i)));
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
                const struct gt_epi_block *block, int count, bool exact) {
    p->e = e;
    p->block = block;
    p->count = count;
    p->arithmetic = gt_arithmetic_of(gt_epilogue_real(e));
    p->grid = gt_grid_of(gt_epilogue_real(e));
    p->brief = gt_epilogue_is_brief(e);
    p->exact = exact;
    for (int i = 0; i < e->nodes; i++)
        eval_node(p, &p->range[i], &e->node[i]);
}

/* Evaluates all nodes as a kernel may round them, and writes what it may store. */
static void run_rounded(struct pass *p, struct gt_epi_ranges out[2],
                        const struct gt_epilogue *e, const struct gt_epi_block *block,
                        int count) {
    const int32_t output[] = {e->d, e->d2}, type[] = {e->type_c, e->type_d2};
    run(p, e, block, count, false);
    for (int k = 0; k < 2 && output[k] >= 0; k++)
        store(p, &out[k], &p->range[e->statement[output[k]].root], (gemmtune_dtype)type[k]);
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
    run(&p, e, &one, 1, true);
    for (int k = 0; k < 2 && output[k] >= 0; k++) {
        const struct gt_range x = get(&p.range[e->statement[output[k]].root], 0);
        out[k].value = gt_range_is_point(x) ? x.low : NAN;
    }
    run_rounded(&p, right, e, &one, 1);
    for (int k = 0; k < 2 && output[k] >= 0; k++)
        out[k].store = get(&right[k], 0);
}
