/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - copies of slabs of any type from global to shared memory, by bytes (CUDA, and
 * OpenCL that takes PTX).
 *
 * A copy moves `wide` bytes: 4, 8 or 16, a constant. Memory is aligned to `align` bytes, a
 * constant too: to `wide` or, when wide is 4, only to an element of `size` bytes.
 *
 * - From sm_80 on, aligned copies run beside the arithmetic. gt_bytes_start starts one,
 *   GT_BYTES_COMMIT() closes a group of them, and GT_BYTES_WAIT(n) waits until at most the
 *   n newest groups of this thread are unfinished.
 * - Other copies go through registers (gt_bytes_held is not 0): gt_bytes_start loads to
 *   them, and gt_bytes_end stores them, after some arithmetic.
 *
 * `there` bytes of a copy exist, 0 to `wide`; the others become 0. Memory that does not
 * exist is not read.
 */
#if !GT_OPENCL || GT_PTX
#if GT_ARCH >= 800
#define GT_BYTES_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define GT_BYTES_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#else
#define GT_BYTES_COMMIT()
#define GT_BYTES_WAIT(n)
#endif

/* Registers that hold a copy under way. GT_WORDS_2 and GT_WORDS_4 are words that move
 * together; GT_MAKE_2 and GT_MAKE_4 stand before their braces. */
#if GT_OPENCL
#define gt_bytes_held(wide, align, size) \
    ((align) < (wide) ? (wide) / (size) : GT_ARCH < 800 ? (wide) / 4 : 0)
#define GT_WORDS_2 uint2
#define GT_WORDS_4 uint4
#define GT_MAKE_2 (uint2)
#define GT_MAKE_4 (uint4)
#else
GT_INLINE constexpr int gt_bytes_held(int wide, int align, int size) {
    return align < wide   ? wide / size
           : GT_ARCH < 800 ? wide / 4
                           : 0;
}

struct __align__(8) gt_words_2 {
    unsigned x, y;
};
struct __align__(16) gt_words_4 {
    unsigned x, y, z, w;
};
#define GT_WORDS_2 struct gt_words_2
#define GT_WORDS_4 struct gt_words_4
#define GT_MAKE_2
#define GT_MAKE_4
#define gt_store_words_global gt_store_words
#endif

/* Four bytes from the elements at `from`. */
GT_INLINE unsigned gt_word_of(int size, const GT_GLOBAL char *from, int there) {
    unsigned word = 0;
    GT_UNROLL
    for (int e = 0; e < 4 / size; e++)
        if (e * size < there)
            word |= size == 1   ? (unsigned)(unsigned char)from[e] << 8 * e
                    : size == 2 ? (unsigned)((const GT_GLOBAL unsigned short *)from)[e]
                                      << 16 * e
                                : *(const GT_GLOBAL unsigned *)from;
    return word;
}

GT_INLINE void gt_load_words(int wide, int size, unsigned *to, const GT_GLOBAL char *from,
                             int there) {
    if (there < wide) {
        GT_UNROLL
        for (int w = 0; w < wide / 4; w++)
            to[w] = gt_word_of(size, from + 4 * w, there - 4 * w);
    } else if (wide == 16) {
        const GT_WORDS_4 x = *(const GT_GLOBAL GT_WORDS_4 *)from;
        to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    } else if (wide == 8) {
        const GT_WORDS_2 x = *(const GT_GLOBAL GT_WORDS_2 *)from;
        to[0] = x.x, to[1] = x.y;
    } else {
        to[0] = *(const GT_GLOBAL unsigned *)from;
    }
}

#define GT_STORE_WORDS(name, space)                                                        \
    GT_INLINE void name(int wide, space char *to, const unsigned *from) {                  \
        if (wide == 16)                                                                    \
            *(GT_WORDS_4 space *)to = GT_MAKE_4{from[0], from[1], from[2], from[3]};       \
        else if (wide == 8)                                                                \
            *(GT_WORDS_2 space *)to = GT_MAKE_2{from[0], from[1]};                         \
        else                                                                               \
            *(unsigned space *)to = from[0];                                               \
    }
GT_STORE_WORDS(gt_store_words, GT_SHARED)
#if GT_OPENCL
GT_STORE_WORDS(gt_store_words_global, GT_GLOBAL)
#endif

#if GT_ARCH >= 800
#define GT_BYTES_COPY_(how, bytes, to, from, there)                                        \
    asm volatile("cp.async." how ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"(to),   \
                 "l"(from), "r"(there)                                                     \
                 : "memory")
GT_INLINE void gt_bytes_copy(int wide, GT_SHARED char *shared, const GT_GLOBAL char *from,
                             int there) {
    const int to = gt_shared_address(shared);
    if (wide == 16)
        GT_BYTES_COPY_("cg", 16, to, from, there);
    else if (wide == 8)
        GT_BYTES_COPY_("ca", 8, to, from, there);
    else
        GT_BYTES_COPY_("ca", 4, to, from, there);
}
#else
GT_INLINE void gt_bytes_copy(int wide, GT_SHARED char *shared, const GT_GLOBAL char *from,
                             int there) {}
#endif

GT_INLINE void gt_bytes_start(int wide, int align, int size, unsigned *held,
                              GT_SHARED char *to,
                              const GT_GLOBAL char *from, int there) {
    if (gt_bytes_held(wide, align, size) == 0) {
        gt_bytes_copy(wide, to, from, there);
    } else if (align >= wide) {
        gt_load_words(wide, size, held, from, there);
    } else { /* an element a register: together only when all have come */
        GT_UNROLL
        for (int e = 0; e < wide / size; e++)
            held[e] = gt_word_of(size, from + e * size, GT_MIN(there - e * size, size));
    }
}

GT_INLINE void gt_bytes_end(int wide, int align, int size, GT_SHARED char *to,
                            const unsigned *held) {
    if (align >= wide) {
        gt_store_words(wide, to, held);
    } else {
        unsigned word = 0;
        GT_UNROLL
        for (int e = 0; e < wide / size; e++)
            word |= held[e] << 8 * size * e;
        gt_store_words(wide, to, &word);
    }
}

#endif
