/* SPDX-License-Identifier: Apache-2.0 */
/* lt.c - libcublasLt.so.N: see fake_blas.h. Attributes are kept as they were set. */
#include "tests/fake/blas/fake_blas.h"

#include <stdlib.h>
#include <string.h>

#ifndef FAKE_BLAS_VERSION
#define FAKE_BLAS_VERSION 130100
#endif

enum { ATTRIBUTES = 40, INVALID_VALUE = 7, NOT_SUPPORTED = 15, BIAS = 4 };

/* A descriptor or a layout: eight bytes for each attribute. Allocations are larger than the
 * real ones: the shim reads so many bytes. */
struct object {
    uint64_t value[ATTRIBUTES];
};

#define PLAIN(name, params)                                                                \
    unsigned name params;                                                                  \
    unsigned name params

size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void) {
    return FAKE_BLAS_VERSION;
}
PLAIN(cublasLtCreate, (void **handle)) {
    *handle = calloc(1, 8);
    return 0;
}
PLAIN(cublasLtDestroy, (void *handle)) {
    free(handle);
    return 0;
}

static unsigned set(struct object *o, unsigned attribute, const void *value, size_t size) {
    if (attribute >= ATTRIBUTES || size > 8)
        return INVALID_VALUE;
    o->value[attribute] = 0;
    memcpy(&o->value[attribute], value, size);
    return 0;
}

static unsigned get(const struct object *o, unsigned attribute, void *value, size_t size,
                    size_t *written) {
    if (attribute >= ATTRIBUTES || size > 8)
        return INVALID_VALUE;
    memcpy(value, &o->value[attribute], size);
    *written = size;
    return 0;
}

PLAIN(cublasLtMatmulDescCreate, (struct object * *desc, unsigned compute, unsigned scale)) {
    *desc = calloc(1, sizeof **desc);
    (*desc)->value[GT_SHIM_DESC_COMPUTE] = compute;
    (*desc)->value[GT_SHIM_DESC_SCALE] = scale;
    (*desc)->value[GT_SHIM_DESC_FILL] = GT_SHIM_FILL_FULL;
    (*desc)->value[GT_SHIM_DESC_EPILOGUE] = GT_SHIM_EPI_NONE;
    (*desc)->value[GT_SHIM_DESC_BIAS_TYPE] = (uint32_t)-1;
    (*desc)->value[GT_SHIM_DESC_AUX_TYPE] = (uint32_t)-1;
    return 0;
}
PLAIN(cublasLtMatmulDescDestroy, (struct object * desc)) {
    free(desc);
    return 0;
}
PLAIN(cublasLtMatmulDescSetAttribute,
      (struct object * desc, unsigned attribute, const void *value, size_t size)) {
    return set(desc, attribute, value, size);
}
PLAIN(cublasLtMatmulDescGetAttribute, (const struct object *desc, unsigned attribute,
                                       void *value, size_t size, size_t *written)) {
    return get(desc, attribute, value, size, written);
}
PLAIN(cublasLtMatrixLayoutCreate,
      (struct object * *layout, unsigned type, uint64_t rows, uint64_t cols, int64_t ld)) {
    *layout = calloc(1, sizeof **layout);
    (*layout)->value[GT_SHIM_LAYOUT_TYPE] = type;
    (*layout)->value[GT_SHIM_LAYOUT_ROWS] = rows;
    (*layout)->value[GT_SHIM_LAYOUT_COLS] = cols;
    (*layout)->value[GT_SHIM_LAYOUT_LD] = (uint64_t)ld;
    (*layout)->value[GT_SHIM_LAYOUT_BATCH] = 1;
    return 0;
}
PLAIN(cublasLtMatrixLayoutDestroy, (struct object * layout)) {
    free(layout);
    return 0;
}
PLAIN(cublasLtMatrixLayoutSetAttribute,
      (struct object * layout, unsigned attribute, const void *value, size_t size)) {
    return set(layout, attribute, value, size);
}
PLAIN(cublasLtMatrixLayoutGetAttribute, (const struct object *layout, unsigned attribute,
                                         void *value, size_t size, size_t *written)) {
    return get(layout, attribute, value, size, written);
}

PLAIN(cublasLtMatmulAlgoGetHeuristic,
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,
       int room, struct gt_shim_heuristic *results, int *count)) {
    *count = room > 0;
    if (room > 0)
        results[0] = (struct gt_shim_heuristic){.algo = {{17, 4}}};
    return 0;
}

/* ---- the product  ---- */

static uint64_t rows_of(const struct object *layout, unsigned op) {
    return layout->value[op == GT_SHIM_N ? GT_SHIM_LAYOUT_ROWS : GT_SHIM_LAYOUT_COLS];
}

static uint64_t cols_of(const struct object *layout, unsigned op) {
    return rows_of(layout, op == GT_SHIM_N ? GT_SHIM_T : GT_SHIM_N);
}

static bool in_rows(const struct object *layout) {
    return layout->value[GT_SHIM_LAYOUT_ORDER] == GT_SHIM_ORDER_ROW;
}

/* Columns, or rows, do not overlap. */
static bool is_wide_enough(const struct object *layout) {
    return layout->value[GT_SHIM_LAYOUT_LD] >=
           rows_of(layout, in_rows(layout) ? GT_SHIM_T : GT_SHIM_N);
}

/* The real library has other orders for 8-bit integers alone, and refuses a bias where D is
 * in row order. */
static unsigned judge(const struct object *desc, const struct object *const layout[4]) {
    const unsigned op_a = (unsigned)desc->value[GT_SHIM_DESC_OP_A];
    const unsigned op_b = (unsigned)desc->value[GT_SHIM_DESC_OP_B];
    for (int i = 0; i < 4; i++) {
        if (layout[i]->value[GT_SHIM_LAYOUT_ORDER] > GT_SHIM_ORDER_ROW)
            return NOT_SUPPORTED;
        if (!is_wide_enough(layout[i]))
            return INVALID_VALUE;
    }
    if (rows_of(layout[0], op_a) != rows_of(layout[3], GT_SHIM_N) ||
        cols_of(layout[1], op_b) != cols_of(layout[3], GT_SHIM_N) ||
        cols_of(layout[0], op_a) != rows_of(layout[1], op_b))
        return INVALID_VALUE;
    return in_rows(layout[3]) && desc->value[GT_SHIM_DESC_EPILOGUE] & BIAS ? NOT_SUPPORTED
                                                                           : 0;
}

/* A bias without a declared type has the type of D; beside 8-bit floats BF16, unless D is a
 * 16-bit float. */
static unsigned bias_type(const struct object *desc, const struct fake_product *p) {
    const int32_t declared = (int32_t)desc->value[GT_SHIM_DESC_BIAS_TYPE];
    if (declared >= 0)
        return (unsigned)declared;
    return p->type_a == GT_SHIM_R_E4M3 && p->type_c != GT_SHIM_R_16F ? GT_SHIM_R_16BF
                                                                     : p->type_c;
}

PLAIN(cublasLtMatmul,
      (void *handle, const struct object *desc, const void *alpha, const void *a,
       const struct object *layout_a, const void *b, const struct object *layout_b,
       const void *beta, const void *c, const struct object *layout_c, void *d,
       const struct object *layout_d, const void *algo, void *workspace, size_t bytes,
       void *stream)) {
    const struct object *const layout[] = {layout_a, layout_b, layout_c, layout_d};
    const unsigned op_a = (unsigned)desc->value[GT_SHIM_DESC_OP_A];
    const uint64_t compute = desc->value[GT_SHIM_DESC_COMPUTE];
    const unsigned epilogue = (unsigned)desc->value[GT_SHIM_DESC_EPILOGUE];
    const unsigned status = judge(desc, layout);
    struct fake_product p = {
        .op_a = op_a,
        .op_b = (unsigned)desc->value[GT_SHIM_DESC_OP_B],
        .type_a = (unsigned)layout_a->value[GT_SHIM_LAYOUT_TYPE],
        .type_b = (unsigned)layout_b->value[GT_SHIM_LAYOUT_TYPE],
        .type_c = (unsigned)layout_d->value[GT_SHIM_LAYOUT_TYPE],
        .wide = compute == GT_SHIM_64F,
        .whole = compute == GT_SHIM_32I,
        .row_a = in_rows(layout_a),
        .row_b = in_rows(layout_b),
        .row_c = in_rows(layout_c),
        .row_d = in_rows(layout_d),
        .m = (int64_t)rows_of(layout_d, GT_SHIM_N),
        .n = (int64_t)cols_of(layout_d, GT_SHIM_N),
        .k = (int64_t)cols_of(layout_a, op_a),
        .lda = (int64_t)layout_a->value[GT_SHIM_LAYOUT_LD],
        .ldb = (int64_t)layout_b->value[GT_SHIM_LAYOUT_LD],
        .ldc = (int64_t)layout_c->value[GT_SHIM_LAYOUT_LD],
        .alpha = alpha,
        .a = a,
        .b = b,
        .beta = beta,
        .c = c,
        .d = d,
        .ldd = (int64_t)layout_d->value[GT_SHIM_LAYOUT_LD],
        .epilogue = epilogue,
    };
    fake_log("cublasLtMatmul");
    if (status != 0)
        return status;
    if (epilogue & BIAS) {
        memcpy(&p.bias, &desc->value[GT_SHIM_DESC_BIAS], sizeof p.bias);
        p.bias_type = bias_type(desc, &p);
    }
    for (uint64_t z = 0; z < layout_d->value[GT_SHIM_LAYOUT_BATCH]; z++) {
        fake_compute(&p);
        p.a = (const char *)p.a +
              layout_a->value[GT_SHIM_LAYOUT_STRIDE] * fake_size(p.type_a);
        p.b = (const char *)p.b +
              layout_b->value[GT_SHIM_LAYOUT_STRIDE] * fake_size(p.type_b);
        p.c = (const char *)p.c +
              layout_c->value[GT_SHIM_LAYOUT_STRIDE] * fake_size(p.type_c);
        p.d = (char *)p.d + layout_d->value[GT_SHIM_LAYOUT_STRIDE] * fake_size(p.type_c);
    }
    return 0;
}
