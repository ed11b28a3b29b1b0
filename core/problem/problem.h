/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - a product to compute, in its one canonical form, and its name.
 *
 * Canonical: struct_size is ours, row-major, leading dimensions and strides filled in,
 * types and math as gt_type_math returns them, a packed B as gt_packed_settle describes it.
 * C[m,n] = alpha * op(A)[m,k] * op(B)[k,n] + beta * C. A stored A is m x k rows of lda
 * elements ("n") or k x m ("t"); B is k x n ("n") or n x k ("t"). A column-major problem is
 * the same one with A and B, m and n exchanged; `swapped` tells the caller to exchange the
 * pointers as well.
 *
 * A name is <types>-<nn|nt|tn|tt>-<m>x<n>x<k>{,option}. Types are the word of dtype.h.
 * Options are the rows of gt_problem_options in any order; epi= comes last and runs to the
 * end of the text. A name that is written has the epilogue's canonical text.
 */
#ifndef GT_CORE_PROBLEM_PROBLEM_H
#define GT_CORE_PROBLEM_PROBLEM_H

#include "core/dtype.h"

/* Bytes of the longest name with its NUL: 236 and the epilogue. */
enum { GT_PROBLEM_NAME_MAX = 512 };

/* Larger dimensions are refused, and larger leading dimensions of several rows. Kernels
 * index rows and columns with int, and compute every product of two of them with 64 bits.
 */
#define GT_DIM_MAX INT64_C(2147483647)

/* Checks *in, a caller's struct, and writes its canonical form; *out is untouched on
 * failure. EINVAL names the member and its value, EUNSUPPORTED a newer struct. In a
 * canonical problem the bytes of each operand fit an int64. A batch of no products becomes
 * a product of no rows and no columns. `swapped` may be NULL, `out` may be `in`. */
gt_status gt_problem_settle(gemmtune_problem *out, bool *swapped,
                            const gemmtune_problem *in, struct gt_err *err);

/* EUNSUPPORTED names the feature of a canonical problem that no kernel computes yet. */
gt_status gt_problem_supported(const gemmtune_problem *p, struct gt_err *err);

/* Replaces the epilogue of a problem, if it has one, by its canonical text, which lives
 * until the process ends. The problem's copies may then outlive the caller's text. EPARSE
 * as for a bad epilogue; ENOMEM. */
gt_status gt_problem_keep(gemmtune_problem *p, struct gt_err *err);

/* gt_problem_settle, gt_problem_supported, then gt_problem_keep: the result can be looked
 * up, tuned and run. */
gt_status gt_problem_canonical(gemmtune_problem *out, bool *swapped,
                               const gemmtune_problem *in, struct gt_err *err);

/* Copies *in to a caller's struct of `size` bytes. */
gt_status gt_problem_copy_out(gemmtune_problem *out, size_t size,
                              const gemmtune_problem *in, struct gt_err *err);

/* gemmtune_problem_init for a caller's struct of `size` bytes. */
gt_status gt_problem_init(gemmtune_problem *p, size_t size, gemmtune_dtype type, int64_t m,
                          int64_t n, int64_t k, struct gt_err *err);

/* Whether a canonical problem is more than a single product: kernels then take strides, or
 * pointers to pointers. */
bool gt_problem_is_batch(const gemmtune_problem *p);
/* Whether pointers lead to its matrices. */
bool gt_problem_has_pointers(const gemmtune_problem *p);
/* Whether a call says which rows are computed: the rows of each group, or the first rows of
 * each product. */
bool gt_problem_has_rows(const gemmtune_problem *p);
/* Matrices of C, and of A where it is not shared: 1 for groups of rows, else `batch`. */
int64_t gt_problem_outputs(const gemmtune_problem *p);

/* Rows of a group or a product when all groups are equal and no row is masked; 0 when rows
 * are neither grouped nor masked. */
int64_t gt_problem_rows_by_default(const gemmtune_problem *p);
/* Rows of op(A) that one product is expected to compute. */
int64_t gt_problem_expected_rows(const gemmtune_problem *p);

/* ---- the name -------------------------------------------------------------- */

/* An option after the sizes of a name. A sweep file has the same keys. */
struct gt_problem_option {
    const char *name; /* as in "lda=8" and "beta" */
    enum gt_name_kind { GT_NAME_NUMBER, GT_NAME_BYTES, GT_NAME_FLAG, GT_NAME_TEXT } kind;
    /* of the member: int64_t, uint32_t, int32_t or const char *, by its kind */
    size_t offset;
    int64_t least, most;            /* of a number or of bytes */
    gemmtune_batch_kind batch_kind; /* the kind that the option implies; STRIDED: none */
};
extern const struct gt_problem_option gt_problem_options[]; /* ends in a NULL name */

/* Sets one option: `number` for a NUMBER or BYTES, `text` for a TEXT. `seen` has a bit for
 * each row that was set before. EPARSE when a row is set twice, or excludes one that was
 * set. */
gt_status gt_problem_set(gemmtune_problem *p, unsigned *seen,
                         const struct gt_problem_option *option, int64_t number,
                         const char *text, struct gt_err *err);

/* Parses a name into canonical form; an epilogue is not copied. EPARSE quotes the part that
 * is wrong. */
gt_status gt_problem_read_name(gemmtune_problem *out, const char *name, struct gt_err *err);

/* gt_problem_read_name, gt_problem_supported, then gt_problem_keep. */
gt_status gt_problem_from_name(gemmtune_problem *out, const char *name, struct gt_err *err);

/* The name of a canonical problem; returns its length. */
int gt_problem_name(const gemmtune_problem *p, char buf[GT_PROBLEM_NAME_MAX]);

/* The words of layouts, "nn" "nt" "tn" "tt": word 2 * trans_a + trans_b, ended by NULL. */
enum { GT_LAYOUTS = 4 };
extern const char *const gt_layout_words[GT_LAYOUTS + 1];
const char *gt_problem_layout(const gemmtune_problem *p);

/* ---- sizes ----------------------------------------------------------------- */

/* A stored operand: `rows` rows of `cols` elements. */
struct gt_shape {
    int64_t rows, cols;
};
struct gt_shape gt_problem_shape_a(const gemmtune_problem *p);
struct gt_shape gt_problem_shape_b(const gemmtune_problem *p);
struct gt_shape gt_problem_shape_c(const gemmtune_problem *p);
/* The least leading dimension. */
int64_t gt_shape_least_ld(struct gt_shape s);
/* Elements from the first to the last, at the leading dimension `ld`. */
int64_t gt_shape_elems(struct gt_shape s, int64_t ld);
/* The same for `count` matrices, `stride` elements from one to the next. False: more than
 * an int64 counts. */
bool gt_shape_count_elems(int64_t *out, struct gt_shape shape, int64_t ld, int64_t stride,
                          int64_t count);

/* Sizes of a canonical problem, over all its products. */

/* The rows of C that are computed. Rows that groups or masks are expected to leave out do
 * not count. */
double gt_problem_rows(const gemmtune_problem *p);
double gt_problem_flops(const gemmtune_problem *p); /* 2 n k a row */
/* elements from the first to the last, with leading dimensions and strides */
int64_t gt_problem_elems_a(const gemmtune_problem *p);
int64_t gt_problem_elems_b(const gemmtune_problem *p);
int64_t gt_problem_elems_c(const gemmtune_problem *p);
/* Bytes of A, B and C once, with leading-dimension padding. */
double gt_problem_bytes(const gemmtune_problem *p);

/* Bytes of the pointers to its matrices and of the numbers of rows, which a call gives in
 * device memory. */
double gt_problem_list_bytes(const gemmtune_problem *p);

/* Bytes that any kernel must move: the elements of A, B and C once, without padding, gaps
 * and rows that are not computed, and the lists. An operand that all products of a batch
 * share counts once. */
double gt_problem_least_bytes(const gemmtune_problem *p);

/* The widest load. A larger alignment has no use, and every allocator gives this one. */
enum { GT_VECTOR_BYTES = 16 };

/* The largest power of two, at most GT_VECTOR_BYTES, that divides the address of every row
 * of an operand with a pointer of `pointer_align`. `stride` is the elements from a matrix
 * of a batch to the next, 0 when there is one matrix. It says which vector loads are legal.
 */
int64_t gt_row_align(int64_t ld, int64_t stride, gemmtune_dtype type,
                     int64_t pointer_align);

/* ---- problems near each other ---------------------------------------------- */

/* Whether two problems have the same types, layout, kind of batch, order and epilogue, so
 * that one kernel may serve both. A single product and a batch differ. A packed B has a
 * layout like any other matrix, so it makes no difference. */
bool gt_problem_same_kind(const gemmtune_problem *x, const gemmtune_problem *y);

/* Whether a kernel that did well for `known` may do well for `p`: the two are of one kind,
 * or differ in the epilogue of `p`, which any kernel computes, in the row_order of `p`, for
 * which a lookup compares orders of sums, or in the kind of batch, where `known` is
 * strided. */
bool gt_problem_lends(const gemmtune_problem *known, const gemmtune_problem *p);

/* The product that an epilogue gets: without the epilogue, and with integer sums stored as
 * they are. */
gemmtune_problem gt_problem_plain(const gemmtune_problem *p);

/* The place of a problem among others of its kind: log2 of m, n, k and batch, with the
 * expected rows of a product as m. */
enum { GT_PLACE_DIMS = 4 };
void gt_problem_place(double at[GT_PLACE_DIMS], const gemmtune_problem *p);
/* The squared Euclidean distance of two places. */
double gt_place_distance2(const double x[GT_PLACE_DIMS], const double y[GT_PLACE_DIMS]);
double gt_problem_distance2(const gemmtune_problem *x, const gemmtune_problem *y);

#endif
