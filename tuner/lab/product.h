/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.h - anything that computes one problem on a rig's stream: a kernel of ours, a
 * plan of the library, a vendor's routine. Checked and timed without knowing which.
 */
#ifndef GT_TUNER_LAB_PRODUCT_H
#define GT_TUNER_LAB_PRODUCT_H

#include "runtime/exec.h"

/* Device memory that every side of a comparison has to work in: callers of cublasLt usually
 * give as much. */
enum { GT_WORKSPACE_BYTES = 64 << 20 };

struct gt_product {
    /* Enqueues and returns; may be captured in a graph. */
    gt_status (*enqueue)(void *self, const struct gt_call *call, struct gt_err *err);
    void *self;
    /* of the checker's, whose surroundings are then watched; else 0 */
    int64_t workspace_bytes;
};

/* A kernel of ours; it must outlive its product. */
struct gt_product gt_product_of(const struct gt_exec *exec);

#endif
