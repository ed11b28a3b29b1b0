/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fragments.c - where templates/common/fragments.h puts the bytes of a slab, and where
 * lanes read them. The functions that compute places are also C and are compiled here; what
 * ldmatrix does with them is written anew (PTX ISA, ldmatrix).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* fragments.h uses these names of the parts before it. */
#define GT_OPENCL     0
#define GT_ARCH       0
#define __CUDA_ARCH__ 0
#define GT_INLINE     static inline
#define GT_UNROLL
#define GT_FLOAT        1
#define GT_FAST         0
#define GT_SIZEOF_A     2
#define GT_SIZEOF_ACC   8 /* without products */
#define GT_NUMBER(type) 0
#define asm __asm__
typedef uint16_t gt_a;
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const uint64_t bytes = (uint64_t)y << 32 | x;
    unsigned out = 0;
    for (int i = 0; i < 4; i++)
        out |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return out;
}
#include "templates/common/fragments.h"

enum { LANES = 32, SLAB_MAX = 256 * 256 };

/* A slab of `lines` by `deep` bytes of k in shared memory. */
static struct slab {
    int size, along, lines, deep, of_b;
    int rows, length;
    uint8_t bytes[SLAB_MAX];
} slab;

/* The byte of the matrix at byte k of a line: neighbours differ. */
static uint8_t value(int line, int k) {
    return (uint8_t)((uint32_t)(line * 131 + k * 37 + line * k / 8 * 11) * 2654435761u >>
                     13);
}

/* Every byte has a place of its own, and 16 neighbours stay together. */
static void fill(void) {
    static bool taken[SLAB_MAX];
    slab.rows = slab.along ? slab.lines : slab.deep / slab.size;
    slab.length = slab.along ? slab.deep : slab.lines * slab.size;
    memset(taken, 0, sizeof taken);
    for (int row = 0; row < slab.rows; row++)
        for (int byte = 0; byte < slab.length; byte++) {
            const int at = gt_slab_place(slab.size, slab.along, slab.length, row, byte);
            const int chunk =
                gt_slab_place(slab.size, slab.along, slab.length, row, byte / 16 * 16);
            assert_in_range(at, 0, slab.rows * slab.length - 1);
            assert_false(taken[at]);
            assert_int_equal(at, chunk + byte % 16);
            taken[at] = true;
            slab.bytes[at] =
                slab.along ? value(row, byte)
                           : value(byte / slab.size, row * slab.size + byte % slab.size);
        }
}

/* ---- what the hardware reads ---- */

static unsigned word_at(int at) {
    unsigned word;
    memcpy(&word, slab.bytes + at, sizeof word);
    return word;
}

/* No two of `count` addresses lie in a bank: `wide` bytes of the 128 of all banks. */
static void assert_apart(const int *at, int count, int wide) {
    unsigned banks = 0;
    for (int i = 0; i < count; i++) {
        const unsigned bank = 1u << at[i] / wide % (128 / wide);
        assert_int_equal(at[i] % wide, 0);
        assert_int_equal(banks & bank, 0);
        banks |= bank;
    }
}

/* Quarter q for each lane; lanes 8 q to 8 q + 7 address its rows. */
static void load_quarter(unsigned word[LANES], const int at[LANES], int q,
                         bool transposed) {
    assert_apart(at + 8 * q, 8, 16);
    for (int lane = 0; lane < LANES; lane++) {
        const int g = lane / 4, t = lane % 4;
        const int low = at[8 * q + 2 * t] + 2 * g, high = at[8 * q + 2 * t + 1] + 2 * g;
        word[lane] = transposed ? (word_at(low & ~3) >> 8 * (low & 2) & 65535) |
                                      (word_at(high & ~3) >> 8 * (high & 2) & 65535) << 16
                                : word_at(at[8 * q + g] + 4 * t);
    }
}

/* As gt_fragment_load, for all lanes. */
static void load(unsigned f[4][LANES], const int place[LANES], int i, int q) {
    int at[LANES], upper[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        at[lane] = gt_fragment_at(slab.size, slab.along, slab.length, place[lane], i, q);
        upper[lane] =
            gt_fragment_at(slab.size, slab.along, slab.length, place[lane] ^ 32, i, q);
    }
    if (slab.size == 4 && !slab.along) {
        assert_apart(at, LANES, 4);
        assert_apart(upper, LANES, 4);
        for (int lane = 0; lane < LANES; lane++) {
            f[0][lane] = word_at(at[lane]);
            f[slab.of_b ? 1 : 2][lane] = word_at(at[lane] + 4 * slab.length);
            f[slab.of_b ? 2 : 1][lane] = word_at(upper[lane]);
            f[3][lane] = word_at(upper[lane] + 4 * slab.length);
        }
        return;
    }
    for (int quarter = 0; quarter < 4; quarter++)
        load_quarter(f[quarter], at, quarter, !slab.along);
    for (int lane = 0; lane < LANES && slab.size == 1 && !slab.along; lane++) {
        const unsigned x[4] = {f[0][lane], f[1][lane], f[2][lane], f[3][lane]};
        for (int last = 0; last < 2; last++) {
            f[slab.of_b ? last : 2 * last][lane] =
                __byte_perm(x[2 * last], x[2 * last + 1], 0x6420);
            f[slab.of_b ? 2 + last : 2 * last + 1][lane] =
                __byte_perm(x[2 * last], x[2 * last + 1], 0x7531);
        }
    }
}

/* ---- what the instruction wants ---- */

static void assert_fragment(unsigned f[4][LANES], int line, int k) {
    for (int q = 0; q < 4; q++) {
        const int upper = slab.of_b ? q / 2 : q % 2, last = slab.of_b ? q % 2 : q / 2;
        for (int lane = 0; lane < LANES; lane++)
            for (int byte = 0; byte < 4; byte++)
                assert_int_equal(
                    f[q][lane] >> 8 * byte & 255,
                    value(line + gt_line_of(slab.size, slab.along, lane / 4 + 8 * upper),
                          k + last * 16 + lane % 4 * 4 + byte));
    }
}

/* All fragments of the part from `line` and byte `k` on, `wide` lines by `deep` bytes. */
static void check_part(int line, int wide, int k, int deep) {
    int place[LANES];
    unsigned f[4][LANES];
    for (int lane = 0; lane < LANES; lane++)
        place[lane] =
            gt_fragment_place(slab.of_b, slab.size, slab.along, slab.length, line, k, lane);
    for (int i = 0; i < wide / GT_FRAGMENT_LINES; i++)
        for (int q = 0; q < deep / GT_FRAGMENT_BYTES; q++) {
            load(f, place, i, q);
            assert_fragment(f, line + i * GT_FRAGMENT_LINES, k + q * GT_FRAGMENT_BYTES);
        }
}

static void check_slab(void) {
    fill();
    for (int wide = 16; wide <= 128; wide *= 2)
        for (int slices = 1; slices <= 4 && slab.deep / slices >= 32; slices *= 2)
            for (int line = 0; slab.lines % wide == 0 && line < slab.lines; line += wide)
                for (int s = 0; s < slices; s++)
                    check_part(line, wide, s * (slab.deep / slices), slab.deep / slices);
}

static void check_type(int size) {
    static const int lines[] = {16, 32, 48, 64, 96, 128, 160, 192, 256};
    slab.size = size;
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        for (int deep = 32; deep <= 256; deep *= 2)
            for (int which = 0; which < 4 && lines[l] * deep <= SLAB_MAX; which++) {
                slab.lines = lines[l];
                slab.deep = deep;
                slab.along = which % 2;
                slab.of_b = which / 2;
                check_slab();
            }
}

static void test_bytes(void **state) {
    (void)state;
    check_type(1);
}

static void test_halves(void **state) {
    (void)state;
    check_type(2);
}

static void test_words(void **state) {
    (void)state;
    check_type(4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
