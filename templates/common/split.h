/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - f32 numbers as sums of two tf32 numbers, for products of f32 on tensor cores
 * (CUDA, sm_80 and later). docs/split.md derives the error.
 *
 *     x = high + low + rest,   |low| <= 2^-11 |x|,   |rest| <= 2^-23 |x|
 *     x y is about low(x) high(y) + high(x) low(y) + high(x) high(y)
 *
 * Tensor cores cut bits off the sum of every instruction, towards zero. So a sum of theirs
 * may run over GT_SPLIT_DEPTH of k at most. It is then added to an f32 that ordinary cores
 * round to nearest.
 *
 * The parts of an infinity are an infinity and a NaN, and a number that is nearly as large
 * may have such parts too. A sum that is not finite is therefore computed again without
 * parts (gt_split_finite).
 */
#define GT_SPLIT_DEPTH 32 /* of k: the accuracy of f32@split. core/dtype.h has it too */

#if !GT_OPENCL
/* The parts' bits. High is the tf32 number nearest to x: of two equally near, the larger
 * one. The difference is exact. Tensor cores do not look at the last 13 bits of a part, so
 * they cut it to low. A NaN has a NaN for low. */
GT_INLINE void gt_split(unsigned *high, unsigned *low, unsigned x) {
    *high = (x + 0x1000u) & 0xffffe000u;
    *low = __float_as_uint(__uint_as_float(x) - __uint_as_float(*high));
}

GT_INLINE int gt_split_finite(float x) {
    return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u;
}

/* A sum of k products without parts. `step` bytes lie between two elements. */
GT_INLINE gt_acc gt_split_none(const char *x, gt_long step_x, const char *y, gt_long step_y,
                               int k) {
    gt_acc sum = 0;
    GT_UNROLL_BY(1)
    for (int p = 0; p < k; p++) {
        sum = gt_fma(*(const float *)x, *(const float *)y, sum);
        x += step_x;
        y += step_y;
    }
    return sum;
}

/*
 * wgmma: slabs of 32 of k, in four steps. Lane 4 g + t of a warp has registers f[0] to
 * f[15] of A; step j multiplies f[4 j] to f[4 j + 3] by bytes 32 j to 32 j + 31 of B's
 * columns. Which k these are is free, as long as A and B agree. Here they are
 *
 *     f[4 j]      A's row g, k 4 t + j      f[4 j + 2]  row g, k 16 + 4 t + j
 *     f[4 j + 1]  row g + 8                 f[4 j + 3]  row g + 8
 *
 * so that a lane reads 4 neighbouring k of a row at once, one for each step. A half of a
 * column of B is 16 neighbouring k, which a thread splits.
 */
struct gt_split_half {
    int col, upper; /* upper: 1 for k 16 to 31 */
};

/* Half number e of a slab of n columns, which is contiguous along k or not: neighbouring
 * lanes read neighbouring memory. Eight lanes that store together meet in no bank. */
GT_INLINE struct gt_split_half gt_split_half_of(int n, int along, int e) {
    const int pair = e / 2;
    const struct gt_split_half mixed = {pair / 8 * 8 + pair % 4 * 2 + pair / 4 % 2, e % 2};
    const struct gt_split_half plain = {e % n, e / n};
    return along ? mixed : plain;
}

/* Loads 4 neighbouring elements of k, of which `there` exist; others become 0. `wide`: 16
 * where they are one vector. `step` bytes lie between two elements. */
GT_INLINE void gt_split_load(unsigned *to, const char *from, int wide, gt_long step,
                             int there) {
    if (wide == 16) {
        gt_load_words(16, 4, to, from, GT_MIN(there, 4) * 4);
    } else {
        GT_UNROLL
        for (int i = 0; i < 4; i++)
            to[i] = gt_word_of(4, from + i * step, there - i);
    }
}

/* Splits a half. The slab of high parts is at `to`, that of low parts `part` bytes after
 * it: columns of 128 bytes, whose chunks of 16 bytes lie as the hardware swizzles them. */
GT_INLINE void gt_split_store(char *to, int part, struct gt_split_half at,
                              const unsigned x[16]) {
    GT_UNROLL
    for (int j = 0; j < 4; j++) {
        char *const chunk = to + at.col * 128 + ((2 * j + at.upper) ^ at.col % 8) * 16;
        unsigned high[4], low[4];
        GT_UNROLL
        for (int q = 0; q < 4; q++)
            gt_split(&high[q], &low[q], x[4 * q + j]);
        gt_store_words(16, chunk, high);
        gt_store_words(16, chunk + part, low);
    }
}

/*
 * A slab of n columns of B that is contiguous across k, and aligned to vectors: a thread
 * splits a patch of 4 neighbouring columns, from `col` on. Of each it has n / 64 steps from
 * `step` on, of the lower or the upper half of k. So a vector of memory is a patch's row,
 * and the words that a chunk needs are in one thread.
 */
struct gt_split_patch {
    int col, upper, step;
};

GT_INLINE struct gt_split_patch gt_split_patch_of(int n, int t) {
    const int rest = t / (n / 4);
    const struct gt_split_patch patch = {t % (n / 4) * 4, rest % 2, rest / 2 * (n / 64)};
    return patch;
}

/* The k, within a slab, of word i of a chunk of the patch's step s. */
GT_INLINE int gt_split_patch_k(struct gt_split_patch patch, int s, int i) {
    return patch.upper * 16 + 4 * i + patch.step + s;
}

/* The place of column c of a patch among the columns of a slab, so that eight lanes that
 * store together meet in no bank: 8 patches, their first columns, then their second ones.
 * A sum's column is found by gt_split_patch_sums. */
GT_INLINE int gt_split_patch_place(struct gt_split_patch patch, int c) {
    return patch.col / 32 * 32 + c * 8 + patch.col / 4 % 8;
}

/* Splits step s of a patch: word 4 i + c of x is that of k number i and column c. */
GT_INLINE void gt_split_store_patch(char *to, int part, struct gt_split_patch patch, int s,
                                    const unsigned x[16]) {
    GT_UNROLL
    for (int c = 0; c < 4; c++) {
        const int at = gt_split_patch_place(patch, c);
        const int order = 2 * (patch.step + s) + patch.upper;
        char *const chunk = to + at * 128 + (order ^ at % 8) * 16;
        unsigned high[4], low[4];
        GT_UNROLL
        for (int i = 0; i < 4; i++)
            gt_split(&high[i], &low[i], x[4 * i + c]);
        gt_store_words(16, chunk, high);
        gt_store_words(16, chunk + part, low);
    }
}

/*
 * A slab of B that is contiguous along k, while A is not: A's lanes may have any k then, so
 * chunk number i of a column is its k 4 i to 4 i + 3, and f[4 j] and f[4 j + 2] are k 8 j +
 * t and 8 j + 4 + t. Eight threads share a column: each splits a chunk as it lies.
 */
GT_INLINE void gt_split_store_chunk(char *to, int part, int col, int chunk,
                                    const unsigned x[4]) {
    char *const at = to + col * 128 + (chunk ^ col % 8) * 16;
    unsigned high[4], low[4];
    GT_UNROLL
    for (int i = 0; i < 4; i++)
        gt_split(&high[i], &low[i], x[i]);
    gt_store_words(16, at, high);
    gt_store_words(16, at + part, low);
}

/* Of the sums of a row of 32 columns, 8 j + 2 (lane % 4) + e for j = 0 to 3 are those of 4
 * neighbouring columns of C. This is the first one. */
GT_INLINE int gt_split_patch_sums(int lane, int e) {
    return (2 * (lane % 4) + e) * 4;
}

/* Tensor cores see what the calling thread stored to shared memory before this. */
GT_INLINE void gt_split_fence(void) {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Arrives at a barrier of `threads` threads, whole warps, without waiting. */
GT_INLINE void gt_split_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/*
 * GT_SPLIT_WGMMA(name, n, adds) defines, with warpgroups.h,
 *
 *     void name(gt_acc *sums, const unsigned *x, unsigned long long y)
 *
 * which starts sums += X Y of tf32 parts, or sums = X Y where `adds` is 0. X is 64 rows x 8
 * of k in registers, where each of four warps has 16 rows as for mma.sync; y describes n
 * columns in shared memory, along k. x must keep its values until the product has been
 * waited for.
 */
#define GT_SPLIT_ROWS_32 "{%18, %19, %20, %21}"
#define GT_SPLIT_ROWS_64 "{%34, %35, %36, %37}"
#define GT_SPLIT_ROWS_128 "{%66, %67, %68, %69}"
#define GT_SPLIT_WGMMA_(name, n, adds)                                                     \
    GT_INLINE void name(gt_acc *sums, const unsigned *x, unsigned long long y) {           \
        unsigned long long unused = 0;                                                     \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #n "k8.f32.tf32.tf32 "            \
                     "{" GT_SUM_NAMES_##n "}, " GT_SPLIT_ROWS_##n ", %0, " #adds           \
                     ", 1, 1;"                                                             \
                     : "+l"(y), "+l"(unused), GT_SUMS_##n                                  \
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));                        \
    }
#define GT_SPLIT_WGMMA(name, n, adds) GT_SPLIT_WGMMA_(name, n, adds)
#endif
