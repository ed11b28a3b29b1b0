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
    GT_TRIO = 3,               /* moduli that gt_total_add takes at once */
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

/* An integer up to 2^62 with its sign, plus 2^63: no number below 0. */
GT_INLINE unsigned long long gt_raised(unsigned long long integer, int negative) {
    return (1ull << 63) + (negative ? 0 - integer : integer);
}

/* The numbers of a modulus that gt_residue uses. */
struct __align__(16) gt_reducer {
    unsigned weights[2]; /* byte i, of 8: 2^(8 i) modulo p; for A times inverse(l) */
    unsigned start;      /* a float's bits: GT_WHOLE, and what takes 2^63 away modulo p */
    float share, minus;  /* 1 / p and -p */
};

/* A float that has whole numbers for neighbours. Its low bits count them. */
#define GT_WHOLE 12582912.0f /* 1.5 * 2^23 */

GT_INLINE struct gt_reducer gt_reducer_of(int count, int l, int of_a) {
    const unsigned p = (unsigned)gt_modulus(l);
    unsigned w = of_a ? (unsigned)gt_modulus_inverse(count, l) : 1;
    struct gt_reducer r = {{0, 0}, 0, 1.0f / (float)p, -(float)p};
    GT_UNROLL
    for (int i = 0; i < 8; i++) {
        r.weights[i / 4] |= w << i % 4 * 8;
        r.start = __float_as_uint(GT_WHOLE) + (p - w * 128 % p) % p;
        w = w * 256 % p;
    }
    return r;
}

/*
 * A number whose low byte is the residue next to 0 of a raised integer without the raise.
 * The sum of the bytes times their weights is below 2^19, so floats hold it, and its
 * quotient by p is never as close to a half as its error.
 */
GT_INLINE unsigned gt_residue(struct gt_reducer r, unsigned long long raised) {
    const unsigned low = __dp4a((unsigned)raised, r.weights[0], r.start);
    const float sum = __uint_as_float(__dp4a((unsigned)(raised >> 32), r.weights[1], low));
    const float turns = fmaf(sum - GT_WHOLE, r.share, GT_WHOLE) - GT_WHOLE;
    return __float_as_uint(fmaf(turns, r.minus, sum));
}

/* ---- a sum ---- */

/* The numbers of a modulus that gt_sum_residue uses. */
struct __align__(16) gt_divisor {
    unsigned p, reciprocal;
    unsigned start; /* a multiple of p, 2^30 at least: sums that begin with it, not with 0,
                     * are never below 0 */
};

GT_INLINE struct gt_divisor gt_divisor_of(int l) {
    const unsigned p = (unsigned)gt_modulus(l);
    const struct gt_divisor d = {p, (unsigned)((1ull << 39) / p), ((1u << 30) / p + 1) * p};
    return d;
}

/* A number from 0 to 255 that is `sum` modulo p; sum <= 2^31 + 256. The quotient is at most
 * 1 too small, and only for multiples of p: p stands for 0 then. */
GT_INLINE unsigned gt_sum_residue(unsigned sum, struct gt_divisor d) {
    return sum - (__umulhi(sum, d.reciprocal) >> 7) * d.p;
}

/* The low bytes of four numbers, the first one lowest. */
GT_INLINE unsigned gt_pack_bytes(unsigned a, unsigned b, unsigned c, unsigned d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/*
 * The moduli are added up in trios: 0 1 2, 3 4 5 and so on; the last may have fewer. For a
 * trio with the product P,
 *
 *     sum of y(l) M / p(l) = M / P t,    t = sum of y(l) P / p(l) < 2^26
 */
GT_INLINE int gt_trios(int count) {
    return (count + GT_TRIO - 1) / GT_TRIO;
}

/* The numbers of a trio that gt_total_add uses. */
struct __align__(16) gt_cofactor {
    unsigned low, middle; /* M / P, 32 bits each, and the bits above */
    unsigned long long high;
    unsigned weights[2]; /* P / p(l), 16 bits each */
    float share;         /* 1 / P */
};

/* The product of all moduli but those of a trio: M for trio gt_trios(count). */
GT_INLINE struct gt_cofactor gt_cofactor_of(int count, int trio) {
    struct gt_cofactor c = {1, 0, 0, {1, 1}, 1};
    unsigned weight[GT_TRIO] = {1, 1, 1}, product = 1;
    for (int l = 0; l < count; l++) {
        const unsigned p = (unsigned)gt_modulus(l);
        if (l / GT_TRIO == trio) {
            product *= p;
            for (int i = 0; i < GT_TRIO; i++)
                weight[i] *= i == l % GT_TRIO ? 1 : p;
        } else {
            const unsigned long long low = (unsigned long long)c.low * p;
            const unsigned long long mid = (unsigned long long)c.middle * p + (low >> 32);
            c.low = (unsigned)low;
            c.middle = (unsigned)mid;
            c.high = c.high * p + (mid >> 32);
        }
    }
    c.weights[0] = (weight[0] & 0xffff) | weight[1] << 16;
    c.weights[1] = weight[2];
    c.share = 1.0f / (float)product;
    return c;
}

/* The sum of M / P t, in words of 32 bits that may have more, and of t / P. */
struct gt_total {
    long long low, middle;
    unsigned long long high; /* modulo 2^64 */
    float turns;
};

GT_INLINE void gt_total_clear(struct gt_total *t) {
    t->low = t->middle = 0;
    t->high = 0;
    t->turns = 0;
}

GT_INLINE void gt_total_add_times(int count, struct gt_total *t, struct gt_cofactor c,
                                  int times) {
    /* High has more than 32 bits with 16 moduli only. */
    const unsigned long long high = count < 16 ? (unsigned)c.high : c.high;
    t->low += (long long)c.low * times;
    t->middle += (long long)c.middle * times;
    t->high += high * (unsigned long long)(long long)times;
}

/* Adds a trio, whose y are the low bytes of `ys`. The fourth byte is 0. */
GT_INLINE void gt_total_add(int count, struct gt_total *t, struct gt_cofactor c,
                            unsigned ys) {
    const unsigned sum =
        __dp2a_hi(c.weights[1], ys, __dp2a_lo(c.weights[0], ys, 0u));
    gt_total_add_times(count, t, c, (int)sum);
    t->turns += (float)(int)sum * c.share;
}

/* high 2^64 + low, times 2^e, rounded once, and once more where the result is subnormal;
 * high is at least -2^62. */
GT_INLINE double gt_from_words(long long high, unsigned long long low, int e) {
    const int negative = high < 0;
    unsigned long long top = negative ? ~(unsigned long long)high + (low == 0)
                                      : (unsigned long long)high;
    low = negative ? 0 - low : low;
    if (top == 0) {
        top = low;
        low = 0;
        e -= 64;
    }
    const int zeros = __clzll((long long)top) & 63;
    top = top << zeros | low >> 1 >> (63 - zeros);
    top |= low << zeros != 0; /* decides a rounding that would be a tie */
    const double x = (double)top;
    e += 64 - zeros;
    /* x is 0 or about 2^64. */
    const double size =
        e > -1000 && e < 900 ? x * gt_power(e) : gt_scaled(gt_scaled(x, -64), e + 64);
    return negative ? -size : size;
}

/* The integer X times 2^e: the total less the multiple of M that is next to it. `all` is
 * the cofactor of no trio, M. */
GT_INLINE double gt_total_value(struct gt_total *t, struct gt_cofactor all, int e) {
    gt_total_add_times(16, t, all, -(int)(t->turns + 0.5f));
    const long long middle = t->middle + (t->low >> 32);
    const unsigned long long low =
        (unsigned long long)middle << 32 | (unsigned)t->low;
    const unsigned long long high = t->high + (unsigned long long)(middle >> 32);
    return gt_from_words((long long)high, low, e);
}

/* The share of |A||B| by which rounding to integers may change a sum of k products. It is a
 * thousandth below min(k / 2, 2 sqrt(k)) u. That pays for the roundings in gt_trusted and
 * in the sums of lines, and for size bytes of integers that were rounded up. */
GT_INLINE double gt_allowed(int k) {
    return GT_MIN(k * 0.4995, 1.998 * sqrt((double)k)) * 0x1p-53;
}

/*
 * Whether an integer product of two lines has the promised accuracy: the rounding of its
 * factors changes it by at most `allowed` |A||B|. `sizes` is the product of the lines' size
 * bytes, over some of k or all of it. Comparisons with NaN are false.
 */
GT_INLINE int gt_trusted(struct gt_line a, struct gt_line b, int sizes, int k,
                         double allowed) {
    const double changed = a.half * b.sum + b.half * a.sum + a.half * b.half * k;
    return changed <= allowed * sizes * a.unit * b.unit;
}
#endif
