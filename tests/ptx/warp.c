/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c - instructions that lanes of a warp, or warps of a warpgroup, execute together.
 * Each lane waits at the instruction; the one that comes last acts for all. See ptx.h.
 */
#include "tests/ptx/inside.h"

/* ---- meeting ---- */

static uint32_t lanes_there(const struct warp *w, const struct ins *ins, uint32_t mask) {
    uint32_t there = 0;
    for (uint32_t i = 0; i < w->lanes; i++)
        if (w->thread[i].state == AT_WARP && w->thread[i].pc == ins &&
            w->thread[i].mask == mask)
            there |= 1u << i;
    return there;
}

static void check_ended(struct thread *t, const struct ins *ins, uint32_t mask) {
    const struct warp *w = t->warp;
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        if (mask >> i & 1 && (i >= w->lanes || w->thread[i].state == ENDED))
            fail(t, ins, PTX_FAILED, "%s waits for lane %u, which %s", ins->name, i,
                 i < w->lanes ? "has ended" : "does not exist");
}

bool gather_lanes(struct thread *t, const struct ins *ins, uint32_t mask) {
    struct warp *w = t->warp;
    if (!(mask >> t->lane & 1))
        fail(t, ins, PTX_FAILED, "lane %u executes %s for the lanes 0x%x", t->lane,
             ins->name, mask);
    t->state = AT_WARP;
    t->mask = mask;
    t->pc = ins;
    w->waiting++;
    if (w->waiting < (uint32_t)__builtin_popcount(mask)) {
        check_ended(t, ins, mask);
        return false;
    }
    if (lanes_there(w, ins, mask) != mask) {
        check_ended(t, ins, mask);
        return false;
    }
    return true;
}

bool gather_warp(struct thread *t, const struct ins *ins) {
    return gather_lanes(t, ins, UINT32_MAX);
}

void go_on(struct thread *t, const struct ins *ins, uint32_t mask) {
    struct warp *w = t->warp;
    for (uint32_t i = 0; i < w->lanes; i++)
        if (mask >> i & 1) {
            w->thread[i].state = READY;
            w->thread[i].pc = ins + 1;
            w->waiting--;
        }
}

bool gather_group(struct thread *t, const struct ins *ins) {
    struct warpgroup *g = t->warp->group;
    enum { ALL = GROUP_WARPS * WARP_SIZE };
    if (!g || g->thread + ALL > g->block->thread + g->block->threads)
        fail(t, ins, PTX_FAILED, "%s needs a warpgroup of 128 threads", ins->name);
    t->state = AT_GROUP;
    t->pc = ins;
    if (++g->waiting < ALL)
        return false;
    for (uint32_t i = 0; i < ALL; i++)
        if (g->thread[i].state != AT_GROUP || g->thread[i].pc != ins)
            fail(t, ins, PTX_FAILED, "the warps of a warpgroup are not at the same %s",
                 ins->name);
    return true;
}

void go_on_group(struct thread *t, const struct ins *ins) {
    struct warpgroup *g = t->warp->group;
    for (uint32_t i = 0; i < GROUP_WARPS * WARP_SIZE; i++) {
        g->thread[i].state = READY;
        g->thread[i].pc = ins + 1;
    }
    g->waiting = 0;
}

/* ---- shuffles, votes ---- */

static uint32_t last_operand(const struct thread *t, const struct ins *ins) {
    return (uint32_t)operand(t, ins, ins->operands - 1u);
}

/* Operand i of every lane of the mask gets the same value. */
static void put_all(struct thread *lane, const struct ins *ins, unsigned i, uint32_t mask,
                    uint64_t value) {
    for (uint32_t l = 0; l < WARP_SIZE; l++)
        if (mask >> l & 1)
            put(&lane[l], ins, i, value);
}

static void sync_lanes(struct thread *t, const struct ins *ins) {
    const uint32_t mask = (uint32_t)operand(t, ins, 0);
    if (gather_lanes(t, ins, mask))
        go_on(t, ins, mask);
}

/* The lane that `lane` reads, and whether it is in range; PTX ISA, shfl.sync. */
static uint32_t source_lane(const struct ins *ins, uint32_t lane, uint32_t b, uint32_t c,
                            bool *in_range) {
    const uint32_t clamp = c & 31, segment = c >> 8 & 31;
    const uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    const char kind = ins->name[10]; /* shfl.sync.up, down, bfly, idx */
    int from;
    b &= 31;
    if (kind == 'u') {
        from = (int)lane - (int)b;
        *in_range = from >= (int)most;
    } else {
        from = kind == 'd'   ? (int)(lane + b)
               : kind == 'b' ? (int)(lane ^ b)
                             : (int)(least | (b & ~segment));
        *in_range = from <= (int)most;
    }
    return *in_range ? (uint32_t)from : lane;
}

static void shfl(struct thread *t, const struct ins *ins) {
    const uint32_t mask = last_operand(t, ins);
    struct thread *lane = t->warp->thread;
    uint64_t value[WARP_SIZE];
    if (!gather_lanes(t, ins, mask))
        return;
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        value[i] = mask >> i & 1 ? operand(&lane[i], ins, 1) : 0;
    for (uint32_t i = 0; i < WARP_SIZE; i++) {
        bool in_range;
        if (!(mask >> i & 1))
            continue;
        const uint32_t from = source_lane(ins, i, (uint32_t)operand(&lane[i], ins, 2),
                                          (uint32_t)operand(&lane[i], ins, 3), &in_range);
        if (!(mask >> from & 1))
            fail(&lane[i], ins, PTX_FAILED, "shfl reads lane %u, which does not take part",
                 from);
        put(&lane[i], ins, 0, (uint32_t)value[from]);
        if (ins->first[1] == 2)
            put(&lane[i], ins, 1, in_range);
    }
    go_on(t, ins, mask);
}

static void vote(struct thread *t, const struct ins *ins) {
    const uint32_t mask = last_operand(t, ins);
    struct thread *lane = t->warp->thread;
    uint32_t ballot = 0;
    if (!gather_lanes(t, ins, mask))
        return;
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        if (mask >> i & 1 && predicate(&lane[i], ins, 1))
            ballot |= 1u << i;
    const char *kind = ins->name + strlen("vote.sync.");
    const uint64_t result = strncmp(kind, "all", 3) == 0   ? ballot == mask
                            : strncmp(kind, "any", 3) == 0 ? ballot != 0
                            : strncmp(kind, "uni", 3) == 0 ? ballot == mask || ballot == 0
                                                           : ballot;
    put_all(lane, ins, 0, mask, result);
    go_on(t, ins, mask);
}

/* match.sync.any: the lanes with the same value. */
static void match(struct thread *t, const struct ins *ins) {
    const enum type type = (enum type)ins->type[0];
    const uint32_t mask = last_operand(t, ins);
    struct thread *lane = t->warp->thread;
    uint32_t same[WARP_SIZE] = {0};
    if (!gather_lanes(t, ins, mask))
        return;
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        for (uint32_t j = 0; j < WARP_SIZE; j++)
            if (mask >> i & mask >> j & 1 && cut(type, operand(&lane[i], ins, 1)) ==
                                                 cut(type, operand(&lane[j], ins, 1)))
                same[i] |= 1u << j;
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        if (mask >> i & 1)
            put(&lane[i], ins, 0, same[i]);
    go_on(t, ins, mask);
}

static void redux(struct thread *t, const struct ins *ins) {
    const uint32_t mask = last_operand(t, ins);
    struct thread *lane = t->warp->thread;
    uint32_t result = 0;
    bool first = true;
    if (!gather_lanes(t, ins, mask))
        return;
    for (uint32_t i = 0; i < WARP_SIZE; i++) {
        uint32_t x;
        if (!(mask >> i & 1))
            continue;
        x = (uint32_t)operand(&lane[i], ins, 1);
        if (first)
            result = x;
        else
            store_reduced((unsigned char *)&result, (unsigned char *)&x,
                          (enum operation)ins->operation, (enum type)ins->type[0]);
        first = false;
    }
    put_all(lane, ins, 0, mask, result);
    go_on(t, ins, mask);
}

/* elect.sync d|p, mask: one lane is elected, here any. */
static void elect(struct thread *t, const struct ins *ins) {
    const uint32_t mask = last_operand(t, ins);
    struct thread *lane = t->warp->thread;
    if (!gather_lanes(t, ins, mask))
        return;
    const uint32_t chosen = (uint32_t)__builtin_ctz(mask);
    put_all(lane, ins, 0, mask, chosen);
    if (ins->first[1] == 2) {
        put_all(lane, ins, 1, mask, false);
        put(&lane[chosen], ins, 1, true);
    }
    go_on(t, ins, mask);
}

static void active_mask(struct thread *t, const struct ins *ins) {
    put(t, ins, 0, 1u << t->lane);
}

/* ---- ldmatrix, stmatrix ---- */

enum { EDGE = 8, ROW_BYTES = 16 };

/* Row r of matrix i: lane 8 i + r has its address. */
static void *row_at(struct thread *lane, const struct ins *ins, unsigned address_operand,
                    unsigned i, unsigned r, enum access access) {
    struct thread *t = &lane[i * EDGE + r];
    return reach(t, ins, SPACE_SHARED, shared_operand(t, ins, address_operand), ROW_BYTES,
                 access);
}

/* Lane l holds elements 2 (l % 4) and the next of row l / 4; with .trans,
 * of column l / 4. */
static void ldmatrix(struct thread *t, const struct ins *ins) {
    struct thread *lane = t->warp->thread;
    if (!gather_warp(t, ins))
        return;
    for (unsigned i = 0; i < ins->count; i++) {
        uint16_t x[EDGE][EDGE];
        for (unsigned r = 0; r < EDGE; r++)
            memcpy(x[r], row_at(lane, ins, 1, i, r, LOAD), ROW_BYTES);
        for (unsigned l = 0; l < WARP_SIZE; l++) {
            const unsigned a = l / 4, b = l % 4 * 2;
            const uint32_t low = ins->flags & TRANS ? x[b][a] : x[a][b];
            const uint32_t high = ins->flags & TRANS ? x[b + 1][a] : x[a][b + 1];
            put(&lane[l], ins, i, low | high << 16);
        }
    }
    go_on(t, ins, UINT32_MAX);
}

static void stmatrix(struct thread *t, const struct ins *ins) {
    struct thread *lane = t->warp->thread;
    if (!gather_warp(t, ins))
        return;
    for (unsigned i = 0; i < ins->count; i++) {
        uint16_t x[EDGE][EDGE];
        for (unsigned l = 0; l < WARP_SIZE; l++) {
            const unsigned a = l / 4, b = l % 4 * 2;
            const uint32_t word = (uint32_t)get(&lane[l], ins, ins->first[1] + i);
            for (unsigned h = 0; h < 2; h++)
                *(ins->flags & TRANS ? &x[b + h][a] : &x[a][b + h]) =
                    (uint16_t)(word >> 16 * h);
        }
        for (unsigned r = 0; r < EDGE; r++)
            memcpy(row_at(lane, ins, 0, i, r, STORE), x[r], ROW_BYTES);
    }
    go_on(t, ins, UINT32_MAX);
}

static void movmatrix(struct thread *t, const struct ins *ins) {
    struct thread *lane = t->warp->thread;
    uint16_t x[EDGE][EDGE];
    if (!gather_warp(t, ins))
        return;
    for (unsigned l = 0; l < WARP_SIZE; l++)
        for (unsigned h = 0; h < 2; h++)
            x[l / 4][l % 4 * 2 + h] = (uint16_t)(get(&lane[l], ins, 1) >> 16 * h);
    for (unsigned l = 0; l < WARP_SIZE; l++)
        put(&lane[l], ins, 0,
            x[l % 4 * 2][l / 4] | (uint32_t)x[l % 4 * 2 + 1][l / 4] << 16);
    go_on(t, ins, UINT32_MAX);
}

const struct op warp_ops[] = {
    {"bar.warp.sync", T_ANY, 0, sync_lanes},
    {"shfl.sync.up", T_B32, 0, shfl},
    {"shfl.sync.down", T_B32, 0, shfl},
    {"shfl.sync.bfly", T_B32, 0, shfl},
    {"shfl.sync.idx", T_B32, 0, shfl},
    {"vote.sync.all", T_PRED, 0, vote},
    {"vote.sync.any", T_PRED, 0, vote},
    {"vote.sync.uni", T_PRED, 0, vote},
    {"vote.sync.ballot", T_B32, 0, vote},
    {"match.any.sync", T_ANY, 0, match},
    {"redux.sync", T_ANY, 0, redux},
    {"elect.sync", T_ANY, 0, elect},
    {"activemask", T_B32, 0, active_mask},
    {"ldmatrix.sync.aligned.m8n8", T_B16, TRANS, ldmatrix},
    {"stmatrix.sync.aligned.m8n8", T_B16, TRANS, stmatrix},
    {"movmatrix.sync.aligned.m8n8.trans", T_B16, 0, movmatrix},
    END_OF_ROWS,
};
