/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - `gemmtune replay`: runs search strategies on a space that has been measured
 * already, without a device: a Kernel Tuner cache or, with --db, the trials of a problem.
 */
#include "tuner/cmd/common.h"
#include "tuner/study/replay.h"
#include "tuner/base/view.h"
#include "tuner/base/talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_texts strategies;
    const char *db, *device, *from, *svg;
    int64_t seeds, budget, ahead, seed;
    bool curve;
    struct gt_format format;
};

static const struct gt_option options[] = {
    {"strategy", 0, GT_OPT_NAMES, offsetof(struct values, strategies), "NAMES",
     "with commas between: " GT_STRATEGY_ALL_NAMES " (default: all but full)", 0, 0},
    {"seeds", 0, GT_OPT_INT, offsetof(struct values, seeds), "N",
     "runs of each, with different random numbers (default 100)", 1, 10000},
    {"budget", 'b', GT_OPT_INT, offsetof(struct values, budget), "N",
     "evaluations of a run (default 1000)", 1, 1000000},
    {"ahead", 0, GT_OPT_INT, offsetof(struct values, ahead), "N",
     "picks outstanding, as when compiling goes ahead (default 1)", 1, 64},
    {"from", 0, GT_OPT_TEXT, offsetof(struct values, from), "CACHE",
     "start from the ten best points of another device's cache", 0, 0},
    {"db", 0, GT_OPT_TEXT, offsetof(struct values, db), "FILE",
     "the operand is a problem: replay its trials in this database", 0, 0},
    {"device", 'd', GT_OPT_TEXT, offsetof(struct values, device), "NAME",
     "with --db: this device, by key or part of its key or name", 0, 0},
    {"curve", 0, GT_OPT_FLAG, offsetof(struct values, curve), NULL,
     "print quality by evaluation instead of the summary", 0, 0},
    {"svg", 0, GT_OPT_TEXT, offsetof(struct values, svg), "FILE",
     "draw quality by evaluation", 0, 0},
    {"seed", 0, GT_OPT_INT, offsetof(struct values, seed), "N",
     "random seed of the first run (default 1)", 0, INT64_C(1) << 52},
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

enum { STRATEGIES_MAX = 16, SEEDS = 10 };

struct session {
    const struct values *v;
    struct gt_stored stored;
    struct gt_pick seed[SEEDS];
    int seeds;
    const struct gt_strategy *strategy[STRATEGIES_MAX];
    struct gt_replay replay[STRATEGIES_MAX];
    int count;
};

/* ---- the summary ---- */

/* Writes "64 / 110" or "812 / never". */
static const char *show_reach(char buf[GT_CELL_MAX], const struct gt_replay_reach *r) {
    char a[GT_CELL_MAX], b[GT_CELL_MAX];
    snprintf(buf, GT_CELL_MAX, "%.20s / %.20s",
             isinf(r->median) ? "never" : gt_show_count(a, r->median),
             isinf(r->p90) ? "never" : gt_show_count(b, r->p90));
    return buf;
}

/* A strategy and its result. */
struct row {
    const struct gt_replay *replay;
    char reach[GT_REPLAY_GOALS][GT_CELL_MAX];
};

/* The quality after as many evaluations as the mark says; NAN, an empty cell, when the run
 * had fewer. */
static double after_mark(const struct gt_replay *r, int mark) {
    return gt_replay_mark[mark] <= r->budget ? r->median[gt_replay_mark[mark] - 1]
                                             : (double)NAN;
}

/* The four columns of a goal. */
#define GOAL(X, i, percent)                                                                \
    X(NULL, "to " percent " %", TEXT, 0, r->reach[i],                                      \
      "evaluations until a kernel of " percent                                             \
      " % of the best's speed is found: half of the runs need at most the first number, "  \
      "nine of ten the second")                                                            \
    X("to" percent "_median", NULL, COUNT, 0, r->replay->reach[i].median,                  \
      "evaluations that half of the runs need for " percent " %")                          \
    X("to" percent "_p90", NULL, COUNT, 0, r->replay->reach[i].p90,                        \
      "evaluations that nine runs of ten need for " percent " %")                          \
    X("to" percent "_runs", NULL, COUNT, 0, r->replay->reach[i].runs,                      \
      "runs that reached " percent " %")

#define SUMMARY(X)                                                                         \
    X("strategy", "strategy", TEXT, 0, r->replay->strategy->name, "its name")              \
    GOAL(X, 0, "90")                                                                       \
    GOAL(X, 1, "95")                                                                       \
    GOAL(X, 2, "99")                                                                       \
    X("after10", "after 10", FIXED, 1, after_mark(r->replay, 0),                           \
      "best's time over that of the best found in 10 evaluations, median of the runs")     \
    X("after25", "25", FIXED, 2, after_mark(r->replay, 1), "the same after 25")            \
    X("after50", "50", FIXED, 1, after_mark(r->replay, 2), "the same after 50")            \
    X("after100", "100", FIXED, 2, after_mark(r->replay, 3), "the same after 100")         \
    X("after200", "200", FIXED, 1, after_mark(r->replay, 4), "the same after 200")         \
    X("pick_us", "us a pick", COUNT, 3, round(r->replay->pick_us),                         \
      "time that the strategy takes for a pick")                                           \
    X("runs", NULL, COUNT, 0, r->replay->runs, "runs")                                     \
    X("budget", NULL, COUNT, 0, r->replay->budget, "evaluations of a run")
GT_COLUMNS(summary, struct row, SUMMARY)
static const struct gt_form summary = GT_FORM(summary, "");

static gt_status print_summary(const struct session *s, struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &summary, err);
    for (int i = 0; status == GEMMTUNE_OK && i < s->count; i++) {
        struct row row = {.replay = &s->replay[i]};
        for (int goal = 0; goal < GT_REPLAY_GOALS; goal++)
            (void)show_reach(row.reach[goal], &row.replay->reach[goal]);
        status = add_summary(t, &row, err);
    }
    if (status == GEMMTUNE_OK)
        gt_common_print(t, &s->v->format);
    gt_table_destroy(t);
    return status;
}

/* ---- the curve ---- */

/* The quality of all strategies after the same number of evaluations. */
struct moment {
    const struct session *session;
    size_t evaluations;
};

static void fill_moment(struct gt_cell *cell, const void *row) {
    const struct moment *m = row;
    *cell++ = gt_cell_number((double)m->evaluations);
    for (int i = 0; i < m->session->count; i++) {
        *cell++ = gt_cell_number(m->session->replay[i].median[m->evaluations - 1]);
        *cell++ = gt_cell_number(m->session->replay[i].low[m->evaluations - 1]);
    }
}

/* The next step: 1, 2, 5, 10, .. for people, every evaluation for programs. */
static size_t after(size_t at, bool people) {
    size_t power = 1;
    if (!people)
        return at + 1;
    while (power * 10 <= at)
        power *= 10;
    return at / power == 2 ? 5 * power : at / power == 5 ? 10 * power : 2 * power;
}

static gt_status print_curve(const struct session *s, struct gt_err *err) {
    char key[2 * STRATEGIES_MAX + 1][GT_CELL_MAX];
    struct gt_column column[2 * STRATEGIES_MAX + 1] = {
        {"evaluations", "evaluations", GT_CELL_COUNT, 0, "evaluations so far", false}};
    const struct gt_form curve = {"with --curve", column, 1 + 2 * (size_t)s->count,
                                  fill_moment};
    const bool people = !s->v->format.json && !s->v->format.csv;
    struct gt_table *t = NULL;
    for (int i = 0, n = 1; i < s->count; i++, n += 2) {
        const char *name = s->replay[i].strategy->name;
        snprintf(key[n], sizeof key[n], "%.30s_median", name);
        snprintf(key[n + 1], sizeof key[n + 1], "%.30s_p10", name);
        column[n] = (struct gt_column){key[n], name, GT_CELL_FIXED, 0, "quality", false};
        column[n + 1] =
            (struct gt_column){key[n + 1], NULL, GT_CELL_FIXED, 0, "quality", false};
    }
    gt_status status = gt_table_create(&t, &curve, err);
    for (size_t at = 1; status == GEMMTUNE_OK && at <= s->replay[0].budget;
         at = after(at, people))
        status = gt_table_add(t, &(struct moment){s, at}, err);
    if (status == GEMMTUNE_OK)
        gt_common_print(t, &s->v->format);
    gt_table_destroy(t);
    return status;
}

/* ---- the run ---- */

static void describe(const struct session *s) {
    size_t points = 0, good = 0;
    for (int i = 0; i < s->stored.spaces; i++)
        for (size_t j = 0; j < s->stored.space[i].count; j++) {
            points++;
            good += s->stored.outcome[i][j] == GT_CORRECT &&
                    s->stored.ns[i][j] <= s->stored.best_ns / gt_replay_goal[1];
        }
    char from[64] = "";
    if (s->v->from)
        (void)snprintf(from, sizeof from, ", from %d point%s of another", s->seeds,
                       gt_text_plural(s->seeds));
    gt_talk_line("%s: %zu point%s, %zu of them within 95 %% of the best; %lld run%s each%s",
                 s->stored.title, points, gt_text_plural((int64_t)points), good,
                 (long long)s->v->seeds, gt_text_plural(s->v->seeds), from);
}

static gt_status replay_all(struct session *s, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < s->count; i++) {
        const struct gt_replay_setup setup = {.stored = &s->stored,
                                              .strategy = s->strategy[i],
                                              .start = s->seed,
                                              .starts = s->seeds,
                                              .budget = (size_t)s->v->budget,
                                              .ahead = (int)s->v->ahead,
                                              .runs = (int)s->v->seeds,
                                              .first_seed = (uint64_t)s->v->seed};
        status = gt_replay_run(&s->replay[i], &setup, err);
    }
    if (status == GEMMTUNE_OK)
        status = s->v->curve ? print_curve(s, err) : print_summary(s, err);
    if (status == GEMMTUNE_OK && s->v->svg)
        status = gt_replay_svg(s->v->svg, s->stored.title, s->replay, s->count, err);
    return status;
}

static int choose(struct session *s, const struct gt_texts *names) {
    for (int i = 0; names->count == 0 && gt_strategies[i]; i++)
        if (gt_strategies[i] != &gt_search_full)
            s->strategy[s->count++] = gt_strategies[i];
    for (int i = 0; i < names->count; i++) {
        if (s->count == STRATEGIES_MAX)
            return gt_die(GT_EXIT_USAGE, "more than %d strategies", STRATEGIES_MAX);
        s->strategy[s->count] = gt_strategy_find(names->text[i]);
        if (!s->strategy[s->count++])
            return gt_die(GT_EXIT_USAGE,
                          "there is no strategy '%.40s': " GT_STRATEGY_ALL_NAMES,
                          names->text[i]);
    }
    return -1;
}

static gt_status find_device(char key[GT_DEVICE_KEY_MAX], struct gt_db *db,
                             const char *named, struct gt_err *err) {
    struct gt_view view = {0};
    size_t index = 0;
    gt_status status = gt_view_devices(&view, db, err);
    if (status == GEMMTUNE_OK)
        status = gt_view_pick(&index, &view, named, err);
    if (status == GEMMTUNE_OK)
        memcpy(key, view.device[index].key, GT_DEVICE_KEY_MAX);
    gt_view_clear(&view);
    return status;
}

static int load_trials(struct session *s, const char *problem) {
    char key[GT_DEVICE_KEY_MAX], name[GT_PROBLEM_NAME_MAX];
    gemmtune_problem p;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    int code = gt_common_problem(&p, problem);
    if (code < 0)
        code = gt_common_read_db(&db, s->v->db);
    if (code >= 0)
        return code;
    (void)gt_problem_name(&p, name);
    gt_status status = find_device(key, db, s->v->device, &err);
    if (status == GEMMTUNE_OK)
        status = gt_stored_trials(&s->stored, db, key, name, &err);
    gt_db_close(db);
    return status != GEMMTUNE_OK ? gt_common_fail(status, &err) : -1;
}

static int load_caches(struct session *s, const char *path) {
    struct gt_stored from = {0};
    struct gt_err err = {""};
    gt_status status = gt_stored_cache(&s->stored, path, &err);
    if (status == GEMMTUNE_OK && s->v->from)
        status = gt_stored_cache(&from, s->v->from, &err);
    if (status == GEMMTUNE_OK && s->v->from)
        s->seeds = gt_stored_starts(s->seed, SEEDS, &s->stored, &from);
    gt_stored_clear(&from);
    if (status != GEMMTUNE_OK)
        return gt_die(status == GEMMTUNE_ENOMEM ? GT_EXIT_FAILURE : GT_EXIT_INPUT, "%s",
                      err.line);
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seeds = 100, .budget = 1000, .ahead = 1, .seed = 1};
    struct session s = {.v = &v};
    struct gt_err err = {""};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, 1, &first);
    if (code < 0)
        code = choose(&s, &v.strategies);
    if (code < 0 && v.db && v.from)
        code = gt_die(GT_EXIT_USAGE, "--from is for caches, --db for our own trials");
    if (code < 0)
        code = gt_common_picture(v.svg);
    if (code < 0)
        code = v.db ? load_trials(&s, argv[first]) : load_caches(&s, argv[first]);
    if (code < 0) {
        describe(&s);
        const gt_status status = replay_all(&s, &err);
        code = status != GEMMTUNE_OK ? gt_die(GT_EXIT_FAILURE, "%s", err.line) : GT_EXIT_OK;
    }
    for (int i = 0; i < s.count; i++)
        gt_replay_clear(&s.replay[i]);
    gt_stored_clear(&s.stored);
    return code;
}

const struct gt_cmd gt_cmd_replay = {
    .name = "replay",
    .operands = "CACHE | --db FILE PROBLEM",
    .about = "Try search strategies on a space that has been measured already.",
    .options = options,
    .tables = (const struct gt_form *const[]){&summary, NULL},
    .run = run,
};
