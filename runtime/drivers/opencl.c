/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.c - the OpenCL driver: the caller's context, kernels and launches.
 * opencl_program.c builds programs, while they are loaded; opencl_device.c finds devices.
 *
 * A cl_kernel holds its arguments, so two threads must not use one at once, and a launch
 * may neither lock nor allocate. So a loaded kernel owns POOL cl_kernel objects, and a
 * launch takes one by setting its bit.
 */
#include "runtime/drivers/driver_util.h"
#include "core/limits.h"
#include "core/log.h"
#include "runtime/drivers/opencl_device.h"
#include "runtime/drivers/opencl_program.h"
#include "runtime/drivers/stream_memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 16 };

struct opencl_gpu {
    struct gt_gpu head;
    struct gt_opencl_place at; /* the caller's context and device */
};

struct pool {
    atomic_uint taken; /* bit i: object[i] is in use by a launch */
    cl_kernel object[POOL];
};

struct opencl_kernel {
    struct gt_kernel head;
    struct gt_opencl_place at;
    cl_program program;
    bool borrowed;     /* the program belongs to another kernel */
    struct pool *pool; /* separate, so that a const kernel can be launched */
};

/* ---- context ------------------------------------------------------------------------- */

/* The target's device, or the only one of its context. */
static gt_status caller_device(cl_device_id *out, const struct gt_opencl *cl,
                               const gemmtune_target *target, struct gt_err *err) {
    *out = (cl_device_id)target->device;
    if (*out)
        return GEMMTUNE_OK;
    cl_uint count = 0;
    cl_int result = cl->clGetContextInfo(
        (cl_context)target->context, GT_CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL);
    if (result != GT_CL_SUCCESS)
        return gt_opencl_fail(err, "clGetContextInfo", result);
    if (count != 1)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the OpenCL context has %u devices: name one in target.device",
                       (unsigned)count);
    result = cl->clGetContextInfo((cl_context)target->context, GT_CL_CONTEXT_DEVICES,
                                  sizeof *out, out, NULL);
    return result == GT_CL_SUCCESS ? GEMMTUNE_OK
                                   : gt_opencl_fail(err, "clGetContextInfo", result);
}

static void close_gpu(struct gt_gpu *gpu) {
    free(gpu);
}

static gt_status fill_gpu(struct opencl_gpu *gpu, const gemmtune_target *target,
                          struct gt_err *err) {
    gpu->head.driver = &gt_driver_opencl;
    struct gt_opencl_place *at = &gpu->at;
    at->context = (cl_context)target->context;
    at->described = &gpu->head.device;
    const gt_status status = caller_device(&at->device, at->cl, target, err);
    gpu->head.target = (gemmtune_target){.struct_size = sizeof(gemmtune_target),
                                         .backend = GEMMTUNE_OPENCL,
                                         .context = at->context,
                                         .device = at->device};
    return status != GEMMTUNE_OK
               ? status
               : gt_opencl_describe(&gpu->head.device, at->cl, at->device, err);
}

static gt_status open_gpu(struct gt_gpu **out, const gemmtune_target *target,
                          struct gt_err *err) {
    *out = NULL;
    const struct gt_opencl *cl = gt_opencl_api(err);
    if (!cl)
        return GEMMTUNE_ENODRIVER;
    if (!target->context)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "OpenCL has no current context: pass a cl_context");
    struct opencl_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a context");
    gpu->at.cl = cl;
    const gt_status status = fill_gpu(gpu, target, err);
    if (status != GEMMTUNE_OK)
        close_gpu(&gpu->head);
    else
        *out = &gpu->head;
    return status;
}

/* ---- build: nothing until there is a context ----------------------------------------- */

static gt_status build(struct gt_image *image, const struct gt_device *d,
                       const char *source, struct gt_err *err) {
    (void)source;
    gt_image_init(image);
    char text[GT_TOOLCHAIN_MAX];
    return gt_opencl_toolchain(text, d, err);
}

/* ---- load ---------------------------------------------------------------------------- */

static gt_status fill_pool(struct opencl_kernel *k, const char *entry, struct gt_err *err) {
    for (int i = 0; i < POOL; i++) {
        cl_int result = GT_CL_SUCCESS;
        k->pool->object[i] = k->at.cl->clCreateKernel(k->program, entry, &result);
        if (k->pool->object[i])
            continue;
        if (result == GT_CL_INVALID_KERNEL_NAME)
            return gt_fail(err, GEMMTUNE_EBUILD, "the source has no kernel %s", entry);
        return gt_opencl_fail(err, "clCreateKernel", result);
    }
    return GEMMTUNE_OK;
}

/* Refuses a kernel for which the device has no room. PoCL would abort the process at a
 * launch. */
static gt_status check_room(struct gt_image *image, const struct opencl_kernel *k,
                            const struct opencl_gpu *gpu, const struct gt_launch *launch,
                            struct gt_err *err) {
    size_t most = 0;
    const int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (k->at.cl->clGetKernelWorkGroupInfo(k->pool->object[0], gpu->at.device,
                                           GT_CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                           NULL) == GT_CL_SUCCESS &&
        most > 0 && (uint64_t)threads > most)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "this kernel may have %zu work-items a group here, not %lld", most,
                       (long long)threads);
    cl_ulong local = 0;
    if (k->at.cl->clGetKernelWorkGroupInfo(k->pool->object[0], gpu->at.device,
                                           GT_CL_KERNEL_LOCAL_MEM_SIZE, sizeof local,
                                           &local, NULL) != GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    image->smem_bytes = local > INT32_MAX ? INT32_MAX : (int)local;
    if (local > (cl_ulong)gpu->head.device.smem_max)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "this kernel needs %lld bytes of local memory, the device has %lld",
                       (long long)local, (long long)gpu->head.device.smem_max);
    return GEMMTUNE_OK;
}

static void unload(struct gt_kernel *kernel) {
    struct opencl_kernel *k = (struct opencl_kernel *)kernel;
    if (!k)
        return;
    for (int i = 0; k->pool && i < POOL; i++)
        if (k->pool->object[i])
            (void)k->at.cl->clReleaseKernel(k->pool->object[i]);
    if (k->program && !k->borrowed)
        (void)k->at.cl->clReleaseProgram(k->program);
    free(k->pool);
    free(k);
}

/* A kernel without a program yet. */
static struct opencl_kernel *kernel_create(const struct opencl_gpu *gpu,
                                           struct gt_err *err) {
    struct opencl_kernel *k = calloc(1, sizeof *k);
    struct pool *pool = calloc(1, sizeof *pool);
    if (!k || !pool) {
        free(k);
        free(pool);
        (void)gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a kernel");
        return NULL;
    }
    k->head.driver = &gt_driver_opencl;
    k->at = gpu->at;
    k->pool = pool;
    atomic_init(&pool->taken, 0);
    return k;
}

/* Loads the kernel from the source, or without one from the image's bytes. */
static gt_status load_from(struct gt_kernel **out, const struct opencl_gpu *gpu,
                           struct gt_image *image, const char *source, const char *entry,
                           const struct gt_launch *launch, struct gt_err *err) {
    struct opencl_kernel *k = kernel_create(gpu, err);
    if (!k)
        return GEMMTUNE_ENOMEM;
    gt_status status =
        source != NULL ? gt_opencl_from_source(&k->program, &gpu->at, image, source, err)
                       : gt_opencl_from_binary(&k->program, &gpu->at, image, err);
    if (status == GEMMTUNE_OK)
        status = fill_pool(k, entry, err);
    if (status == GEMMTUNE_OK)
        status = check_room(image, k, gpu, launch, err);
    if (status != GEMMTUNE_OK)
        unload(&k->head);
    else
        *out = &k->head;
    return status;
}

/* A driver may refuse a binary that it made itself, after an update of a library that it
 * uses for instance. */
static gt_status load(struct gt_kernel **out, struct gt_gpu *gpu, struct gt_image *image,
                      const char *source, const char *entry, const struct gt_launch *launch,
                      struct gt_err *err) {
    const struct opencl_gpu *g = (const struct opencl_gpu *)gpu;
    struct gt_err why = {""};
    *out = NULL;
    if (image->bytes && load_from(out, g, image, NULL, entry, launch, &why) == GEMMTUNE_OK)
        return GEMMTUNE_OK;
    if (image->bytes && source == NULL)
        return gt_fail(err, GEMMTUNE_EBUILD, "%s", why.line);
    if (image->bytes)
        gt_log(GEMMTUNE_LOG_WARN, "a kept image is built again: %s", why.line);
    free(image->bytes);
    image->bytes = NULL;
    image->size = 0;
    return load_from(out, g, image, source, entry, launch, err);
}

static gt_status load_also(struct gt_kernel **out, struct gt_gpu *gpu,
                           const struct gt_kernel *kernel, const char *entry,
                           const struct gt_launch *launch, struct gt_err *err) {
    const struct opencl_gpu *g = (const struct opencl_gpu *)gpu;
    struct gt_image facts = {0}; /* not used: an image has the facts of its main kernel */
    *out = NULL;
    struct opencl_kernel *k = kernel_create(g, err);
    if (!k)
        return GEMMTUNE_ENOMEM;
    k->program = ((const struct opencl_kernel *)kernel)->program;
    k->borrowed = true;
    gt_status status = fill_pool(k, entry, err);
    if (status == GEMMTUNE_OK)
        status = check_room(&facts, k, g, launch, err);
    if (status != GEMMTUNE_OK)
        unload(&k->head);
    else
        *out = &k->head;
    return status;
}

static gt_status image_of(struct gt_image *image, const struct gt_kernel *kernel,
                          struct gt_err *err) {
    const struct opencl_kernel *k = (const struct opencl_kernel *)kernel;
    return gt_opencl_binary(image, &k->at, k->program, err);
}

/* ---- limits -------------------------------------------------------------------------- */

/* A global size is grid times block and must fit a size_t. */
static gt_status check_launch(const struct gt_launch *l, const struct gt_device *d,
                              struct gt_err *err) {
    const int64_t most = SIZE_MAX < INT64_MAX ? (int64_t)SIZE_MAX : INT64_MAX;
    const struct gt_limit sides[] = {
        {"grid x", l->grid[0], 1, most / l->block[0]},
        {"grid y", l->grid[1], 1, most / l->block[1]},
        {"grid z", l->grid[2], 1, most / l->block[2]},
    };
    (void)d;
    return gt_limits_check(sides, sizeof sides / sizeof *sides, err);
}

/* ---- launch -------------------------------------------------------------------------- */

/* Takes a free object. It waits only while POOL other threads are inside a launch. */
static unsigned take(struct pool *pool) {
    unsigned taken = atomic_load_explicit(&pool->taken, memory_order_relaxed);
    for (;;) {
        unsigned slot = 0;
        while (slot < POOL && (taken >> slot & 1U))
            slot++;
        if (slot == POOL) {
            (void)sched_yield();
            taken = atomic_load_explicit(&pool->taken, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(
                       &pool->taken, &taken, taken | 1U << slot, memory_order_acquire,
                       memory_order_relaxed)) {
            return slot;
        }
    }
}

static void give(struct pool *pool, unsigned slot) {
    (void)atomic_fetch_and_explicit(&pool->taken, ~(1U << slot), memory_order_release);
}

/* The range in work-items. PoCL accepts a size of 0 silently, so it is refused here. */
static gt_status range_of(size_t global[3], size_t local[3], const struct gt_launch *launch,
                          struct gt_err *err) {
    for (int i = 0; i < 3; i++) {
        const int64_t grid = launch->grid[i], block = launch->block[i];
        if (grid < 1 || block < 1 || grid > INT64_MAX / block)
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "no launch of %lld groups of %lld work-items", (long long)grid,
                           (long long)block);
        global[i] = (size_t)(grid * block);
        local[i] = (size_t)block;
    }
    return GEMMTUNE_OK;
}

/* EINVAL when the launch was refused before anything ran. */
static gt_status fail_launch(cl_int result, struct gt_err *err) {
    const gt_status status = gt_opencl_fail(err, "clEnqueueNDRangeKernel", result);
    const bool refused =
        result == GT_CL_OUT_OF_RESOURCES || result == GT_CL_INVALID_EVENT_WAIT_LIST ||
        result == GT_CL_INVALID_WORK_GROUP_SIZE || result == GT_CL_INVALID_WORK_ITEM_SIZE;
    return refused ? GEMMTUNE_EINVAL : status;
}

static int64_t memory_bytes(const void *memory) {
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    size_t bytes = 0;
    return cl->clGetMemObjectInfo((cl_mem)(uintptr_t)memory, GT_CL_MEM_SIZE, sizeof bytes,
                                  &bytes, NULL) == GT_CL_SUCCESS
               ? (int64_t)bytes
               : INT64_MAX;
}

static gt_status launch(const struct gt_kernel *kernel, const struct gt_launch *launch,
                        const struct gt_value_ref *args, int arg_count, void *stream,
                        struct gt_event_order order, struct gt_err *err) {
    const struct opencl_kernel *k = (const struct opencl_kernel *)kernel;
    const struct gt_opencl *cl = k->at.cl;
    size_t global[3], local[3];
    const gt_status status = range_of(global, local, launch, err);
    if (status != GEMMTUNE_OK)
        return status;
    const unsigned slot = take(k->pool);
    const cl_kernel object = k->pool->object[slot];
    cl_int result = GT_CL_SUCCESS;
    int i = 0;
    for (; result == GT_CL_SUCCESS && i < arg_count; i++)
        result = cl->clSetKernelArg(object, (cl_uint)i, args[i].size, args[i].bytes);
    const bool args_set = result == GT_CL_SUCCESS;
    if (args_set)
        result =
            cl->clEnqueueNDRangeKernel((cl_command_queue)stream, object, 3, NULL, global,
                                       local, order.count, order.wait, order.event);
    give(k->pool, slot);
    if (result == GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    if (args_set)
        return fail_launch(result, err);
    char call[48];
    snprintf(call, sizeof call, "clSetKernelArg of argument %d", i);
    return gt_opencl_fail(err, call, result);
}

/* ---- order --------------------------------------------------------------------------- */

/* A marker without a wait list waits for all earlier work. */
static gt_status mark(void *stream, struct gt_event_order order, struct gt_err *err) {
    const cl_int result = gt_opencl_api(NULL)->clEnqueueMarkerWithWaitList(
        (cl_command_queue)stream, order.count, order.wait, order.event);
    if (result == GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    const gt_status status = gt_opencl_fail(err, "clEnqueueMarkerWithWaitList", result);
    return result == GT_CL_INVALID_EVENT_WAIT_LIST ? GEMMTUNE_EINVAL : status;
}

/* A queue that does not answer counts as unordered: events are right in any queue. */
static bool is_unordered(void *stream) {
    cl_bitfield properties = 0;
    return gt_opencl_api(NULL)->clGetCommandQueueInfo(
               (cl_command_queue)stream, GT_CL_QUEUE_PROPERTIES, sizeof properties,
               &properties, NULL) != GT_CL_SUCCESS ||
           (properties & GT_CL_QUEUE_OUT_OF_ORDER) != 0;
}

static void release_event(void *event) {
    (void)gt_opencl_api(NULL)->clReleaseEvent((cl_event)event);
}

const struct gt_driver gt_driver_opencl = {
    .backend = GEMMTUNE_OPENCL,
    .keeps_images = true,
    .compiles_late = true,
    .takes_events = true,
    .check_launch = check_launch,
    .enumerate = gt_opencl_enumerate,
    .open = open_gpu,
    .close = close_gpu,
    .toolchain = gt_opencl_toolchain,
    .build = build,
    .load = load,
    .load_also = load_also,
    .image_of = image_of,
    .unload = unload,
    .memory_bytes = memory_bytes,
    .launch = launch,
    .mark = mark,
    .is_unordered = is_unordered,
    .release_event = release_event,
    .stream_memory = &gt_stream_memory_opencl,
};
