/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.c - what a process pays on a CUDA device before its first products, in
 * milliseconds on the clock.
 *
 *     start gemmtune FILE PROBLEM OTHER   a line: the driver and a context, gemmtune_open
 * with the database FILE, the plan of PROBLEM, the plan of OTHER, that one's first product
 *     start cublas PROBLEM                a line: the driver and a context, opening the
 *                                         library and making a handle, the first product
 *
 * Each run is a process of its own. Whether an image is cached is up to the caller
 * (GEMMTUNE_CACHE_DIR). The problems are of f32, packed, and not transposed.
 */
#include "include/gemmtune.h"
#include "runtime/drivers/cuda_api.h"
#include "tuner/bench/cublas_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double began;

static double now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Prints the milliseconds since the last step. */
static void step(const char *name) {
    (void)printf("%s %.2f  ", name, now_ms() - began);
    began = now_ms();
}

static void check(bool done, const char *what) {
    if (done)
        return;
    (void)fprintf(stderr, "start: %s: %s\n", what, gemmtune_errmsg());
    exit(1);
}

static const struct gt_cuda *make_current(void) {
    struct gt_err err = {""};
    CUcontext context;
    CUdevice device;
    const struct gt_cuda *cu = gt_cuda_api(&err);
    check(cu != NULL && !cu->cuInit(0) && !cu->cuDeviceGet(&device, 0) &&
              !cu->cuCtxCreate(&context, 0, device),
          "CUDA driver");
    step("driver and context");
    return cu;
}

static gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    check(gemmtune_problem_parse(&p, name) == GEMMTUNE_OK, name);
    check(p.type_c == GEMMTUNE_F32 && !p.trans_a && !p.trans_b, "a problem of f32 and nn");
    return p;
}

/* A and B share room for the larger of them, and C has as much. */
static CUdeviceptr room_for(const struct gt_cuda *cu, const gemmtune_problem *p) {
    CUdeviceptr memory = 0;
    const int64_t side = p->m > p->n ? p->m : p->n, most = side > p->k ? side : p->k;
    check(!cu->cuMemAlloc(&memory, (size_t)(most * most) * sizeof(float)), "memory");
    return memory;
}

static void *pointer_to(CUdeviceptr memory) {
    void *p;
    memcpy(&p, &memory, sizeof p);
    return p;
}

static gemmtune_plan *plan_of(gemmtune_ctx *ctx, const gemmtune_problem *p,
                              const char *name) {
    gemmtune_plan *plan;
    check(gemmtune_plan_create(&plan, ctx, p, GEMMTUNE_MATCH_DEFAULT, 0) == GEMMTUNE_OK,
          name);
    return plan;
}

static void start_gemmtune(const char *file, const char *first, const char *second) {
    const gemmtune_problem problem[] = {problem_of(first), problem_of(second)};
    const gemmtune_target target = {.struct_size = sizeof target, .backend = GEMMTUNE_CUDA};
    const float alpha = 1, beta = 0;
    gemmtune_ctx *ctx;
    began = now_ms();
    const struct gt_cuda *cu = make_current();
    check(gemmtune_open(&ctx, file, &target) == GEMMTUNE_OK, file);
    step("open");
    gemmtune_plan *one = plan_of(ctx, &problem[0], first);
    step("first plan");
    gemmtune_plan *other = plan_of(ctx, &problem[1], second);
    step("second plan");
    void *in = pointer_to(room_for(cu, &problem[1])),
         *out = pointer_to(room_for(cu, &problem[1]));
    began = now_ms();
    check(gemmtune_execute(other, &alpha, in, in, &beta, out, NULL, NULL) == GEMMTUNE_OK,
          second);
    check(!cu->cuCtxSynchronize(), "the product");
    step("first product");
    gemmtune_plan_destroy(one);
    gemmtune_plan_destroy(other);
    gemmtune_close(ctx);
}

static void start_cublas(const char *name) {
    const gemmtune_problem p = problem_of(name);
    const float alpha = 1, beta = 0;
    const struct gt_cublas *api;
    cublasHandle_t handle;
    struct gt_err err = {""};
    began = now_ms();
    const struct gt_cuda *cu = make_current();
    if (gt_cublas_open(&api, &handle, NULL, &err) != GEMMTUNE_OK) {
        (void)fprintf(stderr, "start: cuBLAS: %s\n", err.line);
        exit(1);
    }
    step("open and handle");
    void *in = pointer_to(room_for(cu, &p)), *out = pointer_to(room_for(cu, &p));
    began = now_ms();
    const int m = (int)p.m, n = (int)p.n, k = (int)p.k;
    check(api->cublasGemmEx(handle, GT_CUBLAS_N, GT_CUBLAS_N, n, m, k, &alpha, in,
                            GT_CUBLAS_F32, n, in, GT_CUBLAS_F32, k, &beta, out,
                            GT_CUBLAS_F32, n, GT_CUBLAS_COMPUTE_F32,
                            GT_CUBLAS_ALGO_DEFAULT) == GT_CUBLAS_SUCCESS,
          "cublasGemmEx");
    check(!cu->cuCtxSynchronize(), "the product");
    step("first product");
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "gemmtune") == 0)
        start_gemmtune(argv[2], argv[3], argv[4]);
    else if (argc == 3 && strcmp(argv[1], "cublas") == 0)
        start_cublas(argv[2]);
    else {
        (void)fprintf(stderr,
                      "usage: start gemmtune FILE PROBLEM OTHER | start cublas PROBLEM\n");
        return 2;
    }
    (void)printf("\n");
    return 0;
}
