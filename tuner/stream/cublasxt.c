/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cublasxt.c - cublasXt, from its public documentation (cuBLAS, chapter 4), opened at run
 * time. See contest.h.
 */
#include "tuner/stream/contest.h"

#include "core/clock.h"
#include "runtime/drivers/driver_util.h"

#include <stdlib.h>

typedef struct cublasXtContext *cublasXtHandle_t;

/* X(name, parameters). All are needed and return 0 on success. */
#define SYMBOLS(X)                                                                         \
    X(cublasXtCreate, (cublasXtHandle_t * handle))                                         \
    X(cublasXtDestroy, (cublasXtHandle_t handle))                                          \
    X(cublasXtDeviceSelect, (cublasXtHandle_t handle, int count, int *devices))            \
    X(cublasXtSetBlockDim, (cublasXtHandle_t handle, int block))                           \
    X(cublasXtSgemm, (cublasXtHandle_t handle, unsigned op_a, unsigned op_b, size_t m,     \
                      size_t n, size_t k, const void *alpha, const void *a, size_t lda,    \
                      const void *b, size_t ldb, const void *beta, void *c, size_t ldc))   \
    X(cublasXtDgemm, (cublasXtHandle_t handle, unsigned op_a, unsigned op_b, size_t m,     \
                      size_t n, size_t k, const void *alpha, const void *a, size_t lda,    \
                      const void *b, size_t ldb, const void *beta, void *c, size_t ldc))

struct api {
#define X(name, params) unsigned(*name) params;
    SYMBOLS(X)
#undef X
};

static const struct gt_symbol symbols[] = {
#define X(name, params) {#name, offsetof(struct api, name), true},
    SYMBOLS(X)
#undef X
};

const int gt_cublasxt_blocks[] = {1024, 2048, 4096, 8192, 16384, 0};

struct gt_cublasxt {
    const struct gt_contest *contest;
    struct api api;
    cublasXtHandle_t handle;
    union gt_value alpha, beta; /* of the accumulator's type */
};

static gt_status load(struct api *api, struct gt_err *err) {
    static const char *const names[] = {"libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so.11",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12",
                                        NULL};
    char why[GT_LIBRARY_TEXT_MAX];
    void *library = gt_library_open("GEMMTUNE_LIBCUBLAS", names, why);
    if (library == NULL)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "cuBLAS %s", why);
    const char *missing =
        gt_library_fill(api, library, symbols, sizeof symbols / sizeof *symbols);
    return missing == NULL ? GEMMTUNE_OK
                           : gt_fail(err, GEMMTUNE_ENODRIVER, "cuBLAS has no %s", missing);
}

static gt_status result(unsigned code, const char *call, struct gt_err *err) {
    return code == 0 ? GEMMTUNE_OK
                     : gt_fail(err, GEMMTUNE_EDEVICE, "%s: cuBLAS status %u", call, code);
}

static gt_status fill(struct gt_cublasxt *x, struct gt_err *err) {
    const struct gt_contest *c = x->contest;
    int device[GT_CONTEST_DEVICES_MAX];
    for (int i = 0; i < c->devices; i++) {
        const struct gt_device *d = gt_rig_head(c->rig[i])->device;
        if (!gt_driver_of(d->backend)->speaks_cuda)
            return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "cublasXt is for CUDA devices");
        device[i] = d->ordinal;
    }
    gt_status status = load(&x->api, err);
    if (status == GEMMTUNE_OK)
        status = result(x->api.cublasXtCreate(&x->handle), "cublasXtCreate", err);
    return status == GEMMTUNE_OK
               ? result(x->api.cublasXtDeviceSelect(x->handle, c->devices, device),
                        "cublasXtDeviceSelect", err)
               : status;
}

gt_status gt_cublasxt_open(struct gt_cublasxt **out, const struct gt_contest *c,
                           struct gt_err *err) {
    const gemmtune_problem *p = c->p;
    *out = NULL;
    if ((p->type_a != GEMMTUNE_F32 && p->type_a != GEMMTUNE_F64) ||
        p->type_b != p->type_a || p->type_c != p->type_a || p->type_acc != p->type_a)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "cublasXt multiplies f32 and f64 alone");
    struct gt_cublasxt *x = calloc(1, sizeof *x);
    if (x == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    x->contest = c;
    x->alpha = gt_value_of(p->type_acc, c->alpha);
    x->beta = gt_value_of(p->type_acc, c->beta);
    const gt_status status = fill(x, err);
    if (status == GEMMTUNE_OK)
        *out = x;
    else
        gt_cublasxt_close(x);
    return status;
}

void gt_cublasxt_close(struct gt_cublasxt *x) {
    if (x == NULL)
        return;
    if (x->handle != NULL)
        (void)x->api.cublasXtDestroy(x->handle);
    free(x);
}

/* A row-major product is the column-major product of the transposes: B comes first. */
gt_status gt_cublasxt_time(double *seconds, struct gt_cublasxt *x, int block,
                           struct gt_err *err) {
    const struct gt_contest *c = x->contest;
    const gemmtune_problem *p = c->p;
    gt_status status =
        result(x->api.cublasXtSetBlockDim(x->handle, block), "cublasXtSetBlockDim", err);
    if (status != GEMMTUNE_OK)
        return status;
    const double begin = gt_seconds();
    const unsigned op_a = p->trans_a == GEMMTUNE_TRANS, op_b = p->trans_b == GEMMTUNE_TRANS;
    const unsigned code =
        (p->type_a == GEMMTUNE_F64 ? x->api.cublasXtDgemm : x->api.cublasXtSgemm)(
            x->handle, op_b, op_a, (size_t)p->n, (size_t)p->m, (size_t)p->k, &x->alpha,
            c->b, (size_t)p->ldb, c->a, (size_t)p->lda, &x->beta, c->c, (size_t)p->ldc);
    *seconds = gt_seconds() - begin;
    return result(code, "cublasXtGemm", err);
}
