/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.h - the driver alone: launches that somebody made, noted with their arguments, and
 * made again by the driver's own calls and nothing else. One file a driver (bare_cuda.c,
 * bare_opencl.c), named in its rig's operations.
 */
#ifndef GT_TUNER_RIG_BARE_H
#define GT_TUNER_RIG_BARE_H

#include "tuner/rig/rig.h"

enum { GT_BARE_MAX = 8 }; /* launches; a plan has GT_PASSES_MAX at most */

/* Launches that were noted. A driver's own struct begins with this one. */
struct gt_bare {
    int launches;
};

struct gt_bare_ops {
    /* Notes the launches that `fn` enqueues on the rig's stream; they may run meanwhile.
     * EUNSUPPORTED: the driver does not tell, or there are more than GT_BARE_MAX. The rig
     * and the kernels must outlive it. */
    gt_status (*note)(struct gt_bare **out, struct gt_rig *rig, gt_enqueue_fn fn,
                      void *user, struct gt_err *err);
    /* Enqueues them once more. */
    gt_status (*run)(struct gt_bare *r, struct gt_err *err);
    void (*destroy)(struct gt_bare *r); /* accepts NULL */
};

extern const struct gt_bare_ops gt_bare_cuda, gt_bare_opencl;

#endif
