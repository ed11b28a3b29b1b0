/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_map.c - tensor maps, for kernels to read. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

/* The words of a map are address, type, sides, stride, box and swizzle (the bytes of its
 * pattern), for kernels to read. */
gt_cu_result cuTensorMapEncodeTiled(struct gt_cu_tensor_map *map, gt_cu_tma_type type,
                                    uint32_t rank, void *memory, const uint64_t *dims,
                                    const uint64_t *strides, const uint32_t *box,
                                    const uint32_t *element_strides,
                                    gt_cu_tma_interleave interleave,
                                    gt_cu_tma_swizzle swizzle, gt_cu_tma_l2 promotion,
                                    gt_cu_tma_fill fill) {
    ENTER(cuTensorMapEncodeTiled);
    const uint64_t widths[] = {
        [GT_CU_TMA_U8] = 1,  [GT_CU_TMA_I32] = 4, [GT_CU_TMA_F16] = 2,
        [GT_CU_TMA_F32] = 4, [GT_CU_TMA_F64] = 8, [GT_CU_TMA_BF16] = 2,
    };
    const uint64_t swizzles[] = {0, 32, 64, 128};
    if (rank != 2 || type >= sizeof widths / sizeof *widths || widths[type] == 0 ||
        (uintptr_t)memory % 16 != 0 || strides[0] % 16 != 0 || strides[0] >> 40 != 0 ||
        box[0] * widths[type] % 16 != 0 || swizzle > GT_CU_TMA_SWIZZLE_128B ||
        (swizzle != GT_CU_TMA_SWIZZLE_NONE && box[0] * widths[type] > swizzles[swizzle]))
        return GT_CU_INVALID_VALUE;
    for (int i = 0; i < 2; i++)
        if (dims[i] == 0 || dims[i] > UINT64_C(1) << 32 || box[i] == 0 || box[i] > 256 ||
            element_strides[i] != 1)
            return GT_CU_INVALID_VALUE;
    *map = (struct gt_cu_tensor_map){{(uintptr_t)memory, type, dims[0], dims[1], strides[0],
                                      box[0], box[1], swizzles[swizzle]}};
    return GT_CU_SUCCESS;
}
