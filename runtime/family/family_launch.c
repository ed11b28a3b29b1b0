/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_launch.c - the launches of a family in space.json: passes, the shape that the
 * model uses, tensor maps. One function a key; family_parse.c calls them in order.
 */
#include "runtime/family/family_inside.h"

#include <string.h>

/* ---- passes ------------------------------------------------------------------------- */

/* The keys that "launch" and the passes beside it have in common. */
static gt_status parse_pass(struct gt_pass *pass, const struct gt_family *f,
                            struct gt_node n, struct gt_err *err) {
    static const char *const ones[3] = {"1", "1", "1"};
    struct gt_node block, grid;
    gt_status status = gt_json_need(&block, n, "block", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&grid, n, "grid", err);
    if (status == GEMMTUNE_OK)
        status = gt_read_three(pass->block, f, block, GT_OF_PROBLEM, ones, err);
    if (status == GEMMTUNE_OK)
        status = gt_read_three(pass->grid, f, grid, GT_OF_PROBLEM, ones, err);
    if (status == GEMMTUNE_OK)
        status = gt_read_three(pass->cluster, f, gt_json_member(n, "cluster"),
                               GT_OF_PROBLEM, ones, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_read_or(&pass->smem, "0", f, gt_json_member(n, "smem"), GT_OF_PROBLEM, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_read_or(&pass->when, "1", f, gt_json_member(n, "when"), GT_OF_POINT, err);
    return status;
}

static gt_status parse_beside(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"entry",   "when", "block", "grid",
                                       "cluster", "smem", NULL};
    struct gt_pass *pass = &f->pass[f->pass_count++];
    struct gt_node entry;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&entry, n, "entry", err);
    if (status == GEMMTUNE_OK)
        status = gt_read_entry(pass->entry, entry, err);
    return status == GEMMTUNE_OK ? parse_pass(pass, f, n, err) : status;
}

static gt_status parse_all_beside(struct gt_family *f, struct gt_node n,
                                  struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 0, GT_BESIDE_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++)
        status = parse_beside(f, gt_json_at(n, i), err);
    return status;
}

gt_status gt_parse_before(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_all_beside(f, n, err);
}

/* The rows of a tile are known before the derived names, which may use WALK. */
static gt_status read_walk(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    const gt_status status = gt_read_or(&f->walk, "0", f, n, GT_OF_POINT, err);
    if (status != GEMMTUNE_OK)
        return status;
    bool too_early = gt_expr_uses(f->walk, GT_IN_WALK);
    for (int i = 0; i < f->derive_count; i++)
        too_early = too_early || gt_expr_uses(f->walk, f->derive[i].slot);
    return too_early ? gt_json_fail(n, err, "may use neither derived names nor WALK")
                     : GEMMTUNE_OK;
}

/* ["rows", "columns"] of a panel of C. */
static gt_status read_panel(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 2, 2, err);
    for (size_t i = 0; i < 2 && status == GEMMTUNE_OK; i++)
        status = gt_read_expr(&f->panel[i], f, gt_json_at(n, i), GT_OF_PROBLEM, err);
    return status;
}

gt_status gt_parse_launch(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"block",     "grid", "cluster", "smem",
                                       "workspace", "walk", "panel",   NULL};
    f->main = f->pass_count++;
    struct gt_pass *pass = &f->pass[f->main];
    memcpy(pass->entry, f->entry, sizeof pass->entry);
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = parse_pass(pass, f, n, err);
    if (status == GEMMTUNE_OK)
        status = gt_read_or(&f->workspace, "0", f, gt_json_member(n, "workspace"),
                            GT_OF_PROBLEM, err);
    if (status == GEMMTUNE_OK)
        status = read_walk(f, gt_json_member(n, "walk"), err);
    if (status == GEMMTUNE_OK)
        status = read_panel(f, gt_json_member(n, "panel"), err);
    return status;
}

gt_status gt_parse_after(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_all_beside(f, n, err);
}

/* ---- shape -------------------------------------------------------------------------- */

gt_status gt_parse_shape(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const struct {
        const char *key, *preset;
    } rows[GT_SHAPE_COUNT] = {
#define X(id, key, preset) {key, preset},
        GT_SHAPE_LIST(X)
#undef X
    };
    const char *keys[GT_SHAPE_COUNT + 1] = {NULL};
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    for (int i = 0; i < GT_SHAPE_COUNT; i++)
        keys[i] = rows[i].key;
    gt_status status = gt_json_only(n, keys, err);
    for (int i = 0; i < GT_SHAPE_COUNT && status == GEMMTUNE_OK; i++) {
        struct gt_node value = gt_json_member(n, rows[i].key);
        if (rows[i].preset == NULL)
            status = gt_json_need(&value, n, rows[i].key, err);
        if (status == GEMMTUNE_OK)
            status = gt_read_or(&f->shape[i], rows[i].preset, f, value, GT_OF_PROBLEM, err);
    }
    f->has_shape = status == GEMMTUNE_OK;
    return status;
}

/* ---- tensor maps -------------------------------------------------------------------- */

/* {"workspace": "expression", "a": "1"}: the operands that may hold the matrix. */
static gt_status parse_bases(struct gt_map *map, const struct gt_family *f,
                             struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"a", "b", "c", "workspace", NULL};
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 1, GT_MAP_BASES, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_only(n, keys, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node when = gt_json_at(n, i);
        map->base[i].arg = (gt_arg)gt_arg_by_name(gt_json_key(when));
        status = gt_read_expr(&map->base[i].when, f, when, GT_OF_POINT, err);
        map->base_count++;
    }
    return status;
}

static gt_status parse_box(struct gt_map *map, const struct gt_family *f, struct gt_node n,
                           struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 2, 2, err);
    for (size_t i = 0; i < GT_BACKENDS && status == GEMMTUNE_OK; i++)
        status = gt_read_expr(&map->box[i], f, gt_json_at(n, i), GT_OF_POINT, err);
    return status;
}

static gt_status parse_map(struct gt_map *map, const struct gt_family *f, struct gt_node n,
                           struct gt_err *err) {
    static const char *const keys[] = {"of",  "at",      "inner",  "outer", "stride",
                                       "box", "swizzle", "planes", NULL};
    const struct {
        const char *key;
        struct gt_expr **expr;
    } sizes[] = {{"inner", &map->inner}, {"outer", &map->outer}, {"stride", &map->stride}};
    struct gt_node of, box, size;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&of, n, "of", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&box, n, "box", err);
    if (status == GEMMTUNE_OK)
        status = parse_bases(map, f, of, err);
    if (status == GEMMTUNE_OK)
        status = parse_box(map, f, box, err);
    for (size_t i = 0; i < 3 && status == GEMMTUNE_OK; i++) {
        status = gt_json_need(&size, n, sizes[i].key, err);
        if (status == GEMMTUNE_OK)
            status = gt_read_expr(sizes[i].expr, f, size, GT_OF_PROBLEM, err);
    }
    if (status == GEMMTUNE_OK)
        status = gt_read_or(&map->at, "0", f, gt_json_member(n, "at"), GT_OF_PROBLEM, err);
    if (status == GEMMTUNE_OK)
        status = gt_read_or(&map->swizzle, "0", f, gt_json_member(n, "swizzle"),
                            GT_OF_POINT, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_read_or(&map->planes, "0", f, gt_json_member(n, "planes"), GT_OF_IMAGE, err);
    return status;
}

gt_status gt_parse_maps(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 0, GT_MAPS_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        const char *name = gt_json_key(member);
        struct gt_map *map = &f->map[f->map_count++];
        if (gt_arg_by_name(name) >= 0 || strlen(name) >= sizeof map->name)
            return gt_json_fail(member, err,
                                "the name is taken or longer than %d characters",
                                GT_NAME_MAX - 1);
        memcpy(map->name, name, strlen(name) + 1);
        status = parse_map(map, f, member, err);
    }
    return status;
}
