/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab_copies.h - asynchronous copies (copies.h) of slabs, without registers between.
 * - `along`: memory is contiguous along k.
 * - `asis`: shared memory has the order of memory, in rows of `stride` elements. Otherwise
 *   k is outermost: a slab that is contiguous along k is transposed on the way, one element
 *   a copy (v is 1).
 *
 * When rows allow it, all vectors of a thread have the same place in their rows of memory.
 * Then x and s point to the first one (gt_slab_from and gt_slab_to give its distance), and
 * the loop has little to compute. `left` elements of the slab exist along the width and
 * `depth` along k; `whole` promises that all exist.
 */
#define GT_SLAB_LINE(along, wide, deep, v) (((along) ? (deep) : (wide)) / (v))
#define GT_SLAB_FIXED(along, wide, deep, v, threads) \
    ((threads) % GT_SLAB_LINE(along, wide, deep, v) == 0)

GT_INLINE gt_long gt_slab_from(int along, int wide, int deep, int v, int threads,
                               gt_long ld, int t) {
    const int line = GT_SLAB_LINE(along, wide, deep, v);
    return GT_SLAB_FIXED(along, wide, deep, v, threads) ? t / line * ld + t % line * v : 0;
}

GT_INLINE int gt_slab_to(int along, int asis, int wide, int deep, int v, int threads,
                         int stride, int t) {
    const int line = GT_SLAB_LINE(along, wide, deep, v);
    return !GT_SLAB_FIXED(along, wide, deep, v, threads) ? 0
           : asis == along ? t / line * stride + t % line * v
                           : t % line * stride + t / line;
}

GT_INLINE void gt_slab_copy(int along, int asis, int wide, int deep, int v, int threads,
                            GT_SHARED gt_ab *s, int stride, const GT_GLOBAL gt_ab *x,
                            gt_long ld, int left, int depth, int whole, int t) {
    const int line = GT_SLAB_LINE(along, wide, deep, v);
    const int fixed = GT_SLAB_FIXED(along, wide, deep, v, threads);
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++) {
        const int row = fixed ? t / line + i * (threads / line) : (t + i * threads) / line;
        const int e = fixed ? t % line : (t + i * threads) % line;
        const int r = fixed ? i * (threads / line) : row, c = fixed ? 0 : e * v;
        const int w = along ? row : e * v, k = along ? e * v : row;
        const int exist = v == 1  ? w < left && k < depth /* only a predicate */
                          : along ? (w < left ? GT_MIN(v, depth - k) : 0)
                                  : (k < depth ? GT_MIN(v, left - w) : 0);
        GT_SHARED gt_ab *const to = s + (asis == along ? r * stride + c : c * stride + r);
        const GT_GLOBAL gt_ab *const from = x + r * ld + c;
        if (GT_SLAB_EVEN(wide, deep, v, threads) || t + i * threads < wide * deep / v) {
            if (whole)
                gt_copy_async(v, to, from);
            else
                gt_copy_some(v, to, from, GT_MAX(0, exist));
        }
    }
}
