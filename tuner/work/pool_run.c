/* SPDX-License-Identifier: Apache-2.0 */
/* pool_run.c - a job of the run worker from its beginning to its report. See pool.h. */
#include "tuner/work/pool.h"

gt_status gt_pool_run(struct gt_report *out, struct gt_pool *p, const struct gt_job *job,
                      struct gt_err *err) {
    struct gt_event event;
    bool got = false;
    gt_status status = gt_pool_send(p, job, err);
    while (status == GEMMTUNE_OK && !(got && event.kind == job->kind)) {
        status = gt_pool_wait(&got, &event, p, 0.2, err);
        if (status == GEMMTUNE_OK && !got && gt_pool_idle(p))
            status = gt_fail(err, GEMMTUNE_EDEVICE, "stopped before it was done");
    }
    if (status == GEMMTUNE_OK)
        *out = event.report;
    if (status == GEMMTUNE_OK && out->stage == GT_STAGE_FAILED)
        status = gt_fail(err, out->status != GEMMTUNE_OK ? out->status : GEMMTUNE_EDEVICE,
                         "%s", out->error);
    return status;
}

/* A bad outcome in a group may be the fault of another candidate:
 * - A lost context or worker ends all of them.
 * - A kernel that computes wrong results may have written to the data that others use.
 * - A failed timing of several kernels is charged to all. */
static bool may_be_of_another(gt_outcome outcome) {
    return outcome == GT_CRASHED || outcome == GT_TIMEOUT || outcome == GT_WRONG_RESULT ||
           outcome == GT_LAUNCH || outcome == GT_OUT_OF_MEMORY;
}

static gt_status run_alone(struct gt_result *out, struct gt_pool *p,
                           const struct gt_job *job, int i, struct gt_err *err) {
    struct gt_job one = *job;
    struct gt_report report;
    one.count = 1;
    one.candidate[0] = job->candidate[i];
    gt_status status = gt_pool_refresh(p, err);
    if (status == GEMMTUNE_OK)
        status = gt_pool_run(&report, p, &one, err);
    if (status == GEMMTUNE_OK)
        *out = report.result[0];
    return status;
}

gt_status gt_pool_run_final(struct gt_report *out, struct gt_pool *p,
                            const struct gt_job *job, bool fresh, struct gt_err *err) {
    gt_status status = fresh ? gt_pool_refresh(p, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = gt_pool_run(out, p, job, err);
    for (int i = 0; status == GEMMTUNE_OK && job->count > 1 && i < job->count; i++)
        if (may_be_of_another(out->result[i].outcome))
            status = run_alone(&out->result[i], p, job, i, err);
    return status;
}
