/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.h - products of pipeline by multiply-adds: a thread computes a patch.
 */
#if GT_ENGINE == 0
enum {
    SUMS = TM * TN,
    VC = COLS % VN == 0 ? VN : COLS % 2 == 0 ? 2 : 1, /* sums that are stored together */
};

/* Row r and column s of a patch, in the matrix. Vectors of a patch are as far apart as
 * there are patches, so that neighbouring threads have neighbouring vectors. */
#define ROW(r) ((r) / VM * HIGH * VM + row * VM + (r) % VM)
#define COL(s) ((s) / VN * WIDE * VN + col * VN + (s) % VN)
/* Which vectors lie inside in each patch. They are at fixed distances. */
#define FITS_ROW(r) (((r) / VM + 1) * HIGH * VM <= ROWS)
#define FITS_COL(s) (((s) / VN + 1) * WIDE * VN <= COLS)
#define IS_ROW(r) (FITS_ROW(r) || ROW(r) < ROWS)
#define IS_COL(s) (FITS_COL(s) || COL(s) < COLS)
/* Where others reach past the edge, another vector stands in: one that ends at the edge or,
 * with PAD, the last one, which may end in the padding. */
#define LAST(side, vector) (GT_PAD ? ((side)-1) / (vector) * (vector) : (side) - (vector))
#define ROW_INSIDE(r) (FITS_ROW(r) ? ROW(r) : GT_MIN(ROW(r), LAST(ROWS, VM)))
#define COL_INSIDE(s) (FITS_COL(s) ? COL(s) : GT_MIN(COL(s), LAST(COLS, VN)))

/* The part of a thread: its product in the group, its patch, its slice of k. A thread
 * without a product does the same as another one, and stores nothing. */
struct part {
    int product, row, col, slice, gives;
};

GT_INLINE struct part part_of_thread(void) {
    const int t = GT_MIN(GT_THREAD_X, COUNT * TEAM - 1), patch = t % TEAM / GT_SLICES;
    const struct part part = {t / TEAM, patch / WIDE, patch % WIDE, t % GT_SLICES,
                              GT_THREAD_X < COUNT * TEAM && t % GT_SLICES == 0};
    return part;
}

/* Loads `deep` k's, at most VK, of the rows of A of a patch: x[r * VK + v]. */
GT_INLINE void load_rows(gt_ab *x, const gt_ab *a, int deep, int row) {
    gt_ab some[4];
    GT_UNROLL
    for (int r = 0; r < TM && !GT_TA; r++)
        gt_load_shared(VK, x + r * VK, a + ROW_INSIDE(r) * LINE_A);
    GT_UNROLL
    for (int e = 0; e < TM * deep && GT_TA; e += VM) {
        const int v = e / TM, r = e % TM;
        gt_load_shared(VM, some, a + v * LINE_A + ROW_INSIDE(r));
        GT_UNROLL
        for (int i = 0; i < VM; i++)
            x[(r + i) * VK + v] = some[i];
    }
}

/* The same of the columns of B: y[s * VK + v]. */
GT_INLINE void load_cols(gt_ab *y, const gt_ab *b, int deep, int col) {
    gt_ab some[4];
    GT_UNROLL
    for (int s = 0; s < TN && GT_TB; s++)
        gt_load_shared(VK, y + s * VK, b + COL_INSIDE(s) * LINE_B);
    GT_UNROLL
    for (int e = 0; e < TN * deep && !GT_TB; e += VN) {
        const int v = e / TN, s = e % TN;
        gt_load_shared(VN, some, b + v * LINE_B + COL_INSIDE(s));
        GT_UNROLL
        for (int i = 0; i < VN; i++)
            y[(s + i) * VK + v] = some[i];
    }
}

/* acc += the sums over `deep` k's, at most VK. */
GT_INLINE void multiply_vector(gt_acc *acc, const gt_ab *a, const gt_ab *b, int deep,
                               struct part part) {
    gt_ab x[TM * VK], y[TN * VK];
    load_rows(x, a, deep, part.row);
    load_cols(y, b, deep, part.col);
    GT_UNROLL
    for (int e = 0; e < deep * SUMS; e++) {
        const int v = e / SUMS, i = e % SUMS, r = i / TN, s = i % TN;
        acc[i] = gt_multiply_add(x[r * VK + v], y[s * VK + v], acc[i]);
    }
}

/* acc += the sums of the thread's patch. Afterwards all slices have the whole sums. With
 * PAD, the last vector of k may be a part of one. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b, struct part part) {
    enum {
        VECTORS = DEEP / VK,                /* whole ones */
        NEXT_A = VK * (GT_TA ? LINE_A : 1), /* elements from one vector to the next */
        NEXT_B = VK * (GT_TB ? 1 : LINE_B),
    };
    a += part.product * PITCH_A + part.slice * NEXT_A;
    b += part.product * PITCH_B + part.slice * NEXT_B;
    GT_UNROLL_BY(2)
    for (int v = part.slice; v < VECTORS; v += GT_SLICES) {
        multiply_vector(acc, a, b, VK, part);
        a += GT_SLICES * NEXT_A;
        b += GT_SLICES * NEXT_B;
    }
    if (DEEP % VK > 0 && part.slice == VECTORS % GT_SLICES)
        multiply_vector(acc, a, b, DEEP % VK, part);
    GT_UNROLL
    for (int apart = GT_SLICES / 2; apart > 0; apart /= 2)
        GT_UNROLL
        for (int i = 0; i < SUMS; i++)
            acc[i] += __shfl_xor_sync(0xffffffffu, acc[i], apart);
}

GT_INLINE void give_all(struct outputs c, const gt_acc *acc, struct part part,
                        int count GT_PLACE_PARAMS) {
    const int row = part.row, col = part.col;
    GT_UNROLL
    for (int i = 0; i < SUMS; i += VC)
        if (part.gives && IS_ROW(i / TN) && IS_COL(i % TN))
            give(c, part.product < count, part.product, ROW(i / TN), COL(i % TN), VC,
                 acc + i GT_PLACE(gt_i, gt_j));
}
#endif
