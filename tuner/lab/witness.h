/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - what is timed is what is checked. Before a sample, single elements of the
 * sample's outputs get other values, at random places in a few of its sets; so do words of
 * the workspace. After it, the elements there must be right. A kernel that leaves out a
 * part of its work under the clock, because of anything that it knows or has kept, leaves
 * elements wrong that it cannot know.
 */
#ifndef GT_TUNER_LAB_WITNESS_H
#define GT_TUNER_LAB_WITNESS_H

#include "tuner/lab/lab.h"

struct gt_witness;

/* Makes a witness of the lab's sets, which must be there and outlive it. *out stays NULL
 * where outputs have no elements. */
gt_status gt_witness_create(struct gt_witness **out, struct gt_lab *lab,
                            struct gt_err *err);
void gt_witness_destroy(struct gt_witness *w); /* accepts NULL */

/* Enqueues spoiling elements of the outputs of `sets` sets from `first` on, and words of
 * the first `workspace_bytes` of the checker's workspace. */
gt_status gt_witness_spoil(struct gt_witness *w, int first, int sets,
                           int64_t workspace_bytes, struct gt_err *err);

/* Looks at the sample that followed. The last launch on each set had this alpha and beta;
 * where C is read, it was the only one. When *right becomes false, `why` (GT_VERDICT_MAX
 * bytes) has one of the wrong elements; otherwise both stay. */
gt_status gt_witness_look(bool *right, char *why, struct gt_witness *w, double alpha,
                          double beta, struct gt_err *err);

/* A number that nobody can know ahead. */
uint64_t gt_witness_chance(void);

#endif
