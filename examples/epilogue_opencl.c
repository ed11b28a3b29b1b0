/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_opencl.c - a layer of a network as one kernel: C = s silu(A B + bias) + res. The
 * expression is compiled into the kernel, so A B is never written to memory by itself. The
 * call is the same on CUDA.
 *
 *     cc examples/epilogue_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *
 * A kernel that was tuned for the plain product (gemmtune tune f32-nn-200x128x64) serves
 * every epilogue of it.
 */
#include "opencl_device.h"

#include <math.h>

enum { M = 200, N = 128, K = 64, OPERANDS = 3 };

/* s is declared. bias[j] and res[i,j] have C's type, so they need no declaration. A call
 * gives s, then the others in the order of first use. docs/epilogue.md has the language. */
static const char expression[] = "s:f32;d=s*silu(x+bias[j])+res[i,j]";

static float a[M][K], b[K][N], c[M][N]; /* row-major */
static float s = 0.5f, bias[N], res[M][N];

static void fill(void) {
    for (int i = 0; i < M * K; i++)
        a[i / K][i % K] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i / N][i % N] = (float)(i % 11 - 5) / 8;
    for (int j = 0; j < N; j++)
        bias[j] = (float)(j % 7 - 3) / 4;
    for (int i = 0; i < M * N; i++)
        res[i / N][i % N] = (float)(i % 5 - 2);
}

static gemmtune_plan *make_plan(gemmtune_ctx *ctx) {
    gemmtune_problem problem;
    gemmtune_plan *plan;
    gemmtune_problem_init(&problem, GEMMTUNE_F32, M, N, K);
    problem.layout = GEMMTUNE_ROW_MAJOR;
    problem.epilogue = expression;
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    return plan;
}

static void launch(const struct device *d, const gemmtune_plan *plan, cl_mem da, cl_mem db,
                   cl_mem dc, const cl_mem operand[OPERANDS]) {
    const float alpha = 1, beta = 0; /* x is alpha A B + beta C */
    const void *pointers[OPERANDS] = {operand[0], operand[1], operand[2]};
    gemmtune_args args;
    gemmtune_args_init(&args);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = da;
    args.b = db;
    args.c = dc;
    args.operands = OPERANDS;
    args.operand = pointers;
    check(gemmtune_launch(plan, &args, d->queue), "gemmtune_launch");
    download(d, c, dc, sizeof c);
}

/* The largest difference from a plain loop. */
static double worst_error(void) {
    double worst = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double x = (double)bias[j];
            for (int k = 0; k < K; k++)
                x += (double)a[i][k] * (double)b[k][j];
            const double want = (double)s * x / (1 + exp(-x)) + (double)res[i][j];
            worst = fmax(worst, fabs(want - (double)c[i][j]));
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
    cl_mem da = upload(&d, a, sizeof a), db = upload(&d, b, sizeof b),
           dc = upload(&d, c, sizeof c);
    cl_mem operand[OPERANDS] = {upload(&d, &s, sizeof s), upload(&d, bias, sizeof bias),
                                upload(&d, res, sizeof res)};
    gemmtune_ctx *ctx;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    gemmtune_plan *plan = make_plan(ctx);
    print_plan(plan);
    launch(&d, plan, da, db, dc, operand);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
    for (int i = 0; i < OPERANDS; i++)
        (void)clReleaseMemObject(operand[i]);
    (void)clReleaseMemObject(dc);
    (void)clReleaseMemObject(db);
    (void)clReleaseMemObject(da);
    close_device(&d);
    return print_result(worst_error());
}
