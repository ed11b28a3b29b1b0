/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h - a sweep's problems in order of what tuning them should cost, and its division
 * among machines that know nothing of each other. Both depend on the problems and on their
 * weights alone: not on their order, the device, or what a database holds.
 */
#ifndef GT_TUNER_BASE_SHARD_H
#define GT_TUNER_BASE_SHARD_H

#include "tuner/base/sweep.h"

enum { GT_SHARDS_MAX = 10000 };

struct gt_shard {
    int64_t index, count; /* 1 <= index <= count; count 0: the whole sweep */
};

/* Reads a shard such as "3/8". False when the text is not one. */
bool gt_shard_parse(struct gt_shard *out, const char *text);

/* The cost of tuning a problem, in comparison with others. With `by_weight`, as under a
 * budget, the cost is the weight. Else it is the time of a search, plus the time of set-up
 * and finals, which grows with the number of operations. It is an integer, so that every
 * machine divides alike. */
int64_t gt_sweep_cost(const struct gt_sweep_item *item, bool by_weight);
/* Indices of items, costliest first; equal costs in order of name. The caller frees *out.
 * ENOMEM. */
gt_status gt_sweep_order(size_t **out, const struct gt_sweep *s, bool by_weight,
                         struct gt_err *err);
/* Leaves the problems of the shard, in their order. Each problem goes, the costliest first,
 * to the shard that has least so far (Graham 1969: the dearest shard costs at most 4/3 of
 * what it would in the best division). *share is the kept part of the whole cost, 1 for an
 * empty sweep. ENOMEM. */
gt_status gt_sweep_keep_shard(double *share, struct gt_sweep *s,
                              const struct gt_shard *shard, bool by_weight,
                              struct gt_err *err);

#endif
