/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.h - measures the driver alone. It records launches with their arguments and repeats
 * them with the driver's own calls and nothing else. Each driver has one file (bare_cuda.c,
 * bare_opencl.c), which its rig's operations name.
 */
#ifndef GT_TUNER_RIG_BARE_H
#define GT_TUNER_RIG_BARE_H

#include "tuner/rig/rig.h"

enum { GT_BARE_MAX = 8 }; /* launches; a plan has at most GT_PASSES_MAX */

/* Recorded launches. A driver's own struct begins with this one. */
struct gt_bare {
    int launches;
};

struct gt_bare_ops {
    /* Records the launches that `fn` enqueues on the rig's stream; they may also run. The
     * rig and the kernels must outlive *out. EUNSUPPORTED: the driver does not show its
     * launches, or there are more than GT_BARE_MAX. */
    gt_status (*record)(struct gt_bare **out, struct gt_rig *rig, gt_enqueue_fn fn,
                        void *user, struct gt_err *err);
    /* Enqueues the recorded launches again. */
    gt_status (*run)(struct gt_bare *r, struct gt_err *err);
    void (*destroy)(struct gt_bare *r); /* accepts NULL */
};

extern const struct gt_bare_ops gt_bare_cuda, gt_bare_opencl;

#endif
