/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the CPU BLAS, with two made-up libraries (tests/fake), each in a process of
 * its own, since a process looks for a library only once. Then the results of the loop.
 */
#include "tuner/lab/cpu_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Whether gemmtune says `about` of the library, and warns of it or does not. */
static bool says(const char *library, const char *about, bool warns) {
    const char *build = getenv("GT_BUILD"), *text;
    char path[512], what[GT_CPU_ABOUT_MAX];
    gemmtune_problem p;
    double ns = 0;
    snprintf(path, sizeof path, "%s/tests/fake/%s", build ? build : "build", library);
    setenv("GEMMTUNE_LIBCBLAS", path, 1);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 5, 6, 7);
    if (gt_problem_canonical(&p, NULL, &p, NULL) != GEMMTUNE_OK)
        return false;
    text = gt_cpu_blas_for(&p);
    if (gt_cpu_time(&ns, what, GT_CPU_BLAS, &p, NULL) != GEMMTUNE_OK || ns <= 0)
        return false;
    return text && strstr(text, library) && strstr(text, about) &&
           strncmp(what, text, strlen(text)) == 0 && strstr(what, GT_CPU_CONDITION) &&
           (gt_cpu_blas_warning() != NULL) == warns;
}

static bool says_in_a_process(const char *library, const char *about, bool warns) {
    int state = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(says(library, about, warns) ? 0 : 1);
    return waitpid(child, &state, 0) == child && state == 0;
}

static void test_reference_blas_is_named_and_warned_of(void **state) {
    (void)state;
    assert_true(says_in_a_process("libcblas.so", ", reference BLAS", true));
}

static void test_openblas_says_version_and_core(void **state) {
    (void)state;
    assert_true(says_in_a_process("libopenblas.so", ", OpenBLAS 1.2.3, core Fake", false));
}

/* OpenBLAS 0.3.21 takes a Xeon of 2023 for a Pentium 4. */
static void test_a_core_of_old_is_warned_of(void **state) {
    (void)state;
#if defined(__x86_64__)
    const bool is_newer = __builtin_cpu_supports("avx2");
    setenv("FAKE_CORE", "Prescott", 1);
    assert_true(says_in_a_process("libopenblas.so", "core Prescott", is_newer));
    setenv("FAKE_CORE", "SkylakeX", 1);
    assert_true(says_in_a_process("libopenblas.so", "core SkylakeX", false));
    unsetenv("FAKE_CORE");
#endif
}

/* The loop is timed on the problem's product: with ",beta" C is read. */
static void test_the_loop_reads_c(void **state) {
    const float a[] = {1, 2}, b[] = {3, 4};
    char what[GT_CPU_ABOUT_MAX];
    gt_cpu_product loop = NULL;
    gemmtune_problem p;
    float c = 10;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-1x1x2,beta", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_cpu_find(&loop, what, GT_CPU_LOOP, &p, NULL), GEMMTUNE_OK);
    loop(&p, a, b, 0.5, &c);
    assert_true(c == 16);
    loop(&p, a, b, 0, &c);
    assert_true(c == 11);
}

static void test_no_library(void **state) {
    gemmtune_problem p;
    char what[GT_CPU_ABOUT_MAX];
    double ns;
    (void)state;
    setenv("GEMMTUNE_LIBCBLAS", "/no/such/libblas.so", 1);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 5, 6, 7);
    assert_int_equal(gt_problem_canonical(&p, NULL, &p, NULL), GEMMTUNE_OK);
    assert_null(gt_cpu_blas_for(&p));
    assert_null(gt_cpu_blas_warning());
    assert_int_equal(gt_cpu_time(&ns, what, GT_CPU_BLAS, &p, NULL), GEMMTUNE_EUNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_blas_is_named_and_warned_of),
        cmocka_unit_test(test_openblas_says_version_and_core),
        cmocka_unit_test(test_a_core_of_old_is_warned_of),
        cmocka_unit_test(test_the_loop_reads_c),
        cmocka_unit_test(test_no_library), /* last: it looks for a library here */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
