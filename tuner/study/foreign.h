/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - names files that are not Kernel Tuner's caches. Nothing but the words that
 * such a file always has is looked at.
 */
#ifndef GT_TUNER_STUDY_FOREIGN_H
#define GT_TUNER_STUDY_FOREIGN_H

#include <stddef.h>

struct gt_foreign {
    const char *is;     /* "a results file in the T4 format" */
    const char *advice; /* what to do instead, or why nothing helps */
};

/* The kind of the file's text; NULL: it may be a cache, or nobody knows it. */
const struct gt_foreign *gt_foreign_kind(const char *text, size_t size);

#endif
