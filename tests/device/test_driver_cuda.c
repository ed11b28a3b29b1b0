/* SPDX-License-Identifier: Apache-2.0 */
/* check: nvrtc */
/* NVRTC, which compiles without a GPU, and the CUDA driver, which needs one. A test without
 * its library or device says so and is skipped. */
#include "tests/device/drivers.h"

/* ---- NVRTC, no device needed ---- */

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
        job->wrong += gt_driver_cuda.launch(job->kernel, &shape, args, 3, stream,
                                            (struct gt_event_order){0}, NULL) != 0;
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
    const gemmtune_target current = {.struct_size = sizeof current,
                                     .backend = GEMMTUNE_CUDA};
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
    assert_int_equal(
        gt_driver_cuda.launch(k, &most, args, 3, NULL, (struct gt_event_order){0}, &err),
        GEMMTUNE_OK);
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
        assert_int_equal(gt_driver_cuda.launch(k, &launch, args, 3, NULL,
                                               (struct gt_event_order){0}, &err),
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
        assert_int_equal(gt_driver_cuda.launch(slow, &launch, args, 3, NULL,
                                               (struct gt_event_order){0}, &err),
                         GEMMTUNE_OK);
        launch.overlaps = true;
        assert_int_equal(gt_driver_cuda.launch(more, &launch, args, 3, NULL,
                                               (struct gt_event_order){0}, &err),
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

/* ---- main ---- */

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
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = GEMMTUNE_CUDA, .context = cu_context};
    if (gt_driver_cuda.open(&cu_gpu, &target, &err))
        printf("%s\n", err.line);
}

static int set_up(void **state) {
    const int status = list_devices(state);
    if (status == 0)
        open_cuda();
    return status;
}

static int tear_down(void **state) {
    gt_driver_cuda.close(cu_gpu);
    if (cu_context)
        (void)cu->cuCtxDestroy(cu_context);
    return clear_devices(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nvrtc_builds),       cmocka_unit_test(test_nvrtc_complaint),
        cmocka_unit_test(test_nvrtc_warning),      cmocka_unit_test(test_nvrtc_spills),
        cmocka_unit_test(test_nvrtc_threads),      cmocka_unit_test(test_cuda_launch),
        cmocka_unit_test(test_cuda_threads),       cmocka_unit_test(test_cuda_open),
        cmocka_unit_test(test_cuda_shared_memory), cmocka_unit_test(test_cuda_refusals),
        cmocka_unit_test(test_cuda_cluster),       cmocka_unit_test(test_cuda_overlap),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
