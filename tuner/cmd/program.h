/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - another program, with the libraries of shim/ in front of its cuBLAS. */
#ifndef GT_TUNER_CMD_PROGRAM_H
#define GT_TUNER_CMD_PROGRAM_H

#include "core/new_file.h"
#include "core/status.h"

/* Sets LD_PRELOAD, LD_AUDIT and GEMMTUNE_EXEC for programs that are started from here on.
 * Libraries that were preloaded before stay so, after ours. EIO: the libraries are not
 * found, or their folder has a character that ld.so takes for the end of a name. */
gt_status gt_program_prepare(const char *exec, struct gt_err *err);
/* Whether the libraries are found, as gt_program_prepare needs them. */
gt_status gt_program_check(struct gt_err *err);
/* The absolute form of a path; there need not be a file. */
gt_status gt_program_path(char out[GT_PATH_SIZE], const char *path, struct gt_err *err);
/* Ignores a signal in gemmtune, and not in the programs that it becomes or starts. */
void gt_program_ignore(int number);
/* Becomes the program of argv. Returns the exit code when it cannot: 127 where there is
 * none, else 126, as a shell. */
int gt_program_become(char **argv);
/* Starts the program as gt_program_prepare has it, waits for its end, and gives its exit
 * code; 128 and the signal's number for one that a signal ended. Signals to this process go
 * on to the program, and are ignored once it has ended, until gt_program_let_go. */
int gt_program_wait(const char *exec, char **argv);
void gt_program_let_go(void);

#endif
