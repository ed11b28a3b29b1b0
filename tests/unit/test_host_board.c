/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles that several devices share: each is taken once, by whichever device is free. */
#include "runtime/host/board.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { DEVICES_MAX = 9, TILES_MAX = 40 };

struct board {
    struct gt_host_tile tile[TILES_MAX];
    struct gt_host_range range[DEVICES_MAX];
    struct gt_host_board board;
    int taken[TILES_MAX];
};

/* Nearly equal ranges. */
static void begin(struct board *b, int devices, size_t tiles) {
    *b = (struct board){.board = {b->tile, devices, b->range}};
    for (int i = 0; i < devices; i++)
        b->range[i] = (struct gt_host_range){tiles * (size_t)i / (size_t)devices,
                                             tiles * (size_t)(i + 1) / (size_t)devices};
}

/* The index of the tile that a device gets; -1: none is left. */
static int take(struct board *b, int device) {
    const struct gt_host_tile *t = gt_host_board_take(&b->board, device);
    if (t == NULL)
        return -1;
    const int i = (int)(t - b->tile);
    assert_in_range(i, 0, TILES_MAX - 1);
    b->taken[i]++;
    return i;
}

static void assert_all_taken_once(struct board *b, size_t tiles) {
    for (int i = 0; i < b->board.ranges; i++)
        assert_int_equal(take(b, i), -1);
    for (size_t i = 0; i < TILES_MAX; i++)
        assert_int_equal(b->taken[i], i < tiles);
}

/* Devices of any speed: device i takes a tile in every (i + 1)-th turn. */
static void test_all_once(void **state) {
    (void)state;
    for (int devices = 1; devices <= DEVICES_MAX; devices++)
        for (size_t tiles = 0; tiles <= TILES_MAX; tiles++) {
            struct board b;
            size_t taken = 0;
            begin(&b, devices, tiles);
            for (int turn = 0; taken < tiles; turn++)
                for (int i = 0; i < devices; i++)
                    if (turn % (i + 1) == 0)
                        taken += take(&b, i) >= 0;
            assert_all_taken_once(&b, tiles);
        }
}

/* A device walks forwards through its own range, then takes the last tile of the longest
 * range of another device. */
static void test_stealing(void **state) {
    struct board b;
    (void)state;
    begin(&b, 3, 30);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(&b, 0), i);
    assert_int_equal(take(&b, 1), 10);
    assert_int_equal(take(&b, 0), 29);
    assert_int_equal(take(&b, 1), 11);
    assert_int_equal(take(&b, 0), 28); /* 8 tiles are left of range 1, 9 of range 2 */
    assert_int_equal(take(&b, 2), 20);
    assert_int_equal(take(&b, 0), 19);
    for (int i = 12; i < 19; i++)
        assert_int_equal(take(&b, 1), i);
    for (int i = 27; i > 20; i--)
        assert_int_equal(take(&b, i % 2), i);
    assert_all_taken_once(&b, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_once),
        cmocka_unit_test(test_stealing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
