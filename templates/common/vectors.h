/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.h - moves of several neighbouring elements, at most 16 bytes an instruction.
 *
 * gt_ab is an element of A or of B as stored: vectors need the same size in both. gt_from_a
 * and gt_from_b convert it.
 *
 *     gt_load_global(width, to, from)      elements of A or B, from the matrix
 *     gt_load_shared(width, to, from)      the same from shared memory
 *     gt_store_global, gt_store_shared     back
 *     ..._acc                              all four for gt_acc: sums
 *     gt_load_global_c, gt_store_global_c  elements of C as stored
 *
 * `width` is 1, 2 or 4, a constant; for elements of 1 or 2 bytes also 8 or 16. One of `to`
 * and `from` is an array of registers. Memory must be aligned to the whole vector or to 16
 * bytes, whichever is less. The branches vanish at compile time.
 */
GT_STATIC_ASSERT(sizeof(gt_a) == sizeof(gt_b), vectors_need_one_size);
typedef gt_a gt_ab;

/* GT_VECTOR_OF(GT_TYPE_A, 4): four elements of that type. */
#if GT_OPENCL
#define GT_VECTOR_OF(type, n) GT_PASTE(GT_PASTE(GT_WORD_, type), n)
#else
#define GT_VECTOR_OF(type, n) GT_PASTE(GT_PASTE(gt_, type), GT_PASTE(x, n))
#define GT_VECTORS_(type, bytes)                                                           \
    struct __align__(2 * bytes) type##x2 {                                                 \
        type x, y;                                                                         \
    };                                                                                     \
    struct __align__(bytes < 4 ? 4 * bytes : 16) type##x4 {                                \
        type x, y, z, w;                                                                   \
    };
GT_VECTORS_(gt_f32, 4)
#if GT_FLOAT && GT_SIZEOF_ACC == 8
GT_VECTORS_(gt_f64, 8)
#endif
GT_VECTORS_(gt_i32, 4)
GT_VECTORS_(gt_f16, 2)
GT_VECTORS_(gt_bf16, 2)
GT_VECTORS_(gt_e4m3, 1)
GT_VECTORS_(gt_e5m2, 1)
GT_VECTORS_(gt_i8, 1)
#endif

#define GT_MOVERS_(name, space, elem, two, four)                                           \
    GT_INLINE void gt_load_##name(int width, elem *to, const space elem *from)             \
    {                                                                                      \
        if (width == 1) {                                                                  \
            to[0] = from[0];                                                               \
        } else if (width == 2 || sizeof(elem) == 8) {                                      \
            two u = *(const space two *)from;                                              \
            to[0] = u.x, to[1] = u.y;                                                      \
            if (width == 4) {                                                              \
                two v = *(const space two *)(from + 2);                                    \
                to[2] = v.x, to[3] = v.y;                                                  \
            }                                                                              \
        } else {                                                                           \
            four u = *(const space four *)from;                                            \
            to[0] = u.x, to[1] = u.y, to[2] = u.z, to[3] = u.w;                            \
        }                                                                                  \
    }                                                                                      \
    GT_INLINE void gt_store_##name(int width, space elem *to, const elem *from)            \
    {                                                                                      \
        if (width == 1) {                                                                  \
            to[0] = from[0];                                                               \
        } else if (width == 2 || sizeof(elem) == 8) {                                      \
            two u;                                                                         \
            u.x = from[0], u.y = from[1];                                                  \
            *(space two *)to = u;                                                          \
            if (width == 4) {                                                              \
                u.x = from[2], u.y = from[3];                                              \
                *(space two *)(to + 2) = u;                                                \
            }                                                                              \
        } else {                                                                           \
            four u;                                                                        \
            u.x = from[0], u.y = from[1], u.z = from[2], u.w = from[3];                    \
            *(space four *)to = u;                                                         \
        }                                                                                  \
    }
#define GT_MOVERS(name, space, type)                                                       \
    GT_MOVERS_(name, space, GT_PASTE(gt_, type), GT_VECTOR_OF(type, 2),                    \
               GT_VECTOR_OF(type, 4))

/* The elements of a 32-bit word, from to[at] on, and back. */
#define GT_UNPACK_(elem, to, at, word)                                                     \
    GT_UNROLL                                                                              \
    for (int e = 0; e < 4 / (int)sizeof(elem); e++)                                        \
        (to)[(at) + e] = (elem)((word) >> (8 * (int)sizeof(elem) * e));
#define GT_PACK_(elem, word, from, at)                                                     \
    word = 0;                                                                              \
    GT_UNROLL                                                                              \
    for (int e = 0; e < 4 / (int)sizeof(elem); e++)                                        \
        word |= ((gt_i32)(from)[(at) + e] & (sizeof(elem) == 1 ? 255u : 65535u))           \
                << (8 * (int)sizeof(elem) * e);

/* Moves of 8 and 16 elements of 1 or 2 bytes, as words of 32 bits; `few` has the others. */
#define GT_NARROW_MOVERS_(name, few, space, elem, two, four)                               \
    GT_INLINE void gt_load_##name(int width, elem *to, const space elem *from)             \
    {                                                                                      \
        enum { EACH = 4 / sizeof(elem) };                                                  \
        if (width <= 4) {                                                                  \
            gt_load_##few(width, to, from);                                                \
        } else if (width == 2 * EACH) {                                                    \
            two u = *(const space two *)from;                                              \
            GT_UNPACK_(elem, to, 0, u.x)                                                   \
            GT_UNPACK_(elem, to, EACH, u.y)                                                \
        } else {                                                                           \
            GT_UNROLL                                                                      \
            for (int i = 0; i < width; i += 4 * EACH) {                                    \
                four u = *(const space four *)(from + i);                                  \
                GT_UNPACK_(elem, to, i, u.x)                                               \
                GT_UNPACK_(elem, to, i + EACH, u.y)                                        \
                GT_UNPACK_(elem, to, i + 2 * EACH, u.z)                                    \
                GT_UNPACK_(elem, to, i + 3 * EACH, u.w)                                    \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    GT_INLINE void gt_store_##name(int width, space elem *to, const elem *from)            \
    {                                                                                      \
        enum { EACH = 4 / sizeof(elem) };                                                  \
        if (width <= 4) {                                                                  \
            gt_store_##few(width, to, from);                                               \
        } else if (width == 2 * EACH) {                                                    \
            two u;                                                                         \
            GT_PACK_(elem, u.x, from, 0)                                                   \
            GT_PACK_(elem, u.y, from, EACH)                                                \
            *(space two *)to = u;                                                          \
        } else {                                                                           \
            GT_UNROLL                                                                      \
            for (int i = 0; i < width; i += 4 * EACH) {                                    \
                four u;                                                                    \
                GT_PACK_(elem, u.x, from, i)                                               \
                GT_PACK_(elem, u.y, from, i + EACH)                                        \
                GT_PACK_(elem, u.z, from, i + 2 * EACH)                                    \
                GT_PACK_(elem, u.w, from, i + 3 * EACH)                                    \
                *(space four *)(to + i) = u;                                               \
            }                                                                              \
        }                                                                                  \
    }
#define GT_NARROW_MOVERS(name, few, space)                                                 \
    GT_NARROW_MOVERS_(name, few, space, gt_ab, GT_VECTOR_OF(i32, 2), GT_VECTOR_OF(i32, 4))

#if GT_SIZEOF_A < 4
GT_MOVERS(few_global, GT_GLOBAL, GT_TYPE_A)
GT_MOVERS(few_shared, GT_SHARED, GT_TYPE_A)
GT_NARROW_MOVERS(global, few_global, GT_GLOBAL)
GT_NARROW_MOVERS(shared, few_shared, GT_SHARED)
#else
GT_MOVERS(global, GT_GLOBAL, GT_TYPE_A)
GT_MOVERS(shared, GT_SHARED, GT_TYPE_A)
#endif
GT_MOVERS(global_acc, GT_GLOBAL, GT_TYPE_ACC)
GT_MOVERS(shared_acc, GT_SHARED, GT_TYPE_ACC)
GT_MOVERS(global_c, GT_GLOBAL, GT_TYPE_C)

/* gt_aligned(width, p, ld): whether vectors of `width` elements can be moved from or to
 * rows that begin at p and are ld elements apart. */
GT_INLINE int gt_places_aligned(int width, int size, gt_long p, gt_long ld) {
    const int bytes = GT_MIN(16, width * size);
    const gt_long places = p | (ld * size);
    return width == 1 || (places & (bytes - 1)) == 0;
}
#define gt_aligned(width, p, ld)                                                           \
    gt_places_aligned(width, (int)sizeof(*(p)), (gt_long)(p), ld)

/*
 * gt_store_c for several elements of one row of C. gt_load_c fetches all of them before
 * gt_store_row writes any. `inside`: all elements exist and are aligned to `width`.
 * Otherwise only elements of [first, end) are touched, one by one. An element that is not
 * read counts as -0: fma(0, -0, x) is x for either sign of x.
 */
GT_INLINE void gt_load_c(int width, gt_c *old, const GT_GLOBAL gt_c *c, gt_acc beta,
                         int inside, int first, int end) {
    GT_UNROLL
    for (int j = 0; j < width; j++)
        old[j] = gt_to_c((gt_acc)-0.0f);
    if (inside) {
        if (GT_READS_C(beta))
            gt_load_global_c(width, old, c);
    } else {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            if (GT_READS_C(beta) && j >= first && j < end)
                old[j] = c[j];
    }
}

/* Overwrites `old` with the new elements before it stores them. */
GT_INLINE void gt_store_row(int width, GT_GLOBAL gt_c *c, gt_acc alpha, const gt_acc *acc,
                            gt_acc beta, gt_c *old, int inside, int first,
                            int end GT_PLACE_PARAMS) {
#if GT_EPILOGUE
    if (gt_i < 0) {
        /* Sums of a part, whose alpha is 1. A vector stored as it is would bind its sums to
         * neighbouring registers, which have one bank too often in the main loop. */
        GT_UNROLL
        for (int j = 0; j < width; j++)
            old[j] = gt_to_c(alpha * acc[j]);
    } else {
        struct gt_operands of[16]; /* all are on their way before the first is waited for */
        GT_UNROLL
        for (int j = 0; j < width; j++)
            if (inside || (j >= first && j < end)) /* others have no operands */
                gt_fetch(&of[j] GT_PLACE(gt_i, gt_j + j));
        GT_UNROLL
        for (int j = 0; j < width; j++)
            if (inside || (j >= first && j < end))
                old[j] = gt_rounded(gt_result_of(1, alpha, acc[j], beta, old[j],
                                                 of[j] GT_PLACE(gt_i, gt_j + j)));
    }
#else
    GT_UNROLL
    for (int j = 0; j < width; j++)
        old[j] = gt_to_c(gt_fma(beta, gt_from_c(old[j]), alpha * acc[j]));
#endif
    if (inside) {
        gt_store_global_c(width, c, old);
    } else {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            if (j >= first && j < end)
                c[j] = old[j];
    }
}

/* A slab is the part of one operand that a block multiplies next: `wide` rows of A or
 * columns of B by `deep` of k. GT_SLAB_COUNT is how many vectors of v elements each of
 * `threads` threads moves of it, GT_SLAB_EVEN whether all threads move equally many. */
#define GT_SLAB_COUNT(wide, deep, v, threads) GT_CDIV((wide) * (deep), (threads) * (v))
#define GT_SLAB_EVEN(wide, deep, v, threads) ((wide) * (deep) % ((threads) * (v)) == 0)
