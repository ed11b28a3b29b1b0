/* SPDX-License-Identifier: Apache-2.0 */
/* link_cuda.c - the link to a CUDA device: streams, pinned memory, two-dimensional
 * copies. */
#include "runtime/drivers/cuda_api.h"
#include "runtime/host/link.h"

#include <stdlib.h>

struct cuda_link {
    struct gt_link head;
    const struct gt_cuda *cu;
    CUcontext context; /* the caller's */
};

static const struct cuda_link *of(const struct gt_link *link) {
    return (const struct cuda_link *)link;
}

/* ---- the context ----------------------------------------------------------------- */

static void close_link(struct gt_link *link) {
    free(link);
}

static gt_status open_link(struct gt_link **out, const struct gt_gpu *gpu,
                           struct gt_err *err) {
    *out = NULL;
    const struct gt_cuda *cu = gt_cuda_api(err);
    if (cu == NULL)
        return GEMMTUNE_ENODRIVER;
    struct cuda_link *l = calloc(1, sizeof *l);
    if (l == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    l->head.ops = &gt_link_cuda;
    l->cu = cu;
    l->context = (CUcontext)gpu->target.context;
    *out = &l->head;
    return GEMMTUNE_OK;
}

static gt_status attach(struct gt_link *link, struct gt_err *err) {
    return gt_cuda_result(of(link)->cu->cuCtxPushCurrent(of(link)->context),
                          "cuCtxPushCurrent", err);
}

static void detach(struct gt_link *link) {
    CUcontext mine;
    (void)of(link)->cu->cuCtxPopCurrent(&mine);
}

/* ---- memory ---------------------------------------------------------------------- */

static CUdeviceptr address(void *memory) {
    return (CUdeviceptr)(uintptr_t)memory;
}

static gt_status free_bytes(int64_t *out, struct gt_link *link, struct gt_err *err) {
    size_t unused = 0, total = 0;
    const gt_status status =
        gt_cuda_result(of(link)->cu->cuMemGetInfo(&unused, &total), "cuMemGetInfo", err);
    *out = (int64_t)unused;
    return status;
}

static gt_status alloc(void **memory, struct gt_link *link, int64_t bytes,
                       struct gt_err *err) {
    CUdeviceptr p = 0;
    const gt_status status =
        gt_cuda_result(of(link)->cu->cuMemAlloc(&p, (size_t)bytes), "cuMemAlloc", err);
    *memory = (void *)(uintptr_t)p;
    return status;
}

static void release(struct gt_link *link, void *memory) {
    (void)of(link)->cu->cuMemFree(address(memory));
}

static gt_status host_alloc(void **memory, struct gt_link *link, int64_t bytes,
                            struct gt_err *err) {
    *memory = NULL;
    return gt_cuda_result(
        of(link)->cu->cuMemHostAlloc(memory, (size_t)bytes, GT_CU_HOST_PORTABLE),
        "cuMemHostAlloc", err);
}

static void host_release(struct gt_link *link, void *memory) {
    (void)of(link)->cu->cuMemFreeHost(memory);
}

static bool is_pinned(struct gt_link *link, const void *host) {
    unsigned type = 0;
    const gt_cu_result r = of(link)->cu->cuPointerGetAttribute(
        &type, GT_CU_POINTER_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host);
    return r == GT_CU_SUCCESS && type == GT_CU_MEMORY_HOST;
}

/* ---- queues ---------------------------------------------------------------------- */

static gt_status queue_open(void **queue, struct gt_link *link, struct gt_err *err) {
    CUstream stream = NULL;
    const gt_status status =
        gt_cuda_result(of(link)->cu->cuStreamCreate(&stream, GT_CU_STREAM_NON_BLOCKING),
                       "cuStreamCreate", err);
    *queue = stream;
    return status;
}

static void queue_close(struct gt_link *link, void *queue) {
    (void)of(link)->cu->cuStreamDestroy((CUstream)queue);
}

static gt_status copy_in(struct gt_link *link, void *queue, const struct gt_box *box,
                         struct gt_err *err) {
    const struct gt_cu_copy_2d copy = {
        .from_type = GT_CU_MEMORY_HOST,
        .from_host = box->host,
        .from_pitch = (size_t)box->host_pitch,
        .to_type = GT_CU_MEMORY_DEVICE,
        .to_device = address(box->memory) + (CUdeviceptr)box->offset,
        .to_pitch = (size_t)box->pitch,
        .row_bytes = (size_t)box->row_bytes,
        .rows = (size_t)box->rows,
    };
    return gt_cuda_result(of(link)->cu->cuMemcpy2DAsync(&copy, (CUstream)queue),
                          "cuMemcpy2DAsync", err);
}

static gt_status copy_out(struct gt_link *link, void *queue, const struct gt_box *box,
                          struct gt_err *err) {
    const struct gt_cu_copy_2d copy = {
        .from_type = GT_CU_MEMORY_DEVICE,
        .from_device = address(box->memory) + (CUdeviceptr)box->offset,
        .from_pitch = (size_t)box->pitch,
        .to_type = GT_CU_MEMORY_HOST,
        .to_host = box->host,
        .to_pitch = (size_t)box->host_pitch,
        .row_bytes = (size_t)box->row_bytes,
        .rows = (size_t)box->rows,
    };
    return gt_cuda_result(of(link)->cu->cuMemcpy2DAsync(&copy, (CUstream)queue),
                          "cuMemcpy2DAsync", err);
}

static gt_status finish(struct gt_link *link, void *queue, struct gt_err *err) {
    return gt_cuda_result(of(link)->cu->cuStreamSynchronize((CUstream)queue),
                          "cuStreamSynchronize", err);
}

/* ---- events ---------------------------------------------------------------------- */

static void event_release(struct gt_link *link, void *event) {
    (void)of(link)->cu->cuEventDestroy((CUevent)event);
}

/* Events block: four spinning threads a device would take the cores that copy. */
static gt_status record(void **event, struct gt_link *link, void *queue,
                        struct gt_err *err) {
    const struct gt_cuda *cu = of(link)->cu;
    CUevent e = NULL;
    *event = NULL;
    gt_status status = gt_cuda_result(cu->cuEventCreate(&e, GT_CU_EVENT_BLOCKING_SYNC),
                                      "cuEventCreate", err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_cuda_result(cu->cuEventRecord(e, (CUstream)queue), "cuEventRecord", err);
    if (status == GEMMTUNE_OK)
        *event = e;
    else
        event_release(link, e);
    return status;
}

static gt_status wait(struct gt_link *link, void *queue, void *event, struct gt_err *err) {
    return gt_cuda_result(
        of(link)->cu->cuStreamWaitEvent((CUstream)queue, (CUevent)event, 0),
        "cuStreamWaitEvent", err);
}

static gt_status join(struct gt_link *link, void *event, struct gt_err *err) {
    return gt_cuda_result(of(link)->cu->cuEventSynchronize((CUevent)event),
                          "cuEventSynchronize", err);
}

static gt_status seconds(double *out, struct gt_link *link, void *from, void *to,
                         struct gt_err *err) {
    float ms = 0;
    const gt_status status =
        gt_cuda_result(of(link)->cu->cuEventElapsedTime(&ms, (CUevent)from, (CUevent)to),
                       "cuEventElapsedTime", err);
    *out = (double)ms * 1e-3;
    return status;
}

const struct gt_link_ops gt_link_cuda = {
    .backend = GEMMTUNE_CUDA,
    .open = open_link,
    .close = close_link,
    .attach = attach,
    .detach = detach,
    .free_bytes = free_bytes,
    .alloc = alloc,
    .release = release,
    .host_alloc = host_alloc,
    .host_release = host_release,
    .is_pinned = is_pinned,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .finish = finish,
    .record = record,
    .event_release = event_release,
    .wait = wait,
    .join = join,
    .seconds = seconds,
};
