/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - the groups of pipeline: how the matrices of a group come to a stage, and how
 * its gathered sums leave.
 */
/* The batch that a block walks through. `products` is 0 where A and B are not needed. */
struct batch {
    struct inputs a, b;
    int products;
#if GT_POINTERS
    gt_c *const *c;
    int all;                /* products; those of `products` may be 0 */
    struct pointers *table; /* of as many groups as there are stages */
#endif
};

/* The number of products of a group that exist. */
GT_INLINE int count_of(gt_long group, int products) {
    return (int)GT_MAX(GT_MIN((gt_long)COUNT, products - group * COUNT), 0);
}

/* The number of elements ahead of a group's run in the piece of 16 bytes where it begins. A
 * run of whole pieces has none. In shared memory a run has the same place in a piece. */
GT_INLINE int shift_of(int is_run, gt_long group, int one, int piece) {
    const int run = COUNT * one % piece;
    return run != 0 && is_run ? (int)(group % piece) * run % piece : 0;
}

/* The same of an operand whose matrices have `one` elements. */
GT_INLINE int shift_in(struct inputs from, gt_long group, int one) {
    return GT_POINTERS || GT_PAD ? 0 : shift_of(from.whole, group, one, VECTOR);
}

#if GT_POINTERS
/* Starts to copy pointer number GT_THREAD_X of the `count` ones at `from`. */
GT_INLINE void copy_pointer(void *to, const void *from, int count) {
    enum { BYTES = sizeof(void *) };
    if (GT_THREAD_X < count)
        gt_copy_async(BYTES / sizeof(gt_ab), (gt_ab *)((char *)to + GT_THREAD_X * BYTES),
                      (const gt_ab *)((const char *)from + GT_THREAD_X * BYTES));
}

/* The same of a group's pointers to matrices of A and B, and of C. */
GT_INLINE void point_to_inputs(const struct batch *from, int place, gt_long group) {
    const int count = count_of(group, from->products);
    copy_pointer(from->table[place].a, from->a.at + group * COUNT, count);
    copy_pointer(from->table[place].b, from->b.at + group * COUNT, count);
}

GT_INLINE void point_to_outputs(const struct batch *from, int place, gt_long group) {
    copy_pointer(from->table[place].c, from->c + group * COUNT,
                 count_of(group, from->all));
}

/* Starts to copy the pointers to a group's matrices of C, and those to the matrices of A
 * and B that are fetched AHEAD groups later. The group before this one has left their
 * place. */
GT_INLINE void point_ahead(const struct batch *from, int place, gt_long group) {
    point_to_outputs(from, place, group);
    point_to_inputs(from, place > 0 ? place - 1 : AHEAD,
                    group + (gt_long)AHEAD * gridDim.x);
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

#if GT_BULK
/* Whether the rests of runs come by copies of their own. Bulk copies of later groups write
 * to the same places, and must see these copies as done. `send` sees to it as well. */
enum {
    RESTS = !GT_POINTERS && (COUNT * ONE_A % VECTOR != 0 || COUNT * ONE_B % VECTOR != 0)
};

/* Starts to copy `end` elements from a piece on. A rest of less than a piece comes by a
 * copy of its own. */
GT_INLINE void copy_run(gt_ab *to, const gt_ab *at, int end, int full) {
    const int whole = end / VECTOR * VECTOR;
    if (whole > 0)
        load_bulk(to, at, whole * sizeof(gt_ab), full);
    if (whole < end)
        gt_copy_some(VECTOR, to + whole, at + whole, end - whole);
}
#endif

#if OWN_MATRICES
/* Thread z copies the matrices of product z of a group. Bulk copies arrive at `full`. */
GT_INLINE void fetch_own(gt_ab *stage, struct inputs a, struct inputs b, int count,
                         int full) {
    const int z = GT_THREAD_X;
    if (z < count) {
        gt_barrier_arrive_expecting(full, (ONE_A / VECTOR + ONE_B / VECTOR) * 16);
        copy_run(stage + z * PITCH_A, MATRIX(a, z), ONE_A, full);
        copy_run(stage + GT_RUN_A + z * PITCH_B, MATRIX(b, z), ONE_B, full);
    } else if (count > 0 && z < COUNT) {
        gt_barrier_arrive(full);
    }
}
#endif

/* Starts to copy an operand of a group to its place in a stage. */
#if GT_POINTERS
#define FETCH_OPERAND(operand, place, from) fetch_##operand(place, from, count);
#elif GT_PAD
#define FETCH_OPERAND(operand, place, from)                                                \
    if (is_fetched(from, group))                                                           \
        fetch_##operand(place, from, count);
#else
#define FETCH_OPERAND(operand, place, from)                                                \
    if (from.whole && count == COUNT)                                                      \
        fetch_whole_##operand(place, from.at, shift_in(from, group, ONE_##operand));       \
    else if (is_fetched(from, group))                                                      \
        fetch_##operand(place + shift_in(from, group, ONE_##operand), from, count);
#endif

/* Starts to copy a group to stage number `place`. Bulk copies arrive at `full`. */
GT_INLINE void fetch(gt_ab *stage, int place, const struct batch *from, gt_long group,
                     int full) {
    const int count = count_of(group, from->products);
    struct inputs a = from->a, b = from->b;
#if GT_POINTERS
    point_ahead(from, place, group);
    a.at = from->table[place].a, b.at = from->table[place].b;
#else
    a.at += group * COUNT * a.stride, b.at += group * COUNT * b.stride;
#endif
#if OWN_MATRICES
    fetch_own(stage, a, b, count, full);
#else
#if GT_BULK
    if (is_whole(from, count)) {
        const int to_a = shift_in(a, group, ONE_A), end_a = to_a + COUNT * ONE_A;
        const int to_b = shift_in(b, group, ONE_B), end_b = to_b + COUNT * ONE_B;
        if (GT_THREAD_X == 0) {
            gt_barrier_arrive_expecting(full, (end_a / VECTOR + end_b / VECTOR) * 16);
            copy_run(stage, a.at - to_a, end_a, full);
            copy_run(stage + GT_RUN_A, b.at - to_b, end_b, full);
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

#if OWN_MATRICES
/* Thread z stores matrix z of the gathered ones. */
GT_INLINE void store_own(struct outputs c, int z) {
    enum { WHOLE = ONE_C / VECTOR_C * VECTOR_C };
    const gt_c *const from = c.gathered + z * PITCH_C;
    gt_c *const to = MATRIX(c, z);
    if (WHOLE > 0)
        store_bulk(to, from, WHOLE * sizeof(gt_c));
    for (int e = WHOLE; e < ONE_C; e++)
        to[e] = from[e];
}
#endif

/* Stores the gathered sums of `count` products. All threads call it. */
GT_INLINE void send(struct outputs c, int count) {
#if GT_BULK
    gt_async_sees_stores();
#endif
    GT_BARRIER(); /* the sums are there */
#if OWN_MATRICES
    if (GT_THREAD_X < count)
        store_own(c, GT_THREAD_X);
    gt_bulk_stores_commit();
#else
#if GT_BULK
    if (count == COUNT && c.ld == COLS && c.stride == ONE_C) {
        enum { RUN = COUNT * ONE_C, EVEN = RUN % VECTOR_C == 0 };
        /* Pieces of which neighbours have a part are left out. Their elements are stored
         * one by one. */
        const int first = EVEN ? 0 : (VECTOR_C - c.shift) % VECTOR_C;
        const int end = (c.shift + RUN) / VECTOR_C * VECTOR_C - c.shift;
        const int last = EVEN ? RUN : GT_MAX(first, end);
        const int e = GT_THREAD_X < first ? GT_THREAD_X : last + GT_THREAD_X - first;
        if (GT_THREAD_X == 0) {
            if (EVEN || first < last)
                store_bulk(c.at + first, c.gathered + first,
                           (last - first) * (int)sizeof(gt_c));
            gt_bulk_stores_commit();
        }
        if (!EVEN && e < RUN)
            c.at[e] = c.gathered[e];
        return;
    }
#endif
    store_run(c, count);
#endif
}
