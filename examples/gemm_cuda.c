/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_cuda.c - a whole program that multiplies two matrices with gemmtune on CUDA:
 * open, plan, describe, execute, check.
 *
 *     cc -I$CUDA_HOME/include examples/gemm_cuda.c -lcuda -lm \
 *         $(pkg-config --cflags --libs gemmtune)
 *
 * The driver API, since that is what a kernel runs on; a program on the CUDA runtime API
 * does the same with cudaMalloc, and its cudaStream_t is a CUstream.
 *
 * Tune first (gemmtune tune f32-nn-512x384x256) and the plan below says "tuned on this
 * device for exactly this problem"; without that it runs a default kernel, right all the
 * same.
 */
#include "cuda_device.h"

#include <math.h>

enum { M = 512, N = 384, K = 256 };

static float a[M * K], b[K * N], c[M * N]; /* row-major */

/* One device, everything on it that a program needs. */
struct device {
    CUdevice id;
    CUcontext context;
    CUstream stream;
    CUdeviceptr a, b, c;
};

/* The first device, in the context that the CUDA runtime API would use too. */
static struct device open_device(void) {
    struct device d;
    check_cu(cuInit(0), "cuInit");
    check_cu(cuDeviceGet(&d.id, 0), "cuDeviceGet");
    check_cu(cuDevicePrimaryCtxRetain(&d.context, d.id), "cuDevicePrimaryCtxRetain");
    check_cu(cuCtxSetCurrent(d.context), "cuCtxSetCurrent");
    check_cu(cuStreamCreate(&d.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    d.a = upload(a, sizeof a);
    d.b = upload(b, sizeof b);
    d.c = upload(c, sizeof c);
    return d;
}

static void close_device(struct device *d) {
    (void)cuMemFree(d->c);
    (void)cuMemFree(d->b);
    (void)cuMemFree(d->a);
    (void)cuStreamDestroy(d->stream);
    (void)cuDevicePrimaryCtxRelease(d->id);
}

static void fill(void) {
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 11 - 5) / 8;
}

static void multiply(const struct device *d) {
    /* context NULL: the one that is current */
    const gemmtune_target target = {.struct_size = sizeof target, .backend = GEMMTUNE_CUDA};
    const float alpha = 1, beta = 0; /* beta 0: C is written and not read */
    gemmtune_problem problem;
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;

    /* NULL: the database in $GEMMTUNE_DB or the user's own; none at all is fine too. */
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");

    gemmtune_problem_init(&problem, GEMMTUNE_F32, M, N, K);
    problem.layout = GEMMTUNE_ROW_MAJOR;
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");

    print_plan(plan);

    check(gemmtune_execute(plan, &alpha, pointer(d->a), pointer(d->b), &beta, pointer(d->c),
                           NULL, d->stream),
          "gemmtune_execute");
    /* The product is enqueued; the copy follows it; then wait for both. */
    check_cu(cuMemcpyDtoHAsync(c, d->c, sizeof c, d->stream), "cuMemcpyDtoHAsync");
    check_cu(cuStreamSynchronize(d->stream), "cuStreamSynchronize");

    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The largest difference from a plain loop. */
static double worst_error(void) {
    double worst = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)a[i * K + k] * (double)b[k * N + j];
            worst = fmax(worst, fabs(sum - (double)c[i * N + j]));
        }
    return worst;
}

int main(void) {
    fill();
    struct device d = open_device();
    multiply(&d);
    close_device(&d);
    return print_result(worst_error());
}
