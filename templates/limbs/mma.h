/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mma.h - slabs and products of limbs with mma.sync: all threads copy, warps multiply.
 */
#if GT_ENGINE == 0
GT_INLINE void copy_chunk(int to, const byte *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

/* 16 x 32 bytes by 32 x 8. Without .satfinite the sums wrap. */
GT_INLINE void multiply_add(gt_acc d[4], const unsigned a[4], const unsigned b[2]) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Starts to copy the next slabs, if there are any, to a stage. */
GT_INLINE void fetch(struct walk *w, int stage, int t) {
    if (w->next_a) {
        GT_UNROLL
        for (int i = 0; i < SLAB_A / 16 / GT_THREADS; i++)
            copy_chunk(stage + (t + i * GT_THREADS) * 16,
                       w->next_a + (t + i * GT_THREADS) * 16);
        GT_UNROLL
        for (int i = 0; i < SLAB_B / 16 / GT_THREADS; i++)
            copy_chunk(stage + SLAB_A + (t + i * GT_THREADS) * 16,
                       w->next_b + (t + i * GT_THREADS) * 16);
        advance(w);
    }
    GT_COPY_COMMIT();
}

/* acc += the warp's rows of slab A x its columns of slab B, from warp_m and warp_n on. */
GT_INLINE void multiply(gt_acc acc[ACCS], int stage, int warp_m, int warp_n, int lane) {
    gt_multiply_byte_tiles<BK, FRAGS_M, FRAGS_N, gt_acc, multiply_add>(
        acc, stage, stage + SLAB_A, warp_m, warp_n, lane);
}

GT_INLINE void compute(gt_acc acc[ACCS], struct walk *w, byte *stages, int warp_m,
                       int warp_n, int t) {
    const int at = gt_shared_address(stages);
    int now = 0, free = STAGES - 1;
    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++)
        fetch(w, at + s * SLAB, t);
    GT_UNROLL_BY(1)
    for (int group = LIMBS - 1; group >= 0; group--) {
        GT_UNROLL_BY(1)
        for (int s = (group + 1) * w->slabs; s > 0; s--) {
            GT_COPY_WAIT(STAGES - 2);
            GT_BARRIER(); /* the stage is there, and the one before it has been read */
            fetch(w, at + free * SLAB, t);
            multiply(acc, at + now * SLAB, warp_m, warp_n, t % 32);
            free = now;
            now = now + 1 < STAGES ? now + 1 : 0;
        }
        if (group > 0)
            shift(acc);
    }
}
#endif
