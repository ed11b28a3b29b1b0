/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the way out of triple: sums go through shared memory to C or, as parts, to the
 * workspace.
 */
/* The sum of a row of the part of A times a column of the part of B, in f32 alone. */
GT_INLINE gt_acc plain_sum(const struct operand *a, const struct operand *b, int row,
                           int col) {
    const gt_long step_a = A_ALONG ? SIZE : a->pitch, step_b = B_ALONG ? SIZE : b->pitch;
    const char *x = a->at + row * (A_ALONG ? a->pitch : (gt_long)SIZE);
    const char *y = b->at + col * (B_ALONG ? b->pitch : (gt_long)SIZE);
    return gt_split_none(x, step_a, y, step_b, a->left);
}

/* The destination of sums: C or, where `sums` is not NULL, this block's part of the
 * workspace. */
struct target {
    GT_GLOBAL gt_c *c;       /* at the first element of the tile */
    GT_GLOBAL gt_acc *sums;
    gt_long ld;
    int rows, cols; /* that exist from there */
    gt_acc alpha, beta;
    int aligned; /* rows are aligned to vectors of WIDE_C */
    const struct operand *a, *b;
};

/* Puts a lane's sums of a row to shared memory, those of neighbouring columns at once. */
GT_INLINE void put_patches(gt_acc *to, gt_acc sums[2 * GN][4], int h, int lane) {
    GT_UNROLL
    for (int e = 0; e < 2; e++)
        GT_UNROLL
        for (int j = 0; j + 3 < 2 * GN; j += 4) {
            gt_acc four[4];
            GT_UNROLL
            for (int c = 0; c < 4; c++)
                four[c] = sums[j + c][2 * h + e];
            gt_store_shared_acc(4, to + 8 * j + gt_split_patch_sums(lane, e), four);
        }
}

/* Puts 16 rows of sums of a warp to shared memory. `to`: at the warp's first row there. */
GT_INLINE void put(gt_acc *to, gt_acc sums[2 * GN][4], int lane) {
    GT_UNROLL
    for (int h = 0; h < 2; h++) {
        gt_acc *const row = to + row_of(lane, h) * LDT;
        if (B_PATCHES)
            put_patches(row, sums, h, lane);
        else
            GT_UNROLL
            for (int j = 0; j < 2 * GN; j++)
                gt_store_shared_acc(2, row + 8 * j + 2 * (lane % 4), sums[j] + 2 * h);
    }
}

/* Reads `wide` sums of row r in shared memory, from column `col` on. Sums of slices are
 * added in their order. */
GT_INLINE void gather(int wide, gt_acc *sum, const gt_acc *tile, int r, int col) {
    gt_acc more[WIDE_C];
    GT_UNROLL
    for (int s = 0; s < SLICES; s++) {
        gt_load_shared_acc(wide, s > 0 ? more : sum, tile + (s * HIGH + r) * LDT + col);
        GT_UNROLL
        for (int x = 0; x < wide && s > 0; x++)
            sum[x] += more[x];
    }
}

/* Stores rows of sums from shared memory, `wide` elements a thread: rows i * 16 to i * 16 +
 * 15 of each warp's part of the tile. */
GT_INLINE void store(int wide, const struct target *to, const gt_acc *tile, int i,
                     int t GT_PLACE_PARAMS) {
    GT_UNROLL_BY(1)
    for (int e = t; e < HIGH * (BN / wide); e += STORERS) {
        const int r = e / (BN / wide), col = e % (BN / wide) * wide;
        const int row = r / 16 * WM + i * 16 + r % 16, left = to->cols - col;
        const gt_long place = row * to->ld + col;
        gt_acc sum[WIDE_C];
        gt_c old[WIDE_C];
        if (row >= to->rows || left <= 0)
            continue;
        gather(wide, sum, tile, r, col);
        GT_UNROLL
        for (int x = 0; x < wide; x++)
            if (x < left && !gt_split_finite(sum[x]))
                sum[x] = plain_sum(to->a, to->b, row, col + x);
        if (to->sums) { /* 4 divides `cols` where rows are aligned */
            gt_store_global_acc(wide, to->sums + place, sum);
        } else {
            gt_load_c(wide, old, to->c + place, to->beta, left >= wide, 0, left);
            gt_store_row(wide, to->c + place, to->alpha, sum, to->beta, old, left >= wide,
                         0, left GT_PLACE(gt_i + row, gt_j + col));
        }
    }
}

/* A barrier of the threads that have sums. */
GT_INLINE void meet(void) {
#if GT_ENGINE
    gt_group_barrier(STORERS_MEET, STORERS);
#else
    GT_BARRIER();
#endif
}
