/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that a call is given: where an element lies, what is refused and in which
 * words, for addresses and for buffers with a size. */
#include "runtime/drivers/memory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int64_t bytes_of_buffer(const void *memory) {
    return memory == NULL ? 0 : 1000;
}

static const struct gt_driver addresses = {.pointers_are_addresses = true};
static const struct gt_driver buffers = {.memory_bytes = bytes_of_buffer};

static void *at(uintptr_t address) {
    return (void *)address;
}

/* An offset moves an address; beside a buffer it is kept. NULL stays NULL, so that a
 * missing pointer is seen whatever its offset. */
static void test_places(void **state) {
    (void)state;
    struct gt_memory m = gt_memory_at(&addresses, at(0x1000), 3, 8);
    assert_ptr_equal(m.pointer, at(0x1018));
    assert_int_equal(m.at, 0);
    assert_int_equal(gt_memory_place(&addresses, m), 0x1018);
    m = gt_memory_at(&buffers, at(0x1000), 3, 8);
    assert_ptr_equal(m.pointer, at(0x1000));
    assert_int_equal(m.at, 24);
    assert_int_equal(gt_memory_place(&buffers, m), 24);
    for (int i = 0; i < 2; i++) {
        const struct gt_driver *const driver = i == 0 ? &addresses : &buffers;
        m = gt_memory_at(driver, NULL, 3, 8);
        assert_null(m.pointer);
        assert_int_equal(m.at, 0);
        m = gt_memory_at(driver, at(0x1000), 0, 8);
        assert_ptr_equal(m.pointer, at(0x1000));
        assert_int_equal(m.at, 0);
    }
    /* an offset is not small where no integer holds its bytes */
    m = gt_memory_at(&buffers, at(0x1000), INT64_MAX / 4, 8);
    assert_true(m.at == INT64_MAX);
}

static void test_bytes(void **state) {
    static const struct {
        int64_t at, bytes;
    } rows[] = {{0, 1000}, {999, 1}, {1000, 0}, {1001, 0}, {INT64_MAX, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_memory m = {at(0x1000), rows[i].at};
        assert_int_equal(gt_memory_bytes(&buffers, m), rows[i].bytes);
        assert_true(gt_memory_bytes(&addresses, m) == INT64_MAX);
    }
}

static void test_check(void **state) {
    static const struct {
        const struct gt_driver *driver;
        uintptr_t pointer;
        int64_t at, align, bytes;
        const char *said; /* "": it is accepted */
    } rows[] = {
        {&addresses, 0, 0, 1, 0, "the pointer to A is NULL"},
        {&addresses, 0x1008, 0, 8, 4000, ""},
        {&addresses, 0x1008, 0, 16, 4000,
         "the pointer to A, 0x1008, is not aligned to 16 bytes"},
        {&buffers, 0, 0, 1, 0, "the pointer to A is NULL"},
        {&buffers, 0x1001, 16, 16, 984, ""}, /* the handle says nothing about its memory */
        {&buffers, 0x1000, 24, 16, 8,
         "A begins at byte 24 of its buffer, not at a multiple of 16"},
        {&buffers, 0x1000, 16, 16, 985,
         "the buffer of A has 1000 bytes, must have 1001 at least"},
        {&buffers, 0x1000, 1008, 16, 0, ""}, /* nothing is read */
        {&buffers, 0x1000, 1008, 16, 4,
         "the buffer of A has 1000 bytes, must have 1012 at least"},
        {&buffers, 0x1000, INT64_MAX - 15, 16, INT64_MAX,
         "the buffer of A has 1000 bytes, must have 9223372036854775807 at least"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_memory m = {at(rows[i].pointer), rows[i].at};
        const struct gt_need need = {"A", rows[i].align, rows[i].bytes};
        struct gt_err err = {""};
        const gt_status status = gt_memory_check(rows[i].driver, m, need, &err);
        assert_string_equal(err.line, rows[i].said);
        assert_int_equal(status, rows[i].said[0] ? GEMMTUNE_EINVAL : GEMMTUNE_OK);
    }
}

/* Memory is another's when it begins at the same byte of the same buffer. */
static void test_apart(void **state) {
    const struct gt_named_memory others[] = {
        {"A", {at(0x1000), 0}}, {"B", {at(0x2000), 64}}, {NULL, {NULL, 0}}};
    static const struct {
        uintptr_t pointer;
        int64_t at;
        const char *said;
    } rows[] = {{0x3000, 0, ""},
                {0x1000, 64, ""},
                {0x2000, 0, ""},
                {0x1000, 0, "C and A are the same memory"},
                {0x2000, 64, "C and B are the same memory"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_named_memory c = {"C", {at(rows[i].pointer), rows[i].at}};
        struct gt_err err = {""};
        const gt_status status = gt_memory_apart(c, others, &err);
        assert_string_equal(err.line, rows[i].said);
        assert_int_equal(status, rows[i].said[0] ? GEMMTUNE_EINVAL : GEMMTUNE_OK);
    }
    assert_int_equal(gt_memory_apart(others[0], others + 2, NULL), GEMMTUNE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
