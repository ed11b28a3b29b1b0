/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - makes one of our kernels a product. */
#include "tuner/lab/product.h"

static gt_status run(void *self, const struct gt_call *call, struct gt_err *err) {
    return gt_exec_run(self, call, err);
}

struct gt_product gt_product_of(const struct gt_exec *exec) {
    struct gt_exec_info info;
    gt_exec_describe(exec, &info);
    return (struct gt_product){.enqueue = run,
                               .self = (void *)(uintptr_t)exec, /* the run only reads it */
                               .workspace_bytes = info.fit->passes.workspace_bytes};
}
