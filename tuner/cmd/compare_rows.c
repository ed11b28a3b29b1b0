/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_rows.c - makes the rows of `gemmtune compare`:
 * - A tuned row has the winners of both devices on one problem.
 * - A published row has the figures of one kernel, and the predictions for our point that
 *   does the same.
 * - A predicted row has the fastest kernels of the model on both devices.
 * - A row of rates has the best published rates of a kernel on both devices.
 */
#include "tuner/cmd/compare.h"

#include "tuner/base/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *gt_compare_ratio(char buf[GT_CELL_MAX], double value) {
    if (value <= 0)
        return NULL;
    (void)snprintf(buf, GT_CELL_MAX, value >= 100 ? "%.0f" : "%.3g", value);
    return buf;
}

const char *gt_compare_rung(const struct gt_published_row *r) {
    return r->rung[0] != '\0' ? r->rung : r->kernel;
}

static double over(double a, double b) {
    return a > 0 && b > 0 ? a / b : 0;
}

static void set_ratios(struct gt_compare_row *r) {
    r->ratio = over(r->part[0].ns, r->part[1].ns);
    r->predicted_ratio = over(r->part[0].predicted_ns, r->part[1].predicted_ns);
}

/* ---- tuned ---- */

/* The time that the model computes for a tuned kernel; 0 when there is no prediction. The
 * correction by trees is left out: they know one architecture, and would move one side
 * alone. */
static double predict_tuned(const struct gt_comparison *c, const struct gt_compare_side *s,
                            const struct gt_view_row *r, const gemmtune_problem *p) {
    struct gt_point point;
    struct gt_prediction prediction;
    const struct gt_family *f = gt_families_find(c->families, r->family);
    if (!s->described || f == NULL ||
        gt_point_parse(&point, r->point, NULL) != GEMMTUNE_OK ||
        gt_model_explain(&prediction, f, &s->device, p, &point, NULL) != GEMMTUNE_OK)
        return 0;
    return gt_computed_ns(&prediction);
}

static void put_tuned(struct gt_compare_row *out, const struct gt_comparison *c,
                      const struct gt_versus_row *v) {
    const struct gt_view_row *const winner[2] = {v->a, v->b};
    gemmtune_problem p;
    const bool known = gt_problem_from_name(&p, v->problem, NULL) == GEMMTUNE_OK;
    *out = (struct gt_compare_row){.source = GT_COMPARE_TUNED, .versus = v};
    (void)snprintf(out->problem, sizeof out->problem, "%s", v->problem);
    out->flops = known ? gt_problem_flops(&p) : 0;
    for (int i = 0; i < 2; i++) {
        struct gt_compare_part *part = &out->part[i];
        if (winner[i] == NULL)
            continue;
        part->kernel = winner[i]->family;
        part->point = winner[i]->point;
        part->ns = winner[i]->median_ns;
        part->gflops = over(out->flops, part->ns);
        part->predicted_ns = known ? predict_tuned(c, &c->side[i], winner[i], &p) : 0;
    }
    set_ratios(out);
}

/* ---- published ---- */

static bool of_device(const struct gt_published_row *r, const struct gt_compare_side *s) {
    return s->published != NULL && strcmp(r->device, s->published) == 0;
}

static bool has_figure(const struct gt_published_row *r) {
    return r->ms > 0 || r->gflops > 0;
}

static bool is_same_kernel(const struct gt_published_row *a,
                           const struct gt_published_row *b) {
    return strcmp(a->dtype, b->dtype) == 0 && a->host == b->host &&
           strcmp(gt_compare_rung(a), gt_compare_rung(b)) == 0;
}

/* The device's figure for the kernel and problem of `r`; NULL for a rate without a size. */
static const struct gt_published_row *figure_of(const struct gt_published *p,
                                                const struct gt_published_row *r,
                                                const struct gt_compare_side *s) {
    if (of_device(r, s))
        return r;
    for (size_t i = 0; i < p->count; i++)
        if (of_device(&p->row[i], s) && has_figure(&p->row[i]) && r->volume > 0 &&
            p->row[i].volume == r->volume && strcmp(p->row[i].problem, r->problem) == 0 &&
            is_same_kernel(&p->row[i], r))
            return &p->row[i];
    return NULL;
}

/* The problem of a published figure. A volume becomes the shape nearest to a cube. */
static bool published_problem(gemmtune_problem *out, const struct gt_published_row *r) {
    char name[GT_PROBLEM_NAME_MAX];
    int64_t m, n, k;
    if (r->problem[0] != '\0')
        return gt_problem_from_name(out, r->problem, NULL) == GEMMTUNE_OK;
    if (r->volume < 1)
        return false;
    gt_volume_shape(r->volume, &m, &n, &k);
    (void)snprintf(name, sizeof name, "%s-%s-%lldx%lldx%lld", r->dtype, r->layout,
                   (long long)m, (long long)n, (long long)k);
    return gt_problem_from_name(out, name, NULL) == GEMMTUNE_OK;
}

/* Names the problem; a volume becomes "mnk=2.5e9". */
static void name_problem(char *buf, size_t size, const struct gt_published_row *r) {
    char volume[GT_CELL_MAX] = "";
    if (r->volume > 0) {
        const int zeros = (int)floor(log10((double)r->volume));
        (void)snprintf(volume, sizeof volume, " mnk=%.3ge%d",
                       (double)r->volume / pow(10, zeros), zeros);
    }
    if (r->problem[0] != '\0')
        (void)snprintf(buf, size, "%s", r->problem);
    else
        (void)snprintf(buf, size, "%s-%s%s", r->dtype, r->layout, volume);
}

static void put_published(struct gt_compare_row *out, const struct gt_comparison *c,
                          const struct gt_published_row *r) {
    struct gt_predicted same;
    gemmtune_problem p;
    const bool known = published_problem(&p, r);
    *out = (struct gt_compare_row){
        .source = GT_COMPARE_PUBLISHED, .flops = 2 * (double)r->volume, .published = r};
    name_problem(out->problem, sizeof out->problem, r);
    for (int i = 0; i < 2; i++) {
        const struct gt_compare_side *s = &c->side[i];
        struct gt_compare_part *part = &out->part[i];
        const struct gt_published_row *figure = figure_of(&c->published, r, s);
        if (figure != NULL) {
            part->kernel = gt_compare_rung(figure);
            part->ns = figure->ms * 1e6;
            part->gflops = figure->gflops;
        }
        if (known && s->described && r->point[0] != '\0' &&
            gt_predict_text(&same, c->families, r->point, &s->device, &p, NULL) ==
                GEMMTUNE_OK)
            part->predicted_ns = gt_computed_ns(&same.prediction);
    }
    set_ratios(out);
}

static void list_published(struct gt_comparison *c) {
    const struct gt_published *p = &c->published;
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < p->count; j++) {
            const struct gt_published_row *r = &p->row[j];
            const bool listed = i == 1 && figure_of(p, r, &c->side[0]) != NULL;
            if (of_device(r, &c->side[i]) && has_figure(r) && !listed)
                put_published(&c->row[c->row_count++], c, r);
        }
}

/* ---- best rates ---- */

/* The highest rate of a kernel and type on a device, for any size. */
static double best_rate(const struct gt_published *p, const struct gt_compare_side *s,
                        const struct gt_published_row *like) {
    double best = 0;
    for (size_t i = 0; i < p->count; i++)
        if (of_device(&p->row[i], s) && is_same_kernel(&p->row[i], like))
            best = fmax(best, p->row[i].gflops);
    return best;
}

/* Whether this is the device's first row with its kernel and type. */
static bool is_first(const struct gt_published *p, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcmp(p->row[j].device, p->row[i].device) == 0 &&
            is_same_kernel(&p->row[j], &p->row[i]))
            return false;
    return true;
}

/* Adds the rows of rates. Two sources rarely have a size in common, so only each kernel's
 * best rates can be compared. */
static void list_rates(struct gt_comparison *c) {
    const struct gt_published *p = &c->published;
    for (size_t i = 0; i < p->count; i++) {
        const struct gt_published_row *r = &p->row[i];
        if (!of_device(r, &c->side[0]) || !is_first(p, i))
            continue;
        const double a = best_rate(p, &c->side[0], r), b = best_rate(p, &c->side[1], r);
        if (a <= 0 || b <= 0)
            continue;
        struct gt_compare_row *row = &c->row[c->row_count++];
        *row = (struct gt_compare_row){.source = GT_COMPARE_RATE, .published = r};
        (void)snprintf(row->problem, sizeof row->problem, "%s, best rate", r->dtype);
        for (int j = 0; j < 2; j++)
            row->part[j] = (struct gt_compare_part){.kernel = gt_compare_rung(r),
                                                    .gflops = j == 0 ? a : b};
        row->ratio = b / a; /* ratio of times, as in the other rows */
    }
}

/* ---- the best of gemmtune ---- */

/* Whether a figure is of the device itself and well above its source's resolution. The best
 * points take a second to find, which other figures are not worth. */
static bool is_telling(const struct gt_published_row *r) {
    return !r->host && (r->resolution_ms <= 0 || r->ms >= 2 * r->resolution_ms);
}

/* An earlier row for the same problem that has its best points. */
static const struct gt_compare_row *row_like(const struct gt_comparison *c, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (c->row[j].source == GT_COMPARE_PUBLISHED && is_telling(c->row[j].published) &&
            strcmp(c->row[j].problem, c->row[i].problem) == 0)
            return &c->row[j];
    return NULL;
}

static gt_status find_best(struct gt_compare_row *r, const struct gt_comparison *c,
                           const gemmtune_problem *p, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++) {
        struct gt_predicted *best = &r->part[i].best;
        if (c->side[i].described)
            status = gt_predict_nearly_best(best, c->families, &c->side[i].device, p, err);
        if (status == GEMMTUNE_ENOTFOUND) {
            best->family = NULL;
            status = GEMMTUNE_OK;
        }
    }
    return status;
}

static gt_status find_best_of_published(struct gt_comparison *c, size_t i,
                                        struct gt_err *err) {
    struct gt_compare_row *r = &c->row[i];
    const struct gt_compare_row *like = row_like(c, i);
    gemmtune_problem p;
    if (like == NULL && is_telling(r->published) && published_problem(&p, r->published))
        return find_best(r, c, &p, err);
    for (int j = 0; like != NULL && j < 2; j++)
        r->part[j].best = like->part[j].best;
    return GEMMTUNE_OK;
}

/* The best kernels are all that such a row has: they are its kernels. */
static gt_status find_best_of_predicted(struct gt_comparison *c, size_t i,
                                        struct gt_err *err) {
    struct gt_compare_row *r = &c->row[i];
    gemmtune_problem p;
    gt_status status = gt_problem_from_name(&p, r->problem, err);
    if (status == GEMMTUNE_OK)
        status = find_best(r, c, &p, err);
    for (int j = 0; status == GEMMTUNE_OK && j < 2; j++) {
        struct gt_compare_part *part = &r->part[j];
        if (part->best.family == NULL)
            continue;
        part->kernel = part->best.family->name;
        part->predicted_ns = part->best.prediction.ns;
    }
    set_ratios(r);
    return status;
}

/* Finds the best points. Tuned rows do not need them: they have winners. */
static gt_status find_all_best(struct gt_comparison *c, struct gt_err *err) {
    static gt_status (*const find[])(struct gt_comparison * c, size_t i,
                                     struct gt_err * err) = {
        [GT_COMPARE_PUBLISHED] = find_best_of_published,
        [GT_COMPARE_PREDICTED] = find_best_of_predicted,
        [GT_COMPARE_RATE] = NULL,
    };
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < c->row_count; i++) {
        gt_progress_count(&c->progress, "predicting the best kernels", i, c->row_count);
        if (find[c->row[i].source] != NULL)
            status = find[c->row[i].source](c, i, err);
    }
    gt_progress_end(&c->progress);
    return status;
}

/* ---- predicted ---- */

static void put_predicted(struct gt_comparison *c, const char *problem) {
    struct gt_compare_row *r = &c->row[c->row_count++];
    *r = (struct gt_compare_row){.source = GT_COMPARE_PREDICTED};
    (void)snprintf(r->problem, sizeof r->problem, "%s", problem);
}

/* Problems that show what two devices are good for: middling and large, thin, each kind of
 * arithmetic. */
static const char *const usual[] = {
    "f32-nn-1024x1024x1024", "f32-nn-4096x4096x4096",  "f32-nn-16x4096x4096",
    "f64-nn-4096x4096x4096", "bf16-nn-4096x4096x4096", "i8-nt-4096x4096x4096",
};
enum { USUAL = sizeof usual / sizeof *usual };

/* The problems that were named; where nothing is known of the two, the usual ones. */
static void list_predicted(struct gt_comparison *c) {
    const bool described = c->side[0].described || c->side[1].described;
    for (size_t i = 0; i < c->sizes.count; i++)
        put_predicted(c, c->sizes.item[i].name);
    const bool empty = c->row_count == 0;
    for (size_t i = 0; empty && described && i < USUAL; i++)
        put_predicted(c, usual[i]);
}

/* ---- all rows ---- */

static double mean_predicted_ratio(const struct gt_comparison *c,
                                   enum gt_compare_source source) {
    double logs = 0;
    size_t count = 0;
    for (size_t i = 0; i < c->row_count; i++)
        if (c->row[i].source == source && c->row[i].predicted_ratio > 0) {
            logs += log(c->row[i].predicted_ratio);
            count++;
        }
    return count > 0 ? exp(logs / (double)count) : 0;
}

gt_status gt_compare_rows(struct gt_comparison *c, struct gt_err *err) {
    /* a published row needs at most two: itself and one of best rates */
    c->row = calloc(c->versus.count + 2 * c->published.count + c->sizes.count + USUAL,
                    sizeof *c->row);
    if (c->row == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the rows of a comparison");
    for (size_t i = 0; i < c->versus.count; i++)
        put_tuned(&c->row[c->row_count++], c, &c->versus.row[i]);
    list_published(c);
    list_rates(c);
    list_predicted(c);
    const gt_status status = find_all_best(c, err);
    c->predicted_geomean = mean_predicted_ratio(c, GT_COMPARE_PUBLISHED);
    c->best_geomean = mean_predicted_ratio(c, GT_COMPARE_PREDICTED);
    return status;
}
