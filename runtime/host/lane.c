/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.c - a lane's thread: takes the lane's operations in order, waits for the operations
 * that they depend on, enqueues them, and notes when they ran.
 *
 * An operation is WAITING until its lane has enqueued it. While it is ENQUEUED, other
 * queues can wait for its end event. When it is OVER, nothing needs to wait for it. At most
 * IN_FLIGHT_MAX operations of a lane are ENQUEUED, so a stop takes effect soon.
 */
#include "runtime/host/engine_inside.h"

#include "core/clock.h"

#include <stdlib.h>
#include <string.h>

static void lock(struct gt_host_engine *e) {
    (void)pthread_mutex_lock(&e->run->lock);
}

static void unlock(struct gt_host_engine *e) {
    (void)pthread_mutex_unlock(&e->run->lock);
}

/* ---- taking operations --------------------------------------------------------------- */

/* Makes room for states of all scheduled operations; the lock is held. */
static gt_status grow_states(struct gt_host_engine *e, struct gt_err *err) {
    const int64_t room = e->schedule.room;
    if (e->room == room)
        return GEMMTUNE_OK;
    struct gt_host_state *state = realloc(e->state, (size_t)room * sizeof *state);
    if (state != NULL)
        e->state = state;
    struct gt_host_span *span = realloc(e->span, (size_t)room * sizeof *span);
    if (span != NULL)
        e->span = span;
    if (state == NULL || span == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    memset(state + e->room, 0, (size_t)(room - e->room) * sizeof *state);
    memset(span + e->room, 0, (size_t)(room - e->room) * sizeof *span);
    e->room = room;
    return GEMMTUNE_OK;
}

/* Whether the engine may begin another tile of C. It has the tile that is computed, the
 * tiles that wait to be copied out, and one with A and B on their way. */
static bool may_claim(const struct gt_host_engine *e) {
    return e->claimed - e->stored <= e->run->cut->slots[GT_C];
}

/* Takes a tile from the board and schedules it; false when there is none. The lock is
 * held. */
static bool claim(struct gt_host_engine *e) {
    struct gt_err err;
    const struct gt_host_tile *tile = gt_host_board_take(&e->run->board, e->device);
    if (tile == NULL)
        return false;
    gt_status status = gt_host_schedule_tile(&e->schedule, tile, &err);
    if (status == GEMMTUNE_OK)
        status = grow_states(e, &err);
    if (status != GEMMTUNE_OK)
        gt_host_run_fail_locked(e->run, status, &err);
    e->claimed++;
    (void)pthread_cond_broadcast(&e->run->change);
    return status == GEMMTUNE_OK;
}

/* The index of the lane's next operation from `from` on, or the count of operations. */
static int64_t scan(const struct gt_host_engine *e, enum gt_lane lane, int64_t from) {
    while (from < e->schedule.count && e->schedule.op[from].lane != lane)
        from++;
    return from;
}

enum next { FOUND, LATER, NONE };

/* Finds the lane's next operation, and takes tiles from the board while it may. LATER:
 * there may be one after a change. The lock is held. */
static enum next look(struct gt_host_lane *l, int64_t *at, struct gt_host_op *op) {
    struct gt_host_engine *e = l->engine;
    while (!e->run->stop) {
        *at = scan(e, l->lane, *at);
        if (*at < e->schedule.count) {
            *op = e->schedule.op[*at];
            return FOUND;
        }
        if (!may_claim(e))
            return LATER;
        if (!claim(e))
            return NONE;
    }
    return NONE;
}

/* ---- the end of operations ----------------------------------------------------------- */

static void note_stored(struct gt_host_engine *e, const struct gt_host_op *op) {
    if (op->kind == GT_STORE_C) {
        e->stored++;
        e->run->tiles_stored++;
    }
    if (op->kind == GT_RUN)
        e->run->flops_done +=
            2.0 * (double)op->size[0] * (double)op->size[1] * (double)op->size[2];
}

/* Waits for the lane's oldest enqueued operation, and notes when it ran. */
static gt_status retire(struct gt_host_lane *l, struct gt_err *err) {
    struct gt_host_engine *e = l->engine;
    const struct gt_link_ops *ops = e->link->ops;
    const int64_t i = l->flight[l->oldest];
    struct gt_host_span span = {0};
    lock(e);
    void *begin = e->state[i].begin, *end = e->state[i].end;
    unlock(e);
    gt_status status = ops->join(e->link, end, err);
    if (status == GEMMTUNE_OK)
        status = ops->seconds(&span.begin, e->link, e->base, begin, err);
    if (status == GEMMTUNE_OK)
        status = ops->seconds(&span.end, e->link, e->base, end, err);
    l->oldest = (l->oldest + 1) % IN_FLIGHT_MAX;
    l->flying--;
    lock(e);
    e->state[i].progress = GT_OP_OVER;
    e->span[i].begin = e->base_seconds + span.begin;
    e->span[i].end = e->base_seconds + span.end;
    /* Others must not take a failed operation for one that is over. */
    if (status == GEMMTUNE_OK)
        note_stored(e, &e->schedule.op[i]);
    else
        gt_host_run_fail_locked(e->run, status, err);
    (void)pthread_cond_broadcast(&e->run->change);
    unlock(e);
    ops->event_release(e->link, begin);
    ops->event_release(e->link, end);
    return status;
}

/* Gives the next operation; false when all are done. While there is none yet, it waits for
 * the end of the lane's own operations, one after another. */
static bool next_op(struct gt_host_lane *l, int64_t *at, struct gt_host_op *op,
                    gt_status *status, struct gt_err *err) {
    struct gt_host_engine *e = l->engine;
    lock(e);
    enum next next = look(l, at, op);
    while (next == LATER && *status == GEMMTUNE_OK) {
        if (l->flying > 0) {
            unlock(e);
            *status = retire(l, err);
            lock(e);
        } else {
            (void)pthread_cond_wait(&e->run->change, &e->run->lock);
        }
        next = look(l, at, op);
    }
    unlock(e);
    return next == FOUND && *status == GEMMTUNE_OK;
}

/* ---- carrying an operation out ------------------------------------------------------- */

/* Makes the lane's queue wait for an operation of another lane. False when the run
 * stops. */
static bool wait_for(struct gt_host_lane *l, int64_t i, gt_status *status,
                     struct gt_err *err) {
    struct gt_host_engine *e = l->engine;
    if (i < 0)
        return true;
    lock(e);
    const bool own = e->schedule.op[i].lane == l->lane; /* one queue runs in order */
    while (!own && e->state[i].progress == GT_OP_WAITING && !e->run->stop)
        (void)pthread_cond_wait(&e->run->change, &e->run->lock);
    const bool stopped = e->run->stop;
    if (!own && !stopped && e->state[i].progress == GT_OP_ENQUEUED)
        *status = e->link->ops->wait(e->link, l->queue, e->state[i].end, err);
    unlock(e);
    return !stopped && *status == GEMMTUNE_OK;
}

/* The box of an operand's tile in host memory and in its slot. */
static struct gt_box box_of(const struct gt_host_engine *e, enum gt_operand operand,
                            const struct gt_host_op *op) {
    const gemmtune_problem *p = &e->run->cut->problem;
    const int64_t ld[GT_OPERANDS] = {p->lda, p->ldb, p->ldc};
    const struct gt_host_region r = gt_host_region_of(e->run->cut, operand, op);
    const int64_t size = gt_host_element_bytes(e->run->cut, operand);
    const struct gt_host_buffer buffer = gt_host_buffer_of(e->run->cut, operand);
    return (struct gt_box){
        .host = (char *)e->run->host[operand] + (r.row * ld[operand] + r.col) * size,
        .host_pitch = ld[operand] * size,
        .memory = e->slot[operand][op->slot[operand]],
        .offset = 0,
        .pitch = buffer.ld * size,
        .row_bytes = r.cols * size,
        .rows = r.rows,
    };
}

static gt_status copy(struct gt_host_lane *l, const struct gt_host_op *op,
                      struct gt_err *err) {
    struct gt_host_engine *e = l->engine;
    const enum gt_operand x = gt_host_operand_of(op);
    const struct gt_box box = box_of(e, x, op);
    const bool out = op->kind == GT_STORE_C;
    if (e->run->staged[x])
        return out ? gt_host_stage_out(&l->stage[x], l->queue, &box, err)
                   : gt_host_stage_in(&l->stage[x], l->queue, &box, err);
    return out ? e->link->ops->copy_out(e->link, l->queue, &box, err)
               : e->link->ops->copy_in(e->link, l->queue, &box, err);
}

static gt_status multiply(struct gt_host_lane *l, const struct gt_host_op *op,
                          struct gt_err *err) {
    struct gt_host_engine *e = l->engine;
    const struct gt_host_run *run = e->run;
    const gemmtune_dtype acc = run->cut->problem.type_acc;
    const union gt_value zero = gt_value_of(acc, 0), one = gt_value_of(acc, 1);
    const bool sums = run->cut->sums;
    const struct gt_call call = {
        .alpha = sums ? run->alpha : &zero,
        .a = sums ? e->slot[GT_A][op->slot[GT_A]] : NULL,
        .b = sums ? e->slot[GT_B][op->slot[GT_B]] : NULL,
        .beta = op->first ? run->beta : &one,
        .c = e->slot[GT_C][op->slot[GT_C]],
        .workspace = e->workspace,
        .stream = l->queue,
    };
    return gt_plan_run(gt_host_plans_find(&e->plans, op->size), false, &call, err);
}

/* Notes an operation that has been enqueued. */
static void note_enqueued(struct gt_host_lane *l, int64_t i, void *begin, void *end) {
    struct gt_host_engine *e = l->engine;
    lock(e);
    e->state[i] = (struct gt_host_state){GT_OP_ENQUEUED, begin, end};
    (void)pthread_cond_broadcast(&e->run->change);
    unlock(e);
    l->flight[(l->oldest + l->flying) % IN_FLIGHT_MAX] = i;
    l->flying++;
}

/* Hands what a stage holds of C to the host. All of the lane is over then, and is noted at
 * once: a tile that is stored lets the next one be taken from the board. */
static gt_status finish_store(struct gt_host_lane *l, struct gt_err *err) {
    gt_status status = gt_host_stage_flush(&l->stage[GT_C], err);
    while (status == GEMMTUNE_OK && l->flying > 0)
        status = retire(l, err);
    return status;
}

/* Enqueues an operation between two events. Data that is still in a stage goes to the host
 * after the note, so only the host waits for that copy. */
static gt_status enqueue(struct gt_host_lane *l, int64_t i, const struct gt_host_op *op,
                         struct gt_err *err) {
    struct gt_host_engine *e = l->engine;
    const struct gt_link_ops *ops = e->link->ops;
    void *begin = NULL, *end = NULL;
    gt_status status = ops->record(&begin, e->link, l->queue, err);
    if (status == GEMMTUNE_OK)
        status = op->kind == GT_RUN ? multiply(l, op, err) : copy(l, op, err);
    if (status == GEMMTUNE_OK)
        status = ops->record(&end, e->link, l->queue, err);
    if (status == GEMMTUNE_OK) {
        note_enqueued(l, i, begin, end);
        return op->kind == GT_STORE_C && e->run->staged[GT_C] ? finish_store(l, err)
                                                              : GEMMTUNE_OK;
    }
    if (begin != NULL)
        ops->event_release(e->link, begin);
    return status;
}

static gt_status do_op(struct gt_host_lane *l, int64_t i, const struct gt_host_op *op,
                       struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (l->flying == IN_FLIGHT_MAX)
        status = retire(l, err);
    for (int j = 0; status == GEMMTUNE_OK && j < GT_HOST_AFTER; j++)
        if (!wait_for(l, op->after[j], &status, err))
            return status;
    return status == GEMMTUNE_OK ? enqueue(l, i, op, err) : status;
}

static gt_status work(struct gt_host_lane *l, struct gt_err *err) {
    struct gt_host_op op;
    gt_status status = GEMMTUNE_OK;
    for (int64_t at = 0; next_op(l, &at, &op, &status, err); at++) {
        status = do_op(l, at, &op, err);
        if (status != GEMMTUNE_OK)
            break;
    }
    while (status == GEMMTUNE_OK && l->flying > 0)
        status = retire(l, err);
    return status;
}

/* Forgets the enqueued operations of a lane that fails. The device may be lost, so it must
 * not wait for events that may never end. */
static void drop_flight(struct gt_host_lane *l) {
    struct gt_host_engine *e = l->engine;
    for (; l->flying > 0; l->flying--, l->oldest = (l->oldest + 1) % IN_FLIGHT_MAX) {
        struct gt_host_state *state = &e->state[l->flight[l->oldest]];
        state->progress = GT_OP_OVER;
        e->link->ops->event_release(e->link, state->begin);
        e->link->ops->event_release(e->link, state->end);
    }
}

void *gt_host_lane_main(void *lane_thread) {
    struct gt_host_lane *l = lane_thread;
    struct gt_host_engine *e = l->engine;
    struct gt_err err = {""};
    gt_status status = e->link->ops->attach(e->link, &err);
    const bool attached = status == GEMMTUNE_OK;
    if (attached)
        status = work(l, &err);
    lock(e);
    if (status != GEMMTUNE_OK) {
        gt_host_run_fail_locked(e->run, status, &err);
        drop_flight(l);
    }
    e->run->lanes--;
    (void)pthread_cond_broadcast(&e->run->change);
    unlock(e);
    if (attached)
        e->link->ops->detach(e->link);
    return NULL;
}
