/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_damage.c - files that are cut short, have flipped bits or rows edited by hand.
 * There must be no crash, no value that was not stored, and no change by reading.
 */
#include "tests/unit/test_db.h"

#include "core/log.h"

enum { TRIALS = 40, FLIP_FILES = 2000, PAGE = 4096 };

static char key[GT_DEVICE_KEY_MAX];
static unsigned char *sound;
static size_t sound_size;
static int lines; /* logged */

static void count_line(void *user, gemmtune_log_level level, const char *line) {
    (void)user;
    (void)line;
    lines += level == GEMMTUNE_LOG_WARN;
}

static int setup(void **state) {
    const struct gt_device device = a_device("H200");
    const int code = folder_make(state);
    gt_device_key(&device, key);
    fill(in_folder("good.db"), "H200", 0, TRIALS);
    tamper(in_folder("good.db"), "VACUUM"); /* a page that holds nothing is not missed */
    sound = file_read(in_folder("good.db"), &sound_size);
    gemmtune_set_log(count_line, NULL, GEMMTUNE_LOG_WARN);
    return code;
}

static int teardown(void **state) {
    free(sound);
    return folder_remove(state);
}

static bool same_time(const struct gt_measurement *a, const struct gt_measurement *b) {
    return memcmp(a, b, offsetof(struct gt_measurement, sample_ns)) == 0;
}

static bool same_text(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

/* Number of the point, -1 when the subject is none that was stored. */
static int number_of(const struct gt_db_subject *s) {
    struct gt_point point;
    int64_t i = -1;
    assert_int_equal(gt_point_parse(&point, s->point, NULL), GEMMTUNE_OK);
    const bool ours = gt_point_get(&point, "BM", &i) && i >= 0 && i < TRIALS &&
                      same_text(s->device_key, key) && same_text(s->family, "tile") &&
                      same_text(s->problem, "f32-nn-512x512x512") &&
                      same_text(s->family_hash, a_hash()) &&
                      same_text(s->point, a_subject(key, (int)i).point);
    return ours ? (int)i : -1;
}

static gt_status true_device(void *user, const char *got, const struct gt_device *d,
                             struct gt_err *unused) {
    const struct gt_device want = a_device("H200");
    (void)unused;
    ++*(int *)user;
    assert_string_equal(got, key);
    assert_memory_equal(d, &want, sizeof want);
    return GEMMTUNE_OK;
}

static gt_status true_trial(void *user, const struct gt_trial_row *row,
                            struct gt_err *unused) {
    const int i = number_of(&row->subject);
    (void)unused;
    ++*(int *)user;
    assert_true(i >= 0);
    const struct gt_trial_row want = a_result(i);
    assert_memory_equal(&row->time, &want.time, sizeof want.time);
    assert_int_equal(row->state, GT_TRIAL_DONE);
    assert_int_equal(row->outcome, want.outcome);
    assert_int_equal(row->attempts, 1);
    assert_int_equal(row->registers, want.registers);
    assert_int_equal(row->spill_bytes, want.spill_bytes);
    assert_int_equal(row->smem_bytes, want.smem_bytes);
    assert_true(row->compile_ms >= want.compile_ms && row->compile_ms <= want.compile_ms);
    assert_string_equal(row->error, "");
    assert_string_equal(row->provenance, "local");
    return GEMMTUNE_OK;
}

static gt_status true_record(void *user, const struct gt_record_row *row,
                             struct gt_err *unused) {
    const int i = number_of(&row->subject);
    (void)unused;
    ++*(int *)user;
    assert_true(i == 0 || i == 1);
    const struct gt_record_row want = a_record(key, i, i);
    assert_true(same_time(&row->time, &want.time));
    assert_int_equal(row->tied,
                     want.tied); /* rank is counted anew when the winner is lost */
    assert_true(row->rank <= i);
    assert_true(row->verified);
    assert_true(row->baseline_ns >= want.baseline_ns &&
                row->baseline_ns <= want.baseline_ns);
    assert_string_equal(row->provenance, "local");
    return GEMMTUNE_OK;
}

struct seen {
    gt_status opened;
    int devices, trials, records;
};

/* Reads everything that a reader can ask of a file, and compares it with the truth. */
static struct seen look(const char *path) {
    struct seen seen = {0};
    struct gt_db *db = NULL;
    int64_t bad = 0;
    seen.opened = gt_db_open(&db, path, GT_DB_READ, &err);
    if (seen.opened != GEMMTUNE_OK) {
        assert_null(db);
        assert_true(err.line[0] != '\0');
        return seen;
    }
    (void)gt_db_devices(db, true_device, &seen.devices, &err);
    (void)gt_db_trials(db, NULL, NULL, true_trial, &seen.trials, &err);
    (void)gt_db_records(db, key, NULL, true_record, &seen.records, &err);
    (void)gt_db_check(db, &bad, &err);
    gt_db_close(db);
    return seen;
}

static void unchanged(const char *path, const void *data, size_t size) {
    size_t now_size = 0;
    unsigned char *now = file_read(path, &now_size);
    assert_int_equal(now_size, size);
    assert_memory_equal(now, data, size);
    free(now);
}

static void test_sound(void **state) {
    (void)state;
    const struct seen seen = look(in_folder("good.db"));
    assert_int_equal(seen.opened, GEMMTUNE_OK);
    assert_int_equal(seen.devices, 1);
    assert_int_equal(seen.trials, TRIALS);
    assert_int_equal(seen.records, 2);
}

static void test_truncated(void **state) {
    (void)state;
    for (size_t size = 0; size < sound_size; size += PAGE / 2) {
        struct gt_db *db = NULL;
        file_write(in_folder("cut.db"), sound, size);
        const struct seen seen = look(in_folder("cut.db"));
        assert_int_not_equal(seen.opened, GEMMTUNE_OK);
        unchanged(in_folder("cut.db"), sound, size);
        if (size == 0)
            continue; /* to a writer a new database */
        assert_int_equal(gt_db_open(&db, in_folder("cut.db"), GT_DB_WRITE, &err),
                         GEMMTUNE_EDB);
        unchanged(in_folder("cut.db"), sound, size);
    }
}

/* Constant, so that a failure comes back. */
static uint32_t next_random(uint32_t *x) {
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x;
}

static void flip(unsigned char *data, uint32_t *seed) {
    const size_t bits = 1 + next_random(seed) % 8;
    for (size_t i = 0; i < bits; i++)
        data[next_random(seed) % sound_size] ^=
            (unsigned char)(1U << next_random(seed) % 8);
}

/* All with sanitizers, which see more; a part without. */
static int flip_files(void) {
    const char *sanitizers = getenv("GT_SAN");
    return sanitizers && *sanitizers ? FLIP_FILES : FLIP_FILES / 4;
}

static void test_flipped_bits(void **state) {
    const int files = flip_files();
    uint32_t seed = 42;
    int refused = 0, partial = 0;
    unsigned char *data = malloc(sound_size);
    (void)state;
    assert_non_null(data);
    for (int i = 0; i < files; i++) {
        memcpy(data, sound, sound_size);
        flip(data, &seed);
        file_write(in_folder("flip.db"), data, sound_size);
        const struct seen seen = look(in_folder("flip.db"));
        refused += seen.opened != GEMMTUNE_OK;
        partial += seen.opened == GEMMTUNE_OK && seen.trials + seen.records < TRIALS + 2;
        if (i % 20 == 0)
            unchanged(in_folder("flip.db"), data, sound_size);
    }
    free(data);
    print_message("%d files: %d refused, %d with rows skipped\n", files, refused, partial);
    assert_true(refused > 0 && partial > 0);
}

/* Whole pages exchanged, zeroed, copied over each other. */
static void test_mixed_pages(void **state) {
    uint32_t seed = 7;
    const uint32_t pages = (uint32_t)(sound_size / PAGE);
    unsigned char *data = malloc(sound_size);
    (void)state;
    assert_non_null(data);
    for (int i = 0; i < 200; i++) {
        unsigned char *to = data + (size_t)(next_random(&seed) % pages) * PAGE;
        const unsigned char *from = sound + (size_t)(next_random(&seed) % pages) * PAGE;
        memcpy(data, sound, sound_size);
        if (i % 4 == 0)
            memset(to, 0, PAGE);
        else
            memcpy(to, from, PAGE);
        file_write(in_folder("mixed.db"), data, sound_size);
        (void)look(in_folder("mixed.db"));
    }
    free(data);
}

/* Each edit is legal SQL; each costs exactly the rows it touches. */
static void test_edited_rows(void **state) {
    static const struct {
        const char *sql;
        int devices, trials, records;
    } edits[] = {
        {"UPDATE record SET median_ns = 1 WHERE rank = 0", 1, TRIALS, 1},
        {"UPDATE record SET rank = 1 - rank", 1, TRIALS, 0},
        {"UPDATE record SET tied = 1 - tied", 1, TRIALS, 0},
        {"UPDATE record SET checksum = '0123456789abcdef' WHERE rank = 0", 1, TRIALS, 1},
        {"UPDATE record SET provenance = 'elsewhere' WHERE rank = 0", 1, TRIALS, 1},
        {"UPDATE record SET baseline_ns = baseline_ns + 1", 1, TRIALS, 0},
        {"UPDATE trial SET median_ns = median_ns / 2 WHERE id <= 3", 1, TRIALS - 3, 2},
        {"UPDATE trial SET outcome = 'wrong_result' WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE trial SET state = 'quarantined' WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE trial SET samples = '[1,2,3]' WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE trial SET samples = '[1,2' WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE trial SET samples = 'x' || char(0) WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE trial SET error = char(0) || 'hidden' WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE trial SET run = NULL WHERE id = 1", 1, TRIALS - 1, 2},
        {"UPDATE subject SET point = 'BM=1 BN=65' WHERE id = 2", 1, TRIALS - 1, 1},
        {"UPDATE subject SET problem = 'f32-nn-1x1x1'", 1, 0, 0},
        {"UPDATE family SET name = 'other'", 1, 0, 0},
        {"PRAGMA foreign_keys = OFF; DELETE FROM family", 1, 0, 0},
        {"PRAGMA foreign_keys = OFF; DELETE FROM subject WHERE id = 2", 1, TRIALS - 1, 1},
        {"UPDATE device SET units = 1", 0, TRIALS, 2},
        {"UPDATE device SET key = 'x'", 0, 0, 0},
        {"UPDATE trial SET median_ns = 1e300 * 1e300 WHERE id = 1", 1, TRIALS - 1, 2},
        {"PRAGMA ignore_check_constraints = ON; UPDATE record SET median_ns = 0", 1, TRIALS,
         0},
        {"PRAGMA ignore_check_constraints = ON; UPDATE trial SET outcome = 'splendid' "
         "WHERE id = 9",
         1, TRIALS - 1, 2},
        {"PRAGMA ignore_check_constraints = ON; UPDATE trial SET error = "
         "hex(zeroblob(400000)) WHERE id = 9",
         1, TRIALS - 1, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        file_write(in_folder("edit.db"), sound, sound_size);
        tamper(in_folder("edit.db"), edits[i].sql);
        size_t size = 0;
        unsigned char *data = file_read(in_folder("edit.db"), &size);
        lines = 0;
        const struct seen seen = look(in_folder("edit.db"));
        if (seen.devices != edits[i].devices || seen.trials != edits[i].trials ||
            seen.records != edits[i].records)
            print_error("%s: %d %d %d\n", edits[i].sql, seen.devices, seen.trials,
                        seen.records);
        assert_int_equal(seen.devices, edits[i].devices);
        assert_int_equal(seen.trials, edits[i].trials);
        assert_int_equal(seen.records, edits[i].records);
        assert_true(lines > 0);
        unchanged(in_folder("edit.db"), data, size);
        free(data);
    }
}

/* A gigabyte in one field is refused, not read. */
static void test_huge_value(void **state) {
    (void)state;
    file_write(in_folder("huge.db"), sound, sound_size);
    tamper(in_folder("huge.db"),
           "PRAGMA ignore_check_constraints = ON;"
           "UPDATE trial SET error = hex(zeroblob(2000000)) WHERE id = 9");
    const sqlite3_int64 before = sqlite3_memory_highwater(1);
    const struct seen seen = look(in_folder("huge.db"));
    assert_true(seen.trials < TRIALS);
    assert_int_equal(seen.records, 2);
    assert_true(sqlite3_memory_highwater(0) - before < 8000000);
}

/* A leaf of the trials' tree replaced by an inner page with itself as children: a scan
 * that never comes to an end. */
static void test_endless_tree(void **state) {
    unsigned char *data = malloc(sound_size);
    (void)state;
    assert_non_null(data);
    const size_t pages = sound_size / PAGE;
    for (size_t page = 1; page < pages; page++) {
        memcpy(data, sound, sound_size);
        unsigned char *p = data + page * PAGE;
        if (p[0] != 0x0d)
            continue;
        memset(p, 0, PAGE);
        const unsigned cells = 300;
        p[0] = 0x05; /* an inner page of a table */
        p[3] = (unsigned char)(cells >> 8);
        p[4] = (unsigned char)cells;
        p[5] = PAGE / 2 / 256;
        p[11] = (unsigned char)(page + 1);
        for (unsigned c = 0; c < cells; c++) {
            const unsigned at = PAGE / 2 + c * 6;
            p[12 + 2 * c] = (unsigned char)(at >> 8);
            p[13 + 2 * c] = (unsigned char)at;
            p[at + 3] = (unsigned char)(page + 1);
            p[at + 4] = 1;
        }
        file_write(in_folder("endless.db"), data, sound_size);
        (void)look(in_folder("endless.db"));
    }
    free(data);
}

static void test_check_counts(void **state) {
    int64_t bad = -1;
    (void)state;
    file_write(in_folder("edit.db"), sound, sound_size);
    tamper(in_folder("edit.db"), "UPDATE trial SET median_ns = 7 WHERE id <= 3;"
                                 "UPDATE device SET units = 7");
    struct gt_db *db = db_open(in_folder("edit.db"), GT_DB_READ);
    OK(gt_db_check(db, &bad, &err));
    assert_int_equal(bad, 4);
    gt_db_close(db);
    tamper(in_folder("edit.db"),
           "PRAGMA foreign_keys = OFF; DELETE FROM subject WHERE id = 2");
    db = db_open(in_folder("edit.db"), GT_DB_READ);
    assert_int_equal(gt_db_check(db, &bad, &err), GEMMTUNE_EDB);
    assert_non_null(strstr(err.line, "refers to a subject"));
    gt_db_close(db);
}

/* A trial with a damaged row is tried again, and good rows can be saved by a merge. */
static void test_repair(void **state) {
    const struct gt_device device = a_device("H200");
    struct gt_merge_report report;
    (void)state;
    file_write(in_folder("edit.db"), sound, sound_size);
    tamper(in_folder("edit.db"), "UPDATE trial SET median_ns = 7 WHERE id <= 3");
    struct gt_db *db = db_open(in_folder("saved.db"), GT_DB_WRITE);
    OK(gt_db_merge(&report, db, in_folder("edit.db"), &err));
    assert_int_equal(report.trials, TRIALS - 3);
    assert_int_equal(report.skipped, 3);
    gt_db_close(db);
    db = db_open(in_folder("edit.db"), GT_DB_WRITE);
    try_one(db, run_begin(db, &device), key, 0);
    gt_db_close(db);
    assert_int_equal(look(in_folder("edit.db")).trials, TRIALS - 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped_bits), cmocka_unit_test(test_mixed_pages),
        cmocka_unit_test(test_edited_rows),  cmocka_unit_test(test_huge_value),
        cmocka_unit_test(test_endless_tree), cmocka_unit_test(test_check_counts),
        cmocka_unit_test(test_repair),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
