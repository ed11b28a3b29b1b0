/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_memory.c - memory for the calls of an OpenCL queue. The queue is retained
 * meanwhile, so no other one gets its handle. A queue that is out of order has none: two of
 * its calls may run at once.
 */
#include "runtime/drivers/opencl_api.h"
#include "runtime/drivers/stream_memory.h"

static bool identify(struct gt_stream_id *out, const struct gt_gpu *gpu, void *stream) {
    *out = (struct gt_stream_id){.handle = stream};
    return stream != NULL && !gpu->driver->is_unordered(stream);
}

static gt_status make(void **memory, const struct gt_gpu *gpu, void *stream, size_t bytes,
                      struct gt_err *err) {
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    cl_int error = GT_CL_SUCCESS;
    *memory = NULL;
    gt_status status = gt_opencl_result(cl->clRetainCommandQueue((cl_command_queue)stream),
                                        "clRetainCommandQueue", err);
    if (status != GEMMTUNE_OK)
        return status;
    *memory = cl->clCreateBuffer((cl_context)gpu->target.context, GT_CL_MEM_READ_WRITE,
                                 bytes, NULL, &error);
    status = gt_opencl_result(error, "clCreateBuffer", err);
    if (status != GEMMTUNE_OK)
        (void)cl->clReleaseCommandQueue((cl_command_queue)stream);
    return status;
}

/* Kernels that are still to run keep the buffer until they have. */
static void release(const struct gt_gpu *gpu, void *stream, void *memory) {
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    (void)gpu;
    (void)cl->clReleaseMemObject((cl_mem)memory);
    (void)cl->clReleaseCommandQueue((cl_command_queue)stream);
}

const struct gt_stream_memory gt_stream_memory_opencl = {
    .identify = identify, .make = make, .release = release};
