/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - copies of runs of A and B to shared memory, and bulk copies both ways.
 */
/* FETCH_WHOLE defines a function that starts to copy a run of COUNT matrices to shared
 * memory. The function of FETCH copies any `count` matrices. */
#define FETCH_WHOLE(operand)                                                               \
    GT_INLINE void fetch_whole_##operand(gt_ab *to, const gt_ab *from) {                   \
        enum { PIECES = COUNT * ONE_##operand / VECTOR };                                  \
        GT_UNROLL_BY(8)                                                                    \
        for (int i = 0; i < GT_CDIV(PIECES, GT_THREADS); i++) {                            \
            const int e = GT_THREAD_X + i * GT_THREADS;                                    \
            if (PIECES % GT_THREADS == 0 || e < PIECES)                                    \
                gt_copy_async(VECTOR, to + PLACE_IN(operand, e * VECTOR),                  \
                              from + e * VECTOR);                                          \
        }                                                                                  \
    }
#if GT_POINTERS
/* Each matrix may be aligned otherwise. In shared memory a matrix that is no whole number
 * of pieces need not begin with a piece. A thread asks for AT_ONCE pointers before it needs
 * the first. */
enum { AT_ONCE = 4 };
#define FETCH(operand)                                                                     \
    enum { WIDTH_##operand = ONE_##operand % VECTOR == 0 ? VECTOR : 1 };                   \
    GT_INLINE void fetch_piece_##operand(gt_ab *to, const gt_ab *at, gt_long ld, int x) {  \
        enum { ONE = ONE_##operand, LENGTH = LENGTH_##operand, WIDTH = WIDTH_##operand };  \
        const int e = x % ONE;                                                             \
        if (WIDTH > 1 && in_pieces(at, ld, ONE, sizeof(gt_ab), LENGTH, ONE))               \
            gt_copy_async(WIDTH, to + PLACE_IN(operand, x),                                \
                          at + piece_place(e, sizeof(gt_ab), LENGTH, ONE, ld, ONE));       \
        else                                                                               \
            GT_UNROLL_BY(1)                                                                \
            for (int v = 0; v < WIDTH; v++)                                                \
                gt_copy_async(1, to + PLACE_IN(operand, x + v),                            \
                              at + (e + v) / LENGTH * ld + (e + v) % LENGTH);              \
    }                                                                                      \
    GT_INLINE void fetch_##operand(gt_ab *to, struct inputs from, int count) {             \
        enum { WIDTH = WIDTH_##operand, STRIDE = GT_THREADS * WIDTH };                     \
        const int end = count * ONE_##operand;                                             \
        GT_UNROLL_BY(1)                                                                    \
        for (int x = GT_THREAD_X * WIDTH; x < end; x += AT_ONCE * STRIDE) {                \
            const gt_ab *at[AT_ONCE];                                                      \
            GT_UNROLL                                                                      \
            for (int i = 0; i < AT_ONCE; i++)                                              \
                at[i] = MATRIX(from, GT_MIN(x + i * STRIDE, end - 1) / ONE_##operand);     \
            GT_UNROLL                                                                      \
            for (int i = 0; i < AT_ONCE; i++)                                              \
                if (x + i * STRIDE < end)                                                  \
                    fetch_piece_##operand(to, at[i], from.ld, x + i * STRIDE);             \
        }                                                                                  \
    }
#else
#define FETCH(operand)                                                                     \
    GT_INLINE void fetch_##operand(gt_ab *to, struct inputs from, int count) {             \
        enum { ONE = ONE_##operand, LENGTH = LENGTH_##operand };                           \
        const int all = count * ONE;                                                       \
        int e = GT_THREAD_X;                                                               \
        if (in_pieces(from.at, from.ld, from.stride, sizeof(gt_ab), LENGTH, ONE)) {        \
            GT_UNROLL_BY(1)                                                                \
            for (; e < all / VECTOR; e += GT_THREADS)                                      \
                gt_copy_async(VECTOR, to + PLACE_IN(operand, e * VECTOR),                  \
                              from.at + piece_place(e * VECTOR, sizeof(gt_ab), LENGTH,     \
                                                    ONE, from.ld, from.stride));           \
            e = all / VECTOR * VECTOR + GT_THREAD_X;                                       \
        }                                                                                  \
        GT_UNROLL_BY(1)                                                                    \
        for (; e < all; e += GT_THREADS)                                                   \
            gt_copy_async(1, to + PLACE_IN(operand, e),                                    \
                          from.at + e / ONE * from.stride + e % ONE / LENGTH * from.ld +   \
                              e % LENGTH);                                                 \
    }
#endif
FETCH_WHOLE(A)
FETCH_WHOLE(B)
FETCH(A)
FETCH(B)

#if GT_BULK
/* Starts to copy `bytes` to shared memory, where they arrive at `barrier`. */
GT_INLINE void load_bulk(const void *to, const void *from, int bytes, int barrier) {
    gt_bulk_load(gt_shared_address(to), from, bytes, barrier);
}

GT_INLINE void store_bulk(void *to, const void *from, int bytes) {
    gt_bulk_store(to, gt_shared_address(from), bytes);
}
#endif
