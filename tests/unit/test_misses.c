/* SPDX-License-Identifier: Apache-2.0 */
/* The log of misses: what the library writes, and what `tune --from-misses` reads. */
#include "core/device.h"
#include "runtime/plan/misses.h"
#include "tuner/base/misses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char path[512];

static int setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    (void)snprintf(path, sizeof path, "%s/gt-misses-XXXXXX", tmp != NULL ? tmp : "/tmp");
    const int file = mkstemp(path);
    return file < 0 || close(file) != 0 || unlink(path) != 0 ||
           setenv("GEMMTUNE_MISSES", path, 1) != 0;
}

static int teardown(void **state) {
    (void)state;
    (void)unlink(path);
    return unsetenv("GEMMTUNE_MISSES");
}

static void note(const char *problem, const char *key, double loss) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    gt_misses_note(&p, key, loss);
}

static void write_text(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int64_t file_size(void) {
    struct stat s;
    return stat(path, &s) == 0 ? (int64_t)s.st_size : -1;
}

/* A problem that is asked for often, and one with a large loss, come before the others. */
static void test_order(void **state) {
    static const char *const want[] = {"f32-nn-64x64x64", "f64-nt-9x9x9,batch=3",
                                       "f32-nn-8x8x8,epi=relu", "i8-nn-1x2x3"};
    struct gt_sweep sweep = {0};
    struct gt_misses_read read;
    (void)state;
    for (int i = 0; i < 5; i++)
        note("f32-nn-64x64x64", "here", 0.2);
    note("f64-nt-9x9x9,batch=3", "here", 0.5);
    note("i8-nn-1x2x3", "here", 0.00001);
    note("f32-nn-8x8x8,epi=relu", "here", 0.25);
    note("f32-nn-7x7x7", "there", 100);
    note("f32-nn-0x7x7", "here", 1); /* nothing to tune */
    assert_int_equal(gt_misses_load(&read, &sweep, path, "here", NULL), GEMMTUNE_OK);
    assert_int_equal(read.lines, 8);
    assert_int_equal(read.others, 1);
    assert_int_equal(read.problems, 4);
    assert_int_equal(sweep.count, 4);
    for (size_t i = 0; i < 4; i++) {
        gemmtune_problem p;
        char name[GT_PROBLEM_NAME_MAX];
        assert_int_equal(gt_problem_from_name(&p, want[i], NULL), GEMMTUNE_OK);
        (void)gt_problem_name(&p, name);
        assert_string_equal(sweep.item[i].name, name);
        assert_true(sweep.item[i].weight == (i == 0 ? 5 : 1));
    }
    gt_sweep_clear(&sweep);
}

static void test_off_by_default(void **state) {
    (void)state;
    assert_int_equal(unsetenv("GEMMTUNE_MISSES"), 0);
    note("f32-nn-64x64x64", "here", 0.2);
    assert_int_equal(setenv("GEMMTUNE_MISSES", "", 1), 0);
    note("f32-nn-64x64x64", "here", 0.2);
    assert_int_equal(file_size(), -1);
}

static void test_bound(void **state) {
    (void)state;
    note("f32-nn-64x64x64", "here", 0.2);
    assert_int_equal(truncate(path, GT_MISSES_BYTES - 1), 0);
    note("f32-nn-64x64x64", "here", 0.2);
    const int64_t full = file_size();
    assert_true(full > GT_MISSES_BYTES);
    note("f32-nn-64x64x64", "here", 0.2);
    assert_int_equal(file_size(), full);
}

/* A folder, a pipe without a reader and a path that does not exist harm nobody. */
static void test_no_file(void **state) {
    static const char *const places[] = {"/", "/nonexistent/gt/misses"};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_int_equal(setenv("GEMMTUNE_MISSES", places[i], 1), 0);
        note("f32-nn-64x64x64", "here", 0.2);
    }
    assert_int_equal(setenv("GEMMTUNE_MISSES", path, 1), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    note("f32-nn-64x64x64", "here", 0.2);
}

/* Lines of processes that write at once stay whole. */
static void test_processes(void **state) {
    enum { PROCESSES = 4, LINES = 200 };
    struct gt_sweep sweep = {0};
    struct gt_misses_read read;
    struct gt_err err = {""};
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        for (int j = 0; j < LINES; j++)
            note(i % 2 != 0 ? "f32-nn-1000x1000x1000" : "f64-tt-3x3x3", "here", 0.1 * i);
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    if (gt_misses_load(&read, &sweep, path, "here", &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    assert_int_equal(read.lines, PROCESSES * LINES);
    assert_int_equal(read.problems, 2);
    gt_sweep_clear(&sweep);
}

static struct {
    int count;
    char first[512], last[512];
} warnings;

static void take_warning(void *user, gemmtune_log_level level, const char *line) {
    (void)user, (void)level;
    if (warnings.count++ == 0)
        (void)snprintf(warnings.first, sizeof warnings.first, "%s", line);
    (void)snprintf(warnings.last, sizeof warnings.last, "%s", line);
}

/* A bad line costs itself and a warning; the others count. */
static void test_bad_lines(void **state) {
    static const struct {
        const char *text, *warning; /* NULL: there is none */
        int problems;
    } rows[] = {
        {"", NULL, 0},
        {"10 here f32-nn-1x1x1\n10 here f32-nn-2x", NULL, 1}, /* the end was cut off */
        {"10 here f32-nn-1x1x1\n0 here f32-nn-2x1x1\n10 here f32-nn-3x1x1\n",
         ":2: is not LOSS DEVICE PROBLEM", 2},
        {"1000001 here f32-nn-1x1x1\n", ":1: is not", 0},
        {"0.5 here f32-nn-1x1x1\n", ":1: is not", 0},
        {"10 here\n", ":1: is not", 0},
        {"\n10 here f32-nn-1x1x1\n", ":1: is not", 1},
        {"10 here f32-nn-1x1\n10 here f32-nn-1x1x1\n", ":1: problem \"f32-nn-1x1\"", 1},
        {"10 there f32-nn-1x1\n10 here f32-nn-1x1x1\n", NULL, 1},
        {"{\"format\": 1}\n", ":1: is not", 0},
    };
    (void)state;
    gemmtune_set_log(take_warning, NULL, GEMMTUNE_LOG_WARN);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_sweep sweep = {0};
        struct gt_misses_read read;
        write_text(rows[i].text);
        warnings.count = 0;
        assert_int_equal(gt_misses_load(&read, &sweep, path, "here", NULL), GEMMTUNE_OK);
        assert_int_equal(read.problems, rows[i].problems);
        assert_int_equal(sweep.count, rows[i].problems);
        assert_int_equal(warnings.count, rows[i].warning != NULL);
        if (rows[i].warning != NULL && strstr(warnings.first, rows[i].warning) == NULL)
            fail_msg("%zu: \"%s\"", i, warnings.first);
        gt_sweep_clear(&sweep);
    }
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_WARN);
}

static void test_many_bad_lines(void **state) {
    struct gt_sweep sweep = {0};
    struct gt_misses_read read;
    FILE *file = fopen(path, "w");
    (void)state;
    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        assert_true(fputs("x\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    warnings.count = 0;
    gemmtune_set_log(take_warning, NULL, GEMMTUNE_LOG_WARN);
    assert_int_equal(gt_misses_load(&read, &sweep, path, "here", NULL), GEMMTUNE_OK);
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_WARN);
    assert_int_equal(warnings.count, 6);
    assert_non_null(strstr(warnings.last, ": 995 more lines are left out"));
    gt_sweep_clear(&sweep);
}

/* A file without an end, or without a writer, is not waited for. */
static void test_no_regular_file(void **state) {
    struct gt_sweep sweep = {0};
    struct gt_misses_read read;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(gt_misses_load(&read, &sweep, path, "here", &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, ": is a pipe: give a file"));
    assert_int_equal(gt_misses_load(&read, &sweep, "/dev/zero", "here", &err),
                     GEMMTUNE_EIO);
    assert_string_equal(err.line, "/dev/zero: not a regular file");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_order),          TEST(test_off_by_default),  TEST(test_bound),
        TEST(test_no_file),        TEST(test_processes),       TEST(test_bad_lines),
        TEST(test_many_bad_lines), TEST(test_no_regular_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
