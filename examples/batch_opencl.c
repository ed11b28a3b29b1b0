/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_opencl.c - a thousand small products in one call: C[z] = A[z] B for every z, with
 * one B for all. The problem says how many products there are and where their matrices
 * begin; the call is the same as for a single product, on CUDA as well.
 *
 *     cc examples/batch_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *
 * Tune first (gemmtune tune f32-nn-10x12x20,batch=1000,sb=0) for the fastest kernel.
 */
#include "opencl_device.h"

#include <math.h>

enum { BATCH = 1000, M = 10, N = 12, K = 20 };

/* row-major, one matrix after another */
static float a[BATCH][M][K], b[K][N], c[BATCH][M][N];

static void fill(void) {
    for (int z = 0; z < BATCH; z++)
        for (int i = 0; i < M * K; i++)
            a[z][i / K][i % K] = (float)((z + i) % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i / N][i % N] = (float)(i % 11 - 5) / 8;
}

static gemmtune_problem make_problem(void) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, M, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.batch = BATCH;
    p.stride_b = 0; /* one B for all; A and C keep GEMMTUNE_PACKED: no gaps */
    return p;
}

static void multiply(const struct device *d, cl_mem da, cl_mem db, cl_mem dc) {
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = d->context,
                                    .device = d->id};
    const gemmtune_problem problem = make_problem();
    const float alpha = 1, beta = 0;
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    print_plan(plan);
    check(gemmtune_execute(plan, &alpha, da, db, &beta, dc, NULL, d->queue),
          "gemmtune_execute");
    download(d, c, dc, sizeof c);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The largest difference from a plain loop, over all products. */
static double worst_error(void) {
    double worst = 0;
    for (int z = 0; z < BATCH; z++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (double)a[z][i][k] * (double)b[k][j];
                worst = fmax(worst, fabs(sum - (double)c[z][i][j]));
            }
    return worst;
}

int main(void) {
    fill();
    struct device d = open_device();
    cl_mem da = upload(&d, a, sizeof a), db = upload(&d, b, sizeof b),
           dc = upload(&d, c, sizeof c);
    multiply(&d, da, db, dc);
    (void)clReleaseMemObject(dc);
    (void)clReleaseMemObject(db);
    (void)clReleaseMemObject(da);
    close_device(&d);
    return print_result(worst_error());
}
