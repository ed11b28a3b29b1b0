/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_map.c - tensor maps, for kernels to read. The rules come from the CUDA driver
 * API's cuTensorMapEncodeTiled. See fake_cuda.h.
 */
#include "tests/fake/cuda/fake_cuda.h"

static const struct {
    uint32_t bytes;
    enum ptx_kind kind;
} elements[] = {
    [GT_CU_TMA_U8] = {1, PTX_U8},    [GT_CU_TMA_I32] = {4, PTX_S32},
    [GT_CU_TMA_F16] = {2, PTX_F16},  [GT_CU_TMA_F32] = {4, PTX_F32},
    [GT_CU_TMA_F64] = {8, PTX_F64},  [GT_CU_TMA_BF16] = {2, PTX_BF16},
    [GT_CU_TMA_TF32] = {4, PTX_F32},
};

static bool are_sides_legal(const struct ptx_tensor *t, const uint32_t *element_strides) {
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->dims[d] == 0 || t->dims[d] > UINT64_C(1) << 32 || t->box[d] == 0 ||
            t->box[d] > 256 || element_strides[d] != 1)
            return false;
    return true;
}

/* Strides are multiples of 16 bytes below 2^40,
 * and not shorter than what they step over. */
static bool are_strides_legal(const struct ptx_tensor *t) {
    for (uint32_t d = 1; d < t->rank; d++)
        if (t->strides[d] % 16 != 0 || t->strides[d] >> 40 != 0)
            return false;
    return true;
}

/* The box's rows are multiples of 16 bytes, and no longer than the swizzle. */
static bool is_box_legal(const struct ptx_tensor *t) {
    const uint32_t row = t->box[0] * t->element;
    return row % 16 == 0 && (t->swizzle == 0 || row <= t->swizzle);
}

/* Whether a driver before NVIDIA's remedy makes a map that faults; see ptx.h. */
static bool is_faulty(const struct ptx_tensor *t) {
    const uint64_t bytes =
        t->rank > 2 ? t->dims[2] * t->strides[2] : t->dims[1] * t->strides[1];
    return device[current()->device]->cc >= 100 && bytes < 128 << 10;
}

gt_cu_result cuTensorMapEncodeTiled(struct gt_cu_tensor_map *map, gt_cu_tma_type type,
                                    uint32_t rank, void *memory, const uint64_t *dims,
                                    const uint64_t *strides, const uint32_t *box,
                                    const uint32_t *element_strides,
                                    gt_cu_tma_interleave interleave,
                                    gt_cu_tma_swizzle swizzle, gt_cu_tma_l2 promotion,
                                    gt_cu_tma_fill fill) {
    ENTER(cuTensorMapEncodeTiled);
    if (type >= sizeof elements / sizeof *elements || elements[type].bytes == 0 ||
        rank < 1 || rank > 5 || (uintptr_t)memory % 16 != 0 || (uintptr_t)map % 64 != 0 ||
        swizzle > GT_CU_TMA_SWIZZLE_128B || interleave != GT_CU_TMA_INTERLEAVE_NONE ||
        promotion > GT_CU_TMA_L2_256B || fill > 1 || (fill == 1 && type < GT_CU_TMA_F16))
        return GT_CU_INVALID_VALUE;
    struct ptx_tensor t = {.address = (uintptr_t)memory,
                           .rank = rank,
                           .element = elements[type].bytes,
                           .kind = elements[type].kind,
                           .swizzle = swizzle ? 16u << swizzle : 0};
    t.strides[0] = t.element;
    for (uint32_t d = 0; d < rank; d++) {
        t.dims[d] = dims[d];
        t.box[d] = box[d];
        if (d > 0)
            t.strides[d] = strides[d - 1];
    }
    if (!are_sides_legal(&t, element_strides) || !are_strides_legal(&t) ||
        !is_box_legal(&t))
        return GT_CU_INVALID_VALUE;
    ptx_tensor_pack(map->opaque, &t);
    if (is_faulty(&t))
        map->opaque[1] |= PTX_TENSOR_FAULTY;
    return GT_CU_SUCCESS;
}
