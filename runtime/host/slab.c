/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/slab.h"

enum { RUNS = 3 };

void gt_host_slab_close(struct gt_host_slab *s, struct gt_link *link) {
    struct gt_err ignored;
    if (s->queue != NULL)
        (void)link->ops->finish(link, s->queue, &ignored);
    for (int i = 0; i < GT_OPERANDS; i++)
        if (s->memory[i] != NULL)
            link->ops->release(link, s->memory[i]);
    if (s->workspace != NULL)
        link->ops->release(link, s->workspace);
    if (s->queue != NULL)
        link->ops->queue_close(link, s->queue);
    gt_host_plans_clear(&s->plans);
}

static gt_status alloc(void **memory, struct gt_host_slab *s, struct gt_link *link,
                       int64_t bytes, struct gt_err *err) {
    const gt_status status = link->ops->alloc(memory, link, bytes, err);
    s->bytes += status == GEMMTUNE_OK ? bytes : 0;
    return status;
}

gt_status gt_host_slab_open(struct gt_host_slab *s, struct gt_link *link, gemmtune_ctx *ctx,
                            int64_t workspace_max, struct gt_err *err) {
    const struct gt_host_tile tile = {.size = {s->cut->tile[0], s->cut->tile[1]}};
    gt_status status =
        gt_host_plans_make(&s->plans, ctx, s->cut, &tile, 1, (size_t)workspace_max, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_OPERANDS; i++)
        if (i == GT_C || s->cut->sums)
            status = alloc(&s->memory[i], s, link,
                           gt_host_buffer_of(s->cut, (enum gt_operand)i).bytes, err);
    if (status == GEMMTUNE_OK && s->plans.workspace_bytes > 0)
        status = alloc(&s->workspace, s, link, (int64_t)s->plans.workspace_bytes, err);
    return status == GEMMTUNE_OK ? link->ops->queue_open(&s->queue, link, err) : status;
}

static gt_status time_product(double *seconds, struct gt_host_slab *p, struct gt_link *link,
                              struct gt_err *err) {
    const union gt_value one = gt_value_of(p->cut->problem.type_acc, 1);
    const struct gt_call call = {.alpha = &one,
                                 .a = p->memory[GT_A],
                                 .b = p->memory[GT_B],
                                 .beta = &one,
                                 .c = p->memory[GT_C],
                                 .workspace = p->workspace,
                                 .stream = p->queue};
    void *event[2] = {NULL, NULL};
    gt_status status = link->ops->record(&event[0], link, p->queue, err);
    if (status == GEMMTUNE_OK)
        status = gt_plan_run(p->plans.item[0].plan, false, &call, err);
    if (status == GEMMTUNE_OK)
        status = link->ops->record(&event[1], link, p->queue, err);
    if (status == GEMMTUNE_OK)
        status = link->ops->join(link, event[1], err);
    if (status == GEMMTUNE_OK)
        status = link->ops->seconds(seconds, link, event[0], event[1], err);
    for (int i = 0; i < 2; i++)
        if (event[i] != NULL)
            link->ops->event_release(link, event[i]);
    return status;
}

gt_status gt_host_slab_time(double *seconds, struct gt_link *link, gemmtune_ctx *ctx,
                            const struct gt_host_cut *cut, int64_t workspace_max,
                            struct gt_err *err) {
    struct gt_host_slab p = {.cut = cut};
    gt_status status = gt_host_slab_open(&p, link, ctx, workspace_max, err);
    *seconds = 0;
    for (int i = 0; status == GEMMTUNE_OK && i < RUNS; i++) {
        double now = 0;
        status = time_product(&now, &p, link, err);
        *seconds = *seconds == 0 || now < *seconds ? now : *seconds;
    }
    gt_host_slab_close(&p, link);
    return status;
}
