/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - a launch that runs: clusters, blocks, threads, and what is under way beside
 * them. See ptx.h. */
#ifndef GT_TESTS_PTX_MACHINE_H
#define GT_TESTS_PTX_MACHINE_H

#include "tests/ptx/code.h"

#include <setjmp.h>

enum { BARRIERS = 16, SMEM_BEGIN = 1024, GRANULE = 16, GROUP_WARPS = 4 };

/* Windows of generic addresses, and the block of a cluster in an address of shared
 * memory. */
#define SHARED_WINDOW (UINT64_C(1) << 60)
#define LOCAL_WINDOW  (UINT64_C(1) << 61)
enum { RANK_SHIFT = 24 };

enum state {
    READY,
    AT_BARRIER, /* of its block */
    AT_CLUSTER,
    AT_WARP,  /* until the other lanes come to the same instruction */
    AT_GROUP, /* the same for the four warps of a warpgroup */
    AT_PHASE, /* of an mbarrier */
    ENDED
};

/* A copy of cp.async: what is to be stored, and by which group of its thread. */
struct small_copy {
    uint64_t from;
    uint32_t to, bytes, there;
    uint32_t group;
    bool taken;   /* the bytes are in `data` */
    bool arrives; /* no copy: an arrival at the mbarrier `to` */
    unsigned char data[16];
    const struct ins *ins;
};

struct thread {
    uint64_t *reg;
    const struct ins *pc;
    const uint8_t *busy; /* its warp's, while products are in flight; else NULL */
    enum state state;
    uint32_t lane, number, mask; /* mask: the lanes that it waits for */
    struct warp *warp;
    struct block *block;
    unsigned char *local;
    bool yielded, spins; /* its turn is over; it has asked for what is not there yet */
    bool fenced;         /* by wgmma.fence */
    uint32_t phase_at, phase_parity; /* AT_PHASE; AT_BARRIER: its number; AT_CLUSTER: 0 */
    uint32_t cluster_phase;          /* that it has arrived at */
    struct small_copy *copy;
    size_t copies, copy_room;
    uint32_t copy_group; /* the one that is open */
    uint32_t bulk_group;
};

struct warp {
    struct thread *thread;   /* 32, fewer in the last warp */
    uint32_t lanes, waiting; /* waiting: lanes that are AT_WARP */
    struct warpgroup *group;
    uint8_t *busy;       /* by slot: registers of products that it has not waited for */
    uint32_t open_batch; /* the number of wgmma.commit_group that it has passed */
};

/* Registers of a product in flight: its sums, and operand A. */
enum { BUSY_SUM = 1, BUSY_A = 2 };

/* A product of wgmma in flight. Each warp commits it and waits for it by itself. */
struct product {
    const struct ins *ins;
    uint64_t a, b, since;
    bool adds, executed;
    uint32_t batch[GROUP_WARPS]; /* of each warp */
    unsigned waited;             /* bits of the warps that have waited for it */
};

struct warpgroup {
    struct block *block;
    struct thread *thread; /* 128 */
    struct warp *warp;     /* 4 */
    uint32_t waiting;
    struct product *product;
    size_t products, room;
};

struct named_barrier {
    uint32_t arrived, expected;
    bool any; /* bar.red.or: whether a thread said yes */
};

enum { SHADOW_WRITTEN = 1, SHADOW_PENDING = 2, SHADOW_BARRIER = 4 };

struct block {
    struct cluster *cluster;
    uint32_t rank, at[3]; /* in the cluster; in the grid */
    struct thread *thread;
    uint32_t threads, warps, ended;
    struct warp *warp;
    struct warpgroup *group;
    uint64_t *registers;
    unsigned char *smem, *shadow; /* shadow: a byte for each */
    /* Of each granule: the times of the last write, and of the last one by a thread. */
    uint64_t *stamp, *by_threads;
    uint64_t fenced; /* time of the last proxy fence */
    uint32_t smem_end;
    struct named_barrier barrier[BARRIERS];
    unsigned char *local;
};

/* A copy of the asynchronous unit under way. */
struct flight {
    struct flight *next;
    const struct ins *ins;
    struct thread *thread; /* that has started it */
    struct block *block;   /* its block */
    bool is_load, lazy, is_tensor, from_shared;
    uint64_t since, global;
    uint32_t shared, source, bytes, barrier; /* places in shared memory */
    uint32_t ranks;                          /* bits: the blocks that receive a load */
    uint32_t group;                          /* of its thread; a store's */
    unsigned char *data;                     /* what a store has read */
    struct ptx_tensor map;
    int32_t at[5];
    enum operation reduce;
    enum type type;
};

struct cluster {
    struct launch *launch;
    struct block *block;
    uint32_t blocks, ended, arrived, first;
    uint64_t passed; /* phases of the cluster's barrier */
    struct flight *flight;
};

enum { RANGES = 8 };

struct range {
    uint64_t begin, end;
};

struct launch {
    const struct ptx_launch *asked;
    const struct ptx_code *code;
    struct ptx_report *report;
    uint64_t time, random;
    struct range seen[RANGES]; /* allocations that were touched lately */
    unsigned last_seen;
    uint64_t *initial; /* registers of a thread that begins; special ones differ */
    jmp_buf out;
};

static inline struct launch *launch_of(const struct thread *t) {
    return t->block->cluster->launch;
}

/* All blocks of a cluster have equally many. */
static inline uint32_t threads_of(const struct cluster *c) {
    return c->blocks * c->block[0].threads;
}

/* ---- error.c ---- */

/* Ends the launch with a sentence and the place of the thread. */
_Noreturn void fail(struct thread *t, const struct ins *ins, enum ptx_result result,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for a launch in which nobody can go on. */
_Noreturn void fail_stuck(struct cluster *c);
/* "dmma.cu:12" or "line 12 of the PTX". */
void name_place(char *out, size_t size, const struct launch *l, const struct ins *ins);

/* ---- operands ---- */

/* The value of the flattened operand i. */
static inline uint64_t get(const struct thread *t, const struct ins *ins, unsigned i) {
    return t->reg[ins->arg[i]];
}

static inline void put(struct thread *t, const struct ins *ins, unsigned i, uint64_t x) {
    t->reg[ins->arg[i]] = x;
}

/* The first flattened operand of operand i. */
static inline uint64_t operand(const struct thread *t, const struct ins *ins, unsigned i) {
    return get(t, ins, ins->first[i]);
}

/* A predicate, which may be negated. */
static inline bool predicate(const struct thread *t, const struct ins *ins, unsigned i) {
    return (operand(t, ins, i) & 1) != (ins->negated >> i & 1);
}

/* An address operand. */
static inline uint64_t address(const struct thread *t, const struct ins *ins, unsigned i) {
    return operand(t, ins, i) + (uint64_t)(int64_t)ins->offset[ins->first[i]];
}

/* ---- turns ---- */

/* Ends the turn of a thread that has asked for something which is not there yet. */
static inline void spin(struct thread *t) {
    t->yielded = t->spins = true;
}

/* A random number below n. */
static inline uint32_t dice(struct launch *l, uint32_t n) {
    l->random ^= l->random << 13;
    l->random ^= l->random >> 7;
    l->random ^= l->random << 17;
    return (uint32_t)((l->random >> 32) * n >> 32);
}

/* Ends the turn of a thread now and then. A thread that does something too late then does
 * it after the turns of others. */
static inline void maybe_yield(struct thread *t) {
    if (dice(launch_of(t), 2) == 0)
        t->yielded = true;
}

#endif
