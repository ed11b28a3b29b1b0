/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h - the tiles of C that no device has begun. Each device has a range of its own, so
 * that its tiles lie beside each other and use the same panels of A and B. A device that
 * has finished its range takes tiles from the end of the longest other one. The caller
 * locks.
 */
#ifndef GT_RUNTIME_HOST_BOARD_H
#define GT_RUNTIME_HOST_BOARD_H

#include "runtime/host/schedule.h"

struct gt_host_board {
    const struct gt_host_tile *tile;
    int ranges; /* the number of devices */
    struct gt_host_range {
        size_t next, end; /* tiles from `next` to before `end` are left */
    } * range;
};

/* The next tile for a device; NULL when none is left. */
const struct gt_host_tile *gt_host_board_take(struct gt_host_board *b, int device);

#endif
