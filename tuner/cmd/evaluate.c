/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.c - `gemmtune evaluate`: measures how much time the library loses on problems
 * that were not tuned. Tuned problems are hidden. Each rule's kernel for them is timed in
 * turn with the problem's own winner; with --stored, its time is taken from the trials in
 * the database.
 */
#include "tuner/base/progress.h"
#include "tuner/study/evaluate.h"

#include "core/text.h"
#include "tuner/lab/ratio.h"
#include "tuner/cmd/evaluate_report.h"
#include "tuner/cmd/session.h"
#include "tuner/cmd/which_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    const char *device, *db;
    struct gt_texts templates, rules;
    double holdout, budget;
    int64_t folds, seed;
    bool stored, quiet;
    struct gt_format format;
};

static const double preset_holdout = 0.25;

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    GT_OPTION_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    {"holdout", 0, GT_OPT_NUMBER, offsetof(struct values, holdout), "PART",
     "part of the tuned problems to hide (default 0.25)", 0, 0},
    {"folds", 0, GT_OPT_INT, offsetof(struct values, folds), "N",
     "hide each problem once, an Nth of them at a time", 2, 100000},
    {"rule", 0, GT_OPT_NAMES, offsetof(struct values, rules), "NAMES",
     "lookup, nearest, volume, single, untuned, default (default: all)", 0, 0},
    {"stored", 0, GT_OPT_FLAG, offsetof(struct values, stored), NULL,
     "use no device: losses are taken from stored trials, where they are known", 0, 0},
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct values, budget), "TIME",
     "start no problem after this time", 0, 0},
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "random seed of the hidden problems and of the data (default 1)", 0, INT64_C(1) << 52},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* The data of a command. */
struct work {
    struct values v;
    unsigned rules; /* bit i: rule i */
    struct gt_families *families;
    struct gt_session session; /* unused with --stored */
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    struct gt_view view;
    struct gt_known *known;
    size_t known_count;
    struct gt_evaluation *evaluation;
    struct gt_hidden *hidden;
    size_t count, done; /* problems that were hidden, and those of them that were timed */
    int wrong, failed;  /* kernels that were not correct on the device */
};

/* ---- the command line ---- */

static int pick_rule(unsigned *rules, const char *name) {
    const char *names[GT_RULES + 1] = {NULL};
    for (int r = 0; r < GT_RULES; r++) {
        names[r] = gt_rule_name((enum gt_rule_kind)r);
        if (strcmp(names[r], name) == 0) {
            *rules |= 1U << r;
            return -1;
        }
    }
    const char *near = gt_text_nearest(name, names);
    if (near != NULL)
        return gt_die(GT_EXIT_USAGE, "there is no rule '%s'; did you mean '%s'?", name,
                      near);
    return gt_die(GT_EXIT_USAGE,
                  "there is no rule '%s'; 'gemmtune evaluate --help' lists them", name);
}

static int check_values(struct work *w) {
    int code = -1;
    if (w->v.holdout > 0 && w->v.folds > 0)
        return gt_die(GT_EXIT_USAGE, "evaluate: --holdout and --folds exclude each other");
    if (w->v.holdout >= 1)
        return gt_die(GT_EXIT_USAGE,
                      "evaluate: --holdout needs a part below 1, not all of them");
    for (int i = 0; code < 0 && i < w->v.rules.count; i++)
        code = pick_rule(&w->rules, w->v.rules.text[i]);
    if (w->rules == 0)
        w->rules = (1U << GT_RULES) - 1;
    return code;
}

/* ---- tuned problems ---- */

/* Finds the device in the database that --device names, or the only one. */
static int pick_stored_device(struct work *w, struct gt_db *db) {
    struct gt_err err = {""};
    size_t at = 0;
    gt_status status = gt_view_devices(&w->view, db, &err);
    if (status == GEMMTUNE_OK)
        status = gt_which_stored(&at, &w->view, w->v.device, &err);
    if (status == GEMMTUNE_ENOTFOUND || status == GEMMTUNE_EINVAL)
        return gt_die(GT_EXIT_USAGE, "evaluate: %s", err.line);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    w->device = w->view.device[at].device;
    (void)snprintf(w->device_key, sizeof w->device_key, "%s", w->view.device[at].key);
    return -1;
}

static int read_rows(struct work *w, struct gt_db *db) {
    struct gt_err err = {""};
    int64_t stale = 0;
    gt_status status = gt_known_load(&w->known, &w->known_count, &stale, db, w->families,
                                     w->device.arch, &err);
    if (status == GEMMTUNE_OK)
        status = gt_view_records(&w->view, db, w->device_key, NULL, &err);
    if (status == GEMMTUNE_OK)
        status = gt_view_trials(&w->view, db, w->device_key, NULL, &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (stale > 0)
        fprintf(stderr, "gemmtune: %lld stored results are of older kernel sources\n",
                (long long)stale);
    return -1;
}

static int load(struct work *w) {
    struct gt_db *db = NULL;
    int code = gt_common_read_db(&db, w->v.db);
    if (code < 0 && db != NULL && w->v.stored)
        code = pick_stored_device(w, db);
    if (code < 0 && db != NULL)
        code = read_rows(w, db);
    gt_db_close(db);
    return code;
}

static int prepare(struct work *w) {
    const struct gt_evaluation_setup setup = {.device = &w->device,
                                              .device_key = w->device_key,
                                              .families = w->families,
                                              .known = w->known,
                                              .known_count = w->known_count,
                                              .view = &w->view,
                                              .seed = (uint64_t)w->v.seed};
    struct gt_err err = {""};
    const gt_status status = gt_evaluation_create(&w->evaluation, &setup, &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    const size_t all = gt_evaluation_count(w->evaluation);
    if (all < 2)
        return gt_die(GT_EXIT_FAILURE,
                      "%zu tuned problems are too few to hide some: tune more of them",
                      all);
    w->hidden = calloc(all, sizeof *w->hidden);
    return w->hidden != NULL ? -1
                             : gt_die(GT_EXIT_FAILURE, "no memory for %zu problems", all);
}

/* ---- hiding ---- */

static void hide(struct work *w) {
    const size_t all = gt_evaluation_count(w->evaluation);
    const double part = w->v.holdout > 0 ? w->v.holdout : preset_holdout;
    const size_t folds = (size_t)w->v.folds < all ? (size_t)w->v.folds : all;
    struct gt_progress progress;
    w->count = folds > 0 ? all : (size_t)fmax(1, floor((double)all * part));
    gt_progress_init(&progress, w->count, w->v.quiet);
    if (folds == 0)
        gt_evaluation_hide(w->hidden, w->evaluation, 0, w->count, w->rules, &progress);
    for (size_t f = 0; f < folds; f++)
        gt_evaluation_hide(w->hidden + f * all / folds, w->evaluation, f * all / folds,
                           (f + 1) * all / folds, w->rules, &progress);
    gt_progress_end(&progress);
}

/* ---- measuring ---- */

/* The winner and the rules' kernels, without duplicates. at[r] is the index of rule r's
 * kernel, -1 for none. */
struct contest {
    int count, at[GT_RULES];
    struct gt_candidate candidate[GT_RULES + 1];
};
_Static_assert(GT_RULES + 1 <= GT_JOB_POINTS_MAX,
               "the kernels of a problem fit in one job");

static int enter(struct contest *c, const struct gt_family *family,
                 const struct gt_point *point) {
    struct gt_candidate *new = &c->candidate[c->count];
    gt_candidate_set_point(new, family, point);
    for (int i = 0; i < c->count; i++)
        if (gt_candidate_same(&c->candidate[i], new))
            return i;
    return c->count++;
}

static struct contest contest_of(const struct gt_hidden *h) {
    struct contest c = {.count = 0};
    (void)enter(&c, h->winner->family, &h->winner->point);
    for (int r = 0; r < GT_RULES; r++) {
        const struct gt_answer *a = &h->answer[r];
        c.at[r] = a->found ? enter(&c, a->choice.family, &a->choice.point) : -1;
    }
    return c;
}

static void await_compilers(struct gt_pool *pool, int *flying, int most) {
    struct gt_event event;
    bool got = true;
    while (*flying > most && got) {
        if (gt_pool_wait(&got, &event, pool, 60, NULL) != GEMMTUNE_OK)
            return;
        *flying -= got;
    }
}

/* Compiles all kernels into the image cache with all compilers. A failure will occur again
 * when the kernel is measured. */
static void build_ahead(struct work *w, struct gt_progress *progress) {
    int flying = 0;
    for (size_t i = 0; w->session.compilers > 0 && i < w->count; i++) {
        const struct contest c = contest_of(&w->hidden[i]);
        gt_progress_count(progress, "compiling for hidden problems", i, w->count);
        for (int n = 0; n < c.count; n++) {
            struct gt_job job;
            gt_job_init(&job, GT_JOB_COMPILE, &w->device,
                        w->hidden[i].winner->problem_name);
            job.count = 1;
            job.candidate[0] = c.candidate[n];
            await_compilers(w->session.pool, &flying, w->session.compilers - 1);
            flying += gt_pool_send(w->session.pool, &job, NULL) == GEMMTUNE_OK;
        }
    }
    await_compilers(w->session.pool, &flying, 0);
}

/* A kernel's time is the winner's time multiplied by their ratio, round by round. */
static void take_times(struct work *w, struct gt_hidden *h, const struct contest *c,
                       const struct gt_report *report) {
    const struct gt_result *best = &report->result[0];
    struct gt_measurement ratio;
    for (int r = 0; r < GT_RULES; r++) {
        struct gt_answer *a = &h->answer[r];
        if (!a->found)
            continue;
        const struct gt_result *result = &report->result[c->at[r]];
        const bool known = result->outcome == GT_CORRECT && best->outcome == GT_CORRECT;
        gt_ratio_of(&ratio, &result->time, &best->time);
        a->best_ns = known ? best->time.median_ns : 0;
        a->ns = known ? best->time.median_ns * ratio.median_ns : 0;
    }
    for (int i = 0; i < report->count; i++) {
        const struct gt_result *result = &report->result[i];
        if (result->outcome == GT_CORRECT)
            continue;
        fprintf(stderr, "gemmtune: %s: %s \"%s\" is %s: %s\n", h->winner->problem_name,
                c->candidate[i].family, c->candidate[i].point,
                gt_outcome_word(result->outcome), result->error);
        *(result->outcome == GT_WRONG_RESULT ? &w->wrong : &w->failed) += 1;
    }
}

/* When a problem cannot be set up, its losses stay unknown. */
static int measure_one(struct work *w, struct gt_hidden *h) {
    const struct contest c = contest_of(h);
    struct gt_report report;
    struct gt_err err = {""};
    for (int r = 0; r < GT_RULES; r++)
        h->answer[r].ns = h->answer[r].best_ns = 0;
    const gt_status status =
        gt_session_try(&report, &w->session, GT_JOB_COMPARE, h->winner->problem_name,
                       c.candidate, c.count, (uint64_t)w->v.seed + 0xe7a1, &err);
    if (gt_session_lost(status))
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    if (status == GEMMTUNE_OK)
        take_times(w, h, &c, &report);
    else
        fprintf(stderr, "gemmtune: %s: %s\n", h->winner->problem_name, err.line);
    w->failed += status != GEMMTUNE_OK;
    return -1;
}

static int measure(struct work *w) {
    const int64_t start_ms = gt_now_ms();
    struct gt_progress progress;
    int code = -1;
    gt_progress_init(&progress, w->count, w->v.quiet);
    build_ahead(w, &progress);
    while (code < 0 && w->done < w->count &&
           (w->v.budget <= 0 || (double)(gt_now_ms() - start_ms) < 1e3 * w->v.budget)) {
        gt_progress_count(&progress, "measuring hidden problems", w->done, w->count);
        code = measure_one(w, &w->hidden[w->done++]);
    }
    gt_progress_end(&progress);
    return code;
}

static int print(const struct work *w) {
    const struct gt_evaluate_report report = {.device_key = w->device_key,
                                              .hidden = w->hidden,
                                              .hidden_count = w->count,
                                              .done = w->done,
                                              .tuned = gt_evaluation_count(w->evaluation),
                                              .rules = w->rules,
                                              .stored = w->v.stored,
                                              .seed = w->v.seed};
    struct gt_err err = {""};
    const gt_status status = gt_evaluate_print(&report, &w->v.format, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

static int verdict(const struct work *w) {
    if (w->wrong > 0)
        return gt_die(GT_EXIT_VERIFY, "%d kernels computed wrong results", w->wrong);
    if (w->failed > 0)
        return gt_die(GT_EXIT_FAILURE, "%d kernels or problems could not be measured",
                      w->failed);
    if (w->done < w->count)
        return gt_die(GT_EXIT_FAILURE, "the time was up after %zu of %zu problems", w->done,
                      w->count);
    return GT_EXIT_OK;
}

/* ---- the command ---- */

/* Finds families and device: the session's, or the built-in families and the database's
 * device. */
static int open_session(struct work *w) {
    const struct gt_session_setup setup = {
        .device = w->v.device, .templates = &w->v.templates, .compilers = -1};
    if (w->v.stored)
        return gt_common_families(&w->families, &w->v.templates);
    const int code = gt_session_open(&w->session, &setup);
    if (code >= 0)
        return code;
    w->families = w->session.families;
    w->device = w->session.device;
    (void)snprintf(w->device_key, sizeof w->device_key, "%s", w->session.device_key);
    return -1;
}

static void close_session(struct work *w) {
    if (w->v.stored)
        gt_families_destroy(w->families);
    else
        gt_session_close(&w->session);
}

static int evaluate(struct work *w) {
    int code = load(w);
    if (code < 0)
        code = prepare(w);
    if (code >= 0)
        return code;
    hide(w);
    if (w->v.stored)
        w->done = w->count;
    else
        code = measure(w);
    if (code < 0)
        code = print(w);
    return code < 0 ? verdict(w) : code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct work w;
    int first = 0;
    memset(&w, 0, sizeof w);
    w.v.seed = 1;
    int code = gt_common_parse(cmd, argc, argv, &w.v, &w.v.format, 0, 0, &first);
    if (code < 0)
        code = check_values(&w);
    if (code < 0)
        code = open_session(&w);
    if (code >= 0)
        return code;
    code = evaluate(&w);
    gt_evaluation_destroy(w.evaluation);
    free(w.hidden);
    free(w.known);
    gt_view_clear(&w.view);
    close_session(&w);
    return code;
}

const struct gt_cmd gt_cmd_evaluate = {
    .name = "evaluate",
    .operands = "--device N",
    .about = "Hide tuned problems and measure how much time lookups lose.",
    .options = options,
    .tables =
        (const struct gt_form *const[]){&gt_evaluate_form, &gt_evaluate_rule_form, NULL},
    .run = run,
};
