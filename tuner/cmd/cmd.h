/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - subcommands and their options, as tables. A new subcommand is one file in
 * tuner/cmd/ and one line in cmd.c. Help, usage errors and the nearest-name hint come from
 * the tables.
 */
#ifndef GT_TUNER_CMD_CMD_H
#define GT_TUNER_CMD_CMD_H

#include "core/status.h"
#include "core/text.h"
#include "tuner/base/table.h"

#include <stdbool.h>

/* Exit codes, as documented in README and the man page. */
enum gt_exit {
    GT_EXIT_OK = 0,
    GT_EXIT_FAILURE = 1, /* a run-time failure */
    GT_EXIT_USAGE = 2,
    GT_EXIT_INPUT = 3,    /* bad input file or problem name */
    GT_EXIT_DEVICE = 4,   /* no usable device or compiler */
    GT_EXIT_VERIFY = 5,   /* a verification failed */
    GT_EXIT_DATABASE = 6, /* database unusable */
    GT_EXIT_STOPPED = 75, /* stopped, saved, resumable by the same command */
};

enum gt_option_kind {
    GT_OPT_FLAG,    /* bool */
    GT_OPT_TEXT,    /* const char * */
    GT_OPT_LIST,    /* struct gt_texts: may be given several times */
    GT_OPT_NAMES,   /* the same, and each time may be several by commas */
    GT_OPT_INT,     /* int64_t, bounded by low..high */
    GT_OPT_SECONDS, /* double: "90s" "5m" "1h" "250ms" "90" */
    GT_OPT_NUMBER,  /* double above 0: "8873" "0.5" */
    GT_OPT_BYTES,   /* double above 0: "8GiB" "500MB" "4096" */
};

struct gt_option {
    const char *name; /* long name without dashes; NULL ends a table */
    char letter;      /* short form or 0 */
    enum gt_option_kind kind;
    size_t offset;    /* of the target in the values struct */
    const char *arg;  /* shown in help: "FILE"; NULL for flags */
    const char *help; /* one clause */
    int64_t low, high;
};

struct gt_cmd {
    const char *name;
    const char *operands; /* shown in usage: "PROBLEM --device N" */
    const char *about;    /* one sentence */
    const struct gt_option *options;
    const struct gt_form *const *tables; /* it prints; NULL-ended; NULL: none */
    int (*run)(const struct gt_cmd *cmd, int argc,
               char **argv); /* argv[0] is the subcommand */
    bool hidden;
};

extern const struct gt_cmd *const gt_cmds[]; /* NULL-ended, in the order of --help */

/* Runs what the command line asks for and returns the exit code. No arguments: help; a
 * first argument that is an option: `tune`. */
int gt_cmd_dispatch(int argc, char **argv);

/* Parses options into `values` (zeroed or preset by the caller) and leaves operands in
 * argv[*first..argc). Returns -1 to go on, else the exit code to return at once (--help
 * prints to stdout: 0; a usage error prints one line and a hint to stderr: 2). */
int gt_options_parse(const struct gt_cmd *cmd, int argc, char **argv, void *values,
                     int *first);
/* "gemmtune: <line>" to stderr (red "gemmtune:" never; plain) and returns `code`. */
int gt_die(int code, const char *fmt, ...) GT_PRINTF(2, 3);
/* The exit code that a status means when nothing more is known about where it came from. */
int gt_exit_of(gt_status status);

#endif
