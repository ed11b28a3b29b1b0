/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_opencl.c - the link to an OpenCL device: in-order queues, markers as events. Pinned
 * memory is a buffer that the driver places in host memory and that stays mapped. A CPU
 * device reads any host memory at full speed.
 */
#include "runtime/host/link.h"
#include "runtime/drivers/opencl_device.h"

#include <pthread.h>
#include <stdlib.h>

/* A pinned allocation. */
struct pinned {
    struct pinned *next;
    cl_mem buffer;
    void *mapped;
};

struct opencl_link {
    struct gt_link head;
    const struct gt_opencl *cl;
    cl_context context; /* the caller's */
    cl_device_id device;
    const struct gt_device *about; /* the gpu's */
    cl_command_queue queue;        /* for mapping */
    pthread_mutex_t lock;          /* guards `pinned` */
    struct pinned *pinned;
};

static struct opencl_link *of(struct gt_link *link) {
    return (struct opencl_link *)link;
}

/* ---- the device ------------------------------------------------------------------ */

static gt_status queue_open(void **queue, struct gt_link *link, struct gt_err *err) {
    cl_int error = GT_CL_SUCCESS;
    *queue = of(link)->cl->clCreateCommandQueue(of(link)->context, of(link)->device,
                                                GT_CL_QUEUE_PROFILING_ENABLE, &error);
    return gt_opencl_result(error, "clCreateCommandQueue", err);
}

static void queue_close(struct gt_link *link, void *queue) {
    (void)of(link)->cl->clReleaseCommandQueue(queue);
}

static void close_link(struct gt_link *link) {
    struct opencl_link *l = of(link);
    if (l->queue != NULL)
        queue_close(link, l->queue);
    (void)pthread_mutex_destroy(&l->lock);
    free(l);
}

static gt_status open_link(struct gt_link **out, const struct gt_gpu *gpu,
                           struct gt_err *err) {
    *out = NULL;
    const struct gt_opencl *cl = gt_opencl_api(err);
    if (cl == NULL)
        return GEMMTUNE_ENODRIVER;
    struct opencl_link *l = calloc(1, sizeof *l);
    if (l == NULL || pthread_mutex_init(&l->lock, NULL) != 0) {
        free(l);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    l->head.ops = &gt_link_opencl;
    l->cl = cl;
    l->context = gpu->target.context;
    l->device = gpu->target.device;
    l->about = &gpu->device;
    void *queue = NULL;
    const gt_status status = queue_open(&queue, &l->head, err);
    l->queue = queue;
    if (status == GEMMTUNE_OK)
        *out = &l->head;
    else
        close_link(&l->head);
    return status;
}

static gt_status attach(struct gt_link *link, struct gt_err *err) {
    (void)link;
    (void)err;
    return GEMMTUNE_OK;
}

static void detach(struct gt_link *link) {
    (void)link;
}

/* ---- memory ---------------------------------------------------------------------- */

/* OpenCL does not report free memory. Half of a CPU's memory and nine tenths of a GPU's are
 * a guess; an allocation that does not fit fails. */
static gt_status free_bytes(int64_t *out, struct gt_link *link, struct gt_err *err) {
    const struct gt_device *d = of(link)->about;
    (void)err;
    *out = d->is_cpu ? d->mem_bytes / 2 : d->mem_bytes / 10 * 9;
    return GEMMTUNE_OK;
}

static gt_status alloc(void **memory, struct gt_link *link, int64_t bytes,
                       struct gt_err *err) {
    cl_int error = GT_CL_SUCCESS;
    *memory = of(link)->cl->clCreateBuffer(of(link)->context, GT_CL_MEM_READ_WRITE,
                                           (size_t)bytes, NULL, &error);
    return gt_opencl_result(error, "clCreateBuffer", err);
}

static void release(struct gt_link *link, void *memory) {
    (void)of(link)->cl->clReleaseMemObject(memory);
}

static gt_status map(struct pinned *p, struct opencl_link *l, int64_t bytes,
                     struct gt_err *err) {
    cl_int error = GT_CL_SUCCESS;
    p->buffer =
        l->cl->clCreateBuffer(l->context, GT_CL_MEM_READ_WRITE | GT_CL_MEM_ALLOC_HOST_PTR,
                              (size_t)bytes, NULL, &error);
    if (error != GT_CL_SUCCESS)
        return gt_opencl_result(error, "clCreateBuffer", err);
    p->mapped = l->cl->clEnqueueMapBuffer(l->queue, p->buffer, GT_CL_TRUE,
                                          GT_CL_MAP_READ | GT_CL_MAP_WRITE, 0,
                                          (size_t)bytes, 0, NULL, NULL, &error);
    if (error != GT_CL_SUCCESS)
        (void)l->cl->clReleaseMemObject(p->buffer);
    return gt_opencl_result(error, "clEnqueueMapBuffer", err);
}

static gt_status host_alloc(void **memory, struct gt_link *link, int64_t bytes,
                            struct gt_err *err) {
    struct opencl_link *l = of(link);
    struct pinned *p = calloc(1, sizeof *p);
    *memory = NULL;
    if (p == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    const gt_status status = map(p, l, bytes, err);
    if (status != GEMMTUNE_OK) {
        free(p);
        return status;
    }
    (void)pthread_mutex_lock(&l->lock);
    p->next = l->pinned;
    l->pinned = p;
    (void)pthread_mutex_unlock(&l->lock);
    *memory = p->mapped;
    return GEMMTUNE_OK;
}

static void host_release(struct gt_link *link, void *memory) {
    struct opencl_link *l = of(link);
    (void)pthread_mutex_lock(&l->lock);
    struct pinned **at = &l->pinned;
    while ((*at)->mapped != memory)
        at = &(*at)->next;
    struct pinned *p = *at;
    *at = p->next;
    (void)pthread_mutex_unlock(&l->lock);
    (void)l->cl->clEnqueueUnmapMemObject(l->queue, p->buffer, p->mapped, 0, NULL, NULL);
    (void)l->cl->clFinish(l->queue);
    (void)l->cl->clReleaseMemObject(p->buffer);
    free(p);
}

static bool is_pinned(struct gt_link *link, const void *host) {
    (void)host;
    return of(link)->about->is_cpu;
}

/* ---- queues ---------------------------------------------------------------------- */

/* The three parts of a box for the rect calls. When the device pitch does not divide the
 * offset, the rest of the offset is a number of bytes in the first row. */
struct rect {
    size_t origin[3], host_origin[3], region[3];
};

static struct rect rect_of(const struct gt_box *box) {
    return (struct rect){
        .origin = {(size_t)(box->offset % box->pitch), (size_t)(box->offset / box->pitch),
                   0},
        .region = {(size_t)box->row_bytes, (size_t)box->rows, 1},
    };
}

static gt_status copy_in(struct gt_link *link, void *queue, const struct gt_box *box,
                         struct gt_err *err) {
    const struct rect r = rect_of(box);
    return gt_opencl_result(of(link)->cl->clEnqueueWriteBufferRect(
                                queue, box->memory, GT_CL_FALSE, r.origin, r.host_origin,
                                r.region, (size_t)box->pitch, 0, (size_t)box->host_pitch, 0,
                                box->host, 0, NULL, NULL),
                            "clEnqueueWriteBufferRect", err);
}

static gt_status copy_out(struct gt_link *link, void *queue, const struct gt_box *box,
                          struct gt_err *err) {
    const struct rect r = rect_of(box);
    return gt_opencl_result(of(link)->cl->clEnqueueReadBufferRect(
                                queue, box->memory, GT_CL_FALSE, r.origin, r.host_origin,
                                r.region, (size_t)box->pitch, 0, (size_t)box->host_pitch, 0,
                                box->host, 0, NULL, NULL),
                            "clEnqueueReadBufferRect", err);
}

static gt_status finish(struct gt_link *link, void *queue, struct gt_err *err) {
    return gt_opencl_result(of(link)->cl->clFinish(queue), "clFinish", err);
}

/* ---- events ---------------------------------------------------------------------- */

static gt_status mark(cl_event *event, struct gt_link *link, void *queue, cl_uint count,
                      const cl_event *list, struct gt_err *err) {
    const struct gt_opencl *cl = of(link)->cl;
    *event = NULL;
    const gt_status status =
        gt_opencl_result(cl->clEnqueueMarkerWithWaitList(queue, count, list, event),
                         "clEnqueueMarkerWithWaitList", err);
    /* another queue may wait for it */
    return status != GEMMTUNE_OK ? status
                                 : gt_opencl_result(cl->clFlush(queue), "clFlush", err);
}

static gt_status record(void **event, struct gt_link *link, void *queue,
                        struct gt_err *err) {
    cl_event e = NULL;
    const gt_status status = mark(&e, link, queue, 0, NULL, err);
    *event = e;
    return status;
}

static void event_release(struct gt_link *link, void *event) {
    (void)of(link)->cl->clReleaseEvent(event);
}

static gt_status wait(struct gt_link *link, void *queue, void *event, struct gt_err *err) {
    const cl_event list[1] = {event};
    cl_event marker = NULL;
    const gt_status status = mark(&marker, link, queue, 1, list, err);
    if (marker != NULL)
        event_release(link, marker);
    return status;
}

static gt_status join(struct gt_link *link, void *event, struct gt_err *err) {
    const cl_event list[1] = {event};
    return gt_opencl_result(of(link)->cl->clWaitForEvents(1, list), "clWaitForEvents", err);
}

static gt_status end_of(cl_ulong *out, struct gt_link *link, void *event,
                        struct gt_err *err) {
    return gt_opencl_result(of(link)->cl->clGetEventProfilingInfo(
                                event, GT_CL_PROFILING_END, sizeof *out, out, NULL),
                            "clGetEventProfilingInfo", err);
}

static gt_status seconds(double *out, struct gt_link *link, void *from, void *to,
                         struct gt_err *err) {
    cl_ulong begin = 0, end = 0;
    gt_status status = end_of(&begin, link, from, err);
    if (status == GEMMTUNE_OK)
        status = end_of(&end, link, to, err);
    *out = ((double)end - (double)begin) * 1e-9;
    return status;
}

const struct gt_link_ops gt_link_opencl = {
    .backend = GEMMTUNE_OPENCL,
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
