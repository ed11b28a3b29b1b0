/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tail.c - how the last tiles are shared out. The prelude's functions are also OpenCL
 * C and are compiled here; they are compared with the grids and the workspace that dmma and
 * tma request.
 */
#include "runtime/family/launch.h"
#include "runtime/lookup/model.h"
#include "tests/unit/h200_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The compiler of a device knows these words, vectors and the place of a thread. */
#define __OPENCL_VERSION__ 120
#define GT_F16             0
#define GT_PTX             0
#define __global
#define __local
#define get_local_id(i) device_thread
#define get_group_id(i) device_block
#define GT_TYPE_A       i32
#define GT_TYPE_B       i32
#define GT_TYPE_C       i32
#define GT_TYPE_ACC     i32
#define GT_SIZEOF_A     4
#define GT_SIZEOF_ACC   4
#define GT_EPILOGUE     0
#define GT_FLOAT        0
#define GT_PARAMS                                                                          \
    int m, int n, int k, gt_acc alpha, const gt_a *a, gt_long lda, const gt_b *b,          \
        gt_long ldb, gt_acc beta, gt_c *c, gt_long ldc, const gt_acc *workspace
static float as_float(unsigned bits) {
    (void)bits;
    return 0;
}
static unsigned as_uint(float x) {
    (void)x;
    return 0;
}
typedef struct {
    unsigned x, y;
} uint2;
typedef struct {
    unsigned x, y, z, w;
} uint4;
static int device_thread, device_block;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* unroll */
#include "templates/common/dialect.h"
#include "templates/common/types.h"
#include "templates/common/vectors.h"
#include "templates/common/tiles.h"
#undef GT_KERNEL
#define GT_KERNEL(name, x, y, minb) static void name

enum { BM = 32, BN = 16, GROUP = 2 };
static int tail, held;
GT_FINISH_KERNEL(finish, BM, BN, GROUP, tail, held, workspace)
#pragma GCC diagnostic pop

static const int tails[] = {2, 3, 4, 8, 16, 32};
enum {
    TAILS = sizeof tails / sizeof *tails,
    TILES_MAX = 1024,
    SLABS_MAX = 32,
    PARTS_MAX = 32
};

/* ---- every slab once ---- */

/* The work that has been done, and the used parts of the workspace. */
struct tally {
    unsigned char slab[TILES_MAX][SLABS_MAX], place[TILES_MAX * PARTS_MAX];
};

/* A block does its slabs, in their order after the earlier parts; its sums lie nowhere
 * else. */
static void tally_block(struct tally *t, int block, int tiles, int slabs) {
    const struct gt_work w = gt_work_of(tail, held, 1, block, tiles);
    int first;
    const int count = gt_work_slabs(&w, slabs, &first);
    assert_in_range(w.tile, 0, tiles - 1);
    assert_true(first >= 0 && count >= 0 && first + count <= slabs);
    for (int s = 0; s < count; s++)
        assert_int_equal(t->slab[w.tile][first + s]++, 0);
    for (int s = 0; s < first; s++)
        assert_int_equal(t->slab[w.tile][s], 1);
    if (w.parts == 1)
        return;
    const gt_long place = gt_work_place(&w, w.part, 1, 1);
    assert_in_range(place, 0, w.of * w.parts - 1);
    assert_int_equal(t->place[place]++, 0);
}

static void expect_all(int grid, int tiles, int slabs) {
    static struct tally t;
    memset(&t, 0, sizeof t);
    for (int b = 0; b < grid; b++)
        tally_block(&t, b, tiles, slabs);
    for (int i = 0; i < tiles; i++)
        for (int s = 0; s < slabs; s++)
            assert_int_equal(t.slab[i][s], 1);
}

/* Beside `of` owners the other blocks compute all other pieces while an owner computes its
 * own. */
static void expect_in_time(const struct gt_work *shared) {
    const int free = held - shared->of, pieces = shared->of * (shared->parts - 1);
    const int own = tail - shared->parts + 1;
    assert_true(own >= 1 && free >= 1);
    assert_true(gt_cdiv(pieces, free) <= own);
}

static void test_every_slab_once(void **state) {
    static const int slabs[] = {0, 1, 2, 3, 7, 8, 31};
    (void)state;
    for (held = 1; held <= 40; held++)
        for (int tiles = 1; tiles < 3 * held; tiles++)
            for (int i = 0; i < TAILS; i++) {
                tail = tails[i];
                const struct gt_work last = gt_work_of(tail, held, 1, tiles - 1, tiles);
                const int grid = tiles + last.of * (last.parts - 1);
                if (last.parts > 1)
                    expect_in_time(&last);
                for (size_t j = 0; j < sizeof slabs / sizeof *slabs; j++)
                    expect_all(grid, tiles, slabs[j]);
            }
}

/* Without shared tiles, `split` blocks in a row have a tile, and k in equal parts. */
static void test_split(void **state) {
    (void)state;
    for (int block = 0; block < 3 * 5; block++) {
        const struct gt_work w = gt_work_of(0, 7, 5, block, 3);
        int first;
        const int count = gt_work_slabs(&w, 12, &first);
        assert_int_equal(first + count, (w.part + 1) * 12 / 5);
        assert_int_equal(first, w.part * 12 / 5);
        assert_int_equal(w.tile, block / 5);
        assert_int_equal(w.part, block % 5);
        assert_int_equal(w.parts, 5);
    }
}

/* ---- the second kernel ---- */

static unsigned product_of(int row, int col, int slab) {
    return (unsigned)(row * 65599 + col * 257 + slab) * 2654435761u;
}

/* A block of the first kernel leaves its sums in the workspace, or in C. */
static void compute(int tiles, int m, int n, int slabs, unsigned *c, unsigned *workspace) {
    const struct gt_work w = gt_work_of(tail, held, 1, device_block, tiles);
    int row0, col0, first;
    const int count = gt_work_slabs(&w, slabs, &first);
    gt_tile_place(&row0, &col0, w.tile, BM, BN, GROUP, m, n);
    for (int e = 0; e < BM * BN; e++) {
        const int row = row0 + e / BN, col = col0 + e % BN;
        unsigned sum = 0;
        for (int s = first; s < first + count; s++)
            sum += product_of(row, col, s);
        if (w.parts > 1)
            workspace[gt_work_place(&w, w.part, BM, BN) + e] = sum;
        else if (row < m && col < n)
            c[row * n + col] = 3 * sum + 2 * c[row * n + col];
    }
}

static void expect_product(int m, int n, int slabs) {
    enum { ROOM = 16 * PARTS_MAX * BM * BN };
    static unsigned c[200 * 200], workspace[ROOM];
    const int tiles = gt_cdiv(m, BM) * gt_cdiv(n, BN);
    const struct gt_work last = gt_work_of(tail, held, 1, tiles - 1, tiles);
    assert_true(m * n <= 200 * 200 && last.of * last.parts <= 16 * PARTS_MAX);
    for (int e = 0; e < m * n; e++)
        c[e] = (unsigned)e;
    memset(workspace, 0xff, sizeof workspace);
    for (device_block = 0; device_block < tiles + last.of * (last.parts - 1);
         device_block++)
        compute(tiles, m, n, slabs, c, workspace);
    for (device_block = 0; device_block < last.of * (BM * BN / 512); device_block++)
        for (device_thread = 0; device_thread < 256; device_thread++)
            finish(m, n, 0, 3, NULL, 0, NULL, 0, 2, c, n, workspace);
    for (int e = 0; e < m * n; e++) {
        unsigned sum = 0;
        for (int s = 0; s < slabs; s++)
            sum += product_of(e / n, e % n, s);
        assert_int_equal(c[e], 3 * sum + 2 * (unsigned)e);
    }
}

static void test_sums(void **state) {
    (void)state;
    for (held = 2; held <= 16; held++)
        for (int i = 0; i < TAILS; i++) {
            tail = tails[i];
            expect_product(190, 77, 19);
            expect_product(33, 97, 3);
            expect_product(64, 32, 0);
        }
}

/* ---- the families' requests ---- */

static const char dmma[] =
    "BM=128 BN=128 BK=16 WM=64 WN=32 SLICES=1 MMA_K=8 KSTEP=8 STAGES=3 VA=2 VB=2 "
    "ODD=0 AHEAD=1 MINB=1 GROUP=8 SPLIT=1 REDUCE=0 TAIL=";
static const char tma[] =
    "BM=96 BN=128 BK=16 TM=12 TN=8 STAGES=3 SPLIT=1 ORDER=0 REPACK=0 MINB=3 GROUP=8 TAIL=";

/* Whether the point with that TAIL may run; if so, what its launches make room for. */
static bool expect_room(const char *family, const char *name, const char *text, int bm,
                        int bn) {
    char point_text[256];
    struct gt_binding b;
    struct gt_passes passes;
    struct gt_point point;
    gemmtune_problem p;
    (void)snprintf(point_text, sizeof point_text, "%s%d", text, tail);
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point, point_text, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, gt_families_find(families, family), &device, &p);
    assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
    assert_null(gt_refused(&b));
    if (gt_not_accepted(&b) != NULL)
        return false;
    assert_int_equal(gt_passes_of(&passes, &b, &device, NULL), GEMMTUNE_OK);
    const struct gt_launch *gemm = &passes.item[passes.main].launch;
    const int tiles = gt_cdiv((int)p.m, bm) * gt_cdiv((int)p.n, bn);
    const struct gt_work last = gt_work_of(tail, held, 1, tiles - 1, tiles);
    assert_true(last.parts > 1);
    expect_all((int)gemm->grid[0], tiles, SLABS_MAX);
    assert_int_equal(passes.workspace_bytes, (int64_t)last.of * last.parts * bm * bn *
                                                 (int64_t)gt_type_size(p.type_acc));
    assert_int_equal(passes.item[passes.main + 1].launch.grid[0],
                     last.of * (bm * bn / 512));
    return true;
}

static void test_room(void **state) {
    static const struct {
        const char *family, *problem, *point;
        int bm, bn, held;
        bool runs[TAILS];
    } rows[] = {
        /* 48, 92, 44, 66, 16 and 4 of 132 are left over */
        {"dmma", "f64-nn-3072x3072x3072", dmma, 128, 128, 132, {1, 0, 0, 1}},
        {"dmma", "f64-nn-512x24000x2816", dmma, 128, 128, 132, {0, 0, 1, 0}},
        {"dmma", "f64-nn-512x5632x256", dmma, 128, 128, 132, {1, 1, 0, 0}},
        {"dmma", "f64-nn-768x1408x256", dmma, 128, 128, 132, {1, 0, 0, 0}},
        {"dmma", "f64-nn-512x512x256", dmma, 128, 128, 132, {1, 1, 1, 1}},
        {"dmma", "f64-nn-256x256x60000", dmma, 128, 128, 132, {1, 1, 1, 1, 1, 1}},
        {"dmma", "f64-nn-1536x1408x256", dmma, 128, 128, 132, {0, 0, 0, 0}}, /* none */
        {"tma", "f32-tn-3072x3072x3072", tma, 96, 128, 396, {0, 0, 0, 0}}, /* 372 of 396 */
        {"tma", "f32-tn-2880x1536x64", tma, 96, 128, 396, {0, 0, 0, 0}},   /* 360 */
        {"tma", "f32-tn-2400x1152x64", tma, 96, 128, 396, {0, 1, 0, 1}},   /* 225 */
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = 0; i < TAILS; i++) {
            held = rows[r].held;
            tail = tails[i];
            if (expect_room(rows[r].family, rows[r].problem, rows[r].point, rows[r].bm,
                            rows[r].bn) != rows[r].runs[i])
                fail_msg("%s, TAIL=%d", rows[r].problem, tail);
        }
}

/* With TAIL 1 one launch has as many blocks as fit the device, or a block a tile, and adds
 * nothing up. It serves batches and groups, no single products. blocks 0: not this one. */
static void test_turns(void **state) {
    static const struct {
        const char *problem;
        int64_t blocks, slabs; /* slabs of a block in the forecast */
    } rows[] = {
        {"f64-nn-256x256x256,batch=500", 132, 16 * 16}, /* 2000 tiles are 15.2 rounds */
        {"f64-nn-256x100x40,batch=3", 6, 3},
        {"f64-nn-256x256x256", 0, 0},
        {"f64-nn-256x256x256,batch=500,epi=bias", 132, 16 * 16},
        {"f64-nn-256x256x256,batch=500,pointers,align=16", 132, 16 * 16},
        {"f64-nn-4096x256x256,groups=8", 72, 16}, /* 32 tiles and half a tile a group */
        {"f64-nn-4096x256x256,groups=8,epi=bias", 72, 16},
    };
    char text[256];
    struct gt_point point;
    (void)state;
    (void)snprintf(text, sizeof text, "%s1", dmma);
    (void)memcpy(strstr(text, "MMA_K=8 KSTEP=8"), "MMA_K=4 KSTEP=4",
                 15); /* fewer registers */
    assert_int_equal(gt_point_parse(&point, text, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        struct gt_binding b;
        struct gt_passes passes;
        struct gt_prediction predicted;
        struct gt_model m;
        assert_int_equal(gt_problem_from_name(&p, rows[i].problem, NULL), GEMMTUNE_OK);
        gt_bind_problem(&b, gt_families_find(families, "dmma"), &device, &p);
        assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
        assert_null(gt_refused(&b));
        if ((gt_not_accepted(&b) == NULL) != (rows[i].blocks > 0))
            fail_msg("%s", rows[i].problem);
        if (rows[i].blocks == 0)
            continue;
        assert_int_equal(gt_passes_of(&passes, &b, &device, NULL), GEMMTUNE_OK);
        assert_int_equal(passes.count, 1);
        assert_int_equal(passes.workspace_bytes, 0);
        assert_int_equal(passes.item[0].launch.grid[0], rows[i].blocks);
        assert_int_equal(passes.item[0].launch.grid[1], 1);
        gt_model_begin(&m, &b, &device);
        assert_true(gt_model_predict(&predicted, &m, &b, NULL));
        assert_int_equal(predicted.slabs, rows[i].slabs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_slab_once),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_turns),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
