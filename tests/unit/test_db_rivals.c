/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_rivals.c - comparisons with libraries in a database: stored, replaced, refused,
 * damaged, merged in any order, and as text.
 */
#include "tests/unit/test_db.h"

#include <math.h>

enum { MIB_32 = 32 << 20 };

static char key[GT_DEVICE_KEY_MAX];

static int setup(void **state) {
    const int code = folder_make(state);
    const struct gt_device device = a_device("H200");
    gt_device_key(&device, key);
    fill(in_folder("a.db"), "H200", 0, 3);
    return code;
}

/* Kernel i beside cuBLAS. */
static struct gt_rival_row a_rival(int i) {
    return (struct gt_rival_row){.subject = a_subject(key, i),
                                 .workspace = MIB_32,
                                 .library = "cublas",
                                 .version = 130100,
                                 .verdict = GT_WIN,
                                 .ours_ns = 1000.25,
                                 .rival_ns = 1203.5,
                                 .ratio = 1.2034,
                                 .ratio_low = 1.19,
                                 .ratio_high = 1.21,
                                 .floor = 0.0025,
                                 .rounds = 21,
                                 .driver = "570.1"};
}

static void put(const char *path, const struct gt_rival_row *row) {
    struct gt_db *db = db_open(in_folder(path), GT_DB_WRITE);
    OK(gt_db_rivals_put(db, row, 1, &err));
    gt_db_close(db);
}

/* ---- reading ---- */

static struct {
    int count;
    struct gt_rival_row last;
    char lines[16][320];
} seen;

static gt_status see(void *user, const struct gt_rival_row *row, struct gt_err *unused) {
    (void)user;
    (void)unused;
    assert_true(seen.count < 16);
    (void)snprintf(seen.lines[seen.count++], sizeof seen.lines[0],
                   "%s %lld %s %d %s %g %g %g %g %g %g %d %.20s %lld %d",
                   row->subject.point, (long long)row->workspace, row->library,
                   row->version, row->verdict == GT_WIN ? "win" : "other", row->ours_ns,
                   row->rival_ns, row->ratio, row->ratio_low, row->ratio_high, row->floor,
                   row->rounds, row->driver, (long long)row->measured_ms, row->is_local);
    seen.last = *row;
    return GEMMTUNE_OK;
}

static int read_all(const char *path) {
    struct gt_db *db = db_open(in_folder(path), GT_DB_READ);
    seen.count = 0;
    OK(gt_db_rivals(db, key, NULL, see, NULL, &err));
    gt_db_close(db);
    return seen.count;
}

/* ---- tests ---- */

static void test_round_trip(void **state) {
    const struct gt_rival_row row = a_rival(0);
    char want[320];
    (void)state;
    put("a.db", &row);
    assert_int_equal(read_all("a.db"), 1);
    assert_true(seen.last.measured_ms > INT64_C(1600000000000) &&
                seen.last.measured_ms <= gt_now_ms());
    (void)snprintf(want, sizeof want,
                   "BM=0 BN=64 33554432 cublas 130100 win 1000.25 1203.5 1.2034 1.19 1.21 "
                   "0.0025 21 570.1 %lld 1",
                   (long long)seen.last.measured_ms);
    assert_string_equal(seen.lines[0], want);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_READ);
    seen.count = 0;
    OK(gt_db_rivals(db, key, "f32-nn-1x1x1", see, NULL, &err));
    assert_int_equal(seen.count, 0);
    OK(gt_db_rivals(db, NULL, row.subject.problem, see, NULL, &err));
    assert_int_equal(seen.count, 1);
    gt_db_close(db);
}

/* There is a row for each workspace, library and version. The same again replaces it. */
static void test_replaced(void **state) {
    struct gt_rival_row row = a_rival(0);
    (void)state;
    put("a.db", &row);
    row.ratio = 1.195;
    put("a.db", &row);
    assert_int_equal(read_all("a.db"), 1);
    assert_true(seen.last.ratio > 1.1949 && seen.last.ratio < 1.1951);
    row.workspace = 0;
    put("a.db", &row);
    row.library = "cublaslt";
    put("a.db", &row);
    row.version = 130200;
    put("a.db", &row);
    row.subject = a_subject(key, 1);
    put("a.db", &row);
    assert_int_equal(read_all("a.db"), 5);
    assert_non_null(strstr(seen.lines[0], "BM=0 BN=64 0 cublas 130100"));
    assert_non_null(strstr(seen.lines[1], "BM=0 BN=64 0 cublaslt 130100"));
    assert_non_null(strstr(seen.lines[2], "BM=0 BN=64 0 cublaslt 130200"));
    assert_non_null(strstr(seen.lines[3], "BM=0 BN=64 33554432 cublas 130100"));
}

static void refuse(struct gt_rival_row row, const char *why) {
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    const struct gt_rival_row rows[] = {a_rival(1), row};
    assert_int_not_equal(gt_db_rivals_put(db, rows, 2, &err), GEMMTUNE_OK);
    if (strstr(err.line, why) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", why, err.line);
    gt_db_close(db);
    assert_int_equal(read_all("a.db"), 0); /* all or none */
}

static void test_refused(void **state) {
    struct gt_rival_row row;
    (void)state;
#define REFUSE(member, value, why)                                                         \
    row = a_rival(0);                                                                      \
    row.member = value;                                                                    \
    refuse(row, why)
    REFUSE(verdict, GT_NO_VERDICT, "there is no verdict");
    REFUSE(verdict, (enum gt_verdict)7, "verdict is not in its list");
    REFUSE(ratio_low, 1.3, "are not an interval");
    REFUSE(ratio_high, 1.1, "are not an interval");
    REFUSE(ratio_low, 0, "are not an interval");
    REFUSE(ours_ns, 0, "times of 0");
    REFUSE(rival_ns, (double)INFINITY, "rival_ns is inf");
    REFUSE(floor, -1, "floor is -1");
    REFUSE(version, 0, "version is 0");
    REFUSE(workspace, -1, "workspace is -1");
    REFUSE(rounds, 0, "rounds is 0");
    REFUSE(library, "", "library has 0 bytes");
    REFUSE(library, "a name of more bytes than there are", "library has 35 bytes");
    REFUSE(subject.problem, "f32-nn-9", "f32-nn-9");
    REFUSE(subject.device_key, "nobody", "holds no device");
#undef REFUSE
}

/* A row with a flipped bit is skipped, and the check of the file counts it. */
static void test_damaged(void **state) {
    struct gt_rival_row row = a_rival(0);
    int64_t bad = 0;
    (void)state;
    put("a.db", &row);
    row.library = "cublaslt";
    put("a.db", &row);
    tamper(in_folder("a.db"), "UPDATE rival SET ratio = 2, ratio_high = 2 WHERE library = "
                              "'cublas'");
    assert_int_equal(read_all("a.db"), 1);
    assert_string_equal(strstr(seen.lines[0], "cublaslt") != NULL ? "lt" : "", "lt");
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_READ);
    OK(gt_db_check(db, &bad, &err));
    assert_int_equal(bad, 1);
    gt_db_close(db);
}

/* ---- moving ---- */

static struct gt_merge_report merge(const char *into, const char *from) {
    struct gt_merge_report report;
    struct gt_db *db = db_open(in_folder(into), GT_DB_WRITE);
    OK(gt_db_merge(&report, db, in_folder(from), &err));
    gt_db_close(db);
    return report;
}

/* Two machines with such a device: rows keep their origin, whatever the order of merging
 * and however often. A row that comes home replaces nothing. */
static void test_merged(void **state) {
    struct gt_rival_row row = a_rival(0);
    char lines[2][320];
    (void)state;
    fill(in_folder("b.db"), "H200", 0, 3);
    put("a.db", &row);
    row.ratio = 1.2;
    put("b.db", &row);
    assert_int_equal(merge("ab.db", "a.db").rivals, 1);
    assert_int_equal(merge("ab.db", "b.db").rivals, 1);
    assert_int_equal(merge("ab.db", "a.db").rivals, 0);
    assert_int_equal(merge("ba.db", "b.db").rivals, 1);
    assert_int_equal(merge("ba.db", "a.db").rivals, 1);
    assert_int_equal(read_all("ab.db"), 2);
    assert_false(seen.last.is_local);
    memcpy(lines, seen.lines, sizeof lines);
    assert_int_equal(read_all("ba.db"), 2);
    assert_memory_equal(lines, seen.lines, sizeof lines);
    assert_int_equal(merge("a.db", "ab.db").rivals, 1); /* from b */
    assert_int_equal(read_all("a.db"), 2);
    assert_non_null(strstr(seen.lines[0], "1.2034")); /* from here, first */
    assert_true(seen.lines[0][strlen(seen.lines[0]) - 1] == '1');
}

/* Of one origin the newest row stays. */
static void test_newest_stays(void **state) {
    struct gt_rival_row row = a_rival(0);
    (void)state;
    put("a.db", &row);
    (void)merge("b.db", "a.db");
    (void)merge("old.db", "a.db");
    const struct timespec wait = {.tv_nsec = 5000000};
    (void)nanosleep(&wait, NULL);
    row.ratio = 1.2;
    put("a.db", &row);
    assert_int_equal(merge("b.db", "a.db").rivals, 0);
    (void)merge("b.db", "old.db");
    assert_int_equal(read_all("b.db"), 1);
    assert_true(seen.last.ratio < 1.2001);
}

static char *export(const char *name) {
    struct gt_export_report written;
    size_t size = 0;
    struct gt_db *db = db_open(in_folder(name), GT_DB_READ);
    OK(gt_db_export(&written, db, NULL, in_folder("out.json"), &err));
    gt_db_close(db);
    return (char *)file_read(in_folder("out.json"), &size);
}

static gt_status import(struct gt_merge_report *report, const char *into,
                        const char *text) {
    file_write(in_folder("in.json"), text, strlen(text));
    struct gt_db *db = db_open(in_folder(into), GT_DB_WRITE);
    const gt_status status = gt_db_import(report, db, in_folder("in.json"), &err);
    gt_db_close(db);
    return status;
}

/* The text has comparisons of kernels that are records, each once; without any it has the
 * format of before. */
static void test_text(void **state) {
    struct gt_merge_report report;
    struct gt_rival_row row = a_rival(0);
    (void)state;
    char *text = export("a.db");
    assert_non_null(strstr(text, "\"format\": 3,"));
    assert_null(strstr(text, "rivals"));
    free(text);
    put("a.db", &row);
    row.subject = a_subject(key, 2); /* a trial, and no record */
    put("a.db", &row);
    (void)merge("copy.db", "a.db");
    row.subject = a_subject(key, 0);
    row.ratio = 1.2;
    put("a.db", &row);
    (void)merge("a.db", "copy.db");
    text = export("a.db");
    assert_non_null(strstr(text, "\"format\": 4,"));
    const char *first = strstr(text, "\"ratio\"");
    assert_non_null(first);
    assert_int_equal(strncmp(first, "\"ratio\": 1.2,", 13), 0);
    assert_null(strstr(first + 1, "\"ratio\""));
    OK(import(&report, "into.db", text));
    assert_int_equal(report.rivals, 1);
    assert_int_equal(read_all("into.db"), 1);
    assert_false(seen.last.is_local);
    assert_int_equal(seen.last.measured_ms > 0, 1);
    char *again = export("into.db");
    assert_string_equal(again, text);
    OK(import(&report, "into.db", text));
    assert_int_equal(report.rivals, 0);
    free(again);
    free(text);
}

/* Replaces the first `from` of the text by `to`, which is as long. */
static char *changed(const char *text, const char *from, const char *to) {
    char *copy = strdup(text);
    assert_non_null(copy);
    char *at = strstr(copy, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    return copy;
}

static void test_wrong_text(void **state) {
    static const struct {
        const char *from, *to, *why;
    } rows[] = {
        {"\"format\": 4", "\"format\": 3", "rivals"},
        {"\"format\": 4", "\"format\": 5", "format"},
        {"\"verdict\": \"win\"", "\"verdict\": \"wan\"", "is not a word it may be"},
        {"\"ratio_low\": 1.19", "\"ratio_low\": 2.19", "not an interval"},
        {"\"library\"", "\"librarx\"", "librarx"},
        {"\"rounds\": 21", "\"rounds\": 99", "rounds"},
    };
    struct gt_rival_row row = a_rival(0);
    struct gt_merge_report report;
    (void)state;
    put("a.db", &row);
    char *text = export("a.db");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *copy = changed(text, rows[i].from, rows[i].to);
        assert_int_equal(import(&report, "into.db", copy), GEMMTUNE_EPARSE);
        if (strstr(err.line, rows[i].why) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", rows[i].why, err.line);
        assert_int_equal(read_all("into.db"), 0);
        free(copy);
    }
    free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip), TEST(test_replaced),   TEST(test_refused),
        TEST(test_damaged),    TEST(test_merged),     TEST(test_newest_stays),
        TEST(test_text),       TEST(test_wrong_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
