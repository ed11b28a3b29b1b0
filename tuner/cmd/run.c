/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - `gemmtune run PROBLEM`: builds the kernel that the library would choose, checks
 * it on fresh data, and times it in one run with the baseline kernel and this machine's CPU
 * BLAS.
 */
#include "tuner/base/choose.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/common.h"
#include "tuner/lab/cpu_time.h"
#include "tuner/cmd/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct values {
    const char *device, *db;
    struct gt_texts templates;
    int64_t seed;
    bool no_cpu;
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    GT_OPTION_READ_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "seed of the data (default: from the clock, and printed)", 0, INT64_C(1) << 52},
    {"no-cpu", 0, GT_OPT_FLAG, offsetof(struct values, no_cpu), NULL,
     "do not time the CPU BLAS", 0, 0},
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

/* The chosen kernel, the family of the role "baseline", the CPU. */
struct answer {
    char problem[GT_PROBLEM_NAME_MAX];
    gemmtune_problem p;
    uint64_t seed;
    struct gt_chosen chosen;
    struct gt_candidate candidate[2]; /* the chosen one and the baseline */
    int candidates;                   /* 1 when no family is the baseline */
    struct gt_report report;
    double cpu_ns; /* 0: not measured */
    char cpu[GT_CPU_ABOUT_MAX];
};

static void print_rate(const char *what, double ns, double flops, double than) {
    char a[GT_CELL_MAX], b[GT_CELL_MAX], c[GT_CELL_MAX];
    printf("%-10s %10s  %8s GFLOP/s", what, gt_show_ns(a, ns), gt_show_rate(b, flops, ns));
    if (than > 0)
        printf("  %s times as long",
               gt_show_count(c, (double)(int)(ns / than * 100 + 0.5) / 100));
    printf("\n");
}

/* 0: it was not measured, or it is wrong. */
static double baseline_ns(const struct answer *a) {
    const struct gt_result *baseline = &a->report.result[1];
    return a->candidates > 1 && baseline->outcome == GT_CORRECT ? baseline->time.median_ns
                                                                : 0;
}

/* Prints null for a time that was not measured. */
static void json_time(bool *first, const char *key, double ns) {
    if (ns > 0)
        gt_json_number(first, key, ns);
    else
        gt_json_text(first, key, NULL);
}

static void print_people(const struct answer *a) {
    const struct gt_result *tuned = &a->report.result[0];
    const double flops = gt_problem_flops(&a->p), ns = tuned->time.median_ns;
    char loss[GT_CELL_MAX];
    gt_wrap_print(stdout, 11, "problem    %s", a->problem);
    gt_wrap_print(stdout, 11, "match      %s: %s", gt_match_word(a->chosen.choice.match),
                  a->chosen.choice.why);
    gt_wrap_print(stdout, 11, "kernel     %s \"%s\"", a->candidate[0].family,
                  a->candidate[0].point);
    gt_wrap_print(stdout, 11, "loss       %s", gt_expected_loss(loss, &a->chosen.choice));
    gt_wrap_print(stdout, 11, "needs      %lld byte%s of workspace",
                  (long long)a->chosen.choice.fit.passes.workspace_bytes,
                  gt_text_plural(a->chosen.choice.fit.passes.workspace_bytes));
    gt_wrap_print(stdout, 11, "checked    %s%s%s, seed %llu",
                  gt_outcome_word(tuned->outcome), tuned->error[0] ? ": " : "",
                  tuned->error, (unsigned long long)a->seed);
    if (tuned->outcome != GT_CORRECT)
        return;
    if (tuned->has_error)
        gt_wrap_print(stdout, 11,
                      "error      %.3g at most, %.3g in the mean, in units of u |A||B|",
                      tuned->error_max, tuned->error_mean);
    print_rate("this", ns, flops, 0);
    if (baseline_ns(a) > 0)
        print_rate(a->candidate[1].family, baseline_ns(a), flops, ns);
    if (a->cpu_ns > 0) {
        print_rate("CPU BLAS", a->cpu_ns, flops, ns);
        printf("           (%s)\n", a->cpu);
        if (gt_cpu_blas_warning() != NULL)
            gt_talk("%s", gt_cpu_blas_warning());
    }
}

static void print_json(const struct answer *a, const char *device) {
    const struct gt_result *tuned = &a->report.result[0];
    bool first = true;
    printf("{");
    gt_json_text(&first, "problem", a->problem);
    gt_json_text(&first, "device", device);
    gt_json_text(&first, "match", gt_match_word(a->chosen.choice.match));
    gt_json_text(&first, "why", a->chosen.choice.why);
    gt_json_number(&first, "expected_loss_percent", gt_expected_percent(&a->chosen.choice));
    gt_json_text(&first, "family", a->candidate[0].family);
    gt_json_text(&first, "point", a->candidate[0].point);
    gt_json_number(&first, "workspace_bytes",
                   (double)a->chosen.choice.fit.passes.workspace_bytes);
    gt_json_number(&first, "seed", (double)a->seed);
    gt_json_text(&first, "outcome", gt_outcome_word(tuned->outcome));
    gt_json_text(&first, "error", tuned->error[0] ? tuned->error : NULL);
    gt_json_number(&first, "error_max", tuned->has_error ? tuned->error_max : (double)NAN);
    gt_json_number(&first, "error_mean",
                   tuned->has_error ? tuned->error_mean : (double)NAN);
    gt_json_number(&first, "median_ns", tuned->time.median_ns);
    gt_json_number(&first, "low_ns", gt_interval_low(&tuned->time));
    gt_json_number(&first, "high_ns", gt_interval_high(&tuned->time));
    gt_json_number(&first, "samples", tuned->time.samples);
    gt_json_number(&first, "gflops", gt_problem_flops(&a->p) / tuned->time.median_ns);
    json_time(&first, "baseline_ns", baseline_ns(a));
    json_time(&first, "cpu_blas_ns", a->cpu_ns);
    gt_json_text(&first, "cpu_blas", a->cpu_ns > 0 ? a->cpu : NULL);
    printf("}\n");
}

static int choose(struct answer *a, const struct values *v, const struct gt_session *s) {
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    const struct gt_family *baseline = gt_families_with_role(s->families, GT_ROLE_BASELINE);
    struct gt_point point;
    const int code = gt_common_read_db(&db, v->db);
    if (code >= 0)
        return code;
    const gt_status status =
        gt_choose(&a->chosen, db, s->families, &s->device, &a->p, SIZE_MAX, &err);
    gt_db_close(db);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    gt_candidate_set_point(&a->candidate[0], a->chosen.choice.family,
                           &a->chosen.choice.point);
    a->candidates = 1;
    if (baseline == NULL)
        return -1;
    gt_family_default(baseline, &point);
    gt_candidate_set_point(&a->candidate[1], baseline, &point);
    a->candidates = 2;
    return -1;
}

static int measure(struct answer *a, const struct values *v, struct gt_session *s) {
    const int code = gt_session_run(&a->report, s, GT_JOB_FINAL, a->problem, a->candidate,
                                    a->candidates, a->seed);
    if (code >= 0)
        return code;
    if (v->no_cpu ||
        gt_cpu_time(&a->cpu_ns, a->cpu, GT_CPU_BLAS, &a->p, NULL) != GEMMTUNE_OK)
        a->cpu_ns = 0;
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = -1};
    struct answer a = {.cpu_ns = 0};
    struct gt_session s;
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, 1, &first);
    if (code < 0)
        code = gt_common_product(&a.p, argv[first]);
    if (code >= 0)
        return code;
    gt_problem_name(&a.p, a.problem);
    a.seed = v.seed >= 0 ? (uint64_t)v.seed : (uint64_t)time(NULL);
    const struct gt_session_setup setup = {.device = v.device, .templates = &v.templates};
    code = gt_session_open(&s, &setup);
    if (code >= 0)
        return code;
    code = choose(&a, &v, &s);
    if (code < 0)
        code = measure(&a, &v, &s);
    if (code < 0) {
        if (v.format.json)
            print_json(&a, s.device_key);
        else
            print_people(&a);
        code = gt_common_outcome(a.report.result[0].outcome);
    }
    gt_chosen_clear(&a.chosen);
    gt_session_close(&s);
    return code;
}

const struct gt_cmd gt_cmd_run = {
    .name = "run",
    .operands = "PROBLEM [--device N]",
    .about = "Run the kernel that the library would choose, check it, and compare it.",
    .options = options,
    .run = run,
};
