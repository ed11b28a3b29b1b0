/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragments.h - operands and sums of the tensor cores' instruction mma.sync (sm_75 and
 * later, on CUDA and on OpenCL that takes PTX), for elements of 1, 2 and 4 bytes.
 *
 * A line is a row of A or a column of B. A fragment is a block of 16 lines by 32 bytes of
 * k: four quarters of 8 lines by 16 bytes, a register of each lane for every quarter. Lane
 * 4 g + t holds bytes 4 t to 4 t + 3 of line g of each quarter:
 *
 *                    of A: k bytes 0-15   16-31     of B: k bytes 0-15   16-31
 *     lines 0-7                f[0]       f[2]                f[0]       f[1]
 *     lines 8-15               f[1]       f[3]                f[2]       f[3]
 *
 * A slab in shared memory has rows as they lie in memory: contiguous along k (`along`), or
 * along the lines. `length` is a row's length in bytes, a multiple of 16. The places of a
 * row's 16-byte chunks are XORed with bits of the row's number (gt_swizzle), so that lanes
 * that read together meet in no bank.
 *
 * ldmatrix transposes 2-byte elements on the way to registers. Of slabs of 1-byte elements
 * that are contiguous along the lines it loads pairs of neighbouring lines. The pairs are
 * parted in registers: lines 0-7 of such a fragment are the even ones of its block, lines
 * 8-15 the odd ones (gt_line_of). The order along k stays.
 */
#if !GT_OPENCL || GT_PTX
enum {
    GT_FRAGMENT_LINES = 16,
    GT_FRAGMENT_BYTES = 32, /* of k */
    /* 8-bit floats become f16, unless their own instruction may be used: it keeps fewer
     * bits of a sum than f32 has. */
    GT_FRAGMENT_WIDENED = GT_FLOAT && sizeof(gt_a) == 1 && !GT_FAST,
    GT_FRAGMENT_REGS = GT_FRAGMENT_WIDENED ? 8 : 4,
};

#define GT_FRAGMENT_MIXED(size, along) (!(along) && (size) == 1)

/* The line, in its block of 16, of number `line` in a fragment. */
GT_INLINE int gt_line_of(int size, int along, int line) {
    return GT_FRAGMENT_MIXED(size, along) ? line % 8 * 2 + line / 8 : line;
}

/* ---- slabs in shared memory ---- */

/* The place of row `row` of a slab. In slabs of 1-byte elements with a row for every k, the
 * rows 0 1 4 5 8 9 12 13 of 16 go ahead of the others: two loads of 8 neighbouring rows
 * then give lane 4 g + t the k from 4 t to 4 t + 3. */
GT_INLINE int gt_slab_row(int size, int along, int row) {
    return size == 1 && !along
               ? row / 16 * 16 + row % 4 / 2 * 8 + row % 16 / 4 * 2 + row % 2
               : row;
}

/* The bytes of a row at place `row` are XORed with this. A row of 128 bytes has 8 chunks;
 * of shorter ones, several share the 128 bytes of all banks. */
GT_INLINE int gt_swizzle(int size, int along, int length, int row) {
    const int chunks = length % 128 == 0  ? 8
                       : length % 64 == 0 ? 4
                       : length % 32 == 0 ? 2
                                          : 1;
    const int apart = size == 4 && !along ? 2 : 1; /* 4 rows x 32 bytes are read together */
    return row / (8 / chunks) * apart % chunks * 16;
}

/* Where byte `byte` of row `row` lies. */
GT_INLINE int gt_slab_place(int size, int along, int length, int row, int byte) {
    const int place = gt_slab_row(size, along, row);
    return place * length + (byte ^ gt_swizzle(size, along, length, place));
}

/* ---- loads ---- */

/*
 * The place where a lane reads the fragment of the lines from `line` and of k from byte
 * `deep` on; see gt_fragment_at for what both are multiples of. Lanes 8 i to 8 i + 7
 * address the 8 rows of quarter i for ldmatrix; `upper` and `last` say which one it is.
 */
GT_INLINE int gt_fragment_place(int of_b, int size, int along, int length, int line,
                                int deep, int lane) {
    const int turned = of_b && !GT_FRAGMENT_MIXED(size, along);
    const int upper = turned ? lane / 16 : lane / 8 % 2;
    const int last = turned ? lane / 8 % 2 : lane / 16;
    const int row =
        along       ? line + upper * 8 + lane % 8
        : size == 1 ? deep + last * 16 + upper * 8 + lane % 8 /* two of k, the next two */
        : size == 2 ? deep / 2 + last * 8 + lane % 8
                    : deep / 4 + lane % 4;
    const int byte = along       ? deep + last * 16
                     : size == 1 ? line
                     : size == 2 ? (line + upper * 8) * 2
                                 : (line + lane / 4) * 4;
    return row * length + (byte ^ gt_swizzle(size, along, length, row));
}

/*
 * Where the lane reads the fragment that lies i blocks of 16 lines and q steps of 32 bytes
 * of k after the one at `place`. i and q are constants. The one that counts along a row is
 * XORed with the place. So i must be less than a power of two P, and the first line a
 * multiple of 16 P; q and 32 bytes of k likewise.
 */
GT_INLINE int gt_fragment_at(int size, int along, int length, int place, int i, int q) {
    const int deep = GT_FRAGMENT_BYTES / size, wide = GT_FRAGMENT_LINES;
    return along ? (place ^ q * GT_FRAGMENT_BYTES) + i * wide * length
                 : (place ^ i * wide * size) + q * deep * length;
}

GT_INLINE void gt_load_matrices(int transposed, unsigned *f, int address) {
    if (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                     "{%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
                     : "r"(address)
                     : "memory");
}

GT_INLINE unsigned gt_load_word(int address) {
    unsigned word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
    return word;
}

/* Two neighbouring 8-bit floats as f16, exactly: the lower (h 0) or the upper ones of x. */
GT_INLINE unsigned gt_widen_e4m3(unsigned x, int h) {
    unsigned pair = 0;
#if GT_ARCH >= 890
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"((unsigned short)(x >> 16 * h)));
#endif
    return pair;
}
GT_INLINE unsigned gt_widen_e5m2(unsigned x, int h) {
    return __byte_perm(x, 0, h ? 0x3424 : 0x1404);
}

/* The same elements of each quarter as f16: f[0] to f[3] have the lower two of four, f[4]
 * to f[7] the upper two. The order along k is another one, the same for A and B. */
#define GT_FRAGMENT_WIDEN(type, f)                                                         \
    {                                                                                      \
        GT_UNROLL                                                                          \
        for (int w = 0; w < 4; w++) {                                                      \
            (f)[4 + w] = GT_PASTE(gt_widen_, type)((f)[w], 1);                             \
            (f)[w] = GT_PASTE(gt_widen_, type)((f)[w], 0);                                 \
        }                                                                                  \
    }

/* Loads the fragment of numbers i and q of the slab at shared address `slab`. */
GT_INLINE void gt_fragment_load(int of_b, int size, int along, int length, unsigned *f,
                                int slab, int place, int i, int q) {
    const int at = slab + gt_fragment_at(size, along, length, place, i, q);
    if (along || size == 2) {
        gt_load_matrices(!along, f, at);
    } else if (size == 1) { /* a register has two of k of each of two neighbouring lines */
        unsigned pairs[4];
        gt_load_matrices(1, pairs, at);
        GT_UNROLL
        for (int last = 0; last < 2; last++) {
            const unsigned x = pairs[2 * last], y = pairs[2 * last + 1];
            f[of_b ? last : 2 * last] = __byte_perm(x, y, 0x6420);
            f[of_b ? 2 + last : 2 * last + 1] = __byte_perm(x, y, 0x7531);
        }
    } else { /* lines 8 to 15 lie 32 bytes after lines 0 to 7, the other k 4 rows */
        const int upper =
            slab + gt_fragment_at(size, along, length, place ^ 32, i, q);
        f[0] = gt_load_word(at);
        f[3] = gt_load_word(upper + 4 * length);
        f[of_b ? 2 : 1] = gt_load_word(upper);
        f[of_b ? 1 : 2] = gt_load_word(at + 4 * length);
    }
#if GT_FLOAT && GT_SIZEOF_A == 1
    if (GT_FRAGMENT_WIDENED && of_b)
        GT_FRAGMENT_WIDEN(GT_TYPE_B, f)
    else if (GT_FRAGMENT_WIDENED)
        GT_FRAGMENT_WIDEN(GT_TYPE_A, f)
#endif
}

/* ---- products ---- */

#if GT_SIZEOF_ACC == 4 && GT_NUMBER(GT_TYPE_A) != GT_NUMBER_i32

#define GT_MMA_WORD_f16 "f16"
#define GT_MMA_WORD_bf16 "bf16"
#define GT_MMA_WORD_f32 "tf32" /* the lower 13 bits have no effect */
#define GT_MMA_WORD_i8 "s8"
#define GT_MMA_WORD_e4m3 "e4m3"
#define GT_MMA_WORD_e5m2 "e5m2"
#define GT_MMA_TYPES                                                                       \
    GT_PASTE(GT_MMA_WORD_, GT_TYPE_A) "." GT_PASTE(GT_MMA_WORD_, GT_TYPE_B)

#if GT_FLOAT
#define GT_MMA_NAME(shape, types) "mma.sync.aligned." shape ".row.col.f32." types ".f32 "
#define GT_MMA_SUM "+f"
#else
#define GT_MMA_NAME(shape, types) "mma.sync.aligned." shape ".row.col.s32." types ".s32 "
#define GT_MMA_SUM "+r"
#endif

/* FULL: 16 x 8 sums, 32 bytes of k. HALF: 16 bytes of k. QUARTER: 8 x 8 sums as well. */
#define GT_MMA_FULL(shape, types, c, a, b0, b1)                                            \
    asm(GT_MMA_NAME(shape, types)                                                          \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                  \
        : GT_MMA_SUM((c)[0]), GT_MMA_SUM((c)[1]), GT_MMA_SUM((c)[2]), GT_MMA_SUM((c)[3])   \
        : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))
#define GT_MMA_HALF(shape, types, c, a0, a1, b)                                            \
    asm(GT_MMA_NAME(shape, types)                                                          \
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                              \
        : GT_MMA_SUM((c)[0]), GT_MMA_SUM((c)[1]), GT_MMA_SUM((c)[2]), GT_MMA_SUM((c)[3])   \
        : "r"(a0), "r"(a1), "r"(b))
#define GT_MMA_QUARTER(shape, types, c0, c1, a, b)                                         \
    asm(GT_MMA_NAME(shape, types) "{%0, %1}, {%2}, {%3}, {%0, %1};"                        \
        : GT_MMA_SUM(c0), GT_MMA_SUM(c1)                                                   \
        : "r"(a), "r"(b))

/*
 * c += a b for the 16 lines of fragment a and eight of fragment b: the lower (h 0) or the
 * upper (h 1) ones. A lane has c[0], c[1]: line g of A, lines 2 t and 2 t + 1 of B; c[2],
 * c[3]: line g + 8 of A.
 */
GT_INLINE void gt_mma(gt_acc *c, const unsigned *a, const unsigned *b, int h) {
    const unsigned b0 = b[2 * h], b1 = b[2 * h + 1];
#if GT_ARCH >= 800
    if (GT_FRAGMENT_WIDENED) {
        GT_MMA_FULL("m16n8k16", "f16.f16", c, a, b0, b1);
        GT_MMA_FULL("m16n8k16", "f16.f16", c, a + 4, b[4 + 2 * h], b[5 + 2 * h]);
    } else if (sizeof(gt_a) == 4)
        GT_MMA_FULL("m16n8k8", GT_MMA_TYPES, c, a, b0, b1);
    else if (sizeof(gt_a) == 2)
        GT_MMA_FULL("m16n8k16", GT_MMA_TYPES, c, a, b0, b1);
    else
        GT_MMA_FULL("m16n8k32", GT_MMA_TYPES, c, a, b0, b1);
#else
    if (sizeof(gt_a) == 2) {
        GT_MMA_HALF("m16n8k8", GT_MMA_TYPES, c, a[0], a[1], b0);
        GT_MMA_HALF("m16n8k8", GT_MMA_TYPES, c, a[2], a[3], b1);
    } else {
        GT_MMA_QUARTER("m8n8k16", GT_MMA_TYPES, c[0], c[1], a[0], b0);
        GT_MMA_QUARTER("m8n8k16", GT_MMA_TYPES, c[0], c[1], a[2], b1);
        GT_MMA_QUARTER("m8n8k16", GT_MMA_TYPES, c[2], c[3], a[1], b0);
        GT_MMA_QUARTER("m8n8k16", GT_MMA_TYPES, c[2], c[3], a[3], b1);
    }
#endif
}
#endif

#endif
