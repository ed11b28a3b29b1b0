/* SPDX-License-Identifier: Apache-2.0 */
/* test_panels.c - C computed panel by panel (wgmma with REPACK 5 to 7): how large panels
 * are, what their copies need, the order of panels, and what a panel has in common with the
 * one before. */
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

enum { MIB = 1 << 20 };

static gt_status ask(struct gt_fit *out, const char *problem, const char *repack,
                     struct gt_err *err) {
    char text[300];
    struct gt_point point;
    gemmtune_problem p;
    (void)snprintf(text, sizeof text,
                   "BM=128 BN=128 WGM=2 WGN=1 STAGES=4 CM=1 CN=1 GROUP=8 PERSIST=0 "
                   "PINGPONG=0 MINB=1 SPLIT=1 REDUCE=0 %s SWAP=0 STORE=0 RS=0 PRODUCERS=0",
                   repack);
    assert_int_equal(gt_problem_read_name(&p, problem, err), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point, text, err), GEMMTUNE_OK);
    return gt_fit_point(out, gt_families_find(families, "wgmma"), &device, &p, &point, err);
}

static void fit(struct gt_fit *out, const char *problem, const char *repack) {
    struct gt_err err = {""};
    const gt_status status = ask(out, problem, repack, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
}

static void test_sizes(void **state) {
    static const struct {
        const char *problem, *repack;
        int64_t panels[2], m, n;
    } rows[] = {
        /* rows and columns of 8192 bytes: 4096 of them are 32 MiB */
        {"f16-nn-4095x4095x4095", "TAIL=0 REPACK=7", {2, 2}, 2048, 2048},
        {"bf16-nt-4097x4097x4097", "TAIL=0 REPACK=7", {3, 2}, 1408, 2112},
        /* all of A and half of B; all of B and half of A */
        {"bf16-tn-3003x3003x3003", "TAIL=0 REPACK=7", {1, 2}, 3003, 1536},
        {"bf16-tt-6001x2003x3003", "TAIL=0 REPACK=7", {2, 1}, 3008, 2003},
        /* A alone, B alone */
        {"bf16-nn-3003x2048x6003", "TAIL=0 REPACK=5", {2, 1}, 1536, 2048},
        {"bf16-nn-3003x6003x3000", "TAIL=0 REPACK=6", {1, 2}, 3003, 3008},
        /* copies that fit whole are halved: who has less workspace may want it */
        {"bf16-nn-130x150x71", "TAIL=0 REPACK=7", {2, 2}, 128, 128},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_fit f;
        fit(&f, rows[i].problem, rows[i].repack);
        const struct gt_binding *b = &f.binding;
        const struct gt_panel first = gt_panel_at(b, 0);
        if (b->panels[0] != rows[i].panels[0] || b->panels[1] != rows[i].panels[1] ||
            first.m != rows[i].m || first.n != rows[i].n)
            fail_msg("%s: %d x %d panels of %d x %d", rows[i].problem, (int)b->panels[0],
                     (int)b->panels[1], (int)first.m, (int)first.n);
        if (f.passes.workspace_bytes > 32 * MIB || f.passes.workspace_bytes == 0)
            fail_msg("%s: %lld bytes of workspace", rows[i].problem,
                     (long long)f.passes.workspace_bytes);
    }
}

static void test_refusals(void **state) {
    static const struct {
        const char *problem, *repack, *said;
    } rows[] = {
        {"bf16-nn-64x64x71", "TAIL=0 REPACK=7", "one panel would be all of C"},
        {"bf16-nn-512x512x512", "TAIL=0 REPACK=7", "the operands need no copy"},
        {"bf16-nn-512x511x511", "TAIL=0 REPACK=6", "the rows of A are not aligned"},
        {"bf16-nn-4097x4097x4097,epi=bias", "TAIL=0 REPACK=7", "an epilogue counts"},
        {"bf16-nn-4097x4097x41", "TAIL=2 REPACK=7", "a panel of C is small enough"},
        {"bf16-nn-201x201x20001", "TAIL=0 REPACK=7", "so few rows fit 32 MiB"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        struct gt_fit f;
        assert_int_equal(ask(&f, rows[i].problem, rows[i].repack, &err), GEMMTUNE_EINVAL);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("%s: %s", rows[i].problem, err.line);
    }
}

/* ---- the order --------------------------------------------------------------------- */

/* Marks the panel's elements, in steps of a tenth of C. */
static void cover(int seen[10][10], const struct gt_panel *p, int64_t m, int64_t n) {
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++) {
            const int64_t row = i * (m - 1) / 9, col = j * (n - 1) / 9;
            seen[i][j] += row >= p->row && row < p->row + p->m && col >= p->col &&
                          col < p->col + p->n;
        }
}

/* The panels cover C, each element once. A panel says truly what it has in common with the
 * one before: rows, or columns with copies at the same place. */
static void expect_order(const struct gt_binding *b, int kept) {
    int seen[10][10] = {{0}};
    struct gt_panel before = {0};
    int same = 0;
    for (int64_t i = 0; i < b->panels[0] * b->panels[1]; i++) {
        const struct gt_panel p = gt_panel_at(b, i);
        cover(seen, &p, b->m, b->n);
        assert_true(p.m > 0 && p.n > 0 && p.row + p.m <= b->m && p.col + p.n <= b->n);
        assert_int_equal(p.same_rows, i > 0 && p.row == before.row);
        assert_int_equal(p.same_cols, i > 0 && p.col == before.col && p.m == before.m);
        assert_int_equal(p.kind & 1, p.col + p.n == b->n);
        assert_int_equal(p.kind >> 1, p.row + p.m == b->m);
        same += p.same_rows + p.same_cols;
        before = p;
    }
    assert_int_equal(same, kept);
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[i / 10][i % 10], 1);
}

static void test_order(void **state) {
    static const struct {
        const char *problem;
        int kept; /* copies that the panel before has left */
    } rows[] = {
        {"bf16-nn-4096x4096x4097", 4}, /* 3 x 2: the last row of panels is lower */
        {"bf16-nn-256x256x71", 3},     /* 2 x 2, all alike */
        {"bf16-nn-200x256x71", 2},      {"tf32-nn-3003x3003x3003", 4},
        {"bf16-nn-2000x9001x8001", 16}, /* 2 x 9 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_fit f;
        fit(&f, rows[i].problem, "TAIL=0 REPACK=7");
        expect_order(&f.binding, rows[i].kept);
    }
}

/* A smaller panel has the passes of the first one, with launches of its own. */
static void test_last_panels(void **state) {
    struct gt_fit f;
    struct gt_passes last;
    (void)state;
    fit(&f, "bf16-nn-200x150x71", "TAIL=0 REPACK=7");
    struct gt_binding b = f.binding;
    const struct gt_panel corner = gt_panel_at(&b, 2);
    assert_int_equal(corner.kind, 3);
    assert_int_equal(corner.m, 72);
    assert_int_equal(corner.n, 22);
    assert_int_equal(gt_bind_panel(&b, &corner, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_passes_of(&last, &b, &device, NULL), GEMMTUNE_OK);
    assert_int_equal(last.count, f.passes.count);
    assert_true(last.workspace_bytes < f.passes.workspace_bytes);
    assert_int_equal(last.map[0].tiling.outer, 72);
    assert_int_equal(f.passes.map[0].tiling.outer, 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_last_panels),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
