/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - what the files of the PTX interpreter share. See ptx.h. */
#ifndef GT_TESTS_PTX_INSIDE_H
#define GT_TESTS_PTX_INSIDE_H

#include "tests/ptx/ptx.h"

#include <setjmp.h>
#include <string.h>

enum type {
    T_NONE,
    T_PRED,
    T_B8,
    T_U8,
    T_S8,
    T_E4M3,
    T_E5M2,
    T_B16,
    T_U16,
    T_S16,
    T_F16,
    T_BF16,
    T_E4M3X2,
    T_E5M2X2,
    T_B32,
    T_U32,
    T_S32,
    T_F32,
    T_TF32,
    T_F16X2,
    T_BF16X2,
    T_B64,
    T_U64,
    T_S64,
    T_F64,
    T_ANY
};

enum space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_CLUSTER,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_CONST
};

enum compare { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NOT_A_NUMBER };

enum operation {
    OP_NONE,
    OP_ADD,
    OP_MIN,
    OP_MAX,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_EXCH,
    OP_CAS,
    OP_INC,
    OP_DEC,
    OP_POPC
};

/* Modifiers that change what an instruction does. */
enum {
    RN = 1 << 0,
    RZ = 1 << 1,
    RM = 1 << 2,
    RP = 1 << 3,
    RNA = 1 << 4,
    RNI = 1 << 5,
    RZI = 1 << 6,
    RMI = 1 << 7,
    RPI = 1 << 8,
    ROUND = RN | RZ | RM | RP,
    FTZ = 1 << 9,
    SAT = 1 << 10,
    SATFINITE = 1 << 11,
    RELU = 1 << 12,
    APPROX = 1 << 13,
    FULL = 1 << 14,
    NAN_OUT = 1 << 15,
    CLAMP = 1 << 16,
    WRAP = 1 << 17,
    TRANS = 1 << 18,
    MULTICAST = 1 << 19,
    HINTED = 1 << 20,
    READ = 1 << 21,
    NO_INC = 1 << 22,
    COLUMN = 1 << 23,
    ROW = 1 << 24,
    PARITY = 1 << 25,
    BULK_GROUP = 1 << 26,
    TX_BYTES = 1 << 27,
    TILED = 1 << 28,
    MEMORY = 1 << 29 /* orders, scopes and cache hints, which change nothing here */
};

struct thread;
struct ins;

/* One line of a table of instructions. A name ends at a dot of the instruction's. */
struct op {
    const char *name;
    enum type type;   /* T_ANY: the action looks itself */
    unsigned allowed; /* modifiers */
    void (*run)(struct thread *, const struct ins *);
};

extern const struct op integer_ops[], bit_ops[], float_ops[], half_ops[], convert_ops[],
    move_ops[], memory_ops[], atomic_ops[], control_ops[], warp_ops[], mma_ops[],
    barrier_ops[], copy_ops[], bulk_ops[], wgmma_ops[];

enum { OPERANDS_MAX = 12, SHAPE_WORD = 3 };

struct ins {
    void (*run)(struct thread *, const struct ins *);
    /* Slots of all operands in the order of the text; vectors and addresses are flattened.
     * offset: bytes that an address has behind the register. */
    uint32_t *arg;
    int32_t *offset;
    uint16_t args, operands, first[OPERANDS_MAX + 1]; /* first: in `arg`, of each operand */
    uint32_t guard;                                   /* a predicate's slot; 0: none */
    bool guard_negated;
    uint32_t negated; /* bit i: operand i is !p */
    unsigned flags;
    uint8_t type[4], space[2], types, spaces, compare, operation, vector, count;
    int m, n, k;     /* a shape */
    uint32_t target; /* the instruction that a branch goes to */
    int line, file, source_line;
    char name[96];
};

/* Where the value of a slot comes from when a thread begins. */
enum origin {
    FROM_VALUE,
    FROM_SPECIAL,
    FROM_PARAM,
    FROM_SHARED,
    FROM_DYNAMIC,
    FROM_LOCAL,
    FROM_GLOBAL
};

enum special {
    TID_X,
    TID_Y,
    TID_Z,
    NTID_X,
    NTID_Y,
    NTID_Z,
    CTAID_X,
    CTAID_Y,
    CTAID_Z,
    NCTAID_X,
    NCTAID_Y,
    NCTAID_Z,
    LANE,
    WARP,
    NWARPS,
    CLUSTER_RANK,
    CLUSTER_SIZE,
    CLUSTER_CTAID_X,
    CLUSTER_CTAID_Y,
    CLUSTER_CTAID_Z,
    CLUSTER_NCTAID_X,
    CLUSTER_NCTAID_Y,
    CLUSTER_NCTAID_Z,
    CLUSTERID_X,
    CLUSTERID_Y,
    CLUSTERID_Z,
    NCLUSTERID_X,
    NCLUSTERID_Y,
    NCLUSTERID_Z,
    MASK_EQ,
    MASK_LT,
    MASK_LE,
    MASK_GT,
    MASK_GE,
    SMID,
    NSMID,
    GRIDID,
    DYNAMIC_SMEM,
    TOTAL_SMEM,
    CLOCK,
    SPECIALS
};

struct slot {
    uint64_t value; /* or an offset, or an enum special */
    enum origin origin;
};

struct ptx_code {
    struct ins *ins;
    size_t count, room;
    struct slot *slot;
    size_t slots, slot_room;
    size_t smem, smem_align, local;
    size_t dynamic_align;
    unsigned char *data; /* of the module */
    size_t data_bytes;
    char **file; /* names of sources, by number */
    int files;
};

/* ---- a launch that runs ---- */

enum { WARP_SIZE = 32, BARRIERS = 16, SMEM_BEGIN = 1024, GRANULE = 16, GROUP_WARPS = 4 };

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
    const uint8_t *busy; /* slots of products in flight; NULL: none */
    enum state state;
    uint32_t lane, number, mask; /* mask: the lanes that it waits for */
    struct warp *warp;
    struct block *block;
    unsigned char *local;
    bool yielded, spins; /* its turn is over; it has asked for what is not there yet */
    bool fenced;         /* by wgmma.fence */
    uint32_t phase_at, phase_parity; /* AT_PHASE; AT_BARRIER: its number */
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
};

/* Registers of a product in flight: its sums, and operand A. */
enum { BUSY_SUM = 1, BUSY_A = 2 };

/* A product of wgmma in flight. */
struct product {
    const struct ins *ins;
    uint64_t a, b, since;
    bool adds, executed;
    uint32_t group;
};

struct warpgroup {
    struct block *block;
    struct thread *thread; /* 128 */
    uint32_t waiting;
    uint8_t *busy; /* by slot */
    struct product *product;
    size_t products, room;
    uint32_t open_group;
};

struct named_barrier {
    uint32_t arrived, expected;
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
    uint64_t *stamp, *by_threads; /* time of the last write; by a thread; by granule */
    uint64_t fenced;              /* time of the last proxy fence */
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
    uint64_t *initial; /* the registers of a thread, but for what differs */
    jmp_buf out;
};

/* ---- error.c ---- */

/* Ends the launch with a sentence and the place of the thread. */
_Noreturn void fail(struct thread *t, const struct ins *ins, enum ptx_result result,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for a launch in which nobody can go on. */
_Noreturn void fail_stuck(struct cluster *c);
/* "dmma.cu:12" or "line 12 of the PTX". */
void name_place(char *out, size_t size, const struct launch *l, const struct ins *ins);

/* ---- opcode.c ---- */

/* Whether the instruction's name is known; fills everything that it decides. */
bool decode(struct ins *ins, const char *name, size_t length);

extern const unsigned char type_bytes[];

static inline size_t size_of(enum type type) {
    return type_bytes[type];
}

/* ---- numbers.c ---- */

/* The bits of the nearest number of a type: f16, bf16, tf32, e4m3, e5m2 or f32. flags:
 * rounding, SATFINITE. */
uint32_t narrow(enum type type, double x, unsigned flags);
double widen(enum type type, uint32_t bits);

static inline float as_f32(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static inline double as_f64(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t of_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t of_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

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
    return t->reg[ins->arg[ins->first[i]]];
}

/* A predicate, which may be negated. */
static inline bool predicate(const struct thread *t, const struct ins *ins, unsigned i) {
    return (operand(t, ins, i) & 1) != (ins->negated >> i & 1);
}

/* An address operand. */
static inline uint64_t address(const struct thread *t, const struct ins *ins, unsigned i) {
    const unsigned at = ins->first[i];
    return t->reg[ins->arg[at]] + (uint64_t)(int64_t)ins->offset[at];
}

static inline struct launch *launch_of(const struct thread *t) {
    return t->block->cluster->launch;
}

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

/* ---- memory.c ---- */

enum access { LOAD, STORE, BOTH };

/* The bytes at an address of a space, checked. */
void *reach(struct thread *t, const struct ins *ins, enum space space, uint64_t at,
            size_t bytes, enum access access);
void *reach_global(struct thread *t, const struct ins *ins, uint64_t at, size_t bytes);
/* The block whose shared memory an address names; *at: the place there. */
struct block *block_of(struct thread *t, const struct ins *ins, uint64_t address,
                       uint32_t *at);
/* The block, after checking that [at, at + bytes) lies in its shared memory. */
struct block *shared_at(struct thread *t, const struct ins *ins, uint64_t address,
                        size_t bytes, uint32_t *at);
/* An asynchronous unit will write to these bytes. */
void mark_pending(struct thread *t, const struct ins *ins, struct block *b, uint32_t at,
                  size_t bytes);
/* They are written. */
void mark_written(struct block *b, uint32_t at, size_t bytes);
void note_write(struct block *b, uint32_t at, size_t bytes, bool by_thread);
/* An asynchronous unit reads these bytes: they must be written, and behind a fence. */
void check_async_read(struct thread *t, const struct ins *ins, struct block *b, uint32_t at,
                      size_t bytes);
/* Whether the bytes have been written after a moment. */
bool changed_since(const struct block *b, uint32_t at, size_t bytes, uint64_t since);
/* The operand i, an address that may be generic, as one of shared memory. */
uint64_t shared_operand(const struct thread *t, const struct ins *ins, unsigned i);

/* ---- control.c ---- */

extern void (*const ptx_read_clock)(struct thread *, const struct ins *);

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
/* Lands copies whose moment has come; with `must`, any copy when there is none such. */
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
