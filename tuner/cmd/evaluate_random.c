/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate_random.c - `gemmtune evaluate --random N`: draws problems that no list names.
 * Each of them is tuned from nothing, looked up among the stored kernels, and the answers
 * are timed in turns with the winner. The trials go into a database of their own, so no
 * lookup sees them.
 */
#define _DEFAULT_SOURCE /* for mkdtemp */
#include "tuner/cmd/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct drawing {
    struct gt_evaluate_work *w;
    struct gt_tuner *tuner;
    struct gt_sweep sweep;
    struct gt_known *winner;      /* of problem i, once it is tuned */
    char folder[4096];            /* of the database; "": it is kept */
    char path[4096 + 16];         /* the database */
    struct gt_tune_result result; /* of the present problem */
};

/* ---- the database of the trials ---- */

static int name_database(struct drawing *d) {
    const char *tmp = getenv("TMPDIR");
    if (d->w->v.keep != NULL) {
        (void)snprintf(d->path, sizeof d->path, "%s", d->w->v.keep);
        return -1;
    }
    (void)snprintf(d->folder, sizeof d->folder, "%s/gemmtune-evaluate-XXXXXX",
                   tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (mkdtemp(d->folder) == NULL)
        return gt_die(GT_EXIT_FAILURE, "cannot make a folder %s", d->folder);
    (void)snprintf(d->path, sizeof d->path, "%s/drawn.db", d->folder);
    return -1;
}

static int open_database(struct drawing *d, struct gt_session *session) {
    struct gt_err err = {""};
    int code = name_database(d);
    if (code >= 0)
        return code;
    gt_status status = gt_db_open(&d->tuner->db, d->path, GT_DB_WRITE, &err);
    if (status == GEMMTUNE_OK)
        status = gt_session_begin_run(d->tuner, session, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

static void close_database(struct drawing *d) {
    if (d->tuner->db != NULL)
        gt_session_end_run(d->tuner, GEMMTUNE_OK);
    gt_db_close(d->tuner->db);
    d->tuner->db = NULL;
    if (d->folder[0] == '\0')
        return;
    (void)unlink(d->path);
    (void)rmdir(d->folder);
}

/* ---- one problem ---- */

static double seconds_of(const struct gt_tuner *t) {
    return t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s;
}

static gt_status take_winner(struct gt_known *out, const struct drawing *d,
                             const struct gt_sweep_item *item, struct gt_err *err) {
    const struct gt_tune_result *r = &d->result;
    struct gt_point point;
    memset(out, 0, sizeof *out);
    if (r->winners == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s",
                       r->error[0] != '\0' ? r->error : "stopped");
    out->problem = item->problem;
    out->verified = true;
    out->median_ns = r->winner[0].time.median_ns;
    out->family = gt_families_find(d->w->families, r->winner[0].candidate.family);
    (void)snprintf(out->problem_name, sizeof out->problem_name, "%s", item->name);
    (void)snprintf(out->device_key, sizeof out->device_key, "%s", d->w->device_key);
    (void)snprintf(out->arch, sizeof out->arch, "%s", d->w->device.arch);
    const gt_status status = gt_point_parse(&point, r->winner[0].candidate.point, err);
    return status == GEMMTUNE_OK ? gt_point_values(out->values, out->family, &point, err)
                                 : status;
}

/* Tunes problem i. A problem that cannot be tuned is counted, and left out. */
static int tune(bool *tuned, struct drawing *d, size_t i) {
    const struct gt_sweep_item *item = &d->sweep.item[i];
    struct gt_err err = {""};
    d->tuner->progress.problem = i + 1;
    d->tuner->next = i + 1 < d->sweep.count ? item + 1 : NULL;
    gt_status status =
        gt_tune_problem(&d->result, d->tuner, item, seconds_of(d->tuner), &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    status = take_winner(&d->winner[i], d, item, &err);
    *tuned = status == GEMMTUNE_OK;
    if (*tuned || gt_session_stop)
        return -1;
    fprintf(stderr, "gemmtune: %s: %s\n", item->name, err.line);
    d->w->failed++;
    return -1;
}

static void say_losses(struct drawing *d, const struct gt_hidden *h) {
    char line[GT_PROBLEM_NAME_MAX + 64 * GT_RULES];
    int at = snprintf(line, sizeof line, "%s:", h->winner->problem_name);
    for (int r = 0; r < GT_RULES; r++) {
        const struct gt_answer *a = &h->answer[r];
        if (a->best_ns > 0)
            at += snprintf(line + at, sizeof line - (size_t)at, " %s %s loses %.1f %%",
                           gt_rule_name((enum gt_rule_kind)r), a->choice.family->name,
                           100 * (a->ns / a->best_ns - 1));
    }
    gt_progress_line(&d->tuner->progress, line);
}

static int do_problem(struct drawing *d, size_t i) {
    struct gt_evaluate_work *w = d->w;
    bool tuned = false;
    int code = tune(&tuned, d, i);
    if (code >= 0 || !tuned)
        return code;
    struct gt_hidden *h = &w->hidden[w->done];
    gt_evaluation_ask(h, w->evaluation, &d->winner[i], w->rules);
    gt_evaluate_build(w, h);
    code = gt_evaluate_measure(w, h);
    w->done++;
    if (code < 0)
        say_losses(d, h);
    return code;
}

/* ---- all of them ---- */

static int draw(struct drawing *d) {
    struct gt_evaluate_work *w = d->w;
    const int code =
        gt_drawn_make(&d->sweep, &w->v.drawn, w->v.seed, &w->device, "evaluate");
    if (code >= 0)
        return code;
    w->count = d->sweep.count;
    w->hidden = calloc(w->count, sizeof *w->hidden);
    d->winner = calloc(w->count, sizeof *d->winner);
    return w->hidden != NULL && d->winner != NULL
               ? -1
               : gt_die(GT_EXIT_FAILURE, "no memory for %zu problems", w->count);
}

static int do_all(struct drawing *d) {
    const int64_t start_ms = gt_now_ms();
    int code = -1;
    gt_session_catch();
    for (size_t i = 0; code < 0 && i < d->sweep.count && !gt_session_stop &&
                       gt_evaluate_has_time(d->w, start_ms);
         i++)
        code = do_problem(d, i);
    gt_progress_end(&d->tuner->progress);
    return code;
}

static int with_session(struct gt_tuner *t, struct gt_session *session, void *user) {
    struct drawing *d = user;
    t->seed = (uint64_t)d->w->v.seed;
    gt_evaluate_take(d->w, session);
    int code = gt_evaluate_prepare(d->w);
    if (code < 0)
        code = draw(d);
    if (code < 0)
        code = open_database(d, session);
    if (code < 0)
        code = do_all(d);
    close_database(d);
    return code < 0 ? gt_evaluate_end(d->w) : code;
}

int gt_evaluate_random(struct gt_evaluate_work *w) {
    const struct gt_session_setup setup = {
        .device = w->v.device, .templates = &w->v.templates, .compilers = -1};
    const struct gt_session_search how = {.effort = w->v.effort};
    struct drawing *d = calloc(1, sizeof *d);
    struct gt_tuner *t = calloc(1, sizeof *t);
    int code = d != NULL && t != NULL ? gt_session_choose(t, &how)
                                      : gt_die(GT_EXIT_FAILURE, "out of memory");
    if (code < 0) {
        d->w = w;
        d->tuner = t;
        code = gt_session_tune(t, &setup, (size_t)w->v.drawn.random, w->v.quiet,
                               with_session, d);
        gt_sweep_clear(&d->sweep);
        free(d->winner);
    }
    free(t);
    free(d);
    return code;
}
