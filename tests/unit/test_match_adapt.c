/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups of problems with rows that the tuned kernels and the starts do not fit as they
 * are, with the built-in families and an H200. */
#include "runtime/lookup/match.h"
#include "tests/unit/shipped_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gt_choice ask_within(const struct gt_device *device, const char *problem,
                                   const struct gt_known *known, size_t count,
                                   size_t workspace_max) {
    const struct gt_snapshot snapshot = {
        .families = families, .known = known, .count = count};
    gemmtune_problem p;
    struct gt_choice choice;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    const struct gt_query query = {.snapshot = &snapshot,
                                   .device = device,
                                   .device_key = HERE,
                                   .problem = &p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = workspace_max,
                                   .pointer_align = GT_VECTOR_BYTES};
    assert_int_equal(gt_match(&choice, &query, NULL), GEMMTUNE_OK);
    return choice;
}

static struct gt_choice ask_on(const struct gt_device *device, const char *problem,
                               const struct gt_known *known, size_t count) {
    return ask_within(device, problem, known, count, SIZE_MAX);
}

static struct gt_choice ask(const char *problem, const struct gt_known *known,
                            size_t count) {
    return ask_on(&h200, problem, known, count);
}

static int64_t value_of(const struct gt_choice *c, const char *name) {
    int64_t value = -1;
    assert_true(gt_point_get(&c->point, name, &value));
    return value;
}

/* Copies of two f64 are refused for rows of odd length. The tuned tile serves all the same,
 * with narrower copies or with ODD. */
static void test_odd_rows(void **state) {
    const struct gt_known known[] = {known_of(
        "f64-nn-1024x1024x1024", "dmma",
        "BM=128 BN=64 BK=16 WM=32 WN=32 SLICES=1 MMA_K=8 KSTEP=8 STAGES=4 VA=2 VB=2 "
        "ODD=0 AHEAD=1 MINB=1 GROUP=8 TAIL=0 SPLIT=1 REDUCE=0",
        40000)};
    (void)state;
    const struct gt_choice even = ask("f64-nn-1022x1022x1022", known, 1);
    assert_ptr_equal(even.known, &known[0]);
    assert_true(has_known_point(&even, &known[0]));
    const struct gt_choice odd = ask("f64-nn-1021x1023x1025", known, 1);
    assert_ptr_equal(odd.known, &known[0]);
    assert_int_equal(odd.match, GEMMTUNE_MATCH_SHAPE);
    assert_int_equal(value_of(&odd, "BM"), 128);
    assert_int_equal(value_of(&odd, "BN"), 64);
    assert_true(value_of(&odd, "ODD") == 1 ||
                (value_of(&odd, "VA") == 1 && value_of(&odd, "VB") == 1));
    assert_non_null(strstr(odd.why, " with "));
}

/* Only the operand with odd rows needs other copies. */
static void test_one_odd_operand(void **state) {
    const struct gt_known known[] = {
        known_of("f32-nn-1024x1024x1024", "multistage",
                 "BM=128 BN=128 BK=16 TM=8 TN=8 STAGES=3 SLICES=1 SPLIT=2 CLUSTER=1 "
                 "STREAM=0 FOLD=1 VA=4 VB=4 ORDER=0 REPACK=0 MINB=1 GROUP=1",
                 50000)};
    (void)state;
    const struct gt_choice c = ask("f32-nn-1024x1024x1023", known, 1);
    assert_ptr_equal(c.known, &known[0]);
    assert_int_equal(value_of(&c, "VA"), 1);
    assert_int_equal(value_of(&c, "VB"), 4);
    assert_non_null(strstr(c.why, " with VA=1,"));
}

/* A record of i8 serves the same product with another C. */
static void test_integers_that_become_another_type(void **state) {
    const struct gt_known known[] = {known_of(
        "i8-nt-4096x4096x4096", "wgmma",
        "BM=128 BN=128 WGM=1 WGN=1 STAGES=6 CM=1 CN=1 GROUP=1 PERSIST=1 PINGPONG=1 "
        "MINB=1 SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0",
        104000)};
    (void)state;
    const struct gt_choice same = ask("i8=bf16-nt-4096x4096x4096,epi=dequantise", known, 1);
    assert_ptr_equal(same.known, &known[0]);
    assert_non_null(strstr(same.why, "for the same product without an epilogue"));
    assert_ptr_equal(ask("i8=f32-nt-4096x4096x4096", known, 1).known, &known[0]);
    assert_ptr_equal(ask("i8=i8-nt-4096x4096x4096", known, 1).known, &known[0]);
    assert_ptr_not_equal(ask("bf16-nt-4096x4096x4096", known, 1).known, &known[0]);
}

#define SQUARE_TILE                                                                        \
    "BM=128 BN=128 WGM=1 WGN=1 STAGES=5 CM=1 CN=1 GROUP=4 PERSIST=1 PINGPONG=1 MINB=1 "    \
    "SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0"
#define WIDE_TILE                                                                          \
    "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=1 CN=1 GROUP=8 PERSIST=1 PINGPONG=0 MINB=1 "    \
    "SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0"
/* Elements of C leave in 22 turns, and each would wait for the elements of a matrix. */
#define MANY_TURNS                                                                         \
    "BM=128 BN=176 WGM=1 WGN=1 STAGES=4 CM=1 CN=1 GROUP=8 PERSIST=1 PINGPONG=1 MINB=1 "    \
    "SPLIT=1 REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0"

/* A winner of the same product answers as it is: of those with other epilogues the one that
 * moves as many bytes. One that may not run with the epilogue does not answer. */
static void test_same_product(void **state) {
    static const struct {
        const char *asked, *from; /* NULL: a forecast */
    } rows[] = {
        {"bf16-nt-8192x1024x512,epi=swiglu", "bf16-nt-8192x1024x512,epi=residual"},
        {"bf16-nt-8192x1024x512,epi=bias_relu", "bf16-nt-8192x1024x512"},
        {"bf16-nt-8192x1024x512,groups=4,epi=batch_bias", "bf16-nt-8192x1024x512,groups=4"},
        {"bf16-nt-8192x1024x512,groups=4,epi=residual", NULL},
    };
    const struct gt_known known[] = {
        known_of("bf16-nt-8192x1024x512", "wgmma", WIDE_TILE, 15000),
        known_of("bf16-nt-8192x1024x512,epi=residual", "wgmma", SQUARE_TILE, 18000),
        known_of("bf16-nt-8192x1024x512,groups=4", "wgmma", MANY_TURNS, 16000)};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_choice c = ask(rows[i].asked, known, 3);
        const bool as_it_is = strstr(c.why, "for the same product") != NULL;
        assert_int_equal(as_it_is, rows[i].from != NULL);
        if (as_it_is) {
            struct gt_point own;
            gt_known_point(&own, c.known);
            assert_string_equal(c.known->problem_name, rows[i].from);
            assert_memory_equal(&own, &c.point, sizeof own);
        }
    }
}

/* A start is adapted as well, so a problem with odd rows gets tensor cores untuned. */
static void test_untuned(void **state) {
    static const char *const problems[] = {"f64-nt-63x1021x1023", "f64-tt-1501x77x901",
                                           "f64-nn-2001x2003x2005"};
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const struct gt_choice c = ask(problems[i], NULL, 0);
        assert_string_equal(c.family->name, "dmma");
        assert_int_equal(c.match, GEMMTUNE_MATCH_DEFAULT);
    }
}

/* Where no trees correct the model, as on a slice of a GPU, kernels for comparison and
 * unmeasured rungs of the ladder do not answer, though the model takes them to be as fast
 * when k is short. A rung that was tuned may. */
static void test_ladder_is_last(void **state) {
    static const char *const problems[] = {
        "f32-nn-936x56x1",    "f32-tn-107x9x25", "f32-nn-1088x1472x6",
        "f64-nn-375x179x15",  "f64-tn-955x1x1",  "i32-nn-211x293x19",
        "i32-nt-128x56x16",   "f64-tt-15x3x14",  "f32-tt-215x149x33",
        "f32-tn-2048x320x41",
    };
    const struct gt_known known[] = {
        known_of("f32-nn-128x128x128", "tile", "TILE_WIDTH=20 PAD=0 DOUBLE=0", 6020),
        known_of("f64-nn-128x128x128", "tile", "TILE_WIDTH=16 PAD=1 DOUBLE=0", 7204),
        known_of("i32-nn-128x128x128", "naive", "MAP=1 BX=32 BY=8 KU=4", 8000)};
    const struct gt_known block = known_of(
        "f32-nn-896x896x8", "block",
        "BM=64 BN=64 BK=8 THREADS=128 OWN=1 TM=4 VA=1 VB=1 PAD=4 DOUBLE=1 MINB=1 GROUP=4",
        2000);
    struct gt_device slice = h200;
    (void)state;
    slice.units = 60;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (size_t count = 0; count <= 3; count += 3) {
            const struct gt_choice c = ask_on(&slice, problems[i], known, count);
            assert_int_equal(c.family->role, GT_ROLE_NONE);
            assert_int_equal(c.family->rung_count, 0);
        }
    assert_string_equal(ask_on(&slice, "f32-nn-896x890x8", &block, 1).family->name,
                        "block");
}

/* Trees know the kernels for comparison like any others. On an H200 the textbook's kernel
 * took a quarter of the time of the kernel that was looked up without its trees. */
static void test_trees_know_the_ladder(void **state) {
    const char *const problem = "bf16-nn-131x67x25";
    struct gt_device slice = h200;
    (void)state;
    slice.units = 60;
    assert_string_equal(ask(problem, NULL, 0).family->name, "tile");
    assert_int_equal(ask_on(&slice, problem, NULL, 0).family->role, GT_ROLE_NONE);
}

/* Batches of small products have families of their own without tuning. Single products and
 * batches of large ones have others. */
static void test_small_batches(void **state) {
    static const struct {
        const char *problem;
        bool small;
    } rows[] = {
        {"f32-nn-1x1x1,batch=1000000", true},
        {"f32-nn-4x4x4,batch=1000000", true},
        {"f64-tt-7x13x5,batch=100000", true},
        {"f16-tn-16x16x16,batch=100000", true},
        {"f32-nt-10x10x100,batch=50000", true},
        {"bf16=f32-nn-33x33x33,batch=30000", true},
        {"i32-nn-32x32x32,batch=10000", true},
        {"f64-nn-10x12x14,batch=9999,sa=0", true},
        {"f64-nn-48x48x48", false},
        {"f32-nn-500x500x500,batch=50", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_choice c = ask(rows[i].problem, NULL, 0);
        const bool is_own = strcmp(c.family->name, "bundle") == 0 ||
                            strcmp(c.family->name, "pipeline") == 0;
        if (is_own != rows[i].small)
            fail_msg("%s has %s", rows[i].problem, c.family->name);
    }
}

/* Tiles of `tailored` that no start has for a batch of these sizes come from starts with
 * larger tiles. */
static void test_batches_of_other_sizes(void **state) {
    static const char problem[] = "f16-nn-28x3015x283,batch=429";
    const struct gt_family *tailored = gt_families_find(families, "tailored");
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    for (int i = 0; i < tailored->start_count; i++) {
        struct gt_fit fit;
        struct gt_point start;
        gt_family_start(tailored, i, &start);
        assert_int_not_equal(gt_fit_point(&fit, tailored, &h200, &p, &start, NULL),
                             GEMMTUNE_OK);
    }
    assert_ptr_equal(ask(problem, NULL, 0).family, tailored);
}

/* Batches with few tiles and long sums get parts of k without tuning, though no start that
 * serves them has as many, and k in one piece makes every start look slow. */
static void test_deep_batches(void **state) {
    static const char *const problems[] = {"f16-nt-216x160x21552,batch=9",
                                           "bf16-nn-200x200x8000,batch=5",
                                           "f64-nt-472x88x5888,batch=8"};
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const struct gt_choice c = ask(problems[i], NULL, 0);
        const bool tensor =
            strcmp(c.family->name, "wgmma") == 0 || strcmp(c.family->name, "dmma") == 0;
        if (!tensor || value_of(&c, "SPLIT") < 2)
            fail_msg("%s has %s: %s", problems[i], c.family->name, c.why);
    }
}

/* The winner copies both operands whole. A caller who has less workspace than that gets
 * panels of C, or rows that threads load, unless the record that needs nothing is as fast.
 */
static void test_small_workspaces(void **state) {
    static const char problem[] = "bf16-nt-4097x4097x4097";
    struct gt_known known[] = {
        known_of(problem, "wgmma",
                 "BM=192 BN=176 WGM=3 WGN=1 STAGES=4 CM=1 CN=2 GROUP=16 PERSIST=1 "
                 "PINGPONG=0 MINB=1 SPLIT=1 REDUCE=0 TAIL=0 REPACK=3 SWAP=0 STORE=0 RS=0 "
                 "PRODUCERS=0",
                 224000),
        known_of(problem, "mma",
                 "BM=32 BN=32 KBYTES=128 WM=16 WN=16 SLICES=2 STAGES=3 VA=1 VB=1 REPACK=0 "
                 "AHEAD=1 MINB=1 GROUP=1 TAIL=0 SPLIT=1",
                 2852000)};
    known[1].rank = 1;
    (void)state;
    struct gt_choice c = ask_within(&h200, problem, known, 2, SIZE_MAX);
    assert_ptr_equal(c.known, &known[0]);
    c = ask_within(&h200, problem, known, 2, 32 << 20);
    assert_string_equal(c.family->name, "wgmma");
    assert_int_equal(value_of(&c, "REPACK"), 7);
    assert_true(c.fit.passes.workspace_bytes <= 32 << 20);
    /* without any, threads load the rows: the record takes far longer than the winner */
    c = ask_within(&h200, problem, known, 2, 0);
    assert_string_equal(c.family->name, "wgmma");
    assert_true(value_of(&c, "PRODUCERS") >= 4);
    assert_int_equal(c.fit.passes.workspace_bytes, 0);
    /* a record that takes less than twice the winner's time is believed */
    known[1].median_ns = 440000;
    c = ask_within(&h200, problem, known, 2, 0);
    assert_ptr_equal(c.known, &known[1]);
    /* measured, and faster than any forecast */
    known[1].median_ns = 250000;
    c = ask_within(&h200, problem, known, 2, 32 << 20);
    assert_ptr_equal(c.known, &known[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_workspaces),
        cmocka_unit_test(test_odd_rows),
        cmocka_unit_test(test_one_odd_operand),
        cmocka_unit_test(test_integers_that_become_another_type),
        cmocka_unit_test(test_same_product),
        cmocka_unit_test(test_untuned),
        cmocka_unit_test(test_ladder_is_last),
        cmocka_unit_test(test_trees_know_the_ladder),
        cmocka_unit_test(test_small_batches),
        cmocka_unit_test(test_batches_of_other_sizes),
        cmocka_unit_test(test_deep_batches),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
