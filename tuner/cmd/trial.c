/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.c - `gemmtune trial`: tries one candidate again, or several of a family, on one
 * problem or several, and prints the full result of each. The line of a failed trial ends
 * with this command. Nothing is stored.
 */
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/explain_point.h"
#include "tuner/cmd/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct values {
    const char *device, *family, *spread;
    struct gt_texts points, templates;
    double timeout;
    int64_t seed;
    bool untimed;
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    {"family", 'f', GT_OPT_TEXT, offsetof(struct values, family), "NAME",
     "kernel family; without it, a point begins with its family: \"block BM=128\"", 0, 0},
    {"point", 'p', GT_OPT_LIST, offsetof(struct values, points), "TEXT",
     "its parameters, \"BM=128 BN=128\"; missing ones take their defaults; may be repeated",
     0, 0},
    GT_OPTION_TEMPLATES(struct values),
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "seed of the data (default 1)", 0, INT64_C(1) << 52},
    {"timeout", 0, GT_OPT_SECONDS, offsetof(struct values, timeout), "TIME",
     "for the launches (default: by the size of the problem)", 0, 0},
    {"untimed", 0, GT_OPT_FLAG, offsetof(struct values, untimed), NULL,
     "only build and check, for example under tools that slow kernels down", 0, 0},
    GT_OPTION_SPREAD(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_END,
};

/* Whether neither a rule nor the compiler refused it. */
static bool was_built(const struct gt_result *r) {
    return r->outcome != GT_CONSTRAINTS && r->outcome != GT_COMPILE;
}

/* A single sample has no interval. */
static void print_time(const struct gt_measurement *m, double flops) {
    char a[GT_CELL_MAX], b[GT_CELL_MAX], c[GT_CELL_MAX];
    const char *const es = m->launches == 1 ? "" : "es";
    if (m->samples > 1)
        gt_wrap_print(stdout, 11, "median     %s (%s .. %s), %d samples of %d launch%s",
                      gt_show_ns(a, m->median_ns), gt_show_ns(b, m->low_ns),
                      gt_show_ns(c, m->high_ns), m->samples, m->launches, es);
    else
        gt_wrap_print(stdout, 11, "time       %s, one sample of %d launch%s",
                      gt_show_ns(a, m->median_ns), m->launches, es);
    printf("rate       %s GFLOP/s\n", gt_show_rate(a, flops, m->median_ns));
}

static void print(const char *problem, const struct gt_candidate *c,
                  const struct gt_result *r, double flops) {
    char a[GT_CELL_MAX];
    gt_wrap_print(stdout, 4, "%s %s \"%s\"", problem, c->family, c->point);
    gt_wrap_print(stdout, 11, "outcome    %s%s%s", gt_outcome_word(r->outcome),
                  r->error[0] ? ": " : "", r->error);
    if (r->time.samples > 0)
        print_time(&r->time, flops);
    if (r->time.dropped + r->time.unsettled > 0)
        gt_wrap_print(
            stdout, 11,
            "left out   %d sample%s under a throttled clock, %d before it had settled",
            r->time.dropped, gt_text_plural(r->time.dropped), r->time.unsettled);
    if (was_built(r) && r->registers >= 0)
        gt_wrap_print(stdout, 11, "registers  %d a thread, %d byte%s spilled", r->registers,
                      r->spill_bytes, gt_text_plural(r->spill_bytes));
    if (r->compile_ms > 0)
        gt_wrap_print(stdout, 11, "compiled   %s", gt_show_ns(a, r->compile_ms * 1e6));
    else
        gt_wrap_print(stdout, 11, "compiled   %s", was_built(r) ? "before" : "no");
}

/* One candidate's answer. */
struct answer {
    const char *problem, *device;
    const struct gt_candidate *c;
    const struct gt_result *r;
};

static double if_timed(const struct answer *a, double ns) {
    return a->r->time.samples > 0 ? ns : (double)NAN;
}

static double if_built(const struct answer *a, int value) {
    return was_built(a->r) ? value : (double)NAN;
}

#define ANSWERS(X)                                                                         \
    X("problem", NULL, TEXT, 0, r->problem, "its name")                                    \
    X("device", NULL, TEXT, 0, r->device, "key of the device")                             \
    X("family", NULL, TEXT, 0, r->c->family, "kernel family")                              \
    X("point", NULL, TEXT, 0, r->c->point, "values of the family's parameters")            \
    X("outcome", NULL, TEXT, 0, gt_outcome_word(r->r->outcome), "outcome of the trial")    \
    X("error", NULL, TEXT, 0, gt_cell_filled(r->r->error), "the reason for a failure")     \
    X("median_ns", NULL, NS, 0, if_timed(r, r->r->time.median_ns),                         \
      "median time of a product")                                                          \
    X("low_ns", NULL, NS, 0, gt_interval_low(&r->r->time),                                 \
      "lower end of the median's 95 % interval; one sample has none")                      \
    X("high_ns", NULL, NS, 0, gt_interval_high(&r->r->time), "upper end of the interval")  \
    X("samples", NULL, COUNT, 0, r->r->time.samples, "timed samples")                      \
    X("launches", NULL, COUNT, 0, r->r->time.launches, "launches in a sample")             \
    X("dropped", NULL, COUNT, 0, r->r->time.dropped, "samples under a throttled clock")    \
    X("unsettled", NULL, COUNT, 0, r->r->time.unsettled,                                   \
      "samples before the clock had settled")                                              \
    X("check_s", NULL, COUNT, 0, r->r->spent.check_s, "time of the checks")                \
    X("measure_s", NULL, COUNT, 0, r->r->spent.time_s, "time of the timing")               \
    X("registers", NULL, COUNT, 0, if_built(r, r->r->registers), "registers a thread")     \
    X("spill_bytes", NULL, COUNT, 0, if_built(r, r->r->spill_bytes),                       \
      "bytes of a thread's registers that are in memory")                                  \
    X("compile_ms", NULL, COUNT, 0, r->r->compile_ms, "time of the compiler")
GT_COLUMNS(answer, struct answer, ANSWERS)
static const struct gt_form answers = GT_FORM(answer, "in JSON and CSV");

/* Prints the answer as data before the next candidate is tried. In CSV the first answer
 * brings the heading. */
static void print_data(const struct answer *a, const struct gt_format *format, bool first) {
    struct gt_table *t = NULL;
    struct gt_err err = {""};
    gt_status status = gt_table_create(&t, &answers, &err);
    if (status == GEMMTUNE_OK)
        status = add_answer(t, a, &err);
    if (status != GEMMTUNE_OK)
        gt_talk("%s", err.line);
    else if (format->json)
        gt_table_json_row(t, 0, stdout);
    for (size_t line = first ? 0 : 1; status == GEMMTUNE_OK && format->csv && line < 2;
         line++)
        gt_table_csv_line(t, line, stdout);
    gt_table_destroy(t);
}

/* A point of the family that --family names. */
static int read_point(const struct gt_family **f, struct gt_point *out,
                      const struct gt_families *families, const char *family,
                      const char *text) {
    struct gt_err err = {""};
    const int code = gt_common_family(f, families, family);
    if (code < 0 && gt_predict_point(out, *f, text, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_USAGE, "%s", err.line);
    return code;
}

/* The i-th given point; without any, the family's default. */
static int candidate_of(struct gt_candidate *c, const struct values *v,
                        const struct gt_families *families, int i) {
    const char *text = i < v->points.count ? v->points.text[i] : "";
    const struct gt_family *f = NULL;
    struct gt_point point;
    const int code = v->family ? read_point(&f, &point, families, v->family, text)
                               : gt_explain_read_point(&f, &point, families, text);
    if (code < 0)
        gt_candidate_set_point(c, f, &point);
    return code;
}

/* Prints the result, after the text `ahead`; `first` is the first one. *code is its exit
 * code. False: the device or its workers are lost. */
static bool try_one(int *code, const char *ahead, bool first, const struct gt_candidate *c,
                    const struct values *v, struct gt_session *s,
                    const gemmtune_problem *p) {
    struct gt_report report;
    char name[GT_PROBLEM_NAME_MAX];
    gt_problem_name(p, name);
    *code = gt_session_run(&report, s, v->untimed ? GT_JOB_CHECK : GT_JOB_TRIAL, name, c, 1,
                           (uint64_t)v->seed);
    if (*code >= 0)
        return false;
    printf("%s", ahead);
    if (v->format.json || v->format.csv)
        print_data(&(struct answer){name, s->device_key, c, &report.result[0]}, &v->format,
                   first);
    else
        print(name, c, &report.result[0], gt_problem_flops(p));
    (void)fflush(stdout); /* the next one may take long or end the program */
    *code = gt_common_outcome(report.result[0].outcome);
    return true;
}

/* Tries all points on one problem after the other. Prints a document, or several in an
 * array. Returns the exit code of the first candidate that was not correct. */
static int try_all(const struct values *v, struct gt_session *s, char **problems,
                   int problem_count) {
    const int points = v->points.count > 0 ? v->points.count : 1;
    const int count = points * problem_count;
    const bool json = v->format.json, array = json && count > 1;
    struct gt_candidate c;
    gemmtune_problem p;
    int result = GT_EXIT_OK, done = 0, code = -1;
    /* report a bad point before anything runs */
    for (int i = 0; code < 0 && i < points; i++)
        code = candidate_of(&c, v, s->families, i);
    if (code >= 0)
        return code;
    for (bool alive = true; alive && done < count; done += alive) {
        (void)candidate_of(&c, v, s->families, done % points);
        (void)gt_common_product(&p, problems[done / points]);
        alive = try_one(&code,
                        done == 0       ? array ? "[" : ""
                        : json          ? ",\n "
                        : v->format.csv ? ""
                                        : "\n",
                        done == 0, &c, v, s, &p);
        if (result == GT_EXIT_OK)
            result = code;
    }
    if (json && done > 0)
        printf("%s\n", array ? "]" : "");
    return result;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = 1};
    enum gt_spread spread = GT_SPREAD_AROUND;
    struct gt_session s;
    gemmtune_problem p;
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, argc, &first);
    if (code < 0 && !v.family && v.points.count == 0)
        code = gt_die(GT_EXIT_USAGE,
                      "trial: give --family NAME, or --point \"FAMILY NAME=VALUE ...\"");
    /* report a bad word or problem before anything runs */
    if (code < 0)
        code = gt_common_spread(&spread, v.spread);
    for (int i = first; code < 0 && i < argc; i++)
        code = gt_common_product(&p, argv[i]);
    if (code >= 0)
        return code;
    const struct gt_session_setup setup = {
        .device = v.device, .templates = &v.templates, .timeout_s = v.timeout};
    code = gt_session_open(&s, &setup);
    if (code >= 0)
        return code;
    s.spread = spread;
    code = try_all(&v, &s, argv + first, argc - first);
    gt_session_close(&s);
    return code;
}

const struct gt_cmd gt_cmd_trial = {
    .name = "trial",
    .operands = "PROBLEM... [--device N] [--family NAME] [--point TEXT]...",
    .about = "Build, check and time points, and show the outcome of each.",
    .options = options,
    .tables = (const struct gt_form *const[]){&answers, NULL},
    .run = run,
};
