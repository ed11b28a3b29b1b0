/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_merge.c - merging does not depend on order or repetition, changes everything or
 * nothing, and never changes the source. Exported text reads back as the same rows, and
 * wrong text is refused with its line.
 */
#include <cjson/cJSON.h>

#include "tests/unit/test_db.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const names[] = {"a.db", "b.db", "c.db"};

/* Three sources: a and b share a device and some points, c re-tunes on another device. */
static int setup(void **state) {
    const int code = folder_make(state);
    fill(in_folder("a.db"), "H200", 0, 6);
    fill(in_folder("b.db"), "H200", 1, 6);
    fill(in_folder("c.db"), "GTX 1050", 0, 3);
    return code;
}

static struct gt_merge_report merge(const char *into, const char *from) {
    struct gt_merge_report report;
    struct gt_db *db = db_open(in_folder(into), GT_DB_WRITE);
    OK(gt_db_merge(&report, db, in_folder(from), &err));
    gt_db_close(db);
    return report;
}

static struct gt_export_report written;

/* The contents of a database as text, which the caller frees. */
static char *text_of(const char *name) {
    size_t size = 0;
    struct gt_db *db = db_open(in_folder(name), GT_DB_READ);
    OK(gt_db_export(&written, db, NULL, in_folder("out.json"), &err));
    gt_db_close(db);
    return (char *)file_read(in_folder("out.json"), &size);
}

static void same_export(const char *one, const char *other) {
    char *a = text_of(one), *b = text_of(other);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static gt_status list_trial(void *user, const struct gt_trial_row *row,
                            struct gt_err *unused) {
    char(*lines)[200] = user;
    (void)unused;
    while ((*lines)[0] != '\0')
        lines++;
    (void)snprintf(*lines, sizeof *lines, "%.40s %.30s %.20s %g %.60s",
                   row->subject.device_key, row->subject.problem, row->subject.point,
                   row->time.median_ns, row->provenance);
    return GEMMTUNE_OK;
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Every trial, whatever the ids. */
static void same_trials(const char *one, const char *other) {
    const char *const paths[] = {one, other};
    static char lines[2][64][200];
    memset(lines, 0, sizeof lines);
    for (int i = 0; i < 2; i++) {
        struct gt_db *db = db_open(in_folder(paths[i]), GT_DB_READ);
        OK(gt_db_trials(db, NULL, NULL, list_trial, lines[i], &err));
        gt_db_close(db);
        qsort(lines[i], 64, sizeof lines[i][0], by_text);
    }
    assert_memory_equal(lines[0], lines[1], sizeof lines[0]);
}

static void test_commutative(void **state) {
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    (void)state;
    for (int i = 0; i < 6; i++) {
        (void)unlink(in_folder("into.db"));
        for (int j = 0; j < 3; j++)
            (void)merge("into.db", names[orders[i][j]]);
        if (i == 0)
            assert_int_equal(rename(in_folder("into.db"), in_folder("first.db")), 0);
        if (i == 0)
            continue;
        same_export("into.db", "first.db");
        same_trials("into.db", "first.db");
    }
}

static void test_idempotent(void **state) {
    (void)state;
    struct gt_merge_report r = merge("into.db", "a.db");
    assert_int_equal(r.devices, 1);
    assert_int_equal(r.trials, 6);
    assert_int_equal(r.records, 2);
    assert_int_equal(r.skipped, 0);
    r = merge("into.db", "b.db");
    assert_int_equal(r.devices, 0);
    assert_int_equal(r.trials, 6); /* every source keeps its own */
    assert_int_equal(r.records, 2);
    (void)merge("again.db", "a.db");
    (void)merge("again.db", "b.db");
    r = merge("again.db", "a.db");
    assert_int_equal(r.devices + r.trials + r.records + r.skipped, 0);
    (void)merge("again.db", "b.db");
    same_export("into.db", "again.db");
    same_trials("into.db", "again.db");
}

/* Merging a into b into c gives c the same as merging a and b directly. */
static void test_associative(void **state) {
    (void)state;
    (void)merge("into.db", "a.db");
    (void)merge("into.db", "b.db");
    (void)merge("middle.db", "a.db");
    (void)merge("outer.db", "middle.db");
    (void)merge("outer.db", "b.db");
    same_export("into.db", "outer.db");
    same_trials("into.db", "outer.db");
}

struct ranks {
    int count, verified;
    char first[64];
};

static gt_status note(void *user, const struct gt_record_row *row, struct gt_err *unused) {
    struct ranks *ranks = user;
    (void)unused;
    assert_int_equal(row->rank, ranks->count++);
    assert_int_equal(strcmp(row->provenance, "local") == 0, row->verified);
    ranks->verified += row->verified;
    if (row->rank == 0)
        (void)snprintf(ranks->first, sizeof ranks->first, "%s", row->subject.point);
    return GEMMTUNE_OK;
}

/* b's winner is measured here and stays first, though a's is faster. */
static void test_own_results_come_first(void **state) {
    const struct gt_device device = a_device("H200");
    char key[GT_DEVICE_KEY_MAX];
    struct ranks ranks = {0};
    (void)state;
    gt_device_key(&device, key);
    (void)merge("b.db", "a.db");
    struct gt_db *db = db_open(in_folder("b.db"), GT_DB_READ);
    OK(gt_db_records(db, key, NULL, note, &ranks, &err));
    gt_db_close(db);
    assert_int_equal(ranks.count, 4);
    assert_int_equal(ranks.verified, 2);
    assert_string_equal(ranks.first, "BM=1 BN=64");
    (void)merge("into.db", "b.db"); /* where nothing is verified the fastest is first */
    ranks = (struct ranks){0};
    db = db_open(in_folder("into.db"), GT_DB_READ);
    OK(gt_db_records(db, key, NULL, note, &ranks, &err));
    gt_db_close(db);
    assert_int_equal(ranks.count, 4);
    assert_string_equal(ranks.first, "BM=0 BN=64");
}

/* Rows that left from here and return are already known. */
static void test_round_trip(void **state) {
    (void)state;
    (void)merge("b.db", "a.db");
    const struct gt_merge_report r = merge("a.db", "b.db");
    assert_int_equal(r.trials, 6);
    assert_int_equal(r.records, 2);
    (void)merge("c.db", "a.db");
    assert_int_equal(merge("a.db", "c.db").trials, 3); /* the GTX 1050's */
}

/* A newer tuning of a source replaces its older one, in whatever order they arrive. */
static void test_newer_wins(void **state) {
    const struct gt_device device = a_device("H200");
    char key[GT_DEVICE_KEY_MAX];
    size_t size = 0;
    (void)state;
    gt_device_key(&device, key);
    unsigned char *old = file_read(in_folder("a.db"), &size);
    file_write(in_folder("old.db"), old, size);
    free(old);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    const struct gt_record_row row = a_record(key, 5, 0);
    OK(put_local_records(db, key, row.subject.problem, &row, 1, &err));
    gt_db_close(db);
    (void)merge("into.db", "old.db");
    (void)merge("into.db", "a.db");
    (void)merge("again.db", "a.db");
    (void)merge("again.db", "old.db");
    same_export("into.db", "again.db");
    same_export("into.db", "a.db");
}

static void test_imported_trials_are_not_ours(void **state) {
    const struct gt_device device = a_device("H200");
    char key[GT_DEVICE_KEY_MAX];
    struct gt_trial_row row;
    bool found = true;
    (void)state;
    gt_device_key(&device, key);
    (void)merge("into.db", "a.db");
    const struct gt_db_subject subject = a_subject(key, 1);
    struct gt_db *db = db_open(in_folder("into.db"), GT_DB_WRITE);
    OK(gt_db_trial_find(&found, &row, db, &subject, &err));
    assert_false(found);
    try_one(db, run_begin(db, &device), key, 1); /* both rows live side by side */
    gt_db_close(db);
}

static void test_source_is_untouched(void **state) {
    size_t before_size = 0, after_size = 0;
    (void)state;
    unsigned char *before = file_read(in_folder("a.db"), &before_size);
    assert_int_equal(chmod(in_folder("a.db"), 0444), 0);
    (void)merge("into.db", "a.db");
    unsigned char *after = file_read(in_folder("a.db"), &after_size);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

static void test_refused_sources(void **state) {
    struct gt_merge_report r;
    (void)state;
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    assert_int_equal(gt_db_merge(&r, db, in_folder("a.db"), &err), GEMMTUNE_EINVAL);
    assert_int_equal(gt_db_merge(&r, db, in_folder("none.db"), &err), GEMMTUNE_EIO);
    tamper(in_folder("b.db"), "UPDATE origin SET name = 'me'");
    assert_int_equal(gt_db_merge(&r, db, in_folder("b.db"), &err), GEMMTUNE_EDB);
    tamper(in_folder("c.db"), "UPDATE device SET units = 9"); /* its rows have no device */
    OK(gt_db_merge(&r, db, in_folder("c.db"), &err));
    assert_int_equal(r.devices + r.trials + r.records, 0);
    assert_int_equal(r.skipped, 1 + 3 + 2);
    gt_db_close(db);
}

/* ---- text ---- */

static struct gt_merge_report import(const char *into, const char *from) {
    struct gt_merge_report report;
    struct gt_db *db = db_open(in_folder(into), GT_DB_WRITE);
    OK(gt_db_import(&report, db, in_folder(from), &err));
    gt_db_close(db);
    return report;
}

static void test_text_round_trip(void **state) {
    (void)state;
    (void)merge("a.db", "b.db");
    (void)merge("a.db", "c.db");
    char *text = text_of("a.db");
    file_write(in_folder("tuned.json"), text, strlen(text));
    struct gt_merge_report r = import("into.db", "tuned.json");
    assert_int_equal(r.devices, 2);
    assert_int_equal(r.records, 5); /* of 6 rows two are one kernel */
    same_export("a.db", "into.db");
    r = import("into.db", "tuned.json");
    assert_int_equal(r.devices + r.records, 0);
    same_export("a.db", "into.db");
    assert_null(strstr(text, "GPU-1234")); /* which card it was is nobody's business */
    free(text);
}

static void test_one_device(void **state) {
    const struct gt_device device = a_device("GTX 1050");
    char key[GT_DEVICE_KEY_MAX];
    size_t size = 0;
    (void)state;
    gt_device_key(&device, key);
    (void)merge("a.db", "c.db");
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_READ);
    OK(gt_db_export(&written, db, key, in_folder("one.json"), &err));
    char *text = (char *)file_read(in_folder("one.json"), &size);
    assert_non_null(strstr(text, key));
    assert_null(strstr(text, "H200"));
    free(text);
    assert_int_equal(gt_db_export(&written, db, key, "/dev/full", &err), GEMMTUNE_EIO);
    assert_int_equal(gt_db_export(&written, db, key, in_folder("no/one.json"), &err),
                     GEMMTUNE_EIO);
    assert_int_equal(access(in_folder("one.json.tmp"), F_OK), -1);
    gt_db_close(db);
}

/* The interval of one sample is null in the text, and it is read so. */
static void test_one_sample(void **state) {
    const struct gt_device device = a_device("H200");
    char key[GT_DEVICE_KEY_MAX];
    (void)state;
    gt_device_key(&device, key);
    struct gt_db *db = db_open(in_folder("one.db"), GT_DB_WRITE);
    (void)run_begin(db, &device);
    struct gt_record_row row = a_record(key, 0, 0);
    row.time.samples = 1;
    OK(put_local_records(db, key, row.subject.problem, &row, 1, &err));
    gt_db_close(db);
    char *text = text_of("one.db");
    assert_non_null(strstr(text, "\"low_ns\": null, \"high_ns\": null, \"samples\": 1"));
    file_write(in_folder("one.json"), text, strlen(text));
    struct gt_merge_report r;
    db = db_open(in_folder("one2.db"), GT_DB_WRITE);
    OK(gt_db_import(&r, db, in_folder("one.json"), &err));
    gt_db_close(db);
    char *again = text_of("one2.db");
    assert_string_equal(again, text);
    free(again);
    free(text);
}

/* A new file that its maker removes, while others have it open: they make it again. */
static void test_removed_meanwhile(void **state) {
    struct gt_merge_report r;
    (void)state;
    (void)merge("a.db", "b.db");
    char *text = text_of("a.db");
    file_write(in_folder("tuned.json"), text, strlen(text));
    free(text);
    struct gt_db *maker = db_open(in_folder("race.db"), GT_DB_WRITE);
    struct gt_db *other = db_open(in_folder("race.db"), GT_DB_WRITE);
    struct gt_db *later = db_open(in_folder("race.db"), GT_DB_WRITE);
    later->made = true; /* as if both had found no file */
    gt_db_close_unused(maker);
    assert_int_equal(access(in_folder("race.db"), F_OK), -1);
    OK(gt_db_import(&r, other, in_folder("tuned.json"), &err));
    gt_db_close(other);
    gt_db_close_unused(later); /* its file is gone; the one in its place is not its own */
    same_export("a.db", "race.db");
}

/* Replaces the first `old` of the exported text and imports it. */
static void refused_text(const char *old, const char *new, const char *complaint) {
    struct gt_merge_report r;
    size_t size = 0;
    char *text = (char *)file_read(in_folder("tuned.json"), &size);
    char *at = strstr(text, old);
    if (at == NULL)
        print_error("no %s in %s\n", old, text);
    assert_non_null(at);
    FILE *file = fopen(in_folder("bad.json"), "w");
    assert_non_null(file);
    (void)fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    (void)fclose(file);
    free(text);
    struct gt_db *db = db_open(in_folder("into.db"), GT_DB_WRITE);
    const gt_status status = gt_db_import(&r, db, in_folder("bad.json"), &err);
    if (status != GEMMTUNE_EPARSE || strstr(err.line, complaint) == NULL)
        print_error("%s -> %s: %d %s\n", old, new, status, err.line);
    assert_int_equal(status, GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "bad.json:"));
    assert_non_null(strstr(err.line, complaint));
    assert_int_equal(r.devices + r.records, 0);
    gt_db_close(db);
}

static void test_refused_text(void **state) {
    (void)state;
    char *text = text_of("a.db");
    file_write(in_folder("tuned.json"), text, strlen(text));
    free(text);
    refused_text("\"format\": 3", "\"format\": 5", "format");
    refused_text("\"format\": 3", "\"format\": 2", "families");
    refused_text("\"units\": 132", "\"units\": 131", "should be");
    refused_text("\"units\": 132", "\"units\": -1", "units");
    refused_text("\"units\": 132, ", "", "units");
    refused_text("\"cuda\"", "\"cudo\"", "backend");
    refused_text("\"rank\": 0", "\"rnk\": 0", "rnk");
    refused_text("\"rank\": 0", "\"rank\": 0.5", "rank");
    refused_text("\"tied\": false", "\"tied\": 0", "tied");
    refused_text("\"samples\": 3", "\"samples\": 65", "samples");
    refused_text("\"low_ns\": 999.3", "\"low_ns\": null", "low_ns"); /* of 3 samples */
    refused_text("\"median_ns\": 1000.1", "\"median_ns\": 0", "interval");
    refused_text("\"median_ns\": 1000.1", "\"median_ns\": \"1\"", "median_ns");
    refused_text("f32-nn-512x512x512", "f32-nn-512x512", "");
    refused_text("{\"family\": \"tile\", \"hash\"", "{\"family\": \"../tile\", \"hash\"",
                 "family");
    refused_text("\"hash\": \"", "\"hash\": \"0", "family_hash");
    refused_text("\"hash\": ", "\"hush\": ", "hush");
    refused_text("{\"family\": \"tile\", \"problem\"", "{\"family\": \"tule\", \"problem\"",
                 "not among the families");
    refused_text("{\"family\": \"tile\", \"problem\"", "{\"problem\"", "family");
    refused_text("\"families\": {", "\"families\": [], \"x\": {", "x");
    refused_text("BM=0 BN=64", "BM=0;BN=64", "");
    refused_text("\"records\"", "\"record\"", "record");
    refused_text("\"records\": {\n    \"h200", "\"records\": {\n    \"h201", "not among");
    refused_text("\"rank\": 1", "\"rank\": 0", "above");
    refused_text("\"measured_ms\": ", "\"measured_ms\": 1", "the same");
    refused_text("\"records\": {\n    \"h200", "\"records\": {\n    \"z200", "not among");
    gt_db_close(db_open(in_folder("empty.db"), GT_DB_WRITE));
    same_export("into.db", "empty.db");
}

/* ---- text of formats 1 and 2 ---- */

static void add_text(cJSON *to, const char *key, const cJSON *value) {
    assert_non_null(cJSON_AddStringToObject(to, key, cJSON_GetStringValue(value)));
}

/* The same text as format 2 has it: each record has its device and the hash of its
 * family. */
static char *as_format_2(const char *text) {
    cJSON *const doc = cJSON_Parse(text), *const all = cJSON_CreateArray();
    assert_non_null(doc);
    const cJSON *const families = cJSON_GetObjectItemCaseSensitive(doc, "families");
    cJSON *list, *record;
    cJSON_ArrayForEach(list, cJSON_GetObjectItemCaseSensitive(doc, "records")) {
        cJSON_ArrayForEach(record, list) {
            cJSON *const old = cJSON_Duplicate(record, true);
            cJSON *const word = cJSON_DetachItemFromObjectCaseSensitive(old, "family");
            const cJSON *const family =
                cJSON_GetObjectItemCaseSensitive(families, cJSON_GetStringValue(word));
            assert_non_null(cJSON_AddStringToObject(old, "device", list->string));
            add_text(old, "family", cJSON_GetObjectItemCaseSensitive(family, "family"));
            add_text(old, "family_hash", cJSON_GetObjectItemCaseSensitive(family, "hash"));
            assert_true(cJSON_AddItemToArray(all, old));
            cJSON_Delete(word);
        }
    }
    cJSON_DeleteItemFromObjectCaseSensitive(doc, "families");
    assert_true(cJSON_ReplaceItemInObjectCaseSensitive(doc, "records", all));
    assert_true(
        cJSON_ReplaceItemInObjectCaseSensitive(doc, "format", cJSON_CreateNumber(2)));
    char *const old = cJSON_Print(doc);
    assert_non_null(old);
    cJSON_Delete(doc);
    return old;
}

/* Text of format 2 says the same. */
static void test_text_of_format_2(void **state) {
    struct gt_merge_report r;
    (void)state;
    char *const text = text_of("a.db"), *const old = as_format_2(text);
    file_write(in_folder("old.json"), old, strlen(old));
    file_write(in_folder("new.json"), text, strlen(text));
    free(text);
    free(old);
    struct gt_db *db = db_open(in_folder("into.db"), GT_DB_WRITE);
    OK(gt_db_import(&r, db, in_folder("old.json"), &err));
    assert_int_equal(r.records, 2);
    gt_db_close(db);
    db = db_open(in_folder("other.db"), GT_DB_WRITE);
    OK(gt_db_import(&r, db, in_folder("new.json"), &err));
    assert_int_equal(r.records, 2);
    gt_db_close(db);
    same_export("into.db", "other.db");
}

/* `text` with every `was` become `is`, which is as long. */
static void replace_all(char *text, const char *was, const char *is) {
    assert_int_equal(strlen(was), strlen(is));
    for (char *at = strstr(text, was); at != NULL; at = strstr(at + 1, was))
        memcpy(at, is, strlen(is));
}

static gt_status see_baseline(void *user, const struct gt_record_row *row,
                              struct gt_err *unused) {
    int *seen = user;
    (void)unused;
    assert_true(row->baseline_ns > 123456 && row->baseline_ns < 123457);
    (*seen)++;
    return GEMMTUNE_OK;
}

/* It names the baseline's time otherwise, and a CPU by a key that counted memory. */
static void test_text_of_format_1(void **state) {
    struct gt_device cpu = a_device("H200");
    char old_key[GT_DEVICE_KEY_MAX], key[GT_DEVICE_KEY_MAX];
    struct gt_merge_report r;
    int seen = 0;
    (void)state;
    cpu.is_cpu = true;
    gt_device_key(&cpu, key);
    gt_device_key_1(&cpu, old_key);
    assert_string_not_equal(key, old_key);
    char *const new = text_of("a.db");
    char *text = as_format_2(new);
    free(new);
    replace_all(text, "\"format\":\t2", "\"format\":\t1");
    replace_all(text, "\"baseline_ns\":", "\"naive_ns\":   ");
    replace_all(text, "\"is_cpu\":\tfalse", "\"is_cpu\":\ttrue ");
    assert_non_null(strstr(text, old_key));
    file_write(in_folder("tuned.json"), text, strlen(text));
    free(text);
    struct gt_db *db = db_open(in_folder("into.db"), GT_DB_WRITE);
    OK(gt_db_import(&r, db, in_folder("tuned.json"), &err));
    assert_int_equal(r.devices, 1);
    assert_int_equal(r.records, 2);
    OK(gt_db_records(db, key, NULL, see_baseline, &seen, &err));
    assert_int_equal(seen, 2);
    gt_db_close(db);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_commutative),
        TEST(test_idempotent),
        TEST(test_associative),
        TEST(test_own_results_come_first),
        TEST(test_round_trip),
        TEST(test_newer_wins),
        TEST(test_imported_trials_are_not_ours),
        TEST(test_source_is_untouched),
        TEST(test_refused_sources),
        TEST(test_text_round_trip),
        TEST(test_one_device),
        TEST(test_one_sample),
        TEST(test_removed_meanwhile),
        TEST(test_refused_text),
        TEST(test_text_of_format_1),
        TEST(test_text_of_format_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
