/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c - the tables of mixes, inputs and element types. */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

#define F32      GEMMTUNE_F32
#define F64      GEMMTUNE_F64
#define F16      GEMMTUNE_F16
#define BF16     GEMMTUNE_BF16
#define E4M3     GEMMTUNE_E4M3
#define E5M2     GEMMTUNE_E5M2
#define I8       GEMMTUNE_I8
#define I32      GEMMTUNE_I32
#define STRICT   GEMMTUNE_MATH_STRICT
#define TF32     GEMMTUNE_MATH_TF32
#define FAST     GEMMTUNE_MATH_FAST
#define SPLIT    GEMMTUNE_MATH_SPLIT
#define RESIDUES GEMMTUNE_MATH_RESIDUES
#define PROMOTED GEMMTUNE_MATH_PROMOTED
#define BF16X3   GEMMTUNE_MATH_BF16X3

/* 8-bit floats: sums in F32 or with fewer bits, all of them or only those over 128 of k. */
#define SUMS_(word, A, B, C)                                                               \
    {word, A, B, C, F32, STRICT}, {word "@fast", A, B, C, F32, FAST}, {                    \
        word "@promoted", A, B, C, F32, PROMOTED                                           \
    }
/* `bf16` is the part of the word that says that C is BF16; "" where that is the default. */
#define FLOATS_8(inputs, bf16, A, B)                                                       \
    SUMS_(inputs bf16, A, B, BF16), SUMS_(inputs "=f16", A, B, F16),                       \
        SUMS_(inputs "=f32", A, B, F32)

/* clang-format off */
static const struct gt_dtype rows[] = {
    /* name       A     B     C     acc  math */
    {"f32",      F32,  F32,  F32,  F32, STRICT},
    {"f64",      F64,  F64,  F64,  F64, STRICT},
    {"i32",      I32,  I32,  I32,  I32, STRICT}, /* modulo 2^32 */
    {"f16",      F16,  F16,  F16,  F32, STRICT},
    {"bf16",     BF16, BF16, BF16, F32, STRICT},
    {"tf32",     F32,  F32,  F32,  F32, TF32},
    {"i8",       I8,   I8,   I32,  I32, STRICT},
    {"f16=f32",  F16,  F16,  F32,  F32, STRICT},
    {"bf16=f32", BF16, BF16, F32,  F32, STRICT},
    FLOATS_8("e4m3", "", E4M3, E4M3),
    FLOATS_8("e5m2", "", E5M2, E5M2),
    FLOATS_8("e4m3+e5m2", "=bf16", E4M3, E5M2),
    FLOATS_8("e5m2+e4m3", "=bf16", E5M2, E4M3),
    {"f32@split", F32, F32, F32, F32, SPLIT},
    {"f64@residues", F64, F64, F64, F64, RESIDUES},
    {"f32@bf16x3", F32, F32, F32, F32, BF16X3},
    {"i8=f32",   I8,   I8,   F32,  I32, STRICT},
    {"i8=f16",   I8,   I8,   F16,  I32, STRICT},
    {"i8=bf16",  I8,   I8,   BF16, I32, STRICT},
    {"i8=i8",    I8,   I8,   I8,   I32, STRICT},
};

static const struct gt_input inputs[] = {
    /* name   type  C     acc  math */
    {"f32",  F32,  F32,  F32, STRICT},
    {"f64",  F64,  F64,  F64, STRICT},
    {"f16",  F16,  F16,  F32, STRICT},
    {"bf16", BF16, BF16, F32, STRICT},
    {"e4m3", E4M3, BF16, F32, STRICT},
    {"e5m2", E5M2, BF16, F32, STRICT},
    {"i8",   I8,   I32,  I32, STRICT},
    {"i32",  I32,  I32,  I32, STRICT},
    {"tf32", F32,  F32,  F32, TF32},
};
/* clang-format on */

const struct gt_type gt_types[GT_TYPES] = {
    [GEMMTUNE_F32] = {"f32", 4, 0x1p-24},  [GEMMTUNE_F64] = {"f64", 8, 0x1p-53},
    [GEMMTUNE_F16] = {"f16", 2, 0x1p-11},  [GEMMTUNE_BF16] = {"bf16", 2, 0x1p-8},
    [GEMMTUNE_E4M3] = {"e4m3", 1, 0x1p-4}, [GEMMTUNE_E5M2] = {"e5m2", 1, 0x1p-3},
    [GEMMTUNE_I8] = {"i8", 1, 0},          [GEMMTUNE_I32] = {"i32", 4, 0},
};

_Static_assert(sizeof rows / sizeof *rows == GT_DTYPES, "GT_DTYPES counts the mixes");

enum {
    ROW_COUNT = sizeof rows / sizeof *rows,
    INPUT_COUNT = sizeof inputs / sizeof *inputs
};

static bool is_8_bit_float(gemmtune_dtype type) {
    return gt_type_is_float(type) && gt_type_size(type) == 1;
}

static bool is_name(const char *row, const char *name, size_t len) {
    return strlen(row) == len && memcmp(row, name, len) == 0;
}

/* ---- mixes ----------------------------------------------------------------- */

bool gt_dtypes_alike(const struct gt_dtype *x, const struct gt_dtype *y) {
    return gt_type_size(x->a) == gt_type_size(y->a) &&
           gt_type_size(x->b) == gt_type_size(y->b) &&
           gt_type_size(gt_type_without_epilogue(x->c, x->acc)) ==
               gt_type_size(gt_type_without_epilogue(y->c, y->acc)) &&
           x->acc == y->acc && x->math == y->math &&
           gt_type_is_float(x->a) == gt_type_is_float(y->a);
}

const struct gt_dtype *gt_dtype_at(size_t i) {
    return i < ROW_COUNT ? &rows[i] : NULL;
}

size_t gt_dtype_index(const struct gt_dtype *row) {
    return (size_t)(row - rows);
}

const struct gt_dtype *gt_dtype_by_name(const char *name, size_t len) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (is_name(rows[i].name, name, len))
            return &rows[i];
    return NULL;
}

static bool row_fits(const struct gt_dtype *row, const gemmtune_problem *p) {
    return row->a == p->type_a && row->b == p->type_b && row->c == p->type_c &&
           row->acc == p->type_acc && row->math == p->math;
}

const struct gt_dtype *gt_dtype_of(const gemmtune_problem *p) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (row_fits(&rows[i], p))
            return &rows[i];
    return NULL;
}

const struct gt_dtype *gt_dtype_strict(const struct gt_dtype *row) {
    const struct gt_dtype *strict = row;
    for (size_t i = 0; row != NULL && i < ROW_COUNT; i++)
        if (rows[i].a == row->a && rows[i].b == row->b && rows[i].c == row->c &&
            rows[i].acc == row->acc && rows[i].math == STRICT)
            strict = &rows[i];
    return strict;
}

bool gt_dtype_is_float_8(const struct gt_dtype *row) {
    return is_8_bit_float(row->a) && is_8_bit_float(row->b);
}

bool gt_dtype_is_integer_8(const struct gt_dtype *row) {
    return row->a == I8 && row->b == I8;
}

gemmtune_dtype gt_type_without_epilogue(gemmtune_dtype c, gemmtune_dtype acc) {
    return gt_type_is_float(acc) ? c : acc;
}

/* ---- inputs ---------------------------------------------------------------- */

const struct gt_input *gt_input_by_name(const char *name, size_t len) {
    for (size_t i = 0; i < INPUT_COUNT; i++)
        if (is_name(inputs[i].name, name, len))
            return &inputs[i];
    return NULL;
}

const struct gt_input *gt_input_of(gemmtune_dtype type, gemmtune_math math) {
    for (size_t i = 0; i < INPUT_COUNT; i++)
        if (inputs[i].type == type && inputs[i].math == math)
            return &inputs[i];
    return NULL;
}

/* ---- element types --------------------------------------------------------- */

/* The types come from a caller's struct, so a value may lie outside the enum. */
bool gt_type_by_name(gemmtune_dtype *out, const char *name, size_t len) {
    for (size_t i = 0; i < GT_TYPES; i++)
        if (is_name(gt_types[i].name, name, len)) {
            *out = (gemmtune_dtype)i;
            return true;
        }
    return false;
}

gemmtune_dtype gt_type_accumulator(gemmtune_dtype a, gemmtune_dtype b) {
    if (a == F64 || b == F64)
        return F64;
    return gt_type_is_float(a) || gt_type_is_float(b) ? F32 : I32;
}

double gt_sum_unit(const gemmtune_problem *p) {
    static const double fast = 0x1p-14;
    return p->math == FAST || p->math == PROMOTED ? fast : gt_type_unit(p->type_acc);
}

int64_t gt_sum_depth(const gemmtune_problem *p) {
    const bool ends = p->math == PROMOTED && p->k > GT_PROMOTION_DEPTH;
    return ends ? GT_PROMOTION_DEPTH : p->k;
}

double gt_sum_spread(const gemmtune_problem *p) {
    const int64_t depth = gt_sum_depth(p);
    return depth < p->k ? sqrt((double)depth / (double)p->k) : 1;
}

double gt_input_unit(const gemmtune_problem *p) {
    static const double tf32 = 0x1p-10;
    return p->math == TF32 ? tf32 : 0;
}

gemmtune_math gt_type_math(gemmtune_math math, gemmtune_dtype a, gemmtune_dtype b,
                           gemmtune_dtype acc) {
    if (math == TF32 && a == F32 && b == F32)
        return TF32;
    if ((math == SPLIT || math == BF16X3) && a == F32 && b == F32 && acc == F32)
        return math;
    if (math == RESIDUES && a == F64 && b == F64 && acc == F64)
        return RESIDUES;
    if ((math == FAST || math == PROMOTED) && is_8_bit_float(a) && is_8_bit_float(b) &&
        acc == F32)
        return math;
    return STRICT;
}

bool gt_math_is_own(gemmtune_math math) {
    return math == SPLIT || math == RESIDUES || math == BF16X3;
}
