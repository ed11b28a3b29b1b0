/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dots.h - sums of four products of signed bytes, the bytes of two words of 32 bits. One
 * instruction computes such a sum on CUDA from sm_61 on (dp4a), and on OpenCL devices with
 * cl_khr_integer_dot_product. The name DOT4 of space.json says that the device has it.
 * Elsewhere the sum is plain C, which is right and slow.
 *
 * Four elements of one row of A, or of one column of B, that follow one another along k are
 * such a word. Memory gives words where it is contiguous along k. Where it is contiguous
 * along the width, gt_dot_turn makes words of four words of the width.
 */

/* acc + x[0] y[0] + x[1] y[1] + x[2] y[2] + x[3] y[3], modulo 2^32. */
GT_INLINE gt_i32 gt_dot4(gt_i32 x, gt_i32 y, gt_i32 acc) {
#if !GT_OPENCL && __CUDA_ARCH__ >= 610
    return (gt_i32)__dp4a((int)x, (int)y, (int)acc);
#elif GT_OPENCL && GT_PTX >= 61
    gt_i32 sum;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(x), "r"(y), "r"(acc));
    return sum;
#elif GT_OPENCL && GT_DOT4
    return acc + (gt_i32)dot_4x8packed_ss_int(x, y);
#else
    GT_UNROLL
    for (int i = 0; i < 32; i += 8)
        acc += (gt_i32)((int)(gt_i8)(x >> i) * (int)(gt_i8)(y >> i));
    return acc;
#endif
}

/* Byte j of word i becomes byte i of word j. */
GT_INLINE void gt_dot_turn(gt_i32 *words) {
    const gt_i32 low = 0x00ff00ffu;
    const gt_i32 a = (words[0] & low) | (words[1] & low) << 8;
    const gt_i32 b = (words[0] >> 8 & low) | (words[1] & ~low);
    const gt_i32 c = (words[2] & low) | (words[3] & low) << 8;
    const gt_i32 d = (words[2] >> 8 & low) | (words[3] & ~low);
    words[0] = (a & 0xffffu) | c << 16;
    words[1] = (b & 0xffffu) | d << 16;
    words[2] = a >> 16 | (c & 0xffff0000u);
    words[3] = b >> 16 | (d & 0xffff0000u);
}

/* The word of the four bytes at `from`, `step` bytes apart. Only `there` of them exist; the
 * others are 0. */
GT_INLINE gt_i32 gt_dot_word(const GT_GLOBAL gt_i8 *from, gt_long step, int there) {
    gt_i32 word = 0;
    GT_UNROLL
    for (int i = 0; i < 4; i++)
        if (i < there)
            word |= (gt_i32)(from[i * step] & 255) << 8 * i;
    return word;
}
