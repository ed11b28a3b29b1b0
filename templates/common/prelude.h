/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelude.h - what every kernel template is written in: one vocabulary over CUDA C++
 * (NVRTC) and OpenCL C 1.2. The text a compiler sees is
 *
 *     #define GT_DTYPE_F32 1          type, layout and device, and GT_<NAME> for every
 *     #define GT_BM 128               parameter and derived name: integers, all of them
 *     ...                             this file
 *     GT_STATIC_ASSERT(...);          the family's `require` rules
 *     #line 1 "block/block.cl"
 *     ...                             the template
 *
 * The compiler's own macros decide which dialect this is, so the same text may be given to
 * both. Nothing is included: a compile takes tenths of a second and needs no toolkit on
 * the machine.
 *
 * Names in capitals are macros, gt_ in small letters are types and functions. A parameter
 * must not be called as one of the macros here without its GT_ (MIN, MAX, CDIV, KERNEL,
 * GLOBAL ...).
 */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define GT_OPENCL 1
#else
#define GT_OPENCL 0
#endif

/* Integer arithmetic of the rules, as space.json spells it. Arguments are constants. */
#define GT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GT_MAX(a, b) ((a) > (b) ? (a) : (b))
#define GT_CDIV(a, b) (((a) + (b) - 1) / (b))

#define GT_PASTE_(a, b) a##b
#define GT_PASTE(a, b) GT_PASTE_(a, b)
#define GT_PRAGMA_(text) _Pragma(#text)
#define GT_PRAGMA(text) GT_PRAGMA_(text)

#if GT_OPENCL

#if GT_DTYPE_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#if defined(__clang__) /* PARAMETER == 1 && x is what templates are made of */
#pragma clang diagnostic ignored "-Wconstant-logical-operand"
#endif

/* A negative array size is the only assertion OpenCL C 1.2 has. `tag` is an identifier. */
#define GT_STATIC_ASSERT(cond, tag) typedef char GT_PASTE(gt_assert_, tag)[(cond) ? 1 : -1]

#define GT_GLOBAL __global /* pointers to the matrices */
#define GT_SHARED __local  /* pointers to the memory a block shares */
#define GT_RESTRICT restrict
/* Always: PoCL 3.1 and oclgrind lose __local memory where a function is truly called. */
#define GT_INLINE static inline __attribute__((always_inline))
/* A kernel of x * y threads a block; `minb` blocks shall fit a multiprocessor (CUDA). */
#define GT_KERNEL(name, x, y, minb) \
    __kernel __attribute__((reqd_work_group_size(x, y, 1))) void name
/* The block's shared memory, `count` elements, 16-byte aligned: one such line a kernel, and
 * `count * sizeof(gt_elem)` is what space.json's launch.smem says. */
#define GT_SHARED_ARRAY(name, count)                                                      \
    __local gt_elem name[count] __attribute__((aligned(16)))
#define GT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define GT_THREAD_X ((int)get_local_id(0))
#define GT_THREAD_Y ((int)get_local_id(1))
/* Grids have one dimension: only x may exceed 65535. */
#define GT_BLOCK ((int)get_group_id(0))

typedef long gt_long; /* 64 bits: everything that multiplies a row by a leading dimension */

#else /* CUDA */

#define GT_STATIC_ASSERT(cond, tag) static_assert((cond), #tag)

#define GT_GLOBAL
#define GT_SHARED
#define GT_RESTRICT __restrict__
#define GT_INLINE __device__ __forceinline__ /* static ones would warn when unused */
#define GT_KERNEL(name, x, y, minb) \
    extern "C" __global__ void __launch_bounds__((x) * (y), minb) name
#define GT_SHARED_ARRAY(name, count) extern __shared__ __align__(16) gt_elem name[]
#define GT_BARRIER() __syncthreads()
#define GT_THREAD_X ((int)threadIdx.x)
#define GT_THREAD_Y ((int)threadIdx.y)
#define GT_BLOCK ((int)blockIdx.x)

typedef long long gt_long;

#endif

/*
 * A point's kernels run one behind the other. From sm_90 on, with a driver of CUDA 12.3, and where
 * space.json says "overlap", each but the first may be launched before the one ahead of it has
 * ended (programmatic dependent launch): when all blocks of that one have ended or passed
 * GT_LEAD(yes). It waits at GT_FOLLOW() until that has ended and what it wrote can be read: the
 * first statement of every kernel of such a family, in all threads, since one that ended before
 * the one ahead of it would let the one behind begin too early.
 *
 * Whose blocks come early lie where there is room, so many of them on few multiprocessors:
 * GT_LEAD is for the end of a kernel that fills the device, or before a few small blocks.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
#define GT_FOLLOW() asm volatile("griddepcontrol.wait;" ::: "memory")
#define GT_LEAD(yes)                                                                       \
    do {                                                                                   \
        if (yes)                                                                           \
            asm volatile("griddepcontrol.launch_dependents;" ::: "memory");                \
    } while (0)
#else
#define GT_FOLLOW()
#define GT_LEAD(yes)
#endif

/* GT_CDIV of what may be near 2^31. */
GT_INLINE int gt_cdiv(int a, int b) {
    return a / b + (a % b != 0);
}

/* Ahead of a loop: unroll it wholly, or n times. Loops over register arrays must be
 * unrolled wholly, else the array lands in memory. */
#define GT_UNROLL GT_PRAGMA(unroll)
#define GT_UNROLL_BY(n) GT_PRAGMA(unroll n)

/*
 * Types. i32 is computed as unsigned: it wraps modulo 2^32, where signed overflow would be
 * undefined. gt_fma rounds once for floating-point types.
 */
#if GT_DTYPE_F32
typedef float gt_elem;
#if GT_OPENCL
typedef float2 gt_elem2;
typedef float4 gt_elem4;
#define gt_fma(a, b, c) fma((a), (b), (c))
#else
#define gt_fma(a, b, c) __fmaf_rn((a), (b), (c))
#endif
#elif GT_DTYPE_F64
typedef double gt_elem;
#if GT_OPENCL
typedef double2 gt_elem2;
#define gt_fma(a, b, c) fma((a), (b), (c))
#else
#define gt_fma(a, b, c) __fma_rn((a), (b), (c))
#endif
#elif GT_DTYPE_I32
typedef unsigned int gt_elem;
#if GT_OPENCL
typedef uint2 gt_elem2;
typedef uint4 gt_elem4;
#endif
#define gt_fma(a, b, c) ((a) * (b) + (c))
#else
#error "one of GT_DTYPE_F32, GT_DTYPE_F64, GT_DTYPE_I32 must be 1"
#endif

typedef gt_elem gt_acc; /* what products are summed in, and what alpha and beta are */

#if !GT_OPENCL
struct __align__(2 * GT_SIZEOF_A) gt_elem2 {
    gt_elem x, y;
};
#if !GT_DTYPE_F64
struct __align__(16) gt_elem4 {
    gt_elem x, y, z, w;
};
#endif
#endif

/*
 * gt_load_global(width, to, from), gt_load_shared, gt_store_shared, gt_store_global(width,
 * to, from): move `width` elements (1, 2 or 4, a constant) between memory and registers,
 * 16 bytes an instruction at most: four doubles are two moves. Memory must be aligned to
 * the smaller of 16 bytes and the whole. The branches vanish at compile time.
 */
#if GT_DTYPE_F64
#define GT_MOVERS_(name, space)                                                            \
    GT_INLINE void gt_load_##name(int width, gt_elem *to, const space gt_elem *from)       \
    {                                                                                      \
        if (width == 1) {                                                                  \
            to[0] = from[0];                                                               \
        } else {                                                                           \
            gt_elem2 u = *(const space gt_elem2 *)from;                                    \
            to[0] = u.x, to[1] = u.y;                                                      \
            if (width == 4) {                                                              \
                gt_elem2 v = *(const space gt_elem2 *)(from + 2);                          \
                to[2] = v.x, to[3] = v.y;                                                  \
            }                                                                              \
        }                                                                                  \
    }                                                                                      \
    GT_INLINE void gt_store_##name(int width, space gt_elem *to, const gt_elem *from)      \
    {                                                                                      \
        if (width == 1) {                                                                  \
            to[0] = from[0];                                                               \
        } else {                                                                           \
            gt_elem2 u;                                                                    \
            u.x = from[0], u.y = from[1];                                                  \
            *(space gt_elem2 *)to = u;                                                     \
            if (width == 4) {                                                              \
                u.x = from[2], u.y = from[3];                                              \
                *(space gt_elem2 *)(to + 2) = u;                                           \
            }                                                                              \
        }                                                                                  \
    }
#else
#define GT_MOVERS_(name, space)                                                            \
    GT_INLINE void gt_load_##name(int width, gt_elem *to, const space gt_elem *from)       \
    {                                                                                      \
        if (width == 1) {                                                                  \
            to[0] = from[0];                                                               \
        } else if (width == 2) {                                                           \
            gt_elem2 u = *(const space gt_elem2 *)from;                                    \
            to[0] = u.x, to[1] = u.y;                                                      \
        } else {                                                                           \
            gt_elem4 u = *(const space gt_elem4 *)from;                                    \
            to[0] = u.x, to[1] = u.y, to[2] = u.z, to[3] = u.w;                            \
        }                                                                                  \
    }                                                                                      \
    GT_INLINE void gt_store_##name(int width, space gt_elem *to, const gt_elem *from)      \
    {                                                                                      \
        if (width == 1) {                                                                  \
            to[0] = from[0];                                                               \
        } else if (width == 2) {                                                           \
            gt_elem2 u;                                                                    \
            u.x = from[0], u.y = from[1];                                                  \
            *(space gt_elem2 *)to = u;                                                     \
        } else {                                                                           \
            gt_elem4 u;                                                                    \
            u.x = from[0], u.y = from[1], u.z = from[2], u.w = from[3];                    \
            *(space gt_elem4 *)to = u;                                                     \
        }                                                                                  \
    }
#endif

#if GT_OPENCL
GT_MOVERS_(global, __global)
GT_MOVERS_(shared, __local)
#else
/* A CUDA pointer's type names no address space; the compiler infers it. */
GT_MOVERS_(global, )
GT_MOVERS_(shared, )
#endif

/* Whether vectors of `width` may be stored to rows that begin at p and are ld apart. */
GT_INLINE int gt_aligned(int width, const GT_GLOBAL gt_elem *p, gt_long ld) {
    const int bytes = GT_MIN(16, width * (int)sizeof(gt_elem));
    const gt_long places = (gt_long)p | (ld * (gt_long)sizeof(gt_elem));
    return width == 1 || (places & (bytes - 1)) == 0;
}

/* C = alpha * acc + beta * C. With beta 0, C is not read: NaN or nothing at all may
 * stand there. */
GT_INLINE void gt_store_c(GT_GLOBAL gt_elem *c, gt_elem alpha, gt_acc acc, gt_elem beta) {
    *c = beta == (gt_elem)0 ? alpha * acc : gt_fma(beta, *c, alpha * acc);
}

/*
 * The same for several elements of one row of C: gt_load_c fetches them all before
 * gt_store_row writes any. `inside`: all of them exist and are aligned to `width`;
 * otherwise only elements of [first, end) are touched, one by one. What is not read is -0:
 * fma(0, -0, x) is x, whatever its sign.
 */
GT_INLINE void gt_load_c(int width, gt_elem *old, const GT_GLOBAL gt_elem *c, gt_elem beta,
                         int inside, int first, int end) {
    GT_UNROLL
    for (int j = 0; j < width; j++)
        old[j] = (gt_elem)-0.0f;
    if (inside) {
        if (beta != (gt_elem)0)
            gt_load_global(width, old, c);
    } else {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            if (beta != (gt_elem)0 && j >= first && j < end)
                old[j] = c[j];
    }
}

GT_INLINE void gt_store_row(int width, GT_GLOBAL gt_elem *c, gt_elem alpha,
                            const gt_acc *acc, gt_elem beta, gt_elem *old, int inside,
                            int first, int end) {
    GT_UNROLL
    for (int j = 0; j < width; j++)
        old[j] = gt_fma(beta, old[j], alpha * acc[j]);
    if (inside) {
        gt_store_global(width, c, old);
    } else {
        GT_UNROLL
        for (int j = 0; j < width; j++)
            if (j >= first && j < end)
                c[j] = old[j];
    }
}

/*
 * A slab: the part of one operand that a block multiplies next, `wide` rows of A or
 * columns of B by `deep` of k. `threads` threads fetch it to registers in vectors of v,
 * thread t vectors t, t + threads, ..., and put it to shared memory with k outermost,
 * `stride` elements a k, where the values of one k are contiguous. The same for A and B:
 * what differs is whether memory is contiguous along k (`along`: A stored as is, B
 * transposed) or along the width.
 *
 * Everything but pointers, ld, left, depth and t is a constant.
 */
#define GT_SLAB_COUNT(wide, deep, v, threads) GT_CDIV((wide) * (deep), (threads) * (v))
#define GT_SLAB_EVEN(wide, deep, v, threads) ((wide) * (deep) % ((threads) * (v)) == 0)
/* Whether a thread's vectors all have one place along the width: one pointer serves. */
#define GT_SLAB_ONE(along, wide, v, threads) (!(along) && (threads) % ((wide) / (v)) == 0)

/* Where vector e lies in the slab, along the width and along k. */
GT_INLINE int gt_slab_w(int along, int wide, int deep, int v, int e) {
    return along ? e / (deep / v) : e % (wide / v) * v;
}

GT_INLINE int gt_slab_k(int along, int wide, int deep, int v, int e) {
    return along ? e % (deep / v) * v : e / (wide / v);
}

/* Aims at the vectors of the slab at x, of whose width `left` exist: past the edge, a
 * vector that does exist is fetched instead, so that the loop need not test. It is never
 * stored to C. */
GT_INLINE void gt_slab_aim(int along, int wide, int deep, int v, int threads,
                           const GT_GLOBAL gt_elem **at, const GT_GLOBAL gt_elem *x,
                           gt_long ld, int left, int t) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++) {
        const int w = gt_slab_w(along, wide, deep, v, t + i * threads);
        const int k = gt_slab_k(along, wide, deep, v, t + i * threads);
        at[i] = along ? x + GT_MIN(w, left - 1) * ld + k
                      : x + k * ld + GT_MAX(GT_MIN(w, left - v), 0);
    }
}

GT_INLINE void gt_slab_fetch(int along, int wide, int deep, int v, int threads, gt_elem *r,
                             const GT_GLOBAL gt_elem **at, gt_long ld, int t) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++)
        if (GT_SLAB_EVEN(wide, deep, v, threads) || t + i * threads < wide * deep / v)
            gt_load_global(v, r + i * v,
                           GT_SLAB_ONE(along, wide, v, threads)
                               ? at[0] + i * (threads / (wide / v)) * ld
                               : at[i]);
}

/* Moves on by `step` elements. */
GT_INLINE void gt_slab_advance(int along, int wide, int deep, int v, int threads,
                               const GT_GLOBAL gt_elem **at, gt_long step) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++)
        if (i == 0 || !GT_SLAB_ONE(along, wide, v, threads))
            at[i] += step;
}

GT_INLINE void gt_slab_put(int along, int wide, int deep, int v, int threads,
                           GT_SHARED gt_elem *s, int stride, const gt_elem *r, int t) {
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++)
        if (GT_SLAB_EVEN(wide, deep, v, threads) || t + i * threads < wide * deep / v) {
            const int w = gt_slab_w(along, wide, deep, v, t + i * threads);
            const int k = gt_slab_k(along, wide, deep, v, t + i * threads);
            GT_SHARED gt_elem *to = s + k * stride + w;
            if (along) {
                GT_UNROLL
                for (int j = 0; j < v; j++)
                    to[j * stride] = r[i * v + j];
            } else {
                gt_store_shared(v, to, r + i * v);
            }
        }
}

/* The slab at x element by element, straight to shared memory: `depth` of k exist, `left`
 * of the width. Zeros for k that does not exist, in both operands: 0 * NaN is NaN. */
GT_INLINE void gt_slab_edge(int along, int wide, int deep, int threads,
                            GT_SHARED gt_elem *s, int stride, const GT_GLOBAL gt_elem *x,
                            gt_long ld, int left, int depth, int t) {
    GT_UNROLL_BY(1)
    for (int e = t; e < wide * deep; e += threads) {
        const int w = gt_slab_w(along, wide, deep, 1, e);
        const int k = gt_slab_k(along, wide, deep, 1, e);
        const int there = GT_MIN(w, left - 1);
        const gt_long from = along ? there * ld + k : k * ld + there;
        s[k * stride + w] = k < depth ? x[from] : (gt_elem)0;
    }
}

#if !GT_OPENCL
/* Where p is in the block's shared memory, as inline assembly says it. */
GT_INLINE int gt_shared_address(const void *p) {
    return (int)__cvta_generic_to_shared(p);
}
#endif

/*
 * Copies from global to shared memory that run beside the arithmetic: gt_copy_async begins
 * to move `width` elements (1, 2 or 4, a constant; 4, 8 or 16 bytes); gt_copy_some moves
 * those of them that are `there`, 0 to width, and makes the others 0, at the cost of a few
 * instructions. GT_COPY_COMMIT() closes a group of copies; GT_COPY_WAIT(n) waits until at
 * most the n newest groups of this thread are under way, and a barrier then shows the others
 * to all. OpenCL and devices before sm_80 copy at once.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 800
#define GT_COPY_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define GT_COPY_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define GT_COPY_(how, bytes, to, from)                                                     \
    asm volatile("cp.async." how ".shared.global [%0], [%1], " #bytes ";" ::"r"(to),       \
                 "l"(from)                                                                 \
                 : "memory")
#define GT_COPY_SOME_(how, bytes, to, from, some)                                          \
    asm volatile("cp.async." how ".shared.global [%0], [%1], " #bytes ", %2;" ::"r"(to),   \
                 "l"(from), "r"(some)                                                      \
                 : "memory")
GT_INLINE void gt_copy_async(int width, gt_elem *shared, const gt_elem *from) {
    const int to = gt_shared_address(shared);
    if (width * GT_SIZEOF_A == 16)
        GT_COPY_("cg", 16, to, from);
    else if (width * GT_SIZEOF_A == 8)
        GT_COPY_("ca", 8, to, from);
    else
        GT_COPY_("ca", 4, to, from);
}
GT_INLINE void gt_copy_some(int width, gt_elem *shared, const gt_elem *from, int there) {
    const int to = gt_shared_address(shared);
    if (width * GT_SIZEOF_A == 16)
        GT_COPY_SOME_("cg", 16, to, from, there * GT_SIZEOF_A);
    else if (width * GT_SIZEOF_A == 8)
        GT_COPY_SOME_("ca", 8, to, from, there * GT_SIZEOF_A);
    else
        GT_COPY_SOME_("ca", 4, to, from, there * GT_SIZEOF_A);
}
#else
#define GT_COPY_COMMIT()
#define GT_COPY_WAIT(n)
GT_INLINE void gt_copy_async(int width, GT_SHARED gt_elem *to,
                             const GT_GLOBAL gt_elem *from) {
    gt_elem r[4];
    gt_load_global(width, r, from);
    gt_store_shared(width, to, r);
}
GT_INLINE void gt_copy_some(int width, GT_SHARED gt_elem *to, const GT_GLOBAL gt_elem *from,
                            int there) {
    GT_UNROLL
    for (int j = 0; j < width; j++)
        to[j] = j < there ? from[j] : (gt_elem)0;
}
#endif

/*
 * A slab fetched by such copies, so without registers between. `asis`: it keeps in shared
 * memory the order it has in memory, rows of `stride` elements; otherwise, as above, k is
 * outermost: what is contiguous along k is turned on the way, one element a copy (v is 1).
 *
 * A thread's vectors have one place in their rows of memory where the rows allow it: then x
 * and s stand at its first one (gt_slab_from, gt_slab_to tell how far that is), and what the
 * loop has left to compute is little. Of the slab, `left` exist along the width and `depth`
 * along k; `whole` promises that all do.
 */
#define GT_SLAB_LINE(along, wide, deep, v) (((along) ? (deep) : (wide)) / (v))
#define GT_SLAB_FIXED(along, wide, deep, v, threads) \
    ((threads) % GT_SLAB_LINE(along, wide, deep, v) == 0)

GT_INLINE gt_long gt_slab_from(int along, int wide, int deep, int v, int threads,
                               gt_long ld, int t) {
    const int line = GT_SLAB_LINE(along, wide, deep, v);
    return GT_SLAB_FIXED(along, wide, deep, v, threads) ? t / line * ld + t % line * v : 0;
}

GT_INLINE int gt_slab_to(int along, int asis, int wide, int deep, int v, int threads,
                         int stride, int t) {
    const int line = GT_SLAB_LINE(along, wide, deep, v);
    return !GT_SLAB_FIXED(along, wide, deep, v, threads) ? 0
           : asis == along ? t / line * stride + t % line * v
                           : t % line * stride + t / line;
}

GT_INLINE void gt_slab_copy(int along, int asis, int wide, int deep, int v, int threads,
                            GT_SHARED gt_elem *s, int stride, const GT_GLOBAL gt_elem *x,
                            gt_long ld, int left, int depth, int whole, int t) {
    const int line = GT_SLAB_LINE(along, wide, deep, v);
    const int fixed = GT_SLAB_FIXED(along, wide, deep, v, threads);
    GT_UNROLL
    for (int i = 0; i < GT_SLAB_COUNT(wide, deep, v, threads); i++) {
        const int row = fixed ? t / line + i * (threads / line) : (t + i * threads) / line;
        const int e = fixed ? t % line : (t + i * threads) % line;
        const int r = fixed ? i * (threads / line) : row, c = fixed ? 0 : e * v;
        const int w = along ? row : e * v, k = along ? e * v : row;
        const int exist = v == 1  ? w < left && k < depth /* a predicate, no arithmetic */
                          : along ? (w < left ? GT_MIN(v, depth - k) : 0)
                                  : (k < depth ? GT_MIN(v, left - w) : 0);
        GT_SHARED gt_elem *const to = s + (asis == along ? r * stride + c : c * stride + r);
        const GT_GLOBAL gt_elem *const from = x + r * ld + c;
        if (GT_SLAB_EVEN(wide, deep, v, threads) || t + i * threads < wide * deep / v) {
            if (whole)
                gt_copy_async(v, to, from);
            else
                gt_copy_some(v, to, from, GT_MAX(0, exist));
        }
    }
}

/*
 * A patch: the rows and columns of a tile of C that one thread of many owns. Along either
 * side its `count` elements lie in pieces that one instruction moves, and the pieces of
 * `lanes` neighbouring threads lie side by side, so that a warp reads shared memory without
 * bank conflicts and writes whole sectors of C.
 */
#define GT_PIECE(count) \
    ((count) % 4 == 0 && GT_SIZEOF_A == 4 ? 4 : (count) % 2 == 0 ? 2 : 1)
/* Lanes of a warp along the columns of C, of tx threads there and ty along the rows; the
 * others of the warp lie along the rows. */
#define GT_LANES_X(ty, tx)                                                                 \
    ((tx) % 8 == 0 && (ty) % 4 == 0    ? 8                                                 \
     : (tx) % 4 == 0 && (ty) % 8 == 0  ? 4                                                 \
     : (tx) % 16 == 0 && (ty) % 2 == 0 ? 16                                                \
                                       : (tx))
#define GT_LANES_Y(ty, tx)                                                                 \
    (GT_LANES_X(ty, tx) == (tx) && !((tx) * (ty) % 32 == 0 && 32 % (tx) == 0)              \
         ? (ty)                                                                            \
         : 32 / GT_LANES_X(ty, tx))
/* Where the patch of thread t begins, along m and n, in a tile of ty x tx of them. Lane pairs
 * share a column of pieces, so that half a warp reads 8 pieces of B and 2 of A, each bank
 * once. */
GT_INLINE int gt_patch_row(int ty, int tx, int tm, int pm, int t) {
    const int lx = GT_LANES_X(ty, tx), ly = GT_LANES_Y(ty, tx);
    const int pairs = ly % 2 == 0 && lx * ly == 32, lane = t % (lx * ly);
    return t / (lx * ly) / (tx / lx) * tm * ly +
           (pairs ? lane / (2 * lx) * 2 + lane % 2 : lane / lx) * pm;
}

GT_INLINE int gt_patch_column(int ty, int tx, int tn, int pn, int t) {
    const int lx = GT_LANES_X(ty, tx), ly = GT_LANES_Y(ty, tx);
    const int pairs = ly % 2 == 0 && lx * ly == 32, lane = t % (lx * ly);
    return t / (lx * ly) % (tx / lx) * tn * lx + (pairs ? lane / 2 % lx : lane % lx) * pn;
}

/* Multiply-add s of a patch of tm x tn: its row and column, in order 0 by rows, 1 by columns, 2
 * by pairs of rows. The way back is another than the way there, so that one operand stays
 * where it is from each to the next. */
GT_INLINE int gt_order_row(int order, int tm, int tn, int s) {
    return order == 0   ? s / tn
           : order == 1 ? (s / tm % 2 ? tm - 1 - s % tm : s % tm)
                        : s / (2 * tn) * 2 + s % 2;
}

GT_INLINE int gt_order_column(int order, int tm, int tn, int s) {
    return order == 0   ? (s / tn % 2 ? tn - 1 - s % tn : s % tn)
           : order == 1 ? s / tm
                        : (s / (2 * tn) % 2 ? tn - 1 - s / 2 % tn : s / 2 % tn);
}

/* How a patch lies along a side of C: in pieces of `piece` elements, `step` from one to the next
 * within, `apart` from a piece to the next; one instruction moves `width` of them. */
struct gt_side {
    int piece, step, apart, width;
};

GT_INLINE struct gt_side gt_side_of(int piece, int lanes) {
    const struct gt_side side = {piece, 1, piece * lanes, piece};
    return side;
}

/* Where element i of the patch lies from its first. */
GT_INLINE int gt_side_at(const struct gt_side *side, int i) {
    return i / side->piece * side->apart + i % side->piece * side->step;
}

/* Loads one side's operands for a k. */
GT_INLINE void gt_patch_load(int count, int piece, int lanes, gt_elem *to,
                             const GT_SHARED gt_elem *from) {
    const struct gt_side side = gt_side_of(piece, lanes);
    GT_UNROLL
    for (int i = 0; i < count; i += piece)
        gt_load_shared(piece, to + i, from + gt_side_at(&side, i));
}

/* Stores a patch of tm x tn; c stands at its first element, from which `rows` x `cols` of C
 * exist. `inside`: all of it exists and is aligned for what an instruction moves. */
GT_INLINE void gt_patch_store(int tm, int tn, struct gt_side down, struct gt_side along,
                              GT_GLOBAL gt_elem *c, gt_long ldc, gt_elem alpha,
                              const gt_acc *acc, gt_elem beta, int inside, int rows,
                              int cols) {
    GT_UNROLL
    for (int i = 0; i < tm; i++) {
        GT_GLOBAL gt_elem *row = c + gt_side_at(&down, i) * ldc;
        const int end = gt_side_at(&down, i) < rows ? cols : 0;
        gt_elem old[16];
        GT_UNROLL
        for (int j = 0; j < tn; j += along.width)
            gt_load_c(along.width, old + j, row + gt_side_at(&along, j), beta, inside, 0,
                      end - gt_side_at(&along, j));
        GT_UNROLL
        for (int j = 0; j < tn; j += along.width)
            gt_store_row(along.width, row + gt_side_at(&along, j), alpha, acc + i * tn + j,
                         beta, old + j, inside, 0, end - gt_side_at(&along, j));
    }
}

/*
 * A cluster is some blocks that see each other's shared memory (sm_90 and later).
 * GT_CLUSTER_BARRIER(yes) waits for all its threads, or without one for the block's;
 * gt_cluster_load(yes, from, block) loads what `from` is in the shared memory of that block.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
#define GT_CLUSTER_BARRIER(yes)                                                            \
    do {                                                                                   \
        if (yes)                                                                           \
            asm volatile("barrier.cluster.arrive.release.aligned;\n\t"                     \
                         "barrier.cluster.wait.acquire.aligned;" ::                        \
                             : "memory");                                                  \
        else                                                                               \
            GT_BARRIER();                                                                  \
    } while (0)
GT_INLINE gt_acc gt_cluster_load(int yes, const gt_acc *from, int block) {
    int there = gt_shared_address(from);
    gt_acc value;
    if (!yes)
        return *from;
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(there) : "r"(block));
#if GT_DTYPE_F64
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(there) : "memory");
#elif GT_DTYPE_F32
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
#else
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
#endif
    return value;
}
#else
#define GT_CLUSTER_BARRIER(yes) GT_BARRIER()
GT_INLINE gt_acc gt_cluster_load(int yes, const GT_SHARED gt_acc *from, int block) {
    return *from;
}
#endif

/* Whether GT_REDUCE_KERNEL has work for no more than 16 blocks, of 4 * lanes sums each: so few may
 * as well wait beside the first kernel. Measured: docs/performance.md. */
#define GT_FEW_SUMS(m, n, lanes) ((gt_long)(m) * (n) <= 64 * (lanes))

/* sum += elements 0 to 3 of the parts `first`, first + step, ... of `parts`, that lie `stride` apart.
 * `whole`: all four exist, aligned to 16 bytes; otherwise `left` do. */
GT_INLINE void gt_add_parts(gt_acc *sum, const GT_GLOBAL gt_acc *at, gt_long stride, int first,
                            int parts, int step, int whole, int left) {
    GT_UNROLL
    for (int i = 0; i < GT_CDIV(parts, step); i++) {
        const int z = first + i * step;
        gt_acc more[4] = {0, 0, 0, 0};
        if (whole && z < parts)
            gt_load_global(4, more, at + z * stride);
        GT_UNROLL
        for (int j = 0; j < 4 && !whole; j++)
            if (j < left && z < parts)
                more[j] = at[z * stride + j];
        GT_UNROLL
        for (int j = 0; j < 4; j++)
            sum[j] += more[j];
    }
}

/*
 * The second kernel of a product whose k is split among blocks: each has left its sum of
 * products, gt_acc [splits][m][n], `from` elements into the workspace. Adds them in a fixed
 * order, so that the result does not depend on which block came first. 256 threads take
 * 4 * `lanes` elements of C, so each adds about `splits` * `lanes` / 256 parts of 4: those shall
 * be few enough to ask for at once. Launch: grid cdiv(M * N, 4 * lanes), block 256, smem
 * 1024 * sizeof(ACC).
 */
#define GT_REDUCE_KERNEL(name, splits, lanes, from)                                        \
    GT_KERNEL(name, 256, 1, 1)                                                             \
    (int m, int n, int k, gt_elem alpha, const GT_GLOBAL gt_elem *a, gt_long lda,          \
     const GT_GLOBAL gt_elem *b, gt_long ldb, gt_elem beta, GT_GLOBAL gt_elem *c,          \
     gt_long ldc, const GT_GLOBAL gt_acc *workspace) {                                     \
        GT_SHARED_ARRAY(sums, 1024);                                                       \
        GT_FOLLOW();                                                                       \
        const int lane = GT_THREAD_X % (lanes), part = GT_THREAD_X / (lanes);              \
        const gt_long all = (gt_long)m * n, first = GT_BLOCK * (gt_long)(lanes) * 4;       \
        const int count = (int)GT_MIN(all - first, 4 * (lanes)), left = count - lane * 4;  \
        const GT_GLOBAL gt_acc *const at = workspace + (from) + first + lane * 4;          \
        gt_acc sum[4] = {0, 0, 0, 0};                                                      \
        if (all % 4 != 0)                                                                  \
            gt_add_parts(sum, at, all, part, splits, 256 / (lanes), 0, left);              \
        else if (left > 0)                                                                 \
            gt_add_parts(sum, at, all, part, splits, 256 / (lanes), 1, left);              \
        gt_store_shared(4, sums + GT_THREAD_X * 4, sum);                                   \
        GT_BARRIER();                                                                      \
        for (int e = GT_THREAD_X; e < count; e += 256) {                                   \
            gt_acc total = 0;                                                              \
            GT_UNROLL_BY(4)                                                                \
            for (int p = 0; p < 256 / (lanes); p++)                                        \
                total += sums[p * (lanes)*4 + e];                                          \
            const gt_long row = (first + e) / n;                                           \
            gt_store_c(c + row * ldc + (first + e - row * n), alpha, total, beta);         \
        }                                                                                  \
    }

/*
 * Which tile of C a block computes, and which part of the tile's k.
 *
 * Tiles go to blocks in their order, `split` blocks a tile with a part of its k each.
 *
 * With `tail` (split is 1) those `of` tiles at the end are shared that would leave some of the
 * `held` blocks idle that the device holds at once. Their k is cut into `tail` pieces: one block of
 * each tile computes the first cdiv(tail * of, held), every other piece is a block, and as many
 * turns later the blocks beside those `of` have computed all of them. Blocks that compute one
 * part of k begin one behind the other, so that they read the same slabs at the same time.
 * Launch: grid the tiles, and `of` for each part of a shared one but the first.
 *
 * Parts of a shared tile go to the workspace, gt_work_place elements behind where shared tiles
 * begin there, as BM rows of BN, and GT_FINISH_KERNEL adds up; that takes `of` tiles a part.
 */
struct gt_work {
    int tile;
    int part, parts; /* of the tile's k: which one to compute, and how many there are */
    int pieces;      /* equal ones of k: a part is one, the first part what the others leave */
    int shared, of;  /* the tile's number among those that are shared, and how many are */
};

GT_INLINE int gt_shared_tiles(int tail, int held, int tiles) {
    return tail ? tiles % held : 0;
}

GT_INLINE struct gt_work gt_work_of(int tail, int held, int split, int block, int tiles) {
    const int of = gt_shared_tiles(tail, held, tiles), late = block - (tiles - of);
    struct gt_work w = {block / split, block % split, split, tail ? tail : split, 0, of};
    if (of > 0 && late >= 0) {
        w.shared = late % of;
        w.tile = tiles - of + w.shared;
        w.part = late / of;
        w.parts = tail - gt_cdiv(tail * of, held) + 1;
    }
    return w;
}

/* How many of the `all` slabs of the tile's k the block computes, from *first on. */
GT_INLINE int gt_work_slabs(const struct gt_work *w, gt_long all, int *first) {
    const int end = w->pieces - (w->parts - 1) + w->part, begin = w->part > 0 ? end - 1 : 0;
    *first = (int)(all * begin / w->pieces);
    return (int)(all * end / w->pieces) - *first;
}

GT_INLINE gt_long gt_work_place(const struct gt_work *w, int part, int bm, int bn) {
    return ((gt_long)part * w->of + w->shared) * bm * bn;
}

/* Row and column of C where a tile of bm x bn begins, when `group` rows of tiles are walked column
 * by column. */
GT_INLINE void gt_tile_place(int *row, int *col, int tile, int bm, int bn, int group, int m,
                             int n) {
    const int tiles_m = gt_cdiv(m, bm), tiles_n = gt_cdiv(n, bn);
    const int band = tile / (group * tiles_n), in_band = tile % (group * tiles_n);
    const int high = GT_MIN(tiles_m - band * group, group);
    *row = (band * group + in_band % high) * bm;
    *col = in_band / high * bn;
}

/* The second kernel, for shared tiles that lie `from` elements into the workspace. Parts are added
 * in the order of k. Launch: block 256, grid BM * BN / 512 a shared tile. */
#define GT_FINISH_KERNEL(name, bm, bn, group, tail, held, from)                            \
    GT_KERNEL(name, 256, 1, 1)                                                             \
    (int m, int n, int k, gt_elem alpha, const GT_GLOBAL gt_elem *a, gt_long lda,          \
     const GT_GLOBAL gt_elem *b, gt_long ldb, gt_elem beta, GT_GLOBAL gt_elem *c,          \
     gt_long ldc, const GT_GLOBAL gt_acc *workspace) {                                     \
        GT_FOLLOW();                                                                       \
        const int tiles = gt_cdiv(m, bm) * gt_cdiv(n, bn), blocks = (bm) * (bn) / 512;     \
        const int tile = tiles - gt_shared_tiles(tail, held, tiles) + GT_BLOCK / blocks;   \
        const int e = (GT_BLOCK % blocks * 256 + GT_THREAD_X) * 2;                         \
        const struct gt_work w = gt_work_of(tail, held, 1, tile, tiles);                   \
        if (w.parts == 1)                                                                  \
            return; /* whoever had the tile has stored it */                               \
        gt_acc sum[2] = {0, 0}, more[2];                                                   \
        GT_UNROLL_BY(4)                                                                    \
        for (int part = 0; part < w.parts; part++) {                                       \
            const gt_long place = gt_work_place(&w, part, bm, bn);                         \
            gt_load_global(2, more, workspace + (from) + place + e);                       \
            sum[0] += more[0];                                                             \
            sum[1] += more[1];                                                             \
        }                                                                                  \
        int row, col;                                                                      \
        gt_tile_place(&row, &col, tile, bm, bn, group, m, n);                              \
        row += e / (bn);                                                                   \
        col += e % (bn);                                                                   \
        if (row < m && col < n)                                                            \
            gt_store_c(c + row * ldc + col, alpha, sum[0], beta);                          \
        if (row < m && col + 1 < n)                                                        \
            gt_store_c(c + row * ldc + col + 1, alpha, sum[1], beta);                      \
    }

/*
 * A kernel before, which copies operands to the workspace with k outermost and rows aligned
 * to 16 bytes: op(A) [k][GT_PACK_WIDTH(m)], then op(B) [k][GT_PACK_WIDTH(n)], of both those
 * that pack_a and pack_b say. A block takes 32 of k by 64 along the width, and turns them in
 * shared memory where memory is contiguous along k. Launch: block 256, smem 64 * 33 elements,
 * grid the sum over the packed operands of cdiv(width, 64) * cdiv(K, 32).
 */
#define GT_PACK_WIDTH(count) (GT_CDIV((gt_long)(count), 4) * 4)
#define GT_PACKED(pack, count, k) ((pack) ? (k)*GT_PACK_WIDTH(count) : 0)
#define GT_PACK_KERNEL(name, pack_a, pack_b)                                               \
    GT_KERNEL(name, 256, 1, 1)                                                             \
    (int m, int n, int k, gt_elem alpha, const GT_GLOBAL gt_elem *GT_RESTRICT a,           \
     gt_long lda, const GT_GLOBAL gt_elem *GT_RESTRICT b, gt_long ldb, gt_elem beta,       \
     GT_GLOBAL gt_elem *c, gt_long ldc, GT_GLOBAL gt_elem *workspace) {                    \
        GT_SHARED_ARRAY(tile, 64 * 33);                                                    \
        GT_FOLLOW();                                                                       \
        const int of_a = (pack_a) ? gt_cdiv(m, 64) * gt_cdiv(k, 32) : 0;                   \
        const int second = (pack_b) && (!(pack_a) || GT_BLOCK >= of_a); /* B */            \
        const int turn = second ? GT_TB : !GT_TA, wide = second ? n : m;                   \
        const int block = second ? GT_BLOCK - of_a : GT_BLOCK, t = GT_THREAD_X;            \
        const int w0 = block % gt_cdiv(wide, 64) * 64, k0 = block / gt_cdiv(wide, 64) * 32;\
        const gt_long ld = second ? ldb : lda, to_ld = GT_PACK_WIDTH(wide);                \
        const GT_GLOBAL gt_elem *from =                                                    \
            (second ? b : a) + (turn ? w0 * ld + k0 : k0 * ld + w0);                       \
        GT_GLOBAL gt_elem *to =                                                            \
            workspace + (second ? GT_PACKED(pack_a, m, k) : 0) + k0 * to_ld + w0;          \
        /* As it lies in memory: rows of `line`, of which `high` and `left` of each exist. */\
        const int line = turn ? 32 : 64, high = turn ? wide - w0 : k - k0;                 \
        const int left = turn ? k - k0 : wide - w0;                                        \
        gt_elem r[4];                                                                      \
        if (high >= 2048 / line && left >= line && gt_aligned(4, from, ld))                \
            for (int e = t * 4; e < 2048; e += 1024) {                                     \
                gt_load_global(4, r, from + e / line * ld + e % line);                     \
                for (int i = 0; i < 4; i++)                                                \
                    tile[e / line * (line + 1) + e % line + i] = r[i];                     \
            }                                                                              \
        else                                                                               \
            for (int e = t; e < 2048; e += 256)                                            \
                tile[e / line * (line + 1) + e % line] =                                   \
                    e / line < high && e % line < left ? from[e / line * ld + e % line] : 0;\
        GT_BARRIER();                                                                      \
        for (int e = t * 4; e < 2048; e += 1024) {                                         \
            const int row = e / 64, col = e % 64;                                          \
            for (int i = 0; i < 4; i++)                                                    \
                r[i] = tile[turn ? (col + i) * 33 + row : row * 65 + col + i];             \
            if (k0 + row < k && w0 + col < wide)                                           \
                gt_store_global(4, to + row * to_ld + col, r);                             \
        }                                                                                  \
    }

#if !GT_OPENCL && __CUDA_ARCH__ >= 900
/* Barriers in shared memory that threads and copies arrive at, by their address (PTX ISA,
 * mbarrier). */
GT_INLINE void gt_barrier_init(int at, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(arrivals)
                 : "memory");
}

/* Behind the last of them, ahead of a barrier of the block: the copies see them, too. */
GT_INLINE void gt_barrier_init_done(void) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

GT_INLINE void gt_barrier_arrive(int at) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}

/* Arrives, and has the phase wait for `bytes` of copies as well. */
GT_INLINE void gt_barrier_arrive_expecting(int at, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                 "r"(bytes)
                 : "memory");
}

/* Whether the phase of that parity has passed. */
GT_INLINE int gt_barrier_passed(int at, int parity) {
    int passed;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.s32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(passed)
                 : "r"(at), "r"(parity)
                 : "memory");
    return passed;
}

/*
 * Waits for it. A mistake shall end neither in a kernel without end nor in a wrong result: a wait in
 * vain ends in a trap, which fails the launch, after 2^28 clocks, part of a second, and 2^16
 * questions. Clocks alone would not do: they pass while another process has the device, too.
 */
GT_INLINE void gt_barrier_wait(int at, int parity) {
    unsigned since = 0;
    for (int asked = 0; !gt_barrier_passed(at, parity); asked++) {
        if (asked == 0)
            since = (unsigned)clock();
        else if (asked >> 16 != 0 && ((unsigned)clock() - since) >> 28 != 0)
            asm volatile("trap;");
    }
}

GT_INLINE void gt_warp_barrier(void) {
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
#endif
