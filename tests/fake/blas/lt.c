/* SPDX-License-Identifier: Apache-2.0 */
/* lt.c - libcublasLt.so.N: see fake_blas.h. Attributes are kept as they were set. */
#include "tests/fake/blas/fake_blas.h"

#include <stdlib.h>
#include <string.h>

#ifndef FAKE_BLAS_VERSION
#define FAKE_BLAS_VERSION 130100
#endif

enum { ATTRIBUTES = 40, INVALID_VALUE = 7 };

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

PLAIN(cublasLtMatmul,
      (void *handle, const struct object *desc, const void *alpha, const void *a,
       const struct object *layout_a, const void *b, const struct object *layout_b,
       const void *beta, const void *c, const struct object *layout_c, void *d,
       const struct object *layout_d, const void *algo, void *workspace, size_t bytes,
       void *stream)) {
    enum { BIAS = 4 };
    const unsigned op_a = (unsigned)desc->value[GT_SHIM_DESC_OP_A];
    const uint64_t compute = desc->value[GT_SHIM_DESC_COMPUTE];
    const unsigned epilogue = (unsigned)desc->value[GT_SHIM_DESC_EPILOGUE];
    struct fake_product p = {
        .op_a = op_a,
        .op_b = (unsigned)desc->value[GT_SHIM_DESC_OP_B],
        .type_a = (unsigned)layout_a->value[GT_SHIM_LAYOUT_TYPE],
        .type_b = (unsigned)layout_b->value[GT_SHIM_LAYOUT_TYPE],
        .type_c = (unsigned)layout_d->value[GT_SHIM_LAYOUT_TYPE],
        .wide = compute == GT_SHIM_64F,
        .whole = compute == GT_SHIM_32I,
        .m = (int64_t)layout_d->value[GT_SHIM_LAYOUT_ROWS],
        .n = (int64_t)layout_d->value[GT_SHIM_LAYOUT_COLS],
        .k = (int64_t)layout_a
                 ->value[op_a == GT_SHIM_N ? GT_SHIM_LAYOUT_COLS : GT_SHIM_LAYOUT_ROWS],
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
    if (epilogue & BIAS)
        memcpy(&p.bias, &desc->value[GT_SHIM_DESC_BIAS], sizeof p.bias);
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
