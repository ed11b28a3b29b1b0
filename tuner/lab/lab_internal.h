/* SPDX-License-Identifier: Apache-2.0 */
/* lab_internal.h - declarations that lab.c, case_list.c, suite.c, sets.c, measure.c,
 * stopwatch.c and cpu_time.c share. */
#ifndef GT_TUNER_LAB_LAB_INTERNAL_H
#define GT_TUNER_LAB_LAB_INTERNAL_H

#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab.h"
#include "tuner/lab/lists.h"

enum {
    GT_LAB_SMALLS = 20, /* cases of other shapes, for all problems of the same types */
    GT_LAB_OWNS = 4,    /* cases of a batch's own shape, for kernels that have no other */
    GT_LAB_LISTED = GT_LAB_SMALLS + GT_LAB_OWNS,
    GT_LAB_OWN_MOST = 1 << 26, /* multiply-adds of the largest product that has them */
    GT_SETS_MAX = 1024 /* sets of inputs; a graph of this many launches is one sample */
};

/* Rotating inputs: set i is a, b, c[i]. Everything that is timed takes its sets from one
 * ring, so that no kernel finds inputs in the cache that another kernel has just used. */
struct gt_sets {
    int count; /* a power of two */
    int next;
    void *mem[3]; /* all A, all B, all C */
    void *view[3][GT_SETS_MAX];
    struct gt_lists lists[GT_SETS_MAX];
    struct gt_rows rows; /* of all sets */
};

/* The argument that kernels take for an operand of a set: its matrices, or the pointers to
 * them. */
static inline void *gt_sets_argument(const struct gt_sets *s, int operand, int set) {
    void *const list = s->lists[set].view[operand];
    return list != NULL ? list : s->view[operand][set];
}

struct gt_lab {
    struct gt_rig *rig;
    struct gt_checker *checker;
    int64_t scratch;
    /* The cases of gt_case_listed; NULL where the problem has none. The first GT_LAB_SMALLS
     * stay while the types do. */
    struct gt_case *listed[GT_LAB_LISTED];
    /* one problem */
    gemmtune_problem problem;
    char name[GT_PROBLEM_NAME_MAX]; /* "" when no problem is set up */
    uint64_t seed;
    struct gt_case *timed[2]; /* with exact data, with realistic data */
    struct gt_sets sets;
    enum gt_spread spread; /* of the rows of the sets */
    /* The faults that were found in the outputs of the kernels that were timed last. */
    struct gt_found {
        const struct gt_exec *exec;
        char why[GT_VERDICT_MAX]; /* "" when nothing was wrong */
    } found[GT_RACERS_MAX];
    /* Set before a problem: its cases check products that round the sum as well. */
    bool rounds_sum;
};

/* Case i of the list, for a timed problem: first GT_LAB_SMALLS small ones of other shapes,
 * then GT_LAB_OWNS of a batch's own shape. False when the problem has no such case. */
bool gt_case_listed(struct gt_case_spec *out, const gemmtune_problem *p, int i,
                    uint64_t seed);

/* A last-level cache where nothing says its size. */
#define GT_CACHE_USUAL (INT64_C(32) << 20)
/* The number of sets that exceed three times a cache. It is a power of two, as the number
 * of launches in a sample is, so that samples go round the ring evenly. */
int gt_set_count(const gemmtune_problem *p, int64_t cache_bytes);
/* Bytes from one set's operand to the next set's: the operand and a guard on each side. */
void gt_set_strides(int64_t out[3], const gemmtune_problem *p);
/* The beta of timed products: half of C, so that C stays bounded however often it is added
 * to. i32 has no half. */
double gt_timed_beta(const gemmtune_problem *p);

gt_status gt_sets_create(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                         struct gt_err *err);
/* The sets as the checking kernels see them. */
struct gt_ring gt_sets_ring(const struct gt_lab *lab);
void gt_sets_clear(struct gt_lab *lab);
int64_t gt_sets_bytes(const gemmtune_problem *p, const struct gt_device *d);

#endif
