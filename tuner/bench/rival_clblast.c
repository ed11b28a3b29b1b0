/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_clblast.c - CLBlast on OpenCL devices, with its built-in parameters, on our queue.
 */
#include "runtime/drivers/driver_util.h"
#include "runtime/drivers/opencl_api.h"
#include "tuner/bench/rival.h"

#include <stdio.h>
#include <stdlib.h>

/* As documented in clblast_c.h. */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

typedef int (*sgemm_fn)(int layout, int trans_a, int trans_b, size_t m, size_t n, size_t k,
                        float alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b,
                        size_t b_offset, size_t ldb, float beta, cl_mem c, size_t c_offset,
                        size_t ldc, cl_command_queue *queue, cl_event *event);
typedef int (*dgemm_fn)(int layout, int trans_a, int trans_b, size_t m, size_t n, size_t k,
                        double alpha, cl_mem a, size_t a_offset, size_t lda, cl_mem b,
                        size_t b_offset, size_t ldb, double beta, cl_mem c, size_t c_offset,
                        size_t ldc, cl_command_queue *queue, cl_event *event);
typedef int (*sgemm_batch_fn)(int layout, int trans_a, int trans_b, size_t m, size_t n,
                              size_t k, float alpha, cl_mem a, size_t a_offset, size_t lda,
                              size_t stride_a, cl_mem b, size_t b_offset, size_t ldb,
                              size_t stride_b, float beta, cl_mem c, size_t c_offset,
                              size_t ldc, size_t stride_c, size_t batch,
                              cl_command_queue *queue, cl_event *event);
typedef int (*dgemm_batch_fn)(int layout, int trans_a, int trans_b, size_t m, size_t n,
                              size_t k, double alpha, cl_mem a, size_t a_offset, size_t lda,
                              size_t stride_a, cl_mem b, size_t b_offset, size_t ldb,
                              size_t stride_b, double beta, cl_mem c, size_t c_offset,
                              size_t ldc, size_t stride_c, size_t batch,
                              cl_command_queue *queue, cl_event *event);

struct clblast {
    sgemm_fn sgemm;
    dgemm_fn dgemm;
    sgemm_batch_fn sgemm_batch; /* from version 1.5 on, else NULL */
    dgemm_batch_fn dgemm_batch;
    cl_command_queue queue;
    gemmtune_problem problem;
};

static const struct gt_symbol symbols[] = {
    {"CLBlastSgemm", offsetof(struct clblast, sgemm), true},
    {"CLBlastDgemm", offsetof(struct clblast, dgemm), true},
    {"CLBlastSgemmStridedBatched", offsetof(struct clblast, sgemm_batch), false},
    {"CLBlastDgemmStridedBatched", offsetof(struct clblast, dgemm_batch), false},
};

static bool serves(const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_dtype *type = gt_dtype_of(p);
    return d->backend == GEMMTUNE_OPENCL && type != NULL &&
           p->batch_kind == GEMMTUNE_BATCH_STRIDED && p->epilogue == NULL &&
           p->math == GEMMTUNE_MATH_STRICT && type->a == type->c && type->b == type->c &&
           (type->c == GEMMTUNE_F32 || type->c == GEMMTUNE_F64);
}

static gt_status open_clblast(void **self, const struct gt_rival_setup *setup,
                              struct gt_err *err) {
    static const char *const names[] = {"libclblast.so.1", "libclblast.so", NULL};
    char why[GT_LIBRARY_TEXT_MAX];
    void *library = gt_library_open("GEMMTUNE_LIBCLBLAST", names, why);
    *self = NULL;
    if (!library)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "it %s", why);
    struct clblast *c = calloc(1, sizeof *c);
    if (!c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open CLBlast");
    const char *missing =
        gt_library_fill(c, library, symbols, sizeof symbols / sizeof *symbols);
    if (missing) {
        free(c);
        return gt_fail(err, GEMMTUNE_ENODRIVER, "it has no %s", missing);
    }
    c->queue = gt_rig_head(setup->rig)->stream;
    *self = c;
    return GEMMTUNE_OK;
}

static void close_clblast(void *self) {
    free(self);
}

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct clblast *c = self;
    c->problem = *p;
    *variants = 1;
    return p->batch > 1 && (c->sgemm_batch == NULL || c->dgemm_batch == NULL)
               ? gt_fail(err, GEMMTUNE_EUNSUPPORTED, "this CLBlast has no batches")
               : GEMMTUNE_OK;
}

/* For both precisions: the arguments differ only in the scalars. */
#define CALL(fn, type)                                                                     \
    c->fn(ROW_MAJOR, p->trans_a ? TRANSPOSE : NO_TRANSPOSE,                                \
          p->trans_b ? TRANSPOSE : NO_TRANSPOSE, (size_t)p->m, (size_t)p->n, (size_t)p->k, \
          *(const type *)x->alpha, x->a, 0, (size_t)p->lda, x->b, 0, (size_t)p->ldb,       \
          *(const type *)x->beta, x->c, 0, (size_t)p->ldc, &c->queue, NULL)
#define CALL_BATCH(fn, type)                                                               \
    c->fn(ROW_MAJOR, p->trans_a ? TRANSPOSE : NO_TRANSPOSE,                                \
          p->trans_b ? TRANSPOSE : NO_TRANSPOSE, (size_t)p->m, (size_t)p->n, (size_t)p->k, \
          *(const type *)x->alpha, x->a, 0, (size_t)p->lda, (size_t)p->stride_a, x->b, 0,  \
          (size_t)p->ldb, (size_t)p->stride_b, *(const type *)x->beta, x->c, 0,            \
          (size_t)p->ldc, (size_t)p->stride_c, (size_t)p->batch, &c->queue, NULL)

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    struct clblast *c = self;
    const gemmtune_problem *p = &c->problem;
    (void)variant;
    const bool wide = p->type_c == GEMMTUNE_F64;
    const int result = p->batch > 1 ? (wide ? CALL_BATCH(dgemm_batch, double)
                                            : CALL_BATCH(sgemm_batch, float))
                                    : (wide ? CALL(dgemm, double) : CALL(sgemm, float));
    return result ? gt_fail(err, GEMMTUNE_EDEVICE, "CLBlast status %d", result)
                  : GEMMTUNE_OK;
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    (void)self;
    (void)variant;
    snprintf(text, GT_RIVAL_TEXT_MAX, "CLBlast");
}

const struct gt_rival gt_rival_clblast = {
    .name = "clblast",
    .about = "CLBlast with its built-in parameters",
    .serves = serves,
    .open = open_clblast,
    .close = close_clblast,
    .prepare = prepare,
    .enqueue = enqueue,
    .describe = describe,
};
