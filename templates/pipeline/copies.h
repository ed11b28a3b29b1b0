/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - copies of A and B to shared memory, as runs or row by row, and bulk copies
 * both ways.
 */
#if GT_PAD
/* FETCH defines a function that starts to copy the rows of `count` matrices to lines of
 * shared memory. Neighbouring threads copy a row's pieces. A thread has the same piece of
 * rows AT_ONCE apart, so that the loop has no division where rows follow each other. */
#define FETCH(operand)                                                                     \
    GT_INLINE void fetch_##operand(gt_ab *to, struct inputs from, int count) {             \
        enum {                                                                             \
            LENGTH = LENGTH_##operand, LINE = LINE_##operand, LINES = LINES_##operand,     \
            WIDE_PIECE = GT_PIECE_##operand / sizeof(gt_ab), PIECES = LENGTH / WIDE_PIECE, \
            AT_ONCE = GT_THREADS / PIECES                                                  \
        };                                                                                 \
        const int first = GT_THREAD_X / PIECES, at = GT_THREAD_X % PIECES * WIDE_PIECE;    \
        const int lines = first < AT_ONCE ? count * LINES : 0;                             \
        if (from.whole)                                                                    \
            GT_UNROLL_BY(8)                                                                \
            for (int i = first; i < lines; i += AT_ONCE)                                   \
                gt_copy_async(WIDE_PIECE, to + i * LINE + at, from.at + i * LENGTH + at);  \
        else                                                                               \
            GT_UNROLL_BY(1)                                                                \
            for (int i = first; i < lines; i += AT_ONCE)                                   \
                gt_copy_async(WIDE_PIECE, to + i * LINE + at,                              \
                              from.at + i / LINES * from.stride + i % LINES * from.ld +    \
                                  at);                                                     \
    }
#elif GT_POINTERS
/* FETCH defines a function that starts to copy `count` matrices.
 * The last piece of a matrix may be a part of one. Threads share the pieces of a matrix
 * that has one for each; otherwise those of all matrices. */
#define FETCH(operand)                                                                     \
    GT_INLINE void fetch_piece_##operand(gt_ab *to, const gt_ab *at, gt_long ld, int e,    \
                                         int place) {                                      \
        enum { ONE = ONE_##operand, LENGTH = LENGTH_##operand };                           \
        gt_ab *const to_piece = to + PLACE_IN(operand, place + e);                         \
        const gt_ab *const piece =                                                         \
            at + piece_place(e, sizeof(gt_ab), LENGTH, ONE, ld, ONE);                      \
        if (ONE % VECTOR == 0 || e + VECTOR <= ONE)                                        \
            gt_copy_async(VECTOR, to_piece, piece);                                        \
        else                                                                               \
            gt_copy_some(VECTOR, to_piece, piece, ONE - e);                                \
    }                                                                                      \
    GT_INLINE void fetch_##operand(gt_ab *to, struct inputs from, int count) {             \
        enum { ONE = ONE_##operand, PIECES = GT_CDIV(ONE, VECTOR) };                       \
        GT_UNROLL_BY(1)                                                                    \
        for (int z = 0; z < count && PIECES >= GT_THREADS; z++)                            \
            GT_UNROLL_BY(8)                                                                \
            for (int i = 0; i < GT_CDIV(PIECES, GT_THREADS); i++) {                        \
                const int e = (GT_THREAD_X + i * GT_THREADS) * VECTOR;                     \
                if (PIECES % GT_THREADS == 0 || e < ONE)                                   \
                    fetch_piece_##operand(to, MATRIX(from, z), from.ld, e,                 \
                                          z * PITCH_##operand);                            \
            }                                                                              \
        GT_UNROLL_BY(1)                                                                    \
        for (int i = GT_THREAD_X; i < count * PIECES && PIECES < GT_THREADS;               \
             i += GT_THREADS)                                                              \
            fetch_piece_##operand(to, MATRIX(from, i / PIECES), from.ld,                   \
                                  i % PIECES * VECTOR, i / PIECES * PITCH_##operand);      \
    }
#else
/* FETCH_WHOLE defines a function that starts to copy a run of COUNT matrices to shared
 * memory. The function of FETCH copies any `count` matrices.
 * A run that begins `shift` elements into a piece is copied from that piece on. */
#define FETCH_WHOLE(operand)                                                               \
    GT_INLINE void fetch_whole_##operand(gt_ab *to, const gt_ab *from, int shift) {        \
        enum {                                                                             \
            RUN = COUNT * ONE_##operand, EVEN = RUN % VECTOR == 0, PIECES = RUN / VECTOR,  \
            MOST = EVEN ? PIECES : GT_CDIV(RUN + VECTOR - 1, VECTOR)                       \
        };                                                                                 \
        const int end = shift + RUN;                                                       \
        GT_UNROLL_BY(8)                                                                    \
        for (int i = 0; i < GT_CDIV(MOST, GT_THREADS); i++) {                              \
            const int e = GT_THREAD_X + i * GT_THREADS;                                    \
            if (EVEN ? PIECES % GT_THREADS == 0 || e < PIECES : e < end / VECTOR)          \
                gt_copy_async(VECTOR, to + PLACE_IN(operand, e * VECTOR),                  \
                              from - shift + e * VECTOR);                                  \
            else if (!EVEN && e * VECTOR < end)                                            \
                gt_copy_some(VECTOR, to + e * VECTOR, from - shift + e * VECTOR,           \
                             end - e * VECTOR);                                            \
        }                                                                                  \
    }
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
FETCH_WHOLE(A)
FETCH_WHOLE(B)
#endif
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
