/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deal.h - which of several devices gets which problem of a sweep: the costliest first, or
 * as they are listed (gt_sweep.in_order), to a free device. With each problem, a device
 * learns which problem it will probably get next, and prepares for it.
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
    double left, done; /* cost of problems that have not ended, and of the others */
};

/* Deals the problems that are not given yet. Call gt_deal_clear in the end, after a failure
 * too. ENOMEM. */
gt_status gt_deal_begin(struct gt_deal *out, struct gt_budget *budget, size_t devices,
                        struct gt_err *err);
void gt_deal_clear(struct gt_deal *d);

/* Gives a problem to a free device and returns its index. Sets d->next[device] to the
 * problem that the device should prepare for. Problems that other devices prepare for come
 * last. */
size_t gt_deal_next(struct gt_deal *d, size_t device);
/* The device gets no more. */
void gt_deal_leave(struct gt_deal *d, size_t device);
/* A problem was lost with its device. True when it is not given any more, so that another
 * one gets it; false when it has been lost too often. */
bool gt_deal_lose(struct gt_deal *d, size_t problem);
/* A problem has ended: its cost moves from `left` to `done`. */
void gt_deal_end(struct gt_deal *d, size_t problem);

#endif
