/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.h - the lists that a batch without strides takes beside its matrices. They are
 * pointers to the matrices, which in memory are a strided batch, in another order: with
 * gaps where kernels are checked, and where they are timed as close together as their
 * promise allows. Or they are the rows of groups and of products.
 */
#ifndef GT_TUNER_LAB_LISTS_H
#define GT_TUNER_LAB_LISTS_H

#include "tuner/lab/data.h"
#include "tuner/rig/rig.h"

/* The problem with matrices that lie in memory as the matrices of `p`. For pointers it is a
 * strided batch, aligned as the pointers of `p` promise, and no better. Otherwise
 * it is `p`. */
gemmtune_problem gt_memory_of(const gemmtune_problem *p);

/* The layout for timing. Matrices lie as close together as their promise allows, like the
 * matrices of a packed batch: gaps would cost bandwidth. With a promise of less
 * than GT_VECTOR_BYTES the step from one to the next is an odd number of promised units: a
 * kernel that asks whether a matrix is aligned better does not find all of them so. */
gemmtune_problem gt_timed_memory_of(const gemmtune_problem *p);

/* Matrix number z of a product's operand is matrix (z step + shift) mod count in memory. */
struct gt_order {
    int64_t step, shift;
};
static inline int64_t gt_order_at(struct gt_order o, int64_t z, int64_t count) {
    return (z * o.step + o.shift) % count;
}

/* The order that leads back from a place in memory to its number. The step has no divisor
 * in common with `count`. */
struct gt_order gt_order_back(struct gt_order o, int64_t count);

/* The orders of a batch. `a` and `b` say which matrix of A and of B belongs to the C at a
 * place. Where matrices lie at strides, each order leads from z to z. */
struct gt_orders {
    struct gt_order a, b;  /* from a place in C's memory */
    struct gt_order place; /* from a product to its place in C's memory */
    struct gt_order back;  /* from a place in C's memory to its product */
};
struct gt_orders gt_orders_of(const gemmtune_problem *p);
extern const struct gt_orders gt_orders_plain;

/* Device arrays of pointers to the matrices of a problem, for one call. */
struct gt_lists {
    void *mem;
    void *view[3]; /* of A, B and C; NULL: matrices lie at strides */
};

/* How long groups and products are. AROUND: as many rows as the problem expects, a quarter
 * more or less. EXACT: as many as the problem expects. ZIPF: number z has a share of all
 * expected rows in proportion to 1 / (z + 1). UNEVEN: any number, 0 among them, and the
 * last rows of A belong to no group. */
enum gt_spread { GT_SPREAD_AROUND, GT_SPREAD_EXACT, GT_SPREAD_ZIPF, GT_SPREAD_UNEVEN };

/* The spread of timed rows that a user calls `around`, `exact` or `zipf`; AROUND for NULL.
 * EINVAL names the word. */
gt_status gt_spread_parse(enum gt_spread *out, const char *word, struct gt_err *err);

/* The rows of a problem that has them, as a call gives them: `batch` numbers. */
void gt_rows_fill(int32_t *rows, const gemmtune_problem *p, enum gt_spread spread,
                  uint64_t seed);

/* The rows of a problem on the host and on the device. */
struct gt_rows {
    int32_t *host; /* `batch` numbers; NULL: the problem has none */
    int32_t *used; /* rows that are computed in each matrix of C */
    void *mem, *used_mem;
};

gt_status gt_rows_create(struct gt_rows *out, struct gt_rig *rig, const gemmtune_problem *p,
                         enum gt_spread spread, uint64_t seed, struct gt_err *err);
void gt_rows_clear(struct gt_rows *rows, struct gt_rig *rig);
/* The group that has row i of A and C; 0 where rows are not grouped. */
int64_t gt_rows_group(const struct gt_rows *rows, const gemmtune_problem *p, int64_t i);

/* Device bytes of the lists of a problem. */
int64_t gt_lists_bytes(const gemmtune_problem *p);
/* Makes the lists of `p`. Its matrices begin at `matrix` and lie as the matrices of
 * `memory`; nothing where it has none. */
gt_status gt_lists_create(struct gt_lists *out, struct gt_rig *rig,
                          const gemmtune_problem *p, const gemmtune_problem *memory,
                          void *const matrix[3], const struct gt_orders *orders,
                          struct gt_err *err);
/* Makes device arrays of `count` pointers each, which are given on the host; nothing for a
 * count of 0. */
gt_status gt_lists_write(struct gt_lists *out, struct gt_rig *rig, void **const pointers[3],
                         int64_t count, struct gt_err *err);
void gt_lists_clear(struct gt_lists *lists, struct gt_rig *rig);

#endif
