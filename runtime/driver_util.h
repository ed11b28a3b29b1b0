/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver_util.h - the few things every driver file needs and nobody else: opening a library
 * that may not be there, filling a table of function pointers, and making a driver's words
 * printable.
 */
#ifndef GT_RUNTIME_DRIVER_UTIL_H
#define GT_RUNTIME_DRIVER_UTIL_H

#include "runtime/driver.h"

/* ---- libraries opened at run time ---- */

/* One function of a library: where its pointer goes. Tables come from an X-macro. */
struct gt_symbol {
    const char *name; /* as exported, version suffix included */
    size_t offset;    /* of the pointer in the struct */
    bool needed;
};

/* The library that $override names, and only that; else the first of a NULL-ended list
 * that opens. NULL when none does: `why` then says what was tried. Never closed again. */
void *gt_library_open(const char *override, const char *const *names, char why[256]);
/* Looks up every symbol; what is optional and missing becomes NULL. Returns the first
 * needed symbol that is missing, or NULL when all are there. */
const char *gt_library_fill(void *table, void *library, const struct gt_symbol *symbols,
                            size_t count);

/* ---- text ---- */

/* Copies what a driver said: control characters become spaces, runs of spaces one, ends
 * trimmed, cut to `size`. */
void gt_tidy(char *out, size_t size, const char *text);
/* The first line of a compiler's log that complains ("error"), else its first line that
 * says anything, tidied. "" for an empty log. */
void gt_first_complaint(char *out, size_t size, const char *log);
/* An image with nothing in it, numbers unknown. */
void gt_image_init(struct gt_image *image);
/* Replaces the log by a copy of `length` bytes. ENOMEM. */
gt_status gt_image_log(struct gt_image *image, const char *text, size_t length,
                       struct gt_err *err);

#endif
