/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_memory.c - memory for the calls of a CUDA stream. A driver since CUDA 12.0 numbers
 * streams, and no number comes twice. With an older one a stream is its handle, but for the
 * stream of a thread, which has the same handle in every thread. So it is while a stream is
 * captured: to ask for the number then ends the capture (driver 580).
 */
#include "runtime/drivers/cuda_api.h"
#include "runtime/drivers/stream_memory.h"

/* CU_STREAM_LEGACY, the same stream as NULL, and CU_STREAM_PER_THREAD */
enum { LEGACY = 1, PER_THREAD = 2 };

static gt_status enter(const struct gt_cuda *cu, const struct gt_gpu *gpu,
                       struct gt_err *err) {
    return gt_cuda_result(cu->cuCtxPushCurrent((CUcontext)gpu->target.context),
                          "cuCtxPushCurrent", err);
}

static void leave(const struct gt_cuda *cu) {
    CUcontext mine;
    (void)cu->cuCtxPopCurrent(&mine);
}

/* A driver that cannot say so has no captures. Of the legacy stream it gives an error while
 * another stream is captured that would wait for it. */
static bool is_captured(const struct gt_cuda *cu, void *stream) {
    gt_cu_capture_status status = GT_CU_CAPTURE_NONE;
    return cu->cuStreamIsCapturing != NULL &&
           (cu->cuStreamIsCapturing((CUstream)stream, &status) != GT_CU_SUCCESS ||
            status != GT_CU_CAPTURE_NONE);
}

/* Of any stream but the legacy one. */
static bool number_of(struct gt_stream_id *out, const struct gt_cuda *cu, void *stream) {
    unsigned long long number = 0;
    out->is_captured = is_captured(cu, stream);
    if (out->is_captured || cu->cuStreamGetId == NULL)
        return true;
    const gt_cu_result result = cu->cuStreamGetId((CUstream)stream, &number);
    out->number = number;
    return result == GT_CU_SUCCESS;
}

/* The current context decides which stream the stream of a thread is. */
static bool number_of_mine(struct gt_stream_id *out, const struct gt_cuda *cu,
                           const struct gt_gpu *gpu, void *stream) {
    if (cu->cuStreamGetId == NULL || enter(cu, gpu, NULL) != GEMMTUNE_OK)
        return false;
    const bool known = number_of(out, cu, stream) && !out->is_captured;
    leave(cu);
    return known;
}

static bool identify(struct gt_stream_id *out, const struct gt_gpu *gpu, void *stream) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    const uintptr_t handle = (uintptr_t)stream;
    *out = (struct gt_stream_id){.handle = handle == LEGACY ? NULL : stream};
    return out->handle == NULL    ? true
           : handle == PER_THREAD ? number_of_mine(out, cu, gpu, stream)
                                  : number_of(out, cu, stream);
}

/* Allocating and freeing end the captures of other streams, unless the thread says that it
 * means no harm. Gives the mode to go back to. */
static gt_cu_capture_mode set_mode(const struct gt_cuda *cu, gt_cu_capture_mode mode) {
    if (cu->cuThreadExchangeStreamCaptureMode != NULL)
        (void)cu->cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static gt_cu_result allocate(CUdeviceptr *memory, const struct gt_cuda *cu, size_t bytes) {
    const gt_cu_capture_mode mode = set_mode(cu, GT_CU_CAPTURE_RELAXED);
    const gt_cu_result result = cu->cuMemAlloc(memory, bytes);
    (void)set_mode(cu, mode);
    return result;
}

static gt_status make(void **memory, const struct gt_gpu *gpu, void *stream, size_t bytes,
                      struct gt_err *err) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    CUdeviceptr p = 0;
    *memory = NULL;
    gt_status status = enter(cu, gpu, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (is_captured(cu, stream))
        status = gt_fail(err, GEMMTUNE_EINVAL, "the stream is captured");
    else
        status = gt_cuda_result(allocate(&p, cu, bytes), "cuMemAlloc", err);
    leave(cu);
    *memory = (void *)(uintptr_t)p;
    return status;
}

static void release(const struct gt_gpu *gpu, void *stream, void *memory) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    (void)stream;
    if (enter(cu, gpu, NULL) != GEMMTUNE_OK)
        return;
    const gt_cu_capture_mode mode = set_mode(cu, GT_CU_CAPTURE_RELAXED);
    (void)cu->cuMemFree((CUdeviceptr)(uintptr_t)memory);
    (void)set_mode(cu, mode);
    leave(cu);
}

const struct gt_stream_memory gt_stream_memory_cuda = {
    .identify = identify, .make = make, .release = release};
