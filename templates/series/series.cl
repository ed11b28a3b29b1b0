/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series - for batches of small products on CPUs, whose "threads" are cores. A block is one
 * work-item, which computes COUNT products one after another.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major, for each product.
 *
 *                 n ->
 *           +----+----+--+      a row of B is WIDE vectors of V elements; the last one is
 *         k | V  | V  | V|      moved back to end with the row, and then repeats elements
 *           +----+----+--+      of the vector before it
 *     +---+ +----+----+--+
 *  MR |   | |    |    |  |      a patch in registers: for a k, NV vectors of B, and MR
 *     +---+ +----+----+--+      values of A, each for a whole vector
 *
 *     sums of a group:   |  product 0  |  product 1  |  ...
 *                        in shared memory; they leave as one run of C
 *
 * A CPU reads a line of C before it changes a part of it. The run of C is written in whole
 * lines, past the caches, which saves that. A product's lines are asked for while the
 * product before it is computed.
 *
 * The kernel is compiled for one m, n and k, so that all loops have constant ends.
 *
 * VECTOR    bytes a vector; 0: the most that a row of C has, of the device's, up to 64
 * MR NV     patch: rows, and vectors a row; 0: as many as fit the registers, and parts of a
 *           matrix of equal height and width
 * AHEAD     1: lines are asked for ahead
 * UNROLL_K  steps of k that are written out
 *
 * gemmtune trial f32-nn-16x16x16,batch=20000 --family series --point "MR=8 AHEAD=0"
 */

enum {
    ROWS = GT_ROWS, COLS = GT_COLS, DEEP = GT_DEEP, /* m, n, k */
    MR = GT_PATCH_M, NV = GT_PATCH_V, V = GT_V, COUNT = GT_COUNT, GROUP = GT_GROUP,
    WIDE = GT_WIDE, /* vectors of a row */
    ONE_A = ROWS * DEEP, ONE_B = DEEP * COLS, ONE_C = ROWS * COLS,
    LINE = 64, LINE_ELEMS = GT_LINE_ELEMS /* a line of the caches: bytes, elements */
};

typedef GT_PASTE(GT_PASTE(GT_WORD_, GT_TYPE_ACC), GT_V) vector;
typedef GT_PASTE(GT_PASTE(GT_WORD_, GT_TYPE_ACC), GT_LINE_ELEMS) line;
#define LOAD       GT_PASTE(vload, GT_V)
#define STORE      GT_PASTE(vstore, GT_V)
#define LOAD_LINE  GT_PASTE(vload, GT_LINE_ELEMS)
#define STORE_LINE GT_PASTE(vstore, GT_LINE_ELEMS)

/* A row of B is loaded from the matrix. A transposed B is first turned round. */
#if GT_TB
#define SPACE GT_SHARED
#else
#define SPACE GT_GLOBAL
#endif

/* Vector j of a row begins there. */
#define COL(j) GT_MIN((j) * V, COLS - V)

/* ---- what a compiler may lack ---- */

#ifdef __has_builtin
#define HAS(builtin) __has_builtin(builtin)
#else
#define HAS(builtin) 0
#endif

/* Writes a line past the caches. `to` is aligned to it. */
GT_INLINE void stream_line(GT_GLOBAL gt_c *to, line x) {
#if HAS(__builtin_nontemporal_store)
    __builtin_nontemporal_store(x, (GT_GLOBAL line *)to);
#else
    STORE_LINE(x, 0, to);
#endif
}

/* Asks for part `part` of `parts` of a matrix's lines. */
GT_INLINE void ask(const GT_GLOBAL gt_a *matrix, int elems, int part, int parts) {
#if GT_AHEAD && HAS(__builtin_prefetch)
    const int lines = GT_CDIV(elems * (int)sizeof(gt_a), LINE);
    for (int i = lines * part / parts; i < lines * (part + 1) / parts; i++)
        __builtin_prefetch((const void *)((gt_long)matrix + i * LINE), 0, 2);
#endif
}

/* ---- products ---- */

/* Adds step p of k to the patch. */
GT_INLINE void step(vector *acc, int rows, int wide, int first, const GT_GLOBAL gt_a *a,
                    gt_long lda, const SPACE gt_b *b, gt_long ldb, int p) {
    vector y[NV];
    GT_UNROLL
    for (int j = 0; j < wide; j++)
        y[j] = LOAD(0, b + p * ldb + COL(first + j));
    GT_UNROLL
    for (int i = 0; i < rows; i++) {
        const vector x = (vector)(a[GT_TA ? p * lda + i : i * lda + p]);
        GT_UNROLL
        for (int j = 0; j < wide; j++)
            acc[i * NV + j] = gt_fma(x, y[j], acc[i * NV + j]);
    }
}

/* sums = the patch of `rows` rows and of `wide` vectors from vector `first` on. Without
 * `reads` the sums are 0. */
GT_INLINE void multiply(int rows, int wide, int first, GT_SHARED gt_acc *sums,
                        const GT_GLOBAL gt_a *a, gt_long lda, const SPACE gt_b *b,
                        gt_long ldb, int reads) {
    vector acc[MR * NV];
    GT_UNROLL
    for (int e = 0; e < MR * NV; e++)
        acc[e] = (vector)(0);
    if (reads) {
        /* LLVM 15 takes minutes for a loop that it unrolls and that leaves a rest. */
        enum { UNROLLED = DEEP / GT_UNROLL_K * GT_UNROLL_K };
        GT_UNROLL_BY(GT_UNROLL_K)
        for (int p = 0; p < UNROLLED; p++)
            step(acc, rows, wide, first, a, lda, b, ldb, p);
        GT_UNROLL_BY(1)
        for (int p = UNROLLED; p < DEEP; p++)
            step(acc, rows, wide, first, a, lda, b, ldb, p);
    }
    GT_UNROLL
    for (int i = 0; i < rows; i++)
        GT_UNROLL
        for (int j = 0; j < wide; j++)
            STORE(acc[i * NV + j], 0, sums + i * COLS + COL(first + j));
}

/* sums = `rows` rows of a product. */
GT_INLINE void multiply_rows(int rows, GT_SHARED gt_acc *sums, const GT_GLOBAL gt_a *a,
                             gt_long lda, const SPACE gt_b *b, gt_long ldb, int reads) {
    GT_UNROLL
    for (int j = 0; j < WIDE; j += NV)
        multiply(rows, GT_MIN(WIDE - j, NV), j, sums, a, lda, b, ldb, reads);
}

/* sums = a product. Meanwhile it asks for the matrices of the next one, unless there is
 * none (0). */
GT_INLINE void multiply_all(GT_SHARED gt_acc *sums, const GT_GLOBAL gt_a *a, gt_long lda,
                            const SPACE gt_b *b, gt_long ldb, int reads,
                            const GT_GLOBAL gt_a *next_a, const GT_GLOBAL gt_b *next_b) {
    enum { PARTS = GT_CDIV(ROWS, MR) };
    GT_UNROLL_BY(1)
    for (int i = 0; i < PARTS; i++) {
        const GT_GLOBAL gt_a *rows = a + i * MR * (GT_TA ? 1 : lda);
        if (next_a) {
            ask(next_a, ONE_A, i, PARTS);
            ask(next_b, ONE_B, i, PARTS);
        }
        if (ROWS % MR == 0 || i < PARTS - 1)
            multiply_rows(MR, sums + i * MR * COLS, rows, lda, b, ldb, reads);
        else
            multiply_rows(ROWS % MR, sums + i * MR * COLS, rows, lda, b, ldb, reads);
    }
}

/* Copies a transposed B, so that its rows are DEEP x COLS. */
GT_INLINE void turn(GT_SHARED gt_b *to, const GT_GLOBAL gt_b *b, gt_long ldb) {
    for (int p = 0; p < DEEP; p++)
        for (int j = 0; j < COLS; j++)
            to[p * COLS + j] = b[j * ldb + p];
}

/* ---- the way out ---- */

#if GT_EPILOGUE
/* The compiler makes vectors of loops over CHUNK elements, and of multiples. */
enum { CHUNK = 32 / sizeof(gt_acc), ENDS_OTHERWISE = COLS > CHUNK && COLS % CHUNK != 0 };

/* The sums of `rows` rows become elements of C where they stand. Without an old C, the last
 * chunk of a row is moved back to end with the row. It is computed ahead of the sums'
 * change. */
GT_INLINE void finish(const GT_GLOBAL gt_c *c, gt_long ldc, gt_long stride, gt_acc alpha,
                      GT_SHARED gt_acc *sums, gt_acc beta, int rows GT_PLACE_PARAMS) {
    enum { TAIL = COLS - CHUNK, WHOLE = ENDS_OTHERWISE ? COLS / CHUNK * CHUNK : COLS };
#define ELEMENT(j, old)                                                                    \
    gt_element(alpha, row[j], beta, old GT_PLACE(gt_i + r, gt_j + (j)))
#define UNREAD gt_to_c((gt_acc)-0.0f)
    GT_UNROLL_BY(1)
    for (int r = 0; r < rows; r++) {
        const GT_GLOBAL gt_c *old = c + r / ROWS * stride + r % ROWS * ldc;
        GT_SHARED gt_acc *row = sums + r * COLS;
        if (GT_READS_C(beta)) {
            for (int j = 0; j < COLS; j++)
                row[j] = ELEMENT(j, old[j]);
        } else {
            gt_acc last[CHUNK];
            for (int j = 0; j < CHUNK && ENDS_OTHERWISE; j++)
                last[j] = ELEMENT(TAIL + j, UNREAD);
            for (int j = 0; j < WHOLE; j++)
                row[j] = ELEMENT(j, UNREAD);
            for (int j = 0; j < CHUNK && ENDS_OTHERWISE; j++)
                row[TAIL + j] = last[j];
        }
    }
}
#define STORE_ONE(c, alpha, sum, beta) (*(c) = (alpha) * (sum)) /* of an element */
#else
#define STORE_ONE(c, alpha, sum, beta) gt_store_c(c, alpha, sum, beta)
#endif

/* Writes `count` neighbouring elements of C. */
GT_INLINE void put_run(GT_GLOBAL gt_c *c, gt_acc alpha, const GT_SHARED gt_acc *sums,
                       gt_acc beta, int count) {
    const int before = (int)(-(gt_long)c / (int)sizeof(gt_c) & (LINE_ELEMS - 1));
    int e = 0;
    for (; e < GT_MIN(before, count); e++)
        STORE_ONE(c + e, alpha, sums[e], beta);
    if (beta == (gt_acc)0) {
        for (; e + LINE_ELEMS <= count; e += LINE_ELEMS)
            stream_line(c + e, alpha * LOAD_LINE(0, sums + e));
    } else {
        for (; e + LINE_ELEMS <= count; e += LINE_ELEMS)
            STORE_LINE(gt_fma((line)(beta), LOAD_LINE(0, c + e),
                              alpha * LOAD_LINE(0, sums + e)),
                       0, c + e);
    }
    for (; e < count; e++)
        STORE_ONE(c + e, alpha, sums[e], beta);
}

/* Writes `count` matrices of C. */
GT_INLINE void put(GT_GLOBAL gt_c *c, gt_long ldc, gt_long stride, gt_acc alpha,
                   GT_SHARED gt_acc *sums, gt_acc beta, int count GT_PLACE_PARAMS) {
    const int packed = (ldc == COLS || ROWS == 1) && (stride == ONE_C || count == 1);
    const int runs = packed ? 1 : count * ROWS, length = packed ? count * ONE_C : COLS;
#if GT_EPILOGUE
    finish(c, ldc, stride, alpha, sums, beta, count * ROWS GT_PLACE(gt_i, gt_j));
    alpha = 1, beta = 0;
#endif
    for (int r = 0; r < runs; r++)
        put_run(c + r / ROWS * stride + r % ROWS * ldc, alpha, sums + r * COLS, beta,
                length);
}

GT_KERNEL(gemm, 1, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_ELEMS);
    const gt_long first = (gt_long)GT_BLOCK * COUNT;
    const int count = (int)GT_MIN((gt_long)COUNT, batch - first);
    const int reads = k > 0 && alpha != (gt_acc)0;

    a += first * stride_a;
    b += first * stride_b;
    c += first * stride_c;
    GT_UNROLL_BY(1)
    for (int z = 0; z < count; z++) {
        const int goes_on = reads && z < count - 1, place = z % GROUP;
        const GT_GLOBAL gt_a *next_a = a + stride_a;
        const GT_GLOBAL gt_b *next_b = b + stride_b;
#if GT_TB
        GT_SHARED gt_b *rows_b = smem + GROUP * ONE_C;
        if (reads)
            turn(rows_b, b, ldb);
        const gt_long pitch_b = COLS;
#else
        const GT_GLOBAL gt_b *rows_b = b;
        const gt_long pitch_b = ldb;
#endif
        multiply_all(smem + place * ONE_C, a, lda, rows_b, pitch_b, reads,
                     goes_on ? next_a : 0, goes_on ? next_b : 0);
        if (place == GROUP - 1 || z == count - 1) {
            put(c, ldc, stride_c, alpha, smem, beta,
                place + 1 GT_PLACE((first + z - place) * ROWS, 0));
            c += GROUP * stride_c;
        }
        a = next_a;
        b = next_b;
    }
}
