/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups_opencl.c - rows that are sorted by group, each group times a matrix of its own, in
 * one call: the experts of a mixture. The same kernel adds the bias of the row's expert,
 * computes SiLU, and multiplies by the row's weight. The sizes of the groups are in device
 * memory, so that an earlier kernel may write them: the host need not know them.
 *
 *     cc examples/groups_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *
 * Tune first (gemmtune tune f32-nn-240x24x32,groups=6) for the fastest kernel.
 */
#include "opencl_device.h"

#include <math.h>

enum { GROUPS = 6, ROWS = 240, N = 24, K = 32 };

/* row-major */
static float a[ROWS][K], b[GROUPS][K][N], c[ROWS][N];
static float bias[GROUPS][N], weight[ROWS];

/* z is the number of the group. A call gives bias and weight in this order. */
static const char expression[] = "d=silu(x+bias[z,j])*weight[i]";

/* The row after the last one of each group. The third group has no rows, and the last 20
 * rows are in no group. */
static int32_t ends[GROUPS] = {50, 51, 51, 130, 137, 220};

static void fill(void) {
    for (int i = 0; i < ROWS * K; i++)
        a[i / K][i % K] = (float)(i % 13 - 6) / 8;
    for (int z = 0; z < GROUPS; z++)
        for (int i = 0; i < K * N; i++)
            b[z][i / N][i % N] = (float)((z + i) % 11 - 5) / 8;
    for (int i = 0; i < GROUPS * N; i++)
        bias[i / N][i % N] = (float)(i % 7 - 3) / 4;
    for (int i = 0; i < ROWS; i++)
        weight[i] = (float)(1 + i % 5) / 5;
}

static gemmtune_problem make_problem(void) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, ROWS, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.batch_kind = GEMMTUNE_GROUPED_ROWS;
    p.batch = GROUPS; /* expected_rows stays 0: tuning expects groups of 40 rows */
    p.epilogue = expression;
    return p;
}

/* The matrices, the groups' ends, and the operands of the epilogue. */
struct memory {
    cl_mem a, b, c, rows, bias, weight;
};

static void launch(const struct device *d, const gemmtune_plan *plan,
                   const struct memory *m) {
    const void *const operands[] = {m->bias, m->weight};
    const float alpha = 1, beta = 0;
    gemmtune_args args;
    gemmtune_args_init(&args);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = m->a;
    args.b = m->b;
    args.c = m->c;
    args.rows = m->rows;
    args.operand = operands;
    args.operands = 2;
    check(gemmtune_launch(plan, &args, d->queue), "gemmtune_launch");
}

static void multiply(const struct device *d, const struct memory *m) {
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = d->context,
                                    .device = d->id};
    const gemmtune_problem problem = make_problem();
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    print_plan(plan);
    launch(d, plan, m);
    download(d, c, m->c, sizeof c);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The right value of an element. Rows of no group keep their 0. */
static double right(int i, int j) {
    double sum = 0;
    int group = 0;
    while (group < GROUPS && i >= ends[group])
        group++;
    if (group == GROUPS)
        return 0;
    for (int k = 0; k < K; k++)
        sum += (double)a[i][k] * (double)b[group][k][j];
    sum += (double)bias[group][j];
    return sum / (1 + exp(-sum)) * (double)weight[i];
}

/* The largest difference from a plain loop. */
static double worst_error(void) {
    double worst = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < N; j++)
            worst = fmax(worst, fabs(right(i, j) - (double)c[i][j]));
    return worst;
}

int main(void) {
    fill();
    struct device d = open_device();
    const struct memory m = {.a = upload(&d, a, sizeof a),
                             .b = upload(&d, b, sizeof b),
                             .c = upload(&d, c, sizeof c),
                             .rows = upload(&d, ends, sizeof ends),
                             .bias = upload(&d, bias, sizeof bias),
                             .weight = upload(&d, weight, sizeof weight)};
    const cl_mem all[] = {m.a, m.b, m.c, m.rows, m.bias, m.weight};
    multiply(&d, &m);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)clReleaseMemObject(all[i]);
    close_device(&d);
    return print_result(worst_error());
}
