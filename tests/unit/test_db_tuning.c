/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_tuning.c - how far a problem was searched, and whether an earlier search
 * suffices.
 */
#include "tests/unit/test_db.h"

static char key[GT_DEVICE_KEY_MAX];

static struct gt_tuning a_tuning(int64_t trials, int64_t limit_ms) {
    return (struct gt_tuning){.device_key = key,
                              .problem = "f32-nn-512x512x512",
                              .families = a_hash(),
                              .trials = trials,
                              .limit_ms = limit_ms};
}

static struct gt_db *database(void) {
    const struct gt_device device = a_device("H200");
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    gt_device_key(&device, key);
    (void)run_begin(db, &device);
    return db;
}

static bool covers(struct gt_db *db, struct gt_tuning least) {
    bool found = false;
    OK(gt_db_tuning_find(&found, db, &least, &err));
    return found;
}

static void test_at_least_as_far(void **state) {
    struct gt_db *db = database();
    const struct gt_tuning tuning = a_tuning(256, 3000);
    (void)state;
    assert_false(covers(db, tuning));
    OK(gt_db_tuning_put(db, &tuning, &err));
    assert_true(covers(db, tuning));
    assert_true(covers(db, a_tuning(16, 1000)));
    assert_false(covers(db, a_tuning(257, 1000)));
    assert_false(covers(db, a_tuning(16, 3001)));
    assert_false(covers(db, a_tuning(16, INT64_MAX)));
    gt_db_close(db);
}

static void test_of_the_same_question(void **state) {
    struct gt_db *db = database();
    struct gt_tuning tuning = a_tuning(256, 3000);
    (void)state;
    OK(gt_db_tuning_put(db, &tuning, &err));
    tuning.problem = "f32-nn-512x512x513";
    assert_false(covers(db, tuning));
    tuning = a_tuning(256, 3000);
    tuning.families = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
    assert_false(covers(db, tuning));
    tuning = a_tuning(256, 3000);
    tuning.device_key = "another";
    assert_false(covers(db, tuning));
    assert_int_equal(gt_db_tuning_put(db, &tuning, &err), GEMMTUNE_EINVAL);
    gt_db_close(db);
}

/* For each question one row is stored: the last one, unless it went less far. */
static void test_the_farthest_stays(void **state) {
    struct gt_db *db = database();
    struct gt_tuning less = a_tuning(16, 1000), more = a_tuning(INT64_MAX, INT64_MAX);
    (void)state;
    OK(gt_db_tuning_put(db, &more, &err));
    OK(gt_db_tuning_put(db, &less, &err));
    assert_true(covers(db, more));
    gt_db_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_at_least_as_far),
        TEST(test_of_the_same_question),
        TEST(test_the_farthest_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
