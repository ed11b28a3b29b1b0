/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - see compare.h. */
#include "shim/compare.h"

#include "shim/types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- elements ---- */

/* An element type: its bytes, its unit roundoff, its least number; its bits as a float. */
static const struct element {
    uint8_t bytes, exponent_bits, fraction_bits;
    double unit, least;
} elements[GT_SHIM_TYPE_COUNT] = {
    [GEMMTUNE_F32] = {4, 0, 0, 0x1p-24, 0x1p-126},
    [GEMMTUNE_F64] = {8, 0, 0, 0x1p-53, 0x1p-1022},
    [GEMMTUNE_F16] = {2, 5, 10, 0x1p-11, 0x1p-24},
    [GEMMTUNE_BF16] = {2, 8, 7, 0x1p-8, 0x1p-126},
    [GEMMTUNE_E4M3] = {1, 4, 3, 0x1p-4, 0x1p-9},
    [GEMMTUNE_E5M2] = {1, 5, 2, 0x1p-3, 0x1p-16},
    [GEMMTUNE_I8] = {1, 0, 0, 0, 0},
    [GEMMTUNE_I32] = {4, 0, 0, 0, 0},
};

/* 2^exponent. This library does without libm. */
static double power(int exponent) {
    double value = 1;
    for (; exponent > 0; exponent--)
        value *= 2;
    for (; exponent < 0; exponent++)
        value /= 2;
    return value;
}

static double larger(double x, double y) {
    return x > y ? x : y;
}

/* The value of a float with few bits. E4M3 has no infinities, and one NaN. */
static double decode(unsigned bits, const struct element *e) {
    const int exponent_max = (1 << e->exponent_bits) - 1;
    const int bias = exponent_max / 2;
    const unsigned fraction = bits & ((1u << e->fraction_bits) - 1);
    const int exponent = (int)(bits >> e->fraction_bits) & exponent_max;
    const bool negative = bits >> (e->exponent_bits + e->fraction_bits) & 1;
    const bool finite_top = e->exponent_bits == 4;
    double size = fraction * power(1 - bias - e->fraction_bits);
    if (exponent == exponent_max && (!finite_top || fraction == 7))
        size = fraction == 0 ? (double)INFINITY : (double)NAN;
    else if (exponent > 0)
        size = (1 + fraction * power(-e->fraction_bits)) * power(exponent - bias);
    return negative ? -size : size;
}

static double get(const void *at, int type, size_t i) {
    const struct element *e = &elements[type];
    const char *from = (const char *)at + i * e->bytes;
    union {
        float f32;
        double f64;
        int32_t i32;
        uint16_t u16;
        uint8_t u8;
    } value;
    memcpy(&value, from, e->bytes);
    switch (type) {
    case GEMMTUNE_F32:
        return (double)value.f32;
    case GEMMTUNE_F64:
        return value.f64;
    case GEMMTUNE_I32:
        return value.i32;
    case GEMMTUNE_I8:
        return (int8_t)value.u8;
    default:
        return decode(e->bytes == 2 ? value.u16 : value.u8, e);
    }
}

/* ---- operands ---- */

struct operand {
    const void *at;
    int type;
    int64_t rows, cols, ld, stride; /* stored rows */
};

static struct operand operand_of(const struct gt_shim_key *key,
                                 enum gt_shim_operand which) {
    const bool ta = key->trans & 2, tb = key->trans & 1;
    switch (which) {
    case GT_SHIM_A:
        return (struct operand){
            NULL,     key->type_a,  ta ? key->k : key->m, ta ? key->m : key->k,
            key->lda, key->stride_a};
    case GT_SHIM_B:
        return (struct operand){
            NULL,     key->type_b,  tb ? key->n : key->k, tb ? key->k : key->n,
            key->ldb, key->stride_b};
    default:
        return (struct operand){NULL, key->type_c, key->m, key->n, key->ldc, key->stride_c};
    }
}

size_t gt_shim_bytes(const struct gt_shim_key *key, enum gt_shim_operand which) {
    const struct operand o = operand_of(key, which);
    const int64_t count = (key->batch - 1) * o.stride + (o.rows - 1) * o.ld + o.cols;
    return (size_t)count * elements[o.type].bytes;
}

/* The Euclidean lengths of the stored rows, or of the columns, of matrix z. */
static double *lengths(const struct operand *o, int64_t z, bool of_rows) {
    const int64_t count = of_rows ? o->rows : o->cols;
    double *out = calloc((size_t)count, sizeof *out);
    for (int64_t i = 0; out != NULL && i < o->rows; i++)
        for (int64_t j = 0; j < o->cols; j++) {
            const double x = get(o->at, o->type, (size_t)(z * o->stride + i * o->ld + j));
            out[of_rows ? i : j] += x * x;
        }
    for (int64_t i = 0; out != NULL && i < count; i++)
        out[i] = __builtin_sqrt(out[i]);
    return out;
}

/* ---- the bound ---- */

struct bound {
    double product; /* times |a||b| */
    double unit, c_unit, least;
    double alpha, beta, slope, gelu;
};

static double scalar(const void *at, int type) {
    return get(at, type, 0);
}

static struct bound bound_of(const struct gt_shim_key *key,
                             const struct gt_shim_results *r) {
    enum { SPLIT_TERMS = 256 }; /* docs/split.md: f(k) for a short sum */
    const bool short_sums = elements[key->type_a].bytes == 1;
    const bool gelu = key->epilogue == 3 || key->epilogue >= 5;
    const double unit = short_sums ? 0x1p-14 : elements[key->type_acc].unit;
    const double terms =
        4.0 * (key->k + 2) + (key->math == GEMMTUNE_MATH_SPLIT ? SPLIT_TERMS : 0);
    return (struct bound){
        .product = terms * unit + (key->math == GEMMTUNE_MATH_TF32 ? 0x1p-9 : 0),
        .unit = unit,
        .c_unit = elements[key->type_c].unit,
        .least = elements[key->type_c].least,
        .alpha = fabs(scalar(r->alpha, key->type_acc)),
        .beta = fabs(scalar(r->beta, key->type_acc)),
        .slope = key->epilogue > 0 ? 1.2 : 1,
        .gelu = gelu ? 0x1p-8 : 0,
    };
}

static double allowed(const struct bound *b, double ab, double ours, double theirs,
                      double before) {
    const double largest = larger(fabs(ours), fabs(theirs));
    const double sum = 2 * b->alpha * ab * b->product +
                       (b->beta != 0 ? 4 * b->unit * b->beta * fabs(before) : 0);
    return b->slope * sum + 2 * (b->c_unit + b->gelu) * largest + 2 * b->least;
}

static bool agrees(double ours, double theirs, double most) {
    if (!isfinite(most))
        return true; /* nothing is known */
    if (!isfinite(ours) || !isfinite(theirs))
        return ours == theirs || (isnan(ours) && isnan(theirs));
    return fabs(ours - theirs) <= most;
}

/* ---- comparing ---- */

static void tell(const struct gt_shim_entry *e, int64_t i, int64_t j, double ours,
                 double theirs, double most) {
    char line[900];
    const int length = snprintf(
        line, sizeof line,
        "gemmtune: wrong: %s: row %lld, column %lld is %.9g, the original has %.9g, "
        "at most %.3g apart\n",
        e->name, (long long)i, (long long)j, ours, theirs, most);
    (void)!write(STDERR_FILENO, line, (size_t)length);
}

/* Compares matrix z. False: an element is wrong, or there is no memory to tell. */
static bool compare_matrix(struct gt_shim_entry *e, const struct gt_shim_results *r,
                           int64_t z) {
    const struct gt_shim_key *key = &e->key;
    const struct operand c = operand_of(key, GT_SHIM_C);
    struct operand a = operand_of(key, GT_SHIM_A), b = operand_of(key, GT_SHIM_B);
    const struct bound bound = bound_of(key, r);
    const bool exact = key->type_c == GEMMTUNE_I32;
    a.at = r->a;
    b.at = r->b;
    double *la = lengths(&a, z, !(key->trans & 2)), *lb = lengths(&b, z, key->trans & 1);
    bool good = true;
    for (int64_t i = 0; la != NULL && lb != NULL && good && i < c.rows; i++)
        for (int64_t j = 0; good && j < c.cols; j++) {
            const size_t at = (size_t)(z * c.stride + i * c.ld + j);
            const double ours = get(r->ours, c.type, at),
                         theirs = get(r->theirs, c.type, at);
            const double most = exact ? 0
                                      : allowed(&bound, la[i] * lb[j], ours, theirs,
                                                get(r->before, c.type, at));
            good = agrees(ours, theirs, most);
            if (!good && atomic_load(&e->wrong) == 0)
                tell(e, i, j, ours, theirs, most);
        }
    free(la);
    free(lb);
    return good;
}

void gt_shim_compare(struct gt_shim_entry *e, const struct gt_shim_results *r) {
    bool good = true;
    for (int64_t z = 0; good && z < e->key.batch; z++)
        good = compare_matrix(e, r, z);
    atomic_fetch_add(&e->compared, 1);
    if (!good)
        atomic_fetch_add(&e->wrong, 1);
}
