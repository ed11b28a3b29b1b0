/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - see read.h. */
#include "shim/read.h"

#include "shim/blas.h"
#include "shim/original.h"
#include "shim/problem.h"
#include "shim/types.h"

#include <string.h>

static bool is_complex(unsigned theirs) {
    return theirs == GT_SHIM_C_32F || theirs == GT_SHIM_C_64F || theirs == GT_SHIM_C_16F ||
           theirs == GT_SHIM_C_16BF || theirs == GT_SHIM_C_8I;
}

/* ---- arithmetic  ---- */

/* The meaning of a compute type of theirs for a type of A. Sums of 16-bit floats in 16 bits
 * have no kernel: one with f32 sums would be right, but was measured against another
 * product of theirs. PEDANTIC asks for the arithmetic of ordinary cores, which our kernels
 * for 16-bit types do not use. */
struct arithmetic {
    uint8_t is_served, type, acc, math;
    bool strictly; /* other arithmetics may not take its place */
};

enum { LEAST_COMPUTE = 64, COMPUTES = 16 };

static const struct arithmetic arithmetics[COMPUTES][GT_SHIM_TYPE_COUNT] = {
#define ROW(compute, its_type, acc, math, strictly)                                        \
    [(compute)-LEAST_COMPUTE][GEMMTUNE_##its_type] = {                                     \
        1, GEMMTUNE_##its_type, GEMMTUNE_##acc, GEMMTUNE_MATH_##math, strictly}
    ROW(GT_SHIM_32F, F32, F32, STRICT, false),
    ROW(GT_SHIM_32F, BF16, F32, STRICT, false),
    ROW(GT_SHIM_32F, F16, F32, STRICT, false),
    ROW(GT_SHIM_32F, E4M3, F32, PROMOTED, false),
    ROW(GT_SHIM_32F, E5M2, F32, PROMOTED, false),
    ROW(GT_SHIM_64F, F64, F64, STRICT, false),
    ROW(GT_SHIM_32F_TF32, F32, F32, TF32, false),
    ROW(GT_SHIM_32F_PEDANTIC, F32, F32, STRICT, true),
    ROW(GT_SHIM_64F_PEDANTIC, F64, F64, STRICT, true),
    ROW(GT_SHIM_32I, I8, I32, STRICT, false),
    ROW(GT_SHIM_32I_PEDANTIC, I8, I32, STRICT, false),
#undef ROW
};

static enum gt_shim_reason no_arithmetic(const struct gt_shim_call *x) {
    return x->compute == GT_SHIM_32F_BF16X9 || x->compute == GT_SHIM_64F_FIXED
               ? GT_SHIM_EMULATION
               : GT_SHIM_COMPUTE;
}

static enum gt_shim_reason read_arithmetic(struct arithmetic *out,
                                           const struct gt_shim_call *x, int type_a) {
    const unsigned row = x->compute - LEAST_COMPUTE;
    if (row >= COMPUTES || !arithmetics[row][type_a].is_served)
        return no_arithmetic(x);
    *out = arithmetics[row][type_a];
    return GT_SHIM_NONE;
}

/* The mode of a handle of cuBLAS. It speaks of f32 and f64 alone; TF32 of f32 products that
 * name no other arithmetic. */
static enum gt_shim_reason apply_math_mode(struct arithmetic *a,
                                           const struct gt_shim_call *x) {
    enum { EMULATES_F32 = 4, EMULATES_F64 = 8 };
    unsigned mode = 0;
    if (x->library->get_math_mode == NULL ||
        x->library->get_math_mode(x->handle, &mode) != 0)
        return GT_SHIM_INVALID;
    mode &= ~(unsigned)GT_SHIM_WIDE_SUMS;
    const bool wide = a->type == GEMMTUNE_F32 || a->type == GEMMTUNE_F64;
    if (mode == GT_SHIM_DEFAULT_MATH || a->acc == GEMMTUNE_I32)
        return GT_SHIM_NONE;
    if (mode == GT_SHIM_PEDANTIC_MATH) {
        a->strictly = true;
        return wide && a->math == GEMMTUNE_MATH_STRICT ? GT_SHIM_NONE : GT_SHIM_MATH;
    }
    if (mode == GT_SHIM_TF32_MATH) {
        if (x->compute == GT_SHIM_32F && a->type == GEMMTUNE_F32)
            a->math = GEMMTUNE_MATH_TF32;
        return GT_SHIM_NONE;
    }
    if (mode == EMULATES_F32 || mode == EMULATES_F64)
        return wide ? GT_SHIM_EMULATION : GT_SHIM_NONE;
    return wide || mode != 1 ? GT_SHIM_MATH : GT_SHIM_NONE; /* 1: f32 as 16-bit floats */
}

/* The program's environment may change the arithmetic of its library. */
static enum gt_shim_reason apply_environment(const struct arithmetic *a,
                                             const struct gt_shim_state *s) {
    const bool f32 = a->type == GEMMTUNE_F32, f64 = a->type == GEMMTUNE_F64;
    if ((f32 && s->emulates_f32) || (f64 && s->emulates_f64))
        return GT_SHIM_EMULATION;
    return f32 && s->overrides_tf32 ? GT_SHIM_MATH : GT_SHIM_NONE;
}

/* The user may allow more than the program asks for. */
static void apply_options(struct arithmetic *a, const struct gt_shim_state *s) {
    if (a->strictly || a->math != GEMMTUNE_MATH_STRICT)
        return;
    if (a->type == GEMMTUNE_F32 && s->mode.split)
        a->math = GEMMTUNE_MATH_SPLIT;
    if (a->type == GEMMTUNE_F64 && s->mode.residues)
        a->math = GEMMTUNE_MATH_RESIDUES;
}

static enum gt_shim_reason read_types(struct gt_shim_key *key, const struct gt_shim_call *x,
                                      const struct gt_shim_state *s) {
    const int a = gt_shim_type(x->type_a), b = gt_shim_type(x->type_b),
              c = gt_shim_type(x->type_c);
    struct arithmetic how = {0};
    if (is_complex(x->type_a) || is_complex(x->type_b) || is_complex(x->type_c))
        return GT_SHIM_COMPLEX;
    if (a < 0 || b < 0 || c < 0)
        return GT_SHIM_TYPES;
    enum gt_shim_reason why = read_arithmetic(&how, x, a);
    if (why == GT_SHIM_NONE && x->lt == NULL)
        why = apply_math_mode(&how, x);
    if (why == GT_SHIM_NONE)
        why = apply_environment(&how, s);
    apply_options(&how, s);
    if (how.math == GEMMTUNE_MATH_PROMOTED && x->fast != 0)
        how.math = GEMMTUNE_MATH_FAST;
    /* The problem is the transpose: their B is our A. */
    key->type_a = (uint8_t)b;
    key->type_b = (uint8_t)a;
    key->type_c = (uint8_t)c;
    key->type_acc = how.acc;
    key->math = how.math;
    return why;
}

/* ---- scalars, shape and pointers  ---- */

static enum gt_shim_reason read_scalars(struct gt_shim_key *key,
                                        const struct gt_shim_call *x) {
    unsigned mode = 0;
    if (x->lt == NULL &&
        (x->library->get_pointer_mode == NULL ||
         x->library->get_pointer_mode(x->handle, &mode) != 0 || mode != GT_SHIM_HOST))
        return GT_SHIM_SCALARS;
    if (x->alpha == NULL || x->beta == NULL)
        return GT_SHIM_INVALID;
    key->reads_c = !gt_shim_is_zero(x->beta, key->type_acc);
    return GT_SHIM_NONE;
}

static bool is_op(unsigned op) {
    return op <= GT_SHIM_CONJUGATE;
}

static bool fits(int64_t value) {
    return value >= 0 && value <= INT32_MAX;
}

/* cuBLAS refuses a leading dimension that is less than the rows as stored. */
static bool are_wide_enough(const struct gt_shim_call *x) {
    return x->lda >= (x->op_a == GT_SHIM_N ? x->m : x->k) &&
           x->ldb >= (x->op_b == GT_SHIM_N ? x->k : x->n) && x->ldc >= x->m;
}

static enum gt_shim_reason read_shape(struct gt_shim_key *key,
                                      const struct gt_shim_call *x) {
    const bool strides = x->kind == GT_SHIM_AT_STRIDES && x->batch > 1;
    if (x->m == 0 || x->n == 0 || x->k == 0 || x->batch == 0)
        return GT_SHIM_EMPTY;
    if (!is_op(x->op_a) || !is_op(x->op_b) || !fits(x->m) || !fits(x->n) || !fits(x->k) ||
        !fits(x->lda) || !fits(x->ldb) || !fits(x->ldc) || !fits(x->batch) ||
        !are_wide_enough(x) ||
        (strides && (x->stride_a < 0 || x->stride_b < 0 || x->stride_c < 0)))
        return GT_SHIM_INVALID;
    key->m = (int32_t)x->n;
    key->n = (int32_t)x->m;
    key->k = (int32_t)x->k;
    key->trans = (uint8_t)((x->op_b != GT_SHIM_N ? 2 : 0) | (x->op_a != GT_SHIM_N ? 1 : 0));
    key->lda = (int32_t)x->ldb;
    key->ldb = (int32_t)x->lda;
    key->ldc = (int32_t)x->ldc;
    key->batch = (int32_t)x->batch;
    key->kind = (uint8_t)(x->kind == GT_SHIM_BY_POINTERS ? GEMMTUNE_BATCH_POINTERS
                                                         : GEMMTUNE_BATCH_STRIDED);
    key->stride_a = strides ? x->stride_b : 0;
    key->stride_b = strides ? x->stride_a : 0;
    key->stride_c = strides ? x->stride_c : 0;
    return GT_SHIM_NONE;
}

/* Times were measured of matrices that begin at multiples of 16 bytes. Arrays of pointers
 * lie in device memory, so what they point to is not known. */
static enum gt_shim_reason read_pointers(const struct gt_shim_call *x) {
    const uintptr_t all = (uintptr_t)x->a | (uintptr_t)x->b | (uintptr_t)x->c;
    if (x->a == NULL || x->b == NULL || x->c == NULL)
        return GT_SHIM_INVALID;
    if (x->kind == GT_SHIM_BY_POINTERS)
        return GT_SHIM_NONE;
    return (all & 15) == 0 ? GT_SHIM_NONE : GT_SHIM_ALIGNMENT;
}

enum gt_shim_reason gt_shim_read(struct gt_shim_key *key, struct gt_shim_call *x,
                                 const struct gt_shim_state *s) {
    if (x->kind == GT_SHIM_IN_GROUPS)
        return is_complex(x->type_a) ? GT_SHIM_COMPLEX : GT_SHIM_GROUPS;
    enum gt_shim_reason why = x->lt != NULL ? gt_shim_read_lt(x) : GT_SHIM_NONE;
    if (why == GT_SHIM_NONE)
        why = read_types(key, x, s);
    if (why == GT_SHIM_NONE)
        why = read_scalars(key, x);
    if (why == GT_SHIM_NONE)
        why = read_shape(key, x);
    if (why != GT_SHIM_NONE)
        return why;
    key->context = 0;
    key->workspace = 0;
    key->is_lt = x->lt != NULL;
    key->library = x->library->number;
    key->epilogue = (uint8_t)x->epilogue;
    key->bias_type = (uint8_t)x->bias_type;
    return x->algo == GT_SHIM_AUTOTUNE ? GT_SHIM_ALGORITHM : read_pointers(x);
}
