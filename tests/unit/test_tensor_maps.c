/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor_maps.c - the maps of wgmma in batches: matrices one below the other, or as
 * planes, and the sources that belong to either. */
#include "runtime/family/fit.h"
#include "tests/unit/h200_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The maps of X, Y and C. */
enum { X, Y, C };

static void fit(struct gt_fit *out, const char *problem, const char *point) {
    struct gt_err err = {""};
    struct gt_point at;
    gemmtune_problem p;
    assert_int_equal(gt_problem_read_name(&p, problem, &err), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&at, point, &err), GEMMTUNE_OK);
    const gt_status status =
        gt_fit_point(out, gt_families_find(families, "wgmma"), &device, &p, &at, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
}

static const char small[] = "BM=64 BN=64 WGM=1 WGN=1 STAGES=3 CM=1 CN=1 GROUP=1 PERSIST=0 "
                            "PINGPONG=0 MINB=1 SPLIT=1 "
                            "REDUCE=0 TAIL=0 REPACK=0 SWAP=0 STORE=1 RS=0 PRODUCERS=0";
static const char swapped[] = "BM=64 BN=32 WGM=1 WGN=1 STAGES=3 CM=1 CN=1 GROUP=1 "
                              "PERSIST=1 PINGPONG=0 MINB=1 SPLIT=1 "
                              "REDUCE=0 TAIL=0 REPACK=0 SWAP=1 STORE=0 RS=1 PRODUCERS=0";

static void test_planes(void **state) {
    static const struct {
        const char *problem, *point;
        struct {
            int64_t outer, planes, plane; /* rows; matrices; bytes from one to the next */
        } map[2];
    } rows[] = {
        /* whole slabs: one below the other */
        {"bf16-nn-100x80x128,batch=3", small, {{300, 0, 0}, {384, 0, 0}}},
        /* a last slab that would reach into the next matrix */
        {"bf16-nn-100x80x136,batch=3", small, {{100, 3, 27200}, {136, 3, 21760}}},
        {"bf16-tt-104x72x72,batch=3", small, {{72, 3, 14976}, {72, 3, 10368}}},
        /* one matrix for all */
        {"bf16-nn-100x80x136,batch=3,sb=0", small, {{100, 3, 27200}, {136, 1, 21760}}},
        /* nothing lies across k */
        {"bf16-nt-100x80x136,batch=3", small, {{300, 0, 0}, {240, 0, 0}}},
        {"bf16-nn-100x80x136", small, {{100, 0, 0}, {136, 0, 0}}},
        /* the rows of groups are one matrix, also as Y */
        {"bf16-nn-300x80x72,groups=5", small, {{300, 0, 0}, {72, 5, 11520}}},
        {"i8-nn-300x80x144,groups=5", swapped, {{144, 5, 11520}, {300, 0, 0}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_fit f;
        fit(&f, rows[i].problem, rows[i].point);
        for (int m = X; m <= Y; m++) {
            const struct gt_tiling *t = &f.passes.map[m].tiling;
            if (t->outer != rows[i].map[m].outer || t->planes != rows[i].map[m].planes ||
                t->plane != rows[i].map[m].plane)
                fail_msg("%s, map %d: %d rows, %d planes of %d bytes", rows[i].problem, m,
                         (int)t->outer, (int)t->planes, (int)t->plane);
        }
        assert_int_equal(f.passes.map[C].tiling.planes, 0);
    }
}

/* The L2 cache takes in 256 bytes where rows and planes are multiples of them apart. */
static void test_fetched_bytes(void **state) {
    static const struct {
        const char *problem;
        int64_t x, y;
    } rows[] = {
        {"bf16-nn-256x256x256", 256, 256},
        {"bf16-nn-256x64x256", 256, 128},
        {"bf16-nn-256x256x200", 128, 256},
        {"bf16-nn-100x256x136,batch=3", 128, 256},
        {"bf16-nn-100x256x136,batch=3,sb=34824", 128, 128},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_fit f;
        fit(&f, rows[i].problem, small);
        assert_int_equal(f.passes.map[X].tiling.fetch, rows[i].x);
        assert_int_equal(f.passes.map[Y].tiling.fetch, rows[i].y);
    }
}

/* Whether the source of the problem has such a line. */
static bool has_line(const char *problem, const char *line) {
    struct gt_fit f;
    char *source = NULL;
    fit(&f, problem, small);
    assert_int_equal(gt_source_of(&source, &f.binding, &device, NULL), GEMMTUNE_OK);
    const bool has = strstr(source, line) != NULL;
    free(source);
    return has;
}

/* Whether both problems have one source. */
static bool share_a_source(const char *one, const char *other) {
    const char *const problem[2] = {one, other};
    char *source[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        struct gt_fit f;
        fit(&f, problem[i], small);
        assert_int_equal(gt_source_of(&source[i], &f.binding, &device, NULL), GEMMTUNE_OK);
    }
    const bool same = strcmp(source[0], source[1]) == 0;
    free(source[0]);
    free(source[1]);
    return same;
}

/* Problems of either kind have a source each, and all of a kind share it. */
static void test_variants_of_the_source(void **state) {
    (void)state;
    assert_true(has_line("bf16-nn-100x80x128,batch=3", "#define GT_PLANES 0\n"));
    assert_true(has_line("bf16-nn-100x80x136,batch=3", "#define GT_PLANES 1\n"));
    assert_true(has_line("bf16-nn-100x80x136", "#define GT_PLANES 0\n"));
    /* other derived names of the problem are expressions */
    assert_true(has_line("bf16-nn-100x80x136,batch=3", "#define GT_PACKED_A "));
    assert_true(share_a_source("bf16-nn-100x80x136,batch=3", "bf16-nn-72x64x200,batch=50"));
    assert_true(share_a_source("bf16-nn-100x80x128,batch=3", "bf16-nn-72x64x192,batch=50"));
    assert_false(
        share_a_source("bf16-nn-100x80x128,batch=3", "bf16-nn-100x80x136,batch=3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_fetched_bytes),
        cmocka_unit_test(test_variants_of_the_source),
    };
    return cmocka_run_group_tests_name("tensor_maps", tests, setup, teardown);
}
