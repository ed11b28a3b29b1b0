/* SPDX-License-Identifier: Apache-2.0 */
/* plan_ahead.c - see plan_ahead.h. */
#include "runtime/plan/plan_ahead.h"

#include "core/quiet_thread.h"
#include "runtime/drivers/build.h"
#include "runtime/plan/plan_choose.h"

static void *compile(void *user) {
    const struct gt_plan_ahead *a = user;
    struct gt_choice narrow;
    if (gt_match_narrow(&narrow, a->query, &a->wide, NULL) == GEMMTUNE_OK)
        (void)gt_exec_compile(a->gpu, &narrow.fit, NULL);
    return NULL;
}

/* Where only loading compiles, a thread would need the caller's context. */
static bool has_two_kernels(const struct gt_driver *d, const struct gt_choice *wide) {
    return d->compiles_apart && d->pointers_are_addresses &&
           gt_wants_narrow(&wide->fit, &wide->fit.problem) && gt_build_keeps(d);
}

void gt_plan_ahead_begin(struct gt_plan_ahead *a, struct gt_gpu *gpu,
                         const struct gt_query *query, const struct gt_choice *wide) {
    *a = (struct gt_plan_ahead){.gpu = gpu, .query = *query, .wide = *wide};
    a->started =
        has_two_kernels(gpu->driver, wide) && gt_quiet_thread_start(&a->thread, compile, a);
}

void gt_plan_ahead_end(struct gt_plan_ahead *a) {
    if (a->started)
        (void)pthread_join(a->thread, NULL);
    a->started = false;
}
