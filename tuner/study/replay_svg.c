/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_svg.c - draws the quality curves of a replay. Evaluations have a logarithmic axis.
 */
#include "tuner/study/replay.h"

#include "tuner/base/svg.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 760, HEIGHT = 440, LEFT = 60, RIGHT = 150, TOP = 40, BOTTOM = 50 };
static const double floor_quality = 0.5; /* the lower end of the axis */

static double x_of(size_t evaluation, size_t budget) {
    const double span = budget > 1 ? log((double)budget) : 1;
    return LEFT + (WIDTH - LEFT - RIGHT) * log((double)evaluation) / span;
}

static double y_of(double quality) {
    const double q = fmax(quality, floor_quality);
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - q) / (1 - floor_quality);
}

static void axes(struct gt_svg *s, size_t budget) {
    char label[32];
    for (int percent = 50; percent <= 100; percent += 10) {
        const double y = y_of(percent / 100.0);
        const struct gt_svg_spot line[] = {{LEFT, y}, {WIDTH - RIGHT, y}};
        gt_svg_lines(s, line, 2, GT_SVG_GRID, 1, NULL);
        snprintf(label, sizeof label, "%d %%", percent);
        gt_svg_text(s, LEFT - 8, y + 4, GT_SVG_END, label);
    }
    for (size_t n = 1; n <= budget; n *= 10) {
        const double x = x_of(n, budget);
        const struct gt_svg_spot line[] = {{x, TOP}, {x, HEIGHT - BOTTOM}};
        gt_svg_lines(s, line, 2, GT_SVG_GRID, 1, NULL);
        snprintf(label, sizeof label, "%zu", n);
        gt_svg_text(s, x, HEIGHT - BOTTOM + 18, GT_SVG_MIDDLE, label);
    }
    gt_svg_text(s, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, GT_SVG_MIDDLE,
                "evaluations; median of the runs, as a part of the best possible");
}

/* The corners of a curve with a step wherever the median rises: at most two for an
 * evaluation. */
static size_t corners(struct gt_svg_spot *out, const struct gt_replay *r) {
    size_t count = 0;
    double before = 0;
    for (size_t i = 0; i < r->budget; i++) {
        const bool last = i + 1 == r->budget;
        if (!(r->median[i] > 0) || (i > 0 && r->median[i] - before <= 0 && !last))
            continue;
        const double x = x_of(i + 1, r->budget);
        if (before > 0)
            out[count++] = (struct gt_svg_spot){x, y_of(before)};
        out[count++] = (struct gt_svg_spot){x, y_of(r->median[i])};
        before = r->median[i];
    }
    return count;
}

static void curve(struct gt_svg *s, const struct gt_replay *r, int place,
                  struct gt_svg_spot *spot) {
    const char *colour = gt_svg_colour((size_t)place);
    const double y = TOP + 14 + 20 * place;
    const struct gt_svg_spot sample[] = {{WIDTH - RIGHT + 14, y - 4},
                                         {WIDTH - RIGHT + 38, y - 4}};
    gt_svg_lines(s, spot, corners(spot, r), colour, 2, NULL);
    gt_svg_lines(s, sample, 2, colour, 2, NULL);
    gt_svg_text(s, WIDTH - RIGHT + 44, y, GT_SVG_START, r->strategy->name);
}

gt_status gt_replay_svg(const char *path, const char *title, const struct gt_replay *replay,
                        int count, struct gt_err *err) {
    struct gt_svg s;
    size_t budget = 1;
    for (int i = 0; i < count; i++)
        budget = replay[i].budget > budget ? replay[i].budget : budget;
    struct gt_svg_spot *spot = malloc(2 * budget * sizeof *spot);
    if (spot == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a picture");
    const struct gt_svg_head head = {WIDTH, HEIGHT, title,
                                     "How near the best kernel each search strategy has "
                                     "come after so many evaluations."};
    gt_status status = gt_svg_begin(&s, path, &head, err);
    if (status != GEMMTUNE_OK)
        goto done;
    gt_svg_text(&s, LEFT, 22, GT_SVG_START, title);
    axes(&s, budget);
    for (int i = 0; i < count; i++)
        curve(&s, &replay[i], i, spot);
    status = gt_svg_end(&s, err);
done:
    free(spot);
    return status;
}
