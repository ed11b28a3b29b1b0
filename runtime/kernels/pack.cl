/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.cl - brings B into the packed form of core/problem/packed.h. The elements are moved
 * as integers of their size, so one kernel serves all types of a size.
 *
 * A thread makes one piece of 16 bytes of a packed row. Neighbouring threads read
 * neighbouring elements: they make neighbouring pieces of a row, or with `turn` the same
 * piece of neighbouring rows.
 *
 *     from   as B was stored: without turn rows of `cols` elements, ld apart; with turn
 *            rows of `rows` elements, ld apart; from a matrix to the next `stride`
 *     to     rows x to_ld elements, all matrices one after another; behind element `cols`
 *            of a row there are zeros
 */
#define GT_PACK_THREADS 256 /* as in runtime/plan/pack.c */

#define GT_PACK(name, type)                                                                \
    GT_KERNEL(name, GT_PACK_THREADS, 1, 1)(int rows, int cols, int turn,                   \
                                           const GT_GLOBAL type *from, gt_long ld,         \
                                           gt_long stride, GT_GLOBAL type *to,             \
                                           gt_long to_ld, int matrices) {                  \
        enum { PIECE = 16 / sizeof(type) };                                                \
        const gt_long across = to_ld / PIECE, pieces = rows * across;                      \
        const gt_long number = GT_BLOCK * (gt_long)GT_PACK_THREADS + GT_THREAD_X;          \
        const gt_long matrix = number / pieces, at = number % pieces;                      \
        const gt_long row = turn ? at % rows : at / across;                                \
        const gt_long col = (turn ? at / rows : at % across) * PIECE;                      \
        if (matrix >= matrices)                                                            \
            return;                                                                        \
        from += matrix * stride;                                                           \
        to += (matrix * rows + row) * to_ld + col;                                         \
        union {                                                                            \
            type element[PIECE];                                                           \
            uint4 whole;                                                                   \
        } piece;                                                                           \
        GT_UNROLL                                                                          \
        for (int i = 0; i < PIECE; i++)                                                    \
            piece.element[i] = col + i >= cols ? 0                                         \
                               : turn          ? from[(col + i) * ld + row]                \
                                               : from[row * ld + col + i];                 \
        *(GT_GLOBAL uint4 *)to = piece.whole;                                              \
    }

GT_PACK(pack_1, unsigned char)
GT_PACK(pack_2, unsigned short)
GT_PACK(pack_4, unsigned int)
GT_PACK(pack_8, gt_long)
