/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures_svg.c - draws the lines of a comparison: a row for each group, a mark for each
 * line at its ratio, on a logarithmic axis. Marks that would cover each other stand above
 * and below the middle of their row.
 */
#include "tuner/study/figures.h"

#include "core/dtype.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 860, LEFT = 128, RIGHT = 192, TOP = 92, ROW = 48, BOTTOM = 64, AXIS = 46 };
static const double mark_scale = 0.6; /* about five pixels */
static const double mark_gap = 5.8;   /* between the middles of two marks */

/* The marks of the verdicts: their shapes differ as well as their colours. */
static const struct {
    enum gt_verdict verdict;
    enum gt_svg_mark mark;
    size_t colour; /* gt_svg_colour; DULL: GT_SVG_DULL */
    const char *word;
} verdicts[] = {
    {GT_WIN, GT_SVG_DISC, 0, "faster"},
    {GT_TIE, GT_SVG_SQUARE, SIZE_MAX, "tie"},
    {GT_LOSS, GT_SVG_TRIANGLE, 1, "slower"},
};
enum { VERDICTS = sizeof verdicts / sizeof *verdicts };

/* Groups first to last share an axis. Batches have an axis of their own: their ratios are
 * so large that they would press all others together. */
struct panel {
    size_t first, last;
    double low, high;   /* ends of the axis, as ratios */
    double top, bottom; /* of the rows */
};

enum { PANELS = 2 };

struct chart {
    const struct gt_figures *f;
    struct gt_svg svg;
    struct panel panel[PANELS];
    struct gt_svg_spot *spot;
};

static bool is_drawn(const struct gt_figure *line) {
    return line->verdict != GT_NO_VERDICT && line->verdict != GT_NOISY;
}

/* ---- the axis ---- */

static const double ticks[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.7, 1,   1.5, 2,
                               3,    5,    10,   20,  50,  100, 200, 500, 1000};
enum { TICKS = sizeof ticks / sizeof *ticks };

static double x_of(const struct panel *p, double ratio) {
    const double part = log(ratio / p->low) / log(p->high / p->low);
    return LEFT + (WIDTH - LEFT - RIGHT) * fmin(fmax(part, 0), 1);
}

/* The axis ends at the ticks around all ratios. It has 1 within. */
static void find_range(struct panel *p, const struct gt_figures *f) {
    double low = 1, high = 1;
    size_t a = 0, b = TICKS - 1;
    for (size_t i = f->group[p->first].begin; i < f->group[p->last].end; i++)
        if (is_drawn(&f->line[i])) {
            low = fmin(low, f->line[i].ratio);
            high = fmax(high, f->line[i].ratio);
        }
    while (a + 1 < TICKS && ticks[a + 1] < low)
        a++;
    while (b > a + 1 && ticks[b - 1] > high)
        b--;
    p->low = ticks[a];
    p->high = ticks[b];
}

static void draw_axis(struct chart *c, const struct panel *p) {
    char label[32];
    for (size_t i = 0; i < TICKS; i++) {
        if (ticks[i] < p->low || ticks[i] > p->high)
            continue;
        const bool one = ticks[i] >= 1 && ticks[i] <= 1;
        const double x = x_of(p, ticks[i]);
        const struct gt_svg_spot line[] = {{x, p->top}, {x, p->bottom + 4}};
        gt_svg_lines(&c->svg, line, 2, one ? GT_SVG_DULL : GT_SVG_GRID, one ? 2 : 1, NULL);
        (void)snprintf(label, sizeof label, "%g", ticks[i]);
        gt_svg_text(&c->svg, x, p->bottom + 18, GT_SVG_MIDDLE, label);
    }
    gt_svg_text(&c->svg, x_of(p, 1) - 10, p->top - 8, GT_SVG_END, "slower");
    gt_svg_text(&c->svg, x_of(p, 1) + 10, p->top - 8, GT_SVG_START, "gemmtune is faster");
}

/* ---- marks ---- */

static bool is_free(const struct chart *c, size_t from, size_t count,
                    struct gt_svg_spot at) {
    for (size_t i = from; i < count; i++)
        if (hypot(c->spot[i].x - at.x, c->spot[i].y - at.y) < mark_gap)
            return false;
    return true;
}

/* The place of a mark nearest to the middle of its row where it covers none before it; the
 * middle when all of the row is taken. */
static struct gt_svg_spot place(const struct chart *c, size_t from, size_t count, double x,
                                double middle) {
    const double room = ROW / 2.0 - 5;
    for (double off = 0; off <= room; off += 1) {
        const struct gt_svg_spot up = {x, middle - off}, down = {x, middle + off};
        if (is_free(c, from, count, up))
            return up;
        if (is_free(c, from, count, down))
            return down;
    }
    return (struct gt_svg_spot){x, middle};
}

static void draw_mark(struct chart *c, double x, double y, enum gt_verdict verdict) {
    for (int i = 0; i < VERDICTS; i++)
        if (verdicts[i].verdict == verdict)
            gt_svg_mark(&c->svg, x, y, verdicts[i].mark,
                        verdicts[i].colour == SIZE_MAX ? GT_SVG_DULL
                                                       : gt_svg_colour(verdicts[i].colour),
                        mark_scale);
}

static void draw_line(struct chart *c, const struct gt_figure *line,
                      struct gt_svg_spot at) {
    char name[GT_PROBLEM_NAME_MAX + 64];
    (void)snprintf(name, sizeof name, "%s: %.3f, %s", line->problem, line->ratio,
                   gt_verdict_word(line->verdict));
    gt_svg_group_begin(&c->svg, name);
    draw_mark(c, at.x, at.y, line->verdict);
    gt_svg_group_end(&c->svg);
}

/* ---- rows ---- */

static void draw_mean(struct chart *c, double x, double y) {
    const struct gt_svg_spot bar[] = {{x, y - 17}, {x, y + 17}};
    gt_svg_lines(&c->svg, bar, 2, GT_SVG_INK, 2.5, NULL);
}

static void draw_words(struct chart *c, const struct gt_figure_group *g, double y) {
    const int count = gt_tally_count(&g->tally);
    char words[96];
    gt_svg_text(&c->svg, LEFT - 12, y, GT_SVG_END, g->name);
    (void)snprintf(words, sizeof words, "%d problem%s", count, gt_text_plural(count));
    gt_svg_text(&c->svg, LEFT - 12, y + 14, GT_SVG_END, words);
    (void)snprintf(words, sizeof words, "%.2f:  %d, %d, %d", gt_tally_geomean(&g->tally),
                   g->tally.wins, g->tally.ties, g->tally.losses);
    gt_svg_text(&c->svg, WIDTH - RIGHT + 22, y + 4, GT_SVG_START, words);
}

/* A line at the bottom parts the rows. */
static void draw_row(struct chart *c, const struct panel *p,
                     const struct gt_figure_group *g, double y) {
    const struct gt_svg_spot part[] = {{16, y + ROW / 2.0}, {WIDTH - 16, y + ROW / 2.0}};
    gt_svg_lines(&c->svg, part, 2, GT_SVG_GRID, 1, NULL);
    draw_words(c, g, y);
    for (size_t i = g->begin; i < g->end; i++) {
        const struct gt_figure *line = &c->f->line[i];
        c->spot[i] = (struct gt_svg_spot){-WIDTH, -WIDTH}; /* takes no room in the row */
        if (!is_drawn(line))
            continue;
        c->spot[i] = place(c, g->begin, i, x_of(p, line->ratio), y);
        draw_line(c, line, c->spot[i]);
    }
    draw_mean(c, x_of(p, gt_tally_geomean(&g->tally)), y);
}

static void draw_panel(struct chart *c, struct panel *p) {
    double y = p->top + ROW / 2.0;
    find_range(p, c->f);
    draw_axis(c, p);
    for (size_t i = p->first; i <= p->last; i++)
        if (c->f->group[i].worst != NULL) {
            draw_row(c, p, &c->f->group[i], y);
            y += ROW;
        }
}

static void draw_legend(struct chart *c, double y) {
    double x = 24;
    for (int i = 0; i < VERDICTS; i++, x += 76) {
        draw_mark(c, x, y - 4, verdicts[i].verdict);
        gt_svg_text(&c->svg, x + 10, y, GT_SVG_START, verdicts[i].word);
    }
    const struct gt_svg_spot bar[] = {{x, y - 13}, {x, y + 4}};
    gt_svg_lines(&c->svg, bar, 2, GT_SVG_INK, 2.5, NULL);
    gt_svg_text(&c->svg, x + 10, y, GT_SVG_START, "geometric mean");
}

/* ---- the picture ---- */

/* Says in sentences what the rows show. */
static void describe(char *text, size_t size, const struct gt_figures *f) {
    int len = gt_text_put(text, size, 0,
                          "Ratios above 1 mean that gemmtune is faster. Each row has a "
                          "mark for each problem.");
    for (size_t i = 0; i < f->groups; i++) {
        const struct gt_figure_group *g = &f->group[i];
        char words[160 + GT_PROBLEM_NAME_MAX];
        if (g->worst == NULL)
            continue;
        (void)snprintf(words, sizeof words,
                       " %s: %d problems, geometric mean %.3f, %d faster, %d ties, %d "
                       "slower, least %.3f (%s).",
                       g->name, gt_tally_count(&g->tally), gt_tally_geomean(&g->tally),
                       g->tally.wins, g->tally.ties, g->tally.losses, g->worst->ratio,
                       g->worst->problem);
        len = gt_text_put(text, size, len, words);
    }
}

/* Groups of products come before groups of batches. */
static size_t count_products(const struct gt_figures *f) {
    size_t i = 0;
    while (i < f->groups && f->line[f->group[i].begin].type < GT_DTYPES)
        i++;
    return i;
}

static double rows_height(const struct gt_figures *f, size_t first, size_t end) {
    double height = 0;
    for (size_t i = first; i < end; i++)
        height += f->group[i].worst != NULL ? ROW : 0;
    return height;
}

/* Lays out the panels that have rows. Returns their number; `bottom` is below them. */
static int lay_out(struct chart *c, double *bottom) {
    const size_t ends[PANELS + 1] = {0, count_products(c->f), c->f->groups};
    int count = 0;
    *bottom = TOP - AXIS;
    for (int i = 0; i < PANELS; i++) {
        const double height = rows_height(c->f, ends[i], ends[i + 1]);
        if (height <= 0)
            continue;
        c->panel[count++] = (struct panel){.first = ends[i],
                                           .last = ends[i + 1] - 1,
                                           .top = *bottom + AXIS,
                                           .bottom = *bottom + AXIS + height};
        *bottom += AXIS + height;
    }
    return count;
}

static void draw(struct chart *c, const char *title, int panels, double bottom) {
    gt_svg_heading(&c->svg, 16, 28, title);
    gt_svg_text(&c->svg, 16, 50, GT_SVG_START,
                "The other library's time over gemmtune's: a mark for each problem, "
                "logarithmic axes");
    gt_svg_text(&c->svg, WIDTH - RIGHT + 22, TOP - 8, GT_SVG_START,
                "mean: faster, ties, slower");
    for (int i = 0; i < panels; i++)
        draw_panel(c, &c->panel[i]);
    draw_legend(c, bottom + BOTTOM - 16);
}

/* Draws into the file of `path`, or into a page. */
static gt_status draw_into(const struct gt_figures *f, FILE *page, const char *path,
                           struct gt_err *err) {
    struct chart c = {.f = f};
    double bottom;
    const int panels = lay_out(&c, &bottom);
    char title[512], rivals[160], about[8192];
    if (panels == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: no line has a verdict", path);
    c.spot = calloc(f->count, sizeof *c.spot);
    if (c.spot == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a picture");
    gt_figures_rivals(rivals, sizeof rivals, f);
    (void)snprintf(title, sizeof title, "gemmtune beside %s on %s", rivals,
                   f->file[0].name != NULL ? f->file[0].name : f->file[0].device);
    describe(about, sizeof about, f);
    const struct gt_svg_head head = {WIDTH, (int)bottom + BOTTOM, title, about};
    gt_status status = gt_svg_begin_in(&c.svg, page, path, &head, err);
    if (status == GEMMTUNE_OK) {
        draw(&c, title, panels, bottom);
        status = gt_svg_end(&c.svg, err);
    }
    free(c.spot);
    return status;
}

gt_status gt_figures_svg(const struct gt_figures *f, const char *path, struct gt_err *err) {
    return draw_into(f, NULL, path, err);
}

gt_status gt_figures_draw(const struct gt_figures *f, FILE *page, struct gt_err *err) {
    return draw_into(f, page, "page", err);
}
