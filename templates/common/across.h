/* SPDX-License-Identifier: Apache-2.0 */
/*
 * across.h - products of a warpgroup (warpgroups.h) that take X from registers, for
 * elements of 1 and 4 bytes. The instruction reads those along k only from shared memory.
 * From registers it takes rows of X that were loaded from any layout.
 *
 * Here X lies across k: boxes of `span` bytes of width x `deep` rows of k, one box after
 * another, with a swizzle of that span. A fragment is 64 rows of X by 32 bytes of k. Thread
 * t of the warpgroup, lane 4 g + l of warp w, holds four registers of it:
 *
 *     f[0]  k bytes 4 l to 4 l + 3, row gt_across_line(.., 0)    f[2]  16 bytes of k later
 *     f[1]  the same k,             row gt_across_line(.., 1)    f[3]  16 bytes of k later
 *
 * So the rows of X, and of the sums, are in another order than the instruction's. The two
 * rows of a thread are neighbours: one load brings elements of both. The order also keeps
 * loads free of bank conflicts.
 *
 *     4 bytes   8 bytes are loaded: two rows at one k.
 *     1 byte    ldmatrix transposes pairs of rows. The four k of a register come from two
 *               of its matrices. Lanes with l < 2 have the lower two k in the first matrix,
 *               the others in the second one. So 8 rows of k that are read together lie in
 *               different banks.
 */
#if !GT_OPENCL && __CUDA_ARCH__ == 900
/* The row, of a fragment's 64, of the thread's registers f[h] and f[2 + h]. */
GT_INLINE int gt_across_line(int size, int t, int h) {
    const int w = t / 32, g = t % 32 / 4;
    const int four = (w % 2 * 2 + g / 4) ^ g / 2 % 2 * 5; /* of the 32 rows of a box */
    return (size == 4 ? w / 2 * 32 + four * 4 + g % 2 * 2 : w * 16 + g * 2) + h;
}

/* Where the thread reads the first fragment of a slab, from `row` on, a multiple of 64. */
GT_INLINE int gt_across_place(int size, int span, int deep, int row, int t) {
    const int lane = t % 32;
    const int low = (lane / 8 % 2) ^ (lane % 8 / 4); /* which two k of four, for ldmatrix */
    const int k = size == 4 ? lane % 4
                            : lane / 16 * 16 + lane % 8 / 2 * 4 + low * 2 + lane % 2;
    const int line = size == 4 ? gt_across_line(4, t, 0) : t / 32 * 16;
    const int byte = (row + line) * size;
    return byte / span * deep * span + gt_swizzled(k * span + byte % span, span);
}

/* Loads fragment `i` of those in a column, `step` times 32 bytes of k further. at: the
 * thread's place, in the slab. */
GT_INLINE void gt_across_load(int size, int span, int deep, unsigned *f, int at, int i,
                              int step, int lane) {
    const int byte = i * 64 * size;
    const int from = (at ^ byte % span) + (byte / span * deep + step * 32 / size) * span;
    if (size == 4) {
        GT_UNROLL
        for (int later = 0; later < 2; later++) /* 4 rows of k */
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                         : "=r"(f[2 * later]), "=r"(f[2 * later + 1])
                         : "r"((from ^ later * 64) + later * 4 * span)
                         : "memory");
    } else {
        const int turned = lane % 4 >= 2;
        const int even = turned ? 0x2064 : 0x6420, odd = turned ? 0x3175 : 0x7531;
        unsigned pairs[4];
        gt_load_matrices(1, pairs, from);
        GT_UNROLL
        for (int later = 0; later < 2; later++) {
            f[2 * later] = __byte_perm(pairs[2 * later], pairs[2 * later + 1], even);
            f[2 * later + 1] = __byte_perm(pairs[2 * later], pairs[2 * later + 1], odd);
        }
    }
}

/*
 * GT_ACROSS_WGMMA(name, n, x, y) defines
 *
 *     void name(gt_acc *sums, const unsigned *f, unsigned long long y)
 *
 * which starts sums += X Y for the fragment f. n and the types x and y are macros or words.
 * The registers f keep their values until the product has been waited for.
 * GT_ACROSS_WGMMA_FRESH(...) defines the same for sums = X Y.
 */
#define GT_ACROSS_WGMMA_(name, n, x, y, adds)                                              \
    GT_INLINE void name(gt_acc *sums, const unsigned *f, unsigned long long desc_y) {      \
        unsigned long long unused = 0; /* so that sums have the numbers that they have */  \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #n GT_WGMMA_KIND_##x(y)           \
                     " {" GT_SUM_NAMES_##n "}, " GT_ACROSS_##n ", %0, " #adds              \
                     GT_WGMMA_ENDS_##x(0, 0) ";"                                           \
                     : "+l"(desc_y), "+l"(unused), GT_SUMS_##n                             \
                     : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]));                        \
    }
#define GT_ACROSS_WGMMA(name, n, x, y)       GT_ACROSS_WGMMA_(name, n, x, y, 1)
#define GT_ACROSS_WGMMA_FRESH(name, n, x, y) GT_ACROSS_WGMMA_(name, n, x, y, 0)

/* The fragment's operands follow the sums. */
#define GT_ACROSS_8 "{%6, %7, %8, %9}"
#define GT_ACROSS_16 "{%10, %11, %12, %13}"
#define GT_ACROSS_24 "{%14, %15, %16, %17}"
#define GT_ACROSS_32 "{%18, %19, %20, %21}"
#define GT_ACROSS_48 "{%26, %27, %28, %29}"
#define GT_ACROSS_64 "{%34, %35, %36, %37}"
#define GT_ACROSS_80 "{%42, %43, %44, %45}"
#define GT_ACROSS_96 "{%50, %51, %52, %53}"
#define GT_ACROSS_112 "{%58, %59, %60, %61}"
#define GT_ACROSS_128 "{%66, %67, %68, %69}"
#define GT_ACROSS_144 "{%74, %75, %76, %77}"
#define GT_ACROSS_160 "{%82, %83, %84, %85}"
#define GT_ACROSS_176 "{%90, %91, %92, %93}"
#define GT_ACROSS_192 "{%98, %99, %100, %101}"
#define GT_ACROSS_208 "{%106, %107, %108, %109}"
#define GT_ACROSS_224 "{%114, %115, %116, %117}"
#define GT_ACROSS_240 "{%122, %123, %124, %125}"
#define GT_ACROSS_256 "{%130, %131, %132, %133}"
#endif
