/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - a product of host matrices as a list of operations. Pure: no device, no
 * clock. The engine executes the list, the forecast computes how long it takes.
 *
 * C is cut into tiles of tile_m x tile_n. A tile of C stays on the device while k is walked
 * in slabs of tile_k. Each slab needs one tile of op(A) (tile_m x tile_k) and one of op(B)
 * (tile_k x tile_n). The device has slots, buffers of one tile each, for A, B and C. A tile
 * that is in a slot already is not copied again; a new tile takes the least recently used
 * slot. Tiles of C are walked in columns, alternately down and up, and slabs alternately
 * forwards and backwards, so that the tiles at a turning point are used again.
 */
#ifndef GT_RUNTIME_HOST_SCHEDULE_H
#define GT_RUNTIME_HOST_SCHEDULE_H

#include "core/problem/problem.h"

enum gt_operand { GT_A, GT_B, GT_C, GT_OPERANDS };

/* How a product is cut, and how many slots each operand has. */
struct gt_host_cut {
    gemmtune_problem problem; /* canonical */
    bool reads_c;             /* beta is not 0, so C is copied in */
    bool sums;                /* alpha and k are not 0, so A and B are needed */
    int64_t tile[3];          /* rows m, columns n, depth k; each at least 1 */
    int slots[GT_OPERANDS];   /* A and B: 2 or more, C: 1 or more */
    int tail; /* strips of rows of the last tile of C: with more of them, less is left to
               * copy after the last product; 1: whole */
};

/* A tile of C: `size[0]` rows from row `at[0]`, `size[1]` columns from column `at[1]`. */
struct gt_host_tile {
    int64_t at[2], size[2];
};

/* Tiles along m, n and k. */
int64_t gt_host_tiles_along(const struct gt_host_cut *cut, int axis);

/* Rows, columns and leading dimension of an operand's tile on the device. Rows begin at
 * multiples of GT_HOST_ROW_ALIGN bytes. */
enum { GT_HOST_ROW_ALIGN = 64 };
struct gt_host_buffer {
    int64_t rows, cols, ld, bytes;
};
struct gt_host_buffer gt_host_buffer_of(const struct gt_host_cut *cut,
                                        enum gt_operand operand);
/* Bytes of all slots together; INT64_MAX when there are more. */
int64_t gt_host_slot_bytes(const struct gt_host_cut *cut);

/* The tiles of C in the order of the walk, in `parts` ranges. Range i has about `share[i]`
 * of the work and ends before tile end[i]. The caller frees *out. ENOMEM. */
gt_status gt_host_tiles_make(struct gt_host_tile **out, size_t *end,
                             const struct gt_host_cut *cut, int parts, const double *share,
                             struct gt_err *err);

/* ---- operations -------------------------------------------------------------------- */

/* Operations of one lane run one after another; lanes run beside each other. */
enum gt_lane { GT_LANE_AB, GT_LANE_C, GT_LANE_RUN, GT_LANE_OUT, GT_LANES };
const char *gt_host_lane_name(enum gt_lane lane); /* "A and B in" ... */

enum gt_host_kind { GT_LOAD_A, GT_LOAD_B, GT_LOAD_C, GT_RUN, GT_STORE_C };
enum { GT_HOST_AFTER = 3 };

struct gt_host_op {
    enum gt_host_kind kind;
    enum gt_lane lane;
    int slot[GT_OPERANDS];        /* slots that it reads or writes, else -1 */
    int64_t at[3], size[3];       /* along m, n and k */
    int64_t after[GT_HOST_AFTER]; /* operations that must end before it, else -1 */
    bool first, last;             /* RUN: of its tile of C */
};

/* The tile in a slot. Operations are -1 when there is none yet. */
struct gt_host_slot {
    int64_t at[2], size[2]; /* of the operand's tile, along its two axes */
    int64_t ready;          /* A and B: the operation that copies the tile in.
                             * C: the operation that copied the slot's last tile out */
    int64_t use;            /* the operation that used the slot last */
};

struct gt_host_schedule {
    const struct gt_host_cut *cut;
    struct gt_host_op *op; /* `count`; each comes after the operations that it waits for */
    int64_t count, room;
    int64_t walked; /* tiles of C so far */
    struct gt_host_slot *slot[GT_OPERANDS];
};

/* `cut` must outlive the schedule. ENOMEM. */
gt_status gt_host_schedule_init(struct gt_host_schedule *s, const struct gt_host_cut *cut,
                                struct gt_err *err);
void gt_host_schedule_clear(struct gt_host_schedule *s);
/* Appends the operations of one tile of C. ENOMEM. */
gt_status gt_host_schedule_tile(struct gt_host_schedule *s, const struct gt_host_tile *tile,
                                struct gt_err *err);

/* The rows and columns of an operand's stored matrix that an operation copies or reads. */
struct gt_host_region {
    int64_t row, col, rows, cols;
};
struct gt_host_region gt_host_region_of(const struct gt_host_cut *cut,
                                        enum gt_operand operand,
                                        const struct gt_host_op *op);
int64_t gt_host_element_bytes(const struct gt_host_cut *cut, enum gt_operand operand);
/* The operand that an operation copies, or writes to: C for RUN. */
enum gt_operand gt_host_operand_of(const struct gt_host_op *op);
/* Bytes that an operation copies; 0 for RUN. */
double gt_host_op_bytes(const struct gt_host_cut *cut, const struct gt_host_op *op);

#endif
