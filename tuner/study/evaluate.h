/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evaluate.h - how much is lost where nobody tuned. Tuned problems are hidden, looked up
 * with the rest, and what each rule answers is set against the problem's own winner. No
 * device is touched and nothing is printed; who has a device fills in what it measures.
 */
#ifndef GT_TUNER_STUDY_EVALUATE_H
#define GT_TUNER_STUDY_EVALUATE_H

#include "runtime/match.h"
#include "tuner/base/view.h"

enum gt_rule_kind {
    GT_RULE_LOOKUP,  /* gt_match with the kernels that are left */
    GT_RULE_NEAREST, /* the kernel nearest in (log2 m, log2 n, log2 k) */
    GT_RULE_VOLUME,  /* the kernel nearest in log2 of m n k */
    GT_RULE_SINGLE,  /* one point for all: the best on the problems that are left */
    GT_RULE_UNTUNED, /* gt_match without tuned kernels */
    GT_RULE_DEFAULT, /* families' default points by rank */
    GT_RULES
};
const char *gt_rule_name(enum gt_rule_kind rule); /* "lookup" "nearest" ... */

struct gt_answer {
    bool found;
    struct gt_choice choice; /* choice.known is NULL */
    double ns;               /* 0: not known */
    double best_ns;          /* the winner's in the same measurement */
};

/* A hidden problem. */
struct gt_hidden {
    const struct gt_known *winner; /* of the evaluation's kernels */
    struct gt_answer answer[GT_RULES];
};

struct gt_evaluation; /* borrows what it was created with */

struct gt_evaluation_setup {
    const struct gt_device *device;
    const char *device_key;
    const struct gt_families *families;
    const struct gt_known *known; /* as gt_known_load has them */
    size_t known_count;
    const struct gt_view *view; /* records and trials of the device: stored times */
    uint64_t seed;              /* of the order in which problems are hidden */
};
gt_status gt_evaluation_create(struct gt_evaluation **out,
                               const struct gt_evaluation_setup *setup, struct gt_err *err);
void gt_evaluation_destroy(struct gt_evaluation *e);

/* Problems with a verified winner of the device. */
size_t gt_evaluation_count(const struct gt_evaluation *e);

/* Hides problems [begin, end) of the shuffled order at once and answers each by the rules
 * of the set (bit i: rule i); out[0] is the first. Times are those stored: a loss is known
 * when both kernels were finalists of the problem together, or both were tried. */
void gt_evaluation_hide(struct gt_hidden *out, struct gt_evaluation *e, size_t begin,
                        size_t end, unsigned rules);

/* What one rule lost over many problems: time over the winner's time, less 1. */
struct gt_loss {
    int asked, known;
    double mean; /* geometric */
    double worst;
    const struct gt_hidden *worst_of; /* NULL: none known */
};
void gt_loss_of(struct gt_loss *out, const struct gt_hidden *hidden, size_t count,
                enum gt_rule_kind rule);

#endif
