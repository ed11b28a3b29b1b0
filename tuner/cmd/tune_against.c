/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_against.c - `gemmtune tune --against`: what is tuned is measured in turns with the
 * vendor's libraries, as `gemmtune bench` does, and stored. It comes after the last
 * problem, when no worker holds the device. A comparison of the same kernel, workspace
 * and version of a library is not made again, unless it was too noisy.
 */
#include "tuner/cmd/tune.h"

#include "tuner/base/progress.h"
#include "tuner/base/talk.h"
#include "tuner/bench/bench_ask.h"
#include "tuner/bench/bench_run.h"
#include "tuner/bench/bench_stats.h"
#include "tuner/bench/bench_store.h"
#include "tuner/bench/cublas_api.h"
#include "tuner/cmd/standing.h"
#include "tuner/tune/finals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct against {
    const struct gt_tune_request *r;
    const struct gt_device *device;
    struct gt_bench_options options;
    struct gt_bench_store store;
    struct gt_families *families; /* the library's */
    double floor[GT_DTYPES];      /* of the present workspace */
    struct gt_sweep sweep;        /* the lines of the present workspace */
    int64_t limit[GT_LIMITS_MAX]; /* the workspaces: the usual ones, and --workspace */
    int limits;
    size_t done, failed, all; /* lines of every workspace */
    gt_status unstored;       /* the first failure to store a line */
    struct gt_err why;
};

/* ---- options ---- */

static int parse(unsigned *rivals, const char *list) {
    struct gt_err err = {""};
    gt_status status = gt_rivals_environment(&err);
    if (status == GEMMTUNE_OK)
        status = gt_rivals_parse(rivals, list, &err);
    if (status == GEMMTUNE_OK)
        status = gt_rivals_storable(*rivals, &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_USAGE, "tune: %s", err.line);
}

int gt_tune_against_check(const struct gt_tune_values *v) {
    unsigned rivals;
    if (v->against == NULL)
        return -1;
    if (v->trials_only)
        return gt_die(GT_EXIT_USAGE, "tune: with --trials-only there is no winner that "
                                     "--against could measure");
    return parse(&rivals, v->against);
}

static bool is_stopped(void) {
    return gt_session_stop != 0;
}

/* ---- what is there ---- */

static gt_status load(struct gt_standings *s, const struct against *a, struct gt_err *err) {
    struct gt_db *db = NULL;
    *s = (struct gt_standings){.device = NULL};
    if (gt_common_read_db(&db, a->r->v->db) >= 0 || db == NULL)
        return gt_fail(err, GEMMTUNE_EDB, "there is no database to compare kernels of");
    const gt_status status = gt_standings_load(s, db, a->families, a->device, err);
    gt_db_close(db);
    return status;
}

/* Whether a verdict of the kernel beside gt_rivals[i] was measured here. */
static bool has_verdict(const struct against *a, const struct gt_standing *standing, int i,
                        int64_t workspace) {
    for (const struct gt_duel *d = standing->duel; d < standing->duel + standing->duels;
         d++)
        if (d->is_local && d->workspace == workspace && d->version == a->store.version[i] &&
            d->verdict != GT_NOISY && strcmp(d->library, gt_rivals[i]->name) == 0)
            return true;
    return false;
}

/* Whether a kernel was tuned for the problem that needs no more workspace, and a library is
 * missing beside it. */
static bool is_missing(const struct against *a, const struct gt_standings *s,
                       const struct gt_sweep_item *item, int64_t workspace) {
    struct gt_standing standing;
    if (gt_standing_of(&standing, s, item, workspace) != GT_STANDING_TUNED)
        return false;
    for (int i = 0; i < GT_RIVALS; i++)
        if (a->store.version[i] > 0 && gt_rivals[i]->serves(a->device, &item->problem) &&
            !has_verdict(a, &standing, i, workspace))
            return true;
    return false;
}

static gt_status find_lines(struct against *a, const struct gt_standings *s,
                            int64_t workspace, struct gt_err *err) {
    const struct gt_sweep *all = a->r->sweep;
    gt_status status = GEMMTUNE_OK;
    gt_sweep_clear(&a->sweep);
    for (size_t i = 0; i < all->count && status == GEMMTUNE_OK; i++)
        if (is_missing(a, s, &all->item[i], workspace))
            status = gt_sweep_add(&a->sweep, all->item[i].name, err);
    return status;
}

/* ---- measuring ---- */

static bool hear_rivals(void *user, const struct gt_absence *why) {
    struct against *a = user;
    gt_bench_store_versions(&a->store, why);
    return true;
}

static void hear_floor(void *user, size_t row, double floor) {
    ((struct against *)user)->floor[row] = floor;
}

/* "cublas 13.1.0 1.23 win, cublaslt 13.1.0 1.01 tie" */
static void describe(char *text, size_t size, const struct against *a,
                     const struct gt_bench_line *line, double floor) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < GT_RIVALS && at < size; i++) {
        const struct gt_bench_side side = gt_bench_counted(line, i), *s = &side;
        char version[32];
        if (!s->timed && s->error[0] == '\0')
            continue;
        gt_cublas_version(version, (size_t)a->store.version[i]);
        at += (size_t)snprintf(text + at, size - at, "%s%s %s ", at > 0 ? ", " : "",
                               gt_rivals[i]->name, version);
        if (at < size && s->timed)
            at += (size_t)snprintf(text + at, size - at, "%.3f %s", s->ratio.median_ns,
                                   gt_verdict_word(gt_verdict_of(&s->ratio, floor)));
        else if (at < size)
            at += (size_t)snprintf(text + at, size - at, "%s: %s",
                                   gt_outcome_word(s->outcome), s->error);
    }
    if (at == 0)
        (void)snprintf(text, size, "no library has a kernel for it");
}

static void hear_line(void *user, size_t index, const struct gt_bench_line *line,
                      gt_outcome outcome, const char *text) {
    struct against *a = user;
    const struct gt_sweep_item *item = &a->sweep.item[index];
    const double floor = a->floor[gt_dtype_index(gt_dtype_of(&item->problem))];
    char said[1024], bytes[GT_CELL_MAX];
    (void)outcome;
    a->done++;
    if (text == NULL && !line->own.timed)
        text = line->own.error;
    a->failed += text != NULL;
    if (text == NULL) {
        describe(said, sizeof said, a, line, floor);
        if (a->unstored == GEMMTUNE_OK)
            a->unstored = gt_bench_store_line(&a->store, item->name, line, floor, &a->why);
    }
    if (text != NULL || !a->r->v->quiet)
        gt_talk_line("[%zu/%zu] %s, %s workspace: %s", a->done, a->all, item->name,
                     a->options.workspace > 0 ? gt_show_bytes(bytes, a->options.workspace)
                                              : "no",
                     text != NULL ? text : said);
}

static gt_status measure(struct against *a, int64_t workspace, struct gt_err *err) {
    const struct gt_bench_listener on = {.user = a,
                                         .rivals = hear_rivals,
                                         .floor = hear_floor,
                                         .line = hear_line,
                                         .stopped = is_stopped};
    a->options.workspace = (double)workspace;
    memset(a->floor, 0, sizeof a->floor);
    return gt_bench_run(a->device, &a->options, &a->sweep, true, &on, err);
}

/* ---- all of it ---- */

/* The versions of the libraries. One that was named and is not there is a failure. */
static int find_versions(struct against *a) {
    struct gt_absence why[GT_RIVALS];
    struct gt_err err = {""};
    bool missing = false;
    const gt_status status = gt_bench_ask_rivals(
        why, a->device, &a->options, &a->r->sweep->item[0].problem, is_stopped, &err);
    if (is_stopped())
        return gt_session_exit(GT_EXIT_FAILURE);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    for (int i = 0; i < GT_RIVALS; i++)
        if (why[i].text[0] != '\0') {
            gt_talk("not compared with %s: %s", gt_rivals[i]->name, why[i].text);
            missing = true;
        }
    gt_bench_store_versions(&a->store, why);
    return missing ? GT_EXIT_FAILURE : -1;
}

static void list_limits(struct against *a) {
    const double own = a->r->v->workspace;
    bool usual = isinf(own);
    for (int i = 0; i < GT_WORKSPACE_LIMITS; i++) {
        a->limit[a->limits++] = gt_workspace_limits[i];
        usual = usual || (int64_t)own == gt_workspace_limits[i];
    }
    if (!usual)
        a->limit[a->limits++] = (int64_t)own;
}

static gt_status compare(struct against *a, const struct gt_standings *s,
                         struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    list_limits(a);
    for (int i = 0; i < a->limits && status == GEMMTUNE_OK; i++) {
        status = find_lines(a, s, a->limit[i], err);
        a->all += a->sweep.count;
    }
    for (int i = 0; i < a->limits && status == GEMMTUNE_OK; i++) {
        status = find_lines(a, s, a->limit[i], err);
        if (status == GEMMTUNE_OK && a->sweep.count > 0 && !is_stopped() &&
            a->unstored == GEMMTUNE_OK)
            status = measure(a, a->limit[i], err);
    }
    return status;
}

static int conclude(const struct against *a) {
    if (a->unstored != GEMMTUNE_OK)
        return gt_common_fail(a->unstored, &a->why);
    if (a->done < a->all && is_stopped()) {
        gt_talk_line("stopped after %zu of %zu comparisons; the same command goes on",
                     a->done, a->all);
        return gt_session_exit(GT_EXIT_FAILURE);
    }
    return a->failed > 0
               ? gt_die(GT_EXIT_FAILURE, "%zu of %zu comparisons failed", a->failed, a->all)
               : GT_EXIT_OK;
}

static int compare_all(struct against *a) {
    struct gt_err err = {""};
    struct gt_standings s = {.device = NULL};
    int code = find_versions(a);
    if (code >= 0)
        return code;
    gt_status status = load(&s, a, &err);
    if (status == GEMMTUNE_OK)
        status = compare(a, &s, &err);
    code = status == GEMMTUNE_OK ? conclude(a) : gt_common_fail(status, &err);
    gt_standings_clear(&s);
    return code;
}

int gt_tune_against(const struct gt_tune_request *r, int code) {
    const struct gt_tune_values *v = r->v;
    struct against a = {.r = r,
                        .device = &r->devices.device[0],
                        .options = {.db = v->db,
                                    .rounds = GT_BENCH_ROUNDS,
                                    .budget_s = GT_BENCH_BUDGET_S,
                                    .seed = (uint64_t)v->seed}};
    struct gt_err err = {""};
    if (v->against == NULL || v->dry_run || r->sweep->count == 0 ||
        (code != GT_EXIT_OK && code != GT_EXIT_FAILURE))
        return code;
    int own = parse(&a.options.rivals, v->against);
    if (own < 0 && gt_families_create(&a.families, &err) != GEMMTUNE_OK)
        own = gt_common_fail(GEMMTUNE_ENOMEM, &err);
    a.store =
        (struct gt_bench_store){.db = v->db, .device = a.device, .families = a.families};
    if (own < 0)
        own = compare_all(&a);
    gt_sweep_clear(&a.sweep);
    gt_families_destroy(a.families);
    return own != GT_EXIT_OK ? own : code;
}
