/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barriers.h - barriers in shared memory at which threads and copies arrive. A barrier is
 * named by its address (PTX ISA, mbarrier). CUDA from sm_90 on.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
GT_INLINE void gt_barrier_init(int at, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals)
                 : "memory");
}

/* Call it after the last gt_barrier_init, before a barrier of the block. Copies then see
 * the new barriers as well. */
GT_INLINE void gt_barrier_init_done(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

GT_INLINE void gt_barrier_arrive(int at) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

/* Arrives, and makes the phase wait for `bytes` of copies as well. */
GT_INLINE void gt_barrier_arrive_expecting(int at, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                 "r"(bytes)
                 : "memory");
}

/* Whether the phase of this parity has passed. */
GT_INLINE int gt_barrier_passed(int at, int parity) {
    int passed;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.s32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(passed)
                 : "r"(at), "r"(parity)
                 : "memory");
    return passed;
}

/*
 * Waits until the phase of this parity has passed. A mistake must lead neither to an
 * endless kernel nor to a wrong result. So a wait that is never fulfilled ends in a trap,
 * which fails the launch, after 2^28 clocks (part of a second) and 2^16 polls. Clocks alone
 * are not enough: clocks also pass while another process has the device.
 */
GT_INLINE void gt_barrier_wait(int at, int parity) {
    unsigned since = 0;
    for (int asked = 0; !gt_barrier_passed(at, parity); asked++) {
        if (asked == 0)
            since = (unsigned)clock();
        else if (asked >> 16 != 0 && ((unsigned)clock() - since) >> 28 != 0)
            asm volatile("trap;");
    }
}

GT_INLINE void gt_warp_barrier(void) {
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

/* Bulk copies and tensor cores see what the calling thread stored to shared memory before
 * this. */
GT_INLINE void gt_async_sees_stores(void) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#endif
