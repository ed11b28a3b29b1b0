/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_measure.c - the kernels of hidden problems, built and timed on the device. */
#include "tuner/judge/evaluate.h"

#include "tuner/lab/ratio.h"
#include "tuner/base/talk.h"

#include <stdio.h>

/* The winner and the rules' kernels, without duplicates. at[r] is the index of rule r's
 * kernel, -1 for none. */
struct contest {
    int count, at[GT_RULES];
    struct gt_candidate candidate[GT_RULES + 1];
};
_Static_assert(GT_RULES + 1 <= GT_JOB_POINTS_MAX,
               "the kernels of a problem fit in one job");

static int enter(struct contest *c, const struct gt_family *family,
                 const struct gt_point *point) {
    struct gt_candidate *new = &c->candidate[c->count];
    gt_candidate_set_point(new, family, point);
    for (int i = 0; i < c->count; i++)
        if (gt_candidate_same(&c->candidate[i], new))
            return i;
    return c->count++;
}

static struct contest contest_of(const struct gt_hidden *h) {
    struct contest c = {.count = 0};
    struct gt_point point;
    gt_known_point(&point, h->winner);
    (void)enter(&c, h->winner->family, &point);
    for (int r = 0; r < GT_RULES; r++) {
        const struct gt_answer *a = &h->answer[r];
        c.at[r] = a->found ? enter(&c, a->choice.family, &a->choice.point) : -1;
    }
    return c;
}

static void await_compilers(struct gt_pool *pool, int *flying, int most) {
    struct gt_event event;
    bool got = true;
    while (*flying > most && got) {
        if (gt_pool_wait(&got, &event, pool, 60, NULL) != GEMMTUNE_OK)
            return;
        *flying -= got;
    }
}

/* A failure will occur again when the kernel is measured. */
void gt_evaluate_build_ahead(struct gt_evaluate_work *w, struct gt_progress *progress) {
    int flying = 0;
    for (size_t i = 0; w->session->compilers > 0 && i < w->count; i++) {
        const struct contest c = contest_of(&w->hidden[i]);
        gt_progress_count(progress, "compiling for hidden problems", i, w->count);
        for (int n = 0; n < c.count; n++) {
            struct gt_job job;
            gt_job_init(&job, GT_JOB_COMPILE, &w->device,
                        w->hidden[i].winner->problem_name);
            job.count = 1;
            job.candidate[0] = c.candidate[n];
            await_compilers(w->session->pool, &flying, w->session->compilers - 1);
            flying += gt_pool_send(w->session->pool, &job, NULL) == GEMMTUNE_OK;
        }
    }
    await_compilers(w->session->pool, &flying, 0);
}

/* Waits for an event of the compilers. False when there is no pool to wait for. */
static bool wait_a_moment(struct gt_pool *pool) {
    struct gt_event event;
    bool got;
    return !gt_session_stop && gt_pool_wait(&got, &event, pool, 0.2, NULL) == GEMMTUNE_OK;
}

void gt_evaluate_build(struct gt_evaluate_work *w, const struct gt_hidden *h) {
    struct gt_pool *pool = w->session->pool;
    const struct contest c = contest_of(h);
    struct gt_job job[GT_RULES + 1];
    for (int i = 0; w->session->compilers > 0 && i < c.count; i++) {
        gt_job_init(&job[i], GT_JOB_COMPILE, &w->device, h->winner->problem_name);
        job[i].count = 1;
        job[i].candidate[0] = c.candidate[i];
        while (!gt_pool_can_compile(pool) && wait_a_moment(pool))
            ;
        (void)gt_pool_send(pool, &job[i], NULL);
    }
    for (int i = 0; w->session->compilers > 0 && i < c.count; i++)
        while (gt_pool_compiles(pool, &job[i]) && wait_a_moment(pool))
            ;
}

/* A kernel's time is the winner's time multiplied by their ratio, round by round. */
static void take_times(struct gt_evaluate_work *w, struct gt_hidden *h,
                       const struct contest *c, const struct gt_report *report) {
    const struct gt_result *best = &report->result[0];
    for (int r = 0; r < GT_RULES; r++) {
        struct gt_answer *a = &h->answer[r];
        if (!a->found)
            continue;
        const struct gt_result *result = &report->result[c->at[r]];
        const bool known = result->outcome == GT_CORRECT && best->outcome == GT_CORRECT;
        a->best_ns = known ? best->time.median_ns : 0;
        a->ns =
            known ? best->time.median_ns * gt_ratio_median(&result->time, &best->time) : 0;
    }
    for (int i = 0; i < report->count; i++) {
        const struct gt_result *result = &report->result[i];
        if (result->outcome == GT_CORRECT)
            continue;
        gt_talk("%s: %s \"%s\" is %s: %s", h->winner->problem_name, c->candidate[i].family,
                c->candidate[i].point, gt_outcome_word(result->outcome), result->error);
        *(result->outcome == GT_WRONG_RESULT ? &w->wrong : &w->failed) += 1;
    }
}

static int pass_on(const struct gt_evaluate_work *w, const struct gt_hidden *h,
                   const struct contest *c, const struct gt_report *report) {
    int code = -1;
    for (int i = 0; w->taker != NULL && code < 0 && i < report->count; i++)
        code = w->taker(w->taker_user, h, &c->candidate[i], &report->result[i]);
    return code;
}

int gt_evaluate_measure(struct gt_evaluate_work *w, struct gt_hidden *h) {
    const struct contest c = contest_of(h);
    struct gt_report report;
    struct gt_err err = {""};
    for (int r = 0; r < GT_RULES; r++)
        h->answer[r].ns = h->answer[r].best_ns = 0;
    const gt_status status =
        gt_session_try(&report, w->session, GT_JOB_COMPARE, h->winner->problem_name,
                       c.candidate, c.count, (uint64_t)w->v.seed + 0xe7a1, &err);
    if (gt_session_lost(status))
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    if (status == GEMMTUNE_OK) {
        take_times(w, h, &c, &report);
        return pass_on(w, h, &c, &report);
    }
    gt_talk("%s: %s", h->winner->problem_name, err.line);
    w->failed++;
    return -1;
}
