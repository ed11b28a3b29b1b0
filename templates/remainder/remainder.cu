/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remainder - f64 products by exact products of bytes on tensor cores, with the bound of
 * f64 products. docs/residues.md has the method, templates/common/residues.h its
 * arithmetic.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major. Four kernels run one after another:
 *
 *     lines   the shift of every row of op(A) and column of op(B)
 *     planes  every element as MODULI + 1 bytes: its size, then its residues
 *     gemm    a tile of C from MODULI + 1 products of bytes. The product of the sizes tells
 *             whether all sums of the tile can be trusted. If not, the tile is marked and
 *             given up.
 *     plain   the marked tiles, by f64 multiply-adds
 *
 * So the device decides, for every tile, and the host does not wait.
 *
 * The workspace holds
 *
 *     planes  MODULI + 1 of them. A plane has slabs: BK of k of every row of op(A), padded
 *             to BM, and below them of every column of op(B), padded to BN. A row of a slab
 *             is BK contiguous bytes. Its chunks of 16 are permuted (`place`) as shared
 *             memory needs them, so a tile's part of a slab is copied as it lies. A plane
 *             begins where the one ahead of it ends, so all slabs of a tile are equally far
 *             apart.
 *     lines   a struct gt_line for each row of a slab
 *     marks   an int for each tile of C: 1 for a tile that `plain` computes
 *     sums    for each block of gemm, the residues of its tile: a word is four elements of
 *             a thread modulo one number
 *
 * MODULI   how many; more of them serve longer k and wider exponents
 * BM BN    tile of C            BK      k of a slab
 * WM WN    tile of a warp
 * STAGES   slabs of A and B in shared memory: one in use, the others on their way
 * GROUP    rows of tiles that are walked together, for the L2 cache
 */

typedef unsigned char byte;

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN, STAGES = GT_STAGES,
    MODULI = GT_MODULI, PLANES = MODULI + 1, THREADS = GT_THREADS,
    CHUNKS = BK / 16, /* chunks of a row */
    SLAB_A = BM * BK, SLAB_B = BN * BK, SLAB = SLAB_A + SLAB_B,
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* lines: threads that share a line, and lines of a block */
    READERS = 8, LINES = GT_HELPERS / READERS,

    /* planes: a thread makes one chunk of each plane */
    SPLIT_ROWS = GT_HELPERS / CHUNKS,
    SPLIT_LD = GT_SPLIT_LD, /* length of a row in shared memory, a spare element a chunk */

    /* gemm: a fragment is 16 rows x 8 columns, 4 sums a thread */
    FRAGS_M = WM / 16, FRAGS_N = WN / 8, FRAGS = FRAGS_M * FRAGS_N,

    /* plain: tile of a block and of a thread, k of a step */
    PLAIN = GT_PLAIN, PLAIN_EACH = 4, PLAIN_K = 16
};

/* ---- places ------------------------------------------------------------------------- */

/* The place of chunk c of row r in a tile: the swizzle by 128 or 64 bytes. Eight rows of
 * one chunk meet every bank of shared memory once. */
GT_INLINE int place(int r, int c) {
    return r * BK + ((c ^ r / (128 / BK)) & (CHUNKS - 1)) * 16;
}

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

/* What a line's elements have in common: see gt_line_of. */
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
    GT_UNROLL_BY(4)
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

/* Stores a chunk of a plane; `value` are bytes. */
GT_INLINE void put_chunk(byte *to, const int value[16]) {
    unsigned word[4] = {0, 0, 0, 0};
    GT_UNROLL
    for (int i = 0; i < 16; i++)
        word[i / 4] |= (unsigned)(value[i] & 255) << i % 4 * 8;
    gt_store_words(16, (char *)to, word);
}

/* Stores the chunks of 16 elements of a line. */
GT_INLINE void split(byte *to, gt_long plane_bytes, const gt_ab *x, struct gt_line line,
                     const struct gt_reducer *reducers) {
    unsigned long long integer[16];
    int negative[16], value[16];
    GT_UNROLL
    for (int i = 0; i < 16; i++) {
        integer[i] = gt_integer(x[i], line.shift);
        negative[i] = x[i] < 0;
        value[i] = gt_size_byte(integer[i], line.top);
    }
    put_chunk(to, value);
    GT_UNROLL_BY(1)
    for (int l = 0; l < MODULI; l++) {
        const struct gt_reducer r = reducers[l];
        GT_UNROLL
        for (int i = 0; i < 16; i++)
            value[i] = gt_residue(r, integer[i], negative[i]);
        to += plane_bytes;
        put_chunk(to, value);
    }
}

GT_KERNEL(planes, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(struct gt_reducer, reducers, GT_SPLIT_SMEM / 16);
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
    split((byte *)workspace + (slab * GT_ROWS + row0) * BK + place(r, chunk), GT_PLANE,
          tile + r * SPLIT_LD + chunk * 17, *GT_LINE_AT(row0 + r), reducers);
}

/* ---- gemm: copies and products ------------------------------------------------------ */

GT_INLINE void copy_chunk(char *to, const byte *from) {
#if __CUDA_ARCH__ >= 800
    gt_bytes_copy(16, to, (const char *)from, 16);
#else
    unsigned word[4];
    gt_load_words(16, 1, word, (const char *)from, 16);
    gt_store_words(16, to, word);
#endif
}

/* Loads four matrices of 8 rows x 16 bytes. Lane l gives the address of row l % 8 of matrix
 * l / 8. */
GT_INLINE void load_matrices(unsigned r[4], int at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at)
                 : "memory");
}

/* 16 x 32 bytes by 32 x 8; with sm_75 8 x 16 by 16 x 8. */
GT_INLINE void multiply_add(int d[4], const unsigned a[4], const unsigned b[2]) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    GT_UNROLL
    for (int i = 0; i < 4; i++) /* the upper rows, then the lower ones; halves of k */
        asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, "
            "{%0, %1};"
            : "+r"(d[i / 2 * 2]), "+r"(d[i / 2 * 2 + 1])
            : "r"(a[i / 2 + i % 2 * 2]), "r"(b[i % 2]));
#endif
}

/* The next slabs of a tile, in the order of use. */
struct walk {
    const byte *a, *b;
    gt_long step; /* bytes from a slab to the next */
    int left;     /* slabs that have not been asked for */
};

/* Starts to copy the next slabs, if there are any, to a stage. */
GT_INLINE void fetch(struct walk *w, char *stage, int t) {
    if (w->left > 0) {
        GT_UNROLL
        for (int i = 0; i < SLAB_A / 16 / THREADS; i++)
            copy_chunk(stage + (t + i * THREADS) * 16, w->a + (t + i * THREADS) * 16);
        GT_UNROLL
        for (int i = 0; i < SLAB_B / 16 / THREADS; i++)
            copy_chunk(stage + SLAB_A + (t + i * THREADS) * 16,
                       w->b + (t + i * THREADS) * 16);
        w->a += w->step;
        w->b += w->step;
        w->left--;
    }
    GT_BYTES_COMMIT();
}

/* acc += the warp's rows of slab A x its columns of slab B, from warp_m and warp_n on. */
GT_INLINE void multiply(int acc[FRAGS][4], int stage, int warp_m, int warp_n, int lane) {
    GT_UNROLL
    for (int c = 0; c < CHUNKS; c += 2) {
        unsigned fa[FRAGS_M][4], fb[FRAGS_N / 2][4];
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            load_matrices(fa[i], stage + place(warp_m + i * 16 + lane % 16, c + lane / 16));
        GT_UNROLL
        for (int j = 0; j < FRAGS_N / 2; j++)
            load_matrices(fb[j],
                          stage + SLAB_A + place(warp_n + j * 16 + lane / 16 * 8 + lane % 8,
                                                 c + lane / 8 % 2));
        GT_UNROLL
        for (int i = 0; i < FRAGS_M; i++)
            GT_UNROLL
            for (int j = 0; j < FRAGS_N; j++)
                multiply_add(acc[i * FRAGS_N + j], fa[i], fb[j / 2] + j % 2 * 2);
    }
}

/* A ring of stages. */
struct ring {
    char *stages;
    int now, free; /* the stage in use next, and the one that was read last */
};

GT_INLINE void start(struct ring *r, struct walk *w, int t) {
    r->now = 0, r->free = STAGES - 1;
    GT_UNROLL
    for (int s = 0; s < STAGES - 1; s++)
        fetch(w, r->stages + s * SLAB, t);
}

/* acc = the product of one plane. */
GT_INLINE void multiply_plane(int acc[FRAGS][4], struct ring *r, struct walk *w, int slabs,
                              int warp_m, int warp_n, int t) {
    GT_UNROLL
    for (int e = 0; e < FRAGS * 4; e++)
        acc[e / 4][e % 4] = 0;
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER(); /* the stage is there, and the one before it has been read */
        fetch(w, r->stages + r->free * SLAB, t);
        multiply(acc, gt_shared_address(r->stages + r->now * SLAB), warp_m, warp_n, t % 32);
        r->free = r->now;
        r->now = r->now + 1 < STAGES ? r->now + 1 : 0;
    }
}

/* Waits for the copies under way, which nobody will read. */
GT_INLINE void stop(void) {
    GT_BYTES_WAIT(0);
    GT_BARRIER();
}

/* ---- gemm: sums --------------------------------------------------------------------- */

/* A thread's part of a tile: the first row and column. Element e of fragment f lies at
 * row + row_of(f, e), col + col_of(f, e). `a` and `b` are the lines there. */
struct part {
    int row, col;
    const struct gt_line *a, *b;
};

GT_INLINE int row_of(int f, int e) {
    return f / FRAGS_N * 16 + e / 2 * 8;
}

GT_INLINE int col_of(int f, int e) {
    return f % FRAGS_N * 8 + e % 2;
}

GT_INLINE int all_trusted(const int sizes[FRAGS][4], struct part p, int k) {
    int trusted = 1;
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++)
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            trusted &= gt_trusted(p.a[row_of(f, e)], p.b[col_of(f, e)], sizes[f][e], k);
    return trusted;
}

/* Stores the residues modulo number l, THREADS words apart. */
GT_INLINE void put_residues(unsigned *to, const int acc[FRAGS][4], int l) {
    const struct gt_divisor d = gt_divisor_of(l);
    GT_UNROLL
    for (int f = 0; f < FRAGS; f++) {
        unsigned word = 0;
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            word |= gt_sum_residue(acc[f][e], d) << 8 * e;
        to[f * THREADS] = word;
    }
}

/* The sums of a fragment's elements from the words of its residues. */
GT_INLINE void get_sums(gt_acc sum[4], const unsigned *from,
                        const struct gt_cofactor *cofactors, int f, struct part p) {
    struct gt_total total[4];
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        gt_total_clear(&total[e]);
    GT_UNROLL
    for (int l = 0; l < MODULI; l++) {
        const struct gt_cofactor cofactor = cofactors[l];
        const unsigned word = from[(l * FRAGS + f) * THREADS];
        GT_UNROLL
        for (int e = 0; e < 4; e++)
            gt_total_add(&total[e], cofactor, (int)(word >> 8 * e & 255));
    }
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        sum[e] = gt_scaled(gt_total_value(&total[e], cofactors[0]),
                           -p.a[row_of(f, e)].shift - p.b[col_of(f, e)].shift);
}

/* Stores the four elements of a fragment at c, pairs of neighbours in a row. */
GT_INLINE void store(gt_c *c, gt_long ldc, gt_acc alpha, const gt_acc sum[4], gt_acc beta,
                     int rows, int cols) {
    GT_UNROLL
    for (int e = 0; e < 4; e++)
        if (e / 2 * 8 < rows && e % 2 < cols)
            gt_store_c(c + e / 2 * 8 * ldc + e % 2, alpha, sum[e], beta);
}

/* ---- gemm --------------------------------------------------------------------------- */

/* GROUP rows of tiles are walked column by column. */
GT_INLINE void find_tile(int *row, int *col, int tile, int tiles_m, int tiles_n) {
    const int band = tile / (GT_GROUP * tiles_n), in_band = tile % (GT_GROUP * tiles_n);
    const int high = GT_MIN(tiles_m - band * GT_GROUP, GT_GROUP);
    *row = (band * GT_GROUP + in_band % high) * BM;
    *col = in_band / high * BN;
}

GT_KERNEL(gemm, GT_THREADS, 1, 1)(GT_PARAMS) {
    GT_SHARED_ARRAY(char, stages, GT_SMEM);
    GT_FOLLOW();
    GT_PRODUCT();
    const int t = GT_THREAD_X, lane = t % 32, warp = t / 32;
    const int warp_m = warp / (BN / WN) * WM, warp_n = warp % (BN / WN) * WN;
    const int slabs = alpha == 0 || k == 0 ? 0 : (int)GT_SLABS;
    const int tiles_m = gt_cdiv(m, BM), tiles_n = gt_cdiv(n, BN);
    int *doubt = (int *)(stages + STAGES * SLAB);
    struct gt_cofactor *cofactors = (struct gt_cofactor *)(doubt + 4);
    unsigned *residues = (unsigned *)((char *)workspace + GT_AT_SUMS) +
                         (gt_long)GT_BLOCK * MODULI * FRAGS * THREADS + t;

    if (t < MODULI)
        cofactors[t] = gt_cofactor_of(MODULI, t);
    for (int tile = GT_BLOCK; tile < GT_TILES; tile += (int)GT_BLOCKS) {
        int row0, col0, acc[FRAGS][4];
        find_tile(&row0, &col0, tile, tiles_m, tiles_n);
        const byte *first = (const byte *)workspace;
        struct walk w = {first + (gt_long)row0 * BK, first + (GT_HIGH + col0) * BK,
                         GT_ROWS * BK, PLANES * slabs};
        struct ring ring = {stages, 0, 0};
        struct part p = {row0 + warp_m + lane / 4, col0 + warp_n + lane % 4 * 2, 0, 0};
        p.a = GT_LINE_AT(p.row);
        p.b = GT_LINE_AT(GT_HIGH + p.col);

        if (t == 0)
            *doubt = 0;
        start(&ring, &w, t);
        multiply_plane(acc, &ring, &w, slabs, warp_m, warp_n, t);
        if (slabs > 0 && !all_trusted(acc, p, k))
            *doubt = 1;
        GT_BARRIER();
        const int given_up = slabs > 0 && *doubt;
        if (t == 0)
            *GT_MARK_AT(row0 / BM * tiles_n + col0 / BN) = given_up;
        GT_UNROLL_BY(1)
        for (int l = 0; l < MODULI && !given_up && slabs > 0; l++) {
            multiply_plane(acc, &ring, &w, slabs, warp_m, warp_n, t);
            put_residues(residues + l * (FRAGS * THREADS), acc, l);
        }
        stop();
        GT_UNROLL_BY(1)
        for (int f = 0; f < FRAGS && !given_up; f++) {
            const int row = p.row + row_of(f, 0), col = p.col + col_of(f, 0);
            gt_acc sum[4] = {0, 0, 0, 0};
            if (slabs > 0)
                get_sums(sum, residues, cofactors, f, p);
            store(c + row * ldc + col, ldc, alpha, sum, beta, m - row, n - col);
        }
    }
}

/* ---- plain -------------------------------------------------------------------------- */

/* The element at column `at` of k of a line; 0 past the edges. */
GT_INLINE gt_ab element(struct operand of, gt_long line, int at, int k) {
    return line < of.count && at < k ? of.at[line * of.line_step + at * of.k_step] : 0;
}

/* PLAIN_K of PLAIN lines, as rows of k. */
GT_INLINE void gather_plain(gt_ab *to, struct operand of, int line0, int k0, int k, int t) {
    const int along = of.k_step == 1;
    GT_UNROLL
    for (int i = 0; i < PLAIN * PLAIN_K / GT_HELPERS; i++) {
        const int e = t + i * GT_HELPERS;
        const int line = along ? e / PLAIN_K : e % PLAIN;
        const int at = along ? e % PLAIN_K : e / PLAIN;
        to[at * PLAIN + line] = element(of, line0 + line, k0 + at, k);
    }
}

GT_KERNEL(plain, GT_HELPERS, 1, 2)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_ab, slab, 2 * PLAIN * PLAIN_K);
    GT_FOLLOW();
    GT_PRODUCT();
    enum { EACH = PLAIN_EACH, APART = PLAIN / EACH };
    const int t = GT_THREAD_X, across = gt_cdiv(n, PLAIN), tiles_n = gt_cdiv(n, BN);
    const int row0 = GT_BLOCK / across * PLAIN, col0 = GT_BLOCK % across * PLAIN;
    if (*GT_MARK_AT(row0 / BM * tiles_n + col0 / BN) == 0)
        return;
    const struct operand of_a = GT_OPERAND_OF(0), of_b = GT_OPERAND_OF(GT_HIGH);
    gt_acc acc[EACH][EACH];
    GT_UNROLL
    for (int e = 0; e < EACH * EACH; e++)
        acc[e / EACH][e % EACH] = 0;
    for (int k0 = 0; k0 < k; k0 += PLAIN_K) {
        gather_plain(slab, of_a, row0, k0, k, t);
        gather_plain(slab + PLAIN * PLAIN_K, of_b, col0, k0, k, t);
        GT_BARRIER();
        GT_UNROLL
        for (int at = 0; at < PLAIN_K; at++)
            GT_UNROLL
            for (int e = 0; e < EACH * EACH; e++)
                acc[e / EACH][e % EACH] = gt_multiply_add(
                    slab[at * PLAIN + t / APART + e / EACH * APART],
                    slab[(PLAIN_K + at) * PLAIN + t % APART + e % EACH * APART],
                    acc[e / EACH][e % EACH]);
        GT_BARRIER();
    }
    GT_UNROLL
    for (int e = 0; e < EACH * EACH; e++) {
        const gt_long row = row0 + t / APART + e / EACH * APART;
        const int col = col0 + t % APART + e % EACH * APART;
        if (row < m && col < n)
            gt_store_c(c + row * ldc + col, alpha, acc[e / EACH][e % EACH], beta);
    }
}
