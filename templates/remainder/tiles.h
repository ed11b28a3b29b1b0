/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h - the tiles of a block of remainder: where they are, whether the sizes leave a
 * doubt, their residues, their elements of C.
 */
/* Shared numbers that a block makes once. */
struct tables {
    struct gt_cofactor cofactor[TRIOS + 1];
    struct gt_divisor divisor[MODULI];
};

GT_INLINE void make_tables(struct tables *tables, int t) {
    if (t <= TRIOS)
        tables->cofactor[t] = gt_cofactor_of(MODULI, t);
    if (t < MODULI)
        tables->divisor[t] = gt_divisor_of(t);
}

/* A block's state. */
struct block {
    struct ring ring;
    int *doubt; /* shared: two words, for looks in turn: 1 when a sum is not trusted */
    const struct tables *tables;
    unsigned *residues;  /* of the block: of two tiles in turn, for wgmma */
    int *marks;          /* of all tiles, row by row */
    const byte *a, *b;   /* the first slab of all rows and columns in plane 0 */
    gt_long slab_step;   /* bytes from a slab to the next */
    const struct gt_line *lines_a, *lines_b;
    int k, slabs;        /* slabs of a plane: 0 where A and B are not read */
    int tiles_m, tiles_n;
    int at, step, end;   /* its tile; from one to the next; where tiles end */
    int tiles, looks;    /* how many it has finished */
};

GT_INLINE void next_tile(struct block *b) {
    b->at += b->step;
    b->tiles++;
}

GT_INLINE unsigned *residues_of(const struct block *b, int t) {
    return b->residues + (GT_ENGINE ? b->tiles % 2 : 0) * (MODULI * FRAGS * WORKERS) + t;
}

/* A tile's place in C, and where its slabs begin. */
struct tile {
    int row, col;
    int *mark;
    struct walk walk;
};

/* The block's tile. GROUP rows of tiles are walked column by column. */
GT_INLINE struct tile tile_of(const struct block *b) {
    const int band = b->at / (GT_GROUP * b->tiles_n);
    const int in_band = b->at % (GT_GROUP * b->tiles_n);
    const int high = GT_MIN(b->tiles_m - band * GT_GROUP, GT_GROUP);
    const int row = band * GT_GROUP + in_band % high, col = in_band / high;
    const struct tile tile = {row * BM,
                              col * BN,
                              b->marks + row * b->tiles_n + col,
                              {b->a + row * (gt_long)SLAB_A, b->b + col * (gt_long)SLAB_B,
                               b->slab_step, 0}};
    return tile;
}

GT_INLINE struct part part_of(const struct block *b, const struct tile *tile, int t) {
    const int row = tile->row + warp_m_of(t) + (GT_ENGINE ? t / 32 % 4 * 16 : 0);
    const int col = tile->col + warp_n_of(t) + t % 4 * 2;
    const struct part p = {row + t % 32 / 4, col, b->lines_a + row + t % 32 / 4,
                           b->lines_b + col};
    return p;
}

/* The first look at the sizes: slabs after which uniform data are mostly trusted
 * (docs/residues.md, "How many moduli"). Later looks are each at twice as many. */
GT_INLINE int first_look(int slabs) {
    return GT_MAX(1, slabs * (MODULI == 14 ? 6 : 1) / 16);
}

/* From slab `first` of a plane on. */
GT_INLINE struct walk walk_from(struct walk w, int first, int count) {
    w.a += first * w.step;
    w.b += first * w.step;
    w.left = count;
    return w;
}

/* The verdict of a look, for workers and the copying warp: whether the tile is doubtful. */
GT_INLINE int await_verdict(struct block *b) {
#if GT_ENGINE
    gt_group_barrier(VERDICT, WORKERS + COPIERS);
#else
    GT_BARRIER();
#endif
    return b->doubt[b->looks++ & 1];
}

/*
 * Whether a thread of the cluster has a doubt. When the workers meet, all threads have read
 * the word of the look before. The copying warp has read that word before it copied for
 * this look. So the word is cleared for the next look. Only end_doubt lets another block
 * write the word.
 */
GT_INLINE int any_doubt(struct block *b, int doubt, int t) {
    int *const word = b->doubt + (b->looks & 1);
    if (doubt)
        *word = 1;
#if GT_ENGINE
    if (doubt)
        tell_doubt(gt_shared_address(word));
#endif
    GT_WORKERS_BARRIER();
    if (t == 0)
        b->doubt[(b->looks & 1) ^ 1] = 0;
#if GT_ENGINE
    if (t == 0)
        end_doubt(gt_shared_address(b->doubt) + 8, b->looks & 1);
#endif
    return await_verdict(b);
}

/* Whether the size bytes' product leaves a doubt about the tile. acc is scratch. */
GT_INLINE int is_doubtful(struct block *b, int acc[FRAGS][4], struct walk w, struct part p,
                          int t) {
    int done = 0, doubt = 1;
    set_sums(acc, 0);
    GT_UNROLL_BY(1)
    for (int until = first_look(b->slabs); doubt && done < b->slabs; until *= 2) {
        const int count = GT_MIN(until, b->slabs) - done;
#if GT_ENGINE == 0 /* with wgmma a warp of its own copies */
        start(&b->ring, walk_from(w, done, count), t);
#endif
        multiply_slabs(acc, &b->ring, count, t);
        doubt = any_doubt(b, !all_trusted(acc, p, b->k), t);
        done += count;
    }
    return doubt;
}

/* Computes the residues of the tile's sums. acc is scratch. */
GT_INLINE void compute_residues(struct block *b, int acc[FRAGS][4], struct walk w, int t) {
#if GT_ENGINE == 0
    start(&b->ring, walk_from(w, b->slabs, MODULI * b->slabs), t);
#endif
    GT_UNROLL_BY(1)
    for (int l = 0; l < MODULI; l++) {
        const struct gt_divisor d = b->tables->divisor[l];
        set_sums(acc, (int)d.start);
        multiply_slabs(acc, &b->ring, b->slabs, t);
        put_residues(residues_of(b, t) + l * (FRAGS * WORKERS), acc, d);
    }
}

/* C, and how it is stored. */
struct target {
    gt_c *c;
    gt_long ld;
    gt_acc alpha, beta;
    int m, n;
};

/* Makes C of the residues of working thread t. The place is that of C's first element. */
GT_INLINE void finish(const struct block *b, const struct target *to, struct part p,
                      int t GT_PLACE_PARAMS) {
    GT_UNROLL_BY(1)
    for (int f = 0; f < FRAGS; f++) {
        const int row = p.row + row_of(f, 0), col = p.col + col_of(f, 0);
        gt_acc sum[4] = {0, 0, 0, 0};
        if (b->slabs > 0)
            get_sums(sum, residues_of(b, t), b->tables->cofactor, f, p);
        store(to->c + row * to->ld + col, to->ld, to->alpha, sum, to->beta, to->m - row,
              to->n - col GT_PLACE(gt_i + row, gt_j + col));
    }
}

/* The last tile is finished by the workers, who have nothing else to do then. */
GT_INLINE int is_last(const struct block *b) {
    return !GT_ENGINE || b->slabs == 0 || b->at + b->step >= b->end;
}

#if GT_ENGINE
/* Workers tell that the residues of a tile are complete. */
GT_INLINE void tell_made(const struct block *b) {
    gt_group_arrive(RESIDUES_MADE + b->tiles % 2, WORKERS + FINISHERS);
}

/* Workers wait until finishers have read the residues that lie where a tile's will. */
GT_INLINE void await_read(const struct block *b) {
    if (b->tiles >= 2)
        gt_group_barrier(RESIDUES_READ + b->tiles % 2, WORKERS + FINISHERS);
}
#else
GT_INLINE void tell_made(const struct block *b) {}
GT_INLINE void await_read(const struct block *b) {}
#endif
