/* SPDX-License-Identifier: Apache-2.0 */
/* blas.c - libcublas.so.N: see fake_blas.h. */
#include "shim/entries.h"
#include "tests/fake/blas/fake_blas.h"

#include <stdlib.h>
#include <string.h>

#ifndef FAKE_BLAS_VERSION
#define FAKE_BLAS_VERSION 130100
#endif

enum { INVALID_VALUE = 7 };

struct handle {
    void *stream, *workspace;
    unsigned pointer_mode, math_mode, atomics;
    int sms;
};

#define PLAIN(name, params)                                                                \
    unsigned name params;                                                                  \
    unsigned name params

PLAIN(cublasCreate_v2, (struct handle * *handle)) {
    *handle = calloc(1, sizeof **handle);
    return 0;
}
PLAIN(cublasDestroy_v2, (struct handle * handle)) {
    free(handle);
    return 0;
}
PLAIN(cublasGetVersion_v2, (const struct handle *handle, int *version)) {
    *version = FAKE_BLAS_VERSION;
    return 0;
}
PLAIN(cublasSetStream_v2, (struct handle * handle, void *stream)) {
    handle->stream = stream;
    handle->workspace = NULL;
    return 0;
}
PLAIN(cublasGetStream_v2, (const struct handle *handle, void **stream)) {
    *stream = handle->stream;
    return 0;
}
PLAIN(cublasSetWorkspace_v2, (struct handle * handle, void *workspace, size_t bytes)) {
    handle->workspace = workspace;
    return 0;
}
#define STATE(Name, member, type)                                                          \
    PLAIN(cublasSet##Name, (struct handle * handle, type value)) {                         \
        handle->member = value;                                                            \
        return 0;                                                                          \
    }                                                                                      \
    PLAIN(cublasGet##Name, (const struct handle *handle, type *value)) {                   \
        *value = handle->member;                                                           \
        return 0;                                                                          \
    }
STATE(PointerMode_v2, pointer_mode, unsigned)
STATE(MathMode, math_mode, unsigned)
STATE(AtomicsMode, atomics, unsigned)
STATE(SmCountTarget, sms, int)

/* ---- products  ---- */

static bool is_wide(unsigned compute) {
    return compute == GT_SHIM_64F || compute == GT_SHIM_64F_PEDANTIC;
}
static bool is_whole(unsigned compute) {
    return compute == GT_SHIM_32I || compute == GT_SHIM_32I_PEDANTIC;
}

static bool is_wide_enough(const struct fake_product *p) {
    return p->lda >= (p->op_a == GT_SHIM_N ? p->m : p->k) &&
           p->ldb >= (p->op_b == GT_SHIM_N ? p->k : p->n) && p->ldc >= p->m;
}

/* Products at strides. Scalars of half precision are not read. */
static unsigned strided(const struct fake_product *first, unsigned compute,
                        int64_t stride_a, int64_t stride_b, int64_t stride_c,
                        int64_t batch) {
    struct fake_product p = *first;
    p.wide = is_wide(compute);
    p.whole = is_whole(compute);
    p.c = p.d;
    p.ldd = p.ldc;
    if (!is_wide_enough(first))
        return INVALID_VALUE;
    for (int64_t z = 0; compute != GT_SHIM_16F && z < batch; z++) {
        fake_compute(&p);
        p.a = (const char *)p.a + (size_t)stride_a * fake_size(p.type_a);
        p.b = (const char *)p.b + (size_t)stride_b * fake_size(p.type_b);
        p.c = p.d = (char *)p.d + (size_t)stride_c * fake_size(p.type_c);
    }
    return 0;
}

static unsigned arrays(const struct fake_product *first, unsigned compute, int64_t batch) {
    for (int64_t z = 0; z < batch; z++) {
        struct fake_product p = *first;
        p.a = ((const void *const *)first->a)[z];
        p.b = ((const void *const *)first->b)[z];
        p.d = ((void *const *)first->d)[z];
        (void)strided(&p, compute, 0, 0, 0, 1);
    }
    return 0;
}

unsigned cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a,
                        void *layout_a, const void *b, void *layout_b, const void *beta,
                        const void *c, void *layout_c, void *d, void *layout_d,
                        const void *algo, void *workspace, size_t bytes, void *stream);
unsigned cublasLtMatmulDescCreate(void **desc, unsigned compute, unsigned scale);
unsigned cublasLtMatmulDescDestroy(void *desc);
unsigned cublasLtMatrixLayoutCreate(void **layout, unsigned type, uint64_t rows,
                                    uint64_t cols, int64_t ld);
unsigned cublasLtMatrixLayoutDestroy(void *layout);

/* A product that is not transposed, by way of the other library. */
static unsigned nested(const struct fake_product *p, unsigned compute) {
    void *desc = NULL, *a = NULL, *b = NULL, *c = NULL;
    (void)cublasLtMatmulDescCreate(&desc, compute, is_wide(compute) ? GT_SHIM_R_64F : 0);
    (void)cublasLtMatrixLayoutCreate(&a, p->type_a, (uint64_t)p->m, (uint64_t)p->k, p->lda);
    (void)cublasLtMatrixLayoutCreate(&b, p->type_b, (uint64_t)p->k, (uint64_t)p->n, p->ldb);
    (void)cublasLtMatrixLayoutCreate(&c, p->type_c, (uint64_t)p->m, (uint64_t)p->n, p->ldc);
    const unsigned status = cublasLtMatmul(NULL, desc, p->alpha, p->a, a, p->b, b, p->beta,
                                           p->d, c, p->d, c, NULL, NULL, 0, NULL);
    (void)cublasLtMatrixLayoutDestroy(c);
    (void)cublasLtMatrixLayoutDestroy(b);
    (void)cublasLtMatrixLayoutDestroy(a);
    (void)cublasLtMatmulDescDestroy(desc);
    return status;
}

static unsigned single(const struct fake_product *p, unsigned compute, bool may_nest) {
    return may_nest && fake_is("nested") ? nested(p, compute)
                                         : strided(p, compute, 0, 0, 0, 1);
}

#define HEAD(whole)                                                                        \
    void *handle, unsigned op_a, unsigned op_b, whole m, whole n, whole k, const void *alpha
#define PRODUCT(ta, tb, tc)                                                                \
    fake_log(name);                                                                        \
    const struct fake_product p = {.op_a = op_a,                                           \
                                   .op_b = op_b,                                           \
                                   .type_a = ta,                                           \
                                   .type_b = tb,                                           \
                                   .type_c = tc,                                           \
                                   .m = m,                                                 \
                                   .n = n,                                                 \
                                   .k = k,                                                 \
                                   .lda = lda,                                             \
                                   .ldb = ldb,                                             \
                                   .ldc = ldc,                                             \
                                   .alpha = alpha,                                         \
                                   .a = a,                                                 \
                                   .b = b,                                                 \
                                   .beta = beta,                                           \
                                   .d = c};

#define SINGLE(symbol, whole, type, compute)                                               \
    PLAIN(symbol, (HEAD(whole), const void *a, whole lda, const void *b, whole ldb,        \
                   const void *beta, void *c, whole ldc)) {                                \
        static const char name[] = #symbol;                                                \
        PRODUCT(type, type, type)                                                          \
        return single(&p, compute, false);                                                 \
    }
#define SINGLE_EX(symbol, whole, type, compute)                                            \
    PLAIN(symbol, (HEAD(whole), const void *a, unsigned type_a, whole lda, const void *b,  \
                   unsigned type_b, whole ldb, const void *beta, void *c, unsigned type_c, \
                   whole ldc)) {                                                           \
        static const char name[] = #symbol;                                                \
        PRODUCT(type_a, type_b, type_c)                                                    \
        return single(&p, compute, false);                                                 \
    }
#define SINGLE_ANY(symbol, whole, type, its_compute)                                       \
    PLAIN(symbol, (HEAD(whole), const void *a, unsigned type_a, whole lda, const void *b,  \
                   unsigned type_b, whole ldb, const void *beta, void *c, unsigned type_c, \
                   whole ldc, unsigned compute, int algo)) {                               \
        static const char name[] = #symbol;                                                \
        PRODUCT(type_a, type_b, type_c)                                                    \
        return single(&p, compute, true);                                                  \
    }
#define STRIDED(symbol, whole, type, compute)                                              \
    PLAIN(symbol, (HEAD(whole), const void *a, whole lda, long long stride_a,              \
                   const void *b, whole ldb, long long stride_b, const void *beta,         \
                   void *c, whole ldc, long long stride_c, whole batch)) {                 \
        static const char name[] = #symbol;                                                \
        PRODUCT(type, type, type)                                                          \
        return strided(&p, compute, stride_a, stride_b, stride_c, batch);                  \
    }
#define STRIDED_ANY(symbol, whole, type, its_compute)                                      \
    PLAIN(symbol,                                                                          \
          (HEAD(whole), const void *a, unsigned type_a, whole lda, long long stride_a,     \
           const void *b, unsigned type_b, whole ldb, long long stride_b,                  \
           const void *beta, void *c, unsigned type_c, whole ldc, long long stride_c,      \
           whole batch, unsigned compute, int algo)) {                                     \
        static const char name[] = #symbol;                                                \
        PRODUCT(type_a, type_b, type_c)                                                    \
        return strided(&p, compute, stride_a, stride_b, stride_c, batch);                  \
    }
#define ARRAYS(symbol, whole, type, compute)                                               \
    PLAIN(symbol, (HEAD(whole), const void *a, whole lda, const void *b, whole ldb,        \
                   const void *beta, void *c, whole ldc, whole batch)) {                   \
        static const char name[] = #symbol;                                                \
        PRODUCT(type, type, type)                                                          \
        return arrays(&p, compute, batch);                                                 \
    }
#define ARRAYS_ANY(symbol, whole, type, its_compute)                                       \
    PLAIN(symbol, (HEAD(whole), const void *a, unsigned type_a, whole lda, const void *b,  \
                   unsigned type_b, whole ldb, const void *beta, void *c, unsigned type_c, \
                   whole ldc, whole batch, unsigned compute, int algo)) {                  \
        static const char name[] = #symbol;                                                \
        PRODUCT(type_a, type_b, type_c)                                                    \
        return arrays(&p, compute, batch);                                                 \
    }
/* Groups are only noted: nobody here computes them. */
#define GROUPS(symbol, whole, type, compute)                                               \
    PLAIN(symbol,                                                                          \
          (void *handle, const unsigned *op_a, const unsigned *op_b, const whole *m,       \
           const whole *n, const whole *k, const void *alpha, const void *a,               \
           const whole *lda, const void *b, const whole *ldb, const void *beta, void *c,   \
           const whole *ldc, whole groups, const whole *group_size)) {                     \
        fake_log(#symbol);                                                                 \
        return groups > 0 ? 0 : INVALID_VALUE;                                             \
    }
#define GROUPS_ANY(symbol, whole, type, its_compute)                                       \
    PLAIN(symbol,                                                                          \
          (void *handle, const unsigned *op_a, const unsigned *op_b, const whole *m,       \
           const whole *n, const whole *k, const void *alpha, const void *a,               \
           unsigned type_a, const whole *lda, const void *b, unsigned type_b,              \
           const whole *ldb, const void *beta, void *c, unsigned type_c, const whole *ldc, \
           whole groups, const whole *group_size, unsigned compute)) {                     \
        fake_log(#symbol);                                                                 \
        return groups > 0 ? 0 : INVALID_VALUE;                                             \
    }

#define X(form, symbol, whole, type, compute) form(symbol, whole, type, compute)
GT_SHIM_GEMMS(X)
