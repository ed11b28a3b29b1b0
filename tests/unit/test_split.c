/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of f32@split, in a model of tensor cores, against its bound, against plain
 * f32 and against f64. With GT_SPLIT_TABLE set it prints the table of docs/split.md. */
#include "core/mix.h"
#include "core/split.h"
#include "tests/unit/tensor_sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DEPTH = GT_SPLIT_DEPTH };
#define GT_OPENCL 1 /* of the part, its macros alone */
#include "templates/common/split.h"
_Static_assert((int)DEPTH == GT_SPLIT_DEPTH, "kernels promote sums as the bound assumes");

static const struct way right = {GT_SPLIT_DEPTH, 8, false, false};
static const struct way older = {GT_SPLIT_DEPTH, 4, false, false};

/* ---- data ---- */

static uint64_t seed;

/* Uniform in [0, 1), in steps of 2^-24. */
static double draw(void) {
    seed++;
    return (double)(gt_mix(seed * GT_MIX_STEP) >> 40) * 0x1p-24;
}

static double draw_normal(void) {
    return sqrt(-2 * log(draw() + 0x1p-25)) * cos(2 * 3.14159265358979 * draw());
}

static void fill_uniform(float *x, int64_t k, bool is_b) {
    (void)is_b;
    for (int64_t i = 0; i < k; i++)
        x[i] = (float)(2 * draw() - 1);
}

static void fill_positive(float *x, int64_t k, bool is_b) {
    (void)is_b;
    for (int64_t i = 0; i < k; i++)
        x[i] = (float)draw();
}

static void fill_wide(float *x, int64_t k, bool is_b) {
    (void)is_b;
    for (int64_t i = 0; i < k; i++)
        x[i] = (float)(draw_normal() * exp(4 * draw_normal()));
}

/* The second half of the products cancels the first half, up to some units of the last
 * bits. */
static void fill_cancelling(float *x, int64_t k, bool is_b) {
    const int64_t half = (k + 1) / 2;
    for (int64_t i = 0; i < k; i++)
        x[i] = i < half ? (float)(1 + draw())
                        : x[i - half] * (is_b ? -1 : 1 + (float)(4 * draw()) * 0x1p-23F);
}

/* The largest rest of both parts when they are cut off: 13 ones below tf32's bits. */
static void fill_ones(float *x, int64_t k, bool is_b) {
    (void)is_b;
    for (int64_t i = 0; i < k; i++)
        x[i] = 0x1.003ffep0F;
}

static const struct kind {
    const char *name;
    void (*fill)(float *x, int64_t k, bool is_b);
} kinds[] = {{"uniform [-1, 1]", fill_uniform},
             {"uniform [0, 1]", fill_positive},
             {"normal x exp(4 normal)", fill_wide},
             {"cancelling", fill_cancelling},
             {"low bits all 1", fill_ones}};

enum { UNIFORM, POSITIVE, WIDE, CANCELLING, ONES, KINDS };

/* ---- errors ---- */

/* Errors in units of u |A||B|, over `count` dot products. */
struct errors {
    double most, mean, plain_most, plain_mean;
};

static double larger(double x, double y) {
    return x > y ? x : y;
}

static void add_errors(struct errors *e, const float *a, const float *b, int64_t k,
                       const struct way *w, int count) {
    long double sum = 0, size = 0;
    for (int64_t i = 0; i < k; i++) {
        sum += (long double)a[i] * (long double)b[i];
        size += fabsl((long double)a[i] * (long double)b[i]);
    }
    const double unit = (double)size * 0x1p-24;
    const double split = (double)fabsl((long double)split_dot(a, b, k, w) - sum) / unit;
    const double plain = (double)fabsl((long double)plain_dot(a, b, k) - sum) / unit;
    e->most = larger(e->most, split);
    e->plain_most = larger(e->plain_most, plain);
    e->mean += split / count;
    e->plain_mean += plain / count;
}

static struct errors errors_of(int kind, int64_t k, const struct way *w, int count) {
    struct errors e = {0, 0, 0, 0};
    float *a = malloc((size_t)k * sizeof *a), *b = malloc((size_t)k * sizeof *b);
    assert_non_null(a);
    assert_non_null(b);
    seed = (uint64_t)k;
    for (int i = 0; i < count; i++) {
        kinds[kind].fill(a, k, false);
        kinds[kind].fill(b, k, true);
        add_errors(&e, a, b, k, w, count);
    }
    free(a);
    free(b);
    return e;
}

/* ---- tests ---- */

static void test_bound(void **state) {
    (void)state;
    assert_true(gt_split_error(0) == 0);
    assert_true(gt_split_error(1) == 15);
    assert_true(gt_split_error(8) == 29);
    assert_true(gt_split_error(32) == 209);
    assert_true(gt_split_error(4096) == 336);
    for (int64_t k = 1; k < 100000; k++) {
        assert_true(gt_split_error(k + 1) >= gt_split_error(k));
        assert_true((gt_split_error(k) < (double)k) == (k >= 216));
    }
}

/* high + low is x up to 2 u |x|, and low is at most 2^-11 |x|. */
static void test_parts(void **state) {
    (void)state;
    seed = 1;
    for (int i = 0; i < 100000; i++) {
        const float x = (float)(1 + draw()), high = tf32_of(x, false);
        const float low = tf32_of(x - high, true);
        assert_true(fabs((double)low) <= 0x1p-11 * (double)x);
        assert_true(fabs((double)x - (double)high - (double)low) <= 0x1p-23 * (double)x);
    }
}

static void test_every_kind_keeps_the_bound(void **state) {
    static const int64_t depths[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 216, 1000, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const int64_t k = depths[i];
            const int count = (int)(20000 / k + 5);
            assert_true(errors_of(kind, k, &right, count).most <= gt_split_error(k));
            assert_true(errors_of(kind, k, &older, count).most <= gt_split_error(k));
        }
}

static void test_as_accurate_as_f32(void **state) {
    static const struct {
        int kind;
        int64_t k;
        int count;
        double most, mean; /* times those of plain f32 */
    } rows[] = {{UNIFORM, 512, 500, 1, 1},     {UNIFORM, 4096, 60, 1, 1},
                {UNIFORM, 1000000, 3, 1, 1},   {POSITIVE, 512, 100, 1, 3},
                {POSITIVE, 4096, 40, 1, 1},    {POSITIVE, 1000000, 2, 1, 1},
                {WIDE, 4096, 100, 1, 1},       {CANCELLING, 4096, 40, 1, 1},
                {CANCELLING, 1000000, 2, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct errors e = errors_of(rows[i].kind, rows[i].k, &right, rows[i].count);
        if (e.most > rows[i].most * e.plain_most || e.mean > rows[i].mean * e.plain_mean)
            fail_msg("%s, k %lld: %g, %g; f32 %g, %g", kinds[rows[i].kind].name,
                     (long long)rows[i].k, e.most, e.mean, e.plain_most, e.plain_mean);
    }
}

/* Each mistake exceeds the bound on some data. */
static void test_mistakes_exceed_the_bound(void **state) {
    static const struct way no_cross = {GT_SPLIT_DEPTH, 8, false, true};
    static const struct way cut = {GT_SPLIT_DEPTH, 8, true, false};
    static const struct way not_promoted = {INT64_MAX, 8, false, false};
    (void)state;
    assert_true(errors_of(UNIFORM, 3, &no_cross, 1000).most > gt_split_error(3));
    assert_true(errors_of(UNIFORM, 64, &no_cross, 1000).most > gt_split_error(64));
    assert_true(errors_of(ONES, 1, &cut, 1).most > gt_split_error(1));
    assert_true(errors_of(POSITIVE, 4096, &not_promoted, 10).most > gt_split_error(4096));
}

static void print_table(void) {
    static const struct {
        int kind;
        int64_t k;
        int count;
    } rows[] = {{UNIFORM, 64, 100000},  {UNIFORM, 256, 20000},   {UNIFORM, 1024, 8000},
                {UNIFORM, 4096, 2000},  {UNIFORM, 1000000, 16},  {POSITIVE, 256, 10000},
                {POSITIVE, 4096, 1000}, {POSITIVE, 1000000, 8},  {WIDE, 4096, 1000},
                {WIDE, 1000000, 8},     {CANCELLING, 4096, 1000}};
    static const struct way not_promoted = {INT64_MAX, 8, false, false};
    printf("| data | k | split | f32 | split without promotion |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct errors e = errors_of(rows[i].kind, rows[i].k, &right, rows[i].count);
        const struct errors n = errors_of(rows[i].kind, rows[i].k, &not_promoted,
                                          rows[i].count > 500 ? 500 : rows[i].count);
        printf("| %s | %lld | %.3g, %.3g | %.3g, %.3g | %.3g, %.3g |\n",
               kinds[rows[i].kind].name, (long long)rows[i].k, e.most, e.mean, e.plain_most,
               e.plain_mean, n.most, n.mean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_every_kind_keeps_the_bound),
        cmocka_unit_test(test_as_accurate_as_f32),
        cmocka_unit_test(test_mistakes_exceed_the_bound),
    };
    if (getenv("GT_SPLIT_TABLE") != NULL) {
        print_table();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
