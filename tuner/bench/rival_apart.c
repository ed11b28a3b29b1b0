/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_apart.c - an epilogue as programs compute it that have none in their library: the
 * vendor's product, then a kernel that reads C and the operands once and writes C. Where
 * integer sums become another type, the products have matrices of their own, which the
 * kernel reads. The kernel is ours (tuner/bench/kernels/), with three sizes of vectors and
 * patches, and the fastest takes part.
 */
#include "core/embed.h"
#include "core/epilogue/epilogue_keep.h"
#include "core/epilogue/epilogue_op.h"
#include "tuner/bench/rival.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const points[] = {"V=1 EM=8 BX=32 BY=4", "V=2 EM=4 BX=32 BY=4",
                                     "V=4 EM=4 BX=32 BY=4"};
enum { POINTS = sizeof points / sizeof *points };

struct apart {
    const struct gt_rival *who; /* computes the product */
    void *product;
    struct gt_rig *rig;
    struct gt_gpu *gpu;
    void *stream;
    struct gt_family *family;
    union gt_value zero, one; /* alpha and beta of the kernel */
    /* for the present problem */
    void *sums; /* device memory for the product where it is not C; else NULL */
    int kernels;
    struct gt_exec *kernel[POINTS];
    const char *point[POINTS]; /* of kernel i */
};

static void forget(struct apart *x) {
    for (int i = 0; i < x->kernels; i++)
        gt_exec_destroy(x->kernel[i]);
    x->kernels = 0;
    if (x->sums != NULL)
        gt_rig_head(x->rig)->ops->release(x->rig, x->sums);
    x->sums = NULL;
}

static void close_apart(void *self) {
    struct apart *x = self;
    forget(x);
    gt_family_destroy(x->family);
    if (x->product != NULL)
        x->who->close(x->product);
    free(x);
}

static gt_status read_family(struct gt_family **out, struct gt_err *err) {
    const char *const cl =
        gt_embedded_text(gt_embedded_kernels, "tuner/bench/kernels/elementwise.cl");
    const char *const space =
        gt_embedded_text(gt_embedded_kernels, "tuner/bench/kernels/elementwise.json");
    const char *const source[GT_BACKENDS] = {cl, cl};
    return gt_family_parse(out, "elementwise", "tuner/bench/kernels/elementwise.json",
                           space, source, err);
}

static gt_status open_apart(void **self, const struct gt_rival *who,
                            const struct gt_rival_setup *setup, struct gt_err *err) {
    struct apart *x = calloc(1, sizeof *x);
    *self = NULL;
    if (x == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open %s", who->name);
    x->who = who;
    x->rig = setup->rig;
    x->gpu = gt_rig_head(setup->rig)->gpu;
    x->stream = gt_rig_head(setup->rig)->stream;
    gt_status status = who->open(&x->product, setup, err);
    if (status == GEMMTUNE_OK)
        status = read_family(&x->family, err);
    if (status != GEMMTUNE_OK) {
        close_apart(x);
        return status;
    }
    *self = x;
    return GEMMTUNE_OK;
}

static gt_status open_cublas(void **self, const struct gt_rival_setup *setup,
                             struct gt_err *err) {
    return open_apart(self, &gt_rival_cublas, setup, err);
}

static gt_status open_cublaslt(void **self, const struct gt_rival_setup *setup,
                               struct gt_err *err) {
    return open_apart(self, &gt_rival_cublaslt, setup, err);
}

/* ---- one problem ---- */

/* Whether the epilogue can be computed from C alone: from x, since the sum, the old element
 * and the scalars are not to be told apart in x afterwards. */
static bool is_of_x(const struct gt_epilogue *e) {
    static const int others[] = {GT_EPI_ACC, GT_EPI_C, GT_EPI_ALPHA, GT_EPI_BETA};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (gt_epilogue_reads(e, others[i]))
            return false;
    return e->d2 < 0;
}

static bool is_converted(const gemmtune_problem *p) {
    return gt_problem_plain(p).type_c != p->type_c;
}

/* The vendor's product. Its matrices of sums are packed, and get the sums as they are. */
static gemmtune_problem product_of(const gemmtune_problem *p) {
    gemmtune_problem product = gt_problem_plain(p);
    if (is_converted(p)) {
        product.ldc = p->n;
        product.stride_c = gt_problem_is_batch(p) ? p->m * p->n : 0;
        product.reads_c = 0;
    }
    return product;
}

/* Whether the kernel finds the sums of each product: not with arrays of pointers, nor with
 * rows that only the device can count. */
static bool finds_sums(const gemmtune_problem *p) {
    return !gt_problem_is_batch(p) || p->batch_kind == GEMMTUNE_BATCH_STRIDED;
}

static bool serves(const struct gt_rival *who, const struct gt_device *d,
                   const gemmtune_problem *p) {
    const struct gt_epilogue *e = gt_epilogue_of(p);
    const gemmtune_problem product = product_of(p);
    return e != NULL && is_of_x(e) && (!is_converted(p) || finds_sums(p)) &&
           who->serves(d, &product);
}

static bool cublas_serves(const struct gt_device *d, const gemmtune_problem *p) {
    return serves(&gt_rival_cublas, d, p);
}

static bool cublaslt_serves(const struct gt_device *d, const gemmtune_problem *p) {
    return serves(&gt_rival_cublaslt, d, p);
}

/* Builds the kernels that the rows of C allow. `err` has the reason against the last one
 * that they do not. */
static gt_status build(struct apart *x, const gemmtune_problem *p, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    x->zero = gt_value_of(p->type_acc, 0);
    x->one = gt_value_of(p->type_acc, 1);
    for (int i = 0; i < POINTS; i++) {
        struct gt_point point;
        gt_status built = gt_point_parse(&point, points[i], err);
        if (built == GEMMTUNE_OK)
            built = gt_exec_create(&x->kernel[x->kernels], x->gpu, x->family, &point, p,
                                   NULL, err);
        if (built == GEMMTUNE_OK)
            x->point[x->kernels++] = points[i];
        status = built != GEMMTUNE_OK ? built : status;
    }
    return x->kernels > 0 ? GEMMTUNE_OK : status;
}

/* Variant i is variant i / kernels of the product and then kernel i % kernels. */
static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct apart *x = self;
    const gemmtune_problem product = product_of(p);
    int products = 0;
    forget(x);
    *variants = 0;
    gt_status status = x->who->prepare(&products, x->product, &product, err);
    if (status == GEMMTUNE_OK && is_converted(p))
        status = gt_rig_head(x->rig)->ops->alloc(
            &x->sums, x->rig,
            gt_problem_elems_c(&product) * (int64_t)gt_type_size(product.type_c), err);
    if (status == GEMMTUNE_OK)
        status = build(x, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    const int most = GT_VARIANTS_MAX / x->kernels;
    *variants = (products < most ? products : most) * x->kernels;
    return GEMMTUNE_OK;
}

static gt_status enqueue(void *self, int variant, const struct gt_call *call,
                         struct gt_err *err) {
    const struct apart *x = self;
    struct gt_call product = *call, after = *call;
    if (x->sums != NULL) {
        product.alpha = &x->one;
        product.beta = &x->zero;
        product.c = x->sums;
        after.a = x->sums;
    } else {
        after.alpha = &x->zero;
        after.beta = &x->one;
    }
    after.stream = x->stream;
    const gt_status status =
        x->who->enqueue(x->product, variant / x->kernels, &product, err);
    return status == GEMMTUNE_OK ? gt_exec_run(x->kernel[variant % x->kernels], &after, err)
                                 : status;
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct apart *x = self;
    char product[GT_RIVAL_TEXT_MAX];
    x->who->describe(product, x->product, variant / x->kernels);
    snprintf(text, GT_RIVAL_TEXT_MAX, "%.500s, then elementwise %s", product,
             x->point[variant % x->kernels]);
}

const struct gt_rival gt_rival_cublas_apart = {
    .name = "cublas+kernel",
    .about = "cuBLAS's own choice, then a kernel for the epilogue",
    .rounds_sum = true,
    .serves = cublas_serves,
    .open = open_cublas,
    .close = close_apart,
    .prepare = prepare,
    .enqueue = enqueue,
    .describe = describe,
};

const struct gt_rival gt_rival_cublaslt_apart = {
    .name = "cublaslt+kernel",
    .about = "candidates of cublasLt, then a kernel for the epilogue",
    .rounds_sum = true,
    .serves = cublaslt_serves,
    .open = open_cublaslt,
    .close = close_apart,
    .prepare = prepare,
    .enqueue = enqueue,
    .describe = describe,
};
