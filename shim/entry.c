/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.c - the functions that programs call in place of cuBLAS's: a body for each form of
 * entries.h, which fills in a struct gt_shim_call, and calls the original where that was
 * not served.
 */
#include "shim/algos.h"
#include "shim/blas.h"
#include "shim/call.h"
#include "shim/entries.h"
#include "shim/handle.h"
#include "shim/life.h"
#include "shim/original.h"

#define EXPORTED __attribute__((visibility("default")))

#define CALLED(symbol, its_kind)                                                           \
    .id = GT_SHIM_##symbol, .kind = its_kind, .from = __builtin_return_address(0)

/* Serves the call, or passes it on with the arguments that it came with. */
#define RUN(params, args)                                                                  \
    unsigned status;                                                                       \
    if (gt_shim_begin(&status, &x))                                                        \
        return status;                                                                     \
    union {                                                                                \
        void *address;                                                                     \
        unsigned(*call) params;                                                            \
    } original = {x.original};                                                             \
    status = original.call args;                                                           \
    gt_shim_end(&x, status);                                                               \
    return status;

#define FUNCTION(symbol, params)                                                           \
    EXPORTED unsigned symbol params;                                                       \
    unsigned symbol params

#define FACTORS(whole)                                                                     \
    .handle = handle, .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k, .alpha = alpha,  \
    .a = a, .lda = lda, .b = b, .ldb = ldb, .beta = beta, .c = c, .ldc = ldc
#define SAME(type, its_compute)                                                            \
    .type_a = type, .type_b = type, .type_c = type, .compute = its_compute
#define HEAD(whole)                                                                        \
    void *handle, unsigned op_a, unsigned op_b, whole m, whole n, whole k, const void *alpha

/* ---- one product  ---- */

#define SINGLE_PARAMS(whole)                                                               \
    (HEAD(whole), const void *a, whole lda, const void *b, whole ldb, const void *beta,    \
     void *c, whole ldc)
#define SINGLE(symbol, whole, type, its_compute)                                           \
    FUNCTION(symbol, SINGLE_PARAMS(whole)) {                                               \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_ONE), FACTORS(whole),              \
                                 SAME(type, its_compute), .batch = 1};                     \
        RUN(SINGLE_PARAMS(whole),                                                          \
            (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))            \
    }

#define SINGLE_EX_PARAMS(whole)                                                            \
    (HEAD(whole), const void *a, unsigned type_a, whole lda, const void *b,                \
     unsigned type_b, whole ldb, const void *beta, void *c, unsigned type_c, whole ldc)
#define SINGLE_EX(symbol, whole, type, its_compute)                                        \
    FUNCTION(symbol, SINGLE_EX_PARAMS(whole)) {                                            \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_ONE),                              \
                                 FACTORS(whole),                                           \
                                 .type_a = type_a,                                         \
                                 .type_b = type_b,                                         \
                                 .type_c = type_c,                                         \
                                 .compute = its_compute,                                   \
                                 .batch = 1};                                              \
        RUN(SINGLE_EX_PARAMS(whole), (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda,  \
                                      b, type_b, ldb, beta, c, type_c, ldc))               \
    }

#define SINGLE_ANY_PARAMS(whole)                                                           \
    (HEAD(whole), const void *a, unsigned type_a, whole lda, const void *b,                \
     unsigned type_b, whole ldb, const void *beta, void *c, unsigned type_c, whole ldc,    \
     unsigned compute, int algo)
#define SINGLE_ANY(symbol, whole, type, its_compute)                                       \
    FUNCTION(symbol, SINGLE_ANY_PARAMS(whole)) {                                           \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_ONE),                              \
                                 FACTORS(whole),                                           \
                                 .type_a = type_a,                                         \
                                 .type_b = type_b,                                         \
                                 .type_c = type_c,                                         \
                                 .compute = compute,                                       \
                                 .algo = algo,                                             \
                                 .batch = 1};                                              \
        RUN(SINGLE_ANY_PARAMS(whole),                                                      \
            (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,  \
             type_c, ldc, compute, algo))                                                  \
    }

/* ---- products at strides  ---- */

#define STRIDED_PARAMS(whole)                                                              \
    (HEAD(whole), const void *a, whole lda, long long stride_a, const void *b, whole ldb,  \
     long long stride_b, const void *beta, void *c, whole ldc, long long stride_c,         \
     whole batch)
#define STRIDES                                                                            \
    .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c, .batch = batch
#define STRIDED(symbol, whole, type, its_compute)                                          \
    FUNCTION(symbol, STRIDED_PARAMS(whole)) {                                              \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_AT_STRIDES), FACTORS(whole),       \
                                 SAME(type, its_compute), STRIDES};                        \
        RUN(STRIDED_PARAMS(whole), (handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a,  \
                                    b, ldb, stride_b, beta, c, ldc, stride_c, batch))      \
    }

#define STRIDED_ANY_PARAMS(whole)                                                          \
    (HEAD(whole), const void *a, unsigned type_a, whole lda, long long stride_a,           \
     const void *b, unsigned type_b, whole ldb, long long stride_b, const void *beta,      \
     void *c, unsigned type_c, whole ldc, long long stride_c, whole batch,                 \
     unsigned compute, int algo)
#define STRIDED_ANY(symbol, whole, type, its_compute)                                      \
    FUNCTION(symbol, STRIDED_ANY_PARAMS(whole)) {                                          \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_AT_STRIDES),                       \
                                 FACTORS(whole),                                           \
                                 .type_a = type_a,                                         \
                                 .type_b = type_b,                                         \
                                 .type_c = type_c,                                         \
                                 .compute = compute,                                       \
                                 .algo = algo,                                             \
                                 STRIDES};                                                 \
        RUN(STRIDED_ANY_PARAMS(whole),                                                     \
            (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, \
             stride_b, beta, c, type_c, ldc, stride_c, batch, compute, algo))              \
    }

/* ---- arrays of pointers  ---- */

#define ARRAYS_PARAMS(whole)                                                               \
    (HEAD(whole), const void *a, whole lda, const void *b, whole ldb, const void *beta,    \
     void *c, whole ldc, whole batch)
#define ARRAYS(symbol, whole, type, its_compute)                                           \
    FUNCTION(symbol, ARRAYS_PARAMS(whole)) {                                               \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_BY_POINTERS), FACTORS(whole),      \
                                 SAME(type, its_compute), .batch = batch};                 \
        RUN(ARRAYS_PARAMS(whole),                                                          \
            (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch))     \
    }

#define ARRAYS_ANY_PARAMS(whole)                                                           \
    (HEAD(whole), const void *a, unsigned type_a, whole lda, const void *b,                \
     unsigned type_b, whole ldb, const void *beta, void *c, unsigned type_c, whole ldc,    \
     whole batch, unsigned compute, int algo)
#define ARRAYS_ANY(symbol, whole, type, its_compute)                                       \
    FUNCTION(symbol, ARRAYS_ANY_PARAMS(whole)) {                                           \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_BY_POINTERS),                      \
                                 FACTORS(whole),                                           \
                                 .type_a = type_a,                                         \
                                 .type_b = type_b,                                         \
                                 .type_c = type_c,                                         \
                                 .compute = compute,                                       \
                                 .algo = algo,                                             \
                                 .batch = batch};                                          \
        RUN(ARRAYS_ANY_PARAMS(whole),                                                      \
            (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,  \
             type_c, ldc, batch, compute, algo))                                           \
    }

/* ---- groups  ---- */

#define GROUPS_PARAMS(whole)                                                               \
    (void *handle, const unsigned *op_a, const unsigned *op_b, const whole *m,             \
     const whole *n, const whole *k, const void *alpha, const void *a, const whole *lda,   \
     const void *b, const whole *ldb, const void *beta, void *c, const whole *ldc,         \
     whole groups, const whole *group_size)
#define GROUPS(symbol, whole, type, its_compute)                                           \
    FUNCTION(symbol, GROUPS_PARAMS(whole)) {                                               \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_IN_GROUPS), .handle = handle,      \
                                 SAME(type, its_compute), .batch = groups};                \
        RUN(GROUPS_PARAMS(whole), (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb,     \
                                   beta, c, ldc, groups, group_size))                      \
    }

#define GROUPS_ANY_PARAMS(whole)                                                           \
    (void *handle, const unsigned *op_a, const unsigned *op_b, const whole *m,             \
     const whole *n, const whole *k, const void *alpha, const void *a, unsigned type_a,    \
     const whole *lda, const void *b, unsigned type_b, const whole *ldb, const void *beta, \
     void *c, unsigned type_c, const whole *ldc, whole groups, const whole *group_size,    \
     unsigned compute)
#define GROUPS_ANY(symbol, whole, type, its_compute)                                       \
    FUNCTION(symbol, GROUPS_ANY_PARAMS(whole)) {                                           \
        struct gt_shim_call x = {CALLED(symbol, GT_SHIM_IN_GROUPS),                        \
                                 .handle = handle,                                         \
                                 .type_a = type_a,                                         \
                                 .type_b = type_b,                                         \
                                 .type_c = type_c,                                         \
                                 .compute = compute,                                       \
                                 .batch = groups};                                         \
        RUN(GROUPS_ANY_PARAMS(whole),                                                      \
            (handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,  \
             type_c, ldc, groups, group_size, compute))                                    \
    }

#define X(form, symbol, whole, type, its_compute) form(symbol, whole, type, its_compute)
GT_SHIM_GEMMS(X)
#undef X

/* ---- cublasLt  ---- */

#define LT_PARAMS                                                                          \
    (void *handle, void *desc, const void *alpha, const void *a, void *layout_a,           \
     const void *b, void *layout_b, const void *beta, const void *c, void *layout_c,       \
     void *d, void *layout_d, const void *algo, void *workspace, size_t bytes,             \
     void *stream)

FUNCTION(cublasLtMatmul, LT_PARAMS) {
    const struct gt_shim_lt lt = {.desc = desc,
                                  .layout = {layout_a, layout_b, layout_c, layout_d},
                                  .c = c,
                                  .algo = algo,
                                  .workspace = workspace,
                                  .workspace_bytes = workspace != NULL ? bytes : 0,
                                  .stream = stream};
    struct gt_shim_call x = {CALLED(cublasLtMatmul, GT_SHIM_ONE),
                             .handle = handle,
                             .alpha = alpha,
                             .a = a,
                             .b = b,
                             .beta = beta,
                             .c = d,
                             .batch = 1,
                             .lt = &lt};
    RUN(LT_PARAMS, (handle, desc, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d,
                    layout_d, algo, workspace, bytes, stream))
}

/* ---- functions that say something about products  ---- */

#define PLAIN(symbol, params, args)                                                        \
    const struct gt_shim_library *library;                                                 \
    union {                                                                                \
        void *address;                                                                     \
        unsigned(*call) params;                                                            \
    } original = {                                                                         \
        gt_shim_original(&library, GT_SHIM_##symbol, __builtin_return_address(0))};        \
    const unsigned status =                                                                \
        original.address != NULL ? original.call args : (unsigned)GT_SHIM_NOT_INITIALIZED;

#define HEURISTIC_PARAMS                                                                   \
    (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,       \
     int room, struct gt_shim_heuristic *results, int *count)

FUNCTION(cublasLtMatmulAlgoGetHeuristic, HEURISTIC_PARAMS) {
    PLAIN(cublasLtMatmulAlgoGetHeuristic, HEURISTIC_PARAMS,
          (handle, desc, a, b, c, d, preference, room, results, count))
    for (int i = 0; status == GT_SHIM_SUCCESS && i < *count && i < room; i++)
        gt_shim_algo_keep(&results[i].algo);
    return status;
}

FUNCTION(cublasSetStream_v2, (void *handle, void *stream)) {
    PLAIN(cublasSetStream_v2, (void *, void *), (handle, stream))
    gt_shim_workspace_lost(handle);
    return status;
}

FUNCTION(cublasSetWorkspace_v2, (void *handle, void *workspace, size_t bytes)) {
    PLAIN(cublasSetWorkspace_v2, (void *, void *, size_t), (handle, workspace, bytes))
    gt_shim_watch_forks(); /* the table of handles has a lock */
    if (status == GT_SHIM_SUCCESS && library->get_stream != NULL)
        gt_shim_workspace_given(handle, library, workspace, bytes);
    else
        gt_shim_workspace_lost(handle);
    return status;
}

FUNCTION(cublasDestroy_v2, (void *handle)) {
    gt_shim_handle_ends(handle);
    PLAIN(cublasDestroy_v2, (void *), (handle))
    return status;
}
