/* SPDX-License-Identifier: Apache-2.0 */
/* seeds.h - where the search for a problem starts. */
#ifndef GT_TUNER_SEEDS_H
#define GT_TUNER_SEEDS_H

#include "tuner/tune.h"

enum { GT_SEEDS_MAX = 64 };

struct gt_seeds {
    struct gt_pick pick[GT_SEEDS_MAX]; /* each once */
    int count;
    int musts; /* so many of the first are tried however little time there is */
};

/* Defaults of all families, the first and those of naive and tile ahead; the winners of the nearest
 * problems tuned on this device; those of the nearest problems on the device most like it in the
 * database (the same arch first, then peak and units; a CPU is like no GPU); what the model expects
 * to be fastest; then what the families say did well elsewhere. On a CPU the first family's all come first. */
gt_status gt_seeds_find(struct gt_seeds *out, const struct gt_tuner *t,
                        const struct gt_space *space, int spaces,
                        struct gt_outlook *outlook, const gemmtune_problem *p,
                        struct gt_err *err);

#endif
