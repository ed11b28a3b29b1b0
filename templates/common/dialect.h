/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dialect.h - one vocabulary for CUDA C++ (NVRTC) and OpenCL C 1.2, in which all kernel
 * templates are written. The compiler's own macros decide which of the two this is.
 *
 * This file and types.h belong to every family. In space.json ("uses") a family lists the
 * other parts of this folder that it uses. A compiler sees this text:
 *
 *     #define GT_TYPE_A f32           types, layout and device; GT_<NAME> for every
 *     #define GT_BM 128               parameter and derived name: integers
 *     #define GT_PARAMS int m, ...    the parameters from "args" of space.json
 *     ...                             this file, types.h, and the parts that are used
 *     GT_STATIC_ASSERT(...);          the family's `require` rules
 *     #line 1 "block/block.cl"
 *     ...                             the template
 *
 * Nothing is included: a compilation takes tenths of a second and needs no toolkit on the
 * machine. docs/templates.md is the page for people who write a family.
 *
 * Names in capitals are macros; types and functions begin with gt_ in small letters. No
 * parameter may have the name of a macro here without its GT_ (MIN, MAX, CDIV, KERNEL,
 * GLOBAL ...).
 */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define GT_OPENCL 1
#else
#define GT_OPENCL 0
#endif

/* Integer arithmetic of rules, as in space.json. Arguments are constants. */
#define GT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define GT_MAX(a, b) ((a) > (b) ? (a) : (b))
#define GT_CDIV(a, b) (((a) + (b) - 1) / (b))

/* The problem's sizes in a kernel, for derived names that use them: 64 bits wide. */
#define GT_M ((gt_long)m)
#define GT_N ((gt_long)n)
#define GT_K ((gt_long)k)

#define GT_PASTE_(a, b) a##b
#define GT_PASTE(a, b) GT_PASTE_(a, b)
#define GT_PRAGMA_(text) _Pragma(#text)
#define GT_PRAGMA(text) GT_PRAGMA_(text)

#if GT_OPENCL

#if GT_FLOAT && GT_SIZEOF_ACC == 8
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if GT_F16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

#if defined(__clang__) /* templates often write PARAMETER == 1 && x */
#pragma clang diagnostic ignored "-Wconstant-logical-operand"
#endif

/* A negative array size is the only assertion OpenCL C 1.2 has. `tag` is an identifier. */
#define GT_STATIC_ASSERT(cond, tag) typedef char GT_PASTE(gt_assert_, tag)[(cond) ? 1 : -1]

#define GT_GLOBAL __global /* pointers to the matrices */
#define GT_SHARED __local  /* pointers to the shared memory of a block */
#define GT_RESTRICT restrict
/* Always inline: PoCL 3.1 and oclgrind lose __local memory in a function that is called. */
#define GT_INLINE static inline __attribute__((always_inline))
/* A kernel with x * y threads a block; at least `minb` blocks fit a multiprocessor (CUDA).
 * (GT_PARAMS) follows. */
#define GT_KERNEL(name, x, y, minb) \
    __kernel __attribute__((reqd_work_group_size(x, y, 1))) void name
/* The block's shared memory: `count` elements, aligned to 16 bytes. A kernel has one such
 * line. `count * sizeof(type)` is launch.smem of space.json. */
#define GT_SHARED_ARRAY(type, name, count)                                                \
    __local type name[count] __attribute__((aligned(16)))
#define GT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define GT_THREAD_X ((int)get_local_id(0))
#define GT_THREAD_Y ((int)get_local_id(1))
/* A product's blocks are numbered by the grid's x; its y and z number the products. */
#define GT_BLOCK ((int)get_group_id(0))
#define GT_GRID_PRODUCT ((gt_long)get_group_id(2) * get_num_groups(1) + get_group_id(1))
/* A kernel's parameter for an entry of "tensor_maps" of space.json. */
#define GT_TENSOR_MAP(name) struct gt_tensor_map name

typedef long gt_long; /* 64 bits: for every product of a row and a leading dimension */

/*
 * Kernels of NVIDIA's OpenCL may contain PTX. Then GT_PTX is the compute capability, and
 * these are CUDA's words for inline assembly.
 */
#define GT_ARCH (GT_PTX * 10)
#if GT_PTX
#define asm __asm__
GT_INLINE int gt_shared_address(const GT_SHARED void *p) {
    return (int)(gt_long)p;
}

/* Four bytes of x and y, numbered by the digits in `which`; and 32 bits of y:x from bit
 * `by` on. */
GT_INLINE unsigned int gt_byte_perm(unsigned int x, unsigned int y, unsigned int which) {
    unsigned int z;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(y), "r"(which));
    return z;
}
GT_INLINE unsigned int gt_funnel_shift(unsigned int x, unsigned int y, unsigned int by) {
    unsigned int z;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(y), "r"(by));
    return z;
}
#define __byte_perm gt_byte_perm
#define __funnelshift_r gt_funnel_shift
#endif

#else /* CUDA */

#define GT_STATIC_ASSERT(cond, tag) static_assert((cond), #tag)

#define GT_ARCH __CUDA_ARCH__ /* of PTX, as 900; 0 where a kernel may not contain any */
#define GT_GLOBAL
#define GT_SHARED
#define GT_RESTRICT __restrict__
#define GT_INLINE __device__ __forceinline__ /* a static function would warn when unused */
#define GT_KERNEL(name, x, y, minb) \
    extern "C" __global__ void __launch_bounds__((x) * (y), minb) name
#define GT_SHARED_ARRAY(type, name, count) extern __shared__ __align__(16) type name[]
#define GT_BARRIER() __syncthreads()
#define GT_THREAD_X ((int)threadIdx.x)
#define GT_THREAD_Y ((int)threadIdx.y)
#define GT_BLOCK ((int)blockIdx.x)
#define GT_GRID_PRODUCT ((gt_long)blockIdx.z * gridDim.y + blockIdx.y)
#define GT_TENSOR_MAP(name) const __grid_constant__ struct gt_tensor_map name

typedef long long gt_long;

struct __align__(64) gt_tensor_map {
    unsigned long long opaque[16]; /* only the hardware reads it */
};

/* The address of p in the block's shared memory, for inline assembly. */
GT_INLINE int gt_shared_address(const void *p) {
    return (int)__cvta_generic_to_shared(p);
}

#endif

/*
 * A point's kernels run one after another. With "overlap" in space.json, from sm_90 on and
 * with a driver of CUDA 12.3, each kernel but the first may be launched before the kernel
 * ahead of it has ended (programmatic dependent launch). It is launched when all blocks of
 * the kernel ahead have ended or passed GT_LEAD(yes). GT_FOLLOW() waits until the kernel
 * ahead has ended and its results can be read. It is the first statement of every kernel of
 * such a family, in all threads: a kernel that ended before the one ahead of it would let
 * the next one begin too early.
 *
 * Blocks that are launched early take the free places, so many of them may share few
 * multiprocessors. Use GT_LEAD at the end of a kernel that fills the device, or before a
 * kernel of a few small blocks.
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

/*
 * Batches. A problem with several products has kernels of its own, in which GT_BATCH is 1.
 * Where "batch" of space.json is "grid", every kernel begins with GT_PRODUCT(), behind
 * GT_FOLLOW(). It moves a, b, c and workspace to the block's product, whose number is
 * gt_product; the rest of the kernel computes a single product. The grid's y and z have the
 * product's number. On CUDA the last blocks may have no product: all of their threads end
 * there. OpenCL's grid has exactly the products. PoCL 3.1 would write to wrong places after
 * a return ahead of a barrier.
 */
#ifdef GT_BATCH
#ifdef GT_HAS_WORKSPACE
#define GT_PRODUCT_WORKSPACE() workspace += gt_product * stride_w
#else
#define GT_PRODUCT_WORKSPACE()
#endif
#define GT_PRODUCT()                                                                       \
    const gt_long gt_product = GT_GRID_PRODUCT;                                            \
    if (!GT_OPENCL && gt_product >= batch)                                                 \
        return;                                                                            \
    a += gt_product * stride_a;                                                            \
    b += gt_product * stride_b;                                                            \
    c += gt_product * stride_c;                                                            \
    GT_PRODUCT_WORKSPACE()
#else
#define GT_PRODUCT()
#endif

/* GT_CDIV for numbers near 2^31, without overflow. */
GT_INLINE int gt_cdiv(int a, int b) {
    return a / b + (a % b != 0);
}

/* Before a loop: unroll it completely, or n times. Loops over register arrays must be
 * unrolled completely, or the array goes to memory. */
#define GT_UNROLL GT_PRAGMA(unroll)
#define GT_UNROLL_BY(n) GT_PRAGMA(unroll n)
