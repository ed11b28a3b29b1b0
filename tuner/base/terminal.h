/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - how wide the terminal is that a table is printed to. */
#ifndef GT_TUNER_BASE_TERMINAL_H
#define GT_TUNER_BASE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Characters of a line: $COLUMNS if it is a number above 0, else what the terminal says,
 * else 80. 0 when `out` is no terminal: a file or a pipe has room for everything. */
size_t gt_terminal_width(FILE *out);

#endif
