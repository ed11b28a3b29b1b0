/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_util.h - functions that every driver file needs and no other: opening a library
 * that may be missing, filling a table of function pointers, making a driver's messages
 * printable.
 */
#ifndef GT_RUNTIME_DRIVERS_DRIVER_UTIL_H
#define GT_RUNTIME_DRIVERS_DRIVER_UTIL_H

#include "runtime/drivers/driver.h"

/* ---- libraries opened at run time ---- */

enum { GT_LIBRARY_TEXT_MAX = 320 };

/* One function of a library, and where its pointer goes. Tables come from an X-macro. */
struct gt_symbol {
    const char *name; /* as exported, version suffix included */
    size_t offset;    /* of the pointer in the struct */
    bool needed;
};

/* Opens the library that $override names, and no other; without $override the first of a
 * NULL-ended list that opens. `text` becomes its name. NULL when none opens; `text` is then
 * a clause: "is not installed (...)", or "cannot be loaded (...)" when a file is there. The
 * parentheses name the file that is missing or wrong. Never closed. */
void *gt_library_open(const char *override, const char *const *names,
                      char text[GT_LIBRARY_TEXT_MAX]);
/* Of two such clauses about one library keeps the one about a file that is there, else the
 * first; "" is none yet. */
void gt_library_keep(char kept[GT_LIBRARY_TEXT_MAX], const char *clause);
/* Looks up every symbol; a missing optional one becomes NULL. Returns the first needed
 * symbol that is missing, or NULL when all are there. */
const char *gt_library_fill(void *table, void *library, const struct gt_symbol *symbols,
                            size_t count);

/* ---- text ---- */

/* Copies a driver's message: control characters become spaces, runs of spaces become one,
 * ends are trimmed, and it is cut to `size`. */
void gt_tidy(char *out, size_t size, const char *text);
/* The first line of a compiler's log that contains "error", else its first line that is not
 * blank, tidied. "" for an empty log. */
void gt_first_complaint(char *out, size_t size, const char *log);
/* Makes an empty image with unknown numbers. */
void gt_image_init(struct gt_image *image);
/* Replaces the log with a copy of `length` bytes. ENOMEM. */
gt_status gt_image_log(struct gt_image *image, const char *text, size_t length,
                       struct gt_err *err);

#endif
