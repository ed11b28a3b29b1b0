/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_residues.c - templates/common/residues.h: residues and sums against plain integer
 * arithmetic, and whole dot products against a compensated sum in a wider type, with the
 * bound that docs/residues.md derives. The functions are also C and are compiled here.
 */
#include "tests/chance.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* residues.h uses these names of CUDA and of the parts before it. */
#define GT_OPENCL     0
#define __CUDA_ARCH__ 610
#define GT_INLINE     static inline
#define GT_UNROLL
#define GT_FLOAT      1
#define GT_SIZEOF_ACC 8
#define __align__(bytes)
#define GT_MIN(a, b) ((a) < (b) ? (a) : (b))
static inline long long __double_as_longlong(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double __longlong_as_double(long long bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
static inline unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((uint64_t)a * b >> 32);
}
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
static inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
    return __dp2a_lo(a, b >> 16, c);
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned which) {
    const uint64_t both = (uint64_t)b << 32 | a;
    unsigned word = 0;
    for (int i = 0; i < 4; i++)
        word |= (unsigned)(both >> (which >> 4 * i & 7) * 8 & 255) << 8 * i;
    return word;
}
static inline unsigned __float_as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __uint_as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#include "templates/common/residues.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_bits;

enum { K_MAX = 4096, TRIALS = 20000 };

static wide modulus_product(int count) {
    wide product = 1;
    for (int l = 0; l < count; l++)
        product *= gt_modulus(l);
    return product;
}

/* From 0 to p - 1. */
static int modulo(wide x, int p) {
    const int r = (int)(x % p);
    return r < 0 ? r + p : r;
}

/* ---- tables ---- */

static void moduli_are_coprime(void **state) {
    for (int l = 0; l < GT_RESIDUES_MOST; l++)
        for (int j = 0; j < l; j++) {
            int a = gt_modulus(l), b = gt_modulus(j);
            while (b != 0) {
                const int rest = a % b;
                a = b;
                b = rest;
            }
            assert_int_equal(a, 1);
        }
}

static void inverses_are_inverses(void **state) {
    for (int count = GT_RESIDUES_LEAST; count <= GT_RESIDUES_MOST; count++)
        for (int l = 0; l < count; l++) {
            const wide cofactor = modulus_product(count) / gt_modulus(l);
            assert_int_equal(modulo(cofactor * gt_modulus_inverse(count, l), gt_modulus(l)),
                             1);
        }
}

/* Sums stay below M / 2, with room for the float that counts turns. */
static void products_are_bounded(void **state) {
    for (int count = GT_RESIDUES_LEAST; count <= GT_RESIDUES_MOST; count++) {
        const double most = ldexp(1, gt_product_bits(count));
        const double half = (double)modulus_product(count) / 2;
        assert_true(most <= 0.9 * half && most >= half / 4);
    }
}

/* ---- residues ---- */

/* The byte that a plane has. */
static int residue_of(struct gt_reducer r, unsigned long long integer, int negative) {
    return (int8_t)(gt_residue(r, gt_raised(integer, negative)) & 255);
}

static void check_residues(int count, uint64_t integer, int negative) {
    const wide x = negative ? -(wide)integer : (wide)integer;
    for (int l = 0; l < count; l++) {
        const int p = gt_modulus(l);
        const int of_b = residue_of(gt_reducer_of(count, l, 0), integer, negative);
        const int of_a = residue_of(gt_reducer_of(count, l, 1), integer, negative);
        assert_in_range(of_b + 128, 128 - p / 2, 128 + (p - 1) / 2);
        assert_in_range(of_a + 128, 128 - p / 2, 128 + (p - 1) / 2);
        assert_int_equal(modulo(of_b, p), modulo(x, p));
        assert_int_equal(modulo(of_a, p), modulo(x * gt_modulus_inverse(count, l), p));
    }
}

static void residues_are_right(void **state) {
    for (int count = GT_RESIDUES_LEAST; count <= GT_RESIDUES_MOST; count++) {
        check_residues(count, 0, 0);
        check_residues(count, UINT64_C(1) << 62, 1);
        for (int i = 0; i < TRIALS; i++)
            check_residues(count, any_bits() >> (2 + i % 60), i & 1);
    }
}

static void check_sum(int32_t sum) {
    for (int l = 0; l < GT_RESIDUES_MOST; l++) {
        const unsigned raised = (unsigned)sum + gt_divisor_of(l).start;
        const unsigned y = gt_sum_residue(raised, gt_divisor_of(l));
        assert_in_range(y, 0, 255);
        assert_int_equal(modulo(y, gt_modulus(l)), modulo(sum, gt_modulus(l)));
    }
}

static void residues_of_sums_are_right(void **state) {
    const int32_t most = 1 << 30;
    for (int i = 0; i < 2000; i++) {
        check_sum(i - 1000);
        check_sum(most - i);
        check_sum(i - most);
    }
    for (int i = 0; i < TRIALS; i++)
        check_sum((int32_t)(any_bits() >> 33) - most);
}

/* The integer X of y(0) to y(count - 1), times 2^e. */
static double number_times(int count, const unsigned *y, int e) {
    const int trios = gt_trios(count);
    struct gt_total total;
    gt_total_clear(&total);
    for (int t = 0; t < trios; t++) {
        unsigned byte[4] = {0};
        for (int l = t * GT_TRIO; l < GT_MIN(count, (t + 1) * GT_TRIO); l++)
            byte[l % GT_TRIO] = y[l];
        gt_total_add(count, &total, gt_cofactor_of(count, t),
                     gt_pack_bytes(byte[0], byte[1], byte[2], byte[3]));
    }
    return gt_total_value(&total, gt_cofactor_of(count, trios), e);
}

static double number_of(int count, const unsigned *y) {
    return number_times(count, y, 0);
}

static void check_number(int count, wide x) {
    unsigned y[GT_RESIDUES_MOST];
    for (int l = 0; l < count; l++)
        y[l] = (unsigned)modulo(x % gt_modulus(l) * gt_modulus_inverse(count, l),
                                gt_modulus(l));
    const double got = number_of(count, y), nearest = (double)x;
    assert_true(got == nearest);
    assert_true(number_times(count, y, -1100) == ldexp(nearest, -1100) ||
                fabs(nearest) < 0x1p100);
}

static void numbers_return_from_residues(void **state) {
    for (int count = GT_RESIDUES_LEAST; count <= GT_RESIDUES_MOST; count++) {
        const int bits = gt_product_bits(count);
        for (int i = -2; i <= 2; i++)
            check_number(count, i);
        check_number(count, (wide)1 << bits);
        check_number(count, -((wide)1 << bits));
        for (int i = 0; i < TRIALS; i++) {
            const wide any = (wide)((wide_bits)any_bits() << 64 | any_bits());
            const wide x = any >> (128 - bits + i % bits);
            check_number(count, x);
            check_number(count, x >> 127 != 0 ? x : -x);
        }
    }
}

/* Integers of up to 53 bits with zeros below come back exactly. */
static void exact_numbers_stay_exact(void **state) {
    unsigned y[GT_RESIDUES_MOST];
    for (int i = 0; i < TRIALS; i++) {
        const wide x = ((int64_t)any_bits() >> (11 + i % 50)) * ((wide)1 << i % 70);
        for (int l = 0; l < GT_RESIDUES_MOST; l++)
            y[l] = (unsigned)modulo(
                x % gt_modulus(l) * gt_modulus_inverse(GT_RESIDUES_MOST, l), gt_modulus(l));
        assert_true(number_of(GT_RESIDUES_MOST, y) == (double)x);
    }
}

/* ---- dot products ---- */

struct dot {
    double value;
    bool trusted;
};

static struct gt_line line_of(int count, const double *x, int k) {
    double most = 0, sum = 0;
    int lowest = 5000;
    for (int i = 0; i < k; i++) {
        const double size = fabs(x[i]);
        most = size > most ? size : most;
        sum += size;
        lowest = size > 0 ? GT_MIN(lowest, gt_lowest(size)) : lowest;
    }
    return gt_line_of(count, most, sum, lowest);
}

/* As the kernels do it. */
static struct dot multiply(int count, const double *x, const double *y, int k) {
    const struct gt_line a = line_of(count, x, k), b = line_of(count, y, k);
    unsigned residue[GT_RESIDUES_MOST];
    int32_t sum[GT_RESIDUES_MOST] = {0};
    int sizes = 0;
    for (int i = 0; i < k; i++) {
        const unsigned long long u = gt_integer(x[i], a.shift),
                                 v = gt_integer(y[i], b.shift);
        sizes += gt_size_byte(u, a.top) * gt_size_byte(v, b.top);
        for (int l = 0; l < count; l++)
            sum[l] += residue_of(gt_reducer_of(count, l, 1), u, x[i] < 0) *
                      residue_of(gt_reducer_of(count, l, 0), v, y[i] < 0);
    }
    for (int l = 0; l < count; l++)
        residue[l] =
            gt_sum_residue((unsigned)sum[l] + gt_divisor_of(l).start, gt_divisor_of(l));
    return (struct dot){number_times(count, residue, -a.shift - b.shift),
                        gt_trusted(a, b, sizes, k, gt_allowed(k)) != 0};
}

/* A trusted value is within the bound of docs/residues.md. */
static void check_dot(const struct dot *got, const double *x, const double *y, int k) {
    long double sum = 0, rest = 0, sizes = 0;
    for (int i = 0; i < k; i++) {
        const long double term = (long double)x[i] * y[i];
        const long double next = sum + term, part = next - sum;
        rest += fmal(x[i], y[i], -term) + (sum - (next - part)) + (term - part);
        sum = next;
        sizes += fabsl(term);
    }
    const long double want = sum + rest, u = 0x1p-53L;
    if (got->trusted)
        assert_true(fabsl(got->value - want) <= fmin(k / 2.0, 2 * sqrt(k)) * u * sizes +
                                                    1.01L * u * fabsl(want) + DBL_TRUE_MIN);
}

typedef double maker(int i);

static double uniform(int i) {
    return any_uniform();
}
static double one_signed(int i) {
    return fabs(any_uniform());
}
static double nearly_normal(int i) {
    double sum = 0;
    for (int j = 0; j < 12; j++)
        sum += any_uniform();
    return sum;
}
static double small_integer(int i) {
    return (double)(any_bits() % 11) - 5;
}
static double sparse(int i) {
    return i % 2 == 0 ? any_uniform() : 0;
}
static double tiny(int i) {
    return any_uniform() * 0x1p-1020;
}
static double subnormal(int i) {
    return any_uniform() * 0x1p-1040;
}
static double huge(int i) {
    return any_uniform() * 0x1p1005;
}
static double narrow(int i) {
    return ldexp(any_uniform(), (int)(any_bits() % 4));
}
static double tall(int i) { /* one element is above all others */
    return i == 0 ? 40 : any_uniform();
}
static double broad(int i) { /* one element is far above all others */
    return i == 0 ? 0x1p60 : any_uniform();
}
static double broad_elsewhere(int i) {
    return i == 1 ? 0x1p60 : any_uniform();
}
static double random_exponent(int i) {
    return ldexp(any_uniform(), (int)(any_bits() % 400) - 200);
}
static double zero(int i) {
    return i & 1 ? 0.0 : -0.0;
}
static double not_finite(int i) {
    return i == 3 ? (double)INFINITY : any_uniform();
}
static double not_a_number(int i) {
    return i == 3 ? (double)NAN : any_uniform();
}

/* Some dot products; how many can be trusted. */
static int trusted(int count, maker *of_x, maker *of_y, int k, int dots) {
    static double x[K_MAX], y[K_MAX];
    int found = 0;
    for (int d = 0; d < dots; d++) {
        for (int i = 0; i < k; i++) {
            x[i] = of_x(i);
            y[i] = of_y(i);
        }
        const struct dot got = multiply(count, x, y, k);
        check_dot(&got, x, y, k);
        found += got.trusted;
    }
    return found;
}

static void sums_keep_the_bound(void **state) {
    static const struct {
        maker *x, *y;
        bool right; /* all sums of 15 moduli and k of 20 or more are trusted, or none */
    } rows[] = {
        {uniform, uniform, true},
        {one_signed, one_signed, true},
        {nearly_normal, uniform, true},
        {small_integer, small_integer, true},
        {sparse, uniform, true},
        {tiny, huge, true},
        {subnormal, huge, true},
        {narrow, narrow, true},
        {zero, uniform, true},
        {broad, broad_elsewhere, false},
        {not_finite, small_integer, false},
        {zero, not_a_number, false},
    };
    static const int depths[] = {20, 33, 200, 1000, K_MAX};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
            assert_int_equal(trusted(15, rows[r].x, rows[r].y, depths[d], 10),
                             rows[r].right ? 10 : 0);
}

static void short_sums_keep_the_bound(void **state) {
    for (int count = GT_RESIDUES_LEAST; count <= GT_RESIDUES_MOST; count++)
        for (int k = 0; k < 20; k++) {
            (void)trusted(count, uniform, uniform, k, 50);
            (void)trusted(count, random_exponent, narrow, k, 50);
            (void)trusted(count, random_exponent, random_exponent, k, 50);
            assert_int_equal(trusted(count, small_integer, small_integer, k, 20), 20);
        }
    assert_int_equal(trusted(15, random_exponent, random_exponent, 1, 20), 20);
    assert_in_range(trusted(15, random_exponent, random_exponent, 1000, 20), 0, 5);
}

/* Integers have no rounding, so sums are exact. */
static void integers_are_exact(void **state) {
    double x[30], y[30];
    for (int t = 0; t < 200; t++) {
        double want = 0;
        for (int i = 0; i < 30; i++) {
            x[i] = small_integer(i);
            y[i] = small_integer(i);
            want += x[i] * y[i];
        }
        const struct dot got = multiply(14 + t % 3, x, y, 30);
        assert_true(got.trusted && got.value == want);
    }
}

/* More moduli allow more bits; fewer do not reach the bound for long sums. */
static void moduli_decide_the_depth(void **state) {
    assert_int_equal(trusted(14, uniform, uniform, 64, 20), 20);
    assert_int_equal(trusted(14, uniform, uniform, K_MAX, 20), 20);
    assert_int_equal(trusted(14, tall, tall, K_MAX, 20), 0);
    assert_int_equal(trusted(15, tall, tall, K_MAX, 20), 20);
    assert_int_equal(trusted(16, nearly_normal, nearly_normal, K_MAX, 20), 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moduli_are_coprime),
        cmocka_unit_test(inverses_are_inverses),
        cmocka_unit_test(products_are_bounded),
        cmocka_unit_test(residues_are_right),
        cmocka_unit_test(residues_of_sums_are_right),
        cmocka_unit_test(numbers_return_from_residues),
        cmocka_unit_test(exact_numbers_stay_exact),
        cmocka_unit_test(sums_keep_the_bound),
        cmocka_unit_test(short_sums_keep_the_bound),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(moduli_decide_the_depth),
    };
    return cmocka_run_group_tests_name("residues", tests, NULL, NULL);
}
