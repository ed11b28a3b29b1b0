/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - measures how much time is lost on problems that were not tuned. Tuned
 * problems are hidden, and each rule chooses a kernel for them from the remaining ones; its
 * time is compared with the time of the problem's own winner. No device is used here,
 * and nothing but progress is printed; a caller with a device fills in measured times.
 */
#ifndef GT_TUNER_STUDY_EVALUATE_H
#define GT_TUNER_STUDY_EVALUATE_H

#include "runtime/lookup/match.h"
#include "tuner/base/progress.h"
#include "tuner/base/view.h"

enum gt_rule_kind {
    GT_RULE_LOOKUP,  /* gt_match with the remaining kernels */
    GT_RULE_NEAREST, /* the kernel tuned for the nearest (log2 m, log2 n, log2 k) */
    GT_RULE_VOLUME,  /* the kernel tuned for the nearest log2 of m n k */
    GT_RULE_SINGLE,  /* one point for all problems: the best on the remaining ones */
    GT_RULE_UNTUNED, /* gt_match without tuned kernels */
    GT_RULE_DEFAULT, /* the families' default points, by rank */
    GT_RULES
};
const char *gt_rule_name(enum gt_rule_kind rule); /* "lookup" "nearest" ... */

struct gt_answer {
    bool found;
    struct gt_choice choice; /* choice.known is NULL */
    double ns;               /* 0: not known */
    double best_ns;          /* the winner's time in the same measurement */
};

/* A hidden problem. */
struct gt_hidden {
    const struct gt_known *winner; /* its fastest kernel */
    struct gt_answer answer[GT_RULES];
};

struct gt_evaluation; /* The set-up must outlive it. */

struct gt_evaluation_setup {
    const struct gt_device *device;
    const char *device_key;
    const struct gt_families *families;
    const struct gt_known *known; /* as gt_known_load gives them */
    size_t known_count;
    const struct gt_view *view; /* records and trials of the device, for stored times */
    uint64_t seed;              /* random seed for the order in which problems are hidden */
    size_t workspace_max;       /* of every kernel, winners included; SIZE_MAX: any */
};
gt_status gt_evaluation_create(struct gt_evaluation **out,
                               const struct gt_evaluation_setup *setup, struct gt_err *err);
void gt_evaluation_destroy(struct gt_evaluation *e);

/* The number of problems with a winner on the device's key: the first of its records that
 * needs at most workspace_max. */
size_t gt_evaluation_count(const struct gt_evaluation *e);

/* Hides problems [begin, end) of the shuffled order together and answers each with the
 * rules of the set (bit i: rule i). out[0] is the first problem. The times are stored ones:
 * a loss is known when both kernels were finalists of the problem, or both were tried on
 * it. `progress` counts them, of progress->problems; NULL: in silence. */
void gt_evaluation_hide(struct gt_hidden *out, struct gt_evaluation *e, size_t begin,
                        size_t end, unsigned rules, struct gt_progress *progress);

/* Answers one problem with the rules of the set, from all records but the problem's own.
 * The winner need not be one of the set-up's kernels. No time is known yet. */
void gt_evaluation_ask(struct gt_hidden *out, struct gt_evaluation *e,
                       const struct gt_known *winner, unsigned rules);

/* The loss of one rule on many problems: its time over the winner's time, minus 1. */
struct gt_loss {
    int asked, known, expecting; /* with a known loss, and of these with an expected one */
    double mean;                 /* geometric mean */
    double expected;             /* geometric mean of the losses that lookups expected */
    double most;                 /* the 95th percentile */
    double worst;
    const struct gt_hidden *worst_of; /* NULL: no loss is known */
};
/* ENOMEM. */
gt_status gt_loss_of(struct gt_loss *out, const struct gt_hidden *hidden, size_t count,
                     enum gt_rule_kind rule, struct gt_err *err);

#endif
