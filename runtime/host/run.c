/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - the end of a host product that fails. See engine.h. */
#include "runtime/host/engine.h"

void gt_host_run_fail_locked(struct gt_host_run *run, gt_status status,
                             const struct gt_err *err) {
    if (run->status == GEMMTUNE_OK) {
        run->status = status;
        run->err = *err;
    }
    run->stop = true;
    (void)pthread_cond_broadcast(&run->change);
}
