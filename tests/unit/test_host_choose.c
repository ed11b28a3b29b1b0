/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of tiles of host products: what is chosen fits into the memory, sizes that the
 * caller gives stay, and what cannot fit is refused with the numbers.
 */
#include "tests/unit/problems.h"

#include "runtime/host/forecast.h"

#include <stdlib.h>

static struct gt_err err;

/* Rates of an H200, in f32. */
static const struct gt_host_rates rates = {.in = 55e9,
                                           .out = 55e9,
                                           .both_in = 50e9,
                                           .both_out = 50e9,
                                           .row = 20e-9,
                                           .flops = 50e12};

static uint32_t seed = 1;

/* From `low` to `high`, small numbers as often as large ones. */
static int64_t random_from(int64_t low, int64_t high) {
    seed = seed * 1664525U + 1013904223U;
    int64_t range = high - low + 1;
    range >>= (seed >> 4) % 12;
    seed = seed * 1664525U + 1013904223U;
    return low + (int64_t)(seed >> 2) % (range > 0 ? range : 1);
}

static struct gt_host_cut cut_of(const char *name) {
    struct gt_host_cut cut = {.sums = true};
    if (gt_problem_from_name(&cut.problem, name, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", name, err.line);
    cut.reads_c = cut.problem.reads_c;
    return cut;
}

static struct gt_host_limits limits_of(int64_t memory, int devices) {
    return (struct gt_host_limits){memory, INT64_MAX, devices};
}

/* Sets tiles and slots of *cut to the best choice. */
static gt_status choose_best(struct gt_host_cut *cut, const struct gt_host_limits *limits) {
    struct gt_host_choices some;
    const gt_status status = gt_host_choose_some(&some, cut, limits, &rates, &err);
    if (status == GEMMTUNE_OK)
        *cut = some.cut[0];
    return status;
}

/* Slots and tiles are valid, and fit. Sums in double cannot overflow. */
static void assert_fits(const struct gt_host_cut *cut, const struct gt_host_limits *l) {
    const gemmtune_problem *p = &cut->problem;
    const int64_t side[3] = {p->m, p->n, p->k};
    double bytes = 0;
    for (int axis = 0; axis < 3; axis++)
        assert_in_range(cut->tile[axis], 1, side[axis] > 0 ? side[axis] : 1);
    for (int i = 0; i < GT_OPERANDS; i++) {
        const struct gt_host_buffer b = gt_host_buffer_of(cut, (enum gt_operand)i);
        assert_in_range(cut->slots[i], i == GT_C ? 1 : 2, INT32_MAX);
        assert_true(b.ld >= b.cols && b.bytes > 0);
        if (!cut->sums && i != GT_C)
            continue;
        assert_true(b.bytes <= l->max_alloc);
        bytes += (double)cut->slots[i] * (double)b.rows * (double)b.ld *
                 (double)gt_host_element_bytes(cut, (enum gt_operand)i);
    }
    assert_true(bytes <= (double)l->memory);
    assert_true(bytes == (double)gt_host_slot_bytes(cut));
    assert_in_range(cut->tail, 1, 64);
}

static const char *random_name(int64_t most) {
    static const char *const types[] = {"f32", "f64", "i32", "bf16", "bf16=f32", "i8=i32"};
    static const char *const layout[] = {"nn", "nt", "tn", "tt"};
    static char name[96];
    snprintf(name, sizeof name, "%s-%s-%dx%dx%d", types[random_from(0, 5)],
             layout[random_from(0, 3)], (int)random_from(1, most),
             (int)random_from(1, most), (int)random_from(1, most));
    return name;
}

static void test_random(void **state) {
    int chosen = 0, refused = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct gt_host_cut cut = cut_of(random_name(20000));
        struct gt_host_limits l =
            limits_of(random_from(1 << 14, INT64_C(1) << 30), (int)random_from(1, 4));
        if (i % 4 == 0)
            l.max_alloc = l.memory / 8;
        cut.reads_c = i % 2 == 0;
        cut.sums = i % 8 != 0;
        const gt_status status = choose_best(&cut, &l);
        if (status == GEMMTUNE_OK)
            assert_fits(&cut, &l);
        else
            assert_int_equal(status, GEMMTUNE_EINVAL);
        chosen += status == GEMMTUNE_OK;
        refused += status != GEMMTUNE_OK;
    }
    print_message("%d chosen, %d refused\n", chosen, refused);
    assert_true(chosen > 30);
}

/* The best choices: all fit, no two have the same tiles, and the fastest comes first. */
static void test_some(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        const struct gt_host_cut cut = cut_of(random_name(20000));
        const struct gt_host_limits l = limits_of(random_from(1 << 20, 1 << 28), 2);
        struct gt_host_choices some;
        assert_int_equal(gt_host_choose_some(&some, &cut, &l, &rates, &err), GEMMTUNE_OK);
        assert_in_range(some.count, 1, GT_HOST_CHOICES);
        for (int j = 0; j < some.count; j++) {
            assert_fits(&some.cut[j], &l);
            assert_true(some.seconds[j] > 0);
            assert_true(j == 0 || some.seconds[j - 1] <= some.seconds[j]);
            for (int other = 0; other < j; other++)
                assert_memory_not_equal(some.cut[other].tile, some.cut[j].tile,
                                        sizeof cut.tile);
        }
    }
}

/* Sizes of the caller stay, and the others are chosen around them. */
static void test_given(void **state) {
    static const int64_t given[][3] = {{512, 0, 0},   {0, 300, 0},    {0, 0, 77},
                                       {512, 300, 0}, {512, 300, 77}, {16, 4096, 0},
                                       {4096, 16, 64}};
    const struct gt_host_limits l = limits_of(64 << 20, 1);
    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct gt_host_cut cut = cut_of("f32-nn-5000x4096x3000");
        memcpy(cut.tile, given[i], sizeof cut.tile);
        if (choose_best(&cut, &l) != GEMMTUNE_OK)
            fail_msg("case %d: %s", (int)i, err.line);
        assert_fits(&cut, &l);
        for (int axis = 0; axis < 3; axis++)
            if (given[i][axis] > 0)
                assert_int_equal(cut.tile[axis], given[i][axis]);
    }
    struct gt_host_cut cut = cut_of("f32-nn-50x40x30");
    for (int axis = 0; axis < 3; axis++)
        cut.tile[axis] = 1000; /* larger than the matrix: the matrix */
    assert_int_equal(choose_best(&cut, &l), GEMMTUNE_OK);
    assert_true(cut.tile[0] == 50 && cut.tile[1] == 40 && cut.tile[2] == 30);
}

/* A C that is narrower than the sums is rounded once, so k is one slab. */
static void test_narrow_c(void **state) {
    static const int64_t given[] = {0, 100};
    const struct gt_host_limits l = limits_of(8 << 20, 1);
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct gt_host_cut cut = cut_of("bf16-nn-2000x2000x1000");
        cut.tile[2] = given[i];
        assert_int_equal(choose_best(&cut, &l), GEMMTUNE_OK);
        assert_int_equal(cut.tile[2], 1000);
        assert_int_equal(gt_host_choose_five(&cut, &l, &err), GEMMTUNE_OK);
        assert_int_equal(cut.tile[2], 1000);
        cut = cut_of("bf16=f32-nn-2000x2000x1000");
        cut.tile[2] = given[i];
        assert_int_equal(choose_best(&cut, &l), GEMMTUNE_OK);
        assert_fits(&cut, &l);
        if (given[i] > 0)
            assert_int_equal(cut.tile[2], given[i]);
    }
}

static void test_degenerate(void **state) {
    static const char *const name[] = {"f32-nn-1x1x1",       "f32-nn-1x30000x20000",
                                       "f32-tt-30000x1x200", "f64-nt-20000x30000x1",
                                       "f32-nn-1x1x2000000", "i32-tn-5000000x1x1"};
    const struct gt_host_limits l = limits_of(16 << 20, 1);
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct gt_host_cut cut = cut_of(name[i]);
        if (choose_best(&cut, &l) != GEMMTUNE_OK)
            fail_msg("%s: %s", name[i], err.line);
        assert_fits(&cut, &l);
        cut = cut_of(name[i]);
        if (gt_host_choose_five(&cut, &l, &err) != GEMMTUNE_OK)
            fail_msg("%s: %s", name[i], err.line);
        assert_fits(&cut, &l);
    }
}

/* Without sums there is neither A nor B, and k does not matter. */
static void test_no_sums(void **state) {
    const struct gt_host_limits l = limits_of(1 << 20, 1);
    struct gt_host_cut cut = cut_of("f32-nn-2000x2000x0");
    (void)state;
    cut.sums = false;
    cut.reads_c = true;
    assert_int_equal(choose_best(&cut, &l), GEMMTUNE_OK);
    assert_fits(&cut, &l);
}

/* The largest dimensions neither overflow nor take long. */
static void test_huge(void **state) {
    static const char *const name[] = {
        "f32-nn-2147483647x1x536870911",     "f32-tt-1x2147483647x536870911",
        "i8=i32-nn-2147483647x1x2147483647", "i8=i32-nt-1x2147483647x2147483647",
        "f32-nn-2147483647x500000000x1",     "f32-nn-1x1x2147483647",
        "f32-nn-2000000x2000000x2000000",    "f64-nn-200000x200000x200000"};
    static const int64_t memory[] = {56 << 20, INT64_C(100) << 30, INT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int j = 0; j < 3; j++) {
            const struct gt_host_limits l = limits_of(memory[j], 2);
            struct gt_host_cut cut = cut_of(name[i]);
            gt_status status = choose_best(&cut, &l);
            print_message("%s in %lld: %s\n", name[i], (long long)memory[j],
                          status == GEMMTUNE_OK ? "fits" : err.line);
            if (status == GEMMTUNE_OK)
                assert_fits(&cut, &l);
            else
                assert_int_equal(status, GEMMTUNE_EINVAL);
            cut = cut_of(name[i]);
            status = gt_host_choose_five(&cut, &l, &err);
            if (status == GEMMTUNE_OK)
                assert_fits(&cut, &l);
        }
}

static void assert_no_choice(const struct gt_host_cut *wanted,
                             const struct gt_host_limits *l, const char *words) {
    struct gt_host_cut cut = *wanted;
    assert_int_equal(choose_best(&cut, l), GEMMTUNE_EINVAL);
    if (strstr(err.line, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.line, words);
}

/* The sentence has the numbers that the caller can change. */
static void test_refused(void **state) {
    struct gt_host_limits l = limits_of(1000, 1);
    struct gt_host_cut cut = cut_of("f32-nn-100x100x100");
    (void)state;
    /* 16 rows of 64 bytes are the smallest tile, two of A, two of B and one of C */
    assert_no_choice(&cut, &l,
                     "16 x 16 x 16, need 5120 bytes of device memory, and there are 1000");
    l = limits_of(5120, 1);
    assert_int_equal(choose_best(&cut, &l), GEMMTUNE_OK);
    cut = cut_of("f32-nn-100x100x100");
    cut.tile[0] = cut.tile[1] = cut.tile[2] = 64;
    assert_no_choice(&cut, &l,
                     "64 x 64 x 64, need 81920 bytes of device memory, and there are 5120");
    l = (struct gt_host_limits){1 << 20, 16000, 1};
    assert_no_choice(&cut, &l, "16384 bytes");
    assert_no_choice(&cut, &l, "16000");
    cut = cut_of("f32-nn-2000000000x1x1000");
    cut.tile[0] = cut.tile[1] = cut.tile[2] = 1;
    l = limits_of(1 << 30, 1);
    assert_no_choice(&cut, &l, "1 x 1 x 1");
    assert_no_choice(&cut, &l, "2e+12 products");
}

/* The forecast of many tiles is scaled from some of them: about as long as all of them. */
static void test_forecast_of_many(void **state) {
    struct gt_host_cut cut = cut_of("f32-nn-40000x40000x4000");
    const double whole = 1;
    double seconds[2];
    (void)state;
    cut.slots[GT_A] = cut.slots[GT_B] = 12;
    cut.slots[GT_C] = 2;
    cut.tail = 1;
    for (int i = 0; i < 2; i++) {
        struct gt_host_tile *tile = NULL;
        struct gt_host_forecast f;
        size_t end = 0;
        cut.tile[0] = cut.tile[1] = cut.tile[2] = 400;
        cut.problem.m = i == 0 ? 4000 : 40000; /* 1000 tiles, and 10000 */
        assert_int_equal(gt_host_tiles_make(&tile, &end, &cut, 1, &whole, &err),
                         GEMMTUNE_OK);
        assert_int_equal(gt_host_forecast(&f, &cut, tile, end, &rates, &err), GEMMTUNE_OK);
        seconds[i] = f.seconds;
        assert_true(f.bytes_out > 0.99 * 4.0 * 40000 * (double)cut.problem.m);
        assert_true(f.bytes_out < 1.01 * 4.0 * 40000 * (double)cut.problem.m);
        assert_true(f.compute_seconds <= f.seconds);
        assert_true(f.seconds >= gt_host_lower_bound(&cut, &rates) * 0.99);
        free(tile);
    }
    assert_true(seconds[1] > 9 * seconds[0] && seconds[1] < 11 * seconds[0]);
}

/* The five buffers of the paper, and sizes of the caller in them. */
static void test_five(void **state) {
    const struct gt_host_limits l = limits_of(64 << 20, 1);
    struct gt_host_cut cut = cut_of("f32-nn-20000x20000x20000");
    (void)state;
    assert_int_equal(gt_host_choose_five(&cut, &l, &err), GEMMTUNE_OK);
    assert_fits(&cut, &l);
    assert_int_equal(cut.slots[GT_A], 2);
    assert_int_equal(cut.slots[GT_B], 2);
    assert_int_equal(cut.slots[GT_C], 1);
    assert_int_equal(cut.tile[0], cut.tile[1]);
    cut.tile[0] = 1000;
    cut.tile[1] = 0;
    cut.tile[2] = 50;
    assert_int_equal(gt_host_choose_five(&cut, &l, &err), GEMMTUNE_OK);
    assert_fits(&cut, &l);
    assert_int_equal(cut.tile[0], 1000);
    assert_int_equal(cut.tile[2], 50);
    const struct gt_host_limits little = limits_of(100, 1);
    assert_int_equal(gt_host_choose_five(&cut, &little, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "and there are 100"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_some),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_narrow_c),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_no_sums),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_forecast_of_many),
        cmocka_unit_test(test_five),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
