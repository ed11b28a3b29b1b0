/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_cpu.c - see model_cpu.h. A block is a work-group, and a core computes one after
 * another. For each slab it packs elements, multiplies vectors, and keeps its sums. A
 * launch through an OpenCL queue takes microseconds, in which OpenBLAS has computed many
 * small products.
 */
#include "runtime/lookup/model_cpu.h"

#include <math.h>

/* The part of the tiles along one side that exists. Where one tile is enough it ends with
 * its last patch, and counts whole. */
static double filled(double size, double tile, double tiles) {
    return tiles > 1 ? size / (tiles * tile) : 1;
}

bool gt_model_on_cpu(struct gt_prediction *out, const struct gt_facts *facts,
                     const struct gt_device *d, const struct gt_costs *costs) {
    const int64_t *const s = facts->shape;
    const double tile_m = (double)s[GT_SHAPE_TILE_M], tile_n = (double)s[GT_SHAPE_TILE_N];
    const double tile_k = (double)s[GT_SHAPE_TILE_K];
    const double high = fmax(1, ceil((double)facts->m / tile_m));
    const double wide = fmax(1, ceil((double)facts->n / tile_n));
    const double cores = d->units > 0 ? d->units : 1;
    if (facts->threads != 1 || s[GT_SHAPE_WIDTH] < 1)
        return false;
    const double blocks = (double)facts->blocks, rounds = ceil(blocks / cores);
    const double busiest = rounds / blocks; /* the part of the work of one core */
    const double tiles = busiest * (double)facts->products * high * wide *
                         filled((double)facts->m, tile_m, high) *
                         filled((double)facts->n, tile_n, wide);
    const double slabs = fmax(1, ceil((double)facts->k / tile_k));
    const double deep = fmax(1, (double)facts->k) / tile_k; /* slabs, the last in part */
    const double vectors = tile_m * tile_n / (double)s[GT_SHAPE_WIDTH];
    double *const t = out->term_ns;
    t[GT_TERM_FMA] = tiles * deep * vectors * tile_k * costs->core_fma;
    t[GT_TERM_ISSUE] = tiles * deep * (double)s[GT_SHAPE_LOADS] * costs->core_load;
    t[GT_TERM_SHARED] = tiles * (deep * (double)s[GT_SHAPE_COPIES] * costs->core_copy +
                                 slabs * vectors * costs->core_sum);
    t[GT_TERM_DRAM] = gt_facts_bytes(facts) * busiest / costs->core_bytes;
    t[GT_TERM_ENDS] =
        rounds * costs->core_group_ns + tiles * tile_m * tile_n * costs->core_store;
    t[GT_TERM_LAUNCH] = costs->core_launch_ns;
    /* Loads and multiply-adds are other instructions of one loop. */
    out->ns = hypot(t[GT_TERM_FMA], t[GT_TERM_ISSUE]) + t[GT_TERM_SHARED] +
              t[GT_TERM_DRAM] + t[GT_TERM_ENDS] + t[GT_TERM_LAUNCH];
    out->blocks = facts->blocks;
    out->slabs = (int64_t)fmin(slabs, 1e18);
    out->waves = (int64_t)rounds;
    out->last_wave = blocks / (rounds * cores);
    out->resident = 1;
    out->learned = 1;
    return true;
}
