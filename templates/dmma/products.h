/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products.h - a warp of dmma reads its operands of a step from a slab and multiplies them.
 */
/* c += a b for INSTR_M x 8 of the tile. c0 and a0 are the first 8 rows, c1 and a1 the
 * others. */
GT_INLINE void mma(gt_acc *c0, gt_acc *c1, const gt_ab *a0, const gt_ab *a1,
                   const gt_ab *b) {
#if GT_INSTR_M == 8
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c0[0]), "+d"(c0[1])
        : "d"(a0[0]), "d"(b[0]));
#elif GT_INSTR_K == 4
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
        : "d"(a0[0]), "d"(a1[0]), "d"(b[0]));
#else
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
        : "d"(a0[0]), "d"(a1[0]), "d"(a0[1]), "d"(a1[1]), "d"(b[0]), "d"(b[1]));
#endif
}

struct operands {
    gt_ab a[GM * HELD], b[GN * HELD];
};

/*
 * The k of a slab that a lane holds in square q. Two squares hold 0 1 2 3, 4 5 6 7, or with
 * ODD 0 2 4 6, 1 3 5 7, so that lanes that read together read rows of one shift. A and B
 * have the same order, so the sum is the same.
 */
GT_INLINE int k_of(int q, int lane) {
    return ODD ? q / 2 * 8 + lane % 4 * 2 + q % 2 : q * 4 + lane % 4;
}

/* The places where a lane reads squares. With ODD there is one for even and one for odd q;
 * otherwise 4 along a row, since the pattern repeats after 16 elements. */
struct places {
    int at[4];
};

/* The places for squares from (w0, k0) of the slabs of x on. */
GT_INLINE struct places places_of(int along, int stride, int w0, int k0,
                                  const GT_GLOBAL gt_ab *x, gt_long ld, int lane) {
    struct places p;
    GT_UNROLL
    for (int i = 0; i < 4; i++) {
        const int q = along || ODD ? i : 0;
        const int w = w0 + (along || ODD ? 0 : 8 * i) + lane / 4, k = k0 + k_of(q, lane);
        p.at[i] = along ? w * stride + ((k ^ swizzle(w)) + shift(x, ld, w))
                        : k * stride + ((w ^ swizzle(k)) + shift(x, ld, k));
    }
    return p;
}

/* The place of the square with number i along the width and q along k. */
GT_INLINE int square_at(int along, int stride, const struct places *p, int i, int q) {
    if (ODD)
        return p->at[q % 2] +
               (along ? q / 2 * 8 + i * 8 * stride : q / 2 * 8 * stride + i * 8);
    return along ? p->at[q % 4] + q / 4 * 16 + i * 8 * stride
                 : p->at[i % 2] + i / 2 * 16 + q * 4 * stride;
}

GT_INLINE void load(int along, int stride, int groups, gt_ab *f, const GT_SHARED gt_ab *s,
                    const struct places *p, int step) {
    GT_UNROLL
    for (int i = 0; i < groups; i++)
        GT_UNROLL
        for (int h = 0; h < HELD; h++)
            f[i * HELD + h] = s[square_at(along, stride, p, i, step * HELD + h)];
}

/* Loads a warp's operands of one step. */
GT_INLINE void load_step(struct operands *x, const GT_SHARED gt_ab *stage,
                         const struct places *in_a, const struct places *in_b, int step) {
    load(A_ALONG, LDA_S, GM, x->a, stage, in_a, step);
    load(B_ALONG, LDB_S, GN, x->b, stage + SLAB_A, in_b, step);
}

GT_INLINE void multiply(gt_acc *acc, const struct operands *x) {
    GT_UNROLL
    for (int q = 0; q < HELD; q += GT_INSTR_K / 4)
        GT_UNROLL
        for (int i = 0; i < GM; i += GT_INSTR_M / 8)
            GT_UNROLL
            for (int j = 0; j < GN; j++) {
                gt_acc *c = acc + 2 * (i * GN + j);
                mma(c, c + (GT_INSTR_M / 8 - 1) * 2 * GN, x->a + i * HELD + q,
                    x->a + (i + GT_INSTR_M / 8 - 1) * HELD + q, x->b + j * HELD + q);
            }
}
