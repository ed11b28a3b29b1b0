/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elected.h - one thread of a warp, such that the compiler knows it is alone. Copies by the
 * tensor memory accelerator need that: the compiler puts a copy into a loop over all lanes
 * when it only sees a comparison of a thread's number. CUDA from sm_90 on.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
/* Whether the warp elects the calling thread, the same one each time. All lanes call it
 * together (PTX ISA, elect.sync). */
GT_INLINE int gt_is_elected(void) {
    int is;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "elect.sync _|p, 0xffffffff;\n"
                 "selp.s32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(is)
                 :
                 : "memory");
    return is;
}
#endif
