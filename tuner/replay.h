/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - the driver alone: launches that somebody made, noted with their arguments, and made again
 * by the driver's own calls and nothing else. One file a driver (replay_cuda.c, replay_opencl.c), named
 * in its rig's operations.
 */
#ifndef GT_TUNER_REPLAY_H
#define GT_TUNER_REPLAY_H

#include "tuner/rig.h"

enum { GT_REPLAY_MAX = 8 }; /* launches; a plan has GT_PASSES_MAX at most */

struct gt_replay; /* each driver defines its own */

struct gt_replay_ops {
    /* Notes what `fn` enqueues on the rig's stream, which may run meanwhile; *launches says how many.
     * EUNSUPPORTED: the driver does not tell, or there are more than GT_REPLAY_MAX. The rig and what
     * was launched must outlive the replay. */
    gt_status (*note)(struct gt_replay **out, int *launches, struct gt_rig *rig,
                      gt_enqueue_fn fn, void *user, struct gt_err *err);
    /* Enqueues them once more. */
    gt_status (*run)(struct gt_replay *r, struct gt_err *err);
    void (*destroy)(struct gt_replay *r); /* accepts NULL */
};

extern const struct gt_replay_ops gt_replay_cuda, gt_replay_opencl;

#endif
