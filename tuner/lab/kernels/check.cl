/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.cl - the program's own kernels: make the data, compute the reference, compare;
 * and what the clock is.
 *
 * None of them is a candidate and none shares code with one beyond the prelude. The reference
 * is Dot2 (Ogita, Rump, Oishi 2005): a dot product in the working precision whose error is
 * that of twice that precision, one thread an element of C, plain index arithmetic. The host
 * recomputes sampled rows of it from the same generator (tuner/data.c), so that a broken device or
 * compiler is found out as well.
 *
 * Index order: row-major; element (i, j) of a matrix is at i * ld + j; a stored A is m x k, or
 * k x m with ta; a stored B is k x n, or n x k with tb. Layouts are arguments here, so that one
 * build serves all four.
 */

#if GT_OPENCL
#pragma OPENCL FP_CONTRACT OFF
typedef ulong gt_ulong;
#define GT_GRID_SIZE ((int)get_num_groups(0))
#define GT_COUNT(where, what) atomic_add(where, what)
#define GT_ADD_RN(a, b) ((a) + (b))
#define GT_MUL_RN(a, b) ((a) * (b))
#else
typedef unsigned long long gt_ulong;
#define GT_GRID_SIZE ((int)gridDim.x)
#define GT_COUNT(where, what) atomicAdd(where, what)
#if GT_DTYPE_F64
#define GT_ADD_RN(a, b) __dadd_rn(a, b)
#define GT_MUL_RN(a, b) __dmul_rn(a, b)
#else
#define GT_ADD_RN(a, b) __fadd_rn(a, b)
#define GT_MUL_RN(a, b) __fmul_rn(a, b)
#endif

/* Nanoseconds since some time. */
GT_INLINE gt_ulong gt_timer(void) {
    gt_ulong ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
#endif

/* ---- data: a counter-based generator, the same as gt_data_value in tuner/data.c ---- */

/* splitmix64's finalizer over (seed, row, column). */
GT_INLINE gt_ulong gt_mix(gt_ulong seed, gt_long row, gt_long col) {
    gt_ulong z = seed + (gt_ulong)row * (gt_ulong)0x9e3779b97f4a7c15UL +
                 (gt_ulong)col * (gt_ulong)0xd1b54a32d192ed03UL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return z ^ (z >> 31);
}

/* mode 0: integers -3..3; 1: uniform in [-1, 1) with a full mantissa, any 32 bits for i32;
 * 2: integers -1..1, for sums too long for mode 0. */
GT_INLINE gt_elem gt_datum(gt_ulong seed, gt_long row, gt_long col, int mode) {
    const gt_ulong z = gt_mix(seed, row, col);
    if (mode == 0)
        return (gt_elem)((int)((z >> 32) % 7) - 3);
    if (mode == 2)
        return (gt_elem)((int)((z >> 32) % 3) - 1);
#if GT_DTYPE_F64
    return (gt_elem)((gt_long)(z >> 11) - 4503599627370496L) * 2.220446049250313e-16;
#elif GT_DTYPE_F32
    return (gt_elem)((int)(z >> 40) - 8388608) * 1.1920928955078125e-07f;
#else
    return (gt_elem)(z >> 32);
#endif
}

/* Fills rows x cols elements; what lies between cols and ld keeps its poison. */
GT_KERNEL(gt_fill, 256, 1, 1)(GT_GLOBAL gt_elem *x, gt_long rows, gt_long cols, gt_long ld,
                               gt_ulong seed, int mode) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < rows * cols; e += step) {
        const gt_long i = e / cols, j = e % cols;
        x[i * ld + j] = gt_datum(seed, i, j, mode);
    }
}

/* ---- reference ---- */

#if GT_FLOAT
/* One step of Dot2: s + c is the sum so far, c what s lost. */
#define GT_DOT2(s, c, a, b)                                  \
    {                                                        \
        const gt_elem p = GT_MUL_RN(a, b);                   \
        const gt_elem e = gt_fma(a, b, -p);               \
        const gt_elem t = GT_ADD_RN(s, p);                   \
        const gt_elem z = GT_ADD_RN(t, -s);                  \
        const gt_elem f = GT_ADD_RN(GT_ADD_RN(s, -GT_ADD_RN(t, -z)), GT_ADD_RN(p, -z)); \
        s = t;                                               \
        c = GT_ADD_RN(c, GT_ADD_RN(e, f));                   \
    }
#define GT_ABS(x) ((x) < 0 ? -(x) : (x))
#endif

/* r = alpha op(A) op(B) + beta C0 and, for floating point, s = |alpha| |A| |B| + |beta| |C0|, both
 * m x n packed. alpha = 0 or k = 0: A and B are not read; beta = 0: C0 is not read. */
GT_KERNEL(gt_reference, 256, 1, 1)(int m, int n, int k, int ta, int tb, gt_elem alpha,
                                    GT_GLOBAL const gt_elem *a, gt_long lda,
                                    GT_GLOBAL const gt_elem *b, gt_long ldb, gt_elem beta,
                                    GT_GLOBAL const gt_elem *c0, gt_long ldc,
                                    GT_GLOBAL gt_elem *r, GT_GLOBAL gt_elem *s) {
    const gt_long total = (gt_long)m * n, step = (gt_long)GT_GRID_SIZE * 256;
    const int depth = alpha == 0 ? 0 : k;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        const gt_long i = e / n, j = e % n;
        gt_elem sum = 0;
#if GT_FLOAT
        gt_elem low = 0, size = 0;
#endif
        for (int p = 0; p < depth; p++) {
            const gt_elem x = ta ? a[p * lda + i] : a[i * lda + p];
            const gt_elem y = tb ? b[j * ldb + p] : b[p * ldb + j];
#if GT_FLOAT
            GT_DOT2(sum, low, x, y)
            size += GT_ABS(x) * GT_ABS(y);
#else
            sum += x * y;
#endif
        }
#if GT_FLOAT
        gt_elem out = 0, rest = 0;
        if (depth > 0) {
            GT_DOT2(out, rest, alpha, sum)
            rest = gt_fma(alpha, low, rest);
            size *= GT_ABS(alpha);
        }
        if (beta != 0) {
            const gt_elem old = c0[i * ldc + j];
            GT_DOT2(out, rest, beta, old)
            size += GT_ABS(beta) * GT_ABS(old);
        }
        r[e] = GT_ADD_RN(out, rest);
        s[e] = size;
#else
        r[e] = alpha * sum + (beta != 0 ? beta * c0[i * ldc + j] : 0);
#endif
    }
}

/* ---- compare ---- */

/* A thread's share of a count: a million threads cannot bring 32 bits back to 0. */
#define GT_MOST 4095u
#define GT_COUNTERS 4 /* wrong, touched, changed, beyond: as in tuner/check_internal.h */

GT_INLINE int gt_poisoned(GT_GLOBAL const gt_elem *x, unsigned int poison) {
    GT_GLOBAL const unsigned int *w = (GT_GLOBAL const unsigned int *)x;
#if GT_SIZEOF_C == 8
    return w[0] == poison && w[1] == poison;
#else
    return w[0] == poison;
#endif
}

/* Every element of a buffer of `total` elements in which C starts at `front`: inside C against
 * r, everywhere else (guard zones, leading-dimension padding) against what was put there before
 * the product: the poison word, or with `finite` row 0 of the generator with `seed`. Adds wrong elements to found[0], touched ones outside to found[1]. An element is right
 * when it equals r or |c - r| <= tol * s + ulp * |r|. */
GT_KERNEL(gt_compare, 256, 1, 1)(GT_GLOBAL const gt_elem *c, gt_long total, gt_long front, int m,
                                  int n, gt_long ldc, GT_GLOBAL const gt_elem *r,
                                  GT_GLOBAL const gt_elem *s, gt_elem tol, gt_elem ulp,
                                  unsigned int poison, int finite, gt_ulong seed,
                                  GT_GLOBAL unsigned int *found, int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int wrong = 0, touched = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        const gt_long i = (e - front) / ldc, j = (e - front) % ldc;
        if (e < front || i >= m || j >= n) {
            touched += finite ? c[e] != gt_datum(seed, 0, e, 1) : !gt_poisoned(c + e, poison);
        } else {
            const gt_elem want = r[i * n + j], got = c[e];
            int good = got == want;
#if GT_FLOAT
            if (!good)
                good = GT_ABS(got - want) <= tol * s[i * n + j] + ulp * GT_ABS(want);
#endif
            wrong += !good;
        }
    }
    if (wrong)
        GT_COUNT(&found[GT_COUNTERS * slot], GT_MIN(wrong, GT_MOST));
    if (touched)
        GT_COUNT(&found[GT_COUNTERS * slot + 1], GT_MIN(touched, GT_MOST));
}

/* The same for an input: what gt_fill and the poison left must still be there. Adds the changed
 * elements to found[GT_COUNTERS * slot + 2]. */
GT_KERNEL(gt_unchanged, 256, 1, 1)(GT_GLOBAL const gt_elem *x, gt_long total, gt_long front,
                                    gt_long rows, gt_long cols, gt_long ld, gt_ulong seed,
                                    int mode, unsigned int poison,
                                    GT_GLOBAL unsigned int *found, int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int changed = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < total; e += step) {
        const gt_long i = (e - front) / ld, j = (e - front) % ld;
        if (e < front || i >= rows || j >= cols)
            changed += !gt_poisoned(x + e, poison);
        else
            changed += x[e] != gt_datum(seed, i, j, mode);
    }
    if (changed)
        GT_COUNT(&found[GT_COUNTERS * slot + 2], GT_MIN(changed, GT_MOST));
}

/* The same for a workspace, byte by byte: what a kernel may not touch are `guard` bytes at either
 * end. Adds those that are not the poison's any more to found[GT_COUNTERS * slot + 3]. */
GT_KERNEL(gt_within, 256, 1, 1)(GT_GLOBAL const unsigned char *w, gt_long bytes, gt_long guard,
                                 unsigned int poison, GT_GLOBAL unsigned int *found,
                                 int slot) {
    const gt_long step = (gt_long)GT_GRID_SIZE * 256;
    unsigned int beyond = 0;
    for (gt_long e = (gt_long)GT_BLOCK * 256 + GT_THREAD_X; e < 2 * guard; e += step) {
        const gt_long at = e < guard ? e : bytes - 2 * guard + e;
        beyond += w[at] != (poison >> (int)(at % 4 * 8) & 255u);
    }
    if (beyond)
        GT_COUNT(&found[GT_COUNTERS * slot + 3], GT_MIN(beyond, GT_MOST));
}

/* ---- the clock ---- */

/* What a multiprocessor's clock counts, pace[0], in pace[1] nanoseconds, about `ns`: from one step of
 * the timer to another, since it may make one a microsecond only. 0 in 0 when it makes none while
 * looked at, and in OpenCL, which has neither. */
GT_KERNEL(gt_pace, 256, 1, 1)(GT_GLOBAL gt_ulong *pace, int ns) {
    if (GT_BLOCK > 0 || GT_THREAD_X > 0)
        return;
#if GT_OPENCL
    pace[0] = pace[1] = 0;
#else
    const int most = 1 << 16; /* looks at a timer that stands still */
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
