/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the product of a block where the matrices of a batch do not lie at fixed
 * strides. It is in the source of such a problem, behind all other parts, and replaces
 * GT_PRODUCT() of dialect.h. So a family whose "batch" is "grid" serves these problems
 * without a word of its own.
 *
 * GT_POINTERS 1: the kernel's parameters all_a, all_b and all_c are arrays of `batch`
 * pointers. They lead to matrices that the caller has promised to be aligned. With k 0
 * neither A nor B is read, nor are their arrays.
 */
#if GT_POINTERS
#undef GT_PRODUCT

/* The compiler does not know of a pointer in memory that it leads to global memory. */
#define GT_POINTER(type, x, exists)                                                        \
    type *GT_RESTRICT x = (exists) ? all_##x[gt_product] : 0;                              \
    __builtin_assume(__isGlobal(x))

#define GT_PRODUCT()                                                                       \
    const gt_long gt_product = GT_GRID_PRODUCT;                                            \
    if (gt_product >= batch)                                                               \
        return;                                                                            \
    GT_POINTER(const gt_a, a, k > 0);                                                      \
    GT_POINTER(const gt_b, b, k > 0);                                                      \
    GT_POINTER(gt_c, c, 1);                                                                \
    GT_PRODUCT_WORKSPACE()
#endif
