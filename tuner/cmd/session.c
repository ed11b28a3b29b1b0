/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - see session.h. */
#define _DEFAULT_SOURCE /* for realpath and NSIG */
#include "tuner/cmd/session.h"

#include "core/clock.h"
#include "tuner/cmd/common.h"
#include "tuner/base/cores.h"
#include "tuner/rig/probe.h"
#include "tuner/tune/row_order.h"
#include "tuner/tune/seeds.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPILERS_MAX = 16, /* NVRTC takes some hundred megabytes a process at most */
    PATH_SIZE = 4096
};

volatile int gt_session_stop;

/* timeout(1) sends its signal to the program and then to the group, which the program is
 * in. */
static const double same_signal_s = 1; /* one that comes again within is the same */
static double first_came_s[NSIG];      /* when each signal came first; 0: not yet */

static bool goes_on; /* the same command does, once this one is stopped */

static void stop(int number) {
    if (gt_session_stop == 0)
        gt_session_stop = number;
}

static void stop_or_end(int number) {
    const double now = gt_seconds();
    stop(number);
    if (first_came_s[number] <= 0) {
        first_came_s[number] = now;
    } else if (now - first_came_s[number] > same_signal_s) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = handler;
    sigemptyset(&a.sa_mask);
    (void)sigaction(number, &a, NULL);
}

/* Whether whoever started us keeps the signal from us, as nohup(1) does. */
static bool is_ignored(int number) {
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void gt_session_catch(bool resumes) {
    const int signals[] = {SIGINT, SIGTERM, SIGUSR1};
    goes_on = resumes;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        handle(signals[i], stop_or_end);
    if (!is_ignored(SIGHUP)) /* as under nohup(1) */
        handle(SIGHUP, stop_or_end);
}

void gt_session_obey(void) {
    goes_on = true;
    handle(SIGTERM, stop);
}

int gt_session_exit(int code) {
    return gt_session_stop == 0 ? code
           : goes_on            ? GT_EXIT_STOPPED
                                : GT_EXIT_SIGNAL + gt_session_stop;
}

/* One core is left to the device's own worker and to us. Where only the device's own
 * context compiles, nobody can compile ahead. */
static int compilers_beside(const struct gt_device *d, int64_t asked) {
    struct gt_core_set allowed, own, rest;
    if (!gt_driver_of(d->backend)->compiles_apart)
        return 0;
    if (asked >= 0)
        return (int)asked;
    gt_cores_allowed(&allowed);
    const int cores = gt_cores_split(&own, &rest, &allowed, gt_cores_beside)
                          ? gt_core_set_count(&rest)
                          : gt_core_set_count(&allowed) - 1;
    return cores < 1 ? 1 : cores < COMPILERS_MAX ? cores : COMPILERS_MAX;
}

static int compilers_for(const struct gt_device *d, const struct gt_session_setup *setup) {
    struct gt_core_set allowed;
    if (!setup->builds)
        return compilers_beside(d, setup->compilers);
    gt_cores_allowed(&allowed);
    const int64_t cores = gt_core_set_count(&allowed);
    const int64_t most = setup->compilers >= 0   ? setup->compilers
                         : cores < COMPILERS_MAX ? cores
                                                 : COMPILERS_MAX;
    return most < 1 ? 1 : (int)most;
}

/* Adds " name 'value'", as a shell reads it, if all of it fits. */
static void add_option(char again[GT_AGAIN_MAX], const char *name, const char *value) {
    const size_t used = strlen(again);
    char word[GT_AGAIN_MAX] = "";
    size_t n = 0;
    for (; *value && n + 5 < sizeof word; value++)
        n += (size_t)snprintf(word + n, sizeof word - n, *value == '\'' ? "'\\%c'" : "%c",
                              *value);
    const int length = snprintf(again + used, GT_AGAIN_MAX - used, "%s%s '%s'",
                                used > 0 ? " " : "", name, word);
    if (*value || used + (size_t)length >= GT_AGAIN_MAX)
        again[used] = '\0';
}

static void remember_options(char again[GT_AGAIN_MAX],
                             const struct gt_session_setup *setup) {
    char seconds[32];
    again[0] = '\0';
    for (int i = 0; i < setup->templates->count; i++) {
        char *whole = realpath(setup->templates->text[i], NULL); /* true in any folder */
        add_option(again, "--templates", whole ? whole : setup->templates->text[i]);
        free(whole);
    }
    snprintf(seconds, sizeof seconds, "%.12gs", setup->timeout_s);
    if (setup->timeout_s > 0)
        add_option(again, "--timeout", seconds);
}

static int find_device(struct gt_device *out, const struct gt_session_setup *setup) {
    struct gt_err err = {""};
    if (setup->found != NULL)
        *out = *setup->found;
    return setup->found != NULL ||
                   gt_probe_pick(out, setup->device, true, &err) == GEMMTUNE_OK
               ? -1
               : gt_die(gt_session_exit(GT_EXIT_DEVICE), "%s", err.line);
}

int gt_session_open(struct gt_session *s, const struct gt_session_setup *setup) {
    struct gt_err err = {""};
    memset(s, 0, sizeof *s);
    int code = find_device(&s->device, setup);
    if (code >= 0)
        return code;
    gt_device_key(&s->device, s->device_key);
    remember_options(s->again, setup);
    code = gt_common_families(&s->families, setup->templates);
    if (code >= 0)
        return code;
    s->compilers = compilers_for(&s->device, setup);
    const struct gt_pool_setup pool = {.templates = setup->templates,
                                       .compilers = s->compilers,
                                       .timeout_s = setup->timeout_s,
                                       .stop = &gt_session_stop,
                                       .own_core = !s->device.is_cpu && !setup->watches &&
                                                   !setup->builds};
    const gt_status status = gt_pool_create(&s->pool, &pool, &err);
    if (status != GEMMTUNE_OK)
        gt_session_close(s);
    return status != GEMMTUNE_OK ? gt_die(GT_EXIT_FAILURE, "%s", err.line) : -1;
}

void gt_session_close(struct gt_session *s) {
    gt_pool_destroy(s->pool);
    gt_families_destroy(s->families);
    memset(s, 0, sizeof *s);
}

/* ---- commands that tune ---- */

/* An effort that takes every point needs no strategy that chooses among them. */
static const char *usual_strategy(const struct gt_effort *effort) {
    return strcmp(effort->name, "full") == 0 ? "full" : gt_strategies[0]->name;
}

int gt_session_choose(struct gt_tuner *t, const struct gt_session_search *how) {
    t->effort = gt_effort_choose(how->effort, how->budget_s);
    if (t->effort == NULL)
        return gt_die(GT_EXIT_USAGE, "there is no effort '%s': quick, normal or full",
                      how->effort);
    const char *name = how->strategy != NULL ? how->strategy : usual_strategy(t->effort);
    t->strategy = gt_strategy_find_offered(name);
    return t->strategy != NULL
               ? -1
               : gt_die(GT_EXIT_USAGE, "there is no strategy '%s': " GT_STRATEGY_NAMES,
                        name);
}

static void lend(struct gt_tuner *t, const struct gt_session *s, size_t problems,
                 bool quiet) {
    t->device = s->device;
    t->families = s->families;
    t->pool = s->pool;
    t->compilers = s->compilers;
    t->stop = &gt_session_stop;
    snprintf(t->device_key, sizeof t->device_key, "%s", s->device_key);
    gt_progress_init(&t->progress, problems, quiet);
}

static int check_families(const struct gt_tuner *t) {
    const struct gt_family *f;
    int code = -1;
    for (int i = 0; code < 0 && t->only != NULL && i < t->only->count; i++)
        code = gt_common_family(&f, t->families, t->only->text[i]);
    return code;
}

int gt_session_tune(struct gt_tuner *t, const struct gt_session_setup *setup,
                    size_t problems, bool quiet,
                    int (*work)(struct gt_tuner *t, struct gt_session *s, void *user),
                    void *user) {
    struct gt_session session;
    int code = gt_session_open(&session, setup);
    if (code >= 0)
        return code;
    lend(t, &session, problems, quiet);
    code = check_families(t);
    if (code < 0)
        code = work(t, &session, user);
    gt_seeds_destroy(t->seeds);
    t->seeds = NULL;
    gt_tune_orders_free(t->orders);
    t->orders = NULL;
    gt_session_close(&session);
    return code;
}

/* Seeds that others gave lie beside the database. */
static gt_status open_seeds(struct gt_tuner *t, struct gt_err *err) {
    char path[PATH_SIZE];
    if (t->seeds != NULL)
        return GEMMTUNE_OK;
    return gt_seeds_create(
        &t->seeds, gt_seeds_path(path, sizeof path, gt_db_real_path(t->db)) ? path : NULL,
        err);
}

gt_status gt_session_begin_run(struct gt_tuner *t, const struct gt_session *s,
                               struct gt_err *err) {
    char toolchain[GT_TOOLCHAIN_MAX] = "", version[32];
    const int v = gemmtune_version();
    (void)gt_driver_of(t->device.backend)->toolchain(toolchain, &t->device, NULL);
    snprintf(version, sizeof version, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    const struct gt_run_info info = {.version = version,
                                     .driver = t->device.driver,
                                     .compiler = toolchain,
                                     .arguments = s->again,
                                     .seed = t->seed};
    const gt_status status = open_seeds(t, err);
    return status == GEMMTUNE_OK
               ? gt_db_run_begin(&t->run_id, t->db, &t->device, &info, err)
               : status;
}

void gt_session_end_run(struct gt_tuner *t, gt_status status) {
    const char *end = status != GEMMTUNE_OK ? "failed"
                      : gt_session_stop     ? "stopped"
                                            : "done";
    if (t->run_id != 0)
        (void)gt_db_run_end(t->db, t->run_id, end, NULL);
}

/* ---- jobs ---- */

gt_status gt_session_try(struct gt_report *out, struct gt_session *s, enum gt_job_kind kind,
                         const char *problem, const struct gt_candidate *candidates,
                         int count, uint64_t seed, struct gt_err *err) {
    struct gt_job job;
    gt_job_init(&job, kind, &s->device, problem);
    job.seed = seed;
    job.spread = s->spread;
    job.count = count;
    for (int i = 0; i < count; i++)
        job.candidate[i] = candidates[i];
    return kind == GT_JOB_FINAL || kind == GT_JOB_COMPARE
               ? gt_pool_run_final(out, s->pool, &job, true, err)
               : gt_pool_run(out, s->pool, &job, err);
}

bool gt_session_lost(gt_status status) {
    return status == GEMMTUNE_ENODRIVER || status == GEMMTUNE_EBUILD;
}

int gt_session_run(struct gt_report *out, struct gt_session *s, enum gt_job_kind kind,
                   const char *problem, const struct gt_candidate *candidates, int count,
                   uint64_t seed) {
    struct gt_err err = {""};
    const gt_status status =
        gt_session_try(out, s, kind, problem, candidates, count, seed, &err);
    return status != GEMMTUNE_OK
               ? gt_die(gt_session_lost(status) ? GT_EXIT_DEVICE : GT_EXIT_FAILURE, "%s",
                        err.line)
               : -1;
}
