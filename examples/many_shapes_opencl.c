/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_shapes_opencl.c - what a program pays for many shapes of one type: it multiplies
 * matrices of N shapes (500), each once, and says what that took.
 *
 *     cc examples/many_shapes_opencl.c $(pkg-config --cflags --libs gemmtune) -lOpenCL -lm
 *     ./a.out [N]; ./a.out [N]        the second run finds its images in the cache
 */
#include "opencl_device.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

enum { SIDE_MAX = 256, SHAPES = 500, KEPT = 100 };

static float ones[SIDE_MAX * SIDE_MAX];

static double wall(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct rusage usage(void) {
    struct rusage r;
    (void)getrusage(RUSAGE_SELF, &r);
    return r;
}

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double cpu(void) {
    const struct rusage r = usage();
    return seconds_of(r.ru_utime) + seconds_of(r.ru_stime);
}

/* The sides of shape i. No two shapes are the same, up to 200 * 60 of them. */
static void shape(int i, int64_t *m, int64_t *n, int64_t *k) {
    *m = 57 + i % 200;
    *n = 33 + i / 200 % 60;
    *k = 40 + i % 11;
}

/* Multiplies matrices of ones in one call. Returns how far the last element is from k. */
static double multiply(const struct device *d, gemmtune_ctx *ctx, int i, cl_mem from,
                       cl_mem to) {
    int64_t m, n, k;
    float last = 0;
    shape(i, &m, &n, &k);
    check(gemmtune_sgemm(ctx, GEMMTUNE_COL_MAJOR, GEMMTUNE_NOTRANS, GEMMTUNE_NOTRANS, m, n,
                         k, 1, from, m, from, k, 0, to, m, d->queue),
          "gemmtune_sgemm");
    check_cl(clEnqueueReadBuffer(d->queue, to, CL_TRUE, sizeof last * (size_t)(m * n - 1),
                                 sizeof last, &last, 0, NULL, NULL),
             "clEnqueueReadBuffer");
    return fabs((double)last - (double)k);
}

static gemmtune_plan_cache_info describe(gemmtune_ctx *ctx) {
    gemmtune_plan_cache_info info = {.struct_size = sizeof info};
    check(gemmtune_plan_cache_describe(ctx, &info), "gemmtune_plan_cache_describe");
    return info;
}

static double run(const struct device *d, gemmtune_ctx *ctx, int shapes) {
    cl_mem from = upload(d, ones, sizeof ones), to = upload(d, ones, sizeof ones);
    const double began = wall(), cpu_began = cpu();
    double worst = 0;
    for (int i = 0; i < shapes; i++) {
        worst = fmax(worst, multiply(d, ctx, i, from, to));
        if (i == 0)
            (void)printf("first   %.3f s\n", wall() - began);
    }
    gemmtune_plan_cache_info info = describe(ctx);
    (void)printf("all     %.3f s, %.3f s of CPU, %ld MiB at most\n"
                 "plans   %lld of %d shapes, %lld loaded programs\n",
                 wall() - began, cpu() - cpu_began, usage().ru_maxrss / 1024,
                 (long long)info.plans, shapes, (long long)info.programs);
    check(gemmtune_plan_cache_limit(ctx, KEPT), "gemmtune_plan_cache_limit");
    info = describe(ctx);
    (void)printf("limit   %lld plans kept, %lld dropped\n", (long long)info.plans,
                 (long long)info.dropped);
    (void)clReleaseMemObject(to);
    (void)clReleaseMemObject(from);
    return worst;
}

int main(int argc, char **argv) {
    const int shapes = argc > 1 ? atoi(argv[1]) : SHAPES;
    for (int i = 0; i < SIDE_MAX * SIDE_MAX; i++)
        ones[i] = 1;
    struct device d = open_device();
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = d.context,
                                    .device = d.id};
    gemmtune_ctx *ctx;
    const double began = wall();
    check(gemmtune_open(&ctx, NULL, &target), "gemmtune_open");
    (void)printf("open    %.3f s\n", wall() - began);
    const double worst = run(&d, ctx, shapes);
    gemmtune_close(ctx);
    close_device(&d);
    return print_result(worst);
}
