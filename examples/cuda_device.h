/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.h - the parts that the CUDA examples share: checks of calls, device memory
 * and pointers. A program that has a CUDA context already needs none of it. */
#ifndef GEMMTUNE_EXAMPLES_CUDA_DEVICE_H
#define GEMMTUNE_EXAMPLES_CUDA_DEVICE_H

#include <cuda.h>

#include "gemmtune.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline void check_cu(CUresult result, const char *what) {
    const char *text = "unknown error";
    if (result == CUDA_SUCCESS)
        return;
    (void)cuGetErrorString(result, &text);
    (void)fprintf(stderr, "%s failed: %s\n", what, text);
    exit(1);
}

/* Every gemmtune call returns a status; gemmtune_errmsg says the rest in one line. */
static inline void check(gemmtune_status status, const char *what) {
    if (status == GEMMTUNE_OK)
        return;
    (void)fprintf(stderr, "%s: %s: %s\n", what, gemmtune_strerror(status),
                  gemmtune_errmsg());
    exit(1);
}

/* Device memory with a copy of `bytes` bytes. The caller frees it. */
static inline CUdeviceptr upload(const void *from, size_t bytes) {
    CUdeviceptr memory;
    check_cu(cuMemAlloc(&memory, bytes), "cuMemAlloc");
    check_cu(cuMemcpyHtoD(memory, from, bytes), "cuMemcpyHtoD");
    return memory;
}

/* gemmtune takes device pointers as void *, whatever the backend. */
static inline void *pointer(CUdeviceptr memory) {
    return (void *)(uintptr_t)memory;
}

/* The program's exit code. */
static inline int print_result(double worst_error) {
    const int right = worst_error < 1e-3;
    (void)printf("result  largest error %g: %s\n", worst_error, right ? "right" : "WRONG");
    return right ? 0 : 1;
}

#endif
