/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/slab.h"

enum { RUNS = 3 };

struct product {
    const struct gt_host_cut *cut;
    struct gt_host_plans plans;
    void *memory[GT_OPERANDS], *workspace, *queue;
};

static void product_close(struct product *p, struct gt_link *link) {
    for (int i = 0; i < GT_OPERANDS; i++)
        if (p->memory[i] != NULL)
            link->ops->release(link, p->memory[i]);
    if (p->workspace != NULL)
        link->ops->release(link, p->workspace);
    if (p->queue != NULL)
        link->ops->queue_close(link, p->queue);
    gt_host_plans_clear(&p->plans);
}

static gt_status product_open(struct product *p, struct gt_link *link, gemmtune_ctx *ctx,
                              int64_t workspace_max, struct gt_err *err) {
    const struct gt_host_tile tile = {.size = {p->cut->tile[0], p->cut->tile[1]}};
    gt_status status =
        gt_host_plans_make(&p->plans, ctx, p->cut, &tile, 1, (size_t)workspace_max, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_OPERANDS; i++)
        status = link->ops->alloc(&p->memory[i], link,
                                  gt_host_buffer_of(p->cut, (enum gt_operand)i).bytes, err);
    if (status == GEMMTUNE_OK && p->plans.workspace_bytes > 0)
        status =
            link->ops->alloc(&p->workspace, link, (int64_t)p->plans.workspace_bytes, err);
    return status == GEMMTUNE_OK ? link->ops->queue_open(&p->queue, link, err) : status;
}

static gt_status time_product(double *seconds, struct product *p, struct gt_link *link,
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
    struct product p = {.cut = cut};
    gt_status status = product_open(&p, link, ctx, workspace_max, err);
    *seconds = 0;
    for (int i = 0; status == GEMMTUNE_OK && i < RUNS; i++) {
        double now = 0;
        status = time_product(&now, &p, link, err);
        *seconds = *seconds == 0 || now < *seconds ? now : *seconds;
    }
    product_close(&p, link);
    return status;
}
