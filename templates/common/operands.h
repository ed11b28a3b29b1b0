/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operands.h - operands of an epilogue that wait in shared memory for the elements that
 * need them. It is in the source of a problem with an epilogue, when the family uses it.
 * CUDA from sm_80 on.
 *
 * A part of C has `lines` rows and `length` columns, both constants. The place that goes
 * with a call is that of its first element. Its vectors lie in shared memory one after
 * another, as stored: the operands with a value a column, `length` elements each, then
 * those with a value a row, `lines` elements each. A column has GT_EPI_COLUMN bytes of
 * them, a row GT_EPI_ROW bytes.
 *
 * The boxed operand is the first matrix whose elements are as large as those of C. A
 * kernel may have it copied to the place in shared memory through which C's elements
 * leave. Matrices other than that one, and scalars, are read where they are needed.
 */
#if !GT_OPENCL && GT_EPILOGUE && __CUDA_ARCH__ >= 800
#define GT_VECTOR_COPY_(number, type, at, count, exist, place)                             \
    GT_UNROLL                                                                              \
    for (int e = 0; e < GT_CDIV(count, threads); e++)                                      \
        if (t + e * threads < GT_MIN(count, exist))                                        \
            ((gt_##type *)(at))[t + e * threads] =                                         \
                GT_OPERAND(number)[(place) + t + e * threads];
#define GT_COLUMNS_COPY_(number, type, before) \
    GT_VECTOR_COPY_(number, type, to + (before) * length, length, cols, gt_j)
#define GT_ROWS_COPY_(number, type, before) \
    GT_VECTOR_COPY_(number, type, rows_at + (before) * lines, lines, rows, gt_i)

/* Copies the vectors of a part of C, of which rows x cols exist. `threads` threads take
 * part in it, thread t among them. */
GT_INLINE void gt_vectors_copy(char *to, int lines, int length, int rows, int cols, int t,
                               int threads GT_PLACE_PARAMS) {
    char *const rows_at = to + GT_EPI_COLUMN * length;
    (void)rows_at;
    GT_COLUMN_OPERANDS(GT_COLUMNS_COPY_)
    GT_ROW_OPERANDS(GT_ROWS_COPY_)
}

#define GT_COLUMNS_READ_(number, type, before)                                             \
    {                                                                                      \
        const gt_##type##x2 pair = *(const gt_##type##x2 *)(from + (before) * length +     \
                                                            col * sizeof(gt_##type));      \
        to[0].of_##number = pair.x;                                                        \
        to[1].of_##number = pair.y;                                                        \
    }
#define GT_ROWS_READ_(number, type, before)  \
    to[0].of_##number = to[1].of_##number = \
        ((const gt_##type *)(from + GT_EPI_COLUMN * length + (before) * lines))[row];

/* The values of vectors at (row, col) and (row, col + 1) of the part. col is even. */
GT_INLINE void gt_vectors_read(struct gt_operands *to, const char *from, int lines,
                               int length, int row, int col) {
    GT_COLUMN_OPERANDS(GT_COLUMNS_READ_)
    GT_ROW_OPERANDS(GT_ROWS_READ_)
}

/* The operands that are read where they are needed, at one place. */
GT_INLINE void gt_others_fetch(struct gt_operands *to GT_PLACE_PARAMS) {
#define GT_OTHERS_FETCH_(number) gt_fetch_##number(to GT_PLACE(gt_i, gt_j));
    GT_OTHER_OPERANDS(GT_OTHERS_FETCH_)
}

/* The words that two neighbours in C take. Two elements of a byte take half a word. */
#define GT_PAIR_WORDS GT_CDIV(GT_SIZEOF_C, 2)

/* Two results as neighbouring elements of C. */
GT_INLINE void gt_round_pair(unsigned *word, gt_result first, gt_result second) {
#if GT_REAL_RESULT && GT_NUMBER(GT_TYPE_C) == GT_NUMBER_bf16
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(*word) : "f"(second), "f"(first));
#elif GT_REAL_RESULT && GT_NUMBER(GT_TYPE_C) == GT_NUMBER_f16
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(*word) : "f"(second), "f"(first));
#else
    const union {
        gt_c c[2];
        unsigned word[GT_PAIR_WORDS];
    } pair = {{gt_rounded(first), gt_rounded(second)}};
    GT_UNROLL
    for (int i = 0; i < GT_PAIR_WORDS; i++)
        word[i] = pair.word[i];
#endif
}

#if GT_EPI_BOXED
/* The place of the boxed operand. */
GT_INLINE const char *gt_boxed_at(int none GT_PLACE_PARAMS) {
#define GT_BOXED_AT_(number, type) \
    (const char *)(gt_op_##number + gt_i * gt_ld_##number + gt_j)
    return GT_BOXED_OPERAND(GT_BOXED_AT_);
}

/* Starts to copy 16 bytes of a row of the boxed operand to shared memory, of which the
 * first `there` exist. They belong to the thread's open group of copies (copies.h). A row
 * that does not begin at a multiple of 16 bytes is copied at once. */
GT_INLINE void gt_boxed_copy(int to, int there GT_PLACE_PARAMS) {
    const char *const from = gt_boxed_at(0 GT_PLACE(gt_i, gt_j));
    if (((gt_long)from & 15) == 0) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                     "r"(there)
                     : "memory");
        return;
    }
    GT_UNROLL_BY(1)
    for (int at = 0; at < there; at += GT_SIZEOF_C) {
#if GT_SIZEOF_C == 1
        asm volatile("st.shared.b8 [%0], %1;" ::"r"(to + at),
                     "h"((unsigned short)*(const unsigned char *)(from + at))
                     : "memory");
#elif GT_SIZEOF_C == 2
        asm volatile("st.shared.b16 [%0], %1;" ::"r"(to + at),
                     "h"(*(const unsigned short *)(from + at))
                     : "memory");
#else
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(to + at),
                     "r"(*(const unsigned *)(from + at))
                     : "memory");
#endif
    }
}

/* Asks for the line of memory that the place lies in. */
GT_INLINE void gt_boxed_ask(int none GT_PLACE_PARAMS) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(gt_boxed_at(0 GT_PLACE(gt_i, gt_j))));
}

/* Reads two neighbouring elements of the boxed operand at an address of shared memory. */
GT_INLINE void gt_boxed_read(struct gt_operands *to, int at) {
    union {
        unsigned word[GT_PAIR_WORDS];
        gt_c c[2];
    } pair;
#if GT_SIZEOF_C == 1
    unsigned short half;
    asm volatile("ld.shared.b16 %0, [%1];" : "=h"(half) : "r"(at));
    pair.word[0] = half;
#elif GT_SIZEOF_C == 2
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(pair.word[0]) : "r"(at));
#else
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(pair.word[0]), "=r"(pair.word[1])
                 : "r"(at));
#endif
#define GT_BOXED_READ_(number, type)                          \
    {                                                         \
        const gt_##type *const of = (const gt_##type *)pair.c; \
        to[0].of_##number = of[0];                            \
        to[1].of_##number = of[1];                            \
    }
    GT_BOXED_OPERAND(GT_BOXED_READ_)
}

/* Reads the boxed operand where it is needed. */
GT_INLINE void gt_boxed_fetch(struct gt_operands *to GT_PLACE_PARAMS) {
#define GT_BOXED_FETCH_(number, type) gt_fetch_##number(to GT_PLACE(gt_i, gt_j));
    GT_BOXED_OPERAND(GT_BOXED_FETCH_)
}
#endif
#endif
