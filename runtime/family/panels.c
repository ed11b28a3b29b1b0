/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panels.c - C computed panel by panel, so that a small workspace holds the copies of the
 * rows of op(A) and of the columns of op(B) that one panel needs ("panel" of "launch" in
 * space.json).
 */
#include "runtime/family/family_inside.h"

/* The rows (which 0) or columns of a panel of `whole`; 0 where the point has no panels. */
static gt_status size_of(int64_t *out, const struct gt_binding *b, int which,
                         struct gt_err *err) {
    const gt_status status = gt_expr_eval(out, b->family->panel[which], b->value, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, GEMMTUNE_EINVAL, "panel");
    return *out >= 0 ? GEMMTUNE_OK
                     : gt_fail(err, GEMMTUNE_EINVAL, "panel: it has fewer than 0 rows");
}

/* Binds the rows or columns of the first panel, and how many panels there are. */
static gt_status bind_side(struct gt_binding *b, int which, bool *asks,
                           struct gt_err *err) {
    int64_t *const side = &b->value[which == 0 ? GT_IN_M : GT_IN_N];
    int64_t size = 0;
    const gt_status status = size_of(&size, b, which, err);
    if (status != GEMMTUNE_OK || size == 0)
        return status;
    *asks = true;
    if (size < *side) {
        b->panels[which] = (*side + size - 1) / size;
        *side = size;
    }
    return GEMMTUNE_OK;
}

gt_status gt_bind_panels(struct gt_binding *b, struct gt_err *err) {
    bool asks = false;
    if (b->family->panel[0] == NULL)
        return GEMMTUNE_OK;
    gt_status status = bind_side(b, 0, &asks, err);
    if (status == GEMMTUNE_OK)
        status = bind_side(b, 1, &asks, err);
    if (status != GEMMTUNE_OK || !asks)
        return status;
    if (b->is_batch || b->epilogue != NULL)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "panels are for single products without an epilogue");
    return gt_has_panels(b) ? gt_bind_derived(b, err)
                            : gt_fail(err, GEMMTUNE_EINVAL, "one panel would be all of C");
}

/* Row by row, every second row backwards: neighbours in this order have the rows of op(A)
 * or the columns of op(B) in common, so that half of the copies in the workspace stay. */
static void find_place(int64_t at[2], const struct gt_binding *b, int64_t number) {
    const int64_t across = b->panels[1], i = number / across, j = number % across;
    at[0] = i;
    at[1] = i % 2 == 0 ? j : across - 1 - j;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Kernels count the place of op(B)'s copies from the rows of op(A)'s, so both panels must
 * have as many rows to have the same columns there. */
struct gt_panel gt_panel_at(const struct gt_binding *b, int64_t number) {
    const int64_t m = b->value[GT_IN_M], n = b->value[GT_IN_N];
    const int64_t last[2] = {b->panels[0] - 1, b->panels[1] - 1};
    int64_t at[2], before[2];
    find_place(at, b, number);
    find_place(before, b, number > 0 ? number - 1 : 0);
    struct gt_panel p = {.row = at[0] * m, .col = at[1] * n};
    p.m = least(m, b->m - p.row);
    p.n = least(n, b->n - p.col);
    p.same_rows = number > 0 && at[0] == before[0];
    p.same_cols = number > 0 && at[1] == before[1] && p.m == least(m, b->m - before[0] * m);
    p.kind = (at[1] == last[1]) + 2 * (at[0] == last[0]);
    return p;
}

gt_status gt_bind_panel(struct gt_binding *b, const struct gt_panel *p,
                        struct gt_err *err) {
    b->value[GT_IN_M] = p->m;
    b->value[GT_IN_N] = p->n;
    return gt_bind_derived(b, err);
}
