/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - shared by the parts of `gemmtune bench`: bench.c measures, bench_report.c
 * judges and sums up, bench_line.c prints a line, bench_errors.c prints errors.
 */
#ifndef GT_TUNER_CMD_BENCH_H
#define GT_TUNER_CMD_BENCH_H

#include "tuner/bench/bench_ask.h"
#include "tuner/bench/bench_run.h"
#include "tuner/bench/bench_stats.h"
#include "tuner/bench/bench_store.h"
#include "tuner/cmd/common.h"

/* The report under way. The caller sets the first members; the others are zero. */
struct gt_bench_report {
    struct gt_device device;
    const char *command; /* as it was typed */
    const struct gt_sweep *sweep;
    struct gt_format format;
    double workspace; /* as in gt_bench_options */
    bool aa, by_name, started;
    /* by row of dtype.h */
    bool has_floor[GT_DTYPES], seen[GT_DTYPES];
    double floor[GT_DTYPES]; /* how far the ratio of our kernel to itself was from 1 */
    struct gt_tally all, types[GT_DTYPES], shape[GT_SHAPE_CLASSES];
    size_t done;
    int wrong, failed, alone;          /* alone: number of lines without a baseline */
    int wrong_candidates, wrong_lines; /* of the others; lines that have any */
    int dropped, clock_low_mhz, clock_high_mhz;
    double worst; /* least ratio; 0: there is none */
    char worst_problem[GT_PROBLEM_NAME_MAX];
    struct gt_bench_store *store; /* with --store; else NULL */
    gt_status unstored;           /* the first failure to store a line, which was said */
};

/* One line with its verdict. */
struct gt_bench_entry {
    const struct gt_sweep_item *item;
    const struct gt_bench_line *line;
    gt_outcome outcome;
    const char *text;                 /* why it was not measured, or NULL */
    const struct gt_bench_side *base; /* the fastest rival, or NULL */
    const char *base_name;
    double ratio, floor;
    enum gt_verdict verdict;
    int wrong; /* number of the others' candidates with wrong results */
};

/* ---- bench_report.c: members of a gt_bench_listener; its `user` is the report ---- */

bool gt_bench_hear_rivals(void *report, const struct gt_absence *why);
void gt_bench_hear_floor(void *report, size_t row, double floor);
void gt_bench_hear_line(void *report, size_t index, const struct gt_bench_line *line,
                        gt_outcome outcome, const char *text);
void gt_bench_hear_waiting(void *report, size_t index, const struct gt_rival *rival,
                           double limit_s);
/* Prints the beginning of a JSON document: the conditions, and "lines": [. */
void gt_bench_print_head(const struct gt_device *d, const char *command, double workspace);
extern const struct gt_form gt_bench_sum_form;
/* Prints the sums. Returns the exit code. */
int gt_bench_end(struct gt_bench_report *r);

/* ---- bench_line.c ---- */

extern const struct gt_form gt_bench_line_form;

/* Prints the heading of the lines, for CSV and for people. */
void gt_bench_print_heading(const struct gt_bench_report *r);
/* Prints the line in the report's format. A JSON object comes without a separator. */
void gt_bench_print_line(const struct gt_bench_report *r, const struct gt_bench_entry *e);

/* ---- bench_used.c ---- */

extern const struct gt_form gt_bench_use_form;

/* Measures our library as programs call it, and prints the times of all problems. Returns
 * the exit code. `command`: as it was typed. `by_name`: the rivals of `o` were named. */
int gt_bench_used(const struct gt_device *d, struct gt_bench_options o,
                  const struct gt_sweep *sweep, const struct gt_format *format,
                  const char *command, bool by_name);

/* ---- bench_errors.c ---- */

extern const struct gt_form gt_bench_way_form;

/* Prints the times and errors of all problems. Returns the exit code. A problem that fails
 * does not affect the rows of the others. */
int gt_bench_errors(const struct gt_device *d, const struct gt_bench_options *o,
                    const struct gt_sweep *sweep, const struct gt_format *format,
                    bool quiet);

#endif
