/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_range.c - see epilogue_range.h. Nodes stand behind their operands, so one pass
 * over the array evaluates the tree. */
#include "core/epilogue_range.h"

#include "core/element.h"
#include "core/epilogue_op.h"

#include <math.h>

struct pass {
    const struct gt_epilogue *e;
    const struct gt_epi_values *values;
    struct gt_arithmetic arithmetic;
    bool brief; /* gt_epilogue_is_brief */
    struct gt_range range[GT_EPILOGUE_NODES_MAX];
};

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

static const struct {
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

static struct gt_range apply_function(enum gt_epi_op_id op, struct gt_range t) {
    size_t i = 0;
    while (functions[i].op != op)
        i++;
    const bool dips = functions[i].bottom < 0;
    const bool positive = op == GT_EPI_LOG || op == GT_EPI_SQRT; /* NaN below 0 */
    const bool nan = t.nan || (positive && t.low < 0) || (dips && isinf(t.low));
    if (positive)
        t = (struct gt_range){gt_range_greater(t.low, 0), gt_range_greater(t.high, 0),
                              t.nan};
    struct gt_range out =
        dips ? gt_range_dipping(functions[i].f, functions[i].turn, functions[i].bottom, t)
             : gt_range_rising(functions[i].f, t);
    if (dips && isinf(t.low)) /* times 0, or times a roundoff of either sign */
        out = (struct gt_range){-INFINITY, INFINITY, true};
    out.nan = nan;
    return out;
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

static struct gt_range rounded(const struct pass *p, struct gt_range x, double relative,
                               double absolute) {
    const struct gt_slack slack = {relative * p->arithmetic.unit, absolute};
    return gt_range_round(x, slack, &p->arithmetic);
}

/* A number or integers that become real: exact where the arithmetic holds them. */
static struct gt_range as_real(const struct pass *p, struct gt_range x) {
    const double exact = 1 / p->arithmetic.unit;
    const double element = gt_element_round(gt_epilogue_real(p->e), x.low);
    const bool held = gt_range_is_point(x) ? element >= x.low && element <= x.low
                                           : x.low >= -exact && x.high <= exact;
    return rounded(p, x, held ? 0 : 1, 0);
}

/* The slack of an operation; t is its first operand. */
static struct gt_range rounded_result(const struct pass *p, enum gt_epi_op_id op,
                                      struct gt_range x, struct gt_range t) {
    const struct gt_epi_op *row = &gt_epi_ops[op];
    const struct gt_arithmetic *a = &p->arithmetic;
    const double largest =
        gt_range_lesser(gt_range_greater(fabs(t.low), fabs(t.high)), a->most);
    const double relative = p->brief && row->brief > 0 ? row->brief : row->relative;
    const bool rounds = relative > 0;
    if (!rounds)
        return x;
    return rounded(p, x, relative,
                   row->of_operand * a->unit * largest + row->tiny * a->least);
}

static struct gt_range apply_real(enum gt_epi_op_id op, struct gt_range x,
                                  struct gt_range y) {
    switch (op) {
    case GT_EPI_ADD:
        return gt_range_add(x, y);
    case GT_EPI_SUB:
        return gt_range_add(x, gt_range_negate(y));
    case GT_EPI_MUL:
        return gt_range_multiply(x, y);
    case GT_EPI_DIV:
        return gt_range_divide(x, y);
    case GT_EPI_NEGATE:
        return gt_range_negate(x);
    case GT_EPI_MIN:
        return gt_range_min(x, y);
    case GT_EPI_MAX:
        return gt_range_max(x, y);
    case GT_EPI_ABS:
        return gt_range_abs(x);
    case GT_EPI_RELU:
        return gt_range_max(x, gt_range_point(0));
    default:
        return apply_function(op, x);
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

/* ---- nodes ----------------------------------------------------------------- */

/* An operand of a node, as a REAL when the node is one. */
static struct gt_range operand_of(const struct pass *p, const struct gt_epi_node *node,
                                  int i) {
    const int at = node->arg[i];
    const bool converts = p->e->node[at].kind == GT_EPI_INT && node->kind == GT_EPI_REAL;
    const struct gt_range x = p->range[at];
    return converts ? as_real(p, x) : x;
}

/* A number of the problem's type `type` in this arithmetic, or as an integer. */
static struct gt_range loaded(const struct pass *p, double value, double error,
                              int32_t type) {
    const bool certain = error >= 0 && error <= 0;
    const struct gt_range known =
        certain ? gt_range_point(value) : gt_range_about(value, error);
    if (!gt_type_is_float((gemmtune_dtype)type))
        return gt_range_convert(known, (gemmtune_dtype)type, true);
    const bool fits = gt_type_unit((gemmtune_dtype)type) >= p->arithmetic.unit;
    return rounded(p, known, fits ? 0 : 1, 0);
}

static struct gt_range sum_of(const struct pass *p) {
    const double error = p->arithmetic.exact ? 0 : p->values->acc_error;
    return loaded(p, p->values->acc, error, p->e->type_acc);
}

/* As a REAL. */
static struct gt_range real_of(const struct pass *p, struct gt_range x, int32_t type) {
    return gt_type_is_float((gemmtune_dtype)type) ? x : as_real(p, x);
}

/* alpha acc + beta c. With integer sums, alpha acc is an integer; beta c is one when C
 * has integers. */
static struct gt_range product_of(const struct pass *p, bool integer) {
    const struct gt_epi_values *v = p->values;
    const int32_t acc = p->e->type_acc, type_c = p->e->type_c;
    const bool integer_sums = !gt_type_is_float((gemmtune_dtype)acc);
    const struct gt_range alpha = loaded(p, v->alpha, 0, acc), sum = sum_of(p);
    struct gt_range left = integer_sums ? multiply_integers(alpha, sum)
                                        : rounded(p, gt_range_multiply(alpha, sum), 1, 0);
    if (!integer)
        left = real_of(p, left, acc);
    if (v->beta >= 0 && v->beta <= 0)
        return left;
    const struct gt_range beta = loaded(p, v->beta, 0, acc), c = loaded(p, v->c, 0, type_c);
    if (integer)
        return apply_integer(GT_EPI_ADD, left, multiply_integers(beta, c));
    const struct gt_range right =
        rounded(p, gt_range_multiply(real_of(p, beta, acc), real_of(p, c, type_c)), 1, 0);
    return rounded(p, gt_range_add(left, right), 1, 0);
}

static struct gt_range eval_leaf(const struct pass *p, const struct gt_epi_node *node) {
    const struct gt_epi_values *v = p->values;
    const struct gt_epilogue *e = p->e;
    const bool integer = node->kind == GT_EPI_INT;
    struct gt_range x = gt_range_point(node->number);
    int32_t type = e->type_acc;
    switch (node->op) {
    case GT_EPI_LOCAL:
        return p->range[e->statement[node->arg[0]].root];
    case GT_EPI_X:
        return product_of(p, integer);
    case GT_EPI_NUMBER:
        return integer ? x : as_real(p, x);
    case GT_EPI_ACC:
        x = sum_of(p);
        break;
    case GT_EPI_C:
        type = e->type_c;
        x = loaded(p, v->c, 0, type);
        break;
    case GT_EPI_OPERAND:
        type = e->operand[node->arg[0]].type;
        x = loaded(p, v->operand[node->arg[0]], 0, type);
        break;
    default:
        x = loaded(p, node->op == GT_EPI_ALPHA ? v->alpha : v->beta, 0, type);
    }
    return integer ? x : real_of(p, x, type);
}

static struct gt_range eval_cast(const struct pass *p, const struct gt_epi_node *node) {
    const gemmtune_dtype type = (gemmtune_dtype)node->arg[1];
    struct gt_range x = p->range[node->arg[0]];
    if (gt_type_is_float(type))
        x = operand_of(p, node, 0);
    x = gt_range_convert(x, type, true);
    return node->kind == GT_EPI_REAL && !gt_type_is_float(type) ? as_real(p, x) : x;
}

static struct gt_range eval_select(const struct pass *p, const struct gt_epi_node *node) {
    const struct gt_range condition = p->range[node->arg[0]];
    const struct gt_range yes = operand_of(p, node, 1), no = operand_of(p, node, 2);
    if (condition.low > 0)
        return yes;
    return condition.high < 1 ? no : gt_range_join(yes, no);
}

/* Operands of a comparison are INT only when both are. */
static struct gt_range eval_comparison(const struct pass *p,
                                       const struct gt_epi_node *node) {
    const struct gt_epi_node *left = &p->e->node[node->arg[0]];
    const struct gt_epi_node *right = &p->e->node[node->arg[1]];
    struct gt_epi_node as = *node;
    as.kind =
        left->kind == GT_EPI_INT && right->kind == GT_EPI_INT ? GT_EPI_INT : GT_EPI_REAL;
    return compare((enum gt_epi_op_id)node->op, operand_of(p, &as, 0),
                   operand_of(p, &as, 1));
}

static struct gt_range eval_node(const struct pass *p, const struct gt_epi_node *node) {
    const enum gt_epi_op_id op = (enum gt_epi_op_id)node->op;
    if (gt_epi_ops[op].args == 0)
        return eval_leaf(p, node);
    if (op == GT_EPI_CAST)
        return eval_cast(p, node);
    if (op == GT_EPI_SELECT)
        return eval_select(p, node);
    if (gt_epi_ops[op].rule == GT_EPI_IS_TRUTH)
        return eval_comparison(p, node);
    const struct gt_range x = operand_of(p, node, 0);
    const struct gt_range y = gt_epi_ops[op].args > 1 ? operand_of(p, node, 1) : x;
    if (node->kind == GT_EPI_INT)
        return apply_integer(op, x, y);
    return rounded_result(p, op, apply_real(op, x, y), x);
}

/* ---- the whole ------------------------------------------------------------- */

/* A device may flush a subnormal f32 or f64 that it stores, as in its arithmetic. */
static struct gt_range stored(struct gt_range x, gemmtune_dtype type) {
    const struct gt_range element = gt_range_convert(x, type, false);
    const double least = gt_type_size(type) < sizeof(float) ? 0 : gt_type_least(type);
    return element.low < least && element.high > -least
               ? gt_range_join(element, (struct gt_range){0, 0, element.nan})
               : element;
}

/* Evaluates all nodes, each exactly or as a kernel may round it. */
static void run(struct pass *p, const struct gt_epilogue *e,
                const struct gt_epi_values *values, bool exact) {
    p->e = e;
    p->values = values;
    p->arithmetic = gt_arithmetic_of(gt_epilogue_real(e));
    p->arithmetic.exact = exact;
    p->brief = gt_epilogue_is_brief(e);
    for (int i = 0; i < e->nodes; i++)
        p->range[i] = eval_node(p, &e->node[i]);
}

void gt_epilogue_range(struct gt_range store[2], const struct gt_epilogue *e,
                       const struct gt_epi_values *values) {
    const int32_t output[] = {e->d, e->d2}, type[] = {e->type_c, e->type_d2};
    struct pass p; /* large: only nodes that exist are written */
    run(&p, e, values, false);
    for (int i = 0; i < 2 && output[i] >= 0; i++)
        store[i] = stored(p.range[e->statement[output[i]].root], (gemmtune_dtype)type[i]);
}

void gt_epilogue_eval(struct gt_epi_result out[2], const struct gt_epilogue *e,
                      const struct gt_epi_values *values) {
    const int32_t output[] = {e->d, e->d2};
    struct gt_range store[2] = {{0, 0, false}, {0, 0, false}};
    struct pass p;
    run(&p, e, values, true);
    gt_epilogue_range(store, e, values);
    for (int i = 0; i < 2 && output[i] >= 0; i++) {
        const struct gt_range x = p.range[e->statement[output[i]].root];
        out[i].value = gt_range_is_point(x) ? x.low : NAN;
        out[i].store = store[i];
    }
}
