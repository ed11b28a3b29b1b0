/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/run.h"

gt_status gt_host_run_init(struct gt_host_run *run, const struct gt_host_cut *cut,
                           struct gt_err *err) {
    run->cut = cut;
    if (pthread_mutex_init(&run->lock, NULL) != 0)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (pthread_cond_init(&run->change, NULL) == 0)
        return GEMMTUNE_OK;
    (void)pthread_mutex_destroy(&run->lock);
    return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

void gt_host_run_clear(struct gt_host_run *run) {
    (void)pthread_cond_destroy(&run->change);
    (void)pthread_mutex_destroy(&run->lock);
}

void gt_host_run_fail_locked(struct gt_host_run *run, gt_status status,
                             const struct gt_err *err) {
    if (run->status == GEMMTUNE_OK) {
        run->status = status;
        run->err = *err;
    }
    run->stop = true;
    (void)pthread_cond_broadcast(&run->change);
}

void gt_host_run_fail(struct gt_host_run *run, gt_status status, const struct gt_err *err) {
    (void)pthread_mutex_lock(&run->lock);
    gt_host_run_fail_locked(run, status, err);
    (void)pthread_mutex_unlock(&run->lock);
}
