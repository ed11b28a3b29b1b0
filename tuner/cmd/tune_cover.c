/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_cover.c - `gemmtune tune --cover TIME`. The time is divided into rounds, each as
 * long as all before it. A round draws problems and takes the ones about which a lookup is
 * least sure. It tries kernels on them that the lookup finds promising, and learns from all
 * trials of the database. So what one round has learned chooses the trials of the next one.
 */
#include "tuner/cmd/tune_cover.h"

#include "core/clock.h"
#include "tuner/base/talk.h"
#include "tuner/study/learn.h"
#include "tuner/tune/ahead.h"
#include "tuner/tune/doubtful.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 4,
    BATCH_ON_GPU = 4096,
    BATCH_ON_CPU = 256,
    ELEMENTS_ON_CPU = 8000000, /* memory takes milliseconds for them, and data for trials */
    DRAWN_LEAST = 64,
    DRAWN_MOST = 2048,
    /* So many times more problems are drawn than there is time for: then the lookup's doubt
     * has a choice. */
    CHOICE = 3,
    /* One problem of so many gets a winner: lookup begins with winners of other problems.
     * Of the others there are trials, in half of the time. Finals on a CPU take longer. */
    WITH_WINNER = 3,
    WITH_WINNER_ON_CPU = 6
};

struct cover {
    struct gt_tuner *t;
    const struct gt_tune_values *v;
    const char *database;
    double began;     /* gt_seconds */
    double problem_s; /* seconds of a problem, the mean so far */
    double rate;      /* multiply-adds a second of the fastest winner; 0: there is none */
    size_t problems;  /* of this run */
    struct gt_table *table;
};

/* A line of the table. */
struct round {
    double seconds; /* since the beginning */
    size_t problems;
    struct gt_lessons lessons;
};

#define ROUND_COLUMNS(X)                                                                   \
    X("seconds", "seconds", COUNT, 0, round(r->seconds), "since the beginning")            \
    X("problems", "problems", COUNT, 0, r->lessons.problems,                               \
      "problems of this device in the database that have trials")                          \
    X("trials", "trials", COUNT, 0, r->lessons.trials, "trials that teach")                \
    X("held_out", "held out", COUNT, 1, r->lessons.held_out,                               \
      "problems that were not learned from, by which the losses are found")                \
    X("loss_before_percent", "before %", FIXED, 0, 100 * r->lessons.before.mean,           \
      "how much longer than the best of a problem's trials the one with the least "        \
      "forecast takes, without what was learned here: the mean")                           \
    X("loss_before_percent_95", "95 %", FIXED, 1, 100 * r->lessons.before.of_95,           \
      "the 95th percentile of that")                                                       \
    X("loss_percent", "loss %", FIXED, 0, 100 * r->lessons.after.mean,                     \
      "the same with what was learned: the mean")                                          \
    X("loss_percent_95", "95 %", FIXED, 0, 100 * r->lessons.after.of_95,                   \
      "the 95th percentile of that")                                                       \
    X("used", "used", TEXT, 0, r->lessons.is_better ? "yes" : "no",                        \
      "whether lookups use what was learned: it made the choice better")
GT_COLUMNS(round, struct round, ROUND_COLUMNS)
const struct gt_form gt_tune_cover_form = GT_FORM(round, "with --cover");

/* ---- which problems ------------------------------------------------------------------ */

/* Types that programs multiply. Types of two bytes and less are worth their trials where
 * the device has tensor cores for them. */
static const struct {
    const char *word;
    bool on_tensor_cores;
} usual[] = {{"f32", false}, {"f64", false}, {"f16", true},
             {"bf16", true}, {"tf32", true}, {"i8", true}};

static bool serves(const struct gt_tuner *t, const char *types) {
    char name[GT_PROBLEM_NAME_MAX];
    gemmtune_problem p;
    (void)snprintf(name, sizeof name, "%s-nn-256x256x256", types);
    if (gt_problem_from_name(&p, name, NULL) != GEMMTUNE_OK)
        return false;
    for (size_t i = 0; i < gt_families_count(t->families); i++) {
        const struct gt_family *f = gt_families_at(t->families, i);
        if (f->role == GT_ROLE_NONE && gt_family_serves(f, &t->device, &p, NULL))
            return true;
    }
    return false;
}

static bool has_units(const struct gt_tuner *t, const char *types) {
    const struct gt_dtype *row = gt_dtype_by_name(types, strlen(types));
    return gt_device_peak(&t->device, row) > gt_device_plain_peak(&t->device, row);
}

static struct gt_texts types_of(const struct gt_tuner *t) {
    struct gt_texts types = {0};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if ((!usual[i].on_tensor_cores || has_units(t, usual[i].word)) &&
            serves(t, usual[i].word))
            types.text[types.count++] = usual[i].word;
    return types;
}

/* The most multiply-adds of a problem. It shall take milliseconds: many small problems
 * teach more than a few large ones, and a slow device must not hang on one. */
static double volume_of(const struct cover *c) {
    static const double usual_s = 0.03, first = 1e7;
    return c->rate > 0 ? fmax(first, c->rate * usual_s) : first;
}

/* Draws problems for `seconds`, the most doubtful first. The seed follows from what the
 * database has, so that a cover that goes on draws other problems. */
static int draw(struct gt_sweep *out, const struct cover *c, double seconds,
                size_t trials) {
    const double wanted = CHOICE * seconds / c->problem_s;
    struct gt_drawn_values how = c->v->drawn;
    struct gt_doubts doubts;
    struct gt_err err = {""};
    how.random = (int64_t)fmin(DRAWN_MOST, fmax(DRAWN_LEAST, wanted));
    if (how.types.count == 0)
        how.types = types_of(c->t);
    if (how.batch == 0)
        how.batch = c->t->device.is_cpu ? BATCH_ON_CPU : BATCH_ON_GPU;
    if (how.volume == 0)
        how.volume = fmin(gt_drawn_volume(&c->t->device), volume_of(c));
    if (c->t->device.is_cpu)
        how.elements = ELEMENTS_ON_CPU;
    const int code =
        gt_drawn_make(out, &how, c->v->seed + (int64_t)trials, &c->t->device, "tune");
    if (code >= 0)
        return code;
    const gt_status status =
        gt_doubtful_sort(&doubts, out, c->t->db, c->t->families, &c->t->device, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

/* ---- a round ------------------------------------------------------------------------- */

static double left_s(const struct cover *c, double end) {
    return c->began + end - gt_seconds();
}

static void say_problem(struct cover *c, const struct gt_sweep_item *item,
                        const struct gt_tune_result *r) {
    char line[GT_PROBLEM_NAME_MAX + 600], ns[GT_CELL_MAX];
    if (r->error[0] != '\0')
        (void)snprintf(line, sizeof line, "%s: %s", item->name, r->error);
    else if (r->winners > 0)
        (void)snprintf(line, sizeof line, "%s: %s %s, %zu trials", item->name,
                       r->winner[0].candidate.family,
                       gt_show_ns(ns, r->winner[0].time.median_ns), r->trials);
    else
        (void)snprintf(line, sizeof line, "%s: %zu trials", item->name, r->trials);
    gt_progress_line(&c->t->progress, line);
}

static gt_status try_problem(struct cover *c, const struct gt_sweep *s, size_t i,
                             struct gt_err *err) {
    struct gt_tuner *const t = c->t;
    struct gt_tune_result *const r = calloc(1, sizeof *r);
    if (r == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    t->trials_only = i % (t->device.is_cpu ? WITH_WINNER_ON_CPU : WITH_WINNER) != 0;
    t->next = i + 1 < s->count ? &s->item[i + 1] : NULL;
    t->progress.problem = ++c->problems;
    const gt_status status = gt_tune_problem(
        r, t, &s->item[i], t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s, err);
    if (status == GEMMTUNE_OK && r->winners > 0)
        c->rate = fmax(c->rate, gt_problem_flops(&s->item[i].problem) / 2 /
                                    r->winner[0].time.median_ns * 1e9);
    if (status == GEMMTUNE_OK && !gt_session_stop)
        say_problem(c, &s->item[i], r);
    free(r);
    c->problem_s = (gt_seconds() - c->began) / (double)c->problems;
    return status;
}

/* Tries problems until `end` seconds are over. */
static int try_problems(struct cover *c, double end, size_t trials) {
    struct gt_sweep sweep = {0};
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    const int code = draw(&sweep, c, left_s(c, end), trials);
    for (size_t i = 0; code < 0 && status == GEMMTUNE_OK && i < sweep.count &&
                       !gt_session_stop && left_s(c, end) > 0;
         i++)
        status = try_problem(c, &sweep, i, &err);
    gt_ahead_clear(&c->t->ahead);
    gt_sweep_clear(&sweep);
    return code >= 0 || status == GEMMTUNE_OK ? code : gt_common_fail(status, &err);
}

/* ---- learning ------------------------------------------------------------------------ */

static gt_status read_view(struct gt_view *view, const struct gt_tuner *t,
                           struct gt_err *err) {
    gt_status status = gt_view_devices(view, t->db, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_trials(view, t->db, t->device_key, NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_records(view, t->db, t->device_key, NULL, err);
    return status;
}

static gt_status learn(struct gt_lessons *out, const struct gt_view *view,
                       const struct gt_tuner *t, const char *database, struct gt_err *err) {
    gt_status status = gt_learn(out, view, t->families, t->device_key, err);
    if (status == GEMMTUNE_OK && out->is_better)
        status = gt_learn_keep(out, database, &t->device, err);
    if (status == GEMMTUNE_OK)
        gt_shelf_renew(&t->device);
    return status;
}

/* Whether there is an eighth more to learn from than before. */
static bool has_more(const struct gt_view *view, size_t kept) {
    size_t trials = 0;
    for (size_t i = 0; i < view->row_count; i++)
        trials += !view->row[i].record && view->row[i].outcome == GT_CORRECT;
    return trials > kept + kept / 8;
}

int gt_tune_learn_again(const struct gt_tuner *t, const struct gt_tune_values *v,
                        int code) {
    char path[GT_PATH_SIZE];
    const char *database = v->db;
    struct gt_lessons lessons = {.trials = 0};
    struct gt_view view = {0};
    struct gt_err err = {""};
    const bool found = gt_common_db_path(&database, path) < 0;
    const size_t kept = found ? gt_learn_kept(database, &t->device) : 0;
    if (gt_session_stop || kept == 0)
        return code;
    gt_status status = read_view(&view, t, &err);
    if (status == GEMMTUNE_OK && has_more(&view, kept))
        status = learn(&lessons, &view, t, database, &err);
    if (status == GEMMTUNE_OK && lessons.is_better && !v->quiet)
        gt_talk_line("learned from %zu trials; the choice by forecast loses %.1f %%",
                     lessons.trials, 100 * lessons.after.mean);
    gt_lessons_clear(&lessons);
    gt_view_clear(&view);
    return status == GEMMTUNE_OK ? code : gt_common_fail(status, &err);
}

static void say_lessons(struct cover *c, const struct gt_lessons *l) {
    char line[400];
    if (l->is_better)
        (void)snprintf(line, sizeof line,
                       "%zu problems, %zu trials: the choice by forecast loses %.1f %%, "
                       "%.0f %% at the 95th percentile (before %.1f and %.0f %%)",
                       l->problems, l->trials, 100 * l->after.mean, 100 * l->after.of_95,
                       100 * l->before.mean, 100 * l->before.of_95);
    else
        (void)snprintf(line, sizeof line,
                       "%zu problems, %zu trials: too few to make the choice by forecast "
                       "better, which loses %.1f %%",
                       l->problems, l->trials, 100 * l->before.mean);
    gt_progress_line(&c->t->progress, line);
}

static int add_lessons(struct round *r, struct cover *c) {
    struct gt_view view = {0};
    struct gt_err err = {""};
    gt_status status = read_view(&view, c->t, &err);
    if (status == GEMMTUNE_OK)
        status = learn(&r->lessons, &view, c->t, c->database, &err);
    r->seconds = gt_seconds() - c->began;
    if (status == GEMMTUNE_OK && r->lessons.trials > 0) {
        say_lessons(c, &r->lessons);
        status = add_round(c->table, r, &err);
    }
    gt_lessons_clear(&r->lessons);
    gt_view_clear(&view);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

/* ---- all rounds ---------------------------------------------------------------------- */

/* Says how much the same time may gain again: the last round had as much as all before
 * it. */
static void say_outlook(const struct cover *c, const struct round *last, double before) {
    const double after = last->lessons.after.mean;
    if (!c->v->quiet && last->lessons.trials == 0)
        gt_talk_line("no trial was right and of kernels that have forecasts on this "
                     "device, so nothing was learned");
    if (c->v->quiet || !last->lessons.is_better || before <= 0)
        return;
    gt_talk_line("%.0f s more may bring the loss from %.1f to about %.1f %%; the same "
                 "command goes on",
                 c->v->cover, 100 * after, 100 * after * fmin(1, after / before));
}

static int do_rounds(struct cover *c) {
    struct round r = {.seconds = 0};
    double before = 0;
    int code = add_lessons(&r, c); /* of what earlier commands have tried */
    for (int i = 0; code < 0 && i < ROUNDS && !gt_session_stop; i++) {
        before = r.lessons.after.mean;
        const double end = c->v->cover / (double)(1 << (ROUNDS - 1 - i));
        code = try_problems(c, end, r.lessons.trials);
        if (code < 0 && !gt_session_stop)
            code = add_lessons(&r, c);
    }
    if (code < 0 && !gt_session_stop)
        say_outlook(c, &r, before);
    return code;
}

int gt_tune_cover_check(const struct gt_tune_values *v, int operands) {
    if (v->cover == 0)
        return -1;
    if (v->sizes || v->misses || v->drawn.random > 0 || v->shard || operands > 0 ||
        v->budget > 0 || v->effort || v->again || v->trials_only || v->dry_run ||
        v->against)
        return gt_die(GT_EXIT_USAGE,
                      "tune: --cover chooses problems and their time by itself: of the "
                      "options that choose them only --types, --volume and --batch go "
                      "with it");
    return -1;
}

int gt_tune_cover(struct gt_tuner *t, const struct gt_session *session,
                  const struct gt_tune_values *v) {
    char path[GT_PATH_SIZE];
    struct cover c = {
        .t = t, .v = v, .database = v->db, .began = gt_seconds(), .problem_s = 1};
    struct gt_err err = {""};
    int code = gt_common_db_path(&c.database, path);
    if (code >= 0)
        return code;
    gt_status status = gt_table_create(&c.table, &gt_tune_cover_form, &err);
    if (status == GEMMTUNE_OK)
        status = gt_session_begin_run(t, session, &err);
    code = status == GEMMTUNE_OK ? do_rounds(&c) : gt_common_fail(status, &err);
    gt_session_end_run(t, status);
    gt_progress_end(&t->progress);
    if (code < 0)
        gt_common_print(c.table, &v->format);
    gt_table_destroy(c.table);
    if (code < 0 && gt_session_stop)
        gt_talk_line("stopped; everything measured is stored, the same command goes on");
    return code < 0 ? gt_session_exit(GT_EXIT_OK) : code;
}
