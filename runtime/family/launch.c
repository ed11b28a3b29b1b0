/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - see launch.h: the numbers of each pass, and the limits that every backend has.
 * A backend's further limits are its driver's check_launch.
 */
#include "runtime/family/launch.h"

#include "runtime/drivers/driver.h"
#include "runtime/family/family_inside.h"
#include "core/limits.h"

#include <string.h>

/* ---- limits ---- */

/* The limits of every backend. Each side is at most max_threads when the product is formed,
 * so the product cannot overflow. */
static gt_status check_block(const struct gt_launch *l, const struct gt_device *d,
                             struct gt_err *err) {
    const int64_t most = d->max_threads;
    const struct gt_limit sides[] = {
        {"block x", l->block[0], 1, most},
        {"block y", l->block[1], 1, most},
        {"block z", l->block[2], 1, most},
        {"grid x", l->grid[0], 1, INT64_MAX},
        {"grid y", l->grid[1], 1, INT64_MAX},
        {"grid z", l->grid[2], 1, INT64_MAX},
        {"shared memory in bytes", l->smem_bytes, 0, d->smem_max},
    };
    const gt_status status = gt_limits_check(sides, sizeof sides / sizeof *sides, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_limit all = {"threads a block", l->block[0] * l->block[1], 1, most};
    if (all.value > most)
        return gt_limits_check(&all, 1, err);
    const struct gt_limit volume = {"threads a block", all.value * l->block[2], 1, most};
    return gt_limits_check(&volume, 1, err);
}

static gt_status check_launch(const struct gt_launch *l, const struct gt_device *d,
                              struct gt_err *err) {
    const struct gt_driver *driver = gt_driver_of(d->backend);
    const gt_status status = check_block(l, d, err);
    return status == GEMMTUNE_OK && driver->check_launch != NULL
               ? driver->check_launch(l, d, err)
               : status;
}

/* ---- passes ---- */

static gt_status eval_three(int64_t out[3], struct gt_expr *const expr[3],
                            const struct gt_binding *b, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        status = gt_expr_eval(&out[i], expr[i], b->value, err);
    return status;
}

static gt_status evaluate(struct gt_launch *out, const struct gt_pass *pass,
                          const struct gt_binding *b, struct gt_err *err) {
    gt_status status = eval_three(out->grid, pass->grid, b, err);
    if (status == GEMMTUNE_OK)
        status = eval_three(out->block, pass->block, b, err);
    if (status == GEMMTUNE_OK)
        status = eval_three(out->cluster, pass->cluster, b, err);
    if (status == GEMMTUNE_OK)
        status = gt_expr_eval(&out->smem_bytes, pass->smem, b->value, err);
    return status;
}

/* Whether the grid's y and z number the products, or the slots of rows. */
static bool grid_numbers(const struct gt_binding *b) {
    return b->is_batch && b->family->batching == GT_BATCHING_GRID && b->walks == 0;
}

/* Numbers the products of a batch by the grid's y and z. CUDA allows 65535 of each; there
 * both sides are as even as they can be, so that few blocks have no product. OpenCL has no
 * such limit, and no block without a product. */
static gt_status spread_products(struct gt_launch *l, const struct gt_binding *b,
                                 const struct gt_device *d, struct gt_err *err) {
    const int64_t products = b->value[GT_IN_BATCH];
    const int64_t side = gt_driver_of(d->backend)->speaks_cuda ? 65535 : products;
    if (!grid_numbers(b))
        return GEMMTUNE_OK;
    if (l->grid[1] != 1 || l->grid[2] != 1)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the grid's y and z number the products, so they must be 1");
    l->grid[2] = (products + side - 1) / side;
    l->grid[1] = (products + l->grid[2] - 1) / l->grid[2];
    return GEMMTUNE_OK;
}

/* Appends the pass when the point has it. */
static gt_status add_pass(struct gt_passes *out, const struct gt_pass *pass,
                          const struct gt_binding *b, const struct gt_device *d,
                          struct gt_err *err) {
    int64_t exists = 0;
    gt_status status = gt_expr_eval(&exists, pass->when, b->value, err);
    if (status == GEMMTUNE_OK && exists == 0)
        return GEMMTUNE_OK;
    struct gt_launch *launch = &out->item[out->count].launch;
    if (status == GEMMTUNE_OK)
        status = evaluate(launch, pass, b, err);
    if (status == GEMMTUNE_OK)
        status = spread_products(launch, b, d, err);
    if (status == GEMMTUNE_OK)
        status = check_launch(launch, d, err);
    launch->overlaps = b->family->overlap && out->count > 0;
    out->item[out->count++].entry = pass->entry;
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, status, "%s", pass->entry);
}

/* Gives each product that the grid numbers a workspace of its own, aligned like the
 * first. */
static gt_status share_workspace(struct gt_passes *out, const struct gt_binding *b,
                                 struct gt_err *err) {
    enum { ALIGN = 256 };
    if (!grid_numbers(b))
        return GEMMTUNE_OK;
    if (__builtin_add_overflow(out->workspace_bytes, ALIGN - 1, &out->workspace_step))
        return gt_fail(err, GEMMTUNE_EINVAL, "workspace is larger than 64 bits count");
    out->workspace_step -= out->workspace_step % ALIGN;
    if (__builtin_mul_overflow(out->workspace_step, b->value[GT_IN_BATCH],
                               &out->workspace_bytes))
        return gt_fail(err, GEMMTUNE_EINVAL, "workspace is larger than 64 bits count");
    return GEMMTUNE_OK;
}

static gt_status add_workspace(struct gt_passes *out, const struct gt_binding *b,
                               struct gt_err *err) {
    gt_status status =
        gt_expr_eval(&out->workspace_bytes, b->family->workspace, b->value, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_limit bytes = {"workspace in bytes", out->workspace_bytes, 0,
                                   INT64_MAX};
    status = gt_limits_check(&bytes, 1, err);
    return status == GEMMTUNE_OK ? share_workspace(out, b, err) : status;
}

gt_status gt_passes_of(struct gt_passes *out, const struct gt_binding *b,
                       const struct gt_device *d, struct gt_err *err) {
    const struct gt_family *f = b->family;
    memset(out, 0, sizeof *out);
    gt_status status = add_workspace(out, b, err);
    for (int i = 0; i < f->pass_count && status == GEMMTUNE_OK; i++) {
        if (i == f->main)
            out->main = out->count;
        status = add_pass(out, &f->pass[i], b, d, err);
    }
    for (int i = 0; i < f->map_count && status == GEMMTUNE_OK; i++)
        status = gt_map_add(out, &f->map[i], b, d, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, GEMMTUNE_EINVAL, "launch");
    return GEMMTUNE_OK;
}
