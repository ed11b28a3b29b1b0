/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - a kernel of ours as a product. */
#include "tuner/lab/product.h"

static gt_status run(void *self, const struct gt_operands *x, struct gt_err *err) {
    const struct gt_kernel_call *c = self;
    return gt_exec_run(c->exec, x->alpha, x->a, x->b, x->beta, x->c, c->workspace,
                       c->stream, err);
}

struct gt_product gt_product_of(struct gt_kernel_call *call) {
    struct gt_exec_info info;
    gt_exec_describe(call->exec, &info);
    return (struct gt_product){run, call, info.launch.workspace_bytes};
}
