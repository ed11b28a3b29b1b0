/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c - see ahead.h. */
#include "tuner/tune/ahead.h"

#include "tuner/tune/starts.h"

#include <stdio.h>
#include <string.h>

static gt_status make(struct gt_space **out, int *spaces, struct gt_outlook *outlook,
                      struct gt_err *untried, const struct gt_tuner *t,
                      const gemmtune_problem *p, struct gt_err *err) {
    const gt_status status = gt_tune_spaces(out, spaces, untried, t, p, err);
    if (status == GEMMTUNE_OK)
        gt_outlook_make(outlook, *out, *spaces, &t->device, p);
    return status;
}

static void *make_ahead(void *user) {
    struct gt_ahead *a = user;
    struct gt_err unread;
    (void)make(&a->space, &a->spaces, &a->outlook, &a->untried, a->tuner, &a->item->problem,
               &unread);
    atomic_store(&a->done, true);
    return NULL;
}

void gt_ahead_begin(struct gt_ahead *a, const struct gt_tuner *t,
                    const struct gt_sweep_item *item) {
    *a = (struct gt_ahead){.tuner = t, .item = item};
    a->running =
        item && !t->device.is_cpu && pthread_create(&a->thread, NULL, make_ahead, a) == 0;
}

static void join(struct gt_ahead *a) {
    if (a->running)
        (void)pthread_join(a->thread, NULL);
    a->running = false;
}

void gt_ahead_compile(struct gt_ahead *a, struct gt_tuner *t) {
    struct gt_err unread;
    struct gt_starts starts = {0};
    struct gt_job job;
    if (a->running && !atomic_load(&a->done))
        return; /* the finalists should not wait for the thread */
    join(a);
    if (t->compilers == 0 || !a->space)
        return;
    gt_status status = gt_starts_find(&starts, t, a->space, a->spaces, &a->outlook,
                                      &a->item->problem, &unread);
    for (int i = 0;
         status == GEMMTUNE_OK && i < starts.count && gt_pool_can_compile(t->pool); i++) {
        const struct gt_space *space = &a->space[starts.pick[i].space];
        gt_job_init(&job, GT_JOB_COMPILE, &t->device, a->item->name);
        job.id = ++t->next_id;
        job.count = 1;
        gt_tune_candidate(&job.candidate[0], space, starts.pick[i].index);
        status = gt_pool_send(t->pool, &job, &unread);
    }
}

gt_status gt_ahead_spaces(struct gt_space **out, int *spaces, struct gt_outlook *outlook,
                          struct gt_err *untried, struct gt_ahead *a,
                          const struct gt_tuner *t, const struct gt_sweep_item *item,
                          struct gt_err *err) {
    join(a);
    if (!a->space || strcmp(a->item->name, item->name) != 0)
        return make(out, spaces, outlook, untried, t, &item->problem, err);
    *untried = a->untried;
    *out = a->space;
    *spaces = a->spaces;
    *outlook = a->outlook;
    a->space = NULL;
    a->spaces = 0;
    a->outlook = (struct gt_outlook){0};
    return GEMMTUNE_OK;
}

void gt_ahead_clear(struct gt_ahead *a) {
    join(a);
    gt_outlook_clear(&a->outlook);
    gt_tune_spaces_free(a->space, a->spaces);
    *a = (struct gt_ahead){0};
}
