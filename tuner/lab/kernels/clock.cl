/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.cl - the kernel that measures the clock at which a device computes.
 */

#if !GT_OPENCL
/* Nanoseconds since some moment. */
GT_INLINE gt_ulong gt_timer(void) {
    gt_ulong ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
#endif

/* Counts a multiprocessor's clocks, pace[0], in pace[1] nanoseconds, about `ns`. It counts
 * from one step of the timer to another, since the timer may step only once a microsecond.
 * pace[0] is 0 when the timer does not step, and in OpenCL, which has neither clock nor
 * timer. */
GT_KERNEL(gt_pace, 256, 1, 1)(GT_GLOBAL gt_ulong *pace, int ns) {
    if (GT_BLOCK > 0 || GT_THREAD_X > 0)
        return;
#if GT_OPENCL
    pace[0] = pace[1] = 0;
#else
    const int most = 1 << 16; /* readings of a timer that stands still */
    const gt_ulong asked = gt_timer();
    gt_ulong now = asked;
    for (int i = 0; i < most && now == asked; i++)
        now = gt_timer();
    const gt_ulong began = now, clock = (gt_ulong)clock64();
    for (int i = 0; i < most && now - began < (gt_ulong)ns; i++)
        now = gt_timer();
    pace[0] = now == began || began == asked ? 0 : (gt_ulong)clock64() - clock;
    pace[1] = began == asked ? 0 : now - began;
#endif
}
