/* SPDX-License-Identifier: Apache-2.0 */
/* launch_map.c - see launch.h: the description of a matrix for hardware that copies boxes
 * of it. */
#include "runtime/launch.h"

#include "runtime/driver.h"
#include "runtime/family_inside.h"

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

gt_status gt_map_add(struct gt_passes *out, const struct gt_map *map,
                     const struct gt_binding *b, const struct gt_device *d,
                     struct gt_err *err) {
    const int i = out->map_count++;
    struct gt_tiling *t = &out->map[i].tiling;
    const struct {
        int64_t *to;
        const struct gt_expr *expr;
    } rows[] = {
        {&out->map[i].at, map->at},  {&t->inner, map->inner},   {&t->outer, map->outer},
        {&t->stride, map->stride},   {&t->box[0], map->box[0]}, {&t->box[1], map->box[1]},
        {&t->swizzle, map->swizzle},
    };
    gt_status status = find_base(&out->map[i].base, &out->map[i].absent, map, b, err);
    if (status == GEMMTUNE_OK && out->map[i].absent)
        return status;
    for (size_t j = 0; j < sizeof rows / sizeof *rows && status == GEMMTUNE_OK; j++)
        status = gt_expr_eval(rows[j].to, rows[j].expr, b->value, err);
    t->type = out->map[i].base == GT_ARG_C ? b->dtype->c : b->dtype->a;
    if (status == GEMMTUNE_OK)
        status = check_map(t, out->map[i].at, d, err);
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, status, "%s", map->name);
}
