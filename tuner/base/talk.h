/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.h - what is said to people on stderr. On a terminal the last line may be one that is
 * rewritten. Whatever is printed next, to stdout too, erases it first: whoever prints
 * without this file calls gt_talk_clear. Earlier text on stdout arrives earlier,
 * also where both go into one pipe. Threads may speak at once, as they do when the library
 * logs: each line is printed whole.
 */
#ifndef GT_TUNER_BASE_TALK_H
#define GT_TUNER_BASE_TALK_H

#include "core/status.h"

#include <stdarg.h>

/* Says a line that begins with "gemmtune: ". It is made one line, and wrapped on a
 * terminal. */
void gt_talk(const char *fmt, ...) GT_PRINTF(1, 2);
void gt_talk_args(const char *fmt, va_list args) GT_PRINTF(1, 0);
/* The same without "gemmtune: ". */
void gt_talk_line(const char *fmt, ...) GT_PRINTF(1, 2);

/* Rewrites the last line of the terminal, cut to its present width. */
void gt_talk_redraw(const char *text);
/* Erases the line that is rewritten, if there is one. Earlier text on stdout is there
 * first. */
void gt_talk_clear(void);

#endif
