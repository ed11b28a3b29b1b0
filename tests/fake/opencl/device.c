/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the platform, its one device, contexts and queues. See fake_opencl.h. */
#include "tests/fake/opencl/fake_opencl.h"

/* Handles of things that have no state. */
static char platform_here, device_here, context_here;

int fake_cc(void) {
    const char *text = getenv("FAKE_OPENCL_CC");
    return text && *text ? atoi(text) : 80;
}

cl_int fake_answer(const void *bytes, size_t length, size_t room, void *value,
                   size_t *needed) {
    if (needed)
        *needed = length;
    if (value && room < length)
        return GT_CL_INVALID_VALUE;
    if (value)
        memcpy(value, bytes, length);
    return GT_CL_SUCCESS;
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count) {
    if (room > 0 && platforms)
        platforms[0] = (cl_platform_id)(void *)&platform_here;
    if (count)
        *count = 1;
    return GT_CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t size, void *value,
                         size_t *needed) {
    const char *text = what == GT_CL_PLATFORM_VERSION ? "OpenCL 3.0 CUDA (fake)" : "fake";
    return fake_answer(text, strlen(text) + 1, size, value, needed);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint room,
                      cl_device_id *devices, cl_uint *count) {
    if (room > 0 && devices)
        devices[0] = (cl_device_id)(void *)&device_here;
    if (count)
        *count = 1;
    return GT_CL_SUCCESS;
}

/* As on an H200, but for the number of units and the compute capability. */
static cl_ulong number_of(cl_uint what, size_t *bytes) {
    static const struct {
        cl_uint what, bytes;
        cl_ulong value;
    } rows[] = {
        {GT_CL_DEVICE_TYPE, 8, GT_CL_DEVICE_TYPE_GPU},
        {GT_CL_DEVICE_MAX_COMPUTE_UNITS, 4, FAKE_UNITS},
        {GT_CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 1024},
        {GT_CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 1980},
        {GT_CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, 1 << 30},
        {GT_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 4 << 20},
        {GT_CL_DEVICE_GLOBAL_MEM_SIZE, 8, UINT64_C(4) << 30},
        {GT_CL_DEVICE_LOCAL_MEM_SIZE, 8, 48 << 10},
        {GT_CL_DEVICE_AVAILABLE, 4, 1},
        {GT_CL_DEVICE_COMPILER_AVAILABLE, 4, 1},
        {GT_CL_DEVICE_DOUBLE_FP_CONFIG, 8, 63},
        {GT_CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4, 1},
        {GT_CL_DEVICE_REGISTERS_PER_BLOCK_NV, 4, 65536},
        {GT_CL_DEVICE_WARP_SIZE_NV, 4, 32},
        {GT_CL_DEVICE_PCI_BUS_ID_NV, 4, 1},
        {GT_CL_DEVICE_PCI_SLOT_ID_NV, 4, 0},
        {GT_CL_DEVICE_PCI_DOMAIN_ID_NV, 4, 0},
    };
    *bytes = 4;
    if (what == GT_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV)
        return (cl_ulong)fake_cc() / 10;
    if (what == GT_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV)
        return (cl_ulong)fake_cc() % 10;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].what == what) {
            *bytes = rows[i].bytes;
            return rows[i].value;
        }
    *bytes = 0;
    return 0;
}

static const char *text_of(cl_uint what) {
    switch (what) {
    case GT_CL_DEVICE_NAME:
        return "a GPU in software";
    case GT_CL_DEVICE_VENDOR:
        return "NVIDIA Corporation";
    case GT_CL_DRIVER_VERSION:
        return "0.1";
    case GT_CL_DEVICE_VERSION:
        return "OpenCL 3.0 CUDA";
    case GT_CL_DEVICE_EXTENSIONS:
        return "cl_khr_fp64 cl_nv_device_attribute_query";
    default:
        return NULL;
    }
}

cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t size, void *value,
                       size_t *needed) {
    static char *const platform = &platform_here;
    size_t bytes;
    const char *text = text_of(what);
    if (text)
        return fake_answer(text, strlen(text) + 1, size, value, needed);
    if (what == GT_CL_DEVICE_PLATFORM)
        return fake_answer(&platform, sizeof platform, size, value, needed);
    const cl_ulong number = number_of(what, &bytes);
    return bytes == 0 ? GT_CL_INVALID_VALUE
                      : fake_answer(&number, bytes, size, value, needed);
}

cl_context
clCreateContext(const intptr_t *properties, cl_uint count, const cl_device_id *devices,
                void (*notify)(const char *text, const void *data, size_t size, void *user),
                void *user, cl_int *error) {
    if (error)
        *error = GT_CL_SUCCESS;
    return (cl_context)(void *)&context_here;
}

cl_int clRetainContext(cl_context context) {
    return GT_CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context) {
    return GT_CL_SUCCESS;
}

cl_int clGetContextInfo(cl_context context, cl_uint what, size_t size, void *value,
                        size_t *needed) {
    static char *const device = &device_here;
    static const cl_uint one = 1;
    return what == GT_CL_CONTEXT_NUM_DEVICES
               ? fake_answer(&one, sizeof one, size, value, needed)
               : fake_answer(&device, sizeof device, size, value, needed);
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_bitfield properties, cl_int *error) {
    if (error)
        *error = GT_CL_SUCCESS;
    return (cl_command_queue)malloc(1);
}

/* All queues are in order. */
cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_uint what, size_t size, void *value,
                             size_t *needed) {
    static const cl_bitfield properties = GT_CL_QUEUE_PROFILING_ENABLE;
    static char *const context = &context_here, *const device = &device_here;
    return what == GT_CL_QUEUE_PROPERTIES
               ? fake_answer(&properties, sizeof properties, size, value, needed)
           : what == GT_CL_QUEUE_DEVICE
               ? fake_answer(&device, sizeof device, size, value, needed)
               : fake_answer(&context, sizeof context, size, value, needed);
}

cl_int clRetainCommandQueue(cl_command_queue queue) {
    return GT_CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue) {
    free(queue);
    return GT_CL_SUCCESS;
}

cl_int clFlush(cl_command_queue queue) {
    return GT_CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue) {
    return GT_CL_SUCCESS;
}
