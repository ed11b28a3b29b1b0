/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h - a program is run and its GEMM calls are counted in a sweep file. */
#ifndef GT_TUNER_CMD_RECORDING_H
#define GT_TUNER_CMD_RECORDING_H

#include "core/new_file.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_recording {
    char path[GT_PATH_SIZE]; /* of the sweep file, absolute */
    bool any;                /* processes have left something since the last merge */
    int running;             /* processes that still write */
    int64_t problems, calls; /* of the whole file, its earlier runs included */
    int64_t passed;          /* its calls of other kinds */
};

/* Fills the path. A file that cannot be written is said here, before a program runs.
 * Returns -1 to go on, else the exit code: 1, or 2 for a name that the shim cannot be told.
 */
int gt_recording_begin(struct gt_recording *r, const char *file, const char *command);
/* Runs the program of argv to its end; *ended is its exit code, as of gt_program_wait.
 * Returns -1, or 1 when the shim's libraries are not found and nothing was run. */
int gt_recording_run(int *ended, const struct gt_recording *r, char **argv);
/* Adds what processes of this host have left. Several programs may be recorded into one
 * file at once. */
gt_status gt_recording_merge(struct gt_recording *r, struct gt_err *err);
/* Says what the file has after that. */
void gt_recording_say(const struct gt_recording *r);

#endif
