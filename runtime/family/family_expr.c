/* SPDX-License-Identifier: Apache-2.0 */
/* family_expr.c - expressions in space.json, and the names that they may use. */
#include "runtime/family/family_inside.h"

/* The first name that e, or a derived name in e, may not use in an order of sums. */
static const char *beyond_order(const struct gt_family *f, const struct gt_expr *e) {
    static const enum gt_builtin allowed[] = {
        GT_IN_K,        GT_IN_TA,         GT_IN_TB,    GT_IN_SIZEOF_A, GT_IN_SIZEOF_B,
        GT_IN_SIZEOF_C, GT_IN_SIZEOF_ACC, GT_IN_FLOAT, GT_IN_FAST,     GT_IN_BF16X3,
        GT_IN_CUDA,     GT_IN_CC,         GT_IN_CPU,   GT_IN_PTX};
    for (int i = 0; i < GT_BUILTIN_COUNT; i++) {
        bool is_allowed = false;
        for (size_t j = 0; j < sizeof allowed / sizeof *allowed; j++)
            is_allowed = is_allowed || (int)allowed[j] == i;
        if (!is_allowed && gt_expr_uses(e, i))
            return gt_builtins[i].name;
    }
    for (int i = 0; i < f->derive_count; i++)
        if (gt_expr_uses(e, f->derive[i].slot) &&
            beyond_order(f, f->derive[i].expr) != NULL)
            return f->symbols.name[f->derive[i].slot];
    return NULL;
}

const char *gt_name_beyond(enum gt_scope scope, const struct gt_family *f,
                           const struct gt_expr *e) {
    if (scope == GT_OF_PROBLEM)
        return NULL;
    if (scope == GT_OF_ORDER)
        return beyond_order(f, e);
    for (int i = 0; i < GT_BUILTIN_COUNT; i++)
        if (gt_builtins[i].macro == NULL && gt_expr_uses(e, i))
            return gt_builtins[i].name;
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        const bool fits = !d->of_problem || (scope == GT_OF_IMAGE && d->in_image);
        if (!fits && gt_expr_uses(e, d->slot))
            return f->symbols.name[d->slot];
    }
    return NULL;
}

gt_status gt_read_expr(struct gt_expr **out, const struct gt_family *f, struct gt_node n,
                       enum gt_scope scope, struct gt_err *err) {
    const char *text;
    struct gt_err why = {""};
    gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_expr_parse(out, text, &f->symbols, &why);
    if (status != GEMMTUNE_OK)
        return gt_json_fail_because(n, status, &why, err);
    const char *own = gt_name_beyond(scope, f, *out);
    if (own != NULL && scope == GT_OF_ORDER)
        return gt_json_fail(n, err,
                            "%s follows m, the batch, alignment or one device; the order "
                            "of sums may not",
                            own);
    return own == NULL ? GEMMTUNE_OK
                       : gt_json_fail(n, err,
                                      "%s belongs to one problem; require, align, when, "
                                      "walk, of, box, swizzle and planes may not use it",
                                      own);
}

gt_status gt_read_three(struct gt_expr *out[3], const struct gt_family *f, struct gt_node n,
                        enum gt_scope scope, const char *const presets[3],
                        struct gt_err *err) {
    const bool absent = gt_json_kind(n) == GT_JSON_ABSENT;
    gt_status status = absent ? GEMMTUNE_OK : gt_read_list(n, GT_JSON_ARRAY, 3, 3, err);
    for (size_t i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        status = absent ? gt_expr_parse(&out[i], presets[i], &f->symbols, err)
                        : gt_read_expr(&out[i], f, gt_json_at(n, i), scope, err);
    return status;
}

gt_status gt_read_or(struct gt_expr **out, const char *preset, const struct gt_family *f,
                     struct gt_node n, enum gt_scope scope, struct gt_err *err) {
    return gt_json_kind(n) == GT_JSON_ABSENT ? gt_expr_parse(out, preset, &f->symbols, err)
                                             : gt_read_expr(out, f, n, scope, err);
}
