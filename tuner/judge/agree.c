/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agree.c - `gemmtune agree`: tunes the same problem several times from nothing, each time
 * with another random seed and a database of its own. Then all winners are measured
 * together in a fresh process, and none leaves. It reports whether the runs chose alike,
 * how much slower their choices are than the best, and whether the stored times are found
 * again; with a database also how far they are from the winner that is stored there. The
 * runs share the image cache, so only the first one compiles.
 */
#define _DEFAULT_SOURCE /* for mkdtemp */
#include "tuner/judge/agree_report.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/session.h"
#include "tuner/base/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
    const char *device, *db, *effort, *strategy;
    struct gt_texts families, templates;
    double budget;
    int64_t seed, jobs, runs;
    bool each, quiet;
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    {"runs", 'r', GT_OPT_INT, offsetof(struct values, runs), "N",
     "number of runs for each problem (default 20)", 2, GT_AGREE_RUNS_MAX},
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct values, budget), "TIME",
     "for the search of each run: 2s, 500ms (default: the effort's)", 0, 0},
    GT_OPTION_EFFORT(struct values),
    {"strategy", 0, GT_OPT_TEXT, offsetof(struct values, strategy), "NAME",
     "how to search: " GT_STRATEGY_HELP, 0, 0},
    {"db", 0, GT_OPT_TEXT, offsetof(struct values, db), "FILE",
     "also measure the winner that is stored there", 0, 0},
    {"family", 'f', GT_OPT_NAMES, offsetof(struct values, families), "NAMES",
     "try these families only, with commas between; may be repeated", 0, 0},
    GT_OPTION_TEMPLATES(struct values),
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "random seed of the first run; the others follow (default 1)", 0, INT64_C(1) << 52},
    {"jobs", 'j', GT_OPT_INT, offsetof(struct values, jobs), "N",
     "compile workers (default: by the number of cores)", 0, 32},
    {"each", 0, GT_OPT_FLAG, offsetof(struct values, each), NULL,
     "print a line for each run, not for each problem", 0, 0},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* ---- tuning ---- */

static double seconds_of(const struct values *v, const struct gt_tuner *t) {
    return v->budget > 0      ? v->budget
           : t->device.is_cpu ? t->effort->cpu_s
                              : t->effort->gpu_s;
}

/* The data of a command. */
struct work {
    struct gt_tuner *t;
    struct gt_session *session;
    const struct values *v;
    const struct gt_sweep *sweep;
    struct gt_table *table;
    char folder[4096]; /* folder for the runs' databases */
};

/* Makes one run in a database of its own. */
static gt_status tune_once(struct gt_tune_result *result, struct work *w,
                           const struct gt_sweep_item *item, struct gt_err *err) {
    char path[sizeof w->folder + 16];
    snprintf(path, sizeof path, "%s/run.db", w->folder);
    gt_status status = gt_db_open(&w->t->db, path, GT_DB_WRITE, err);
    if (status == GEMMTUNE_OK)
        status = gt_session_begin_run(w->t, w->session, err);
    if (status == GEMMTUNE_OK)
        status = gt_tune_problem(result, w->t, item, seconds_of(w->v, w->t), err);
    gt_db_close(w->t->db);
    w->t->db = NULL;
    (void)unlink(path);
    return status;
}

static void say_run(struct gt_tuner *t, const struct gt_agree_study *s, int i) {
    const struct gt_tune_result *r = &s->result[i];
    char line[2048], ns[GT_CELL_MAX];
    if (r->winners > 0)
        snprintf(line, sizeof line, "%s, run %d of %d: %s %s, %zu trial%s: %s", s->problem,
                 i + 1, s->runs, r->winner[0].candidate.family,
                 gt_show_ns(ns, r->winner[0].time.median_ns), r->trials,
                 gt_text_plural((int64_t)r->trials), r->winner[0].candidate.point);
    else
        snprintf(line, sizeof line, "%s, run %d of %d: %s", s->problem, i + 1, s->runs,
                 r->error[0] ? r->error : "stopped");
    gt_progress_line(&t->progress, line);
}

static gt_status tune_all(struct gt_agree_study *s, struct work *w,
                          const struct gt_sweep_item *item, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < s->runs; i++) {
        w->t->seed = (uint64_t)w->v->seed + (uint64_t)i;
        status = tune_once(&s->result[i], w, item, err);
        /* a run that was stopped does not count */
        if (status == GEMMTUNE_OK && gt_session_stop)
            status = gt_fail(err, GEMMTUNE_ENOTFOUND, "stopped; agree keeps nothing");
        if (status == GEMMTUNE_OK)
            say_run(w->t, s, i);
    }
    return status;
}

/* ---- measuring the winners again ---- */

static int number_of(const struct gt_agree_study *s, const struct gt_candidate *c) {
    for (int i = 0; i < s->winners; i++)
        if (gt_candidate_same(&s->winner[i], c))
            return i;
    return -1;
}

/* The number of a winner, which is added if it is new. */
static int enlist(struct gt_agree_study *s, const struct gt_candidate *c) {
    const int known = number_of(s, c);
    if (known >= 0)
        return known;
    s->winner[s->winners] = *c;
    return s->winners++;
}

static void collect(struct gt_agree_study *s) {
    for (int i = 0; i < s->runs; i++) {
        const struct gt_tune_result *r = &s->result[i];
        s->run[i].choice = r->winners > 0 ? enlist(s, &r->winner[0].candidate) : -1;
        s->run[i].stored = r->winner[0].time;
    }
    for (int i = 0; i < s->runs; i++)
        for (int j = 0; j < s->result[i].winners; j++) {
            const int k = number_of(s, &s->result[i].winner[j].candidate);
            if (k >= 0 && s->result[i].winner[j].tied)
                s->run[i].tied |= 1u << k;
        }
}

/* Takes a run's winner. The records are all of the study's problem and device. */
static void take_winner(struct gt_agree_study *s, struct gt_view *records,
                        const struct gt_families *families) {
    gt_view_rank(records, 0, families);
    for (size_t i = 0; i < records->row_count; i++) {
        const struct gt_view_row *row = &records->row[i];
        if (row->rank != 0)
            continue;
        gt_candidate_set(&s->best, row->family, row->point);
        return;
    }
}

/* Finds the winner in the database that was given, if any. This comes before the runs,
 * which take long. */
static gt_status find_known(struct gt_agree_study *s, const struct gt_tuner *t,
                            const char *path, struct gt_err *err) {
    struct gt_db *db = NULL;
    struct gt_view records = {0};
    gt_status status = path ? gt_db_open(&db, path, GT_DB_READ, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK && db)
        status = gt_view_records(&records, db, t->device_key, s->problem, err);
    gt_db_close(db);
    if (status == GEMMTUNE_OK)
        take_winner(s, &records, t->families);
    gt_view_clear(&records);
    if (status == GEMMTUNE_OK && path && s->best.family[0] == '\0')
        status = gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: has no winner of %s on this device",
                         path, s->problem);
    return status;
}

static gt_status measure_again(struct gt_agree_study *s, struct gt_session *session,
                               uint64_t seed, struct gt_err *err) {
    struct gt_report report;
    if (s->winners == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s: no run found a kernel", s->problem);
    gt_status status = gt_session_try(&report, session, GT_JOB_COMPARE, s->problem,
                                      s->winner, s->winners, seed + 0xa9a1, err);
    for (int i = 0; status == GEMMTUNE_OK && i < s->winners; i++)
        if (report.result[i].outcome == GT_CORRECT)
            s->again[i] = report.result[i].time;
    if (status == GEMMTUNE_OK && s->stored >= 0 && s->again[s->stored].samples == 0)
        status = gt_fail(err, GEMMTUNE_ENOTFOUND,
                         "%s: the stored winner cannot be measured: %.300s", s->problem,
                         report.result[s->stored].error);
    return status;
}

static void say_agreement(struct gt_tuner *t, const struct gt_agree_study *s) {
    const struct gt_agreement *a = &s->agreement;
    char line[512];
    snprintf(
        line, sizeof line,
        "%s: of %d runs %d chose the same (of %d), %d it or a tie with it; %d times found "
        "again; regret %.2f %%, at most %.2f %%",
        s->problem, a->runs, a->same, a->winners, a->same_tie, a->found_again,
        100 * a->median_regret, 100 * a->most_regret);
    gt_progress_line(&t->progress, line);
}

/* ---- one problem after another ---- */

static gt_status study(struct gt_agree_study *s, struct work *w,
                       const struct gt_sweep_item *item, struct gt_err *err) {
    s->problem = item->name;
    s->runs = (int)w->v->runs;
    gt_status status = find_known(s, w->t, w->v->db, err);
    if (status == GEMMTUNE_OK)
        status = tune_all(s, w, item, err);
    if (status == GEMMTUNE_OK) {
        collect(s);
        s->stored = w->v->db ? enlist(s, &s->best) : -1;
        status = measure_again(s, w->session, (uint64_t)w->v->seed, err);
    }
    if (status == GEMMTUNE_OK) {
        gt_agree(&s->agreement, s->run, s->runs, s->again, s->winners, s->stored);
        say_agreement(w->t, s);
        status = (w->v->each ? gt_agree_add_runs : gt_agree_add)(w->table, s, err);
    }
    return status;
}

static gt_status do_problem(struct work *w, const struct gt_sweep_item *item,
                            struct gt_err *err) {
    struct gt_agree_study *s = calloc(1, sizeof *s);
    struct gt_tune_result *result = calloc((size_t)w->v->runs, sizeof *result);
    gt_status status = GEMMTUNE_ENOMEM;
    if (s == NULL || result == NULL) {
        (void)gt_fail(err, status, "no memory for the runs");
    } else {
        s->result = result;
        status = study(s, w, item, err);
    }
    free(result);
    free(s);
    return status;
}

static int do_all(struct work *w) {
    struct gt_err err = {""};
    gt_status status =
        gt_table_create(&w->table, w->v->each ? &gt_agree_run_form : &gt_agree_form, &err);
    gt_session_catch(false);
    for (size_t i = 0; status == GEMMTUNE_OK && i < w->sweep->count; i++) {
        w->t->progress.problem = i + 1;
        status = do_problem(w, &w->sweep->item[i], &err);
    }
    if (w->table != NULL) /* print the problems before the failed one, too */
        gt_common_print(w->table, &w->v->format);
    gt_table_destroy(w->table);
    return status == GEMMTUNE_OK ? GT_EXIT_OK
                                 : gt_session_exit(gt_common_fail(status, &err));
}

static int work(struct gt_tuner *t, struct gt_session *session, void *user) {
    struct work *w = user;
    const char *tmp = getenv("TMPDIR");
    w->t = t;
    w->session = session;
    snprintf(w->folder, sizeof w->folder, "%s/gemmtune-agree-XXXXXX",
             tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(w->folder))
        return gt_die(GT_EXIT_FAILURE, "cannot make a folder %s", w->folder);
    const int code = do_all(w);
    (void)rmdir(w->folder);
    return code;
}

static int agree(struct gt_tuner *t, const struct values *v, const struct gt_sweep *sweep) {
    const struct gt_session_search how = {v->effort, v->strategy, v->budget};
    const struct gt_session_setup setup = {
        .device = v->device, .templates = &v->templates, .compilers = v->jobs};
    struct work w = {.v = v, .sweep = sweep};
    t->only = &v->families;
    const int code = gt_session_choose(t, &how);
    return code >= 0 ? code : gt_session_tune(t, &setup, sweep->count, v->quiet, work, &w);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = 1, .jobs = -1, .runs = 20};
    struct gt_sweep sweep = {0};
    struct gt_tuner *t = calloc(1, sizeof *t);
    int first = 0;
    int code = t ? gt_common_parse(cmd, argc, argv, &v, &v.format, 1, argc, &first)
                 : gt_die(GT_EXIT_FAILURE, "out of memory");
    if (code < 0)
        code =
            gt_common_sweep(&sweep, NULL, (const char *const *)argv + first, argc - first);
    if (code < 0)
        code = agree(t, &v, &sweep);
    gt_sweep_clear(&sweep);
    free(t);
    return code;
}

const struct gt_cmd gt_cmd_agree = {
    .name = "agree",
    .operands = "PROBLEM... [--device N]",
    .about = "Tune a problem several times and show whether the runs agree.",
    .options = options,
    .tables = (const struct gt_form *const[]){&gt_agree_form, &gt_agree_run_form, NULL},
    .run = run,
};
