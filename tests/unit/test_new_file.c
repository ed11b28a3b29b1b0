/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that appear whole or not at all: nothing is in their place before the end, one
 * writer at a time, and what a killed writer leaves is taken over by the next.
 */
#include "core/new_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_err err;
static char root[200], path[300], part[320];

static int set_up(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(root, sizeof root, "%.150s/gemmtune-new-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/x", root);
    snprintf(part, sizeof part, "%s.gemmtune-part", path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    (void)unlink(path);
    (void)unlink(part);
    return rmdir(root);
}

static char logged[512];

static void take_line(void *user, gemmtune_log_level level, const char *line) {
    (void)user, (void)level;
    snprintf(logged, sizeof logged, "%s", line);
}

static bool is_there(const char *name) {
    struct stat about;
    return lstat(name, &about) == 0;
}

static void put(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void holds(const char *name, const char *text) {
    char have[64] = "";
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    have[fread(have, 1, sizeof have - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(have, text);
}

static void begin(struct gt_new_file *f, const char *name) {
    if (gt_new_file_begin(f, name, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
}

static void refuse(const char *name, const char *words) {
    struct gt_new_file f;
    assert_int_equal(gt_new_file_begin(&f, name, &err), GEMMTUNE_EIO);
    if (strstr(err.line, words) == NULL || strstr(err.line, name) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.line, words);
    gt_new_file_drop(&f); /* nothing to drop */
}

static void keep(struct gt_new_file *f) {
    assert_int_equal(write(f->fd, "new", 3), 3);
    assert_int_equal(gt_new_file_keep(f, &err), GEMMTUNE_OK);
}

static void test_whole(void **state) {
    struct gt_new_file f;
    (void)state;
    begin(&f, path);
    assert_false(is_there(path));
    assert_true(is_there(part));
    keep(&f);
    holds(path, "new");
    assert_false(is_there(part));
    gt_new_file_drop(&f); /* it is kept */
    holds(path, "new");
}

static void test_old_file(void **state) {
    struct gt_new_file f;
    struct stat about;
    (void)state;
    put(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    begin(&f, path);
    assert_int_equal(write(f.fd, "half", 4), 4);
    holds(path, "old");
    gt_new_file_drop(&f);
    holds(path, "old");
    assert_false(is_there(part));
    begin(&f, path);
    keep(&f);
    holds(path, "new");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
}

/* The link stays, and leads to the new file. */
static void test_links(void **state) {
    char link[320];
    struct gt_new_file f;
    struct stat about;
    (void)state;
    snprintf(link, sizeof link, "%s/link", root);
    assert_int_equal(symlink("x", link), 0);
    for (int i = 0; i < 2; i++) { /* to nothing, then to a file */
        begin(&f, link);
        keep(&f);
        holds(path, "new");
        assert_int_equal(lstat(link, &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        put(path, "old");
    }
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("link", link), 0);
    refuse(link, "symbolic links");
    assert_int_equal(unlink(link), 0);
}

static void test_two_writers(void **state) {
    struct gt_new_file f, g;
    (void)state;
    begin(&f, path);
    refuse(path, "another process is writing it");
    keep(&f);
    begin(&g, path);
    gt_new_file_drop(&g);
    holds(path, "new");
}

static void test_killed_writer(void **state) {
    struct gt_new_file f;
    int ready[2], how;
    char byte;
    (void)state;
    put(path, "old");
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (gt_new_file_begin(&f, path, NULL) == GEMMTUNE_OK && write(f.fd, "half", 4) == 4)
            (void)!write(ready[1], "x", 1);
        (void)pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    refuse(path, "another process is writing it");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    holds(path, "old");
    holds(part, "half");
    gemmtune_set_log(take_line, NULL, GEMMTUNE_LOG_WARN);
    begin(&f, path);
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_WARN);
    assert_non_null(strstr(logged, "was left by a process that was killed"));
    assert_non_null(strstr(logged, part));
    keep(&f);
    holds(path, "new");
    assert_int_equal(close(ready[0]), 0);
    assert_int_equal(close(ready[1]), 0);
}

static void test_refused(void **state) {
    char other[320];
    (void)state;
    snprintf(other, sizeof other, "%s/no/x", root);
    refuse(other, "No such file");
    refuse("", "No such file");
    refuse(root, "Is a directory");
    snprintf(other, sizeof other, "%s/precious", root);
    put(other, "mine"); /* a file that goes by the part's name as well is not emptied */
    assert_int_equal(link(other, part), 0);
    refuse(path, "File exists");
    holds(other, "mine");
    assert_int_equal(unlink(part), 0);
    assert_int_equal(symlink("precious", part), 0);
    refuse(path, "symbolic links");
    holds(other, "mine");
    assert_int_equal(unlink(other), 0);
}

static void test_read_only(void **state) {
    struct gt_new_file f;
    (void)state;
    put(path, "old");
    assert_int_equal(chmod(path, 0444), 0);
    const bool is_root = geteuid() == 0;
    assert_int_equal(chmod(root, 0777), 0);
    assert_true(!is_root || seteuid(65534) == 0);
    const gt_status status = gt_new_file_begin(&f, path, &err);
    assert_true(!is_root || seteuid(0) == 0);
    assert_int_equal(status, GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "Permission denied"));
    holds(path, "old");
}

static void test_text(void **state) {
    struct gt_new_text t;
    (void)state;
    assert_int_equal(gt_new_text_begin(&t, path, &err), GEMMTUNE_OK);
    assert_true(fputs("a text", t.out) >= 0);
    assert_int_equal(gt_new_text_end(&t, GEMMTUNE_EDB, &err), GEMMTUNE_EDB);
    assert_false(is_there(path) || is_there(part));
    assert_int_equal(gt_new_text_begin(&t, path, &err), GEMMTUNE_OK);
    assert_true(fputs("a text", t.out) >= 0);
    assert_false(is_there(path));
    assert_int_equal(gt_new_text_end(&t, GEMMTUNE_OK, &err), GEMMTUNE_OK);
    holds(path, "a text");
    assert_int_equal(gt_new_text_begin(&t, "/dev/full", &err), GEMMTUNE_OK);
    assert_true(fputs("a text", t.out) >= 0);
    assert_int_equal(gt_new_text_end(&t, GEMMTUNE_OK, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "/dev/full: No space"));
}

/* As another user, if we are root. */
static gt_status begin_as_nobody(struct gt_new_file *f) {
    const bool is_root = geteuid() == 0;
    assert_true(!is_root || seteuid(65534) == 0);
    const gt_status status = gt_new_file_begin(f, path, &err);
    gt_new_file_drop(f);
    assert_true(!is_root || seteuid(0) == 0);
    return status;
}

static void test_closed_folder(void **state) {
    struct gt_new_file f;
    (void)state;
    put(path, "old");
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(root, 0555), 0);
    const gt_status status = begin_as_nobody(&f);
    assert_int_equal(chmod(root, 0777), 0);
    assert_int_equal(status, GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "x cannot be replaced, since its folder"));
    holds(path, "old");
}

static void test_other_users(void **state) {
    struct gt_new_file f;
    (void)state;
    if (geteuid() != 0)
        skip();
    put(path, "old");
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(root, 01777), 0);
    assert_int_equal(begin_as_nobody(&f), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "its folder is sticky"));
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(begin_as_nobody(&f), GEMMTUNE_OK);
    put(part, "theirs");
    assert_int_equal(chown(part, 65534, 65534), 0);
    refuse(path, "x.gemmtune-part belongs to another user");
    holds(part, "theirs");
}

/* A text for an open file goes on where the file is, and nothing of it is lost. */
static void test_open_file(void **state) {
    static const char *const folders[] = {"/dev/fd", "/proc/self/fd"};
    char name[64];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct gt_new_text t;
        put(path, "kept, ");
        const int fd = open(path, O_WRONLY | O_APPEND);
        assert_true(fd >= 0);
        snprintf(name, sizeof name, "%s/%d", folders[i], fd);
        assert_true(gt_new_text_flows(name));
        assert_int_equal(gt_new_text_begin(&t, name, &err), GEMMTUNE_OK);
        assert_true(fputs("a text", t.out) >= 0);
        assert_int_equal(gt_new_text_end(&t, GEMMTUNE_OK, &err), GEMMTUNE_OK);
        assert_int_equal(write(fd, ", more", 6), 6);
        assert_false(is_there(part));
        holds(path, "kept, a text, more");
        refuse(name, "is an open file of a process");
        assert_int_equal(close(fd), 0);
    }
}

/* The reason of a write that failed long before the end. */
static void test_long_text(void **state) {
    struct gt_new_text t;
    (void)state;
    assert_int_equal(gt_new_text_begin(&t, "/dev/full", &err), GEMMTUNE_OK);
    for (int i = 0; i < 100000; i++)
        (void)fputs("a text", t.out);
    errno = ENOENT;
    assert_int_equal(gt_new_text_end(&t, GEMMTUNE_OK, &err), GEMMTUNE_EIO);
    assert_null(strstr(err.line, "No such file"));
}

/* A file that is whole is not lost when its place cannot be taken. */
static void test_no_place(void **state) {
    struct gt_new_file f;
    (void)state;
    begin(&f, path);
    assert_int_equal(write(f.fd, "new", 3), 3);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(gt_new_file_keep(&f, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "the new file stays "));
    assert_non_null(strstr(err.line, part));
    holds(part, "new");
    gt_new_file_drop(&f); /* nothing to drop */
    holds(part, "new");
    assert_int_equal(rmdir(path), 0);
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_whole),       CASE(test_old_file),      CASE(test_links),
        CASE(test_two_writers), CASE(test_killed_writer), CASE(test_refused),
        CASE(test_read_only),   CASE(test_text),          CASE(test_closed_folder),
        CASE(test_other_users), CASE(test_open_file),     CASE(test_long_text),
        CASE(test_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
