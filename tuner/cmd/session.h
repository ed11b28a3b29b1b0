/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the needs of every command that runs kernels: a usable device, the families,
 * a pool of workers. Functions that return int return -1 to go on. Otherwise they have
 * printed the reason and return the exit code.
 */
#ifndef GT_TUNER_CMD_SESSION_H
#define GT_TUNER_CMD_SESSION_H

#include "tuner/tune/tune.h"

enum { GT_AGAIN_MAX = 4096 };

struct gt_session {
    struct gt_device device;
    char device_key[GT_DEVICE_KEY_MAX];
    struct gt_families *families;
    struct gt_pool *pool;
    int compilers;
    /* options with which `gemmtune trial` does the same as the session's workers, quoted
     * for a shell: "--templates '/there' --timeout 3s" */
    char again[GT_AGAIN_MAX];
};

struct gt_session_setup {
    const char *device; /* as given; NULL: the first */
    const struct gt_texts *templates;
    int64_t compilers; /* -1: a number that suits the machine and the device */
    double timeout_s;
};

int gt_session_open(struct gt_session *s, const struct gt_session_setup *setup);
void gt_session_close(struct gt_session *s);

/* ---- commands that tune ---- */

/* The options about the search; NULL when not given. */
struct gt_session_search {
    const char *effort, *strategy;
    double budget_s; /* 0: no budget */
};

/* Sets the tuner's effort and strategy. Exit 2. */
int gt_session_choose(struct gt_tuner *t, const struct gt_session_search *how);
/* Opens a session, fills in the tuner's parts of it (device, families, workers, progress
 * over `problems`), checks the names of the families to try, and calls `work` with `user`.
 * Returns its exit code, or that of the failure to open. */
int gt_session_tune(struct gt_tuner *t, const struct gt_session_setup *setup,
                    size_t problems, bool quiet,
                    int (*work)(struct gt_tuner *t, struct gt_session *s, void *user),
                    void *user);
/* Opens a run in the tuner's database, which stores the session's options; and ends it with
 * its result. */
gt_status gt_session_begin_run(struct gt_tuner *t, const struct gt_session *s,
                               struct gt_err *err);
void gt_session_end_run(struct gt_tuner *t, gt_status status);

/* ---- jobs ---- */

/* Runs one job with up to GT_JOB_POINTS_MAX candidates. Fills in the report and returns the
 * exit code as above. */
int gt_session_run(struct gt_report *out, struct gt_session *s, enum gt_job_kind kind,
                   const char *problem, const struct gt_candidate *candidates, int count,
                   uint64_t seed);
/* The same for one of many jobs. When it fails for a reason that is not a candidate's, the
 * others may go on, unless gt_session_lost. */
gt_status gt_session_try(struct gt_report *out, struct gt_session *s, enum gt_job_kind kind,
                         const char *problem, const struct gt_candidate *candidates,
                         int count, uint64_t seed, struct gt_err *err);
/* Whether the device or the compiler is missing. */
bool gt_session_lost(gt_status status);

/* SIGINT, SIGTERM and SIGUSR1 set it after gt_session_catch; a second SIGINT ends the
 * program at once. */
extern volatile int gt_session_stop;
void gt_session_catch(void);

#endif
