/* SPDX-License-Identifier: Apache-2.0 */
/* check_internal.h - declarations that the files of checks share: checker*.c, bound.c,
 * case.c, check.c and fused*.c. */
#ifndef GT_TUNER_LAB_CHECK_INTERNAL_H
#define GT_TUNER_LAB_CHECK_INTERNAL_H

#include "core/bytes.h"
#include "core/epilogue/epilogue_keep.h"
#include "core/epilogue/epilogue_op.h"
#include "tuner/lab/check.h"
#include "tuner/lab/lists.h"

/* A sum may be off by this many units of u (|alpha| |A||B| + |beta| |C|), where u is the
 * unit roundoff of the accumulator. With random data and terms added one after the other,
 * one element of 8192^2 was off by 8.5; the partial sums of the largest results round
 * worst. A wrong or missing product is off by thousands. */
enum { GT_TOLERANCE = 12 };

enum {
    GT_GUARD = GT_VIEW_ALIGN, /* bytes of poison on either side of every operand */
    GT_COUNTERS = 4,          /* wrong, touched, changed, beyond: see compare.cl */
    GT_CASES_MAX = 32,        /* the last slot is for the second look after a failure */
    GT_CHECKER_THREADS = 256  /* of a block; the same number as in the kernels */
};

/* The kernels of tuner/lab/kernels/. */
enum gt_checker_kernel {
    GT_KERNEL_FILL,
    GT_KERNEL_REFERENCE,
    GT_KERNEL_REFERENCE_SMALL,
    GT_KERNEL_COMPARE,
    GT_KERNEL_UNCHANGED,
    GT_KERNEL_WITHIN,
    GT_KERNEL_PACE,
    GT_KERNEL_BETWEEN,
    GT_KERNEL_SAME,
    GT_KERNEL_ERROR,
    GT_KERNEL_SPOIL,
    GT_KERNEL_WITNESS,
    GT_KERNEL_STAIN,
    GT_CHECKER_KERNELS
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
    uint32_t poison; /* the word in all other memory */
};

/* An output between guards, and the elements that are right in it: low and high are packed,
 * of the output's type. Where low is above high, NaN is right as well, and the ends are
 * exchanged. */
struct gt_ranged {
    gemmtune_dtype type;
    int64_t count, stride, rows, ld; /* `count` matrices; all rows one after another have
                                      * the ranges */
    struct gt_order ranges; /* from a matrix to the matrix that has its ranges in its place;
                             * C's ranges are where its matrix is */
    bool keeps_old; /* rows that no product computes hold the case's old C, not poison */
    void *low, *high;
};

/* The epilogue of a case, its operands on the device, and the elements that are right. */
struct gt_fused {
    const struct gt_epilogue *epilogue;
    struct gt_fused_operand {
        struct gt_stack stored;
        void *mem, *view, *copy; /* the copy shows whether a kernel has changed mem */
        int64_t bytes;           /* of mem, with guards */
        uint64_t seed;
        char *data; /* mem on the host, until the ranges are made */
    } operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_ranged out[2]; /* C and, when there is one, d2 */
    struct gt_ranged
        rounded;        /* C of products that round the sum; without low: like out[0] */
    void *d2, *d2_view; /* NULL: no second output */
    int64_t d2_bytes;   /* with guards */
};

struct gt_case {
    struct gt_checker *checker;
    gemmtune_problem asked;   /* the problem of the kernels */
    struct gt_case_spec spec; /* its problem is gt_memory_of(asked) */
    struct gt_orders orders;
    struct gt_lists lists;
    struct gt_rows rows;
    struct gt_guarded a, b;
    /* The reference and its size, in the wide type: `batch` matrices of m x n, packed. With
     * an epilogue they are acc's, and live until the ranges are made. */
    void *r, *s;
    struct gt_fused *fused; /* NULL: no epilogue */
    /* The contents before the last product: the seed of the scratch's finite numbers, and
     * the words of the scratch without them, of the second output and of the guards of the
     * workspace. */
    uint64_t finite_seed;
    uint32_t poison_c, poison_d2, poison_w;
};

/* Bytes with a guard on each side, rounded up to whole words of every type. */
static inline int64_t gt_guarded_bytes(int64_t bytes) {
    return gt_bytes_sum(bytes, 2 * GT_GUARD + 7) / 8 * 8;
}

/* Elements of C that products compute. */
static inline int64_t gt_case_elements(const gemmtune_problem *p) {
    return gt_bytes_product(gt_problem_outputs(p), p->m * p->n);
}

/* Whether results must equal the reference, rounded to C's type, bit by bit. */
bool gt_case_is_exact(const struct gt_case *t);

/* The word of memory that kernels must not touch, as gt_case_spec.finite says. */
static inline uint32_t gt_case_word(const struct gt_case *t, gemmtune_dtype type,
                                    uint64_t seed) {
    return t->spec.finite ? gt_data_finite_word(seed) : gt_data_nan_word(type, seed);
}

/* Whether an element of C is right, where the reference has `want` and `size`. */
bool gt_case_is_right(const struct gt_case *t, double got, double want, double size);

/* See check.h: |c - r| <= sum * s + rounding * max(|r|, least). */
struct gt_bound {
    double sum, rounding, least;
};
struct gt_bound gt_bound_of(const struct gt_case *t);
/* Makes a view of the checker's scratch for C; the caller releases it. All of it, with
 * guards and padding, holds NaN or finite random numbers, as the case says. C0 is copied
 * into C when beta is not 0. */
gt_status gt_case_output(void **view, struct gt_case *t, struct gt_err *err);

/* Each enqueues a kernel. The first computes the reference of a case, with C0 at `c`. The
 * others count errors into the counters of a slot: of the output in the scratch, of an
 * input, of a workspace of `bytes`. */
gt_status gt_checker_reference(struct gt_case *t, void *c, struct gt_err *err);
gt_status gt_checker_compare(struct gt_case *t, int slot, struct gt_err *err);
gt_status gt_checker_unchanged(struct gt_case *t, const struct gt_guarded *o, int slot,
                               struct gt_err *err);
gt_status gt_checker_within(const struct gt_case *t, int64_t bytes, int slot,
                            struct gt_err *err);

/* ---- timed products: see witness.h ---- */

/* The sets that products are timed on, as they lie in memory: operand o of set i begins
 * GT_GUARD + i apart[o] bytes after mem[o]. Its data have seed data_seed + 3 i + o.
 */
struct gt_ring {
    gemmtune_problem memory;
    int count;
    void *mem[3];
    int64_t apart[3];
    uint64_t data_seed;
    void *ends; /* of the groups of rows, as in reference.cl */
    int groups;
};

/* Places in the outputs of a few sets. The two arrays are on the device: see witness.cl. */
enum { GT_WITNESS_WORDS = 4, GT_WITNESS_SETS = 4 };
struct gt_places {
    int set[GT_WITNESS_SETS], sets, count;
    uint64_t seed;
    void *words, *sums;
};

/* Each enqueues a kernel of witness.cl. The case is one of the ring's problem; it says what
 * C holds. */
gt_status gt_checker_spoil(const struct gt_case *t, const struct gt_ring *ring,
                           const struct gt_places *at, struct gt_err *err);
gt_status gt_checker_witness(const struct gt_case *t, const struct gt_ring *ring,
                             const struct gt_places *at, struct gt_err *err);
/* Changes as many words among the first `words` of the workspace. */
gt_status gt_checker_stain(struct gt_checker *c, int64_t words, uint64_t seed, int places,
                           struct gt_err *err);

/* Whether C holds old elements before a product. */
static inline bool gt_case_reads_c(const struct gt_case *t) {
    return t->spec.beta != 0 ||
           (t->fused != NULL && gt_epilogue_reads(t->fused->epilogue, GT_EPI_C));
}

static inline uint64_t gt_case_seed_c(const struct gt_case *t) {
    return t->spec.seed * 4 + 3;
}

/* Whether sums of integers become floats in C. Then C holds quarters of whole numbers
 * before a product, since the device generates integers beside integers (element.cl). */
static inline bool gt_case_converts(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    return gt_type_is_float(p->type_c) && !gt_type_is_float(p->type_acc);
}

/* The data of C before a product. */
static inline enum gt_data_mode gt_case_mode_c(const struct gt_case *t) {
    return gt_case_converts(t) ? GT_DATA_SMALL : t->spec.mode;
}

/* The old element (row, col) of C in product z. */
static inline double gt_case_old(const struct gt_case *t, int64_t z, int64_t row,
                                 int64_t col) {
    const struct gt_stack c = gt_stack_of(&t->spec.problem, 2);
    const double datum =
        gt_stack_value(&c, gt_case_seed_c(t), z, row, col, gt_case_mode_c(t));
    return gt_case_converts(t) ? datum / 4 : datum;
}

/* The alpha and beta of the reference: the case's, and with an epilogue 1 (0 when
 * alpha is 0) and 0, since its reference is acc. */
static inline double gt_case_alpha(const struct gt_case *t) {
    return t->fused == NULL ? t->spec.alpha : t->spec.alpha != 0;
}

static inline double gt_case_beta(const struct gt_case *t) {
    return t->fused == NULL ? t->spec.beta : 0;
}

/* The product that has row i of C's matrices, or the group that has it. The rows of all
 * matrices count, in the order in which they lie in memory. */
static inline int64_t gt_case_product(const struct gt_case *t, int64_t i) {
    const gemmtune_problem *p = &t->asked;
    return gt_problem_outputs(p) > 1 ? gt_order_at(t->orders.back, i / p->m, p->batch)
                                     : gt_rows_group(&t->rows, p, i);
}

/* Like gt_checker_compare, for an output of the case at `mem` in `bytes` that holds right
 * elements between guards. `finite_seed` 0: everything else is `poison`. */
gt_status gt_checker_between(const struct gt_case *t, void *mem, int64_t bytes,
                             const struct gt_ranged *out, uint32_t poison,
                             uint64_t finite_seed, int slot, struct gt_err *err);
/* Counts bytes of x that differ from its copy. */
gt_status gt_checker_same(struct gt_checker *c, void *x, void *copy, int64_t bytes,
                          int slot, struct gt_err *err);

/* The error of the output in the scratch. The case must have no epilogue. */
gt_status gt_checker_error(struct gt_error *out, struct gt_case *t, struct gt_err *err);

/* ---- fused.c and fused_ranges.c: cases with an epilogue ---- */

/* The rows of all products, which operands and ranges have one after another. */
static inline int64_t gt_fused_rows(const gemmtune_problem *p) {
    return gt_bytes_product(gt_problem_outputs(p), p->m);
}

/* Makes the operands and the room for outputs of a case with an epilogue. */
gt_status gt_fused_create(struct gt_case *t, struct gt_err *err);
/* Makes the ranges from the reference, which must be there. */
gt_status gt_fused_settle(struct gt_case *t, struct gt_err *err);
void gt_fused_destroy(struct gt_case *t); /* accepts a case without an epilogue */
/* Device bytes that the epilogue of a problem takes beside gt_case's own. */
int64_t gt_fused_bytes(const gemmtune_problem *p);
struct gt_fused_operands {
    const void *operand[GT_EPILOGUE_OPERANDS_MAX];
    int64_t ld[GT_EPILOGUE_OPERANDS_MAX];
};
/* Fills in the operands and the second output of a call; nothing without an epilogue. The
 * call points into `room`. `t` may be NULL. */
void gt_fused_call(struct gt_call *call, struct gt_fused_operands *room,
                   const struct gt_case *t);
/* Enqueues spoiling the second output. */
gt_status gt_fused_spoil(struct gt_case *t, struct gt_err *err);
/* Counts errors of C, d2 and the operands. */
gt_status gt_fused_compare(struct gt_case *t, bool rounds_sum, int slot,
                           struct gt_err *err);
/* An element of C of a product that was timed, and what it is made of. */
struct gt_fused_element {
    int64_t product;     /* or the group that has the row */
    int64_t row, column; /* the rows of all products count, in their order */
    double sum, size;    /* of its terms, by the reference */
    double old;          /* C before the product */
    double alpha, beta;
};
/* Whether output `which` (0: C; 1: d2) may hold `got` there. */
bool gt_fused_allows(const struct gt_case *t, int which, const struct gt_fused_element *x,
                     double got);
/* Reads element (i, j) of product z from the second output. */
gt_status gt_fused_second(double *out, const struct gt_case *t, int64_t z, int64_t i,
                          int64_t j, struct gt_err *err);
/* Writes the first wrong element of the last product, "; (3, 4) is 1.5, not 2 to 3". */
void gt_fused_first_wrong(char *text, size_t size, struct gt_case *t, bool rounds_sum);

/* Fills `bytes` of the workspace and the guards with a word, then all but the guards with
 * finite numbers when the case says so. */
gt_status gt_case_workspace(struct gt_case *t, int64_t bytes, struct gt_err *err);
/* Frees memory of the rig; accepts NULL. */
void gt_checker_release(struct gt_checker *c, void *mem);

#endif
