/* SPDX-License-Identifier: Apache-2.0 */
/* tune.c - see tune.h: a problem's spaces, then its search, then its finals. */
#include "core/clock.h"
#include "tuner/tune/ahead.h"
#include "tuner/tune/row_order.h"
#include "tuner/tune/starts.h"
#include "tuner/tune/window.h"

#include <stdio.h>
#include <string.h>

/* A problem under way. */
struct task {
    struct gt_tuner *t;
    const struct gt_sweep_item *item;
    struct gt_space *space;
    int spaces;
    struct gt_outlook outlook; /* on the spaces */
    double limit_s, began;
    struct gt_tune_result *result;
    struct gt_finals finals;
};

static size_t planned_trials(const struct task *s) {
    size_t legal = 0;
    for (int i = 0; i < s->spaces; i++)
        legal += s->space[i].count;
    s->result->legal = legal;
    return legal < s->t->effort->trials ? legal : s->t->effort->trials;
}

static void say_finals(const struct task *s) {
    char text[GT_PROBLEM_NAME_MAX + 128], left[32] = "";
    const struct gt_progress *p = &s->t->progress;
    if (s->finals.expected_s > 0)
        snprintf(left, sizeof left, ", about %.0f s", s->finals.expected_s);
    snprintf(text, sizeof text, "[%zu/%zu] %s  %zu trial%s, measuring the best in turn%s",
             p->problem, p->problems, s->item->name, s->result->trials,
             gt_text_plural((int64_t)s->result->trials), left);
    gt_progress_step(&s->t->progress, text);
}

static gt_status search(struct task *s, struct gt_err *err) {
    struct gt_starts starts;
    gt_status status = gt_starts_find(&starts, s->t, s->space, s->spaces, &s->outlook,
                                      &s->item->problem, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_window_setup setup = {
        .tuner = s->t,
        .item = s->item,
        .search = {.space = s->space,
                   .spaces = s->spaces,
                   .start = starts.pick, /* the search asks for them first, in this order */
                   .starts = starts.count,
                   .budget = s->t->effort->trials,
                   .costly = s->t->device.is_cpu,
                   .seed = s->t->seed,
                   .predict = gt_outlook_ns,
                   .user = &s->outlook},
        .required = starts.required,
        .planned = planned_trials(s),
        .limit_s = s->limit_s,
        .began = s->began};
    return gt_window_search(s->result, &s->finals, &setup, err);
}

static gt_status search_and_decide(struct task *s, struct gt_err *err) {
    const gt_status status = search(s, err);
    if (status == GEMMTUNE_OK && !*s->t->stop)
        gt_ahead_compile(&s->t->ahead, s->t);
    s->result->undecided = s->t->trials_only && s->finals.count > 0 && !*s->t->stop;
    if (status != GEMMTUNE_OK || s->result->undecided)
        return status;
    say_finals(s);
    return gt_finals_decide(s->result, &s->finals, s->t, s->item, err);
}

/* A failure of the database ends the run. Any other failure ends only this problem. */
static bool is_database_error(gt_status status) {
    return status == GEMMTUNE_EDB || status == GEMMTUNE_EIO || status == GEMMTUNE_ESCHEMA;
}

static struct gt_pool_use used_since(const struct gt_pool_use *before,
                                     struct gt_pool *pool) {
    struct gt_pool_use use = gt_pool_use(pool);
    use.preparing_s -= before->preparing_s;
    use.building_s -= before->building_s;
    use.running_s -= before->running_s;
    use.compile_wait_s -= before->compile_wait_s;
    return use;
}

/* Prints the line when it differs from the last one. */
static void say_untried(struct gt_tuner *t, const struct gt_err *untried) {
    if (untried->line[0] != '\0' && strcmp(untried->line, t->untried.line) != 0)
        gt_progress_line(&t->progress, untried->line);
    t->untried = *untried;
}

gt_status gt_tune_problem(struct gt_tune_result *result, struct gt_tuner *t,
                          const struct gt_sweep_item *item, double seconds,
                          struct gt_err *err) {
    struct gt_err why = {""};
    const double began = gt_seconds();
    const struct gt_pool_use before = gt_pool_use(t->pool);
    struct task s = {
        .t = t, .item = item, .limit_s = seconds, .began = began, .result = result};
    s.finals.own_limit = t->limits_workspace ? t->workspace_max : 0;
    memset(result, 0, sizeof *result);
    struct gt_err untried;
    char order[GT_ORDER_MAX], next[GT_ORDER_MAX];
    gt_status status = gt_tune_order(order, t, &item->problem, &why);
    if (status == GEMMTUNE_OK)
        status = gt_ahead_spaces(&s.space, &s.spaces, &s.outlook, &untried, &t->ahead, t,
                                 item, order, &why);
    if (status == GEMMTUNE_OK)
        say_untried(t, &untried);
    gt_ahead_clear(&t->ahead);
    if (t->next != NULL && gt_tune_order(next, t, &t->next->problem, NULL) == GEMMTUNE_OK)
        gt_ahead_begin(&t->ahead, t, t->next, next);
    if (status == GEMMTUNE_OK)
        status = search_and_decide(&s, &why);
    gt_outlook_clear(&s.outlook);
    gt_tune_spaces_free(s.space, s.spaces);
    result->seconds = gt_seconds() - began;
    result->use = used_since(&before, t->pool);
    if (status != GEMMTUNE_OK && is_database_error(status))
        return gt_fail(err, status, "%s", why.line);
    if (status != GEMMTUNE_OK && !*t->stop) /* what is stopped has not failed */
        snprintf(result->error, sizeof result->error, "%s", why.line);
    return GEMMTUNE_OK;
}
