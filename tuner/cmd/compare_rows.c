/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_rows.c - the rows of `gemmtune compare`: of a problem the tuned kernels of both
 * devices, of a publication its figures, and in columns of their own what the model
 * predicts of either.
 */
#include "tuner/cmd/compare.h"

#include "tuner/study/predict.h"
#include "tuner/base/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells
 * -------------------------------------------------------------------------------- */

static const struct gt_column columns[] = {
    {"problem", "problem", GT_CELL_TEXT, 0, "its name"},
    {"source", "source", GT_CELL_TEXT, 0,
     "tuned here, or published"}, /* tuned or published */
    {"a_family", "kernel A", GT_CELL_TEXT, 0, "kernel on A"},
    {"a_point", NULL, GT_CELL_TEXT, 0, "values of its family's parameters"},
    {NULL, "time A", GT_CELL_TEXT, 0, "time on A"},
    {"a_ns", NULL, GT_CELL_COUNT, 0, "time on A"},
    {"a_gflops", "GFLOP/s A", GT_CELL_COUNT, 0, "rate on A"},
    {"b_family", "kernel B", GT_CELL_TEXT, 0, "kernel on B"},
    {"b_point", NULL, GT_CELL_TEXT, 0, "values of its family's parameters"},
    {NULL, "time B", GT_CELL_TEXT, 0, "time on B"},
    {"b_ns", NULL, GT_CELL_COUNT, 0, "time on B"},
    {"b_gflops", "GFLOP/s B", GT_CELL_COUNT, 0, "rate on B"},
    {"ratio", "A/B", GT_CELL_COUNT, 0, "time on A over time on B: above 1 B is faster"},
    {"differs", "differs", GT_CELL_TEXT, 0,
     "parameters that differ between A's kernel and B's"},
    {NULL, "best for both", GT_CELL_TEXT, 0, "one kernel for both devices"},
    {"shared_family", NULL, GT_CELL_TEXT, 0, "its family"},
    {"shared_point", NULL, GT_CELL_TEXT, 0, "its parameters"},
    {"shared_a_ns", NULL, GT_CELL_COUNT, 0, "its time on A"},
    {"shared_b_ns", NULL, GT_CELL_COUNT, 0, "its time on B"},
    {"shared_slowdown", "slowdown", GT_CELL_COUNT, 0,
     "the worse of its times over the device's best"},
    {"title", NULL, GT_CELL_TEXT, 0, "publication"},
    /* the last only when they were asked for */
    {NULL, "predicted A", GT_CELL_TEXT, 0, "time that the model predicts for A"},
    {"a_predicted_ns", NULL, GT_CELL_COUNT, 0, "time that the model predicts for A"},
    {NULL, "predicted B", GT_CELL_TEXT, 0, "time that the model predicts for B"},
    {"b_predicted_ns", NULL, GT_CELL_COUNT, 0, "time that the model predicts for B"},
};

enum {
    COLUMNS = sizeof columns / sizeof *columns,
    PREDICTED = COLUMNS - 4, /* the first of those */
    TITLE = PREDICTED - 1,
    SIDE = 5 /* cells of a side in a row */
};

/* Storage for the texts of one side's cells. */
struct side_text {
    char shown[GT_CELL_MAX], ns[GT_CELL_MAX], rate[GT_CELL_MAX];
    char predicted[GT_CELL_MAX], predicted_ns[GT_CELL_MAX];
};

/* Empty texts become empty cells. */
static const char *filled(const char *text) {
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static const char *number(char buf[GT_CELL_MAX], double value) {
    return value > 0 ? gt_show_count(buf, value) : NULL;
}

const char *gt_compare_ratio(char buf[GT_CELL_MAX], double value) {
    if (value <= 0)
        return NULL;
    (void)snprintf(buf, GT_CELL_MAX, value >= 100 ? "%.0f" : "%.3g", value);
    return buf;
}

/* Rows come as texts, a cell a column. */
static void fill_texts(struct gt_cell *cell, const void *row) {
    const char *const *text = row;
    for (size_t i = 0; i < COLUMNS; i++, text++)
        *cell++ = columns[i].kind == GT_CELL_TEXT
                      ? gt_cell_text(*text)
                      : gt_cell_number(*text != NULL ? strtod(*text, NULL) : (double)NAN);
}

static void fill_unpredicted(struct gt_cell *cell, const void *row) {
    struct gt_cell all[COLUMNS];
    fill_texts(all, row);
    memcpy(cell, all, PREDICTED * sizeof *cell);
}

const struct gt_form gt_compare_form = {"with --predict", columns, COLUMNS, fill_texts};
static const struct gt_form unpredicted = {"", columns, PREDICTED, fill_unpredicted};

/* ---- what the model says ---------------------------------------------------------------
 */

/* Of a tuned kernel's point; 0 when it is not predicted. */
static double predict_tuned(const struct gt_comparison *c, const struct gt_compare_side *s,
                            const struct gt_view_row *r, const gemmtune_problem *p) {
    struct gt_point point;
    struct gt_prediction prediction;
    if (!c->predict || !s->described || r == NULL)
        return 0;
    const struct gt_family *f = gt_families_find(c->families, r->family);
    if (f == NULL || gt_point_parse(&point, r->point, NULL) != GEMMTUNE_OK ||
        gt_model_explain(&prediction, f, &s->device, p, &point, NULL) != GEMMTUNE_OK)
        return 0;
    return prediction.ns;
}

/* The problem of a published figure; a volume stands for the shape nearest to a cube. */
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

/* Of a published kernel: the best point of our family of its name; 0 when there is none. */
static double predict_published(const struct gt_comparison *c,
                                const struct gt_compare_side *s,
                                const struct gt_published_row *r) {
    struct gt_predicted best;
    gemmtune_problem p;
    size_t count = 0, asked;
    if (!c->predict || !s->described || r == NULL || !published_problem(&p, r))
        return 0;
    const struct gt_texts names = {.count = 1, .text = {r->kernel}};
    (void)gt_predict_best(&best, 1, &count, &asked, c->families, &names, &s->device, &p,
                          NULL); /* a space too large to walk through is not predicted */
    return count > 0 ? best.prediction.ns : 0;
}

static void put_predicted(const char **cell, struct side_text *text, double ns) {
    cell[0] = filled(gt_show_ns(text->predicted, ns));
    cell[1] = number(text->predicted_ns, ns);
}

/* ---- tuned --------------------------------------------------------------------------- */

static void put_winner(const char **cell, struct side_text *text,
                       const struct gt_view_row *r, double flops) {
    if (r == NULL)
        return;
    cell[0] = r->family;
    cell[1] = r->point;
    cell[2] = gt_show_ns(text->shown, r->median_ns);
    cell[3] = number(text->ns, r->median_ns);
    cell[4] = filled(gt_show_rate(text->rate, flops, r->median_ns));
}

static gt_status add_tuned(struct gt_table *t, const struct gt_comparison *c,
                           const struct gt_versus_row *r, struct gt_err *err) {
    char num[4][GT_CELL_MAX], shared[GT_NAME_MAX + GT_POINT_TEXT_MAX];
    struct side_text text[2];
    const char *cell[COLUMNS] = {r->problem, "tuned"};
    gemmtune_problem p;
    const bool known = gt_problem_from_name(&p, r->problem, NULL) == GEMMTUNE_OK;
    const double flops = known ? gt_problem_flops(&p) : 0;
    const char **at = cell + 2;
    put_winner(at, &text[0], r->a, flops);
    put_winner(at + SIDE, &text[1], r->b, flops);
    if (known) {
        put_predicted(cell + PREDICTED, &text[0], predict_tuned(c, &c->a, r->a, &p));
        put_predicted(cell + PREDICTED + 2, &text[1], predict_tuned(c, &c->b, r->b, &p));
    }
    at += 2 * SIDE;
    *at++ = gt_compare_ratio(num[0], r->ratio);
    *at++ = filled(r->differs);
    if (r->shared != NULL) {
        (void)snprintf(shared, sizeof shared, "%s %s", r->shared->family, r->shared->point);
        *at++ = shared;
        *at++ = r->shared->family;
        *at++ = r->shared->point;
        *at++ = number(num[1], r->shared_a_ns);
        *at++ = number(num[2], r->shared_b_ns);
        *at++ = gt_compare_ratio(num[3], r->shared_slowdown);
    }
    return gt_table_add(t, cell, err);
}

/* ---- published ----------------------------------------------------------------------- */

static void put_published(const char **cell, struct side_text *text,
                          const struct gt_published_row *r) {
    if (r == NULL)
        return;
    cell[0] = r->kernel;
    cell[1] = filled(r->how);
    cell[2] = filled(gt_show_ns(text->shown, r->ms * 1e6));
    cell[3] = number(text->ns, r->ms * 1e6);
    cell[4] = r->gflops > 0 ? gt_show_rate(text->rate, r->gflops, 1) : NULL;
}

/* `a` or `b` may be NULL: published on one of the two devices only. */
static gt_status add_published(struct gt_table *t, const struct gt_comparison *c,
                               const struct gt_published_row *a,
                               const struct gt_published_row *b, struct gt_err *err) {
    const struct gt_published_row *r = a != NULL ? a : b;
    char what[GT_PROBLEM_NAME_MAX + 16], volume[GT_CELL_MAX], num[GT_CELL_MAX];
    struct side_text text[2];
    const char *cell[COLUMNS] = {what, "published"};
    if (r->problem[0] != '\0')
        (void)snprintf(what, sizeof what, "%s", r->problem);
    else
        (void)snprintf(what, sizeof what, "%s-%s%s%s", r->dtype, r->layout,
                       r->volume > 0 ? " mnk=" : "",
                       r->volume > 0 ? gt_show_count(volume, (double)r->volume) : "");
    put_published(cell + 2, &text[0], a);
    put_published(cell + 2 + SIDE, &text[1], b);
    if (a != NULL && b != NULL && b->ms > 0)
        cell[2 + 2 * SIDE] = gt_compare_ratio(num, a->ms / b->ms);
    cell[TITLE] = r->title;
    /* one kernel and problem, whichever of the two it was published on */
    put_predicted(cell + PREDICTED, &text[0], predict_published(c, &c->a, r));
    put_predicted(cell + PREDICTED + 2, &text[1], predict_published(c, &c->b, r));
    return gt_table_add(t, cell, err);
}

static bool of_device(const struct gt_published_row *r, const struct gt_compare_side *s) {
    return s->published != NULL && strcmp(r->device, s->published) == 0;
}

/* The other side's figure for the same kernel and problem; a rate without a size has no
 * counterpart. */
static const struct gt_published_row *counterpart(const struct gt_published *p,
                                                  const struct gt_published_row *r,
                                                  const struct gt_compare_side *other) {
    for (size_t i = 0; i < p->count; i++)
        if (of_device(&p->row[i], other) && r->volume > 0 &&
            p->row[i].volume == r->volume && strcmp(p->row[i].problem, r->problem) == 0 &&
            strcmp(p->row[i].dtype, r->dtype) == 0 &&
            strcmp(p->row[i].kernel, r->kernel) == 0)
            return &p->row[i];
    return NULL;
}

/* The highest rate of a kernel and type on a device, whatever the size. */
static double best_rate(const struct gt_published *p, const struct gt_compare_side *s,
                        const struct gt_published_row *like) {
    double best = 0;
    for (size_t i = 0; i < p->count; i++)
        if (of_device(&p->row[i], s) && strcmp(p->row[i].kernel, like->kernel) == 0 &&
            strcmp(p->row[i].dtype, like->dtype) == 0 && p->row[i].gflops > best)
            best = p->row[i].gflops;
    return best;
}

/* Sources rarely share a size: the one comparison that is left is of each kernel's best
 * rate. */
static gt_status add_best_rates(struct gt_table *t, const struct gt_published_row *r,
                                double a, double b, struct gt_err *err) {
    char what[64], num[GT_CELL_MAX];
    struct side_text text[2];
    const char *cell[COLUMNS] = {what, "published"};
    (void)snprintf(what, sizeof what, "%s, best rate", r->dtype);
    cell[2] = cell[2 + SIDE] = r->kernel;
    cell[6] = gt_show_rate(text[0].rate, a, 1);
    cell[6 + SIDE] = gt_show_rate(text[1].rate, b, 1);
    cell[2 + 2 * SIDE] = gt_compare_ratio(num, b / a); /* of times, like the other rows */
    return gt_table_add(t, cell, err);
}

/* Whether no earlier row of the same device has this kernel and type. */
static bool is_first(const struct gt_published *p, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (strcmp(p->row[j].device, p->row[i].device) == 0 &&
            strcmp(p->row[j].kernel, p->row[i].kernel) == 0 &&
            strcmp(p->row[j].dtype, p->row[i].dtype) == 0)
            return false;
    return true;
}

static gt_status compare_rates(struct gt_table *t, const struct gt_comparison *c,
                               struct gt_err *err) {
    const struct gt_published *p = &c->published;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++) {
        if (!of_device(&p->row[i], &c->a) || !is_first(p, i))
            continue;
        const double a = best_rate(p, &c->a, &p->row[i]),
                     b = best_rate(p, &c->b, &p->row[i]);
        if (a > 0 && b > 0)
            status = add_best_rates(t, &p->row[i], a, b, err);
    }
    return status;
}

static gt_status add_all_published(struct gt_table *t, const struct gt_comparison *c,
                                   struct gt_err *err) {
    const struct gt_published *p = &c->published;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++)
        if (of_device(&p->row[i], &c->a))
            status =
                add_published(t, c, &p->row[i], counterpart(p, &p->row[i], &c->b), err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++)
        if (of_device(&p->row[i], &c->b) && counterpart(p, &p->row[i], &c->a) == NULL)
            status = add_published(t, c, NULL, &p->row[i], err);
    return status == GEMMTUNE_OK ? compare_rates(t, c, err) : status;
}

/* ---- all rows --------------------------------------------------------------------------
 */

gt_status gt_compare_rows(struct gt_table **out, const struct gt_comparison *c,
                          struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status =
        gt_table_create(&t, c->predict ? &gt_compare_form : &unpredicted, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < c->versus.count; i++)
        status = add_tuned(t, c, &c->versus.row[i], err);
    if (status == GEMMTUNE_OK)
        status = add_all_published(t, c, err);
    if (status != GEMMTUNE_OK) {
        gt_table_destroy(t);
        t = NULL;
    }
    *out = t;
    return status;
}
