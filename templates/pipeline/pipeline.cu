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
 * gathered in shared memory and leaves as a run too. A run may begin and end within a
 * piece: A and B come with the whole piece where theirs begin, and C leaves without the
 * pieces of which neighbours have a part, whose elements are stored one by one. Padded rows
 * are copied in pieces as well, where rows and their distance are whole pieces; all others
 * element by element. An operand that all products share is copied once to each stage.
 * Pointers are copied to shared memory ahead of the matrices they lead to, so that no copy
 * waits for one, but for those of the first groups.
 * Matrices behind pointers begin with a piece, and are runs or, without BULK, have rows of
 * whole pieces: space.json refuses others.
 *
 * With PAD, rows of A and B are copied to lines of whole pieces, an odd number of them, so
 * that any row can be read by vectors, and neighbouring rows lie in different banks.
 *
 * The kernel is compiled for one m, n and k, so that no division is left of the places of
 * elements, and loops over them have constant ends.
 *
 * ENGINE    0: gt_fma. A thread computes a patch of TM x TN elements. It loads vectors of
 *           neighbouring elements: of VK along k, of VM rows, of VN columns.
 *           1: mma.sync, for elements of 16 bits and f64. A warp computes a tile TM x TN.
 * PRODUCTS  products of a group; 0: as many as make a block of usual size
 * TM TN     patch or tile; 0: 4 or the matrix's side, 32 with ENGINE=1
 * SLICES    threads that share the k of a patch, neighbours in a warp
 * STAGES    stages of the ring
 * BULK      1: one thread copies the runs of whole groups (cp.async.bulk, sm_90), or behind
 *           pointers one thread each matrix; 0: all threads copy pieces, whose places avoid
 *           bank conflicts with ENGINE=1
 * PAD       1: rows of A and B are padded in shared memory; copies are as wide as rows
 *           allow, stores as wide as groups
 *
 * gemmtune trial f32-nn-16x16x16,batch=1000 --family pipeline
 *     --point "ENGINE=0 PRODUCTS=8 TM=4 TN=4 SLICES=1 STAGES=3 BULK=1 PAD=0"
 */

#if GT_POINTERS
#define INPUTS(x, length, one) {all_##x, ld##x}
#else
#define INPUTS(x, length, one)                                                             \
    {(const gt_ab *)x, ld##x, stride_##x,                                                  \
     IS_ALIGNED(x) && ld##x == length && stride_##x == one}
#endif

GT_KERNEL(gemm, GT_THREADS, 1, GT_FIT)(GT_PARAMS) {
    GT_SHARED_ARRAY(gt_acc, smem, GT_SMEM_ELEMS);
    enum { STAGE = GT_RUN_A + GT_RUN_B };
    gt_ab *ring = (gt_ab *)smem;
#if GT_POINTERS
    const int gathers = !GT_READS_C(beta);
#else
    const int gathers =
        !GT_READS_C(beta) && in_pieces(c, ldc, stride_c, sizeof(gt_c), COLS, ONE_C);
#endif
    struct batch from = {INPUTS(a, LENGTH_A, ONE_A), INPUTS(b, LENGTH_B, ONE_B),
                         k > 0 && alpha != (gt_acc)0 ? batch : 0};
    struct outputs out = {};
    gt_c *const room = (gt_c *)(ring + STAGES * STAGE);
    out.ld = ldc;
#if !GT_POINTERS
    out.stride = stride_c;
#endif
    out.alpha = alpha;
    out.beta = beta;
    const struct part part = part_of_thread();
    const int full = gt_shared_address(smem) + GT_PLACE_FULL; /* barriers of the stages */
    int stage = 0, parity = 0;

#if GT_BULK
    for (int s = 0; s < STAGES && GT_THREAD_X == 0; s++)
        gt_barrier_init(full + 8 * s, OWN_MATRICES ? COUNT : 1);
    gt_barrier_init_done();
    GT_BARRIER();
#endif
#if GT_POINTERS
    from.c = all_c;
    from.all = batch;
    from.table = (struct pointers *)((char *)smem + GT_PLACE_POINTERS);
    for (int s = 0; s < AHEAD; s++)
        point_to_inputs(&from, s, GT_BLOCK + (gt_long)s * gridDim.x);
    GT_COPY_COMMIT();
    GT_COPY_WAIT(0);
#endif
    for (int s = 0; s < AHEAD; s++) {
#if GT_POINTERS
        GT_BARRIER(); /* pointers are there, and the ones that the next replace were read */
#endif
        fetch(ring + s * STAGE, s, &from, GT_BLOCK + (gt_long)s * gridDim.x, full + 8 * s);
    }
    for (gt_long group = GT_BLOCK; group * COUNT < batch; group += gridDim.x) {
        const int last = stage == 0 ? AHEAD : stage - 1;
        const int count = count_of(group, batch);
        gt_acc acc[SUMS];
        GT_UNROLL
        for (int i = 0; i < SUMS; i++)
            acc[i] = 0;
#if GT_POINTERS
        out.at = from.table[stage].c;
#else
        out.at = c + group * COUNT * stride_c;
#endif
        await(&from, group, full + 8 * stage, parity);
#if GT_BULK
        GT_BULK_STORES_READ(0);
#endif
        GT_BARRIER(); /* the group is there; the stage before it and C's place are free */
        fetch(ring + last * STAGE, last, &from, group + (gt_long)AHEAD * gridDim.x,
              full + 8 * last);
        if (from.products > 0)
            multiply(acc, ring + stage * STAGE + shift_in(from.a, group, ONE_A),
                     ring + stage * STAGE + GT_RUN_A + shift_in(from.b, group, ONE_B),
                     part);
        out.shift = GT_BULK && !GT_POINTERS ? shift_of(gathers, group, ONE_C, VECTOR_C) : 0;
        out.gathered = gathers ? room + out.shift : 0;
#if GT_POINTERS
        out.direct = gathers ? 0 : MATRIX(out, part.product);
#endif
        give_all(out, acc, part, count GT_PLACE(group * COUNT * ROWS, 0));
        if (gathers)
            send(out, count);
#if GT_BULK
        else if (RESTS)
            gt_async_sees_stores();
#endif
        parity ^= stage == AHEAD;
        stage = stage == AHEAD ? 0 : stage + 1;
    }
#if GT_BULK
    GT_BULK_STORES_READ(0);
#endif
}
