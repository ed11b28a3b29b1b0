/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mma - 8-, 16- and 32-bit types on tensor cores, by mma.sync (sm_75 and later; also on
 * OpenCL devices that take PTX, which is NVIDIA's OpenCL). A block
 * computes a tile of C of BM rows x BN columns. Slabs of A and B, KBYTES bytes of k deep,
 * come to shared memory. While one slab is multiplied, STAGES - 1 are on their way. A warp
 * multiplies its WM x WN of the tile.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major.
 *
 *                        n ->                 A slab lies in shared memory as it lies in
 *                     +-------+------+        memory, with k or the width contiguous:
 *                  BK | slab B: BN   |
 *                     +-------+------+          A [BM][BK] (n) or [BK][BM] (t)
 *               k     |              |          B [BK][BN] (n) or [BN][BK] (t)
 *                     +--------------+
 *        BK  k ->                             fragments.h has how a warp reads it, 16 rows
 *     +------+------+ +-------+------+        of A (columns of B) by 32 bytes of k at once,
 *  BM | slab |      | |WMxWN: |      |        in any of the four layouts, and how the
 *  m  |  A   |      | |-------+      |        instruction wants it.
 *     +------+------+ | BMxBN |      |
 *     |             | |-------+      |        Sums leave through shared memory, 16 rows of
 *     +-------------+ +--------------+        each warp at once, so that stores to C have
 *                                             whole rows of the tile.
 *
 * Elements that do not exist (past the edges of C, past the end of k) are copied as zeros:
 * the loop has no code for edges.
 *
 * A copy moves VA (VB) bytes of A (B), to which rows must be aligned. With 1, rows may
 * begin at any element: a thread loads elements, and stores four bytes of them once the
 * slab before is multiplied. The other way to such rows is REPACK: a kernel that runs
 * before copies the operand to rows of whole 16 bytes in the workspace.
 *
 * tf32 is the upper part of f32: the instruction does not read the lower bits. 8-bit floats
 * are multiplied as f16, exactly, or by their own instruction where sums may have fewer
 * bits (fragments.h).
 *
 * BM BN    tile of C                      KBYTES  depth of a slab, in bytes of k
 * WM WN    a warp's part of the tile      STAGES  slabs in shared memory
 * SLICES   warps that share a part of the tile, each with its own part of every slab
 * VA VB    bytes in a copy of A, of B; 1: any alignment
 * REPACK   operands that are copied ahead: 0 none, 1 A, 2 B, 3 both
 * AHEAD    1: the next step's operands are loaded while this step's are multiplied
 * MINB     blocks that must fit a multiprocessor
 * GROUP    rows of tiles that are walked together, for the L2 cache
 * TAIL     pieces of k of the last tiles, when these would leave units idle. The idle units
 *          compute some of the pieces, and a second kernel adds up; 0: no such sharing
 * SPLIT    blocks that share a tile, each with its own part of k; a second kernel adds up
 *
 * gemmtune trial bf16-nt-4096x4096x4096 --family mma --point
 *  "BM=128 BN=128 KBYTES=64 WM=64 WN=64 SLICES=1 STAGES=4 VA=16 VB=16 REPACK=0 AHEAD=1
 *   MINB=1 GROUP=8 TAIL=0 SPLIT=1"
 */

enum {
    BM = GT_BM, BN = GT_BN, BK = GT_BK, WM = GT_WM, WN = GT_WN,
    SLICES = GT_SLICES, STAGES = GT_STAGES, SPLIT = GT_SPLIT, T = GT_THREADS,
    SIZE = sizeof(gt_a),
    A_ALONG = !GT_TA, B_ALONG = GT_TB, /* whether the operand is contiguous along k */

    /* A slab's rows, their length, the bytes of a copy and their alignment in memory. */
    ROWS_A = GT_ROWS_A, LINE_A = GT_LINE_A, WIDE_A = GT_WIDE_A, ALIGN_A = GT_BYTES_A,
    ROWS_B = GT_ROWS_B, LINE_B = GT_LINE_B, WIDE_B = GT_WIDE_B, ALIGN_B = GT_BYTES_B,
    SLAB_A = ROWS_A * LINE_A, STAGE = GT_STAGE_BYTES,

    /* Copies of a thread for a slab, and the registers that hold each of them. */
    COPIES_A = GT_CDIV(ROWS_A, T / (LINE_A / WIDE_A)),
    COPIES_B = GT_CDIV(ROWS_B, T / (LINE_B / WIDE_B)),
    HELD_A = gt_bytes_held(WIDE_A, ALIGN_A, SIZE),
    HELD_B = gt_bytes_held(WIDE_B, ALIGN_B, SIZE),

    GM = WM / 16, GN = WN / 16, /* fragments of a warp */
    STEPS = GT_KBYTES / SLICES / GT_FRAGMENT_BYTES,

    MIXED_B = GT_FRAGMENT_MIXED(SIZE, B_ALONG),
    PARTIAL = GT_PARTIAL,    /* stored sums are parts, not C yet */
    HIGH = BM / WM * 16,     /* rows of the tile that leave together */
    LDT = BN + 8,            /* length of a row of sums in shared memory */
    WIDE_C = 4               /* elements of C that a thread stores at once */
};

/* ---- slabs ---- */

/* One operand, from the next slab on. */
struct operand {
    const GT_GLOBAL char *at; /* the thread's first copy */
    gt_long pitch;  /* bytes from a row to the next */
    int lines, left; /* rows of A (columns of B) and elements of k that exist */
};

/* The number of copies in a slab's row, and of rows that the threads copy at once. */
#define ROW_COPIES(line, wide) ((line) / (wide))
#define ROWS_AT_ONCE(line, wide) (T / ROW_COPIES(line, wide))

/* The operand whose slabs have rows of `line` bytes, from x on. */
GT_INLINE struct operand aim(int line, int wide, const GT_GLOBAL char *x, gt_long pitch,
                             int lines, int left, int t) {
    const int row = t / ROW_COPIES(line, wide), byte = t % ROW_COPIES(line, wide) * wide;
    const struct operand o = {x + row * pitch + byte, pitch, lines, left};
    return o;
}

GT_INLINE void advance(struct operand *o, int along) {
    o->at += along ? GT_KBYTES : BK * o->pitch;
    o->left -= BK;
}

/* Starts a thread's copies `first` to `end` of a slab at s. */
GT_INLINE void start(int first, int end, int rows, int along, int line, int wide, int align,
                     unsigned *held, GT_SHARED char *s, const struct operand *o, int t) {
    const int step = ROWS_AT_ONCE(line, wide), words = gt_bytes_held(wide, align, SIZE);
    const int row0 = t / ROW_COPIES(line, wide), byte = t % ROW_COPIES(line, wide) * wide;
    const int high = along ? o->lines : o->left;
    const int width = GT_MIN(along ? o->left : o->lines, line / SIZE) * SIZE;
    const int there = GT_MAX(0, GT_MIN(wide, width - byte));
    const GT_GLOBAL char *at = o->at + first * step * o->pitch;
    if (T % ROW_COPIES(line, wide) != 0 && row0 >= step)
        return;
    GT_UNROLL
    for (int i = first; i < end; i++) {
        const int row = row0 + i * step;
        if (rows % step == 0 || row < rows)
            gt_bytes_start(wide, align, SIZE, held + i * words,
                           s + gt_slab_place(SIZE, along, line, row, byte), at,
                           row < high ? there : 0);
        at += step * o->pitch;
    }
}

/* Stores the copies that came through registers. */
GT_INLINE void end(int copies, int rows, int along, int line, int wide, int align,
                   GT_SHARED char *s, const unsigned *held, int t) {
    const int step = ROWS_AT_ONCE(line, wide), words = gt_bytes_held(wide, align, SIZE);
    const int row0 = t / ROW_COPIES(line, wide), byte = t % ROW_COPIES(line, wide) * wide;
    if (words == 0 || (T % ROW_COPIES(line, wide) != 0 && row0 >= step))
        return;
    GT_UNROLL
    for (int i = 0; i < copies; i++)
        if (rows % step == 0 || row0 + i * step < rows)
            gt_bytes_end(wide, align, SIZE,
                         s + gt_slab_place(SIZE, along, line, row0 + i * step, byte),
                         held + i * words);
}

/* The source of a thread's copies, and those under way in registers. */
struct origin {
    struct operand a, b;
    unsigned held_a[GT_MAX(1, COPIES_A * HELD_A)], held_b[GT_MAX(1, COPIES_B * HELD_B)];
};

/*
 * Starts to copy a piece of the next slab of A and of B. There are as many pieces as steps
 * of multiplying the slab before. A piece has few copies, so the compiler puts them between
 * that step's multiplications. A loop of many copies would go ahead of them.
 */
enum {
    PIECES = GT_MIN(STEPS, GT_CDIV(GT_MAX(COPIES_A, COPIES_B), 2)),
};

GT_INLINE void start_piece(int piece, struct origin *from, GT_SHARED char *stage, int t) {
    start(COPIES_A * piece / PIECES, COPIES_A * (piece + 1) / PIECES, ROWS_A,
          A_ALONG, LINE_A, WIDE_A, ALIGN_A, from->held_a, stage, &from->a, t);
    start(COPIES_B * piece / PIECES, COPIES_B * (piece + 1) / PIECES, ROWS_B,
          B_ALONG, LINE_B, WIDE_B, ALIGN_B, from->held_b, stage + SLAB_A, &from->b, t);
}

/* Ends the copies of the slab and moves on to the next one. */
GT_INLINE void end_slab(struct origin *from, GT_SHARED char *stage, int t) {
    GT_BYTES_COMMIT();
    end(COPIES_A, ROWS_A, A_ALONG, LINE_A, WIDE_A, ALIGN_A, stage, from->held_a, t);
    end(COPIES_B, ROWS_B, B_ALONG, LINE_B, WIDE_B, ALIGN_B, stage + SLAB_A, from->held_b,
        t);
    advance(&from->a, A_ALONG);
    advance(&from->b, B_ALONG);
}

/* ---- operands of a warp ---- */

struct fragments {
    unsigned a[GM][GT_FRAGMENT_REGS], b[GN][GT_FRAGMENT_REGS];
};

/* Where a lane reads the first fragments of a slab. */
struct places {
    int a, b;
};

/* Loads a warp's fragments of one step. */
GT_INLINE void load_step(struct fragments *x, int stage, const struct places *p, int step) {
    GT_UNROLL
    for (int i = 0; i < GM; i++)
        gt_fragment_load(0, SIZE, A_ALONG, LINE_A, x->a[i], stage, p->a, i, step);
    GT_UNROLL
    for (int j = 0; j < GN; j++)
        gt_fragment_load(1, SIZE, B_ALONG, LINE_B, x->b[j], stage + SLAB_A, p->b, j, step);
}

GT_INLINE void multiply(gt_acc acc[GM][2 * GN][4], const struct fragments *x) {
    GT_UNROLL
    for (int i = 0; i < GM; i++)
        GT_UNROLL
        for (int j = 0; j < 2 * GN; j++)
            gt_mma(acc[i][j], x->a[i], x->b[j / 2], j % 2);
}

/* ---- the way out ---- */

/* The destination of sums: C or, where `sums` is not NULL, this block's part of the
 * workspace. */
struct target {
    GT_GLOBAL gt_c *c;       /* at the first element of the tile */
    GT_GLOBAL gt_acc *sums;
    gt_long ld;
    int rows, cols; /* that exist from there */
    gt_acc alpha, beta;
    int aligned; /* rows are aligned to vectors of WIDE_C */
};

/* Puts 16 rows of sums of a warp to shared memory. `to`: at the warp's first row there. */
GT_INLINE void put(gt_acc GT_SHARED *to, gt_acc sums[2 * GN][4], int lane) {
    const int g = lane / 4, t = lane % 4;
    GT_UNROLL
    for (int h = 0; h < 2; h++) {
        GT_SHARED gt_acc *row = to + gt_line_of(SIZE, A_ALONG, g + 8 * h) * LDT;
        GT_UNROLL
        for (int j = 0; j < 2 * GN; j += 2) {
            const gt_acc *even = sums[j] + 2 * h, *odd = sums[j + 1] + 2 * h;
            if (MIXED_B) {
                const gt_acc quad[4] = {even[0], odd[0], even[1], odd[1]};
                gt_store_shared_acc(4, row + 8 * j + 4 * t, quad);
            } else {
                gt_store_shared_acc(2, row + 8 * j + 2 * t, even);
                gt_store_shared_acc(2, row + 8 * j + 8 + 2 * t, odd);
            }
        }
    }
}

/* Stores rows of sums from shared memory, `wide` elements a thread: rows i * 16 to i * 16 +
 * 15 of each warp's part of the tile. Sums of slices are added in their order. */
GT_INLINE void store(int wide, const struct target *to, const GT_SHARED gt_acc *tile, int i,
                     int t GT_PLACE_PARAMS) {
    GT_UNROLL_BY(1)
    for (int e = t; e < HIGH * (BN / wide); e += T) {
        const int r = e / (BN / wide), col = e % (BN / wide) * wide;
        const int row = r / 16 * WM + i * 16 + r % 16, left = to->cols - col;
        const gt_long place = row * to->ld + col;
        gt_acc sum[WIDE_C], more[WIDE_C];
        gt_c old[WIDE_C];
        if (row >= to->rows || left <= 0)
            continue;
        GT_UNROLL
        for (int s = 0; s < SLICES; s++) {
            gt_load_shared_acc(wide, s > 0 ? more : sum,
                               tile + (s * HIGH + r) * LDT + col);
            GT_UNROLL
            for (int x = 0; x < wide && s > 0; x++)
                sum[x] += more[x];
        }
        if (to->sums) { /* 4 divides `cols` where rows are aligned */
            gt_store_global_acc(wide, to->sums + place, sum);
        } else {
            gt_load_c(wide, old, to->c + place, to->beta, left >= wide, 0, left);
            gt_store_row(wide, to->c + place, to->alpha, sum, to->beta, old, left >= wide,
                         0, left GT_PLACE(gt_i + row, gt_j + col));
        }
    }
}

#if GT_REPACK
GT_REPACK_KERNEL(repack, GT_PACK_A, GT_PACK_B, GT_PACKED_A)
#endif

#if GT_TAIL
GT_FINISH_KERNEL(finish, BM, BN, GT_GROUP, GT_TAIL, GT_CAPACITY, workspace + GT_SUMS_AT)
#endif

GT_KERNEL(gemm, GT_THREADS, 1, GT_MINB)(GT_PARAMS) {
    GT_SHARED_ARRAY(char, smem, GT_SMEM);
    GT_FOLLOW();
    GT_PRODUCT();
    GT_LEAD(PARTIAL && GT_FEW_SUMS(m, n, GT_LANES));
    const int t = GT_THREAD_X, lane = t % 32, warp = t / 32 % (T / 32 / SLICES);
    const int slice = t / (T / SLICES);
    const struct gt_work work = gt_work_of(GT_TAIL, GT_CAPACITY, SPLIT, GT_BLOCK,
                                           gt_cdiv(m, BM) * gt_cdiv(n, BN));
    int row0, col0;
    gt_tile_place(&row0, &col0, work.tile, BM, BN, GT_GROUP, m, n);
    const int rows = m - row0, cols = n - col0; /* of C, from the tile to its edges */
    const int w_m = warp / (BN / WN), w_n = warp % (BN / WN);

    /* This block's part of k: whole slabs, except for the last. */
    const int depth = alpha == (gt_acc)0 ? 0 : k; /* alpha 0: A and B are not read */
    int first;
    const int slabs = gt_work_slabs(&work, gt_cdiv(depth, BK), &first);
    const gt_long k0 = first * (gt_long)BK;
    const int left = (int)GT_MIN(depth - k0, slabs * (gt_long)BK);
    const gt_long pitch_a = GT_PACK_A ? GT_PITCH_A : lda * SIZE;
    const gt_long pitch_b = GT_PACK_B ? GT_PITCH_B : ldb * SIZE;
    const GT_GLOBAL char *const packed = (const GT_GLOBAL char *)workspace;
    const GT_GLOBAL char *from_a = GT_PACK_A ? packed : (const GT_GLOBAL char *)a;
    const GT_GLOBAL char *from_b =
        GT_PACK_B ? packed + GT_PACKED_A : (const GT_GLOBAL char *)b;
    from_a += A_ALONG ? row0 * pitch_a + k0 * SIZE : k0 * pitch_a + row0 * SIZE;
    from_b += B_ALONG ? col0 * pitch_b + k0 * SIZE : k0 * pitch_b + col0 * SIZE;
    struct origin from = {
        aim(LINE_A, WIDE_A, from_a, pitch_a, rows, left, t),
        aim(LINE_B, WIDE_B, from_b, pitch_b, cols, left, t)};
    const int memory = gt_shared_address(smem);
    const int slice_k = slice * (GT_KBYTES / SLICES); /* where the slice's part begins */
    const struct places in = {
        gt_fragment_place(0, SIZE, A_ALONG, LINE_A, w_m * WM, slice_k, lane),
        gt_fragment_place(1, SIZE, B_ALONG, LINE_B, w_n * WN, slice_k, lane)};

    gt_acc acc[GM][2 * GN][4];
    struct fragments now, next;
    GT_UNROLL
    for (int i = 0; i < GM; i++)
        GT_UNROLL
        for (int j = 0; j < 2 * GN; j++)
            GT_UNROLL
            for (int e = 0; e < 4; e++)
                acc[i][j][e] = 0;

    GT_UNROLL_BY(1)
    for (int s = 0; s < STAGES - 1; s++) {
        GT_UNROLL
        for (int piece = 0; piece < PIECES; piece++)
            start_piece(piece, &from, smem + s * STAGE, t);
        end_slab(&from, smem + s * STAGE, t);
    }
    int reading = 0, writing = (STAGES - 1) * STAGE;
    if (GT_AHEAD) {
        GT_BYTES_WAIT(STAGES - 2);
        GT_BARRIER();
        load_step(&now, memory, &in, 0);
    }
    GT_UNROLL_BY(1)
    for (int s = 0; s < slabs; s++) {
        const int after = reading + STAGE < STAGES * STAGE ? reading + STAGE : 0;
        if (!GT_AHEAD) {
            GT_BYTES_WAIT(STAGES - 2);
            GT_BARRIER(); /* the slab is there, and the one before it has been read */
        }
        GT_UNROLL
        for (int step = 0; step < STEPS; step++) {
            const int last = step == STEPS - 1;
            if (step < PIECES)
                start_piece(step, &from, smem + writing, t);
            if (!GT_AHEAD) {
                load_step(&now, memory + reading, &in, step);
            } else if (!last) {
                load_step(&next, memory + reading, &in, step + 1);
            } else { /* operands loaded after the last slab are not used */
                end_slab(&from, smem + writing, t);
                GT_BYTES_WAIT(STAGES - 2);
                GT_BARRIER(); /* as above: this slab's operands are all in registers */
                load_step(&next, memory + after, &in, 0);
            }
            multiply(acc, &now);
            if (GT_AHEAD)
                now = next;
        }
        if (!GT_AHEAD)
            end_slab(&from, smem + writing, t);
        writing = reading;
        reading = after;
    }

    GT_LEAD(PARTIAL);
    const int partial = PARTIAL || (GT_TAIL && work.parts > 1);
    struct target to = {c + row0 * ldc + col0, 0,     ldc,  rows,
                        cols,                  alpha, beta, gt_aligned(WIDE_C, c, ldc)};
    if (PARTIAL) {
        to.sums = workspace + GT_SUMS_AT + ((gt_long)work.part * m + row0) * n + col0;
        to.ld = n;
        to.aligned = n % 4 == 0;
    } else if (partial) {
        to.sums = workspace + GT_SUMS_AT + gt_work_place(&work, work.part, BM, BN);
        to.ld = to.cols = BN;
        to.rows = BM;
        to.aligned = 1;
    }
    GT_SHARED gt_acc *const tile = (gt_acc GT_SHARED *)smem;
    GT_BYTES_WAIT(0);
    GT_UNROLL
    for (int i = 0; i < GM; i++) {
        GT_BARRIER(); /* the last slab, or the rows before, have been read */
        put(tile + (slice * HIGH + w_m * 16) * LDT + w_n * WN, acc[i], lane);
        GT_BARRIER();
        if (!to.aligned)
            store(1, &to, tile, i, t GT_PLACE(row0, col0));
        else
            store(WIDE_C, &to, tile, i, t GT_PLACE(row0, col0));
    }
}

#if GT_PARTIAL
GT_REDUCE_KERNEL(reduce, GT_SPLIT, GT_LANES, workspace + GT_SUMS_AT)
#endif
