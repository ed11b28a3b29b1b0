/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointers_cuda.c - a batch of matrices that lie anywhere: arrays of pointers, in device
 * memory, lead to them. Here they are blocks of a pool, as a cache of keys has them, and
 * several products share one.
 *
 *     cc -I$CUDA_HOME/include examples/pointers_cuda.c -lcuda -lm \
 *         $(pkg-config --cflags --libs gemmtune)
 *
 * Tune first (gemmtune tune f32-nt-16x24x32,batch=12,pointers,align=16) for the fastest
 * kernel.
 */
#include "cuda_device.h"

#include <math.h>

enum { BATCH = 12, BLOCKS = 5, M = 16, N = 24, K = 32 };

/* row-major; B is stored transposed, N x K */
static float a[BATCH][M][K], pool[BLOCKS][N][K], c[BATCH][M][N];
static const int block_of[BATCH] = {4, 4, 0, 2, 1, 1, 1, 3, 0, 2, 4, 3};

static void fill(void) {
    for (int i = 0; i < BATCH * M * K; i++)
        a[i / (M * K)][i / K % M][i % K] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < BLOCKS * N * K; i++)
        pool[i / (N * K)][i / K % N][i % K] = (float)(i % 11 - 5) / 8;
}

/* Device memory: the matrices, and the arrays that lead to them. */
struct memory {
    CUdeviceptr a, pool, c, all_a, all_b, all_c;
};

static struct memory make_memory(void) {
    CUdeviceptr all_a[BATCH], all_b[BATCH], all_c[BATCH];
    struct memory m = {.a = upload(a, sizeof a),
                       .pool = upload(pool, sizeof pool),
                       .c = upload(c, sizeof c)};
    for (int z = 0; z < BATCH; z++) {
        all_a[z] = m.a + (CUdeviceptr)z * sizeof *a;
        all_b[z] = m.pool + (CUdeviceptr)block_of[z] * sizeof *pool;
        all_c[z] = m.c + (CUdeviceptr)z * sizeof *c;
    }
    m.all_a = upload(all_a, sizeof all_a);
    m.all_b = upload(all_b, sizeof all_b);
    m.all_c = upload(all_c, sizeof all_c);
    return m;
}

static gemmtune_problem make_problem(void) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, M, N, K);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.trans_b = GEMMTUNE_TRANS;
    p.batch_kind = GEMMTUNE_BATCH_POINTERS;
    p.batch = BATCH;
    p.pointer_align = 16; /* a promise: every matrix begins at a multiple of 16 bytes */
    return p;
}

static void multiply(const struct memory *m, CUstream stream) {
    /* context NULL: the one that is current */
    const gemmtune_target target = {.struct_size = sizeof target, .backend = GEMMTUNE_CUDA};
    const gemmtune_problem problem = make_problem();
    const float alpha = 1, beta = 0; /* beta 0: C is written and not read */
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    check(gemmtune_plan_create(&plan, ctx, &problem, GEMMTUNE_MATCH_DEFAULT, 0),
          "gemmtune_plan_create");
    gemmtune_plan_describe(plan, &info);
    (void)printf("kernel  %s %s\nwhy     %s\n", info.family, info.params, info.why);
    check(gemmtune_execute(plan, &alpha, pointer(m->all_a), pointer(m->all_b), &beta,
                           pointer(m->all_c), NULL, stream),
          "gemmtune_execute");
    check_cu(cuMemcpyDtoHAsync(c, m->c, sizeof c, stream), "cuMemcpyDtoHAsync");
    check_cu(cuStreamSynchronize(stream), "cuStreamSynchronize");
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The largest difference from a plain loop. */
static double worst_error(void) {
    double worst = 0;
    for (int e = 0; e < BATCH * M * N; e++) {
        const int z = e / (M * N), i = e / N % M, j = e % N;
        double sum = 0;
        for (int k = 0; k < K; k++)
            sum += (double)a[z][i][k] * (double)pool[block_of[z]][j][k];
        worst = fmax(worst, fabs(sum - (double)c[z][i][j]));
    }
    return worst;
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CUstream stream;
    fill();
    check_cu(cuInit(0), "cuInit");
    check_cu(cuDeviceGet(&device, 0), "cuDeviceGet");
    check_cu(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check_cu(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check_cu(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    const struct memory m = make_memory();
    const CUdeviceptr all[] = {m.a, m.pool, m.c, m.all_a, m.all_b, m.all_c};
    multiply(&m, stream);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)cuMemFree(all[i]);
    (void)cuStreamDestroy(stream);
    (void)cuDevicePrimaryCtxRelease(device);
    return print_result(worst_error());
}
