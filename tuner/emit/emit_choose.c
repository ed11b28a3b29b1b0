/* SPDX-License-Identifier: Apache-2.0 */
/* emit_choose.c - the kernels of a folder: the ones that plans would have. */
#include "tuner/emit/emit_inside.h"

#include <string.h>

const char *gt_emit_refusal(const gemmtune_problem *p) {
    if (gt_problem_has_rows(p))
        return "rows in groups and masked rows have no place in a folder";
    if (p->row_order)
        return "a fixed order of sums has no place in a folder";
    if (p->packed_b)
        return "a packed B needs the library, which packs it";
    return NULL;
}

/* The choice for a target. */
struct wish {
    const struct gt_emit_kit *kit;
    int target;
};

/* Panels of C are launches that a table of one row does not hold. */
static bool is_skipped(void *user, const struct gt_choice *c) {
    const struct wish *w = user;
    return gt_has_panels(&c->fit.binding) || gt_emit_failed(w->kit, w->target, &c->fit);
}

static gt_status choose_one(struct gt_emit_kit *kit, int target,
                            const struct gt_sweep_item *item, size_t workspace_max,
                            struct gt_err *err) {
    const struct gt_emit_target *t = &kit->target[target];
    struct wish w = {kit, target};
    const struct gt_query query = {.snapshot = &t->snapshot,
                                   .device = &t->device,
                                   .device_key = t->device_key,
                                   .problem = &item->problem,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = workspace_max,
                                   .pointer_align = GT_VECTOR_BYTES,
                                   .skip = is_skipped,
                                   .user = &w};
    struct gt_choice choice;
    struct gt_emit_kernel *k = NULL;
    gt_status status = gt_match(&choice, &query, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status, "%s", item->name);
    status = gt_emit_add(&k, kit, target, err);
    if (status != GEMMTUNE_OK)
        return status;
    (void)snprintf(k->name, sizeof k->name, "%s", item->name);
    k->fit = choice.fit;
    k->match = choice.match;
    k->tuned = choice.known != NULL && strcmp(choice.known->problem_name, item->name) == 0;
    k->ns = k->tuned ? choice.known->median_ns : choice.forecast_ns;
    k->units = gt_emit_units(t, &k->fit);
    return GEMMTUNE_OK;
}

/* A problem with `reads_c` has the key of the same one without it. */
static bool has_key(const struct gt_sweep *sweep, size_t before) {
    gemmtune_problem p = sweep->item[before].problem;
    for (size_t i = 0; i < before; i++) {
        gemmtune_problem q = sweep->item[i].problem;
        q.reads_c = p.reads_c;
        char a[GT_PROBLEM_NAME_MAX], b[GT_PROBLEM_NAME_MAX];
        (void)gt_problem_name(&p, a);
        (void)gt_problem_name(&q, b);
        if (strcmp(a, b) == 0)
            return true;
    }
    return false;
}

gt_status gt_emit_choose(struct gt_emit_kit *kit, const struct gt_sweep *sweep,
                         size_t workspace_max, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    kit->kernels = 0;
    for (int t = 0; t < kit->targets && status == GEMMTUNE_OK; t++) {
        for (size_t i = 0; i < sweep->count && status == GEMMTUNE_OK; i++)
            if (!has_key(sweep, i))
                status = choose_one(kit, t, &sweep->item[i], workspace_max, err);
        if (status == GEMMTUNE_OK)
            status = gt_emit_choose_general(kit, t, sweep, err);
    }
    return status;
}
