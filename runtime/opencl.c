/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.c - the OpenCL driver: every device of every platform, the caller's context,
 * programs built from source while loading (a program binary may be host code, so none is
 * ever kept), and launches.
 *
 * A cl_kernel holds its arguments, so two threads must not use one at once, and a launch
 * may neither lock nor allocate: a loaded kernel owns POOL cl_kernel objects, and a launch
 * takes one by setting its bit.
 */
#include "runtime/driver_util.h"
#include "runtime/opencl_api.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL = 16 };

static const char build_options[] = "-cl-std=CL1.2 -w";

struct gt_gpu {
    struct gt_gpu_head head;
    const struct gt_opencl *cl;
    cl_context context; /* the caller's */
    cl_device_id device;
};

struct pool {
    atomic_uint taken; /* bit i: object[i] is being filled or launched */
    cl_kernel object[POOL];
};

struct gt_kernel {
    const struct gt_opencl *cl;
    cl_program program;
    bool borrowed;     /* the program is another kernel's */
    struct pool *pool; /* apart, so that a const kernel can be launched */
};

/* ---- what a device says of itself ---------------------------------------------------- */

/* A number of 4 or 8 bytes, 0 when the device does not answer. */
static uint64_t number(const struct gt_opencl *cl, cl_device_id device, cl_uint what) {
    union {
        uint32_t word;
        uint64_t wide;
    } value = {.wide = 0};
    size_t size = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof value, &value, &size) != GT_CL_SUCCESS)
        return 0;
    return size == sizeof value.word ? value.word : value.wide;
}

static int small(uint64_t value) {
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

static int64_t large(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* A text of any length; NULL when the device does not answer. The caller frees it. */
static char *text_of(const struct gt_opencl *cl, cl_device_id device, cl_uint what) {
    size_t size = 0;
    if (cl->clGetDeviceInfo(device, what, 0, NULL, &size) != GT_CL_SUCCESS || size == 0)
        return NULL;
    char *text = calloc(size + 1, 1);
    if (text && cl->clGetDeviceInfo(device, what, size, text, NULL) != GT_CL_SUCCESS)
        text[0] = '\0';
    return text;
}

static void copy_text(char *out, size_t room, const struct gt_opencl *cl,
                      cl_device_id device, cl_uint what) {
    char *text = text_of(cl, device, what);
    gt_tidy(out, room, text ? text : "");
    free(text);
}

/* Whether a list of words separated by spaces holds `word`. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

/* "OpenCL 3.0 PoCL 3.1+debian  Linux, ..." becomes "PoCL 3.1": what follows the
 * standard's version, up to a comma or two spaces, without a packager's suffix. "" when
 * nothing follows. */
static void compiler_of(char *out, size_t size, const char *version) {
    char cut[128];
    const char *p = version;
    if (strncmp(p, "OpenCL ", 7) == 0)
        p += 7 + strcspn(p + 7, " ");
    p += strspn(p, " ");
    const char *wide_gap = strstr(p, "  ");
    size_t length = strcspn(p, ",+");
    if (wide_gap && (size_t)(wide_gap - p) < length)
        length = (size_t)(wide_gap - p);
    snprintf(cut, sizeof cut, "%.*s", (int)(length < sizeof cut ? length : sizeof cut - 1),
             p);
    gt_tidy(out, size, cut);
}

static void fill_compiler(struct gt_device *d, const struct gt_opencl *cl,
                          cl_platform_id platform) {
    char text[256] = "";
    if (cl->clGetPlatformInfo(platform, GT_CL_PLATFORM_VERSION, sizeof text - 1, text,
                              NULL) != GT_CL_SUCCESS)
        text[0] = '\0';
    compiler_of(d->compiler, sizeof d->compiler, text);
    if (d->compiler[0])
        return;
    if (cl->clGetPlatformInfo(platform, GT_CL_PLATFORM_NAME, sizeof text - 1, text, NULL) !=
        GT_CL_SUCCESS)
        text[0] = '\0';
    char joined[400];
    snprintf(joined, sizeof joined, "%s %s", text, d->driver);
    gt_tidy(d->compiler, sizeof d->compiler, joined);
}

static void fill_uuid(struct gt_device *d, const struct gt_opencl *cl,
                      cl_device_id device) {
    unsigned char id[16];
    char hex[33];
    if (cl->clGetDeviceInfo(device, GT_CL_DEVICE_UUID_KHR, sizeof id, id, NULL) !=
        GT_CL_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)id[i]);
    snprintf(d->uuid, sizeof d->uuid, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
             hex + 16, hex + 20);
}

/* What only some vendors tell, through extensions. */
static void fill_extras(struct gt_device *d, const struct gt_opencl *cl,
                        cl_device_id device) {
    char *extensions = text_of(cl, device, GT_CL_DEVICE_EXTENSIONS);
    const char *list = extensions ? extensions : "";
    d->warp = 1;
    d->has_f64 = number(cl, device, GT_CL_DEVICE_DOUBLE_FP_CONFIG) != 0 ||
                 has_word(list, "cl_khr_fp64");
    if (has_word(list, "cl_khr_device_uuid"))
        fill_uuid(d, cl, device);
    if (has_word(list, "cl_nv_device_attribute_query")) {
        d->warp = small(number(cl, device, GT_CL_DEVICE_WARP_SIZE_NV));
        d->regs_per_block = small(number(cl, device, GT_CL_DEVICE_REGISTERS_PER_BLOCK_NV));
        /* The slot is the device number: seen on an H200, whose CUDA address ends in
         * 06.0. */
        snprintf(d->pci, sizeof d->pci, "%04x:%02x:%02x.0",
                 (unsigned)number(cl, device, GT_CL_DEVICE_PCI_DOMAIN_ID_NV) & 0xffffU,
                 (unsigned)number(cl, device, GT_CL_DEVICE_PCI_BUS_ID_NV) & 0xffU,
                 (unsigned)number(cl, device, GT_CL_DEVICE_PCI_SLOT_ID_NV) & 0x1fU);
    } else if (has_word(list, "cl_amd_device_attribute_query")) {
        d->warp = small(number(cl, device, GT_CL_DEVICE_WAVEFRONT_WIDTH_AMD));
    }
    if (d->warp < 1)
        d->warp = 1;
    free(extensions);
}

static void fill_kind(struct gt_device *d, const struct gt_opencl *cl,
                      cl_device_id device) {
    const uint64_t type = number(cl, device, GT_CL_DEVICE_TYPE);
    d->is_cpu = (type & GT_CL_DEVICE_TYPE_CPU) != 0;
    snprintf(d->arch, sizeof d->arch, "%s",
             d->is_cpu                        ? "cpu"
             : (type & GT_CL_DEVICE_TYPE_GPU) ? "gpu"
                                              : "accelerator");
}

static void fill_device(struct gt_device *d, const struct gt_opencl *cl, int ordinal,
                        cl_platform_id platform, cl_device_id device) {
    *d = (struct gt_device){.backend = GEMMTUNE_OPENCL, .ordinal = ordinal};
    copy_text(d->name, sizeof d->name, cl, device, GT_CL_DEVICE_NAME);
    copy_text(d->vendor, sizeof d->vendor, cl, device, GT_CL_DEVICE_VENDOR);
    copy_text(d->driver, sizeof d->driver, cl, device, GT_CL_DRIVER_VERSION);
    fill_kind(d, cl, device);
    d->units = small(number(cl, device, GT_CL_DEVICE_MAX_COMPUTE_UNITS));
    d->max_threads = small(number(cl, device, GT_CL_DEVICE_MAX_WORK_GROUP_SIZE));
    d->clock_mhz = small(number(cl, device, GT_CL_DEVICE_MAX_CLOCK_FREQUENCY));
    d->mem_bytes = large(number(cl, device, GT_CL_DEVICE_GLOBAL_MEM_SIZE));
    d->max_alloc = large(number(cl, device, GT_CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    d->l2_bytes = large(number(cl, device, GT_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
    d->smem_max = large(number(cl, device, GT_CL_DEVICE_LOCAL_MEM_SIZE));
    fill_extras(d, cl, device);
    if (!number(cl, device, GT_CL_DEVICE_AVAILABLE))
        snprintf(d->trouble, sizeof d->trouble,
                 "the OpenCL driver says it is not available");
    else if (!number(cl, device, GT_CL_DEVICE_COMPILER_AVAILABLE))
        snprintf(d->trouble, sizeof d->trouble, "its OpenCL driver has no compiler");
    else
        fill_compiler(d, cl, platform);
}

/* ---- all devices --------------------------------------------------------------------- */

/* Called for each device; true ends the walk. */
typedef bool visitor(void *user, int ordinal, cl_platform_id platform, cl_device_id device);

static gt_status walk_platform(bool *done, int *ordinal, const struct gt_opencl *cl,
                               cl_platform_id platform, visitor *visit, void *user,
                               struct gt_err *err) {
    cl_uint count = 0;
    cl_int result = cl->clGetDeviceIDs(platform, GT_CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (result != GT_CL_SUCCESS || count == 0)
        return GEMMTUNE_OK; /* no devices, or a broken driver: the platform offers none */
    cl_device_id *devices = calloc(count, sizeof(cl_device_id));
    if (!devices)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %u devices", (unsigned)count);
    result = cl->clGetDeviceIDs(platform, GT_CL_DEVICE_TYPE_ALL, count, devices, NULL);
    for (cl_uint i = 0; result == GT_CL_SUCCESS && i < count && !*done; i++)
        *done = visit(user, (*ordinal)++, platform, devices[i]);
    free(devices);
    return GEMMTUNE_OK;
}

static gt_status walk(const struct gt_opencl *cl, visitor *visit, void *user,
                      struct gt_err *err) {
    cl_uint count = 0;
    if (cl->clGetPlatformIDs(0, NULL, &count) != GT_CL_SUCCESS || count == 0)
        return GEMMTUNE_OK; /* a loader that finds no platform calls that an error */
    cl_platform_id *platforms = calloc(count, sizeof(cl_platform_id));
    if (!platforms)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %u platforms", (unsigned)count);
    gt_status status = GEMMTUNE_OK;
    const cl_int result = cl->clGetPlatformIDs(count, platforms, NULL);
    if (result != GT_CL_SUCCESS)
        status = gt_opencl_fail(err, "clGetPlatformIDs", result);
    bool done = false;
    int ordinal = 0;
    for (cl_uint i = 0; !status && i < count && !done; i++)
        status = walk_platform(&done, &ordinal, cl, platforms[i], visit, user, err);
    free(platforms);
    return status;
}

struct report {
    const struct gt_opencl *cl;
    void (*fn)(void *user, const struct gt_device *d);
    void *user;
    int count;
};

static bool report_device(void *user, int ordinal, cl_platform_id platform,
                          cl_device_id device) {
    struct report *r = user;
    struct gt_device d;
    fill_device(&d, r->cl, ordinal, platform, device);
    r->fn(r->user, &d);
    r->count++;
    return false;
}

static gt_status enumerate(void (*fn)(void *user, const struct gt_device *d), void *user,
                           char missing[512], struct gt_err *err) {
    missing[0] = '\0';
    struct gt_err why;
    const struct gt_opencl *cl = gt_opencl_api(&why);
    if (!cl) {
        snprintf(missing, 512, "%.511s", why.line);
        return GEMMTUNE_OK;
    }
    struct report r = {.cl = cl, .fn = fn, .user = user};
    const gt_status status = walk(cl, report_device, &r, err);
    if (!status && r.count == 0)
        snprintf(missing, 512, "OpenCL is installed but no platform of it has a device");
    return status;
}

struct search {
    int ordinal;         /* wanted; or -1 and */
    cl_device_id device; /* this device */
    bool found;
    int found_ordinal;
    cl_platform_id platform;
};

static bool find_device(void *user, int ordinal, cl_platform_id platform,
                        cl_device_id device) {
    struct search *s = user;
    s->found = s->ordinal >= 0 ? s->ordinal == ordinal : s->device == device;
    if (s->found) {
        s->found_ordinal = ordinal;
        s->platform = platform;
        s->device = device;
    }
    return s->found;
}

gt_status gt_opencl_device(cl_platform_id *platform, cl_device_id *device, int ordinal,
                           struct gt_err *err) {
    const struct gt_opencl *cl = gt_opencl_api(err);
    if (!cl)
        return GEMMTUNE_ENODRIVER;
    struct search s = {.ordinal = ordinal < 0 ? INT32_MAX : ordinal};
    const gt_status status = walk(cl, find_device, &s, err);
    if (status)
        return status;
    if (!s.found)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "there is no OpenCL device %d", ordinal);
    *platform = s.platform;
    *device = s.device;
    return GEMMTUNE_OK;
}

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

static gt_status fill_gpu(struct gt_gpu *gpu, const gemmtune_target *target,
                          struct gt_err *err) {
    gpu->head.driver = &gt_driver_opencl;
    gpu->context = (cl_context)target->context;
    gt_status status = caller_device(&gpu->device, gpu->cl, target, err);
    if (status)
        return status;
    cl_platform_id platform = NULL;
    cl_int result = gpu->cl->clGetDeviceInfo(gpu->device, GT_CL_DEVICE_PLATFORM,
                                             sizeof(cl_platform_id), &platform, NULL);
    if (result != GT_CL_SUCCESS)
        return gt_opencl_fail(err, "clGetDeviceInfo", result);
    struct search s = {.ordinal = -1, .device = gpu->device};
    status = walk(gpu->cl, find_device, &s, err);
    if (!status)
        fill_device(&gpu->head.device, gpu->cl, s.found ? s.found_ordinal : 0, platform,
                    gpu->device);
    return status;
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
    struct gt_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a context");
    gpu->cl = cl;
    const gt_status status = fill_gpu(gpu, target, err);
    if (status)
        close_gpu(gpu);
    else
        *out = gpu;
    return status;
}

/* ---- build: nothing until there is a context ----------------------------------------- */

static gt_status toolchain(char text[GT_OPTIONS_MAX], const struct gt_device *d,
                           struct gt_err *err) {
    text[0] = '\0';
    if (!d->compiler[0])
        return gt_fail(err, GEMMTUNE_EBUILD, "%s",
                       d->trouble[0] ? d->trouble : "this OpenCL device has no compiler");
    snprintf(text, GT_OPTIONS_MAX, "%s (driver %s) %s", d->compiler, d->driver,
             build_options);
    return GEMMTUNE_OK;
}

static bool cacheable(const struct gt_device *d) {
    (void)d;
    return false;
}

static gt_status build(struct gt_image *image, const struct gt_device *d,
                       const char *source, struct gt_err *err) {
    (void)source;
    gt_image_init(image);
    char text[GT_OPTIONS_MAX];
    return toolchain(text, d, err);
}

/* ---- load ---------------------------------------------------------------------------- */

static gt_status take_log(struct gt_image *image, const struct gt_gpu *gpu,
                          cl_program program, struct gt_err *err) {
    size_t size = 0;
    if (gpu->cl->clGetProgramBuildInfo(program, gpu->device, GT_CL_PROGRAM_BUILD_LOG, 0,
                                       NULL, &size) != GT_CL_SUCCESS ||
        size < 2)
        return gt_image_log(image, "", 0, err);
    char *text = calloc(size + 1, 1);
    if (!text)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a build log");
    (void)gpu->cl->clGetProgramBuildInfo(program, gpu->device, GT_CL_PROGRAM_BUILD_LOG,
                                         size, text, NULL);
    const size_t blank_tail = strspn(text, " \t\r\n");
    const size_t length = text[blank_tail] ? strlen(text) : 0;
    const gt_status status = gt_image_log(image, text, length, err);
    free(text);
    return status;
}

static gt_status build_program(struct gt_kernel *k, const struct gt_gpu *gpu,
                               struct gt_image *image, const char *source,
                               struct gt_err *err) {
    cl_int result = GT_CL_SUCCESS;
    k->program =
        gpu->cl->clCreateProgramWithSource(gpu->context, 1, &source, NULL, &result);
    if (!k->program)
        return gt_opencl_fail(err, "clCreateProgramWithSource", result);
    result =
        gpu->cl->clBuildProgram(k->program, 1, &gpu->device, build_options, NULL, NULL);
    const gt_status status = take_log(image, gpu, k->program, err);
    if (status || result == GT_CL_SUCCESS)
        return status;
    char complaint[400];
    gt_first_complaint(complaint, sizeof complaint, image->log);
    if (!complaint[0])
        gt_opencl_error_text(result, complaint, sizeof complaint);
    return gt_fail(err, GEMMTUNE_EBUILD, "%s", complaint);
}

static gt_status fill_pool(struct gt_kernel *k, const char *entry, struct gt_err *err) {
    for (int i = 0; i < POOL; i++) {
        cl_int result = GT_CL_SUCCESS;
        k->pool->object[i] = k->cl->clCreateKernel(k->program, entry, &result);
        if (k->pool->object[i])
            continue;
        if (result == GT_CL_INVALID_KERNEL_NAME)
            return gt_fail(err, GEMMTUNE_EBUILD, "the source has no kernel %s", entry);
        return gt_opencl_fail(err, "clCreateKernel", result);
    }
    return GEMMTUNE_OK;
}

/* Refuses what the device has no room for, before a launch does: PoCL aborts the process
 * there. */
static gt_status check_room(struct gt_image *image, const struct gt_kernel *k,
                            const struct gt_gpu *gpu, const struct gt_launch *launch,
                            struct gt_err *err) {
    size_t most = 0;
    const int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (k->cl->clGetKernelWorkGroupInfo(k->pool->object[0], gpu->device,
                                        GT_CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                        NULL) == GT_CL_SUCCESS &&
        most > 0 && (uint64_t)threads > most)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "this kernel may have %zu work-items a group here, not %lld", most,
                       (long long)threads);
    cl_ulong local = 0;
    if (k->cl->clGetKernelWorkGroupInfo(k->pool->object[0], gpu->device,
                                        GT_CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                        NULL) != GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    image->smem_bytes = small(local);
    if (large(local) > gpu->head.device.smem_max)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "this kernel needs %lld bytes of local memory, the device has %lld",
                       (long long)local, (long long)gpu->head.device.smem_max);
    return GEMMTUNE_OK;
}

static void unload(struct gt_kernel *kernel) {
    if (!kernel)
        return;
    for (int i = 0; kernel->pool && i < POOL; i++)
        if (kernel->pool->object[i])
            (void)kernel->cl->clReleaseKernel(kernel->pool->object[i]);
    if (kernel->program && !kernel->borrowed)
        (void)kernel->cl->clReleaseProgram(kernel->program);
    free(kernel->pool);
    free(kernel);
}

/* Without a program yet. */
static struct gt_kernel *kernel_create(const struct gt_gpu *gpu, struct gt_err *err) {
    struct gt_kernel *k = calloc(1, sizeof *k);
    struct pool *pool = calloc(1, sizeof *pool);
    if (!k || !pool) {
        free(k);
        free(pool);
        (void)gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a kernel");
        return NULL;
    }
    k->cl = gpu->cl;
    k->pool = pool;
    atomic_init(&pool->taken, 0);
    return k;
}

static gt_status load(struct gt_kernel **out, struct gt_gpu *gpu, struct gt_image *image,
                      const char *source, const char *entry, const struct gt_launch *launch,
                      struct gt_err *err) {
    *out = NULL;
    struct gt_kernel *k = kernel_create(gpu, err);
    if (!k)
        return GEMMTUNE_ENOMEM;
    gt_status status = build_program(k, gpu, image, source, err);
    if (!status)
        status = fill_pool(k, entry, err);
    if (!status)
        status = check_room(image, k, gpu, launch, err);
    if (status)
        unload(k);
    else
        *out = k;
    return status;
}

static gt_status load_also(struct gt_kernel **out, struct gt_gpu *gpu,
                           const struct gt_kernel *kernel, const char *entry,
                           const struct gt_launch *launch, struct gt_err *err) {
    struct gt_image facts = {0}; /* an image tells those of its main kernel */
    *out = NULL;
    struct gt_kernel *k = kernel_create(gpu, err);
    if (!k)
        return GEMMTUNE_ENOMEM;
    k->program = kernel->program;
    k->borrowed = true;
    gt_status status = fill_pool(k, entry, err);
    if (!status)
        status = check_room(&facts, k, gpu, launch, err);
    if (status)
        unload(k);
    else
        *out = k;
    return status;
}

/* ---- launch -------------------------------------------------------------------------- */

/* Takes a free object, waiting only while POOL other threads are inside a launch. */
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

/* The range in work-items. PoCL takes a size of 0 silently, so it is refused here. */
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

/* A refusal before anything ran says EINVAL. */
static gt_status fail_launch(cl_int result, struct gt_err *err) {
    const gt_status status = gt_opencl_fail(err, "clEnqueueNDRangeKernel", result);
    const bool refused = result == GT_CL_OUT_OF_RESOURCES ||
                         result == GT_CL_INVALID_WORK_GROUP_SIZE ||
                         result == GT_CL_INVALID_WORK_ITEM_SIZE;
    return refused ? GEMMTUNE_EINVAL : status;
}

static gt_status launch(const struct gt_kernel *kernel, const struct gt_launch *launch,
                        const struct gt_value_ref *args, int arg_count, void *stream,
                        struct gt_err *err) {
    const struct gt_opencl *cl = kernel->cl;
    size_t global[3], local[3];
    const gt_status status = range_of(global, local, launch, err);
    if (status)
        return status;
    const unsigned slot = take(kernel->pool);
    const cl_kernel object = kernel->pool->object[slot];
    cl_int result = GT_CL_SUCCESS;
    int i = 0;
    for (; result == GT_CL_SUCCESS && i < arg_count; i++)
        result = cl->clSetKernelArg(object, (cl_uint)i, args[i].size, args[i].bytes);
    const bool args_set = result == GT_CL_SUCCESS;
    if (args_set)
        result = cl->clEnqueueNDRangeKernel((cl_command_queue)stream, object, 3, NULL,
                                            global, local, 0, NULL, NULL);
    give(kernel->pool, slot);
    if (result == GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    if (args_set)
        return fail_launch(result, err);
    char call[48];
    snprintf(call, sizeof call, "clSetKernelArg of argument %d", i);
    return gt_opencl_fail(err, call, result);
}

const struct gt_driver gt_driver_opencl = {
    .name = "opencl",
    .backend = GEMMTUNE_OPENCL,
    .enumerate = enumerate,
    .open = open_gpu,
    .close = close_gpu,
    .toolchain = toolchain,
    .cacheable = cacheable,
    .build = build,
    .load = load,
    .load_also = load_also,
    .unload = unload,
    .launch = launch,
};
