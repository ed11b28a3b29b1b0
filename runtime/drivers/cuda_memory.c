/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_memory.c - memory for the calls of a CUDA stream. A driver since CUDA 12.0 numbers
 * streams, and no number comes twice. With an older one a stream is its handle, but for the
 * stream of a thread, which has the same handle in every thread.
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

/* The current context decides which stream the stream of a thread is. A driver may also
 * want one for others. */
static bool number_of(uint64_t *out, const struct gt_cuda *cu, const struct gt_gpu *gpu,
                      void *stream) {
    unsigned long long number = 0;
    gt_cu_result result = GT_CU_INVALID_CONTEXT;
    if ((uintptr_t)stream != PER_THREAD)
        result = cu->cuStreamGetId((CUstream)stream, &number);
    if (result != GT_CU_SUCCESS && enter(cu, gpu, NULL) == GEMMTUNE_OK) {
        result = cu->cuStreamGetId((CUstream)stream, &number);
        leave(cu);
    }
    *out = number;
    return result == GT_CU_SUCCESS;
}

static bool identify(struct gt_stream_id *out, const struct gt_gpu *gpu, void *stream) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    *out = (struct gt_stream_id){.handle = stream};
    if (stream == NULL || (uintptr_t)stream == LEGACY) {
        out->handle = NULL;
        return true;
    }
    return cu->cuStreamGetId != NULL ? number_of(&out->number, cu, gpu, stream)
                                     : (uintptr_t)stream != PER_THREAD;
}

/* A driver that cannot say so has no captures. Of the legacy stream it gives an error while
 * another stream is captured that would wait for it. */
static bool is_captured(const struct gt_cuda *cu, void *stream) {
    gt_cu_capture_status status = GT_CU_CAPTURE_NONE;
    return cu->cuStreamIsCapturing != NULL &&
           (cu->cuStreamIsCapturing((CUstream)stream, &status) != GT_CU_SUCCESS ||
            status != GT_CU_CAPTURE_NONE);
}

/* An allocation would end the capture of any other stream, unless this thread says that it
 * means no harm. */
static gt_cu_result allocate(CUdeviceptr *memory, const struct gt_cuda *cu, size_t bytes) {
    gt_cu_capture_mode mode = GT_CU_CAPTURE_RELAXED;
    const bool exchanged = cu->cuThreadExchangeStreamCaptureMode != NULL &&
                           cu->cuThreadExchangeStreamCaptureMode(&mode) == GT_CU_SUCCESS;
    const gt_cu_result result = cu->cuMemAlloc(memory, bytes);
    if (exchanged)
        (void)cu->cuThreadExchangeStreamCaptureMode(&mode);
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
    (void)cu->cuMemFree((CUdeviceptr)(uintptr_t)memory);
    leave(cu);
}

const struct gt_stream_memory gt_stream_memory_cuda = {
    .identify = identify, .make = make, .release = release};
