/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h - whether a large product is right, without computing it again: products with
 * random vectors (Freivalds, "Probabilistic machines can use less running time", 1977) and
 * some elements computed anew.
 *
 * For a vector x of random signs, C x is compared with alpha A (B x) + beta C0 x, in about
 * twice the precision of f64, or exactly modulo 2^32 for integers. With rounding errors
 * e_ij of C's elements, the sum of e_ij x_j exceeds t sqrt(sum e_ij^2) with probability
 * 2 exp(-t^2 / 2) at most (Hoeffding), so the bound for row i is
 *
 *     t * 12 u_acc (1 + u_c) (|alpha| |A_i| |B|_F + |beta| |C0_i|) + t 2 u_c |C_i|, t = 12
 *
 * with Euclidean norms of rows and Frobenius' norm of B; |A_i| |B_j| bounds a sum of
 * absolute products. A lost tile or row changes C x by far more. An element that is wrong
 * by less than the bound shows only among the elements that are computed anew. Their bound
 * is the bound of every other check (tuner/lab/check.h).
 *
 * Infinities and elements that are no numbers are results as others are. An element that A,
 * B or C0 keep from being finite must not be finite. It and every other element of C that
 * is not finite are left out of the product with x and computed anew, and must have the
 * value (an infinity with its sign, or no number) that their terms explain; a number beyond
 * the largest of a type is infinite. Two things are less certain than elsewhere: C0 is gone
 * by then, so a row in which a product overflows may be off by |beta| times the norm of
 * C0's row; and of very many such elements only some are computed anew, with some of the
 * finite elements of their rows.
 */
#ifndef GT_TUNER_STREAM_PROOF_H
#define GT_TUNER_STREAM_PROOF_H

#include "core/problem/problem.h"

/* Host matrices of a canonical problem. */
struct gt_proof_data {
    const gemmtune_problem *p;
    double alpha, beta;
    const void *a, *b, *c;
};

struct gt_proof;

/* Before the product, which changes C. Reads C if beta is not 0. ENOMEM. */
gt_status gt_proof_begin(struct gt_proof **out, const struct gt_proof_data *d,
                         uint64_t seed, struct gt_err *err);
/* After it. `worst`: of all comparisons, the largest error over its bound. EINVAL, with the
 * row or the element in `err`, when the product is wrong. */
gt_status gt_proof_end(double *worst, struct gt_proof *proof, const struct gt_proof_data *d,
                       struct gt_err *err);
void gt_proof_destroy(struct gt_proof *proof);

#endif
