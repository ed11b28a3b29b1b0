/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - what the parts of `gemmtune tune` share: its command line, once read. */
#ifndef GT_TUNER_CMD_TUNE_H
#define GT_TUNER_CMD_TUNE_H

#include "tuner/cmd/common.h"
#include "tuner/cmd/drawn.h"
#include "tuner/cmd/recording.h"
#include "tuner/cmd/report_live.h"
#include "tuner/cmd/session.h"
#include "tuner/rig/alike.h"

struct gt_tune_values {
    const char *device, *sizes, *misses, *shard, *db, *effort, *strategy, *against, *output,
        *report;
    char **program; /* its command line, after "--"; NULL: there is no "--" */
    struct gt_texts families, templates;
    double budget, timeout, workspace, cover;
    int64_t seed, jobs;
    struct gt_drawn_values drawn;
    bool dry_run, again, trials_only, quiet, build, general;
    struct gt_format format;
};

/* The parsed command line of `tune`. */
struct gt_tune_request {
    const struct gt_tune_values *v;
    struct gt_sweep *sweep;
    struct gt_alike devices;
    const char *const *word; /* the command line after "tune" */
    int words;
    struct gt_recording recording; /* of the program */
    struct gt_report_live live;    /* the page of --report */
};

/* Records the program's products and loads them into the sweep; `rehearse` shows before
 * whether tuning could begin. Returns -1 to go on to tune. */
int gt_tune_record(struct gt_tune_request *r, int (*rehearse)(struct gt_tune_request *));
/* Says what was gained, or how tuning goes on without another run of the program. `code` is
 * the exit code. */
void gt_tune_say_recorded(const struct gt_tune_request *r, int code);

/* These return exit codes. */
int gt_tune_dry_run(struct gt_tuner *t, const struct gt_tune_request *r);
int gt_tune_run(struct gt_tuner *t, const struct gt_session *session,
                const struct gt_tune_request *r);

/* For a member of a crew, which has the same command line: reads it, and fills what the
 * tuner and its session take from it. Return -1 to go on. */
int gt_tune_parse(struct gt_tune_values *v, int argc, char **argv, int *first);
int gt_tune_set_up(struct gt_tuner *t, struct gt_session_setup *setup,
                   const struct gt_tune_values *v);

/* Whether --against, if it was given, names libraries that can be stored. Returns -1 to go
 * on. */
int gt_tune_against_check(const struct gt_tune_values *v);
/* Measures the winners beside the libraries of --against, and stores the comparisons that
 * are not there yet. `code` is the exit code so far; returns the code after it. */
int gt_tune_against(const struct gt_tune_request *r, int code);

extern const struct gt_cmd gt_cmd_tune;
extern const struct gt_form gt_tune_dry_form;

#endif
