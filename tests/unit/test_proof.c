/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of a large product: a right product passes in every type and layout, and no
 * product with a fault that a host product may have does.
 */
#include "tests/unit/problems.h"

#include "core/element.h"
#include "tuner/stream/proof.h"

#include <math.h>
#include <stdlib.h>

enum { M = 70, N = 90, K = 50, TILE = 32 };

static struct gt_err err;

struct product {
    gemmtune_problem p;
    double alpha, beta;
    char *a, *b, *c, *before, *right; /* C: now, before the product, and after it */
};

/* ---- a product ----------------------------------------------------------------------- */

static double random_number(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)*state * 0x1p-63;
}

/* From -1 to 1; integers: of the whole range. */
static void fill(char *to, gemmtune_dtype type, int64_t count, uint64_t seed) {
    const double largest = type == GEMMTUNE_I32  ? 2147483647
                           : type == GEMMTUNE_I8 ? 127
                                                 : 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = random_number(&seed);
        gt_element_put(to + i * (int64_t)gt_type_size(type), type,
                       largest > 0 ? rint(x * largest) : x);
    }
}

static char *make(gemmtune_dtype type, int64_t count, uint64_t seed) {
    char *bytes = calloc((size_t)count + 1, gt_type_size(type));
    assert_non_null(bytes);
    fill(bytes, type, count, seed);
    return bytes;
}

static char *c_at(const struct product *x, int64_t row, int64_t col) {
    return x->c + (row * x->p.ldc + col) * (int64_t)gt_type_size(x->p.type_c);
}

static double op_at(const char *bytes, gemmtune_dtype type, int64_t ld,
                    gemmtune_trans trans, int64_t row, int64_t col) {
    const int64_t i = trans == GEMMTUNE_TRANS ? col * ld + row : row * ld + col;
    return gt_element_get(bytes + i * (int64_t)gt_type_size(type), type);
}

/* An integer modulo 2^32; 0 for what is none, of floats. */
static uint32_t whole(double x) {
    return fabs(x) < 9e18 ? (uint32_t)(int64_t)x : 0;
}

/* One element, with sums in f64, or modulo 2^32. */
static void put_element(const struct product *x, int64_t row, int64_t col, double alpha,
                        double beta) {
    const gemmtune_problem *p = &x->p;
    const double before = gt_element_get(
        x->before + (row * p->ldc + col) * (int64_t)gt_type_size(p->type_c), p->type_c);
    double sum = 0;
    uint32_t bits = 0;
    for (int64_t l = 0; l < p->k; l++) {
        const double a = op_at(x->a, p->type_a, p->lda, p->trans_a, row, l);
        const double b = op_at(x->b, p->type_b, p->ldb, p->trans_b, l, col);
        sum += a * b;
        bits += whole(a) * whole(b);
    }
    bits = whole(alpha) * bits + whole(beta) * whole(before);
    gt_element_put(c_at(x, row, col), p->type_c,
                   gt_type_is_float(p->type_acc) ? alpha * sum + beta * before
                                                 : (double)(int32_t)bits);
}

static size_t bytes_of_c(const struct product *x) {
    return (size_t)gt_problem_elems_c(&x->p) * gt_type_size(x->p.type_c);
}

static void multiply(const struct product *x, double alpha, double beta) {
    for (int64_t i = 0; i < x->p.m; i++)
        for (int64_t j = 0; j < x->p.n; j++)
            put_element(x, i, j, alpha, beta);
}

static struct product open_product(const char *name, double alpha, double beta) {
    struct product x = {.alpha = alpha, .beta = beta};
    if (gt_problem_from_name(&x.p, name, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", name, err.line);
    x.a = make(x.p.type_a, gt_problem_elems_a(&x.p), 1);
    x.b = make(x.p.type_b, gt_problem_elems_b(&x.p), 2);
    x.c = make(x.p.type_c, gt_problem_elems_c(&x.p), 3);
    x.before = make(x.p.type_c, gt_problem_elems_c(&x.p), 3);
    x.right = make(x.p.type_c, gt_problem_elems_c(&x.p), 3);
    multiply(&x, alpha, beta);
    memcpy(x.right, x.c, bytes_of_c(&x));
    return x;
}

static void drop(struct product *x) {
    free(x->a);
    free(x->b);
    free(x->c);
    free(x->before);
    free(x->right);
}

/* ---- faults -------------------------------------------------------------------------- */

static void zero_box(const struct product *x, int64_t row, int64_t col, int64_t rows,
                     int64_t cols) {
    for (int64_t i = row; i < row + rows && i < x->p.m; i++)
        for (int64_t j = col; j < col + cols && j < x->p.n; j++)
            gt_element_put(c_at(x, i, j), x->p.type_c, 0);
}

static void be_right(struct product *x) {
    (void)x;
}

static void lose_tile(struct product *x) {
    zero_box(x, TILE, TILE, TILE, TILE);
}

static void lose_last_tile(struct product *x) {
    zero_box(x, 64, 64, TILE, TILE);
}

static void lose_row(struct product *x) {
    zero_box(x, 41, 0, 1, N);
}

static void lose_column(struct product *x) {
    zero_box(x, 0, 17, M, 1);
}

static void swap_rows(struct product *x) {
    const size_t bytes = (size_t)x->p.n * gt_type_size(x->p.type_c);
    char *row = malloc(bytes);
    assert_non_null(row);
    memcpy(row, c_at(x, 7, 0), bytes);
    memcpy(c_at(x, 7, 0), c_at(x, 8, 0), bytes);
    memcpy(c_at(x, 8, 0), row, bytes);
    free(row);
}

/* A tile stands where its neighbour belongs. */
static void misplace_tile(struct product *x) {
    for (int64_t i = 0; i < TILE; i++)
        memcpy(c_at(x, i, 0), c_at(x, i, TILE), TILE * gt_type_size(x->p.type_c));
}

static void forget_alpha(struct product *x) {
    multiply(x, 1, x->beta);
}

static void forget_beta(struct product *x) {
    multiply(x, x->alpha, 0);
}

/* A tile as it was before the product. */
static void skip_tile(struct product *x) {
    const size_t size = gt_type_size(x->p.type_c);
    for (int64_t i = 0; i < TILE; i++)
        memcpy(c_at(x, i, 0), x->before + (size_t)(i * x->p.ldc) * size, TILE * size);
}

/* One slab of k is missing in one tile. */
static void skip_slab(struct product *x) {
    x->p.k -= 16;
    for (int64_t i = 0; i < TILE; i++)
        for (int64_t j = 0; j < TILE; j++)
            put_element(x, i, j, x->alpha, x->beta);
    x->p.k += 16;
}

/* One element, by more than rounding of its row explains. Integers: by one. */
static void spoil_element(struct product *x) {
    char *at = c_at(x, 33, 44);
    const bool is_float = gt_type_is_float(x->p.type_acc);
    const double off = !is_float ? 1 : gt_type_size(x->p.type_c) == 2 ? 40 : 0.1;
    gt_element_put(at, x->p.type_c, gt_element_get(at, x->p.type_c) + off);
}

static void put_nan(struct product *x) {
    if (gt_type_is_float(x->p.type_c))
        gt_element_put(c_at(x, 20, 30), x->p.type_c, (double)NAN);
    else
        lose_row(x);
}

static void put_infinity(struct product *x) {
    if (gt_type_is_float(x->p.type_c))
        gt_element_put(c_at(x, 20, 30), x->p.type_c, (double)INFINITY);
    else
        lose_row(x);
}

static const struct fault {
    const char *name;
    void (*make)(struct product *x);
} faults[] = {
    {"a lost tile", lose_tile},
    {"a lost ragged tile", lose_last_tile},
    {"a lost row", lose_row},
    {"a lost column", lose_column},
    {"two rows in each other's place", swap_rows},
    {"a tile in another's place", misplace_tile},
    {"alpha ignored", forget_alpha},
    {"beta ignored", forget_beta},
    {"a tile left as it was", skip_tile},
    {"a slab left out", skip_slab},
    {"one element wrong", spoil_element},
    {"not a number", put_nan},
    {"an infinity", put_infinity},
};

/* ---- the tests ----------------------------------------------------------------------- */

static gt_status prove(struct product *x, void (*spoil)(struct product *x)) {
    const struct gt_proof_data data = {&x->p, x->alpha, x->beta, x->a, x->b, x->c};
    struct gt_proof *proof = NULL;
    double worst = -1;
    err.line[0] = '\0';
    memcpy(x->c, x->before, bytes_of_c(x));
    assert_int_equal(gt_proof_begin(&proof, &data, 5, &err), GEMMTUNE_OK);
    memcpy(x->c, x->right, bytes_of_c(x));
    spoil(x);
    const gt_status status = gt_proof_end(&worst, proof, &data, &err);
    assert_true(status == GEMMTUNE_OK ? worst >= 0 && worst <= 1 : !(worst <= 1));
    gt_proof_destroy(proof);
    return status;
}

static void pass(const char *name, double alpha, double beta) {
    struct product x = open_product(name, alpha, beta);
    if (prove(&x, be_right) != GEMMTUNE_OK)
        fail_msg("%s: %s", name, err.line);
    drop(&x);
}

static const char *const types[] = {"f64",      "f32",     "i32",   "bf16",
                                    "bf16=f32", "f16=f32", "i8=i32"};
static const char *const layouts[] = {"nn-70x90x50", "nt-70x90x50,lda=53,ldc=101",
                                      "tn-70x90x50,lda=75,ldb=95", "tt-70x90x50"};

static void test_right_products(void **state) {
    static const char *const other[] = {"f32-nn-1x1x1", "f64-tt-1x300x20",
                                        "f32-nt-300x1x20", "i32-nn-5x6x0",
                                        "f32-nn-64x64x2000"};
    static const double scalar[][2] = {{1, 0}, {1, 1}, {-3, 2}, {0, 2}, {2, -1}};
    char name[64];
    (void)state;
    for (size_t s = 0; s < sizeof scalar / sizeof *scalar; s++) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            const char *layout = layouts[(i + s) % (sizeof layouts / sizeof *layouts)];
            snprintf(name, sizeof name, "%s-%s", types[i], layout);
            pass(name, scalar[s][0], scalar[s][1]);
        }
        for (size_t i = 0; i < sizeof other / sizeof *other; i++)
            pass(other[i], scalar[s][0], scalar[s][1]);
    }
}

static void test_wrong_products(void **state) {
    char name[64];
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t j = 0; j < sizeof layouts / sizeof *layouts; j++) {
            snprintf(name, sizeof name, "%s-%s", types[i], layouts[j]);
            struct product x = open_product(name, 2, 3);
            assert_int_equal(prove(&x, be_right), GEMMTUNE_OK);
            for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
                if (prove(&x, faults[f].make) != GEMMTUNE_EINVAL)
                    fail_msg("%s passes with %s", name, faults[f].name);
                assert_non_null(strstr(err.line, "is wrong"));
            }
            drop(&x);
        }
}

/* Small errors: an f64 product with the precision of f32 does not pass. */
static void round_to_f32(struct product *x) {
    for (int64_t i = 0; i < x->p.m; i++)
        for (int64_t j = 0; j < x->p.n; j++) {
            const double exact = gt_element_get(c_at(x, i, j), x->p.type_c);
            gt_element_put(c_at(x, i, j), x->p.type_c, (double)(float)exact);
        }
}

static void test_precision(void **state) {
    struct product x = open_product("f64-nn-70x90x50", 1, 0);
    struct product y = open_product("f32-nn-70x90x50", 1, 0);
    (void)state;
    assert_int_equal(prove(&x, round_to_f32), GEMMTUNE_EINVAL);
    assert_int_equal(prove(&y, round_to_f32), GEMMTUNE_OK);
    drop(&x);
    drop(&y);
}

/* With beta 0, C's old elements do not matter, not even when they are no numbers. */
static void test_old_c(void **state) {
    struct product x = open_product("f32-nn-70x90x50", 1, 0);
    (void)state;
    for (int64_t i = 0; i < x.p.n; i++)
        gt_element_put(x.before + i * (int64_t)sizeof(float), GEMMTUNE_F32, (double)NAN);
    assert_int_equal(prove(&x, be_right), GEMMTUNE_OK);
    gt_proof_destroy(NULL);
    drop(&x);
}

/* ---- elements that are not finite ---- */

static char *a_at(const struct product *x, int64_t row, int64_t col) {
    const int64_t at =
        x->p.trans_a == GEMMTUNE_TRANS ? col * x->p.lda + row : row * x->p.lda + col;
    return x->a + at * (int64_t)gt_type_size(x->p.type_a);
}

static char *b_at(const struct product *x, int64_t row, int64_t col) {
    const int64_t at =
        x->p.trans_b == GEMMTUNE_TRANS ? col * x->p.ldb + row : row * x->p.ldb + col;
    return x->b + at * (int64_t)gt_type_size(x->p.type_b);
}

static char *before_at(const struct product *x, int64_t row, int64_t col) {
    return x->before + (row * x->p.ldc + col) * (int64_t)gt_type_size(x->p.type_c);
}

enum { ODD_ROW = 11, ODD_COL = 23 };

static void odd_a(struct product *x) {
    gt_element_put(a_at(x, ODD_ROW, 5), x->p.type_a, (double)NAN);
}

static void odd_b(struct product *x) {
    gt_element_put(b_at(x, 5, ODD_COL), x->p.type_b, INFINITY);
}

static void odd_old(struct product *x) {
    gt_element_put(before_at(x, ODD_ROW, ODD_COL), x->p.type_c, -INFINITY);
    gt_element_put(before_at(x, 60, 80), x->p.type_c, (double)NAN);
}

static void odd_all(struct product *x) {
    odd_a(x);
    odd_b(x);
    odd_old(x);
}

/* Infinities of both signs in one sum. */
static void odd_sum(struct product *x) {
    gt_element_put(a_at(x, ODD_ROW, 5), x->p.type_a, INFINITY);
    gt_element_put(a_at(x, ODD_ROW, 6), x->p.type_a, -INFINITY);
}

static struct product open_odd(const char *name, double beta,
                               void (*make_odd)(struct product *x)) {
    struct product x = open_product(name, 2, beta);
    make_odd(&x);
    multiply(&x, x.alpha, x.beta);
    memcpy(x.right, x.c, bytes_of_c(&x));
    return x;
}

static void hide_odd(struct product *x) {
    gt_element_put(c_at(x, ODD_ROW, ODD_COL), x->p.type_c, 1);
}

static void turn_odd(struct product *x) {
    char *at = c_at(x, ODD_ROW, ODD_COL);
    gt_element_put(at, x->p.type_c,
                   isnan(gt_element_get(at, x->p.type_c)) ? INFINITY : (double)NAN);
}

/* One finite element, in a row and a column that have others. */
static void spoil_beside(struct product *x) {
    char *at = c_at(x, ODD_ROW, ODD_COL + 1);
    if (!isfinite(gt_element_get(at, x->p.type_c)))
        at = c_at(x, ODD_ROW + 1, ODD_COL + 1);
    gt_element_put(at, x->p.type_c, gt_element_get(at, x->p.type_c) + 40);
}

static const struct fault odd_faults[] = {
    {"a finite element that must not be", hide_odd},
    {"another class", turn_odd},
    {"a wrong element beside them", spoil_beside},
    {"a lost tile", lose_tile},
    {"a lost row", lose_row},
    {"one element wrong", spoil_element},
    {"an infinity too many", put_infinity},
};

static void try_odd(const char *name, double beta, void (*make_odd)(struct product *x)) {
    struct product x = open_odd(name, beta, make_odd);
    if (prove(&x, be_right) != GEMMTUNE_OK)
        fail_msg("%s: %s", name, err.line);
    for (size_t f = 0; f < sizeof odd_faults / sizeof *odd_faults; f++)
        if (prove(&x, odd_faults[f].make) != GEMMTUNE_EINVAL)
            fail_msg("%s passes with %s", name, odd_faults[f].name);
    drop(&x);
}

static void test_not_finite(void **state) {
    static const char *const floats[] = {"f64", "f32", "bf16", "bf16=f32", "f16=f32"};
    char name[64];
    (void)state;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        for (size_t j = 0; j < sizeof layouts / sizeof *layouts; j++) {
            snprintf(name, sizeof name, "%s-%s", floats[i], layouts[j]);
            try_odd(name, 0, odd_a);
            try_odd(name, 0, odd_b);
            try_odd(name, 0, odd_sum);
            try_odd(name, 3, odd_old);
            try_odd(name, 3, odd_all);
        }
}

/* An alpha of 0 does not read A and B. */
static void test_not_read(void **state) {
    struct product x = open_product("f32-nn-70x90x50", 0, 2);
    (void)state;
    odd_a(&x);
    odd_b(&x);
    assert_int_equal(prove(&x, be_right), GEMMTUNE_OK);
    assert_int_equal(prove(&x, put_infinity), GEMMTUNE_EINVAL);
    assert_int_equal(prove(&x, spoil_element), GEMMTUNE_EINVAL);
    drop(&x);
}

static void turn_sign(struct product *x) {
    for (int64_t i = 0; i < x->p.m; i++)
        for (int64_t j = 0; j < x->p.n; j++) {
            const double c = gt_element_get(c_at(x, i, j), x->p.type_c);
            gt_element_put(c_at(x, i, j), x->p.type_c, isinf(c) ? -c : c);
        }
}

/* The finite elements of a row with the other sign. */
static void spoil_finite(struct product *x) {
    for (int64_t j = 0; j < x->p.n; j++) {
        const double c = gt_element_get(c_at(x, 9, j), x->p.type_c);
        gt_element_put(c_at(x, 9, j), x->p.type_c, isinf(c) ? c : -c);
    }
}

/* Products beyond the largest number are infinite, with their sign. */
static void test_overflow(void **state) {
    static const struct {
        const char *name;
        double alpha, beta;
        bool is_sharp; /* neither rounding nor beta C0 explains wrong signs */
    } cases[] = {
        {"f16-nn-70x90x50", 1e5, 70000, false}, {"f16-nn-70x90x50", 1e5, 0, false},
        {"f16-nn-70x90x50", -20000, 3, false},  {"f32-nn-70x90x50", 1e38, 1e38, false},
        {"f32-tt-70x90x50", 1e38, 0, true},     {"f32-nn-70x90x50", -1e38, 3, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct product x = open_product(cases[i].name, cases[i].alpha, cases[i].beta);
        if (prove(&x, be_right) != GEMMTUNE_OK)
            fail_msg("alpha %g: %s", cases[i].alpha, err.line);
        if (cases[i].is_sharp)
            assert_int_equal(prove(&x, spoil_finite), GEMMTUNE_EINVAL);
        drop(&x);
    }
}

static void grow_above_zero(struct product *x) {
    for (int64_t i = 0; i < x->p.m; i++)
        for (int64_t l = 0; l < x->p.k; l++) {
            const double a = gt_element_get(a_at(x, i, l), x->p.type_a);
            gt_element_put(a_at(x, i, l), x->p.type_a, fabs(a) * 20000);
        }
    for (int64_t l = 0; l < x->p.k; l++)
        for (int64_t j = 0; j < x->p.n; j++) {
            const double b = gt_element_get(b_at(x, l, j), x->p.type_b);
            gt_element_put(b_at(x, l, j), x->p.type_b, fabs(b));
        }
}

/* Where no sum of terms goes below 0, no infinity does. */
static void test_sign_of_overflow(void **state) {
    (void)state;
    for (int beta = 0; beta <= 3; beta += 3) {
        struct product x = open_odd("f16-nt-70x90x50", beta, grow_above_zero);
        assert_true(isinf(gt_element_get(c_at(&x, 0, 0), GEMMTUNE_F16)));
        if (prove(&x, be_right) != GEMMTUNE_OK)
            fail_msg("%s", err.line);
        assert_int_equal(prove(&x, turn_sign), GEMMTUNE_EINVAL);
        assert_int_equal(prove(&x, put_nan), GEMMTUNE_EINVAL);
        assert_int_equal(prove(&x, lose_row), GEMMTUNE_EINVAL);
        drop(&x);
    }
}

/* Squares of elements of f64 may exceed f64, or vanish, where products do neither. */
static void scale_far(struct product *x) {
    for (int64_t i = 0; i < gt_problem_elems_a(&x->p); i++)
        ((double *)(void *)x->a)[i] *= 1e200;
    for (int64_t i = 0; i < gt_problem_elems_b(&x->p); i++)
        ((double *)(void *)x->b)[i] *= 1e-200;
}

static void test_far_numbers(void **state) {
    struct product x = open_odd("f64-nn-70x90x50", 0, scale_far);
    (void)state;
    if (prove(&x, be_right) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    assert_int_equal(prove(&x, lose_row), GEMMTUNE_EINVAL);
    assert_int_equal(prove(&x, spoil_element), GEMMTUNE_EINVAL);
    drop(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_products), cmocka_unit_test(test_wrong_products),
        cmocka_unit_test(test_precision),      cmocka_unit_test(test_old_c),
        cmocka_unit_test(test_not_finite),     cmocka_unit_test(test_not_read),
        cmocka_unit_test(test_overflow),       cmocka_unit_test(test_sign_of_overflow),
        cmocka_unit_test(test_far_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
