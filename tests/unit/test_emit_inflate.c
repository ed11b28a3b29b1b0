/* SPDX-License-Identifier: Apache-2.0 */
/* test_emit_inflate.c - the inflate of emitted folders beside zlib's deflate: whole streams
 * of all kinds, and damaged ones, which must neither be taken for whole nor be written
 * beyond their size. */
#include "tuner/emit/out/gemmkit_inflate.c"

#include "tests/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

enum { SIZE_MOST = 200000, ROOM = SIZE_MOST + 4096, GUARD = 64 };

static unsigned char text[SIZE_MOST], packed[ROOM], out[SIZE_MOST + GUARD];

/* Text of a kind: 0 noise, 1 few symbols, 2 runs, 3 words that come back from far away. */
static void make_text(size_t size, int kind) {
    for (size_t i = 0; i < size; i++) {
        const uint64_t bits = any_bits();
        if (kind == 2 && i > 0 && bits % 50 != 0)
            text[i] = text[i - 1];
        else if (kind == 3 && i > 40000 && bits % 8 != 0)
            text[i] = text[i - 32768 + bits % 2];
        else
            text[i] = (unsigned char)(kind == 1 ? bits % 5 : bits);
    }
}

static size_t pack(size_t size, int level, int strategy) {
    z_stream z = {.next_in = text, .avail_in = (uInt)size};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 9, strategy), Z_OK);
    z.next_out = packed;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t made = z.total_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return made;
}

/* Unpacks; nothing is written beyond the size. */
static bool unpack(size_t size, size_t made) {
    memset(out + size, 0x5a, GUARD);
    const bool sound = gk_inflate(out, size, packed, made);
    for (int i = 0; i < GUARD; i++)
        assert_int_equal(out[size + (size_t)i], 0x5a);
    return sound;
}

static const struct {
    int level, strategy;
} ways[] = {{0, Z_DEFAULT_STRATEGY}, {1, Z_DEFAULT_STRATEGY},
            {9, Z_DEFAULT_STRATEGY}, {9, Z_FIXED},
            {9, Z_HUFFMAN_ONLY},     {9, Z_RLE}};
enum { WAYS = sizeof ways / sizeof *ways, KINDS = 4 };

static void test_whole(void **unused) {
    static const size_t sizes[] = {1, 2, 300, 70000, SIZE_MOST};
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int w = 0; w < WAYS; w++) {
                make_text(sizes[s], kind);
                const size_t made = pack(sizes[s], ways[w].level, ways[w].strategy);
                assert_true(unpack(sizes[s], made));
                assert_memory_equal(out, text, sizes[s]);
                assert_false(unpack(sizes[s] - 1, made)); /* more than it should be */
            }
}

/* A stream that ends early is never whole. */
static void test_short(void **unused) {
    enum { SIZE = 3000 };
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++)
        for (int w = 0; w < WAYS; w++) {
            make_text(SIZE, kind);
            const size_t made = pack(SIZE, ways[w].level, ways[w].strategy);
            for (size_t cut = 0; cut < made; cut += 1 + made / 97)
                assert_false(unpack(SIZE, cut));
        }
}

/* A stream with a changed bit is refused, or has another text of the same size. */
static void test_damaged(void **unused) {
    enum { SIZE = 3000 };
    int refused = 0;
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++)
        for (int w = 1; w < WAYS; w++) {
            make_text(SIZE, kind);
            const size_t made = pack(SIZE, ways[w].level, ways[w].strategy);
            for (int i = 0; i < 200; i++) {
                const size_t bit = any_bits() % (8 * made);
                packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
                refused += !unpack(SIZE, made);
                packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
            }
            assert_true(unpack(SIZE, made));
        }
    assert_true(refused > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
