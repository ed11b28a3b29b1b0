/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_merge_law.c - what a merge makes depends on the set of its sources alone: not on
 * their order, on how often each is taken, or on which were merged with which before. Tried
 * on random databases with few subjects and few moments, so that much of it collides.
 * GT_SEED says where the random numbers begin (1), GT_ROUNDS how many sets of sources there
 * are (3).
 */
#include "core/mix.h"
#include "tests/unit/test_db.h"

enum { SOURCES = 4, SUBJECTS = 2, MOMENTS = 2, ROUNDS = 3, LINES_MAX = 400 };

static uint64_t state_of_random;

/* From 0 to n - 1 (Steele, Lea, Flood 2014: SplitMix64). */
static int random_below(int n) {
    return (int)(gt_mix(state_of_random += GT_MIX_STEP) % (uint64_t)n);
}

static const char *source(int i) {
    char name[16];
    (void)snprintf(name, sizeof name, "%d.db", i);
    return in_folder(name);
}

/* ---- random databases ---- */

/* One of two models, as one of three machines has it. */
static struct gt_device random_device(char key[GT_DEVICE_KEY_MAX]) {
    struct gt_device d = a_device(random_below(4) > 0 ? "H200" : "GTX 1050");
    (void)snprintf(d.uuid, sizeof d.uuid, "GPU-%d", random_below(3));
    (void)snprintf(d.driver, sizeof d.driver, "57%d.1", random_below(3));
    gt_device_key(&d, key);
    return d;
}

static struct gt_db_subject random_subject(const char *key) {
    static const char *const problems[] = {"f32-nn-512x512x512", "f64-nn-8x8x8"};
    struct gt_db_subject subject = a_subject(key, random_below(SUBJECTS));
    subject.problem = problems[random_below(4) == 0];
    if (random_below(4) == 0)
        subject.family_hash =
            "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    return subject;
}

static void put_trial(struct gt_db *db, const struct gt_db_subject *subject, int result,
                      int64_t moment) {
    int64_t id = 0;
    struct gt_stored_trial trial = {.row = a_result(result)};
    trial.row.subject = *subject;
    trial.row.state = GT_TRIAL_DONE;
    trial.row.attempts = 1;
    trial.row.provenance = GT_LOCAL;
    trial.row.ended_ms = moment;
    OK(gt_subject_put(&id, db, subject, &err));
    OK(gt_row_put(NULL, db, &gt_trial_table, id, &trial, &err));
}

static void put_record(struct gt_db *db, const struct gt_db_subject *subject, int result,
                       int rank, int64_t moment) {
    int64_t id = 0;
    struct gt_stored_record record = {.row = a_record(subject->device_key, result, rank)};
    record.row.subject = *subject;
    record.row.provenance = GT_LOCAL;
    record.row.measured_ms = moment;
    OK(gt_subject_put(&id, db, subject, &err));
    OK(gt_row_put(NULL, db, &gt_record_table, id, &record, &err));
}

static int64_t random_moment(void) {
    return 1 + random_below(MOMENTS);
}

/* The records of a problem, which one tuning wrote. */
static void put_records(struct gt_db *db, const char *key) {
    const struct gt_db_subject set = random_subject(key);
    const int64_t moment = random_moment();
    const int count = 1 + random_below(3);
    OK(gt_records_delete(db, &set, GT_LOCAL, &err));
    for (int rank = 0; rank < count; rank++) {
        struct gt_db_subject subject = random_subject(key);
        subject.problem = set.problem;
        put_record(db, &subject, random_below(3), rank, moment);
    }
}

/* A machine uses its database in a few random steps. */
static void live(struct gt_db *db) {
    char key[GT_DEVICE_KEY_MAX];
    for (int steps = 1 + random_below(4); steps > 0; steps--) {
        const struct gt_device device = random_device(key);
        const int64_t run = run_begin(db, &device);
        OK(gt_db_run_end(db, run, "done", &err));
        OK(gt_txn_begin(db, &err));
        for (int trials = random_below(5); trials > 0; trials--) {
            const struct gt_db_subject subject = random_subject(key);
            put_trial(db, &subject, random_below(3), random_moment());
        }
        for (int sets = random_below(3); sets > 0; sets--)
            put_records(db, key);
        OK(gt_txn_end(db, GEMMTUNE_OK, &err));
    }
}

static void copy(const char *to, const char *from) {
    size_t size = 0;
    unsigned char *data = file_read(from, &size);
    file_write(to, data, size);
    free(data);
}

static void merge_into(const char *path, const char *from) {
    struct gt_merge_report report;
    struct gt_db *db = db_open(path, GT_DB_WRITE);
    OK(gt_db_merge(&report, db, from, &err));
    assert_int_equal(report.skipped, 0);
    gt_db_close(db);
}

/* A source may begin as a copy of one before it, and so share its name; take others'
 * results in; and go on. */
static void make_sources(void) {
    for (int i = 0; i < SOURCES; i++) {
        (void)unlink(source(i));
        if (i > 0 && random_below(3) == 0)
            copy(source(i), source(random_below(i)));
        struct gt_db *db = db_open(source(i), GT_DB_WRITE);
        live(db);
        gt_db_close(db);
        if (i > 0 && random_below(2) == 0) {
            merge_into(source(i), source(random_below(i)));
            db = db_open(source(i), GT_DB_WRITE);
            live(db);
            gt_db_close(db);
        }
    }
}

/* ---- merges of all sources ---- */

/* A fresh database that takes each source once or more, in any order. */
static void merge_in_turns(const char *out) {
    bool taken[SOURCES] = {false};
    for (int left = SOURCES; left > 0;) {
        const int i = random_below(SOURCES);
        merge_into(out, source(i));
        left -= !taken[i];
        taken[i] = true;
    }
}

/* Takes the sources first <= i < end, some of them by way of others: of fresh databases, or
 * of a source that took the others in first. */
static void merge_grouped(const char *out, int first, int end) {
    static int made;
    char name[32], middle[PATH_SIZE];
    const int half = first + 1 + random_below(end - first);
    (void)snprintf(name, sizeof name, "middle-%d.db", made++);
    (void)snprintf(middle, sizeof middle, "%s", in_folder(name));
    if (half - first > 1 && random_below(2) == 0)
        merge_grouped(middle, first, half);
    else
        copy(middle, source(first));
    for (int i = first; i < half; i++)
        merge_into(middle, source(i));
    if (half < end)
        merge_grouped(out, half, end);
    merge_into(out, middle);
    (void)unlink(middle);
}

/* ---- what there is ---- */

struct lines {
    int count;
    char line[LINES_MAX][400];
};

/* Everything but the numbers of rows; checksums are over all of a row. */
static void list(struct lines *out, const char *path) {
    static const char sql[] =
        "SELECT concat FROM ("
        "SELECT 'device ' || key || ' ' || here || uuid || driver || checksum AS concat"
        " FROM device UNION ALL "
        "SELECT 'trial ' || d.key || ' ' || s.problem || ' ' || f.hash || ' ' || s.point ||"
        " ' ' || t.ended_ms || ' ' || t.provenance || ' ' || t.checksum FROM trial t"
        " JOIN subject s ON s.id = t.subject JOIN family f ON f.id = s.family"
        " JOIN device d ON d.id = s.device UNION ALL "
        "SELECT 'record ' || d.key || ' ' || s.problem || ' ' || f.hash || ' ' || s.point "
        "||"
        " ' ' || t.measured_ms || ' ' || t.provenance || ' ' || t.checksum FROM record t"
        " JOIN subject s ON s.id = t.subject JOIN family f ON f.id = s.family"
        " JOIN device d ON d.id = s.device UNION ALL "
        "SELECT 'tuning ' || problem FROM tuning) ORDER BY 1";
    sqlite3 *conn = NULL;
    sqlite3_stmt *stmt = NULL;
    out->count = 0;
    assert_int_equal(sqlite3_open(path, &conn), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(conn, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW && out->count < LINES_MAX)
        (void)snprintf(out->line[out->count++], sizeof out->line[0], "%s",
                       (const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(conn);
    assert_true(out->count > 0 && out->count < LINES_MAX);
}

static void assert_same(const struct lines *want, const char *path, int round) {
    static struct lines got;
    list(&got, path);
    for (int i = 0; i < want->count || i < got.count; i++) {
        const char *one = i < want->count ? want->line[i] : "nothing";
        const char *other = i < got.count ? got.line[i] : "nothing";
        if (strcmp(one, other) != 0)
            fail_msg("round %d, line %d of %s:\n%s\n%s", round, i, path, one, other);
    }
}

static void test_law(void **state) {
    static struct lines want;
    const char *seed = getenv("GT_SEED"), *more = getenv("GT_ROUNDS");
    const int rounds = more != NULL ? atoi(more) : ROUNDS;
    char plain[PATH_SIZE], out[PATH_SIZE];
    (void)state;
    state_of_random = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    (void)snprintf(plain, sizeof plain, "%s", in_folder("plain.db"));
    (void)snprintf(out, sizeof out, "%s", in_folder("out.db"));
    for (int round = 0; round < rounds; round++) {
        make_sources();
        (void)unlink(plain);
        for (int i = 0; i < SOURCES; i++)
            merge_into(plain, source(i));
        list(&want, plain);
        for (int i = 0; i < 4; i++) {
            (void)unlink(out);
            if (i % 2 == 0)
                merge_in_turns(out);
            else
                merge_grouped(out, 0, SOURCES);
            assert_same(&want, out, round);
        }
    }
}

/* Two copies of one database go on, and at one moment get different rows of one subject:
 * with `records` records, else trials. */
static void fork_at_once(bool records, int result, int other) {
    char key[GT_DEVICE_KEY_MAX];
    const struct gt_device device = random_device(key);
    struct gt_db *db;
    (void)unlink(source(0));
    db = db_open(source(0), GT_DB_WRITE);
    OK(gt_db_run_end(db, run_begin(db, &device), "done", &err));
    gt_db_close(db);
    copy(source(1), source(0));
    for (int i = 0; i < 2; i++) {
        const struct gt_db_subject subject = a_subject(key, 0);
        db = db_open(source(i), GT_DB_WRITE);
        if (records)
            put_record(db, &subject, i == 0 ? result : other, 0, 5);
        else
            put_trial(db, &subject, i == 0 ? result : other, 5);
        gt_db_close(db);
    }
}

/* One of them takes the other in, and is merged then: that is like merging both. Which row
 * is the larger is chance, since a database's name is. */
static void test_same_moment(void **state) {
    static struct lines want;
    static const char *const plain = "plain.db", *const out = "out.db",
                             *const way = "way.db";
    (void)state;
    for (int i = 0; i < 12; i++) {
        fork_at_once(i % 2 == 0, 0, 1);
        (void)unlink(in_folder(plain));
        (void)unlink(in_folder(out));
        merge_into(in_folder(plain), source(0));
        merge_into(in_folder(plain), source(1));
        list(&want, in_folder(plain));
        copy(in_folder(way), source(0));
        merge_into(in_folder(way), source(1));
        merge_into(in_folder(out), in_folder(way));
        assert_same(&want, in_folder(out), i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_moment, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_law, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
