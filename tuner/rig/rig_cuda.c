/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_cuda.c - a CUDA device for tuning: a context of our own and one stream. Batches are
 * CUDA graphs, so that a sample of many short launches does not measure the host.
 */
#include "runtime/drivers/cuda_api.h"
#include "tuner/rig/bare.h"

#include <stdlib.h>
#include <string.h>

struct rig {
    struct gt_rig_head head;
    const struct gt_cuda *cu;
    CUcontext context;
    CUstream stream;
    CUevent start, end;
    nvmlDevice_t nvml;
};

struct cuda_batch {
    struct gt_batch head;
    CUgraphExec graph; /* NULL: the driver has no graphs, and `fn` is called every time */
};

static struct rig *of(struct gt_rig *rig) {
    return (struct rig *)rig;
}

static CUdeviceptr address(void *mem) {
    return (CUdeviceptr)(uintptr_t)mem;
}

static void close_rig(struct gt_rig *rig) {
    struct rig *r = of(rig);
    if (r->head.gpu)
        gt_driver_cuda.close(r->head.gpu);
    if (r->start)
        (void)r->cu->cuEventDestroy(r->start);
    if (r->end)
        (void)r->cu->cuEventDestroy(r->end);
    if (r->stream)
        (void)r->cu->cuStreamDestroy(r->stream);
    if (r->context)
        (void)r->cu->cuCtxDestroy(r->context);
    free(r);
}

static gt_status open_context(struct rig *r, const struct gt_device *d,
                              struct gt_err *err) {
    CUdevice device = 0;
    gt_status status = gt_cuda_result(r->cu->cuInit(0), "cuInit", err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cuda_result(r->cu->cuDeviceGet(&device, d->ordinal), "cuDeviceGet", err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cuda_result(r->cu->cuCtxCreate(&r->context, GT_CU_CTX_SCHED_SPIN, device),
                           "cuCtxCreate", err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cuda_result(r->cu->cuStreamCreate(&r->stream, GT_CU_STREAM_NON_BLOCKING),
                           "cuStreamCreate", err);
    if (status == GEMMTUNE_OK)
        status = gt_cuda_result(r->cu->cuEventCreate(&r->start, GT_CU_EVENT_DEFAULT),
                                "cuEventCreate", err);
    if (status == GEMMTUNE_OK)
        status = gt_cuda_result(r->cu->cuEventCreate(&r->end, GT_CU_EVENT_DEFAULT),
                                "cuEventCreate", err);
    return status;
}

static void open_nvml(struct rig *r, const struct gt_device *d) {
    const struct gt_nvml *nvml = gt_nvml_api();
    if (!nvml || !nvml->nvmlDeviceGetHandleByUUID ||
        nvml->nvmlDeviceGetHandleByUUID(d->uuid, &r->nvml) != 0)
        r->nvml = NULL;
}

/* The rig's context is already current. */
static void target_of(gemmtune_target *out, struct gt_rig *rig) {
    (void)rig;
    (void)gemmtune_target_init(out, GEMMTUNE_CUDA);
}

static gt_status open_gpu(struct rig *r, struct gt_err *err) {
    gemmtune_target target;
    target_of(&target, (struct gt_rig *)r);
    return gt_driver_cuda.open(&r->head.gpu, &target, err);
}

static gt_status open_rig(struct gt_rig **out, const struct gt_device *d,
                          struct gt_err *err) {
    struct rig *r = calloc(1, sizeof *r);
    if (!r)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open the device");
    r->head.ops = &gt_rig_cuda;
    r->cu = gt_cuda_api(err);
    gt_status status = r->cu ? GEMMTUNE_OK : GEMMTUNE_ENODRIVER;
    if (status == GEMMTUNE_OK)
        status = open_context(r, d, err);
    if (status == GEMMTUNE_OK)
        status = open_gpu(r, err);
    if (status != GEMMTUNE_OK) {
        if (r->cu)
            close_rig((struct gt_rig *)r);
        else
            free(r);
        return status;
    }
    r->head.stream = r->stream;
    r->head.device = &r->head.gpu->device;
    open_nvml(r, d);
    *out = (struct gt_rig *)r;
    return GEMMTUNE_OK;
}

/* ---- memory ---- */

static gt_status alloc(void **mem, struct gt_rig *rig, int64_t bytes, struct gt_err *err) {
    CUdeviceptr p = 0;
    *mem = NULL;
    gt_status status = gt_cuda_result(
        of(rig)->cu->cuMemAlloc(&p, (size_t)(bytes > 0 ? bytes : 1)), "cuMemAlloc", err);
    if (status == GEMMTUNE_OK)
        *mem = (void *)(uintptr_t)p;
    else
        (void)gt_fail_within(err, status, "%lld bytes", (long long)bytes);
    return status;
}

static void release(struct gt_rig *rig, void *mem) {
    (void)of(rig)->cu->cuMemFree(address(mem));
}

static gt_status view(void **out, struct gt_rig *rig, void *mem, int64_t offset,
                      int64_t bytes, struct gt_err *err) {
    (void)rig;
    (void)bytes;
    (void)err;
    *out = (char *)mem + offset; /* a device address, which is only added to */
    return GEMMTUNE_OK;
}

static void view_release(struct gt_rig *rig, void *v) {
    (void)rig;
    (void)v;
}

static gt_status finish(struct gt_rig *rig, struct gt_err *err) {
    return gt_cuda_result(of(rig)->cu->cuStreamSynchronize(of(rig)->stream),
                          "cuStreamSynchronize", err);
}

static gt_status write_mem(struct gt_rig *rig, void *mem, int64_t offset, const void *from,
                           int64_t bytes, struct gt_err *err) {
    struct rig *r = of(rig);
    gt_status status =
        gt_cuda_result(r->cu->cuMemcpyHtoDAsync(address(mem) + (CUdeviceptr)offset, from,
                                                (size_t)bytes, r->stream),
                       "cuMemcpyHtoDAsync", err);
    return status != GEMMTUNE_OK ? status : finish(rig, err);
}

static gt_status read_mem(struct gt_rig *rig, void *mem, int64_t offset, void *to,
                          int64_t bytes, struct gt_err *err) {
    struct rig *r = of(rig);
    gt_status status =
        gt_cuda_result(r->cu->cuMemcpyDtoHAsync(to, address(mem) + (CUdeviceptr)offset,
                                                (size_t)bytes, r->stream),
                       "cuMemcpyDtoHAsync", err);
    return status != GEMMTUNE_OK ? status : finish(rig, err);
}

static gt_status fill(struct gt_rig *rig, void *mem, int64_t bytes, uint32_t pattern,
                      struct gt_err *err) {
    struct rig *r = of(rig);
    return gt_cuda_result(
        r->cu->cuMemsetD32Async(address(mem), pattern, (size_t)bytes / 4, r->stream),
        "cuMemsetD32Async", err);
}

/* ---- timing ---- */

static bool has_graphs(const struct gt_cuda *cu) {
    return cu->cuStreamBeginCapture && cu->cuStreamEndCapture &&
           cu->cuGraphInstantiateWithFlags && cu->cuGraphLaunch && cu->cuGraphExecDestroy &&
           cu->cuGraphDestroy;
}

static gt_status capture(struct cuda_batch *b, struct gt_err *err) {
    struct rig *r = of(b->head.rig);
    CUgraph graph = NULL;
    gt_status status =
        gt_cuda_result(r->cu->cuStreamBeginCapture(r->stream, GT_CU_CAPTURE_RELAXED),
                       "cuStreamBeginCapture", err);
    if (status != GEMMTUNE_OK)
        return status;
    status = b->head.fn(b->head.user, err);
    const gt_cu_result ended = r->cu->cuStreamEndCapture(r->stream, &graph);
    if (status == GEMMTUNE_OK)
        status = gt_cuda_result(ended, "cuStreamEndCapture", err);
    if (status == GEMMTUNE_OK)
        status = gt_cuda_result(r->cu->cuGraphInstantiateWithFlags(&b->graph, graph, 0),
                                "cuGraphInstantiate", err);
    if (graph)
        (void)r->cu->cuGraphDestroy(graph);
    /* otherwise the first launch would include the upload */
    if (status == GEMMTUNE_OK && r->cu->cuGraphUpload)
        status =
            gt_cuda_result(r->cu->cuGraphUpload(b->graph, r->stream), "cuGraphUpload", err);
    return status;
}

static void batch_destroy(struct gt_batch *batch) {
    struct cuda_batch *b = (struct cuda_batch *)batch;
    if (b->graph)
        (void)of(batch->rig)->cu->cuGraphExecDestroy(b->graph);
    free(b);
}

static gt_status batch(struct gt_batch **out, struct gt_rig *rig, gt_enqueue_fn fn,
                       void *user, struct gt_err *err) {
    struct cuda_batch *b = calloc(1, sizeof *b);
    *out = NULL;
    if (!b)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to time a kernel");
    b->head = (struct gt_batch){.rig = rig, .fn = fn, .user = user};
    gt_status status = has_graphs(of(rig)->cu) ? capture(b, err) : GEMMTUNE_OK;
    if (status != GEMMTUNE_OK) {
        batch_destroy(&b->head);
        return status;
    }
    *out = &b->head;
    return GEMMTUNE_OK;
}

static gt_status enqueue(struct gt_batch *batch, struct gt_err *err) {
    const struct cuda_batch *b = (const struct cuda_batch *)batch;
    const struct rig *r = of(batch->rig);
    return b->graph ? gt_cuda_result(r->cu->cuGraphLaunch(b->graph, r->stream),
                                     "cuGraphLaunch", err)
                    : batch->fn(batch->user, err);
}

static gt_status time_batch(struct gt_batch *b, double *ns, struct gt_err *err) {
    struct rig *r = of(b->rig);
    float ms = 0;
    gt_status status =
        gt_cuda_result(r->cu->cuEventRecord(r->start, r->stream), "cuEventRecord", err);
    if (status == GEMMTUNE_OK)
        status = enqueue(b, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cuda_result(r->cu->cuEventRecord(r->end, r->stream), "cuEventRecord", err);
    if (status == GEMMTUNE_OK)
        status =
            gt_cuda_result(r->cu->cuEventSynchronize(r->end), "cuEventSynchronize", err);
    if (status == GEMMTUNE_OK)
        status = gt_cuda_result(r->cu->cuEventElapsedTime(&ms, r->start, r->end),
                                "cuEventElapsedTime", err);
    *ns = (double)ms * 1e6;
    return status;
}

static void clock_now(struct gt_rig *rig, int *mhz, bool *throttled) {
    const struct gt_nvml *nvml = gt_nvml_api();
    const unsigned long long bad =
        GT_NVML_THROTTLE_HW_SLOWDOWN | GT_NVML_THROTTLE_SW_THERMAL |
        GT_NVML_THROTTLE_HW_THERMAL | GT_NVML_THROTTLE_POWER_BRAKE;
    unsigned now = 0;
    unsigned long long reasons = 0;
    *mhz = 0;
    *throttled = false;
    if (!nvml || !of(rig)->nvml)
        return;
    if (nvml->nvmlDeviceGetClockInfo &&
        nvml->nvmlDeviceGetClockInfo(of(rig)->nvml, GT_NVML_CLOCK_SM, &now) == 0)
        *mhz = (int)now;
    /* The power limit does not count: large products run under it on purpose, and so do the
     * rivals. */
    if (nvml->nvmlDeviceGetCurrentClocksThrottleReasons &&
        nvml->nvmlDeviceGetCurrentClocksThrottleReasons(of(rig)->nvml, &reasons) == 0)
        *throttled = (reasons & bad) != 0;
}

const struct gt_rig_ops gt_rig_cuda = {
    .backend = GEMMTUNE_CUDA,
    .kernels_see_clock = true,
    .open = open_rig,
    .close = close_rig,
    .target = target_of,
    .alloc = alloc,
    .release = release,
    .view = view,
    .view_release = view_release,
    .write = write_mem,
    .read = read_mem,
    .fill = fill,
    .finish = finish,
    .batch = batch,
    .batch_destroy = batch_destroy,
    .time = time_batch,
    .clock = clock_now,
    .bare = &gt_bare_cuda,
};
