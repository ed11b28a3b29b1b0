/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slabs.h - the constants of a point of dmma, and how slabs of A and B are copied to shared
 * memory. dmma.cu explains the words.
 */
enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN,
    SLICES = GT_SLICES, STAGES = GT_STAGES, SPLIT = GT_SPLIT,
    T = GT_THREADS, VA = GT_VA, VB = GT_VB,
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */
    ODD = GT_ODD,
    /* A slab's rows, the used part of a row, and its length. With ODD a row has room for
     * two more elements, and rows that are read together lie in different banks without a
     * swizzle. */
    ROWS_A = GT_ROWS_A, COLS_A = GT_COLS_A, LDA_S = GT_LDA_S,
    ROWS_B = GT_ROWS_B, COLS_B = GT_COLS_B, LDB_S = GT_LDB_S,
    SLAB_A = ROWS_A * LDA_S, STAGE = GT_STAGE_ELEMS,

    /* Groups of 8 rows and of 8 columns of a warp; elements of one row that a lane holds
     * for a step; steps of a warp in a slab. */
    GM = WM / 8, GN = WN / 8,
    HELD = GT_KSTEP / 4,
    STEPS = BK / SLICES / GT_KSTEP,

    CLUSTER = GT_REDUCE ? SPLIT : 1,    /* blocks that reduce together */
    PARTIAL = GT_PARTIAL,               /* stored sums are parts, not C yet */
    GATHER = SLICES > 1 || CLUSTER > 1, /* sums are added up in shared memory */
    LDT = BN + 8 /* length of a tile's row there: the next row begins 64 bytes further */
};

/*
 * The columns of a slab's row are XORed with this. 16 lanes that read together read 4
 * neighbours in each of 4 consecutive rows, and the length of a row is a multiple of 128
 * bytes.
 */
GT_INLINE int swizzle(int row) {
    return ODD ? 0 : row % 4 * 4;
}

/*
 * The place of the first element in its row of a slab. A row that begins in the middle of
 * 16 bytes is copied from the beginning of these 16 bytes; the bytes before the row are
 * read, which is safe, and not used. All tiles begin at multiples of 16 elements, so the
 * shift depends only on the matrix and on the row's number in the slab.
 */
GT_INLINE int shift(const GT_GLOBAL gt_ab *x, gt_long ld, int row) {
    return ODD ? (int)((gt_long)x / 8 + ld * row) & 1 : 0;
}

/* The number of vectors in a slab's row, and of rows that the threads copy at once. */
#define ROW_VECTORS(cols, v) ((cols) / (v))
#define ROWS_AT_ONCE(cols, v) (T / ROW_VECTORS(cols, v))

/* The place where thread t begins to copy slabs of x. */
GT_INLINE const GT_GLOBAL gt_ab *aim(int cols, int v, const GT_GLOBAL gt_ab *x,
                                       gt_long ld, int t) {
    return x + t / ROW_VECTORS(cols, v) * ld + t % ROW_VECTORS(cols, v) * v;
}

/* How many copies a thread makes for a slab of rows x cols. */
#define COPIES(rows, cols, v) GT_CDIV(rows, ROWS_AT_ONCE(cols, v))

/* Starts a thread's copies `first` to `end` of a slab of rows x cols; rows_left x cols_left
 * of it exist. Bit r % 2 of `odd` is the shift of row r. */
GT_INLINE void fetch(int first, int end, int rows, int cols, int v, GT_SHARED gt_ab *s,
                     int stride, const GT_GLOBAL gt_ab *at, gt_long ld, int odd,
                     int rows_left, int cols_left, int t) {
    const int step = ROWS_AT_ONCE(cols, v);
    const int row0 = t / ROW_VECTORS(cols, v), col = t % ROW_VECTORS(cols, v) * v;
    if (ODD && first == 0 && end > 0) /* elements of a shifted row after its last vector */
        GT_UNROLL
        for (int i = 0; i < GT_CDIV(rows, T); i++) {
            const int row = t + i * T;
            if (row < rows)
                gt_copy_some(v, s + row * stride + cols,
                             at + (row - row0) * ld + cols - col - 1,
                             row < rows_left && cols <= cols_left && odd >> row % 2 & 1);
        }
    if (T % ROW_VECTORS(cols, v) != 0 && row0 >= step)
        return;
    at += first * step * ld;
    GT_UNROLL_BY(4) /* more would cost registers */
    for (int i = first; i < end; i++) {
        const int row = row0 + i * step, back = odd >> row % 2 & 1;
        const int there = GT_MAX(GT_MIN(cols_left - col + back, v), 0);
        if (rows % step == 0 || row < rows)
            gt_copy_some(v, s + row * stride + (col ^ swizzle(row)), at - back,
                         row < rows_left ? there : 0);
        at += step * ld;
    }
}

#if GT_WALK
/* A tile of a product, in shared memory. */
struct tile {
    gt_long a, b, c;   /* elements ahead of its rows of A, columns of B, and of its C */
    gt_long row;       /* in C, as an epilogue counts rows of products */
    int rows, cols;    /* of C, from there to the edges; rows 0: there is no such tile */
    int col, product;
};
/* Copies are at most STAGES - 1 tiles ahead of the one that is multiplied. Of the other
 * slots one is that of the tile before. The last one lets a barrier lie between the
 * announcement of a tile and its first copy. */
enum { TILE_ELEMS = 6, QUEUE = STAGES + 2 };
GT_STATIC_ASSERT(sizeof(struct tile) == TILE_ELEMS * sizeof(gt_ab), gt_tile_has_its_size);
GT_STATIC_ASSERT(STAGES * STAGE + QUEUE * TILE_ELEMS <= GT_SMEM_ELEMS, gt_queue_has_room);

/* Returns x, hidden from the optimiser, so that values derived from x are recomputed, not
 * kept in registers. */
GT_INLINE int anew(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* The tiles that the block will copy slabs of. */
struct queue {
    const GT_GLOBAL gt_ab *a, *b; /* of the first product */
    const GT_SHARED struct tile *tile; /* QUEUE of them */
    int next;                          /* the one whose slabs come next */
    int depth;                         /* k, or 0 when no slab is read */
};
#endif

/* The source of a thread's copies. */
struct origin {
    const GT_GLOBAL gt_ab *a, *b;
    gt_long lda, ldb;
    int odd_a, odd_b;     /* shifts of even (bit 0) and odd rows of a slab */
    int rows, cols, left; /* of C and of k, from there to the edges */
#if GT_WALK
    struct queue tiles;
#endif
};

#if GT_WALK
/* When all slabs of a tile have been asked for, the next tile's come next, if there is
 * one. */
GT_INLINE void move_on(struct origin *from, int t) {
    struct queue *const q = &from->tiles;
    const GT_SHARED struct tile *const to = q->tile + q->next;
    if (from->left > 0 || to->rows == 0)
        return;
    q->next = q->next < QUEUE - 1 ? q->next + 1 : 0;
    t = anew(t);
    from->a = aim(COLS_A, VA, q->a + to->a, from->lda, t);
    from->b = aim(COLS_B, VB, q->b + to->b, from->ldb, t);
    from->odd_a = shift(q->a + to->a, from->lda, 0) + 2 * shift(q->a + to->a, from->lda, 1);
    from->odd_b = shift(q->b + to->b, from->ldb, 0) + 2 * shift(q->b + to->b, from->ldb, 1);
    from->rows = to->rows;
    from->cols = to->cols;
    from->left = q->depth;
}
#endif

/*
 * Starts to copy a piece of the next slab of A and of B, if there is one; the last piece
 * moves the pointers on. There are as many pieces as steps of multiplying the slab before.
 * A piece has few copies, so the compiler puts them between that step's multiplications. A
 * loop of many copies would go ahead of them.
 */
enum {
    COPIES_A = COPIES(ROWS_A, COLS_A, VA), COPIES_B = COPIES(ROWS_B, COLS_B, VB),
    PIECES = GT_MIN(STEPS, GT_CDIV(GT_MAX(COPIES_A, COPIES_B), 4)),
};

GT_INLINE void fetch_piece(int piece, struct origin *from, GT_SHARED gt_ab *stage, int t) {
#if GT_WALK
    if (piece == 0)
        move_on(from, t);
#endif
    if (from->left > 0) {
        fetch(COPIES_A * piece / PIECES, COPIES_A * (piece + 1) / PIECES, ROWS_A, COLS_A,
              VA, stage, LDA_S, from->a, from->lda, from->odd_a,
              A_ALONG ? from->rows : from->left, A_ALONG ? from->left : from->rows, t);
        fetch(COPIES_B * piece / PIECES, COPIES_B * (piece + 1) / PIECES, ROWS_B, COLS_B,
              VB, stage + SLAB_A, LDB_S, from->b, from->ldb, from->odd_b,
              B_ALONG ? from->cols : from->left, B_ALONG ? from->left : from->cols, t);
    }
    if (piece < PIECES - 1)
        return;
    GT_COPY_COMMIT();
    from->a += A_ALONG ? BK : BK * from->lda;
    from->b += B_ALONG ? BK : BK * from->ldb;
    from->left -= BK;
}
