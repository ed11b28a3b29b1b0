/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_classes.c - the lower panel of `gemmtune compare --svg`: how many times as fast B
 * is as A, a line for each class of shapes. A mark is the geometric mean of a class, and a
 * stroke goes from its least to its largest ratio. Times that were measured here, times
 * that others published and times of the model have marks of their own.
 */
#include "tuner/cmd/compare_svg.h"

#include "tuner/bench/bench_stats.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 26, BELOW = 44, MARKS_APART = 7 };

/* Where a ratio comes from. */
enum origin { MEASURED, PUBLISHED, PREDICTED, ORIGINS };

static const struct {
    enum gt_svg_mark mark;
    const char *about;
} looks[ORIGINS] = {[MEASURED] = {GT_SVG_DISC, "tuned on both"},
                    [PUBLISHED] = {GT_SVG_SQUARE, "published of both"},
                    [PREDICTED] = {GT_SVG_DIAMOND, "predicted of the best kernels"}};

/* The ratios of one class and origin. */
struct ratios {
    int count;
    double logs, least, most; /* logs: the sum of log2 */
};

/* The last class is of figures that name only the multiplications of a problem. */
enum { CLASSES = GT_SHAPE_CLASSES + 1 };

struct panel {
    struct ratios of[CLASSES][ORIGINS];
    double low, high; /* log2 of the ratios, whole numbers */
};

static void add(struct panel *p, size_t class, enum origin origin, double ratio) {
    struct ratios *const r = &p->of[class][origin];
    if (!(ratio > 0) || !isfinite(ratio))
        return;
    r->least = r->count == 0 ? ratio : fmin(r->least, ratio);
    r->most = r->count == 0 ? ratio : fmax(r->most, ratio);
    r->logs += log2(ratio);
    r->count++;
    p->low = fmin(p->low, floor(log2(ratio)));
    p->high = fmax(p->high, ceil(log2(ratio)));
}

static size_t class_of(const struct gt_compare_row *r) {
    gemmtune_problem p;
    return gt_problem_from_name(&p, r->problem, NULL) == GEMMTUNE_OK
               ? gt_shape_class_index(&p)
               : GT_SHAPE_CLASSES;
}

static double best_ratio(const struct gt_compare_row *r) {
    const struct gt_predicted *const a = &r->part[0].best, *const b = &r->part[1].best;
    return a->family != NULL && b->family != NULL ? a->prediction.ns / b->prediction.ns : 0;
}

static void fill(struct panel *p, const struct gt_comparison *c) {
    for (size_t i = 0; i < c->row_count; i++) {
        const struct gt_compare_row *const r = &c->row[i];
        const size_t class = class_of(r);
        if (r->source == GT_COMPARE_TUNED)
            add(p, class, MEASURED, r->ratio);
        else if (r->source == GT_COMPARE_PUBLISHED && !r->published->host)
            add(p, class, PUBLISHED, r->ratio);
        add(p, class, PREDICTED, best_ratio(r));
    }
}

static bool has_class(const struct panel *p, size_t class) {
    bool has = false;
    for (int i = 0; i < ORIGINS; i++)
        has |= p->of[class][i].count > 0;
    return has;
}

static bool has_origin(const struct panel *p, enum origin origin) {
    bool has = false;
    for (size_t i = 0; i < CLASSES; i++)
        has |= p->of[i][origin].count > 0;
    return has;
}

int gt_compare_classes_height(const struct gt_comparison *c) {
    struct panel p = {.low = 0, .high = 0};
    int lines = 0;
    fill(&p, c);
    for (size_t i = 0; i < CLASSES; i++)
        lines += has_class(&p, i);
    return lines > 0 ? BELOW + LINE * lines + BELOW : 0;
}

/* ---- drawing ------------------------------------------------------------------------- */

struct frame {
    struct gt_svg *svg;
    const struct panel *panel;
    double left, right, top;
    const char *name[2]; /* of A and B */
};

static double x_of(const struct frame *f, double ratio) {
    return f->left + (f->right - f->left) * (log2(ratio) - f->panel->low) /
                         (f->panel->high - f->panel->low);
}

static void draw_axis(const struct frame *f, double bottom) {
    char label[32], words[300];
    for (double e = f->panel->low; e <= f->panel->high; e++) {
        const double x = x_of(f, exp2(e));
        const struct gt_svg_spot line[] = {{x, f->top}, {x, bottom}};
        const bool is_one = e == 0;
        gt_svg_lines(f->svg, line, 2, is_one ? GT_SVG_DULL : GT_SVG_GRID, is_one ? 2 : 1,
                     NULL);
        (void)snprintf(label, sizeof label, "%g", exp2(e));
        gt_svg_text(f->svg, x, bottom + 16, GT_SVG_MIDDLE, label);
    }
    (void)snprintf(words, sizeof words, "time on %s over time on %s", f->name[0],
                   f->name[1]);
    gt_svg_text(f->svg, (f->left + f->right) / 2, bottom + 34, GT_SVG_MIDDLE, words);
}

static void draw_ratios(const struct frame *f, const struct ratios *r, enum origin origin,
                        double y) {
    const char *const colour = gt_svg_colour(2 + (size_t)origin);
    const struct gt_svg_spot span[] = {{x_of(f, r->least), y}, {x_of(f, r->most), y}};
    const double mean = exp2(r->logs / r->count);
    char name[160];
    (void)snprintf(name, sizeof name, "%s: %.3g in the mean of %d, from %.3g to %.3g",
                   looks[origin].about, mean, r->count, r->least, r->most);
    gt_svg_group_begin(f->svg, name);
    gt_svg_lines(f->svg, span, 2, colour, 1.5, NULL);
    gt_svg_mark(f->svg, x_of(f, mean), y, looks[origin].mark, colour, 1);
    gt_svg_group_end(f->svg);
}

static void draw_class(const struct frame *f, size_t class, double y) {
    const char *about, *name = gt_shape_class_at(class, &about);
    gt_svg_text(f->svg, f->left - 8, y + 4, GT_SVG_END, name != NULL ? name : "size only");
    for (int i = 0; i < ORIGINS; i++)
        if (f->panel->of[class][i].count > 0)
            draw_ratios(f, &f->panel->of[class][i], (enum origin)i,
                        y + MARKS_APART * (i - 1));
}

static void draw_legend(const struct frame *f) {
    double y = f->top + 10;
    for (int i = 0; i < ORIGINS; i++) {
        if (!has_origin(f->panel, (enum origin)i))
            continue;
        gt_svg_mark(f->svg, f->right + 34, y - 4, looks[i].mark,
                    gt_svg_colour(2 + (size_t)i), 1);
        gt_svg_text(f->svg, f->right + 60, y, GT_SVG_START, looks[i].about);
        y += LINE;
    }
    gt_svg_text(f->svg, f->right + 16, y, GT_SVG_START, "mark: mean; stroke: all problems");
}

void gt_compare_classes_draw(struct gt_svg *svg, const struct gt_comparison *c, double left,
                             double right, double top) {
    struct panel p = {.low = 0, .high = 0};
    fill(&p, c);
    if (!(p.low < p.high))
        p.high = p.low + 1;
    const struct frame f = {.svg = svg,
                            .panel = &p,
                            .left = left,
                            .right = right,
                            .top = top + BELOW / 2.0,
                            .name = {gt_compare_short_name(c->side[0].name),
                                     gt_compare_short_name(c->side[1].name)}};
    double y = f.top;
    for (size_t i = 0; i < CLASSES; i++)
        y += has_class(&p, i) ? LINE : 0;
    draw_axis(&f, y);
    y = f.top - LINE / 2.0;
    for (size_t i = 0; i < CLASSES; i++)
        if (has_class(&p, i))
            draw_class(&f, i, y += LINE);
    draw_legend(&f);
}
