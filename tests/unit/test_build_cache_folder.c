/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image cache in a folder that others may write to, or that cannot serve. A strange or
 * hostile entry must be a miss and a rebuild, never an error and never a wrong image.
 */
#include "tests/unit/cached_builds.h"

#include <errno.h>
#include <fcntl.h>

/* ---- hostile entries ---- */

static void test_symlink_is_not_followed(void **state) {
    (void)state;
    char aside[512];
    unsigned char before[4096], after[4096];
    (void)build("kernel");
    const char *entry = the_entry();
    snprintf(aside, sizeof aside, "%s/aside", root);
    assert_int_equal(rename(entry, aside), 0);
    const size_t size = read_file(aside, before, sizeof before);
    assert_int_equal(symlink(aside, entry), 0);
    assert_false(build("kernel"));
    assert_true(build("kernel")); /* the link gave way to a file */
    assert_int_equal(read_file(aside, after, sizeof after), size);
    assert_memory_equal(before, after, size);
}

static void test_others_may_write(void **state) {
    (void)state;
    (void)build("kernel");
    assert_int_equal(chmod(the_entry(), 0666), 0);
    assert_false(build("kernel"));
    assert_true(build("kernel"));
    assert_int_equal(mode_of(the_entry()), 0600);
}

static void test_fifo_does_not_hang(void **state) {
    (void)state;
    (void)build("kernel");
    char path[512];
    snprintf(path, sizeof path, "%s", the_entry());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    (void)alarm(60); /* only a failure takes a minute */
    assert_false(build("kernel"));
    (void)alarm(0);
    assert_true(build("kernel"));
}

static void test_folder_in_its_place(void **state) {
    (void)state;
    (void)build("kernel");
    char path[512];
    snprintf(path, sizeof path, "%s", the_entry());
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
    int64_t count, bytes;
    char folder[FILENAME_MAX];
    struct gt_err err;
    assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 0);
}

/* ---- a folder that cannot serve ---- */

static void test_folder_of_wrong_mode(void **state) {
    (void)state;
    (void)build("kernel");
    assert_int_equal(chmod(cache, 0777), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
    int64_t removed;
    struct gt_err err;
    assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, cache));
    assert_int_equal(chmod(cache, 0700), 0);
    assert_true(build("kernel"));
}

enum { NOBODY = 65534 };

/* Root may write anywhere, so root becomes nobody until tear_down. False when even
 * looking into the test's folder is not possible then. */
static bool become_ordinary(void) {
    if (geteuid() != 0)
        return true;
    assert_int_equal(chown(root, NOBODY, NOBODY), 0);
    if (seteuid(NOBODY) != 0)
        return false;
    const int fd = open(root, O_RDONLY);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

static void test_unwritable_folder(void **state) {
    (void)state;
    if (!become_ordinary()) {
        print_message("skipped: an ordinary user cannot be tried here\n");
        skip();
    }
    assert_false(build("kernel one"));
    assert_int_equal(chmod(cache, 0500), 0);
    assert_false(build("kernel two"));
    assert_false(build("kernel two"));
    assert_true(build("kernel one"));
}

static void test_foreign_owner(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files away\n");
        skip();
    }
    assert_false(build("kernel"));
    assert_int_equal(chown(the_entry(), NOBODY, NOBODY), 0);
    assert_false(build("kernel"));
    assert_true(build("kernel"));
    assert_int_equal(chown(cache, NOBODY, NOBODY), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
}

/* Root or not: nothing can be made below a file. */
static void test_folder_cannot_be_made(void **state) {
    (void)state;
    snprintf(cache, sizeof cache, "%s/file", root);
    write_file(cache, (const unsigned char *)"x", 1);
    snprintf(cache, sizeof cache, "%s/file/b", root);
    assert_true(gt_build_keeps(&fake));
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", cache, 1), 0);
    assert_false(gt_build_keeps(&fake));
    assert_false(build("kernel"));
    assert_false(build("kernel"));
}

static void test_folder_is_a_symlink(void **state) {
    (void)state;
    char real[256];
    snprintf(real, sizeof real, "%s/real", root);
    snprintf(cache, sizeof cache, "%s/link", root);
    assert_int_equal(mkdir(real, 0700), 0);
    assert_int_equal(symlink(real, cache), 0);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", cache, 1), 0);
    assert_false(build("kernel"));
    assert_false(build("kernel"));
}

static void test_environment(void **state) {
    (void)state;
    char folder[1024], wanted[512];
    int64_t count, bytes;
    struct gt_err err;
    static const struct {
        const char *own, *xdg, *home, *folder; /* NULL: unset; folder is below root */
    } rows[] = {
        {"", "/x", "/y", NULL},
        {NULL, NULL, NULL, NULL},
        {NULL, "relative", NULL, NULL},
        {NULL, "", "", NULL},
        {NULL, NULL, "relative", NULL},
        {NULL, "/x", "/y", "/x/gemmtune"},
        {NULL, NULL, "/y", "/y/.cache/gemmtune"},
        {"/z", "/x", "/y", "/z"},
        {NULL, "", "/y", "/y/.cache/gemmtune"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const names[] = {"GEMMTUNE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
        const char *const values[] = {rows[i].own, rows[i].xdg, rows[i].home};
        for (int j = 0; j < 3; j++) {
            snprintf(wanted, sizeof wanted, "%s%s", root, values[j] ? values[j] : "");
            if (!values[j])
                unsetenv(names[j]);
            else
                setenv(names[j], values[j][0] == '/' ? wanted : values[j], 1);
        }
        assert_false(build("kernel"));
        assert_int_equal(build("kernel"), rows[i].folder != NULL);
        assert_int_equal(gt_cache_stat(folder, sizeof folder, &count, &bytes, &err),
                         GEMMTUNE_OK);
        snprintf(wanted, sizeof wanted, "%s%s", rows[i].folder ? root : "",
                 rows[i].folder ? rows[i].folder : "");
        assert_string_equal(folder, wanted);
        assert_int_equal(count, rows[i].folder ? 1 : 0);
        int64_t removed;
        assert_int_equal(gt_cache_clear(&removed, &err), GEMMTUNE_OK);
        assert_int_equal(removed, count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_symlink_is_not_followed), CASE(test_others_may_write),
        CASE(test_fifo_does_not_hang),      CASE(test_folder_in_its_place),
        CASE(test_folder_of_wrong_mode),    CASE(test_unwritable_folder),
        CASE(test_foreign_owner),           CASE(test_folder_cannot_be_made),
        CASE(test_folder_is_a_symlink),     CASE(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
