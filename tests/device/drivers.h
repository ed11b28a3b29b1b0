/* SPDX-License-Identifier: Apache-2.0 */
/* drivers.h - the devices of this machine, and kernels to build, for tests of drivers. */
#ifndef GT_TESTS_DEVICE_DRIVERS_H
#define GT_TESTS_DEVICE_DRIVERS_H

#include "runtime/drivers/build.h"
#include "runtime/drivers/cuda_api.h"
#include "runtime/drivers/opencl_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = 256, GROUP = 32, THREADS = 24, ROUNDS = 40 };

static const struct gt_launch shape = {
    .grid = {COUNT / GROUP, 1, 1}, .block = {GROUP, 1, 1}, .cluster = {1, 1, 1}};

#define SKIP_UNLESS(condition, why)                                                        \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            print_message("skipped: %s\n", why);                                           \
            skip();                                                                        \
        }                                                                                  \
    } while (0)

static struct gt_device_list devices;

/* The first device of a backend, or NULL. */
static inline const struct gt_device *first(gemmtune_backend backend) {
    for (size_t i = 0; i < devices.count; i++)
        if (devices.device[i].backend == backend)
            return &devices.device[i];
    return NULL;
}

/* ---- CUDA ---- */

static const char cuda_source[] =
    "extern \"C\" __global__ void fill(int *x, int times, int add)\n"
    "{ __shared__ int t[64]; int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  t[threadIdx.x] = i * times; __syncthreads(); x[i] = t[threadIdx.x] + add; }\n";

static inline struct gt_device made_up(int cc) {
    struct gt_device d = {.backend = GEMMTUNE_CUDA, .cc = cc};
    snprintf(d.arch, sizeof d.arch, "sm_%d", cc);
    return d;
}

/* Whether an NVRTC is here that serves cc. */
static inline bool compiles_for(int cc) {
    const struct gt_device d = made_up(cc);
    char text[GT_TOOLCHAIN_MAX];
    return gt_driver_cuda.toolchain(text, &d, NULL) == GEMMTUNE_OK;
}

/* ---- set-up ---- */

static inline int list_devices(void **state) {
    (void)state;
    struct gt_err err = {""};
    if (gt_devices_list(&devices, &err) != GEMMTUNE_OK) {
        print_error("%s\n", err.line);
        return -1;
    }
    return 0;
}

static inline int clear_devices(void **state) {
    (void)state;
    gt_devices_clear(&devices);
    return 0;
}

#endif
