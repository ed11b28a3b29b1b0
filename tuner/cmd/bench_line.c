/* SPDX-License-Identifier: Apache-2.0 */
/* bench_line.c - one line of `gemmtune bench`, for programs and for people. */
#include "tuner/cmd/bench.h"

#include "tuner/base/terminal.h"
#include "tuner/base/talk.h"

#include <stdio.h>
#include <string.h>

enum { FATE_MAX = 96 };

/* ---- a line for programs ---- */

/* The fate of a side with an error: "2 wrong candidates left out, the last". */
static void fate_of(char text[FATE_MAX], const struct gt_bench_side *s) {
    const char *word = gt_outcome_word(s->outcome), *plural = gt_text_plural(s->wrong);
    if (!s->timed && s->wrong > (s->outcome == GT_WRONG_RESULT))
        snprintf(text, FATE_MAX, "%s, %d wrong candidate%s", word, s->wrong, plural);
    else if (!s->timed)
        snprintf(text, FATE_MAX, "%s", word);
    else if (s->wrong > 0)
        snprintf(text, FATE_MAX, "%d wrong candidate%s left out%s", s->wrong, plural,
                 s->wrong > 1 ? ", the last" : "");
    else
        snprintf(text, FATE_MAX, "one candidate left out");
}

/* Writes every rival's time, and who was left out with the reason: "cublas 12.3 us; cpu: it
 * is wrong". */
static void note_of(char *text, size_t size, const struct gt_bench_entry *e) {
    size_t at = 0;
    text[0] = '\0';
    if (e->text)
        at = (size_t)snprintf(text, size, "%s", e->text);
    for (int i = 0; !e->text && i < GT_RIVALS && at < size; i++) {
        const struct gt_bench_side *s = &e->line->rival[i];
        char ns[GT_CELL_MAX], fate[FATE_MAX];
        if (!s->timed && !s->error[0])
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "; " : "",
                               gt_rivals[i]->name);
        if (s->timed && at < size)
            at += (size_t)snprintf(text + at, size - at, " %s",
                                   gt_show_ns(ns, s->time.median_ns));
        if (s->timed && s->wrong_default_ns > 0 && at < size)
            at +=
                (size_t)snprintf(text + at, size - at, " (its default, which is wrong, %s)",
                                 gt_show_ns(ns, s->wrong_default_ns));
        fate_of(fate, s);
        if (s->error[0] && at < size)
            at += (size_t)snprintf(text + at, size - at, ": %s: %s", fate, s->error);
    }
    if (at == 0 && e->text == NULL && e->base == NULL)
        (void)snprintf(text, size, "none of the rivals has a kernel for it");
}

/* Whether a rival that should take part did not. */
static bool has_failed(const struct gt_bench_entry *e) {
    for (int i = 0; i < GT_RIVALS; i++)
        if (e->line->rival[i].error[0])
            return true;
    return false;
}

static double roofline_share(const struct gt_bench_report *r,
                             const struct gt_bench_entry *e) {
    const double ns = e->line->own.time.median_ns;
    return e->text || ns <= 0 ? 0 : gt_roofline_ns(&e->item->problem, &r->device) / ns;
}

/* Small products of a batch are as fast as the memory: this says how near they come. */
static double bandwidth_share(const struct gt_bench_report *r,
                              const struct gt_bench_entry *e) {
    const double ns = e->line->own.time.median_ns,
                 bytes_s = gt_device_bandwidth(&r->device);
    return e->text || ns <= 0 || bytes_s <= 0
               ? 0
               : gt_problem_least_bytes(&e->item->problem) / bytes_s * 1e9 / ns;
}

/* A line of the report. */
struct row {
    const struct gt_bench_report *report;
    const struct gt_bench_entry *e;
    struct gt_measurement ours, base, ratio; /* zero when there is none */
    char note[2 * GT_VERDICT_TEXT_MAX];
};

static double gflops_of(const struct row *r) {
    return gt_problem_flops(&r->e->item->problem) / r->ours.median_ns;
}

static gt_outcome outcome_of(const struct row *r) {
    return r->e->text != NULL ? r->e->outcome : GT_CORRECT;
}

#define LINES(X)                                                                           \
    X("problem", "problem", TEXT, 0, r->e->item->name, "its name")                         \
    X("class", "class", TEXT, 0, gt_shape_class(&r->e->item->problem), "kind of shape")    \
    X("outcome", NULL, TEXT, 0, gt_outcome_word(outcome_of(r)), "correct, or the failure") \
    X("ours_ns", "ours, +-", COUNT, 0, gt_cell_known(r->ours.median_ns),                   \
      "our median time and half of its 95 % interval in per cent")                         \
    X("ours_low_ns", NULL, COUNT, 0, gt_cell_known(r->ours.low_ns),                        \
      "lower end of the interval")                                                         \
    X("ours_high_ns", NULL, COUNT, 0, gt_cell_known(r->ours.high_ns),                      \
      "upper end of the interval")                                                         \
    X("ours_gflops", NULL, COUNT, 0, gt_cell_known(gflops_of(r)), "our rate")              \
    X("baseline", "baseline", TEXT, 0, r->e->base != NULL ? r->e->base_name : NULL,        \
      "the fastest of the others")                                                         \
    X("baseline_ns", "time, +-", COUNT, 0, gt_cell_known(r->base.median_ns),               \
      "its median time and half of its interval")                                          \
    X("baseline_low_ns", NULL, COUNT, 0, gt_cell_known(r->base.low_ns),                    \
      "lower end of the interval")                                                         \
    X("baseline_high_ns", NULL, COUNT, 0, gt_cell_known(r->base.high_ns),                  \
      "upper end of the interval")                                                         \
    X("ratio", "ratio", COUNT, 0, gt_cell_known(r->ratio.median_ns),                       \
      "its time over ours, round by round, median: above 1 ours is faster")                \
    X("ratio_low", NULL, COUNT, 0, gt_cell_known(r->ratio.low_ns),                         \
      "lower end of the ratio's 95 % interval")                                            \
    X("ratio_high", NULL, COUNT, 0, gt_cell_known(r->ratio.high_ns),                       \
      "upper end of the interval")                                                         \
    X("floor", NULL, COUNT, 0, gt_cell_known(r->e->floor),                                 \
      "how far from 1 the ratio of equal kernels was measured")                            \
    X("verdict", "", TEXT, 0, r->e->base != NULL ? gt_verdict_word(r->e->verdict) : NULL,  \
      "win, loss, or tie: the ratio's interval comes within the floor of 1")               \
    X("roofline", "% roof", COUNT, 0, gt_cell_known(roofline_share(r->report, r->e)),      \
      "least time that the device's peaks allow, over our time")                           \
    X("bandwidth", NULL, COUNT, 0, gt_cell_known(bandwidth_share(r->report, r->e)),        \
      "least time that the memory takes for A, B and C, over our time")                    \
    X("rounds", NULL, COUNT, 0, gt_cell_known(r->ours.samples), "samples of each side")    \
    X("dropped", NULL, COUNT, 0, r->e->line->dropped,                                      \
      "rounds left out because the device throttled its clock")                            \
    X("clock_low_mhz", NULL, COUNT, 0, gt_cell_known(r->e->line->clock_low_mhz),           \
      "lowest clock of a round")                                                           \
    X("clock_high_mhz", NULL, COUNT, 0, gt_cell_known(r->e->line->clock_high_mhz),         \
      "highest clock of a round")                                                          \
    X("wrong", NULL, COUNT, 0, r->e->wrong,                                                \
      "candidates of the others that were left out because their results were wrong")      \
    X("kernel", "our kernel", TEXT, 0, r->e->text != NULL ? NULL : r->e->line->own.what,   \
      "family and point of our kernel")                                                    \
    X("baseline_is", NULL, TEXT, 0, r->e->base != NULL ? r->e->base->what : NULL,          \
      "the baseline's kernel or library")                                                  \
    X("note", NULL, TEXT, 0, gt_cell_filled(r->note),                                      \
      "times of all others, or the reason why one takes no part")
GT_COLUMNS(line, struct row, LINES)
const struct gt_form gt_bench_line_form = GT_FORM(line, "");

static gt_status add(struct gt_table *t, const struct gt_bench_report *report,
                     const struct gt_bench_entry *e) {
    struct row row = {.report = report, .e = e, .ours = e->line->own.time};
    if (e->base != NULL) {
        row.base = e->base->time;
        row.ratio = e->base->ratio;
    }
    note_of(row.note, sizeof row.note, e);
    return add_line(t, &row, NULL);
}

static void print_row(const struct gt_bench_report *r, const struct gt_bench_entry *e) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &gt_bench_line_form, NULL);
    if (status == GEMMTUNE_OK)
        status = add(t, r, e);
    if (status == GEMMTUNE_OK && r->format.csv)
        gt_table_csv_line(t, 1, stdout);
    else if (status == GEMMTUNE_OK)
        gt_table_json_row(t, 0, stdout);
    gt_table_destroy(t);
}

/* ---- a line for people ---- */

static const char *in_brief(char text[32], const struct gt_measurement *m) {
    char ns[GT_CELL_MAX];
    const double half = (m->high_ns - m->low_ns) / 2;
    (void)snprintf(text, 32, "%s %4.1f%%", gt_show_ns(ns, m->median_ns),
                   100 * half / m->median_ns);
    return text;
}

enum { VERDICT = 6 }; /* its cell */

/* Green for a win, red for a loss. */
static const char *colour_of(const char *verdict) {
    static const struct {
        enum gt_verdict verdict;
        const char *colour;
    } rows[] = {{GT_WIN, "\033[32m"}, {GT_LOSS, "\033[31m"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(verdict, gt_verdict_word(rows[i].verdict)) == 0)
            return rows[i].colour;
    return "";
}

/* The cells of a line. Their widths are fixed, because lines are printed as they arrive. */
static const struct {
    int width;
    bool right;
    bool spare; /* left out on a narrow terminal */
} cells[] = {
    {26, false, false}, /* problem */
    {7, false, true},   /* class */
    {16, true, false},  /* ours */
    {8, false, false},  /* baseline */
    {16, true, true},   /* its time */
    {6, true, false},   /* ratio */
    [VERDICT] = {7, false, false},
    {6, true, false}, /* % roof */
};
enum { CELLS = sizeof cells / sizeof *cells, NARROW = 120, KERNEL_LEAST = 8 };

/* Prints the cells, then as much of the kernel as fits. */
static void print_cells(const struct gt_bench_report *r, const char *const text[CELLS],
                        const char *kernel) {
    const int room = r->format.wide ? 0 : (int)gt_terminal_width(stdout);
    const bool coloured = gt_terminal_colours(stdout);
    int used = 0;
    for (int i = 0; i < CELLS; i++)
        if (!cells[i].spare || room == 0 || room >= NARROW) {
            const char *paint = i == VERDICT && coloured ? colour_of(text[i]) : "";
            used += printf("%s", used > 0 ? "  " : "");
            (void)fputs(paint, stdout);
            used +=
                printf("%*s", cells[i].right ? cells[i].width : -cells[i].width, text[i]);
            (void)fputs(paint[0] != '\0' ? "\033[0m" : "", stdout);
        }
    if (room == 0)
        printf("  %s", kernel);
    else if (room - used >= KERNEL_LEAST)
        printf("  %.*s", room - used - 2, kernel);
    (void)fputc('\n', stdout);
}

static void print_heading(const struct gt_bench_report *r) {
    static const char *const heads[CELLS] = {"problem",  "class", "ours, +-", "baseline",
                                             "time, +-", "ratio", "verdict",  "% roof"};
    print_cells(r, heads, "our kernel");
}

static void print_people(const struct gt_bench_report *r, const struct gt_bench_entry *e) {
    char ours[32], base[32], ratio[16], share[16] = "-", note[2 * GT_VERDICT_TEXT_MAX];
    const char *shape = gt_shape_class(&e->item->problem);
    if (e->text) {
        printf("%-26s  %s: %s\n", e->item->name, gt_outcome_word(e->outcome), e->text);
        return;
    }
    if (roofline_share(r, e) > 0)
        (void)snprintf(share, sizeof share, "%.1f", 100 * roofline_share(r, e));
    (void)in_brief(ours, &e->line->own.time);
    if (e->base) {
        (void)in_brief(base, &e->base->time);
        (void)snprintf(ratio, sizeof ratio, "%.3f", e->ratio);
        const char *const text[CELLS] = {e->item->name,
                                         shape,
                                         ours,
                                         e->base_name,
                                         base,
                                         ratio,
                                         gt_verdict_word(e->verdict),
                                         share};
        print_cells(r, text, e->line->own.what);
    } else {
        const char *why = has_failed(e) ? "rival failed" : "no kernel";
        const char *const text[CELLS] = {e->item->name, shape, ours, "-",
                                         why,           "-",   "",   share};
        print_cells(r, text, e->line->own.what);
    }
    note_of(note, sizeof note, e);
    if (strchr(note, ':'))
        gt_talk("%s: %s", e->item->name, note);
}

/* ---- either ---- */

void gt_bench_print_heading(const struct gt_bench_report *r) {
    struct gt_table *t = NULL;
    if (!r->format.csv) {
        print_heading(r);
    } else if (gt_table_create(&t, &gt_bench_line_form, NULL) == GEMMTUNE_OK) {
        gt_table_csv_line(t, 0, stdout);
        gt_table_destroy(t);
    }
}

void gt_bench_print_line(const struct gt_bench_report *r, const struct gt_bench_entry *e) {
    if (r->format.json || r->format.csv)
        print_row(r, e);
    else
        print_people(r, e);
}
