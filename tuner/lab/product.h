/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.h - anything that computes one problem on a rig's stream: a kernel of ours, a
 * plan of the library, a vendor's routine. All are checked and timed in the same way.
 */
#ifndef GT_TUNER_LAB_PRODUCT_H
#define GT_TUNER_LAB_PRODUCT_H

#include "runtime/exec/exec.h"

struct gt_product {
    /* Enqueues the product and returns. The launches may be captured in a graph. */
    gt_status (*enqueue)(void *self, const struct gt_call *call, struct gt_err *err);
    void *self;
    /* size of the checker's workspace, which is then guarded; 0: none */
    int64_t workspace_bytes;
    /* Its epilogue is a kernel of its own, which reads the sum as an element of C. */
    bool rounds_sum;
};

/* Makes a product of one of our kernels, which must outlive it. */
struct gt_product gt_product_of(const struct gt_exec *exec);

#endif
