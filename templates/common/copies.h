/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - copies from global to shared memory that run beside the arithmetic.
 *
 * gt_copy_async starts a copy of `width` elements (a constant power of 2, at most 16
 * bytes). gt_copy_some copies the first `there` of them, 0 to width, and sets the others to
 * 0; it takes a few instructions more. GT_COPY_COMMIT() closes a group of copies.
 * GT_COPY_WAIT(n) waits until at most the n newest groups of this thread are unfinished; a
 * barrier then shows the finished ones to all threads. Copies of less than 4 bytes, all
 * copies in OpenCL and all on devices before sm_80 are done at once.
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
GT_INLINE void gt_copy_async(int width, gt_ab *shared, const gt_ab *from) {
    const int to = gt_shared_address(shared);
    if (width * sizeof(gt_ab) == 16)
        GT_COPY_("cg", 16, to, from);
    else if (width * sizeof(gt_ab) == 8)
        GT_COPY_("ca", 8, to, from);
    else if (width * sizeof(gt_ab) == 4)
        GT_COPY_("ca", 4, to, from);
    else
        *shared = *from;
    if (width * sizeof(gt_ab) == 2 && width == 2)
        shared[1] = from[1];
}
GT_INLINE void gt_copy_some(int width, gt_ab *shared, const gt_ab *from, int there) {
    const int to = gt_shared_address(shared), bytes = there * (int)sizeof(gt_ab);
    if (width * sizeof(gt_ab) == 16)
        GT_COPY_SOME_("cg", 16, to, from, bytes);
    else if (width * sizeof(gt_ab) == 8)
        GT_COPY_SOME_("ca", 8, to, from, bytes);
    else if (width * sizeof(gt_ab) == 4)
        GT_COPY_SOME_("ca", 4, to, from, bytes);
    else
        *shared = there > 0 ? *from : (gt_ab)0;
    if (width * sizeof(gt_ab) == 2 && width == 2)
        shared[1] = there > 1 ? from[1] : (gt_ab)0;
}
#else
#define GT_COPY_COMMIT()
#define GT_COPY_WAIT(n)
GT_INLINE void gt_copy_async(int width, GT_SHARED gt_ab *to,
                             const GT_GLOBAL gt_ab *from) {
    gt_ab r[16];
    gt_load_global(width, r, from);
    gt_store_shared(width, to, r);
}
GT_INLINE void gt_copy_some(int width, GT_SHARED gt_ab *to, const GT_GLOBAL gt_ab *from,
                            int there) {
    GT_UNROLL
    for (int j = 0; j < width; j++)
        to[j] = j < there ? from[j] : (gt_ab)0;
}
#endif
