/* SPDX-License-Identifier: Apache-2.0 */
/* rig.c - the list of rigs. */
#include "tuner/rig/rig.h"

static const struct gt_rig_ops *const rigs[] = {&gt_rig_cuda, &gt_rig_opencl, NULL};

gt_status gt_rig_open(struct gt_rig **out, const struct gt_device *d, struct gt_err *err) {
    *out = NULL;
    for (const struct gt_rig_ops *const *r = rigs; *r; r++)
        if ((*r)->backend == d->backend)
            return (*r)->open(out, d, err);
    return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "%s devices cannot be tuned",
                   gt_backend_name(d->backend));
}

void gt_rig_close(struct gt_rig *rig) {
    if (rig)
        gt_rig_head(rig)->ops->close(rig);
}
