/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped.h - files in memory that may lose their ground. When somebody cuts a mapped file
 * short, when its disk is full where a hole has to be filled, or when the disk fails, the
 * kernel sends SIGBUS to whichever thread touches the page: one of ours, or one that a
 * driver has started. While a map is watched, such a page ends nothing: zeros take the
 * place of the whole map, the work goes on, and gt_mapped_lost says that its results are
 * void.
 *
 * Maps are watched and forgotten by one thread.
 */
#ifndef GT_TUNER_STREAM_MAPPED_H
#define GT_TUNER_STREAM_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

enum { GT_MAPPED_MAX = 8 };

/* False when there are GT_MAPPED_MAX already. */
bool gt_mapped_watch(void *map, size_t size);
bool gt_mapped_lost(const void *map);
/* Before the map is unmapped. */
void gt_mapped_forget(const void *map);

#endif
