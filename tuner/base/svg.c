/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - see svg.h. */
#include "tuner/base/svg.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof colours / sizeof *colours };

const char *gt_svg_colour(size_t index) {
    return colours[index % COLOURS];
}

/* The file is not opened when it is a pipe that somebody may read. */
gt_status gt_svg_ask(const char *path, struct gt_err *err) {
    struct gt_new_file file;
    if (gt_new_text_flows(path))
        return access(path, W_OK) == 0
                   ? GEMMTUNE_OK
                   : gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    const gt_status status = gt_new_file_begin(&file, path, err);
    gt_new_file_drop(&file);
    return status;
}

gt_status gt_svg_begin(struct gt_svg *out, const char *path, int width, int height,
                       struct gt_err *err) {
    const gt_status status = gt_new_text_begin(&out->text, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    out->out = out->text.out;
    fprintf(out->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height);
    return GEMMTUNE_OK;
}

gt_status gt_svg_end(struct gt_svg *s, struct gt_err *err) {
    fputs("</svg>\n", s->out);
    return gt_new_text_end(&s->text, GEMMTUNE_OK, err);
}

void gt_svg_text(struct gt_svg *s, double x, double y, enum gt_svg_anchor anchor,
                 const char *words) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(s->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
            anchors[anchor]);
    for (; *words != '\0'; words++)
        switch (*words) {
        case '&':
            fputs("&amp;", s->out);
            break;
        case '<':
            fputs("&lt;", s->out);
            break;
        default:
            fputc(*words, s->out);
        }
    fputs("</text>\n", s->out);
}

void gt_svg_lines(struct gt_svg *s, const struct gt_svg_spot *spot, size_t count,
                  const char *colour, double width, const char *dash) {
    fprintf(s->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"", colour,
            width);
    if (dash != NULL)
        fprintf(s->out, " stroke-dasharray=\"%s\"", dash);
    fputs(" points=\"", s->out);
    for (size_t i = 0; i < count; i++)
        fprintf(s->out, "%s%.1f,%.1f", i > 0 ? " " : "", spot[i].x, spot[i].y);
    fputs("\"/>\n", s->out);
}

void gt_svg_box(struct gt_svg *s, double x, double y, double width, double height,
                const char *colour) {
    fprintf(s->out,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
            "stroke=\"#fff\" stroke-width=\"%s\"/>\n",
            x, y, width > 0.3 ? width : 0.3, height, colour, width > 2 ? "0.5" : "0");
}

void gt_svg_mark(struct gt_svg *s, double x, double y, enum gt_svg_mark mark,
                 const char *colour) {
    /* corners about the middle; all marks have about the same area */
    static const char *const outlines[GT_SVG_MARKS] = {
        [GT_SVG_SQUARE] = "-4,-4 4,-4 4,4 -4,4",
        [GT_SVG_TRIANGLE] = "0,-5.5 5,4 -5,4",
        [GT_SVG_DIAMOND] = "0,-6 5,0 0,6 -5,0",
    };
    if (outlines[mark] == NULL)
        fprintf(s->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"%s\"/>\n", x, y,
                colour);
    else
        fprintf(s->out,
                "<polygon transform=\"translate(%.1f %.1f)\" points=\"%s\" fill=\"%s\"/>\n",
                x, y, outlines[mark], colour);
}
