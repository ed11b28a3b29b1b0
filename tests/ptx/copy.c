/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - cp.async: small copies of a thread to shared memory. They read at once or when
 * they are waited for; they write when they are waited for. See ptx.h.
 */
#include "tests/ptx/inside.h"

static struct small_copy *add(struct thread *t, const struct ins *ins) {
    struct small_copy *list =
        grown_list(t->copy, t->copies, &t->copy_room, sizeof *t->copy);
    if (!list)
        fail(t, ins, PTX_FAILED, "no memory for a copy");
    t->copy = list;
    struct small_copy *c = &t->copy[t->copies++];
    *c = (struct small_copy){.ins = ins, .group = t->copy_group};
    return c;
}

static void take(struct thread *t, struct small_copy *c) {
    if (!c->taken && c->there > 0)
        memcpy(c->data, reach_global(t, c->ins, c->from, c->there), c->there);
    c->taken = true;
}

/* "cp.async.cg.shared.global [to], [from], 16, there". The ISA wants both addresses
 * aligned; GPUs do not mind the source's when nothing of it is read. */
static void copy(struct thread *t, const struct ins *ins) {
    const uint32_t bytes = (uint32_t)operand(t, ins, 2);
    const uint32_t there =
        ins->operands > 3 && !(ins->flags & HINTED) ? (uint32_t)operand(t, ins, 3) : bytes;
    const uint64_t from = address(t, ins, 1);
    uint32_t at;
    struct block *b = shared_at(t, ins, shared_operand(t, ins, 0), bytes, &at);
    if (there > bytes || (bytes != 4 && bytes != 8 && bytes != 16))
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "cp.async of %u of %u bytes", there, bytes);
    const bool reads = there > 0 || launch_of(t)->asked->strict;
    if (at % bytes != 0 || (reads && from % bytes != 0))
        fail(t, ins, PTX_MISALIGNED, "cp.async of %u bytes from 0x%llx to %u", bytes,
             (unsigned long long)from, at - SMEM_BEGIN);
    if (there > 0)
        (void)reach_global(t, ins, from, there);
    mark_pending(t, ins, b, at, bytes);
    struct small_copy *c = add(t, ins);
    c->from = from;
    c->to = at;
    c->bytes = bytes;
    c->there = there;
    if (dice(launch_of(t), 2) == 0)
        take(t, c);
}

/* By the thread itself: what it has copied counts as written by a thread. */
static void finish(struct thread *t, struct small_copy *c) {
    struct block *b = t->block;
    if (c->arrives) {
        mbarrier_arrive(t, c->ins, mbarrier_at(t, c->ins, b, c->to), 1);
        return;
    }
    take(t, c);
    memcpy(b->smem + c->to, c->data, c->bytes);
    mark_written(b, c->to, c->bytes);
    note_write(b, c->to, c->bytes, true);
}

void finish_copies(struct thread *t, uint32_t before_group) {
    size_t done = 0;
    while (done < t->copies && t->copy[done].group < before_group)
        finish(t, &t->copy[done++]);
    if (done > 0)
        memmove(t->copy, t->copy + done, (t->copies - done) * sizeof *t->copy);
    t->copies -= done;
}

/* Copies that come before an arrival may end at any time. */
bool finish_some_copies(struct cluster *c) {
    bool any = false;
    for (uint32_t i = 0; i < c->blocks; i++)
        for (uint32_t j = 0; j < c->block[i].threads; j++) {
            struct thread *t = &c->block[i].thread[j];
            size_t last = t->copies;
            while (last > 0 && !t->copy[last - 1].arrives)
                last--;
            any = any || last > 0;
            if (last == t->copies && last > 0)
                finish_copies(t, UINT32_MAX);
            else if (last > 0)
                finish_copies(t, t->copy[last - 1].group + 1);
        }
    return any;
}

static void commit(struct thread *t, const struct ins *ins) {
    (void)ins;
    t->copy_group++;
}

static void wait_group(struct thread *t, const struct ins *ins) {
    const uint32_t newest = (uint32_t)operand(t, ins, 0);
    finish_copies(t, t->copy_group > newest ? t->copy_group - newest : 0);
}

static void wait_all(struct thread *t, const struct ins *ins) {
    (void)ins;
    finish_copies(t, UINT32_MAX);
}

/* The mbarrier gets an arrival once the thread's copies so far have ended. */
static void arrive(struct thread *t, const struct ins *ins) {
    uint32_t at;
    struct block *b = shared_at(t, ins, shared_operand(t, ins, 0), 8, &at);
    uint64_t *bar = mbarrier_at(t, ins, b, at);
    if (!(ins->flags & NO_INC))
        ++*bar; /* one more is missing: this one */
    struct small_copy *c = add(t, ins);
    c->arrives = true;
    c->to = at;
}

const struct op copy_ops[] = {
    {"cp.async.ca", T_NONE, MEMORY | HINTED, copy},
    {"cp.async.cg", T_NONE, MEMORY | HINTED, copy},
    {"cp.async.commit_group", T_NONE, 0, commit},
    {"cp.async.wait_group", T_NONE, 0, wait_group},
    {"cp.async.wait_all", T_NONE, 0, wait_all},
    {"cp.async.mbarrier.arrive", T_B64, NO_INC, arrive},
    END_OF_ROWS,
};
