/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a database that lookups read: which records and runners-up, and their ranks.
 */
#include "db/db.h"
#include "tests/unit/match_families.h"
#include "tests/unit/records.h"

static struct gt_device device_named(const char *name, const char *arch) {
    struct gt_device d = card;
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    (void)snprintf(d.arch, sizeof d.arch, "%s", arch);
    return d;
}

/* A run on the device that leaves one record a problem. */
static void store(struct gt_db *db, const struct gt_device *d, const char *problem,
                  const char *family, const char *hash, const char *point) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    char key[GT_DEVICE_KEY_MAX];
    struct gt_err err = {""};
    int64_t run;
    gt_device_key(d, key);
    assert_int_equal(gt_db_run_begin(&run, db, d, &info, &err), GEMMTUNE_OK);
    const struct gt_record_row row = {.subject = {key, problem, family, hash, point},
                                      .verified = true,
                                      .time = {.median_ns = 5000,
                                               .low_ns = 4900,
                                               .high_ns = 5100,
                                               .samples = 9,
                                               .launches = 1},
                                      .provenance = "local"};
    const gt_status status = put_local_records(db, key, problem, &row, 1, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
}

static void fill_database(const char *path) {
    const struct gt_device a = device_named("Card A", "sm_90");
    const struct gt_device b = device_named("Card B", "sm_90");
    const struct gt_device old = device_named("Old", "sm_61");
    const char *hash = gt_families_find(families, "choosy")->hash;
    const char *other = gt_families_find(families, "plain")->hash;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "f32-nn-512x512x512", "choosy", hash, "V=4 W=8");
    store(db, &a, "f32-nn-256x512x512", "choosy", hash, "V=3 W=8"); /* not in the domain */
    store(db, &a, "f32-nn-128x512x512", "choosy", hash, "V=4");     /* incomplete */
    store(db, &a, "f32-nn-64x512x512", "choosy", other, "V=4 W=8"); /* stale */
    store(db, &b, "f32-nn-32x512x512", "nobody", other, "");        /* unknown: stale */
    store(db, &b, "i32-nn-512x512x512", "plain", other, "");
    store(db, &old, "f32-nn-512x512x512", "plain", other, ""); /* another architecture */
    gt_db_close(db);
}

static void test_load(void **state) {
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char path[600];
    size_t count;
    int64_t stale;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/test.db", folder);
    fill_database(path);
    assert_int_equal(gt_db_open(&db, path, GT_DB_READ, &err), GEMMTUNE_OK);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(stale, 2);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(loaded[i].arch, "sm_90");
    const bool first = strcmp(loaded[0].problem_name, "f32-nn-512x512x512") == 0;
    const struct gt_known *k = &loaded[first ? 0 : 1];
    assert_string_equal(k->problem_name, "f32-nn-512x512x512");
    assert_string_equal(k->family->name, "choosy");
    assert_true(k->verified);
    assert_int_equal((int)k->median_ns, 5000);
    free(loaded);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_80", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 0);
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
}

static void try_point(struct gt_db *db, int64_t run, const char *key, const char *problem,
                      const char *point, gt_outcome outcome, double ns) {
    const char *hash = gt_families_find(families, "deep")->hash;
    const struct gt_db_subject subject = {key, problem, "deep", hash, point};
    const struct gt_trial_row row = {.outcome = outcome,
                                     .time = {.median_ns = ns,
                                              .low_ns = ns,
                                              .high_ns = ns,
                                              .samples = 1,
                                              .launches = 1,
                                              .sample_ns = {(float)ns}},
                                     .error = ""};
    struct gt_err err = {""};
    int64_t id;
    bool claimed;
    assert_int_equal(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err),
                     GEMMTUNE_OK);
    assert_true(claimed);
    assert_int_equal(gt_db_trial_end(db, id, &row, &err), GEMMTUNE_OK);
}

/* Beside records: the fastest correct trial of each other tile, if it is no slower than 1.2
 * times the winner; none where there is no record. */
static void test_runners_up(void **state) {
    static const struct {
        const char *problem, *point;
        gt_outcome outcome;
        double ns;
    } tried[] = {
        {"i32-nn-512x512x512", "BM=32 BN=32 SPLIT=8", GT_CORRECT, 5100},
        {"i32-nn-512x512x512", "BM=128 BN=128 SPLIT=1", GT_CORRECT, 5900},
        {"i32-nn-512x512x512", "BM=128 BN=128 SPLIT=8", GT_CORRECT, 5500},
        {"i32-nn-512x512x512", "BM=128 BN=128 SPLIT=64", GT_CORRECT, 5700},
        {"i32-nn-512x512x512", "BM=128 BN=32 SPLIT=1", GT_CORRECT, 6100},
        {"i32-nn-512x512x512", "BM=32 BN=128 SPLIT=1", GT_WRONG_RESULT, 5000},
        {"i32-nn-64x64x64", "BM=32 BN=128 SPLIT=1", GT_CORRECT, 100},
    };
    const struct gt_device a = device_named("Card A", "sm_90");
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    const char *hash = gt_families_find(families, "deep")->hash;
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char path[600], key[GT_DEVICE_KEY_MAX];
    size_t count;
    int64_t stale, run;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/runners.db", folder);
    gt_device_key(&a, key);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "i32-nn-512x512x512", "deep", hash, "BM=32 BN=32 SPLIT=1"); /* 5000 */
    assert_int_equal(gt_db_run_begin(&run, db, &a, &info, &err), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        try_point(db, run, key, tried[i].problem, tried[i].point, tried[i].outcome,
                  tried[i].ns);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 2);
    assert_known_point(&loaded[0], "BM=32 BN=32 SPLIT=1");
    assert_known_point(&loaded[1], "BM=128 BN=128 SPLIT=8");
    assert_string_equal(loaded[1].problem_name, "i32-nn-512x512x512");
    assert_int_equal(loaded[1].rank, 1);
    assert_true(loaded[1].verified);
    assert_int_equal((int)loaded[1].median_ns, 5500);
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
}

static void fill_elsewhere(const char *path, const struct gt_device *d, const char *point) {
    const char *hash = gt_families_find(families, "deep")->hash;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, d, "i32-nn-512x512x512", "deep", hash, point);
    gt_db_close(db);
}

/* A record that was merged does not hide the runner-up of its tile: that one is verified
 * here. */
static void test_runner_up_beside_merged(void **state) {
    const struct gt_device a = device_named("Card A", "sm_90");
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    const char *hash = gt_families_find(families, "deep")->hash;
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_merge_report merged;
    struct gt_err err = {""};
    char path[600], from[600], key[GT_DEVICE_KEY_MAX];
    size_t count;
    int64_t stale, run;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/beside.db", folder);
    (void)snprintf(from, sizeof from, "%s/elsewhere.db", folder);
    gt_device_key(&a, key);
    fill_elsewhere(from, &a, "BM=128 BN=128 SPLIT=64");
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "i32-nn-512x512x512", "deep", hash, "BM=32 BN=32 SPLIT=1");
    assert_int_equal(gt_db_run_begin(&run, db, &a, &info, &err), GEMMTUNE_OK);
    try_point(db, run, key, "i32-nn-512x512x512", "BM=128 BN=128 SPLIT=8", GT_CORRECT,
              5500);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_merge(&merged, db, from, &err), GEMMTUNE_OK);
    assert_int_equal(merged.records, 1);
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 3);
    assert_true(loaded[0].verified);
    assert_false(loaded[1].verified);
    assert_true(loaded[2].verified);
    assert_known_point(&loaded[2], "BM=128 BN=128 SPLIT=8");
    assert_int_equal(loaded[2].rank, 2);
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
    (void)remove(from);
}

/* Rows of another source of their family are no records: they leave no gap in the ranks of
 * the others. */
static void test_ranks(void **state) {
    static const struct {
        const char *problem;
        int rank;
    } want[] = {
        {"i32-nn-512x512x512", 0}, {"i32-nn-512x512x512", 1}, {"i32-nn-64x64x64", 0}};
    const struct gt_device a = device_named("Card A", "sm_90");
    const char *hash = gt_families_find(families, "deep")->hash;
    const char *other = gt_families_find(families, "plain")->hash;
    static const char *const elsewhere[] = {"BM=128 BN=128 SPLIT=1",
                                            "BM=128 BN=32 SPLIT=1"};
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_merge_report merged;
    struct gt_err err = {""};
    char path[600], from[600];
    size_t count;
    int64_t stale;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/ranks.db", folder);
    (void)snprintf(from, sizeof from, "%s/elsewhere.db", folder);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    store(db, &a, "i32-nn-512x512x512", "deep", other, "BM=32 BN=32 SPLIT=1");
    store(db, &a, "i32-nn-64x64x64", "deep", hash, "BM=32 BN=32 SPLIT=1");
    for (int i = 0; i < 2; i++) {
        fill_elsewhere(from, &a, elsewhere[i]);
        assert_int_equal(gt_db_merge(&merged, db, from, &err), GEMMTUNE_OK);
        (void)remove(from);
    }
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, "sm_90", &err),
                     GEMMTUNE_OK);
    assert_int_equal(stale, 1);
    assert_int_equal(count, sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(loaded[i].problem_name, want[i].problem);
        assert_int_equal(loaded[i].rank, want[i].rank);
    }
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_runners_up),
        cmocka_unit_test(test_runner_up_beside_merged),
    };
    return cmocka_run_group_tests_name("known", tests, setup, teardown);
}
