/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopwatch.h - times one product: many launches in a sample where one is short, on inputs
 * from the lab's ring of sets. The caller decides when to take a sample, so that several
 * products can take turns.
 */
#ifndef GT_TUNER_LAB_STOPWATCH_H
#define GT_TUNER_LAB_STOPWATCH_H

#include "tuner/lab/lab.h"
#include "tuner/lab/product.h"

struct gt_stopwatch;
struct gt_witness;

/* Warms the product up and finds how many launches make a sample of `sample_ns`. A product
 * that takes more than `most_ns` is launched only once for that. The lab must be set up for
 * the product's problem; the lab and the product must outlive the stopwatch. */
gt_status gt_stopwatch_create(struct gt_stopwatch **out, struct gt_lab *lab,
                              const struct gt_product *product, double sample_ns,
                              double most_ns, struct gt_err *err);
void gt_stopwatch_destroy(struct gt_stopwatch *w);

/* Takes the next sample. *ns is the device time of one launch. */
gt_status gt_stopwatch_sample(struct gt_stopwatch *w, double *ns, struct gt_err *err);

/* From now on the outputs of samples are spoiled before them, so that they can be looked
 * at. The witness is one of the same lab; NULL: there is nothing to look at. It must
 * outlive the stopwatch. The product's workspace must be the checker's. */
void gt_stopwatch_watch(struct gt_stopwatch *w, struct gt_witness *witness);
/* Whether a sample comes to each set several times. alpha changes its sign from one lap to
 * the next, and a look shows the last lap alone. */
bool gt_stopwatch_has_laps(const struct gt_stopwatch *w);
/* Looks at the outputs of the last sample, as gt_witness_look does; at nothing where
 * several launches have added to one C, which then nobody can tell. */
gt_status gt_stopwatch_look(bool *right, char *why, struct gt_stopwatch *w,
                            struct gt_err *err);
/* Takes one more sample, in which no two launches add to one C, and looks at it. Of laps it
 * takes three samples: their last laps have alphas s, -s and -s, where s is 1 or -1: both
 * signs are seen, and there are always an even number of laps, so the third sample begins
 * with the negative of what it finds in C. */
gt_status gt_stopwatch_prove(bool *right, char *why, struct gt_stopwatch *w,
                             struct gt_err *err);

int gt_stopwatch_launches(const struct gt_stopwatch *w); /* in a sample */
/* Doubles the launches of later samples, up to a limit. */
void gt_stopwatch_lengthen(struct gt_stopwatch *w);

#endif
