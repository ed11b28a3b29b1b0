/* SPDX-License-Identifier: Apache-2.0 */
/* check_internal.h - what checker.c, case.c and check.c share. */
#ifndef GT_TUNER_LAB_CHECK_INTERNAL_H
#define GT_TUNER_LAB_CHECK_INTERNAL_H

#include "tuner/lab/check.h"

/* A sum may be off by so many units of u (|alpha| |A||B| + |beta| |C|), where u is the unit
 * roundoff of the accumulator. Of products of random data summed one after the other, one
 * element of 8192^2 was seen at 8.5: the partial sums of the largest results round worst. A
 * wrong or missing product is off by thousands. */
enum { GT_TOLERANCE = 12 };

enum {
    GT_GUARD = GT_VIEW_ALIGN, /* bytes of poison on either side of every operand */
    GT_COUNTERS = 4,          /* wrong, touched, changed, beyond: as in check.cl */
    GT_CASES_MAX = 32,        /* the last slot is for a second look */
    GT_CHECKER_KERNELS = 6
};

struct gt_checker {
    struct gt_rig *rig;
    gemmtune_problem types;
    gemmtune_dtype wide; /* of references: see gt_type_wide */
    struct gt_kernel *kernel[GT_CHECKER_KERNELS];
    void *found;   /* GT_COUNTERS words a case; between checks the clock's */
    void *scratch; /* C with its guards */
    int64_t scratch_bytes;
    uint64_t outputs; /* so many were made: no two of them hold the same finite numbers */
    struct {
        void *mem, *view;
        int64_t bytes; /* of the view; mem has guards on either side */
    } workspace;
};

/* An operand on the device: poison, rows of data, poison. */
struct gt_guarded {
    void *mem, *view;
    int64_t rows, cols, ld, bytes; /* bytes of mem */
    int64_t filled;                /* rows that hold data: none when alpha is 0 */
    uint64_t seed;
};

struct gt_case {
    struct gt_checker *checker;
    struct gt_case_spec spec;
    struct gt_guarded a, b;
    void *r, *s;          /* reference and size, m x n packed, of the wide type */
    uint64_t finite_seed; /* of what the scratch held before the last product */
};

/* Bytes with a guard on either side; whole words of every type. */
static inline int64_t gt_guarded_bytes(int64_t bytes) {
    return (bytes + 2 * GT_GUARD + 7) / 8 * 8;
}

/* Whether results must equal the reference, rounded to C's type, to the bit. */
bool gt_case_is_exact(const struct gt_case *t);

/* See check.h: |c - r| <= sum * s + rounding * max(|r|, least). */
struct gt_bound {
    double sum, rounding, least;
};
struct gt_bound gt_bound_of(const struct gt_case *t);
/* A view of the checker's scratch for C, which the caller releases. All of it, the guards
 * and the padding too, holds NaN or finite random numbers, as the case says; then C holds
 * C0 when beta is not 0. */
gt_status gt_case_output(void **view, struct gt_case *t, struct gt_err *err);

/* Enqueue a kernel of check.cl: the reference of a case, with C0 at `c`; and what they
 * count into the counters of a slot: of the output in scratch, of an input, of a workspace
 * of so many bytes. */
gt_status gt_checker_reference(struct gt_case *t, void *c, struct gt_err *err);
gt_status gt_checker_compare(struct gt_case *t, int slot, struct gt_err *err);
gt_status gt_checker_unchanged(struct gt_case *t, const struct gt_guarded *o,
                               gemmtune_dtype type, int slot, struct gt_err *err);
gt_status gt_checker_within(struct gt_checker *c, int64_t bytes, int slot,
                            struct gt_err *err);

/* Poison for `bytes` of the workspace and the guards; then, when the case says so, finite
 * numbers for all of it but the guards. */
gt_status gt_case_workspace(struct gt_case *t, int64_t bytes, struct gt_err *err);
/* Gives memory back; accepts NULL. */
void gt_checker_release(struct gt_checker *c, void *mem);

#endif
