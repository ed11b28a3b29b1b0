/* SPDX-License-Identifier: Apache-2.0 */
/* test_db_open.c - which files are opened and which are refused. Readers leave no trace. */
#include "tests/unit/test_db.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void refused(const char *path, enum gt_db_mode mode, gt_status status,
                    const char *text) {
    struct gt_db *db = (struct gt_db *)folder;
    err.line[0] = '\0';
    const gt_status got = gt_db_open(&db, path, mode, &err);
    if (got != status || strstr(err.line, text) == NULL)
        print_error("%s: %d \"%s\", not %d \"%s\"\n", path, got, err.line, status, text);
    assert_int_equal(got, status);
    assert_non_null(strstr(err.line, text));
    assert_null(db);
}

static int files_in(const char *path) {
    int count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        count += e->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

static void test_missing(void **state) {
    (void)state;
    refused(in_folder("none.db"), GT_DB_READ, GEMMTUNE_EIO, "No such file");
    refused("", GT_DB_WRITE, GEMMTUNE_EIO, "empty");
    refused(in_folder("none.db/x.db"), GT_DB_READ, GEMMTUNE_EIO, "");
    assert_int_equal(files_in(folder), 0);
}

static void test_created_with_folders(void **state) {
    struct stat st;
    (void)state;
    gt_db_close(db_open(in_folder("a/b/c.db"), GT_DB_WRITE));
    assert_int_equal(stat(in_folder("a/b"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    gt_db_close(db_open(in_folder("a/b/c.db"), GT_DB_READ));
    gt_db_close(db_open(in_folder("a/b/c.db"), GT_DB_WRITE));
    assert_int_equal(files_in(in_folder("a/b")), 1);
}

static void test_not_a_file(void **state) {
    (void)state;
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    refused(folder, GT_DB_READ, GEMMTUNE_EIO, "is a folder");
    refused(folder, GT_DB_WRITE, GEMMTUNE_EIO, "is a folder");
    refused(in_folder("fifo"), GT_DB_READ, GEMMTUNE_EIO, "not a file");
    refused("/dev/full", GT_DB_WRITE, GEMMTUNE_EIO, "not a file");
}

static void test_empty_and_text(void **state) {
    (void)state;
    file_write(in_folder("empty.db"), "", 0);
    refused(in_folder("empty.db"), GT_DB_READ, GEMMTUNE_EDB, "empty");
    gt_db_close(db_open(in_folder("empty.db"), GT_DB_WRITE)); /* a process died making it */
    gt_db_close(db_open(in_folder("empty.db"), GT_DB_READ));
    char text[4096];
    memset(text, 'x', sizeof text);
    file_write(in_folder("text.db"), text, sizeof text);
    refused(in_folder("text.db"), GT_DB_READ, GEMMTUNE_EDB, "not a database");
    refused(in_folder("text.db"), GT_DB_WRITE, GEMMTUNE_EDB, "not a database");
    file_write(in_folder("text.db"), text, 50);
    refused(in_folder("text.db"), GT_DB_WRITE, GEMMTUNE_EDB, "not a database");
}

static void test_foreign(void **state) {
    (void)state;
    tamper(in_folder("other.db"), "CREATE TABLE t (x); PRAGMA application_id = 7");
    refused(in_folder("other.db"), GT_DB_READ, GEMMTUNE_EDB, "not a gemmtune database");
    refused(in_folder("other.db"), GT_DB_WRITE, GEMMTUNE_EDB, "not a gemmtune database");
    tamper(in_folder("none.db"), "CREATE TABLE t (x)");
    refused(in_folder("none.db"), GT_DB_WRITE, GEMMTUNE_EDB, "not a gemmtune database");
    tamper(in_folder("zero.db"), "CREATE TABLE t (x); PRAGMA application_id = 0x474D544E");
    refused(in_folder("zero.db"), GT_DB_WRITE, GEMMTUNE_EDB, "no schema version");
}

static void test_newer(void **state) {
    (void)state;
    gt_db_close(db_open(in_folder("a.db"), GT_DB_WRITE));
    tamper(in_folder("a.db"), "PRAGMA user_version = 77");
    refused(in_folder("a.db"), GT_DB_READ, GEMMTUNE_ESCHEMA, "version 77 is newer than 4");
    refused(in_folder("a.db"), GT_DB_WRITE, GEMMTUNE_ESCHEMA, "version 77 is newer than 4");
}

static void test_write_ahead_log(void **state) {
    (void)state;
    gt_db_close(db_open(in_folder("a.db"), GT_DB_WRITE));
    tamper(in_folder("a.db"), "PRAGMA journal_mode = WAL");
    refused(in_folder("a.db"), GT_DB_READ, GEMMTUNE_EDB, "write-ahead log");
    refused(in_folder("a.db"), GT_DB_WRITE, GEMMTUNE_EDB, "write-ahead log");
    assert_int_equal(files_in(folder), 1);
}

/* Nothing planted may run: a file with triggers, views or the like is not ours. */
static void test_planted(void **state) {
    static const char *const planted[] = {
        "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM record; END",
        "CREATE TRIGGER t AFTER UPDATE ON trial BEGIN DELETE FROM record; END",
        "CREATE VIEW v AS WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) "
        "SELECT x FROM c",
        "CREATE TABLE extra (x)",
        "CREATE INDEX i ON record (abs(rank))",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "ALTER TABLE record ADD COLUMN more TEXT",
        "DROP TABLE record",
        "ALTER TABLE run RENAME TO runs",
        "DROP TABLE record; CREATE VIEW record AS SELECT 1",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, "
        "'rank >= 0', 'rank >= -9')",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE "
        "record('",
    };
    (void)state;
    fill(in_folder("good.db"), "H200", 1, 3);
    size_t size = 0;
    unsigned char *good = file_read(in_folder("good.db"), &size);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        (void)unlink(in_folder("bad.db"));
        file_write(in_folder("bad.db"), good, size);
        tamper(in_folder("bad.db"), planted[i]);
        size_t before_size = 0, after_size = 0;
        unsigned char *before = file_read(in_folder("bad.db"), &before_size);
        refused(in_folder("bad.db"), GT_DB_READ, GEMMTUNE_EDB, "");
        refused(in_folder("bad.db"), GT_DB_WRITE, GEMMTUNE_EDB, "");
        unsigned char *after = file_read(in_folder("bad.db"), &after_size);
        assert_int_equal(before_size, after_size);
        assert_memory_equal(before, after, before_size);
        free(before);
        free(after);
    }
    free(good);
}

static gt_status count_record(void *user, const struct gt_record_row *row,
                              struct gt_err *unused) {
    (void)row;
    (void)unused;
    ++*(int *)user;
    return GEMMTUNE_OK;
}

enum { OUT_OF_REACH = 77 };

/* Runs as another user, since root may write anywhere. Returns the error, 0 when there was
 * none. */
static int read_as_nobody(const char *path) {
    struct gt_db *db = NULL;
    int count = 0;
    if (geteuid() == 0 && seteuid(65534) != 0)
        return 1;
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0)
        return OUT_OF_REACH;
    if (gt_db_open(&db, path, GT_DB_READ, &err) != GEMMTUNE_OK)
        return 2;
    if (gt_db_records(db, NULL, NULL, count_record, &count, &err) != GEMMTUNE_OK ||
        count != 2)
        return 3;
    gt_db_close(db);
    return gt_db_open(&db, path, GT_DB_WRITE, &err) == GEMMTUNE_EIO ? 0 : 4;
}

static void test_read_only_folder(void **state) {
    int status = 0;
    (void)state;
    assert_int_equal(chmod(folder, 0755), 0);
    fill(in_folder("a.db"), "H200", 1, 3);
    assert_int_equal(chmod(in_folder("a.db"), 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(read_as_nobody(in_folder("a.db")));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(chmod(folder, 0755), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == OUT_OF_REACH)
        skip(); /* a tree below /root, which is root's alone */
    assert_int_equal(status, 0);
}

static void test_reading_leaves_no_trace(void **state) {
    struct stat before, after;
    int64_t bad = -1;
    int count = 0;
    (void)state;
    fill(in_folder("a.db"), "H200", 1, 3);
    assert_int_equal(stat(in_folder("a.db"), &before), 0);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_READ);
    OK(gt_db_records(db, NULL, NULL, count_record, &count, &err));
    OK(gt_db_check(db, &bad, &err));
    assert_int_equal(bad, 0);
    assert_int_equal(files_in(folder), 1);
    assert_int_equal(put_local_records(db, "x", "y", NULL, 0, &err), GEMMTUNE_EINVAL);
    const struct gt_device device = a_device("H200");
    int64_t run = 0;
    assert_int_equal(gt_db_run_begin(&run, db, &device, &(struct gt_run_info){0}, &err),
                     GEMMTUNE_EINVAL);
    gt_db_close(db);
    assert_int_equal(stat(in_folder("a.db"), &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
}

static void test_descriptors_do_not_leak_to_children(void **state) {
    (void)state;
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    int marked = 0;
    for (int fd = 3; fd < 64; fd++) {
        const int flags = fcntl(fd, F_GETFD);
        char name[64], target[PATH_SIZE] = "";
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        if (flags < 0 || readlink(name, target, sizeof target - 1) < 0 ||
            strstr(target, "a.db") == NULL)
            continue;
        assert_true((flags & FD_CLOEXEC) != 0);
        marked++;
    }
    assert_true(marked > 0);
    gt_db_close(db);
    gt_db_close(NULL);
}

/* A dead writer's journal: readers may not touch it and say so, the next writer repairs. */
static void test_hot_journal(void **state) {
    int status = 0;
    (void)state;
    fill(in_folder("a.db"), "H200", 1, 3);
    const pid_t pid = fork();
    if (pid == 0) {
        sqlite3 *conn = NULL;
        (void)sqlite3_open(in_folder("a.db"), &conn);
        (void)sqlite3_exec(
            conn,
            "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE;"
            "DELETE FROM record; UPDATE subject SET problem = 'f32-nn-1x1x1';"
            "UPDATE trial SET error = hex(randomblob(250)), samples = hex(randomblob(900))",
            NULL, NULL, NULL);
        (void)sqlite3_db_cacheflush(conn);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(access(in_folder("a.db-journal"), F_OK), 0);
    refused(in_folder("a.db"), GT_DB_READ, GEMMTUNE_EIO, "repairs it");
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    int count = 0;
    OK(gt_db_records(db, NULL, NULL, count_record, &count, &err));
    assert_int_equal(count, 2);
    gt_db_close(db);
}

static void test_odd_names(void **state) {
    char before[PATH_SIZE];
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    gt_db_close(db_open(":memory:", GT_DB_WRITE));
    gt_db_close(db_open("file:x.db?mode=memory", GT_DB_WRITE));
    assert_int_equal(access(":memory:", F_OK), 0);
    assert_int_equal(access("file:x.db?mode=memory", F_OK), 0);
    assert_int_equal(chdir(before), 0);
}

static void test_default_path(void **state) {
    char path[64];
    (void)state;
    (void)setenv("GEMMTUNE_DB", "mine.db", 1);
    (void)setenv("XDG_DATA_HOME", "/data", 1);
    (void)setenv("HOME", "/home/me", 1);
    OK(gt_db_default_path(path, sizeof path, &err));
    assert_string_equal(path, "mine.db");
    (void)setenv("GEMMTUNE_DB", "", 1);
    OK(gt_db_default_path(path, sizeof path, &err));
    assert_string_equal(path, "/data/gemmtune/gemmtune.db");
    (void)setenv("XDG_DATA_HOME", "relative", 1);
    OK(gt_db_default_path(path, sizeof path, &err));
    assert_string_equal(path, "/home/me/.local/share/gemmtune/gemmtune.db");
    assert_int_equal(gt_db_default_path(path, 8, &err), GEMMTUNE_EIO);
    (void)unsetenv("HOME");
    assert_int_equal(gt_db_default_path(path, sizeof path, &err), GEMMTUNE_EIO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_missing),
        TEST(test_created_with_folders),
        TEST(test_not_a_file),
        TEST(test_empty_and_text),
        TEST(test_foreign),
        TEST(test_newer),
        TEST(test_write_ahead_log),
        TEST(test_planted),
        TEST(test_read_only_folder),
        TEST(test_reading_leaves_no_trace),
        TEST(test_descriptors_do_not_leak_to_children),
        TEST(test_hot_journal),
        TEST(test_odd_names),
        TEST(test_default_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
