/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_header_check.c - compares our declarations with CL/cl.h at compile time. It is
 * built only where that header is found. Running it does nothing.
 */
#include "runtime/drivers/opencl_api.h"

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <stdio.h>

/* The headers would have refused a typedef of another type; sizes were never in doubt. */
_Static_assert(sizeof(cl_bitfield) == 8 && sizeof(cl_device_type) == 8, "bit fields");

#define X(name, theirs, value)                                                             \
    _Static_assert((long long)(theirs) == (long long)(value), #theirs " differs");
GT_OPENCL_CONSTANTS(X)
#undef X

_Static_assert(CL_DEVICE_TYPE_ALL == GT_CL_DEVICE_TYPE_ALL, "CL_DEVICE_TYPE_ALL");
_Static_assert(CL_PLATFORM_NOT_FOUND_KHR == GT_CL_PLATFORM_NOT_FOUND_KHR, "cl_khr_icd");
_Static_assert(CL_DEVICE_REGISTERS_PER_BLOCK_NV == GT_CL_DEVICE_REGISTERS_PER_BLOCK_NV,
               "NV");
_Static_assert(CL_DEVICE_WARP_SIZE_NV == GT_CL_DEVICE_WARP_SIZE_NV, "NV");
_Static_assert(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV ==
                       GT_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV &&
                   CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV ==
                       GT_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV,
               "NV");
#ifdef CL_DEVICE_PCI_BUS_ID_NV
_Static_assert(CL_DEVICE_PCI_BUS_ID_NV == GT_CL_DEVICE_PCI_BUS_ID_NV, "NV");
_Static_assert(CL_DEVICE_PCI_SLOT_ID_NV == GT_CL_DEVICE_PCI_SLOT_ID_NV, "NV");
#endif
#ifdef CL_DEVICE_PCI_DOMAIN_ID_NV
_Static_assert(CL_DEVICE_PCI_DOMAIN_ID_NV == GT_CL_DEVICE_PCI_DOMAIN_ID_NV, "NV");
#endif
#ifdef CL_DEVICE_WAVEFRONT_WIDTH_AMD
_Static_assert(CL_DEVICE_WAVEFRONT_WIDTH_AMD == GT_CL_DEVICE_WAVEFRONT_WIDTH_AMD, "AMD");
#endif
#ifdef CL_DEVICE_SUB_GROUP_SIZES_INTEL
_Static_assert(CL_DEVICE_SUB_GROUP_SIZES_INTEL == GT_CL_DEVICE_SUB_GROUP_SIZES_INTEL,
               "cl_intel_required_subgroup_size");
#endif
#ifdef CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR
_Static_assert(CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR ==
                       GT_CL_DEVICE_DOT_PRODUCTS_KHR &&
                   CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR ==
                       GT_CL_DOT_PRODUCTS_PACKED_KHR,
               "cl_khr_integer_dot_product");
#endif
#ifdef CL_DEVICE_UUID_KHR
_Static_assert(CL_DEVICE_UUID_KHR == GT_CL_DEVICE_UUID_KHR, "cl_khr_device_uuid");
#endif

#define X(type, name, needed, params)                                                      \
    _Static_assert(__builtin_types_compatible_p(type(*) params, __typeof__(&name)),        \
                   #name " has another prototype");
GT_OPENCL_SYMBOLS(X)
#undef X

int main(void) {
    printf("opencl_header_check: ours agrees with CL/cl.h\n");
    return 0;
}
