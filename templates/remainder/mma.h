/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mma.h - slabs and products of remainder with mma.sync: all threads copy, warps multiply.
 */
#if GT_ENGINE == 0
GT_INLINE void copy_chunk(char *to, const byte *from) {
#if __CUDA_ARCH__ >= 800
    gt_bytes_copy(16, to, (const char *)from, 16);
#else
    unsigned word[4];
    gt_load_words(16, 1, word, (const char *)from, 16);
    gt_store_words(16, to, word);
#endif
}

/* 16 x 32 bytes by 32 x 8; with sm_75 8 x 16 by 16 x 8. */
GT_INLINE void multiply_add(int d[4], const unsigned a[4], const unsigned b[2]) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    GT_UNROLL
    for (int i = 0; i < 4; i++) /* the upper rows, then the lower ones; halves of k */
        asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, "
            "{%0, %1};"
            : "+r"(d[i / 2 * 2]), "+r"(d[i / 2 * 2 + 1])
            : "r"(a[i / 2 + i % 2 * 2]), "r"(b[i % 2]));
#endif
}

/* Starts to copy the next slabs, if there are any, to a stage. */
GT_INLINE void fetch(struct walk *w, char *stage, int t) {
    if (w->left > 0) {
        GT_UNROLL
        for (int i = 0; i < SLAB_A / 16 / WORKERS; i++)
            copy_chunk(stage + (t + i * WORKERS) * 16, w->a + (t + i * WORKERS) * 16);
        GT_UNROLL
        for (int i = 0; i < SLAB_B / 16 / WORKERS; i++)
            copy_chunk(stage + SLAB_A + (t + i * WORKERS) * 16,
                       w->b + (t + i * WORKERS) * 16);
        w->a += w->step;
        w->b += w->step;
        w->left--;
    }
    GT_BYTES_COMMIT();
}

/* acc += the warp's rows of slab A x its columns of slab B, from warp_m and warp_n on. */
GT_INLINE void multiply(int acc[FRAGS][4], int stage, int warp_m, int warp_n, int lane) {
    gt_multiply_byte_tiles<BK, FRAGS_M, FRAGS_N, int, multiply_add>(
        acc[0], stage, stage + SLAB_A, warp_m, warp_n, lane);
}

/* A ring of stages that all threads fill and read. */
struct ring {
    char *stages;
    struct walk walk;
    int now, free; /* the stage in use next, and the one that was read last */
};

GT_INLINE struct ring ring_of(char *stages) {
    const struct ring r = {stages, {0, 0, 0, 0}, 0, STAGES - 1};
    return r;
}

/* Starts the copies of the first slabs of a walk. */
GT_INLINE void start(struct ring *r, struct walk w, int t) {
    r->walk = w, r->now = 0, r->free = STAGES - 1;
    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++)
        fetch(&r->walk, r->stages + s * SLAB, t);
}

/* acc += the product of some slabs. */
GT_INLINE void multiply_slabs(int acc[FRAGS][4], struct ring *r, int slabs, int t) {
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the stage is there, and the one before it has been read */
        fetch(&r->walk, r->stages + r->free * SLAB, t);
        multiply(acc, gt_shared_address(r->stages + r->now * SLAB), warp_m_of(t),
                 warp_n_of(t), t % 32);
        r->free = r->now;
        r->now = r->now + 1 < STAGES ? r->now + 1 : 0;
    }
}

#define GT_WORKERS_BARRIER() GT_BARRIER()

#endif
