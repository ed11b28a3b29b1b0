/* SPDX-License-Identifier: Apache-2.0 */
/*
 * general.h - chooses the general kernels of a device (runtime/lookup/general.h). For each
 * kind of problem (types, layout, single products or batches) problems are drawn and looked
 * up. Of all kernels that a lookup answered with, a few are taken: together they lose least
 * against the answers, by forecast. How much they lose is then seen on other problems. The
 * same records and seed give the same kernels. Needs no device.
 */
#ifndef GT_TUNER_TUNE_GENERAL_H
#define GT_TUNER_TUNE_GENERAL_H

#include "runtime/lookup/general.h"
#include "tuner/base/progress.h"
#include "tuner/tune/wanted.h"

struct gt_general_setup {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    size_t kernels; /* of a kind, at most */
    size_t draws;   /* problems of a kind that are drawn, about */
    uint64_t seed;
    struct gt_progress *progress; /* NULL: nothing is said */
    volatile const int *stop;     /* is no longer 0 when the user wants an end */
};

/* The kernels of a kind, and how much longer the best of them takes than the kernel that a
 * lookup answers with, by forecast. Each problem counts as often as there are ways to ask:
 * with the workspace of one-call forms, without one, and without one for pointers that are
 * not aligned. A loss of 0.1 is 10 %. */
struct gt_general_loss {
    struct gt_general_kind kind;
    size_t kernels;
    size_t asked, refused;       /* refused: by all kernels of the kind */
    double mean, of_95, largest; /* losses of questions that are not refused */
};

/* Everything that was chosen. */
struct gt_general_set {
    struct gt_generals list;
    struct gt_wish *wish; /* their images */
    size_t wishes, wish_room;
    struct gt_general_loss *loss; /* a row for each kind that any family serves */
    size_t losses, loss_room;
};

void gt_general_set_clear(struct gt_general_set *set);
/* Adds the kernels for problems of the types, a word of a problem's name. EPARSE: the word
 * is wrong; ENOMEM; ESTOPPED. */
gt_status gt_general_make(struct gt_general_set *set, const struct gt_general_setup *setup,
                          const char *types, struct gt_err *err);

#endif
