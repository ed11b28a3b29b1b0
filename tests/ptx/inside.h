/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what the files of instructions share. See ptx.h. */
#ifndef GT_TESTS_PTX_INSIDE_H
#define GT_TESTS_PTX_INSIDE_H

#include "tests/ptx/machine.h"
#include "tests/ptx/numbers.h"

/* ---- memory.c ---- */

enum access { LOAD, STORE, BOTH };

/* The bytes at an address of a space, checked. */
void *reach(struct thread *t, const struct ins *ins, enum space space, uint64_t at,
            size_t bytes, enum access access);
void *reach_global(struct thread *t, const struct ins *ins, uint64_t at, size_t bytes);
/* The block that has the shared memory an address names; *at: the place there. */
struct block *block_of(struct thread *t, const struct ins *ins, uint64_t address,
                       uint32_t *at);
/* The block, after checking that [at, at + bytes) lies in its shared memory. */
struct block *shared_at(struct thread *t, const struct ins *ins, uint64_t address,
                        size_t bytes, uint32_t *at);
/* An asynchronous unit will write to these bytes. */
void mark_pending(struct thread *t, const struct ins *ins, struct block *b, uint32_t at,
                  size_t bytes);
/* An asynchronous unit has written these bytes. */
void mark_written(struct block *b, uint32_t at, size_t bytes);
/* Notes the time of a write, by a thread or by an asynchronous unit. */
void note_write(struct block *b, uint32_t at, size_t bytes, bool by_thread);
/* An asynchronous unit reads these bytes: they must be written, and a fence must follow. */
void check_async_read(struct thread *t, const struct ins *ins, struct block *b, uint32_t at,
                      size_t bytes);
/* Whether the bytes have been written after a moment. */
bool changed_since(const struct block *b, uint32_t at, size_t bytes, uint64_t since);
/* The operand i, an address that may be generic, as one of shared memory. */
uint64_t shared_operand(const struct thread *t, const struct ins *ins, unsigned i);

/* ---- warp.c ---- */

/* Waits for the lanes of `mask` at this instruction. True in the thread that comes last:
 * it acts for all of them, then calls go_on. */
bool gather_lanes(struct thread *t, const struct ins *ins, uint32_t mask);
bool gather_warp(struct thread *t, const struct ins *ins);
void go_on(struct thread *t, const struct ins *ins, uint32_t mask);
bool gather_group(struct thread *t, const struct ins *ins);
void go_on_group(struct thread *t, const struct ins *ins);

/* ---- barrier.c ---- */

/* An mbarrier of a block; fails where none is. */
uint64_t *mbarrier_at(struct thread *t, const struct ins *ins, struct block *b,
                      uint32_t at);
void mbarrier_arrive(struct thread *t, const struct ins *ins, uint64_t *bar,
                     uint32_t count);
void mbarrier_expect(uint64_t *bar, int64_t bytes);
void mbarrier_complete(struct thread *t, const struct ins *ins, uint64_t *bar,
                       int64_t bytes);
bool mbarrier_passed(const uint64_t *bar, uint32_t parity);
bool phase_passed(struct thread *t);

/* ---- copy.c, bulk.c, tensor.c, wgmma.c ---- */

void finish_copies(struct thread *t, uint32_t before_group);
/* Finishes the copies of a thread that other threads may wait for by an mbarrier. */
bool finish_some_copies(struct cluster *c);
/* Fails when the thread ends while memory of its block is still read or written. */
void check_flights_at_end(struct thread *t, const struct ins *ins);
/* Lands copies when their moment has come; with `must`, any copy when there is none. */
bool land_some(struct cluster *c, bool must);
/* Copies a box to a place in shared memory, or f->data to a box. */
void tensor_load(struct flight *f, unsigned char *smem, uint32_t at);
void tensor_store(struct flight *f);
enum type tensor_type(const struct ptx_tensor *tensor);
void store_reduced(unsigned char *to, const unsigned char *from, enum operation op,
                   enum type type);
void ptx_tensor_unpack(struct ptx_tensor *tensor, const uint64_t words[16]);
/* The place of a byte in shared memory under a swizzle of 0, 32, 64 or 128 bytes. */
static inline uint32_t swizzled(uint32_t at, uint32_t swizzle) {
    const uint32_t mask = swizzle ? swizzle / 16 - 1 : 0;
    return at ^ (at >> 7 & mask) << 4;
}

/* ---- mma.c ---- */

/* Elements of a register, as numbers. */
double element(enum type type, uint64_t reg, unsigned i);

#endif
