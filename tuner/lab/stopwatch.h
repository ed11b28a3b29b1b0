/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopwatch.h - one product under the clock: many launches a sample where one is short,
 * inputs taken round the lab's ring of sets from one sample to the next. When to sample is
 * the caller's to say, so that several products take turns.
 */
#ifndef GT_TUNER_LAB_STOPWATCH_H
#define GT_TUNER_LAB_STOPWATCH_H

#include "tuner/lab/lab.h"
#include "tuner/lab/product.h"

struct gt_stopwatch;

/* Warms the product up and finds how many launches make a sample of `sample_ns`; one that
 * takes more than `most_ns` is launched once for that. The lab must be set up for the
 * product's problem; it and what the product refers to must outlive the stopwatch. */
gt_status gt_stopwatch_create(struct gt_stopwatch **out, struct gt_lab *lab,
                              const struct gt_product *product, double sample_ns,
                              double most_ns, struct gt_err *err);
void gt_stopwatch_destroy(struct gt_stopwatch *w);

/* The next sample: device nanoseconds for one launch. */
gt_status gt_stopwatch_sample(struct gt_stopwatch *w, double *ns, struct gt_err *err);
int gt_stopwatch_launches(const struct gt_stopwatch *w); /* in a sample */
/* Twice as many launches a sample from now on, if that many are allowed. */
void gt_stopwatch_lengthen(struct gt_stopwatch *w);

#endif
