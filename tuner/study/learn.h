/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn.h - learns a shelf (runtime/lookup/shelf.h) of costs and trees for a device from
 * the trials of a database, and finds what the shelf is worth. It needs the database alone,
 * takes seconds, and gives the same shelf each time.
 */
#ifndef GT_TUNER_STUDY_LEARN_H
#define GT_TUNER_STUDY_LEARN_H

#include "runtime/lookup/shelf.h"
#include "tuner/base/view.h"

/* The loss of the choice with the least forecast, on problems that were not learned
 * from. */
struct gt_learned_loss {
    double mean;  /* geometric */
    double of_95; /* the 95th percentile */
};

struct gt_lessons {
    struct gt_shelf shelf; /* owns its trees */
    bool is_better;        /* than what is shipped, on the problems held out */
    size_t problems;       /* that were tried */
    size_t held_out;
    size_t trials; /* that teach */
    struct gt_learned_loss before, after;
};

/*
 * Learns from the view's trials and records of the device, beginning with what is shipped
 * for it. Costs are fitted where no trees are shipped. Then trees are learned. Of the two
 * as much is kept as makes the choice better on a third of the problems that was held out.
 * With too few problems nothing is better. Call gt_lessons_clear in any case. ENOMEM.
 */
gt_status gt_learn(struct gt_lessons *out, const struct gt_view *v,
                   const struct gt_families *families, const char *device_key,
                   struct gt_err *err);
void gt_lessons_clear(struct gt_lessons *l);

/* Writes the shelf beside the database, in place of the one before. EIO. */
gt_status gt_learn_keep(const struct gt_lessons *l, const char *database,
                        const struct gt_device *d, struct gt_err *err);
/* Trials that taught the shelf beside the database; 0: there is none; 1: it is damaged, or
 * about the model of another release. */
size_t gt_learn_kept(const char *database, const struct gt_device *d);

/* Makes a folder, and the one that it is in, unless they are there. EIO. */
gt_status gt_learn_folder(const char *path, struct gt_err *err);
/* Writes the shelf of the device beside the database into the folder `to`. *given: there is
 * one. EIO; EPARSE: the shelf is damaged. */
gt_status gt_learn_give(bool *given, const char *to, const char *database, const char *key,
                        struct gt_err *err);
/* Takes the learned shelf of the folder `from`, if it has one and more trials have taught
 * it than the shelf beside the database. EPARSE: it is damaged, or of another release. */
gt_status gt_learn_take(bool *taken, const char *from, const char *database,
                        struct gt_err *err);

/* Writes costs.json to `file`, a FILE *. */
void gt_costs_write(void *file, const struct gt_costs *costs);

#endif
