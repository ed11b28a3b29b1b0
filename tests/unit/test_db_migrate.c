/* SPDX-License-Identifier: Apache-2.0 */
/* test_db_migrate.c - migrations apply once, in order, all or nothing, after a copy. */
#include "tests/unit/test_db.h"

static const struct gt_migration *first(void) {
    return &gt_migrations[0];
}

/* What the next release might do. */
static const struct gt_migration *later(const char *sql) {
    static struct gt_migration list[3];
    list[0] = *first();
    list[1] = (struct gt_migration){2, sql};
    list[2] = (struct gt_migration){0, NULL};
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
    assert_int_equal(gt_migrations_last(later("SELECT 1")), 2);
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

static void test_next_version(void **state) {
    const struct gt_migration *list =
        later("CREATE TABLE note (text TEXT NOT NULL) STRICT;");
    (void)state;
    fill(in_folder("a.db"), "H200", 0, 3);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    OK(gt_db_migrate(db, list, &err));
    OK(gt_db_migrate(db, list, &err));
    assert_int_equal(value(db, "PRAGMA user_version"), 2);
    assert_int_equal(value(db, "SELECT count(*) FROM trial"), 3);
    OK(gt_db_check_schema(db, list, &err));
    assert_int_equal(gt_db_check_schema(db, gt_migrations, &err), GEMMTUNE_EDB);
    gt_db_close(db);
    db = db_open(in_folder("a.db.v1.bak"), GT_DB_READ); /* as it was */
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_list),
        TEST(test_new_file),
        TEST(test_next_version),
        TEST(test_failure_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
