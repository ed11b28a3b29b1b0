/* SPDX-License-Identifier: Apache-2.0 */
/* check: platform */
/* The OpenCL driver: build, load, launch, refusals. It runs on any machine with PoCL. */
#include "tests/device/drivers.h"

/* ---- OpenCL ---- */

static const struct gt_opencl *cl;

static cl_context cl_here;

static cl_device_id cl_dev;

static struct gt_gpu *cl_gpu;

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
    return gt_driver_opencl.launch(k, launch, args, 3, queue, (struct gt_event_order){0},
                                   err);
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
        if (cl_launch(job->kernel, &shape, x, times, add, queue, NULL) != GEMMTUNE_OK ||
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
    assert_int_equal(gt_driver_opencl.launch(k, &shape, four, 4, queue,
                                             (struct gt_event_order){0}, &err),
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
    const gemmtune_target none = {.struct_size = sizeof none, .backend = GEMMTUNE_OPENCL};
    const gemmtune_target alone = {
        .struct_size = sizeof alone, .backend = GEMMTUNE_OPENCL, .context = cl_here};
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

/* ---- main ---- */

static void open_opencl(void) {
    const struct gt_device *d = first(GEMMTUNE_OPENCL);
    if (!d)
        return;
    struct gt_err err;
    cl_platform_id platform;
    cl_int result;
    cl = gt_opencl_api(&err);
    if (gt_opencl_device(&platform, &cl_dev, d->ordinal, &err) != GEMMTUNE_OK)
        return;
    cl_here = cl->clCreateContext(NULL, 1, &cl_dev, NULL, NULL, &result);
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_OPENCL,
                                    .context = cl_here,
                                    .device = cl_dev};
    if (cl_here && gt_driver_opencl.open(&cl_gpu, &target, &err))
        printf("%s\n", err.line);
}

static int set_up(void **state) {
    const int status = list_devices(state);
    if (status == 0)
        open_opencl();
    return status;
}

static int tear_down(void **state) {
    gt_driver_opencl.close(cl_gpu);
    if (cl_here)
        (void)cl->clReleaseContext(cl_here);
    return clear_devices(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opencl_launch),       cmocka_unit_test(test_opencl_load_also),
        cmocka_unit_test(test_opencl_threads),      cmocka_unit_test(test_opencl_refusals),
        cmocka_unit_test(test_opencl_bad_launches), cmocka_unit_test(test_opencl_open),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
