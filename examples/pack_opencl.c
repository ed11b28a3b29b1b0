/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_opencl.c - a layer's weights are packed once, and serve batches of any number of
 * rows. On CUDA the calls are the same, with device pointers and a stream.
 *
 *     cc examples/pack_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *
 * Tune first (gemmtune tune i8-nn-64x200x100,packed_b) for the fastest kernel.
 */
#include "opencl_device.h"

#include <math.h>
#include <stdint.h>

enum { M_MOST = 64, N = 200, K = 100 };

static int8_t a[M_MOST][K], b[K][N]; /* row-major; b has the weights */
static int32_t c[M_MOST][N];

static void fill(void) {
    for (int i = 0; i < M_MOST * K; i++)
        a[i / K][i % K] = (int8_t)(i % 13 - 6);
    for (int i = 0; i < K * N; i++)
        b[i / N][i % N] = (int8_t)(i % 11 - 5);
}

static gemmtune_problem make_problem(int m) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_I8, m, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    return p;
}

/* The packed weights. */
static cl_mem pack(const struct device *d, gemmtune_ctx *ctx) {
    const gemmtune_problem p = make_problem(1); /* any m */
    cl_mem weights = upload(d, b, sizeof b);
    size_t bytes;
    cl_int error;
    check(gemmtune_packed_bytes(&bytes, &p), "gemmtune_packed_bytes");
    cl_mem packed = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check_cl(error, "clCreateBuffer");
    check(gemmtune_pack(ctx, &p, weights, packed, d->queue), "gemmtune_pack");
    check_cl(clFinish(d->queue), "clFinish");
    (void)clReleaseMemObject(weights); /* nobody needs the matrix any more */
    return packed;
}

/* C = A B for the first m rows. */
static void multiply(const struct device *d, gemmtune_ctx *ctx, cl_mem packed, int m) {
    const int32_t alpha = 1, beta = 0;
    gemmtune_problem p = make_problem(m);
    gemmtune_plan *plan;
    cl_mem da = upload(d, a, sizeof a), dc = upload(d, c, sizeof c);
    p.packed_b = 1;
    check(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    print_plan(plan);
    check(gemmtune_execute(plan, &alpha, da, packed, &beta, dc, NULL, d->queue),
          "gemmtune_execute");
    download(d, c, dc, sizeof c);
    gemmtune_plan_destroy(plan);
    (void)clReleaseMemObject(dc);
    (void)clReleaseMemObject(da);
}

/* The largest difference from a plain loop. */
static double worst_error(int m) {
    double worst = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < N; j++) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += a[i][k] * b[k][j];
            worst = fmax(worst, fabs((double)sum - (double)c[i][j]));
        }
    return worst;
}

int main(void) {
    fill();
    struct device d = open_device();
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = d.context,
                                    .device = d.id};
    gemmtune_ctx *ctx;
    double worst = 0;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    cl_mem packed = pack(&d, ctx);
    for (int m = 1; m <= M_MOST; m *= 8) {
        multiply(&d, ctx, packed, m);
        worst = fmax(worst, worst_error(m));
    }
    (void)clReleaseMemObject(packed);
    gemmtune_close(ctx);
    close_device(&d);
    return print_result(worst);
}
