/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shares.h - equal shares of the slabs of several tiles (stream-K), for kernels whose
 * blocks compute one tile after another. GT_STREAM is 1 in their source; other kernels have
 * nothing of this. "Worker" means a block, or a cluster whose blocks share a tile.
 *
 * A device holds `held` workers at once. Whole rounds of tiles keep all of them busy; a
 * last round of few tiles leaves most of them idle. So the tiles beyond the whole rounds
 * are shared, together with those of one whole round: a share is then longer than a tile.
 * With fewer tiles than workers all tiles are shared, and one may have many parts. Shared
 * tiles are the first ones. Their slabs, tile after tile, are one sequence, which is cut
 * into equal shares. A worker computes its share, then whole tiles.
 *
 *     tiles      |       0       |       1       |       2       |       3       |
 *     workers    |         0         |         1         |           2           |
 *     parts      |       0       | 0 |     1     |   0   |   1   |       0       |
 *
 * A part is the slabs of one tile in one share. Part 0 of a tile has its first slab. Every
 * other part begins a share, and the parts of a tile belong to neighbouring workers.
 *
 * A group of threads has the same place in a tile in all workers. Groups that have parts of
 * a tile meet: each stores its sums to the workspace and counts itself as arrived. The last
 * one to arrive adds all parts up, in the order of k, so the sum is always the same. No
 * group waits for another worker. The group that has part 0 is usually the last one,
 * because its worker ends with that part and the others begin with theirs. It then keeps
 * its sums in registers.
 *
 * Method: Osama, Merrill, Cecka, Garland, Owens, Stream-K: work-centric parallel
 * decomposition for dense matrix-matrix multiplication on the GPU (2023).
 */
#define GT_CLEAR_THREADS 256
#define GT_SHARE_LEAST 2 /* slabs of a share */

#if GT_STREAM
/* The number of shared tiles, of `tiles`. */
GT_INLINE int gt_shared_first(int held, int tiles) {
    return tiles < held ? tiles : held + tiles % held;
}

struct gt_share {
    int tiles, per; /* shared tiles; slabs of each, 1 at least */
    int workers;    /* that have a share */
    int worker;     /* this one's number */
    int begin, end; /* its slabs */
    int parts;      /* its parts */
};

/* The first slab of a worker's share. Products of these numbers must fit 32 bits. */
GT_INLINE int gt_share_begin(const struct gt_share *s, int worker) {
    return GT_MIN(worker, s->workers) * (s->tiles * s->per) / s->workers;
}

/* The worker whose share has a slab. */
GT_INLINE int gt_share_owner(const struct gt_share *s, int slab) {
    return ((slab + 1) * s->workers - 1) / (s->tiles * s->per);
}

/* The share of a worker of `held`, when `tiles` tiles of `slabs` slabs are computed. */
GT_INLINE struct gt_share gt_share_of(int held, int tiles, int slabs, int worker) {
    struct gt_share s;
    s.tiles = gt_shared_first(held, tiles);
    s.per = GT_MAX(slabs, 1);
    s.workers = GT_MAX(1, GT_MIN(held, s.tiles * s.per / GT_SHARE_LEAST));
    s.worker = worker;
    s.begin = gt_share_begin(&s, worker);
    s.end = gt_share_begin(&s, worker + 1);
    s.parts = s.end > s.begin ? (s.end - 1) / s.per - s.begin / s.per + 1 : 0;
    return s;
}

struct gt_part {
    int tile, first, slabs; /* the first slab of its tile's */
    int part, parts;        /* its number among the tile's, and how many these are */
};

/* Part number `number` of a share. */
GT_INLINE struct gt_part gt_share_part(const struct gt_share *s, int number) {
    const int tile = s->begin / s->per + number, at = tile * s->per;
    const int first = GT_MAX(s->begin - at, 0), end = GT_MIN(s->end - at, s->per);
    const int owner = gt_share_owner(s, at);
    const struct gt_part part = {tile, first, end - first, s->worker - owner,
                                 gt_share_owner(s, at + s->per - 1) - owner + 1};
    return part;
}

/* The place in the workspace of part `part` of a tile, whose part 0 has worker `owner`. A
 * place has the sums of a worker's tile. There are held + (shared tiles) of them. */
GT_INLINE int gt_part_place(int held, int tile, int owner, int part) {
    return part == 0 ? held + tile : owner + part;
}

#if !GT_OPENCL
/* Of a tile: what a group of 128 threads needs to meet the groups that have its other
 * parts. */
struct gt_meeting {
    gt_acc *places;    /* the group's sums in the first place */
    int size;          /* elements from a place to the next one */
    unsigned *arrived; /* counts parts that are stored */
    int held;          /* workers that the device holds */
    int barrier;       /* the group's (ring.h) */
    int tile, part, parts; /* the tile's number; the group's part, and how many there are */
    int owner;             /* the worker that has part 0 */
};

/* Whether one of 128 threads says yes; a barrier of theirs. */
GT_INLINE int gt_group_any(int id, int yes) {
    int any;
    asm volatile("{\n"
                 ".reg .pred yes, any;\n"
                 "setp.ne.s32 yes, %2, 0;\n"
                 "bar.red.or.pred any, %1, 128, yes;\n"
                 "selp.s32 %0, 1, 0, any;\n"
                 "}"
                 : "=r"(any)
                 : "r"(id), "r"(yes)
                 : "memory");
    return any;
}

/* Counts `own` parts of the group as arrived. Returns whether all of the tile's other parts
 * had arrived. */
GT_INLINE int gt_parts_met(const struct gt_meeting *w, unsigned own, int t) {
    int met = 0;
    if (t == 0) {
        if (own > 0)
            __threadfence(); /* the group's stores come first */
        met = atomicAdd(w->arrived, own) == w->parts - 1;
        __threadfence(); /* its loads of the other parts come last */
    }
    return gt_group_any(w->barrier, met);
}

GT_INLINE gt_acc *gt_part_sums(const struct gt_meeting *w, int part, int t) {
    const gt_long place = gt_part_place(w->held, w->tile, w->owner, part);
    return w->places + place * w->size + t * 4;
}

/* Brings `count` sums of each of 128 threads together with those of the tile's other parts.
 * Returns whether this group has them all now; otherwise another group will. `count` is a
 * multiple of 4. */
GT_INLINE int gt_parts_add(int count, gt_acc *sums, const struct gt_meeting *w, int t) {
    int part = 1; /* the first one to add */
    if (w->part != 0 || !gt_parts_met(w, 0, t)) {
        gt_acc *const at = gt_part_sums(w, w->part, t);
        GT_UNROLL
        for (int e = 0; e < count; e += 4)
            gt_store_global_acc(4, at + e * 128, sums + e);
        gt_group_barrier(w->barrier, 128);
        if (!gt_parts_met(w, 1, t))
            return 0;
        GT_UNROLL
        for (int e = 0; e < count; e++)
            sums[e] = 0;
        part = 0;
    }
    GT_UNROLL_BY(1)
    for (; part < w->parts; part++) {
        const gt_acc *const at = gt_part_sums(w, part, t);
        GT_UNROLL
        for (int e = 0; e < count; e += 4) {
            gt_acc more[4];
            gt_load_global_acc(4, more, at + e * 128);
            GT_UNROLL
            for (int i = 0; i < 4; i++)
                sums[e + i] += more[i];
        }
    }
    return 1;
}

/*
 * The kernel before, which sets the `count` counters at `arrived` to 0. Launch:
 *
 *     "block": ["CLEAR_THREADS", "1", "1"],
 *     "grid": ["cdiv(count, CLEAR_THREADS)", "1", "1"]
 */
#define GT_CLEAR_KERNEL(name, arrived, count)                                              \
    GT_KERNEL(name, GT_CLEAR_THREADS, 1, 1)(GT_PARAMS) {                                   \
        GT_FOLLOW();                                                                       \
        GT_PRODUCT();                                                                      \
        GT_LEAD(1); /* its few blocks leave room for the next kernel's */                  \
        const int i = GT_BLOCK * GT_CLEAR_THREADS + GT_THREAD_X;                           \
        if (i < (count))                                                                   \
            (arrived)[i] = 0;                                                              \
    }
#endif
#endif
