/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers of this machine: enumerate, build, load, launch, and every sentence about
 * missing parts. OpenCL runs on any machine with PoCL; NVRTC compiles without a GPU; CUDA
 * needs one. A test without its driver says so and is skipped.
 *
 * A process opens a library only once. Tests that need another library therefore run this
 * program again with an argument: see probes[].
 */
#include "runtime/build.h"
#include "runtime/cuda_api.h"
#include "runtime/opencl_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>

#include <cmocka.h>

enum { COUNT = 256, GROUP = 32, THREADS = 24, ROUNDS = 40 };

static const struct gt_launch shape = {
    .grid = {COUNT / GROUP, 1, 1}, .block = {GROUP, 1, 1}, .cluster = {1, 1, 1}};

#define SKIP_UNLESS(condition, why)                                                        \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            print_message("skipped: %s\n", why);                                           \
            skip();                                                                        \
        }                                                                                  \
    } while (0)

static struct gt_device_list devices;

/* The first device of a backend, or NULL. */
static const struct gt_device *first(gemmtune_backend backend) {
    for (size_t i = 0; i < devices.count; i++)
        if (devices.device[i].backend == backend)
            return &devices.device[i];
    return NULL;
}

static void check_device(const struct gt_device *d) {
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    print_message("%s: %s, %s, %s, compiler %s, key %s\n", gt_backend_name(d->backend),
                  d->name, d->arch, d->driver, d->compiler[0] ? d->compiler : d->trouble,
                  key);
    assert_string_not_equal(d->name, "");
    assert_string_not_equal(d->driver, "");
    assert_string_not_equal(d->vendor, "");
    assert_true(d->compiler[0] || d->trouble[0]);
    assert_true(d->units > 0 && d->max_threads > 0 && d->warp > 0 && d->ordinal >= 0);
    assert_true(d->mem_bytes > 0 && d->max_alloc > 0 && d->smem_max > 0);
}

static void test_enumerate(void **state) {
    (void)state;
    for (size_t i = 0; i < devices.count; i++)
        check_device(&devices.device[i]);
    for (int i = 0; i < 2; i++)
        if (devices.missing[i][0])
            print_message("missing: %s\n", devices.missing[i]);
    for (int i = 0; i < 2; i++) /* devices, or a sentence */
        assert_int_equal(first((gemmtune_backend)i) == NULL, devices.missing[i][0] != '\0');
}

static void test_pick(void **state) {
    (void)state;
    size_t index = 7;
    struct gt_err err;
    SKIP_UNLESS(devices.count > 0, "no device");
    assert_int_equal(gt_devices_pick(&index, &devices, "0", &err), GEMMTUNE_OK);
    assert_int_equal(index, 0);
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(&devices.device[0], key);
    assert_int_equal(gt_devices_pick(&index, &devices, key, &err), GEMMTUNE_OK);
    assert_int_equal(index, 0);
    static const char *const wrong[] = {"", "999", "99999999999999999999",
                                        "no such device"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(gt_devices_pick(&index, &devices, wrong[i], &err),
                         GEMMTUNE_EINVAL);
        assert_non_null(strstr(err.line, "0 "));
    }
}

/* ---- a made-up list: the ways to name a device ---- */

static void test_pick_among_several(void **state) {
    (void)state;
    struct gt_device made[] = {
        {.backend = GEMMTUNE_CUDA,
         .name = "NVIDIA H200",
         .uuid = "GPU-aa",
         .pci = "0000:01:00.0"},
        {.backend = GEMMTUNE_CUDA,
         .name = "NVIDIA H200",
         .uuid = "GPU-bb",
         .pci = "0000:02:00.0"},
        {.backend = GEMMTUNE_CUDA,
         .name = "GeForce GTX 1050",
         .uuid = "GPU-cc",
         .units = 5},
        {.backend = GEMMTUNE_CUDA,
         .name = "GeForce GTX 1050 Ti",
         .uuid = "GPU-dd",
         .units = 6},
        {.backend = GEMMTUNE_OPENCL, .name = "pthread-cpu"},
        {.backend = GEMMTUNE_CUDA,
         .name = "TITAN V",
         .uuid = "GPU-ee",
         .pci = "0000:0a:00.0"},
        {.backend = GEMMTUNE_OPENCL,
         .name = "TITAN V",
         .uuid = "ee",
         .pci = "0000:0A:00.0"},
    };
    const struct gt_device_list list = {.count = 7, .device = made};
    static const struct {
        const char *what;
        size_t index; /* 9: refused */
    } rows[] = {
        {"gpu-BB", 1},  {"0000:01:00.0", 0},
        {"PTHREAD", 4}, {"geforce gtx 1050", 2},
        {"1050 ti", 3}, {"1050", 9},
        {"H200", 9},    {"NVIDIA H200", 9},
        {"4", 4},       {"7", 9},
        {"titan", 5},   {"TITAN V", 5},
        {"ee", 6},      {"0000:0a:00.0", 5},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t index = 8;
        struct gt_err err = {""};
        const gt_status status = gt_devices_pick(&index, &list, rows[i].what, &err);
        assert_int_equal(status, rows[i].index == 9 ? GEMMTUNE_EINVAL : GEMMTUNE_OK);
        if (status != GEMMTUNE_OK)
            assert_non_null(strstr(err.line, "GTX 1050"));
        else
            assert_int_equal(index, rows[i].index);
    }
}

static void test_pick_without_devices(void **state) {
    (void)state;
    const struct gt_device_list none = {.missing = {"no driver", "no OpenCL"}};
    size_t index;
    struct gt_err err;
    assert_int_equal(gt_devices_pick(&index, &none, "0", &err), GEMMTUNE_ENODRIVER);
    assert_string_equal(err.line, "no device: no driver; no OpenCL");
}

/* ---- OpenCL ---- */

static const struct gt_opencl *cl;
static cl_context cl_here;
static cl_device_id cl_dev;
static struct gt_gpu *cl_gpu;

static void open_opencl(void) {
    const struct gt_device *d = first(GEMMTUNE_OPENCL);
    if (!d)
        return;
    struct gt_err err;
    cl_platform_id platform;
    cl_int result;
    cl = gt_opencl_api(&err);
    if (gt_opencl_device(&platform, &cl_dev, d->ordinal, &err))
        return;
    cl_here = cl->clCreateContext(NULL, 1, &cl_dev, NULL, NULL, &result);
    const gemmtune_target target = {GEMMTUNE_OPENCL, cl_here, cl_dev};
    if (cl_here && gt_driver_opencl.open(&cl_gpu, &target, &err))
        printf("%s\n", err.line);
}

static const char cl_source[] = "__kernel void fill(__global int *x, int times, int add)\n"
                                "{ int i = get_global_id(0); x[i] = i * times + add; }\n";

/* Builds and loads; the log is the caller's to clear with the image. */
static gt_status cl_load(struct gt_kernel **out, struct gt_image *image, const char *source,
                         const char *entry, const struct gt_launch *launch,
                         struct gt_err *err) {
    *out = NULL;
    const struct gt_device *d = &cl_gpu->device;
    const gt_status status = gt_build(image, &gt_driver_opencl, d, source, NULL, err);
    assert_int_equal(status, GEMMTUNE_OK);
    assert_null(image->bytes);
    return gt_driver_opencl.load(out, cl_gpu, image, source, entry, launch, err);
}

static gt_status cl_launch(const struct gt_kernel *k, const struct gt_launch *launch,
                           cl_mem x, int times, int add, cl_command_queue queue,
                           struct gt_err *err) {
    const struct gt_value_ref args[] = {
        {&x, sizeof(cl_mem)}, {&times, sizeof times}, {&add, sizeof add}};
    return gt_driver_opencl.launch(k, launch, args, 3, queue, err);
}

struct cl_job {
    const struct gt_kernel *kernel;
    int number, wrong;
};

/* One thread: own queue and buffer, the shared kernel, arguments of its own. */
static void *cl_work(void *user) {
    struct cl_job *job = user;
    cl_int result;
    int got[COUNT];
    cl_command_queue queue = cl->clCreateCommandQueue(cl_here, cl_dev, 0, &result);
    cl_mem x = cl->clCreateBuffer(cl_here, GT_CL_MEM_READ_WRITE, sizeof got, NULL, &result);
    for (int round = 0; round < ROUNDS; round++) {
        const int times = job->number + 1, add = 1000 * round + job->number;
        if (cl_launch(job->kernel, &shape, x, times, add, queue, NULL) ||
            cl->clEnqueueReadBuffer(queue, x, GT_CL_TRUE, 0, sizeof got, got, 0, NULL,
                                    NULL))
            job->wrong++;
        for (int i = 0; i < COUNT; i++)
            job->wrong += got[i] != i * times + add;
    }
    cl->clReleaseMemObject(x);
    cl->clReleaseCommandQueue(queue);
    return NULL;
}

static void test_opencl_launch(void **state) {
    (void)state;
    SKIP_UNLESS(cl_gpu, "no OpenCL device");
    struct gt_err err;
    struct gt_image image;
    struct cl_job job = {.number = 2};
    struct gt_kernel *k;
    assert_int_equal(cl_load(&k, &image, cl_source, "fill", &shape, &err), GEMMTUNE_OK);
    job.kernel = k;
    (void)cl_work(&job);
    assert_int_equal(job.wrong, 0);
    assert_non_null(image.log);
    gt_driver_opencl.unload(k);
    gt_image_clear(&image);
}

/* Two kernels of one program; what the second is refused for is as for the first. */
static void test_opencl_load_also(void **state) {
    static const char two[] = "__kernel void fill(__global int *x, int times, int add)\n"
                              "{ int i = get_global_id(0); x[i] = i * times + add; }\n"
                              "__kernel void twice(__global int *x, int times, int add)\n"
                              "{ x[get_global_id(0)] *= 2; }\n";
    const struct gt_launch wide = {.grid = {1, 1, 1}, .block = {1 << 20, 1, 1}};
    struct gt_err err;
    struct gt_image image;
    struct gt_kernel *fill, *twice, *none;
    cl_int result;
    int got[COUNT];
    (void)state;
    SKIP_UNLESS(cl_gpu, "no OpenCL device");
    const struct gt_driver *driver = &gt_driver_opencl;
    assert_int_equal(cl_load(&fill, &image, two, "fill", &shape, &err), GEMMTUNE_OK);
    assert_int_equal(driver->load_also(&twice, cl_gpu, fill, "twice", &shape, &err),
                     GEMMTUNE_OK);
    assert_int_equal(driver->load_also(&none, cl_gpu, fill, "thrice", &shape, &err),
                     GEMMTUNE_EBUILD);
    assert_non_null(strstr(err.line, "thrice"));
    assert_null(none);
    assert_int_equal(driver->load_also(&none, cl_gpu, fill, "twice", &wide, &err),
                     GEMMTUNE_EBUILD);
    assert_null(none);
    cl_command_queue queue = cl->clCreateCommandQueue(cl_here, cl_dev, 0, &result);
    cl_mem x = cl->clCreateBuffer(cl_here, GT_CL_MEM_READ_WRITE, sizeof got, NULL, &result);
    assert_int_equal(cl_launch(fill, &shape, x, 3, 5, queue, &err), GEMMTUNE_OK);
    assert_int_equal(cl_launch(twice, &shape, x, 3, 5, queue, &err), GEMMTUNE_OK);
    assert_int_equal(
        cl->clEnqueueReadBuffer(queue, x, GT_CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
        0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(got[i], 2 * (3 * i + 5));
    driver->unload(twice);
    assert_int_equal(cl_launch(fill, &shape, x, 1, 0, queue, &err), GEMMTUNE_OK);
    cl->clReleaseMemObject(x);
    cl->clReleaseCommandQueue(queue);
    driver->unload(fill);
    gt_image_clear(&image);
}

/* More threads than a kernel has argument sets. */
static void test_opencl_threads(void **state) {
    (void)state;
    SKIP_UNLESS(cl_gpu, "no OpenCL device");
    struct gt_err err;
    struct gt_image image;
    struct gt_kernel *k;
    struct cl_job job[THREADS];
    pthread_t thread[THREADS];
    assert_int_equal(cl_load(&k, &image, cl_source, "fill", &shape, &err), GEMMTUNE_OK);
    for (int i = 0; i < THREADS; i++) {
        job[i] = (struct cl_job){.kernel = k, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, cl_work, &job[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(job[i].wrong, 0);
    }
    gt_driver_opencl.unload(k);
    gt_image_clear(&image);
}

static void test_opencl_refusals(void **state) {
    (void)state;
    SKIP_UNLESS(cl_gpu, "no OpenCL device");
    const struct gt_launch wide = {.grid = {1, 1, 1}, .block = {1 << 20, 1, 1}};
    const struct {
        const char *source, *entry;
        const struct gt_launch *launch;
        const char *says;
        bool may_pass;
    } rows[] = {
        {"__kernel void fill(__global int *x)\n{ x[0] = nowhere; }\n", "fill", &shape,
         "nowhere", false},
        {cl_source, "absent", &shape, "absent", false},
        {cl_source, "fill", &wide, "work-items", false},
        /* PoCL 3.1 tells the size of local arrays, PoCL 5.0 does not. */
        {"__kernel void fill(__global int *x) { __local int big[16777216];\n"
         "int i = get_local_id(0); big[i * 7] = x[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
         "x[i] = big[77 - i]; }\n",
         "fill", &shape, "local memory", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        struct gt_image image;
        struct gt_kernel *k;
        const gt_status status =
            cl_load(&k, &image, rows[i].source, rows[i].entry, rows[i].launch, &err);
        if (status == GEMMTUNE_OK && rows[i].may_pass) {
            gt_driver_opencl.unload(k);
            gt_image_clear(&image);
            continue;
        }
        assert_int_equal(status, GEMMTUNE_EBUILD);
        assert_null(k);
        print_message("%s\n", err.line);
        assert_non_null(strstr(err.line, rows[i].says));
        assert_non_null(image.log);
        if (i == 0)
            assert_non_null(strstr(image.log, "nowhere"));
        gt_image_clear(&image);
    }
}

static void test_opencl_bad_launches(void **state) {
    (void)state;
    SKIP_UNLESS(cl_gpu, "no OpenCL device");
    struct gt_err err;
    struct gt_image image;
    struct gt_kernel *k;
    cl_int result;
    const struct gt_launch empty = {.grid = {0, 1, 1}, .block = {GROUP, 1, 1}};
    const struct gt_launch huge = {.grid = {INT64_MAX, 1, 1}, .block = {GROUP, 1, 1}};
    assert_int_equal(cl_load(&k, &image, cl_source, "fill", &shape, &err), GEMMTUNE_OK);
    cl_command_queue queue = cl->clCreateCommandQueue(cl_here, cl_dev, 0, &result);
    cl_mem x = cl->clCreateBuffer(cl_here, GT_CL_MEM_READ_WRITE, 4 * COUNT, NULL, &result);
    assert_int_equal(cl_launch(k, &empty, x, 1, 1, queue, &err), GEMMTUNE_EINVAL);
    assert_int_equal(cl_launch(k, &huge, x, 1, 1, queue, &err), GEMMTUNE_EINVAL);
    assert_int_equal(cl_launch(k, &shape, x, 1, 1, NULL, &err), GEMMTUNE_EDEVICE);
    assert_string_equal(err.line, "clEnqueueNDRangeKernel: CL_INVALID_COMMAND_QUEUE");
    const struct gt_launch wide = {.grid = {1, 1, 1}, .block = {1 << 20, 1, 1}};
    assert_int_equal(cl_launch(k, &wide, x, 1, 1, queue, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "clEnqueueNDRangeKernel: CL_INVALID_WORK_"));
    const struct gt_value_ref four[] = {
        {&x, sizeof(cl_mem)}, {&result, 4}, {&result, 4}, {&result, 4}};
    assert_int_equal(gt_driver_opencl.launch(k, &shape, four, 4, queue, &err),
                     GEMMTUNE_EDEVICE);
    assert_non_null(strstr(err.line, "argument 4"));
    cl->clReleaseMemObject(x);
    cl->clReleaseCommandQueue(queue);
    gt_driver_opencl.unload(k);
    gt_image_clear(&image);
}

static void test_opencl_open(void **state) {
    (void)state;
    SKIP_UNLESS(cl_gpu, "no OpenCL device");
    struct gt_err err;
    struct gt_gpu *gpu;
    const gemmtune_target none = {GEMMTUNE_OPENCL, NULL, NULL};
    const gemmtune_target alone = {GEMMTUNE_OPENCL, cl_here, NULL};
    assert_int_equal(gt_driver_opencl.open(&gpu, &none, &err), GEMMTUNE_EINVAL);
    assert_null(gpu);
    assert_int_equal(gt_driver_opencl.open(&gpu, &alone, &err), GEMMTUNE_OK);
    assert_ptr_equal(gpu->driver, &gt_driver_opencl);
    assert_string_equal(gpu->device.name, first(GEMMTUNE_OPENCL)->name);
    assert_int_equal(gpu->device.ordinal, first(GEMMTUNE_OPENCL)->ordinal);
    gt_driver_opencl.close(gpu);
    cl_platform_id platform;
    cl_device_id device;
    assert_int_equal(gt_opencl_device(&platform, &device, 999, &err), GEMMTUNE_ENODRIVER);
}

/* ---- NVRTC, no device needed ---- */

static const char cuda_source[] =
    "extern \"C\" __global__ void fill(int *x, int times, int add)\n"
    "{ __shared__ int t[64]; int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  t[threadIdx.x] = i * times; __syncthreads(); x[i] = t[threadIdx.x] + add; }\n";

static struct gt_device made_up(int cc) {
    struct gt_device d = {.backend = GEMMTUNE_CUDA, .cc = cc};
    snprintf(d.arch, sizeof d.arch, "sm_%d", cc);
    return d;
}

/* Compiles for cc and checks what came out. */
static void check_nvrtc(int cc, const char *arch) {
    const struct gt_device d = made_up(cc);
    struct gt_image image;
    struct gt_err err = {""};
    char text[GT_TOOLCHAIN_MAX];
    assert_int_equal(gt_driver_cuda.toolchain(text, &d, &err), GEMMTUNE_OK);
    assert_non_null(strstr(text, arch));
    const gt_status status = gt_driver_cuda.build(&image, &d, cuda_source, &err);
    if (status != GEMMTUNE_OK)
        print_message("%s\n%s\n", err.line, image.log);
    assert_int_equal(status, GEMMTUNE_OK);
    print_message("%s: %zu bytes, %d registers, %d spilled, %d shared\n", text, image.size,
                  image.registers, image.spill_bytes, image.smem_bytes);
    assert_memory_equal(image.bytes, "\177ELF", 4);
    assert_in_range(image.registers, 4, 64);
    assert_int_equal(image.spill_bytes, 0);
    assert_int_equal(image.smem_bytes, 256);
    assert_string_equal(image.log, "");
    gt_image_clear(&image);
}

/* Whether an NVRTC is here that serves cc. */
static bool compiles_for(int cc) {
    const struct gt_device d = made_up(cc);
    char text[GT_TOOLCHAIN_MAX];
    return gt_driver_cuda.toolchain(text, &d, NULL) == GEMMTUNE_OK;
}

static void test_nvrtc_builds(void **state) {
    (void)state;
    static const struct {
        int cc;
        const char *arch;
    } rows[] = {{75, "=sm_75 "},    {86, "=sm_86 "}, {90, "=sm_90a "},
                {120, "=sm_120a "}, {61, "=sm_61 "}, {52, "=sm_52 "}};
    int done = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (compiles_for(rows[i].cc)) {
            check_nvrtc(rows[i].cc, rows[i].arch);
            done++;
        } else {
            struct gt_err err;
            const struct gt_device d = made_up(rows[i].cc);
            char text[GT_TOOLCHAIN_MAX];
            (void)gt_driver_cuda.toolchain(text, &d, &err);
            print_message("sm_%d left out: %s\n", rows[i].cc, err.line);
        }
    }
    SKIP_UNLESS(done > 0, "no NVRTC");
}

static void test_nvrtc_complaint(void **state) {
    (void)state;
    SKIP_UNLESS(compiles_for(75), "no NVRTC");
    const struct gt_device d = made_up(75);
    struct gt_image image;
    struct gt_err err;
    assert_int_equal(gt_driver_cuda.build(&image, &d,
                                          "#line 7 \"tile/tile.cl\"\n"
                                          "extern \"C\" __global__ void k(int *x) {\n"
                                          "int unused; x[0] = nowhere; }\n",
                                          &err),
                     GEMMTUNE_EBUILD);
    assert_string_equal(err.line,
                        "tile/tile.cl(8): error: identifier \"nowhere\" is undefined");
    assert_non_null(strstr(image.log, "nowhere"));
    assert_null(image.bytes);
    gt_image_clear(&image);
}

/* A warning is the log; what ptxas -v adds is not. */
static void test_nvrtc_warning(void **state) {
    (void)state;
    SKIP_UNLESS(compiles_for(75), "no NVRTC");
    const struct gt_device d = made_up(75);
    struct gt_image image;
    struct gt_err err;
    assert_int_equal(
        gt_driver_cuda.build(
            &image, &d, "extern \"C\" __global__ void k(int *x) { int unused; }\n", &err),
        GEMMTUNE_OK);
    assert_non_null(strstr(image.log, "unused"));
    assert_null(strstr(image.log, "ptxas"));
    gt_image_clear(&image);
}

/* An array that is indexed at run time lives in local memory, but nothing is spilled;
 * with 64 values alive and 255 threads' worth of registers for 16, something is. */
static void test_nvrtc_spills(void **state) {
    (void)state;
    SKIP_UNLESS(compiles_for(75), "no NVRTC");
    const struct gt_device d = made_up(75);
    struct gt_image image;
    struct gt_err err;
    static const char source[] =
        "extern \"C\" __global__ __launch_bounds__(1024, 1) void k(float *x) {\n"
        "float a[160];\n"
        "#pragma unroll\nfor (int i = 0; i < 160; i++) a[i] = x[i * 33 + threadIdx.x];\n"
        "__syncthreads();\n"
        "#pragma unroll\nfor (int i = 0; i < 160; i++) x[i * 33 + threadIdx.x] = a[159 - "
        "i];\n"
        "}\n";
    assert_int_equal(gt_driver_cuda.build(&image, &d, source, &err), GEMMTUNE_OK);
    print_message("%d registers, %d bytes spilled\n", image.registers, image.spill_bytes);
    assert_true(image.spill_bytes > 0 && image.registers <= 64);
    gt_image_clear(&image);
}

static void *compile_work(void *user) {
    int *wrong = user;
    const struct gt_device d = made_up(75);
    for (int i = 0; i < 4; i++) {
        struct gt_image image;
        struct gt_err err = {""};
        if (gt_driver_cuda.build(&image, &d, cuda_source, &err) ||
            image.smem_bytes != 256) {
            print_message("%s; %d bytes shared; %s\n", err.line, image.smem_bytes,
                          image.log);
            ++*wrong;
        }
        gt_image_clear(&image);
    }
    return NULL;
}

static void test_nvrtc_threads(void **state) {
    (void)state;
    SKIP_UNLESS(compiles_for(75), "no NVRTC");
    pthread_t thread[4];
    int wrong[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, compile_work, &wrong[i]), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(wrong[i], 0);
    }
}

/* ---- CUDA, on a GPU ---- */

static const struct gt_cuda *cu;
static CUcontext cu_context;
static struct gt_gpu *cu_gpu;

static void open_cuda(void) {
    const struct gt_device *d = first(GEMMTUNE_CUDA);
    CUdevice device;
    CUcontext popped;
    struct gt_err err;
    if (!d || !d->compiler[0])
        return;
    cu = gt_cuda_api(&err);
    if (cu->cuDeviceGet(&device, d->ordinal) || cu->cuCtxCreate(&cu_context, 0, device) ||
        cu->cuCtxPopCurrent(&popped))
        return;
    const gemmtune_target target = {GEMMTUNE_CUDA, cu_context, NULL};
    if (gt_driver_cuda.open(&cu_gpu, &target, &err))
        printf("%s\n", err.line);
}

static CUcontext current_context(void) {
    CUcontext now = NULL;
    assert_int_equal(cu->cuCtxGetCurrent(&now), 0);
    return now;
}

static gt_status cu_load(struct gt_kernel **out, struct gt_image *image, const char *source,
                         const char *entry, const struct gt_launch *launch,
                         struct gt_err *err) {
    *out = NULL;
    const struct gt_device *d = &cu_gpu->device;
    const gt_status status = gt_build(image, &gt_driver_cuda, d, source, NULL, err);
    return status != GEMMTUNE_OK
               ? status
               : gt_driver_cuda.load(out, cu_gpu, image, source, entry, launch, err);
}

struct cu_job {
    const struct gt_kernel *kernel;
    int number, wrong;
    bool current; /* whether the context is current in the thread */
};

static void *cu_work(void *user) {
    struct cu_job *job = user;
    int got[COUNT];
    CUstream stream = NULL;
    CUdeviceptr x = 0;
    CUcontext popped;
    job->wrong += cu->cuCtxPushCurrent(cu_context) != 0;
    job->wrong += cu->cuStreamCreate(&stream, GT_CU_STREAM_NON_BLOCKING) != 0;
    job->wrong += cu->cuMemAlloc(&x, sizeof got) != 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int times = job->number + 1, add = 1000 * round + job->number;
        const struct gt_value_ref args[] = {
            {&x, sizeof x}, {&times, sizeof times}, {&add, sizeof add}};
        if (!job->current)
            (void)cu->cuCtxPopCurrent(&popped);
        job->wrong +=
            gt_driver_cuda.launch(job->kernel, &shape, args, 3, stream, NULL) != 0;
        if (!job->current)
            (void)cu->cuCtxPushCurrent(cu_context);
        job->wrong += cu->cuMemcpyDtoHAsync(got, x, sizeof got, stream) != 0;
        job->wrong += cu->cuStreamSynchronize(stream) != 0;
        for (int i = 0; i < COUNT; i++)
            job->wrong += got[i] != i * times + add;
    }
    (void)cu->cuMemFree(x);
    (void)cu->cuStreamDestroy(stream);
    (void)cu->cuCtxPopCurrent(&popped);
    return NULL;
}

static void test_cuda_launch(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    struct gt_err err = {""};
    struct gt_image image;
    struct gt_kernel *k;
    assert_null(current_context());
    assert_int_equal(cu_load(&k, &image, cuda_source, "fill", &shape, &err), GEMMTUNE_OK);
    assert_null(current_context());
    assert_in_range(image.registers, 4, 64);
    assert_int_equal(image.smem_bytes, 256);
    for (int i = 0; i < 2; i++) {
        struct cu_job job = {.kernel = k, .number = 2, .current = i == 1};
        (void)cu_work(&job);
        assert_int_equal(job.wrong, 0);
        assert_null(current_context());
    }
    gt_driver_cuda.unload(k);
    gt_image_clear(&image);
}

static void test_cuda_threads(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    struct gt_err err;
    struct gt_image image;
    struct gt_kernel *k;
    struct cu_job job[THREADS];
    pthread_t thread[THREADS];
    assert_int_equal(cu_load(&k, &image, cuda_source, "fill", &shape, &err), GEMMTUNE_OK);
    for (int i = 0; i < THREADS; i++) {
        job[i] = (struct cu_job){.kernel = k, .number = i, .current = i % 2 == 0};
        assert_int_equal(pthread_create(&thread[i], NULL, cu_work, &job[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(job[i].wrong, 0);
    }
    gt_driver_cuda.unload(k);
    gt_image_clear(&image);
}

static void test_cuda_open(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    struct gt_err err;
    struct gt_gpu *gpu;
    CUcontext popped;
    const gemmtune_target current = {GEMMTUNE_CUDA, NULL, NULL};
    assert_int_equal(gt_driver_cuda.open(&gpu, &current, &err), GEMMTUNE_EDEVICE);
    assert_non_null(strstr(err.line, "no CUDA context is current"));
    assert_null(gpu);
    assert_int_equal(cu->cuCtxPushCurrent(cu_context), 0);
    assert_int_equal(gt_driver_cuda.open(&gpu, &current, &err), GEMMTUNE_OK);
    assert_ptr_equal(current_context(), cu_context);
    assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
    assert_string_equal(gpu->device.uuid, first(GEMMTUNE_CUDA)->uuid);
    assert_memory_equal(first(GEMMTUNE_CUDA)->uuid, "GPU-", 4);
    gt_driver_cuda.close(gpu);
}

/* Dynamic shared memory up to the device's limit works; one byte more does not build. */
static void test_cuda_shared_memory(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    static const char source[] =
        "extern \"C\" __global__ void fill(int *x, int times, int add)\n"
        "{ extern __shared__ int t[]; int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  t[threadIdx.x] = i * times; __syncthreads(); x[i] = t[threadIdx.x] + add; }\n";
    struct gt_launch most = shape;
    most.smem_bytes = first(GEMMTUNE_CUDA)->smem_max;
    struct gt_err err;
    struct gt_image image;
    struct gt_kernel *k;
    assert_int_equal(cu_load(&k, &image, source, "fill", &most, &err), GEMMTUNE_OK);
    int got[COUNT], times = 3, add = 5;
    CUdeviceptr x;
    CUcontext popped;
    assert_int_equal(cu->cuCtxPushCurrent(cu_context), 0);
    assert_int_equal(cu->cuMemAlloc(&x, sizeof got), 0);
    const struct gt_value_ref args[] = {{&x, sizeof x}, {&times, 4}, {&add, 4}};
    assert_int_equal(gt_driver_cuda.launch(k, &most, args, 3, NULL, &err), GEMMTUNE_OK);
    assert_int_equal(cu->cuMemcpyDtoH(got, x, sizeof got), 0);
    assert_int_equal(got[100], 305);
    assert_int_equal(cu->cuMemFree(x), 0);
    assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
    gt_driver_cuda.unload(k);
    gt_image_clear(&image);
    most.smem_bytes++;
    assert_int_equal(cu_load(&k, &image, source, "fill", &most, &err), GEMMTUNE_EBUILD);
    assert_null(k);
    print_message("%s\n", err.line);
    gt_image_clear(&image);
}

static void test_cuda_refusals(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    struct gt_err err;
    struct gt_image image;
    struct gt_kernel *k;
    assert_int_equal(cu_load(&k, &image, cuda_source, "absent", &shape, &err),
                     GEMMTUNE_EBUILD);
    print_message("%s\n", err.line);
    gt_image_clear(&image);
    struct gt_image junk = {.bytes = calloc(1, 64), .size = 64, .log = calloc(1, 1)};
    memcpy(junk.bytes, "no cubin", 8);
    assert_int_equal(gt_driver_cuda.load(&k, cu_gpu, &junk, "", "fill", &shape, &err),
                     GEMMTUNE_EBUILD);
    print_message("%s\n", err.line);
    gt_image_clear(&junk);
}

static void test_cuda_cluster(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    SKIP_UNLESS(first(GEMMTUNE_CUDA)->cc >= 90, "clusters start at sm_90");
    static const char source[] =
        "extern \"C\" __global__ void fill(int *x, int times, int add) { unsigned n;\n"
        "asm volatile(\"mov.u32 %0, %%cluster_nctaid.x;\" : \"=r\"(n));\n"
        "int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = (int)n * times + add; }\n";
    static const int sizes[] = {1, 2, 8};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct gt_launch launch = shape;
        launch.cluster[0] = sizes[s];
        struct gt_err err = {""};
        struct gt_image image;
        struct gt_kernel *k;
        int got[COUNT], times = 10, add = 1;
        CUdeviceptr x;
        CUcontext popped;
        assert_int_equal(cu_load(&k, &image, source, "fill", &launch, &err), GEMMTUNE_OK);
        assert_int_equal(cu->cuCtxPushCurrent(cu_context), 0);
        assert_int_equal(cu->cuMemAlloc(&x, sizeof got), 0);
        const struct gt_value_ref args[] = {{&x, sizeof x}, {&times, 4}, {&add, 4}};
        assert_int_equal(gt_driver_cuda.launch(k, &launch, args, 3, NULL, &err),
                         GEMMTUNE_OK);
        assert_int_equal(cu->cuMemcpyDtoH(got, x, sizeof got), 0);
        assert_int_equal(got[COUNT - 1], 10 * sizes[s] + 1);
        assert_int_equal(cu->cuMemFree(x), 0);
        assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
        gt_driver_cuda.unload(k);
        gt_image_clear(&image);
    }
}

/* The second kernel may be launched while the first still works: then its wait is what
 * makes the result right, and the driver takes the launch. */
static void test_cuda_overlap(void **state) {
    (void)state;
    SKIP_UNLESS(cu_gpu, "no CUDA device");
    SKIP_UNLESS(first(GEMMTUNE_CUDA)->cc >= 90, "programmatic launches start at sm_90");
    static const char source[] =
        "extern \"C\" __global__ void slow(int *x, int times, int add) {\n"
        "asm volatile(\"griddepcontrol.launch_dependents;\" ::: \"memory\");\n"
        "const long long begin = clock64();\n"
        "for (int i = 0; i < 1000000 && clock64() - begin < 100000; i++) {}\n"
        "x[blockIdx.x * blockDim.x + threadIdx.x] = times; }\n"
        "extern \"C\" __global__ void more(int *x, int times, int add) {\n"
        "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
        "const int all = gridDim.x * blockDim.x;\n" /* of another block of the first kernel
                                                     */
        "const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "x[all + i] = x[all - 1 - i] + add; }\n";
    struct gt_launch launch = shape;
    struct gt_err err = {""};
    struct gt_image image;
    struct gt_kernel *slow, *more;
    int got[2 * COUNT] = {0}, add = 1;
    CUdeviceptr x;
    CUcontext popped;
    assert_int_equal(cu_load(&slow, &image, source, "slow", &launch, &err), GEMMTUNE_OK);
    assert_int_equal(gt_driver_cuda.load_also(&more, cu_gpu, slow, "more", &launch, &err),
                     GEMMTUNE_OK);
    assert_int_equal(cu->cuCtxPushCurrent(cu_context), 0);
    assert_int_equal(cu->cuMemAlloc(&x, sizeof got), 0);
    for (int round = 1; round <= 20; round++) {
        const struct gt_value_ref args[] = {{&x, sizeof x}, {&round, 4}, {&add, 4}};
        launch.overlaps = false;
        assert_int_equal(gt_driver_cuda.launch(slow, &launch, args, 3, NULL, &err),
                         GEMMTUNE_OK);
        launch.overlaps = true;
        assert_int_equal(gt_driver_cuda.launch(more, &launch, args, 3, NULL, &err),
                         GEMMTUNE_OK);
        assert_int_equal(cu->cuMemcpyDtoH(got, x, sizeof got), 0);
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(got[COUNT + i], round + 1);
    }
    assert_int_equal(cu->cuMemFree(x), 0);
    assert_int_equal(cu->cuCtxPopCurrent(&popped), 0);
    gt_driver_cuda.unload(more);
    gt_driver_cuda.unload(slow);
    gt_image_clear(&image);
}

/* ---- missing libraries: this program again, without them ---- */

static void ignore(void *user, const struct gt_device *d) {
    ++*(int *)user;
    (void)d;
}

/* Prints what the drivers say of themselves: a line each. */
static int probe_drivers(void) {
    for (size_t i = 0; gt_drivers[i]; i++) {
        char missing[512];
        struct gt_err err = {""};
        int count = 0;
        const gt_status status = gt_drivers[i]->enumerate(ignore, &count, missing, &err);
        const gemmtune_target target = {gt_drivers[i]->backend, &count, NULL};
        struct gt_gpu *gpu = NULL;
        const bool absent = missing[0] && count == 0;
        const gt_status open =
            absent ? gt_drivers[i]->open(&gpu, &target, &err) : GEMMTUNE_OK;
        printf("%s: status %d, %d devices, open %d, %s\n",
               gt_backend_name(gt_drivers[i]->backend), status, count, open, missing);
    }
    return 0;
}

/* Prints whether cc 61 can be built for, and builds. */
static int probe_pascal(void) {
    const struct gt_device d = made_up(61);
    struct gt_image image;
    struct gt_err err = {""};
    const gt_status status = gt_driver_cuda.build(&image, &d, cuda_source, &err);
    printf("status %d, %zu bytes, %d registers, log '%s', %s\n", status, image.size,
           image.registers, image.log, err.line);
    gt_image_clear(&image);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} probes[] = {{"drivers", probe_drivers}, {"pascal", probe_pascal}};

/* What `this program name` prints with variable=value in the environment. */
static const char *probe(const char *name, const char *variable, const char *value) {
    static char text[4096];
    char self[1024] = "", command[1200];
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    const char *was = getenv(variable);
    char kept[1024];
    snprintf(kept, sizeof kept, "%s", was ? was : "");
    assert_int_equal(setenv(variable, value, 1), 0);
    snprintf(command, sizeof command, "'%s' %s", self, name);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    assert_int_equal(pclose(f), 0);
    assert_int_equal(was ? setenv(variable, kept, 1) : unsetenv(variable), 0);
    print_message("%s=%s %s: %s", variable, value, name, text);
    return text;
}

static void test_missing_libraries(void **state) {
    (void)state;
    const char *text = probe("drivers", "GEMMTUNE_LIBCUDA", "/nonexistent/libcuda.so");
    assert_non_null(strstr(text, "cuda: status 0, 0 devices, open -6, "
                                 "the CUDA driver is not installed"));
    text = probe("drivers", "GEMMTUNE_LIBCUDA", "libm.so.6");
    assert_non_null(strstr(text, "cuda: status 0, 0 devices, open -6, "
                                 "the CUDA driver is too old: it has no cuInit"));
    text = probe("drivers", "GEMMTUNE_LIBOPENCL", "/nonexistent/libOpenCL.so");
    assert_non_null(strstr(text, "opencl: status 0, 0 devices, open -6, "
                                 "OpenCL is not installed"));
    text = probe("pascal", "GEMMTUNE_LIBNVRTC", "/nonexistent/libnvrtc.so");
    assert_non_null(strstr(text, "status -12, 0 bytes, -1 registers, log '', "
                                 "no CUDA compiler is installed"));
}

/* sm_61: built by an NVRTC that knows it, else one sentence that names the one to get. */
static void test_pascal(void **state) {
    (void)state;
    SKIP_UNLESS(compiles_for(75), "no NVRTC");
    const char *given = getenv("GEMMTUNE_LIBNVRTC");
    const char *text = probe("pascal", "GEMMTUNE_LIBNVRTC", given ? given : "");
    if (compiles_for(61))
        assert_memory_equal(text, "status 0, ", 10);
    else
        assert_non_null(strstr(text, "sm_61 needs NVRTC 12.9 or older (package "
                                     "nvidia-cuda-nvrtc-cu12 on PyPI, or CUDA 12.9)"));
}

/* ---- main ---- */

static int set_up(void **state) {
    (void)state;
    struct gt_err err = {""};
    if (gt_devices_list(&devices, &err)) {
        print_error("%s\n", err.line);
        return -1;
    }
    open_opencl();
    open_cuda();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    gt_driver_opencl.close(cl_gpu);
    gt_driver_cuda.close(cu_gpu);
    if (cl_here)
        (void)cl->clReleaseContext(cl_here);
    if (cu_context)
        (void)cu->cuCtxDestroy(cu_context);
    gt_devices_clear(&devices);
    return 0;
}

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof probes / sizeof *probes; i++)
        if (strcmp(argv[1], probes[i].name) == 0)
            return probes[i].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumerate),
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_pick_among_several),
        cmocka_unit_test(test_pick_without_devices),
        cmocka_unit_test(test_opencl_launch),
        cmocka_unit_test(test_opencl_load_also),
        cmocka_unit_test(test_opencl_threads),
        cmocka_unit_test(test_opencl_refusals),
        cmocka_unit_test(test_opencl_bad_launches),
        cmocka_unit_test(test_opencl_open),
        cmocka_unit_test(test_nvrtc_builds),
        cmocka_unit_test(test_nvrtc_complaint),
        cmocka_unit_test(test_nvrtc_warning),
        cmocka_unit_test(test_nvrtc_spills),
        cmocka_unit_test(test_nvrtc_threads),
        cmocka_unit_test(test_cuda_launch),
        cmocka_unit_test(test_cuda_threads),
        cmocka_unit_test(test_cuda_open),
        cmocka_unit_test(test_cuda_shared_memory),
        cmocka_unit_test(test_cuda_refusals),
        cmocka_unit_test(test_cuda_cluster),
        cmocka_unit_test(test_cuda_overlap),
        cmocka_unit_test(test_missing_libraries),
        cmocka_unit_test(test_pascal),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
