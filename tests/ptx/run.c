/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - a launch: clusters of blocks in a shuffled order, the turns of threads, the end.
 * See ptx.h.
 *
 * All blocks of a cluster run at once, one cluster after another. When all threads of a
 * cluster ask for something again and again, more clusters join, up to as many as a device
 * holds.
 */
#include "tests/ptx/inside.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUANTUM = 1 << 16, OPEN_MAX = 1024 };

enum turn { WENT_ON, SPINS, STUCK, OVER };

/* ---- blocks ---- */

static void check_memory(struct launch *l, const void *memory) {
    if (memory)
        return;
    l->report->result = PTX_FAILED;
    snprintf(l->report->why, PTX_WHY, "no memory to run the kernel");
    longjmp(l->out, 1);
}

static void *allocate(struct launch *l, size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    check_memory(l, memory);
    return memory;
}

/* Where dynamic shared memory begins. It is aligned as the kernel asks and no better. */
static uint32_t dynamic_begin(const struct launch *l) {
    const struct ptx_code *c = l->code;
    const uint64_t align = c->dynamic_align > 16 ? c->dynamic_align : 16;
    const uint32_t at = (uint32_t)aligned(SMEM_BEGIN + c->smem, align);
    return at / align % 2 == 0 ? at + (uint32_t)align : at;
}

static uint32_t product(const unsigned x[3]) {
    return x[0] * x[1] * x[2];
}

static uint64_t special_value(const struct thread *t, enum special which) {
    const struct block *b = t->block;
    const struct ptx_launch *a = launch_of(t)->asked;
    const unsigned *n = a->block, *g = a->grid, *c = a->cluster;
    const uint32_t lane = t->lane, one = 1u << lane, all = product(c);
    const uint64_t values[SPECIALS] = {
        [TID_X] = t->number % n[0],
        [TID_Y] = t->number / n[0] % n[1],
        [TID_Z] = t->number / n[0] / n[1],
        [NTID_X] = n[0],
        [NTID_Y] = n[1],
        [NTID_Z] = n[2],
        [CTAID_X] = b->at[0],
        [CTAID_Y] = b->at[1],
        [CTAID_Z] = b->at[2],
        [NCTAID_X] = g[0],
        [NCTAID_Y] = g[1],
        [NCTAID_Z] = g[2],
        [LANE] = lane,
        [WARP] = t->number / WARP_SIZE,
        [NWARPS] = b->warps,
        [CLUSTER_RANK] = b->rank,
        [CLUSTER_SIZE] = all,
        [CLUSTER_CTAID_X] = b->at[0] % c[0],
        [CLUSTER_CTAID_Y] = b->at[1] % c[1],
        [CLUSTER_CTAID_Z] = b->at[2] % c[2],
        [CLUSTER_NCTAID_X] = c[0],
        [CLUSTER_NCTAID_Y] = c[1],
        [CLUSTER_NCTAID_Z] = c[2],
        [CLUSTERID_X] = b->at[0] / c[0],
        [CLUSTERID_Y] = b->at[1] / c[1],
        [CLUSTERID_Z] = b->at[2] / c[2],
        [NCLUSTERID_X] = g[0] / c[0],
        [NCLUSTERID_Y] = g[1] / c[1],
        [NCLUSTERID_Z] = g[2] / c[2],
        [MASK_EQ] = one,
        [MASK_LT] = one - 1,
        [MASK_LE] = one | (one - 1),
        [MASK_GT] = ~(one | (one - 1)),
        [MASK_GE] = ~(one - 1),
        [SMID] = b->at[0] % (a->units ? a->units : 1),
        [NSMID] = a->units,
        [DYNAMIC_SMEM] = a->smem,
        [TOTAL_SMEM] = b->smem_end - SMEM_BEGIN,
    };
    return values[which];
}

/* The value of a slot that is the same in all threads. */
static uint64_t common_value(const struct launch *l, const struct slot *s) {
    switch (s->origin) {
    case FROM_PARAM:
        return (uint64_t)(uintptr_t)l->asked->params + s->value;
    case FROM_SHARED:
        return SMEM_BEGIN + s->value;
    case FROM_DYNAMIC:
        return dynamic_begin(l);
    case FROM_GLOBAL:
        return (uint64_t)(uintptr_t)l->code->data + s->value;
    default:
        return s->value;
    }
}

static void make_thread(struct thread *t, struct block *b, uint32_t number) {
    const struct launch *l = b->cluster->launch;
    const struct ptx_code *c = l->code;
    struct small_copy *copy = t->copy;
    const size_t room = t->copy_room;
    *t = (struct thread){.block = b, .number = number, .lane = number % WARP_SIZE};
    t->copy = copy;
    t->copy_room = room;
    t->reg = b->registers + number * c->slots;
    t->warp = &b->warp[number / WARP_SIZE];
    t->local = b->local + number * c->local;
    t->pc = c->ins;
    memcpy(t->reg, l->initial, c->slots * sizeof *t->reg);
    for (size_t i = 0; i < c->slots; i++)
        if (c->slot[i].origin == FROM_SPECIAL && c->slot[i].value != CLOCK)
            t->reg[i] = special_value(t, (enum special)c->slot[i].value);
}

static void make_groups(struct block *b) {
    for (uint32_t w = 0; w < b->warps; w++) {
        struct warpgroup *g = &b->group[w / GROUP_WARPS];
        const uint32_t left = b->threads - w * WARP_SIZE;
        b->warp[w] = (struct warp){.thread = b->thread + w * WARP_SIZE,
                                   .lanes = left < WARP_SIZE ? left : WARP_SIZE,
                                   .group = g,
                                   .busy = b->warp[w].busy};
        memset(b->warp[w].busy, 0, b->cluster->launch->code->slots);
        g->block = b;
        g->thread = b->thread + w / GROUP_WARPS * GROUP_WARPS * WARP_SIZE;
        g->warp = b->warp + w / GROUP_WARPS * GROUP_WARPS;
        g->waiting = 0;
        g->products = 0;
    }
}

static void allocate_block(struct launch *l, struct block *b) {
    const size_t slots = l->code->slots, bytes = b->smem_end + 64;
    b->thread = allocate(l, b->threads, sizeof *b->thread);
    b->warp = allocate(l, b->warps, sizeof *b->warp);
    b->group = allocate(l, b->warps / GROUP_WARPS + 1, sizeof *b->group);
    b->registers = allocate(l, b->threads * slots, sizeof *b->registers);
    b->local = allocate(l, b->threads * l->code->local, 1);
    b->smem = allocate(l, bytes, 1);
    b->shadow = allocate(l, bytes, 1);
    b->stamp = allocate(l, bytes / GRANULE + 1, sizeof *b->stamp);
    b->by_threads = allocate(l, bytes / GRANULE + 1, sizeof *b->by_threads);
    for (uint32_t w = 0; w < b->warps; w++)
        b->warp[w].busy = allocate(l, slots, 1);
}

/* Shared memory that nobody has written holds NaNs of every type. */
static void make_block(struct cluster *c, struct block *b, uint32_t rank) {
    struct launch *l = c->launch;
    const size_t granules = (b->smem_end + 64) / GRANULE + 1;
    const unsigned *g = l->asked->grid, *s = l->asked->cluster;
    const uint32_t x = g[0] / s[0], y = g[1] / s[1];
    b->rank = rank;
    b->at[0] = c->first % x * s[0] + rank % s[0];
    b->at[1] = c->first / x % y * s[1] + rank / s[0] % s[1];
    b->at[2] = c->first / x / y * s[2] + rank / s[0] / s[1];
    b->ended = 0;
    b->fenced = 0;
    memset(b->smem, 0xff, b->smem_end);
    memset(b->shadow, 0, b->smem_end);
    memset(b->stamp, 0, granules * sizeof *b->stamp);
    memset(b->by_threads, 0, granules * sizeof *b->by_threads);
    memset(b->barrier, 0, sizeof b->barrier);
    make_groups(b);
    for (uint32_t i = 0; i < b->threads; i++)
        make_thread(&b->thread[i], b, i);
}

static void free_block(struct block *b) {
    for (uint32_t i = 0; b->thread && i < b->threads; i++)
        free(b->thread[i].copy);
    for (uint32_t w = 0; b->warp && w < b->warps; w++)
        free(b->warp[w].busy);
    for (uint32_t g = 0; b->group && g <= b->warps / GROUP_WARPS; g++)
        free(b->group[g].product);
    free(b->thread);
    free(b->warp);
    free(b->group);
    free(b->registers);
    free(b->local);
    free(b->smem);
    free(b->shadow);
    free(b->stamp);
    free(b->by_threads);
}

static void free_cluster(struct cluster *c) {
    for (uint32_t i = 0; c->block && i < c->blocks; i++)
        free_block(&c->block[i]);
    for (struct flight *f = c->flight; f;) {
        struct flight *next = f->next;
        free(f->data);
        free(f);
        f = next;
    }
    free(c->block);
    *c = (struct cluster){.launch = NULL};
}

/* Cluster number `first`; the memory of an earlier one is used again. */
static void open_cluster(struct launch *l, struct cluster *c, uint32_t first) {
    const bool is_new = !c->block;
    c->launch = l;
    c->first = first;
    c->ended = c->arrived = 0;
    c->passed = 0;
    c->flight = NULL;
    if (is_new) {
        c->blocks = product(l->asked->cluster);
        c->block = allocate(l, c->blocks, sizeof *c->block);
    }
    for (uint32_t i = 0; i < c->blocks; i++) {
        struct block *b = &c->block[i];
        b->cluster = c;
        b->threads = product(l->asked->block);
        b->warps = (b->threads + WARP_SIZE - 1) / WARP_SIZE;
        b->smem_end = dynamic_begin(l) + (uint32_t)l->asked->smem;
        if (is_new)
            allocate_block(l, b);
        make_block(c, b, i);
    }
}

/* ---- turns ---- */

/* A product in flight owns its sums, and its operands must not change; other products may
 * go on with both. */
static void check_busy(struct thread *t, const struct ins *ins) {
    if (strncmp(ins->name, "wgmma", 5) == 0)
        return;
    for (unsigned i = 0; i < ins->args; i++) {
        const uint8_t busy = t->busy[ins->arg[i]];
        if (busy & BUSY_SUM || (busy && i < ins->first[1]))
            fail(t, ins, PTX_FAILED, "%s uses a register of a wgmma in flight", ins->name);
    }
}

static void run_thread(struct thread *t) {
    struct launch *l = launch_of(t);
    const uint64_t quantum = dice(l, 16) == 0 ? 1 + dice(l, 256) : QUANTUM;
    uint64_t steps = 0;
    t->state = READY;
    while (t->state == READY && !t->yielded) {
        const struct ins *ins = t->pc++;
        steps++;
        if (ins->guard && (t->reg[ins->guard] & 1) == ins->guard_negated)
            continue;
        if (t->busy)
            check_busy(t, ins);
        ins->run(t, ins);
        if (steps == quantum) {
            t->yielded = true;
            t->spins = quantum == QUANTUM;
        }
    }
    l->report->steps += steps;
    if (l->asked->most_steps && l->report->steps > l->asked->most_steps)
        fail(t, t->pc, PTX_FAILED, "the launch takes more than %llu instructions",
             (unsigned long long)l->asked->most_steps);
}

static bool can_run(struct thread *t) {
    return !t->yielded && (t->state == READY || (t->state == AT_PHASE && phase_passed(t)));
}

/* Runs a warp until none of its lanes can go on; the lane to begin with is random. */
static bool run_warp(struct launch *l, struct warp *w) {
    bool any = false, again = true;
    while (again) {
        const uint32_t first = dice(l, w->lanes);
        again = false;
        for (uint32_t i = 0; i < w->lanes; i++) {
            struct thread *t = &w->thread[(first + i) % w->lanes];
            if (!can_run(t))
                continue;
            run_thread(t);
            again = any = true;
        }
    }
    return any;
}

/* All threads may have a turn again. Returns whether one was spinning. */
static bool wake(struct cluster *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->blocks; i++)
        for (uint32_t j = 0; j < c->block[i].threads; j++) {
            struct thread *t = &c->block[i].thread[j];
            any = any || t->spins;
            t->yielded = t->spins = false;
        }
    return any;
}

static enum turn run_cluster(struct cluster *c) {
    struct launch *l = c->launch;
    const uint32_t first_block = dice(l, c->blocks);
    bool any = false;
    const bool spun = wake(c);
    for (uint32_t i = 0; i < c->blocks; i++) {
        struct block *b = &c->block[(first_block + i) % c->blocks];
        const uint32_t first = dice(l, b->warps);
        for (uint32_t w = 0; w < b->warps; w++)
            any |= run_warp(l, &b->warp[(first + w) % b->warps]);
    }
    if (c->ended == threads_of(c))
        return OVER;
    if (land_some(c, false))
        return WENT_ON;
    if (any && !spun)
        return WENT_ON;
    if (land_some(c, true) || finish_some_copies(c))
        return WENT_ON;
    return any ? SPINS : STUCK;
}

/* ---- the launch ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

struct order {
    uint32_t count, begin, stride, next;
};

static struct order shuffled(struct launch *l, uint32_t count) {
    struct order o = {count, dice(l, count), 1 + dice(l, count), 0};
    while (common_divisor(o.stride, count) != 1)
        o.stride = o.stride % count + 1;
    return o;
}

static uint32_t next_of(struct order *o) {
    return (uint32_t)((o->begin + (uint64_t)o->next++ * o->stride) % o->count);
}

/* Each open cluster has a turn. Returns whether another should join. */
static bool give_turns(struct cluster *open, uint32_t *count) {
    bool all_spin = true;
    for (uint32_t i = 0; i < *count;) {
        const enum turn turn = run_cluster(&open[i]);
        all_spin = all_spin && turn == SPINS;
        if (turn == STUCK)
            fail_stuck(&open[i]);
        if (turn != OVER) {
            i++;
            continue;
        }
        while (land_some(&open[i], true)) { /* stores that nobody waits for */
        }
        --*count;
        const struct cluster last = open[*count];
        open[*count] = open[i];
        open[i] = last;
        for (uint32_t j = 0; j < open[i].blocks; j++)
            open[i].block[j].cluster = &open[i];
    }
    return all_spin;
}

static void run_all(struct launch *l, struct cluster *open) {
    const struct ptx_launch *a = l->asked;
    const uint32_t all = product(a->grid) / product(a->cluster);
    const uint32_t most = a->units / product(a->cluster) + 1;
    struct order order = shuffled(l, all);
    uint32_t count = 0;
    bool join = true;
    while (count > 0 || order.next < all) {
        if ((join || count == 0) && order.next < all && count < most && count < OPEN_MAX)
            open_cluster(l, &open[count++], next_of(&order));
        join = give_turns(open, &count);
    }
}

static void prepare(struct launch *l) {
    const struct ptx_code *c = l->code;
    const uint64_t data = (uint64_t)(uintptr_t)c->data;
    l->seen[0] = (struct range){data, data + c->data_bytes};
    l->initial = allocate(l, c->slots, sizeof *l->initial);
    for (size_t i = 0; i < c->slots; i++)
        l->initial[i] = common_value(l, &c->slot[i]);
}

void ptx_run(struct ptx_report *report, const struct ptx_launch *asked) {
    struct cluster *open = calloc(OPEN_MAX, sizeof *open);
    struct launch l = {.asked = asked,
                       .code = asked->kernel->code,
                       .report = report,
                       .random = asked->seed * UINT64_C(0x9e3779b97f4a7c15) + 0x1234567};
    *report = (struct ptx_report){.result = PTX_FAILED};
    snprintf(report->why, PTX_WHY, "no memory for a launch");
    if (!open)
        return;
    if (setjmp(l.out) == 0) {
        prepare(&l);
        run_all(&l, open);
        report->result = PTX_OK;
        report->why[0] = '\0';
    }
    for (uint32_t i = 0; i < OPEN_MAX; i++)
        if (open[i].block)
            free_cluster(&open[i]);
    free(l.initial);
    free(open);
}
