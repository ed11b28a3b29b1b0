/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - what is to be computed, in its one canonical form.
 *
 * Canonical: row-major, leading dimensions and strides filled in, types one of dtype.h's
 * rows, C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C. A stored A is m x k rows of
 * lda elements ("n") or k x m ("t"); B is k x n ("n") or n x k ("t"). A column-major
 * problem is the same one with A and B, m and n exchanged; `swapped` tells the caller to
 * exchange the pointers as well.
 */
#ifndef GT_CORE_PROBLEM_H
#define GT_CORE_PROBLEM_H

#include "core/dtype.h"

enum { GT_PROBLEM_NAME_MAX = 192 }; /* bytes of the longest name with its NUL */

/* Dimensions and leading dimensions above this are refused: kernels index rows and columns
 * with int, and everything that multiplies two of them with 64 bits. */
#define GT_DIM_MAX INT64_C(2147483647)

/* Checks *in and writes its canonical form; *out is untouched on failure. EINVAL names the
 * member and its value; EUNSUPPORTED says what gemmtune has no kernel for (a mix of types,
 * batch > 1). The bytes of each operand of a canonical problem fit an int64. `swapped` may
 * be NULL, `out` may be `in`. */
gt_status gt_problem_canonical(gemmtune_problem *out, bool *swapped,
                               const gemmtune_problem *in, struct gt_err *err);

/* Parses "<types>-<nn|nt|tn|tt>-<m>x<n>x<k>[,lda=..][,ldb=..][,ldc=..][,batch=..][,beta]"
 * into canonical form; what follows the sizes may come in any order. EPARSE quotes the part
 * that is wrong, EUNSUPPORTED as above. */
gt_status gt_problem_from_name(gemmtune_problem *out, const char *name, struct gt_err *err);

/* The name of a canonical problem; returns its length. */
int gt_problem_name(const gemmtune_problem *p, char buf[GT_PROBLEM_NAME_MAX]);

const char *gt_problem_layout(const gemmtune_problem *p); /* "nn" "nt" "tn" "tt" */

/* A stored operand: `rows` rows of `cols` elements. */
struct gt_shape {
    int64_t rows, cols;
};
struct gt_shape gt_problem_shape_a(const gemmtune_problem *p);
struct gt_shape gt_problem_shape_b(const gemmtune_problem *p);
struct gt_shape gt_problem_shape_c(const gemmtune_problem *p);
/* The least leading dimension. */
int64_t gt_shape_packed_ld(struct gt_shape s);

/* Sizes of a canonical problem. */
double gt_problem_flops(const gemmtune_problem *p); /* 2 m n k */
/* elements from first to last, with ld */
int64_t gt_problem_elems_a(const gemmtune_problem *p);
int64_t gt_problem_elems_b(const gemmtune_problem *p);
int64_t gt_problem_elems_c(const gemmtune_problem *p);
/* Bytes of A, B and C once, with leading-dimension padding. */
double gt_problem_bytes(const gemmtune_problem *p);

/* Whether two problems have the same types and layout, so that one kernel may serve both.
 */
bool gt_problem_same_kind(const gemmtune_problem *x, const gemmtune_problem *y);

/* How far two problems' sizes are apart: squared, Euclidean, in (log2 m, log2 n, log2 k).
 */
double gt_problem_distance2(const gemmtune_problem *x, const gemmtune_problem *y);

/* The widest load: no alignment beyond it matters, and every allocator gives it. */
enum { GT_VECTOR_BYTES = 16 };

/* Largest power of two, at most GT_VECTOR_BYTES, that divides every row start of an operand
 * whose pointer is `pointer_align`-byte aligned: which vector loads are legal. */
int64_t gt_row_align(int64_t ld, gemmtune_dtype type, int64_t pointer_align);

#endif
