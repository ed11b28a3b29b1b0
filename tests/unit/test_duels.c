/* SPDX-License-Identifier: Apache-2.0 */
/* test_duels.c - which of a kernel's duels answers a caller: the table has the rule's
 * cases. */
#include "runtime/lookup/duels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MIB_32 = 32 << 20 };

#define DUEL(library_, version_, workspace_, local_, ratio_, verdict_, moment_)            \
    {                                                                                      \
        .kernel = 7, .workspace = workspace_, .library = library_, .version = version_,    \
        .is_local = local_, .ratio = ratio_, .verdict = verdict_, .measured_ms = moment_   \
    }

static const struct gt_duel duels[] = {
    DUEL("cublas", 130100, 0, true, 1.5, GT_WIN, 10),
    DUEL("cublaslt", 130100, 0, true, 1.4, GT_WIN, 11),
    DUEL("cublas", 130100, MIB_32, false, 0.8, GT_LOSS, 30),
    DUEL("cublas", 130100, MIB_32, true, 1.1, GT_WIN, 20),
    DUEL("cublaslt", 130100, MIB_32, true, 0.9, GT_LOSS, 21),
    DUEL("cublas", 120900, MIB_32, false, 1.05, GT_TIE, 40),
    DUEL("cublaslt", 120900, MIB_32, false, 1.3, GT_NOISY, 40),
    DUEL("cublas", 120800, 2 * (int64_t)MIB_32, true, 2, GT_WIN, 50),
};
enum { COUNT = sizeof duels / sizeof *duels };

static void test_pick(void **state) {
    static const struct {
        int version;
        size_t workspace_max;
        int want; /* index in duels; -1: none */
    } rows[] = {
        {130100, 0, 1},          /* the library with the least ratio */
        {130100, MIB_32 - 1, 1}, /* no more workspace than the caller has */
        {130100, MIB_32, 4},     /* the most of it, and those from here */
        {130100, SIZE_MAX, 4},
        {120900, SIZE_MAX, 6}, /* a noisy one leaves the question open */
        {120900, 0, -1},
        {120800, MIB_32, -1},
        {120800, SIZE_MAX, 7},
        {110000, SIZE_MAX, -1}, /* another version */
        {0, 0, 1},              /* the version that was measured last */
        {0, MIB_32, 6},
        {0, SIZE_MAX, 7},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_duel *d =
            gt_duels_pick(duels, COUNT, rows[i].version, rows[i].workspace_max);
        const int got = d != NULL ? (int)(d - duels) : -1;
        if (got != rows[i].want)
            fail_msg("row %zu: duel %d instead of %d", i, got, rows[i].want);
    }
    assert_null(gt_duels_pick(NULL, 0, 0, SIZE_MAX));
}

static void test_of(void **state) {
    struct gt_duel item[] = {{.kernel = 3}, {.kernel = 5}, {.kernel = 5}, {.kernel = 9}};
    const struct gt_duels all = {item, 4}, none = {NULL, 0};
    const struct gt_duel *first = item;
    (void)state;
    assert_int_equal(gt_duels_of(&first, &all, 5), 2);
    assert_ptr_equal(first, &item[1]);
    assert_int_equal(gt_duels_of(&first, &all, 3), 1);
    assert_int_equal(gt_duels_of(&first, &all, 9), 1);
    assert_ptr_equal(first, &item[3]);
    assert_int_equal(gt_duels_of(&first, &all, 4), 0);
    assert_int_equal(gt_duels_of(&first, &all, UINT64_MAX), 0);
    assert_null(first);
    assert_int_equal(gt_duels_of(&first, &none, 5), 0);
}

/* Kernels have one number where all of their texts are equal, and only there. */
static void test_key(void **state) {
    const struct gt_db_subject one = {"device", "f32-nn-8x8x8", "tile", "00", "T=8"};
    struct gt_db_subject other = one;
    (void)state;
    assert_true(gt_db_subject_key(&one) == gt_db_subject_key(&other));
    other.point = "T=9";
    assert_true(gt_db_subject_key(&one) != gt_db_subject_key(&other));
    other = one;
    other.family_hash = "01";
    assert_true(gt_db_subject_key(&one) != gt_db_subject_key(&other));
    other = one;
    other.problem = "f32-nn-8x8x9";
    assert_true(gt_db_subject_key(&one) != gt_db_subject_key(&other));
    other = one;
    other.device_key = "devicf";
    assert_true(gt_db_subject_key(&one) != gt_db_subject_key(&other));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pick),
        cmocka_unit_test(test_of),
        cmocka_unit_test(test_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
