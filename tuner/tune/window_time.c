/* SPDX-License-Identifier: Apache-2.0 */
/* window_time.c - the time of a search: which picks it is too late for, and when the jobs
 * of the workers end. */
#include "tuner/tune/window_inside.h"

#include "core/clock.h"
#include "tuner/base/cores.h"
#include "tuner/tune/estimate.h"

#include <math.h>

/* Seconds that the finals take beside their set-up, as seen. */
static const double finals_s = 0.5;

bool gt_window_is_late(const struct gt_window *w) {
    return gt_seconds() > w->deadline;
}

bool gt_window_wants(const struct gt_window *w, const struct gt_window_entry *e) {
    return e->required || !gt_window_is_late(w);
}

/* The number of required picks without an outcome. */
static int required_left(struct gt_window *w) {
    int left = w->exhausted ? 0 : w->required;
    for (int i = 0; i < w->open; i++)
        left +=
            gt_window_at(w, i)->required && gt_window_at(w, i)->state != GT_PICK_RESOLVED;
    return left;
}

/* Whether required picks have no outcome yet. */
static bool has_required(struct gt_window *w) {
    return required_left(w) > 0;
}

static bool is_late_to_compile(const struct gt_window *w) {
    return gt_seconds() + w->t->compile_s > w->deadline;
}

bool gt_window_should_compile(const struct gt_window *w, const struct gt_window_entry *e) {
    return e->required || !is_late_to_compile(w);
}

bool gt_window_is_compiled_ahead(const struct gt_window *w,
                                 const struct gt_window_entry *e) {
    struct gt_job job;
    gt_window_init_job(&job, w, GT_JOB_COMPILE, e);
    return gt_pool_compiles(w->t->pool, &job);
}

/* Whether the entries that are left would all be compiled too late. */
static bool is_over(struct gt_window *w) {
    bool over = w->t->compilers > 0 && w->open > 0 && is_late_to_compile(w);
    for (int i = 0; over && i < w->open; i++) {
        const struct gt_window_entry *e = gt_window_at(w, i);
        over = e->state == GT_PICK_RESOLVED ||
               (e->state == GT_PICK_ASKED && !gt_window_is_compiled_ahead(w, e));
    }
    return over;
}

bool gt_window_is_out_of_time(struct gt_window *w) {
    return *w->t->stop || gt_pool_was_ended(w->t->pool) ||
           ((gt_window_is_late(w) || is_over(w)) && !has_required(w));
}

bool gt_window_compilers_are_free(const struct gt_window *w) {
    return !w->waiting && (w->exhausted || is_late_to_compile(w));
}

void gt_window_note_compile(struct gt_window *w, const struct gt_window_entry *e) {
    gt_estimate_learn(&w->t->compile_s, gt_seconds() - e->compile_at);
}

double gt_window_grace_s(void) {
    return 5 * gt_cores_crowding();
}

/* Whether another set-up would take more than a quarter of the problem's share. */
static bool sets_up_once(const struct gt_window *w) {
    return w->t->strict && 4 * w->set_up_s > w->limit_s;
}

void gt_window_start_clock(struct gt_window *w) {
    const double now = gt_seconds();
    w->set_up_s = now - w->prepare_began;
    const double again_s = sets_up_once(w) ? 0 : w->set_up_s;
    if (w->limit_s > 0 && w->t->strict)
        w->deadline = fmax(w->began + w->limit_s - again_s - finals_s, now);
    else if (w->limit_s > 0)
        w->deadline = now + w->limit_s;
}

void gt_window_limit_jobs(struct gt_window *w) {
    const double part = fmin(w->limit_s / 8, gt_window_grace_s());
    const bool can_end = w->finals->count > 0 && !has_required(w);
    if (w->t->strict && w->deadline < HUGE_VAL)
        gt_pool_end_at(w->t->pool, w->deadline + (can_end ? part : gt_window_grace_s()));
}

bool gt_window_hurries_finals(const struct gt_window *w) {
    const bool is_late = gt_seconds() + finals_s > w->began + w->limit_s;
    return sets_up_once(w) || (w->t->strict && is_late);
}

/* Seconds of a trial, by this run's trials. The first takes at least as long as it has. */
static double trial_seconds(const struct gt_window *w, double now) {
    const double spent = now - w->prepare_began - w->set_up_s;
    return spent / fmax((double)w->result->fresh, 1);
}

/* The finals of the first problem: a CPU has compiled the kernels, which takes most of a
 * trial and of a set-up there. */
static double first_finals_s(const struct gt_window *w, double trial_s) {
    if (w->t->device.is_cpu)
        return finals_s + trial_s;
    return finals_s + (sets_up_once(w) ? 0 : w->set_up_s);
}

double gt_window_left(struct gt_window *w) {
    const double now = gt_seconds();
    if (w->set_up_s <= 0)
        return -1;
    const double trial_s = trial_seconds(w, now);
    const size_t done = w->result->trials;
    const double all_s = w->planned > done ? trial_s * (double)(w->planned - done) : 0;
    const double required_s = trial_s * required_left(w);
    const double search_s = fmin(fmax(w->deadline - now, required_s), all_s);
    w->finals->expected_s =
        w->t->finals_s > 0 ? w->t->finals_s : first_finals_s(w, trial_s);
    return search_s + (w->t->trials_only ? 0 : w->finals->expected_s);
}
