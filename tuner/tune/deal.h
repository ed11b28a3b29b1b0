/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deal.h - which of several devices gets which problem of a sweep: the costliest first, to
 * whoever is free. With each problem a device learns of the one that it will probably get
 * after it, and prepares for that.
 */
#ifndef GT_TUNER_TUNE_DEAL_H
#define GT_TUNER_TUNE_DEAL_H

#include "tuner/tune/budget.h"

enum { GT_DEAL_LOSSES_MAX = 2 }; /* of a problem, before it is given up */
static const size_t GT_DEAL_NONE = SIZE_MAX;

struct gt_deal {
    struct gt_budget *budget; /* borrowed: the sweep, and which problems are given */
    size_t devices;
    size_t *next; /* of each device: the problem that it prepares for, or none */
    size_t *order;
    int *losses;       /* of each problem */
    double left, done; /* cost of problems that have not ended, and of those that have */
};

/* Of the problems that are not given yet. gt_deal_clear ends it, after a failure too.
 * ENOMEM. */
gt_status gt_deal_begin(struct gt_deal *out, struct gt_budget *budget, size_t devices,
                        struct gt_err *err);
void gt_deal_clear(struct gt_deal *d);

/* The problem that a free device gets, which is given then, and in d->next[device] the one
 * that it should prepare for. Problems that others prepare for are dealt last. */
size_t gt_deal_next(struct gt_deal *d, size_t device);
/* The device gets no more. */
void gt_deal_leave(struct gt_deal *d, size_t device);
/* A problem was lost with its device. True when it is not given any more, so that another
 * one gets it; false when it has been lost too often. */
bool gt_deal_lose(struct gt_deal *d, size_t problem);
/* A problem has ended: its cost moves from `left` to `done`. */
void gt_deal_end(struct gt_deal *d, size_t problem);

#endif
