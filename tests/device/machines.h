/* SPDX-License-Identifier: Apache-2.0 */
/* machines.h - the devices of this machine as a program has them that uses the library. */
#ifndef GT_TESTS_DEVICE_MACHINES_H
#define GT_TESTS_DEVICE_MACHINES_H

#include "runtime/drivers/cuda_api.h"
#include "runtime/drivers/driver.h"
#include "runtime/drivers/opencl_device.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* The part of a program that owns the driver: memory and queues. Offsets are bytes. */
struct machine;
struct machine_ops {
    bool (*open)(struct machine *m);
    void (*close)(struct machine *m);
    void *(*alloc)(struct machine *m, size_t bytes);
    void (*release)(struct machine *m, void *memory);
    void *(*queue_create)(struct machine *m);
    void (*queue_destroy)(struct machine *m, void *queue);
    void (*write)(struct machine *m, void *queue, void *to, const void *from, size_t bytes);
    void (*read)(struct machine *m, void *queue, void *to, void *from,
                 size_t bytes);       /* waits */
    void (*enter)(struct machine *m); /* a thread begins to use the device */
};

struct machine {
    const struct machine_ops *ops;
    const struct gt_device *device;
    gemmtune_target target;
    char key[GT_DEVICE_KEY_MAX];
};

/* A queue may be asked to do nothing at all: this many bytes at least. */
static size_t at_least_one(size_t bytes) {
    return bytes > 0 ? bytes : 1;
}

static bool cl_open(struct machine *m) {
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    cl_platform_id platform;
    cl_device_id device;
    cl_int error = 0;
    if (gt_opencl_device(&platform, &device, m->device->ordinal, NULL) != GEMMTUNE_OK)
        return false;
    (void)gemmtune_target_init(&m->target, GEMMTUNE_OPENCL);
    m->target.device = device;
    m->target.context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    return error == 0;
}

static void cl_close(struct machine *m) {
    (void)gt_opencl_api(NULL)->clReleaseContext(m->target.context);
}

/* Memory of a CPU device that ends, but for less than GUARD_ALIGN bytes, at a page that
 * nobody may read: a kernel that reads or writes past it ends the test by a signal. With
 * GUARDED_MAX of them alive, further memory has no guard. */
enum { GUARD_ALIGN = 128, GUARDED_MAX = 64 };

static struct guarded {
    void *memory, *pages;
    char *guard; /* a page */
} guarded[GUARDED_MAX];
static pthread_mutex_t guarded_lock = PTHREAD_MUTEX_INITIALIZER;

static struct guarded *guarded_of(const void *memory) {
    for (size_t i = 0; i < GUARDED_MAX; i++)
        if (guarded[i].memory == memory)
            return &guarded[i];
    return NULL;
}

static void *guarded_pages(struct guarded *g, size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t used = (bytes + GUARD_ALIGN - 1) / GUARD_ALIGN * GUARD_ALIGN;
    const size_t open = (used + page - 1) / page * page;
    assert_int_equal(posix_memalign(&g->pages, page, open + page), 0);
    g->guard = (char *)g->pages + open;
    assert_int_equal(mprotect(g->guard, page, PROT_NONE), 0);
    return g->guard - used;
}

static void *cl_alloc(struct machine *m, size_t bytes) {
    cl_int error = 0;
    (void)pthread_mutex_lock(&guarded_lock);
    struct guarded *const g = m->device->is_cpu ? guarded_of(NULL) : NULL;
    void *const pages = g != NULL ? guarded_pages(g, at_least_one(bytes)) : NULL;
    cl_mem memory = gt_opencl_api(NULL)->clCreateBuffer(
        m->target.context,
        GT_CL_MEM_READ_WRITE | (pages != NULL ? GT_CL_MEM_USE_HOST_PTR : 0),
        at_least_one(bytes), pages, &error);
    assert_int_equal(error, 0);
    if (g != NULL)
        g->memory = memory;
    (void)pthread_mutex_unlock(&guarded_lock);
    return memory;
}

static void cl_release(struct machine *m, void *memory) {
    (void)m;
    (void)pthread_mutex_lock(&guarded_lock);
    struct guarded *const g = memory != NULL ? guarded_of(memory) : NULL;
    (void)gt_opencl_api(NULL)->clReleaseMemObject(memory);
    if (g != NULL) {
        assert_int_equal(
            mprotect(g->guard, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE), 0);
        free(g->pages);
        *g = (struct guarded){NULL, NULL, NULL};
    }
    (void)pthread_mutex_unlock(&guarded_lock);
}

static void *cl_queue_create(struct machine *m) {
    cl_int error = 0;
    cl_command_queue queue = gt_opencl_api(NULL)->clCreateCommandQueue(
        m->target.context, m->target.device, 0, &error);
    assert_int_equal(error, 0);
    return queue;
}

static void cl_queue_destroy(struct machine *m, void *queue) {
    (void)m;
    (void)gt_opencl_api(NULL)->clReleaseCommandQueue(queue);
}

static void cl_write(struct machine *m, void *queue, void *to, const void *from,
                     size_t bytes) {
    (void)m;
    if (bytes > 0)
        assert_int_equal(gt_opencl_api(NULL)->clEnqueueWriteBuffer(
                             queue, to, GT_CL_TRUE, 0, bytes, from, 0, NULL, NULL),
                         0);
}

static void cl_read(struct machine *m, void *queue, void *to, void *from, size_t bytes) {
    (void)m;
    if (bytes > 0)
        assert_int_equal(gt_opencl_api(NULL)->clEnqueueReadBuffer(
                             queue, from, GT_CL_TRUE, 0, bytes, to, 0, NULL, NULL),
                         0);
}

static void cl_enter(struct machine *m) {
    (void)m;
}

static const struct machine_ops opencl_ops = {
    .open = cl_open,
    .close = cl_close,
    .alloc = cl_alloc,
    .release = cl_release,
    .queue_create = cl_queue_create,
    .queue_destroy = cl_queue_destroy,
    .write = cl_write,
    .read = cl_read,
    .enter = cl_enter,
};

static CUdeviceptr address(const void *memory) {
    return (CUdeviceptr)(uintptr_t)memory;
}

static bool cu_open(struct machine *m) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    CUdevice device;
    CUcontext context;
    if (cu == NULL || cu->cuDeviceGet(&device, m->device->ordinal) != GT_CU_SUCCESS ||
        cu->cuDevicePrimaryCtxRetain(&context, device) != GT_CU_SUCCESS)
        return false;
    (void)gemmtune_target_init(&m->target, GEMMTUNE_CUDA);
    m->target.context = context;
    return cu->cuCtxSetCurrent(context) == GT_CU_SUCCESS;
}

static void cu_close(struct machine *m) {
    CUdevice device;
    if (gt_cuda_api(NULL)->cuDeviceGet(&device, m->device->ordinal) == GT_CU_SUCCESS)
        (void)gt_cuda_api(NULL)->cuDevicePrimaryCtxRelease(device);
}

static void *cu_alloc(struct machine *m, size_t bytes) {
    CUdeviceptr memory = 0;
    (void)m;
    assert_int_equal(gt_cuda_api(NULL)->cuMemAlloc(&memory, at_least_one(bytes)), 0);
    return (void *)(uintptr_t)memory;
}

static void cu_release(struct machine *m, void *memory) {
    (void)m;
    (void)gt_cuda_api(NULL)->cuMemFree(address(memory));
}

static void *cu_queue_create(struct machine *m) {
    CUstream stream;
    (void)m;
    assert_int_equal(gt_cuda_api(NULL)->cuStreamCreate(&stream, GT_CU_STREAM_NON_BLOCKING),
                     0);
    return stream;
}

static void cu_queue_destroy(struct machine *m, void *queue) {
    (void)m;
    (void)gt_cuda_api(NULL)->cuStreamDestroy(queue);
}

static void cu_write(struct machine *m, void *queue, void *to, const void *from,
                     size_t bytes) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    (void)m;
    assert_int_equal(cu->cuMemcpyHtoDAsync(address(to), from, bytes, queue), 0);
    assert_int_equal(cu->cuStreamSynchronize(queue), 0);
}

static void cu_read(struct machine *m, void *queue, void *to, void *from, size_t bytes) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    (void)m;
    assert_int_equal(cu->cuMemcpyDtoHAsync(to, address(from), bytes, queue), 0);
    assert_int_equal(cu->cuStreamSynchronize(queue), 0);
}

static void cu_enter(struct machine *m) {
    assert_int_equal(gt_cuda_api(NULL)->cuCtxSetCurrent(m->target.context), 0);
}

static const struct machine_ops cuda_ops = {
    .open = cu_open,
    .close = cu_close,
    .alloc = cu_alloc,
    .release = cu_release,
    .queue_create = cu_queue_create,
    .queue_destroy = cu_queue_destroy,
    .write = cu_write,
    .read = cu_read,
    .enter = cu_enter,
};

static const struct machine_ops *const ops_of[] = {
    [GEMMTUNE_CUDA] = &cuda_ops, [GEMMTUNE_OPENCL] = &opencl_ops};

static struct gt_device_list devices;

/* Lists the devices. The user's own database must not affect the tests. */
static int list_devices(void **state) {
    (void)state;
    return setenv("GEMMTUNE_DB", "/nonexistent/gemmtune.db", 1) != 0 ||
           gt_devices_list(&devices, NULL) != GEMMTUNE_OK;
}

static int clear_devices(void **state) {
    (void)state;
    gt_devices_clear(&devices);
    return 0;
}

/* Without an image cache, unless the test has set one: PoCL would compile a variant of each
 * kernel for its image alone. test_images.c tests images. */
static inline void keep_no_images(gemmtune_backend backend) {
    if (backend == GEMMTUNE_OPENCL)
        (void)setenv("GEMMTUNE_CACHE_DIR", "", 0);
}

/* Runs a test on every device that has a compiler. CUDA's devices come first. */
static inline void on_every_device(void (*test)(struct machine *m)) {
    int ran = 0;
    for (size_t i = 0; i < devices.count; i++) {
        struct machine m = {.device = &devices.device[i]};
        m.ops = ops_of[m.device->backend];
        gt_device_key(m.device, m.key);
        if (m.device->trouble[0] != '\0' || !m.ops->open(&m))
            continue;
        keep_no_images(m.device->backend);
        test(&m);
        m.ops->close(&m);
        ran++;
    }
    if (ran == 0) {
        print_message("skipped: no usable device\n");
        skip();
    }
}

#endif
