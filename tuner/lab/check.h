/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - is a kernel right? Every element of the output is compared with an independent
 * reference, guard zones and the padding of leading dimensions with poison, and the inputs
 * with their values before the run.
 *
 * A case is one product with its data and reference on the device. It is made once and used
 * for every kernel. tuner/lab/kernels/reference.cl computes the reference. The host
 * recomputes sampled elements of it in higher precision (all elements when there are few).
 *
 * The bound. Let r be the exact result alpha AB + beta C0, s = |alpha| |A||B| + |beta|
 * |C0|, u_acc and u_c the unit roundoffs of the accumulator and of C.
 *   - The kernel sums in the accumulator's type: its sum x has |x - r| <= 12 u_acc s.
 *     With FAST, u_acc is 2^-14 (gt_sum_unit).
 *   - With PROMOTED, the fact above and the fact below hold for each sum over 128 of k,
 *     with its part of s. The parts of s add up to s. The mean of uniform data is 0, so the
 *     errors of these sums have independent signs. Together they are sqrt(128 / k) times as
 *     large, for k from 128 on. Adding up these sums in f32 takes 12 units of f32 more.
 *   - Tensor cores, which may sum all types but f32, f64 and i32, truncate towards zero
 *     after every 16 bytes of A, or later: b k / 16 times, where b is sizeof(A). A
 *     truncation takes 0.7 u_acc of the sum at that moment. The terms are products of
 *     uniform numbers with deviation d, and s is 0.75 d k. A sum that ends at z d sqrt(k)
 *     is half as large on average. It loses 0.03 z b sqrt(k) u_acc s in all. z is below 6
 *     for 10^8 elements. b sqrt(k) / 4 is added to the 12: 1.4 times that loss.
 *   - With wide exponents (k = 40) terms far below the largest one may be dropped: each
 *     truncation takes at most 2 u_acc of the largest term from each term, 2 k u_acc in
 * all.
 *   - With TF32 each factor may lose up to u_in = 2^-10 of its size, so each product up to
 *     u_in (2 + u_in) of its own: that is added to the 12 u_acc.
 *   - With SPLIT and BF16X3, where k > 0, the 12 is min(f(k), 12 + g(k)). g(k) stands for
 *     the parts of f32 that are left out. f(k) is the bound for any data (core/split.h,
 *     docs/split.md), and stands alone where data are not uniform.
 *   - With RESIDUES the promise is up to 2 sqrt(k) + 2 units (docs/residues.md). Rounding
 *     errors of uniform data are independent, and about 0.3 units in all. Data with wide
 *     exponents have k = 33, and 2 sqrt(k) is 11.5. So 12 units are enough. The other 2 are
 *     the roundoffs below.
 *   - It rounds x once to C: |c - x| <= u_c max(|x|, least), where least is C's smallest
 *     normal number. Below it, C's elements are no longer denser.
 *   - Together, with t = 12 u_acc + these: |c - r| <= t (1 + u_c) s + u_c max(|r|, least).
 *   - The reference has the wide type, so its own roundoff joins C's. Its sum is far
 *     more exact. A product of f32 is exact in f64, and k of them added up are off by at
 *     most k 2^-53 s. Dot2, with roundoff u, is off by u |r| + (k u)^2 s. Exact cases have
 *     plain sums in the same types, which need no rounding.
 * The two roundoffs must stay apart: with u_c in both terms, a bf16 C of all zeros would be
 * right at k = 4096, where s is 1024 and |r| about 21. With exact data (small integers,
 * which all types and TF32 hold) the sum is not rounded, and c must be r rounded to C's
 * type, bit by bit. So no bound, however loose, hides a lost product or a wrong scale.
 */
#ifndef GT_TUNER_LAB_CHECK_H
#define GT_TUNER_LAB_CHECK_H

#include "runtime/exec/exec.h"
#include "tuner/lab/data.h"
#include "tuner/lab/lists.h"
#include "tuner/lab/product.h"
#include "tuner/rig/rig.h"

struct gt_checker; /* the checking kernels for one set of types, and scratch */
struct gt_case;

/* The source text of the checking kernels for the types of a problem on a device. The
 * caller frees it. */
gt_status gt_checker_source(char **out, const struct gt_device *d,
                            const gemmtune_problem *types, struct gt_err *err);

/* `types` is a problem of these types. `scratch_bytes` is the size of the largest C that
 * will be checked. */
gt_status gt_checker_create(struct gt_checker **out, struct gt_rig *rig,
                            const gemmtune_problem *types, int64_t scratch_bytes,
                            struct gt_err *err);
void gt_checker_destroy(struct gt_checker *c);

/* Enqueues filling the matrices at a view with the generator's numbers. */
gt_status gt_checker_fill(struct gt_checker *c, void *view, const struct gt_stack *x,
                          uint64_t seed, enum gt_data_mode mode, struct gt_err *err);

/* The present clock of the multiprocessors; 0 where kernels cannot see it. A kernel that
 * leaves the device cool watches it for a thirtieth of a millisecond. NVML's answer can be
 * a tenth of a second old. */
gt_status gt_checker_clock(int *mhz, struct gt_checker *c, struct gt_err *err);

/* Makes the workspace at least this large. Work that uses a smaller one must be done. */
gt_status gt_checker_reserve(struct gt_checker *c, int64_t bytes, struct gt_err *err);
void gt_checker_unreserve(struct gt_checker *c);
/* The reserved workspace as kernels take it; NULL when there is none. */
void *gt_checker_workspace(const struct gt_checker *c);
/* Device bytes that a reservation of `bytes` takes. */
int64_t gt_workspace_bytes(int64_t bytes);

struct gt_case_spec {
    gemmtune_problem problem; /* canonical; leading dimensions may leave padding */
    double alpha, beta;       /* exact in every type */
    enum gt_data_mode mode;   /* exact modes are compared bit by bit */
    uint64_t seed;
    /* The contents of the workspace, of C's buffer where it holds no C0, and of all that a
     * kernel must not touch, before a product: finite random numbers that differ for every
     * product, as in memory that is used again; otherwise NaN. With them a kernel cannot
     * distinguish a check from a timed product. */
    bool finite;
    /* Three launches on one C and one workspace, and the second and the third are
     * compared; one where C is read. */
    bool again;
    /* Products that round the sum to C's type before the epilogue are checked as well. */
    bool rounds_sum;
    enum gt_spread spread; /* of the rows of groups or products */
    /* A listed case that is only for kernels which accept few of those before it. */
    bool stands_in;
};

/* EDEVICE when host and device compute different references:
 * the device cannot be trusted. */
gt_status gt_case_create(struct gt_case **out, struct gt_checker *c,
                         const struct gt_case_spec *spec, struct gt_err *err);
void gt_case_destroy(struct gt_case *t);
/* Device bytes that a case of this problem takes, at most INT64_MAX. */
int64_t gt_case_bytes(const gemmtune_problem *p);

/* The error of an output in units of u_c (|alpha| |A||B| + |beta| |C|), over all elements:
 * the greatest and the mean. The reference is rounded to the wide type, so differences
 * below half a unit of an element say nothing. */
struct gt_error {
    double most, mean;
};

/* Runs a product on a case of floats without an epilogue, and measures its error. */
gt_status gt_error_of(struct gt_error *out, struct gt_checker *c, struct gt_case *t,
                      const struct gt_product *product, struct gt_err *err);

enum { GT_VERDICT_MAX = 384 };

/* Runs the cases. execs[i] must be made for the problem of cases[i], and its workspace must
 * be reserved. When *right is false, `why` (GT_VERDICT_MAX bytes) names the first case that
 * failed, the number of wrong elements, and one of them. An error is a failed launch.
 * EINVAL: the launch was refused, and the device is as sound as before. */
gt_status gt_check(bool *right, char *why, struct gt_checker *c,
                   struct gt_case *const *cases, const struct gt_exec *const *execs,
                   int count, struct gt_err *err);
/* The same for one product. All cases must have the problem that it was made for. */
gt_status gt_check_product(bool *right, char *why, struct gt_checker *c,
                           struct gt_case *const *cases, const struct gt_product *product,
                           int count, struct gt_err *err);

#endif
