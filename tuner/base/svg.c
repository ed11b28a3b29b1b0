/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - see svg.h. */
#include "tuner/base/svg.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char paper[] = "#fff";

/* A colour of a light page, and the one in its place on a dark page. */
static const struct {
    const char *light, *dark;
} colours[] = {
    {"#0072b2", "#56b4e9"},   {"#d55e00", "#f0883e"},   {"#009e73", "#2fbf93"},
    {"#cc79a7", "#e09cc2"},   {"#e69f00", "#f2b93b"},   {"#56b4e9", "#9ad2f5"},
    {"#000000", "#ffffff"},   {GT_SVG_GRID, "#3d444d"}, {GT_SVG_INK, "#e6edf3"},
    {GT_SVG_DULL, "#9198a1"}, {paper, "#0d1117"},
};
/* PLAIN: the first ones, which gt_svg_colour gives */
enum { PLAIN = 7, COLOURS = sizeof colours / sizeof *colours };

const char *gt_svg_colour(size_t index) {
    return colours[index % PLAIN].light;
}

/* ---- the head ---- */

static void put_words(FILE *out, const char *words) {
    for (; *words != '\0'; words++)
        switch (*words) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        default:
            (void)fputc(*words, out);
        }
}

static void put_rule(FILE *out, const char *light, const char *dark) {
    fprintf(out, ".gt [fill=\"%s\"]{fill:%s}.gt [stroke=\"%s\"]{stroke:%s}\n", light, dark,
            light, dark);
}

/* The style names attributes, so that it asks nothing of the functions that draw. */
void gt_svg_style(FILE *page) {
    (void)fputs("@media (prefers-color-scheme:dark){\n", page);
    for (size_t i = 0; i < COLOURS; i++)
        put_rule(page, colours[i].light, colours[i].dark);
    (void)fputs("}", page);
}

static void put_head(FILE *stream, const struct gt_svg_head *head, bool alone) {
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gt\" role=\"img\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
            head->width, head->height);
    put_words(stream, head->title);
    (void)fputs("</title>\n", stream);
    if (head->about != NULL) {
        (void)fputs("<desc>", stream);
        put_words(stream, head->about);
        (void)fputs("</desc>\n", stream);
    }
    if (alone) {
        (void)fputs("<style>", stream);
        gt_svg_style(stream);
        (void)fputs("</style>\n", stream);
    }
    fprintf(stream,
            "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n<g fill=\"%s\">\n",
            paper, GT_SVG_INK);
}

gt_status gt_svg_begin_in(struct gt_svg *out, FILE *page, const char *path,
                          const struct gt_svg_head *head, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *out = (struct gt_svg){.within = page != NULL};
    if (out->within)
        out->text.out = page;
    else
        status = gt_new_text_begin(&out->text, path, err);
    if (status == GEMMTUNE_OK)
        put_head(out->text.out, head, !out->within);
    return status;
}

gt_status gt_svg_begin(struct gt_svg *out, const char *path, const struct gt_svg_head *head,
                       struct gt_err *err) {
    return gt_svg_begin_in(out, NULL, path, head, err);
}

gt_status gt_svg_end(struct gt_svg *s, struct gt_err *err) {
    (void)fputs("</g>\n</svg>\n", s->text.out);
    return s->within ? GEMMTUNE_OK : gt_new_text_end(&s->text, GEMMTUNE_OK, err);
}

/* ---- what is drawn ---- */

void gt_svg_group_begin(struct gt_svg *s, const char *name) {
    (void)fputs("<g><title>", s->text.out);
    put_words(s->text.out, name);
    (void)fputs("</title>\n", s->text.out);
}

void gt_svg_group_end(struct gt_svg *s) {
    (void)fputs("</g>\n", s->text.out);
}

void gt_svg_text(struct gt_svg *s, double x, double y, enum gt_svg_anchor anchor,
                 const char *words) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(s->text.out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
            anchors[anchor]);
    put_words(s->text.out, words);
    (void)fputs("</text>\n", s->text.out);
}

void gt_svg_heading(struct gt_svg *s, double x, double y, const char *words) {
    fprintf(s->text.out,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"15\" font-weight=\"bold\">", x, y);
    put_words(s->text.out, words);
    (void)fputs("</text>\n", s->text.out);
}

void gt_svg_lines(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                  const char *colour, double width, const char *dash) {
    fprintf(s->text.out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"",
            colour, width);
    if (dash != NULL)
        fprintf(s->text.out, " stroke-dasharray=\"%s\"", dash);
    fputs(" points=\"", s->text.out);
    for (size_t i = 0; i < count; i++)
        fprintf(s->text.out, "%s%.1f,%.1f", i > 0 ? " " : "", spot[i].x, spot[i].y);
    fputs("\"/>\n", s->text.out);
}

void gt_svg_dots(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                 const char *colour, double width) {
    fprintf(s->text.out,
            "<path stroke=\"%s\" stroke-width=\"%.1f\" stroke-linecap=\"round\" d=\"",
            colour, width);
    for (size_t i = 0; i < count; i++)
        fprintf(s->text.out, "M%.1f %.1fh0", spot[i].x, spot[i].y);
    fputs("\"/>\n", s->text.out);
}

void gt_svg_strokes(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                    const char *colour, double width) {
    fprintf(s->text.out, "<path stroke=\"%s\" stroke-width=\"%.1f\" d=\"", colour, width);
    for (size_t i = 0; i + 1 < count; i += 2)
        fprintf(s->text.out, "M%.1f %.1fL%.1f %.1f", spot[i].x, spot[i].y, spot[i + 1].x,
                spot[i + 1].y);
    fputs("\"/>\n", s->text.out);
}

void gt_svg_box(struct gt_svg *s, double x, double y, double width, double height,
                const char *colour) {
    fprintf(s->text.out,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
            "stroke=\"%s\" stroke-width=\"%s\"/>\n",
            x, y, width > 0.3 ? width : 0.3, height, colour, paper,
            width > 2 ? "0.5" : "0");
}

void gt_svg_mark(struct gt_svg *s, double x, double y, enum gt_svg_mark mark,
                 const char *colour, double scale) {
    /* corners about the middle; all marks have about the same area */
    static const char *const outlines[GT_SVG_MARKS] = {
        [GT_SVG_SQUARE] = "-4,-4 4,-4 4,4 -4,4",
        [GT_SVG_TRIANGLE] = "0,-5.5 5,4 -5,4",
        [GT_SVG_DIAMOND] = "0,-6 5,0 0,6 -5,0",
    };
    if (outlines[mark] == NULL)
        fprintf(s->text.out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.3g\" fill=\"%s\"/>\n",
                x, y, 4.5 * scale, colour);
    else
        fprintf(s->text.out,
                "<polygon transform=\"translate(%.1f %.1f) scale(%.3g)\" points=\"%s\" "
                "fill=\"%s\"/>\n",
                x, y, scale, outlines[mark], colour);
}
