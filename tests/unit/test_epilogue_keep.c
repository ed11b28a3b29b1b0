/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogues of problems outlive the text that named them. */
#include "core/epilogue/epilogue_keep.h"
#include "core/problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static gemmtune_problem named(const char *name) {
    gemmtune_problem p;
    struct gt_err err = {""};
    if (gt_problem_from_name(&p, name, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    return p;
}

static void test_text_is_canonical_and_stays(void **state) {
    char name[] = "f32-nn-3x5x7,epi=b[j]:f32;d=x+b[j]*1.50";
    (void)state;
    const gemmtune_problem p = named(name), copy = p;
    memset(name, 'z', sizeof name - 1);
    assert_string_equal(copy.epilogue, "b[j]:f32;d=x+b[j]*1.5");
    assert_int_equal(gt_epilogue_of(&copy)->operands, 1);
}

static void test_one_meaning_one_text(void **state) {
    (void)state;
    const gemmtune_problem word = named("f32-nn-3x5x7,epi=bias"),
                           spelt = named("f32-nt-9x9x9,epi=bias[j]:f32;d=x+bias[j]"),
                           other = named("f16-nn-3x5x7,epi=bias"),
                           none = named("f32-nn-3x5x7");
    assert_ptr_equal(word.epilogue, spelt.epilogue);
    assert_ptr_equal(gt_epilogue_of(&word), gt_epilogue_of(&spelt));
    assert_string_equal(other.epilogue, word.epilogue);
    assert_ptr_not_equal(gt_epilogue_of(&word), gt_epilogue_of(&other));
    assert_int_equal(gt_epilogue_of(&other)->operand[0].type, GEMMTUNE_F16);
    assert_null(gt_epilogue_of(&none));
    assert_false(gt_problem_same_kind(&word, &none));
}

static void test_bad_text_is_refused(void **state) {
    struct gt_err err = {""};
    const char *text = "rleu";
    (void)state;
    assert_int_equal(gt_epilogue_keep(&text, GEMMTUNE_F32, GEMMTUNE_F32, &err),
                     GEMMTUNE_EPARSE);
    assert_string_equal(text, "rleu");
    assert_non_null(strstr(err.line, "\"rleu\" is neither a shorthand"));
}

enum { THREADS = 4, TEXTS = 200 };

static void *keep_all(void *kept) {
    const char **out = kept;
    for (int i = 0; i < TEXTS; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "d=x*%d", i + 2);
        out[i] = text;
        if (gt_epilogue_keep(&out[i], GEMMTUNE_F64, GEMMTUNE_F64, NULL) != GEMMTUNE_OK)
            out[i] = NULL;
    }
    return NULL;
}

static void test_threads_share(void **state) {
    static const char *kept[THREADS][TEXTS];
    pthread_t thread[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, keep_all, kept[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 1; i < THREADS; i++)
        for (int j = 0; j < TEXTS; j++) {
            assert_non_null(kept[i][j]);
            assert_ptr_equal(kept[i][j], kept[0][j]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_canonical_and_stays),
        cmocka_unit_test(test_one_meaning_one_text),
        cmocka_unit_test(test_bad_text_is_refused),
        cmocka_unit_test(test_threads_share),
    };
    return cmocka_run_group_tests_name("epilogue_keep", tests, NULL, NULL);
}
