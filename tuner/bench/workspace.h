/* SPDX-License-Identifier: Apache-2.0 */
/* workspace.h - the device memory that every side of a comparison may use
 * beside A, B, C. */
#ifndef GT_TUNER_BENCH_WORKSPACE_H
#define GT_TUNER_BENCH_WORKSPACE_H

#include "tuner/rig/rig.h"

struct gt_bench_workspace {
    struct gt_rig *rig;
    /* Bytes that it has for every problem. INFINITY: twice the bytes of A, B and C, and at
     * least 64 MiB. */
    double limit;
    void *memory; /* NULL at first, and with a limit of 0; of the device */
    size_t bytes;
};

/* Makes room for the problem. Its contents are lost. ENOMEM: the workspace has no memory
 * then. */
gt_status gt_bench_workspace_fit(struct gt_bench_workspace *w, const gemmtune_problem *p,
                                 struct gt_err *err);
void gt_bench_workspace_release(struct gt_bench_workspace *w);

#endif
