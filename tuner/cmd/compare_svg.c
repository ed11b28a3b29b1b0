/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_svg.c - `gemmtune compare --svg`: draws GFLOP/s over the multiplications of a
 * problem, both on logarithmic axes. Each device has a colour. Each kernel has a mark for
 * its figures, tuned or published, and a dash for its predictions. Below, in
 * compare_classes.c, ratios by class of shape.
 */
#include "tuner/cmd/compare_svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 860, HEIGHT = 480, LEFT = 64, RIGHT = 270, TOP = 44, BOTTOM = 52 };
enum { KERNELS = 8, LINE_STEP = 20 };
static const char best_dash[] = "1 4";
static const char *const dashes[KERNELS] = {NULL,  "8 4",      "2 3",     "10 3 2 3",
                                            "4 4", "12 4 4 4", "6 2 2 2", "3 6"};

struct range {
    double low, high; /* decimal logarithms, whole numbers */
};

struct chart {
    const struct gt_comparison *c;
    struct gt_svg svg;
    struct range x, y;
    /* kernels of published figures; all tuned ones share "tuned" */
    const char *kernel[KERNELS];
    int kernel_count;
    int legend;               /* lines of the legend so far */
    struct gt_svg_spot *spot; /* has room for all rows */
};

/* ---- a row's marks ---- */

static const char tuned[] = "tuned kernel";

/* The legend's name for a row's kernel. */
static const char *label_of(const struct gt_compare_row *r) {
    return r->source == GT_COMPARE_TUNED ? tuned : gt_compare_rung(r->published);
}

/* Rates without a size cannot be drawn, and neither can figures of a host. A line through
 * predictions for several types would mean nothing. */
static bool is_drawn(const struct gt_compare_row *r) {
    return r->source != GT_COMPARE_RATE && r->source != GT_COMPARE_PREDICTED &&
           r->flops > 0 && (r->published == NULL || !r->published->host);
}

static double rate_of(double flops, double ns) {
    return ns > 0 ? flops / ns : 0;
}

/* 0 for a time so near its source's resolution that its rate may be wrong by half. */
static double measured_rate(const struct gt_compare_row *r, int side) {
    const double ns = r->part[side].ns;
    if (r->published != NULL && ns < 2 * r->published->resolution_ms * 1e6)
        return 0;
    return rate_of(r->flops, ns);
}

static double predicted_rate(const struct gt_compare_row *r, int side) {
    return rate_of(r->flops, r->part[side].predicted_ns);
}

static double best_rate(const struct gt_compare_row *r, int side) {
    const struct gt_predicted *best = &r->part[side].best;
    return best->family != NULL ? rate_of(r->flops, best->prediction.ns) : 0;
}

/* ---- axes ---- */

static void widen(struct range *r, double value) {
    if (value <= 0)
        return;
    r->low = fmin(r->low, floor(log10(value)));
    r->high = fmax(r->high, ceil(log10(value)));
}

static void find_ranges(struct chart *chart) {
    const struct gt_comparison *c = chart->c;
    chart->x = chart->y = (struct range){INFINITY, -INFINITY};
    for (size_t i = 0; i < c->row_count; i++) {
        const struct gt_compare_row *r = &c->row[i];
        for (int side = 0; is_drawn(r) && side < 2; side++) {
            widen(&chart->x, r->flops / 2);
            widen(&chart->y, measured_rate(r, side));
            widen(&chart->y, predicted_rate(r, side));
            widen(&chart->y, best_rate(r, side));
        }
    }
    if (!(chart->x.low < chart->x.high))
        chart->x.high = chart->x.low + 1;
    if (!(chart->y.low < chart->y.high))
        chart->y.high = chart->y.low + 1;
}

static double x_of(const struct chart *chart, double volume) {
    const struct range r = chart->x;
    return LEFT + (WIDTH - LEFT - RIGHT) * (log10(volume) - r.low) / (r.high - r.low);
}

static double y_of(const struct chart *chart, double gflops) {
    const struct range r = chart->y;
    return HEIGHT - BOTTOM -
           (HEIGHT - TOP - BOTTOM) * (log10(gflops) - r.low) / (r.high - r.low);
}

static void draw_axes(struct chart *chart) {
    char label[32];
    for (double e = chart->x.low; e <= chart->x.high; e++) {
        const double x = x_of(chart, pow(10, e));
        const struct gt_svg_spot line[] = {{x, TOP}, {x, HEIGHT - BOTTOM}};
        gt_svg_lines(&chart->svg, line, 2, GT_SVG_GRID, 1, NULL);
        (void)snprintf(label, sizeof label, "1e%.0f", e);
        gt_svg_text(&chart->svg, x, HEIGHT - BOTTOM + 18, GT_SVG_MIDDLE, label);
    }
    for (double e = chart->y.low; e <= chart->y.high; e++) {
        const double y = y_of(chart, pow(10, e));
        const struct gt_svg_spot line[] = {{LEFT, y}, {WIDTH - RIGHT, y}};
        gt_svg_lines(&chart->svg, line, 2, GT_SVG_GRID, 1, NULL);
        (void)snprintf(label, sizeof label, "%g", pow(10, e));
        gt_svg_text(&chart->svg, LEFT - 8, y + 4, GT_SVG_END, label);
    }
    gt_svg_text(&chart->svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, GT_SVG_MIDDLE,
                "multiplications of the problem (m n k)");
    gt_svg_text(&chart->svg, LEFT - 50, TOP - 10, GT_SVG_START, "GFLOP/s");
}

/* ---- series ---- */

static int by_x(const void *a, const void *b) {
    const struct gt_svg_spot *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* The spots of the rows with this label (NULL: all), from left to right. */
static size_t find_spots(struct chart *chart, const char *label, int side,
                         double (*rate)(const struct gt_compare_row *r, int side)) {
    size_t count = 0;
    for (size_t i = 0; i < chart->c->row_count; i++) {
        const struct gt_compare_row *r = &chart->c->row[i];
        const double gflops = is_drawn(r) ? rate(r, side) : 0;
        if (gflops > 0 && (label == NULL || strcmp(label, label_of(r)) == 0))
            chart->spot[count++] =
                (struct gt_svg_spot){x_of(chart, r->flops / 2), y_of(chart, gflops)};
    }
    qsort(chart->spot, count, sizeof *chart->spot, by_x);
    return count;
}

static void add_legend(struct chart *chart, int side, const char *label, double width,
                       const char *dash, bool line, bool mark, enum gt_svg_mark which) {
    const double x = WIDTH - RIGHT + 16, y = TOP + 10 + LINE_STEP * chart->legend++;
    const struct gt_svg_spot sample[] = {{x, y - 4}, {x + 36, y - 4}};
    char words[160];
    if (line)
        gt_svg_lines(&chart->svg, sample, 2, gt_svg_colour((size_t)side), width, dash);
    if (mark)
        gt_svg_mark(&chart->svg, x + 18, y - 4, which, gt_svg_colour((size_t)side), 1);
    (void)snprintf(words, sizeof words, "%s: %s",
                   gt_compare_short_name(chart->c->side[side].name), label);
    gt_svg_text(&chart->svg, x + 44, y, GT_SVG_START, words);
}

/* Draws a line through the spots; a single one gets a short stroke. */
static void draw_line(struct chart *chart, size_t count, const char *colour,
                      const char *dash) {
    const struct gt_svg_spot only = chart->spot[0];
    const struct gt_svg_spot stroke[] = {{only.x - 10, only.y}, {only.x + 10, only.y}};
    if (count > 1)
        gt_svg_lines(&chart->svg, chart->spot, count, colour, 1.5, dash);
    else if (count == 1)
        gt_svg_lines(&chart->svg, stroke, 2, colour, 1.5, NULL);
}

static void draw_kernel(struct chart *chart, int side, int kernel) {
    const char *label = chart->kernel[kernel], *dash = dashes[kernel];
    const char *colour = gt_svg_colour((size_t)side);
    const enum gt_svg_mark mark = (enum gt_svg_mark)(kernel % GT_SVG_MARKS);
    const size_t lines = find_spots(chart, label, side, predicted_rate);
    draw_line(chart, lines, colour, dash);
    const size_t marks = find_spots(chart, label, side, measured_rate);
    for (size_t i = 0; i < marks; i++)
        gt_svg_mark(&chart->svg, chart->spot[i].x, chart->spot[i].y, mark, colour, 1);
    if (lines > 0 || marks > 0)
        add_legend(chart, side, label, 1.5, dash, lines > 0, marks > 0, mark);
}

static void draw_side(struct chart *chart, int side) {
    for (int i = 0; i < chart->kernel_count; i++)
        draw_kernel(chart, side, i);
    const size_t count = find_spots(chart, NULL, side, best_rate);
    if (count < 2)
        return;
    gt_svg_lines(&chart->svg, chart->spot, count, gt_svg_colour((size_t)side), 3,
                 best_dash);
    add_legend(chart, side, "gemmtune's best", 3, best_dash, true, false, GT_SVG_DISC);
}

/* ---- the picture ---- */

static void list_kernels(struct chart *chart) {
    for (size_t i = 0; i < chart->c->row_count; i++) {
        const struct gt_compare_row *r = &chart->c->row[i];
        int j = 0;
        if (!is_drawn(r))
            continue;
        while (j < chart->kernel_count && strcmp(chart->kernel[j], label_of(r)) != 0)
            j++;
        if (j == chart->kernel_count && j < KERNELS)
            chart->kernel[chart->kernel_count++] = label_of(r);
    }
}

static void explain(struct chart *chart) {
    const double x = WIDTH - RIGHT + 16;
    chart->legend++;
    gt_svg_text(&chart->svg, x, TOP + 10 + LINE_STEP * chart->legend++, GT_SVG_START,
                "marks: tuned, or published");
    gt_svg_text(&chart->svg, x, TOP + 10 + LINE_STEP * chart->legend++, GT_SVG_START,
                "lines: predicted by the model");
}

static gt_status draw_into(const struct gt_comparison *c, FILE *page, const char *path,
                           struct gt_err *err) {
    struct chart chart = {.c = c};
    char title[300];
    list_kernels(&chart);
    if (chart.kernel_count == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: there is no figure to draw", path);
    chart.spot = calloc(c->row_count, sizeof *chart.spot);
    if (chart.spot == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a picture");
    (void)snprintf(title, sizeof title, "%s beside %s", c->side[0].name, c->side[1].name);
    const int classes = gt_compare_classes_height(c);
    const struct gt_svg_head head = {
        WIDTH, HEIGHT + classes, title,
        "GFLOP/s over the multiplications of a problem; below, how many times as fast the "
        "second device is, by class of shape."};
    gt_status status = gt_svg_begin_in(&chart.svg, page, path, &head, err);
    if (status != GEMMTUNE_OK)
        goto done;
    find_ranges(&chart);
    gt_svg_text(&chart.svg, (LEFT + WIDTH - RIGHT) / 2.0, 20, GT_SVG_MIDDLE, title);
    draw_axes(&chart);
    draw_side(&chart, 0);
    draw_side(&chart, 1);
    explain(&chart);
    if (classes > 0)
        gt_compare_classes_draw(&chart.svg, c, LEFT, WIDTH - RIGHT, HEIGHT);
    status = gt_svg_end(&chart.svg, err);
done:
    free(chart.spot);
    return status;
}

gt_status gt_compare_svg(const struct gt_comparison *c, const char *path,
                         struct gt_err *err) {
    return draw_into(c, NULL, path, err);
}

gt_status gt_compare_draw(const struct gt_comparison *c, FILE *page, struct gt_err *err) {
    return draw_into(c, page, "page", err);
}
