/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - events and their clock. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdlib.h>
#include <time.h>

gt_cu_result cuEventCreate(CUevent *event, unsigned flags) {
    ENTER(cuEventCreate);
    *event = calloc(1, sizeof **event);
    live.events += *event != NULL;
    return *event ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuEventDestroy_v2(CUevent event) {
    ENTER(cuEventDestroy);
    live.events--;
    free(event);
    return GT_CU_SUCCESS;
}

static double wall_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

gt_cu_result cuEventRecord(CUevent event, CUstream stream) {
    ENTER(cuEventRecord);
    if (not_in_capture(stream))
        return IN_CAPTURE;
    (void)cl.clFinish(cl.queue);
    event->ns = times_are_modelled() ? or_null_stream(stream)->clock_ns : wall_ns();
    event->recorded = true;
    order_record(event, or_null_stream(stream));
    return GT_CU_SUCCESS;
}

gt_cu_result cuEventQuery(CUevent event) {
    ENTER(cuEventQuery);
    return finish();
}

gt_cu_result cuEventSynchronize(CUevent event) {
    ENTER(cuEventSynchronize);
    order_join(event->seen);
    return finish();
}

gt_cu_result cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    ENTER(cuEventElapsedTime);
    if (!start->recorded || !end->recorded)
        return GT_CU_INVALID_HANDLE;
    double ns = (end->ns - start->ns) / clock_factor(true);
    const struct rule *outlier = due("outlier", ""), *slow = due("slow", "");
    if (slow)
        ns *= slow->value;
    if (outlier)
        ns *= outlier->value;
    *ms = (float)(ns * 1e-6);
    return current()->lost;
}
