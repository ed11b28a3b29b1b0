/* SPDX-License-Identifier: Apache-2.0 */
/* small.c - see small.h. */
#include "runtime/host/small.h"

#include "core/clock.h"
#include "runtime/host/slab.h"

#include <stdio.h>

enum {
    SMALL_BYTES = 4 << 20,    /* of A, B and C on the device */
    WORKSPACE_MAX = 16 << 20, /* bytes */
    EVENTS = 4                /* begin, after the copies in, after the product, end */
};

/* The whole product as one tile. */
static struct gt_host_cut whole(const struct gt_host_cut *cut) {
    struct gt_host_cut one = *cut;
    one.tile[0] = cut->problem.m;
    one.tile[1] = cut->problem.n;
    one.tile[2] = cut->problem.k > 0 ? cut->problem.k : 1;
    one.slots[GT_A] = one.slots[GT_B] = one.slots[GT_C] = 1;
    one.tail = 1;
    return one;
}

bool gt_host_is_small(const struct gt_host_call *c) {
    const gemmtune_host_options *o = &c->options;
    const struct gt_host_cut one = whole(&c->cut);
    return o->order == GEMMTUNE_HOST_PLANNED && o->copies == GEMMTUNE_HOST_AUTO &&
           o->memory_max == 0 && o->tile_m == 0 && o->tile_n == 0 && o->tile_k == 0 &&
           o->trace == NULL && gt_host_slot_bytes(&one) <= SMALL_BYTES;
}

/* ---- one product --------------------------------------------------------------------- */

struct product {
    struct gt_host_call *call;
    struct gt_link *link;
    struct gt_host_slab slab;
    void *event[EVENTS];
};

/* Copies a whole matrix to the device, or C back. */
static gt_status copy(struct product *x, enum gt_operand operand, bool out,
                      struct gt_err *err) {
    const struct gt_host_cut *cut = x->slab.cut;
    const gemmtune_problem *p = &cut->problem;
    const int64_t ld[GT_OPERANDS] = {p->lda, p->ldb, p->ldc};
    const int64_t size = gt_host_element_bytes(cut, operand);
    const struct gt_host_buffer buffer = gt_host_buffer_of(cut, operand);
    gemmtune_host_report *r = &x->call->report;
    const struct gt_box box = {.host = x->call->run.host[operand],
                               .host_pitch = ld[operand] * size,
                               .memory = x->slab.memory[operand],
                               .pitch = buffer.ld * size,
                               .row_bytes = buffer.cols * size,
                               .rows = buffer.rows};
    *(out ? &r->bytes_out : &r->bytes_in) += (double)(box.row_bytes * box.rows);
    return out ? x->link->ops->copy_out(x->link, x->slab.queue, &box, err)
               : x->link->ops->copy_in(x->link, x->slab.queue, &box, err);
}

static gt_status copy_in(struct product *x, struct gt_err *err) {
    const bool needed[GT_OPERANDS] = {[GT_A] = x->slab.cut->sums,
                                      [GT_B] = x->slab.cut->sums,
                                      [GT_C] = x->slab.cut->reads_c};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < GT_OPERANDS; i++)
        if (needed[i])
            status = copy(x, (enum gt_operand)i, false, err);
    return status;
}

/* Without sums the plan is of a product with k of 1 and alpha of 0. */
static gt_status multiply(struct product *x, struct gt_err *err) {
    const struct gt_host_cut *cut = x->slab.cut;
    const union gt_value zero = gt_value_of(cut->problem.type_acc, 0);
    const struct gt_call call = {.alpha = cut->sums ? x->call->run.alpha : &zero,
                                 .a = x->slab.memory[GT_A],
                                 .b = x->slab.memory[GT_B],
                                 .beta = x->call->run.beta,
                                 .c = x->slab.memory[GT_C],
                                 .workspace = x->slab.workspace,
                                 .stream = x->slab.queue};
    return gt_plan_run(x->slab.plans.item[0].plan, false, &call, err);
}

static gt_status record(struct product *x, int event, struct gt_err *err) {
    return x->link->ops->record(&x->event[event], x->link, x->slab.queue, err);
}

static gt_status run(struct product *x, struct gt_err *err) {
    gt_status status = record(x, 0, err);
    if (status == GEMMTUNE_OK)
        status = copy_in(x, err);
    if (status == GEMMTUNE_OK)
        status = record(x, 1, err);
    if (status == GEMMTUNE_OK)
        status = multiply(x, err);
    if (status == GEMMTUNE_OK)
        status = record(x, 2, err);
    if (status == GEMMTUNE_OK)
        status = copy(x, GT_C, true, err);
    if (status == GEMMTUNE_OK)
        status = record(x, 3, err);
    return status == GEMMTUNE_OK ? x->link->ops->join(x->link, x->event[3], err) : status;
}

/* ---- the report ---------------------------------------------------------------------- */

static gt_status note_times(struct product *x, struct gt_err *err) {
    gemmtune_host_report *r = &x->call->report;
    double part[EVENTS - 1] = {0};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i + 1 < EVENTS; i++)
        status =
            x->link->ops->seconds(&part[i], x->link, x->event[i], x->event[i + 1], err);
    r->compute_seconds = part[1];
    r->copy_seconds = r->exposed_seconds = part[0] + part[2];
    return status;
}

static void note_plan(struct product *x) {
    const struct gt_host_cut *cut = x->slab.cut;
    gemmtune_host_report *r = &x->call->report;
    gemmtune_plan_info info = {.struct_size = sizeof info};
    r->devices = 1;
    r->tiles = 1;
    r->tile_m = cut->tile[0];
    r->tile_n = cut->tile[1];
    r->tile_k = cut->sums ? cut->tile[2] : 0;
    r->slots_a = r->slots_b = cut->sums;
    r->slots_c = 1;
    r->device_bytes = x->slab.bytes;
    (void)gemmtune_plan_describe(x->slab.plans.item[0].plan, &info);
    r->match = info.match;
    (void)snprintf(r->kernel, sizeof r->kernel, "%s %s", info.family, info.params);
}

static void tell(struct gt_host_call *c) {
    const gemmtune_host_progress now = {.struct_size = sizeof now,
                                        .tiles = 1,
                                        .tiles_done = c->report.tiles_done,
                                        .flops = c->flops,
                                        .flops_done = c->flops,
                                        .seconds = c->report.seconds};
    if (c->options.progress != NULL)
        (void)c->options.progress(c->options.user, &now);
}

/* ---- all of it ----------------------------------------------------------------------- */

/* The calling thread is attached to the link. */
static gt_status carry_out(struct product *x, struct gt_err *err) {
    gemmtune_host_report *r = &x->call->report;
    const double began = gt_seconds();
    gt_status status =
        gt_host_slab_open(&x->slab, x->link, x->call->ctx[0], WORKSPACE_MAX, err);
    const double ready = gt_seconds();
    r->prepare_seconds = ready - began;
    if (status != GEMMTUNE_OK)
        return status;
    note_plan(x);
    status = run(x, err);
    r->seconds = gt_seconds() - ready;
    if (status == GEMMTUNE_OK)
        status = note_times(x, err);
    r->tiles_done = status == GEMMTUNE_OK;
    return status == GEMMTUNE_OK
               ? GEMMTUNE_OK
               : gt_fail(err, status, "%.300s; 0 of 1 tiles of C are complete", err->line);
}

gt_status gt_host_small(struct gt_host_call *c, struct gt_err *err) {
    const struct gt_host_cut cut = whole(&c->cut);
    struct product x = {.call = c, .slab = {.cut = &cut}};
    gt_status status = gt_link_open(&x.link, c->ctx[0]->gpu, err);
    if (status == GEMMTUNE_OK)
        status = x.link->ops->attach(x.link, err);
    if (status == GEMMTUNE_OK) {
        status = carry_out(&x, err);
        for (int i = 0; i < EVENTS; i++)
            if (x.event[i] != NULL)
                x.link->ops->event_release(x.link, x.event[i]);
        gt_host_slab_close(&x.slab, x.link);
        x.link->ops->detach(x.link);
    }
    gt_link_close(x.link);
    if (status == GEMMTUNE_OK)
        tell(c);
    return status;
}
