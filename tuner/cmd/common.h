/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.h - steps that many subcommands take in the same way: shared options, opening the
 * database, loading families, reading operands, printing a table.
 *
 * Functions that return int return -1 to go on. Otherwise they have printed the reason to
 * stderr and return the exit code.
 */
#ifndef GT_TUNER_CMD_COMMON_H
#define GT_TUNER_CMD_COMMON_H

#include "core/new_file.h"
#include "db/db.h"
#include "runtime/family/family.h"
#include "tuner/cmd/cmd.h"
#include "tuner/base/sweep.h"
#include "tuner/base/table.h"
#include "tuner/lab/lists.h"

#include <stddef.h>

/* Rows of an option table. `values` is the command's struct, which has members of these
 * names. */
#define GT_OPTION_DB(values)                                                               \
    {                                                                                      \
        "db", 0, GT_OPT_TEXT, offsetof(values, db), "FILE",                                \
            "database (else $GEMMTUNE_DB, else the user's own)", 0, 0                      \
    }
/* For commands that answer without a database, too. */
#define GT_OPTION_READ_DB(values)                                                          \
    {                                                                                      \
        "db", 0, GT_OPT_TEXT, offsetof(values, db), "FILE",                                \
            "database, a file that must exist (else $GEMMTUNE_DB, else the user's own; "   \
            "where that one is missing, nothing was tuned)",                               \
            0, 0                                                                           \
    }
#define GT_OPTION_DEVICE(values)                                                           \
    {                                                                                      \
        "device", 'd', GT_OPT_TEXT, offsetof(values, device), "N",                         \
            "device: index, UUID, PCI id, key or part of its name", 0, 0                   \
    }
#define GT_OPTION_TEMPLATES(values)                                                        \
    {                                                                                      \
        "templates", 0, GT_OPT_LIST, offsetof(values, templates), "DIR",                   \
            "add the kernel families of a folder; may be repeated", 0, 0                   \
    }
#define GT_OPTION_EFFORT(values)                                                           \
    {                                                                                      \
        "effort", 'e', GT_OPT_TEXT, offsetof(values, effort), "NAME",                      \
            "quick (16 trials a problem), normal (256) or full (every point); time "       \
            "ends the first two too: after 1 and 3.5 s a problem on a GPU, 2 and 3 on a "  \
            "CPU",                                                                         \
            0, 0                                                                           \
    }
#define GT_OPTION_SEED(values)                                                             \
    {                                                                                      \
        "seed", 0, GT_OPT_INT, offsetof(values, seed), "N",                                \
            "seed of data and search (default 1)", 0, INT64_C(1) << 52                     \
    }
#define GT_OPTION_QUIET(values)                                                            \
    {                                                                                      \
        "quiet", 'q', GT_OPT_FLAG, offsetof(values, quiet), NULL, "no progress on stderr", \
            0, 0                                                                           \
    }
#define GT_OPTION_SPREAD(values)                                                           \
    {                                                                                      \
        "spread", 0, GT_OPT_TEXT, offsetof(values, spread), "WORD",                        \
            "rows of timed groups and masked products: around (a quarter more or less "    \
            "than expected), exact or zipf (default: around)",                             \
            0, 0                                                                           \
    }
/* The bytes of workspace that a kernel may need. */
#define GT_OPTION_WORKSPACE(values, about)                                                 \
    { "workspace", 0, GT_OPT_LIMIT, offsetof(values, workspace), "SIZE", about, 0, 0 }
#define GT_OPTION_JSON(values)                                                             \
    {                                                                                      \
        "json", 0, GT_OPT_FLAG, offsetof(values, format.json), NULL,                       \
            "print one JSON document", 0, 0                                                \
    }
#define GT_OPTION_CSV(values)                                                              \
    {                                                                                      \
        "csv", 0, GT_OPT_FLAG, offsetof(values, format.csv), NULL,                         \
            "print comma-separated values", 0, 0                                           \
    }
#define GT_OPTION_WIDE(values)                                                             \
    {                                                                                      \
        "wide", 0, GT_OPT_FLAG, offsetof(values, format.wide), NULL,                       \
            "print all of a table, however wide the terminal is", 0, 0                     \
    }
#define GT_OPTION_END                                                                      \
    { NULL, 0, GT_OPT_FLAG, 0, NULL, NULL, 0, 0 }

struct gt_format {
    bool json, csv, wide;
};

/* Reads options and operands. Exit 2 when there are fewer than `least` operands or more
 * than `most`, or when both --json and --csv are given. `format` may be NULL. */
int gt_common_parse(const struct gt_cmd *cmd, int argc, char **argv, void *values,
                    const struct gt_format *format, int least, int most, int *first);
const char *gt_common_version(void); /* "0.3.1" */
/* "gemmtune" and the words of a command's line, for results that say how they were made.
 * A line that is too long ends in "...". */
enum { GT_COMMAND_MAX = 512 };
void gt_common_command(char text[GT_COMMAND_MAX], int argc, char **argv);
/* Prints err's line and returns the exit code for the status. EIO is taken for a fault of
 * the database: a full disk, or another process that holds it. */
int gt_common_fail(gt_status status, const struct gt_err *err);

/* `path` NULL means the default one. For reading, a missing default database is not an
 * error: *out is NULL, and stderr says so. A file that a process left unfinished, or that
 * an older gemmtune made, is first opened for writing; stderr says that, too. For writing,
 * the folder of a given path must exist. Exit 6. */
int gt_common_read_db(struct gt_db **out, const char *path);
int gt_common_write_db(struct gt_db **out, const char *path);
/* The path of the database: *path, or the default one, written to `buf`. Exit 6. */
int gt_common_db_path(const char **path, char buf[GT_PATH_SIZE]);
/* For reading; where no file is, given or the default one, *out is NULL, without a word. */
int gt_common_peek_db(struct gt_db **out, const char *path);
/* Says on stderr that the database has no results. `path` NULL means the default one. */
void gt_common_say_empty(const char *path);
/* Loads the built-in families and the families of the folders. Exit 3. */
int gt_common_families(struct gt_families **out, const struct gt_texts *folders);
/* Reads a problem's name. Exit 3. */
int gt_common_problem(gemmtune_problem *out, const char *name);
/* The same for a problem that will be timed: m, n and k must be 1 or more. */
int gt_common_product(gemmtune_problem *out, const char *name);
/* Reads a list of problems: the file's, unless it is NULL, and then the names. Exit
 * 3. */
int gt_common_sweep(struct gt_sweep *out, const char *file, const char *const *names,
                    int count);
/* Finds a family. Exit 2, with the nearest name. */
int gt_common_family(const struct gt_family **out, const struct gt_families *families,
                     const char *name);

/* Whether a text can be written to a file, or to standard output ("-"), before the work
 * that it shows. Nothing is left there. `path` may be NULL. Exit 1. */
int gt_common_output(const char *path);
/* The same of a picture beside a table, which has standard output: exit 2 for "-". */
int gt_common_picture(const char *path);

/* The exit code of a command about one candidate: 5 when it is wrong,
 * 1 for other failures. */
int gt_common_outcome(gt_outcome outcome);
/* The bytes of a GT_OPT_LIMIT; SIZE_MAX for no limit. */
size_t gt_common_bytes(double limit);
/* The word of --spread, or AROUND for NULL. */
int gt_common_spread(enum gt_spread *out, const char *word);

/* Prints to stdout in the given format. */
void gt_common_print(const struct gt_table *t, const struct gt_format *format);
/* Prints for people. A table fits the terminal, unless --wide was given; a file or a pipe
 * gets all of it. */
void gt_common_print_people(const struct gt_table *t, const struct gt_format *format,
                            FILE *out);

/* Print one JSON member, `"key": value`, with a comma and a blank before it unless it is
 * the first of its object. A NULL text is null, and so is a number that is not finite. */
void gt_json_text(bool *first, const char *key, const char *text);
void gt_json_number(bool *first, const char *key, double value);
void gt_json_name(bool *first, const char *key);

#endif
