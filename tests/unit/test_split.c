/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of f32@split and f32@bf16x3, in a model of tensor cores, against their
 * bounds, against plain f32 and against f64. With GT_SPLIT_TABLE set it prints the table of
 * docs/split.md. */
#include "core/mix.h"
#include "core/split.h"
#include "runtime/family/fit.h"
#include "tests/unit/h200_families.h"
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

static const struct format tf32 = {13, 8, false}, bf16 = {16, 16, true};
/* The ways of kernels; other members are mistakes, or other hardware. */
#define TF32(promoted) .format = &tf32, .depth = (promoted), .together = 8
#define BF16(promoted) .format = &bf16, .depth = (promoted), .together = 16
static const struct way right = {TF32(GT_SPLIT_DEPTH)}, halves = {BF16(GT_SPLIT_DEPTH)};
static const struct way right_16 = {TF32(GT_SPLIT_LEAST)};
static const struct way halves_16 = {BF16(GT_SPLIT_LEAST)};

static double bound_of(const struct way *w, int64_t k) {
    const gemmtune_math math =
        w->format == &tf32 ? GEMMTUNE_MATH_SPLIT : GEMMTUNE_MATH_BF16X3;
    return gt_split_error(math, k);
}

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

/* The largest low parts when high ones are cut off: only ones below the bits of bf16, and
 * so below tf32's. */
static void fill_ones(float *x, int64_t k, bool is_b) {
    (void)is_b;
    for (int64_t i = 0; i < k; i++)
        x[i] = 0x1.01fffep0F;
}

/* A first product of 1, others just below its last bit,
 * as in the lab's data of that name. */
static void fill_steep(float *x, int64_t k, bool is_b) {
    (void)is_b;
    for (int64_t i = 0; i < k; i++)
        x[i] = i == 0 ? 1 : (float)draw() * 0x1p-10F;
}

static const struct kind {
    const char *name;
    void (*fill)(float *x, int64_t k, bool is_b);
} kinds[] = {{"uniform [-1, 1]", fill_uniform},     {"uniform [0, 1]", fill_positive},
             {"normal x exp(4 normal)", fill_wide}, {"cancelling", fill_cancelling},
             {"low bits all 1", fill_ones},         {"1 and its last bits", fill_steep}};

enum { UNIFORM, POSITIVE, WIDE, CANCELLING, ONES, STEEP, KINDS };

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
    static const struct {
        const struct way *way;
        int64_t k;
        double bound;
    } rows[] = {{&right, 0, 0},     {&right, 1, 15},     {&right, 2, 41},
                {&right, 8, 209},   {&right, 32, 210},   {&right, 4096, 464},
                {&halves, 0, 0},    {&halves, 1, 522},   {&halves, 16, 660},
                {&halves, 32, 661}, {&halves, 4096, 915}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(bound_of(rows[i].way, rows[i].k) == rows[i].bound);
    for (int64_t k = 1; k < 100000; k++) {
        assert_true(bound_of(&right, k + 1) >= bound_of(&right, k));
        assert_true(bound_of(&halves, k + 1) >= bound_of(&halves, k));
        assert_true((bound_of(&right, k) < (double)k) == (k >= 223));
        assert_true((bound_of(&halves, k) < (double)k) == (k >= 704));
    }
    assert_true(gt_split_error(GEMMTUNE_MATH_STRICT, 8) == 0);
    assert_true(gt_split_parts(GEMMTUNE_MATH_STRICT, 8) == 0);
    assert_true(gt_split_parts(GEMMTUNE_MATH_BF16X3, 64) == 516);
    assert_true(gt_split_parts(GEMMTUNE_MATH_BF16X3, 256) == 258);
}

/* The points of `triple` promote sums as often as the bound assumes. */
static void test_the_space_keeps_the_depths(void **state) {
    const struct gt_family *f = gt_families_find(families, "triple");
    gemmtune_problem p;
    int least = 1000, most = 0;
    (void)state;
    assert_non_null(f);
    assert_int_equal(gt_problem_from_name(&p, "f32@split-nt-512x512x512", NULL),
                     GEMMTUNE_OK);
    for (int kbytes = 64; kbytes <= 256; kbytes *= 2)
        for (int slices = 1; slices <= 4; slices *= 2) {
            char text[GT_POINT_TEXT_MAX];
            struct gt_point point;
            struct gt_fit fit;
            (void)snprintf(text, sizeof text,
                           "ENGINE=0 BM=64 BN=64 KBYTES=%d WM=32 WN=32 SLICES=%d STAGES=3 "
                           "VA=16 VB=16 REPACK=0 MINB=1 GROUP=1 SPLIT=1",
                           kbytes, slices);
            assert_int_equal(gt_point_parse(&point, text, NULL), GEMMTUNE_OK);
            const int depth = kbytes / 4 / slices;
            if (gt_fit_point(&fit, f, &device, &p, &point, NULL) == GEMMTUNE_OK) {
                least = depth < least ? depth : least;
                most = depth > most ? depth : most;
            }
        }
    assert_int_equal(least, GT_SPLIT_LEAST);
    assert_int_equal(most, GT_SPLIT_DEPTH);
}

/* The sizes of low parts and of rests, as the proof has them. */
static void test_parts(void **state) {
    static const struct {
        const struct way *way;
        double low, rest;
    } rows[] = {{&right, 0x1p-11, 0x1p-23}, {&halves, 0x1p-8, 0x1p-17}};
    (void)state;
    seed = 1;
    for (int i = 0; i < 200000; i++) {
        const float x = (float)(1 + draw());
        const double size = (double)x;
        float high, low;
        split_into(&high, &low, x, rows[i % 2].way);
        assert_true(fabs((double)low) <= rows[i % 2].low * size);
        assert_true(fabs(size - (double)high - (double)low) <= rows[i % 2].rest * size);
    }
}

static void test_every_kind_keeps_the_bound(void **state) {
    static const int64_t depths[] = {1, 2, 3, 7, 8, 9, 31, 32, 33, 100, 216, 1000, 4096};
    static const struct way older[] = {
        {.format = &tf32, .depth = GT_SPLIT_DEPTH, .together = 4},
        {.format = &bf16, .depth = GT_SPLIT_DEPTH, .together = 8}};
    static const struct way spread[] = {{TF32(GT_SPLIT_DEPTH), .spread = true},
                                        {BF16(GT_SPLIT_DEPTH), .spread = true}};
    const struct way *const ways[] = {&right,  &older[0], &right_16,  &spread[0],
                                      &halves, &older[1], &halves_16, &spread[1]};
    enum { DEPTHS = sizeof depths / sizeof *depths, WAYS = sizeof ways / sizeof *ways };
    (void)state;
    for (int i = 0; i < DEPTHS * KINDS * WAYS; i++) {
        const struct way *w = ways[i % WAYS];
        const int64_t k = depths[i / WAYS / KINDS];
        const int count = (int)(20000 / k + 5);
        assert_true(errors_of(i / WAYS % KINDS, k, w, count).most <= bound_of(w, k));
    }
}

static void test_as_accurate_as_f32(void **state) {
    static const struct {
        int kind;
        int64_t k;
        int count;
        double most, mean; /* in units of plain f32's */
    } rows[] = {{UNIFORM, 512, 500, 1, 1},     {UNIFORM, 4096, 60, 1, 1},
                {UNIFORM, 1000000, 3, 1, 1},   {POSITIVE, 512, 100, 1, 3},
                {POSITIVE, 4096, 40, 1, 1},    {POSITIVE, 1000000, 2, 1, 1},
                {WIDE, 4096, 100, 1, 1},       {CANCELLING, 4096, 40, 1, 1},
                {CANCELLING, 1000000, 2, 1, 1}};
    enum { ROWS = sizeof rows / sizeof *rows };
    (void)state;
    for (int i = 0; i < 2 * ROWS; i++) {
        const struct way *w = i < ROWS ? &right : &right_16;
        const int j = i % ROWS;
        const struct errors e = errors_of(rows[j].kind, rows[j].k, w, rows[j].count);
        if (e.most > rows[j].most * e.plain_most || e.mean > rows[j].mean * e.plain_mean)
            fail_msg("%s, k %lld by %lld: %g, %g; f32 %g, %g", kinds[rows[j].kind].name,
                     (long long)rows[j].k, (long long)w->depth, e.most, e.mean,
                     e.plain_most, e.plain_mean);
    }
    /* Shorter sums need an H200's two bits. */
    const struct way wide = {TF32(GT_SPLIT_DEPTH), .extra = 2};
    const struct errors e = errors_of(UNIFORM, 256, &wide, 2000);
    assert_true(e.most <= e.plain_most && e.mean <= e.plain_mean);
}

/* The products of all low parts come first, as where matrices of parts are concatenated. */
static float concatenated_dot(const float *a, const float *b, int64_t k,
                              const struct way *w) {
    const int64_t step = w->format->step, parts = (k + w->depth - 1) / w->depth;
    const int64_t depth = k / parts;
    float total = 0;
    for (int64_t part = 0; part < parts; part++) {
        double sum = 0;
        for (int number = 0; number < 3; number++)
            for (int64_t i = part * depth; i < (part + 1) * depth; i += step)
                sum = add_part(sum, number, a + i, b + i, w);
        total += (float)sum;
    }
    return total;
}

/* With two bits more the model is an H200. The means are taken of 4096^2 sums over 4096 of
 * k, which cuBLAS added up over 512 of k or over all. */
static void test_the_model_of_an_h200(void **state) {
    static const struct {
        struct way way;
        double mean;
    } rows[] = {{{TF32(512), .extra = 2}, 51},
                {{TF32(INT32_MAX), .extra = 2}, 459},
                {{BF16(INT32_MAX), .extra = 2}, 190}};
    enum { K = 4096, SUMS = 50 };
    static float a[K], b[K];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double mean = 0;
        seed = 1;
        for (int j = 0; j < SUMS; j++) {
            fill_positive(a, K, false);
            fill_positive(b, K, true);
            long double sum = 0;
            for (int p = 0; p < K; p++)
                sum += (long double)a[p] * (long double)b[p];
            const float got = concatenated_dot(a, b, K, &rows[i].way);
            mean += (double)(fabsl((long double)got - sum) / sum) * 0x1p24 / SUMS;
        }
        if (fabs(mean / rows[i].mean - 1) > 0.05)
            fail_msg("%zu: %g, not %g", i, mean, rows[i].mean);
    }
}

/* Each mistake exceeds the bound on some data. */
static void test_mistakes_exceed_the_bound(void **state) {
    static const struct {
        struct way way;
        int kind;
        int64_t k;
    } rows[] = {{{TF32(GT_SPLIT_DEPTH), .drop_cross = true}, UNIFORM, 3},
                {{TF32(GT_SPLIT_DEPTH), .drop_cross = true}, UNIFORM, 64},
                {{TF32(GT_SPLIT_DEPTH), .cut_parts = true}, ONES, 1},
                {{TF32(INT64_MAX)}, POSITIVE, 4096},
                {{BF16(GT_SPLIT_DEPTH), .drop_cross = true}, UNIFORM, 3},
                {{BF16(GT_SPLIT_DEPTH), .drop_cross = true}, UNIFORM, 64},
                {{BF16(GT_SPLIT_DEPTH), .cut_parts = true}, ONES, 1},
                {{BF16(INT64_MAX)}, POSITIVE, 16384},
                {{TF32(INT64_MAX), .extra = 2}, STEEP, 4096},
                {{BF16(INT64_MAX), .extra = 2}, STEEP, 4096}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct errors e =
            errors_of(rows[i].kind, rows[i].k, &rows[i].way, (int)(50000 / rows[i].k + 1));
        assert_true(e.most > bound_of(&rows[i].way, rows[i].k));
    }
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
    static const struct way not_promoted = {TF32(INT64_MAX)};
    printf("| data | k | split | by 16 | f32 | split without promotion | bf16x3 |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct errors e = errors_of(rows[i].kind, rows[i].k, &right, rows[i].count);
        const struct errors o =
            errors_of(rows[i].kind, rows[i].k, &right_16, rows[i].count);
        const struct errors n = errors_of(rows[i].kind, rows[i].k, &not_promoted,
                                          rows[i].count > 500 ? 500 : rows[i].count);
        const struct errors h = errors_of(rows[i].kind, rows[i].k, &halves, rows[i].count);
        printf("| %s | %lld | %.3g, %.3g | %.3g, %.3g | %.3g, %.3g | %.3g, %.3g | %.3g, "
               "%.3g |\n",
               kinds[rows[i].kind].name, (long long)rows[i].k, e.most, e.mean, o.most,
               o.mean, e.plain_most, e.plain_mean, n.most, n.mean, h.most, h.mean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_the_space_keeps_the_depths),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_every_kind_keeps_the_bound),
        cmocka_unit_test(test_as_accurate_as_f32),
        cmocka_unit_test(test_the_model_of_an_h200),
        cmocka_unit_test(test_mistakes_exceed_the_bound),
    };
    if (getenv("GT_SPLIT_TABLE") != NULL) {
        print_table();
        return 0;
    }
    return cmocka_run_group_tests(tests, setup, teardown);
}
