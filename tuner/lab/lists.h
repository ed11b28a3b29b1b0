/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.h - the lists that a batch without strides takes beside its matrices: pointers to
 * the matrices. In memory they are a strided batch with gaps, in another order.
 */
#ifndef GT_TUNER_LAB_LISTS_H
#define GT_TUNER_LAB_LISTS_H

#include "tuner/lab/data.h"
#include "tuner/rig/rig.h"

/* The problem whose matrices lie in memory as those of `p`. For pointers it is a strided
 * batch whose matrices are aligned as the pointers of `p` promise, and no better. Otherwise
 * it is `p`. */
gemmtune_problem gt_memory_of(const gemmtune_problem *p);

/* Matrix number z of a product's operand is matrix (z step + shift) mod count in memory. */
struct gt_order {
    int64_t step, shift;
};
static inline int64_t gt_order_at(struct gt_order o, int64_t z, int64_t count) {
    return (z * o.step + o.shift) % count;
}

/* The orders of a batch. Product `of_c` of place z in C's memory has matrix `a` of A and
 * matrix `b` of B. All are z where matrices lie at strides. */
struct gt_orders {
    struct gt_order a, b;  /* from a place in C's memory */
    struct gt_order place; /* from a product to its place in C's memory */
};
struct gt_orders gt_orders_of(const gemmtune_problem *p);
extern const struct gt_orders gt_orders_plain;

/* Device arrays of pointers to the matrices of a problem, for one call. */
struct gt_lists {
    void *mem;
    void *view[3]; /* of A, B and C; NULL: matrices lie at strides */
};

/* Device bytes of the lists of a problem. */
int64_t gt_lists_bytes(const gemmtune_problem *p);
/* Makes the lists of `p`, whose matrices begin at `matrix`; nothing where it has none. */
gt_status gt_lists_create(struct gt_lists *out, struct gt_rig *rig,
                          const gemmtune_problem *p, void *const matrix[3],
                          const struct gt_orders *orders, struct gt_err *err);
void gt_lists_clear(struct gt_lists *lists, struct gt_rig *rig);

#endif
