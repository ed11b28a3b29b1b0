/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - `gemmtune record PROGRAM ARG...`: runs a program and counts its GEMM calls in
 * a sweep file. The exit code is the program's. With --merge alone: brings the files
 * together that processes have left.
 */
#include "tuner/base/talk.h"
#include "tuner/cmd/gains.h"
#include "tuner/cmd/recording.h"

struct values {
    const char *output, *db;
    bool merge, quiet;
};

static const struct gt_option options[] = {
    {"output", 'o', GT_OPT_TEXT, offsetof(struct values, output), "FILE",
     "sweep file to write or to add to (default: recorded.json)", 0, 0},
    {"merge", 0, GT_OPT_FLAG, offsetof(struct values, merge), NULL,
     "run nothing: add what processes of this host with GEMMTUNE_EXEC=record:FILE left", 0,
     0},
    {"db", 0, GT_OPT_TEXT, offsetof(struct values, db), "FILE",
     "database by which the end says what the problems would gain (else $GEMMTUNE_DB, else "
     "the user's own)",
     0, 0},
    GT_OPTION_QUIET(struct values),
    GT_OPTION_END,
};

enum { SHOWN = 10 }; /* problems with their gains; list --sizes has all */

static int merge(struct gt_recording *r, const struct values *v, int code) {
    struct gt_err err = {""};
    if (gt_recording_merge(r, &err) == GEMMTUNE_OK) {
        if (!v->quiet) {
            gt_recording_say(r);
            if (r->any && r->problems > 0)
                gt_gains_say(r->path, v->db, SHOWN);
        }
        return code;
    }
    gt_talk("%s", err.line);
    return code != GT_EXIT_OK || !v->merge ? code : GT_EXIT_FAILURE;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.output = "recorded.json"};
    struct gt_recording r;
    int first, ended = GT_EXIT_OK;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 0, argc, &first);
    if (code >= 0)
        return code;
    if (v.merge != (first == argc))
        return gt_die(GT_EXIT_USAGE, v.merge
                                         ? "record: --merge runs no program"
                                         : "record: PROGRAM is missing; usage: gemmtune "
                                           "record PROGRAM ARG...");
    code = gt_recording_begin(&r, v.output, cmd->name);
    if (code < 0 && !v.merge)
        code = gt_recording_run(&ended, &r, argv + first);
    return code >= 0 ? code : merge(&r, &v, ended);
}

const struct gt_cmd gt_cmd_record = {
    .name = "record",
    .operands = "PROGRAM ARG...",
    .about = "Run a program and count its cuBLAS products in a sweep file.",
    .options = options,
    .run = run,
    .runs_program = true,
};
