/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - what the terminal that a text is printed to can show. */
#ifndef GT_TUNER_BASE_TERMINAL_H
#define GT_TUNER_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Characters in a line: $COLUMNS if it is a number above 0, else the width that the
 * terminal reports, else 80. 0 when `out` is not a terminal: a file or a pipe has room for
 * everything. */
size_t gt_terminal_width(FILE *out);
/* The same, but what the terminal reports comes before $COLUMNS: for a line that is
 * rewritten, which must not go on below, however wide its user wants tables. */
size_t gt_terminal_window(FILE *out);
/* Whether `out` is a terminal that shows colours, and NO_COLOR is not set
 * (https://no-color.org). */
bool gt_terminal_colours(FILE *out);

#endif
