/* SPDX-License-Identifier: Apache-2.0 */
/* launch_map.c - see launch.h: the description of a matrix for hardware that copies boxes
 * of it. */
#include "runtime/family/launch.h"

#include "runtime/drivers/driver.h"
#include "runtime/family/family_inside.h"

/* *absent: no operand holds the matrix. */
static gt_status find_base(gt_arg *out, bool *absent, const struct gt_map *map,
                           const struct gt_binding *b, struct gt_err *err) {
    int64_t holds = 0;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < map->base_count && holds == 0 && status == GEMMTUNE_OK; i++) {
        status = gt_expr_eval(&holds, map->base[i].when, b->value, err);
        *out = map->base[i].arg;
    }
    *absent = holds == 0;
    return status;
}

static gt_status check_map(const struct gt_tiling *tiling, int64_t at,
                           const struct gt_device *d, struct gt_err *err) {
    const struct gt_driver *driver = gt_driver_of(d->backend);
    return driver->check_map != NULL
               ? driver->check_map(tiling, at, err)
               : gt_fail(err, GEMMTUNE_EINVAL, "this backend has no tensor maps");
}

/* Each matrix of a batch is a plane. One that serves all products is the only plane. */
static void stack_batch(struct gt_tiling *t, int64_t batch, int64_t stride) {
    t->planes = stride == 0 ? 1 : batch;
    t->plane = stride == 0 ? t->outer * t->stride : stride * (int64_t)gt_type_size(t->type);
}

/* Where rows do not begin at multiples of 256 bytes, a box's row reaches into more pieces
 * of 256 bytes than it fills: on an H200 1000^3 of bf16 took 11.2 us with 256 bytes, and
 * takes 9.9 with 128. */
static int64_t fetch_of(const struct gt_tiling *t) {
    return t->stride % 256 == 0 && t->plane % 256 == 0 ? 256 : 128;
}

/* In a batch a map has the matrices of all products. They are planes, or else they lie one
 * below the other: then a stride must be whole rows. Slots of rows begin at rows of A and
 * C. */
static gt_status cover_batch(struct gt_tiling *t, gt_arg base, bool has_planes,
                             const struct gt_binding *b, struct gt_err *err) {
    const int i = base == GT_ARG_A ? 0 : base == GT_ARG_B ? 1 : 2;
    const int64_t ld = b->value[GT_IN_LDA + i], stride = b->stride[i];
    if (!b->is_batch || (base != GT_ARG_A && base != GT_ARG_B && base != GT_ARG_C))
        return GEMMTUNE_OK;
    const bool has_slots = base != GT_ARG_B && b->slot_rows > 0;
    if (base == GT_ARG_A && has_slots && b->value[GT_IN_TA] != 0)
        return gt_fail(err, GEMMTUNE_EINVAL, "the rows of A are columns as it is stored");
    if (has_planes && !has_slots) {
        stack_batch(t, b->batch, stride);
        return GEMMTUNE_OK;
    }
    if (stride % ld != 0)
        return gt_fail(err, GEMMTUNE_EINVAL, "the stride of %c is not a number of rows",
                       "ABC"[i]);
    if (has_slots)
        t->outer = b->m;
    t->outer += (b->batch - 1) * (stride / ld);
    return GEMMTUNE_OK;
}

gt_status gt_map_add(struct gt_passes *out, const struct gt_map *map,
                     const struct gt_binding *b, const struct gt_device *d,
                     struct gt_err *err) {
    const int i = out->map_count++;
    struct gt_tiling *t = &out->map[i].tiling;
    int64_t planes = 0;
    const struct {
        int64_t *to;
        const struct gt_expr *expr;
    } rows[] = {
        {&out->map[i].at, map->at},  {&t->inner, map->inner},   {&t->outer, map->outer},
        {&t->stride, map->stride},   {&t->box[0], map->box[0]}, {&t->box[1], map->box[1]},
        {&t->swizzle, map->swizzle}, {&planes, map->planes},
    };
    gt_status status = find_base(&out->map[i].base, &out->map[i].absent, map, b, err);
    if (status == GEMMTUNE_OK && out->map[i].absent)
        return status;
    for (size_t j = 0; j < sizeof rows / sizeof *rows && status == GEMMTUNE_OK; j++)
        status = gt_expr_eval(rows[j].to, rows[j].expr, b->value, err);
    t->type = out->map[i].base == GT_ARG_C ? b->dtype->c : b->dtype->a;
    if (status == GEMMTUNE_OK)
        status = cover_batch(t, out->map[i].base, planes != 0, b, err);
    t->fetch = fetch_of(t);
    if (status == GEMMTUNE_OK)
        status = check_map(t, out->map[i].at, d, err);
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, status, "%s", map->name);
}
