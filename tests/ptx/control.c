/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - jumps, the end of threads, barriers of blocks and clusters, and instructions
 * that change nothing here. See ptx.h.
 */
#include "tests/ptx/inside.h"

static void bra(struct thread *t, const struct ins *ins) {
    t->pc = launch_of(t)->code->ins + ins->target;
}

/* ---- the end ---- */

static void leave(struct thread *t, const struct ins *ins) {
    finish_copies(t, UINT32_MAX);
    if (t->busy)
        fail(t, ins, PTX_FAILED, "the thread ends with wgmma in flight");
    check_flights_at_end(t, ins);
    t->state = ENDED;
    t->block->ended++;
    t->block->cluster->ended++;
}

static void trap(struct thread *t, const struct ins *ins) {
    fail(t, ins, PTX_FAILED, "the kernel ends in a trap");
}

/* ---- barriers of a block ---- */

/* Threads of a block that wait at a barrier go on. id: of several of the same kind. */
static void release(struct block *b, enum state at, uint32_t id) {
    for (uint32_t i = 0; i < b->threads; i++)
        if (b->thread[i].state == at && b->thread[i].phase_at == id)
            b->thread[i].state = READY;
}

static bool reduces(const struct ins *ins) {
    return ins->operation == OP_OR;
}

/* The threads that wait for bar.red.or get its result. */
static void give_result(struct block *b, uint32_t id) {
    for (uint32_t i = 0; i < b->threads; i++) {
        struct thread *t = &b->thread[i];
        const struct ins *ins = t->pc - 1;
        if (t->state == AT_BARRIER && t->phase_at == id && reduces(ins))
            put(t, ins, 0, b->barrier[id].any);
    }
}

/* bar.red.or has a result before the barrier's operands, and a predicate after them. */
static void arrive(struct thread *t, const struct ins *ins, bool waits) {
    const unsigned first = reduces(ins) ? 1 : 0, operands = ins->operands - 2 * first;
    struct block *b = t->block;
    const uint32_t id = operands > 0 ? (uint32_t)operand(t, ins, first) : 0;
    const uint32_t count = operands > 1
                               ? (uint32_t)operand(t, ins, first + 1)
                               : (b->threads + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
    const uint32_t odd = count - b->threads; /* lanes that the last warp does not have */
    if (id >= BARRIERS || count == 0 || count % WARP_SIZE != 0)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "barrier %u for %u threads", id, count);
    struct named_barrier *bar = &b->barrier[id];
    if (bar->arrived > 0 && bar->expected != count)
        fail(t, ins, PTX_FAILED, "barrier %u is for %u threads and for %u", id,
             bar->expected, count);
    bar->expected = count;
    bar->arrived++;
    bar->any = bar->any || (reduces(ins) && predicate(t, ins, ins->operands - 1u));
    if (waits) {
        t->state = AT_BARRIER;
        t->phase_at = id;
    }
    if (bar->arrived == count || (operands < 2 && bar->arrived == count - odd)) {
        give_result(b, id);
        release(b, AT_BARRIER, id);
        *bar = (struct named_barrier){0};
    }
}

static void bar_sync(struct thread *t, const struct ins *ins) {
    arrive(t, ins, true);
}

static void bar_arrive(struct thread *t, const struct ins *ins) {
    arrive(t, ins, false);
    maybe_yield(t);
}

/* ---- barriers of a cluster ---- */

static void cluster_arrive(struct thread *t, const struct ins *ins) {
    struct cluster *c = t->block->cluster;
    (void)ins;
    t->cluster_phase = (uint32_t)c->passed;
    if (++c->arrived < threads_of(c))
        return;
    c->arrived = 0;
    c->passed++;
    for (uint32_t i = 0; i < c->blocks; i++)
        release(&c->block[i], AT_CLUSTER, 0);
}

static void cluster_wait(struct thread *t, const struct ins *ins) {
    const struct cluster *c = t->block->cluster;
    (void)ins;
    if ((uint32_t)c->passed != t->cluster_phase)
        return;
    t->state = AT_CLUSTER;
    t->phase_at = 0;
}

/* ---- nothing ---- */

static void nothing(struct thread *t, const struct ins *ins) {
    (void)t, (void)ins;
}

static void sleep(struct thread *t, const struct ins *ins) {
    (void)ins;
    spin(t);
}

/* Asynchronous units see all that threads wrote before. */
static void fence_proxy(struct thread *t, const struct ins *ins) {
    (void)ins;
    t->block->fenced = launch_of(t)->time;
}

static void set_registers(struct thread *t, const struct ins *ins) {
    const uint64_t count = operand(t, ins, 0);
    if (count < 24 || count > 256 || count % 8 != 0)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "setmaxnreg to %llu",
             (unsigned long long)count);
}

static void mapa(struct thread *t, const struct ins *ins) {
    const uint32_t place = (uint32_t)operand(t, ins, 1) & ((1u << RANK_SHIFT) - 1);
    const uint32_t rank = (uint32_t)operand(t, ins, 2);
    const uint64_t offset = (uint64_t)(int64_t)ins->offset[ins->first[1]];
    if (rank >= t->block->cluster->blocks)
        fail(t, ins, PTX_ILLEGAL_ADDRESS, "block %u of a cluster of %u", rank,
             t->block->cluster->blocks);
    const uint64_t at = (place + offset) | (uint64_t)(rank + 1) << RANK_SHIFT;
    put(t, ins, 0, ins->type[0] == T_U64 && ins->spaces == 0 ? at | SHARED_WINDOW : at);
}

static void read_clock(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, launch_of(t)->report->steps);
}

void (*const ptx_read_clock)(struct thread *, const struct ins *) = read_clock;

const struct op control_ops[] = {
    {"bra", T_ANY, MEMORY, bra},
    {"ret", T_ANY, MEMORY, leave},
    {"exit", T_ANY, 0, leave},
    {"trap", T_ANY, 0, trap},
    {"bar.sync", T_ANY, MEMORY, bar_sync},
    {"bar.cta.sync", T_ANY, MEMORY, bar_sync},
    {"barrier.sync", T_ANY, MEMORY, bar_sync},
    {"barrier.cta.sync", T_ANY, MEMORY, bar_sync},
    {"bar.red", T_PRED, MEMORY, bar_sync},
    {"bar.arrive", T_ANY, MEMORY, bar_arrive},
    {"barrier.arrive", T_ANY, MEMORY, bar_arrive},
    {"barrier.cta.arrive", T_ANY, MEMORY, bar_arrive},
    {"barrier.cluster.arrive", T_ANY, MEMORY, cluster_arrive},
    {"barrier.cluster.wait", T_ANY, MEMORY, cluster_wait},
    {"membar", T_ANY, MEMORY, nothing},
    {"fence", T_ANY, MEMORY, nothing},
    {"fence.mbarrier_init", T_ANY, MEMORY, nothing},
    {"fence.proxy.async", T_ANY, MEMORY, fence_proxy},
    {"fence.proxy.tensormap::generic", T_ANY, MEMORY, nothing},
    {"griddepcontrol.wait", T_ANY, 0, nothing},
    {"griddepcontrol.launch_dependents", T_ANY, 0, nothing},
    {"nanosleep", T_ANY, 0, sleep},
    {"pmevent", T_ANY, 0, nothing},
    {"setmaxnreg.inc", T_ANY, MEMORY, set_registers},
    {"setmaxnreg.dec", T_ANY, MEMORY, set_registers},
    {"mapa", T_ANY, 0, mapa},
    {"prefetch.global.L1", T_ANY, MEMORY, nothing},
    {"prefetch.global.L2", T_ANY, MEMORY, nothing},
    {"prefetch.tensormap", T_ANY, MEMORY, nothing},
    {"prefetchu", T_ANY, MEMORY, nothing},
    {"cp.async.bulk.prefetch", T_NONE, MEMORY | HINTED, nothing},
    {"cp.async.bulk.prefetch.tensor", T_NONE, MEMORY | HINTED | TILED, nothing},
    {"createpolicy.fractional", T_ANY, MEMORY, nothing},
    {"discard", T_ANY, MEMORY, nothing},
    {"applypriority", T_ANY, MEMORY, nothing},
    END_OF_ROWS,
};
