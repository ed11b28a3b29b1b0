/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpgroups.h - products of tiles in shared memory by the tensor cores of sm_90. A
 * warpgroup is 128 threads, warps 4 i to 4 i + 3. It starts an instruction together and
 * waits for it later.
 * PTX ISA, "Asynchronous warpgroup level matrix instructions".
 *
 * An instruction multiplies 64 rows of X by n columns of Y, 32 bytes of k deep. X and Y lie
 * in shared memory as boxes of 128, 64 or 32 bytes a row that were copied with a swizzle of
 * that span. An operand is either contiguous along k, or, for elements of 2 bytes, along
 * its width. A descriptor says where it begins:
 *
 *     gt_wgmma_along_k(at)               rows of 128 bytes of k, 8 rows in 1024 bytes.
 *                                        32 bytes of k further: + 2
 *     gt_wgmma_along_width(at, span, k)  boxes of `span` bytes of width x `k` rows, one
 *                                        after another. 16 rows of k further: + span
 *
 * Descriptors count in units of 16 bytes.
 *
 * Lane l of warp w of the warpgroup holds n / 2 sums of the 64 x n: element 4 j + 2 h + e
 * is that of row 16 w + l / 4 + 8 h, column 8 j + 2 (l % 4) + e.
 */
#if !GT_OPENCL && __CUDA_ARCH__ == 900
GT_INLINE unsigned long long gt_wgmma_tile(int at, int lead, int stride, int span) {
    const int code = span == 128 ? 1 : span == 64 ? 2 : 3;
    return (unsigned long long)((at & 0x3ffff) >> 4) |
           (unsigned long long)(lead >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 |
           (unsigned long long)code << 62;
}

/* The lead is not used there. */
GT_INLINE unsigned long long gt_wgmma_along_k(int at) {
    return gt_wgmma_tile(at, 16, 1024, 128);
}

GT_INLINE unsigned long long gt_wgmma_along_width(int at, int span, int k) {
    return gt_wgmma_tile(at, k * span, 8 * span, span);
}

/* Before the first instruction after registers were written. */
GT_INLINE void gt_wgmma_fence(void) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* Closes a batch of instructions. */
GT_INLINE void gt_wgmma_commit(void) {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most the `n` newest batches are unfinished. */
#define GT_WGMMA_WAIT(n) \
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")

/* A sum: a gt_acc, or an int in a family of f64, which multiplies bytes. */
#if GT_SIZEOF_ACC == 4
typedef gt_acc gt_wgmma_sum;
#else
typedef int gt_wgmma_sum;
#endif
#if GT_FLOAT && GT_SIZEOF_ACC == 4
#define GT_SUM_ "+f"
#define GT_SUM_IN "f"
#else
#define GT_SUM_ "+r"
#define GT_SUM_IN "r"
#endif

/* Keeps the compiler from moving uses of sums across this place. */
GT_INLINE void gt_wgmma_hold(int count, gt_wgmma_sum *sums) {
    GT_UNROLL
    for (int i = 0; i < count; i++)
        asm volatile("" : GT_SUM_(sums[i])::"memory");
}

/*
 * GT_WGMMA(name, n, x, y, across_x, across_y) defines
 *
 *     void name(gt_wgmma_sum *sums, unsigned long long x, unsigned long long y)
 *
 * which starts sums += X Y. n, the types x and y (f16 .. i8, or u8 for unsigned bytes), and
 * across_x and across_y (1: contiguous along the width) are macros or words.
 * GT_WGMMA_FRESH(...) defines the same for sums = X Y.
 */
#define GT_WGMMA_KIND_f16(y) "k16.f32.f16." #y
#define GT_WGMMA_KIND_bf16(y) "k16.f32.bf16." #y
#define GT_WGMMA_KIND_f32(y) "k8.f32.tf32.tf32"
#define GT_WGMMA_KIND_e4m3(y) "k32.f32.e4m3." #y
#define GT_WGMMA_KIND_e5m2(y) "k32.f32.e5m2." #y
#define GT_WGMMA_KIND_i8(y) "k32.s32.s8.s8"
#define GT_WGMMA_KIND_u8(y) "k32.s32.u8.u8"

/* The immediates: signs of the operands, then transpositions. */
#define GT_WGMMA_ENDS_f16(across_x, across_y) ", 1, 1, " #across_x ", " #across_y
#define GT_WGMMA_ENDS_bf16(across_x, across_y) ", 1, 1, " #across_x ", " #across_y
#define GT_WGMMA_ENDS_f32(across_x, across_y) ", 1, 1"
#define GT_WGMMA_ENDS_e4m3(across_x, across_y) ", 1, 1"
#define GT_WGMMA_ENDS_e5m2(across_x, across_y) ", 1, 1"
#define GT_WGMMA_ENDS_i8(across_x, across_y) ""
#define GT_WGMMA_ENDS_u8(across_x, across_y) ""

/* The descriptors come first among the operands, so that their numbers do not depend on n.
 * No instruction writes them. */
#define GT_WGMMA_(name, n, x, y, across_x, across_y, adds)                                 \
    GT_INLINE void name(gt_wgmma_sum *sums, unsigned long long desc_x,                     \
                        unsigned long long desc_y) {                                       \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #n GT_WGMMA_KIND_##x(y)           \
                     " {" GT_SUM_NAMES_##n "}, %0, %1, " #adds                             \
                     GT_WGMMA_ENDS_##x(across_x, across_y) ";"                             \
                     : "+l"(desc_x), "+l"(desc_y), GT_SUMS_##n);                           \
    }
#define GT_WGMMA(name, n, x, y, across_x, across_y) \
    GT_WGMMA_(name, n, x, y, across_x, across_y, 1)
#define GT_WGMMA_FRESH(name, n, x, y, across_x, across_y) \
    GT_WGMMA_(name, n, x, y, across_x, across_y, 0)

#define GT_SUM_NAMES_8 "%2,%3,%4,%5"
#define GT_SUM_NAMES_16 GT_SUM_NAMES_8 ",%6,%7,%8,%9"
#define GT_SUM_NAMES_24 GT_SUM_NAMES_16 ",%10,%11,%12,%13"
#define GT_SUM_NAMES_32 GT_SUM_NAMES_24 ",%14,%15,%16,%17"
#define GT_SUM_NAMES_48 GT_SUM_NAMES_32 ",%18,%19,%20,%21,%22,%23,%24,%25"
#define GT_SUM_NAMES_64 GT_SUM_NAMES_48 ",%26,%27,%28,%29,%30,%31,%32,%33"
#define GT_SUM_NAMES_80 GT_SUM_NAMES_64 ",%34,%35,%36,%37,%38,%39,%40,%41"
#define GT_SUM_NAMES_96 GT_SUM_NAMES_80 ",%42,%43,%44,%45,%46,%47,%48,%49"
#define GT_SUM_NAMES_112 GT_SUM_NAMES_96 ",%50,%51,%52,%53,%54,%55,%56,%57"
#define GT_SUM_NAMES_128 GT_SUM_NAMES_112 ",%58,%59,%60,%61,%62,%63,%64,%65"
#define GT_SUM_NAMES_144 GT_SUM_NAMES_128 ",%66,%67,%68,%69,%70,%71,%72,%73"
#define GT_SUM_NAMES_160 GT_SUM_NAMES_144 ",%74,%75,%76,%77,%78,%79,%80,%81"
#define GT_SUM_NAMES_176 GT_SUM_NAMES_160 ",%82,%83,%84,%85,%86,%87,%88,%89"
#define GT_SUM_NAMES_192 GT_SUM_NAMES_176 ",%90,%91,%92,%93,%94,%95,%96,%97"
#define GT_SUM_NAMES_208 GT_SUM_NAMES_192 ",%98,%99,%100,%101,%102,%103,%104,%105"
#define GT_SUM_NAMES_224 GT_SUM_NAMES_208 ",%106,%107,%108,%109,%110,%111,%112,%113"
#define GT_SUM_NAMES_240 GT_SUM_NAMES_224 ",%114,%115,%116,%117,%118,%119,%120,%121"
#define GT_SUM_NAMES_256 GT_SUM_NAMES_240 ",%122,%123,%124,%125,%126,%127,%128,%129"

#define GT_SUMS_4_(i) \
    GT_SUM_(sums[i]), GT_SUM_(sums[i + 1]), GT_SUM_(sums[i + 2]), GT_SUM_(sums[i + 3])
#define GT_SUMS_8 GT_SUMS_4_(0)
#define GT_SUMS_16 GT_SUMS_8, GT_SUMS_4_(4)
#define GT_SUMS_24 GT_SUMS_16, GT_SUMS_4_(8)
#define GT_SUMS_32 GT_SUMS_24, GT_SUMS_4_(12)
#define GT_SUMS_48 GT_SUMS_32, GT_SUMS_4_(16), GT_SUMS_4_(20)
#define GT_SUMS_64 GT_SUMS_48, GT_SUMS_4_(24), GT_SUMS_4_(28)
#define GT_SUMS_80 GT_SUMS_64, GT_SUMS_4_(32), GT_SUMS_4_(36)
#define GT_SUMS_96 GT_SUMS_80, GT_SUMS_4_(40), GT_SUMS_4_(44)
#define GT_SUMS_112 GT_SUMS_96, GT_SUMS_4_(48), GT_SUMS_4_(52)
#define GT_SUMS_128 GT_SUMS_112, GT_SUMS_4_(56), GT_SUMS_4_(60)
#define GT_SUMS_144 GT_SUMS_128, GT_SUMS_4_(64), GT_SUMS_4_(68)
#define GT_SUMS_160 GT_SUMS_144, GT_SUMS_4_(72), GT_SUMS_4_(76)
#define GT_SUMS_176 GT_SUMS_160, GT_SUMS_4_(80), GT_SUMS_4_(84)
#define GT_SUMS_192 GT_SUMS_176, GT_SUMS_4_(88), GT_SUMS_4_(92)
#define GT_SUMS_208 GT_SUMS_192, GT_SUMS_4_(96), GT_SUMS_4_(100)
#define GT_SUMS_224 GT_SUMS_208, GT_SUMS_4_(104), GT_SUMS_4_(108)
#define GT_SUMS_240 GT_SUMS_224, GT_SUMS_4_(112), GT_SUMS_4_(116)
#define GT_SUMS_256 GT_SUMS_240, GT_SUMS_4_(120), GT_SUMS_4_(124)
#endif
