/* SPDX-License-Identifier: Apache-2.0 */
/* replay_svg.c - the quality curves of a replay as a picture, evaluations on a logarithmic
 * axis. */
#include "tuner/study/replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 760, HEIGHT = 440, LEFT = 60, RIGHT = 150, TOP = 40, BOTTOM = 50 };
static const double floor_quality = 0.5; /* below it all is bad alike */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof colours / sizeof *colours };

static double x_of(size_t evaluation, size_t budget) {
    const double span = budget > 1 ? log((double)budget) : 1;
    return LEFT + (WIDTH - LEFT - RIGHT) * log((double)evaluation) / span;
}

static double y_of(double quality) {
    const double q = fmax(quality, floor_quality);
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - q) / (1 - floor_quality);
}

static void text(FILE *out, double x, double y, const char *anchor, const char *words) {
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *words; words++)
        switch (*words) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        default:
            fputc(*words, out);
        }
    fputs("</text>\n", out);
}

static void grid_line(FILE *out, double x1, double y1, double x2, double y2) {
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", x1,
            y1, x2, y2);
}

static void axes(FILE *out, size_t budget) {
    char label[32];
    for (int percent = 50; percent <= 100; percent += 10) {
        const double y = y_of(percent / 100.0);
        grid_line(out, LEFT, y, WIDTH - RIGHT, y);
        snprintf(label, sizeof label, "%d %%", percent);
        text(out, LEFT - 8, y + 4, "end", label);
    }
    for (size_t n = 1; n <= budget; n *= 10) {
        const double x = x_of(n, budget);
        grid_line(out, x, TOP, x, HEIGHT - BOTTOM);
        snprintf(label, sizeof label, "%zu", n);
        text(out, x, HEIGHT - BOTTOM + 18, "middle", label);
    }
    text(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle",
         "evaluations; median of the runs, share of the best there is");
}

/* A step where the median rises. */
static void curve(FILE *out, const struct gt_replay *r, int place) {
    const char *colour = colours[place % COLOURS];
    const double y = TOP + 14 + 20 * place;
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
            colour);
    double before = 0;
    for (size_t i = 0; i < r->budget; i++) {
        const bool last = i + 1 == r->budget;
        if (!(r->median[i] > 0) || (i > 0 && r->median[i] - before <= 0 && !last))
            continue;
        const double x = x_of(i + 1, r->budget);
        if (before > 0)
            fprintf(out, "%.1f,%.1f ", x, y_of(before));
        fprintf(out, "%.1f,%.1f ", x, y_of(r->median[i]));
        before = r->median[i];
    }
    fprintf(out,
            "\"/>\n<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"2\"/>\n",
            WIDTH - RIGHT + 14, y - 4, WIDTH - RIGHT + 38, y - 4, colour);
    text(out, WIDTH - RIGHT + 44, y, "start", r->strategy->name);
}

gt_status gt_replay_svg(const char *path, const char *title, const struct gt_replay *replay,
                        int count, struct gt_err *err) {
    size_t budget = 1;
    FILE *out = fopen(path, "w");
    if (!out)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, HEIGHT);
    text(out, LEFT, 22, "start", title);
    for (int i = 0; i < count; i++)
        budget = replay[i].budget > budget ? replay[i].budget : budget;
    axes(out, budget);
    for (int i = 0; i < count; i++)
        curve(out, &replay[i], i);
    fputs("</svg>\n", out);
    const bool bad = ferror(out) != 0;
    if (fclose(out) != 0 || bad)
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    return GEMMTUNE_OK;
}
