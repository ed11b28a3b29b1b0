/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_header_check.c - compares our declarations with the toolkit's at compile time. It is
 * built only where cuda.h and nvrtc.h are found (e.g. -isystem /usr/local/cuda/include).
 * Running it does nothing.
 */
#include "runtime/drivers/cuda_api.h"

/* Without it cuda.h hides the older forms (cuCtxCreate_v2, cuEventElapsedTime) behind
 * macros. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <nvrtc.h>

#include <stddef.h>
#include <stdio.h>

/* ---- values ---- */

#define X(name, theirs, value)                                                             \
    _Static_assert((long long)(theirs) == (long long)(value), #theirs " differs");
GT_CUDA_CONSTANTS(X)
#undef X

_Static_assert((int)NVRTC_SUCCESS == GT_NVRTC_SUCCESS, "nvrtcResult");
_Static_assert((int)NVRTC_ERROR_OUT_OF_MEMORY == GT_NVRTC_OUT_OF_MEMORY, "nvrtcResult");
_Static_assert((int)NVRTC_ERROR_COMPILATION == GT_NVRTC_COMPILATION, "nvrtcResult");

/* ---- structs ---- */

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                     \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, their_member) &&             \
                       sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->their_member), \
                   #theirs "." #their_member)

SAME_SIZE(struct gt_cu_uuid, CUuuid);
SAME_SIZE(struct gt_cu_tensor_map, CUtensorMap);
_Static_assert(_Alignof(struct gt_cu_tensor_map) >= _Alignof(CUtensorMap), "CUtensorMap");
SAME_SIZE(struct gt_cu_launch_attribute, CUlaunchAttribute);
SAME_PLACE(struct gt_cu_launch_attribute, id, CUlaunchAttribute, id);
SAME_PLACE(struct gt_cu_launch_attribute, value, CUlaunchAttribute, value);
SAME_PLACE(struct gt_cu_launch_attribute, value.cluster, CUlaunchAttribute,
           value.clusterDim);
SAME_PLACE(struct gt_cu_launch_attribute, value.programmatic_serialization,
           CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
SAME_SIZE(struct gt_cu_launch_config, CUlaunchConfig);
SAME_PLACE(struct gt_cu_launch_config, grid_x, CUlaunchConfig, gridDimX);
SAME_PLACE(struct gt_cu_launch_config, grid_z, CUlaunchConfig, gridDimZ);
SAME_PLACE(struct gt_cu_launch_config, block_x, CUlaunchConfig, blockDimX);
SAME_PLACE(struct gt_cu_launch_config, block_z, CUlaunchConfig, blockDimZ);
SAME_PLACE(struct gt_cu_launch_config, smem_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(struct gt_cu_launch_config, stream, CUlaunchConfig, hStream);
SAME_PLACE(struct gt_cu_launch_config, attributes, CUlaunchConfig, attrs);
SAME_PLACE(struct gt_cu_launch_config, attribute_count, CUlaunchConfig, numAttrs);

SAME_SIZE(struct gt_cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2);
SAME_PLACE(struct gt_cu_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_PLACE(struct gt_cu_kernel_node, grid_x, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_PLACE(struct gt_cu_kernel_node, block_z, CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
SAME_PLACE(struct gt_cu_kernel_node, smem_bytes, CUDA_KERNEL_NODE_PARAMS_v2,
           sharedMemBytes);
SAME_PLACE(struct gt_cu_kernel_node, params, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_PLACE(struct gt_cu_kernel_node, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);

SAME_SIZE(struct gt_cu_copy_2d, CUDA_MEMCPY2D);
SAME_PLACE(struct gt_cu_copy_2d, from_y, CUDA_MEMCPY2D, srcY);
SAME_PLACE(struct gt_cu_copy_2d, from_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_PLACE(struct gt_cu_copy_2d, from_host, CUDA_MEMCPY2D, srcHost);
SAME_PLACE(struct gt_cu_copy_2d, from_device, CUDA_MEMCPY2D, srcDevice);
SAME_PLACE(struct gt_cu_copy_2d, from_pitch, CUDA_MEMCPY2D, srcPitch);
SAME_PLACE(struct gt_cu_copy_2d, to_y, CUDA_MEMCPY2D, dstY);
SAME_PLACE(struct gt_cu_copy_2d, to_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_PLACE(struct gt_cu_copy_2d, to_host, CUDA_MEMCPY2D, dstHost);
SAME_PLACE(struct gt_cu_copy_2d, to_device, CUDA_MEMCPY2D, dstDevice);
SAME_PLACE(struct gt_cu_copy_2d, to_pitch, CUDA_MEMCPY2D, dstPitch);
SAME_PLACE(struct gt_cu_copy_2d, row_bytes, CUDA_MEMCPY2D, WidthInBytes);
SAME_PLACE(struct gt_cu_copy_2d, rows, CUDA_MEMCPY2D, Height);

/* ---- prototypes: ours, with the toolkit's structs and enumerations in place of ours -- */

#define gt_cu_uuid                CUuuid_st
#define gt_cu_tensor_map          CUtensorMap_st
#define gt_cu_launch_config       CUlaunchConfig_st
#define gt_cu_launch_value        CUlaunchAttributeValue_union
#define gt_cu_launch_attribute_id CUlaunchAttributeID
#define gt_cu_copy_2d             CUDA_MEMCPY2D_st
#define gt_cu_pointer_attribute   CUpointer_attribute
#define gt_cu_kernel_node         CUDA_KERNEL_NODE_PARAMS_v2_st
#define gt_cu_result              CUresult
#define gt_cu_device_attribute    CUdevice_attribute
#define gt_cu_function_attribute  CUfunction_attribute
#define gt_cu_capture_mode        CUstreamCaptureMode
#define gt_cu_capture_status      CUstreamCaptureStatus
#define gt_cu_jit_option          CUjit_option
#define gt_cu_tma_type            CUtensorMapDataType
#define gt_cu_tma_interleave      CUtensorMapInterleave
#define gt_cu_tma_swizzle         CUtensorMapSwizzle
#define gt_cu_tma_l2              CUtensorMapL2promotion
#define gt_cu_tma_fill            CUtensorMapFloatOOBfill
#define gt_nvrtc_result           nvrtcResult

#define X(name, symbol, needed, params)                                                    \
    _Static_assert(__builtin_types_compatible_p(CUresult(*) params, __typeof__(&symbol)),  \
                   #symbol " has another prototype");
GT_CUDA_SYMBOLS(X)
#undef X

#define X(type, name, needed, params)                                                      \
    _Static_assert(__builtin_types_compatible_p(type(*) params, __typeof__(&name)),        \
                   #name " has another prototype");
GT_NVRTC_SYMBOLS(X)
#undef X

/* Enumerations are passed as unsigned int. */
_Static_assert(__builtin_types_compatible_p(CUresult, unsigned), "CUresult");
_Static_assert(__builtin_types_compatible_p(CUdevice_attribute, unsigned), "attribute");
_Static_assert(__builtin_types_compatible_p(CUfunction_attribute, unsigned), "attribute");
_Static_assert(__builtin_types_compatible_p(CUstreamCaptureMode, unsigned), "capture mode");
_Static_assert(__builtin_types_compatible_p(CUstreamCaptureStatus, unsigned), "status");
_Static_assert(__builtin_types_compatible_p(CUjit_option, unsigned), "CUjit_option");
_Static_assert(__builtin_types_compatible_p(CUlaunchAttributeID, unsigned), "attribute");
_Static_assert(__builtin_types_compatible_p(nvrtcResult, unsigned), "nvrtcResult");

int main(void) {
    printf("cuda_header_check: ours agrees with cuda.h %d\n", CUDA_VERSION);
    return 0;
}
