/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - draws lines, marks and words into an SVG file. Coordinates are pixels from the
 * upper left corner.
 *
 * Drawing names the colours of a light page. A style in the picture replaces the known ones
 * (gt_svg_colour, GT_SVG_GRID, GT_SVG_INK, GT_SVG_DULL, the paper) where the reader's page
 * is dark. A program that knows no styles shows the light picture.
 */
#ifndef GT_TUNER_BASE_SVG_H
#define GT_TUNER_BASE_SVG_H

#include "core/new_file.h"

#include <stddef.h>
#include <stdbool.h>

struct gt_svg {
    struct gt_new_text text;
    bool within; /* a part of a page, which is not closed at the end of the picture */
};

struct gt_svg_head {
    int width, height;
    /* for readers who do not see the picture */
    const char *title; /* a line */
    const char *about; /* sentences with what it shows; NULL: nothing more */
};

struct gt_svg_spot {
    double x, y;
};

enum gt_svg_anchor { GT_SVG_START, GT_SVG_MIDDLE, GT_SVG_END };
enum gt_svg_mark {
    GT_SVG_DISC,
    GT_SVG_SQUARE,
    GT_SVG_TRIANGLE,
    GT_SVG_DIAMOND,
    GT_SVG_MARKS
};

#define GT_SVG_GRID "#ddd"    /* lines of axes */
#define GT_SVG_INK  "#1f2328" /* words */
#define GT_SVG_DULL "#6e7781" /* of less weight than the other colours */

/* Colours that colour-blind readers can distinguish (Okabe and Ito). */
const char *gt_svg_colour(size_t index);

/* The file appears whole, at gt_svg_end,
 * which reports earlier write errors as well. EIO. */
gt_status gt_svg_begin(struct gt_svg *out, const char *path, const struct gt_svg_head *head,
                       struct gt_err *err);
gt_status gt_svg_end(struct gt_svg *s, struct gt_err *err);

/* A picture within a page of HTML, which has the style once, or, where `page` is NULL, a
 * file. EIO. */
gt_status gt_svg_begin_in(struct gt_svg *out, FILE *page, const char *path,
                          const struct gt_svg_head *head, struct gt_err *err);
/* The rules of CSS by which pictures follow a dark page. */
void gt_svg_style(FILE *page);

/* A browser shows the group's name under the pointer, for everything that is drawn between
 * begin and end. Groups may stand in groups. */
void gt_svg_group_begin(struct gt_svg *s, const char *name);
void gt_svg_group_end(struct gt_svg *s);

void gt_svg_text(struct gt_svg *s, double x, double y, enum gt_svg_anchor anchor,
                 const char *words);
/* The same, larger and bold. */
void gt_svg_heading(struct gt_svg *s, double x, double y, const char *words);
/* `dash` has SVG's format: lengths of strokes and gaps. NULL draws one stroke. */
void gt_svg_lines(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                  const char *colour, double width, const char *dash);
/* Round dots of one colour, or strokes from each even spot to the next one: many marks in
 * few bytes. */
void gt_svg_dots(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                 const char *colour, double width);
void gt_svg_strokes(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                    const char *colour, double width);
/* A filled rectangle with a thin border of the paper's colour, so that neighbours can be
 * told apart. */
void gt_svg_box(struct gt_svg *s, double x, double y, double width, double height,
                const char *colour);
/* `scale` 1 is about nine pixels. Marks of one scale have about the same area. */
void gt_svg_mark(struct gt_svg *s, double x, double y, enum gt_svg_mark mark,
                 const char *colour, double scale);

#endif
