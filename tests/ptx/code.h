/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - a kernel as the reader leaves it: types, instructions, slots. See ptx.h. */
#ifndef GT_TESTS_PTX_CODE_H
#define GT_TESTS_PTX_CODE_H

#include "tests/ptx/ptx.h"

enum { WARP_SIZE = 32 };

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

/* One row of a table of instructions. `name` is the instruction's whole name, or the part
 * before one of its dots. */
struct op {
    const char *name;
    enum type type;   /* T_ANY: the action looks at the types itself */
    unsigned allowed; /* modifiers */
    void (*run)(struct thread *, const struct ins *);
};

#define END_OF_ROWS                                                                        \
    { NULL, T_NONE, 0, NULL }

extern const struct op integer_ops[], bit_ops[], float_ops[], half_ops[], convert_ops[],
    move_ops[], memory_ops[], atomic_ops[], control_ops[], warp_ops[], mma_ops[],
    barrier_ops[], copy_ops[], bulk_ops[], wgmma_ops[];

enum { OPERANDS_MAX = 12, SHAPE_WORD = 3 };

struct ins {
    void (*run)(struct thread *, const struct ins *);
    /* Slots of all operands in the order of the text; vectors and addresses are flattened.
     * offset: bytes that an address has after the register. */
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

/* ---- words.c ---- */

/* The list with room for one more element than `count`. New elements are zeros. NULL: no
 * memory, and the old list stays as it is. */
void *grown_list(void *old, size_t count, size_t *room, size_t size);

/* ---- opcode.c ---- */

/* Whether the instruction's name is known; fills everything that it decides. */
bool decode(struct ins *ins, const char *name, size_t length);

extern const unsigned char type_bytes[];

static inline size_t size_of(enum type type) {
    return type_bytes[type];
}

static inline unsigned bits_of(enum type type) {
    return 8 * (unsigned)size_of(type);
}

static inline bool is_signed(enum type type) {
    return type == T_S8 || type == T_S16 || type == T_S32 || type == T_S64;
}

static inline uint64_t aligned(uint64_t at, uint64_t align) {
    return (at + align - 1) / align * align;
}

/* ---- control.c ---- */

/* The action of a mov from %clock and the like, which change while a thread runs. */
extern void (*const ptx_read_clock)(struct thread *, const struct ins *);

#endif
