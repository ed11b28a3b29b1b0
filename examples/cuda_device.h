/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.h - the parts that the CUDA examples share: checks of calls, device memory
 * and pointers. A program that has a CUDA context already needs none of it. */
#ifndef GEMMTUNE_EXAMPLES_CUDA_DEVICE_H
#define GEMMTUNE_EXAMPLES_CUDA_DEVICE_H

#include <cuda.h>

#include "report.h"

#include <stdint.h>

static inline void check_cu(CUresult result, const char *what) {
    const char *text = "unknown error";
    if (result == CUDA_SUCCESS)
        return;
    (void)cuGetErrorString(result, &text);
    (void)fprintf(stderr, "%s failed: %s\n", what, text);
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

#endif
