/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - copies of slabs of an operand through registers to shared memory. `threads`
 * threads fetch a slab to registers in vectors of v elements: thread t has vectors t, t +
 * threads, ... They put it to shared memory with k outermost: the values of one k are
 * contiguous, and k's lie `stride` elements apart. A and B differ in one thing only: memory
 * is contiguous along k (`along`: A as stored, B transposed) or along the width.
 *
 * All parameters but pointers, ld, left, depth and t are constants.
 */
/* Whether all vectors of a thread have the same place along the width. One pointer is then
 * enough. */
#define GT_SLAB_ONE(along, wide, v, threads) (!(along) && (threads) % ((wide) / (v)) == 0)

/* The place of vector e in the slab: along the width, and along k. */
GT_INLINE int gt_slab_w(int along, int wide, int deep, int v, int e) {
    return along ? e / (deep / v) : e % (wide / v) * v;
}

GT_INLINE int gt_slab_k(int along, int wide, int deep, int v, int e) {
    return along ? e % (deep / v) * v : e / (wide / v);
}

/* Sets `at` to the vectors of the slab at x. `left` of its width exist. In place of a
 * vector past the edge, one that exists is fetched, so that the loop needs no test; its
 * products are never stored to C. */
GT_INLINE void gt_slab_aim(int along, int wide, int deep, int v, int threads,
                           const GT_GLOBAL gt_ab **at, const GT_GLOBAL gt_ab *x,
                           gt_long ld, int left, int t) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++) {
        const int w = gt_slab_w(along, wide, deep, v, t + i * threads);
        const int k = gt_slab_k(along, wide, deep, v, t + i * threads);
        at[i] = along ? x + GT_MIN(w, left - 1) * ld + k
                      : x + k * ld + GT_MAX(GT_MIN(w, left - v), 0);
    }
}

GT_INLINE void gt_slab_fetch(int along, int wide, int deep, int v, int threads, gt_ab *r,
                             const GT_GLOBAL gt_ab **at, gt_long ld, int t) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++)
        if (GT_SLAB_EVEN(wide, deep, v, threads) || t + i * threads < wide * deep / v)
            gt_load_global(v, r + i * v,
                           GT_SLAB_ONE(along, wide, v, threads)
                               ? at[0] + i * (threads / (wide / v)) * ld
                               : at[i]);
}

/* Moves the pointers by `step` elements. */
GT_INLINE void gt_slab_advance(int along, int wide, int deep, int v, int threads,
                               const GT_GLOBAL gt_ab **at, gt_long step) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++)
        if (i == 0 || !GT_SLAB_ONE(along, wide, v, threads))
            at[i] += step;
}

GT_INLINE void gt_slab_put(int along, int wide, int deep, int v, int threads,
                           GT_SHARED gt_ab *s, int stride, const gt_ab *r, int t) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++)
        if (GT_SLAB_EVEN(wide, deep, v, threads) || t + i * threads < wide * deep / v) {
            const int w = gt_slab_w(along, wide, deep, v, t + i * threads);
            const int k = gt_slab_k(along, wide, deep, v, t + i * threads);
            GT_SHARED gt_ab *to = s + k * stride + w;
            if (along) {
                GT_UNROLL
                for (int j = 0; j < v; j++)
                    to[j * stride] = r[i * v + j];
            } else {
                gt_store_shared(v, to, r + i * v);
            }
        }
}

/* Copies the slab at x element by element, straight to shared memory: `depth` of k exist,
 * `left` of the width. Beyond `depth` both operands get zeros, because 0 * NaN is NaN. */
GT_INLINE void gt_slab_edge(int along, int wide, int deep, int threads,
                            GT_SHARED gt_ab *s, int stride, const GT_GLOBAL gt_ab *x,
                            gt_long ld, int left, int depth, int t) {
    GT_UNROLL_BY(1)
    for (int e = t; e < wide * deep; e += threads) {
        const int w = gt_slab_w(along, wide, deep, 1, e);
        const int k = gt_slab_k(along, wide, deep, 1, e);
        const int there = GT_MIN(w, left - 1);
        const gt_long from = along ? there * ld + k : k * ld + there;
        s[k * stride + w] = k < depth ? x[from] : (gt_ab)0;
    }
}
