/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_page.c - the page as a whole. Its policy lets only its own script run, known by
 * its hash, and lets nothing be fetched.
 */
#include "tuner/cmd/again.h"
#include "tuner/cmd/report.h"

#include "core/embed.h"
#include "core/hash.h"
#include "core/io.h"
#include "core/new_file.h"
#include "runtime/plan/workspace.h"
#include "tuner/base/html.h"
#include "tuner/bench/bench_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *style(void) {
    return gt_embedded_text(gt_embedded_page, "tuner/cmd/page/report.css");
}

static const char *script(void) {
    return gt_embedded_text(gt_embedded_page, "tuner/cmd/page/report.js");
}

/* ---- the table of problems ---- */

struct row {
    const struct gt_report_page *r;
    const struct gt_report_problem *p;
};

static const struct gt_view_row *winner_of(const struct row *r) {
    return r->p->has_winner ? r->p->winner.row : NULL;
}

static double median_of(const struct row *r) {
    return winner_of(r) != NULL ? winner_of(r)->median_ns : (double)NAN;
}

/* Half of the interval in per cent of the median. */
static double doubt_of(const struct row *r) {
    const struct gt_view_row *w = winner_of(r);
    return w != NULL && w->high_ns > 0
               ? round(1e3 * 50 * (w->high_ns - w->low_ns) / w->median_ns) / 1e3
               : (double)NAN;
}

static const char *device_of(const struct row *r) {
    return r->r->records.device_count > 1 ? r->r->records.device[r->p->place].device.name
                                          : NULL;
}

static const char *needs_of(const struct row *r) {
    const double bytes = r->p->workspace;
    return !isfinite(bytes)                ? NULL
           : bytes <= 0                    ? "nothing"
           : bytes <= GT_WORKSPACE_DEFAULT ? "to 32 MiB"
                                           : "more";
}

static double percent(double part) {
    return round(1e3 * part) / 10;
}

static const char *status_of(const struct row *r) {
    return r->p->has_winner    ? gt_winner_status(&r->p->winner)
           : r->p->correct > 0 ? "no finals yet"
                               : "no kernel";
}

static const struct gt_duel *duel_of(const struct row *r) {
    return r->p->has_winner ? r->p->winner.duel : NULL;
}

#define PROBLEMS(X)                                                                        \
    X(NULL, "problem", TEXT, 0, r->p->name, "its name; it opens the row")                  \
    X(NULL, "device", TEXT, 1, device_of(r), "where it was tuned")                         \
    X(NULL, "type", TEXT, 0, gt_dtype_of(&r->p->problem)->name, "types of its matrices")   \
    X(NULL, "layout", TEXT, 0, gt_problem_layout(&r->p->problem), "t: transposed")         \
    X(NULL, "class", TEXT, 0, gt_shape_class(&r->p->problem), "kind of its shape")         \
    X(NULL, "family", TEXT, 0, winner_of(r) != NULL ? winner_of(r)->family : NULL,         \
      "family of the fastest kernel")                                                      \
    X(NULL, "median", NS, 0, median_of(r), "median time of a product")                     \
    X(NULL, "+- %", COUNT, 1, doubt_of(r), "half of the 95 % interval, of the median")     \
    X(NULL, "GFLOP/s", RATE, 0, r->p->flops / median_of(r), "rate at the median")          \
    X(NULL, "roofline %", COUNT, 1, percent(gt_report_share(r->p)),                        \
      "part of the rate that arithmetic and memory allow")                                 \
    X(NULL, "needs", TEXT, 1, needs_of(r), "workspace of the kernel")                      \
    X(NULL, "in 32 MiB", NS, 1, r->p->within,                                              \
      "time of the fastest kernel that needs at most 32 MiB")                              \
    X(NULL, "without", NS, 1, r->p->without,                                               \
      "time of the fastest kernel that needs no workspace")                                \
    X(NULL, "vs vendor", COUNT, 1, gt_winner_ratio(duel_of(r)),                            \
      "the vendor's time over ours, each with 32 MiB: above 1 ours is faster")             \
    X(NULL, "verdict", TEXT, 1, gt_winner_verdict(duel_of(r)), "win, tie, loss or noisy")  \
    X(NULL, "trials", COUNT, 1, r->p->trials > 0 ? (double)r->p->trials : (double)NAN,     \
      "kernels that were tried")                                                           \
    X(NULL, "status", TEXT, 0, status_of(r),                                               \
      "verified here, imported, stale (of older kernel sources), no finals yet (a search " \
      "that was stopped) or no kernel")
GT_COLUMNS(problem, struct row, PROBLEMS)
static const struct gt_form problems = GT_FORM(problem, "");

static gt_status put_problems(FILE *out, const struct gt_report_page *r,
                              struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &problems, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < r->count; i++) {
        const struct row row = {r, &r->problem[i]};
        status = add_problem(t, &row, err);
    }
    if (status == GEMMTUNE_OK)
        gt_html_table(out, t, "problems");
    gt_table_destroy(t);
    return status;
}

/* ---- other sections ---- */

#define LINES(X)                                                                           \
    X(NULL, "problem", TEXT, 0, r->problem, "its name")                                    \
    X(NULL, "gemmtune", NS, 0, r->ours_ns, "our median time")                              \
    X(NULL, "other", TEXT, 0, r->baseline_is,                                              \
      "the fastest of the others, with its version")                                       \
    X(NULL, "time", NS, 0, r->base_ns, "its median time")                                  \
    X(NULL, "ratio", FIXED, 0, r->ratio, "its time over ours: above 1 ours is faster")     \
    X(NULL, "from", FIXED, 1, r->low, "lower end of the ratio's 95 % interval")            \
    X(NULL, "to", FIXED, 1, r->high, "upper end of the interval")                          \
    X(NULL, "verdict", TEXT, 0, gt_figure_word(r), "win, tie, loss, noisy or failed")
GT_COLUMNS(line, struct gt_figure, LINES)
static const struct gt_form lines = GT_FORM(line, "");

static int least_first(const void *a, const void *b) {
    const struct gt_figure *x = *(const struct gt_figure *const *)a;
    const struct gt_figure *y = *(const struct gt_figure *const *)b;
    const double p = isfinite(x->ratio) ? x->ratio : HUGE_VAL;
    const double q = isfinite(y->ratio) ? y->ratio : HUGE_VAL;
    return (p > q) - (p < q);
}

static gt_status put_lines(FILE *out, const struct gt_figures *f, struct gt_err *err) {
    struct gt_table *t = NULL;
    const struct gt_figure **by = calloc(f->count + 1, sizeof(struct gt_figure *));
    if (by == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a table");
    for (size_t i = 0; i < f->count; i++)
        by[i] = &f->line[i];
    qsort(by, f->count, sizeof(struct gt_figure *), least_first);
    gt_status status = gt_table_create(&t, &lines, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < f->count; i++)
        status = add_line(t, by[i], err);
    if (status == GEMMTUNE_OK)
        gt_html_table(out, t, "lines");
    gt_table_destroy(t);
    free(by);
    return status;
}

static void put_conditions(FILE *out, const struct gt_figures *f) {
    char rivals[160], bytes[GT_CELL_MAX];
    gt_figures_rivals(rivals, sizeof rivals, f);
    (void)fputs("<p>", out);
    gt_html_text(out, rivals);
    fprintf(out, ", workspace of each side: %s, driver ",
            isfinite(f->file[0].workspace) ? gt_show_bytes(bytes, f->file[0].workspace)
                                           : "twice the matrices");
    gt_html_text(out, f->file[0].driver != NULL ? f->file[0].driver : "unknown");
    (void)fputs(".</p><ul class=\"dull\">", out);
    for (size_t i = 0; i < f->files; i++)
        if (f->file[i].command != NULL) {
            (void)fputs("<li><code>", out);
            gt_html_text(out, f->file[i].command);
            (void)fputs("</code>", out);
        }
    (void)fputs("</ul>\n", out);
}

static gt_status put_against(FILE *out, const struct gt_report_page *r,
                             struct gt_err *err) {
    put_conditions(out, &r->figures);
    (void)fputs("<figure>", out);
    gt_status status = gt_figures_draw(&r->figures, out, err);
    (void)fputs("</figure>\n", out);
    if (status == GEMMTUNE_ENOTFOUND) /* nothing has a verdict: the table says why */
        status = GEMMTUNE_OK;
    if (status != GEMMTUNE_OK)
        return status;
    fprintf(out, "<details open><summary>All %zu lines, the least ratio first</summary>\n",
            r->figures.count);
    status = put_lines(out, &r->figures, err);
    (void)fputs("</details>\n", out);
    return status;
}

static gt_status put_versus(FILE *out, const struct gt_report_page *r, struct gt_err *err) {
    struct gt_table *t = NULL;
    char ratio[GT_CELL_MAX];
    const struct gt_comparison *c = r->versus;
    (void)fputs("<p>A: ", out);
    gt_html_text(out, c->side[0].name);
    (void)fputs(". B: ", out);
    gt_html_text(out, c->side[1].name);
    if (c->versus.common > 0)
        fprintf(out,
                ". %zu problems were tuned on both; the time of A over the time of B is "
                "%s in the geometric mean",
                c->versus.common, gt_compare_ratio(ratio, c->versus.geomean));
    (void)fputs(". Each row says whether its figures were tuned here, published by others, "
                "or predicted by the model.</p><figure>",
                out);
    gt_status status = gt_compare_draw(c, out, err);
    (void)fputs("</figure>\n", out);
    if (status == GEMMTUNE_ENOTFOUND)
        status = GEMMTUNE_OK;
    if (status == GEMMTUNE_OK)
        status = gt_compare_table(&t, c, true, err);
    if (status == GEMMTUNE_OK)
        gt_html_table(out, t, "versus");
    gt_table_destroy(t);
    return status;
}

/* An image cannot run a script, whatever its file holds. */
static gt_status put_picture(FILE *out, const char *path, struct gt_err *err) {
    unsigned char bytes[3 * 1024]; /* threes, so that base64 pads the end alone */
    size_t count = 0;
    FILE *file = NULL;
    if (gt_fopen_input(&file, path, err) != GEMMTUNE_OK)
        return GEMMTUNE_EPARSE;
    (void)fputs("<figure><img alt=\"", out);
    gt_html_text(out, path);
    (void)fputs("\" src=\"data:image/svg+xml;base64,", out);
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0)
        gt_html_base64(out, bytes, count);
    (void)fputs("\"><figcaption>", out);
    gt_html_text(out, path);
    (void)fputs("</figcaption></figure>\n", out);
    const bool whole = ferror(file) == 0;
    (void)fclose(file);
    return whole ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_EPARSE, "%s: cannot be read", path);
}

static gt_status put_pictures(FILE *out, const struct gt_report_page *r,
                              struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < r->pictures.count; i++)
        status = put_picture(out, r->pictures.text[i], err);
    return status;
}

/* ---- the page ---- */

static gt_status put_overview(FILE *out, const struct gt_report_page *r,
                              struct gt_err *err) {
    (void)err;
    gt_report_overview(out, r);
    return GEMMTUNE_OK;
}

static bool has_rows(const struct gt_report_page *r) {
    return r->count > 0;
}
static bool has_figures(const struct gt_report_page *r) {
    return r->figures.files > 0;
}
static bool has_versus(const struct gt_report_page *r) {
    return r->versus != NULL;
}
static bool has_pictures(const struct gt_report_page *r) {
    return r->pictures.count > 0;
}

static const struct {
    const char *id, *title;
    bool (*is_there)(const struct gt_report_page *r);
    gt_status (*put)(FILE *out, const struct gt_report_page *r, struct gt_err *err);
} sections[] = {
    {"overview", "Overview", has_rows, put_overview},
    {"against", "Beside other libraries", has_figures, put_against},
    {"roofline", "Roofline", has_rows, gt_report_rooflines},
    {"devices", "Two devices", has_versus, put_versus},
    {"pictures", "Pictures", has_pictures, put_pictures},
    {"winners", "Problems and their kernels", has_rows, put_problems},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void put_policy(FILE *out) {
    struct gt_hash hash;
    char hex[65];
    unsigned char bytes[32];
    gt_hash_init(&hash);
    gt_hash_add(&hash, script(), strlen(script()));
    gt_hash_hex(&hash, hex);
    for (size_t i = 0; i < sizeof bytes; i++) {
        const char pair[] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(pair, NULL, 16);
    }
    (void)fputs(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "img-src data:; style-src 'unsafe-inline'; script-src 'sha256-",
        out);
    gt_html_base64(out, bytes, sizeof bytes);
    (void)fputs("'\">\n", out);
}

static void put_head(FILE *out, const struct gt_report_page *r) {
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                out);
    put_policy(out);
    if (r->progress != NULL)
        (void)fputs("<meta http-equiv=\"refresh\" content=\"5\">\n", out);
    (void)fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                "<title>gemmtune report</title>\n<style>\n",
                out);
    (void)fputs(style(), out);
    gt_svg_style(out);
    (void)fputs("\n</style>\n</head>\n<body>\n<h1>gemmtune report</h1>\n<p class=\"dull\">"
                "Made by gemmtune ",
                out);
    gt_html_text(out, gt_common_version());
    (void)fputs(
        " from a database of measured matrix products. Times are medians; an interval "
        "has the true median with a probability of 95 %.</p>\n",
        out);
    if (r->progress == NULL)
        return;
    (void)fputs("<p class=\"progress\" role=\"status\">", out);
    gt_html_text(out, r->progress);
    (void)fputs("</p>\n", out);
}

static void put_links(FILE *out, const struct gt_report_page *r) {
    (void)fputs("<nav aria-label=\"Sections\">", out);
    for (int i = 0; i < SECTIONS; i++)
        if (sections[i].is_there(r))
            fprintf(out, "<a href=\"#%s\">%s</a>", sections[i].id, sections[i].title);
    (void)fputs("</nav>\n", out);
}

static gt_status put_page(FILE *out, const struct gt_report_page *r, struct gt_again *again,
                          struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    put_head(out, r);
    put_links(out, r);
    if (r->count == 0 && r->versus != NULL)
        (void)fputs("<p>No results of these devices are stored.</p>\n", out);
    else if (r->count == 0)
        (void)fputs("<p>The database has no results yet: gemmtune tune finds some.</p>\n",
                    out);
    for (int i = 0; status == GEMMTUNE_OK && i < SECTIONS; i++) {
        if (!sections[i].is_there(r))
            continue;
        fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", sections[i].id,
                sections[i].title);
        status = sections[i].put(out, r, err);
        (void)fputs("</section>\n", out);
    }
    if (r->count > 0) {
        (void)fputs("<noscript><p>With scripts allowed, the table sorts and filters, and a "
                    "row shows its kernel, finals, trials and failures.</p></noscript>\n"
                    "<script type=\"application/json\" id=\"data\">",
                    out);
        gt_report_data(out, r, again);
        (void)fputs("</script>\n", out);
    }
    (void)fputs("<script>", out);
    (void)fputs(script(), out);
    (void)fputs("</script>\n</body>\n</html>\n", out);
    return status;
}

gt_status gt_report_write(const struct gt_report_page *r, struct gt_again *again,
                          const char *path, struct gt_err *err) {
    struct gt_new_text text;
    gt_status status = gt_new_text_begin(&text, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = put_page(text.out, r, again, err);
    return gt_new_text_end(&text, status, err);
}
