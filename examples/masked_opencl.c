/* SPDX-License-Identifier: Apache-2.0 */
/*
 * masked_opencl.c - products with the first rows alone computed: sequences of
 * different lengths in a buffer that has room for the longest one, each times the same
 * weights. The lengths are in device memory, so that an earlier kernel may write them.
 *
 *     cc examples/masked_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *
 * Tune first (gemmtune tune f32-nn-50x24x32,batch=6,masked,rows=20,sb=0) for the fastest
 * kernel.
 */
#include "opencl_device.h"

#include <math.h>

enum { SEQUENCES = 6, ROOM = 50, N = 24, K = 32 };

/* row-major */
static float a[SEQUENCES][ROOM][K], b[K][N], c[SEQUENCES][ROOM][N];

/* The rows of each sequence. The third one is empty. */
static int32_t lengths[SEQUENCES] = {50, 1, 0, 17, 33, 9};

static void fill(void) {
    for (int i = 0; i < SEQUENCES * ROOM * K; i++)
        a[i / (ROOM * K)][i / K % ROOM][i % K] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i / N][i % N] = (float)(i % 11 - 5) / 8;
}

static gemmtune_problem make_problem(void) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, ROOM, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.batch_kind = GEMMTUNE_MASKED_ROWS;
    p.batch = SEQUENCES;
    p.stride_b = 0;       /* one B for all */
    p.expected_rows = 20; /* of a sequence, in the mean: what tuning and lookup expect */
    return p;
}

struct memory {
    cl_mem a, b, c, lengths;
};

static void multiply(const struct device *d, const struct memory *m) {
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = d->context,
                                    .device = d->id};
    const gemmtune_problem problem = make_problem();
    const float alpha = 1, beta = 0;
    gemmtune_args args;
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    print_plan(plan);
    gemmtune_args_init(&args);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = m->a;
    args.b = m->b;
    args.c = m->c;
    args.rows = m->lengths;
    check(gemmtune_launch(plan, &args, d->queue), "gemmtune_launch");
    download(d, c, m->c, sizeof c);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The right value of an element. Rows after a sequence keep their 0. */
static double right(int z, int i, int j) {
    double sum = 0;
    for (int k = 0; k < K && i < lengths[z]; k++)
        sum += (double)a[z][i][k] * (double)b[k][j];
    return sum;
}

/* The largest difference from a plain loop. */
static double worst_error(void) {
    double worst = 0;
    for (int e = 0; e < SEQUENCES * ROOM * N; e++) {
        const int z = e / (ROOM * N), i = e / N % ROOM, j = e % N;
        worst = fmax(worst, fabs(right(z, i, j) - (double)c[z][i][j]));
    }
    return worst;
}

int main(void) {
    fill();
    struct device d = open_device();
    const struct memory m = {.a = upload(&d, a, sizeof a),
                             .b = upload(&d, b, sizeof b),
                             .c = upload(&d, c, sizeof c),
                             .lengths = upload(&d, lengths, sizeof lengths)};
    const cl_mem all[] = {m.a, m.b, m.c, m.lengths};
    multiply(&d, &m);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)clReleaseMemObject(all[i]);
    close_device(&d);
    return print_result(worst_error());
}
