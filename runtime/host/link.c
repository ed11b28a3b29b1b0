/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/link.h"

static const struct gt_link_ops *const all[] = {&gt_link_cuda, &gt_link_opencl};

gt_status gt_link_open(struct gt_link **out, const struct gt_gpu *gpu, struct gt_err *err) {
    *out = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->backend == gpu->driver->backend)
            return all[i]->open(out, gpu, err);
    return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                   "this backend has no products of matrices in host memory");
}

void gt_link_close(struct gt_link *link) {
    if (link != NULL)
        link->ops->close(link);
}
