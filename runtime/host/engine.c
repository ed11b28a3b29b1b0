/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - a device's memory, queues and threads. lane.c has the operations. */
#include "runtime/host/engine_inside.h"

#include "core/clock.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- memory -------------------------------------------------------------------------- */

static gt_status alloc(void **out, struct gt_host_engine *e, int64_t bytes,
                       struct gt_err *err) {
    const gt_status status = e->link->ops->alloc(out, e->link, bytes, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status,
                              "%lld bytes of device memory beside the %lld taken",
                              (long long)bytes, (long long)e->device_bytes);
    e->device_bytes += bytes;
    return GEMMTUNE_OK;
}

static gt_status alloc_slots(struct gt_host_engine *e, enum gt_operand operand,
                             struct gt_err *err) {
    const struct gt_host_cut *cut = e->run->cut;
    if (!cut->sums && operand != GT_C)
        return GEMMTUNE_OK;
    const int64_t bytes = gt_host_buffer_of(cut, operand).bytes;
    e->slot[operand] = calloc((size_t)cut->slots[operand], sizeof *e->slot[operand]);
    if (e->slot[operand] == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < cut->slots[operand]; i++)
        status = alloc(&e->slot[operand][i], e, bytes, err);
    return status;
}

static void free_memory(struct gt_host_engine *e) {
    for (int i = 0; i < GT_OPERANDS; i++) {
        for (int j = 0; e->slot[i] != NULL && j < e->run->cut->slots[i]; j++)
            if (e->slot[i][j] != NULL)
                e->link->ops->release(e->link, e->slot[i][j]);
        free(e->slot[i]);
        e->slot[i] = NULL;
    }
    if (e->workspace != NULL)
        e->link->ops->release(e->link, e->workspace);
    e->workspace = NULL;
}

/* The size of a stage's chunk: no larger than the operand's tile needs. */
static int64_t chunk_bytes(const struct gt_host_engine *e, enum gt_operand operand) {
    const int64_t bytes = gt_host_buffer_of(e->run->cut, operand).bytes;
    return bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
}

static gt_status open_stage(struct gt_host_engine *e, enum gt_lane lane,
                            enum gt_operand operand, struct gt_err *err) {
    if (!e->run->staged[operand])
        return GEMMTUNE_OK;
    e->pinned_bytes += GT_HOST_CHUNKS * chunk_bytes(e, operand);
    return gt_host_stage_open(&e->lane[lane].stage[operand], e->link, e->run->copier,
                              chunk_bytes(e, operand), err);
}

static gt_status open_stages(struct gt_host_engine *e, struct gt_err *err) {
    const struct gt_host_cut *cut = e->run->cut;
    gt_status status = GEMMTUNE_OK;
    if (cut->sums)
        status = open_stage(e, GT_LANE_AB, GT_A, err);
    if (status == GEMMTUNE_OK && cut->sums)
        status = open_stage(e, GT_LANE_AB, GT_B, err);
    if (status == GEMMTUNE_OK && cut->reads_c)
        status = open_stage(e, GT_LANE_C, GT_C, err);
    return status == GEMMTUNE_OK ? open_stage(e, GT_LANE_OUT, GT_C, err) : status;
}

/* ---- create and destroy -------------------------------------------------------------- */

static gt_status open_lanes(struct gt_host_engine *e, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < GT_LANES; i++) {
        e->lane[i].engine = e;
        e->lane[i].lane = (enum gt_lane)i;
        if (status == GEMMTUNE_OK)
            status = e->link->ops->queue_open(&e->lane[i].queue, e->link, err);
    }
    return status;
}

static gt_status fill(struct gt_host_engine *e, size_t workspace_max, struct gt_err *err) {
    const struct gt_host_run *run = e->run;
    gt_status status =
        gt_host_plans_make(&e->plans, e->ctx, run->cut, run->board.tile,
                           run->board.range[run->board.ranges - 1].end, workspace_max, err);
    if (status == GEMMTUNE_OK)
        status = gt_host_schedule_init(&e->schedule, run->cut, err);
    if (status == GEMMTUNE_OK)
        status = open_lanes(e, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_OPERANDS; i++)
        status = alloc_slots(e, (enum gt_operand)i, err);
    if (status == GEMMTUNE_OK && e->plans.workspace_bytes > 0)
        status = alloc(&e->workspace, e, (int64_t)e->plans.workspace_bytes, err);
    return status == GEMMTUNE_OK ? open_stages(e, err) : status;
}

gt_status gt_host_engine_create(struct gt_host_engine **out, struct gt_host_run *run,
                                gemmtune_ctx *ctx, int device, size_t workspace_max,
                                struct gt_err *err) {
    struct gt_host_engine *e = calloc(1, sizeof *e);
    *out = NULL;
    if (e == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    e->run = run;
    e->ctx = ctx;
    e->device = device;
    gt_status status = gt_link_open(&e->link, ctx->gpu, err);
    if (status == GEMMTUNE_OK)
        status = e->link->ops->attach(e->link, err);
    if (status != GEMMTUNE_OK) {
        gt_link_close(e->link);
        free(e);
        return status;
    }
    status = fill(e, workspace_max, err);
    e->link->ops->detach(e->link);
    if (status == GEMMTUNE_OK)
        *out = e;
    else
        gt_host_engine_destroy(e);
    return status;
}

static void close_lane(struct gt_host_engine *e, struct gt_host_lane *l) {
    struct gt_err ignored;
    if (l->queue == NULL)
        return;
    (void)e->link->ops->finish(e->link, l->queue, &ignored);
    for (int i = 0; i < GT_OPERANDS; i++)
        if (l->stage[i].memory != NULL)
            gt_host_stage_close(&l->stage[i]);
    e->link->ops->queue_close(e->link, l->queue);
}

void gt_host_engine_join(struct gt_host_engine *e) {
    for (int i = 0; i < GT_LANES; i++)
        if (e->lane[i].started) {
            (void)pthread_join(e->lane[i].thread, NULL);
            e->lane[i].started = false;
        }
}

void gt_host_engine_destroy(struct gt_host_engine *e) {
    struct gt_err ignored;
    if (e == NULL)
        return;
    gt_host_engine_join(e);
    /* A thread that cannot be attached may have the context all the same. If it has not,
     * the driver refuses, and only the host's memory is released. */
    const bool attached = e->link->ops->attach(e->link, &ignored) == GEMMTUNE_OK;
    for (int i = 0; i < GT_LANES; i++)
        close_lane(e, &e->lane[i]);
    if (e->base != NULL)
        e->link->ops->event_release(e->link, e->base);
    free_memory(e);
    gt_host_plans_clear(&e->plans);
    if (attached)
        e->link->ops->detach(e->link);
    gt_host_schedule_clear(&e->schedule);
    free(e->state);
    free(e->span);
    gt_link_close(e->link);
    free(e);
}

/* ---- running ------------------------------------------------------------------------- */

/* Records the event from which the device's times count, and its time on the run's
 * clock. */
static gt_status set_base(struct gt_host_engine *e, struct gt_err *err) {
    const struct gt_link_ops *ops = e->link->ops;
    gt_status status = ops->attach(e->link, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = ops->record(&e->base, e->link, e->lane[GT_LANE_AB].queue, err);
    if (status == GEMMTUNE_OK)
        status = ops->join(e->link, e->base, err);
    e->base_seconds = gt_seconds() - e->run->began;
    ops->detach(e->link);
    return status;
}

gt_status gt_host_engine_start(struct gt_host_engine *e, struct gt_err *err) {
    gt_status status = set_base(e, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_LANES; i++) {
        struct gt_host_lane *l = &e->lane[i];
        (void)pthread_mutex_lock(&e->run->lock);
        l->started = pthread_create(&l->thread, NULL, gt_host_lane_main, l) == 0;
        e->run->lanes += l->started;
        (void)pthread_mutex_unlock(&e->run->lock);
        if (!l->started)
            status = gt_fail(err, GEMMTUNE_ENOMEM, "no thread can be started");
    }
    return status;
}

int64_t gt_host_engine_ops(const struct gt_host_engine *e, const struct gt_host_op **op,
                           const struct gt_host_span **span) {
    *op = e->schedule.op;
    *span = e->span;
    return e->schedule.count < e->room ? e->schedule.count : e->room;
}

void gt_host_engine_describe(const struct gt_host_engine *e,
                             struct gt_host_engine_facts *out) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    *out = (struct gt_host_engine_facts){.device_bytes = e->device_bytes,
                                         .pinned_bytes = e->pinned_bytes};
    if (e->plans.count == 0 ||
        gemmtune_plan_describe(e->plans.item[0].plan, &info) != GEMMTUNE_OK)
        return;
    out->match = info.match;
    snprintf(out->kernel, sizeof out->kernel, "%s %s", info.family, info.params);
}
