/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_limits.c - see cuda_limits.h. The numbers are from the CUDA C++ Programming Guide,
 * "Technical Specifications per Compute Capability", and from the CUDA Driver API,
 * cuTensorMapEncodeTiled.
 */
#include "runtime/drivers/cuda_limits.h"

#include "core/dtype.h"
#include "core/limits.h"

#include <inttypes.h>

enum {
    BLOCK_Z_MAX = 64,
    GRID_YZ_MAX = 65535,
    CLUSTER_MAX = 16, /* blocks; 8 is portable, 16 needs an opt-in */
    CLUSTER_CC = 90,  /* compute capability where clusters begin */
    MAP_BOX_MAX = 256,
};
#define GRID_X_MAX     INT64_C(2147483647)
#define MAP_SIDE_MAX   (INT64_C(1) << 32)
#define MAP_STRIDE_MAX ((INT64_C(1) << 40) - 1)

/* The product of the sides comes last: it may overflow before they are checked. */
static gt_status check_cluster(const struct gt_launch *l, const struct gt_device *d,
                               struct gt_err *err) {
    const struct gt_limit sides[] = {
        {"cluster x", l->cluster[0], 1, CLUSTER_MAX},
        {"cluster y", l->cluster[1], 1, CLUSTER_MAX},
        {"cluster z", l->cluster[2], 1, CLUSTER_MAX},
    };
    gt_status status = gt_limits_check(sides, sizeof sides / sizeof *sides, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_limit blocks = {"blocks a cluster",
                                    l->cluster[0] * l->cluster[1] * l->cluster[2], 1,
                                    d->cc >= CLUSTER_CC ? CLUSTER_MAX : 1};
    status = gt_limits_check(&blocks, 1, err);
    for (int i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        if (l->grid[i] % l->cluster[i] != 0)
            status = gt_fail(err, GEMMTUNE_EINVAL,
                             "grid of %" PRId64
                             " blocks is no multiple of the cluster's %" PRId64,
                             l->grid[i], l->cluster[i]);
    return status;
}

gt_status gt_cuda_check_launch(const struct gt_launch *l, const struct gt_device *d,
                               struct gt_err *err) {
    const struct gt_limit sides[] = {
        {"block z", l->block[2], 1, BLOCK_Z_MAX},
        {"grid x", l->grid[0], 1, GRID_X_MAX},
        {"grid y", l->grid[1], 1, GRID_YZ_MAX},
        {"grid z", l->grid[2], 1, GRID_YZ_MAX},
        {"shared memory in bytes", l->smem_bytes, 0, INT32_MAX},
    };
    const gt_status status = gt_limits_check(sides, sizeof sides / sizeof *sides, err);
    return status == GEMMTUNE_OK ? check_cluster(l, d, err) : status;
}

/* Pieces are permuted within 32, 64 or 128 bytes, and a row of a box must fit into them. */
static gt_status check_swizzle(const struct gt_tiling *t, struct gt_err *err) {
    const int64_t row = t->box[0] * (int64_t)gt_type_size(t->type);
    if (t->swizzle != 0 && t->swizzle != 32 && t->swizzle != 64 && t->swizzle != 128)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "swizzle is %" PRId64 ", and 0, 32, 64 and 128 are possible",
                       t->swizzle);
    if (t->swizzle != 0 && row > t->swizzle)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "a row of the box has %" PRId64
                       " bytes, more than the swizzle's %" PRId64,
                       row, t->swizzle);
    return GEMMTUNE_OK;
}

/* A side of an empty product may be 0: its maps are never encoded. */
gt_status gt_cuda_check_map(const struct gt_tiling *t, int64_t at, struct gt_err *err) {
    const struct gt_limit sides[] = {
        {"at", at, 0, INT64_MAX},
        {"inner", t->inner, 0, MAP_SIDE_MAX},
        {"outer", t->outer, 0, MAP_SIDE_MAX},
        {"stride", t->stride, 0, MAP_STRIDE_MAX},
        {"planes", t->planes, 0, MAP_SIDE_MAX},
        {"stride of planes", t->plane, 0, MAP_STRIDE_MAX},
        {"inner side of the box", t->box[0], 1, MAP_BOX_MAX},
        {"outer side of the box", t->box[1], 1, MAP_BOX_MAX},
    };
    const gt_status status = gt_limits_check(sides, sizeof sides / sizeof *sides, err);
    return status == GEMMTUNE_OK ? check_swizzle(t, err) : status;
}
