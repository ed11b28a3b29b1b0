/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_lines.h - a sweep out of the lines of another program's log or list (logged.h). */
#ifndef GT_TUNER_BASE_SWEEP_LINES_H
#define GT_TUNER_BASE_SWEEP_LINES_H

#include "tuner/base/sweep.h"

#include <stdio.h>

/* *is_json: the text begins like a sweep file, and *out is empty. EIO; EPARSE with the path
 * when no line is a product that can be tuned, and why. */
gt_status gt_sweep_lines_load(struct gt_sweep *out, bool *is_json, const char *path,
                              struct gt_err *err);
/* The same for an open file, which it does not close. */
gt_status gt_sweep_lines_read(struct gt_sweep *out, bool *is_json, FILE *file,
                              const char *path, struct gt_err *err);
/* "3 complex, 1 with other types (...)": the lines that are no problems, without NONE;
 * "" when there is none. */
enum { GT_SWEEP_LEFT_MAX = 512 };
void gt_sweep_lines_left(char text[GT_SWEEP_LEFT_MAX], const struct gt_sweep_lines *lines);

#endif
