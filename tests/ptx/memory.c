/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - addresses, what may be read and written there, loads and stores. See ptx.h. */
#include "tests/ptx/inside.h"

#include <stdio.h>

/* ---- global memory ---- */

/* The allocation that holds an address; it is remembered. */
static struct range find(struct thread *t, const struct ins *ins, uint64_t at) {
    struct launch *l = launch_of(t);
    for (unsigned i = 0; i < RANGES; i++)
        if (at >= l->seen[i].begin && at < l->seen[i].end) {
            l->last_seen = i;
            return l->seen[i];
        }
    struct range r;
    if (!l->asked->find || !l->asked->find(at, &r.begin, &r.end))
        fail(t, ins, PTX_ILLEGAL_ADDRESS, "global address 0x%llx is in no allocation",
             (unsigned long long)at);
    l->last_seen = (l->last_seen + 1) % RANGES;
    return l->seen[l->last_seen] = r;
}

void *reach_global(struct thread *t, const struct ins *ins, uint64_t at, size_t bytes) {
    const struct launch *l = launch_of(t);
    struct range r = l->seen[l->last_seen];
    if (at < r.begin || at >= r.end)
        r = find(t, ins, at);
    if (bytes > r.end - at)
        fail(t, ins, PTX_ILLEGAL_ADDRESS,
             "%zu bytes at 0x%llx pass the end of an allocation of %llu bytes", bytes,
             (unsigned long long)at, (unsigned long long)(r.end - r.begin));
    return (void *)(uintptr_t)at;
}

/* ---- shared memory ---- */

struct block *block_of(struct thread *t, const struct ins *ins, uint64_t address,
                       uint32_t *at) {
    const uint32_t rank = (uint32_t)address >> RANK_SHIFT;
    struct cluster *c = t->block->cluster;
    *at = (uint32_t)address & ((1u << RANK_SHIFT) - 1);
    if (rank == 0)
        return t->block;
    if (rank > c->blocks)
        fail(t, ins, PTX_ILLEGAL_ADDRESS, "shared address 0x%x is of no block",
             (uint32_t)address);
    struct block *b = &c->block[rank - 1];
    if (b->ended == b->threads)
        fail(t, ins, PTX_ILLEGAL_ADDRESS,
             "block %u of the cluster has ended when its shared memory is used", rank - 1);
    return b;
}

struct block *shared_at(struct thread *t, const struct ins *ins, uint64_t address,
                        size_t bytes, uint32_t *at) {
    struct block *b = block_of(t, ins, address, at);
    if (*at < SMEM_BEGIN || *at + bytes > b->smem_end)
        fail(t, ins, PTX_ILLEGAL_ADDRESS,
             "%zu bytes at shared address %u pass the block's %u bytes", bytes,
             *at - SMEM_BEGIN, b->smem_end - SMEM_BEGIN);
    return b;
}

static _Noreturn void refuse_shared(struct thread *t, const struct ins *ins,
                                    const struct block *b, uint32_t at, size_t bytes,
                                    const char *does) {
    uint8_t all = 0;
    for (size_t i = 0; i < bytes; i++)
        all |= b->shadow[at + i];
    const char *why = all & SHADOW_PENDING   ? "a copy to it is under way"
                      : all & SHADOW_BARRIER ? "an mbarrier is there"
                                             : "nothing has written it";
    fail(t, ins, PTX_FAILED, "%s %zu bytes at shared address %u where %s", does, bytes,
         at - SMEM_BEGIN, why);
}

/* No copy to the bytes is under way, and no mbarrier is there. In a strict launch, what is
 * read has been written. */
static void check_shared(struct thread *t, const struct ins *ins, const struct block *b,
                         uint32_t at, size_t bytes, enum access access) {
    const uint8_t *s = b->shadow + at;
    const bool strict = launch_of(t)->asked->strict && access != STORE;
    for (size_t i = 0; i < bytes; i++)
        if (s[i] != SHADOW_WRITTEN && (s[i] != 0 || strict))
            refuse_shared(t, ins, b, at, bytes,
                          access == STORE ? "the thread writes" : "the thread reads");
}

void note_write(struct block *b, uint32_t at, size_t bytes, bool by_thread) {
    const uint64_t now = ++b->cluster->launch->time;
    for (size_t g = at / GRANULE; g <= (at + bytes - 1) / GRANULE; g++) {
        b->stamp[g] = now;
        if (by_thread)
            b->by_threads[g] = now;
    }
}

void mark_pending(struct thread *t, const struct ins *ins, struct block *b, uint32_t at,
                  size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (b->shadow[at + i] & (SHADOW_PENDING | SHADOW_BARRIER))
            refuse_shared(t, ins, b, at, bytes, "a copy is to write");
    memset(b->shadow + at, SHADOW_PENDING, bytes);
    note_write(b, at, bytes, false);
}

void mark_written(struct block *b, uint32_t at, size_t bytes) {
    memset(b->shadow + at, SHADOW_WRITTEN, bytes);
    note_write(b, at, bytes, false);
}

void check_async_read(struct thread *t, const struct ins *ins, struct block *b, uint32_t at,
                      size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (b->shadow[at + i] & (SHADOW_PENDING | SHADOW_BARRIER))
            refuse_shared(t, ins, b, at, bytes, "an asynchronous unit reads");
    for (size_t g = at / GRANULE; g <= (at + bytes - 1) / GRANULE; g++)
        if (b->by_threads[g] > b->fenced)
            fail(t, ins, PTX_FAILED,
                 "an asynchronous unit reads shared address %u, which threads have written "
                 "without a fence.proxy.async since",
                 (uint32_t)(g * GRANULE) - SMEM_BEGIN);
}

bool changed_since(const struct block *b, uint32_t at, size_t bytes, uint64_t since) {
    for (size_t g = at / GRANULE; g <= (at + bytes - 1) / GRANULE; g++)
        if (b->stamp[g] > since)
            return true;
    return false;
}

static void *reach_shared(struct thread *t, const struct ins *ins, uint64_t address,
                          size_t bytes, enum access access) {
    uint32_t at;
    struct block *b = shared_at(t, ins, address, bytes, &at);
    check_shared(t, ins, b, at, bytes, access);
    if (access != LOAD) {
        memset(b->shadow + at, SHADOW_WRITTEN, bytes);
        note_write(b, at, bytes, true);
    }
    return b->smem + at;
}

/* ---- all spaces ---- */

static void *reach_local(struct thread *t, const struct ins *ins, uint64_t at,
                         size_t bytes) {
    if (at + bytes > launch_of(t)->code->local)
        fail(t, ins, PTX_ILLEGAL_ADDRESS, "%zu bytes at local address %llu", bytes,
             (unsigned long long)at);
    return t->local + at;
}

static void *reach_param(struct thread *t, const struct ins *ins, uint64_t at,
                         size_t bytes) {
    const struct ptx_launch *asked = launch_of(t)->asked;
    const uint64_t begin = (uint64_t)(uintptr_t)asked->params;
    if (at < begin || at + bytes > begin + asked->kernel->param_bytes)
        fail(t, ins, PTX_ILLEGAL_ADDRESS, "%zu bytes at 0x%llx are no parameter", bytes,
             (unsigned long long)at);
    return (void *)(uintptr_t)at;
}

static bool is_param(const struct thread *t, uint64_t at) {
    const struct ptx_launch *asked = launch_of(t)->asked;
    const uint64_t begin = (uint64_t)(uintptr_t)asked->params;
    return at >= begin && at < begin + asked->kernel->param_bytes;
}

static enum space space_of(const struct thread *t, uint64_t *at) {
    if (*at & SHARED_WINDOW) {
        *at = (uint32_t)*at;
        return SPACE_CLUSTER;
    }
    if (*at & LOCAL_WINDOW) {
        *at = (uint32_t)*at;
        return SPACE_LOCAL;
    }
    return is_param(t, *at) ? SPACE_PARAM : SPACE_GLOBAL;
}

void *reach(struct thread *t, const struct ins *ins, enum space space, uint64_t at,
            size_t bytes, enum access access) {
    if (space == SPACE_GENERIC)
        space = space_of(t, &at);
    if (space == SPACE_SHARED || space == SPACE_CLUSTER || space == SPACE_LOCAL)
        at = (uint32_t)at;
    if (at % bytes != 0)
        fail(t, ins, PTX_MISALIGNED, "address 0x%llx is no multiple of %zu bytes",
             (unsigned long long)at, bytes);
    switch (space) {
    case SPACE_SHARED:
    case SPACE_CLUSTER:
        return reach_shared(t, ins, at, bytes, access);
    case SPACE_LOCAL:
        return reach_local(t, ins, at, bytes);
    case SPACE_PARAM:
        return reach_param(t, ins, at, bytes);
    default:
        return reach_global(t, ins, at, bytes);
    }
}

uint64_t shared_operand(const struct thread *t, const struct ins *ins, unsigned i) {
    return (uint32_t)address(t, ins, i);
}

/* ---- loads and stores ---- */

static size_t width_of(const struct ins *ins) {
    return (ins->vector ? ins->vector : 1u) * size_of((enum type)ins->type[0]);
}

/* Copies 1, 2, 4 or 8 bytes, as fast as can be. */
static inline void copy_word(void *to, const void *from, size_t bytes) {
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes == 2 ? 2 : 1);
}

/* Registers are wider than narrow types: signed ones are extended. */
static uint64_t value_at(enum type type, const unsigned char *at) {
    uint64_t x = 0;
    copy_word(&x, at, size_of(type));
    return type == T_S8 ? (uint64_t)(int8_t)x : type == T_S16 ? (uint64_t)(int16_t)x : x;
}

static void ld(struct thread *t, const struct ins *ins) {
    const enum type type = (enum type)ins->type[0];
    const unsigned count = ins->first[1];
    const unsigned char *from =
        reach(t, ins, (enum space)ins->space[0], address(t, ins, 1), width_of(ins), LOAD);
    for (unsigned i = 0; i < count; i++)
        put(t, ins, i, value_at(type, from + i * size_of(type)));
}

static void st(struct thread *t, const struct ins *ins) {
    const size_t each = size_of((enum type)ins->type[0]);
    const unsigned from = ins->first[1], count = ins->args - from;
    unsigned char *to =
        reach(t, ins, (enum space)ins->space[0], address(t, ins, 0), width_of(ins), STORE);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t x = get(t, ins, from + i);
        copy_word(to + i * each, &x, each);
    }
}

const struct op memory_ops[] = {
    {"ld", T_ANY, MEMORY, ld},
    {"ldu", T_ANY, MEMORY, ld},
    {"st", T_ANY, MEMORY, st},
    END_OF_ROWS,
};
