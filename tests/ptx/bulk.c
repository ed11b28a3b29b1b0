/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk.c - copies by the asynchronous unit (TMA): cp.async.bulk and cp.reduce.async.bulk,
 * plain and by a tensor map. A copy lands at a random moment, or as late as possible: when
 * its thread waits for it, or when no thread of the cluster can go on. See ptx.h.
 */
#include "tests/ptx/inside.h"

#include <stdlib.h>

enum { LINE = 16, BARRIER_BYTES = 8, TENSOR_ALIGN = 128, MAP_ALIGN = 64 };

/* ---- in flight ---- */

static void take_off(struct thread *t, const struct flight *flight) {
    struct cluster *c = t->block->cluster;
    struct flight *f = malloc(sizeof *f);
    if (!f)
        fail(t, flight->ins, PTX_FAILED, "no memory for a copy");
    *f = *flight;
    f->thread = t;
    f->lazy = dice(c->launch, 2) == 0;
    f->since = c->launch->time;
    f->group = t->bulk_group;
    f->next = c->flight;
    c->flight = f;
}

/* The bytes come to every block that receives them, and count for its mbarrier. */
static void land_load(struct flight *f) {
    struct cluster *c = f->thread->block->cluster;
    for (uint32_t rank = 0; rank < c->blocks; rank++) {
        struct block *b = &c->block[rank];
        if (!(f->ranks >> rank & 1))
            continue;
        if (f->is_tensor)
            tensor_load(f, b->smem, f->shared);
        else
            memcpy(b->smem + f->shared,
                   f->from_shared ? f->block->smem + f->source
                                  : reach_global(f->thread, f->ins, f->global, f->bytes),
                   f->bytes);
        mark_written(b, f->shared, f->bytes);
        mbarrier_complete(f->thread, f->ins, mbarrier_at(f->thread, f->ins, b, f->barrier),
                          f->bytes);
    }
}

/* A store reads its source; the block may change that afterwards. */
static void read_source(struct flight *f) {
    if (f->data)
        return;
    f->data = malloc(f->bytes);
    if (!f->data)
        fail(f->thread, f->ins, PTX_FAILED, "no memory for a copy");
    if (changed_since(f->block, f->shared, f->bytes, f->since))
        fail(f->thread, f->ins, PTX_FAILED,
             "the shared memory of a copy under way has been overwritten");
    if (f->is_tensor && f->map.swizzle)
        for (uint32_t i = 0; i < f->bytes; i++)
            f->data[i] = f->block->smem[swizzled(f->shared + i, f->map.swizzle)];
    else
        memcpy(f->data, f->block->smem + f->shared, f->bytes);
}

static void land_store(struct flight *f) {
    read_source(f);
    if (f->is_tensor) {
        tensor_store(f);
    } else {
        unsigned char *to = reach_global(f->thread, f->ins, f->global, f->bytes);
        const size_t each = f->reduce ? size_of(f->type) : f->bytes;
        for (size_t i = 0; i < f->bytes; i += each)
            if (f->reduce)
                store_reduced(to + i, f->data + i, f->reduce, f->type);
            else
                memcpy(to, f->data, f->bytes);
    }
    free(f->data);
}

/* Lands the copy that *at points to. */
static void land(struct flight **at) {
    struct flight *f = *at;
    if (f->is_load)
        land_load(f);
    else
        land_store(f);
    *at = f->next;
    free(f);
}

static struct flight **nth(struct cluster *c, uint32_t n) {
    struct flight **at = &c->flight;
    while (n-- > 0)
        at = &(*at)->next;
    return at;
}

bool land_some(struct cluster *c, bool must) {
    uint32_t count = 0;
    bool any = false;
    for (struct flight **at = &c->flight; *at;)
        if (!(*at)->lazy && dice(c->launch, 8) == 0) {
            land(at);
            any = true;
        } else {
            at = &(*at)->next;
            count++;
        }
    if (!must || any || count == 0)
        return any;
    land(nth(c, dice(c->launch, count)));
    return true;
}

void check_flights_at_end(struct thread *t, const struct ins *ins) {
    const struct block *b = t->block;
    if (b->ended + 1 < b->threads)
        return;
    for (const struct flight *f = b->cluster->flight; f; f = f->next) {
        if (f->is_load && f->ranks >> b->rank & 1)
            fail(t, ins, PTX_FAILED, "the block ends while a copy to it is under way");
        if (!f->is_load && f->block == b && !f->data)
            fail(t, ins, PTX_FAILED,
                 "the block ends before a copy has read its shared memory");
    }
}

/* ---- starting ---- */

static void check_aligned(struct thread *t, const struct ins *ins, uint64_t at,
                          uint64_t align, const char *what) {
    if (at % align != 0)
        fail(t, ins, PTX_MISALIGNED, "%s 0x%llx is no multiple of %llu", what,
             (unsigned long long)at, (unsigned long long)align);
}

/* The destination and mbarrier of a load, in the blocks of the mask or in one. `barrier`,
 * `mask`: their operands. */
static void aim(struct flight *f, struct thread *t, const struct ins *ins, unsigned barrier,
                unsigned mask, uint32_t align) {
    struct cluster *c = t->block->cluster;
    uint32_t at;
    struct block *b = shared_at(t, ins, shared_operand(t, ins, 0), f->bytes, &at);
    const struct block *of_barrier =
        shared_at(t, ins, shared_operand(t, ins, barrier), BARRIER_BYTES, &f->barrier);
    check_aligned(t, ins, at, align, "shared address");
    f->is_load = true;
    f->shared = at;
    f->ranks = 1u << b->rank;
    if (ins->flags & MULTICAST)
        f->ranks = (uint32_t)operand(t, ins, mask) & 0xffff;
    else if (of_barrier != b)
        fail(t, ins, PTX_FAILED, "the mbarrier of a copy is in another block");
    if (f->ranks == 0 || f->ranks >> c->blocks != 0)
        fail(t, ins, PTX_FAILED, "a copy to the blocks 0x%x of a cluster of %u", f->ranks,
             c->blocks);
    for (uint32_t rank = 0; rank < c->blocks; rank++)
        if (f->ranks >> rank & 1) {
            (void)mbarrier_at(t, ins, &c->block[rank], f->barrier);
            mark_pending(t, ins, &c->block[rank], at, f->bytes);
        }
}

/* The source of a store in the block's own shared memory. */
static void leave_from(struct flight *f, struct thread *t, const struct ins *ins,
                       unsigned from, uint32_t align) {
    struct block *b = shared_at(t, ins, shared_operand(t, ins, from), f->bytes, &f->shared);
    check_aligned(t, ins, f->shared, align, "shared address");
    check_async_read(t, ins, b, f->shared, f->bytes);
    if (b != t->block)
        fail(t, ins, PTX_FAILED, "a store from another block's shared memory");
    if (ins->operation) {
        f->reduce = (enum operation)ins->operation;
        f->type = f->is_tensor ? tensor_type(&f->map) : (enum type)ins->type[0];
    }
}

/* "[to], [from], bytes, [mbarrier], mask" or "[to], [from], bytes" */
static void copy(struct thread *t, const struct ins *ins) {
    struct flight f = {.ins = ins, .block = t->block};
    f.bytes = (uint32_t)operand(t, ins, 2);
    if (f.bytes == 0 || f.bytes % LINE != 0)
        fail(t, ins, PTX_FAILED, "a bulk copy of %u bytes", f.bytes);
    if (ins->spaces != 2)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "a bulk copy between %u spaces", ins->spaces);
    if (ins->space[0] == SPACE_GLOBAL) {
        f.global = address(t, ins, 0);
        check_aligned(t, ins, f.global, LINE, "global address");
        (void)reach_global(t, ins, f.global, f.bytes);
        leave_from(&f, t, ins, 1, LINE);
    } else if (ins->space[1] == SPACE_GLOBAL) {
        f.global = address(t, ins, 1);
        check_aligned(t, ins, f.global, LINE, "global address");
        (void)reach_global(t, ins, f.global, f.bytes);
        aim(&f, t, ins, 3, 4, LINE);
    } else {
        f.from_shared = true;
        (void)shared_at(t, ins, shared_operand(t, ins, 1), f.bytes, &f.source);
        check_async_read(t, ins, t->block, f.source, f.bytes);
        aim(&f, t, ins, 3, 4, LINE);
    }
    take_off(t, &f);
}

/* ---- by a tensor map ---- */

/* The map and the coordinates of an operand "[map, {c0, c1}]". */
static void read_map(struct flight *f, struct thread *t, const struct ins *ins,
                     unsigned i) {
    const uint64_t at = address(t, ins, i);
    const unsigned first = ins->first[i] + 1u, count = ins->first[i + 1] - first;
    uint64_t words[16];
    check_aligned(t, ins, at, MAP_ALIGN, "the tensor map's address");
    for (unsigned w = 0; w < 16; w++)
        memcpy(&words[w], reach(t, ins, SPACE_GENERIC, at + 8 * w, 8, LOAD), 8);
    if (words[1] & PTX_TENSOR_FAULTY)
        fail(t, ins, PTX_FAILED, "bit 85 of the tensor map is set, as faulty drivers do");
    ptx_tensor_unpack(&f->map, words);
    if (f->map.rank != count || ins->count != count)
        fail(t, ins, PTX_FAILED, "%u coordinates for a tensor map of rank %u", count,
             f->map.rank);
    f->is_tensor = true;
    f->bytes = f->map.element;
    const int32_t first_byte = (int32_t)get(t, ins, first) * (int32_t)f->map.element;
    if (first_byte % 16 != 0) /* an H200 calls it an illegal instruction */
        fail(t, ins, PTX_FAILED, "a box begins at byte %d of a row, not a multiple of 16",
             (int)first_byte);
    for (unsigned d = 0; d < count; d++) {
        f->at[d] = (int32_t)get(t, ins, first + d);
        f->bytes *= f->map.box[d];
    }
}

static void copy_tensor(struct thread *t, const struct ins *ins) {
    struct flight f = {.ins = ins, .block = t->block};
    if (ins->space[0] == SPACE_GLOBAL) {
        read_map(&f, t, ins, 0);
        leave_from(&f, t, ins, 1, TENSOR_ALIGN);
    } else {
        read_map(&f, t, ins, 1);
        aim(&f, t, ins, 2, 3, TENSOR_ALIGN);
    }
    take_off(t, &f);
}

/* ---- groups ---- */

static void commit(struct thread *t, const struct ins *ins) {
    (void)ins;
    t->bulk_group++;
}

/* Waits until at most the newest groups are under way, or have not read their source. */
static void wait_group(struct thread *t, const struct ins *ins) {
    const uint32_t newest = (uint32_t)operand(t, ins, 0);
    const uint32_t before = t->bulk_group > newest ? t->bulk_group - newest : 0;
    for (struct flight **at = &t->block->cluster->flight; *at;) {
        struct flight *f = *at;
        if (f->is_load || f->thread != t || f->group >= before) {
            at = &f->next;
        } else if (ins->flags & READ) {
            read_source(f);
            at = &f->next;
        } else {
            land(at);
        }
    }
}

enum {
    LOADED = TX_BYTES | MULTICAST | HINTED | TILED | MEMORY,
    STORED = BULK_GROUP | HINTED | TILED | MEMORY
};

const struct op bulk_ops[] = {
    {"cp.async.bulk", T_NONE, LOADED | STORED, copy},
    {"cp.reduce.async.bulk", T_ANY, STORED, copy},
    {"cp.async.bulk.tensor", T_NONE, LOADED | STORED, copy_tensor},
    {"cp.reduce.async.bulk.tensor", T_NONE, STORED, copy_tensor},
    {"cp.async.bulk.commit_group", T_NONE, 0, commit},
    {"cp.async.bulk.wait_group", T_NONE, READ, wait_group},
    END_OF_ROWS,
};
