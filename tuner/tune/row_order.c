/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.c - see row_order.h. Before the first record of a kind of rows there is, each
 * order of sums that some candidate has is judged on several m:
 *
 *     the m of the problems of this n and k that were tuned without row_order, by the times
 *     of their trials; where there are fewer than two, the m of `usual`
 *
 * A judgement is the time of the order's best candidate over the time of the best of all,
 * measured or by forecast. The order with the least mean wins. Only an order counts that
 * serves every m of `served` with the workspace of one-call forms: its candidates are the
 * families' starts and defaults, these with other values of the parameters that decide the
 * order, and the trials.
 */
#include "tuner/tune/row_order.h"

#include "core/room.h"
#include "runtime/lookup/match.h"
#include "runtime/lookup/model.h"
#include "runtime/lookup/shelf.h"
#include "runtime/plan/workspace.h" /* for GT_WORKSPACE_DEFAULT */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MS_MAX = 16, USUAL = 5, SERVED = 4, ORDERS_MAX = 1024 };
static const int64_t usual[USUAL] = {1, 16, 128, 1024, 4096};
static const int64_t served[SERVED] = {1, 64, 4096, 65536};

/* The ratio that is assumed of an order without a time for some m, and the doubt of a
 * forecast beside a measured time. */
static const double unknown_ratio = 4, doubt = 1.1;

struct candidate {
    const struct gt_family *family;
    int64_t values[GT_POINT_MAX];
};

struct judged {
    char text[GT_ORDER_MAX];
    unsigned serves;         /* bit i: served[i] */
    double measured[MS_MAX]; /* best times in ns; 0: none */
    double forecast[MS_MAX];
};

struct judging {
    struct gt_tuner *tuner;
    const gemmtune_problem *problem; /* without row_order, m and batch left aside */
    struct candidate *candidate;
    size_t count, room;
    int ms, orders;
    int64_t m[MS_MAX];
    double best_measured[MS_MAX], best_forecast[MS_MAX]; /* of all candidates */
    struct judged order[ORDERS_MAX];
};

/* ---- candidates ------------------------------------------------------------------ */

/* The single packed product of m rows. */
static gemmtune_problem with_m(const gemmtune_problem *p, int64_t m, bool row_order) {
    gemmtune_problem q = *p;
    q.m = m;
    q.batch = 1;
    q.batch_kind = GEMMTUNE_BATCH_STRIDED;
    q.expected_rows = 0;
    q.pointer_align = 0;
    q.packed_b = 0;
    q.row_order = row_order;
    q.reads_c = 0;
    q.lda = gt_shape_least_ld(gt_problem_shape_a(&q));
    q.ldb = gt_shape_least_ld(gt_problem_shape_b(&q));
    q.ldc = gt_shape_least_ld(gt_problem_shape_c(&q));
    q.stride_a = gt_problem_shape_a(&q).rows * q.lda;
    q.stride_b = gt_problem_shape_b(&q).rows * q.ldb;
    q.stride_c = q.m * q.ldc;
    return q;
}

static bool add(struct judging *j, const struct gt_family *f, const int64_t *values) {
    struct candidate *all =
        gt_room_for(j->candidate, &j->room, j->count, sizeof *j->candidate);
    if (all == NULL)
        return false;
    j->candidate = all;
    j->candidate[j->count].family = f;
    memset(j->candidate[j->count].values, 0, sizeof all->values);
    memcpy(j->candidate[j->count++].values, values,
           (size_t)f->param_count * sizeof *values);
    return true;
}

/* Whether the order of sums names the parameter. */
static bool decides_order(const struct gt_family *f, int param) {
    bool used = false;
    for (int i = 0; i < f->sums.count && !used; i++)
        used = gt_expr_uses(f->sums.number[i].value, f->param[param].slot);
    return used;
}

/* Adds the point, and the points with other splits of k. */
static bool add_splits(struct judging *j, const struct gt_family *f,
                       const int64_t *values) {
    const int split = gt_family_split(f);
    int64_t other[GT_POINT_MAX];
    bool added = add(j, f, values);
    memcpy(other, values, (size_t)f->param_count * sizeof *values);
    for (int s = 0; split >= 0 && s < f->param[split].count && added; s++) {
        other[split] = f->param[split].value[s];
        if (other[split] != values[split])
            added = add(j, f, other);
    }
    return added;
}

/* Adds the points with other splits of k, and the same with the first values of the
 * parameters that adapt to a problem: a fast way out may have no room for parts. */
static bool add_ways(struct judging *j, const struct gt_family *f, const int64_t *values) {
    int64_t other[GT_POINT_MAX];
    bool differs = false;
    memcpy(other, values, (size_t)f->param_count * sizeof *values);
    for (int i = 0; i < f->adapt_count; i++) {
        const int64_t first = f->param[f->adapt[i]].value[0];
        differs = differs || other[f->adapt[i]] != first;
        other[f->adapt[i]] = first;
    }
    return add_splits(j, f, values) && (!differs || add_splits(j, f, other));
}

/* Adds the point with other splits, and all ways of it with each other value of each
 * parameter that decides the order. */
static bool add_orders(struct judging *j, const struct gt_family *f,
                       const int64_t *values) {
    int64_t other[GT_POINT_MAX];
    bool added = add_splits(j, f, values);
    for (int i = 0; i < f->param_count && added; i++) {
        memcpy(other, values, (size_t)f->param_count * sizeof *values);
        for (int v = 0; v < f->param[i].count && added; v++) {
            other[i] = f->param[i].value[v];
            if (i != gt_family_split(f) && decides_order(f, i) && other[i] != values[i])
                added = add_ways(j, f, other);
        }
    }
    return added;
}

static bool add_family(struct judging *j, const struct gt_family *f) {
    int64_t values[GT_POINT_MAX] = {0};
    for (int i = 0; i < f->param_count; i++)
        values[i] = f->param[i].preset;
    bool added = add_orders(j, f, values);
    for (int s = 0; s < f->start_count && added; s++)
        added = add_orders(j, f, f->start[s]);
    return added;
}

static bool add_families(struct judging *j) {
    const struct gt_tuner *t = j->tuner;
    const gemmtune_problem p = with_m(j->problem, 1, true);
    bool added = true;
    for (size_t i = 0; i < gt_families_count(t->families) && added; i++) {
        const struct gt_family *f = gt_families_at(t->families, i);
        if (gt_tune_wants(t, f) && gt_family_serves(f, &t->device, &p, NULL))
            added = add_family(j, f);
    }
    return added;
}

/* ---- times ----------------------------------------------------------------------- */

/* The order's place, which is made if need be; NULL: there are too many. */
static struct judged *place_of(struct judging *j, const char *text) {
    for (int i = 0; i < j->orders; i++)
        if (strcmp(j->order[i].text, text) == 0)
            return &j->order[i];
    if (j->orders == ORDERS_MAX)
        return NULL;
    struct judged *new = &j->order[j->orders++];
    *new = (struct judged){.serves = 0};
    memcpy(new->text, text, strlen(text) + 1);
    return new;
}

static void note(double *best, double ns) {
    if (ns > 0 && (*best == 0 || ns < *best))
        *best = ns;
}

/* The trials of the product of m[at] rows. */
struct trials {
    struct judging *judging;
    int at;
};

static gt_status see_trial(void *user, const struct gt_trial_row *row, struct gt_err *err) {
    const struct trials *of = user;
    struct judging *j = of->judging;
    const gemmtune_problem p = with_m(j->problem, j->m[of->at], true);
    const struct gt_family *f = gt_families_current(j->tuner->families, row->subject.family,
                                                    row->subject.family_hash);
    int64_t values[GT_POINT_MAX] = {0};
    char text[GT_ORDER_MAX];
    struct gt_binding b;
    if (f == NULL || row->state != GT_TRIAL_DONE || row->outcome != GT_CORRECT ||
        row->time.samples == 0 ||
        gt_values_parse(values, f, row->subject.point, NULL) != GEMMTUNE_OK)
        return GEMMTUNE_OK;
    note(&j->best_measured[of->at], row->time.median_ns);
    gt_bind_problem(&b, f, &j->tuner->device, &p);
    if (gt_bind_checked(&b, values, NULL) != GEMMTUNE_OK || !gt_order_of(text, &b, NULL))
        return GEMMTUNE_OK;
    struct judged *order = place_of(j, text);
    if (order != NULL)
        note(&order->measured[of->at], row->time.median_ns);
    return add(j, f, values) ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* The m of the tuned single products of this kind, without row_order. */
static void list_ms(struct judging *j, const struct gt_known *known, size_t count) {
    for (size_t i = 0; i < count && j->ms < MS_MAX; i++) {
        char name[GT_PROBLEM_NAME_MAX];
        const gemmtune_problem p = with_m(j->problem, known[i].problem.m, false);
        (void)gt_problem_name(&p, name);
        if (known[i].rank == 0 && known[i].verified &&
            strcmp(known[i].device_key, j->tuner->device_key) == 0 &&
            strcmp(known[i].problem_name, name) == 0)
            j->m[j->ms++] = p.m;
    }
    if (j->ms < 2) {
        j->ms = USUAL;
        memcpy(j->m, usual, sizeof usual);
    }
}

static gt_status see_trials(struct judging *j, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < j->ms && status == GEMMTUNE_OK; i++) {
        struct trials of = {j, i};
        char name[GT_PROBLEM_NAME_MAX];
        const gemmtune_problem p = with_m(j->problem, j->m[i], false);
        (void)gt_problem_name(&p, name);
        status =
            gt_db_trials(j->tuner->db, j->tuner->device_key, name, see_trial, &of, err);
    }
    return status;
}

/* Fits the candidate to the product of m rows. False: it may not run. */
static bool fits(struct gt_fit *fit, const struct judging *j, const struct candidate *c,
                 int64_t m) {
    const gemmtune_problem p = with_m(j->problem, m, true);
    return gt_fit_values(fit, c->family, &j->tuner->device, &p, GT_VECTOR_BYTES, c->values,
                         NULL) == GEMMTUNE_OK &&
           fit->passes.workspace_bytes <= GT_WORKSPACE_DEFAULT;
}

/* Notes which m the candidate's order serves, and its forecasts. */
static void judge(struct judging *j, const struct candidate *c) {
    const struct gt_shelf *shelf = gt_shelf_of(&j->tuner->device);
    struct judged *order = NULL;
    struct gt_fit fit;
    for (int i = 0; i < SERVED; i++) {
        char text[GT_ORDER_MAX];
        if (!fits(&fit, j, c, served[i]) || !gt_order_of(text, &fit.binding, NULL))
            continue;
        order = place_of(j, text);
        if (order != NULL)
            order->serves |= 1U << i;
    }
    for (int i = 0; i < j->ms && order != NULL; i++) {
        struct gt_prediction prediction;
        struct gt_model model;
        if (!fits(&fit, j, c, j->m[i]))
            continue;
        gt_model_with(&model, shelf, &fit.binding, &j->tuner->device);
        model.few_trees = true;
        if (!gt_model_predict_fit(&prediction, &model, &fit))
            continue;
        note(&order->forecast[i], prediction.ns);
        note(&j->best_forecast[i], prediction.ns);
    }
}

/* ---- the choice ------------------------------------------------------------------ */

static double over(double ns, double best) {
    return ns > 0 && best > 0 ? ns / best : unknown_ratio;
}

/* The mean over all m of the order's time over the best one. A measured time may be of few
 * trials, so a forecast may be below it. */
static double mean_ratio(const struct judging *j, const struct judged *o) {
    double sum = 0;
    for (int i = 0; i < j->ms; i++) {
        const double measured = over(o->measured[i], j->best_measured[i]);
        const double forecast = doubt * over(o->forecast[i], j->best_forecast[i]);
        sum += fmin(measured, forecast);
    }
    return sum / j->ms;
}

/* *least is the winner's mean. False: no order serves every m, or nothing is known of the
 * times of any. */
static bool choose(char out[GT_ORDER_MAX], double *least, const struct judging *j) {
    bool found = false;
    *least = unknown_ratio;
    for (int i = 0; i < j->orders; i++) {
        const struct judged *o = &j->order[i];
        const double ratio = mean_ratio(j, o);
        if (o->serves + 1 != 1U << SERVED || ratio > *least ||
            (ratio >= *least && !(found && strcmp(o->text, out) < 0)))
            continue;
        memcpy(out, o->text, GT_ORDER_MAX);
        *least = ratio;
        found = true;
    }
    return found;
}

/* A choice is made once: from the first record on, the records decide. */
static void say_choice(const struct judging *j, const char *order, double ratio) {
    char line[GT_ORDER_MAX + 160];
    (void)snprintf(line, sizeof line,
                   "row_order: n %" PRId64 ", k %" PRId64 " will add in the order \"%s\", "
                   "%.2f times the free choice in the mean of %d m by %s",
                   j->problem->n, j->problem->k, order, ratio, j->ms,
                   j->best_measured[0] > 0 ? "trials and forecasts" : "forecasts");
    gt_progress_line(&j->tuner->progress, line);
}

/* Replaces the default order by a better one, where something is known of times. */
static gt_status choose_first(char order[GT_ORDER_MAX], struct gt_tuner *t,
                              const gemmtune_problem *p, const struct gt_known *known,
                              size_t count, struct gt_err *err) {
    struct judging *j = calloc(1, sizeof *j);
    gt_status status = GEMMTUNE_ENOMEM;
    double ratio;
    if (j != NULL) {
        j->tuner = t;
        j->problem = p;
        list_ms(j, known, count);
        status = add_families(j) ? see_trials(j, err) : GEMMTUNE_ENOMEM;
    }
    if (status == GEMMTUNE_ENOMEM)
        (void)gt_fail(err, status, "out of memory");
    for (size_t i = 0; status == GEMMTUNE_OK && i < j->count; i++)
        judge(j, &j->candidate[i]);
    if (status == GEMMTUNE_OK && choose(order, &ratio, j))
        say_choice(j, order, ratio);
    if (j != NULL)
        free(j->candidate);
    free(j);
    return status;
}

/* The order by the records, else by times, else the default. */
static gt_status decide(char order[GT_ORDER_MAX], struct gt_tuner *t,
                        const gemmtune_problem *p, struct gt_err *err) {
    struct gt_snapshot snapshot = {.families = t->families};
    struct gt_known *known = NULL;
    struct gt_row_order of_records;
    int64_t stale;
    gt_status status = gt_known_load(&known, &snapshot.count, &stale, t->db, t->families,
                                     t->device.arch, err);
    if (status != GEMMTUNE_OK)
        return status;
    snapshot.known = known;
    gt_match_order(&of_records, &snapshot, &t->device, p);
    memcpy(order, of_records.text, GT_ORDER_MAX);
    if (of_records.known == NULL && gt_type_is_float(p->type_a))
        status = choose_first(order, t, p, known, snapshot.count, err);
    free(known);
    if (status == GEMMTUNE_OK && order[0] == '\0')
        status = gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "row_order: no family states an order of sums for it");
    return status;
}

/* ---- the orders of a run --------------------------------------------------------- */

struct kept {
    char kind[GT_PROBLEM_NAME_MAX]; /* the problem with m = 1 */
    char order[GT_ORDER_MAX];
};

struct gt_tune_orders {
    size_t count, room;
    struct kept *item;
};

void gt_tune_orders_free(struct gt_tune_orders *orders) {
    if (orders != NULL)
        free(orders->item);
    free(orders);
}

static struct kept *new_place(struct gt_tuner *t) {
    if (t->orders == NULL)
        t->orders = calloc(1, sizeof *t->orders);
    struct kept *item = t->orders == NULL
                            ? NULL
                            : gt_room_for(t->orders->item, &t->orders->room,
                                          t->orders->count, sizeof *t->orders->item);
    if (item == NULL)
        return NULL;
    t->orders->item = item;
    return &item[t->orders->count++];
}

static void name_kind(char kind[GT_PROBLEM_NAME_MAX], const gemmtune_problem *p) {
    const gemmtune_problem one = with_m(p, 1, true);
    (void)gt_problem_name(&one, kind);
}

const char *gt_tune_kept_order(const struct gt_tuner *t, const gemmtune_problem *p) {
    char kind[GT_PROBLEM_NAME_MAX];
    if (!p->row_order || t->orders == NULL)
        return "";
    name_kind(kind, p);
    for (size_t i = 0; i < t->orders->count; i++)
        if (strcmp(t->orders->item[i].kind, kind) == 0)
            return t->orders->item[i].order;
    return "";
}

void gt_tune_keep_order(struct gt_tuner *t, const gemmtune_problem *p,
                        const char order[GT_ORDER_MAX]) {
    if (order[0] == '\0' || gt_tune_kept_order(t, p)[0] != '\0')
        return;
    struct kept *new = new_place(t);
    if (new == NULL)
        return;
    name_kind(new->kind, p);
    memcpy(new->order, order, GT_ORDER_MAX);
}

gt_status gt_tune_order(char out[GT_ORDER_MAX], struct gt_tuner *t,
                        const gemmtune_problem *p, struct gt_err *err) {
    (void)snprintf(out, GT_ORDER_MAX, "%s", gt_tune_kept_order(t, p));
    if (!p->row_order || out[0] != '\0')
        return GEMMTUNE_OK;
    const gt_status status = decide(out, t, p, err);
    if (status == GEMMTUNE_OK)
        gt_tune_keep_order(t, p, out);
    return status;
}

gt_status gt_tune_recall_orders(struct gt_tuner *t, const struct gt_sweep *s,
                                struct gt_err *err) {
    struct gt_snapshot snapshot = {.families = t->families};
    struct gt_known *known = NULL;
    struct gt_row_order order;
    int64_t stale;
    size_t first = 0;
    while (first < s->count && !s->item[first].problem.row_order)
        first++;
    if (first == s->count)
        return GEMMTUNE_OK;
    const gt_status status = gt_known_load(&known, &snapshot.count, &stale, t->db,
                                           t->families, t->device.arch, err);
    snapshot.known = known;
    for (size_t i = first; status == GEMMTUNE_OK && i < s->count; i++) {
        const gemmtune_problem *p = &s->item[i].problem;
        if (!p->row_order || gt_tune_kept_order(t, p)[0] != '\0')
            continue;
        gt_match_order(&order, &snapshot, &t->device, p);
        if (order.known != NULL)
            gt_tune_keep_order(t, p, order.text);
    }
    free(known);
    return status;
}
