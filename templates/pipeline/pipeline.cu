/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline - for batches of small products. As many blocks as fit the device walk the whole
 * batch. A block computes a group of COUNT neighbouring products at a time.
 *
 * C[m,n] = alpha op(A) op(B) + beta C, row-major, for each product.
 *
 *     copies of A and B:    | group 0 | group 1 | group 2 | group 3 |
 *     products:                       | group 0 | group 1 | group 2 |
 *     C leaves:                           | group 0 | group 1 | group 2 |
 *
 * Groups lie in a ring of STAGES stages of shared memory, packed as in global memory: a run
 * of matrices is copied in pieces of 16 bytes, whatever the sides of a matrix are. C is
 * gathered in shared memory and leaves as a run too. Matrices that are not packed, or not
 * aligned to 16 bytes, are copied element by element.
 *
 * The kernel is compiled for one m, n and k, so that no division is left of the places of
 * elements, and loops over them have constant ends.
 *
 * ENGINE    0: gt_fma. A thread computes a patch of TM x TN elements. It loads vectors of
 *           neighbouring elements: of VK along k, of VM rows, of VN columns.
 *           1: mma.sync, for elements of 16 bits. A warp computes a tile of TM x TN.
 * PRODUCTS  products of a group; 0: as many as make a block of usual size. The kernel takes
 *           more until the runs of a group are multiples of 16 bytes.
 * TM TN     patch or tile; 0: 4 or the matrix's side, 32 with ENGINE=1
 * SLICES    threads that share the k of a patch, neighbours in a warp
 * STAGES    stages of the ring
 * BULK      1: one thread copies the runs of whole groups (cp.async.bulk, sm_90); 0: all
 *           threads copy pieces, whose places avoid bank conflicts with ENGINE=1
 *
 * gemmtune trial f32-nn-16x16x16,batch=1000 --family pipeline
 *     --point "ENGINE=0 PRODUCTS=8 TM=4 TN=4 SLICES=1 STAGES=3 BULK=1"
 */

enum {
    ROWS = GT_ROWS, COLS = GT_COLS, DEEP = GT_DEEP, /* m, n, k */
    TM = GT_PATCH_M, TN = GT_PATCH_N, COUNT = GT_COUNT, STAGES = GT_STAGES,
    HIGH = GT_HIGH, WIDE = GT_WIDE, /* patches or tiles along m and n */
    TEAM = GT_TEAM,                 /* threads of a product */
    VK = GT_VK, VM = GT_VM, VN = GT_VN,
    VECTOR = 16 / sizeof(gt_ab), VECTOR_C = 16 / sizeof(gt_c), /* a piece's elements */
    /* Elements of a matrix, and of its rows as they are stored. */
    ONE_A = ROWS * DEEP, ONE_B = DEEP * COLS, ONE_C = ROWS * COLS,
    LENGTH_A = GT_TA ? ROWS : DEEP, LENGTH_B = GT_TB ? DEEP : COLS,
    /* Rows that ldmatrix can load. */
    MATRIX_A = GT_ENGINE && LENGTH_A % 8 == 0 && DEEP % 8 == 0,
    MATRIX_B = GT_ENGINE && LENGTH_B % 8 == 0 && DEEP % 8 == 0,
};

/* The matrices of all products, as the caller has them. */
struct inputs {
    const gt_ab *at;
    gt_long ld, stride;
};

/* The same of C. `gathered`: its place in shared memory, or NULL when elements are stored
 * one by one. */
struct outputs {
    gt_c *at, *gathered;
    gt_long ld, stride;
    gt_acc alpha, beta;
};

/* ---- runs of matrices ---- */

#define IS_ALIGNED(p) (((gt_long)(p) & 15) == 0)

/* Whether matrices of `one` elements consist of pieces of 16 bytes: packed rows, and either
 * packed matrices or whole pieces in each. */
GT_INLINE int in_pieces(const void *at, gt_long ld, gt_long stride, int size, int length,
                        int one) {
    return IS_ALIGNED(at) && ld == length &&
           (stride == one || (one * size % 16 == 0 && IS_ALIGNED(stride * size)));
}

/* Where element x of a run lies, when matrices of `one` elements are `stride` apart and
 * each has whole pieces or the run is packed. */
GT_INLINE gt_long run_place(int x, int size, int one, gt_long stride) {
    return one * size % 16 == 0 ? x / one * stride + x % one : x;
}

/* The place in shared memory of byte `at` of a run. When `swizzled`, pieces are permuted so
 * that those at one place of 8 neighbouring rows of `length` bytes lie in different banks,
 * for lengths of 16 to 128 bytes and of 256. */
GT_INLINE int placed(int swizzled, int length, int at) {
    return swizzled ? at ^ (at >> (length % 256 == 0 ? 8 : 7) & 7) << 4 : at;
}

#define PLACE_IN(operand, x)                                                               \
    (placed(!GT_BULK && MATRIX_##operand, LENGTH_##operand * sizeof(gt_ab),                \
            (x) * sizeof(gt_ab)) /                                                         \
     (int)sizeof(gt_ab))
#define PLACE_IN_C(x)                                                                      \
    (placed(!GT_BULK && GT_ENGINE, COLS * sizeof(gt_c), (x) * (int)sizeof(gt_c)) /         \
     (int)sizeof(gt_c))

/* FETCH_WHOLE starts to copy a run of COUNT matrices to shared memory, FETCH any `count` of
 * matrices. */
#define FETCH_WHOLE(operand)                                                               \
    GT_INLINE void fetch_whole_##operand(gt_ab *to, const gt_ab *from) {                   \
        enum { PIECES = COUNT * ONE_##operand / VECTOR };                                  \
        GT_UNROLL_BY(8)                                                                    \
        for (int i = 0; i < GT_CDIV(PIECES, GT_THREADS); i++) {                            \
            const int e = GT_THREAD_X + i * GT_THREADS;                                    \
            if (PIECES % GT_THREADS == 0 || e < PIECES)                                    \
                gt_copy_async(VECTOR, to + PLACE_IN(operand, e * VECTOR),                  \
                              from + e * VECTOR);                                          \
        }                                                                                  \
    }
#define FETCH(operand)                                                                     \
    GT_INLINE void fetch_##operand(gt_ab *to, struct inputs from, int count) {             \
        enum { ONE = ONE_##operand, LENGTH = LENGTH_##operand };                           \
        const int all = count * ONE;                                                       \
        int e = GT_THREAD_X;                                                               \
        if (in_pieces(from.at, from.ld, from.stride, sizeof(gt_ab), LENGTH, ONE)) {        \
            GT_UNROLL_BY(1)                                                                \
            for (; e < all / VECTOR; e += GT_THREADS)                                      \
                gt_copy_async(VECTOR, to + PLACE_IN(operand, e * VECTOR),                  \
                              from.at + run_place(e * VECTOR, sizeof(gt_ab), ONE,          \
                                                  from.stride));                           \
            e = all / VECTOR * VECTOR + GT_THREAD_X;                                       \
        }                                                                                  \
        GT_UNROLL_BY(1)                                                                    \
        for (; e < all; e += GT_THREADS)                                                   \
            to[PLACE_IN(operand, e)] = from.at[e / ONE * from.stride +                     \
                                               e % ONE / LENGTH * from.ld + e % LENGTH];   \
    }
FETCH_WHOLE(A)
FETCH_WHOLE(B)
FETCH(A)
FETCH(B)

#if GT_BULK
/* Starts to copy `bytes`, a multiple of 16, to shared memory. They arrive at `barrier`. */
GT_INLINE void load_bulk(const void *to, const void *from, int bytes, int barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(gt_shared_address(to)),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

GT_INLINE void store_bulk(const void *to, const void *from, int bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(gt_shared_address(from)), "r"(bytes)
                 : "memory");
}
#endif

/* Stores `count` gathered matrices of C. */
GT_INLINE void store_run(struct outputs c, int count) {
    const int all = count * ONE_C;
    GT_UNROLL_BY(4)
    for (int e = GT_THREAD_X; e < all / VECTOR_C; e += GT_THREADS) {
        const int x = e * VECTOR_C;
        *(uint4 *)(c.at + run_place(x, sizeof(gt_c), ONE_C, c.stride)) =
            *(const uint4 *)(c.gathered + PLACE_IN_C(x));
    }
    for (int e = all / VECTOR_C * VECTOR_C + GT_THREAD_X; e < all; e += GT_THREADS)
        c.at[e] = c.gathered[PLACE_IN_C(e)];
}

/* Stores `width` sums of a row, if the product exists. */
GT_INLINE void give(struct outputs c, int exists, int product, int row, int col, int width,
                    const gt_acc *sums) {
    gt_c some[4];
    if (c.gathered) {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            some[j] = gt_to_c(c.alpha * sums[j]);
        gt_store_global_c(
            width, c.gathered + PLACE_IN_C(product * ONE_C + row * COLS + col), some);
    } else if (exists) {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            gt_store_c(c.at + product * c.stride + row * c.ld + col + j, c.alpha, sums[j],
                       c.beta);
    }
}

#if GT_ENGINE == 0
/* ---- patches of threads ---- */

enum { SUMS = TM * TN };

/* Row r and column s of a patch, in the matrix. Vectors of a patch are as far apart as
 * there are patches, so that neighbouring threads have neighbouring vectors. */
#define ROW(r) ((r) / VM * HIGH * VM + row * VM + (r) % VM)
#define COL(s) ((s) / VN * WIDE * VN + col * VN + (s) % VN)
/* The last patches may reach past the edges. There another vector stands in. */
#define IS_ROW(r) (TM * HIGH == ROWS || ROW(r) < ROWS)
#define IS_COL(s) (TN * WIDE == COLS || COL(s) < COLS)
#define ROW_INSIDE(r) (TM * HIGH == ROWS ? ROW(r) : GT_MIN(ROW(r), ROWS - VM))
#define COL_INSIDE(s) (TN * WIDE == COLS ? COL(s) : GT_MIN(COL(s), COLS - VN))

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

/* Loads VK k's, from p on, of the rows of A of a patch: x[r * VK + v]. */
GT_INLINE void load_rows(gt_ab *x, const gt_ab *a, int p, int row) {
    gt_ab some[4];
    GT_UNROLL
    for (int r = 0; r < TM && !GT_TA; r++)
        gt_load_shared(VK, x + r * VK, a + ROW_INSIDE(r) * DEEP + p);
    GT_UNROLL
    for (int e = 0; e < TM * VK && GT_TA; e += VM) {
        const int v = e / TM, r = e % TM;
        gt_load_shared(VM, some, a + (p + v) * ROWS + ROW_INSIDE(r));
        GT_UNROLL
        for (int i = 0; i < VM; i++)
            x[(r + i) * VK + v] = some[i];
    }
}

/* The same of the columns of B: y[s * VK + v]. */
GT_INLINE void load_cols(gt_ab *y, const gt_ab *b, int p, int col) {
    gt_ab some[4];
    GT_UNROLL
    for (int s = 0; s < TN && GT_TB; s++)
        gt_load_shared(VK, y + s * VK, b + COL_INSIDE(s) * DEEP + p);
    GT_UNROLL
    for (int e = 0; e < TN * VK && !GT_TB; e += VN) {
        const int v = e / TN, s = e % TN;
        gt_load_shared(VN, some, b + (p + v) * COLS + COL_INSIDE(s));
        GT_UNROLL
        for (int i = 0; i < VN; i++)
            y[(s + i) * VK + v] = some[i];
    }
}

/* acc += the sums of the thread's patch. Afterwards all slices have the whole sums. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b, struct part part) {
    a += part.product * ONE_A, b += part.product * ONE_B;
    GT_UNROLL_BY(2)
    for (int p = part.slice * VK; p < DEEP; p += GT_SLICES * VK) {
        gt_ab x[TM * VK], y[TN * VK];
        load_rows(x, a, p, part.row);
        load_cols(y, b, p, part.col);
        GT_UNROLL
        for (int e = 0; e < VK * SUMS; e++) {
            const int v = e / SUMS, i = e % SUMS, r = i / TN, s = i % TN;
            acc[i] = gt_multiply_add(x[r * VK + v], y[s * VK + v], acc[i]);
        }
    }
    GT_UNROLL
    for (int apart = GT_SLICES / 2; apart > 0; apart /= 2)
        GT_UNROLL
        for (int i = 0; i < SUMS; i++)
            acc[i] += __shfl_xor_sync(0xffffffffu, acc[i], apart);
}

GT_INLINE void give_all(struct outputs c, const gt_acc *acc, struct part part, int count) {
    const int row = part.row, col = part.col;
    GT_UNROLL
    for (int i = 0; i < SUMS; i += VN)
        if (part.gives && IS_ROW(i / TN) && IS_COL(i % TN))
            give(c, part.product < count, part.product, ROW(i / TN), COL(i % TN), VN,
                 acc + i);
}

#else
/* ---- tiles of warps ---- */

enum { SUMS = TM * TN / 32, STEP = 16 /* k of an instruction */ };

/* The part of a warp: its product in the group, and the corner of its tile. */
struct part {
    int product, row, col;
};

GT_INLINE struct part part_of_thread(void) {
    const int tile = GT_THREAD_X % TEAM / 32;
    const struct part part = {GT_THREAD_X / TEAM, tile / WIDE * TM, tile % WIDE * TN};
    return part;
}

/*
 * Loads the fragment (fragments.h) of 16 of the `lines` lines, from `line` on, and of k
 * from `deep` on. The matrix begins `first` elements into the run. `along`: it is
 * contiguous along k. Past the last line another line stands in. Past the last k there are
 * zeros, because 0 * NaN is NaN.
 */
#define LOAD_FRAGMENT(operand, of_b, along, lines)                                         \
    GT_INLINE void load_matrices_##operand(unsigned *f, const gt_ab *run, int first,       \
                                           int line, int deep) {                           \
        const int lane = GT_THREAD_X % 32, eight = lane % 8;                               \
        const int upper = (of_b ? lane / 16 : lane / 8) % 2 * 8;                           \
        const int last = (of_b ? lane / 8 : lane / 16) % 2 * 8;                            \
        const int l = along ? GT_MIN(line + upper + eight, lines - 1)                      \
                            : GT_MIN(line + upper, lines - 8);                             \
        const int p = along ? GT_MIN(deep + last, DEEP - 8)                                \
                            : GT_MIN(deep + last + eight, DEEP - 1);                       \
        const int at = first + (along ? l * DEEP + p : p * lines + l);                     \
        gt_load_matrices(!along, f, gt_shared_address(run + PLACE_IN(operand, at)));       \
        if (deep + 8 >= DEEP)                                                              \
            f[of_b ? 1 : 2] = f[3] = 0;                                                    \
    }                                                                                      \
    GT_INLINE unsigned element_##operand(const gt_ab *run, int first, int line, int p) {   \
        const int l = GT_MIN(line, lines - 1);                                             \
        const int at = first + (along ? l * DEEP + p : p * lines + l);                     \
        return p < DEEP ? run[PLACE_IN(operand, at)] : 0;                                  \
    }                                                                                      \
    GT_INLINE void load_elements_##operand(unsigned *f, const gt_ab *run, int first,       \
                                           int line, int deep) {                           \
        const int lane = GT_THREAD_X % 32;                                                 \
        GT_UNROLL                                                                          \
        for (int i = 0; i < 4; i++) {                                                      \
            const int l = line + (of_b ? i / 2 : i % 2) * 8 + lane / 4;                    \
            const int p = deep + (of_b ? i % 2 : i / 2) * 8 + lane % 4 * 2;                \
            if (along && DEEP % 2 == 0)                                                    \
                f[i] = p < DEEP ? gt_load_word(gt_shared_address(                          \
                                      run + first + GT_MIN(l, lines - 1) * DEEP + p))      \
                                : 0;                                                       \
            else                                                                           \
                f[i] = element_##operand(run, first, l, p) |                               \
                       element_##operand(run, first, l, p + 1) << 16;                      \
        }                                                                                  \
    }                                                                                      \
    GT_INLINE void load_fragment_##operand(unsigned *f, const gt_ab *run, int first,       \
                                           int line, int deep) {                           \
        if (MATRIX_##operand)                                                              \
            load_matrices_##operand(f, run, first, line, deep);                            \
        else                                                                               \
            load_elements_##operand(f, run, first, line, deep);                            \
    }
LOAD_FRAGMENT(A, 0, !GT_TA, ROWS)
LOAD_FRAGMENT(B, 1, GT_TB, COLS)

/* acc += the sums of the warp's tile. */
GT_INLINE void multiply(gt_acc *acc, const gt_ab *a, const gt_ab *b, struct part part) {
    GT_UNROLL_BY(4)
    for (int p = 0; p < DEEP; p += STEP) {
        unsigned x[TM / 16][4], y[4];
        GT_UNROLL
        for (int i = 0; i < TM / 16; i++)
            load_fragment_A(x[i], a, part.product * ONE_A, part.row + i * 16, p);
        GT_UNROLL
        for (int j = 0; j < TN / 16; j++) {
            load_fragment_B(y, b, part.product * ONE_B, part.col + j * 16, p);
            GT_UNROLL
            for (int i = 0; i < 2 * (TM / 16); i++)
                gt_mma(acc + (i / 2 * (TN / 8) + 2 * j + i % 2) * 4, x[i / 2], y, i % 2);
        }
    }
}

GT_INLINE void give_all(struct outputs c, const gt_acc *acc, struct part part, int count) {
    const int lane = GT_THREAD_X % 32, exists = part.product < count;
    GT_UNROLL
    for (int i = 0; i < SUMS; i += 2) {
        const int row = part.row + i / (TN / 2) * 16 + i % 4 / 2 * 8 + lane / 4;
        const int col = part.col + i % (TN / 2) / 4 * 8 + lane % 4 * 2;
        if (row < ROWS && COLS % 2 == 0 && col < COLS)
            give(c, exists, part.product, row, col, 2, acc + i);
        GT_UNROLL
        for (int j = 0; j < 2 && COLS % 2 != 0; j++)
            if (row < ROWS && col + j < COLS)
                give(c, exists, part.product, row, col + j, 1, acc + i + j);
    }
}
#endif

/* ---- the walk through the batch ---- */

/* `whole`: matrices of A and of B are runs. */
struct batch {
    struct inputs a, b;
    int products, whole;
};

/* Products of a group that exist. */
GT_INLINE int count_of(gt_long group, int products) {
    return (int)GT_MAX(GT_MIN((gt_long)COUNT, products - group * COUNT), 0);
}

/* Starts to copy a group to a stage. With BULK, a whole group arrives at `full`. */
GT_INLINE void fetch(gt_ab *stage, struct batch from, gt_long group, int full) {
    const int count = count_of(group, from.products);
    from.a.at += group * COUNT * from.a.stride;
    from.b.at += group * COUNT * from.b.stride;
    if (count < COUNT || !from.whole) {
        fetch_A(stage, from.a, count);
        fetch_B(stage + GT_RUN_A, from.b, count);
    } else {
#if GT_BULK
        enum { BYTES_A = COUNT * GT_BYTES_A, BYTES_B = COUNT * GT_BYTES_B };
        if (GT_THREAD_X == 0) {
            gt_barrier_arrive_expecting(full, BYTES_A + BYTES_B);
            load_bulk(stage, from.a.at, BYTES_A, full);
            load_bulk(stage + GT_RUN_A, from.b.at, BYTES_B, full);
        }
#else
        fetch_whole_A(stage, from.a.at);
        fetch_whole_B(stage + GT_RUN_A, from.b.at);
#endif
    }
    GT_COPY_COMMIT();
}

/* Waits until a group is there, for copies of this thread and bulk copies of any. */
GT_INLINE void await(struct batch from, gt_long group, int full, int parity) {
    GT_COPY_WAIT(STAGES - 2);
#if GT_BULK
    if (from.whole && count_of(group, from.products) == COUNT)
        gt_barrier_wait(full, parity);
#endif
}

/* Stores the gathered sums of `count` products. All threads call it. */
GT_INLINE void send(struct outputs c, int count) {
#if GT_BULK
    gt_copies_see_stores();
#endif
    GT_BARRIER(); /* the sums are there */
#if GT_BULK
    if (count == COUNT && c.stride == ONE_C) {
        if (GT_THREAD_X == 0) {
            store_bulk(c.at, c.gathered, COUNT * GT_BYTES_C);
            gt_box_stores_commit();
        }
        return;
    }
#endif
    store_run(c, count);
}

GT_KERNEL(gemm, GT_THREADS, 1, GT_FIT)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_ELEMS);
    enum { AHEAD = STAGES - 1, STAGE = GT_RUN_A + GT_RUN_B };
    gt_ab *ring = (gt_ab *)smem;
    const int gathers =
        beta == (gt_acc)0 && in_pieces(c, ldc, stride_c, sizeof(gt_c), COLS, ONE_C);
    const struct batch from = {
        {(const gt_ab *)a, lda, stride_a},
        {(const gt_ab *)b, ldb, stride_b},
        k > 0 && alpha != (gt_acc)0 ? batch : 0,
        IS_ALIGNED(a) && lda == LENGTH_A && stride_a == ONE_A && IS_ALIGNED(b) &&
            ldb == LENGTH_B && stride_b == ONE_B,
    };
    struct outputs out = {c, gathers ? (gt_c *)(ring + STAGES * STAGE) : 0, ldc, stride_c,
                          alpha, beta};
    const struct part part = part_of_thread();
    const int full = gt_shared_address(smem) + GT_PLACE_FULL; /* barriers of the stages */
    int stage = 0, parity = 0;

#if GT_BULK
    for (int s = 0; s < STAGES && GT_THREAD_X == 0; s++)
        gt_barrier_init(full + 8 * s, 1);
    gt_barrier_init_done();
    GT_BARRIER();
#endif
    for (int s = 0; s < AHEAD; s++)
        fetch(ring + s * STAGE, from, GT_BLOCK + (gt_long)s * gridDim.x, full + 8 * s);
    for (gt_long group = GT_BLOCK; group * COUNT < batch; group += gridDim.x) {
        const int last = stage == 0 ? AHEAD : stage - 1;
        const int count = count_of(group, batch);
        gt_acc acc[SUMS];
        GT_UNROLL
        for (int i = 0; i < SUMS; i++)
            acc[i] = 0;
        await(from, group, full + 8 * stage, parity);
#if GT_BULK
        GT_BOX_STORES_READ(0);
#endif
        GT_BARRIER(); /* the group is there; the stage before it and C's place are free */
        fetch(ring + last * STAGE, from, group + (gt_long)AHEAD * gridDim.x,
              full + 8 * last);
        if (from.products > 0)
            multiply(acc, ring + stage * STAGE, ring + stage * STAGE + GT_RUN_A, part);
        out.at = c + group * COUNT * stride_c;
        give_all(out, acc, part, count);
        if (gathers)
            send(out, count);
        parity ^= stage == AHEAD;
        stage = stage == AHEAD ? 0 : stage + 1;
    }
#if GT_BULK
    GT_BOX_STORES_READ(0);
#endif
}
