/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_known_work.c - reading twice as many problems takes twice the work, not four times,
 * and rows of other architectures take none.
 * Work is the number of text comparisons: known.c is compiled here with a strcmp that
 * counts.
 */
#include <string.h>

static long compared;

static int counted(const char *a, const char *b) {
    compared++;
    return strcmp(a, b);
}

#define strcmp counted
#include "runtime/lookup/known.c"
#undef strcmp

#include "tests/unit/match_families.h"
#include "tests/unit/records.h"

static void store_problem(struct gt_db *db, int64_t run, const char *key, int i) {
    const char *hash = gt_families_find(families, "deep")->hash;
    char problem[64];
    struct gt_err err = {""};
    int64_t id = 0;
    bool claimed = false;
    (void)snprintf(problem, sizeof problem, "i32-nn-%dx512x512", 1000 + i);
    const struct gt_measurement time = {.median_ns = 5000,
                                        .low_ns = 4900,
                                        .high_ns = 5100,
                                        .samples = 1,
                                        .launches = 1,
                                        .sample_ns = {5000}};
    const struct gt_record_row record = {
        .subject = {key, problem, "deep", hash, "BM=32 BN=32 SPLIT=1"},
        .verified = true,
        .time = time};
    const struct gt_db_subject subject = {key, problem, "deep", hash,
                                          "BM=128 BN=128 SPLIT=1"};
    const struct gt_trial_row trial = {.outcome = GT_CORRECT, .time = time, .error = ""};
    assert_int_equal(put_local_records(db, key, problem, &record, 1, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err),
                     GEMMTUNE_OK);
    assert_int_equal(gt_db_trial_end(db, id, &trial, &err), GEMMTUNE_OK);
}

/* Comparisons that reading so many problems takes, each with a record and a runner-up. */
static long work_of(int problems) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char path[600], key[GT_DEVICE_KEY_MAX];
    size_t count = 0;
    int64_t stale = 0, run = 0;
    (void)snprintf(path, sizeof path, "%s/work-%d.db", folder, problems);
    gt_device_key(&card, key);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_run_begin(&run, db, &card, &info, &err), GEMMTUNE_OK);
    for (int i = 0; i < problems; i++)
        store_problem(db, run, key, i);
    compared = 0;
    assert_int_equal(gt_known_load(&loaded, &count, &stale, db, families, card.arch, &err),
                     GEMMTUNE_OK);
    assert_int_equal(count, 2 * problems); /* a record and a runner-up each */
    free(loaded);
    gt_db_close(db);
    (void)remove(path);
    return compared;
}

static void test_work_grows_as_problems_do(void **state) {
    const long once = work_of(100), twice = work_of(200);
    (void)state;
    assert_true(once > 0);
    assert_in_range(twice, once, 2 * once + once / 10);
}

/* Rows of another architecture are not looked at. */
static void test_other_architectures_cost_nothing(void **state) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_device other = card;
    struct gt_known *loaded = NULL;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char path[600], key[GT_DEVICE_KEY_MAX];
    size_t count = 0;
    int64_t stale = 0, run = 0;
    long work[2];
    (void)state;
    (void)snprintf(other.arch, sizeof other.arch, "sm_80");
    (void)snprintf(path, sizeof path, "%s/other.db", folder);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_run_begin(&run, db, &card, &info, &err), GEMMTUNE_OK);
    gt_device_key(&card, key);
    for (int i = 0; i < 10; i++)
        store_problem(db, run, key, i);
    other.units++;
    gt_device_key(&other, key);
    assert_int_equal(gt_db_run_begin(&run, db, &other, &info, &err), GEMMTUNE_OK);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 100 * again; i++) {
            const char *hash = gt_families_find(families, "deep")->hash;
            char problem[64];
            (void)snprintf(problem, sizeof problem, "i32-nn-%dx512x512", 1000 + i);
            const struct gt_record_row record = {
                .subject = {key, problem, "deep", hash, "BM=32 BN=32 SPLIT=1"},
                .verified = true,
                .time = {.median_ns = 1, .low_ns = 1, .high_ns = 1, .samples = 1}};
            assert_int_equal(put_local_records(db, key, problem, &record, 1, &err),
                             GEMMTUNE_OK);
        }
        compared = 0;
        assert_int_equal(
            gt_known_load(&loaded, &count, &stale, db, families, card.arch, &err),
            GEMMTUNE_OK);
        assert_int_equal(count, 20);
        work[again] = compared;
        free(loaded);
    }
    assert_int_equal(work[0], work[1]);
    gt_db_close(db);
    (void)remove(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_grows_as_problems_do),
        cmocka_unit_test(test_other_architectures_cost_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
