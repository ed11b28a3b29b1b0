/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.cl - the reference: sums of products as exact as the check needs them, and two
 * kernels that compute all elements, by tiles or each alone.
 *
 * The reference of integers is a plain sum. With GT_SUMS_ARE_WIDER, products of f32 are
 * added in f64, which holds each of them. All other floats have Dot2 (Ogita, Rump, Oishi
 * 2005), a dot product as exact as with twice the precision of gt_wide. The reference is
 * stored in gt_wide, not rounded to C's type. The host recomputes sampled elements of it
 * from the same generator (tuner/lab/data.c), which reveals a broken device or compiler.
 */

/* ---- sums ---- */

#if GT_SUMS_ARE_WIDER
#if GT_OPENCL
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
typedef double gt_sum; /* the type of the reference's sums */
#else
typedef gt_wide gt_sum;
#endif

#if GT_OPENCL
#define GT_ADD_RN(a, b) ((a) + (b))
#define GT_MUL_RN(a, b) ((a) * (b))
#define GT_FMA_RN(a, b, c) fma(a, b, c)
#elif GT_WIDE_F64 || GT_SUMS_ARE_WIDER
#define GT_ADD_RN(a, b) __dadd_rn(a, b)
#define GT_MUL_RN(a, b) __dmul_rn(a, b)
#define GT_FMA_RN(a, b, c) __fma_rn(a, b, c)
#else
#define GT_ADD_RN(a, b) __fadd_rn(a, b)
#define GT_MUL_RN(a, b) __fmul_rn(a, b)
#define GT_FMA_RN(a, b, c) __fmaf_rn(a, b, c)
#endif

/* A sum of products. */
struct gt_term_sum {
    gt_sum sum;
#if !GT_WIDE_I32
    gt_sum low;  /* the part that `sum` has lost */
    gt_sum size; /* of the terms */
#endif
};

GT_INLINE struct gt_term_sum gt_no_terms(void) {
    struct gt_term_sum none;
    none.sum = 0;
#if !GT_WIDE_I32
    none.low = none.size = 0;
#endif
    return none;
}

/* Adds x y to a sum that needs no rounding. Its size is not asked for. */
GT_INLINE void gt_add_exact(struct gt_term_sum *t, gt_sum x, gt_sum y) {
#if GT_WIDE_I32
    t->sum += x * y;
#else
    t->sum = GT_FMA_RN(x, y, t->sum);
#endif
}

/* Adds x y, by a step of Dot2 unless the type of sums is wider than the products. */
GT_INLINE void gt_add_product(struct gt_term_sum *t, gt_sum x, gt_sum y) {
#if GT_WIDE_I32
    gt_add_exact(t, x, y);
#else
#if GT_SUMS_ARE_WIDER
    t->sum = GT_FMA_RN(x, y, t->sum);
#else
    const gt_sum p = GT_MUL_RN(x, y);
    const gt_sum e = GT_FMA_RN(x, y, -p);
    const gt_sum s = GT_ADD_RN(t->sum, p);
    const gt_sum z = GT_ADD_RN(s, -t->sum);
    const gt_sum f = GT_ADD_RN(GT_ADD_RN(t->sum, -GT_ADD_RN(s, -z)), GT_ADD_RN(p, -z));
    t->sum = s;
    t->low = GT_ADD_RN(t->low, GT_ADD_RN(e, f));
#endif
    t->size = GT_FMA_RN(GT_ABS(x), GT_ABS(y), t->size);
#endif
}

/* *r = alpha t + beta C0 and *s = |alpha| the size of t + |beta| |C0|, with element `at` of
 * C0, which is not read when beta is 0. */
GT_INLINE void gt_put_sum(GT_GLOBAL gt_wide *r, GT_GLOBAL gt_wide *s, struct gt_term_sum *t,
                          gt_sum alpha, gt_sum beta, gt_input c0, gt_long at) {
    gt_sum old = 0;
    if (beta != 0)
        old = gt_get(c0, at, GT_BYTES_C, GT_BITS_C);
#if GT_WIDE_I32
    *r = alpha * t->sum + beta * old;
#else
    struct gt_term_sum out = gt_no_terms();
    gt_add_product(&out, alpha, t->sum);
    gt_add_product(&out, beta, old);
    /* Of an infinite sum no part is lost, but Dot2 would find NaN. */
    const int finite = t->sum - t->sum == 0;
    *r = finite ? (gt_wide)GT_ADD_RN(out.sum, GT_FMA_RN(alpha, t->low, out.low))
                : (gt_wide)(alpha * t->sum + beta * old);
    *s = (gt_wide)(t->size * GT_ABS(alpha) + GT_ABS(beta) * GT_ABS(old));
#endif
}

/* ---- groups of rows ---- */

/* The group of row i. */
GT_INLINE int gt_group_of(GT_GLOBAL const int *ends, int groups, int i) {
    int g = 0;
    while (g < groups - 1 && i >= ends[g])
        g++;
    return g;
}

/* The number of rows before those of group g, and up to its last row. */
GT_INLINE int gt_group_begin(GT_GLOBAL const int *ends, int g) {
    return g > 0 ? ends[g - 1] : 0;
}

GT_INLINE int gt_group_end(GT_GLOBAL const int *ends, int groups, int g, int m) {
    return g < groups - 1 ? ends[g] : m;
}

/* ---- tiles ---- */

/* A block computes tiles of GT_TILE x GT_TILE elements, a thread GT_EACH x GT_EACH of them,
 * from slabs of op(A) and op(B) in shared memory: GT_DEPTH of k, each in a line of
 * GT_SLAB_LD. */
#define GT_TILE 64
#define GT_EACH 4
#define GT_ACROSS (GT_TILE / GT_EACH) /* threads side by side */
#define GT_DEPTH 16
#define GT_SLAB_LD (GT_TILE + 4)
#define GT_SLAB (GT_DEPTH * GT_SLAB_LD)

/* Copies GT_TILE lines of op(A) or op(B) from line `first` on, and GT_DEPTH of k from
 * `depth` on. Lines outside of `begin` to `end`, and all from k on, become 0. With `along`
 * the numbers of a line follow one another in memory, otherwise those of one k. */
GT_INLINE void gt_copy_slab(GT_SHARED gt_sum *slab, gt_input x, gt_long ld, int along,
                            int first, int begin, int end, int depth, int k, int bytes,
                            int bits) {
    for (int e = GT_THREAD_X; e < GT_TILE * GT_DEPTH; e += 256) {
        const int line = along ? e / GT_DEPTH : e % GT_TILE;
        const int p = along ? e % GT_DEPTH : e / GT_TILE;
        const gt_long i = first + line, q = depth + p;
        gt_sum value = 0;
        if (i >= begin && i < end && q < k)
            value = gt_get(x, along ? i * ld + q : q * ld + i, bytes, bits);
        slab[p * GT_SLAB_LD + line] = value;
    }
}

/* Adds `depth` products to each sum of a thread, whose lines begin at `a` and `b`. */
GT_INLINE void gt_add_slab(struct gt_term_sum *t, GT_SHARED const gt_sum *a,
                           GT_SHARED const gt_sum *b, int depth, int exact) {
    for (int p = 0; p < depth; p++, a += GT_SLAB_LD, b += GT_SLAB_LD)
        if (exact) {
            GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++)
                gt_add_exact(&t[e], a[e / GT_EACH], b[e % GT_EACH]);
        } else {
            GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++)
                gt_add_product(&t[e], a[e / GT_EACH], b[e % GT_EACH]);
        }
}

/* ---- the kernels ---- */

/* r = alpha op(A) op(B) + beta C0 and, for floating point, s = |alpha| |A| |B| + |beta|
 * |C0|, both m x n packed, of all products of a batch, in the order of C's matrices. Matrix
 * z of C belongs to matrix (z step_a + shift_a) mod count of A, and so for B. With `groups`
 * above 0 the rows up to ends[g] belong to matrix g of B, and there is one C. With alpha 0
 * or k 0, A and B are not read; with beta 0, C0 is not read. With `exact` no sum needs
 * rounding, and s is not right. */
#define GT_REFERENCE_PARAMS                                                               \
    int m, int n, int k, int ta, int tb, gt_long count, gt_wide alpha, gt_input all_a,    \
        gt_long lda, gt_long stride_a, gt_input all_b, gt_long ldb, gt_long stride_b,     \
        gt_wide beta, gt_input all_c0, gt_long ldc, gt_long stride_c, gt_long step_a,     \
        gt_long shift_a, gt_long step_b, gt_long shift_b, GT_GLOBAL const int *ends,      \
        int groups, int exact, GT_GLOBAL gt_wide *r, GT_GLOBAL gt_wide *s

/* By tiles. A tile is gone through once for each group of its rows. */
GT_KERNEL(gt_reference, 256, 1, 2)(GT_REFERENCE_PARAMS) {
    GT_SHARED_ARRAY(gt_sum, slab, 2 * GT_SLAB);
    const int across = gt_cdiv(n, GT_TILE), depth = alpha == 0 ? 0 : k;
    const gt_long tiles = (gt_long)gt_cdiv(m, GT_TILE) * across;
    const int my_row = GT_THREAD_X / GT_ACROSS * GT_EACH;
    const int my_col = GT_THREAD_X % GT_ACROSS * GT_EACH;
    for (gt_long tile = GT_BLOCK; tile < count * tiles; tile += GT_GRID_SIZE) {
        const gt_long z = tile / tiles;
        const int top = (int)(tile % tiles / across) * GT_TILE;
        const int left = (int)(tile % tiles % across) * GT_TILE;
        const int bottom = GT_MIN(top + GT_TILE, m);
        const int last = gt_group_of(ends, groups, bottom - 1);
        gt_input a = all_a + (z * step_a + shift_a) % count * stride_a * GT_BYTES_A;
        struct gt_term_sum t[GT_EACH * GT_EACH];
        GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++) t[e] = gt_no_terms();
        for (int g = gt_group_of(ends, groups, top); g <= last; g++) {
            const gt_long y = groups > 0 ? g : (z * step_b + shift_b) % count;
            gt_input b = all_b + y * stride_b * GT_BYTES_B;
            const int begin = gt_group_begin(ends, g);
            const int end = gt_group_end(ends, groups, g, m);
            for (int p = 0; p < depth; p += GT_DEPTH) {
                GT_BARRIER();
                gt_copy_slab(slab, a, lda, !ta, top, begin, end, p, depth, GT_BYTES_A,
                             GT_BITS_A);
                gt_copy_slab(slab + GT_SLAB, b, ldb, tb, left, 0, n, p, depth, GT_BYTES_B,
                             GT_BITS_B);
                GT_BARRIER();
                if (top + my_row < m && left + my_col < n)
                    gt_add_slab(t, slab + my_row, slab + GT_SLAB + my_col,
                                GT_MIN(depth - p, GT_DEPTH), exact);
            }
        }
        GT_UNROLL for (int e = 0; e < GT_EACH * GT_EACH; e++) {
            const gt_long i = top + my_row + e / GT_EACH, j = left + my_col + e % GT_EACH;
            const gt_long out = (z * m + i) * n + j, at = z * stride_c + i * ldc + j;
            if (i < m && j < n)
                gt_put_sum(&r[out], &s[out], &t[e], alpha, beta, all_c0, at);
        }
    }
}

/* One thread an element, for products that would fill little of a tile. */
GT_KERNEL(gt_reference_small, 256, 1, 1)(GT_REFERENCE_PARAMS) {
    const gt_long one = (gt_long)m * n, step = (gt_long)GT_GRID_SIZE * 256;
    const int depth = alpha == 0 ? 0 : k;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < count * one; e += step) {
        const gt_long z = e / one, i = e % one / n, j = e % n;
        const gt_long y = groups > 0 ? gt_group_of(ends, groups, (int)i)
                                     : (z * step_b + shift_b) % count;
        gt_input a = all_a + (z * step_a + shift_a) % count * stride_a * GT_BYTES_A;
        gt_input b = all_b + y * stride_b * GT_BYTES_B;
        struct gt_term_sum t = gt_no_terms();
        for (int p = 0; p < depth; p++)
            gt_add_product(
                &t, gt_get(a, ta ? p * lda + i : i * lda + p, GT_BYTES_A, GT_BITS_A),
                gt_get(b, tb ? j * ldb + p : p * ldb + j, GT_BYTES_B, GT_BITS_B));
        gt_put_sum(&r[e], &s[e], &t, alpha, beta, all_c0, z * stride_c + i * ldc + j);
    }
}
