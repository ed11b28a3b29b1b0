/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_roofline.c - a picture for each type of a device: the rate of each problem over
 * its operations for each byte that must be moved, both on logarithmic axes, below the
 * ceilings of arithmetic and of memory. A line joins our kernel and the vendor's. Source:
 * S. Williams et al., "Roofline", CACM 52 (2009).
 */
#include "tuner/cmd/report.h"

#include "core/dtype.h"
#include "tuner/base/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 860, HEIGHT = 420, LEFT = 70, RIGHT = 24, TOP = 62, BOTTOM = 52 };

struct range {
    double low, high;
};

struct chart {
    const struct gt_report_page *r;
    FILE *page;
    size_t place; /* of the device */
    const struct gt_dtype *types;
    double peak, bandwidth; /* operations and bytes a second */
    struct range x, y;      /* operations a byte; operations a second */
    struct gt_svg svg;
    struct gt_svg_spot *ours, *theirs, *joined;
    size_t count, rivals;
};

static double intensity_of(const struct gt_report_problem *p) {
    return p->flops / p->bytes;
}

static double rate_of(const struct gt_report_problem *p, double ns) {
    return 1e9 * p->flops / ns;
}

static bool is_drawn(const struct chart *c, const struct gt_report_problem *p) {
    return p->has_winner && p->place == c->place && gt_dtype_of(&p->problem) == c->types &&
           p->flops > 0 && p->bytes > 0 && p->winner.row->median_ns > 0;
}

/* ---- axes ---- */

static double part_of(struct range r, double value) {
    return log(value / r.low) / log(r.high / r.low);
}

static struct gt_svg_spot spot_at(const struct chart *c, double x, double y) {
    return (struct gt_svg_spot){LEFT + (WIDTH - LEFT - RIGHT) * part_of(c->x, x),
                                HEIGHT - BOTTOM -
                                    (HEIGHT - TOP - BOTTOM) * part_of(c->y, y)};
}

static void widen(struct range *r, double value) {
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

/* The range from one power of ten to another. */
static void round_out(struct range *r) {
    r->low = pow(10, floor(log10(r->low)));
    r->high = pow(10, ceil(log10(r->high)));
    if (r->high <= r->low)
        r->high = 10 * r->low;
}

static const char *rate_text(char buf[GT_CELL_MAX], double rate) {
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}};
    size_t i = 0;
    while (rate < units[i].size * 0.999 && units[i].size > 1)
        i++;
    (void)snprintf(buf, GT_CELL_MAX, "%.4g %s", rate / units[i].size, units[i].name);
    return buf;
}

static void draw_axes(struct chart *c) {
    char text[GT_CELL_MAX];
    for (double x = c->x.low; x < 1.001 * c->x.high; x *= 10) {
        const struct gt_svg_spot at = spot_at(c, x, c->y.low);
        const struct gt_svg_spot line[] = {at, spot_at(c, x, c->y.high)};
        gt_svg_lines(&c->svg, line, 2, GT_SVG_GRID, 1, NULL);
        (void)snprintf(text, sizeof text, "%g", x);
        gt_svg_text(&c->svg, at.x, at.y + 16, GT_SVG_MIDDLE, text);
    }
    for (double y = c->y.low; y < 1.001 * c->y.high; y *= 10) {
        const struct gt_svg_spot at = spot_at(c, c->x.low, y);
        const struct gt_svg_spot line[] = {at, spot_at(c, c->x.high, y)};
        gt_svg_lines(&c->svg, line, 2, GT_SVG_GRID, 1, NULL);
        gt_svg_text(&c->svg, at.x - 6, at.y + 4, GT_SVG_END, rate_text(text, y));
    }
    gt_svg_text(&c->svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, GT_SVG_MIDDLE,
                "operations for each byte of A, B and C");
    gt_svg_text(&c->svg, LEFT, TOP - 10, GT_SVG_START, "operations a second");
}

/* Memory binds up to the ridge, arithmetic beyond it. */
static void draw_ceilings(struct chart *c) {
    if (c->peak <= 0 || c->bandwidth <= 0)
        return;
    const double ridge = fmin(fmax(c->peak / c->bandwidth, c->x.low), c->x.high);
    const double left = fmax(c->x.low, c->y.low / c->bandwidth);
    const struct gt_svg_spot line[] = {
        spot_at(c, left, left * c->bandwidth),
        spot_at(c, ridge, fmin(c->peak, ridge * c->bandwidth)),
        spot_at(c, c->x.high, fmin(c->peak, c->x.high * c->bandwidth))};
    gt_svg_lines(&c->svg, line, 3, GT_SVG_DULL, 2, NULL);
}

/* ---- a picture ---- */

static void find_spots(struct chart *c) {
    c->count = c->rivals = 0;
    for (size_t i = 0; i < c->r->count; i++) {
        const struct gt_report_problem *p = &c->r->problem[i];
        const struct gt_duel *duel = p->has_winner ? p->winner.duel : NULL;
        if (!is_drawn(c, p))
            continue;
        const double x = intensity_of(p);
        const struct gt_svg_spot at = spot_at(c, x, rate_of(p, p->winner.row->median_ns));
        c->ours[c->count++] = at;
        if (duel == NULL)
            continue;
        c->joined[2 * c->rivals] = spot_at(c, x, rate_of(p, duel->ours_ns));
        c->joined[2 * c->rivals + 1] = c->theirs[c->rivals] =
            spot_at(c, x, rate_of(p, duel->rival_ns));
        c->rivals++;
    }
}

static void find_ranges(struct chart *c) {
    c->x = c->y = (struct range){HUGE_VAL, 0};
    for (size_t i = 0; i < c->r->count; i++) {
        const struct gt_report_problem *p = &c->r->problem[i];
        if (!is_drawn(c, p))
            continue;
        widen(&c->x, intensity_of(p));
        widen(&c->y, rate_of(p, p->winner.row->median_ns));
        if (p->winner.duel != NULL) {
            widen(&c->y, rate_of(p, p->winner.duel->rival_ns));
            widen(&c->y, rate_of(p, p->winner.duel->ours_ns));
        }
    }
    if (c->peak > 0)
        widen(&c->y, c->peak);
    round_out(&c->x);
    round_out(&c->y);
}

static void draw_legend(struct chart *c) {
    const double y = TOP - 14;
    const struct gt_svg_spot ours = {WIDTH - 330, y}, theirs = {WIDTH - 230, y};
    gt_svg_dots(&c->svg, &ours, 1, gt_svg_colour(0), 6);
    gt_svg_text(&c->svg, ours.x + 8, y + 4, GT_SVG_START, "gemmtune");
    if (c->rivals > 0) {
        gt_svg_mark(&c->svg, theirs.x, y, GT_SVG_SQUARE, gt_svg_colour(1), 0.5);
        gt_svg_text(&c->svg, theirs.x + 8, y + 4, GT_SVG_START, "vendor, same problem");
    }
}

static void draw_spots(struct chart *c) {
    gt_svg_strokes(&c->svg, c->joined, 2 * c->rivals, GT_SVG_DULL, 0.7);
    for (size_t i = 0; i < c->rivals; i++)
        gt_svg_mark(&c->svg, c->theirs[i].x, c->theirs[i].y, GT_SVG_SQUARE,
                    gt_svg_colour(1), 0.35);
    gt_svg_dots(&c->svg, c->ours, c->count, gt_svg_colour(0), c->count > 300 ? 3 : 5);
}

static void draw(struct chart *c) {
    const struct gt_device *d = &c->r->records.device[c->place].device;
    char title[300], about[600], peak[GT_CELL_MAX], bandwidth[GT_CELL_MAX];
    find_ranges(c);
    find_spots(c);
    (void)snprintf(title, sizeof title, "%s on %s: %zu problems", c->types->name, d->name,
                   c->count);
    if (c->peak > 0 && c->bandwidth > 0)
        (void)snprintf(about, sizeof about,
                       "Rates below the ceilings of %sFLOP/s and %sB/s. ",
                       rate_text(peak, c->peak), rate_text(bandwidth, c->bandwidth));
    else
        (void)snprintf(about, sizeof about, "The ceilings of this device are not known. ");
    (void)snprintf(about + strlen(about), sizeof about - strlen(about),
                   "%zu problem%s measured beside the vendor's library.", c->rivals,
                   c->rivals == 1 ? " was" : "s were");
    const struct gt_svg_head head = {WIDTH, HEIGHT, title, about};
    (void)fputs("<figure>", c->page);
    (void)gt_svg_begin_in(&c->svg, c->page, NULL, &head, NULL);
    gt_svg_heading(&c->svg, 16, 18, title);
    draw_axes(c);
    draw_ceilings(c);
    draw_spots(c);
    draw_legend(c);
    (void)gt_svg_end(&c->svg, NULL);
    (void)fputs("<figcaption>", c->page);
    gt_html_text(c->page, about);
    (void)fputs("</figcaption></figure>\n", c->page);
}

static bool has_problems(const struct chart *c) {
    for (size_t i = 0; i < c->r->count; i++)
        if (is_drawn(c, &c->r->problem[i]))
            return true;
    return false;
}

gt_status gt_report_rooflines(FILE *out, const struct gt_report_page *r,
                              struct gt_err *err) {
    struct chart c = {.r = r, .page = out};
    const size_t room = r->count + 1;
    c.ours = malloc(4 * room * sizeof *c.ours);
    if (c.ours == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a picture");
    c.theirs = c.ours + room;
    c.joined = c.theirs + room;
    for (c.place = 0; c.place < r->records.device_count; c.place++)
        for (size_t i = 0; i < GT_DTYPES; i++) {
            const struct gt_device *d = &r->records.device[c.place].device;
            c.types = gt_dtype_at(i);
            c.peak = gt_device_peak(d, c.types);
            c.bandwidth = gt_device_bandwidth(d);
            if (has_problems(&c))
                draw(&c);
        }
    free(c.ours);
    return GEMMTUNE_OK;
}
