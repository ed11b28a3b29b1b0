/* SPDX-License-Identifier: Apache-2.0 */
/*
 * versus.c - see versus.h. The view's rows are sorted by problem, device, kernel and time.
 * A problem is then one range of rows with a part for each device, and kernels measured on
 * both devices are found by walking the two parts together. Only current and verified
 * winners are compared. For the shared kernel any measurement counts, even of an older
 * source.
 */
#include "tuner/study/versus.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows [begin, end) of one problem on one device: correct, timed, sorted by kernel and
 * time. */
struct part {
    const struct gt_view_row *begin, *end;
};

/* ---- order ---- */

/* Kernels are the same when family, source and point are the same. */
static int by_kernel(const struct gt_view_row *x, const struct gt_view_row *y) {
    int order = strcmp(x->family, y->family);
    if (order == 0)
        order = strcmp(x->hash, y->hash);
    return order != 0 ? order : strcmp(x->point, y->point);
}

static int by_problem(const void *a, const void *b) {
    const struct gt_view_row *x = a, *y = b;
    int order = strcmp(x->problem, y->problem);
    if (order == 0)
        order = strcmp(x->device, y->device);
    if (order == 0)
        order = by_kernel(x, y);
    return order != 0 ? order
                      : (x->median_ns > y->median_ns) - (x->median_ns < y->median_ns);
}

/* Keeps only the rows that were correct and timed. */
static void drop_the_rest(struct gt_view *v) {
    size_t kept = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        struct gt_view_row *row = &v->row[i];
        if (row->state == GT_TRIAL_DONE && row->outcome == GT_CORRECT &&
            row->median_ns > 0) {
            const struct gt_view_row held = v->row[kept];
            v->row[kept++] = *row;
            *row = held; /* swapped, so that the view still owns every text once */
        }
    }
}

static size_t count_usable(const struct gt_view *v) {
    size_t count = 0;
    for (size_t i = 0; i < v->row_count; i++)
        count += v->row[i].state == GT_TRIAL_DONE && v->row[i].outcome == GT_CORRECT &&
                 v->row[i].median_ns > 0;
    return count;
}

/* ---- one problem ---- */

static struct part part_of(struct part all, const char *device) {
    while (all.begin < all.end && strcmp(all.begin->device, device) != 0)
        all.begin++;
    struct part part = {all.begin, all.begin};
    while (part.end < all.end && strcmp(part.end->device, device) == 0)
        part.end++;
    return part;
}

static bool is_better(const struct gt_view_row *r, const struct gt_view_row *than) {
    if (r->current != than->current)
        return r->current;
    if (r->verified != than->verified)
        return r->verified;
    return r->median_ns < than->median_ns;
}

/* The fastest winner, if possible a current and verified one: several databases may each
 * have a winner. */
static const struct gt_view_row *winner_of(struct part part) {
    const struct gt_view_row *best = NULL;
    for (const struct gt_view_row *r = part.begin; r < part.end; r++)
        if (r->record && r->rank == 0 && (best == NULL || is_better(r, best)))
            best = r;
    return best;
}

static void put_change(char *buf, size_t *len, const char *name, const char *from,
                       const char *to) {
    if (*len < GT_DIFFERS_MAX)
        *len += (size_t)snprintf(buf + *len, GT_DIFFERS_MAX - *len, "%s%s%s%s->%s",
                                 *len > 0 ? " " : "", name, name[0] != '\0' ? " " : "",
                                 from, to);
}

enum { VALUE_MAX = 24 };

/* A parameter's value as text; "-" when the point lacks it. */
static void value_of(char buf[VALUE_MAX], const struct gt_point *point, const char *name) {
    int64_t value;
    if (gt_point_get(point, name, &value))
        (void)snprintf(buf, VALUE_MAX, "%" PRId64, value);
    else
        (void)snprintf(buf, VALUE_MAX, "-");
}

/* Lists the parameters of `names` that differ. With `only_new`, only parameters that `from`
 * lacks. */
static void put_parameters(char *buf, size_t *len, const struct gt_point *names,
                           const struct gt_point *from, const struct gt_point *to,
                           bool only_new) {
    for (int i = 0; i < names->count; i++) {
        const char *name = names->entry[i].name;
        char was[VALUE_MAX], is[VALUE_MAX];
        value_of(was, from, name);
        value_of(is, to, name);
        if (strcmp(was, is) != 0 && (!only_new || strcmp(was, "-") == 0))
            put_change(buf, len, name, was, is);
    }
}

/* For different families only the families are listed, since their parameters differ in
 * meaning. */
static void describe_difference(char buf[GT_DIFFERS_MAX], const struct gt_view_row *a,
                                const struct gt_view_row *b) {
    struct gt_point x, y;
    size_t len = 0;
    buf[0] = '\0';
    if (strcmp(a->family, b->family) != 0) {
        put_change(buf, &len, "", a->family, b->family);
        return;
    }
    if (gt_point_parse(&x, a->point, NULL) != GEMMTUNE_OK ||
        gt_point_parse(&y, b->point, NULL) != GEMMTUNE_OK)
        return;
    put_parameters(buf, &len, &x, &x, &y, false);
    put_parameters(buf, &len, &y, &x, &y, true);
}

static double fastest(struct part part) {
    double best = INFINITY;
    for (const struct gt_view_row *r = part.begin; r < part.end; r++)
        best = fmin(best, r->median_ns);
    return best;
}

static const struct gt_view_row *past_kernel(const struct gt_view_row *r,
                                             struct part part) {
    const struct gt_view_row *first = r;
    while (r < part.end && by_kernel(r, first) == 0)
        r++;
    return r;
}

/* Finds the kernel measured on both with the smallest larger slowdown. */
static void find_shared(struct gt_versus_row *out, struct part a, struct part b) {
    const double best_a = fastest(a), best_b = fastest(b);
    out->shared_slowdown = INFINITY;
    while (a.begin < a.end && b.begin < b.end) {
        const int order = by_kernel(a.begin, b.begin);
        const double slowdown =
            fmax(a.begin->median_ns / best_a, b.begin->median_ns / best_b);
        if (order == 0 && slowdown < out->shared_slowdown) {
            out->shared = a.begin;
            out->shared_a_ns = a.begin->median_ns;
            out->shared_b_ns = b.begin->median_ns;
            out->shared_slowdown = slowdown;
        }
        const struct gt_view_row *next_a = order <= 0 ? past_kernel(a.begin, a) : a.begin;
        if (order >= 0)
            b.begin = past_kernel(b.begin, b);
        a.begin = next_a;
    }
    if (out->shared == NULL)
        out->shared_slowdown = 0;
}

/* False when neither side has a winner. */
static bool set_against(struct gt_versus_row *out, struct part all, const char *a,
                        const char *b) {
    const struct part part_a = part_of(all, a), part_b = part_of(all, b);
    *out = (struct gt_versus_row){
        .problem = all.begin->problem, .a = winner_of(part_a), .b = winner_of(part_b)};
    if (out->a == NULL || out->b == NULL)
        return out->a != NULL || out->b != NULL;
    out->ratio = out->a->median_ns / out->b->median_ns;
    describe_difference(out->differs, out->a, out->b);
    find_shared(out, part_a, part_b);
    return true;
}

/* ---- all problems ---- */

static struct part stretch_at(const struct gt_view_row *begin,
                              const struct gt_view_row *end) {
    struct part part = {begin, begin};
    while (part.end < end && strcmp(part.end->problem, begin->problem) == 0)
        part.end++;
    return part;
}

static size_t count_problems(const struct gt_view_row *at, const struct gt_view_row *end) {
    size_t count = 0;
    for (; at < end; at = stretch_at(at, end).end)
        count++;
    return count;
}

gt_status gt_versus_create(struct gt_versus *out, struct gt_view *v, const char *a,
                           const char *b, struct gt_err *err) {
    const size_t usable = count_usable(v);
    double logs = 0;
    *out = (struct gt_versus){0};
    drop_the_rest(v);
    if (usable == 0)
        return GEMMTUNE_OK;
    qsort(v->row, usable, sizeof *v->row, by_problem);
    const struct gt_view_row *at = v->row, *end = v->row + usable;
    out->row = calloc(count_problems(at, end), sizeof *out->row);
    if (out->row == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to compare %zu rows", usable);
    while (at < end) {
        const struct part all = stretch_at(at, end);
        struct gt_versus_row *row = &out->row[out->count];
        out->count += set_against(row, all, a, b);
        if (row->ratio > 0) {
            out->common++;
            logs += log(row->ratio);
        }
        at = all.end;
    }
    out->geomean = out->common > 0 ? exp(logs / (double)out->common) : 0;
    return GEMMTUNE_OK;
}

void gt_versus_clear(struct gt_versus *v) {
    free(v->row);
    *v = (struct gt_versus){0};
}
