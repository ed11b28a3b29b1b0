/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - what the two sides of a ring of stages in shared memory need: one side fills the
 * stages one after another, the other side reads them. Each stage has two barriers
 * (barriers.h): `full`, at which the copies arrive, and `empty`, at which the readers do.
 * Warps of one kernel have one side each. CUDA from sm_90 on.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
/* A stage, and the parity of how often all stages have been used. */
struct gt_turn {
    int stage, parity;
};

/* The turn after `count` turns. */
GT_INLINE struct gt_turn gt_turn_at(int stages, int count) {
    const struct gt_turn turn = {count % stages, count / stages & 1};
    return turn;
}

GT_INLINE struct gt_turn gt_turn_next(int stages, struct gt_turn now) {
    const int last = now.stage + 1 == stages;
    const struct gt_turn next = {last ? 0 : now.stage + 1, now.parity ^ last};
    return next;
}

/* Arrives at the barrier that has this address in block `rank` of the cluster. It tells
 * that reads have ended, not that stores can be seen there: that would take a fence of the
 * device. */
GT_INLINE void gt_barrier_arrive_in(int at, int rank) {
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(at),
                 "r"(rank)
                 : "memory");
}

/* A barrier of `threads` threads, whole warps. `id` is 1 to 15, one for each set of
 * threads. */
GT_INLINE void gt_group_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* Arrives there without waiting. Threads that wait count as well as those that arrive. */
GT_INLINE void gt_group_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* All four warps of a warpgroup give up registers, down to `count` a thread, or take what
 * others gave up, up to `count`. `count` is a multiple of 8; with 0 nothing happens. */
#define GT_REGISTERS_(count, way)                                                   \
    do {                                                                            \
        if ((count) > 0)                                                            \
            asm volatile("setmaxnreg." way ".sync.aligned.u32 %0;" ::"n"(count));   \
    } while (0)
#define GT_REGISTERS_GIVE(count) GT_REGISTERS_(count, "dec")
#define GT_REGISTERS_TAKE(count) GT_REGISTERS_(count, "inc")
#endif
