/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.c - `gemmtune trial`: tries one candidate again, or several of a family, on one
 * problem or several, and prints the full result of each. The line of a failed trial ends
 * with this command. Nothing is stored.
 */
#include "tuner/cmd/predict.h"
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
    GT_OPTION_END,
};

/* Whether neither a rule nor the compiler refused it. */
static bool was_built(const struct gt_result *r) {
    return r->outcome != GT_CONSTRAINTS && r->outcome != GT_COMPILE;
}

/* A single sample has no interval. */
static void print_time(const struct gt_measurement *m, double flops) {
    char a[GT_CELL_MAX], b[GT_CELL_MAX], c[GT_CELL_MAX];
    if (m->samples > 1)
        printf("median     %s (%s .. %s), %d samples", gt_show_ns(a, m->median_ns),
               gt_show_ns(b, m->low_ns), gt_show_ns(c, m->high_ns), m->samples);
    else
        printf("time       %s, one sample", gt_show_ns(a, m->median_ns));
    printf(" of %d launch%s\nrate       %s GFLOP/s\n", m->launches,
           m->launches == 1 ? "" : "es", gt_show_rate(a, flops, m->median_ns));
}

static void print(const char *problem, const struct gt_candidate *c,
                  const struct gt_result *r, double flops) {
    char a[GT_CELL_MAX];
    printf("%s %s \"%s\"\noutcome    %s%s%s\n", problem, c->family, c->point,
           gt_outcome_word(r->outcome), r->error[0] ? ": " : "", r->error);
    if (r->time.samples > 0)
        print_time(&r->time, flops);
    if (r->time.dropped + r->time.unsettled > 0)
        printf("left out   %d samples under a throttled clock, %d before it had settled\n",
               r->time.dropped, r->time.unsettled);
    if (was_built(r) && r->registers >= 0)
        printf("registers  %d a thread, %d bytes spilled\n", r->registers, r->spill_bytes);
    if (r->compile_ms > 0)
        printf("compiled   %s\n", gt_show_ns(a, r->compile_ms * 1e6));
    else
        printf("compiled   %s\n", was_built(r) ? "before" : "no");
}

static void print_json(const char *problem, const struct gt_session *s,
                       const struct gt_candidate *c, const struct gt_result *r) {
    const struct gt_measurement *time = &r->time;
    bool first = true;
    printf("{");
    gt_json_text(&first, "problem", problem);
    gt_json_text(&first, "device", s->device_key);
    gt_json_text(&first, "family", c->family);
    gt_json_text(&first, "point", c->point);
    gt_json_text(&first, "outcome", gt_outcome_word(r->outcome));
    gt_json_text(&first, "error", r->error[0] ? r->error : NULL);
    gt_json_number(&first, "median_ns", time->samples > 0 ? time->median_ns : (double)NAN);
    gt_json_number(&first, "low_ns", gt_interval_low(time));
    gt_json_number(&first, "high_ns", gt_interval_high(time));
    gt_json_number(&first, "samples", r->time.samples);
    gt_json_number(&first, "launches", r->time.launches);
    gt_json_number(&first, "dropped", r->time.dropped);
    gt_json_number(&first, "unsettled", r->time.unsettled);
    gt_json_number(&first, "check_s", r->spent.check_s);
    gt_json_number(&first, "measure_s", r->spent.time_s);
    gt_json_number(&first, "registers", was_built(r) ? r->registers : (double)NAN);
    gt_json_number(&first, "spill_bytes", was_built(r) ? r->spill_bytes : (double)NAN);
    gt_json_number(&first, "compile_ms", r->compile_ms);
    printf("}");
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

/* Prints the result, after the text `ahead`. *code is its exit code. False: the device or
 * its workers are lost. */
static bool try_one(int *code, const char *ahead, const struct gt_candidate *c,
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
    if (v->format.json)
        print_json(name, s, c, &report.result[0]);
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
                        done == 0 ? array ? "[" : ""
                        : json    ? ",\n "
                                  : "\n",
                        &c, v, s, &p);
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
    .operands = "PROBLEM... --device N [--family NAME] [--point TEXT]...",
    .about = "Build, check and time points, and show the outcome of each.",
    .options = options,
    .run = run,
};
