/* SPDX-License-Identifier: Apache-2.0 */
/* prebuild.c - see prebuild.h. */
#include "tuner/tune/prebuild.h"

#include "runtime/drivers/cache.h"
#include "tuner/base/parallel.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prebuild {
    const struct gt_prebuild_setup *setup;
    struct gt_wanted_list list;
    struct gt_wanted_plans *plans; /* of each problem */
    size_t next;                   /* the first one that was not looked at for sending */
    size_t under_way, done;        /* done: of this round */
    bool full;                     /* the next one would not stay in the cache */
    double bytes, largest;         /* of images that are in the cache */
    struct gt_prebuild_result *out;
};

/* ---- what the cache holds ------------------------------------------------------------ */

static bool is_there(const struct gt_wanted *w) {
    return w->state == GT_WANTED_BUILT || w->state == GT_WANTED_FOUND;
}

static void note_there(struct prebuild *b, const struct gt_wanted *w) {
    b->bytes += (double)w->bytes;
    b->largest = fmax(b->largest, (double)w->bytes);
}

static void count_there(struct prebuild *b) {
    b->bytes = 0;
    for (size_t i = 0; i < b->list.count; i++)
        if (is_there(b->list.item[i]))
            note_there(b, b->list.item[i]);
}

/* Whether one more image stays, beside the images there and under way. An image that
 * is not built yet is taken to be as large as the largest one so far. */
static bool has_room(const struct prebuild *b) {
    const int64_t limit = gt_cache_max();
    const double more = b->largest * (double)(b->under_way + 1);
    return limit == 0 || b->bytes + more <= (double)(limit - limit / 4);
}

/* ---- jobs ---------------------------------------------------------------------------- */

static gt_status send(struct prebuild *b, size_t i, struct gt_err *err) {
    struct gt_wanted *w = b->list.item[i];
    char name[GT_PROBLEM_NAME_MAX];
    struct gt_point point;
    struct gt_job job;
    (void)gt_problem_name(w->problem, name);
    gt_job_init(&job, GT_JOB_COMPILE, b->setup->device, name);
    gt_point_of_values(&point, w->family, w->values);
    gt_candidate_set_point(&job.candidate[0], w->family, &point);
    job.id = (int64_t)i;
    job.count = 1;
    job.pointer_align = w->pointer_align;
    const gt_status status = gt_pool_send(b->setup->pool, &job, err);
    if (status == GEMMTUNE_OK) {
        w->state = GT_WANTED_SENT;
        b->under_way++;
    }
    return status;
}

static gt_status send_all(struct prebuild *b, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    while (status == GEMMTUNE_OK && b->next < b->list.count && !b->full &&
           gt_pool_can_compile(b->setup->pool)) {
        if (b->list.item[b->next]->state != GT_WANTED_MISSING)
            b->next++;
        else if (has_room(b))
            status = send(b, b->next++, err);
        else if (b->under_way > 0)
            break; /* their true size will tell */
        else
            b->full = true;
    }
    return status;
}

static void note_failure(struct prebuild *b, struct gt_wanted *w, const char *why) {
    char name[GT_PROBLEM_NAME_MAX];
    w->state = GT_WANTED_FAILED;
    if (b->out->why[0] != '\0')
        return;
    (void)gt_problem_name(w->problem, name);
    (void)snprintf(b->out->why, sizeof b->out->why, "%.160s, family %s: %.280s", name,
                   w->family->name, why);
}

/* Whether a worker failed because the device or the compiler is missing. */
static bool is_lost(const struct gt_report *r) {
    return r->stage == GT_STAGE_FAILED &&
           (r->status == GEMMTUNE_ENODRIVER || r->status == GEMMTUNE_EBUILD);
}

/* A job has ended. Only the cache itself says that the image is there. */
static gt_status take(struct prebuild *b, const struct gt_report *r, struct gt_err *err) {
    struct gt_wanted *w = b->list.item[r->id];
    const char *why = r->stage == GT_STAGE_FAILED     ? r->error
                      : r->result[0].error[0] != '\0' ? r->result[0].error
                                                      : "the image cache does not keep it";
    b->under_way--;
    b->done++;
    if (is_lost(r)) {
        w->state = GT_WANTED_MISSING;
        return gt_fail(err, r->status, "%s", r->error);
    }
    if (!gt_wanted_look(w, b->setup->device)) {
        note_failure(b, w, why);
        return GEMMTUNE_OK;
    }
    w->state = GT_WANTED_BUILT;
    note_there(b, w);
    return GEMMTUNE_OK;
}

static size_t count_missing(const struct gt_wanted_list *l) {
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += l->item[i]->state == GT_WANTED_MISSING;
    return count;
}

/* Builds what is missing of the list as it is. */
static gt_status build_round(struct prebuild *b, struct gt_err *err) {
    const size_t missing = count_missing(&b->list);
    gt_status status = GEMMTUNE_OK;
    struct gt_event event;
    bool got = false;
    b->next = b->done = 0;
    while (status == GEMMTUNE_OK && *b->setup->stop == 0) {
        gt_progress_count(b->setup->progress, "building kernels", b->done, missing);
        status = send_all(b, err);
        if (status != GEMMTUNE_OK || b->under_way == 0)
            break;
        status = gt_pool_wait(&got, &event, b->setup->pool, 0.2, err);
        if (status == GEMMTUNE_OK && got)
            status = take(b, &event.report, err);
    }
    return status;
}

/* ---- the rounds ---------------------------------------------------------------------- */

/* Questions that all cores ask. */
struct asking {
    struct prebuild *b;
    bool again;
    atomic_size_t done;
    atomic_bool short_of_memory;
};

/* A gt_parallel_fn: asks about some of the wishes, and then of the problems. Thread 0 is
 * the caller's, and tells how far all are. */
static void ask_some(void *user, int thread, int64_t first, int64_t end) {
    struct asking *a = user;
    struct prebuild *b = a->b;
    const struct gt_prebuild_setup *s = b->setup;
    for (size_t i = (size_t)first; i < (size_t)end && *s->stop == 0; i++) {
        const bool is_wish = i < s->wishes;
        gt_status status = GEMMTUNE_OK;
        if (is_wish && !a->again)
            status = gt_wanted_wish(&b->list, &s->wish[i], i, NULL);
        if (!is_wish && (!a->again || gt_wanted_outdated(&b->plans[i - s->wishes])))
            status = gt_wanted_add(&b->plans[i - s->wishes], &b->list,
                                   &s->problem[i - s->wishes], i - s->wishes, NULL);
        if (status != GEMMTUNE_OK)
            atomic_store(&a->short_of_memory, true);
        const size_t done = atomic_fetch_add(&a->done, 1);
        if (thread == 0)
            gt_progress_count(s->progress, "looking kernels up", done,
                              s->wishes + s->problems);
    }
}

/* Asks about all problems, or `again` about those with a kernel that has failed. */
static gt_status ask(struct prebuild *b, bool again, struct gt_err *err) {
    struct asking a = {.b = b, .again = again};
    atomic_init(&a.done, 0);
    atomic_init(&a.short_of_memory, false);
    gt_parallel(ask_some, &a, (int64_t)(b->setup->wishes + b->setup->problems));
    gt_wanted_sort(&b->list);
    count_there(b);
    return atomic_load(&a.short_of_memory) ? gt_fail(err, GEMMTUNE_ENOMEM, "out of memory")
                                           : GEMMTUNE_OK;
}

static size_t count_failed(const struct gt_wanted_list *l) {
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += l->item[i]->state == GT_WANTED_FAILED;
    return count;
}

/* After failures plans take other kernels. */
static gt_status build_all(struct prebuild *b, struct gt_err *err) {
    size_t failed = 0, before;
    gt_status status = ask(b, false, err);
    do {
        before = failed;
        if (status == GEMMTUNE_OK)
            status = build_round(b, err);
        failed = count_failed(&b->list);
        if (status == GEMMTUNE_OK && failed > before && *b->setup->stop == 0) {
            /* each plan would log the failures, which are counted already */
            gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_ERROR);
            status = ask(b, true, err);
        }
    } while (status == GEMMTUNE_OK && failed > before && *b->setup->stop == 0);
    return status;
}

/* Other programs may have filled the cache meanwhile, or this one by what is not listed. */
static void look_again(struct prebuild *b) {
    for (size_t i = 0; i < b->list.count && b->out->built > 0; i++)
        if (is_there(b->list.item[i]) && !gt_wanted_look(b->list.item[i], b->setup->device))
            b->out->dropped++;
}

static void sum_up(struct prebuild *b) {
    struct gt_prebuild_result *out = b->out;
    for (size_t i = 0; i < b->list.count; i++) {
        const enum gt_wanted_state state = b->list.item[i]->state;
        out->built += state == GT_WANTED_BUILT;
        out->found += state == GT_WANTED_FOUND;
        out->failed += state == GT_WANTED_FAILED;
        if (state == GT_WANTED_MISSING && b->full)
            out->left_out++;
        else if (state == GT_WANTED_MISSING || state == GT_WANTED_SENT)
            out->open++;
    }
    look_again(b);
    for (size_t i = 0; i < b->list.count; i++)
        out->bytes += (int64_t)b->list.item[i]->bytes;
}

gt_status gt_prebuild(struct gt_prebuild_result *out, const struct gt_prebuild_setup *setup,
                      struct gt_err *err) {
    struct prebuild b = {.setup = setup, .out = out};
    *out = (struct gt_prebuild_result){0};
    if (gt_wanted_init(&b.list, setup->snapshot, setup->device, err) != GEMMTUNE_OK)
        return GEMMTUNE_ENOMEM;
    b.plans = calloc(setup->problems + 1, sizeof *b.plans);
    const gt_status status = b.plans != NULL
                                 ? build_all(&b, err)
                                 : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    sum_up(&b);
    gt_progress_end(setup->progress);
    gt_wanted_clear(&b.list);
    free(b.plans);
    return status;
}
