/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_api.h - the part of the CUDA driver API, NVRTC and NVML that gemmtune calls. It is
 * declared from their public documentation and opened at run time, so that one binary
 * builds without a toolkit and starts without a driver. 64-bit Linux.
 * tests/device/cuda_header_check.c compares with cuda.h.
 *
 * Handles keep NVIDIA's names, since callers use them too; constants are GT_CU_*.
 */
#ifndef GT_RUNTIME_DRIVERS_CUDA_API_H
#define GT_RUNTIME_DRIVERS_CUDA_API_H

#include "core/status.h"

#include <stdbool.h>

/* ---- types ---- */

typedef unsigned gt_cu_result; /* CUresult; 0 is success */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;

struct gt_cu_uuid {
    char bytes[16];
};

/* A TMA descriptor; cuda.h 12 asks for 64-byte alignment, 13 for 128. */
struct gt_cu_tensor_map {
    _Alignas(128) uint64_t opaque[16];
};

union gt_cu_launch_value {
    char room[64];
    struct {
        unsigned x, y, z;
    } cluster;
    int programmatic_serialization; /* 1: may start before its predecessor has ended */
};

struct gt_cu_launch_attribute {
    unsigned id; /* GT_CU_LAUNCH_* */
    char pad[4];
    union gt_cu_launch_value value;
};

struct gt_cu_launch_config {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned smem_bytes;
    CUstream stream;
    struct gt_cu_launch_attribute *attributes;
    unsigned attribute_count;
};

/* CUDA_KERNEL_NODE_PARAMS of CUDA 12: a launch in a graph. */
struct gt_cu_kernel_node {
    CUfunction function;
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned smem_bytes;
    void **params; /* owned by the graph */
    void **extra, *kernel;
    CUcontext context;
};

/* CUDA_MEMCPY2D: a box of rows, from one memory to another. Members of the side that its
 * type does not name are not read. */
struct gt_cu_copy_2d {
    size_t from_x, from_y; /* bytes, rows */
    unsigned from_type;    /* GT_CU_MEMORY_* */
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    unsigned to_type;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t row_bytes, rows;
};

/* X(name here, name in cuda.h, value) */
#define GT_CUDA_CONSTANTS(X)                                                               \
    X(GT_CU_SUCCESS, CUDA_SUCCESS, 0)                                                      \
    X(GT_CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                    \
    X(GT_CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                    \
    X(GT_CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                     \
    X(GT_CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                          \
    X(GT_CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                  \
    X(GT_CU_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT, 201)                              \
    X(GT_CU_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                          \
    X(GT_CU_ECC_UNCORRECTABLE, CUDA_ERROR_ECC_UNCORRECTABLE, 214)                          \
    X(GT_CU_NVLINK_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                    \
    X(GT_CU_CONTAINED, CUDA_ERROR_CONTAINED, 226)                                          \
    X(GT_CU_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE, 400)                                \
    X(GT_CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                          \
    X(GT_CU_NOT_READY, CUDA_ERROR_NOT_READY, 600)                                          \
    X(GT_CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                              \
    X(GT_CU_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)              \
    X(GT_CU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                \
    X(GT_CU_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                    \
    X(GT_CU_ASSERT, CUDA_ERROR_ASSERT, 710)                                                \
    X(GT_CU_HARDWARE_STACK_ERROR, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                    \
    X(GT_CU_ILLEGAL_INSTRUCTION, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                      \
    X(GT_CU_MISALIGNED_ADDRESS, CUDA_ERROR_MISALIGNED_ADDRESS, 716)                        \
    X(GT_CU_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                  \
    X(GT_CU_INVALID_PC, CUDA_ERROR_INVALID_PC, 718)                                        \
    X(GT_CU_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                  \
    X(GT_CU_TENSOR_MEMORY_LEAK, CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)                        \
    X(GT_CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED, 801)                                  \
    X(GT_CU_UNKNOWN, CUDA_ERROR_UNKNOWN, 999)                                              \
    /* CUdevice_attribute */                                                               \
    X(GT_CU_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)           \
    X(GT_CU_SMEM_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)            \
    X(GT_CU_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                  \
    X(GT_CU_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)          \
    X(GT_CU_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                 \
    X(GT_CU_UNITS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                           \
    X(GT_CU_KERNEL_TIMEOUT, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 17)                   \
    X(GT_CU_INTEGRATED, CU_DEVICE_ATTRIBUTE_INTEGRATED, 18)                                \
    X(GT_CU_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20)                            \
    X(GT_CU_PCI_BUS, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                   \
    X(GT_CU_PCI_DEVICE, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                             \
    X(GT_CU_MEM_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                      \
    X(GT_CU_BUS_BITS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                     \
    X(GT_CU_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                               \
    X(GT_CU_PCI_DOMAIN, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                             \
    X(GT_CU_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                    \
    X(GT_CU_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                    \
    X(GT_CU_SMEM_PER_UNIT, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)   \
    X(GT_CU_SMEM_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,   \
      97)                                                                                  \
    /* CUfunction_attribute */                                                             \
    X(GT_CU_FUNC_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                  \
    X(GT_CU_FUNC_SMEM_BYTES, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                       \
    X(GT_CU_FUNC_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                       \
    X(GT_CU_FUNC_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                 \
    X(GT_CU_FUNC_MAX_DYNAMIC_SMEM, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)     \
    X(GT_CU_FUNC_SMEM_CARVEOUT, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)     \
    X(GT_CU_FUNC_BIG_CLUSTERS, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)    \
    /* flags */                                                                            \
    X(GT_CU_CTX_SCHED_SPIN, CU_CTX_SCHED_SPIN, 1)                                          \
    X(GT_CU_CTX_SCHED_BLOCKING, CU_CTX_SCHED_BLOCKING_SYNC, 4)                             \
    X(GT_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, 1)                                \
    X(GT_CU_EVENT_DEFAULT, CU_EVENT_DEFAULT, 0)                                            \
    X(GT_CU_EVENT_BLOCKING_SYNC, CU_EVENT_BLOCKING_SYNC, 1)                                \
    X(GT_CU_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING, 2)                              \
    X(GT_CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                    \
    /* CUmemorytype, and the attribute of a pointer that tells it */                       \
    X(GT_CU_MEMORY_HOST, CU_MEMORYTYPE_HOST, 1)                                            \
    X(GT_CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE, 2)                                        \
    X(GT_CU_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                      \
    X(GT_CU_CAPTURE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL, 0)                              \
    X(GT_CU_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                  \
    X(GT_CU_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                            \
    X(GT_CU_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE, 0)                                \
    X(GT_CU_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                            \
    /* CUlaunchAttributeID */                                                              \
    X(GT_CU_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                      \
    X(GT_CU_LAUNCH_PROGRAMMATIC, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6) \
    /* CUtensorMap*: data type, interleave, swizzle, L2 promotion, out-of-bounds fill */   \
    X(GT_CU_TMA_U8, CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                      \
    X(GT_CU_TMA_I32, CU_TENSOR_MAP_DATA_TYPE_INT32, 3)                                     \
    X(GT_CU_TMA_F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 6)                                   \
    X(GT_CU_TMA_F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                   \
    X(GT_CU_TMA_F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8)                                   \
    X(GT_CU_TMA_BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)                                 \
    X(GT_CU_TMA_TF32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 11)                                \
    X(GT_CU_TMA_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_NONE, 0)                         \
    X(GT_CU_TMA_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, 0)                               \
    X(GT_CU_TMA_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_32B, 1)                                 \
    X(GT_CU_TMA_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_64B, 2)                                 \
    X(GT_CU_TMA_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B, 3)                               \
    X(GT_CU_TMA_L2_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, 0)                               \
    X(GT_CU_TMA_L2_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_64B, 1)                              \
    X(GT_CU_TMA_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2)                            \
    X(GT_CU_TMA_L2_256B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)                            \
    X(GT_CU_TMA_FILL_ZERO, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, 0)

enum gt_cuda_constant {
#define X(name, theirs, value) name = value,
    GT_CUDA_CONSTANTS(X)
#undef X
};

/* ---- the driver API ---- */

/*
 * X(name, exported symbol, 1 needed or 0 optional, parameters). Symbols carry the version
 * to which cuda.h maps the plain name. cuCtxCreate and cuEventElapsedTime are exceptions:
 * every driver since CUDA 4 exports their first public form. Optional ones are NULL in an
 * older driver.
 */
#define GT_CUDA_SYMBOLS(X)                                                                 \
    X(cuInit, cuInit, 1, (unsigned flags))                                                 \
    X(cuDriverGetVersion, cuDriverGetVersion, 1, (int *version))                           \
    X(cuGetErrorName, cuGetErrorName, 1, (gt_cu_result error, const char **text))          \
    X(cuGetErrorString, cuGetErrorString, 1, (gt_cu_result error, const char **text))      \
    X(cuDeviceGetCount, cuDeviceGetCount, 1, (int *count))                                 \
    X(cuDeviceGet, cuDeviceGet, 1, (CUdevice * device, int ordinal))                       \
    X(cuDeviceGetName, cuDeviceGetName, 1, (char *name, int size, CUdevice device))        \
    X(cuDeviceGetUuid, cuDeviceGetUuid_v2, 0, (struct gt_cu_uuid * uuid, CUdevice device)) \
    X(cuDeviceGetUuid_v1, cuDeviceGetUuid, 0, (struct gt_cu_uuid * uuid, CUdevice device)) \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, 1,                                       \
      (int *value, gt_cu_device_attribute attribute, CUdevice device))                     \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, 1, (size_t * bytes, CUdevice device))         \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 1,                               \
      (CUcontext * context, CUdevice device))                                              \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, 1, (CUdevice device))       \
    X(cuCtxCreate, cuCtxCreate_v2, 1,                                                      \
      (CUcontext * context, unsigned flags, CUdevice device))                              \
    X(cuCtxDestroy, cuCtxDestroy_v2, 1, (CUcontext context))                               \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, 1, (CUcontext context))                       \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, 1, (CUcontext * context))                       \
    X(cuCtxSetCurrent, cuCtxSetCurrent, 1, (CUcontext context))                            \
    X(cuCtxGetCurrent, cuCtxGetCurrent, 1, (CUcontext * context))                          \
    X(cuCtxGetDevice, cuCtxGetDevice, 1, (CUdevice * device))                              \
    X(cuCtxSynchronize, cuCtxSynchronize, 1, (void))                                       \
    X(cuMemGetInfo, cuMemGetInfo_v2, 1, (size_t * free_bytes, size_t * total_bytes))       \
    X(cuMemAlloc, cuMemAlloc_v2, 1, (CUdeviceptr * memory, size_t bytes))                  \
    X(cuMemFree, cuMemFree_v2, 1, (CUdeviceptr memory))                                    \
    X(cuMemAllocHost, cuMemAllocHost_v2, 1, (void **memory, size_t bytes))                 \
    X(cuMemHostAlloc, cuMemHostAlloc, 1, (void **memory, size_t bytes, unsigned flags))    \
    X(cuMemFreeHost, cuMemFreeHost, 1, (void *memory))                                     \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, 1, (CUdeviceptr to, const void *from, size_t bytes))  \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, 1, (void *to, CUdeviceptr from, size_t bytes))        \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 1,                                          \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                   \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 1,                                          \
      (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                         \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 1,                                          \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                   \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, 1,                                              \
      (const struct gt_cu_copy_2d *copy, CUstream stream))                                 \
    X(cuPointerGetAttribute, cuPointerGetAttribute, 1,                                     \
      (void *value, gt_cu_pointer_attribute attribute, CUdeviceptr pointer))               \
    X(cuMemsetD8Async, cuMemsetD8Async, 1,                                                 \
      (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))                \
    X(cuMemsetD32Async, cuMemsetD32Async, 1,                                               \
      (CUdeviceptr to, unsigned value, size_t count, CUstream stream))                     \
    X(cuStreamCreate, cuStreamCreate, 1, (CUstream * stream, unsigned flags))              \
    X(cuStreamDestroy, cuStreamDestroy_v2, 1, (CUstream stream))                           \
    X(cuStreamSynchronize, cuStreamSynchronize, 1, (CUstream stream))                      \
    X(cuStreamQuery, cuStreamQuery, 1, (CUstream stream))                                  \
    X(cuStreamWaitEvent, cuStreamWaitEvent, 1,                                             \
      (CUstream stream, CUevent event, unsigned flags))                                    \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, 0,                                    \
      (CUstream stream, gt_cu_capture_mode mode))                                          \
    X(cuStreamEndCapture, cuStreamEndCapture, 0, (CUstream stream, CUgraph * graph))       \
    X(cuStreamIsCapturing, cuStreamIsCapturing, 0,                                         \
      (CUstream stream, gt_cu_capture_status * status))                                    \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 0,             \
      (gt_cu_capture_mode * mode))                                                         \
    X(cuStreamGetId, cuStreamGetId, 0, (CUstream stream, unsigned long long *number))      \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 0,                         \
      (CUgraphExec * exec, CUgraph graph, unsigned long long flags))                       \
    X(cuGraphLaunch, cuGraphLaunch, 0, (CUgraphExec exec, CUstream stream))                \
    X(cuGraphUpload, cuGraphUpload, 0, (CUgraphExec exec, CUstream stream))                \
    X(cuGraphExecDestroy, cuGraphExecDestroy, 0, (CUgraphExec exec))                       \
    X(cuGraphDestroy, cuGraphDestroy, 0, (CUgraph graph))                                  \
    X(cuGraphGetNodes, cuGraphGetNodes, 0,                                                 \
      (CUgraph graph, CUgraphNode * nodes, size_t * count))                                \
    X(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, 0,                        \
      (CUgraphNode node, struct gt_cu_kernel_node * params))                               \
    X(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, 0,                     \
      (CUgraphNode node, gt_cu_launch_attribute_id id, union gt_cu_launch_value * value))  \
    X(cuEventCreate, cuEventCreate, 1, (CUevent * event, unsigned flags))                  \
    X(cuEventRecord, cuEventRecord, 1, (CUevent event, CUstream stream))                   \
    X(cuEventQuery, cuEventQuery, 1, (CUevent event))                                      \
    X(cuEventSynchronize, cuEventSynchronize, 1, (CUevent event))                          \
    X(cuEventElapsedTime, cuEventElapsedTime, 1, (float *ms, CUevent start, CUevent end))  \
    X(cuEventDestroy, cuEventDestroy_v2, 1, (CUevent event))                               \
    X(cuModuleLoadData, cuModuleLoadData, 1, (CUmodule * module, const void *image))       \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx, 1,                                           \
      (CUmodule * module, const void *image, unsigned count, gt_cu_jit_option *options,    \
       void **values))                                                                     \
    X(cuModuleUnload, cuModuleUnload, 1, (CUmodule module))                                \
    X(cuModuleGetFunction, cuModuleGetFunction, 1,                                         \
      (CUfunction * function, CUmodule module, const char *name))                          \
    X(cuFuncGetAttribute, cuFuncGetAttribute, 1,                                           \
      (int *value, gt_cu_function_attribute attribute, CUfunction function))               \
    X(cuFuncSetAttribute, cuFuncSetAttribute, 1,                                           \
      (CUfunction function, gt_cu_function_attribute attribute, int value))                \
    X(cuLaunchKernel, cuLaunchKernel, 1,                                                   \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem_bytes,          \
       CUstream stream, void **params, void **extra))                                      \
    X(cuLaunchKernelEx, cuLaunchKernelEx, 0,                                               \
      (const struct gt_cu_launch_config *config, CUfunction function, void **params,       \
       void **extra))                                                                      \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, 0,                                   \
      (struct gt_cu_tensor_map * map, gt_cu_tma_type type, uint32_t rank, void *memory,    \
       const uint64_t *dims, const uint64_t *strides, const uint32_t *box,                 \
       const uint32_t *element_strides, gt_cu_tma_interleave interleave,                   \
       gt_cu_tma_swizzle swizzle, gt_cu_tma_l2 promotion, gt_cu_tma_fill fill))            \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                         \
      cuOccupancyMaxActiveBlocksPerMultiprocessor, 0,                                      \
      (int *blocks, CUfunction function, int block_size, size_t smem_bytes))               \
    X(cuOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters, 0,                       \
      (int *clusters, CUfunction function, const struct gt_cu_launch_config *config))

/* The API's enumerations are passed as unsigned int, the type that compilers here give
 * them. The header check puts the toolkit's types in place of these names. */
typedef unsigned gt_cu_device_attribute, gt_cu_function_attribute, gt_cu_capture_mode;
typedef unsigned gt_cu_pointer_attribute, gt_cu_capture_status;
typedef unsigned gt_cu_jit_option, gt_cu_launch_attribute_id;
typedef unsigned gt_cu_tma_type, gt_cu_tma_interleave, gt_cu_tma_swizzle, gt_cu_tma_l2;
typedef unsigned gt_cu_tma_fill;

struct gt_cuda {
#define X(name, symbol, needed, params) gt_cu_result(*name) params;
    GT_CUDA_SYMBOLS(X)
#undef X
};

/* The driver library: libcuda.so.1, or the path in $GEMMTUNE_LIBCUDA. Opened once, from any
 * thread, never closed. NULL with a sentence in `err` when it is not there or too old. Does
 * not call cuInit. */
const struct gt_cuda *gt_cuda_api(struct gt_err *err);

/* EDEVICE with "call: CUDA_ERROR_NAME (its meaning)". */
gt_status gt_cuda_fail(struct gt_err *err, const char *call, gt_cu_result result);
/* OK for success, ENOMEM when the device has no room, else gt_cuda_fail's EDEVICE. */
gt_status gt_cuda_result(gt_cu_result result, const char *call, struct gt_err *err);
/* ---- NVRTC ---- */

typedef unsigned gt_nvrtc_result;
typedef struct _nvrtcProgram *nvrtcProgram;

#define GT_NVRTC_SYMBOLS(X)                                                                \
    X(gt_nvrtc_result, nvrtcVersion, 1, (int *major, int *minor))                          \
    X(gt_nvrtc_result, nvrtcGetNumSupportedArchs, 1, (int *count))                         \
    X(gt_nvrtc_result, nvrtcGetSupportedArchs, 1, (int *archs))                            \
    X(const char *, nvrtcGetErrorString, 1, (gt_nvrtc_result result))                      \
    X(gt_nvrtc_result, nvrtcCreateProgram, 1,                                              \
      (nvrtcProgram * program, const char *source, const char *name, int header_count,     \
       const char *const *headers, const char *const *include_names))                      \
    X(gt_nvrtc_result, nvrtcDestroyProgram, 1, (nvrtcProgram * program))                   \
    X(gt_nvrtc_result, nvrtcCompileProgram, 1,                                             \
      (nvrtcProgram program, int option_count, const char *const *options))                \
    X(gt_nvrtc_result, nvrtcGetProgramLogSize, 1, (nvrtcProgram program, size_t * size))   \
    X(gt_nvrtc_result, nvrtcGetProgramLog, 1, (nvrtcProgram program, char *log))           \
    X(gt_nvrtc_result, nvrtcGetCUBINSize, 1, (nvrtcProgram program, size_t * size))        \
    X(gt_nvrtc_result, nvrtcGetCUBIN, 1, (nvrtcProgram program, char *cubin))              \
    X(gt_nvrtc_result, nvrtcGetPTXSize, 1, (nvrtcProgram program, size_t * size))          \
    X(gt_nvrtc_result, nvrtcGetPTX, 1, (nvrtcProgram program, char *ptx))

enum {
    GT_NVRTC_SUCCESS = 0,
    GT_NVRTC_OUT_OF_MEMORY = 1,
    GT_NVRTC_COMPILATION = 6,
    GT_NVRTC_ARCHS_MAX = 64
};

/* One NVRTC library of the machine; there may be several versions. */
struct gt_nvrtc {
#define X(type, name, needed, params) type(*name) params;
    GT_NVRTC_SYMBOLS(X)
#undef X
    int major, minor;
    int arch_count;
    int arch[GT_NVRTC_ARCHS_MAX]; /* as 61, 75, 90 */
};

enum { GT_NVRTC_MAX = 8 };

struct gt_nvrtcs {
    int count;
    struct gt_nvrtc lib[GT_NVRTC_MAX]; /* newest first */
    char why[320]; /* when there is none: a clause, as "is not installed (...)" */
};

/* Every NVRTC of the machine: $GEMMTUNE_LIBNVRTC alone when that is set, else
 * libnvrtc.so.13, .12, .11.2, libnvrtc.so and the same names in /usr/local/cuda/lib64.
 * Opened once, from any thread. */
const struct gt_nvrtcs *gt_nvrtc_api(void);
/* The names under which NVRTC is looked for, unless GEMMTUNE_LIBNVRTC is set. */
enum { GT_NVRTC_NAMES = 7 };
extern const char *const gt_nvrtc_names[GT_NVRTC_NAMES];

/* ---- NVML: driver version, clocks, temperature. Every function may be missing. ---- */

typedef struct nvmlDevice_st *nvmlDevice_t;

#define GT_NVML_SYMBOLS(X)                                                                 \
    X(nvmlInit, nvmlInit_v2, 1, (void))                                                    \
    X(nvmlSystemGetDriverVersion, nvmlSystemGetDriverVersion, 0,                           \
      (char *version, unsigned size))                                                      \
    X(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2, 0,                  \
      (const char *pci, nvmlDevice_t *device))                                             \
    X(nvmlDeviceGetHandleByUUID, nvmlDeviceGetHandleByUUID, 0,                             \
      (const char *uuid, nvmlDevice_t *device))                                            \
    X(nvmlDeviceGetClockInfo, nvmlDeviceGetClockInfo, 0,                                   \
      (nvmlDevice_t device, unsigned clock, unsigned *mhz))                                \
    X(nvmlDeviceGetMaxClockInfo, nvmlDeviceGetMaxClockInfo, 0,                             \
      (nvmlDevice_t device, unsigned clock, unsigned *mhz))                                \
    X(nvmlDeviceGetTemperature, nvmlDeviceGetTemperature, 0,                               \
      (nvmlDevice_t device, unsigned sensor, unsigned *celsius))                           \
    X(nvmlDeviceGetPowerUsage, nvmlDeviceGetPowerUsage, 0,                                 \
      (nvmlDevice_t device, unsigned *milliwatts))                                         \
    X(nvmlDeviceGetEnforcedPowerLimit, nvmlDeviceGetEnforcedPowerLimit, 0,                 \
      (nvmlDevice_t device, unsigned *milliwatts))                                         \
    X(nvmlDeviceGetCurrentClocksThrottleReasons,                                           \
      nvmlDeviceGetCurrentClocksThrottleReasons, 0,                                        \
      (nvmlDevice_t device, unsigned long long *reasons))

enum {
    GT_NVML_CLOCK_SM = 1, /* nvmlClockType_t */
    GT_NVML_CLOCK_MEM = 2,
    GT_NVML_SENSOR_GPU = 0,
    /* throttle reasons (bits) that are harmless: idle, set clocks, display */
    GT_NVML_THROTTLE_IDLE = 0x1,
    GT_NVML_THROTTLE_SETTING = 0x2,
    GT_NVML_THROTTLE_POWER_CAP = 0x4,
    GT_NVML_THROTTLE_HW_SLOWDOWN = 0x8,
    GT_NVML_THROTTLE_SYNC_BOOST = 0x10,
    GT_NVML_THROTTLE_SW_THERMAL = 0x20,
    GT_NVML_THROTTLE_HW_THERMAL = 0x40,
    GT_NVML_THROTTLE_POWER_BRAKE = 0x80
};

struct gt_nvml {
#define X(name, symbol, needed, params) unsigned(*name) params;
    GT_NVML_SYMBOLS(X)
#undef X
};

/* NVML, initialised; NULL when it is not there. Opened once, from any thread. */
const struct gt_nvml *gt_nvml_api(void);

#endif
