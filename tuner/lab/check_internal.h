/* SPDX-License-Identifier: Apache-2.0 */
/* check_internal.h - shared by checker.c, case.c and check.c. */
#ifndef GT_TUNER_LAB_CHECK_INTERNAL_H
#define GT_TUNER_LAB_CHECK_INTERNAL_H

#include "core/bytes.h"
#include "tuner/lab/check.h"

/* A sum may be off by this many units of u (|alpha| |A||B| + |beta| |C|), where u is the
 * unit roundoff of the accumulator. With random data and terms added one after the other,
 * one element of 8192^2 was off by 8.5; the partial sums of the largest results round
 * worst. A wrong or missing product is off by thousands. */
enum { GT_TOLERANCE = 12 };

enum {
    GT_GUARD = GT_VIEW_ALIGN, /* bytes of poison on either side of every operand */
    GT_COUNTERS = 4,          /* wrong, touched, changed, beyond: see check.cl */
    GT_CASES_MAX = 32,        /* the last slot is for the second look after a failure */
    GT_CHECKER_KERNELS = 6
};

struct gt_checker {
    struct gt_rig *rig;
    gemmtune_problem types;
    gemmtune_dtype wide; /* type of the references: see gt_type_wide */
    struct gt_kernel *kernel[GT_CHECKER_KERNELS];
    /* GT_COUNTERS words a case during checks; otherwise the clock kernel's result */
    void *found;
    void *scratch; /* C with its guards */
    int64_t scratch_bytes;
    uint64_t outputs; /* number of outputs so far; each gets other finite numbers */
    struct {
        void *mem, *view;
        int64_t bytes; /* size of the view; mem has a guard on each side */
    } workspace;
};

/* An operand on the device: poison, matrices of data, poison. */
struct gt_guarded {
    void *mem, *view;
    int64_t bytes;          /* size of mem */
    struct gt_stack filled; /* the data; no row of it when alpha is 0 */
    uint64_t seed;
};

struct gt_case {
    struct gt_checker *checker;
    struct gt_case_spec spec;
    struct gt_guarded a, b;
    void *r, *s; /* reference and size, in the wide type: `batch` matrices of m x n,
                  * packed */
    uint64_t finite_seed; /* seed of the scratch's contents before the last product */
};

/* Bytes with a guard on each side, rounded up to whole words of every type. */
static inline int64_t gt_guarded_bytes(int64_t bytes) {
    return gt_bytes_sum(bytes, 2 * GT_GUARD + 7) / 8 * 8;
}

/* Elements of C that products compute. */
static inline int64_t gt_case_elements(const gemmtune_problem *p) {
    return gt_bytes_product(p->batch, p->m * p->n);
}

/* Whether results must equal the reference, rounded to C's type, bit by bit. */
bool gt_case_is_exact(const struct gt_case *t);

/* See check.h: |c - r| <= sum * s + rounding * max(|r|, least). */
struct gt_bound {
    double sum, rounding, least;
};
struct gt_bound gt_bound_of(const struct gt_case *t);
/* Makes a view of the checker's scratch for C; the caller releases it. All of it, with
 * guards and padding, holds NaN or finite random numbers, as the case says. C0 is copied
 * into C when beta is not 0. */
gt_status gt_case_output(void **view, struct gt_case *t, struct gt_err *err);

/* Each enqueues a kernel of check.cl. The first computes the reference of a case, with C0
 * at `c`. The others count errors into the counters of a slot: of the output in the
 * scratch, of an input, of a workspace of `bytes`. */
gt_status gt_checker_reference(struct gt_case *t, void *c, struct gt_err *err);
gt_status gt_checker_compare(struct gt_case *t, int slot, struct gt_err *err);
gt_status gt_checker_unchanged(struct gt_case *t, const struct gt_guarded *o, int slot,
                               struct gt_err *err);
gt_status gt_checker_within(struct gt_checker *c, int64_t bytes, int slot,
                            struct gt_err *err);

/* Fills `bytes` of the workspace and the guards with poison, then all but the guards with
 * finite numbers when the case says so. */
gt_status gt_case_workspace(struct gt_case *t, int64_t bytes, struct gt_err *err);
/* Frees memory of the rig; accepts NULL. */
void gt_checker_release(struct gt_checker *c, void *mem);

#endif
