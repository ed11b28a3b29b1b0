/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_device.h - the parts that the OpenCL examples share: the first device and its
 * memory. A program that has an OpenCL context already needs none of it. */
#ifndef GEMMTUNE_EXAMPLES_OPENCL_DEVICE_H
#define GEMMTUNE_EXAMPLES_OPENCL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "report.h"

struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
};

static inline void check_cl(cl_int result, const char *what) {
    if (result == CL_SUCCESS)
        return;
    (void)fprintf(stderr, "%s failed: OpenCL error %d\n", what, (int)result);
    exit(1);
}

/* The first device of the first platform. */
static inline struct device open_device(void) {
    struct device d;
    cl_platform_id platform;
    cl_int result;
    check_cl(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d.id, NULL),
             "clGetDeviceIDs");
    d.context = clCreateContext(NULL, 1, &d.id, NULL, NULL, &result);
    check_cl(result, "clCreateContext");
    d.queue = clCreateCommandQueue(d.context, d.id, 0, &result);
    check_cl(result, "clCreateCommandQueue");
    return d;
}

static inline void close_device(struct device *d) {
    (void)clReleaseCommandQueue(d->queue);
    (void)clReleaseContext(d->context);
}

/* Device memory with a copy of `bytes` bytes. The caller releases it. */
static inline cl_mem upload(const struct device *d, void *from, size_t bytes) {
    cl_int result;
    cl_mem memory = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   bytes, from, &result);
    check_cl(result, "clCreateBuffer");
    return memory;
}

/* Waits for the work that is enqueued, and copies `bytes` bytes. */
static inline void download(const struct device *d, void *to, cl_mem from, size_t bytes) {
    check_cl(clEnqueueReadBuffer(d->queue, from, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
             "clEnqueueReadBuffer");
}

#endif
