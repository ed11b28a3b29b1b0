/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle - for batches of small products. A block computes PRODUCTS whole products, one
 * after another in the batch. A thread computes a patch of TM x TN elements of one product.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major, for each product.
 *
 *     packed A of a block:   |  matrix 0  |  matrix 1  |  matrix 2  |  matrix 3  |
 *                            one run of global memory, which is copied in pieces of 16
 *                            bytes, whatever the sides of a matrix are
 *     its threads:           | 0 1 2 ...  |            |            |        ... |
 *                            patches of matrix 0, then those of matrix 1 ...
 *     packed C of a block:   one run again, written in pieces of 16 bytes
 *
 * The kernel is compiled for one m, n and k, so that no division is left of the places of
 * elements, and loops over them have constant ends. Matrices with gaps between them or
 * between their rows are copied element by element. When all products share A or B, a
 * block copies it once. Matrices may also lie where pointers lead (GT_POINTERS).
 *
 * PRODUCTS  products a block; 0: as many as make a block of usual size
 * TM TN     patch of a thread; 0: 4 or the matrix's side, more on a CPU
 * SPREAD    1: the rows and columns of a patch are as far apart as there are patches, so
 *           that neighbouring threads have neighbouring columns; 0: they stand together
 * SHARE     1: A and B go through shared memory
 * PAD       1: a spare word behind each row in shared memory, and an odd number of words
 *           from a matrix to the next one, against bank conflicts
 * GATHER    1: sums go through shared memory, and C is read and written as a run
 * UNROLL_K  steps of k that are written out
 *
 * gemmtune trial f32-nn-16x16x16,batch=1000 --family bundle
 *     --point "PRODUCTS=4 TM=4 TN=2 SPREAD=1 SHARE=1 PAD=1 GATHER=0 UNROLL_K=4"
 */

enum {
    ROWS = GT_ROWS, COLS = GT_COLS, DEEP = GT_DEEP, /* m, n, k */
    TM = GT_PATCH_M, TN = GT_PATCH_N, COUNT = GT_COUNT,
    HIGH = GT_HIGH, WIDE = GT_WIDE, /* patches along m and n */
    PATCHES = HIGH * WIDE,
    /* Matrices as they are stored: rows, elements of a row; in shared memory, elements from
     * a row to the next, and from a matrix to the next. */
    ROWS_A = GT_TA ? DEEP : ROWS, LENGTH_A = GT_TA ? ROWS : DEEP,
    ROWS_B = GT_TB ? COLS : DEEP, LENGTH_B = GT_TB ? DEEP : COLS,
    PITCH_A = GT_PITCH_A, STEP_A = GT_STEP_A,
    PITCH_B = GT_PITCH_B, STEP_B = GT_STEP_B, STEP_C = GT_STEP_C,
    PLACE_B = GT_PLACE_B, /* of B in shared memory, in bytes */
    VECTOR = 16 / sizeof(gt_ab), VECTOR_C = GT_MIN(4, 16 / (int)sizeof(gt_c))
};

#define IS_ALIGNED(p) (((gt_long)(p) & 15) == 0)

/* The matrices of a block: the first one, and those behind it at strides. With GT_POINTERS
 * the first one's pointer, and those behind it in the caller's array. */
#if GT_POINTERS
#define MATRICES(type)   type *const *
#define FROM(x, number)  (all_##x + (number))
#define IS_SHARED(x)     0
#define MATRIX(x, stride, z) gt_pointed(x, z)
#else
#define MATRICES(type)   GT_GLOBAL type *
#define FROM(x, number)  ((x) + (number) * stride_##x)
#define IS_SHARED(x)     (stride_##x == 0) /* by all products */
#define MATRIX(x, stride, z) ((x) + (z) * (stride))
#endif

/* Stores elements x .. x + width - 1 of matrices to shared memory, where rows are `pitch`
 * and matrices `step` apart. A matrix has `one` elements, its rows have `length`. */
GT_INLINE void shelve(int width, GT_SHARED gt_ab *to, const gt_ab *some, int x, int one,
                      int length, int pitch, int step) {
    GT_UNROLL
    for (int v = 0; v < width; v++) {
        const int y = x + v;
        to[y / one * step + y % one / length * pitch + y % length] = some[v];
    }
}

/* Writes elements x .. x + VECTOR_C - 1 of matrices of C, which stand together at `c`. The
 * place is that of the first matrix. Rows of all products count, so that element x is in
 * row x / COLS behind it. */
GT_INLINE void put_piece(GT_GLOBAL gt_c *c, gt_acc alpha, const GT_SHARED gt_acc *sums,
                         int x, gt_acc beta GT_PLACE_PARAMS) {
    const int one = ROWS * COLS;
    gt_acc some[VECTOR_C];
    gt_c old[VECTOR_C];
    GT_UNROLL
    for (int v = 0; v < VECTOR_C; v++)
        some[v] = sums[(x + v) / one * STEP_C + (x + v) % one];
    gt_load_c(VECTOR_C, old, c, beta, 1, 0, VECTOR_C);
#if GT_EPILOGUE
    if (COLS % VECTOR_C != 0) { /* a piece may have the end of a row and the next one */
        GT_UNROLL
        for (int v = 0; v < VECTOR_C; v++)
            old[v] =
                gt_element(alpha, some[v], beta, old[v] GT_PLACE(gt_i + (x + v) / COLS,
                                                                 gt_j + (x + v) % COLS));
        gt_store_global_c(VECTOR_C, c, old);
    } else
#endif
        gt_store_row(VECTOR_C, c, alpha, some, beta, old, 1, 0,
                     VECTOR_C GT_PLACE(gt_i + x / COLS, gt_j + x % COLS));
}

#if GT_POINTERS
/* A thread asks for AT_ONCE pointers, then for the elements behind them, and then uses the
 * first of these. Matrices of whole pieces of 16 bytes are copied in pieces if they are
 * aligned. */
enum { AT_ONCE = 4 };

/* Copies `count` matrices of rows x length elements to shared memory, where rows are
 * `pitch` and matrices `step` apart. In global memory rows are `ld` apart. */
GT_INLINE void fetch(GT_SHARED gt_ab *to, MATRICES(const gt_ab) from, int count, int rows,
                     int length, int pitch, int step, gt_long ld, gt_long stride) {
    const int one = rows * length, all = count * one, is_run = ld == length || rows == 1;
    const int width = one % VECTOR == 0 ? VECTOR : 1, turn = GT_THREADS * width;
    GT_UNROLL_BY(1)
    for (int x = GT_THREAD_X * width; x < all; x += AT_ONCE * turn) {
        const gt_ab *at[AT_ONCE];
        gt_ab some[AT_ONCE][VECTOR];
        int in_pieces = width > 1 && is_run;
        GT_UNROLL
        for (int i = 0; i < AT_ONCE; i++) {
            at[i] = MATRIX(from, stride, GT_MIN(x + i * turn, all - 1) / one);
            in_pieces = in_pieces && IS_ALIGNED(at[i]);
        }
        GT_UNROLL
        for (int i = 0; i < AT_ONCE; i++) {
            const int e = (x + i * turn) % one;
            if (x + i * turn < all && in_pieces)
                gt_load_global(VECTOR, some[i], at[i] + e);
            else if (x + i * turn < all)
                for (int v = 0; v < width; v++)
                    some[i][v] = at[i][(e + v) / length * ld + (e + v) % length];
        }
        GT_UNROLL
        for (int i = 0; i < AT_ONCE; i++)
            if (x + i * turn < all)
                shelve(width, to, some[i], x + i * turn, one, length, pitch, step);
    }
}

/* Writes `count` matrices of C, whose sums stand in shared memory. */
GT_INLINE void put(MATRICES(gt_c) c, gt_long ldc, gt_long stride, gt_acc alpha,
                   const GT_SHARED gt_acc *sums, gt_acc beta, int count GT_PLACE_PARAMS) {
    const int one = ROWS * COLS, all = count * one, is_run = ldc == COLS || ROWS == 1;
    const int width = one % VECTOR_C == 0 ? VECTOR_C : 1, turn = GT_THREADS * width;
    GT_UNROLL_BY(1)
    for (int x = GT_THREAD_X * width; x < all; x += AT_ONCE * turn) {
        gt_c *at[AT_ONCE];
        GT_UNROLL
        for (int i = 0; i < AT_ONCE; i++)
            at[i] = MATRIX(c, stride, GT_MIN(x + i * turn, all - 1) / one);
        GT_UNROLL
        for (int i = 0; i < AT_ONCE; i++) {
            const int y = x + i * turn, e = y % one;
            if (y < all && width > 1 && is_run && IS_ALIGNED(at[i]))
                put_piece(at[i] + e, alpha, sums, y, beta GT_PLACE(gt_i, gt_j));
            else if (y < all)
                for (int v = 0; v < width; v++)
                    gt_store_c(at[i] + (e + v) / COLS * ldc + (e + v) % COLS, alpha,
                               sums[y / one * STEP_C + e + v],
                               beta GT_PLACE(gt_i + (y + v) / COLS, gt_j + (y + v) % COLS));
        }
    }
}
#else
/* Copies `count` matrices of rows x length elements to shared memory, where rows are
 * `pitch` and matrices `step` apart. In global memory they are `ld` and `stride` apart. */
GT_INLINE void fetch(GT_SHARED gt_ab *to, MATRICES(const gt_ab) from, int count, int rows,
                     int length, int pitch, int step, gt_long ld, gt_long stride) {
    const int one = rows * length, all = count * one;
    const int packed = (ld == length || rows == 1) && (stride == one || count == 1);
    int e = GT_THREAD_X;
    if (packed && IS_ALIGNED(from)) {
        for (; e < all / VECTOR; e += GT_THREADS) {
            gt_ab some[VECTOR];
            gt_load_global(VECTOR, some, from + e * VECTOR);
            shelve(VECTOR, to, some, e * VECTOR, one, length, pitch, step);
        }
        e = all / VECTOR * VECTOR + GT_THREAD_X;
    }
    for (; e < all; e += GT_THREADS) {
        const int z = e / one, i = e % one / length, j = e % length;
        to[z * step + i * pitch + j] = from[z * stride + i * ld + j];
    }
}

/* Writes `count` matrices of C, whose sums stand in shared memory. */
GT_INLINE void put(MATRICES(gt_c) c, gt_long ldc, gt_long stride, gt_acc alpha,
                   const GT_SHARED gt_acc *sums, gt_acc beta, int count GT_PLACE_PARAMS) {
    const int one = ROWS * COLS, all = count * one;
    const int packed = (ldc == COLS || ROWS == 1) && (stride == one || count == 1);
    int e = GT_THREAD_X;
    if (packed && IS_ALIGNED(c)) {
        for (; e < all / VECTOR_C; e += GT_THREADS)
            put_piece(c + e * VECTOR_C, alpha, sums, e * VECTOR_C,
                      beta GT_PLACE(gt_i, gt_j));
        e = all / VECTOR_C * VECTOR_C + GT_THREAD_X;
    }
    for (; e < all; e += GT_THREADS) {
        const int z = e / one, i = e % one / COLS, j = e % COLS;
        gt_store_c(c + z * stride + i * ldc + j, alpha, sums[z * STEP_C + e % one],
                   beta GT_PLACE(gt_i + e / COLS, gt_j + j));
    }
}
#endif

/* Row r and column s of a patch, in the matrix. With SPREAD the last patches may reach past
 * the edges. Without it they are moved back to end there, so that neighbouring elements are
 * loaded together, and leave the elements that they share to the patches before them. */
#define ROW(r) (GT_SPREAD ? row + (r) * HIGH : GT_MIN(row * TM, GT_MAX(ROWS - TM, 0)) + (r))
#define COL(s) (GT_SPREAD ? col + (s) * WIDE : GT_MIN(col * TN, GT_MAX(COLS - TN, 0)) + (s))
#define ROW_INSIDE(r) (GT_SPREAD || TM > ROWS ? GT_MIN(ROW(r), ROWS - 1) : ROW(r))
#define COL_INSIDE(s) (GT_SPREAD || TN > COLS ? GT_MIN(COL(s), COLS - 1) : COL(s))
#define OWNS_ROW(r) (ROW(r) < ROWS && (GT_SPREAD || ROW(r) >= row * TM))
#define OWNS_COL(s) (COL(s) < COLS && (GT_SPREAD || COL(s) >= col * TN))

#if GT_SHARE
#define SPACE GT_SHARED
#else
#define SPACE GT_GLOBAL
#endif

/* acc += the patch's part of a product. Past the edges the nearest row or column stands
 * in: its sums are not stored. */
GT_INLINE void multiply(gt_acc *acc, const SPACE gt_a *a, gt_long lda, const SPACE gt_b *b,
                        gt_long ldb, int row, int col) {
    GT_UNROLL_BY(GT_UNROLL_K)
    for (int p = 0; p < DEEP; p++) {
        gt_acc x[TM], y[TN];
        GT_UNROLL
        for (int r = 0; r < TM; r++)
            x[r] = gt_from_a(a[GT_TA ? p * lda + ROW_INSIDE(r) : ROW_INSIDE(r) * lda + p]);
        GT_UNROLL
        for (int s = 0; s < TN; s++)
            y[s] = gt_from_b(b[GT_TB ? COL_INSIDE(s) * ldb + p : p * ldb + COL_INSIDE(s)]);
        GT_UNROLL
        for (int r = 0; r < TM; r++)
            GT_UNROLL
            for (int s = 0; s < TN; s++)
                acc[r * TN + s] = gt_fma(x[r], y[s], acc[r * TN + s]);
    }
}

GT_KERNEL(gemm, GT_THREADS, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_ELEMS);
    const int product = GT_THREAD_X / PATCHES; /* of the block */
    const int row = GT_THREAD_X % PATCHES / WIDE, col = GT_THREAD_X % WIDE; /* of patches */
    const gt_long first = (gt_long)GT_BLOCK * COUNT;
    const int count = (int)GT_MIN((gt_long)COUNT, batch - first);
    const int exists = product < count, reads = k > 0 && alpha != (gt_acc)0;
    gt_acc acc[TM * TN];

    MATRICES(const gt_a) at_a = FROM(a, first);
    MATRICES(const gt_b) at_b = FROM(b, first);
    MATRICES(gt_c) at_c = FROM(c, first);
    GT_UNROLL
    for (int i = 0; i < TM * TN; i++)
        acc[i] = 0;
#if GT_SHARE
    GT_SHARED gt_a *shared_a = (GT_SHARED gt_a *)smem;
    GT_SHARED gt_b *shared_b = (GT_SHARED gt_b *)((GT_SHARED char *)smem + PLACE_B);
    if (reads) {
        fetch(shared_a, at_a, IS_SHARED(a) ? 1 : count, ROWS_A, LENGTH_A, PITCH_A, STEP_A,
              lda, stride_a);
        fetch(shared_b, at_b, IS_SHARED(b) ? 1 : count, ROWS_B, LENGTH_B, PITCH_B, STEP_B,
              ldb, stride_b);
    }
    GT_BARRIER(); /* A and B are there */
    if (reads && exists)
        multiply(acc, shared_a + (IS_SHARED(a) ? 0 : product * STEP_A), PITCH_A,
                 shared_b + (IS_SHARED(b) ? 0 : product * STEP_B), PITCH_B, row, col);
#else
    if (reads && exists)
        multiply(acc, MATRIX(at_a, stride_a, product), lda, MATRIX(at_b, stride_b, product),
                 ldb, row, col);
#endif
#if GT_GATHER
    GT_BARRIER(); /* all threads have read A and B, whose place the sums take */
    GT_UNROLL
    for (int i = 0; i < TM * TN; i++)
        if (exists && OWNS_ROW(i / TN) && OWNS_COL(i % TN))
            smem[product * STEP_C + ROW(i / TN) * COLS + COL(i % TN)] = acc[i];
    GT_BARRIER(); /* the sums are there */
    put(at_c, ldc, stride_c, alpha, smem, beta, count GT_PLACE(first * ROWS, 0));
#else
    if (exists) {
        GT_GLOBAL gt_c *own = MATRIX(at_c, stride_c, product);
        GT_UNROLL
        for (int i = 0; i < TM * TN; i++)
            if (OWNS_ROW(i / TN) && OWNS_COL(i % TN))
                gt_store_c(own + ROW(i / TN) * ldc + COL(i % TN), alpha, acc[i],
                           beta GT_PLACE((first + product) * ROWS + ROW(i / TN),
                                         COL(i % TN)));
    }
#endif
}
