/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h - the problem after the present one, so that the device need not wait for it: its
 * spaces, which take up to a second to count, and what the model expects of them are made
 * by a thread beside the search, and its first candidates are compiled while the present
 * problem's finalists are measured.
 */
#ifndef GT_TUNER_TUNE_AHEAD_H
#define GT_TUNER_TUNE_AHEAD_H

#include "tuner/tune/tune.h"

/* Begins with the problem of `item`, which must outlive it. Nothing is begun when that is
 * NULL, or for a CPU: the thread would be on the device. */
void gt_ahead_begin(struct gt_ahead *a, const struct gt_tuner *t,
                    const struct gt_sweep_item *item);
/* Has the idle compile workers build what the search of that problem will begin with. It
 * will find the images in the cache; what fails fails again there. */
void gt_ahead_compile(struct gt_ahead *a, struct gt_tuner *t);
/* The spaces of a problem, as gt_tune_spaces gives them, and the outlook on them: those
 * that were made ahead if they are its. */
gt_status gt_ahead_spaces(struct gt_space **out, int *spaces, struct gt_outlook *outlook,
                          struct gt_err *untried, struct gt_ahead *a,
                          const struct gt_tuner *t, const struct gt_sweep_item *item,
                          struct gt_err *err);
/* Waits for the thread and frees what nobody took. */
void gt_ahead_clear(struct gt_ahead *a);

#endif
