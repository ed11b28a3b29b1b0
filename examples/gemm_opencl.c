/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_opencl.c - multiplies two matrices with gemmtune on OpenCL: open, plan, describe,
 * execute, check.
 *
 *     cc examples/gemm_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *
 * Tune first (gemmtune tune f32-nn-512x384x256) and the plan below says "tuned on this
 * device for exactly this problem"; without that it runs a default kernel, right all the
 * same.
 */
#include "opencl_device.h"

#include <math.h>

enum { M = 512, N = 384, K = 256 };

static float a[M * K], b[K * N], c[M * N]; /* row-major */

static void fill(void) {
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 11 - 5) / 8;
}

static void multiply(const struct device *d, cl_mem da, cl_mem db, cl_mem dc) {
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = d->context,
                                    .device = d->id};
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

    /* The product is enqueued; reading the result waits for it. */
    check(gemmtune_execute(plan, &alpha, da, db, &beta, dc, NULL, d->queue),
          "gemmtune_execute");
    download(d, c, dc, sizeof c);

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
    cl_mem da = upload(&d, a, sizeof a), db = upload(&d, b, sizeof b),
           dc = upload(&d, c, sizeof c);
    multiply(&d, da, db, dc);
    (void)clReleaseMemObject(dc);
    (void)clReleaseMemObject(db);
    (void)clReleaseMemObject(da);
    close_device(&d);
    return print_result(worst_error());
}
