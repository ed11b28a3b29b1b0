/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.c - rules are rows of a table. Two of them ask gt_match, as the library does;
 * the others choose here among the points that gt_fit_point lets run.
 */
#include "tuner/study/evaluate.h"

#include "tuner/search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One kernel on one problem: when it was tried, and when finalists were measured together.
 */
struct stored {
    const char *problem, *family, *point;
    double tried_ns, final_ns; /* 0: never */
};

struct gt_evaluation {
    struct gt_evaluation_setup setup;
    size_t count;                  /* problems with a winner */
    const struct gt_known **order; /* their winners, shuffled */
    size_t left_count;             /* records of the problems that are not hidden */
    struct gt_known *left;
    size_t stored_count;
    struct stored *stored; /* sorted, each kernel and problem once */
    struct ranked *ranked; /* room for gather() */
};

/* A record with what it is ordered by, least first; ties in the order of the records. */
struct ranked {
    double cost;
    const struct gt_known *known;
};

/* ---- stored times ---- */

static int by_kernel(const void *a, const void *b) {
    const struct stored *x = a, *y = b;
    int order = strcmp(x->problem, y->problem);
    if (order == 0)
        order = strcmp(x->family, y->family);
    return order != 0 ? order : strcmp(x->point, y->point);
}

static struct stored stored_of(const struct gt_view_row *row) {
    struct stored s = {row->problem, row->family, row->point, 0, 0};
    *(row->record ? &s.final_ns : &s.tried_ns) = row->median_ns;
    return s;
}

static double first_known(double a, double b) {
    return a > 0 ? a : b;
}

/* The same kernel's rows become one. */
static size_t fold_equal(struct stored *s, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_kernel(&s[kept - 1], &s[i]) == 0) {
            s[kept - 1].tried_ns = first_known(s[kept - 1].tried_ns, s[i].tried_ns);
            s[kept - 1].final_ns = first_known(s[kept - 1].final_ns, s[i].final_ns);
        } else
            s[kept++] = s[i];
    }
    return kept;
}

/* Correct and timed here, with the families' present sources. */
static gt_status read_stored(struct gt_evaluation *e, struct gt_err *err) {
    const struct gt_view *v = e->setup.view;
    e->stored = malloc((v->row_count + 1) * sizeof *e->stored);
    if (e->stored == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu rows", v->row_count);
    for (size_t i = 0; i < v->row_count; i++) {
        const struct gt_view_row *row = &v->row[i];
        const bool here = row->record ? row->verified : row->run_id != 0;
        if (here && row->state == GT_TRIAL_DONE && row->outcome == GT_CORRECT &&
            row->median_ns > 0 && gt_view_current(row, e->setup.families))
            e->stored[e->stored_count++] = stored_of(row);
    }
    qsort(e->stored, e->stored_count, sizeof *e->stored, by_kernel);
    e->stored_count = fold_equal(e->stored, e->stored_count);
    return GEMMTUNE_OK;
}

static const struct stored *find_stored(const struct gt_evaluation *e, const char *problem,
                                        const char *family, const char *point) {
    const struct stored key = {problem, family, point, 0, 0};
    return bsearch(&key, e->stored, e->stored_count, sizeof key, by_kernel);
}

/* A kernel's time on the winner's problem and the winner's own in the same measurement;
 * false when they were never measured alike. */
static bool stored_times(double *ns, double *best_ns, const struct gt_evaluation *e,
                         const struct gt_known *winner, const char *family,
                         const char *point) {
    char text[GT_POINT_TEXT_MAX];
    (void)gt_point_text(&winner->point, text);
    const struct stored *best =
        find_stored(e, winner->problem_name, winner->family->name, text);
    const struct stored *s = find_stored(e, winner->problem_name, family, point);
    if (best == NULL || s == NULL)
        return false;
    const bool finals = s->final_ns > 0 && best->final_ns > 0;
    *ns = finals ? s->final_ns : s->tried_ns;
    *best_ns = finals ? best->final_ns : best->tried_ns;
    return *ns > 0 && *best_ns > 0;
}

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

/* ---- asking ---- */

static bool ask(struct gt_choice *out, const struct gt_evaluation *e,
                const gemmtune_problem *p, const struct gt_known *known, size_t count) {
    const struct gt_snapshot snapshot = {e->setup.families, known, count};
    const struct gt_query query = {.snapshot = &snapshot,
                                   .device = e->setup.device,
                                   .device_key = e->setup.device_key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = GT_VECTOR_BYTES};
    const gt_status status = gt_match(out, &query, NULL);
    out->known = NULL; /* what it points to does not last */
    return status == GEMMTUNE_OK;
}

/* The family's point as an answer, if it may run the problem. The caller says which match
 * it is and why. */
static bool runs(struct gt_choice *out, const struct gt_evaluation *e,
                 const gemmtune_problem *p, const struct gt_family *family,
                 const struct gt_point *point) {
    memset(out, 0, sizeof *out);
    out->family = family;
    out->point = *point;
    return gt_fit_point(&out->fit, family, e->setup.device, p, point, NULL) == GEMMTUNE_OK;
}

static bool ask_lookup(struct gt_choice *out, const struct gt_evaluation *e,
                       const gemmtune_problem *p) {
    return ask(out, e, p, e->left, e->left_count);
}

static bool ask_untuned(struct gt_choice *out, const struct gt_evaluation *e,
                        const gemmtune_problem *p) {
    return ask(out, e, p, NULL, 0);
}

static bool ask_default(struct gt_choice *out, const struct gt_evaluation *e,
                        const gemmtune_problem *p) {
    for (size_t i = 0; i < gt_families_count(e->setup.families); i++) {
        const struct gt_family *f = gt_families_at(e->setup.families, i);
        struct gt_point point;
        gt_family_default(f, &point);
        if (!runs(out, e, p, f, &point))
            continue;
        out->match = GEMMTUNE_MATCH_DEFAULT;
        (void)snprintf(out->why, sizeof out->why, "default point of family %s", f->name);
        return true;
    }
    return false;
}

static int by_cost(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    const int order = (x->cost > y->cost) - (x->cost < y->cost);
    return order != 0 ? order : (x->known > y->known) - (x->known < y->known);
}

/* The record of least cost that runs the problem; a negative cost leaves one out. */
static bool ask_cheapest(struct gt_choice *out, const struct gt_evaluation *e,
                         const gemmtune_problem *p, const char *why,
                         double (*cost)(const struct gt_evaluation *e,
                                        const struct gt_known *k,
                                        const gemmtune_problem *p)) {
    size_t count = 0;
    for (size_t i = 0; i < e->left_count; i++) {
        const struct ranked r = {cost(e, &e->left[i], p), &e->left[i]};
        if (r.cost >= 0)
            e->ranked[count++] = r;
    }
    qsort(e->ranked, count, sizeof *e->ranked, by_cost);
    for (size_t i = 0; i < count; i++) {
        const struct gt_known *k = e->ranked[i].known;
        if (!runs(out, e, p, k->family, &k->point))
            continue;
        out->match = GEMMTUNE_MATCH_SHAPE;
        (void)snprintf(out->why, sizeof out->why, "tuned for %.90s, %s (%.2f)",
                       k->problem_name, why, e->ranked[i].cost);
        return true;
    }
    return false;
}

static bool is_candidate(const struct gt_evaluation *e, const struct gt_known *k,
                         const gemmtune_problem *p) {
    return k->verified && strcmp(k->device_key, e->setup.device_key) == 0 &&
           gt_problem_same_kind(&k->problem, p);
}

/* Where distances tie, the better rank: ranks are few. */
static double with_rank(double distance, const struct gt_known *k) {
    return distance + 1e-6 * k->rank;
}

static double distance_cost(const struct gt_evaluation *e, const struct gt_known *k,
                            const gemmtune_problem *p) {
    return is_candidate(e, k, p) ? with_rank(sqrt(gt_problem_distance2(&k->problem, p)), k)
                                 : -1;
}

static double volume_cost(const struct gt_evaluation *e, const struct gt_known *k,
                          const gemmtune_problem *p) {
    return is_candidate(e, k, p)
               ? with_rank(fabs(log2(fmax(1, gt_problem_flops(&k->problem)) /
                                     fmax(1, gt_problem_flops(p)))),
                           k)
               : -1;
}

/* The geometric mean of what the kernel loses on the problems that are left, where it is
 * known; one that is known on fewer than half of them comes behind all that are known on
 * more. */
static double single_cost(const struct gt_evaluation *e, const struct gt_known *k,
                          const gemmtune_problem *p) {
    enum { FAR_BEHIND = 1000000 };
    char point[GT_POINT_TEXT_MAX];
    double logs = 0;
    int known = 0, all = 0;
    if (!is_candidate(e, k, p))
        return -1;
    (void)gt_point_text(&k->point, point);
    for (size_t i = 0; i < e->left_count; i++) {
        const struct gt_known *other = &e->left[i];
        double ns, best_ns;
        if (other->rank != 0 || !is_candidate(e, other, p))
            continue;
        all++;
        if (!stored_times(&ns, &best_ns, e, other, k->family->name, point))
            continue;
        known++;
        logs += log(ns / best_ns);
    }
    const double mean = known > 0 ? exp(logs / known) : FAR_BEHIND;
    return 2 * known >= all ? mean : FAR_BEHIND + (all - known) + fmin(mean / 1000, 0.9);
}

static bool ask_nearest(struct gt_choice *out, const struct gt_evaluation *e,
                        const gemmtune_problem *p) {
    return ask_cheapest(out, e, p, "nearest in log size", distance_cost);
}

static bool ask_volume(struct gt_choice *out, const struct gt_evaluation *e,
                       const gemmtune_problem *p) {
    return ask_cheapest(out, e, p, "nearest in log volume", volume_cost);
}

static bool ask_single(struct gt_choice *out, const struct gt_evaluation *e,
                       const gemmtune_problem *p) {
    return ask_cheapest(out, e, p, "best over all others", single_cost);
}

static const struct {
    const char *name;
    bool (*ask)(struct gt_choice *out, const struct gt_evaluation *e,
                const gemmtune_problem *p);
} rules[GT_RULES] = {
    [GT_RULE_LOOKUP] = {"lookup", ask_lookup},
    [GT_RULE_NEAREST] = {"nearest", ask_nearest},
    [GT_RULE_VOLUME] = {"volume", ask_volume},
    [GT_RULE_SINGLE] = {"single", ask_single},
    [GT_RULE_UNTUNED] = {"untuned", ask_untuned},
    [GT_RULE_DEFAULT] = {"default", ask_default},
};

const char *gt_rule_name(enum gt_rule_kind rule) {
    return rules[rule].name;
}

static void answer(struct gt_answer *out, const struct gt_evaluation *e,
                   const struct gt_known *winner, enum gt_rule_kind rule) {
    char point[GT_POINT_TEXT_MAX];
    memset(out, 0, sizeof *out);
    out->found = rules[rule].ask(&out->choice, e, &winner->problem);
    if (!out->found)
        return;
    (void)gt_point_text(&out->choice.point, point);
    if (!stored_times(&out->ns, &out->best_ns, e, winner, out->choice.family->name, point))
        out->ns = out->best_ns = 0;
}

/* ---- from outside ---- */

gt_status gt_evaluation_create(struct gt_evaluation **out,
                               const struct gt_evaluation_setup *setup,
                               struct gt_err *err) {
    struct gt_evaluation *e = calloc(1, sizeof *e);
    *out = NULL;
    if (e == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to evaluate");
    e->setup = *setup;
    e->left = malloc((setup->known_count + 1) * sizeof *e->left);
    e->ranked = malloc((setup->known_count + 1) * sizeof *e->ranked);
    gt_status status = e->left != NULL && e->ranked != NULL
                           ? shuffle_winners(e, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu records",
                                     setup->known_count);
    if (status == GEMMTUNE_OK)
        status = read_stored(e, err);
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
                        size_t end, unsigned which) {
    keep_the_rest(e, begin, end);
    for (size_t i = begin; i < end; i++) {
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
