/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c - see ahead.h. */
#include "tuner/tune/ahead.h"

#include "tuner/tune/starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gt_status make(struct gt_space **out, int *spaces, struct gt_outlook *outlook,
                      struct gt_err *untried, const struct gt_tuner *t,
                      const gemmtune_problem *p, const char *order, struct gt_err *err) {
    const gt_status status = gt_tune_spaces(out, spaces, untried, t, p, order, err);
    if (status == GEMMTUNE_OK)
        gt_outlook_make(outlook, *out, *spaces, &t->device, p);
    return status;
}

static void *make_ahead(void *user) {
    struct gt_ahead *a = user;
    struct gt_err unread;
    (void)make(&a->space, &a->spaces, &a->outlook, &a->untried, a->tuner, &a->item->problem,
               a->order, &unread);
    atomic_store(&a->done, true);
    return NULL;
}

void gt_ahead_begin(struct gt_ahead *a, const struct gt_tuner *t,
                    const struct gt_sweep_item *item, const char *order) {
    *a = (struct gt_ahead){.tuner = t, .item = item};
    (void)snprintf(a->order, sizeof a->order, "%s", order);
    a->running =
        item && !t->device.is_cpu && pthread_create(&a->thread, NULL, make_ahead, a) == 0;
}

static void join(struct gt_ahead *a) {
    if (a->running)
        (void)pthread_join(a->thread, NULL);
    a->running = false;
}

/* Finds the first candidates, once. */
static bool find_starts(struct gt_ahead *a, const struct gt_tuner *t) {
    struct gt_err unread;
    if (a->starts != NULL)
        return true;
    a->starts = calloc(1, sizeof *a->starts);
    if (a->starts != NULL && gt_starts_find(a->starts, t, a->space, a->spaces, &a->outlook,
                                            &a->item->problem, &unread) != GEMMTUNE_OK)
        a->starts->count = 0;
    return a->starts != NULL;
}

/* Sends the next of the first candidates. False when none is left, or when it must wait:
 * for a compile worker, or for the one that has it for the present problem. */
static bool send_start(struct gt_ahead *a, struct gt_tuner *t) {
    struct gt_job job;
    struct gt_err unread;
    if (a->sent == a->starts->count || !gt_pool_can_compile(t->pool))
        return false;
    const struct gt_pick *pick = &a->starts->pick[a->sent];
    gt_job_init(&job, GT_JOB_COMPILE, &t->device, a->item->name);
    job.id = ++t->next_id;
    job.count = 1;
    gt_tune_candidate(&job.candidate[0], &a->space[pick->space], pick->index);
    const bool sent = !gt_pool_compiles(t->pool, &job) &&
                      gt_pool_send(t->pool, &job, &unread) == GEMMTUNE_OK;
    a->sent += sent;
    return sent;
}

void gt_ahead_compile(struct gt_ahead *a, struct gt_tuner *t) {
    if (a->running && !atomic_load(&a->done))
        return; /* nobody should wait for the thread */
    join(a);
    if (t->compilers == 0 || a->space == NULL || !find_starts(a, t))
        return;
    while (send_start(a, t))
        continue;
}

gt_status gt_ahead_spaces(struct gt_space **out, int *spaces, struct gt_outlook *outlook,
                          struct gt_err *untried, struct gt_ahead *a,
                          const struct gt_tuner *t, const struct gt_sweep_item *item,
                          const char *order, struct gt_err *err) {
    join(a);
    if (!a->space || strcmp(a->item->name, item->name) != 0 || strcmp(a->order, order) != 0)
        return make(out, spaces, outlook, untried, t, &item->problem, order, err);
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
    free(a->starts);
    *a = (struct gt_ahead){0};
}
