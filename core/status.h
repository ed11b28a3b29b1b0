/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - how functions report that they failed.
 *
 * A function that can fail returns a gt_status, puts results in out-parameters that come
 * first, and takes a `struct gt_err *` last. The line in it is written where the failure is
 * found, and names the path, line, value or limit. `err` may be NULL when nobody reads it.
 */
#ifndef GT_CORE_STATUS_H
#define GT_CORE_STATUS_H

#include "include/gemmtune.h"

#include <stdarg.h>

typedef gemmtune_status gt_status;

#if defined(__GNUC__)
#define GT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GT_PRINTF(fmt, args)
#endif

struct gt_err {
    char line[512]; /* one sentence of UTF-8, no newline, "" when nothing failed */
};

/* Writes the line and returns `status`, so that a failure is one statement. */
gt_status gt_fail(struct gt_err *err, gt_status status, const char *fmt, ...)
    GT_PRINTF(3, 4);

/* Puts "text: " before the line in *err. */
gt_status gt_fail_within(struct gt_err *err, gt_status status, const char *fmt, ...)
    GT_PRINTF(3, 4);

/* Notes the argument that the failure in *err is about, if `status` is one. Returns
 * `status`. Only the thread's own line has an argument (gemmtune_errarg), and a later
 * failure written to it takes the argument away. */
gt_status gt_blame(struct gt_err *err, gt_status status, gemmtune_argument argument);

/* EINVAL: "NAME is NULL". */
gt_status gt_fail_null(struct gt_err *err, const char *name, gemmtune_argument argument);

/* The line of this thread that gemmtune_errmsg shows. */
struct gt_err *gt_thread_err(void);
/* The same line, emptied. Every public function calls this first. */
struct gt_err *gt_public_entry(void);

#endif
