/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_lt.c - a call of cublasLtMatmul, out of its descriptors. Whatever they say that is
 * not known here has the call passed on.
 */
#include "shim/read.h"

#include "shim/algos.h"
#include "shim/blas.h"
#include "shim/lt_cache.h"
#include "shim/original.h"
#include "shim/problem.h"
#include "shim/types.h"

#include <string.h>

/* ---- descriptors  ---- */

static bool desc(const struct gt_shim_call *x, unsigned attribute, void *value,
                 size_t size) {
    size_t written = 0;
    return x->library->get_desc(x->lt->desc, attribute, value, size, &written) == 0;
}

/* An attribute that older libraries do not have is as at first. */
static void optional(const struct gt_shim_call *x, unsigned attribute, void *value,
                     size_t size) {
    char before[8];
    memcpy(before, value, size);
    if (!desc(x, attribute, value, size))
        memcpy(value, before, size);
}

struct layout {
    uint32_t type;
    int32_t order, batch;
    uint64_t rows, cols;
    int64_t ld, stride;
};

static bool read_layout(struct layout *out, const struct gt_shim_call *x, int i) {
    const struct {
        unsigned attribute;
        void *value;
        size_t size;
    } rows[] = {
        {GT_SHIM_LAYOUT_TYPE, &out->type, sizeof out->type},
        {GT_SHIM_LAYOUT_ORDER, &out->order, sizeof out->order},
        {GT_SHIM_LAYOUT_ROWS, &out->rows, sizeof out->rows},
        {GT_SHIM_LAYOUT_COLS, &out->cols, sizeof out->cols},
        {GT_SHIM_LAYOUT_LD, &out->ld, sizeof out->ld},
        {GT_SHIM_LAYOUT_BATCH, &out->batch, sizeof out->batch},
        {GT_SHIM_LAYOUT_STRIDE, &out->stride, sizeof out->stride},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    size_t written = 0;
    *out = (struct layout){.batch = 1};
    for (int r = 0; r < (out->batch > 1 ? ROWS : ROWS - 1); r++)
        if (x->library->get_layout(x->lt->layout[i], rows[r].attribute, rows[r].value,
                                   rows[r].size, &written) != 0)
            return false;
    return true;
}

/* The batch mode came with 13; arrays of pointers are mode 1. */
static bool has_batch_mode(const struct gt_shim_call *x, int i) {
    enum { BATCH_MODE = 8 };
    uint32_t mode = 0;
    size_t written = 0;
    return x->library->get_layout(x->lt->layout[i], BATCH_MODE, &mode, sizeof mode,
                                  &written) == 0 &&
           mode != 0;
}

/* ---- row order  ---- */

/* A matrix in row order is its transpose in column order, with the same leading
 * dimension. */
static void turn(struct layout *l) {
    const uint64_t rows = l->rows;
    l->rows = l->cols;
    l->cols = rows;
    l->order = GT_SHIM_ORDER_COL;
}

/* The conjugate of a real matrix is the matrix. Another op than these three stays one that
 * cuBLAS refuses. */
static unsigned turned(unsigned op) {
    return op == GT_SHIM_N                              ? GT_SHIM_T
           : op == GT_SHIM_T || op == GT_SHIM_CONJUGATE ? GT_SHIM_N
                                                        : op;
}

/* Puts the same product in column order: where D is in row order, its transpose
 * op(B)^T op(A)^T. */
static void turn_to_columns(struct gt_shim_call *x, struct layout at[4]) {
    if (at[0].order == GT_SHIM_ORDER_ROW) {
        turn(&at[0]);
        x->op_a = turned(x->op_a);
    }
    if (at[1].order == GT_SHIM_ORDER_ROW) {
        turn(&at[1]);
        x->op_b = turned(x->op_b);
    }
    x->swaps = at[3].order == GT_SHIM_ORDER_ROW;
    if (!x->swaps)
        return;
    const struct layout a = at[0];
    const unsigned op_a = x->op_a;
    at[0] = at[1];
    at[1] = a;
    x->op_a = turned(x->op_b);
    x->op_b = turned(op_a);
    turn(&at[3]);
}

/* ---- what must be as at first  ---- */

static enum gt_shim_reason check_scales(const struct gt_shim_call *x) {
    static const unsigned pointers[] = {GT_SHIM_DESC_SCALE_A, GT_SHIM_DESC_SCALE_B,
                                        GT_SHIM_DESC_SCALE_C, GT_SHIM_DESC_SCALE_D,
                                        GT_SHIM_DESC_AMAX,    GT_SHIM_DESC_AUX_SCALE,
                                        GT_SHIM_DESC_AUX_AMAX};
    enum { D_OUT_SCALE = 36 };
    void *p = NULL;
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
        optional(x, pointers[i], &p, sizeof p);
        if (p != NULL)
            return GT_SHIM_SCALES;
    }
    optional(x, D_OUT_SCALE, &p, sizeof p);
    return p != NULL ? GT_SHIM_SCALES : GT_SHIM_NONE;
}

/* Releases before 13 can wait for counters, and count, while D is being computed. */
static bool has_counters(const struct gt_shim_call *x) {
    enum { BEFORE = 130000, ROW_CHUNKS = 27, COL_CHUNKS, IN_COUNTERS, OUT_COUNTERS };
    int32_t rows = 0, cols = 0;
    void *in = NULL, *out = NULL;
    if (x->library->lt_release >= BEFORE)
        return false;
    optional(x, ROW_CHUNKS, &rows, sizeof rows);
    optional(x, COL_CHUNKS, &cols, sizeof cols);
    optional(x, IN_COUNTERS, &in, sizeof in);
    optional(x, OUT_COUNTERS, &out, sizeof out);
    return rows != 0 || cols != 0 || in != NULL || out != NULL;
}

static int sum_type(unsigned compute) {
    return compute == GT_SHIM_64F || compute == GT_SHIM_64F_PEDANTIC   ? GEMMTUNE_F64
           : compute == GT_SHIM_32I || compute == GT_SHIM_32I_PEDANTIC ? GEMMTUNE_I32
                                                                       : GEMMTUNE_F32;
}

static enum gt_shim_reason read_desc(struct gt_shim_call *x) {
    int32_t scale = 0, op_c = 0, fill = GT_SHIM_FILL_FULL, sms = 0, pointer_mode = 0;
    enum { EMULATION_DESC = 38 };
    void *emulation = NULL;
    if (!desc(x, GT_SHIM_DESC_COMPUTE, &x->compute, sizeof x->compute) ||
        !desc(x, GT_SHIM_DESC_SCALE, &scale, sizeof scale) ||
        !desc(x, GT_SHIM_DESC_POINTER_MODE, &pointer_mode, sizeof pointer_mode) ||
        !desc(x, GT_SHIM_DESC_OP_A, &x->op_a, sizeof x->op_a) ||
        !desc(x, GT_SHIM_DESC_OP_B, &x->op_b, sizeof x->op_b))
        return GT_SHIM_INVALID;
    optional(x, GT_SHIM_DESC_OP_C, &op_c, sizeof op_c);
    optional(x, GT_SHIM_DESC_FILL, &fill, sizeof fill);
    optional(x, GT_SHIM_DESC_SMS, &sms, sizeof sms);
    optional(x, EMULATION_DESC, &emulation, sizeof emulation);
    if (pointer_mode != GT_SHIM_LT_HOST)
        return GT_SHIM_SCALARS;
    if (sms != 0)
        return GT_SHIM_SMS;
    if (emulation != NULL)
        return GT_SHIM_EMULATION;
    if (has_counters(x))
        return GT_SHIM_COUNTERS;
    if (op_c != GT_SHIM_N || fill != GT_SHIM_FILL_FULL)
        return GT_SHIM_ORDER;
    /* alpha and beta are of the type of sums. */
    const int sums = sum_type(x->compute);
    const unsigned wanted = sums == GEMMTUNE_F64   ? GT_SHIM_R_64F
                            : sums == GEMMTUNE_I32 ? GT_SHIM_R_32I
                                                   : GT_SHIM_R_32F;
    return (unsigned)scale == wanted ? GT_SHIM_NONE : GT_SHIM_COMPUTE;
}

/* ---- the epilogue  ---- */

static bool is_8_bit_float(unsigned theirs) {
    return theirs == GT_SHIM_R_E4M3 || theirs == GT_SHIM_R_E5M2;
}

static enum gt_shim_reason read_bias(struct gt_shim_call *x, const struct layout *d) {
    void *bias = NULL;
    int64_t stride = 0;
    int32_t type = -1;
    const int type_c = gt_shim_type(d->type);
    optional(x, GT_SHIM_DESC_BIAS, &bias, sizeof bias);
    optional(x, GT_SHIM_DESC_BIAS_STRIDE, &stride, sizeof stride);
    optional(x, GT_SHIM_DESC_BIAS_TYPE, &type, sizeof type);
    const int own = type < 0 ? type_c : gt_shim_type((unsigned)type);
    x->bias = bias;
    x->bias_type = (unsigned)own;
    if (bias == NULL || (d->batch > 1 && stride != 0))
        return GT_SHIM_EPILOGUE;
    /* Without a declared type a bias has the type of D, but not for 8-bit floats. */
    if (type < 0 && (is_8_bit_float(x->type_a) || is_8_bit_float(x->type_b)) &&
        type_c != GEMMTUNE_F16 && type_c != GEMMTUNE_BF16)
        return GT_SHIM_EPILOGUE;
    if (own != type_c && own != GEMMTUNE_F32 && own != GEMMTUNE_F16 && own != GEMMTUNE_BF16)
        return GT_SHIM_EPILOGUE;
    return type < 0 && type_c != GEMMTUNE_F32 && type_c != GEMMTUNE_F64 &&
                   type_c != GEMMTUNE_F16 && type_c != GEMMTUNE_BF16
               ? GT_SHIM_EPILOGUE
               : GT_SHIM_NONE;
}

static enum gt_shim_reason read_aux(struct gt_shim_call *x, const struct layout *d) {
    enum { AUX_LD_UNIT = 8 }; /* cublasLt refuses others */
    int64_t stride = 0;
    int32_t type = -1;
    optional(x, GT_SHIM_DESC_AUX, &x->aux, sizeof x->aux);
    optional(x, GT_SHIM_DESC_AUX_LD, &x->aux_ld, sizeof x->aux_ld);
    optional(x, GT_SHIM_DESC_AUX_STRIDE, &stride, sizeof stride);
    optional(x, GT_SHIM_DESC_AUX_TYPE, &type, sizeof type);
    /* Products of a batch follow one another in our second output. */
    const bool fits = d->batch == 1 || stride == x->aux_ld * (int64_t)d->cols;
    const bool good_ld = x->aux_ld >= (int64_t)d->rows && x->aux_ld % AUX_LD_UNIT == 0;
    return x->aux != NULL && fits && good_ld && (type < 0 || (unsigned)type == d->type)
               ? GT_SHIM_NONE
               : GT_SHIM_EPILOGUE;
}

static enum gt_shim_reason read_epilogue(struct gt_shim_call *x, const struct layout *d) {
    enum { BIAS_BIT = 4 };
    uint32_t theirs = GT_SHIM_EPI_NONE;
    unsigned row = 0;
    enum gt_shim_reason why = GT_SHIM_NONE;
    optional(x, GT_SHIM_DESC_EPILOGUE, &theirs, sizeof theirs);
    while (row < GT_SHIM_EPILOGUES && gt_shim_epilogues[row].theirs != theirs)
        row++;
    if (row == GT_SHIM_EPILOGUES ||
        (row > 0 && (x->compute == GT_SHIM_32I || x->compute == GT_SHIM_32I_PEDANTIC)))
        return GT_SHIM_EPILOGUE;
    x->epilogue = row;
    /* cublasLt refuses such a bias, and does not say where its second output would lie. */
    if (x->swaps && (theirs & BIAS_BIT || gt_shim_epilogues[row].aux))
        return GT_SHIM_ROW_EPILOGUE;
    if (theirs & BIAS_BIT)
        why = read_bias(x, d);
    if (why == GT_SHIM_NONE && gt_shim_epilogues[row].aux)
        why = read_aux(x, d);
    if (why == GT_SHIM_NONE && gt_shim_epilogues[row].typed == NULL && x->bias != NULL &&
        (int)x->bias_type != gt_shim_type(d->type))
        why = GT_SHIM_EPILOGUE;
    return why;
}

/* ---- the call  ---- */

static bool same_layout(const struct layout *c, const struct layout *d) {
    return c->type == d->type && c->order == d->order && c->ld == d->ld &&
           c->rows == d->rows && c->cols == d->cols && c->batch == d->batch &&
           c->stride == d->stride;
}

static enum gt_shim_reason take(struct gt_shim_call *x, const struct layout at[4]) {
    const struct layout *a = &at[0], *b = &at[1], *d = &at[3];
    const uint64_t k = x->op_a == GT_SHIM_N ? a->cols : a->rows;
    if ((x->op_a == GT_SHIM_N ? a->rows : a->cols) != d->rows ||
        (x->op_b == GT_SHIM_N ? b->cols : b->rows) != d->cols ||
        (x->op_b == GT_SHIM_N ? b->rows : b->cols) != k || a->batch != d->batch ||
        b->batch != d->batch)
        return GT_SHIM_INVALID;
    x->type_a = a->type;
    x->type_b = b->type;
    x->type_c = d->type;
    x->m = (int64_t)d->rows;
    x->n = (int64_t)d->cols;
    x->k = (int64_t)k;
    x->lda = a->ld;
    x->ldb = b->ld;
    x->ldc = d->ld;
    x->stride_a = a->stride;
    x->stride_b = b->stride;
    x->stride_c = d->stride;
    x->batch = d->batch;
    x->kind = GT_SHIM_AT_STRIDES;
    return GT_SHIM_NONE;
}

/* Only 8-bit types have scales and a flag for sums of fewer bits: cublasLt refuses them
 * elsewhere. */
static enum gt_shim_reason read_narrow(struct gt_shim_call *x, const struct layout at[4]) {
    const unsigned types[] = {at[0].type, at[1].type, at[3].type};
    bool narrow = false;
    for (int i = 0; i < 3; i++)
        narrow |= types[i] == GT_SHIM_R_8I || types[i] == GT_SHIM_R_E4M3 ||
                  types[i] == GT_SHIM_R_E5M2;
    if (!narrow)
        return GT_SHIM_NONE;
    optional(x, GT_SHIM_DESC_FAST, &x->fast, sizeof x->fast);
    return check_scales(x);
}

static bool has_known_order(const struct layout *l) {
    return l->order == GT_SHIM_ORDER_COL || l->order == GT_SHIM_ORDER_ROW;
}

/* Planes belong to complex types. */
static enum gt_shim_reason read_layouts(struct layout at[4], const struct gt_shim_call *x) {
    for (int i = 0; i < 4; i++) {
        if (x->lt->layout[i] == NULL && i != 2)
            return GT_SHIM_INVALID;
        if (i == 3 && x->lt->layout[2] == x->lt->layout[3])
            at[3] = at[2];
        else if (x->lt->layout[i] != NULL && !read_layout(&at[i], x, i))
            return GT_SHIM_INVALID;
        if (x->lt->layout[i] != NULL && (!has_known_order(&at[i]) || has_batch_mode(x, i)))
            return GT_SHIM_ORDER;
    }
    return GT_SHIM_NONE;
}

/* All that descriptors say. *in_place: C and D have one layout. */
static enum gt_shim_reason read_descriptors(bool *in_place, struct gt_shim_call *x) {
    struct layout at[4];
    *in_place = false;
    enum gt_shim_reason why = read_desc(x);
    if (why == GT_SHIM_NONE)
        why = read_layouts(at, x);
    if (why == GT_SHIM_NONE)
        why = read_narrow(x, at);
    if (why != GT_SHIM_NONE)
        return why;
    *in_place = x->lt->layout[2] != NULL && same_layout(&at[2], &at[3]);
    turn_to_columns(x, at);
    why = take(x, at);
    return why == GT_SHIM_NONE ? read_epilogue(x, &at[3]) : why;
}

static void copy_said(struct gt_shim_call *to, const struct gt_shim_call *from) {
    to->kind = from->kind;
    to->op_a = from->op_a;
    to->op_b = from->op_b;
    to->type_a = from->type_a;
    to->type_b = from->type_b;
    to->type_c = from->type_c;
    to->compute = from->compute;
    to->m = from->m;
    to->n = from->n;
    to->k = from->k;
    to->lda = from->lda;
    to->ldb = from->ldb;
    to->ldc = from->ldc;
    to->stride_a = from->stride_a;
    to->stride_b = from->stride_b;
    to->stride_c = from->stride_c;
    to->batch = from->batch;
    to->epilogue = from->epilogue;
    to->bias_type = from->bias_type;
    to->bias = from->bias;
    to->aux = from->aux;
    to->aux_ld = from->aux_ld;
    to->fast = from->fast;
    to->swaps = from->swaps;
}

static void swap_operands(struct gt_shim_call *x) {
    const void *a = x->a;
    x->a = x->b;
    x->b = a;
}

/* The same, kept from an earlier call where one had such descriptors. */
static enum gt_shim_reason look_at_descriptors(bool *in_place, struct gt_shim_call *x) {
    bool known;
    struct gt_shim_lt_slot *slot = gt_shim_lt_slot(&known, x);
    if (slot == NULL)
        return read_descriptors(in_place, x);
    if (known) {
        copy_said(x, &slot->said);
        *in_place = slot->in_place;
        return slot->why;
    }
    slot->why = read_descriptors(&slot->in_place, x);
    copy_said(&slot->said, x);
    *in_place = slot->in_place;
    return slot->why;
}

enum gt_shim_reason gt_shim_read_lt(struct gt_shim_call *x) {
    bool in_place = false;
    if (x->library->get_desc == NULL || x->library->get_layout == NULL ||
        x->lt->desc == NULL || x->beta == NULL)
        return GT_SHIM_INVALID;
    const enum gt_shim_reason why = look_at_descriptors(&in_place, x);
    if (x->swaps)
        swap_operands(x);
    if (x->lt->algo != NULL && !gt_shim_algo_is_known(x->lt->algo))
        x->algo = GT_SHIM_AUTOTUNE; /* the program has an algorithm of its own */
    if (why == GT_SHIM_NONE && (x->lt->c != x->c || !in_place) &&
        !gt_shim_is_zero(x->beta, sum_type(x->compute)))
        return GT_SHIM_NOT_IN_PLACE;
    return why == GT_SHIM_NONE && x->handle == NULL ? GT_SHIM_INVALID : why;
}
