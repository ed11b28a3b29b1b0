/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.h - three tables of data types.
 *   elements: the size, name and unit roundoff of one element
 *   inputs: the meaning of a word that stands alone, such as "f32", "tf32" or "i8"
 *   mixes: the types of A, B, C and the accumulator that a kernel family may declare
 * Other properties follow from these (core/element.h) and are not listed again. Tables
 * elsewhere with a line for each type only translate, to a vendor's names or a device's
 * rates.
 */
#ifndef GT_CORE_DTYPE_H
#define GT_CORE_DTYPE_H

#include "core/status.h"

#include <stdbool.h>

/* The number of mixes, for arrays with an entry for each: see gt_dtype_index. */
enum { GT_DTYPES = 52 };

/* A mix: the stored types of A, B and C, the type of the sum, and the arithmetic. */
struct gt_dtype {
    const char *name; /* the canonical word of problem names: "f32", "bf16=f32" */
    gemmtune_dtype a, b, c, acc;
    gemmtune_math math;
};

/* An input word: the type of A and B, and the types and arithmetic that it implies. */
struct gt_input {
    const char *name; /* the element's name, or "tf32" */
    gemmtune_dtype type, c, acc;
    gemmtune_math math;
};

/* The mix called `name` (length `len`), or NULL. Canonical words only. */
const struct gt_dtype *gt_dtype_by_name(const char *name, size_t len);
/* The mix of a problem's types; NULL when no family may declare it. */
const struct gt_dtype *gt_dtype_of(const gemmtune_problem *p);
/* The mix of the same types in strict arithmetic. Its kernels are right for `row` too,
 * since the other arithmetics only allow more. NULL for NULL. */
const struct gt_dtype *gt_dtype_strict(const struct gt_dtype *row);
/* Whether A and B are 8-bit floats. */
bool gt_dtype_is_float_8(const struct gt_dtype *row);
/* Whether A and B are 8-bit integers. */
bool gt_dtype_is_integer_8(const struct gt_dtype *row);
/* The type that C has without an epilogue: I32 for integer sums, `c` for sums of floats. */
gemmtune_dtype gt_type_without_epilogue(gemmtune_dtype c, gemmtune_dtype acc);
/* Whether products of both mixes take about the same time with one kernel: they compute in
 * the same type and arithmetic, and their types have the same sizes. C counts as it is
 * without an epilogue. */
bool gt_dtypes_alike(const struct gt_dtype *x, const struct gt_dtype *y);
/* Mix i, NULL past the end. */
const struct gt_dtype *gt_dtype_at(size_t i);
/* The i of a mix, below GT_DTYPES. */
size_t gt_dtype_index(const struct gt_dtype *row);

/* The input called `name` (length `len`), or NULL. */
const struct gt_input *gt_input_by_name(const char *name, size_t len);
/* The input of elements `type` in arithmetic `math`, or NULL. */
const struct gt_input *gt_input_of(gemmtune_dtype type, gemmtune_math math);

/* The element type called `name` (length `len`); false when there is none. */
bool gt_type_by_name(gemmtune_dtype *out, const char *name, size_t len);
/* The accumulator of products of `a` and `b` when none is named: F64 when one of them is
 * F64, I32 when both are integers, else F32. */
gemmtune_dtype gt_type_accumulator(gemmtune_dtype a, gemmtune_dtype b);
/* The arithmetic that `math` allows for these types. TF32 lets F32 inputs be rounded. SPLIT
 * lets them be two parts of TF32 each, BF16X3 of BF16 (docs/split.md). FAST lets sums of
 * 8-bit floats have fewer bits than F32, PROMOTED only sums over 128 of k. RESIDUES lets
 * F64 inputs be rounded to integers that are multiplied by their residues
 * (docs/residues.md). For all other types each becomes STRICT. */
gemmtune_math gt_type_math(gemmtune_math math, gemmtune_dtype a, gemmtune_dtype b,
                           gemmtune_dtype acc);
/* Whether `math` is an arithmetic of gemmtune's own: vendors' libraries are then asked for
 * STRICT. */
bool gt_math_is_own(gemmtune_math math);

/* The unit roundoff of the partial sums of a canonical problem: the accumulator's, but
 * 2^-14 with FAST and PROMOTED. The tensor cores of sm_89 and sm_90 keep 14 bits of a sum
 * of 8-bit floats (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.3.2:
 * "around 14 bits"; Zhang et al., "SageAttention2", 2024: 1 sign, 8 exponent, 13 fraction
 * bits). */
double gt_sum_unit(const gemmtune_problem *p);
/* The number of products in such a partial sum: k, but at most GT_PROMOTION_DEPTH with
 * PROMOTED. With PROMOTED the partial sums are added up in the accumulator's type. CUTLASS
 * and DeepSeek-V3 (the same section) have this interval. */
enum { GT_PROMOTION_DEPTH = 128 };
int64_t gt_sum_depth(const gemmtune_problem *p);
/* How large the error of all partial sums together is, as a part of the error of one sum
 * over k. It holds for terms with a mean of 0. Then the errors of p partial sums have
 * independent signs and add up as sqrt(p), while the sizes of the terms add up as p. So the
 * part is 1 / sqrt(p). */
double gt_sum_spread(const gemmtune_problem *p);
/* The most by which an element of A or B may be rounded, relative to it: 2^-10 with TF32,
 * which drops all bits but 10 of the fraction; else 0. */
double gt_input_unit(const gemmtune_problem *p);

/* An element type. */
struct gt_type {
    const char *name; /* "f32", "i32", ... */
    size_t size;      /* bytes per element */
    double unit; /* unit roundoff: half the gap after 1, 2^-24 for f32; 0 for integers */
};
enum { GT_TYPES = 8 };
extern const struct gt_type gt_types[GT_TYPES]; /* by gemmtune_dtype */

/* The functions below accept any number, and run for every element of a check. */
static inline bool gt_type_exists(gemmtune_dtype type) {
    return (size_t)type < GT_TYPES;
}

static inline const char *gt_type_name(gemmtune_dtype type) {
    return gt_type_exists(type) ? gt_types[type].name : "?";
}

static inline size_t gt_type_size(gemmtune_dtype type) {
    return gt_type_exists(type) ? gt_types[type].size : 0;
}

static inline double gt_type_unit(gemmtune_dtype type) {
    return gt_type_exists(type) ? gt_types[type].unit : 0;
}

static inline bool gt_type_is_float(gemmtune_dtype type) {
    return gt_type_unit(type) > 0;
}

/* The word of a problem's types:
 *     <input>[+<input of B>][=<type of C>]
 *         [@<accumulator>|@fast|@promoted|@split|@bf16x3|@residues]
 *     input: f32 f64 f16 bf16 e4m3 e5m2 i8 i32, or tf32 for f32 with GEMMTUNE_MATH_TF32
 * Defaults: B has the type of A; C has the type that the table of inputs gives; the
 * accumulator is gt_type_accumulator's. A word with "+" must have "=". Examples: "f32",
 * "bf16=f32", "e4m3+e5m2=bf16", "f16@f16", "e4m3@fast", "e4m3@promoted",
 * "f32@split", "f32@bf16x3", "f64@residues". */
enum { GT_TYPES_WORD_MAX = 32 };
/* Sets the four types and math of *p from the first `len` bytes of a word. EPARSE quotes
 * the part that is wrong; *p is then unspecified. */
gt_status gt_types_from_word(gemmtune_problem *p, const char *word, size_t len,
                             struct gt_err *err);
/* The canonical word of a canonical problem; returns its length. */
int gt_types_word(const gemmtune_problem *p, char buf[GT_TYPES_WORD_MAX]);

#endif
