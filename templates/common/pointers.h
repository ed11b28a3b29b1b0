/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointers.h - the matrices of products for families that number the products themselves.
 * GT_MATRIX(x, z) is matrix z of a, b or c, at strides or behind a pointer. gt_pointed
 * follows a pointer of an array.
 */
#if GT_POINTERS
/* The compiler does not know of a pointer in memory that it leads to global memory. */
template <class Of> GT_INLINE Of *gt_pointed(Of *const *x, gt_long z) {
    Of *const at = x[z];
    __builtin_assume(__isGlobal(at));
    return at;
}
#define GT_MATRIX(x, z) gt_pointed(all_##x, z)
#else
#define GT_MATRIX(x, z) ((x) + (z)*stride_##x)
#endif
