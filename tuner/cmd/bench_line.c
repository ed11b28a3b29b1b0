/* SPDX-License-Identifier: Apache-2.0 */
/* bench_line.c - one line of `gemmtune bench`, for programs and for people. */
#include "tuner/cmd/bench.h"

#include <stdio.h>
#include <string.h>

/* ---- a line for programs ---- */

static const struct gt_column columns[] = {
    {"", "problem", GT_LEFT, GT_CELL_TEXT},
    {"", "class", GT_LEFT, GT_CELL_TEXT},
    {"", "outcome", GT_LEFT, GT_CELL_TEXT},
    {"", "ours_ns", GT_LEFT, GT_CELL_NUMBER},
    {"", "ours_low_ns", GT_LEFT, GT_CELL_NUMBER},
    {"", "ours_high_ns", GT_LEFT, GT_CELL_NUMBER},
    {"", "ours_gflops", GT_LEFT, GT_CELL_NUMBER},
    {"", "baseline", GT_LEFT, GT_CELL_TEXT},
    {"", "baseline_ns", GT_LEFT, GT_CELL_NUMBER},
    {"", "baseline_low_ns", GT_LEFT, GT_CELL_NUMBER},
    {"", "baseline_high_ns", GT_LEFT, GT_CELL_NUMBER},
    {"", "ratio", GT_LEFT, GT_CELL_NUMBER},
    {"", "ratio_low", GT_LEFT, GT_CELL_NUMBER},
    {"", "ratio_high", GT_LEFT, GT_CELL_NUMBER},
    {"", "floor", GT_LEFT, GT_CELL_NUMBER},
    {"", "verdict", GT_LEFT, GT_CELL_TEXT},
    {"", "roofline", GT_LEFT, GT_CELL_NUMBER},
    {"", "rounds", GT_LEFT, GT_CELL_NUMBER},
    {"", "dropped", GT_LEFT, GT_CELL_NUMBER},
    {"", "clock_low_mhz", GT_LEFT, GT_CELL_NUMBER},
    {"", "clock_high_mhz", GT_LEFT, GT_CELL_NUMBER},
    {"", "kernel", GT_LEFT, GT_CELL_TEXT},
    {"", "baseline_is", GT_LEFT, GT_CELL_TEXT},
    {"", "note", GT_LEFT, GT_CELL_TEXT},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Every rival's time, and who was left out and why: "cublas 12.3 us; cpu: it is wrong". */
static void note_of(char *text, size_t size, const struct gt_bench_entry *e) {
    size_t at = 0;
    text[0] = '\0';
    if (e->text)
        at = (size_t)snprintf(text, size, "%s", e->text);
    for (int i = 0; !e->text && i < GT_RIVALS && at < size; i++) {
        const struct gt_bench_side *s = &e->line->rival[i];
        char ns[GT_CELL_MAX];
        if (!s->timed && !s->error[0])
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "; " : "",
                               gt_rivals[i]->name);
        if (s->timed && at < size)
            at += (size_t)snprintf(text + at, size - at, " %s",
                                   gt_show_ns(ns, s->time.median_ns));
        if (s->error[0] && at < size)
            at += (size_t)snprintf(text + at, size - at, ": %s: %s",
                                   s->timed ? "a way of it was left out"
                                            : gt_outcome_word(s->outcome),
                                   s->error);
    }
}

/* Some rival was to take part and did not. */
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

static gt_status add_row(struct gt_table *t, const struct gt_bench_report *r,
                         const struct gt_bench_entry *e) {
    const struct gt_measurement *own = &e->line->own.time, none = {0};
    const struct gt_measurement *base = e->base ? &e->base->time : &none;
    const struct gt_measurement *ratio = e->base ? &e->base->ratio : &none;
    const double share = roofline_share(r, e);
    const double number[] = {
        own->median_ns,
        own->low_ns,
        own->high_ns,
        own->median_ns > 0 ? gt_problem_flops(&e->item->problem) / own->median_ns : 0,
        base->median_ns,
        base->low_ns,
        base->high_ns,
        ratio->median_ns,
        ratio->low_ns,
        ratio->high_ns,
        e->floor,
        share,
        own->samples,
        e->line->dropped,
        e->line->clock_low_mhz,
        e->line->clock_high_mhz};
    char cell[sizeof number / sizeof *number][GT_CELL_MAX], note[2 * GT_VERDICT_TEXT_MAX];
    const char *n[sizeof number / sizeof *number];
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        n[i] = number[i] != 0 ? gt_show_count(cell[i], number[i]) : NULL;
    note_of(note, sizeof note, e);
    const char *const cells[COLUMNS] = {
        e->item->name,
        gt_shape_class(&e->item->problem),
        gt_outcome_word(e->text ? e->outcome : GT_CORRECT),
        n[0],
        n[1],
        n[2],
        n[3],
        e->base ? e->base_name : NULL,
        n[4],
        n[5],
        n[6],
        n[7],
        n[8],
        n[9],
        n[10],
        e->base ? gt_verdict_word(e->verdict) : NULL,
        n[11],
        n[12],
        n[13] ? n[13] : "0",
        n[14],
        n[15],
        e->text ? NULL : e->line->own.what,
        e->base ? e->base->what : NULL,
        note[0] ? note : NULL,
    };
    return gt_table_row(t, cells, NULL);
}

static void print_row(const struct gt_bench_report *r, const struct gt_bench_entry *e) {
    struct gt_table *t = NULL;
    if (gt_table_create(&t, columns, COLUMNS, NULL) || add_row(t, r, e)) {
        gt_table_destroy(t);
        return;
    }
    if (r->format.csv)
        gt_table_csv_line(t, 1, stdout);
    else
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

static void print_heading(void) {
    printf("%-26s %-7s %16s  %-8s %16s  %6s %-4s %6s  %s\n", "problem", "class", "ours, +-",
           "baseline", "time, +-", "ratio", "", "% roof", "our kernel");
}

static void print_people(const struct gt_bench_report *r, const struct gt_bench_entry *e) {
    char a[32], b[32], share[16] = "-", note[2 * GT_VERDICT_TEXT_MAX];
    printf("%-26s %-7s ", e->item->name, gt_shape_class(&e->item->problem));
    if (e->text) {
        printf("%s: %s\n", gt_outcome_word(e->outcome), e->text);
        return;
    }
    if (roofline_share(r, e) > 0)
        (void)snprintf(share, sizeof share, "%.1f", 100 * roofline_share(r, e));
    printf("%16s  ", in_brief(a, &e->line->own.time));
    if (e->base)
        printf("%-8s %16s  %6.3f %-4s ", e->base_name, in_brief(b, &e->base->time),
               e->ratio, gt_verdict_word(e->verdict));
    else
        printf("%-8s %16s  %6s %-4s ", "-", has_failed(e) ? "rival failed" : "no kernel",
               "-", "");
    printf("%6s  %s\n", share, e->line->own.what);
    note_of(note, sizeof note, e);
    if (strchr(note, ':'))
        fprintf(stderr, "gemmtune: %s: %s\n", e->item->name, note);
}

/* ---- either ---- */

void gt_bench_print_heading(const struct gt_bench_report *r) {
    struct gt_table *t = NULL;
    if (!r->format.csv) {
        print_heading();
    } else if (!gt_table_create(&t, columns, COLUMNS, NULL)) {
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
