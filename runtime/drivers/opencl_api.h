/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_api.h - the part of OpenCL 1.2 that gemmtune calls, declared from the
 * specification and opened at run time. tests/device/opencl_header_check.c compares with
 * CL/cl.h.
 *
 * Types keep the names of the specification; constants are GT_CL_*.
 */
#ifndef GT_RUNTIME_DRIVERS_OPENCL_API_H
#define GT_RUNTIME_DRIVERS_OPENCL_API_H

#include "core/status.h"

#include <stdbool.h>

/* ---- types ---- */

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

/* X(name here, name in CL/cl.h, value) */
#define GT_OPENCL_CONSTANTS(X)                                                             \
    X(GT_CL_SUCCESS, CL_SUCCESS, 0)                                                        \
    X(GT_CL_DEVICE_NOT_FOUND, CL_DEVICE_NOT_FOUND, -1)                                     \
    X(GT_CL_MEM_ALLOCATION_FAILURE, CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                  \
    X(GT_CL_OUT_OF_RESOURCES, CL_OUT_OF_RESOURCES, -5)                                     \
    X(GT_CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_HOST_MEMORY, -6)                                 \
    X(GT_CL_BUILD_PROGRAM_FAILURE, CL_BUILD_PROGRAM_FAILURE, -11)                          \
    X(GT_CL_INVALID_VALUE, CL_INVALID_VALUE, -30)                                          \
    X(GT_CL_INVALID_BINARY, CL_INVALID_BINARY, -42)                                        \
    X(GT_CL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_NAME, -46)                              \
    X(GT_CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_GROUP_SIZE, -54)                      \
    X(GT_CL_INVALID_WORK_ITEM_SIZE, CL_INVALID_WORK_ITEM_SIZE, -55)                        \
    X(GT_CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_EVENT_WAIT_LIST, -57)                      \
    X(GT_CL_INVALID_BUFFER_SIZE, CL_INVALID_BUFFER_SIZE, -61)                              \
    X(GT_CL_FALSE, CL_FALSE, 0)                                                            \
    X(GT_CL_TRUE, CL_TRUE, 1)                                                              \
    X(GT_CL_PLATFORM_VERSION, CL_PLATFORM_VERSION, 0x0901)                                 \
    X(GT_CL_PLATFORM_NAME, CL_PLATFORM_NAME, 0x0902)                                       \
    X(GT_CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_CPU, 2)                                        \
    X(GT_CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_GPU, 4)                                        \
    X(GT_CL_DEVICE_TYPE, CL_DEVICE_TYPE, 0x1000)                                           \
    X(GT_CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_COMPUTE_UNITS, 0x1002)                 \
    X(GT_CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)             \
    X(GT_CL_DEVICE_MAX_CLOCK_FREQUENCY, CL_DEVICE_MAX_CLOCK_FREQUENCY, 0x100C)             \
    X(GT_CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)               \
    X(GT_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0x101E)         \
    X(GT_CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE, 0x101F)                     \
    X(GT_CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_LOCAL_MEM_SIZE, 0x1023)                       \
    X(GT_CL_DEVICE_AVAILABLE, CL_DEVICE_AVAILABLE, 0x1027)                                 \
    X(GT_CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_COMPILER_AVAILABLE, 0x1028)               \
    X(GT_CL_DEVICE_NAME, CL_DEVICE_NAME, 0x102B)                                           \
    X(GT_CL_DEVICE_VENDOR, CL_DEVICE_VENDOR, 0x102C)                                       \
    X(GT_CL_DRIVER_VERSION, CL_DRIVER_VERSION, 0x102D)                                     \
    X(GT_CL_DEVICE_VERSION, CL_DEVICE_VERSION, 0x102F)                                     \
    X(GT_CL_DEVICE_EXTENSIONS, CL_DEVICE_EXTENSIONS, 0x1030)                               \
    X(GT_CL_DEVICE_PLATFORM, CL_DEVICE_PLATFORM, 0x1031)                                   \
    X(GT_CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_DOUBLE_FP_CONFIG, 0x1032)                   \
    X(GT_CL_DEVICE_HALF_FP_CONFIG, CL_DEVICE_HALF_FP_CONFIG, 0x1033)                       \
    X(GT_CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 0x103A) \
    X(GT_CL_CONTEXT_DEVICES, CL_CONTEXT_DEVICES, 0x1081)                                   \
    X(GT_CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_NUM_DEVICES, 0x1083)                           \
    X(GT_CL_CONTEXT_PLATFORM, CL_CONTEXT_PLATFORM, 0x1084)                                 \
    X(GT_CL_QUEUE_CONTEXT, CL_QUEUE_CONTEXT, 0x1090)                                       \
    X(GT_CL_QUEUE_DEVICE, CL_QUEUE_DEVICE, 0x1091)                                         \
    X(GT_CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES, 0x1093)                                 \
    X(GT_CL_QUEUE_OUT_OF_ORDER, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 1)                 \
    X(GT_CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROFILING_ENABLE, 2)                          \
    X(GT_CL_MEM_READ_WRITE, CL_MEM_READ_WRITE, 1)                                          \
    X(GT_CL_MEM_USE_HOST_PTR, CL_MEM_USE_HOST_PTR, 8)                                      \
    X(GT_CL_MEM_ALLOC_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, 16)                                 \
    X(GT_CL_MAP_READ, CL_MAP_READ, 1)                                                      \
    X(GT_CL_MAP_WRITE, CL_MAP_WRITE, 2)                                                    \
    X(GT_CL_BUFFER_REGION, CL_BUFFER_CREATE_TYPE_REGION, 0x1220)                           \
    X(GT_CL_MEM_SIZE, CL_MEM_SIZE, 0x1102)                                                 \
    X(GT_CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_NUM_DEVICES, 0x1162)                           \
    X(GT_CL_PROGRAM_DEVICES, CL_PROGRAM_DEVICES, 0x1163)                                   \
    X(GT_CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_SIZES, 0x1165)                         \
    X(GT_CL_PROGRAM_BINARIES, CL_PROGRAM_BINARIES, 0x1166)                                 \
    X(GT_CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_LOG, 0x1183)                               \
    X(GT_CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_WORK_GROUP_SIZE, 0x11B0)                     \
    X(GT_CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_LOCAL_MEM_SIZE, 0x11B2)                       \
    X(GT_CL_KERNEL_WORK_GROUP_MULTIPLE, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,      \
      0x11B3)                                                                              \
    X(GT_CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_PRIVATE_MEM_SIZE, 0x11B4)                   \
    X(GT_CL_EVENT_STATUS, CL_EVENT_COMMAND_EXECUTION_STATUS, 0x11D3)                       \
    X(GT_CL_COMPLETE, CL_COMPLETE, 0)                                                      \
    X(GT_CL_PROFILING_START, CL_PROFILING_COMMAND_START, 0x1282)                           \
    X(GT_CL_PROFILING_END, CL_PROFILING_COMMAND_END, 0x1283)

enum gt_opencl_constant {
#define X(name, theirs, value) name = value,
    GT_OPENCL_CONSTANTS(X)
#undef X
    /* of extensions; CL/cl_ext.h has them */
    GT_CL_PLATFORM_NOT_FOUND_KHR = -1001,
    GT_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV = 0x4000,
    GT_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV = 0x4001,
    GT_CL_DEVICE_REGISTERS_PER_BLOCK_NV = 0x4002,
    GT_CL_DEVICE_WARP_SIZE_NV = 0x4003,
    GT_CL_DEVICE_PCI_BUS_ID_NV = 0x4008,
    GT_CL_DEVICE_PCI_SLOT_ID_NV = 0x4009,
    GT_CL_DEVICE_PCI_DOMAIN_ID_NV = 0x400A,
    GT_CL_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043,
    GT_CL_DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108,
    GT_CL_DEVICE_UUID_KHR = 0x106A,
    GT_CL_DEVICE_DOT_PRODUCTS_KHR = 0x1073,
    GT_CL_DOT_PRODUCTS_PACKED_KHR = 1,
    GT_CL_FP_DENORM = 1
};

#define GT_CL_DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)

/* ---- functions ---- */

/* X(result, name, 1 needed or 0 optional, parameters) */
#define GT_OPENCL_SYMBOLS(X)                                                               \
    X(cl_int, clGetPlatformIDs, 1,                                                         \
      (cl_uint room, cl_platform_id * platforms, cl_uint * count))                         \
    X(cl_int, clGetPlatformInfo, 1,                                                        \
      (cl_platform_id platform, cl_uint what, size_t size, void *value, size_t *needed))   \
    X(cl_int, clGetDeviceIDs, 1,                                                           \
      (cl_platform_id platform, cl_bitfield type, cl_uint room, cl_device_id * devices,    \
       cl_uint * count))                                                                   \
    X(cl_int, clGetDeviceInfo, 1,                                                          \
      (cl_device_id device, cl_uint what, size_t size, void *value, size_t *needed))       \
    X(cl_context, clCreateContext, 1,                                                      \
      (const intptr_t *properties, cl_uint count, const cl_device_id *devices,             \
       void (*notify)(const char *text, const void *data, size_t size, void *user),        \
       void *user, cl_int *error))                                                         \
    X(cl_int, clRetainContext, 1, (cl_context context))                                    \
    X(cl_int, clReleaseContext, 1, (cl_context context))                                   \
    X(cl_int, clGetContextInfo, 1,                                                         \
      (cl_context context, cl_uint what, size_t size, void *value, size_t *needed))        \
    X(cl_command_queue, clCreateCommandQueue, 1,                                           \
      (cl_context context, cl_device_id device, cl_bitfield properties, cl_int * error))   \
    X(cl_int, clGetCommandQueueInfo, 1,                                                    \
      (cl_command_queue queue, cl_uint what, size_t size, void *value, size_t *needed))    \
    X(cl_int, clRetainCommandQueue, 1, (cl_command_queue queue))                           \
    X(cl_int, clReleaseCommandQueue, 1, (cl_command_queue queue))                          \
    X(cl_int, clFlush, 1, (cl_command_queue queue))                                        \
    X(cl_int, clFinish, 1, (cl_command_queue queue))                                       \
    X(cl_mem, clCreateBuffer, 1,                                                           \
      (cl_context context, cl_bitfield flags, size_t size, void *host, cl_int *error))     \
    X(cl_mem, clCreateSubBuffer, 1,                                                        \
      (cl_mem memory, cl_bitfield flags, cl_uint type, const void *region, cl_int *error)) \
    X(cl_int, clReleaseMemObject, 1, (cl_mem memory))                                      \
    X(cl_int, clGetMemObjectInfo, 1,                                                       \
      (cl_mem memory, cl_uint what, size_t size, void *value, size_t *needed))             \
    X(cl_int, clEnqueueReadBuffer, 1,                                                      \
      (cl_command_queue queue, cl_mem from, cl_bool blocking, size_t offset, size_t size,  \
       void *to, cl_uint wait_count, const cl_event *wait, cl_event *event))               \
    X(cl_int, clEnqueueWriteBuffer, 1,                                                     \
      (cl_command_queue queue, cl_mem to, cl_bool blocking, size_t offset, size_t size,    \
       const void *from, cl_uint wait_count, const cl_event *wait, cl_event *event))       \
    X(cl_int, clEnqueueReadBufferRect, 1,                                                  \
      (cl_command_queue queue, cl_mem from, cl_bool blocking, const size_t *origin,        \
       const size_t *host_origin, const size_t *region, size_t pitch, size_t slice,        \
       size_t host_pitch, size_t host_slice, void *to, cl_uint wait_count,                 \
       const cl_event *wait, cl_event *event))                                             \
    X(cl_int, clEnqueueWriteBufferRect, 1,                                                 \
      (cl_command_queue queue, cl_mem to, cl_bool blocking, const size_t *origin,          \
       const size_t *host_origin, const size_t *region, size_t pitch, size_t slice,        \
       size_t host_pitch, size_t host_slice, const void *from, cl_uint wait_count,         \
       const cl_event *wait, cl_event *event))                                             \
    X(cl_int, clEnqueueFillBuffer, 1,                                                      \
      (cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_size,        \
       size_t offset, size_t size, cl_uint wait_count, const cl_event *wait,               \
       cl_event *event))                                                                   \
    X(void *, clEnqueueMapBuffer, 1,                                                       \
      (cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_bitfield flags,         \
       size_t offset, size_t size, cl_uint event_count, const cl_event *events,            \
       cl_event *event, cl_int *error))                                                    \
    X(cl_int, clEnqueueUnmapMemObject, 1,                                                  \
      (cl_command_queue queue, cl_mem memory, void *mapped, cl_uint event_count,           \
       const cl_event *events, cl_event *event))                                           \
    X(cl_int, clEnqueueCopyBuffer, 1,                                                      \
      (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,                 \
       size_t to_offset, size_t size, cl_uint wait_count, const cl_event *wait,            \
       cl_event *event))                                                                   \
    X(cl_int, clEnqueueMarkerWithWaitList, 1,                                              \
      (cl_command_queue queue, cl_uint wait_count, const cl_event *wait, cl_event *event)) \
    X(cl_int, clWaitForEvents, 1, (cl_uint count, const cl_event *events))                 \
    X(cl_int, clGetEventInfo, 1,                                                           \
      (cl_event event, cl_uint what, size_t size, void *value, size_t *needed))            \
    X(cl_int, clGetEventProfilingInfo, 1,                                                  \
      (cl_event event, cl_uint what, size_t size, void *value, size_t *needed))            \
    X(cl_int, clReleaseEvent, 1, (cl_event event))                                         \
    X(cl_program, clCreateProgramWithSource, 1,                                            \
      (cl_context context, cl_uint count, const char **text, const size_t *lengths,        \
       cl_int *error))                                                                     \
    X(cl_program, clCreateProgramWithBinary, 1,                                            \
      (cl_context context, cl_uint count, const cl_device_id *devices,                     \
       const size_t *sizes, const unsigned char **binaries, cl_int *verdicts,              \
       cl_int *error))                                                                     \
    X(cl_int, clGetProgramInfo, 1,                                                         \
      (cl_program program, cl_uint what, size_t size, void *value, size_t *needed))        \
    X(cl_int, clBuildProgram, 1,                                                           \
      (cl_program program, cl_uint count, const cl_device_id *devices,                     \
       const char *options, void (*notify)(cl_program program, void *user), void *user))   \
    X(cl_int, clGetProgramBuildInfo, 1,                                                    \
      (cl_program program, cl_device_id device, cl_uint what, size_t size, void *value,    \
       size_t *needed))                                                                    \
    X(cl_int, clReleaseProgram, 1, (cl_program program))                                   \
    X(cl_kernel, clCreateKernel, 1, (cl_program program, const char *name, cl_int *error)) \
    X(cl_int, clReleaseKernel, 1, (cl_kernel kernel))                                      \
    X(cl_int, clSetKernelArg, 1,                                                           \
      (cl_kernel kernel, cl_uint index, size_t size, const void *value))                   \
    X(cl_int, clGetKernelWorkGroupInfo, 1,                                                 \
      (cl_kernel kernel, cl_device_id device, cl_uint what, size_t size, void *value,      \
       size_t *needed))                                                                    \
    X(cl_int, clEnqueueNDRangeKernel, 1,                                                   \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, \
       const size_t *global, const size_t *local, cl_uint wait_count,                      \
       const cl_event *wait, cl_event *event))

struct gt_opencl {
#define X(type, name, needed, params) type(*name) params;
    GT_OPENCL_SYMBOLS(X)
#undef X
};

/* The ICD loader: libOpenCL.so.1, or the path in $GEMMTUNE_LIBOPENCL. Opened once, from any
 * thread, never closed. NULL with a sentence in `err` when it is not there or older than
 * OpenCL 1.2. */
const struct gt_opencl *gt_opencl_api(struct gt_err *err);
/* Replaces the functions of gt_opencl_api for all callers, to watch calls. Not while
 * another thread uses them. */
void gt_opencl_replace(const struct gt_opencl *with);

/* EDEVICE with "call: CL_NAME"; ENOMEM when the host is out of memory. */
gt_status gt_opencl_fail(struct gt_err *err, const char *call, cl_int result);
/* OK for success, ENOMEM when the device has no room, else gt_opencl_fail's status. */
gt_status gt_opencl_result(cl_int result, const char *call, struct gt_err *err);
/* "CL_OUT_OF_RESOURCES", or "error -9999" for a code without a name here. */
void gt_opencl_error_text(cl_int result, char *out, size_t size);

#endif
