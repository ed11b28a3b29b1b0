/* SPDX-License-Identifier: Apache-2.0 */
/* case_list.c - the cases of a lab besides the timed problem: other shapes of its types,
 * and its own shape for batches. */
#include "core/split.h"
#include "tuner/lab/check.h"
#include "tuner/lab/lab_internal.h"

#include <math.h>

/* Shapes that every kernel must get right besides the timed one: full tiles, ragged tiles,
 * primes, single rows and columns, an empty sum, padded leading dimensions, alpha and beta.
 * In half of the ragged ones, rows begin at multiples of 4 elements and of 16 bytes:
 * kernels with vector loads refuse the others, and must meet ragged edges and tails too. */
struct small {
    int m, n, k;
    int to; /* leading dimensions are rounded up to a multiple of this; if 4, of 16 bytes */
    /* extra elements in A's rows; twice as many in B's and three times in C's, so that no
     * leading dimension equals another */
    int pad;
    double alpha, beta;
    /* FAR: for RESIDUES alone; ONES and STEEP: for SPLIT and BF16X3 alone; WIDE: UNIFORM
     * where the problem has none; SPECIAL: see is_asked */
    enum { WHOLE, UNIFORM, FAR, ONES, STEEP, WIDE, SPECIAL } data;
    /* The contents of memory before a product: see gt_case_spec. AGAIN is FINITE as well */
    enum { NANS, FINITE, AGAIN } memory;
};
static const struct small smalls[] = {
    {1, 1, 1, 1, 0, 1, 0, WHOLE, NANS},
    {256, 256, 64, 1, 0, 1, 0, WHOLE, FINITE},
    {127, 129, 67, 1, 0, 2, -1, WHOLE, NANS},
    {33, 17, 5, 4, 8, 1, 1, WHOLE, FINITE},
    {61, 59, 1231, 4, 2, -1, 2, WHOLE, NANS},
    {259, 5, 131, 4, 0, 1, 0, UNIFORM, NANS},
    {7, 521, 3, 1, 1, 1.5, -0.5, UNIFORM, NANS},
    {96, 160, 80, 4, 2, 1, 0, UNIFORM, FINITE},
    {19, 23, 0, 4, 1, 1, 2, WHOLE, NANS},
    {67, 40, 0, 4, 0, 1, 0, WHOLE, NANS},
    /* Whole slabs, ragged tiles, gaps: of wgmma,
     * another kernel serves other k in batches. */
    {113, 104, 256, 4, 2, 0.5, 0, UNIFORM, NANS},
    {64, 1, 1204, 1, 0, 1, 0, WHOLE, AGAIN},
    {1, 301, 33, 4, 2, 0, 1.5, WHOLE, NANS},
    /* Tiles of rows and columns below GT_DATA_NEAR are computed by residues. Tiles of those
     * from GT_DATA_NEAR on need the plain kernel: the sums of their residues are wrong.
     * With wide exponents in A alone, 15 moduli would be right. For this k the promise
     * stays within the 12 units of check.h, whatever the data are. */
    {320, 300, 33, 1, 0, 1.5, 0, FAR, NANS},
    /* Parts that are cut off instead of rounded: with tf32 off by 29 units, where f is 15;
     * with bf16 by 1004, where f is 522. For a greater k, f allows as much. */
    {36, 20, 1, 4, 0, 1, 0, ONES, FINITE},
    /* Sums of tensor cores that are never promoted. On chips that keep two bits more than
     * they must, tf32 is off by 1400 units, where f is 464, and bf16 by 1200, where f is
     * 915. On others they are off by more. */
    {20, 36, 4096, 4, 0, 1, 0, STEEP, NANS},
    /* Numbers far above and far below 1, for so small a k that the bound holds for any
     * data. */
    {70, 104, 40, 4, 2, 1, 0, WIDE, AGAIN},
    /* Infinity and NaN must reach the elements of C that they belong to, and no others. */
    {104, 72, 56, 4, 0, 2, 0, SPECIAL, FINITE},
    /* Kernels for a single row or column may refuse nearly all others. So these have all
     * that the others have together: ragged tiles, several turns of k and a tail, alpha and
     * beta. Whole tiles would take long over them. */
    {1, 131, 4129, 4, 2, 1.5, -0.5, WHOLE, NANS},
    {131, 1, 4129, 4, 2, -1, 2, UNIFORM, NANS},
};
/* The pages performance, ARCHITECTURE and templates of docs/ say how many there are. */
_Static_assert(sizeof smalls / sizeof smalls[0] == GT_LAB_SMALLS, "one case each");
enum { STAND_INS = 2 }; /* the last of them: see gt_case_spec */

/* A kernel that is compiled for one shape accepts no other. So a batch of small products
 * has cases of its own shape: packed and with gaps, more products than blocks are full of,
 * alpha and beta. Of larger products there are fewer, but more than one. */
static const struct own {
    int batch;
    int pad; /* spare elements as in struct small, and three times as many after a matrix
              */
    double alpha, beta;
    bool uniform, finite;
} owns[] = {
    {67, 0, 2, -1, false, false},
    {5, 1, 1, 0, false, true},
    {33, 4, 0.5, 1, true, true},
    {3, 0, 0, 1.5, false, false},
};
_Static_assert(sizeof owns / sizeof owns[0] == GT_LAB_OWNS, "one case each");

/* ---- other shapes ---- */

static int64_t padded(const struct small *s, int64_t row, int pads, gemmtune_dtype type) {
    const int64_t vector = GT_VECTOR_BYTES / (int64_t)gt_type_size(type);
    const int64_t to = s->to > 1 && vector > s->to ? vector : s->to;
    return ((row > 0 ? row : 1) + pads * s->pad + to - 1) / to * to;
}

/* The products of a small shape. One product is 0 apart: nothing depends on it. Of a batch
 * there are two to four, with gaps of whole vectors between them, so that kernels with
 * vector loads are not spared. Kernels with tensor maps may refuse gaps that are no whole
 * rows, so some cases have a gap of one whole row. Operands that the batch shares are
 * shared here as well. */
static void space_products(gemmtune_problem *p, const gemmtune_problem *types,
                           const struct small *s) {
    enum { GAP = GT_VECTOR_BYTES }; /* elements */
    const bool whole = s->pad == 2;
    const int64_t gap = s->pad > 0 && !whole ? GAP : 0, rows = whole ? 1 : 0;
    p->stride_a = p->stride_b = p->stride_c = 0;
    if (!gt_problem_is_batch(types))
        return;
    p->batch = 2 + s->pad % 3;
    p->stride_a =
        types->stride_a == 0 ? 0 : (gt_problem_shape_a(p).rows + rows) * p->lda + gap;
    p->stride_b =
        types->stride_b == 0 ? 0 : (gt_problem_shape_b(p).rows + rows) * p->ldb + 2 * gap;
    p->stride_c = (p->m + rows) * p->ldc + 3 * gap;
}

/* The small shape with the types, the layout and the kind of batch of `types`. */
static gemmtune_problem small_problem(const struct small *s,
                                      const gemmtune_problem *types) {
    gemmtune_problem p = *types;
    p.m = s->m;
    p.n = s->n;
    p.k = s->k;
    p.lda = padded(s, p.trans_a ? p.m : p.k, 1, p.type_a);
    p.ldb = padded(s, p.trans_b ? p.k : p.n, 2, p.type_b);
    p.ldc = padded(s, p.n, 3, p.type_c);
    p.expected_rows = gt_problem_rows_by_default(&p);
    space_products(&p, types, s);
    return p;
}

/* Whether a problem computes with floats of 16 bits or more, and without an epilogue: its
 * operands would be as wide as A and B. */
static bool has_wide_data(const gemmtune_problem *p) {
    return gt_type_is_float(p->type_acc) && gt_type_size(p->type_a) > 1 &&
           p->epilogue == NULL && p->math != GEMMTUNE_MATH_RESIDUES;
}

static enum gt_data_mode mode_of(const struct small *s, const gemmtune_problem *p) {
    static const enum gt_data_mode modes[] = {
        [UNIFORM] = GT_DATA_UNIFORM, [FAR] = GT_DATA_FAR,   [ONES] = GT_DATA_ONES,
        [STEEP] = GT_DATA_STEEP,     [WIDE] = GT_DATA_WIDE, [SPECIAL] = GT_DATA_SPECIAL};
    if (s->data == WIDE && !has_wide_data(p))
        return GT_DATA_UNIFORM;
    return s->data == WHOLE ? gt_data_exact(p, s->k) : modes[s->data];
}

/* Whether NaN and infinity become what IEEE 754 says. Parts of infinity are NaN, and
 * residues are of whole numbers. Where rows belong to groups, the reference multiplies rows
 * of other groups by 0. */
static bool has_special_data(const gemmtune_problem *p) {
    return has_wide_data(p) && !gt_math_splits(p->math) &&
           p->batch_kind != GEMMTUNE_GROUPED_ROWS;
}

/* Whether problems of this kind have such a case. */
static bool is_asked(const struct small *s, const gemmtune_problem *p) {
    switch (s->data) {
    case FAR:
        return p->math == GEMMTUNE_MATH_RESIDUES;
    case ONES:
    case STEEP:
        return gt_math_splits(p->math);
    case SPECIAL:
        return has_special_data(p);
    default:
        return true;
    }
}

/* alpha of integers. With uniform data large sums wrap, and f32 rounds the others.
 * A C of i8 would hold the ends of its range alone. */
static int whole_alpha(double alpha, bool uniform, const gemmtune_problem *p) {
    enum { LARGE = 40001 };
    return (int)(2 * alpha) * (uniform && p->type_c != GEMMTUNE_I8 ? LARGE : 1);
}

static struct gt_case_spec small_case(const struct small *s, const gemmtune_problem *p) {
    const bool whole = !gt_type_is_float(p->type_acc);
    return (struct gt_case_spec){
        .problem = small_problem(s, p),
        .alpha = whole ? whole_alpha(s->alpha, s->data == UNIFORM, p) : s->alpha,
        .beta = whole ? (int)(2 * s->beta) : s->beta,
        .mode = mode_of(s, p),
        .finite = s->memory != NANS,
        .again = s->memory == AGAIN,
        .spread = GT_SPREAD_UNEVEN,
    };
}

/* ---- the batch's own shape ---- */

/* The cost of a product: its multiply-adds or, where it is long and thin, its elements. */
static double cost_of(const gemmtune_problem *p) {
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    return fmax(m * n * k, 64 * (m * k + k * n + m * n));
}

static bool has_own_cases(const gemmtune_problem *p) {
    return gt_problem_is_batch(p) && cost_of(p) <= GT_LAB_OWN_MOST;
}

/* The table's number for sides up to 64; else as many as cost a second on two cores or in
 * the interpreter of PTX. */
static int64_t own_products(const struct own *o, const gemmtune_problem *p) {
    enum { SMALL = 64, USUAL = 1 << 21 };
    const double fit = USUAL / cost_of(p);
    if (p->m <= SMALL && p->n <= SMALL && p->k <= SMALL)
        return o->batch;
    return fit >= o->batch ? o->batch : fit > 2 ? (int64_t)fit : 2;
}

/* The problem with another number of products, rows and gaps. Shared operands stay so. */
static gemmtune_problem own_problem(const struct own *o, const gemmtune_problem *timed) {
    gemmtune_problem p = *timed;
    const int64_t gap = 3 * o->pad;
    p.batch = own_products(o, timed);
    p.lda = gt_problem_shape_a(&p).cols + o->pad;
    p.ldb = gt_problem_shape_b(&p).cols + 2 * o->pad;
    p.ldc = p.n + 3 * o->pad;
    p.stride_a = p.stride_a == 0 ? 0 : gt_problem_shape_a(&p).rows * p.lda + gap;
    p.stride_b = p.stride_b == 0 ? 0 : gt_problem_shape_b(&p).rows * p.ldb + gap;
    p.stride_c = p.m * p.ldc + gap;
    return p;
}

static struct gt_case_spec own_case(const struct own *o, const gemmtune_problem *p) {
    const bool whole = !gt_type_is_float(p->type_acc);
    return (struct gt_case_spec){
        .problem = own_problem(o, p),
        .alpha = whole ? whole_alpha(o->alpha, o->uniform, p) : o->alpha,
        .beta = whole ? (int)(2 * o->beta) : o->beta,
        .mode = o->uniform ? GT_DATA_UNIFORM : gt_data_exact(p, p->k),
        .finite = o->finite,
        .again = o->finite && o->beta == 0,
        .spread = GT_SPREAD_UNEVEN,
    };
}

/* ---- the list ---- */

bool gt_case_listed(struct gt_case_spec *out, const gemmtune_problem *p, int i,
                    uint64_t seed) {
    enum { FIRST_SEED = 10 }; /* of the listed cases; the timed ones have smaller ones */
    const bool is_small = i < GT_LAB_SMALLS;
    if (is_small && !is_asked(&smalls[i], p))
        return false;
    if (!is_small && !has_own_cases(p))
        return false;
    *out = is_small ? small_case(&smalls[i], p) : own_case(&owns[i - GT_LAB_SMALLS], p);
    out->seed = seed + FIRST_SEED + (uint64_t)i;
    out->stands_in = is_small && i >= GT_LAB_SMALLS - STAND_INS;
    return true;
}
