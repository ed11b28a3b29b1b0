/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - the groups of pipeline: how the matrices of a group come to a stage, and how
 * its gathered sums leave.
 */
/* The batch that a block walks through. own_a and own_b are the matrices of the next group
 * that this thread copies (OWN_MATRICES). */
struct batch {
    struct inputs a, b;
    int products;
    const gt_ab *own_a, *own_b;
};

/* The number of products of a group that exist. */
GT_INLINE int count_of(gt_long group, int products) {
    return (int)GT_MAX(GT_MIN((gt_long)COUNT, products - group * COUNT), 0);
}

#if OWN_MATRICES
/* Asks for the pointers to the thread's matrices of a group. */
GT_INLINE void own_pointers(struct batch *from, gt_long group) {
    if (GT_THREAD_X < count_of(group, from->products)) {
        from->own_a = from->a.at[group * COUNT + GT_THREAD_X];
        from->own_b = from->b.at[group * COUNT + GT_THREAD_X];
    }
}
#endif

/* Whether a group's matrices of an operand are copied. A matrix that all products share
 * stays in the stages, COUNT times, once they have been filled. */
GT_INLINE int is_fetched(struct inputs from, gt_long group) {
    return from.stride != 0 || group - GT_BLOCK < (gt_long)STAGES * gridDim.x;
}

/* Whether both operands of a group are runs. With BULK, such a group is copied in bulk. */
GT_INLINE int is_whole(const struct batch *from, int count) {
    return from->a.whole && from->b.whole && count == COUNT;
}

#if OWN_MATRICES || OWN_C
/* Whether a matrix with rows of `length` elements can be copied in bulk. */
GT_INLINE int is_piece(const void *at, gt_long ld, int length) {
    return IS_ALIGNED(at) && ld == length;
}
#endif

#if OWN_MATRICES
/* Copies a matrix of `one` elements to shared memory, element by element. */
GT_INLINE void copy_elements(gt_ab *to, const gt_ab *at, gt_long ld, int length, int one) {
    GT_UNROLL_BY(1)
    for (int e = 0; e < one; e++)
        to[e] = at[e / length * ld + e % length];
}

/* Thread z copies the matrices of product z of a group, in bulk where that is possible.
 * Bulk copies arrive at `full`. The thread then asks for the pointers of the group that
 * follows. */
GT_INLINE void fetch_own(gt_ab *stage, struct batch *from, gt_long group, int count,
                         int full) {
    const int z = GT_THREAD_X;
    gt_ab *const to_a = stage + z * ONE_A, *const to_b = stage + GT_RUN_A + z * ONE_B;
    if (z < count) {
        const int bulk_a = is_piece(from->own_a, from->a.ld, LENGTH_A);
        const int bulk_b = is_piece(from->own_b, from->b.ld, LENGTH_B);
        if (!bulk_a)
            copy_elements(to_a, from->own_a, from->a.ld, LENGTH_A, ONE_A);
        if (!bulk_b)
            copy_elements(to_b, from->own_b, from->b.ld, LENGTH_B, ONE_B);
        gt_barrier_arrive_expecting(full, bulk_a * GT_BYTES_A + bulk_b * GT_BYTES_B);
        if (bulk_a)
            load_bulk(to_a, from->own_a, GT_BYTES_A, full);
        if (bulk_b)
            load_bulk(to_b, from->own_b, GT_BYTES_B, full);
    } else if (count > 0 && z < COUNT) {
        gt_barrier_arrive(full);
    }
    own_pointers(from, group + gridDim.x);
}
#endif

/* Starts to copy an operand of a group to its place in a stage. */
#if !GT_POINTERS
#define BEGIN_WITH(x) ((x).at += group * COUNT * (x).stride)
#define FETCH_OPERAND(operand, place, from)                                                \
    if (from.whole && count == COUNT)                                                      \
        fetch_whole_##operand(place, from.at);                                             \
    else if (is_fetched(from, group))                                                      \
        fetch_##operand(place, from, count);
#else
#define BEGIN_WITH(x) ((x).at += group * COUNT)
#define FETCH_OPERAND(operand, place, from) fetch_##operand(place, from, count);
#endif

/* Starts to copy a group to a stage. Bulk copies arrive at `full`. */
GT_INLINE void fetch(gt_ab *stage, struct batch *from, gt_long group, int full) {
    const int count = count_of(group, from->products);
#if OWN_MATRICES
    fetch_own(stage, from, group, count, full);
#else
    struct inputs a = from->a, b = from->b;
    BEGIN_WITH(a), BEGIN_WITH(b);
#if GT_BULK && !GT_POINTERS
    if (is_whole(from, count)) {
        enum { BYTES_A = COUNT * GT_BYTES_A, BYTES_B = COUNT * GT_BYTES_B };
        if (GT_THREAD_X == 0) {
            gt_barrier_arrive_expecting(full, BYTES_A + BYTES_B);
            load_bulk(stage, a.at, BYTES_A, full);
            load_bulk(stage + GT_RUN_A, b.at, BYTES_B, full);
        }
    } else
#endif
    {
        FETCH_OPERAND(A, stage, a)
        FETCH_OPERAND(B, stage + GT_RUN_A, b)
    }
#endif
    GT_COPY_COMMIT();
}

/* Waits until a group is there: for the copies of this thread, and for all bulk copies. */
GT_INLINE void await(const struct batch *from, gt_long group, int full, int parity) {
    const int count = count_of(group, from->products);
    GT_COPY_WAIT(STAGES - 2);
#if GT_BULK
    if (OWN_MATRICES ? count > 0 : is_whole(from, count))
        gt_barrier_wait(full, parity);
#endif
}

#if OWN_C
/* Thread z stores matrix z of the gathered ones, in bulk where that is possible. */
GT_INLINE void store_own(struct outputs c, gt_c *at) {
    const gt_c *const from = c.gathered + GT_THREAD_X * ONE_C;
    const int is_bulk = is_piece(at, c.ld, COLS);
    if (is_bulk)
        store_bulk(at, from, GT_BYTES_C);
    GT_UNROLL_BY(1)
    for (int e = 0; e < ONE_C && !is_bulk; e++)
        at[e / COLS * c.ld + e % COLS] = from[e];
}
#endif

/* Stores the gathered sums of `count` products. All threads call it. `own`: with OWN_C, the
 * matrix that this thread stores. */
GT_INLINE void send(struct outputs c, int count, gt_c *own) {
#if GT_BULK
    gt_async_sees_stores();
#endif
    GT_BARRIER(); /* the sums are there */
#if OWN_C
    if (GT_THREAD_X < count)
        store_own(c, own);
    gt_bulk_stores_commit();
#else
#if GT_BULK && !GT_POINTERS
    if (count == COUNT && c.ld == COLS && c.stride == ONE_C) {
        if (GT_THREAD_X == 0) {
            store_bulk(c.at, c.gathered, COUNT * GT_BYTES_C);
            gt_bulk_stores_commit();
        }
        return;
    }
#endif
    store_run(c, count);
#endif
}
