/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planes.h - what remainder makes of A and B ahead of the products: the shifts of all
 * lines, and the planes of bytes. remainder.cu explains the words.
 */
typedef unsigned char byte;

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN, STAGES = GT_STAGES,
    MODULI = GT_MODULI,
    CLUSTER = GT_CLUSTER, WORKERS = GT_WORKERS, /* threads that multiply */
    FINISHERS = GT_ENGINE ? 96 : 0, COPIERS = GT_ENGINE ? 32 : 0,
    TRIOS = GT_CDIV(MODULI, GT_TRIO),
    CHUNKS = BK / 16, /* chunks of a row */
    SLAB_A = BM * BK, SLAB_B = BN * BK, SLAB = SLAB_A + SLAB_B,
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* lines: threads that share a line, and lines of a block */
    LINES = GT_LINES, READERS = GT_HELPERS / LINES,

    /* planes: a thread makes one chunk of each plane */
    SPLIT_ROWS = GT_SPLIT_ROWS,
    SPLIT_LD = GT_SPLIT_LD, /* length of a row in shared memory, a spare element a chunk */

    /* gemm: a fragment is 16 rows x 8 columns, 4 sums a thread. The four warps of a
     * warpgroup lie 16 rows apart. */
    APART = GT_ENGINE ? 64 : 16,
    FRAGS_M = WM / APART, FRAGS_N = WN / 8, FRAGS = FRAGS_M * FRAGS_N,

    /* plain: tile of a block and of a thread, k of a step */
    PLAIN = GT_PLAIN, PLAIN_EACH = 4, PLAIN_K = 16
};

/* ---- places ------------------------------------------------------------------------- */

/* An operand, seen from its lines. */
struct operand {
    const gt_ab *at;
    gt_long line_step, k_step; /* elements */
    gt_long first, count;      /* its lines: the row of the first one in a slab; how many */
};

/* The operand that has this row of slabs. Rows from first + count on are padding. */
#define GT_OPERAND_OF(row)                                                                 \
    ((row) < GT_HIGH ? operand_of(a, lda, A_ALONG, 0, m)                                   \
                     : operand_of(b, ldb, B_ALONG, GT_HIGH, n))

GT_INLINE struct operand operand_of(const gt_ab *at, gt_long ld, int along, gt_long first,
                                    int count) {
    const struct operand of = {at, along ? ld : 1, along ? 1 : ld, first, count};
    return of;
}

#define GT_LINE_AT(row) ((struct gt_line *)((char *)workspace + GT_AT_LINES) + (row))
#define GT_MARK_AT(tile) ((int *)((char *)workspace + GT_AT_MARKS) + (tile))

/* ---- lines -------------------------------------------------------------------------- */

/* The sizes and the lowest bit of a line's elements: gt_line_of takes them. */
struct found {
    double most, sum;
    int lowest;
};

/* A NaN or an infinity is in the sum. */
GT_INLINE void add_element(struct found *f, double x) {
    const double size = fabs(x);
    f->sum += size;
    if (size > 0) {
        f->most = size > f->most ? size : f->most;
        f->lowest = GT_MIN(f->lowest, gt_lowest(size));
    }
}

GT_INLINE void add_found(struct found *f, const struct found *other) {
    f->sum += other->sum;
    f->most = other->most > f->most ? other->most : f->most;
    f->lowest = GT_MIN(f->lowest, other->lowest);
}

GT_KERNEL(lines, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(struct found, part, GT_HELPERS);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X;
    const gt_long row0 = GT_BLOCK * (gt_long)LINES;
    const struct operand of = GT_OPERAND_OF(row0);
    const int along = of.k_step == 1; /* neighbouring threads read neighbouring elements */
    const int row = along ? t / READERS : t % LINES;
    const int reader = along ? t % READERS : t / LINES;
    const gt_long line = row0 + row - of.first;
    const int depth = alpha == 0 || line >= of.count ? 0 : k;
    const gt_ab *x = of.at + line * of.line_step;
    struct found found = {0, 0, 1 << 20};
    GT_UNROLL_BY(8)
    for (int p = reader; p < depth; p += READERS)
        add_element(&found, x[p * of.k_step]);
    part[reader * LINES + row] = found;
    GT_BARRIER();
    if (t < LINES) {
        found = part[t];
        for (int i = 1; i < READERS; i++)
            add_found(&found, &part[i * LINES + t]);
        *GT_LINE_AT(row0 + t) = gt_line_of(MODULI, found.most, found.sum, found.lowest);
    }
}

/* ---- planes ------------------------------------------------------------------------- */

/* Copies SPLIT_ROWS rows of the slab at k0 to shared memory, with zeros past the edges. */
GT_INLINE void gather(gt_ab *tile, struct operand of, gt_long line0, int k0, int k, int t) {
    const int along = of.k_step == 1;
    gt_ab element[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * GT_HELPERS;
        const gt_long line = line0 + (along ? e / BK : e % SPLIT_ROWS);
        const int at = k0 + (along ? e % BK : e / SPLIT_ROWS);
        element[i] = line < of.count && at < k ? of.at[line * of.line_step + at * of.k_step]
                                               : 0;
    }
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const int e = t + i * GT_HELPERS;
        const int row = along ? e / BK : e % SPLIT_ROWS;
        const int at = along ? e % BK : e / SPLIT_ROWS;
        tile[row * SPLIT_LD + at + at / 16] = element[i];
    }
}

/* Stores a chunk of a plane: the low bytes of the values. */
GT_INLINE void put_chunk(byte *to, const unsigned value[16]) {
    unsigned word[4];
    GT_UNROLL
    for (int i = 0; i < 16; i += 4)
        word[i / 4] = gt_pack_bytes(value[i], value[i + 1], value[i + 2], value[i + 3]);
    gt_store_words(16, (char *)to, word);
}

/* Stores the chunks of 16 elements of a line. */
GT_INLINE void split(byte *to, gt_long plane_bytes, const gt_ab *x, struct gt_line line,
                     const struct gt_reducer *reducers) {
    unsigned long long raised[16];
    unsigned value[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        const unsigned long long integer = gt_integer(x[i], line.shift);
        raised[i] = gt_raised(integer, x[i] < 0);
        value[i] = (unsigned)gt_size_byte(integer, line.top);
    }
    put_chunk(to, value);
    GT_UNROLL_BY(1)
    for (int l = 0; l < MODULI; l++) {
        const struct gt_reducer r = reducers[l];
        GT_UNROLL
        for (int i = 0; i < 16; i++)
            value[i] = gt_residue(r, raised[i]);
        to += plane_bytes;
        put_chunk(to, value);
    }
}

GT_KERNEL(planes, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(struct gt_reducer, reducers, GT_SPLIT_SMEM / 32);
    GT_FOLLOW();
    GT_PRODUCT();
    gt_ab *tile = (gt_ab *)(reducers + MODULI);
    const int t = GT_THREAD_X, r = t / CHUNKS, chunk = t % CHUNKS;
    const int pieces = (int)(GT_ROWS / SPLIT_ROWS), slab = GT_BLOCK / pieces;
    const gt_long row0 = GT_BLOCK % pieces * (gt_long)SPLIT_ROWS;
    const struct operand of = GT_OPERAND_OF(row0);
    if (alpha == 0 || k == 0)
        return;
    if (t < MODULI)
        reducers[t] = gt_reducer_of(MODULI, t, of.first == 0);
    gather(tile, of, row0 - of.first, slab * BK, k, t);
    GT_BARRIER();
    split((byte *)workspace + (slab * GT_ROWS + row0) * BK + gt_byte_place(BK, r, chunk),
          GT_PLANE, tile + r * SPLIT_LD + chunk * 17, *GT_LINE_AT(row0 + r), reducers);
}
