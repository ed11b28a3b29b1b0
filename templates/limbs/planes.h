/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.h - the kernel of limbs that splits A and B into planes of bytes.
 */
/* Copies SPLIT_ROWS rows of the slab at k0 to shared memory, with zeros past the edges. */
GT_INLINE void gather(int along, gt_ab *tile, const gt_ab *x, gt_long ld, gt_long row0,
                      int rows, int k0, int k, int t) {
    gt_ab word[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * SPLITTERS;
        const gt_long row = row0 + (along ? e / BK : e % SPLIT_ROWS);
        const int at = k0 + (along ? e % BK : e / SPLIT_ROWS);
        word[i] = row < rows && at < k ? x[along ? row * ld + at : at * ld + row] : 0;
    }
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * SPLITTERS;
        const int row = along ? e / BK : e % SPLIT_ROWS;
        const int at = along ? e % BK : e / SPLIT_ROWS;
        tile[row * SPLIT_LD + at + at / 16] = word[i];
    }
}

/* Sorts the bytes of 4 words: out[i] gets byte i of each. */
GT_INLINE void transpose(unsigned out[LIMBS], const gt_ab in[4]) {
    const unsigned low01 = __byte_perm(in[0], in[1], 0x5140);
    const unsigned low23 = __byte_perm(in[2], in[3], 0x5140);
    const unsigned high01 = __byte_perm(in[0], in[1], 0x7362);
    const unsigned high23 = __byte_perm(in[2], in[3], 0x7362);
    out[0] = __byte_perm(low01, low23, 0x5410);
    out[1] = __byte_perm(low01, low23, 0x7632);
    out[2] = __byte_perm(high01, high23, 0x5410);
    out[3] = __byte_perm(high01, high23, 0x7632);
}

GT_KERNEL(planes, GT_SPLITTERS, 1, 4)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, tile, SPLIT_ROWS * SPLIT_LD);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const int slabs = slabs_of(k, alpha);
    const gt_long rows_a = padded(m, HIGH), rows = rows_a + padded(n, BN);
    const int pieces = (int)(rows / SPLIT_ROWS), slab = GT_BLOCK / pieces;
    const gt_long row0 = GT_BLOCK % pieces * (gt_long)SPLIT_ROWS;
    const int of_b = row0 >= rows_a;
    if (slab >= slabs)
        return;
    if (of_b)
        gather(B_ALONG, tile, b, ldb, row0 - rows_a, n, slab * BK, k, t);
    else
        gather(A_ALONG, tile, a, lda, row0, m, slab * BK, k, t);
    GT_BARRIER();

    const int r = t / CHUNKS, chunk = t % CHUNKS;
    unsigned limb[4][LIMBS];
    GT_UNROLL
    for (int i = 0; i < 4; i++)
        transpose(limb[i], tile + r * SPLIT_LD + chunk * 17 + i * 4);
    byte *to = (byte *)workspace + (slab * rows + row0) * BK + gt_byte_place(BK, r, chunk);
    GT_UNROLL
    for (int i = 0; i < LIMBS; i++) {
        const gt_ab words[4] = {limb[0][i], limb[1][i], limb[2][i], limb[3][i]};
        const int plane = of_b ? LIMBS - 1 - i : i;
        gt_store_global(4, (gt_ab *)(to + plane * (slabs * rows * BK)), words);
    }
}
