/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig_opencl.c - an OpenCL device for tuning: a context and an in-order profiling queue of
 * our own. A batch is timed between two markers by the device's own clock.
 */
#include "runtime/drivers/opencl_device.h"
#include "tuner/rig/bare.h"

#include <stdlib.h>
#include <string.h>

struct rig {
    struct gt_rig_head head;
    const struct gt_opencl *cl;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

static struct rig *of(struct gt_rig *rig) {
    return (struct rig *)rig;
}

static void close_rig(struct gt_rig *rig) {
    struct rig *r = of(rig);
    if (r->head.gpu)
        gt_driver_opencl.close(r->head.gpu);
    if (r->queue)
        (void)r->cl->clReleaseCommandQueue(r->queue);
    if (r->context)
        (void)r->cl->clReleaseContext(r->context);
    free(r);
}

static gt_status open_queue(struct rig *r, const struct gt_device *d, struct gt_err *err) {
    cl_platform_id platform = NULL;
    cl_int error = GT_CL_SUCCESS;
    gt_status status = gt_opencl_device(&platform, &r->device, d->ordinal, err);
    if (status != GEMMTUNE_OK)
        return status;
    r->context = r->cl->clCreateContext(NULL, 1, &r->device, NULL, NULL, &error);
    status = gt_opencl_result(error, "clCreateContext", err);
    if (status != GEMMTUNE_OK)
        return status;
    r->queue = r->cl->clCreateCommandQueue(r->context, r->device,
                                           GT_CL_QUEUE_PROFILING_ENABLE, &error);
    return gt_opencl_result(error, "clCreateCommandQueue", err);
}

static void target_of(gemmtune_target *out, struct gt_rig *rig) {
    const struct rig *r = of(rig);
    (void)gemmtune_target_init(out, GEMMTUNE_OPENCL);
    out->context = r->context;
    out->device = r->device;
}

static gt_status open_rig(struct gt_rig **out, const struct gt_device *d,
                          struct gt_err *err) {
    struct rig *r = calloc(1, sizeof *r);
    if (!r)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open the device");
    r->head.ops = &gt_rig_opencl;
    r->cl = gt_opencl_api(err);
    gt_status status = r->cl ? open_queue(r, d, err) : GEMMTUNE_ENODRIVER;
    gemmtune_target target;
    target_of(&target, (struct gt_rig *)r);
    if (status == GEMMTUNE_OK)
        status = gt_driver_opencl.open(&r->head.gpu, &target, err);
    if (status != GEMMTUNE_OK) {
        close_rig((struct gt_rig *)r);
        return status;
    }
    r->head.stream = r->queue;
    r->head.device = &r->head.gpu->device;
    *out = (struct gt_rig *)r;
    return GEMMTUNE_OK;
}

/* ---- memory ---- */

static gt_status alloc(void **mem, struct gt_rig *rig, int64_t bytes, struct gt_err *err) {
    struct rig *r = of(rig);
    cl_int error = GT_CL_SUCCESS;
    *mem = r->cl->clCreateBuffer(r->context, GT_CL_MEM_READ_WRITE,
                                 (size_t)(bytes > 0 ? bytes : 1), NULL, &error);
    gt_status status = gt_opencl_result(error, "clCreateBuffer", err);
    return status != GEMMTUNE_OK
               ? gt_fail_within(err, status, "%lld bytes", (long long)bytes)
               : status;
}

static void release(struct gt_rig *rig, void *mem) {
    (void)of(rig)->cl->clReleaseMemObject(mem);
}

static gt_status view(void **out, struct gt_rig *rig, void *mem, int64_t offset,
                      int64_t bytes, struct gt_err *err) {
    const size_t region[2] = {(size_t)offset, (size_t)bytes}; /* a cl_buffer_region */
    cl_int error = GT_CL_SUCCESS;
    *out = of(rig)->cl->clCreateSubBuffer(mem, GT_CL_MEM_READ_WRITE, GT_CL_BUFFER_REGION,
                                          region, &error);
    return gt_opencl_result(error, "clCreateSubBuffer", err);
}

static gt_status finish(struct gt_rig *rig, struct gt_err *err) {
    return gt_opencl_result(of(rig)->cl->clFinish(of(rig)->queue), "clFinish", err);
}

static gt_status write_mem(struct gt_rig *rig, void *mem, int64_t offset, const void *from,
                           int64_t bytes, struct gt_err *err) {
    return gt_opencl_result(
        of(rig)->cl->clEnqueueWriteBuffer(of(rig)->queue, mem, GT_CL_TRUE, (size_t)offset,
                                          (size_t)bytes, from, 0, NULL, NULL),
        "clEnqueueWriteBuffer", err);
}

static gt_status read_mem(struct gt_rig *rig, void *mem, int64_t offset, void *to,
                          int64_t bytes, struct gt_err *err) {
    return gt_opencl_result(
        of(rig)->cl->clEnqueueReadBuffer(of(rig)->queue, mem, GT_CL_TRUE, (size_t)offset,
                                         (size_t)bytes, to, 0, NULL, NULL),
        "clEnqueueReadBuffer", err);
}

static gt_status fill(struct gt_rig *rig, void *mem, int64_t bytes, uint32_t pattern,
                      struct gt_err *err) {
    return gt_opencl_result(
        of(rig)->cl->clEnqueueFillBuffer(of(rig)->queue, mem, &pattern, sizeof pattern, 0,
                                         (size_t)bytes / 4 * 4, 0, NULL, NULL),
        "clEnqueueFillBuffer", err);
}

/* ---- timing ---- */

static gt_status batch(struct gt_batch **out, struct gt_rig *rig, gt_enqueue_fn fn,
                       void *user, struct gt_err *err) {
    struct gt_batch *b = calloc(1, sizeof *b);
    *out = b;
    if (!b)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to time a kernel");
    *b = (struct gt_batch){.rig = rig, .fn = fn, .user = user};
    return GEMMTUNE_OK;
}

static void batch_destroy(struct gt_batch *b) {
    free(b);
}

static gt_status mark(struct rig *r, cl_event *event, struct gt_err *err) {
    return gt_opencl_result(r->cl->clEnqueueMarkerWithWaitList(r->queue, 0, NULL, event),
                            "clEnqueueMarkerWithWaitList", err);
}

static gt_status ended(struct rig *r, cl_event event, cl_ulong *at, struct gt_err *err) {
    return gt_opencl_result(
        r->cl->clGetEventProfilingInfo(event, GT_CL_PROFILING_END, sizeof *at, at, NULL),
        "clGetEventProfilingInfo", err);
}

static gt_status time_batch(struct gt_batch *b, double *ns, struct gt_err *err) {
    struct rig *r = of(b->rig);
    cl_event start = NULL, end = NULL;
    cl_ulong from = 0, to = 0;
    gt_status status = finish((struct gt_rig *)r, err);
    if (status == GEMMTUNE_OK)
        status = mark(r, &start, err);
    if (status == GEMMTUNE_OK)
        status = b->fn(b->user, err);
    if (status == GEMMTUNE_OK)
        status = mark(r, &end, err);
    if (status == GEMMTUNE_OK)
        status = finish((struct gt_rig *)r, err);
    if (status == GEMMTUNE_OK)
        status = ended(r, start, &from, err);
    if (status == GEMMTUNE_OK)
        status = ended(r, end, &to, err);
    if (start)
        (void)r->cl->clReleaseEvent(start);
    if (end)
        (void)r->cl->clReleaseEvent(end);
    *ns = (double)(to - from);
    return status;
}

/* OpenCL cannot report clocks. */
static void clock_now(struct gt_rig *rig, int *mhz, bool *throttled) {
    (void)rig;
    *mhz = 0;
    *throttled = false;
}

const struct gt_rig_ops gt_rig_opencl = {
    .backend = GEMMTUNE_OPENCL,
    .open = open_rig,
    .close = close_rig,
    .target = target_of,
    .alloc = alloc,
    .release = release,
    .view = view,
    .view_release = release,
    .write = write_mem,
    .read = read_mem,
    .fill = fill,
    .finish = finish,
    .batch = batch,
    .batch_destroy = batch_destroy,
    .time = time_batch,
    .clock = clock_now,
    .bare = &gt_bare_opencl,
};
