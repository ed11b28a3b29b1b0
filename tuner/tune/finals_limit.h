/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finals_limit.h - finals among the candidates that need no more than a usual workspace.
 * Beside a winner that needs more, they leave its finals early: there nobody finds out
 * which of them is the fastest. Lookup asks the records in order of rank for the first one
 * that the caller has room for. So the winner of such finals is stored before every other
 * record that needs as little.
 */
#ifndef GT_TUNER_TUNE_FINALS_LIMIT_H
#define GT_TUNER_TUNE_FINALS_LIMIT_H

#include "tuner/tune/finals.h"

/* The first ranked candidate that needs no more than so many bytes; result->winners when
 * there is none. */
int gt_finals_within(const struct gt_tune_result *result, int64_t bytes);
/* The candidates that meet in the finals within gt_finals_limit_bytes(f, which): the best
 * of the search, and the best of the ranked ones. 0: such finals are not needed, since
 * there is no choice, or a ranked candidate that needs no more ties with the winner. */
int gt_finals_limit_entrants(struct gt_finals *out, const struct gt_tune_result *result,
                             const struct gt_finals *f, int which);
/* Puts their winner before all ranked candidates that need no more than so many bytes. */
void gt_finals_limit_take(struct gt_tune_result *result, const struct gt_tune_result *won,
                          int64_t bytes);
/* Holds these finals, the largest limit first, as long as the problem's share of a budget
 * is not over. They run in the worker of the finals before, on its data. Finals that fail
 * change nothing, and the log says so. */
void gt_finals_limit(struct gt_tune_result *result, const struct gt_finals *f,
                     struct gt_tuner *t, const struct gt_sweep_item *item);

#endif
