/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void hash_bytes(const void *data, size_t size, char hex[65]) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add(&h, data, size);
    gt_hash_hex(&h, hex);
}

/* The examples of FIPS 180-4. */
static void test_known_answers(void **state) {
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqk"
         "lmnopq"
         "rlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char hex[65];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hash_bytes(rows[i].text, strlen(rows[i].text), hex);
        assert_string_equal(hex, rows[i].hex);
    }
}

/* Answers of Python's hashlib. The lengths are near the limits of the padding. */
static void test_lengths_around_a_block(void **state) {
    static const struct {
        size_t count; /* of 'a' */
        const char *hex;
    } rows[] = {
        {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
        {54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
        {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
        {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    static char data[1000000];
    char hex[65];
    (void)state;
    memset(data, 'a', sizeof data);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        hash_bytes(data, rows[i].count, hex);
        assert_string_equal(hex, rows[i].hex);
    }
}

static void test_pieces_make_the_same_hash(void **state) {
    unsigned char data[300];
    char whole[65];
    char parts[65];
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    hash_bytes(data, sizeof data, whole);
    for (size_t step = 1; step < 130; step++) {
        struct gt_hash h;
        gt_hash_init(&h);
        for (size_t at = 0; at < sizeof data; at += step)
            gt_hash_add(&h, data + at, step < sizeof data - at ? step : sizeof data - at);
        gt_hash_add(&h, NULL, 0);
        gt_hash_hex(&h, parts);
        assert_string_equal(parts, whole);
    }
}

static void test_text_fields_stay_apart(void **state) {
    struct gt_hash one;
    struct gt_hash two;
    char hex_one[65];
    char hex_two[65];
    (void)state;
    gt_hash_init(&one);
    gt_hash_add_text(&one, "ab");
    gt_hash_add_text(&one, "c");
    gt_hash_hex(&one, hex_one);
    gt_hash_init(&two);
    gt_hash_add_text(&two, "a");
    gt_hash_add_text(&two, "bc");
    gt_hash_hex(&two, hex_two);
    assert_string_not_equal(hex_one, hex_two);
    hash_bytes("ab\0c", 5, hex_two);
    assert_string_equal(hex_one, hex_two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_lengths_around_a_block),
        cmocka_unit_test(test_pieces_make_the_same_hash),
        cmocka_unit_test(test_text_fields_stay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
