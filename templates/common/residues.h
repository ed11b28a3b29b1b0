/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residues.h - f64 products by exact products of bytes: the arithmetic of one line, one
 * element and one sum (CUDA, sm_61 and later). docs/residues.md derives all numbers.
 *
 * A line is a row of A or a column of B. Its elements are scaled by 2^shift, one shift for
 * each line, and rounded to integers. An integer product is known from its residues modulo
 * `count` coprime moduli, 14 to 16 of them (a constant), whose product is M (Chinese
 * remainder theorem). The residues are bytes, and tensor cores multiply bytes exactly.
 *
 *     X = sum over l of y(l) M / p(l)  modulo M,
 *     y(l) = sum over k of (a inverse(l)) b  modulo p(l)
 *
 * inverse(l) is that of M / p(l) modulo p(l). The residues of A have it as a factor.
 *
 * Ozaki, Uchino, Imamura, "Ozaki Scheme II", 2025, arXiv:2504.08009. The shifts, and the
 * test whether a sum can be trusted, are ours.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 610 && GT_FLOAT && GT_SIZEOF_ACC == 8
enum {
    GT_RESIDUES_LEAST = 14,
    GT_RESIDUES_MOST = 16,
    GT_RESIDUES_K_MAX = 65536, /* sums of k products of residues fit 31 bits */
    GT_SIZE_BITS = 7,          /* of an element's size: see gt_size_byte */
    GT_LIMBS = 4,              /* M has 126 bits: three limbs of 31 bits and the rest */
    GT_LIMB_BITS = 31,
};

GT_INLINE int gt_modulus(int l) {
    const int p[GT_RESIDUES_MOST] = {256, 255, 253, 251, 247, 241, 239, 233,
                                     229, 227, 223, 217, 211, 199, 197, 193};
    return p[l];
}

/* The inverse of M / p(l) modulo p(l). */
GT_INLINE int gt_modulus_inverse(int count, int l) {
    const unsigned char of[GT_RESIDUES_MOST - GT_RESIDUES_LEAST + 1][GT_RESIDUES_MOST] = {
        {37, 214, 183, 15, 175, 197, 95, 149, 210, 153, 206, 136, 172, 142},
        {225, 137, 191, 181, 120, 1, 140, 80, 65, 63, 95, 80, 48, 128, 91},
        {33, 224, 195, 157, 135, 5, 184, 231, 30, 125, 34, 69, 138, 45, 125, 116},
    };
    return of[count - GT_RESIDUES_LEAST][l];
}

/* 2^this bounds the integer products: at most 0.9 of M / 2. */
GT_INLINE int gt_product_bits(int count) {
    return count == 14 ? 109 : count == 15 ? 116 : 124;
}

/* ---- numbers of f64 ---- */

/* |x| = m 2^e, with 0 <= m < 2^53. */
struct gt_parts {
    unsigned long long m;
    int e;
};

GT_INLINE struct gt_parts gt_parts_of(double x) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(x);
    const unsigned long long fraction = bits & ((1ull << 52) - 1);
    const int field = (int)(bits >> 52) & 2047;
    struct gt_parts parts;
    parts.m = fraction | (unsigned long long)(field != 0) << 52;
    parts.e = (field != 0 ? field : 1) - 1075;
    return parts;
}

/* The least e with |x| < 2^e; x is not 0. */
GT_INLINE int gt_exponent(double x) {
    const struct gt_parts parts = gt_parts_of(x);
    return parts.e + 64 - __clzll((long long)parts.m);
}

/* The greatest e for which x is a multiple of 2^e; x is not 0. */
GT_INLINE int gt_lowest(double x) {
    const struct gt_parts parts = gt_parts_of(x);
    return parts.e + 63 - __clzll((long long)(parts.m & (~parts.m + 1)));
}

GT_INLINE double gt_power(int e) {
    return __longlong_as_double((long long)(e + 1023) << 52);
}

/* x 2^e, |e| < 3000. The steps go one way: if one leaves the range, the result does. */
GT_INLINE double gt_scaled(double x, int e) {
    const int third = e / 3;
    return x * gt_power(third) * gt_power(third) * gt_power(e - 2 * third);
}

/* ---- a line ---- */

struct gt_line {
    double sum;  /* of the sizes of the scaled elements; infinite or NaN as they are */
    double half; /* rounding to integers changes an element at most by this: 1/2 or 0 */
    double unit; /* of gt_size_byte, in the scaled elements */
    int shift;
    int top; /* scaled elements are below 2^top */
};

/* `most` and `sum`: of the sizes of all elements. All are multiples of 2^lowest. */
GT_INLINE struct gt_line gt_line_of(int count, double most, double sum, int lowest) {
    struct gt_line line = {sum, 0, 1, 0, GT_SIZE_BITS};
    if (most > 0) {
        const int e = gt_exponent(most), e_sum = gt_exponent(sum);
        const int less = gt_scaled(most, -e) * gt_scaled(sum, -e_sum) < 0.5;
        line.shift = (gt_product_bits(count) - (e + e_sum - less)) >> 1;
        line.top = e + line.shift;
        line.sum = gt_scaled(sum, line.shift);
        line.half = lowest + line.shift >= 0 ? 0 : 0.5;
        line.unit = gt_scaled(1, line.top - GT_SIZE_BITS);
    }
    return line;
}

/* ---- an element ---- */

/* The integer next to |x| 2^shift, at most 2^62. */
GT_INLINE unsigned long long gt_integer(double x, int shift) {
    const struct gt_parts parts = gt_parts_of(x);
    const int by = GT_MIN(parts.e + shift, 62); /* more: x is not finite */
    if (by >= 0)
        return parts.m << by;
    return by < -54 ? 0 : (parts.m + (1ull << (-by - 1))) >> -by;
}

/* The upper bits of the integer of an element. This times the line's unit is at most the
 * scaled element's size. A line that is not finite may have any top: its sums are never
 * trusted, and the mask keeps the shift defined. */
GT_INLINE int gt_size_byte(unsigned long long integer, int top) {
    const unsigned long long size = integer >> ((top - GT_SIZE_BITS) & 63);
    return size < 127 ? (int)size : 127;
}

/* The numbers of a modulus that gt_residue uses. */
struct __align__(16) gt_reducer {
    unsigned p, reciprocal;
    unsigned weights[2]; /* byte i, of 8: 2^(8 i) modulo p; for A times inverse(l) */
};

GT_INLINE struct gt_reducer gt_reducer_of(int count, int l, int of_a) {
    const unsigned p = (unsigned)gt_modulus(l);
    unsigned w = of_a ? (unsigned)gt_modulus_inverse(count, l) : 1;
    struct gt_reducer r = {p, (unsigned)(((1ull << 32) + p - 1) / p), {0, 0}};
    GT_UNROLL
    for (int i = 0; i < 8; i++) {
        r.weights[i / 4] |= w << i % 4 * 8;
        w = w * 256 % p;
    }
    return r;
}

/* The residue of +-integer next to 0, by the sum of its bytes times their weights. */
GT_INLINE int gt_residue(struct gt_reducer r, unsigned long long integer, int negative) {
    const unsigned low = __dp4a((unsigned)integer, r.weights[0], 0u);
    const unsigned sum = __dp4a((unsigned)(integer >> 32), r.weights[1], low);
    /* sum < 8 x 255 x 255 < 4096 p */
    const unsigned above = (negative ? 0u - sum : sum) + 4096 * r.p + r.p / 2;
    return (int)(above - __umulhi(above, r.reciprocal) * r.p) - (int)(r.p / 2);
}

/* ---- a sum ---- */

/* The numbers of a modulus that gt_sum_residue uses. */
struct gt_divisor {
    unsigned p, above, reciprocal;
};

GT_INLINE struct gt_divisor gt_divisor_of(int l) {
    struct gt_divisor d;
    d.p = (unsigned)gt_modulus(l);
    d.above = ((1u << 30) / d.p + 1) * d.p;
    d.reciprocal = (unsigned)((1ull << 39) / d.p);
    return d;
}

/* A number from 0 to 255 that is `sum` modulo p; |sum| <= 2^30. The quotient is at most 1
 * too small, and only for multiples of p: p stands for 0 then. */
GT_INLINE unsigned gt_sum_residue(int sum, struct gt_divisor d) {
    const unsigned x = (unsigned)sum + d.above;
    return x - (__umulhi(x, d.reciprocal) >> 7) * d.p;
}

/* The numbers of a modulus that gt_total_add uses. */
struct __align__(16) gt_cofactor {
    int limb[GT_LIMBS]; /* of M / p(l), which has 118 bits */
    float share;        /* 1 / p(l) */
};

GT_INLINE struct gt_cofactor gt_cofactor_of(int count, int l) {
    struct gt_cofactor c = {{1, 0, 0, 0}, 1.0f / (float)gt_modulus(l)};
    for (int j = 0; j < count; j++) {
        const long long p = j == l ? 1 : gt_modulus(j);
        long long carry = 0;
        GT_UNROLL
        for (int h = 0; h < GT_LIMBS; h++) {
            const long long x = c.limb[h] * p + carry;
            c.limb[h] = (int)(x & ((1ll << GT_LIMB_BITS) - 1));
            carry = x >> GT_LIMB_BITS;
        }
    }
    return c;
}

/* The sum of y(l) M / p(l), and of y(l) / p(l). */
struct gt_total {
    long long limb[GT_LIMBS];
    float turns;
};

GT_INLINE void gt_total_clear(struct gt_total *t) {
    GT_UNROLL
    for (int h = 0; h < GT_LIMBS; h++)
        t->limb[h] = 0;
    t->turns = 0;
}

GT_INLINE void gt_total_add(struct gt_total *t, struct gt_cofactor c, int y) {
    GT_UNROLL
    for (int h = 0; h < GT_LIMBS; h++)
        t->limb[h] += (long long)c.limb[h] * y;
    t->turns += (float)y * c.share;
}

/* Limbs that are below 2^31, but for the last one. */
GT_INLINE void gt_carry(long long sums[GT_LIMBS]) {
    GT_UNROLL
    for (int h = 0; h + 1 < GT_LIMBS; h++) {
        sums[h + 1] += sums[h] >> GT_LIMB_BITS;
        sums[h] &= (1ll << GT_LIMB_BITS) - 1;
    }
}

/* The number with these limbs, rounded once or, by less than 2^-8 units more, twice. The
 * parts that are added have one sign, so nothing cancels. */
GT_INLINE double gt_from_limbs(long long sums[GT_LIMBS]) {
    gt_carry(sums);
    const int negative = sums[GT_LIMBS - 1] < 0;
    GT_UNROLL
    for (int h = 0; h < GT_LIMBS; h++)
        sums[h] = negative ? -sums[h] : sums[h];
    gt_carry(sums);
    const long long high = (sums[3] << GT_LIMB_BITS) + sums[2];
    const long long low = (sums[1] << GT_LIMB_BITS) + sums[0];
    const double rounded = (double)high;
    const double rest = (double)(high - (long long)rounded) * 0x1p62 + (double)low;
    const double x = rounded * 0x1p62 + rest;
    return negative ? -x : x;
}

/* The integer X: the total less the multiple of M that is next to it. `first` is the
 * cofactor of modulus 0, so p(0) times it is M. */
GT_INLINE double gt_total_value(struct gt_total *t, struct gt_cofactor first) {
    const int turns = (int)(t->turns + 0.5f);
    gt_total_add(t, first, -turns * gt_modulus(0));
    return gt_from_limbs(t->limb);
}

/*
 * Whether an integer product of two lines has the promised accuracy: the rounding of its
 * factors changes it by at most min(k / 2, 9) u |A||B|. `sizes` is the product of the
 * lines' size bytes. Comparisons with NaN are false.
 */
GT_INLINE int gt_trusted(struct gt_line a, struct gt_line b, int sizes, int k) {
    const double changed = a.half * b.sum + b.half * a.sum + a.half * b.half * k;
    const double allowed = GT_MIN(k * 0.5, 8.99) * 0x1p-53;
    return changed <= allowed * sizes * a.unit * b.unit;
}
#endif
