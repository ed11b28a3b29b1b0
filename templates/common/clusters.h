/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clusters.h - a cluster is a set of blocks that can read and write each other's shared
 * memory (sm_90 and later).
 *
 * - GT_CLUSTER_BARRIER(yes) waits for all threads of the cluster, or with 0 for those of
 *   the block. The threads of a warp come to it together.
 * - GT_CLUSTER_MEET(yes) does the same, and threads of a warp may come apart.
 * - GT_CLUSTER_ARRIVE() and GT_CLUSTER_WAIT() are the two halves of the cluster's barrier.
 *   All threads call both, and other work may lie between them. Behind these two halves
 *   other threads need not see the stores that a thread made before it arrived, because a
 *   release would wait for all of its stores.
 * - gt_cluster_rank() is the block's number in its cluster.
 * - gt_cluster_load(yes, from, block) loads the gt_acc at `from` in the shared memory of
 *   another block of the cluster, or with 0 in the block's own.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
#define GT_CLUSTER_ARRIVE() \
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define GT_CLUSTER_WAIT() asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
#define GT_CLUSTER_MEET_(yes, aligned)                                                     \
    do {                                                                                   \
        if (yes)                                                                           \
            asm volatile("barrier.cluster.arrive.release" aligned ";\n\t"                  \
                         "barrier.cluster.wait.acquire" aligned ";" ::                     \
                             : "memory");                                                  \
        else                                                                               \
            GT_BARRIER();                                                                  \
    } while (0)
#define GT_CLUSTER_BARRIER(yes) GT_CLUSTER_MEET_(yes, ".aligned")
#define GT_CLUSTER_MEET(yes)    GT_CLUSTER_MEET_(yes, "")

GT_INLINE int gt_cluster_rank(void) {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

GT_INLINE gt_acc gt_cluster_load(int yes, const gt_acc *from, int block) {
    int there = gt_shared_address(from);
    gt_acc value;
    if (!yes)
        return *from;
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(block));
#if GT_FLOAT && GT_SIZEOF_ACC == 8
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(there) : "memory");
#elif GT_FLOAT
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
#else
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
#endif
    return value;
}
#else
#define GT_CLUSTER_BARRIER(yes) GT_BARRIER()
GT_INLINE gt_acc gt_cluster_load(int yes, const GT_SHARED gt_acc *from, int block) {
    return *from;
}
#endif
