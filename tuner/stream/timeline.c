/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/stream/timeline.h"

#include "core/room.h"
#include "runtime/host/schedule.h"
#include "tuner/base/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDTH = 1000,
    LEFT = 110, /* of the lanes, after their names */
    RIGHT = 20,
    TOP = 60,
    LANE = 26, /* from one lane to the next */
    BAR = 20,
    GAP = 14, /* between devices */
    TICKS = 10
};

void gt_timeline_take(void *user, const gemmtune_host_event *event) {
    struct gt_timeline *t = user;
    gemmtune_host_event *const all = gt_room_for(t->event, &t->room, t->count, sizeof *all);
    t->incomplete = t->incomplete || all == NULL;
    if (all == NULL)
        return;
    t->event = all;
    t->event[t->count++] = *event;
}

void gt_timeline_clear(struct gt_timeline *t) {
    free(t->event);
    *t = (struct gt_timeline){0};
}

struct frame {
    struct gt_svg *svg;
    double seconds; /* the whole width */
    int devices;
};

static double x_of(const struct frame *f, double seconds) {
    return LEFT + (WIDTH - LEFT - RIGHT) * seconds / f->seconds;
}

static double y_of(int device, int lane) {
    return TOP + device * (GT_LANES * LANE + GAP) + lane * LANE;
}

/* A step that makes at most TICKS of them: 1, 2 or 5 times a power of ten. */
static double step_of(double seconds) {
    const double least = seconds / TICKS;
    const double power = pow(10, floor(log10(least)));
    const double factor[] = {1, 2, 5};
    for (int i = 0; i < 3; i++)
        if (factor[i] * power >= least)
            return factor[i] * power;
    return 10 * power;
}

static void draw_axis(const struct frame *f) {
    const double bottom = y_of(f->devices - 1, GT_LANES) + 4, step = step_of(f->seconds);
    for (int i = 0; i * step <= f->seconds; i++) {
        const double x = x_of(f, i * step);
        const struct gt_svg_spot line[2] = {{x, TOP - 4}, {x, bottom}};
        char text[32];
        snprintf(text, sizeof text, "%g s", i * step);
        gt_svg_lines(f->svg, line, 2, GT_SVG_GRID, 1, NULL);
        gt_svg_text(f->svg, x, bottom + 16, GT_SVG_MIDDLE, text);
    }
}

static void draw_names(const struct frame *f) {
    for (int d = 0; d < f->devices; d++)
        for (int i = 0; i < GT_LANES; i++) {
            const char *name = gt_host_lane_name((enum gt_lane)i);
            char text[32];
            if (f->devices > 1)
                snprintf(text, sizeof text, "%d: %s", d, name);
            else
                snprintf(text, sizeof text, "%s", name);
            gt_svg_text(f->svg, LEFT - 8, y_of(d, i) + 14, GT_SVG_END, text);
        }
}

/* Colours of the lanes' bars. Tiles of B share a lane with tiles of A, and have a colour of
 * their own. */
static const size_t lane_colour[GT_LANES] = {
    [GT_LANE_AB] = 0, [GT_LANE_C] = 3, [GT_LANE_RUN] = 1, [GT_LANE_OUT] = 2};
static const size_t b_colour = 5;

static const char *colour_of(const gemmtune_host_event *e) {
    return gt_svg_colour(e->operand == 'B' ? b_colour : lane_colour[e->lane]);
}

static void draw_event(const struct frame *f, const gemmtune_host_event *e) {
    const double y = y_of((int)e->device, (int)e->lane);
    gt_svg_box(f->svg, x_of(f, e->begin), y, x_of(f, e->end) - x_of(f, e->begin), BAR,
               colour_of(e));
}

static double last_end(const struct gt_timeline *t) {
    double last = 0;
    for (size_t i = 0; i < t->count; i++)
        last = t->event[i].end > last ? t->event[i].end : last;
    return last > 0 ? last : 1;
}

gt_status gt_timeline_draw(const struct gt_timeline *t, const char *path, const char *title,
                           const gemmtune_host_report *report, struct gt_err *err) {
    struct gt_svg svg;
    const struct frame f = {&svg, last_end(t), (int)report->devices};
    char text[256];
    const struct gt_svg_head head = {WIDTH, (int)y_of(f.devices, 0) + 20, title, text};
    (void)snprintf(
        text, sizeof text,
        "a product runs in %.1f %% of the time; copies that no product hides take "
        "%.1f %%%s",
        100 * report->compute_seconds / report->seconds,
        100 * report->exposed_seconds / report->seconds,
        t->incomplete ? "; operations are missing, since memory was short" : "");
    const gt_status status = gt_svg_begin(&svg, path, &head, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_svg_text(&svg, LEFT, 20, GT_SVG_START, title);
    gt_svg_text(&svg, LEFT, 40, GT_SVG_START, text);
    draw_axis(&f);
    draw_names(&f);
    for (size_t i = 0; i < t->count; i++)
        draw_event(&f, &t->event[i]);
    return gt_svg_end(&svg, err);
}
