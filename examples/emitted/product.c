/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.c - a program without NVRTC, a database and gemmtune: the kernels lie compiled in
 * a folder that gemmtune wrote, and the CUDA driver is opened when the program runs.
 *
 *     gemmtune emit --arch sm_90 -o kernels f32-nn-512x384x256
 *     make -C kernels
 *     cc -Ikernels examples/emitted/product.c kernels/libgemmkit.a -ldl -pthread -o product
 *     ./product
 *
 * A program on the CUDA runtime API has a context already, and its pointers and streams do:
 * it needs no more than the lines with gemmkit_.
 */
#include "gemmkit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 512, N = 384, K = 256 };

static float a[M * K], b[K * N], c[M * N]; /* row-major */

/* A function of the driver, which stays open. */
static void *find(const char *name) {
    static void *library;
    const char *path = getenv("GEMMKIT_LIBCUDA");
    if (library == NULL)
        library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);
    void *const found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) {
        fprintf(stderr, "product: no %s: is there a CUDA driver?\n", name);
        exit(4);
    }
    return found;
}

static void check_cu(unsigned result, const char *what) {
    if (result != 0) {
        fprintf(stderr, "product: %s failed with %u\n", what, result);
        exit(1);
    }
}

static void check(gemmkit_status status) {
    if (status != GEMMKIT_OK) {
        fprintf(stderr, "product: %s\n", gemmkit_errmsg());
        exit(1);
    }
}

/* The first device's own context, as the CUDA runtime API uses it. */
static void open_device(void) {
    unsigned (*init)(unsigned) = (unsigned (*)(unsigned))find("cuInit");
    unsigned (*retain)(void **, int) =
        (unsigned (*)(void **, int))find("cuDevicePrimaryCtxRetain");
    unsigned (*current)(void *) = (unsigned (*)(void *))find("cuCtxSetCurrent");
    void *context = NULL;
    check_cu(init(0), "cuInit");
    check_cu(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check_cu(current(context), "cuCtxSetCurrent");
}

static void *upload(const void *from, size_t bytes) {
    unsigned (*allocate)(unsigned long long *, size_t) =
        (unsigned (*)(unsigned long long *, size_t))find("cuMemAlloc_v2");
    unsigned (*copy)(unsigned long long, const void *, size_t) =
        (unsigned (*)(unsigned long long, const void *, size_t))find("cuMemcpyHtoD_v2");
    unsigned long long memory = 0;
    check_cu(allocate(&memory, bytes), "cuMemAlloc");
    check_cu(copy(memory, from, bytes), "cuMemcpyHtoD");
    return (void *)(uintptr_t)memory;
}

/* Waits for the product as well. */
static void download(void *to, const void *from, size_t bytes) {
    unsigned (*copy)(void *, unsigned long long, size_t) =
        (unsigned (*)(void *, unsigned long long, size_t))find("cuMemcpyDtoH_v2");
    check_cu(copy(to, (unsigned long long)(uintptr_t)from, bytes), "cuMemcpyDtoH");
}

static int is_right(void) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0; /* exact: multiples of 1/64 */
            for (int l = 0; l < K; l++)
                sum += (double)a[i * K + l] * b[l * N + j];
            if (c[i * N + j] != (float)sum)
                return 0;
        }
    return 1;
}

int main(void) {
    const float one = 1, zero = 0;
    gemmkit_ctx *ctx = NULL;
    gemmkit_plan *plan = NULL;
    gemmkit_plan_info info;
    gemmkit_problem p;
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i % 13 - 6) / 8;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 11 - 5) / 8;
    open_device();
    void *const on_a = upload(a, sizeof a), *const on_b = upload(b, sizeof b),
                *const on_c = upload(c, sizeof c);

    check(gemmkit_open(&ctx, NULL));
    gemmkit_problem_init(&p, GEMMKIT_F32, M, N, K);
    p.layout = GEMMKIT_ROW_MAJOR;
    check(gemmkit_plan_create(&plan, ctx, &p, 0));
    gemmkit_plan_describe(plan, &info);
    printf("%s kernel: %s %s\n", info.exact ? "the problem's own" : "a general",
           info.family, info.params);
    check(gemmkit_execute(plan, &one, on_a, on_b, &zero, on_c, NULL, NULL));
    download(c, on_c, sizeof c);
    gemmkit_plan_destroy(plan);
    gemmkit_close(ctx);

    const int right = is_right();
    printf("%dx%dx%d: %s\n", M, N, K, right ? "right" : "WRONG");
    return !right;
}
