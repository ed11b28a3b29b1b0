/* SPDX-License-Identifier: Apache-2.0 */
/* resident.c - the same product with everything on the device. See contest.h. */
#include "tuner/stream/contest.h"

#include <stdlib.h>

/* As much as a program with the device to itself could give. */
static const size_t workspace_max = (size_t)16 << 30;

struct gt_resident {
    struct gt_rig *rig;
    gemmtune_plan *plan;
    void *memory[3], *workspace;
    union gt_value alpha, beta; /* of the accumulator's type */
    struct gt_batch *batch;
};

static const struct gt_rig_ops *ops_of(const struct gt_resident *r) {
    return gt_rig_head(r->rig)->ops;
}

void gt_resident_close(struct gt_resident *r) {
    if (r == NULL)
        return;
    if (r->batch != NULL)
        ops_of(r)->batch_destroy(r->batch);
    for (int i = 0; i < 3; i++)
        if (r->memory[i] != NULL)
            ops_of(r)->release(r->rig, r->memory[i]);
    if (r->workspace != NULL)
        ops_of(r)->release(r->rig, r->workspace);
    gemmtune_plan_destroy(r->plan);
    free(r);
}

static gt_status enqueue(void *user, struct gt_err *err) {
    struct gt_resident *r = user;
    const gemmtune_status status =
        gemmtune_execute(r->plan, &r->alpha, r->memory[0], r->memory[1], &r->beta,
                         r->memory[2], r->workspace, gt_rig_head(r->rig)->stream);
    return status == GEMMTUNE_OK ? status : gt_fail(err, status, "%s", gemmtune_errmsg());
}

static gt_status fill(struct gt_resident *r, const struct gt_contest *c,
                      struct gt_err *err) {
    const gemmtune_problem *p = c->p;
    const int64_t bytes[3] = {gt_problem_elems_a(p) * (int64_t)gt_type_size(p->type_a),
                              gt_problem_elems_b(p) * (int64_t)gt_type_size(p->type_b),
                              gt_problem_elems_c(p) * (int64_t)gt_type_size(p->type_c)};
    const void *from[3] = {c->a, c->b, c->c};
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gt_status status =
        gemmtune_plan_create(&r->plan, c->ctx[0], p, GEMMTUNE_MATCH_DEFAULT, workspace_max);
    if (status != GEMMTUNE_OK)
        return gt_fail(err, status, "%s", gemmtune_errmsg());
    (void)gemmtune_plan_describe(r->plan, &info);
    for (int i = 0; status == GEMMTUNE_OK && i < 3; i++) {
        status = ops_of(r)->alloc(&r->memory[i], r->rig, bytes[i], err);
        if (status == GEMMTUNE_OK && (i < 2 || c->beta != 0))
            status = ops_of(r)->write(r->rig, r->memory[i], 0, from[i], bytes[i], err);
    }
    if (status == GEMMTUNE_OK && info.workspace_bytes > 0)
        status =
            ops_of(r)->alloc(&r->workspace, r->rig, (int64_t)info.workspace_bytes, err);
    return status == GEMMTUNE_OK ? ops_of(r)->batch(&r->batch, r->rig, enqueue, r, err)
                                 : status;
}

gt_status gt_resident_open(struct gt_resident **out, const struct gt_contest *c,
                           struct gt_err *err) {
    struct gt_resident *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    r->rig = c->rig[0];
    r->alpha = gt_value_of(c->p->type_acc, c->alpha);
    r->beta = gt_value_of(c->p->type_acc, c->beta);
    const gt_status status = fill(r, c, err);
    if (status == GEMMTUNE_OK)
        *out = r;
    else
        gt_resident_close(r);
    return status;
}

gt_status gt_resident_time(double *one, struct gt_resident *r, double seconds,
                           struct gt_err *err) {
    double total = 0;
    int count = 0;
    gt_status status = GEMMTUNE_OK;
    while (status == GEMMTUNE_OK && (count == 0 || total < seconds)) {
        double ns = 0;
        status = ops_of(r)->time(r->batch, &ns, err);
        total += ns * 1e-9;
        count++;
    }
    *one = total / count;
    return status;
}
