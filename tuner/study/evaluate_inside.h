/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_inside.h - shared by the files of an evaluation. */
#ifndef GT_TUNER_STUDY_EVALUATE_INSIDE_H
#define GT_TUNER_STUDY_EVALUATE_INSIDE_H

#include "tuner/study/evaluate.h"

/* The times of a kernel on a problem: from its trial, and from the finals, where finalists
 * were measured together. */
struct gt_kernel_times {
    const char *problem, *family, *point;
    double tried_ns, final_ns; /* 0: not measured */
};

/* A record and its cost. The least cost comes first; equal ones are in the order of the
 * records. */
struct gt_costed_record {
    double cost;
    const struct gt_known *known;
};

struct gt_evaluation {
    struct gt_evaluation_setup setup;
    size_t count;                  /* number of problems with a winner */
    const struct gt_known **order; /* their winners, shuffled */
    size_t left_count;             /* records of problems that are not hidden */
    struct gt_known *left;
    size_t stored_count;
    struct gt_kernel_times *stored;  /* sorted; one entry for each kernel and problem */
    struct gt_costed_record *ranked; /* scratch of ask_cheapest */
};

/* Reads the records, and the trials that were correct and timed here, of the present
 * sources of their families. */
gt_status gt_evaluation_read_times(struct gt_evaluation *e, struct gt_err *err);
/* Finds the times of a kernel and of the winner on the winner's problem, from the same kind
 * of measurement. False when there is none of both. */
bool gt_evaluation_times(double *ns, double *best_ns, const struct gt_evaluation *e,
                         const struct gt_known *winner, const char *family,
                         const char *point);
/* Chooses a kernel for the problem by the rule. False when it finds none. */
bool gt_rule_ask(struct gt_choice *out, const struct gt_evaluation *e,
                 const gemmtune_problem *p, enum gt_rule_kind rule);

#endif
