/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_program.c - `gemmtune tune -- PROGRAM ARG...`: the program is run first, as
 * `gemmtune record` runs it, and the sweep file that it leaves is tuned. The file stays, so
 * nothing that was recorded is lost when tuning stops, and tuning needs no second run.
 */
#include "tuner/base/talk.h"
#include "tuner/cmd/gains.h"
#include "tuner/cmd/program.h"
#include "tuner/cmd/tune.h"

#include <unistd.h>

static int check_options(const struct gt_tune_values *v) {
    static const char list[] = "tune: %s excludes a program after --: %s";
    if (v->program[0] == NULL)
        return gt_die(GT_EXIT_USAGE, "tune: PROGRAM is missing after --");
    if (v->sizes != NULL)
        return gt_die(GT_EXIT_USAGE, list, "--sizes",
                      "either a file has the problems, or the program is run for them");
    if (v->misses != NULL || v->drawn.random > 0)
        return gt_die(GT_EXIT_USAGE, list, v->misses != NULL ? "--from-misses" : "--random",
                      "what the program asks for is tuned alone");
    if (v->shard != NULL)
        return gt_die(GT_EXIT_USAGE, list, "--shard",
                      "all machines need one file, which gemmtune record writes");
    return -1;
}

void gt_tune_say_recorded(const struct gt_tune_request *r, int code) {
    if (code == GT_EXIT_OK && !r->v->quiet)
        gt_gains_say(r->recording.path, r->v->db, 0);
    else if (code != GT_EXIT_OK)
        gt_talk_line(
            "\"gemmtune tune --sizes %s\" with the same options goes on without running "
            "the program again",
            r->recording.path);
}

/* A dry run runs no program: it is about what was recorded before. */
static int find_recorded(const struct gt_tune_request *r) {
    const char *const path = r->recording.path;
    if (access(path, F_OK) == 0)
        return -1;
    return gt_die(
        GT_EXIT_INPUT,
        "--dry-run runs no program, and nothing is recorded in %s yet: \"gemmtune "
        "record -o %s -- PROGRAM\" does that",
        path, path);
}

/* A program that failed has perhaps not done what is to be tuned: whoever called says. */
static int judge(const struct gt_recording *r, int ended) {
    if (ended != GT_EXIT_OK)
        return r->any
                   ? gt_die(ended,
                            "the program's exit code is %d: nothing is tuned; \"gemmtune "
                            "tune --sizes %s\" tunes what it asked for",
                            ended, r->path)
                   : gt_die(ended, "the program's exit code is %d: nothing is tuned",
                            ended);
    if (!r->any)
        return gt_die(GT_EXIT_INPUT, "nothing to tune: the program called no product of "
                                     "cuBLAS that could be recorded");
    if (r->problems == 0)
        return gt_die(GT_EXIT_INPUT,
                      "nothing to tune: all calls are of kinds that are not tuned; %s says "
                      "which",
                      r->path);
    return -1;
}

static int record(struct gt_tune_request *r) {
    struct gt_err err = {""};
    int ended = GT_EXIT_OK;
    const int code = gt_recording_run(&ended, &r->recording, r->v->program);
    if (code >= 0)
        return code;
    const gt_status status = gt_recording_merge(&r->recording, &err);
    gt_program_let_go();
    if (status != GEMMTUNE_OK)
        return gt_die(ended != GT_EXIT_OK ? ended : GT_EXIT_FAILURE, "%s", err.line);
    if (!r->v->quiet && (r->recording.any || r->recording.running > 0))
        gt_recording_say(&r->recording);
    return judge(&r->recording, ended);
}

int gt_tune_record(struct gt_tune_request *r, int (*rehearse)(struct gt_tune_request *)) {
    const struct gt_tune_values *v = r->v;
    int code = check_options(v);
    if (code < 0)
        code = gt_recording_begin(&r->recording,
                                  v->output != NULL ? v->output : "recorded.json", "tune");
    if (code < 0)
        code = v->dry_run ? find_recorded(r) : rehearse(r);
    if (code < 0 && !v->dry_run)
        code = record(r);
    return code >= 0 ? code : gt_common_sweep(r->sweep, r->recording.path, NULL, 0);
}
