/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - see evaluate.h: hides problems and sums up losses. */
#include "tuner/study/evaluate_inside.h"

#include "tuner/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hiding ---- */

static bool is_winner(const struct gt_evaluation *e, size_t i) {
    const struct gt_known *k = &e->setup.known[i];
    return k->verified && k->rank == 0 && strcmp(k->device_key, e->setup.device_key) == 0;
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

static bool is_hidden(const struct gt_evaluation *e, const struct gt_known *k, size_t begin,
                      size_t end) {
    for (size_t i = begin; i < end; i++)
        if (strcmp(e->order[i]->problem_name, k->problem_name) == 0)
            return true;
    return false;
}

static void keep_the_rest(struct gt_evaluation *e, size_t begin, size_t end) {
    e->left_count = 0;
    for (size_t i = 0; i < e->setup.known_count; i++)
        if (!is_hidden(e, &e->setup.known[i], begin, end))
            e->left[e->left_count++] = e->setup.known[i];
}

static void answer(struct gt_answer *out, const struct gt_evaluation *e,
                   const struct gt_known *winner, enum gt_rule_kind rule) {
    char point[GT_POINT_TEXT_MAX];
    memset(out, 0, sizeof *out);
    out->found = gt_rule_ask(&out->choice, e, &winner->problem, rule);
    if (!out->found)
        return;
    (void)gt_point_text(&out->choice.point, point);
    if (!gt_evaluation_times(&out->ns, &out->best_ns, e, winner, out->choice.family->name,
                             point))
        out->ns = out->best_ns = 0;
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
    keep_the_rest(e, begin, end);
    for (size_t i = begin; i < end; i++) {
        if (progress != NULL)
            gt_progress_count(progress, "looking up hidden problems", i,
                              progress->problems);
        out[i - begin] = (struct gt_hidden){.winner = e->order[i]};
        for (int r = 0; r < GT_RULES; r++)
            if (which >> r & 1)
                answer(&out[i - begin].answer[r], e, e->order[i], (enum gt_rule_kind)r);
    }
}

void gt_loss_of(struct gt_loss *out, const struct gt_hidden *hidden, size_t count,
                enum gt_rule_kind rule) {
    double logs = 0;
    *out = (struct gt_loss){0};
    for (size_t i = 0; i < count; i++) {
        const struct gt_answer *a = &hidden[i].answer[rule];
        out->asked += a->found;
        if (!a->found || a->ns <= 0 || a->best_ns <= 0)
            continue;
        const double loss = a->ns / a->best_ns - 1;
        logs += log(a->ns / a->best_ns);
        if (out->known++ == 0 || loss > out->worst) {
            out->worst = loss;
            out->worst_of = &hidden[i];
        }
    }
    out->mean = out->known > 0 ? exp(logs / out->known) - 1 : 0;
}
