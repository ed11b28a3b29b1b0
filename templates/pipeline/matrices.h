/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrices.h - the matrices of pipeline: where they lie in memory, and where their elements
 * lie in shared memory. pipeline.cu explains the words.
 */
enum {
    ROWS = GT_ROWS, COLS = GT_COLS, DEEP = GT_DEEP, /* m, n, k */
    TM = GT_PATCH_M, TN = GT_PATCH_N, COUNT = GT_COUNT, STAGES = GT_STAGES,
    AHEAD = STAGES - 1, /* groups that are on their way */
    HIGH = GT_HIGH, WIDE = GT_WIDE, /* patches or tiles along m and n */
    TEAM = GT_TEAM,                 /* threads of a product */
    VK = GT_VK, VM = GT_VM, VN = GT_VN,
    VECTOR = 16 / sizeof(gt_ab), VECTOR_C = 16 / sizeof(gt_c), /* a piece's elements */
    /* Elements of a matrix, and of its rows as they are stored. */
    ONE_A = ROWS * DEEP, ONE_B = DEEP * COLS, ONE_C = ROWS * COLS,
    /* Elements from a matrix to the next in shared memory: in a run, those of a matrix.
     * Behind pointers a matrix begins with a piece. */
    PITCH_A = GT_PITCH_A, PITCH_B = GT_PITCH_B, PITCH_C = GT_PITCH_C,
    LENGTH_A = GT_LENGTH_A, LENGTH_B = GT_LENGTH_B,
    /* Elements from a row to the next in shared memory, and rows of a matrix. */
    LINE_A = GT_LINE_A, LINE_B = GT_LINE_B,
    LINES_A = ONE_A / LENGTH_A, LINES_B = ONE_B / LENGTH_B,
    DOUBLE = sizeof(gt_ab) == 8, ALONG_A = !GT_TA, ALONG_B = GT_TB,
    /* Fragments are loaded in pieces of 16 bytes, those of 16-bit elements by ldmatrix. */
    MATRIX_A = GT_ENGINE &&
               (GT_PAD || (LENGTH_A % VECTOR == 0 && (DOUBLE || DEEP % 8 == 0))),
    MATRIX_B = GT_ENGINE &&
               (GT_PAD || (LENGTH_B % VECTOR == 0 && (DOUBLE || DEEP % 8 == 0))),
};

/* The matrices of an operand: at strides, as the caller has them, or where pointers lead
 * (GT_POINTERS). `whole`: COUNT of them are one run. */
struct inputs {
#if GT_POINTERS
    const gt_ab *const *at;
#else
    const gt_ab *at;
#endif
    gt_long ld, stride;
    int whole;
};

/* The matrices of C. `gathered` is the place of C in shared memory, or NULL when elements
 * are stored one by one. */
struct outputs {
#if GT_POINTERS
    gt_c *const *at;
    gt_c *direct; /* that of the thread's product, when it is not gathered */
#else
    gt_c *at;
#endif
    gt_c *gathered;
    int shift; /* elements from the beginning of a piece to `gathered` */
    gt_long ld, stride;
    gt_acc alpha, beta;
};

/* Behind pointers, with BULK, thread z copies matrix z of a group. */
#define OWN_MATRICES (GT_POINTERS && GT_BULK)

/* MATRIX is matrix z of the operand `from`. DIRECT is that of C of the thread's product z,
 * for sums that are stored one by one. */
#if GT_POINTERS
#define MATRIX(from, z) ((from).at[z])
#define DIRECT(c, z) ((c).direct)

/* The pointers to a group's matrices, in shared memory. */
struct pointers {
    const gt_ab *a[COUNT], *b[COUNT];
    gt_c *c[COUNT];
};
#else
#define MATRIX(from, z) ((from).at + (z) * (from).stride)
#define DIRECT(c, z) MATRIX(c, z)
#endif

#define IS_ALIGNED(p) (((gt_long)(p) & 15) == 0)

/* Whether matrices of `one` elements, in rows of `length`, consist of pieces of 16 bytes:
 * the matrices are one run, or each is a run of whole pieces, or each row is. */
GT_INLINE int in_pieces(const void *at, gt_long ld, gt_long stride, int size, int length,
                        int one) {
    const int is_run = ld == length && (stride == one || one * size % 16 == 0);
    const int has_rows = length * size % 16 == 0 && IS_ALIGNED(ld * size);
    return IS_ALIGNED(at) && (is_run || has_rows) &&
           (stride == one || IS_ALIGNED(stride * size));
}

/* The place in memory of element x of such matrices. A piece begins with it. */
GT_INLINE gt_long piece_place(int x, int size, int length, int one, gt_long ld,
                              gt_long stride) {
    return length * size % 16 == 0 ? x / one * stride + x % one / length * ld + x % length
           : one * size % 16 == 0  ? x / one * stride + x % one
                                   : x;
}

/* The place in shared memory of byte `at` of a run. When `swizzled`, pieces are permuted so
 * that those at one place of 8 neighbouring rows of `length` bytes lie in different banks,
 * for lengths of 16 to 128 bytes and of 256. */
GT_INLINE int placed(int swizzled, int length, int at) {
    return swizzled ? at ^ (at >> (length % 256 == 0 ? 8 : 7) & 7) << 4 : at;
}

#define PLACE_IN(operand, x)                                                               \
    (placed(!GT_BULK && !GT_PAD && MATRIX_##operand,                                       \
            LENGTH_##operand * sizeof(gt_ab), (x) * sizeof(gt_ab)) /                       \
     (int)sizeof(gt_ab))
#define PLACE_IN_C(x)                                                                      \
    (placed(!GT_BULK && GT_ENGINE, COLS * sizeof(gt_c), (x) * (int)sizeof(gt_c)) /         \
     (int)sizeof(gt_c))
