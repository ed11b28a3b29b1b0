/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups_opencl.c - rows that are sorted by group, each group times a matrix of its own, in
 * one call: the experts of a mixture. The sizes of the groups are in device memory, so that
 * an earlier kernel may write them: the host need not know them.
 *
 *     cc -Iinclude examples/groups_opencl.c -lgemmtune -lOpenCL -lm
 *
 * Tune first (gemmtune tune f32-nn-240x24x32,groups=6) for the fastest kernel.
 */
#include "opencl_device.h"

#include <math.h>

enum { GROUPS = 6, ROWS = 240, N = 24, K = 32 };

/* row-major */
static float a[ROWS][K], b[GROUPS][K][N], c[ROWS][N];

/* The row behind the last one of each group. The third group has no rows, and the last 20
 * rows are in no group. */
static int32_t ends[GROUPS] = {50, 51, 51, 130, 137, 220};

static void fill(void) {
    for (int i = 0; i < ROWS * K; i++)
        a[i / K][i % K] = (float)(i % 13 - 6) / 8;
    for (int z = 0; z < GROUPS; z++)
        for (int i = 0; i < K * N; i++)
            b[z][i / N][i % N] = (float)((z + i) % 11 - 5) / 8;
}

static gemmtune_problem make_problem(void) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, ROWS, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.batch_kind = GEMMTUNE_GROUPED_ROWS;
    p.batch = GROUPS; /* expected_rows stays 0: tuning expects groups of 40 rows */
    return p;
}

static void launch(const struct device *d, const gemmtune_plan *plan, cl_mem da, cl_mem db,
                   cl_mem dc, cl_mem rows) {
    const float alpha = 1, beta = 0;
    gemmtune_args args;
    gemmtune_args_init(&args);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = da;
    args.b = db;
    args.c = dc;
    args.rows = rows;
    check(gemmtune_launch(plan, &args, d->queue), "gemmtune_launch");
}

static void multiply(const struct device *d, cl_mem da, cl_mem db, cl_mem dc, cl_mem rows) {
    const gemmtune_target target = {
        .backend = GEMMTUNE_OPENCL, .context = d->context, .device = d->id};
    const gemmtune_problem problem = make_problem();
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    print_plan(plan);
    launch(d, plan, da, db, dc, rows);
    download(d, c, dc, sizeof c);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The right value of an element. Rows of no group keep their 0. */
static double right(int i, int j) {
    double sum = 0;
    int group = 0;
    while (group < GROUPS && i >= ends[group])
        group++;
    for (int k = 0; k < K && group < GROUPS; k++)
        sum += (double)a[i][k] * (double)b[group][k][j];
    return sum;
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
    cl_mem da = upload(&d, a, sizeof a), db = upload(&d, b, sizeof b),
           dc = upload(&d, c, sizeof c), dr = upload(&d, ends, sizeof ends);
    multiply(&d, da, db, dc, dr);
    (void)clReleaseMemObject(dr);
    (void)clReleaseMemObject(dc);
    (void)clReleaseMemObject(db);
    (void)clReleaseMemObject(da);
    close_device(&d);
    return print_result(worst_error());
}
