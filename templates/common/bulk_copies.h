/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bulk_copies.h - copies of contiguous bytes between global and shared memory. One thread
 * starts a copy. Places in shared memory are addresses. Both places and the number of bytes
 * are multiples of 16. CUDA from sm_90 on.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
/* Starts to copy to shared memory. The bytes count as arrived at the barrier
 * (barriers.h). */
GT_INLINE void gt_bulk_load(int to, const void *from, int bytes, int barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* The same to each block of the cluster whose bit is set in `blocks`: to this address
 * there, with the barrier at this address there. */
GT_INLINE void gt_bulk_load_to(int to, const void *from, int bytes, int barrier,
                               int blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "h"((short)blocks)
                 : "memory");
}

/* Starts to copy from shared memory. The copy belongs to the thread's open group. */
GT_INLINE void gt_bulk_store(void *to, int from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
}

/* Closes the thread's group of copies from shared memory. */
GT_INLINE void gt_bulk_stores_commit(void) {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until at most the `n` newest groups of this thread still read shared memory. */
#define GT_BULK_STORES_READ(n) \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
#endif
