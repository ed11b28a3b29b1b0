/* SPDX-License-Identifier: Apache-2.0 */
/* workspace.c - see workspace.h. */
#include "tuner/bench/workspace.h"

#include "core/problem/problem.h"

#include <math.h>

/* Without a limit. */
enum { SHARE = 2, LEAST = 64 << 20 };

gt_status gt_bench_workspace_fit(struct gt_bench_workspace *w, const gemmtune_problem *p,
                                 struct gt_err *err) {
    const double wanted =
        isinf(w->limit) ? fmax(SHARE * gt_problem_bytes(p), LEAST) : w->limit;
    const size_t bytes = (size_t)wanted;
    if (bytes <= w->bytes)
        return GEMMTUNE_OK;
    gt_bench_workspace_release(w);
    const gt_status status =
        gt_rig_head(w->rig)->ops->alloc(&w->memory, w->rig, (int64_t)bytes, err);
    w->bytes = status == GEMMTUNE_OK ? bytes : 0;
    return status;
}

void gt_bench_workspace_release(struct gt_bench_workspace *w) {
    if (w->memory != NULL)
        gt_rig_head(w->rig)->ops->release(w->rig, w->memory);
    w->memory = NULL;
    w->bytes = 0;
}
