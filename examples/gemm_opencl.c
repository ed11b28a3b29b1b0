/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_opencl.c - a whole program that multiplies two matrices with gemmtune on OpenCL:
 * open, plan, describe, execute, check.
 *
 *     cc -Iinclude examples/gemm_opencl.c -lgemmtune -lOpenCL -lm
 *
 * Tune first (gemmtune tune f32-nn-512x384x256) and the plan below says "tuned for this
 * very problem"; without that it runs a default kernel, right all the same.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "gemmtune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 512, N = 384, K = 256 };

static float a[M * K], b[K * N], c[M * N]; /* row-major */

/* One device, everything on it that a program needs. */
struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem a, b, c;
};

static void check_cl(cl_int result, const char *what) {
    if (result == CL_SUCCESS)
        return;
    (void)fprintf(stderr, "%s failed: OpenCL error %d\n", what, (int)result);
    exit(1);
}

/* Every gemmtune call returns a status; gemmtune_errmsg says the rest in one line. */
static void check(gemmtune_status status, const char *what) {
    if (status == GEMMTUNE_OK)
        return;
    (void)fprintf(stderr, "%s: %s: %s\n", what, gemmtune_strerror(status),
                  gemmtune_errmsg());
    exit(1);
}

static cl_mem upload(const struct device *d, void *from, size_t bytes) {
    cl_int result;
    cl_mem memory = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   bytes, from, &result);
    check_cl(result, "clCreateBuffer");
    return memory;
}

/* The first device of the first platform. */
static struct device open_device(void) {
    struct device d;
    cl_platform_id platform;
    cl_int result;
    check_cl(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.id, NULL),
             "clGetDeviceIDs");
    d.context = clCreateContext(NULL, 1, &d.id, NULL, NULL, &result);
    check_cl(result, "clCreateContext");
    d.queue = clCreateCommandQueue(d.context, d.id, 0, &result);
    check_cl(result, "clCreateCommandQueue");
    d.a = upload(&d, a, sizeof a);
    d.b = upload(&d, b, sizeof b);
    d.c = upload(&d, c, sizeof c);
    return d;
}

static void close_device(struct device *d) {
    (void)clReleaseMemObject(d->c);
    (void)clReleaseMemObject(d->b);
    (void)clReleaseMemObject(d->a);
    (void)clReleaseCommandQueue(d->queue);
    (void)clReleaseContext(d->context);
}

static void fill(void) {
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 11 - 5) / 8;
}

static void multiply(const struct device *d) {
    static const char *const matches[] = {"exact", "shape", "arch", "default"};
    const gemmtune_target target = {
        .backend = GEMMTUNE_OPENCL, .context = d->context, .device = d->id};
    gemmtune_plan_info info = {.struct_size = sizeof info};
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

    gemmtune_plan_describe(plan, &info);
    (void)printf("kernel  %s %s\nmatch   %s: %s\n", info.family, info.params,
                 matches[info.match], info.why);

    check(gemmtune_execute(plan, &alpha, d->a, d->b, &beta, d->c, NULL, d->queue),
          "gemmtune_execute");
    /* The product is enqueued; reading the result waits for it. */
    check_cl(clEnqueueReadBuffer(d->queue, d->c, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL),
             "clEnqueueReadBuffer");

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
    const double worst = worst_error();
    (void)printf("result  largest error %g: %s\n", worst, worst < 1e-3 ? "right" : "WRONG");
    return worst < 1e-3 ? 0 : 1;
}
