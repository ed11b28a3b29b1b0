/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_migrate.c - migrations apply once, in order, completely or not at all, after a
 * copy was made.
 */
#include "tests/unit/test_db.h"

/* A possible migration of the next release. */
static const struct gt_migration *later(const char *sql) {
    static struct gt_migration list[16];
    const int last = gt_migrations_last(gt_migrations);
    memcpy(list, gt_migrations, (size_t)last * sizeof *list);
    list[last] = (struct gt_migration){last + 1, sql};
    list[last + 1] = (struct gt_migration){0, NULL};
    return list;
}

static int64_t value(struct gt_db *db, const char *sql) {
    int64_t out = 0;
    OK(gt_sql_int(&out, NULL, db, &err, sql, ""));
    return out;
}

static void test_list(void **state) {
    (void)state;
    for (int i = 0; gt_migrations[i].sql != NULL; i++)
        assert_int_equal(gt_migrations[i].version, i + 1);
    assert_true(gt_migrations_last(gt_migrations) >= 1);
    assert_int_equal(gt_migrations_last(later("SELECT 1")),
                     gt_migrations_last(gt_migrations) + 1);
}

static void test_new_file(void **state) {
    char origin[GT_PROVENANCE_MAX], other[GT_PROVENANCE_MAX];
    (void)state;
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    assert_int_equal(value(db, "PRAGMA application_id"), GT_DB_APPLICATION);
    assert_int_equal(value(db, "PRAGMA user_version"), gt_migrations_last(gt_migrations));
    assert_int_equal(value(db, "PRAGMA foreign_keys"), 1);
    assert_int_equal(value(db, "PRAGMA synchronous"), 2);
    assert_int_equal(value(db,
                           "SELECT count(*) FROM pragma_table_list WHERE strict = 0 AND "
                           "name NOT LIKE 'sqlite%'"),
                     0);
    OK(gt_db_origin(origin, db, &err));
    gt_db_close(db);
    db = db_open(in_folder("b.db"), GT_DB_WRITE);
    OK(gt_db_origin(other, db, &err));
    gt_db_close(db);
    assert_string_not_equal(origin, other);
}

/* So a file is opened without running the migrations in memory. */
static void test_schema_is_known(void **state) {
    char digest[65];
    (void)state;
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    OK(gt_db_schema_digest(digest, db, &err));
    assert_string_equal(digest, gt_schema_known);
    gt_db_close(db);
}

static void test_next_version(void **state) {
    const struct gt_migration *list =
        later("CREATE TABLE note (text TEXT NOT NULL) STRICT;");
    const int last = gt_migrations_last(gt_migrations);
    char copy[32];
    (void)state;
    fill(in_folder("a.db"), "H200", 0, 3);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    OK(gt_db_migrate(db, list, &err));
    OK(gt_db_migrate(db, list, &err));
    assert_int_equal(value(db, "PRAGMA user_version"), last + 1);
    assert_int_equal(value(db, "SELECT count(*) FROM trial"), 3);
    OK(gt_db_check_schema(db, list, &err));
    assert_int_equal(gt_db_check_schema(db, gt_migrations, &err), GEMMTUNE_EDB);
    gt_db_close(db);
    (void)snprintf(copy, sizeof copy, "a.db.v%d.bak", last);
    db = db_open(in_folder(copy), GT_DB_READ); /* as it was */
    assert_int_equal(value(db, "SELECT count(*) FROM trial"), 3);
    gt_db_close(db);
}

static void test_failure_changes_nothing(void **state) {
    size_t before_size = 0, after_size = 0;
    (void)state;
    fill(in_folder("a.db"), "H200", 0, 3);
    unsigned char *before = file_read(in_folder("a.db"), &before_size);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    assert_int_equal(
        gt_db_migrate(db, later("DROP TABLE record; CREATE TABLE record (x"), &err),
        GEMMTUNE_EDB);
    gt_db_close(db);
    unsigned char *after = file_read(in_folder("a.db"), &after_size);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

/* ---- version 1 ---- */

static gt_status accept_any(const void *row, const void *before, struct gt_err *unused) {
    (void)row;
    (void)before;
    (void)unused;
    return GEMMTUNE_OK;
}

static struct gt_device a_cpu(int gib) {
    struct gt_device d = a_device("Some CPU");
    d.backend = GEMMTUNE_OPENCL;
    d.is_cpu = true;
    d.mem_bytes = (int64_t)gib << 30;
    return d;
}

/* A file as gemmtune made it then, open to be filled. */
static struct gt_db version_1(const char *path) {
    static char path_copy[PATH_SIZE];
    struct gt_db db = {.path = path_copy, .mode = GT_DB_WRITE};
    char sql[80];
    (void)snprintf(path_copy, sizeof path_copy, "%s", path);
    assert_int_equal(sqlite3_open(path, &db.conn), SQLITE_OK);
    OK(gt_sql_script(&db, gt_migrations[0].sql, &err));
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = 1; PRAGMA application_id = %d",
                   GT_DB_APPLICATION);
    OK(gt_sql_script(&db, sql, &err));
    return db;
}

/* A CPU with its old key, a run on it, trials `first` to `last` that ended at `moment`, and
 * a record of the first. */
static void fill_1(struct gt_db *db, int gib, int first, int last, int64_t moment_ms) {
    static struct gt_db_column column[32];
    struct gt_stored_device device = {.here = true, .device = a_cpu(gib)};
    struct gt_db_table devices = gt_device_table, records = gt_record_table;
    int64_t device_id = 0, subject_id = 0;
    devices.check = accept_any;
    memcpy(column, records.column, records.count * sizeof *column);
    for (size_t i = 0; i < records.count; i++)
        if (column[i].was != NULL)
            column[i].name = column[i].was;
    records.column = column;
    gt_device_key_1(&device.device, device.key);
    OK(gt_row_put(&device_id, db, &devices, 0, &device, &err));
    OK(gt_sql_run(db, &err,
                  "INSERT INTO run (device, version, driver, compiler, arguments, seed, "
                  "pid, boot, start_time, started_ms, how) "
                  "VALUES (?, '', '', '', '', 1, 1, '', 1, ?, '')",
                  "ii", device_id, moment_ms));
    for (int i = first; i <= last; i++) {
        struct gt_stored_trial trial = {.row = a_result(i)};
        struct gt_stored_record record = {.row = a_record(device.key, i, 0)};
        trial.row.subject = a_subject(device.key, i);
        trial.row.state = GT_TRIAL_DONE;
        trial.row.attempts = 1;
        trial.row.provenance = record.row.provenance = GT_LOCAL;
        trial.row.ended_ms = record.row.measured_ms = moment_ms;
        OK(gt_subject_put(&subject_id, db, &trial.row.subject, &err));
        OK(gt_row_put(NULL, db, &gt_trial_table, subject_id, &trial, &err));
        if (i == first)
            OK(gt_row_put(NULL, db, &records, subject_id, &record, &err));
    }
}

struct found {
    int count;
    char key[GT_DEVICE_KEY_MAX];
    int64_t ended_ms, measured_ms;
    double baseline_ns;
};

static gt_status see_device(void *user, const char *key, const struct gt_device *d,
                            struct gt_err *unused) {
    struct found *f = user;
    (void)unused;
    assert_int_equal(d->mem_bytes, INT64_C(7) << 30); /* what it said last */
    (void)snprintf(f->key, sizeof f->key, "%s", key);
    f->count++;
    return GEMMTUNE_OK;
}

static gt_status see_trial(void *user, const struct gt_trial_row *row,
                           struct gt_err *unused) {
    struct found *f = user;
    (void)unused;
    assert_string_equal(row->subject.device_key, f->key);
    if (strstr(row->subject.point, "BM=3 ") != NULL)
        f->ended_ms = row->ended_ms;
    f->count++;
    return GEMMTUNE_OK;
}

static gt_status see_record(void *user, const struct gt_record_row *row,
                            struct gt_err *unused) {
    struct found *f = user;
    (void)unused;
    f->measured_ms = row->measured_ms;
    f->baseline_ns = row->baseline_ns;
    f->count++;
    return GEMMTUNE_OK;
}

/* One CPU under two keys becomes one device: the newer trial and the newer set of records
 * stay. A trial with a wrong checksum stays wrong. */
static void test_version_1(void **state) {
    char key[GT_DEVICE_KEY_MAX];
    const struct gt_device cpu = a_cpu(5);
    struct found devices = {0}, trials = {0}, records = {0};
    int64_t bad = 0;
    (void)state;
    struct gt_db old = version_1(in_folder("a.db"));
    fill_1(&old, 7, 1, 3, 2000);
    fill_1(&old, 5, 3, 5, 1000);
    OK(gt_sql_script(&old, "UPDATE trial SET registers = registers + 1 WHERE id = 6",
                     &err));
    (void)sqlite3_close(old.conn);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    OK(gt_db_devices(db, see_device, &devices, &err));
    gt_device_key(&cpu, key);
    assert_int_equal(devices.count, 1);
    assert_string_equal(devices.key, key);
    memcpy(trials.key, key, sizeof key);
    OK(gt_db_trials(db, key, NULL, see_trial, &trials, &err));
    assert_int_equal(trials.count, 4); /* 1 to 4; 5 is spoilt */
    assert_int_equal(trials.ended_ms, 2000);
    OK(gt_db_records(db, key, NULL, see_record, &records, &err));
    assert_int_equal(records.count, 1);
    assert_int_equal(records.measured_ms, 2000);
    assert_true(records.baseline_ns > 123456 && records.baseline_ns < 123457);
    OK(gt_db_check(db, &bad, &err));
    assert_int_equal(bad, 1);
    assert_int_equal(value(db, "SELECT count(*) FROM run AS r JOIN device AS d "
                               "ON d.id = r.device"),
                     2);
    gt_db_close(db);
}

/* A GPU's key has not changed, so its rows stay. */
static void test_version_1_of_a_gpu(void **state) {
    const struct gt_device d = a_device("H200");
    char was[GT_DEVICE_KEY_MAX], is[GT_DEVICE_KEY_MAX];
    (void)state;
    gt_device_key_1(&d, was);
    gt_device_key(&d, is);
    assert_string_equal(was, is);
}

/* ---- version 2 ---- */

static gt_status count_name(void *user, const struct gt_trial_row *row,
                            struct gt_err *unused) {
    int *count = user;
    (void)unused;
    *count += strcmp(row->subject.problem, a_subject("", 1).problem) == 0;
    return GEMMTUNE_OK;
}

/* Keys of before stay as they are and are found; longer ones can be stored. */
static void test_version_2(void **state) {
    const char *const insert =
        "INSERT INTO subject (device, problem, family, point) "
        "SELECT device, printf('%.*c', ?, 'x'), family, point FROM subject LIMIT 1";
    int count = 0;
    (void)state;
    struct gt_db old = version_1(in_folder("a.db"));
    fill_1(&old, 7, 1, 3, 2000);
    OK(gt_sql_script(&old, gt_migrations[1].sql, &err));
    OK(gt_db_rekey(&old, &err));
    OK(gt_sql_script(&old, "PRAGMA user_version = 2", &err));
    assert_int_not_equal(gt_sql_run(&old, NULL, insert, "i", (int64_t)192), GEMMTUNE_OK);
    const int64_t subjects = value(&old, "SELECT count(*) FROM subject");
    (void)sqlite3_close(old.conn);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    assert_int_equal(value(db, "PRAGMA user_version"), gt_migrations_last(gt_migrations));
    assert_int_equal(value(db, "PRAGMA foreign_keys"), 1);
    assert_int_equal(value(db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(value(db, "SELECT count(*) FROM subject"), subjects);
    OK(gt_sql_run(db, &err, insert, "i", (int64_t)511));
    assert_int_not_equal(gt_sql_run(db, NULL, insert, "i", (int64_t)512), GEMMTUNE_OK);
    OK(gt_db_trials(db, NULL, NULL, count_name, &count, &err));
    assert_int_equal(count, 3);
    gt_db_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_list),
        TEST(test_new_file),
        TEST(test_schema_is_known),
        TEST(test_next_version),
        TEST(test_failure_changes_nothing),
        TEST(test_version_1),
        TEST(test_version_1_of_a_gpu),
        TEST(test_version_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
