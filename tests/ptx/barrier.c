/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barrier.c - mbarriers: phases that end when all arrivals and all bytes of copies that the
 * phase expects have come. See ptx.h.
 *
 * The 64 bits in shared memory: 20 of arrivals that are missing, 20 of arrivals of a
 * phase, 22 of bytes that are missing (with TX_ZERO added), 1 free, 1 for the phase.
 */
#include "tests/ptx/inside.h"

#define COUNT_MAX ((UINT64_C(1) << 20) - 1)
#define TX_ZERO   (INT64_C(1) << 21)

enum { EXPECTED_SHIFT = 20, TX_SHIFT = 40, PHASE_SHIFT = 63, BYTES = 8 };

struct phase {
    uint64_t missing, expected, phase;
    int64_t bytes;
};

static struct phase unpacked(uint64_t word) {
    return (struct phase){word & COUNT_MAX, word >> EXPECTED_SHIFT & COUNT_MAX,
                          word >> PHASE_SHIFT,
                          (int64_t)(word >> TX_SHIFT & ((1 << 22) - 1)) - TX_ZERO};
}

/* Goes on to the next phase when nothing is missing. */
static uint64_t packed(struct phase p) {
    if (p.missing == 0 && p.bytes == 0) {
        p.phase ^= 1;
        p.missing = p.expected;
    }
    return p.missing | p.expected << EXPECTED_SHIFT |
           (uint64_t)(p.bytes + TX_ZERO) << TX_SHIFT | p.phase << PHASE_SHIFT;
}

uint64_t *mbarrier_at(struct thread *t, const struct ins *ins, struct block *b,
                      uint32_t at) {
    bool is_barrier = at % BYTES == 0;
    for (uint32_t i = 0; i < BYTES; i++)
        is_barrier = is_barrier && b->shadow[at + i] == SHADOW_BARRIER;
    if (!is_barrier)
        fail(t, ins, PTX_FAILED, "there is no mbarrier at shared address %u of block %u",
             at - SMEM_BEGIN, b->rank);
    return (uint64_t *)(void *)(b->smem + at);
}

static uint64_t *find(struct thread *t, const struct ins *ins, unsigned i,
                      struct block **block) {
    uint32_t at;
    *block = shared_at(t, ins, shared_operand(t, ins, i), BYTES, &at);
    return mbarrier_at(t, ins, *block, at);
}

void mbarrier_arrive(struct thread *t, const struct ins *ins, uint64_t *bar,
                     uint32_t count) {
    struct phase p = unpacked(*bar);
    if (count == 0 || count > p.missing)
        fail(t, ins, PTX_FAILED,
             "%u arrivals at an mbarrier whose phase misses %llu of %llu", count,
             (unsigned long long)p.missing, (unsigned long long)p.expected);
    p.missing -= count;
    *bar = packed(p);
}

/* More bytes are expected: the phase cannot end by that. */
void mbarrier_expect(uint64_t *bar, int64_t bytes) {
    *bar += (uint64_t)bytes << TX_SHIFT;
}

void mbarrier_complete(struct thread *t, const struct ins *ins, uint64_t *bar,
                       int64_t bytes) {
    struct phase p = unpacked(*bar);
    p.bytes -= bytes;
    if (p.bytes <= -(TX_ZERO / 2))
        fail(t, ins, PTX_FAILED, "copies bring %lld bytes more than an mbarrier expects",
             (long long)-p.bytes);
    *bar = packed(p);
}

bool mbarrier_passed(const uint64_t *bar, uint32_t parity) {
    return *bar >> PHASE_SHIFT != (parity & 1);
}

bool phase_passed(struct thread *t) {
    const uint64_t *bar = (const uint64_t *)(void *)(t->block->smem + t->phase_at);
    return mbarrier_passed(bar, t->phase_parity);
}

/* ---- instructions ---- */

static void init(struct thread *t, const struct ins *ins) {
    const uint64_t count = operand(t, ins, 1) & UINT32_MAX;
    uint32_t at;
    struct block *b = shared_at(t, ins, shared_operand(t, ins, 0), BYTES, &at);
    if (count == 0 || count > COUNT_MAX || at % BYTES != 0)
        fail(t, ins, PTX_FAILED, "an mbarrier of %llu arrivals at shared address %u",
             (unsigned long long)count, at - SMEM_BEGIN);
    for (uint32_t i = 0; i < BYTES; i++)
        if (b->shadow[at + i] & (SHADOW_PENDING | SHADOW_BARRIER))
            fail(t, ins, PTX_FAILED,
                 "shared address %u is in use for a copy or an mbarrier", at - SMEM_BEGIN);
    memset(b->shadow + at, SHADOW_BARRIER, BYTES);
    const uint64_t word = count | count << EXPECTED_SHIFT | (uint64_t)TX_ZERO << TX_SHIFT;
    memcpy(b->smem + at, &word, sizeof word);
}

static void invalidate(struct thread *t, const struct ins *ins) {
    struct block *b;
    const uint64_t *bar = find(t, ins, 0, &b);
    memset(b->shadow + ((const unsigned char *)bar - b->smem), 0, BYTES);
}

/* Arrivals of a thread, which gets the mbarrier as it was before. */
static void count_in(struct thread *t, const struct ins *ins, uint64_t *bar,
                     uint64_t before, uint32_t count) {
    mbarrier_arrive(t, ins, bar, count);
    put(t, ins, 0, before);
    maybe_yield(t);
}

static void arrive(struct thread *t, const struct ins *ins) {
    struct block *b;
    uint64_t *bar = find(t, ins, 1, &b);
    const uint64_t before = *bar;
    count_in(t, ins, bar, before, ins->operands > 2 ? (uint32_t)operand(t, ins, 2) : 1);
}

static void arrive_expecting(struct thread *t, const struct ins *ins) {
    struct block *b;
    uint64_t *bar = find(t, ins, 1, &b);
    const uint64_t before = *bar;
    mbarrier_expect(bar, (int64_t)(operand(t, ins, 2) & UINT32_MAX));
    count_in(t, ins, bar, before, 1);
}

static void arrive_and_drop(struct thread *t, const struct ins *ins) {
    struct block *b;
    uint64_t *bar = find(t, ins, 1, &b);
    const uint64_t before = *bar;
    *bar -= UINT64_C(1) << EXPECTED_SHIFT;
    count_in(t, ins, bar, before, 1);
}

static void expect(struct thread *t, const struct ins *ins) {
    struct block *b;
    mbarrier_expect(find(t, ins, 0, &b), (int64_t)(operand(t, ins, 1) & UINT32_MAX));
}

static void complete(struct thread *t, const struct ins *ins) {
    struct block *b;
    mbarrier_complete(t, ins, find(t, ins, 0, &b),
                      (int64_t)(operand(t, ins, 1) & UINT32_MAX));
}

static uint32_t parity_of(const struct thread *t, const struct ins *ins) {
    const uint64_t x = operand(t, ins, 2);
    return ins->flags & PARITY ? (uint32_t)x & 1 : (uint32_t)(x >> PHASE_SHIFT);
}

static void test_wait(struct thread *t, const struct ins *ins) {
    struct block *b;
    put(t, ins, 0, mbarrier_passed(find(t, ins, 1, &b), parity_of(t, ins)));
    if (!get(t, ins, 0))
        spin(t);
}

/* Waits until the phase has passed, or gives up at once, as a GPU may at any time. */
static void try_wait(struct thread *t, const struct ins *ins) {
    struct block *b;
    const uint64_t *bar = find(t, ins, 1, &b);
    const uint32_t parity = parity_of(t, ins);
    const bool passed = mbarrier_passed(bar, parity);
    put(t, ins, 0, passed);
    if (passed || dice(launch_of(t), 4) == 0)
        return;
    t->state = AT_PHASE;
    t->phase_at = (uint32_t)((const unsigned char *)bar - b->smem);
    t->phase_parity = parity;
    t->pc = ins;
}

enum { WAIT = MEMORY | PARITY };

const struct op barrier_ops[] = {
    {"mbarrier.init", T_B64, MEMORY, init},
    {"mbarrier.inval", T_B64, MEMORY, invalidate},
    {"mbarrier.arrive", T_B64, MEMORY, arrive},
    {"mbarrier.arrive.expect_tx", T_B64, MEMORY, arrive_expecting},
    {"mbarrier.arrive_drop", T_B64, MEMORY, arrive_and_drop},
    {"mbarrier.expect_tx", T_B64, MEMORY, expect},
    {"mbarrier.complete_tx", T_B64, MEMORY, complete},
    {"mbarrier.test_wait", T_B64, WAIT, test_wait},
    {"mbarrier.try_wait", T_B64, WAIT, try_wait},
    END_OF_ROWS,
};
