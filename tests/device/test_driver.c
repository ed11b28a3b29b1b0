/* SPDX-License-Identifier: Apache-2.0 */
/* check: nvrtc */
/*
 * The drivers of this machine: lists of devices, ways to name one, and every sentence about
 * missing parts. test_driver_opencl.c and test_driver_cuda.c build and launch.
 *
 * A process opens a library only once. Tests that need another library therefore run this
 * program again with an argument: see probes[].
 */
#include "tests/device/drivers.h"

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
        const gemmtune_target target = {.struct_size = sizeof target,
                                        .backend = gt_drivers[i]->backend,
                                        .context = &count};
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

/* The output of `this program name` with variable=value in the environment. */
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
                                 "libm.so.6 is no CUDA driver, or is too old: it has no "
                                 "cuInit"));
    text = probe("drivers", "GEMMTUNE_LIBOPENCL", "/nonexistent/libOpenCL.so");
    assert_non_null(strstr(text, "opencl: status 0, 0 devices, open -6, "
                                 "OpenCL is not installed"));
    assert_non_null(strstr(text, "/nonexistent/libOpenCL.so"));
    text = probe("drivers", "GEMMTUNE_LIBOPENCL", "libm.so.6");
    assert_non_null(strstr(text, "opencl: status 0, 0 devices, open -6, "
                                 "libm.so.6 is no OpenCL library, or is older than 1.2: it "
                                 "has no clGetPlatformIDs"));
    text = probe("pascal", "GEMMTUNE_LIBNVRTC", "/nonexistent/libnvrtc.so");
    assert_non_null(strstr(text, "status -12, 0 bytes, -1 registers, log '', "
                                 "no CUDA compiler: libnvrtc is not installed"));
}

/* A file that is there and does not load is not "not installed", and is named. */
static void test_broken_libraries(void **state) {
    const char *tmp = getenv("TMPDIR");
    char path[512], said[640];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/broken.so", tmp != NULL ? tmp : "/tmp");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("no library\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    static const char *const rows[][2] = {{"GEMMTUNE_LIBCUDA", "the CUDA driver"},
                                          {"GEMMTUNE_LIBOPENCL", "OpenCL"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(said, sizeof said, "%s cannot be loaded ($%s: %s", rows[i][1],
                       rows[i][0], path);
        assert_non_null(strstr(probe("drivers", rows[i][0], path), said));
    }
    (void)snprintf(said, sizeof said, "libnvrtc cannot be loaded ($GEMMTUNE_LIBNVRTC: %s",
                   path);
    assert_non_null(strstr(probe("pascal", "GEMMTUNE_LIBNVRTC", path), said));
    assert_int_equal(remove(path), 0);
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

int main(int argc, char **argv) {
    for (size_t i = 0; argc > 1 && i < sizeof probes / sizeof *probes; i++)
        if (strcmp(argv[1], probes[i].name) == 0)
            return probes[i].run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enumerate),
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_pick_among_several),
        cmocka_unit_test(test_pick_without_devices),
        cmocka_unit_test(test_missing_libraries),
        cmocka_unit_test(test_broken_libraries),
        cmocka_unit_test(test_pascal),
    };
    return cmocka_run_group_tests(tests, list_devices, clear_devices);
}
