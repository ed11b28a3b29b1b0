/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ladder.c - `gemmtune ladder`: from a CPU loop to the tuned best. One problem is printed
 * with a rung on each line; several volumes are printed with a volume on each line.
 */
#include "tuner/lab/reference.h"
#include "tuner/cmd/common.h"
#include "tuner/tune/ladder.h"
#include "tuner/cmd/session.h"
#include "tuner/base/talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    const char *device, *db, *effort, *volumes, *dtype;
    struct gt_texts templates;
    double budget;
    int64_t seed, loop_volume;
    bool quiet;
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    GT_OPTION_DB(struct values),
    {"volumes", 'v', GT_OPT_TEXT, offsetof(struct values, volumes), "RANGE",
     "near-cubes of 1e3:1e10 multiplications, one a decade", 0, 0},
    {"dtype", 0, GT_OPT_TEXT, offsetof(struct values, dtype), "TYPE",
     "types of the volumes, as in a problem's name: f32 (default), bf16, e4m3@fast, ...", 0,
     0},
    GT_OPTION_EFFORT(struct values),
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct values, budget), "TIME",
     "time for tuning each problem", 0, 0},
    {"cpu-loop-max", 0, GT_OPT_INT, offsetof(struct values, loop_volume), "N",
     "time the CPU loop up to this many multiplications (default 1000000000)", 0,
     INT64_C(1) << 52},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_SEED(struct values),
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* A rung of a problem's ladder. */
struct row {
    const struct gt_ladder *ladder;
    const struct gt_ladder_rung *rung;
    /* the device's operations per second; 0: unknown, or the rung runs elsewhere */
    double peak;
};

/* Rounds to three digits; NAN, an empty cell, for an unknown value. */
static double rounded(double x) {
    const double scale = pow(10, 3 - ceil(log10(fabs(x) + 1e-30)));
    return x > 0 && isfinite(x) ? round(x * scale) / scale : (double)NAN;
}

static double flops_of(const struct row *r) {
    return gt_problem_flops(&r->ladder->problem);
}

static double over_baseline(const struct row *r) {
    const int baseline = r->ladder->baseline;
    return baseline >= 0 ? rounded(r->ladder->rung[baseline].ns / r->rung->ns)
                         : (double)NAN;
}

static double percent_of_peak(const struct row *r) {
    return r->peak > 0 ? rounded(100 * flops_of(r) / (r->rung->ns * 1e-9) / r->peak)
                       : (double)NAN;
}

static const char *how(const struct row *r) {
    return r->rung->note[0] != '\0' ? r->rung->note : r->rung->how;
}

#define RUNGS(X)                                                                           \
    X("problem", "problem", TEXT, 0, r->ladder->name, "its name")                          \
    X("rung", "rung", TEXT, 0, r->rung->name, "kind of kernel")                            \
    X("ms", "ms", COUNT, 0, rounded(r->rung->ns / 1e6), "median time of a product")        \
    X("gflops", "GFLOP/s", RATE, 0, flops_of(r) / r->rung->ns, "rate at the median")       \
    X("over_baseline", "x baseline", COUNT, 1, over_baseline(r),                           \
      "how many times as long the baseline's rung takes")                                  \
    X("percent_of_peak", "% of peak", COUNT, 2, percent_of_peak(r),                        \
      "rate over the device's peak for the type")                                          \
    X("how", "how", TAIL, 3, how(r), "the kernel, or the reason why there is none")
GT_COLUMNS(rung, struct row, RUNGS)
static const struct gt_form rungs = GT_FORM(rung, "");

static gt_status add(struct gt_table *t, const struct gt_ladder *l, int rung,
                     const struct gt_device *d, struct gt_err *err) {
    const double peak = gt_device_peak(d, gt_dtype_of(&l->problem));
    const struct row row = {l, &l->rung[rung], l->rung[rung].on_device ? peak : 0};
    return add_rung(t, &row, err);
}

/* Explains the peak once for each row of types. */
static void say_peaks(const struct gt_ladder *l, size_t count, const struct gt_device *d) {
    bool said[GT_DTYPES] = {false};
    for (size_t i = 0; i < count; i++) {
        const struct gt_dtype *types = gt_dtype_of(&l[i].problem);
        const double peak = gt_device_peak(d, types);
        if (peak <= 0 || said[gt_dtype_index(types)])
            continue;
        said[gt_dtype_index(types)] = true;
        gt_talk("%% of peak, %s: of %.4g %s, %s", types->name, peak / 1e12,
                gt_type_is_float(types->acc) ? "TFLOP/s" : "TOP/s",
                gt_device_peak_about(d, types));
    }
}

static gt_status print_rungs(const struct gt_ladder *l, size_t count,
                             const struct gt_device *d, const struct gt_format *format,
                             struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &rungs, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++)
        for (int r = 0; status == GEMMTUNE_OK && r < l[i].count; r++)
            status = add(t, &l[i], r, d, err);
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    if (status == GEMMTUNE_OK && !format->json && !format->csv)
        say_peaks(l, count, d);
    if (status == GEMMTUNE_OK && gt_cpu_blas_warning() != NULL)
        gt_talk("%s", gt_cpu_blas_warning());
    gt_table_destroy(t);
    return status;
}

/* A volume's ladder, and the ladder that has its rungs as columns. */
struct volume {
    const struct gt_ladder *ladder, *names;
};

/* NAN, an empty cell, when the ladder has no such rung. */
static double milliseconds_of(const struct gt_ladder *l, const char *rung) {
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->rung[i].name, rung) == 0)
            return rounded(l->rung[i].ns / 1e6);
    return (double)NAN;
}

/* A column for the problem and one for each rung. */
static void fill_volume(struct gt_cell *cell, const void *row) {
    const struct volume *v = row;
    *cell++ = gt_cell_text(v->ladder->name);
    for (int i = 0; i < v->names->count; i++)
        *cell++ = gt_cell_number(milliseconds_of(v->ladder, v->names->rung[i].name));
}

/* Prints milliseconds for people, a volume on each line, as in published tables. `names`
 * has the rungs that become columns. */
static gt_status print_volumes(const struct gt_ladder *l, size_t count,
                               const struct gt_ladder *names,
                               const struct gt_format *format, struct gt_err *err) {
    struct gt_column column[1 + GT_LADDER_MAX] = {
        {"problem", "m n k, ms", GT_CELL_TEXT, 0, "name of the problem", false}};
    const struct gt_form volumes = {"with --volumes", column, 1 + (size_t)names->count,
                                    fill_volume};
    struct gt_table *t = NULL;
    for (int i = 0; i < names->count; i++) {
        const char *name = names->rung[i].name;
        column[1 + i] = (struct gt_column){name, name, GT_CELL_COUNT, 0, "its time", false};
    }
    gt_status status = gt_table_create(&t, &volumes, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++)
        status = gt_table_add(t, &(struct volume){&l[i], names}, err);
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}

/* ---- the run ---- */

/* Says the two stages; the second one has no count. */
static void say_problem(struct gt_tuner *t, const char *name, double seconds) {
    char text[GT_PROBLEM_NAME_MAX + 128];
    snprintf(text, sizeof text, "[%zu/%zu] %s: a search of up to %.3g s, then the rungs",
             t->progress.problem, t->progress.problems, name, seconds);
    gt_progress_say(&t->progress, text);
}

static gt_status climb_all(struct gt_ladder *l, struct gt_tuner *t, const struct values *v,
                           const struct gt_sweep *sweep, size_t *done, struct gt_err *err) {
    const double cap = t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < sweep->count && !gt_session_stop; i++) {
        t->progress.problem = i + 1;
        say_problem(t, sweep->item[i].name, v->budget > 0 ? v->budget : cap);
        status =
            gt_ladder_climb(&l[*done], t, &sweep->item[i], v->budget > 0 ? v->budget : cap,
                            (double)v->loop_volume, err);
        if (status == GEMMTUNE_OK && !gt_session_stop)
            (*done)++;
        /* Other failures concern only this problem;
         * a failure of the database concerns all. */
        if (status == GEMMTUNE_EDEVICE || status == GEMMTUNE_ENOMEM) {
            if (!gt_session_stop)
                gt_progress_line(&t->progress, err->line);
            status = GEMMTUNE_OK;
        }
    }
    return status;
}

static int climb_and_print(struct gt_tuner *t, const struct values *v,
                           const struct gt_sweep *sweep, const struct gt_session *session) {
    struct gt_err err = {""};
    /* the last one is for names only */
    struct gt_ladder *l = calloc(sweep->count + 1, sizeof *l);
    size_t done = 0;
    gt_status status = l ? gt_session_begin_run(t, session, &err)
                         : gt_fail(&err, GEMMTUNE_ENOMEM, "no memory for the ladder");
    if (status == GEMMTUNE_OK)
        gt_ladder_init(&l[sweep->count], t->families);
    if (status == GEMMTUNE_OK)
        status = climb_all(l, t, v, sweep, &done, &err);
    const bool people = !v->format.json && !v->format.csv;
    if (status == GEMMTUNE_OK && people && v->volumes)
        status = print_volumes(l, done, &l[sweep->count], &v->format, &err);
    else if (status == GEMMTUNE_OK)
        status = print_rungs(l, done, &t->device, &v->format, &err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < done; i++)
        if (l[i].remark[0] != '\0')
            gt_talk("%s: %s", l[i].name, l[i].remark);
    gt_session_end_run(t, status);
    free(l);
    return status != GEMMTUNE_OK ? gt_common_fail(status, &err)
           : done < sweep->count ? gt_session_exit(GT_EXIT_FAILURE)
                                 : GT_EXIT_OK;
}

static int add_volumes(struct gt_sweep *s, const struct values *v) {
    struct gt_err err = {""};
    int64_t volume[GT_VOLUMES_MAX], m, n, k;
    size_t count = 0;
    gt_status status = gt_volume_range(volume, &count, v->volumes, &err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++) {
        char name[GT_PROBLEM_NAME_MAX];
        gt_volume_shape(volume[i], &m, &n, &k);
        snprintf(name, sizeof name, "%s-nn-%lldx%lldx%lld", v->dtype ? v->dtype : "f32",
                 (long long)m, (long long)n, (long long)k);
        status = gt_sweep_add(s, name, &err);
    }
    return status != GEMMTUNE_OK ? gt_die(GT_EXIT_INPUT, "%s", err.line) : -1;
}

static int problems_of(struct gt_sweep *s, const struct values *v, int argc, char **argv,
                       int first) {
    struct gt_err err = {""};
    if (v->volumes)
        return add_volumes(s, v);
    if (first == argc)
        return gt_die(GT_EXIT_USAGE, "ladder: name problems, or a range with --volumes");
    for (int i = first; i < argc; i++)
        if (gt_sweep_add(s, argv[i], &err) != GEMMTUNE_OK)
            return gt_die(GT_EXIT_INPUT, "%s", err.line);
    return -1;
}

/* The arguments of work. */
struct request {
    const struct values *v;
    const struct gt_sweep *sweep;
};

static int work(struct gt_tuner *t, struct gt_session *session, void *user) {
    const struct request *r = user;
    int code = gt_common_write_db(&t->db, r->v->db);
    if (code < 0)
        code = climb_and_print(t, r->v, r->sweep, session);
    gt_db_close(t->db);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = 1, .loop_volume = 1000000000};
    struct gt_sweep sweep = {0};
    struct request request = {&v, &sweep};
    struct gt_tuner t;
    int first = 0;
    memset(&t, 0, sizeof t);
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, argc, &first);
    if (code < 0)
        code = problems_of(&sweep, &v, argc, argv, first);
    const struct gt_session_search how = {.effort = v.effort, .budget_s = v.budget};
    const struct gt_session_setup setup = {
        .device = v.device, .templates = &v.templates, .compilers = -1};
    t.seed = (uint64_t)v.seed;
    if (code < 0)
        code = gt_session_choose(&t, &how);
    if (code < 0) {
        gt_session_catch(true); /* trials are stored, as by tune */
        code = gt_session_tune(&t, &setup, sweep.count, v.quiet, work, &request);
    }
    gt_sweep_clear(&sweep);
    return code;
}

const struct gt_cmd gt_cmd_ladder = {
    .name = "ladder",
    .operands = "PROBLEM... | --volumes 1e3:1e10 [--device N]",
    .about = "Time every kind of kernel, from a CPU loop to the tuned best.",
    .options = options,
    .tables = (const struct gt_form *const[]){&rungs, NULL},
    .run = run,
};
