/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order_opencl.c - a server that answers a request with the same bits, whatever other
 * requests come at that moment. Requests are rows that wait for a layer: C = relu(A W +
 * bias). The server takes as many as wait, from 1 to 64, in one product. Here each request
 * is answered alone first, then among others, and the answers are compared bit by bit.
 *
 *     cc examples/row_order_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL
 *
 * Tune first for fast kernels: gemmtune tune f32-nn-1x96x160,row_order,epi=bias_relu and
 * the same with other numbers of rows. `gemmtune verify --row-order` is the proof for a
 * device.
 */
#include "opencl_device.h"

#include <string.h>

enum { REQUESTS = 300, ROWS_MAX = 64, N = 96, K = 160 };

/* row-major */
static float a[REQUESTS][K], w[K][N], bias[N];
static float alone[REQUESTS][N], among[REQUESTS][N];

static void fill(void) {
    for (int i = 0; i < REQUESTS * K; i++)
        a[i / K][i % K] = (float)(i * 7919 % 1009 - 504) / 1009;
    for (int i = 0; i < K * N; i++)
        w[i / N][i % N] = (float)(i * 6101 % 997 - 498) / 997;
    for (int j = 0; j < N; j++)
        bias[j] = (float)(j % 7 - 3) / 4;
}

/* The layer for so many requests: the only member that differs is m. */
static gemmtune_problem layer(int rows) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, rows, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.epilogue = "bias_relu";
    p.row_order = 1;
    return p;
}

struct server {
    struct device d;
    gemmtune_ctx *ctx;
    cl_mem a, w, bias, c;
};

static struct server open_server(void) {
    struct server s = {.d = open_device()};
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = s.d.context,
                                    .device = s.d.id};
    check(gemmtune_open(&s.ctx, NULL, &target), "gemmtune_open");
    s.a = upload(&s.d, a, sizeof a);
    s.w = upload(&s.d, w, sizeof w);
    s.bias = upload(&s.d, bias, sizeof bias);
    s.c = upload(&s.d, among, sizeof among);
    return s;
}

static void close_server(struct server *s) {
    const cl_mem all[] = {s->a, s->w, s->bias, s->c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)clReleaseMemObject(all[i]);
    gemmtune_close(s->ctx);
    close_device(&s->d);
}

/* Answers `rows` requests from `first` on in one product. Equal plans are one plan, so a
 * server may ask for one each time. */
static void answer(const struct server *s, int first, int rows) {
    const gemmtune_problem p = layer(rows);
    const void *const operands[] = {s->bias};
    const float alpha = 1, beta = 0;
    gemmtune_plan *plan;
    gemmtune_args args;
    check(gemmtune_plan_create(&plan, s->ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    gemmtune_args_init(&args);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = s->a;
    args.b = s->w;
    args.c = s->c;
    args.a_offset = (int64_t)first * K;
    args.c_offset = (int64_t)first * N;
    args.operand = operands;
    args.operands = 1;
    check(gemmtune_launch(plan, &args, s->d.queue), "gemmtune_launch");
    gemmtune_plan_destroy(plan);
}

int main(void) {
    fill();
    struct server s = open_server();
    int differ = 0;
    for (int i = 0; i < REQUESTS; i++)
        answer(&s, i, 1);
    download(&s.d, alone, s.c, sizeof alone);
    for (int first = 0, rows; first < REQUESTS; first += rows) {
        rows = 1 + first * 37 % ROWS_MAX; /* as many as wait */
        rows = rows < REQUESTS - first ? rows : REQUESTS - first;
        answer(&s, first, rows);
    }
    download(&s.d, among, s.c, sizeof among);
    for (int i = 0; i < REQUESTS; i++)
        differ += memcmp(alone[i], among[i], sizeof alone[i]) != 0;
    close_server(&s);
    (void)printf("result  %d of %d answers have other bits among others: %s\n", differ,
                 REQUESTS, differ == 0 ? "right" : "WRONG");
    return differ != 0;
}
