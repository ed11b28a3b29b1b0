/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - see evaluate.h: hides problems and sums up losses. */
#include "tuner/study/evaluate_inside.h"

#include "tuner/base/quantile.h"
#include "tuner/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hiding ---- */

/* Whether the kernel needs no more workspace than it may. */
static bool has_room(const struct gt_evaluation *e, const struct gt_known *k) {
    struct gt_point point;
    struct gt_fit fit;
    gt_known_point(&point, k);
    return gt_fit_point(&fit, k->family, e->setup.device, &k->problem, &point, NULL) ==
               GEMMTUNE_OK &&
           (uint64_t)fit.passes.workspace_bytes <= e->setup.workspace_max;
}

/* Whether record i is the first of its problem that has room. The records of a problem come
 * one after another, by rank. */
static bool is_winner(const struct gt_evaluation *e, size_t i) {
    const struct gt_known *k = &e->setup.known[i], *last = NULL;
    if (strcmp(k->device_key, e->setup.device_key) != 0)
        return false;
    if (e->setup.workspace_max == SIZE_MAX)
        return k->rank == 0;
    if (e->count > 0)
        last = e->order[e->count - 1];
    return (last == NULL || strcmp(last->problem_name, k->problem_name) != 0) &&
           has_room(e, k);
}

static gt_status shuffle_winners(struct gt_evaluation *e, struct gt_err *err) {
    uint64_t state = e->setup.seed;
    e->order = malloc((e->setup.known_count + 1) * sizeof *e->order);
    if (e->order == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu records",
                       e->setup.known_count);
    for (size_t i = 0; i < e->setup.known_count; i++)
        if (is_winner(e, i))
            e->order[e->count++] = &e->setup.known[i];
    for (size_t i = e->count; i > 1; i--) {
        const size_t j = (size_t)(gt_random(&state) % i);
        const struct gt_known *held = e->order[i - 1];
        e->order[i - 1] = e->order[j];
        e->order[j] = held;
    }
    return GEMMTUNE_OK;
}

static bool is_hidden(const struct gt_known *k, const struct gt_known *const *hidden,
                      size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(hidden[i]->problem_name, k->problem_name) == 0)
            return true;
    return false;
}

static void keep_the_rest(struct gt_evaluation *e, const struct gt_known *const *hidden,
                          size_t count) {
    e->left_count = 0;
    for (size_t i = 0; i < e->setup.known_count; i++)
        if (!is_hidden(&e->setup.known[i], hidden, count))
            e->left[e->left_count++] = e->setup.known[i];
}

static void answer(struct gt_answer *out, const struct gt_evaluation *e,
                   const struct gt_known *winner, enum gt_rule_kind rule) {
    memset(out, 0, sizeof *out);
    out->found = gt_rule_ask(&out->choice, e, &winner->problem, rule);
}

static void answer_all(struct gt_hidden *out, const struct gt_evaluation *e,
                       const struct gt_known *winner, unsigned rules) {
    *out = (struct gt_hidden){.winner = winner};
    for (int r = 0; r < GT_RULES; r++)
        if (rules >> r & 1)
            answer(&out->answer[r], e, winner, (enum gt_rule_kind)r);
}

static void take_stored_times(struct gt_hidden *h, const struct gt_evaluation *e) {
    char point[GT_POINT_TEXT_MAX];
    for (int r = 0; r < GT_RULES; r++) {
        struct gt_answer *a = &h->answer[r];
        if (!a->found)
            continue;
        (void)gt_point_text(&a->choice.point, point);
        if (!gt_evaluation_times(&a->ns, &a->best_ns, e, h->winner, a->choice.family->name,
                                 point))
            a->ns = a->best_ns = 0;
    }
}

/* ---- the evaluation ---- */

gt_status gt_evaluation_create(struct gt_evaluation **out,
                               const struct gt_evaluation_setup *setup,
                               struct gt_err *err) {
    struct gt_evaluation *e = calloc(1, sizeof *e);
    *out = NULL;
    if (e == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for an evaluation");
    e->setup = *setup;
    e->left = malloc((setup->known_count + 1) * sizeof *e->left);
    e->ranked = malloc((setup->known_count + 1) * sizeof *e->ranked);
    gt_status status = e->left != NULL && e->ranked != NULL
                           ? shuffle_winners(e, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu records",
                                     setup->known_count);
    if (status == GEMMTUNE_OK)
        status = gt_evaluation_read_times(e, err);
    if (status == GEMMTUNE_OK)
        *out = e;
    else
        gt_evaluation_destroy(e);
    return status;
}

void gt_evaluation_destroy(struct gt_evaluation *e) {
    if (e == NULL)
        return;
    free(e->stored);
    free(e->ranked);
    free(e->left);
    free(e->order);
    free(e);
}

size_t gt_evaluation_count(const struct gt_evaluation *e) {
    return e->count;
}

void gt_evaluation_hide(struct gt_hidden *out, struct gt_evaluation *e, size_t begin,
                        size_t end, unsigned which, struct gt_progress *progress) {
    keep_the_rest(e, e->order + begin, end - begin);
    for (size_t i = begin; i < end; i++) {
        struct gt_hidden *h = &out[i - begin];
        if (progress != NULL)
            gt_progress_count(progress, "looking up hidden problems", i,
                              progress->problems);
        answer_all(h, e, e->order[i], which);
        take_stored_times(h, e);
    }
}

void gt_evaluation_ask(struct gt_hidden *out, struct gt_evaluation *e,
                       const struct gt_known *winner, unsigned rules) {
    keep_the_rest(e, &winner, 1);
    answer_all(out, e, winner, rules);
}

/* Writes the known losses of a rule, and sums them up but for the percentile. */
static void add_up(struct gt_loss *out, double *losses, const struct gt_hidden *hidden,
                   size_t count, enum gt_rule_kind rule) {
    double logs = 0, expected = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gt_answer *a = &hidden[i].answer[rule];
        out->asked += a->found;
        if (!a->found || a->ns <= 0 || a->best_ns <= 0)
            continue;
        const double loss = a->ns / a->best_ns - 1;
        logs += log(a->ns / a->best_ns);
        if (gt_loss_is_known(&a->choice)) {
            expected += log1p(a->choice.expected_loss);
            out->expecting++;
        }
        losses[out->known] = loss;
        if (out->known++ == 0 || loss > out->worst) {
            out->worst = loss;
            out->worst_of = &hidden[i];
        }
    }
    out->mean = out->known > 0 ? expm1(logs / out->known) : 0;
    out->expected = out->expecting > 0 ? expm1(expected / out->expecting) : 0;
}

gt_status gt_loss_of(struct gt_loss *out, const struct gt_hidden *hidden, size_t count,
                     enum gt_rule_kind rule, struct gt_err *err) {
    double *losses = malloc((count + 1) * sizeof *losses);
    *out = (struct gt_loss){0};
    if (losses == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu losses", count);
    add_up(out, losses, hidden, count, rule);
    gt_sort_numbers(losses, (size_t)out->known);
    if (out->known > 0)
        out->most = gt_quantile(losses, (size_t)out->known, 0.95);
    free(losses);
    return GEMMTUNE_OK;
}
