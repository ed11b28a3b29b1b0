/* SPDX-License-Identifier: Apache-2.0 */
/* Trials as results in the T4 format, and back as seeds. */
#include "tuner/study/t4.h"
#include "core/json.h"
#include "tests/unit/made_up.h"
#include "tuner/study/elsewhere.h"
#include "tuner/study/file_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call) assert_int_equal(call, GEMMTUNE_OK)

static const char hash[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static const char problem[] = "f32-nn-64x48x32";
static char folder[128], db_path[200], t4_path[200], key[GT_DEVICE_KEY_MAX];
static struct gt_db *db;
static int64_t run_id;

static const struct gt_device device =
    MADE_UP(.name = "A \"card\"", .vendor = "v", .arch = "sm_61", .cc = 61, .units = 20,
            .clock_mhz = 1000, .mem_bytes = INT64_C(1) << 33, .max_alloc = INT64_C(1) << 33,
            .smem_max = 48 << 10);

static int setup(void **state) {
    const struct gt_run_info info = {"0.1.0", "570.1", "NVRTC 13.0", "", 1};
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%.80s/gt-t4-XXXXXX", tmp != NULL ? tmp : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(db_path, sizeof db_path, "%s/a.db", folder);
    snprintf(t4_path, sizeof t4_path, "%s/t4.json", folder);
    OK(gt_db_open(&db, db_path, GT_DB_WRITE, NULL));
    OK(gt_db_run_begin(&run_id, db, &device, &info, NULL));
    gt_device_key(&device, key);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_db_close(db);
    (void)unlink(db_path);
    (void)unlink(t4_path);
    return rmdir(folder);
}

static void tried(const char *name, const char *family, const char *point,
                  gt_outcome outcome, float ms) {
    const struct gt_db_subject subject = {key, name, family, hash, point};
    struct gt_trial_row row = {.subject = subject,
                               .state = GT_TRIAL_DONE,
                               .outcome = outcome,
                               .registers = 32,
                               .spill_bytes = -1,
                               .smem_bytes = -1,
                               .compile_ms = 12.5,
                               .error = ""};
    int64_t id;
    bool claimed;
    OK(gt_db_trial_begin(&id, &claimed, db, run_id, &subject, NULL));
    assert_true(claimed);
    if (outcome == GT_CORRECT) {
        row.time.samples = 3;
        row.time.launches = 1;
        for (int i = 0; i < 3; i++)
            row.time.sample_ns[i] = 1e6F * ms * (1 + 0.5F * (float)i);
        row.time.low_ns = (double)row.time.sample_ns[0];
        row.time.median_ns = (double)row.time.sample_ns[1];
        row.time.high_ns = (double)row.time.sample_ns[2];
    }
    OK(gt_db_trial_end(db, id, &row, NULL));
}

static struct gt_json *written(int64_t count) {
    struct gt_json *doc = NULL;
    int64_t trials = 0;
    OK(gt_t4_write(&trials, db, key, device.name, problem, "1.2.3", t4_path, NULL));
    assert_int_equal(trials, count);
    OK(gt_json_load(&doc, t4_path, NULL));
    return doc;
}

static const char *text_at(struct gt_node object, const char *name) {
    const char *text = "?";
    OK(gt_json_string(&text, gt_json_member(object, name), NULL));
    return text;
}

static void test_none(void **state) {
    char name[GT_PROBLEM_NAME_MAX];
    int64_t count;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_t4_problem(name, db, key, &err), GEMMTUNE_ENOTFOUND);
    assert_int_equal(gt_t4_write(&count, db, key, device.name, problem, "1", t4_path, &err),
                     GEMMTUNE_ENOTFOUND);
    assert_int_equal(access(t4_path, F_OK), -1);
}

static void test_results(void **state) {
    static const struct {
        const char *point;
        gt_outcome outcome;
        const char *invalidity;
    } rows[] = {
        {"TILE_WIDTH=8 PAD=1 DOUBLE=0", GT_CORRECT, "correct"},
        {"TILE_WIDTH=12 PAD=1 DOUBLE=0", GT_CONSTRAINTS, "constraints"},
        {"TILE_WIDTH=16 PAD=1 DOUBLE=0", GT_COMPILE, "compile"},
        {"TILE_WIDTH=20 PAD=1 DOUBLE=0", GT_LAUNCH, "runtime"},
        {"TILE_WIDTH=24 PAD=1 DOUBLE=0", GT_WRONG_RESULT, "correctness"},
        {"TILE_WIDTH=28 PAD=1 DOUBLE=0", GT_TIMEOUT, "timeout"},
        {"TILE_WIDTH=32 PAD=1 DOUBLE=0", GT_CRASHED, "runtime"},
        {"TILE_WIDTH=8 PAD=0 DOUBLE=0", GT_OUT_OF_MEMORY, "runtime"},
        {"TILE_WIDTH=12 PAD=0 DOUBLE=0", GT_IMPLAUSIBLE, "correctness"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    char name[GT_PROBLEM_NAME_MAX];
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        tried(problem, "tile", rows[i].point, rows[i].outcome, 2);
    OK(gt_t4_problem(name, db, key, NULL));
    assert_string_equal(name, problem);
    struct gt_json *doc = written(ROWS);
    const struct gt_node root = gt_json_root(doc),
                         results = gt_json_member(root, "results"),
                         metadata = gt_json_member(root, "metadata");
    assert_string_equal(text_at(root, "schema_version"), "1.0.0");
    assert_string_equal(text_at(metadata, "device"), device.name);
    assert_string_equal(text_at(metadata, "problem"), problem);
    assert_int_equal(gt_json_count(results), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const struct gt_node r = gt_json_at(results, i),
                             configuration = gt_json_member(r, "configuration");
        int64_t correctness = -1, width = 0;
        assert_string_equal(text_at(r, "invalidity"), rows[i].invalidity);
        OK(gt_json_int(&correctness, gt_json_member(r, "correctness"), 0, 1, NULL));
        assert_int_equal(correctness, rows[i].outcome == GT_CORRECT);
        assert_string_equal(text_at(configuration, "FAMILY"), "tile");
        assert_int_equal(gt_json_count(configuration), 4);
        OK(gt_json_int(&width, gt_json_member(configuration, "TILE_WIDTH"), 8, 32, NULL));
    }
    const struct gt_node first = gt_json_at(results, 0),
                         times = gt_json_member(first, "times");
    double ms = 0;
    assert_int_equal(gt_json_count(gt_json_member(times, "runtimes")), 3);
    OK(gt_json_double(&ms, gt_json_at(gt_json_member(times, "runtimes"), 1), NULL));
    assert_true(ms == 3);
    OK(gt_json_double(&ms, gt_json_member(times, "compilation"), NULL));
    assert_true(ms == 12.5);
    gt_json_destroy(doc);
}

/* A written file is read as seeds of the device and problem that it names. */
static void test_back(void **state) {
    struct gt_families *families = NULL;
    struct gt_seeds *seeds = NULL;
    struct gt_elsewhere e;
    char *text = NULL;
    size_t size;
    const struct gt_elsewhere_given nothing = {NULL, NULL};
    (void)state;
    tried(problem, "tile", "TILE_WIDTH=32 PAD=0 DOUBLE=0", GT_CORRECT, 1);
    gt_json_destroy(written(10));
    OK(gt_families_create(&families, NULL));
    OK(gt_seeds_create(&seeds, NULL, NULL));
    OK(gt_file_text(&text, &size, t4_path, NULL));
    OK(gt_elsewhere_read(&e, t4_path, text, size, &nothing, seeds, families, NULL));
    assert_string_equal(e.device, device.name);
    assert_string_equal(e.problem, problem);
    assert_int_equal(e.failed, 8);
    assert_int_equal(e.count, 2);
    assert_int_equal(e.best[0].point.entry[0].value, 32);
    assert_true(e.best[0].ns == 1.5e6);
    assert_int_equal(e.best[1].point.entry[0].value, 8);
    free(text);
    gt_seeds_destroy(seeds);
    gt_families_destroy(families);
}

static void test_several_problems(void **state) {
    char name[GT_PROBLEM_NAME_MAX];
    struct gt_err err = {""};
    (void)state;
    tried("f64-nn-8x8x8", "tile", "TILE_WIDTH=32 PAD=0 DOUBLE=0", GT_CORRECT, 1);
    assert_int_equal(gt_t4_problem(name, db, key, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "has 2: name one with --problem"));
    gt_json_destroy(written(10));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_several_problems),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
