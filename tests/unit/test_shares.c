/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_shares.c - equal shares of the slabs of tiles. The prelude's functions are also C
 * and are compiled here; they are compared with the grid and the workspace that wgmma
 * requests.
 */
#include "runtime/family/launch.h"
#include "tests/unit/h200_families.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The compiler of a device knows these words. */
#define __OPENCL_VERSION__ 120
#define GT_F16             0
#define GT_PTX             0
#define GT_FLOAT           0
#define GT_SIZEOF_ACC      4
#define GT_STREAM          1

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* unroll */
#include "templates/common/dialect.h"
#include "templates/common/shares.h"
#pragma GCC diagnostic pop

enum { TILES_MAX = 200, SLABS_MAX = 40, PLACES_MAX = 400 };

/* The work that all workers together have done. */
struct tally {
    unsigned char slab[TILES_MAX][SLABS_MAX], place[PLACES_MAX], part[TILES_MAX][SLABS_MAX];
    int parts[TILES_MAX];
};

/* A worker does a part of a tile. Its sums have a place of their own, and the part before
 * ends where this one begins. */
static void tally_part(struct tally *t, struct gt_part p, int held, int tiles, int worker) {
    assert_in_range(p.tile, 0, tiles - 1);
    assert_in_range(p.part, 0, p.parts - 1);
    assert_true(p.slabs > 0 && (p.part == 0) == (p.first == 0));
    for (int s = 0; s < p.slabs; s++)
        assert_int_equal(t->slab[p.tile][p.first + s]++, 0);
    assert_int_equal(t->part[p.tile][p.part]++, 0);
    assert_true(t->parts[p.tile] == 0 || t->parts[p.tile] == p.parts);
    t->parts[p.tile] = p.parts;
    const int place = gt_part_place(held, p.tile, worker - p.part, p.part);
    assert_in_range(place, 0, held + tiles - 1);
    assert_int_equal(t->place[place]++, 0);
}

static void expect_all(int held, int tiles, int slabs) {
    static struct tally t;
    int least = tiles * slabs, most = 0;
    memset(&t, 0, sizeof t);
    for (int w = 0; w < held; w++) {
        const struct gt_share s = gt_share_of(held, tiles, slabs, w);
        for (int i = 0; i < s.parts; i++)
            tally_part(&t, gt_share_part(&s, i), held, s.tiles, w);
        if (w < s.workers)
            least = GT_MIN(least, s.end - s.begin);
        most = GT_MAX(most, s.end - s.begin);
        assert_true(s.parts > 0 || w >= s.workers);
    }
    assert_true(most - least <= 1);
    for (int i = 0; i < gt_shared_first(held, tiles); i++) {
        for (int s = 0; s < slabs; s++)
            assert_int_equal(t.slab[i][s], 1);
        for (int p = 0; p < t.parts[i]; p++)
            assert_int_equal(t.part[i][p], 1);
        assert_true(tiles < held || slabs < GT_SHARE_LEAST || t.parts[i] <= 2);
    }
}

static void test_every_slab_once(void **state) {
    static const int slabs[] = {1, 2, 3, 7, 8, 31, SLABS_MAX};
    (void)state;
    for (int held = 1; held <= 30; held++)
        for (int tiles = 1; tiles < 4 * held; tiles++)
            for (size_t i = 0; i < sizeof slabs / sizeof *slabs; i++)
                expect_all(held, tiles, slabs[i]);
}

/* With alpha 0 a tile has no slab, and one worker that scales it. */
static void test_no_slabs(void **state) {
    unsigned char tile[40] = {0};
    (void)state;
    for (int w = 0; w < 30; w++) {
        const struct gt_share s = gt_share_of(30, 40, 0, w);
        for (int i = 0; i < s.parts; i++) {
            const struct gt_part p = gt_share_part(&s, i);
            assert_int_equal(p.parts, 1);
            tile[p.tile]++;
        }
    }
    for (int i = 0; i < 40; i++)
        assert_int_equal(tile[i], 1);
}

/* The tiles after the shares are whole rounds. */
static void test_whole_rounds(void **state) {
    (void)state;
    for (int held = 1; held < 20; held++)
        for (int tiles = 1; tiles < 100; tiles++) {
            const int shared = gt_shared_first(held, tiles);
            assert_in_range(shared, 1, 2 * held - 1);
            assert_int_equal((tiles - shared) % held, 0);
        }
}

/* ---- the family's requests ---- */

enum { HELD = 66, GROUPS = 4, PLACE = 4 * 256 * 256 };

/* Tiles of 128 x 256, on clusters of two. */
static void bind(struct gt_binding *b, const gemmtune_problem *p) {
    struct gt_point point;
    assert_int_equal(
        gt_point_parse(&point,
                       "BM=128 BN=256 WGM=2 WGN=1 STAGES=4 CM=2 CN=1 GROUP=8 PERSIST=1 "
                       "PINGPONG=0 MINB=1 SPLIT=1 REDUCE=0 TAIL=1 REPACK=0 SWAP=0 STORE=1 "
                       "RS=0 PRODUCERS=0",
                       NULL),
        GEMMTUNE_OK);
    gt_bind_problem(b, gt_families_find(families, "wgmma"), &device, p);
    assert_int_equal(gt_bind_point(b, &point, NULL), GEMMTUNE_OK);
    assert_null(gt_refused(b));
}

/* The model counts the slabs of the longest share and of the whole tiles after it. */
static void expect_slabs(const struct gt_binding *b, int tiles, int slabs) {
    const struct gt_share s = gt_share_of(HELD, tiles, slabs, HELD - 1);
    int64_t shape[GT_SHAPE_COUNT];
    assert_true(gt_shape_of(shape, b));
    assert_int_equal(shape[GT_SHAPE_STREAM_SLABS],
                     s.end - s.begin + (tiles - s.tiles) / HELD * slabs);
}

/* tiles: of a cluster; 0: the point may not run the problem. */
static void expect_room(const char *name, int tiles) {
    struct gt_binding b;
    struct gt_passes passes;
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    bind(&b, &p);
    assert_int_equal(gt_not_accepted(&b) == NULL, tiles > 0);
    if (tiles == 0)
        return;
    const int shared = gt_shared_first(HELD, tiles);
    assert_int_equal(gt_passes_of(&passes, &b, &device, NULL), GEMMTUNE_OK);
    assert_int_equal(passes.item[passes.main].launch.grid[0], 2 * HELD);
    assert_int_equal(passes.item[0].launch.grid[0],
                     GT_CDIV(shared * GROUPS, GT_CLEAR_THREADS));
    assert_int_equal(passes.workspace_bytes,
                     (int64_t)(HELD + shared) * PLACE + 4 * shared * GROUPS);
    expect_slabs(&b, tiles, (int)(p.k + 63) / 64);
}

static void test_room(void **state) {
    (void)state;
    expect_room("bf16-nt-3000x3000x3000", 144);
    expect_room("bf16-nt-1024x1024x4096", 16);
    expect_room("bf16-nt-5120x4864x192", 380);
    expect_room("bf16-nt-1792x9472x4096", 0);         /* 259 tiles: 3.9 rounds */
    expect_room("bf16-nt-3072x5632x64", 0);           /* 264: 4 rounds */
    expect_room("bf16-nt-5120x5120x192", 0);          /* 400: 6.1 rounds */
    expect_room("bf16-nt-3000x3000x3000,batch=2", 0); /* one launch has all products */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_slab_once),
        cmocka_unit_test(test_no_slabs),
        cmocka_unit_test(test_whole_rounds),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
