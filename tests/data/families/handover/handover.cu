/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover - One warp stores elements of A to a ring of stages, another one reads them there.
 * A stage has two barriers (PTX ISA, mbarrier). The storing warp arrives at `full` and the
 * reading one waits there, the other way round at `empty`. Nothing is missing. racecheck
 * 2025.3 reports hazards all the same.
 */
enum { STAGES = GT_STAGES, LANES = 32 };

/* Tells the other warp, which waits at `barrier`, that this warp is done with a stage. */
GT_INLINE void tell(int barrier) {
    gt_warp_barrier();
    if (GT_THREAD_X % LANES == 0)
        gt_barrier_arrive(barrier);
}

GT_KERNEL(gemm, 2 * LANES, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, ring, STAGES * (LANES + 4));
    const gt_long e = GT_BLOCK * (gt_long)LANES + GT_THREAD_X % LANES;
    const int i = GT_MIN((int)(e / n), m - 1), j = (int)(e % n);
    const int full = gt_shared_address(ring + STAGES * LANES), empty = full + STAGES * 8;
    const int depth = alpha == (gt_acc)0 ? 0 : k;
    gt_acc acc = 0;

    if (GT_THREAD_X == 0) {
        for (int s = 0; s < 2 * STAGES; s++)
            gt_barrier_init(full + s * 8, 1);
        gt_barrier_init_done();
    }
    GT_BARRIER();
    for (int p = 0; p < depth; p++) {
        const int s = p % STAGES, parity = p / STAGES % 2;
        gt_acc *const at = ring + s * LANES + GT_THREAD_X % LANES;
        if (GT_THREAD_X < LANES) {
            gt_barrier_wait(empty + s * 8, parity ^ 1);
            *at = a[i * lda + p];
            tell(full + s * 8);
        } else {
            gt_barrier_wait(full + s * 8, parity);
            acc = gt_fma(*at, b[p * ldb + j], acc);
            tell(empty + s * 8);
        }
    }
    if (GT_THREAD_X >= LANES && e < m * (gt_long)n)
        gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
