/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - slabs of an operand through registers to shared memory. `threads` threads fetch
 * a slab to registers in vectors of v, thread t vectors t, t + threads, ..., and put it to
 * shared memory with k outermost, `stride` elements a k, where the values of one k are
 * contiguous. The same for A and B: what differs is whether memory is contiguous along k
 * (`along`: A stored as is, B transposed) or along the width.
 *
 * Everything but pointers, ld, left, depth and t is a constant.
 */
/* Whether a thread's vectors all have one place along the width: one pointer serves. */
#define GT_SLAB_ONE(along, wide, v, threads) (!(along) && (threads) % ((wide) / (v)) == 0)

/* Where vector e lies in the slab, along the width and along k. */
GT_INLINE int gt_slab_w(int along, int wide, int deep, int v, int e) {
    return along ? e / (deep / v) : e % (wide / v) * v;
}

GT_INLINE int gt_slab_k(int along, int wide, int deep, int v, int e) {
    return along ? e % (deep / v) * v : e / (wide / v);
}

/* Aims at the vectors of the slab at x, of whose width `left` exist: past the edge, a
 * vector that does exist is fetched instead, so that the loop need not test. It is never
 * stored to C. */
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

/* Moves on by `step` elements. */
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

/* The slab at x element by element, straight to shared memory: `depth` of k exist, `left`
 * of the width. Zeros for k that does not exist, in both operands: 0 * NaN is NaN. */
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
