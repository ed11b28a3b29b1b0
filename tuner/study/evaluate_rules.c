/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate_rules.c - the rules that choose a kernel for a hidden problem, as rows of a
 * table. Two of them ask gt_match, as the library does. The others choose here among the
 * points that gt_fit_point accepts.
 */
#include "tuner/study/evaluate_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ask(struct gt_choice *out, const struct gt_evaluation *e,
                const gemmtune_problem *p, const struct gt_known *known, size_t count) {
    const struct gt_snapshot snapshot = {e->setup.families, known, count, NULL};
    const struct gt_query query = {.snapshot = &snapshot,
                                   .device = e->setup.device,
                                   .device_key = e->setup.device_key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = e->setup.workspace_max,
                                   .pointer_align = GT_VECTOR_BYTES};
    const gt_status status = gt_match(out, &query, NULL);
    out->known = NULL; /* the record does not outlive this call */
    return status == GEMMTUNE_OK;
}

/* Makes an answer from a point of the family. False when the point cannot run the problem.
 * The caller fills in the match and the reason. */
static bool runs(struct gt_choice *out, const struct gt_evaluation *e,
                 const gemmtune_problem *p, const struct gt_family *family,
                 const struct gt_point *point) {
    memset(out, 0, sizeof *out);
    out->family = family;
    out->point = *point;
    return gt_fit_point(&out->fit, family, e->setup.device, p, point, NULL) ==
               GEMMTUNE_OK &&
           (uint64_t)out->fit.passes.workspace_bytes <= e->setup.workspace_max;
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
    const struct gt_costed_record *x = a, *y = b;
    const int order = (x->cost > y->cost) - (x->cost < y->cost);
    return order != 0 ? order : (x->known > y->known) - (x->known < y->known);
}

/* Chooses the record with the least cost that can run the problem. A negative cost excludes
 * a record. */
static bool ask_cheapest(struct gt_choice *out, const struct gt_evaluation *e,
                         const gemmtune_problem *p, const char *why,
                         double (*cost)(const struct gt_evaluation *e,
                                        const struct gt_known *k,
                                        const gemmtune_problem *p)) {
    size_t count = 0;
    for (size_t i = 0; i < e->left_count; i++) {
        const struct gt_costed_record r = {cost(e, &e->left[i], p), &e->left[i]};
        if (r.cost >= 0)
            e->ranked[count++] = r;
    }
    qsort(e->ranked, count, sizeof *e->ranked, by_cost);
    for (size_t i = 0; i < count; i++) {
        const struct gt_known *k = e->ranked[i].known;
        struct gt_point point;
        gt_known_point(&point, k);
        if (!runs(out, e, p, k->family, &point))
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
    return strcmp(k->device_key, e->setup.device_key) == 0 &&
           gt_problem_same_kind(&k->problem, p);
}

/* Equal distances are ordered by rank; ranks are small numbers. */
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

/* The geometric mean of the kernel's slowdown on the other problems, where both times are
 * known. A kernel that is known on fewer than half of them comes after all that are known
 * on more. */
static double single_cost(const struct gt_evaluation *e, const struct gt_known *k,
                          const gemmtune_problem *p) {
    enum { FAR_BEHIND = 1000000 };
    char text[GT_POINT_TEXT_MAX];
    struct gt_point point;
    double logs = 0;
    int known = 0, all = 0;
    if (!is_candidate(e, k, p))
        return -1;
    gt_known_point(&point, k);
    (void)gt_point_text(&point, text);
    for (size_t i = 0; i < e->left_count; i++) {
        const struct gt_known *other = &e->left[i];
        double ns, best_ns;
        if (other->rank != 0 || !is_candidate(e, other, p))
            continue;
        all++;
        if (!gt_evaluation_times(&ns, &best_ns, e, other, k->family->name, text))
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

bool gt_rule_ask(struct gt_choice *out, const struct gt_evaluation *e,
                 const gemmtune_problem *p, enum gt_rule_kind rule) {
    return rules[rule].ask(out, e, p);
}
