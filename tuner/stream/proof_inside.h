/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof_inside.h - what the two files of a proof share: sums in twice the precision, a
 * matrix times a vector, and what is kept from before the product.
 */
#ifndef GT_TUNER_STREAM_PROOF_INSIDE_H
#define GT_TUNER_STREAM_PROOF_INSIDE_H

#include "tuner/stream/proof.h"

#include <math.h>
#include <stdatomic.h>

/* ---- sums in twice the precision ----------------------------------------------------- */

/* hi + lo, where lo is small (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005).
 * For integers, `bits` modulo 2^32 instead. */
struct gt_proof_sum {
    double hi, lo;
    uint32_t bits;
};

static inline void gt_proof_add(struct gt_proof_sum *s, double x) {
    const double hi = s->hi + x, part = hi - s->hi;
    s->lo += (s->hi - (hi - part)) + (x - part);
    s->hi = hi;
}

/* s += x * (w.hi + w.lo) */
static inline void gt_proof_add_product(struct gt_proof_sum *s, double x,
                                        const struct gt_proof_sum *w, bool is_float) {
    if (!is_float) {
        s->bits += (uint32_t)(int64_t)x * w->bits;
        return;
    }
    const double product = x * w->hi;
    gt_proof_add(s, product);
    s->lo += fma(x, w->hi, -product) + x * w->lo;
}

static inline void gt_proof_add_sum(struct gt_proof_sum *s, const struct gt_proof_sum *x) {
    gt_proof_add(s, x->hi);
    s->lo += x->lo;
    s->bits += x->bits;
}

static inline double gt_proof_value(const struct gt_proof_sum *s) {
    return s->hi + s->lo;
}

/* ---- a matrix times a vector --------------------------------------------------------- */

struct gt_proof_matrix {
    const char *bytes;
    gemmtune_dtype type;
    struct gt_shape shape;
    int64_t ld;
    bool turned; /* the matrix is the transpose of the stored one */
};

/* One of the matrices: 0 is A, 1 is B, 2 is C. */
struct gt_proof_matrix gt_proof_matrix_of(const struct gt_proof_data *d, int which);
double gt_proof_element(const struct gt_proof_matrix *m, int64_t row, int64_t col);

/* Where a matrix holds infinities and elements that are no numbers; each may be NULL. */
struct gt_proof_odd {
    atomic_bool *row, *col;
    char *element; /* enum gt_proof_kind, row by row without gaps */
};

enum gt_proof_kind { GT_PROOF_FINITE, GT_PROOF_NO_NUMBER, GT_PROOF_PLUS, GT_PROOF_MINUS };

/* out = matrix * vector, norm2 = squares of the Euclidean norms of its rows. With `odd`,
 * zeros stand for elements that are not finite. ENOMEM. */
gt_status gt_proof_multiply(struct gt_proof_sum *out, double *norm2,
                            const struct gt_proof_matrix *m,
                            const struct gt_proof_sum *vector, bool is_float,
                            const struct gt_proof_odd *odd, struct gt_err *err);
/* Whether all of some sums of squares are finite: then all elements are. */
bool gt_proof_all_finite(const double *norm2, int64_t count);

/* ---- the proof ----------------------------------------------------------------------- */

/* The products of an element's sum; none with an alpha of 0: it does not read A and B. */
int64_t gt_proof_depth(const struct gt_proof_data *d);

enum { GT_PROOF_SAMPLES = 64 };
struct gt_proof_sample {
    int64_t row, col;
    double before; /* C's element */
};

struct gt_proof {
    struct gt_proof_sum *x; /* n random signs, or any integers; 0 for odd columns of B */
    struct gt_proof_sum *w; /* B x */
    struct gt_proof_sum *before; /* C0 x; zeros when beta is 0 */
    double *b2;                  /* squares of norms of B's rows */
    double *before2;             /* squares of norms of C0's rows */
    atomic_bool *column;         /* of B: holds an element that is not finite */
    atomic_bool *row;            /* of C0: likewise */
    char *old; /* enum gt_proof_kind of C0's elements; NULL: all are finite */
    struct gt_proof_sample sample[GT_PROOF_SAMPLES];
};

#endif
