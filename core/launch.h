/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - the shape of one kernel launch, and of a matrix that hardware copies in boxes,
 * as numbers. Families hold them as expressions. */
#ifndef GT_CORE_LAUNCH_H
#define GT_CORE_LAUNCH_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_launch {
    int64_t grid[3];    /* blocks (work-groups) */
    int64_t block[3];   /* threads a block (work-items) */
    int64_t cluster[3]; /* blocks a cluster, 1 1 1 when none */
    int64_t smem_bytes; /* dynamic shared memory (CUDA) */
    bool overlaps;      /* may begin before the previous launch ends: it waits by itself */
};

/* A matrix in memory as a tensor map describes it; the hardware copies boxes of it. */
struct gt_tiling {
    gemmtune_dtype type;
    int64_t inner, outer; /* elements a row; rows */
    int64_t stride;       /* bytes from a row to the next */
    int64_t planes;  /* matrices of these rows; 0: one matrix, which has no third side */
    int64_t plane;   /* bytes from a plane to the next */
    int64_t box[2];  /* elements a row, rows */
    int64_t swizzle; /* bytes within which pieces of a box's row are permuted; 0: none */
    int64_t fetch; /* bytes that the L2 cache takes in around what a box needs: 128, 256 */
};

#endif
