/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* The image cache at its limit, and with several processes that build at once. */
#include "tests/unit/cached_builds.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

/* ---- the limit ---- */

/* A kernel with an image of about so many KiB. */
static bool build_large(const char *name, int number, int kib) {
    static char source[64 * 1024];
    assert_true(kib < 64);
    memset(source, 'x', sizeof source);
    source[snprintf(source, 64, "%s %d ", name, number)] = ' ';
    source[kib * 1024] = '\0';
    return build(source);
}

static int64_t bytes_kept(void) {
    char folder[1024];
    int64_t count, bytes;
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    return bytes;
}

static void make_hours_old(const char *path, int hours) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - 3600 * hours}};
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void make_old(const char *path) {
    make_hours_old(path, 30);
}

static void make_all_old(void) {
    char path[1024];
    DIR *dir = opendir(cache);
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%.200s", cache, e->d_name);
        if (e->d_name[0] != '.')
            make_old(path);
    }
    closedir(dir);
}

enum { OLD = 40, NEW = 64 }; /* one of so many that are kept makes room */

static void test_limit(void **state) {
    (void)state;
    char left[512], ours[512], notes[512];
    setenv("GEMMTUNE_CACHE_MAX", "1", 1);
    assert_false(build("favourite"));
    snprintf(left, sizeof left, "%s/.%.64s.77.1f.tmp", cache,
             strrchr(the_entry(), '/') + 1);
    snprintf(ours, sizeof ours, "%s/.%.64s.78.1f.tmp", cache,
             strrchr(the_entry(), '/') + 1);
    snprintf(notes, sizeof notes, "%s/notes.img", cache);
    for (int i = 0; i < OLD; i++)
        assert_false(build_large("old", i, 32));
    assert_true(bytes_kept() > 1 << 20);
    write_file(left, (const unsigned char *)"left behind", 11);
    write_file(notes, (const unsigned char *)"mine", 4);
    make_all_old();
    make_old(left);
    write_file(ours, (const unsigned char *)"being written", 13);
    assert_true(build("favourite")); /* a use, which is noted */
    for (int i = 0; i < NEW; i++)
        assert_false(build_large("new", i, 4));
    assert_in_range(bytes_kept(), 1, 1 << 20);
    assert_true(build("favourite"));
    for (int i = 0; i < NEW; i++)
        assert_true(build_large("new", i, 4));
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(ours, F_OK), 0);
    assert_int_equal(access(notes, F_OK), 0);
    unsetenv("GEMMTUNE_CACHE_MAX");
}

/* Kept records count for nothing, and go after a month. */
static void test_kept_records(void **state) {
    (void)state;
    char path[2][512];
    assert_false(build("first"));
    assert_int_equal(gt_cache_clear(&(int64_t){0}, NULL), GEMMTUNE_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%064d%s", cache, i, GT_CACHE_KNOWN);
        write_file(path[i], (const unsigned char *)"records", 7);
        make_hours_old(path[i], 24 * (29 + 2 * i));
    }
    assert_int_equal(bytes_kept(), 0);
    for (int i = 0; i < NEW; i++)
        assert_false(build_large("new", i, 4));
    assert_int_equal(access(path[0], F_OK), 0);
    assert_int_equal(access(path[1], F_OK), -1);
    assert_int_equal(gt_cache_clear(&(int64_t){0}, NULL), GEMMTUNE_OK);
    assert_int_equal(access(path[0], F_OK), -1);
}

static void test_limit_values(void **state) {
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = {
        {NULL, INT64_C(1) << 30},
        {"", INT64_C(1) << 30},
        {"0", 0},
        {"7", 7 << 20},
        {"-1", INT64_C(1) << 30},
        {"9223372036854775807", INT64_C(1) << 30},
        {"7M", INT64_C(1) << 30},
        {"4096", INT64_C(1) << 32},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].text)
            setenv("GEMMTUNE_CACHE_MAX", rows[i].text, 1);
        else
            unsetenv("GEMMTUNE_CACHE_MAX");
        assert_int_equal(gt_cache_max(), rows[i].bytes);
    }
    setenv("GEMMTUNE_CACHE_MAX", "0", 1);
    for (int i = 0; i < OLD + NEW; i++)
        assert_false(build_large("any", i, 32));
    assert_true(bytes_kept() > 3 << 20);
    unsetenv("GEMMTUNE_CACHE_MAX");
}

/* ---- several processes ---- */

enum { RACERS = 4, SOURCES = 60 };

static int race(void) {
    char source[64];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < SOURCES; i++) {
            snprintf(source, sizeof source, "kernel number %d", i);
            (void)build(source);
        }
    return 0;
}

static void test_processes_race(void **state) {
    (void)state;
    pid_t child[RACERS];
    for (int i = 0; i < RACERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(race());
    }
    for (int i = 0; i < RACERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    char source[64], folder[1024];
    for (int i = 0; i < SOURCES; i++) {
        snprintf(source, sizeof source, "kernel number %d", i);
        assert_true(build(source));
    }
    int64_t count, bytes, removed;
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, SOURCES);
    assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_OK);
    assert_int_equal(removed, SOURCES); /* and no temporary file was left */
}

/* Making room does not take images away from processes that build. */
static void test_processes_make_room(void **state) {
    (void)state;
    pid_t child[RACERS];
    setenv("GEMMTUNE_CACHE_MAX", "1", 1);
    for (int i = 0; i < RACERS; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        for (int j = 0; child[i] == 0 && j < 200; j++)
            (void)build_large("shared", j + 50 * i, 32);
        if (child[i] == 0)
            _exit(0);
    }
    for (int i = 0; i < RACERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(status, 0);
    }
    /* each may keep so many before it looks again */
    assert_true(bytes_kept() < (1 << 20) + RACERS * NEW * 33 * 1024);
    unsetenv("GEMMTUNE_CACHE_MAX");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_limit),          CASE(test_kept_records),        CASE(test_limit_values),
        CASE(test_processes_race), CASE(test_processes_make_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
