/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bench_store.c - what of a line of `bench` is stored: the time of a library's default
 * that is wrong by our bound counts where it is shorter, since a program would get it.
 */
#include "tests/unit/test_db.h"
#include "tuner/bench/bench_store.h"
#include "tuner/bench/rival.h"

enum { CUBLAS, CUBLASLT, SIDES };

static int index_of(const char *name) {
    int i = 0;
    while (strcmp(gt_rivals[i]->name, name) != 0)
        i++;
    return i;
}

/* A library that takes `ratio` times as long as our kernel's microsecond. */
static struct gt_bench_side a_side(double ratio, double wrong_default_ns) {
    return (struct gt_bench_side){.timed = true,
                                  .outcome = GT_CORRECT,
                                  .wrong_default_ns = wrong_default_ns,
                                  .wrong = wrong_default_ns > 0,
                                  .time = {.median_ns = 1000 * ratio},
                                  .ratio = {.median_ns = ratio,
                                            .low_ns = ratio - 0.01,
                                            .high_ns = ratio + 0.01,
                                            .samples = 9}};
}

static struct {
    int count;
    enum gt_verdict verdict;
    double ns, ratio, low, high;
} seen[SIDES];

static gt_status see(void *user, const struct gt_rival_row *row, struct gt_err *unused) {
    const int i = strcmp(row->library, "cublas") == 0 ? CUBLAS : CUBLASLT;
    (void)user;
    (void)unused;
    seen[i].count++;
    seen[i].verdict = row->verdict;
    seen[i].ns = row->rival_ns;
    seen[i].ratio = row->ratio;
    seen[i].low = row->ratio_low;
    seen[i].high = row->ratio_high;
    return GEMMTUNE_OK;
}

/* Stores a line of both libraries in a database of its own, and reads it again. */
static void store(const char *file, struct gt_bench_side cublas,
                  struct gt_bench_side cublaslt) {
    static struct gt_bench_line line;
    struct gt_families *families;
    const struct gt_device device = a_device("H200");
    struct gt_bench_store s = {.db = in_folder(file), .device = &device};
    struct gt_db *db;
    OK(gt_families_create(&families, &err));
    s.families = families;
    line = (struct gt_bench_line){.workspace = 32 << 20};
    line.own = a_side(1, 0);
    (void)snprintf(line.kernel.family, sizeof line.kernel.family, "tile");
    (void)snprintf(line.kernel.point, sizeof line.kernel.point, "TILE_WIDTH=16");
    line.rival[index_of("cublas")] = cublas;
    line.rival[index_of("cublaslt")] = cublaslt;
    s.version[index_of("cublas")] = s.version[index_of("cublaslt")] = 130100;
    fill(in_folder(file), "H200", 0, 3);
    OK(gt_bench_store_line(&s, "f32-nn-24x20x36", &line, 0.02, &err));
    assert_int_equal(s.stored, cublas.timed + cublaslt.timed);
    memset(seen, 0, sizeof seen);
    db = db_open(in_folder(file), GT_DB_READ);
    OK(gt_db_rivals(db, NULL, NULL, see, NULL, &err));
    gt_db_close(db);
    gt_families_destroy(families);
}

static void test_right_ones(void **state) {
    (void)state;
    store("right.db", a_side(1.5, 0), a_side(1.2, 0));
    assert_int_equal(seen[CUBLAS].verdict, GT_WIN);
    assert_float_equal(seen[CUBLAS].ns, 1500, 0);
    assert_float_equal(seen[CUBLASLT].ratio, 1.2, 0);
}

/* The default takes 0.9 of our time, and was left out: no library may count as slower. */
static void test_a_faster_default_that_is_wrong(void **state) {
    (void)state;
    store("wrong.db", a_side(18, 900), a_side(1.2, 0));
    assert_int_equal(seen[CUBLAS].verdict, GT_LOSS);
    assert_int_equal(seen[CUBLASLT].verdict, GT_LOSS);
    assert_float_equal(seen[CUBLAS].ns, 900, 1e-9);
    assert_float_equal(seen[CUBLASLT].ratio, 0.9, 1e-9);
    assert_true(seen[CUBLASLT].low < 0.9 && seen[CUBLASLT].high > 0.9);
}

/* It counts also where its own library has no right candidate, and so no row. */
static void test_a_library_that_is_wrong_altogether(void **state) {
    struct gt_bench_side none = {.outcome = GT_WRONG_RESULT, .wrong = 8};
    (void)state;
    none.wrong_default_ns = 1000;
    store("all.db", a_side(18, 0), none);
    assert_int_equal(seen[CUBLASLT].count, 0);
    assert_int_equal(seen[CUBLAS].verdict, GT_TIE);
    assert_float_equal(seen[CUBLAS].ratio, 1, 1e-9);
}

static void test_a_slower_default_that_is_wrong(void **state) {
    (void)state;
    store("slow.db", a_side(1.5, 2000), a_side(1.2, 0));
    assert_int_equal(seen[CUBLAS].verdict, GT_WIN);
    assert_float_equal(seen[CUBLAS].ns, 1500, 0);
    assert_float_equal(seen[CUBLASLT].ns, 1200, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_ones),
        cmocka_unit_test(test_a_faster_default_that_is_wrong),
        cmocka_unit_test(test_a_library_that_is_wrong_altogether),
        cmocka_unit_test(test_a_slower_default_that_is_wrong),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
