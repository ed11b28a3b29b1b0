/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubles.h - f64 operands and sums of the tensor cores' instruction mma.sync (CUDA, sm_80
 * and later), loaded by 16 bytes.
 *
 * A line is a row of A or a column of B. A fragment is a block of 16 lines by 8 of k, in
 * two halves of 8 lines. Lane 4 g + t has two neighbours of k, 2 t and 2 t + 1, of line
 * number g of each half: f[h + 2 v] is that of half h at k 2 t + v. The instruction takes
 * any order of k that A and B share.
 *
 * A load of 16 bytes has two neighbours. In a matrix that is contiguous along k (`along`)
 * they are those of k, and half h has the lines from 8 h on. Otherwise they are lines, and
 * half h has the lines 2 g + h. Families may choose other lines and k's.
 */
#if !GT_OPENCL && GT_SIZEOF_A == 8 && __CUDA_ARCH__ >= 800
enum { GT_DOUBLE_K = 8 /* of a fragment */ };

/* The line of the fragment that has number g in half h. */
GT_INLINE int gt_double_line(int along, int g, int h) {
    return along ? g + 8 * h : 2 * g + h;
}

/* c += a b for the 16 lines of fragment a and the eight of half h of fragment b. A lane has
 * c[2 i + j]: number g in half i of A, number 2 t + j of B. */
GT_INLINE void gt_mma_double(gt_acc *c, const gt_ab *a, const gt_ab *b, int h) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[h]), "d"(b[h + 2]));
#else
    GT_UNROLL
    for (int i = 0; i < 4; i++) /* half i % 2 of A, one of the lane's two k */
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, "
            "{%0, %1};"
            : "+d"(c[i % 2 * 2]), "+d"(c[i % 2 * 2 + 1])
            : "d"(a[i]), "d"(b[h + i / 2 * 2]));
#endif
}
#endif
