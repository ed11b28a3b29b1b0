/* SPDX-License-Identifier: Apache-2.0 */
/* The abilities of OpenCL compilers, as four made-up drivers tell them. */
#include "runtime/drivers/opencl_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A device that is made up. */
static const struct made_up {
    const char *name, *version, *extensions;
    uint32_t native_floats, major, minor;
    uint64_t dot_products, half_config;
    size_t sizes[6];
    struct gt_device expected;
} devices[] = {
    {.name = "PoCL",
     .version = "OpenCL 3.0 PoCL",
     .extensions = "cl_khr_fp64 cl_khr_int64_base_atomics",
     .native_floats = 16,
     .expected = {.vector_bytes = 64}},
    {.name = "Intel",
     .version = "OpenCL 3.1 (Build 0)",
     .extensions = "cl_khr_fp16 cl_intel_subgroups cl_intel_required_subgroup_size "
                   "cl_khr_integer_dot_product",
     .native_floats = 8,
     .dot_products = 3,
     .half_config = GT_CL_FP_DENORM,
     .sizes = {8, 16, 32, 4096},
     .expected =
         {.has_f16 = true, .has_dot4 = true, .subgroup_sizes = 56, .vector_bytes = 32}},
    /* A standard without OpenCL C 3.0; shuffles without sizes to ask for. */
    {.name = "old",
     .version = "OpenCL 2.1",
     .extensions = "cl_khr_integer_dot_product cl_intel_subgroups cl_khr_fp16_more",
     .native_floats = 1,
     .dot_products = 3,
     .sizes = {8, 16},
     .expected = {.vector_bytes = 4}},
    /* Conversions that lose small numbers. */
    {.name = "flushes",
     .version = "OpenCL 3.0",
     .extensions = "cl_khr_fp16",
     .native_floats = 4,
     .expected = {.vector_bytes = 16}},
    /* Products of vectors alone, not of packed bytes. */
    {.name = "NVIDIA",
     .version = "OpenCL 3.0 CUDA",
     .extensions = "cl_nv_device_attribute_query cl_khr_integer_dot_product",
     .native_floats = 1,
     .major = 9,
     .dot_products = 2,
     .expected = {.ptx = 90, .vector_bytes = 4}},
};

static const struct made_up *present;

static cl_int no_platforms(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    (void)room, (void)platforms;
    *count = 0;
    return GT_CL_PLATFORM_NOT_FOUND_KHR;
}

static cl_int platform_info(cl_platform_id platform, cl_uint what, size_t size, void *value,
                            size_t *needed) {
    (void)platform, (void)what, (void)size, (void)value, (void)needed;
    return GT_CL_INVALID_VALUE;
}

static cl_int answer(const void *bytes, size_t length, size_t room, void *value,
                     size_t *needed) {
    if (needed)
        *needed = length;
    if (value && room < length)
        return GT_CL_INVALID_VALUE;
    if (value)
        memcpy(value, bytes, length);
    return GT_CL_SUCCESS;
}

static cl_int device_info(cl_device_id device, cl_uint what, size_t size, void *value,
                          size_t *needed) {
    static const uint32_t yes = 1;
    static const cl_platform_id no_platform = NULL;
    const struct made_up *d = present;
    size_t sizes = 0;
    (void)device;
    while (d->sizes[sizes])
        sizes++;
    switch (what) {
    case GT_CL_DEVICE_NAME:
        return answer(d->name, strlen(d->name) + 1, size, value, needed);
    case GT_CL_DEVICE_VERSION:
        return answer(d->version, strlen(d->version) + 1, size, value, needed);
    case GT_CL_DEVICE_EXTENSIONS:
        return answer(d->extensions, strlen(d->extensions) + 1, size, value, needed);
    case GT_CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        return answer(&d->native_floats, sizeof d->native_floats, size, value, needed);
    case GT_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV:
        return answer(&d->major, sizeof d->major, size, value, needed);
    case GT_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV:
        return answer(&d->minor, sizeof d->minor, size, value, needed);
    case GT_CL_DEVICE_DOT_PRODUCTS_KHR:
        return answer(&d->dot_products, sizeof d->dot_products, size, value, needed);
    case GT_CL_DEVICE_HALF_FP_CONFIG:
        return answer(&d->half_config, sizeof d->half_config, size, value, needed);
    case GT_CL_DEVICE_SUB_GROUP_SIZES_INTEL:
        return answer(d->sizes, sizes * sizeof *d->sizes, size, value, needed);
    case GT_CL_DEVICE_PLATFORM:
        return answer(&no_platform, sizeof no_platform, size, value, needed);
    case GT_CL_DEVICE_AVAILABLE:
    case GT_CL_DEVICE_COMPILER_AVAILABLE:
        return answer(&yes, sizeof yes, size, value, needed);
    default:
        return GT_CL_INVALID_VALUE;
    }
}

static void test_extras(void **state) {
    const struct gt_opencl cl = {.clGetPlatformIDs = no_platforms,
                                 .clGetPlatformInfo = platform_info,
                                 .clGetDeviceInfo = device_info};
    struct gt_err err;
    struct gt_device got;
    int device;
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        present = &devices[i];
        const struct gt_device *want = &present->expected;
        assert_int_equal(gt_opencl_describe(&got, &cl, (cl_device_id)(void *)&device, &err),
                         GEMMTUNE_OK);
        assert_string_equal(got.name, present->name);
        assert_int_equal(got.has_f16, want->has_f16);
        assert_int_equal(got.has_dot4, want->has_dot4);
        assert_int_equal(got.ptx, want->ptx);
        assert_int_equal(got.subgroup_sizes, want->subgroup_sizes);
        assert_int_equal(got.vector_bytes, want->vector_bytes);
        assert_int_equal(got.cc, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extras)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
