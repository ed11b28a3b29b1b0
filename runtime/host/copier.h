/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copier.h - threads that copy boxes of a matrix within host memory: between a user's
 * pageable matrix and pinned memory. One thread is too slow for a link.
 */
#ifndef GT_RUNTIME_HOST_COPIER_H
#define GT_RUNTIME_HOST_COPIER_H

#include "core/status.h"

struct gt_copier;

/* `threads` 0: half of the cores that this process may use, at most 16. When threads cannot
 * be started, the caller's thread copies alone. ENOMEM. */
gt_status gt_copier_create(struct gt_copier **out, int threads, struct gt_err *err);
void gt_copier_destroy(struct gt_copier *copier); /* accepts NULL */
/* The threads that copy, with the caller's. */
int gt_copier_threads(const struct gt_copier *copier);

/* Copies `rows` rows of `row_bytes` bytes, which begin `*_pitch` bytes apart. Returns when
 * they are copied. Any number of threads may call it at once. */
void gt_copier_copy(struct gt_copier *copier, void *to, int64_t to_pitch, const void *from,
                    int64_t from_pitch, int64_t row_bytes, int64_t rows);

#endif
