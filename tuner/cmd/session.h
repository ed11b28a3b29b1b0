/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - what every command that runs kernels needs: a usable device, the families, a
 * pool of workers. Functions that return int return -1 to go on, else the exit code, having
 * said why.
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
    enum gt_spread spread; /* of timed rows; AROUND unless the command sets it */
    /* options under which `gemmtune trial` does what the session's workers do, in words of
     * a shell: "--templates '/there' --timeout 3s" */
    char again[GT_AGAIN_MAX];
};

struct gt_session_setup {
    const char *device;            /* as given; NULL: the first */
    const struct gt_device *found; /* that is it, looked for already; may be NULL */
    bool watches; /* other processes run the kernels: no core is kept free for a worker */
    bool builds;  /* no kernel runs: all cores compile, for any device */
    const struct gt_texts *templates;
    int64_t compilers; /* -1: as many as suit the machine and the device */
    double timeout_s;
};

int gt_session_open(struct gt_session *s, const struct gt_session_setup *setup);
void gt_session_close(struct gt_session *s);

/* ---- commands that tune -------------------------------------------------------------- */

/* How to search, in words of the command line; NULL: not said. */
struct gt_session_search {
    const char *effort, *strategy;
    double budget_s; /* 0: none */
};

/* Fills the tuner's effort and strategy. Exit 2. */
int gt_session_choose(struct gt_tuner *t, const struct gt_session_search *how);
/* Opens a session, fills what the tuner takes from it (device, families, workers, progress
 * over `problems`), checks the names of the families to try, and calls `work` with `user`.
 * Returns its exit code, or the reason that there is no session. */
int gt_session_tune(struct gt_tuner *t, const struct gt_session_setup *setup,
                    size_t problems, bool quiet,
                    int (*work)(struct gt_tuner *t, struct gt_session *s, void *user),
                    void *user);
/* Opens a run of this program in the tuner's database, which remembers the session's
 * options, and the seeds beside it; ends it with what became of it. EPARSE: the seeds. */
gt_status gt_session_begin_run(struct gt_tuner *t, const struct gt_session *s,
                               struct gt_err *err);
void gt_session_end_run(struct gt_tuner *t, gt_status status);

/* ---- jobs ---------------------------------------------------------------------------- */

/* Runs one job with up to GT_JOB_POINTS_MAX candidates; exit code as above,
 * report filled. */
int gt_session_run(struct gt_report *out, struct gt_session *s, enum gt_job_kind kind,
                   const char *problem, const struct gt_candidate *candidates, int count,
                   uint64_t seed);
/* The same for one job of many: when it fails, for a reason that is not a candidate's, the
 * others may go on, unless gt_session_lost. */
gt_status gt_session_try(struct gt_report *out, struct gt_session *s, enum gt_job_kind kind,
                         const char *problem, const struct gt_candidate *candidates,
                         int count, uint64_t seed, struct gt_err *err);
/* Whether it is the device or the compiler that is missing. */
bool gt_session_lost(gt_status status);

/* The first signal that came since gt_session_catch was called: SIGHUP, unless the caller
 * ignores it, SIGINT, SIGTERM or SIGUSR1. The same signal ends the program at once when it
 * comes again more than a second later. 0: none has come. */
extern volatile int gt_session_stop;
/* `resumes`: the same command goes on where a signal stopped it. Commands that need no time
 * to end do not call this: signals end them. */
void gt_session_catch(bool resumes);
/* In a process that another one of ours stops: SIGTERM sets it, however often it comes. */
void gt_session_obey(void);
/* The exit code of a command that has not come to its end: `code`, or when it was stopped
 * 75 if it resumes, else 128 and the signal: main then ends the process by that signal. */
int gt_session_exit(int code);

#endif
