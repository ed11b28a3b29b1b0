/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split.h - f32 numbers as sums of two numbers of tf32 (f32@split) or bf16 (f32@bf16x3),
 * for products of f32 on tensor cores (CUDA, sm_80 and later). docs/split.md derives the
 * error.
 *
 *     x = high + low + rest,   |low| <= 2^-11 |x|,   |rest| <= 2^-23 |x|   (tf32)
 *                              |low| <= 2^-8 |x|,    |rest| <= 2^-17 |x|   (bf16)
 *     x y is about low(x) high(y) + high(x) low(y) + high(x) high(y)
 *
 * A word is a part of GT_SPLIT_EACH elements: of one (tf32) or of two (bf16).
 *
 * Tensor cores cut bits off the sum of every instruction, towards zero. So a sum of theirs
 * may run over GT_SPLIT_DEPTH of k at most. It is then added to an f32 that ordinary cores
 * round to nearest.
 *
 * The parts of an infinity are an infinity and a NaN, and a number that is nearly as large
 * may have such parts too. A sum that is not finite is therefore computed again without
 * parts (gt_split_finite).
 */
#define GT_SPLIT_DEPTH 32 /* of k: a part of the accuracy. core/split.h has it too */
#define GT_SPLIT_EACH (GT_BF16X3 ? 2 : 1)

#if !GT_OPENCL
/* The parts' bits. High is the tf32 number nearest to x: of two equally near, the larger
 * one. The difference is exact. Tensor cores do not look at the last 13 bits of a part, so
 * they cut it to low. A NaN has a NaN for low. */
GT_INLINE void gt_split(unsigned *high, unsigned *low, unsigned x) {
    *high = (x + 0x1000u) & 0xffffe000u;
    *low = __float_as_uint(__uint_as_float(x) - __uint_as_float(*high));
}

/* Two numbers, rounded to bf16: `first` in the lower half of the word. */
GT_INLINE unsigned gt_split_round(float first, float second) {
    unsigned word = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
#endif
    return word;
}

/* The parts of two numbers in bf16. The differences are exact. */
GT_INLINE void gt_split_pair(unsigned *high, unsigned *low, unsigned first,
                             unsigned second) {
    const float x = __uint_as_float(first), y = __uint_as_float(second);
    *high = gt_split_round(x, y);
    *low = gt_split_round(x - __uint_as_float(*high << 16),
                          y - __uint_as_float(*high & 0xffff0000u));
}

/* The parts of `words` words. x has their elements, in the order of a word. */
GT_INLINE void gt_split_words(int words, unsigned *high, unsigned *low, const unsigned *x) {
    GT_UNROLL
    for (int i = 0; i < words; i++)
        if (GT_SPLIT_EACH == 2)
            gt_split_pair(&high[i], &low[i], x[2 * i], x[2 * i + 1]);
        else
            gt_split(&high[i], &low[i], x[i]);
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
 * wgmma: slabs of 32 of k. A step multiplies 4 words of a lane's part of A by 32 bytes of
 * B's columns: there are four steps of tf32, two of bf16. Lane 4 g + t of a warp loads f[0]
 * to f[15] of A:
 *
 *     f[4 j]      A's row g, k 4 t + j      f[4 j + 2]  row g, k 16 + 4 t + j
 *     f[4 j + 1]  row g + 8                 f[4 j + 3]  row g + 8
 *
 * so it reads 4 neighbouring k of a row at once. Which k a step multiplies is free, as long
 * as A and B agree. Step j of tf32 takes f[4 j] to f[4 j + 3]. Step j of bf16 takes the k
 * from 16 j to 16 j + 15 (gt_split_order). A half of a column of B is 16 neighbouring k,
 * which a thread splits.
 */

/* The parts of A for step j: words as the instruction takes them. */
GT_INLINE void gt_split_step(unsigned high[4], unsigned low[4], const unsigned f[16],
                             int j) {
    unsigned x[8];
    GT_UNROLL
    for (int e = 0; e < 4 * GT_SPLIT_EACH; e++) {
        const int word = e / 2, row = word % 2, deep = word / 2 * 2 + e % 2;
        x[e] = GT_SPLIT_EACH == 2 ? f[4 * deep + 2 * j + row] : f[4 * j + e];
    }
    gt_split_words(4, high, low, x);
}

/* The chunk of 16 bytes of a column that has the k 16 upper + order * GT_SPLIT_EACH and
 * those 4, 8 and 12 farther: of one word each. */
GT_INLINE int gt_split_order(int order, int upper) {
    return GT_SPLIT_EACH == 2 ? 2 * upper + order : 2 * order + upper;
}

/* Chunk number `chunk` of a column of high parts, as the hardware swizzles columns of 128
 * or 64 bytes. */
GT_INLINE char *gt_split_chunk(char *to, int col, int chunk) {
    const int line = 128 / GT_SPLIT_EACH, chunks = line / 16;
    return to + col * line + (chunk ^ col / GT_SPLIT_EACH % chunks) * 16;
}

/* Splits `words` words of x and stores the parts, low ones `part` bytes after high ones. */
GT_INLINE void gt_split_put(int words, char *at, int part, const unsigned *x) {
    unsigned high[4], low[4];
    gt_split_words(words, high, low, x);
    gt_store_words(4 * words, at, high);
    gt_store_words(4 * words, at + part, low);
}

struct gt_split_half {
    int col, upper; /* upper: 1 for k 16 to 31 */
};

/* Half number e of a slab of n columns, which is contiguous along k or not: neighbouring
 * lanes read neighbouring memory. Eight lanes that store together meet in no bank. */
GT_INLINE struct gt_split_half gt_split_half_of(int n, int along, int e) {
    const int pair = e / 2;
    const int mixed = pair / 8 * 8 + pair % 4 * 2 + pair / 4 % 2; /* of 128 bytes */
    const struct gt_split_half near = {GT_SPLIT_EACH == 2 ? pair : mixed, e % 2};
    const struct gt_split_half far = {e % n, e / n};
    return along ? near : far;
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
 * it. */
GT_INLINE void gt_split_store(char *to, int part, struct gt_split_half at,
                              const unsigned x[16]) {
    enum { EACH = GT_SPLIT_EACH };
    GT_UNROLL
    for (int j = 0; j < 4 / EACH; j++) {
        unsigned y[8];
        GT_UNROLL
        for (int e = 0; e < 4 * EACH; e++)
            y[e] = x[e / EACH * 4 + j * EACH + e % EACH];
        gt_split_put(4, gt_split_chunk(to, at.col, gt_split_order(j, at.upper)), part, y);
    }
}

/*
 * A slab of n columns of B that is contiguous across k, and aligned to vectors: a thread
 * splits a patch of 4 neighbouring columns, from `col` on. Of each it has the k
 * 16 upper + 4 i + step + s, where i is 0 to 3 and s is below gt_split_patch_steps. So a
 * vector of memory is a patch's row, and the words that a chunk needs are in one thread. Of
 * bf16 and 64 columns, 64 threads have patches.
 */
struct gt_split_patch {
    int col, upper, step;
};

GT_INLINE int gt_split_patch_steps(int n) {
    return GT_SPLIT_EACH == 2 ? 2 : n / 64;
}

GT_INLINE struct gt_split_patch gt_split_patch_of(int n, int t) {
    const int rest = t / (n / 4);
    const struct gt_split_patch patch = {t % (n / 4) * 4, rest % 2,
                                         rest / 2 * gt_split_patch_steps(n)};
    return patch;
}

/* The k, within a slab, of element i of the patch's step s. */
GT_INLINE int gt_split_patch_k(struct gt_split_patch patch, int s, int i) {
    return patch.upper * 16 + 4 * i + patch.step + s;
}

/* The place of column c of a patch among the columns of a slab. Of 8 patches all first
 * columns come first, then all second ones, and so on. So eight lanes that store together
 * meet in no bank. gt_split_patch_sums gives the column of a sum. */
GT_INLINE int gt_split_patch_place(struct gt_split_patch patch, int c) {
    return patch.col / 32 * 32 + c * 8 + patch.col / 4 % 8;
}

/* Splits a chunk of each column of a patch: step s of tf32, both steps of bf16. Word
 * 4 i + c of x[s] is element i of step s, column c. */
GT_INLINE void gt_split_store_patch(char *to, int part, struct gt_split_patch patch, int s,
                                    const unsigned x[][16]) {
    enum { EACH = GT_SPLIT_EACH };
    const int chunk = gt_split_order((patch.step + s) / EACH, patch.upper);
    GT_UNROLL
    for (int c = 0; c < 4; c++) {
        unsigned y[8];
        GT_UNROLL
        for (int e = 0; e < 4 * EACH; e++)
            y[e] = x[s + e % EACH][e / EACH * 4 + c];
        gt_split_put(4, gt_split_chunk(to, gt_split_patch_place(patch, c), chunk), part, y);
    }
}

/*
 * A slab of B that is contiguous along k, while A is not: A's lanes may have any k then, so
 * the elements of a column keep their order. Eight threads share a column: each splits 4
 * elements as they lie, a chunk of tf32 or half a chunk of bf16. A's lane has the k of
 * gt_split_lane_k.
 */
GT_INLINE void gt_split_store_four(char *to, int part, int col, int four,
                                   const unsigned x[4]) {
    enum { EACH = GT_SPLIT_EACH };
    gt_split_put(4 / EACH, gt_split_chunk(to, col, four / EACH) + four % EACH * 8, part, x);
}

/* The k of f[4 j + 2 upper] for t = 0; GT_SPLIT_EACH further for each t. */
GT_INLINE int gt_split_lane_k(int j, int upper) {
    return GT_SPLIT_EACH == 2 ? 16 * upper + j / 2 * 8 + j % 2 : 8 * j + 4 * upper;
}

/* Of the sums of a row of 32 columns, 8 j + 2 (lane % 4) + e for j = 0 to 3 are those of 4
 * neighbouring columns of C. This is the first one. */
GT_INLINE int gt_split_patch_sums(int lane, int e) {
    return (2 * (lane % 4) + e) * 4;
}

/*
 * GT_SPLIT_WGMMA(name, n, adds) defines, with warpgroups.h,
 *
 *     void name(gt_acc *sums, const unsigned *x, unsigned long long y)
 *
 * which starts sums += X Y of parts, or sums = X Y where `adds` is 0. X is 64 rows x 32
 * bytes of k in registers, where each of four warps has 16 rows as for mma.sync; y
 * describes n columns in shared memory, along k. x must keep its values until the product
 * has been waited for.
 */
#if GT_BF16X3
#define GT_SPLIT_KIND "k16.f32.bf16.bf16 "
#define GT_SPLIT_ENDS ", 1, 1, 0;" /* signs, and that columns lie along k */
#else
#define GT_SPLIT_KIND "k8.f32.tf32.tf32 "
#define GT_SPLIT_ENDS ", 1, 1;"
#endif
#define GT_SPLIT_ROWS_32 "{%18, %19, %20, %21}"
#define GT_SPLIT_ROWS_64 "{%34, %35, %36, %37}"
#define GT_SPLIT_ROWS_128 "{%66, %67, %68, %69}"
#define GT_SPLIT_WGMMA_(name, n, adds)                                                     \
    GT_INLINE void name(gt_acc *sums, const unsigned *x, unsigned long long y) {           \
        unsigned long long unused = 0;                                                     \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #n GT_SPLIT_KIND                  \
                     "{" GT_SUM_NAMES_##n "}, " GT_SPLIT_ROWS_##n ", %0, " #adds           \
                     GT_SPLIT_ENDS                                                         \
                     : "+l"(y), "+l"(unused), GT_SUMS_##n                                  \
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]));                        \
    }
#define GT_SPLIT_WGMMA(name, n, adds) GT_SPLIT_WGMMA_(name, n, adds)
#endif
