/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/plans.h"

#include <stdlib.h>
#include <string.h>

/* The product of one slab on the device. Its tiles have GT_HOST_ROW_ALIGN's leading
 * dimensions. C is read unless k is one slab and beta 0. A k of 0 becomes 1: the kernel
 * runs with alpha 0. */
static gemmtune_problem slab_problem(const struct gt_host_cut *cut, const int64_t size[3]) {
    gemmtune_problem p = cut->problem;
    p.m = size[0];
    p.n = size[1];
    p.k = size[2] > 0 ? size[2] : 1;
    p.lda = gt_host_buffer_of(cut, GT_A).ld;
    p.ldb = gt_host_buffer_of(cut, GT_B).ld;
    p.ldc = gt_host_buffer_of(cut, GT_C).ld;
    p.stride_a = p.stride_b = p.stride_c = GEMMTUNE_PACKED;
    p.reads_c = cut->reads_c || (cut->sums && gt_host_tiles_along(cut, 2) > 1);
    return p;
}

const gemmtune_plan *gt_host_plans_find(const struct gt_host_plans *plans,
                                        const int64_t size[3]) {
    for (size_t i = 0; i < plans->count; i++)
        if (memcmp(plans->item[i].size, size, sizeof plans->item[i].size) == 0)
            return plans->item[i].plan;
    return NULL;
}

static gt_status add(struct gt_host_plans *plans, gemmtune_ctx *ctx,
                     const struct gt_host_cut *cut, const int64_t size[3],
                     size_t workspace_max, struct gt_err *err) {
    if (gt_host_plans_find(plans, size) != NULL)
        return GEMMTUNE_OK;
    struct gt_host_plan *grown =
        realloc(plans->item, (plans->count + 1) * sizeof *plans->item);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    plans->item = grown;
    struct gt_host_plan *item = &grown[plans->count];
    const gemmtune_problem slab = slab_problem(cut, size);
    gemmtune_problem canonical;
    gemmtune_plan_info info = {.struct_size = sizeof info};
    memcpy(item->size, size, sizeof item->size);
    gt_status status = gt_problem_canonical(&canonical, NULL, &slab, err);
    if (status == GEMMTUNE_OK)
        status = gt_plan_cached(&item->plan, ctx, &canonical, workspace_max, err);
    if (status != GEMMTUNE_OK)
        return status;
    plans->count++;
    (void)gemmtune_plan_describe(item->plan, &info);
    if (info.workspace_bytes > plans->workspace_bytes)
        plans->workspace_bytes = info.workspace_bytes;
    return GEMMTUNE_OK;
}

/* The largest power of two that is not larger. Free memory differs a little from call to
 * call, and the context's plans are found again by their limit of workspace. */
static size_t rounded_down(size_t bytes) {
    size_t power = 1;
    while (power <= bytes / 2)
        power *= 2;
    return bytes > 0 ? power : 0;
}

gt_status gt_host_plans_make(struct gt_host_plans *out, gemmtune_ctx *ctx,
                             const struct gt_host_cut *cut, const struct gt_host_tile *tile,
                             size_t tiles, size_t workspace_max, struct gt_err *err) {
    const size_t workspace = rounded_down(workspace_max);
    const int64_t depth = cut->sums ? cut->problem.k : 0;
    const int64_t whole = cut->sums ? cut->tile[2] : 0;
    const int64_t rest = whole > 0 ? depth % whole : 0;
    gt_status status = GEMMTUNE_OK;
    *out = (struct gt_host_plans){0};
    for (size_t i = 0; status == GEMMTUNE_OK && i < tiles; i++) {
        int64_t size[3] = {tile[i].size[0], tile[i].size[1], whole < depth ? whole : depth};
        status = add(out, ctx, cut, size, workspace, err);
        size[2] = rest;
        if (status == GEMMTUNE_OK && rest > 0)
            status = add(out, ctx, cut, size, workspace, err);
    }
    return status;
}

void gt_host_plans_clear(struct gt_host_plans *plans) {
    for (size_t i = 0; i < plans->count; i++)
        gemmtune_plan_destroy(plans->item[i].plan);
    free(plans->item);
    *plans = (struct gt_host_plans){0};
}
