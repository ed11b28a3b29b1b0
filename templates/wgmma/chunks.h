/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.h - the way out of wgmma that any C may take: chunks of 32 columns that go through
 * shared memory to C.
 */
/*
 * A chunk is 64 rows of X by 32 columns of Y, or all columns when there are fewer or
 * blocks add up together. In shared memory it lies as in C, in lines of neighbouring
 * elements. A line is 8 elements longer than it needs to be, against bank conflicts.
 */
enum {
    CHUNK = GT_CHUNK,
    LINES = GT_LINES, LENGTH = SWAP ? 64 : CHUNK, PITCH = LENGTH + 8,
    SHARE = GT_SHARE, /* lines that the block stores */
    /* elements that a thread moves: those of 4 bytes of C, or 16 bytes of sums */
    WORD = ADDERS > 1 ? 4 : GT_SIZEOF_C < 4 ? 4 / GT_SIZEOF_C : 1,
    WORDS = LENGTH / WORD + (WORD > 1)             /* that a line may touch */
};
GT_STATIC_ASSERT(ADDERS * SHARE * PITCH * sizeof(gt_acc) <= STAGED, chunks_have_room);

#if GT_REDUCE == 1
/* Blocks that add up share the lines of a chunk: block r has lines r * SHARE and on. In its
 * shared memory lie the sums of all blocks for these, in the order of k. */
enum { BLOCK_SUMS = SHARE * PITCH };

/* Where a place in the block's shared memory is in that of block `rank` of the cluster. */
GT_INLINE int place_there(const gt_acc *at, int rank) {
    int there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there)
        : "r"(gt_shared_address(at)), "r"(rank));
    return there;
}

/* Sends neighbouring sums of a line, one or two of them, to the block that has the line. */
GT_INLINE void put_sums(gt_acc *chunk, int line, int at, const gt_acc *sums, int count,
                        int rank) {
    const int to = place_there(chunk + rank * BLOCK_SUMS + line % SHARE * PITCH + at,
                               line / SHARE);
    if (count == 2)
        asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};" ::"r"(to),
                     GT_SUM_IN(sums[0]), GT_SUM_IN(sums[1])
                     : "memory");
    else
        asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(to), GT_SUM_IN(sums[0])
                     : "memory");
}
#else
GT_INLINE void put_sums(gt_acc *chunk, int line, int at, const gt_acc *sums, int count,
                        int rank) {
    if (count == 2)
        gt_store_shared_acc(2, chunk + line * PITCH + at, sums);
    else
        chunk[line * PITCH + at] = sums[0];
}
#endif

/* Puts `cols` columns of a fragment, whose first sums are given, to shared memory. rank:
 * the block's among those that add up. */
GT_INLINE void put_chunk(gt_acc *chunk, const gt_acc *sums, int cols, int rank, int t) {
    GT_UNROLL /* a constant number of times: sums must stay in registers */
    for (int i = 0; i < CHUNK / 8 * 2; i++) {
        const gt_acc *pair = sums + i * 2;
        const int row = row_of(t, i % 2), col = i / 2 * 8 + t % 4 * 2;
        if (i / 2 * 8 >= cols)
            continue;
        if (SWAP) {
            put_sums(chunk, col, row, pair, 1, rank);
            put_sums(chunk, col + 1, row, pair + 1, 1, rank);
        } else {
            put_sums(chunk, row, col, pair, 2, rank);
        }
    }
}

/* The sums of WORD elements of a line of a chunk from `col` on. Elements past its ends get
 * any number. `col` is a multiple of WORD where C's lines begin at words. */
GT_INLINE void sums_of(gt_acc *value, const gt_acc *line, int col) {
#if GT_REDUCE == 1
    if (col % WORD == 0) {
        gt_acc part[ADDERS][WORD];
        GT_UNROLL
        for (int r = 0; r < ADDERS; r++)
            gt_load_shared_acc(WORD, part[r], line + r * BLOCK_SUMS + col);
        GT_UNROLL
        for (int i = 0; i < WORD; i++) {
            value[i] = part[0][i];
            GT_UNROLL
            for (int r = 1; r < ADDERS; r++)
                value[i] += part[r][i];
        }
        return;
    }
#endif
    GT_UNROLL
    for (int i = 0; i < WORD; i++) {
        const gt_acc *at = line + GT_MAX(GT_MIN(col + i, LENGTH - 1), 0);
        value[i] = at[0];
#if GT_REDUCE == 1
        GT_UNROLL
        for (int r = 1; r < ADDERS; r++)
            value[i] += at[r * BLOCK_SUMS];
#endif
    }
}

/* Stores the block's lines of a chunk to C. Of the chunk, `lines` x `length` exist from c
 * on. A thread moves the elements that share a word of memory: a line may begin in the
 * middle of one. */
GT_INLINE void take_chunk(const gt_acc *chunk, gt_c *c, gt_long ldc, gt_acc alpha,
                          gt_acc beta, int lines, int length, int rank,
                          int t GT_PLACE_PARAMS) {
    GT_UNROLL_BY(4)
    for (int e = t; e < SHARE * WORDS; e += 128) {
        const int own = e / WORDS, line = rank * SHARE + own;
        gt_c *const to = c + line * ldc;
        const int back = WORD > 1 ? (int)((gt_long)to / GT_SIZEOF_C % WORD) : 0;
        const int col = e % WORDS * WORD - back;
        const int first = col < 0 ? -col : 0, end = GT_MIN(length - col, WORD);
        gt_acc value[WORD];
        gt_c old[WORD];
        if (line >= lines || end <= first)
            continue;
        sums_of(value, chunk + own * PITCH, col);
        gt_load_c(WORD, old, to + col, beta, first == 0 && end == WORD, first, end);
        gt_store_row(WORD, to + col, alpha, value, beta, old, first == 0 && end == WORD,
                     first, end GT_PLACE(gt_i + line, gt_j + col));
    }
}

/* Waits until all sums of a chunk have come. The producer's warps take part in it. */
GT_INLINE void meet_adders(int group) {
    if (ADDERS > 1)
        GT_CLUSTER_BARRIER(1);
    else
        gt_group_barrier(1 + group, 128);
}

/* Which sums go to shared memory is decided before the program runs, since registers have
 * no index. So there is a branch for each chunk, and the code that stores one is there
 * once. */
GT_INLINE void leave_by_chunks(const struct leaving *l,
                               const gt_acc *sums GT_PLACE_PARAMS) {
    enum { ACROSS = GT_CDIV(WN, CHUNK) };
    const struct target *const to = &l->c;
    gt_acc *const chunk = (gt_acc *)turned_of(&l->g);
    const gt_acc alpha = l->out.alpha, beta = l->out.beta;
    const int rank = ADDERS > 1 ? l->it.work.part : 0, t = l->g.t % 128;
    GT_UNROLL_BY(1)
    for (int i = 0; i < FRAGS * ACROSS; i++) {
        const int row = i / ACROSS * 64, col = i % ACROSS * CHUNK;
        const int rows = GT_MIN(to->rows - row, 64);
        const int cols = GT_MIN(GT_MIN(to->cols, WN) - col, CHUNK);
        const int lines = SWAP ? cols : rows, length = SWAP ? rows : cols;
        gt_c *const c = (gt_c *)to->at + place_in(to, row, col);
        /* The other blocks have begun, or the chunk before was taken. */
        if (ADDERS > 1)
            GT_CLUSTER_WAIT();
        else
            gt_group_barrier(1 + l->g.number, 128);
        GT_UNROLL
        for (int j = 0; j < FRAGS * ACROSS; j++)
            if (j == i)
                put_chunk(chunk, sums + j / ACROSS * SUMS + j % ACROSS * CHUNK / 2,
                          GT_MIN(CHUNK, WN - j % ACROSS * CHUNK), rank, t);
        meet_adders(l->g.number);
        if (beta == (gt_acc)0) /* C is not read */
            take_chunk(chunk, c, to->ld, alpha, 0, lines, length, rank,
                       t GT_PLACE(gt_i + (SWAP ? col : row), gt_j + (SWAP ? row : col)));
        else
            take_chunk(chunk, c, to->ld, alpha, beta, lines, length, rank,
                       t GT_PLACE(gt_i + (SWAP ? col : row), gt_j + (SWAP ? row : col)));
    }
}
