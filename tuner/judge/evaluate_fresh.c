/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate_fresh.c - `gemmtune evaluate --random N`, which draws problems that no list
 * names, and `gemmtune evaluate PROBLEM...`. Each problem is tuned from nothing, looked up
 * among the stored kernels of other problems, and the answers are timed in turns with the
 * winner. The trials, and the answers that were not among them, go into a database of
 * their own, so no lookup sees them.
 */
#define _DEFAULT_SOURCE /* for mkdtemp */
#include "tuner/judge/evaluate.h"
#include "tuner/tune/finals_limit.h"
#include "tuner/tune/window.h"
#include "tuner/base/talk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fresh {
    struct gt_evaluate_work *w;
    struct gt_tuner *tuner;
    struct gt_known *winner;      /* of problem i, once it is tuned */
    char folder[4096];            /* of the database; "": it is kept */
    char path[4096 + 16];         /* the database */
    struct gt_tune_result result; /* of the present problem */
};

/* ---- the database of the trials ---- */

static int name_database(struct fresh *f) {
    const char *tmp = getenv("TMPDIR");
    if (f->w->v.keep != NULL) {
        (void)snprintf(f->path, sizeof f->path, "%s", f->w->v.keep);
        return -1;
    }
    (void)snprintf(f->folder, sizeof f->folder, "%s/gemmtune-evaluate-XXXXXX",
                   tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (mkdtemp(f->folder) == NULL)
        return gt_die(GT_EXIT_FAILURE, "cannot make a folder %s", f->folder);
    (void)snprintf(f->path, sizeof f->path, "%s/fresh.db", f->folder);
    return -1;
}

static int open_database(struct fresh *f, struct gt_session *session) {
    struct gt_err err = {""};
    int code = name_database(f);
    if (code >= 0)
        return code;
    gt_status status = gt_db_open(&f->tuner->db, f->path, GT_DB_WRITE, &err);
    if (status == GEMMTUNE_OK)
        status = gt_session_begin_run(f->tuner, session, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

static void close_database(struct fresh *f) {
    if (f->tuner->db != NULL)
        gt_session_end_run(f->tuner, GEMMTUNE_OK);
    gt_db_close(f->tuner->db);
    f->tuner->db = NULL;
    if (f->folder[0] == '\0')
        return;
    (void)unlink(f->path);
    (void)rmdir(f->folder);
}

/* Stores a kernel that was timed as a trial, unless the search has tried it. Trees that
 * learn from the database then see lookup's mistakes, which no search may have tried. */
static int keep_trial(void *user, const struct gt_hidden *h, const struct gt_candidate *c,
                      const struct gt_result *r) {
    const struct fresh *f = user;
    const struct gt_db_subject subject = {
        .device_key = f->w->device_key,
        .problem = h->winner->problem_name,
        .family = c->family,
        .family_hash = gt_families_find(f->w->families, c->family)->hash,
        .point = c->point};
    const struct gt_trial_row row = gt_trial_row_of(f->tuner, &subject, r);
    struct gt_err err = {""};
    int64_t trial;
    bool claimed = false;
    gt_status status =
        gt_db_trial_begin(&trial, &claimed, f->tuner->db, f->tuner->run_id, &subject, &err);
    if (status == GEMMTUNE_OK && claimed)
        status = gt_db_trial_end(f->tuner->db, trial, &row, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

/* ---- one problem ---- */

static double seconds_of(const struct gt_tuner *t) {
    return t->device.is_cpu ? t->effort->cpu_s : t->effort->gpu_s;
}

static gt_status take_winner(struct gt_known *out, const struct fresh *f,
                             const struct gt_sweep_item *item, struct gt_err *err) {
    const struct gt_tune_result *r = &f->result;
    const double limit = f->w->v.workspace;
    const int at = gt_finals_within(r, isinf(limit) ? INT64_MAX : (int64_t)limit);
    struct gt_point point;
    memset(out, 0, sizeof *out);
    if (r->winners == 0)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s",
                       r->error[0] != '\0' ? r->error : "stopped");
    if (at == r->winners)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "every finalist needs more workspace");
    out->problem = item->problem;
    out->verified = true;
    out->median_ns = r->winner[at].time.median_ns;
    out->family = gt_families_find(f->w->families, r->winner[at].candidate.family);
    (void)snprintf(out->problem_name, sizeof out->problem_name, "%s", item->name);
    (void)snprintf(out->device_key, sizeof out->device_key, "%s", f->w->device_key);
    (void)snprintf(out->arch, sizeof out->arch, "%s", f->w->device.arch);
    const gt_status status = gt_point_parse(&point, r->winner[at].candidate.point, err);
    return status == GEMMTUNE_OK ? gt_point_values(out->values, out->family, &point, err)
                                 : status;
}

/* Tunes problem i. A problem that cannot be tuned is counted, and left out. */
static int tune(bool *tuned, struct fresh *f, size_t i) {
    const struct gt_sweep_item *item = &f->w->sweep.item[i];
    struct gt_err err = {""};
    f->tuner->progress.problem = i + 1;
    f->tuner->next = i + 1 < f->w->sweep.count ? item + 1 : NULL;
    gt_status status =
        gt_tune_problem(&f->result, f->tuner, item, seconds_of(f->tuner), &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    status = take_winner(&f->winner[i], f, item, &err);
    *tuned = status == GEMMTUNE_OK;
    if (*tuned || gt_session_stop)
        return -1;
    gt_talk("%s: %s", item->name, err.line);
    f->w->failed++;
    return -1;
}

static void say_losses(struct fresh *f, const struct gt_hidden *h) {
    char line[GT_PROBLEM_NAME_MAX + 64 * GT_RULES];
    int at = snprintf(line, sizeof line, "%s:", h->winner->problem_name);
    for (int r = 0; r < GT_RULES; r++) {
        const struct gt_answer *a = &h->answer[r];
        if (a->best_ns > 0)
            at += snprintf(line + at, sizeof line - (size_t)at, " %s %s loses %.1f %%",
                           gt_rule_name((enum gt_rule_kind)r), a->choice.family->name,
                           100 * (a->ns / a->best_ns - 1));
    }
    gt_progress_line(&f->tuner->progress, line);
}

static int do_problem(struct fresh *f, size_t i) {
    struct gt_evaluate_work *w = f->w;
    bool tuned = false;
    int code = tune(&tuned, f, i);
    if (code >= 0 || !tuned)
        return code;
    struct gt_hidden *h = &w->hidden[w->done];
    gt_evaluation_ask(h, w->evaluation, &f->winner[i], w->rules);
    gt_evaluate_build(w, h);
    code = gt_evaluate_measure(w, h);
    w->done++;
    if (code < 0)
        say_losses(f, h);
    return code;
}

/* ---- all of them ---- */

/* Draws problems, unless they were named, and makes room for all. */
static int gather(struct fresh *f) {
    struct gt_evaluate_work *w = f->w;
    const int code =
        w->v.drawn.random == 0
            ? -1
            : gt_drawn_make(&w->sweep, &w->v.drawn, w->v.seed, &w->device, "evaluate");
    if (code >= 0)
        return code;
    w->count = w->sweep.count;
    w->hidden = calloc(w->count, sizeof *w->hidden);
    f->winner = calloc(w->count, sizeof *f->winner);
    return w->hidden != NULL && f->winner != NULL
               ? -1
               : gt_die(GT_EXIT_FAILURE, "no memory for %zu problems", w->count);
}

static int do_all(struct fresh *f) {
    const int64_t start_ms = gt_now_ms();
    int code = -1;
    for (size_t i = 0; code < 0 && i < f->w->sweep.count && !gt_session_stop &&
                       gt_evaluate_has_time(f->w, start_ms);
         i++)
        code = do_problem(f, i);
    gt_progress_end(&f->tuner->progress);
    return code;
}

static int with_session(struct gt_tuner *t, struct gt_session *session, void *user) {
    struct fresh *f = user;
    t->seed = (uint64_t)f->w->v.seed;
    f->w->taker = keep_trial;
    f->w->taker_user = f;
    gt_evaluate_take(f->w, session);
    int code = gt_evaluate_prepare(f->w);
    if (code < 0)
        code = gather(f);
    if (code < 0)
        code = open_database(f, session);
    if (code < 0)
        code = do_all(f);
    close_database(f);
    return code < 0 ? gt_evaluate_end(f->w) : code;
}

int gt_evaluate_fresh(struct gt_evaluate_work *w) {
    const struct gt_session_setup setup = {
        .device = w->v.device, .templates = &w->v.templates, .compilers = -1};
    const struct gt_session_search how = {.effort = w->v.effort};
    const size_t problems = w->sweep.count + (size_t)w->v.drawn.random;
    struct fresh *f = calloc(1, sizeof *f);
    struct gt_tuner *t = calloc(1, sizeof *t);
    int code = f != NULL && t != NULL ? gt_session_choose(t, &how)
                                      : gt_die(GT_EXIT_FAILURE, "out of memory");
    if (code < 0) {
        f->w = w;
        f->tuner = t;
        gt_session_catch(w->v.keep != NULL); /* else its trials are gone */
        code = gt_session_tune(t, &setup, problems, w->v.quiet, with_session, f);
        free(f->winner);
    }
    free(t);
    free(f);
    return code;
}
