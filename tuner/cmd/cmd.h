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

/* Exit codes, as documented in docs/guide.md and the man page. */
enum gt_exit {
    GT_EXIT_OK = 0,
    GT_EXIT_FAILURE = 1, /* a run-time failure */
    GT_EXIT_USAGE = 2,
    GT_EXIT_INPUT = 3,    /* bad input file or problem name */
    GT_EXIT_DEVICE = 4,   /* no usable device or compiler */
    GT_EXIT_VERIFY = 5,   /* a verification failed */
    GT_EXIT_DATABASE = 6, /* database unusable */
    GT_EXIT_LOCK = 7,     /* a kernel is not the one that a lock pins */
    GT_EXIT_STOPPED = 75, /* stopped and saved; the same command resumes it */
    GT_EXIT_SIGNAL = 128, /* and the number of the signal that ended another command */
};

enum gt_option_kind {
    GT_OPT_FLAG,    /* bool */
    GT_OPT_TEXT,    /* const char * */
    GT_OPT_LIST,    /* struct gt_texts: the option may be repeated */
    GT_OPT_NAMES,   /* the same, and each value may be a list with commas */
    GT_OPT_INT,     /* int64_t, bounded by low..high */
    GT_OPT_SECONDS, /* double above 0: "90s" "5m" "1h" "250ms" "90" */
    GT_OPT_NUMBER,  /* double above 0: "8873" "0.5" "4e10" */
    GT_OPT_REAL,    /* double: "2" "-0.5" "1e-3" */
    GT_OPT_BYTES,   /* double above 0: "8GiB" "500MB" "4096" */
    GT_OPT_LIMIT,   /* double: "0", bytes, and INFINITY for "none", which is no limit */
};

struct gt_option {
    const char *name; /* long name without dashes; NULL ends the table */
    char letter;      /* short form or 0 */
    enum gt_option_kind kind;
    size_t offset;    /* of the target in the struct of values */
    const char *arg;  /* shown in help: "FILE"; NULL for flags */
    const char *help; /* one clause */
    int64_t low, high;
};

struct gt_cmd {
    const char *name;
    const char *operands; /* shown in usage: "PROBLEM --device N" */
    const char *about;    /* one sentence */
    const struct gt_option *options;
    /* the tables that it prints, ended by NULL; may be NULL */
    const struct gt_form *const *tables;
    int (*run)(const struct gt_cmd *cmd, int argc,
               char **argv); /* argv[0] is the subcommand */
    bool hidden;
    bool runs_program; /* its operands are another program's command line */
};

extern const struct gt_cmd *const gt_cmds[]; /* ended by NULL, in the order of --help */

/* Runs the command line and returns the exit code. Without arguments it prints help; when
 * the first argument is an option, it runs `tune`. */
int gt_cmd_dispatch(int argc, char **argv);

/* The revision of the sources that the program was built from, or NULL. main sets it: an
 * object that knew it would be built anew with each commit. */
extern const char *gt_cmd_revision;
/* Prints the version and facts of the build. */
int gt_cmd_print_version(void);

/* Parses options into `values` (zeroed or preset by the caller) and leaves the operands in
 * argv[*first..argc). Returns -1 to go on, else the exit code: 0 after --help, which prints
 * to stdout; 2 after a usage error, with one line and a hint on stderr. */
int gt_options_parse(const struct gt_cmd *cmd, int argc, char **argv, void *values,
                     int *first);
/* Prints "gemmtune: <line>" to stderr and returns `code`. */
int gt_die(int code, const char *fmt, ...) GT_PRINTF(2, 3);
/* The exit code of a status when nothing is known about its origin. */
int gt_exit_of(gt_status status);

#endif
