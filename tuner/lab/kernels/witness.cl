/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.cl - what the clock saw is right: single elements of timed outputs, at places
 * that no candidate can know. gt_spoil changes them before a sample, and gt_witness
 * computes after it what they must be. gt_stain changes words of the workspace.
 */

/* An element of the outputs of a few sets. */
struct gt_place {
    gt_long set, z, i, j; /* element (i, j) of matrix z */
    gt_long at;           /* its number in the memory of the set's C */
};

/* Where outputs lie: that of set s begins front + s apart bytes behind c. The places are in
 * `sets` of them, with the numbers set0 to set3. */
#define GT_RING_PARAMS                                                                     \
    gt_matrix c, gt_long front, gt_long apart, int set0, int set1, int set2, int set3,     \
        int sets, int m, int n, gt_long count, gt_long stride, gt_long ldc, gt_ulong seed, \
        int places
#define GT_RING_ARGS set0, set1, set2, set3, m, n, count, stride, ldc

GT_INLINE struct gt_place gt_place_of(gt_long e, int set0, int set1, int set2, int set3,
                                      int m, int n, gt_long count, gt_long stride,
                                      gt_long ldc) {
    const gt_long one = (gt_long)m * n, q = e / (one * count);
    struct gt_place p;
    p.set = q == 0 ? set0 : q == 1 ? set1 : q == 2 ? set2 : set3;
    p.z = e / one % count;
    p.i = e / n % m;
    p.j = e % n;
    p.at = p.z * stride + p.i * ldc + p.j;
    return p;
}

/* The elements of the sets are dealt to `places` in order, and a place is one of its own
 * elements. So no two places are one. */
GT_INLINE gt_long gt_dealt(gt_long all, int places, int t) {
    return (gt_long)((gt_ulong)all * (gt_ulong)t / (gt_ulong)places);
}

GT_INLINE gt_long gt_drawn(gt_ulong seed, gt_long all, int places, int t) {
    const gt_long from = gt_dealt(all, places, t), to = gt_dealt(all, places, t + 1);
    return from + (gt_long)(gt_bits_at(seed, t, 0) % (gt_ulong)(to - from));
}

GT_INLINE gt_ulong gt_raw(gt_input x, gt_long i, int bytes) {
    return bytes == 8 ? ((GT_GLOBAL const gt_ulong *)x)[i] : gt_word(x, i, bytes);
}

GT_INLINE void gt_put_raw(gt_matrix x, gt_long i, int bytes, gt_ulong raw) {
    if (bytes == 8)
        ((GT_GLOBAL gt_ulong *)x)[i] = raw;
    else
        gt_put_word(x, i, bytes, (unsigned int)raw);
}

/* Whether an element that a product reads may get this value. A kernel that is wrong may
 * leave NaN, beside which every result would be right. */
GT_INLINE int gt_is_of_use(gt_input c, gt_long at, int k) {
#if GT_WIDE_I32
    return GT_BITS_C == 0;
#else
    const gt_wide x = gt_get(c, at, GT_BYTES_C, GT_BITS_C);
    return GT_ABS(x) <= 2 * (gt_wide)k + 2; /* with beta 1/2, and data below 1 */
#endif
}

/* Gives the elements at the places other values, that of another element of the same place.
 * By its value a kernel cannot tell such an element from a result of an earlier launch.
 * Where a product reads C, and that value is of no use, it is a datum of `mode`.
 * words[4 t] is the number of the element among those of the sets, words[4 t + 1] its bits
 * from now on. */
GT_KERNEL(gt_spoil, 256, 1, 1)(GT_RING_PARAMS, int k, int reads, int mode,
                                GT_GLOBAL gt_ulong *words) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256, all = sets * count * m * n;
    for (gt_long t = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; t < places; t += step) {
        const gt_long from = gt_dealt(all, places, (int)t);
        const gt_long size = gt_dealt(all, places, (int)t + 1) - from;
        const gt_long e = gt_drawn(seed, all, places, (int)t);
        const gt_ulong others = (gt_ulong)(size > 1 ? size - 1 : 1);
        const gt_long far = size > 1 ? 1 + (gt_long)(gt_bits_at(seed, t, 1) % others) : 0;
        const struct gt_place p = gt_place_of(e, GT_RING_ARGS);
        const struct gt_place q = gt_place_of(from + (e - from + far) % size, GT_RING_ARGS);
        gt_matrix own = c + front + p.set * apart;
        if (reads && !gt_is_of_use(c + front + q.set * apart, q.at, k))
            gt_put(own, p.at, GT_BYTES_C, GT_BITS_C,
                   gt_datum(seed, t, 2, mode, GT_BYTES_C, GT_BITS_C));
        else
            gt_put_raw(own, p.at, GT_BYTES_C,
                       gt_raw(c + front + q.set * apart, q.at, GT_BYTES_C));
        words[4 * t] = (gt_ulong)e;
        words[4 * t + 1] = gt_raw(own, p.at, GT_BYTES_C);
    }
}

/* Whether element `at` of an input's memory is still the datum. */
GT_INLINE int gt_is_datum(gt_input x, gt_long at, gt_long ld, int bytes, int bits,
                          gt_ulong seed) {
    const gt_wide is = gt_get(x, at, bytes, bits);
    const gt_wide was = gt_datum_at(seed, at, ld, 1, bytes, bits);
    return GT_ALIKE(is, was);
}

/* How many of a few elements of the row and the column of a place are no longer the data of
 * the generator. Both begin at `from` and go on in steps. */
GT_INLINE unsigned int gt_changed(gt_input x, gt_long from, gt_long by, gt_long ld, int k,
                                  int bytes, int bits, gt_ulong data_seed, gt_ulong seed) {
    const int probes = 8;
    unsigned int changed = 0;
    for (int i = 0; i < probes && k > 0; i++) {
        const gt_long q = (gt_long)(gt_bits_at(seed, i, 0) % (gt_ulong)k);
        changed += !gt_is_datum(x, from + q * by, ld, bytes, bits, data_seed);
    }
    return changed;
}

/* The sum of the partial sums of a place's lanes. */
#define GT_LANES 32

GT_INLINE struct gt_term_sum gt_sum_of_lanes(GT_SHARED const gt_sum *part) {
    struct gt_term_sum all = gt_no_terms();
    for (int i = 0; i < GT_LANES; i++) {
        gt_add_product(&all, 1, part[3 * i]);
#if !GT_WIDE_I32
        all.low = GT_ADD_RN(all.low, part[3 * i + 1]);
#endif
    }
#if !GT_WIDE_I32
    all.size = 0;
    for (int i = 0; i < GT_LANES; i++)
        all.size += part[3 * i + 2];
#endif
    return all;
}

/* What the elements at the places of gt_spoil must be: sums[2 t] is the sum of products of
 * a row and a column, sums[2 t + 1] the sum of their sizes. words[4 t + 2] is what the
 * element has, and words[4 t + 3] counts those of a few elements of its row and column that
 * are no longer the data of the generator: set s has data_seed + 3 s for A, and the next
 * one for B. `ends` and `groups` are those of gt_reference. GT_LANES threads share a place.
 */
GT_KERNEL(gt_witness, 256, 1, 1)(GT_RING_PARAMS, int k, int ta, int tb, gt_input a,
                                  gt_long apart_a, gt_long lda, gt_long stride_a,
                                  gt_input b, gt_long apart_b, gt_long ldb,
                                  gt_long stride_b,
                                  GT_GLOBAL const int *ends, int groups, gt_ulong data_seed,
                                  GT_GLOBAL gt_ulong *words, GT_GLOBAL gt_wide *sums) {
    GT_SHARED_ARRAY(gt_sum, part, 3 * 256);
    const int each = 256 / GT_LANES, lane = GT_THREAD_X % GT_LANES;
    const gt_long all = (gt_long)sets * count * m * n;
    for (int begin = GT_BLOCK * each; begin < places; begin += GT_GRID_SIZE * each) {
        const int t = GT_MIN(begin + GT_THREAD_X / GT_LANES, places - 1);
        const struct gt_place p = gt_place_of(gt_drawn(seed, all, places, t), GT_RING_ARGS);
        const gt_long y = groups > 0 ? gt_group_of(ends, groups, (int)p.i) : p.z;
        const gt_long from_a = p.z * stride_a + (ta ? p.i : p.i * lda);
        const gt_long from_b = y * stride_b + (tb ? p.j * ldb : p.j);
        const gt_long step_a = ta ? lda : 1, step_b = tb ? 1 : ldb;
        gt_input x = a + front + p.set * apart_a, z = b + front + p.set * apart_b;
        struct gt_term_sum sum = gt_no_terms();
        for (int q = lane; q < k; q += GT_LANES)
            gt_add_product(&sum, gt_get(x, from_a + q * step_a, GT_BYTES_A, GT_BITS_A),
                           gt_get(z, from_b + q * step_b, GT_BYTES_B, GT_BITS_B));
        GT_BARRIER();
        part[3 * GT_THREAD_X] = sum.sum;
#if !GT_WIDE_I32
        part[3 * GT_THREAD_X + 1] = sum.low;
        part[3 * GT_THREAD_X + 2] = sum.size;
#endif
        GT_BARRIER();
        if (lane == 0 && begin + GT_THREAD_X / GT_LANES < places) {
            const gt_ulong set_seed = data_seed + 3 * (gt_ulong)p.set;
            sum = gt_sum_of_lanes(part + 3 * GT_THREAD_X);
            sums[2 * t] = sums[2 * t + 1] = 0;
            gt_put_sum(&sums[2 * t], &sums[2 * t + 1], &sum, 1, 0, c, 0);
            words[4 * t + 2] = gt_raw(c + front + p.set * apart, p.at, GT_BYTES_C);
            words[4 * t + 3] =
                gt_changed(x, from_a, step_a, lda, k, GT_BYTES_A, GT_BITS_A, set_seed,
                           gt_bits_at(seed, t, 1)) +
                gt_changed(z, from_b, step_b, ldb, k, GT_BYTES_B, GT_BITS_B, set_seed + 1,
                           gt_bits_at(seed, t, 2));
        }
    }
}

/* Changes one word in each of `places` parts of the workspace to a random number. */
GT_KERNEL(gt_stain, 256, 1, 1)(GT_GLOBAL unsigned int *w, gt_long all, gt_ulong seed,
                                int places) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    for (gt_long t = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; t < places; t += step)
        w[gt_drawn(seed, all, places, (int)t)] =
            0x30303030u | ((unsigned int)gt_bits_at(seed, t, 1) & 0x8f8f8f8fu);
}
