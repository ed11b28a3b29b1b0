/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_rows.c - every field is read back as it was stored, in the defined order. A row
 * that could not be read back is refused when it is written.
 */
#include "tests/unit/test_db.h"

#include <locale.h>
#include <math.h>

static char key[GT_DEVICE_KEY_MAX];
static struct gt_device device;
static struct gt_db *db;
static int64_t run;

static int setup(void **state) {
    const int code = folder_make(state);
    device = a_device("NVIDIA H200");
    gt_device_key(&device, key);
    db = db_open(in_folder("a.db"), GT_DB_WRITE);
    run = run_begin(db, &device);
    return code;
}

static int teardown(void **state) {
    gt_db_close(db);
    return folder_remove(state);
}

static gt_status check_device_row(void *user, const char *got_key,
                                  const struct gt_device *d, struct gt_err *unused) {
    (void)unused;
    ++*(int *)user;
    assert_string_equal(got_key, key);
    assert_memory_equal(d, &device, sizeof device);
    return GEMMTUNE_OK;
}

static void test_device(void **state) {
    int count = 0;
    (void)state;
    OK(gt_db_devices(db, check_device_row, &count, &err));
    assert_int_equal(count, 1);
    (void)snprintf(device.driver, sizeof device.driver,
                   "580.2"); /* the same key: refreshed */
    (void)run_begin(db, &device);
    OK(gt_db_devices(db, check_device_row, &count, &err));
    assert_int_equal(count, 2);
}

static void same_subject(const struct gt_db_subject *a, const struct gt_db_subject *b) {
    assert_string_equal(a->device_key, b->device_key);
    assert_string_equal(a->problem, b->problem);
    assert_string_equal(a->family, b->family);
    assert_string_equal(a->family_hash, b->family_hash);
    assert_string_equal(a->point, b->point);
}

static void test_trial(void **state) {
    const struct gt_db_subject subject = a_subject(key, 128);
    struct gt_trial_row in = a_result(5), out;
    int64_t id = 0;
    bool claimed = false, found = true;
    const int64_t before_ms = gt_now_ms();
    (void)state;
    in.error = "first line\nsecond\tline";
    in.time.sample_ns[1] = 1.0F / 3.0F * 4e6F;
    OK(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err));
    assert_true(claimed && id > 0);
    OK(gt_db_trial_find(&found, &out, db, &subject, &err));
    assert_false(found); /* only finished ones are */
    OK(gt_db_trial_end(db, id, &in, &err));
    assert_int_equal(gt_db_trial_end(db, id, &in, &err), GEMMTUNE_EINVAL);
    OK(gt_db_trial_find(&found, &out, db, &subject, &err));
    assert_true(found);
    same_subject(&out.subject, &subject);
    assert_int_equal(out.id, id);
    assert_int_equal(out.state, GT_TRIAL_DONE);
    assert_int_equal(out.attempts, 1);
    assert_int_equal(out.outcome, in.outcome);
    assert_memory_equal(&out.time, &in.time, sizeof in.time);
    assert_int_equal(out.registers, 128);
    assert_int_equal(out.spill_bytes, 16);
    assert_int_equal(out.smem_bytes, 49152);
    assert_true(out.compile_ms >= 812.625 && out.compile_ms <= 812.625);
    assert_string_equal(out.error, "first line second line");
    assert_string_equal(out.provenance, "local");
    assert_int_equal(out.run_id, run);
    assert_in_range(out.ended_ms, before_ms, gt_now_ms());
    OK(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err));
    assert_false(claimed);
}

/* The options of a run, and the answer for a run that does not exist. */
static void test_run(void **state) {
    const struct gt_run_info info = {.arguments = "--templates '/a'", .seed = UINT64_MAX};
    char arguments[17];
    uint64_t seed = 1;
    int64_t id;
    bool found = false;
    (void)state;
    OK(gt_db_run_begin(&id, db, &device, &info, &err));
    OK(gt_db_run_find(&found, arguments, sizeof arguments, &seed, db, id, &err));
    assert_true(found && seed == UINT64_MAX);
    assert_string_equal(arguments, info.arguments);
    OK(gt_db_run_find(&found, arguments, sizeof arguments - 1, &seed, db, id, &err));
    assert_string_equal(arguments, "");
    OK(gt_db_run_find(&found, arguments, sizeof arguments, &seed, db, id + 1, &err));
    assert_false(found);
}

static void test_every_outcome(void **state) {
    static const gt_outcome outcomes[] = {
#define X(name, word) name,
        GT_OUTCOME_LIST(X)
#undef X
    };
    (void)state;
    for (int i = 0; i < (int)(sizeof outcomes / sizeof *outcomes); i++) {
        const struct gt_db_subject subject = a_subject(key, i);
        struct gt_trial_row in = {.outcome = outcomes[i], .registers = -1}, out;
        int64_t id = 0;
        bool yes = false;
        if (outcomes[i] == GT_CORRECT)
            in = a_result(i);
        OK(gt_db_trial_begin(&id, &yes, db, run, &subject, &err));
        OK(gt_db_trial_end(db, id, &in, &err));
        OK(gt_db_trial_find(&yes, &out, db, &subject, &err));
        assert_true(yes);
        assert_int_equal(out.outcome, outcomes[i]);
    }
}

static void test_most_samples(void **state) {
    struct gt_trial_row in = a_result(1), out;
    const struct gt_db_subject subject = a_subject(key, 1);
    int64_t id = 0;
    bool yes = false;
    (void)state;
    in.time.samples = GT_SAMPLES_MAX;
    for (int i = 0; i < GT_SAMPLES_MAX; i++)
        in.time.sample_ns[i] = ldexpf(1.2345678F, i * 4 - 120); /* 1e-36 to 1e40 or so */
    OK(gt_db_trial_begin(&id, &yes, db, run, &subject, &err));
    assert_int_equal(gt_db_trial_end(db, id, &in, &err),
                     GEMMTUNE_EINVAL); /* some are inf */
    for (int i = 0; i < GT_SAMPLES_MAX; i++)
        in.time.sample_ns[i] = ldexpf(1.2345678F, i * 3 - 90);
    OK(gt_db_trial_end(db, id, &in, &err));
    OK(gt_db_trial_find(&yes, &out, db, &subject, &err));
    assert_true(yes);
    assert_memory_equal(&out.time, &in.time, sizeof in.time);
}

/* A program with commas for decimal points reads and writes the same database. */
static void test_locale(void **state) {
    struct gt_export_report written;
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL)
        skip();
    test_trial(state);
    OK(gt_db_export(&written, db, NULL, in_folder("a.json"), &err));
    assert_string_equal(setlocale(LC_NUMERIC, NULL), "de_DE.UTF-8");
    (void)setlocale(LC_ALL, "C");
}

struct order {
    int count;
    char text[16][128];
};

static gt_status note_record(void *user, const struct gt_record_row *row,
                             struct gt_err *unused) {
    struct order *order = user;
    (void)unused;
    (void)snprintf(order->text[order->count++], sizeof order->text[0], "%s %d %s",
                   row->subject.problem, row->rank, row->subject.point);
    return GEMMTUNE_OK;
}

static void put(const char *problem, int first, int count) {
    struct gt_record_row rows[4];
    for (int i = 0; i < count; i++) {
        rows[i] = a_record(key, first + i, i);
        rows[i].subject.problem = problem;
    }
    OK(put_local_records(db, key, problem, rows, (size_t)count, &err));
}

static void test_record_order(void **state) {
    struct order order = {0};
    (void)state;
    put("f32-nn-64x64x64", 7, 2);
    put("f32-nn-32x32x32", 5, 2);
    put("f32-nn-64x64x64", 1, 2); /* replaces */
    OK(gt_db_records(db, NULL, NULL, note_record, &order, &err));
    assert_int_equal(order.count, 4);
    assert_string_equal(order.text[0], "f32-nn-32x32x32 0 BM=5 BN=64");
    assert_string_equal(order.text[1], "f32-nn-32x32x32 1 BM=6 BN=64");
    assert_string_equal(order.text[2], "f32-nn-64x64x64 0 BM=1 BN=64");
    assert_string_equal(order.text[3], "f32-nn-64x64x64 1 BM=2 BN=64");
    order.count = 0;
    OK(gt_db_records(db, key, "f32-nn-64x64x64", note_record, &order, &err));
    assert_int_equal(order.count, 2);
    /* The winner comes first, although its point is the last one by name. */
    struct gt_record_row rows[] = {a_record(key, 4, 0), a_record(key, 3, 1)};
    rows[0].subject.problem = rows[1].subject.problem = "f32-nn-64x64x64";
    OK(put_local_records(db, key, "f32-nn-64x64x64", rows, 2, &err));
    order.count = 0;
    OK(gt_db_records(db, key, "f32-nn-64x64x64", note_record, &order, &err));
    assert_int_equal(order.count, 2);
    assert_string_equal(order.text[0], "f32-nn-64x64x64 0 BM=4 BN=64");
    assert_string_equal(order.text[1], "f32-nn-64x64x64 1 BM=3 BN=64");
    order.count = 0;
    OK(gt_db_records(db, "other", NULL, note_record, &order, &err));
    assert_int_equal(order.count, 0);
    OK(put_local_records(db, key, "f32-nn-64x64x64", NULL, 0, &err));
    OK(gt_db_records(db, NULL, NULL, note_record, &order, &err));
    assert_int_equal(order.count, 2);
}

static int count_records(void) {
    struct order order = {0};
    OK(gt_db_records(db, NULL, NULL, note_record, &order, &err));
    return order.count;
}

/* Records are replaced by who knows them. */
static void test_replace(void **state) {
    const char *const problem = "f32-nn-64x64x64";
    struct gt_record_row rows[] = {a_record(key, 4, 0), a_record(key, 3, 1)};
    int64_t first_ms, second_ms;
    bool done = true;
    (void)state;
    rows[0].subject.problem = rows[1].subject.problem = problem;
    OK(gt_db_records_moment(&first_ms, db, key, problem, &err));
    assert_int_equal(first_ms, 0);
    OK(gt_db_records_replace(&done, db, 1, key, problem, rows, 2, &err));
    assert_false(done);
    assert_int_equal(count_records(), 0);
    OK(gt_db_records_replace(&done, db, 0, key, problem, rows, 2, &err));
    assert_true(done);
    OK(gt_db_records_moment(&first_ms, db, key, problem, &err));
    assert_true(first_ms > 0);
    OK(gt_db_records_replace(&done, db, 0, key, problem, rows, 1, &err));
    assert_false(done);
    assert_int_equal(count_records(), 2);
    OK(gt_db_records_replace(&done, db, first_ms, key, problem, rows, 1, &err));
    assert_true(done);
    assert_int_equal(count_records(), 1);
    OK(gt_db_records_moment(&second_ms, db, key, problem, &err));
    assert_true(second_ms > first_ms);
}

static gt_status check_record_row(void *user, const struct gt_record_row *row,
                                  struct gt_err *unused) {
    const struct gt_record_row *want = user;
    (void)unused;
    if (row->rank != want->rank)
        return GEMMTUNE_OK;
    same_subject(&row->subject, &want->subject);
    assert_int_equal(row->tied, want->tied);
    assert_int_equal(row->verified, want->verified);
    assert_memory_equal(&row->time, &want->time,
                        offsetof(struct gt_measurement, sample_ns));
    assert_true(row->baseline_ns >= want->baseline_ns &&
                row->baseline_ns <= want->baseline_ns);
    assert_string_equal(row->provenance, "local");
    return GEMMTUNE_ENOTFOUND; /* stops, and comes back out */
}

static void test_record(void **state) {
    struct gt_record_row rows[] = {a_record(key, 8, 0), a_record(key, 9, 1)};
    (void)state;
    OK(put_local_records(db, key, rows[0].subject.problem, rows, 2, &err));
    for (int i = 0; i < 2; i++)
        assert_int_equal(gt_db_records(db, key, NULL, check_record_row, &rows[i], &err),
                         GEMMTUNE_ENOTFOUND);
}

/* Earlier versions stored kernels as tied that took many times as long in one sample. */
static void test_a_tie_of_one_sample(void **state) {
    static const struct {
        int samples;
        double times; /* the winner's */
        bool tied;
    } rows[] = {
        {1, 54, false}, {1, 1.005, true}, {1, 1.02, false}, {2, 54, false}, {6, 54, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_record_row both[] = {a_record(key, 8, 0), a_record(key, 9, 1)};
        struct gt_measurement *time = &both[1].time;
        const double ns = rows[i].times * both[0].time.median_ns;
        *time = (struct gt_measurement){.samples = rows[i].samples,
                                        .launches = 1,
                                        .median_ns = ns,
                                        .low_ns = 0.985 * ns,
                                        .high_ns = 1.015 * ns};
        OK(put_local_records(db, key, both[0].subject.problem, both, 2, &err));
        both[1].tied = rows[i].tied;
        assert_int_equal(gt_db_records(db, key, NULL, check_record_row, &both[1], &err),
                         GEMMTUNE_ENOTFOUND);
    }
}

static gt_status note_trial(void *user, const struct gt_trial_row *row,
                            struct gt_err *unused) {
    int64_t *last = user;
    (void)unused;
    assert_true(row->id > *last);
    assert_int_equal(row->run_id, run);
    *last = row->id;
    return GEMMTUNE_OK;
}

static void test_trials(void **state) {
    int64_t last = 0, before = 0;
    (void)state;
    for (int i = 0; i < 5; i++)
        try_one(db, run, key, i);
    OK(gt_db_trials(db, key, "f32-nn-512x512x512", note_trial, &last, &err));
    assert_true(last > 0);
    before = last;
    OK(gt_db_trials(db, NULL, "f32-nn-1x1x1", note_trial, &last, &err));
    assert_int_equal(before, last);
}

static void refused_record(struct gt_record_row row) {
    assert_int_equal(put_local_records(db, key, "f32-nn-512x512x512", &row, 1, &err),
                     GEMMTUNE_EINVAL);
}

/* Nothing is stored that a reader would skip. */
static void test_bad_records(void **state) {
    const struct gt_record_row good = a_record(key, 1, 0);
    struct gt_record_row bad;
    (void)state;
    OK(put_local_records(db, key, good.subject.problem, &good, 1, &err));
#define BAD(member, value)                                                                 \
    do {                                                                                   \
        bad = good;                                                                        \
        bad.member = value;                                                                \
        refused_record(bad);                                                               \
    } while (0)
    BAD(time.median_ns, 0);
    BAD(time.median_ns, -1);
    BAD(time.median_ns, (double)NAN);
    BAD(time.high_ns, (double)INFINITY);
    BAD(time.low_ns, 5000);
    BAD(time.samples, 0);
    BAD(time.samples, 65);
    BAD(rank, -1);
    BAD(baseline_ns, -1);
    BAD(subject.device_key, "other");
    BAD(subject.device_key, NULL);
    BAD(subject.problem, "f32-nn-1x1x1");
    BAD(subject.family, "Tile");
    BAD(subject.family, "");
    BAD(subject.family, "abcdefghijklmnopqrstuvwxyz");
    BAD(subject.family, NULL);
    BAD(subject.family_hash, "12");
    BAD(subject.point, "BM=1,BN=2");
    BAD(subject.point, "BM=1;rm");
    BAD(subject.point, "BM");
#undef BAD
    struct order order = {0};
    OK(gt_db_records(db, NULL, NULL, note_record, &order, &err));
    assert_int_equal(order.count, 1); /* a refused put changes nothing */
    bad = good;
    bad.subject.problem = "f32-nn-512x512x512,lda=512";
    assert_int_equal(put_local_records(db, key, bad.subject.problem, &bad, 1, &err),
                     GEMMTUNE_EINVAL);
    bad = good;
    bad.subject.device_key = "nobody-00000000";
    assert_int_equal(
        put_local_records(db, "nobody-00000000", bad.subject.problem, &bad, 1, &err),
        GEMMTUNE_EINVAL);
}

/* Whether a device with this name may be stored. */
static bool name_is_sound(const char *name) {
    struct gt_stored_device d = {.device = device};
    (void)snprintf(d.device.name, sizeof d.device.name, "%s", name);
    gt_device_key(&d.device, d.key);
    return gt_row_check(&gt_device_table, &d, NULL, &err) == GEMMTUNE_OK;
}

/* A text is one line: a byte that is none of a line's is found in any place. */
static void test_lines(void **state) {
    char name[] = "a name of 21 bytes ..";
    (void)state;
    for (size_t i = 0; i < sizeof name - 1; i++) {
        const char kept = name[i];
        for (int byte = 1; byte < 256; byte++) {
            name[i] = (char)byte;
            assert_int_equal(name_is_sound(name), byte >= ' ' && byte <= '~');
        }
        name[i] = kept;
    }
    assert_true(name_is_sound("caf\xc3\xa9 caf\xc3\xa9 caf\xc3\xa9"));
    assert_false(name_is_sound("caf\xc3\xa9 caf\xc3\xa9 caf\xc3"));
}

static void test_bad_trials(void **state) {
    const struct gt_db_subject subject = a_subject(key, 1);
    struct gt_trial_row row = a_result(1);
    int64_t id = 0;
    bool claimed = false;
    (void)state;
    OK(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err));
    row.time.samples = 0;
    assert_int_equal(gt_db_trial_end(db, id, &row, &err), GEMMTUNE_EINVAL);
    row = a_result(1);
    row.time.sample_ns[2] = 0;
    assert_int_equal(gt_db_trial_end(db, id, &row, &err), GEMMTUNE_EINVAL);
    row = a_result(1);
    row.compile_ms = -1;
    assert_int_equal(gt_db_trial_end(db, id, &row, &err), GEMMTUNE_EINVAL);
    assert_int_equal(gt_db_trial_end(db, id + 1, &row, &err), GEMMTUNE_EINVAL);
    row = a_result(1);
    char text[2000];
    memset(text, '\xff', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    row.error =
        text; /* a compiler's log: cut and cleaned, never a reason to lose the trial */
    OK(gt_db_trial_end(db, id, &row, &err));
    bool found = false;
    OK(gt_db_trial_find(&found, &row, db, &subject, &err));
    assert_int_equal(strlen(row.error), GT_DB_ERROR_MAX - 1);
}

static gt_status see_moment(void *user, const struct gt_record_row *row,
                            struct gt_err *unused) {
    (void)unused;
    *(int64_t *)user = row->measured_ms;
    return GEMMTUNE_OK;
}

/* A record dated at the end of time. The next stored one replaces it, with a plausible
 * date. */
static void test_absurd_moment(void **state) {
    int64_t moment_ms = 0;
    (void)state;
    struct gt_record_row row = a_record(key, 1, 0);
    row.measured_ms = INT64_C(9007199254740991);
    OK(put_local_records(db, key, row.subject.problem, &row, 1, &err));
    row.measured_ms = 0;
    OK(put_local_records(db, key, row.subject.problem, &row, 1, &err));
    OK(gt_db_records(db, key, NULL, see_moment, &moment_ms, &err));
    assert_in_range(moment_ms, 1, gt_latest_ms());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_device),
        TEST(test_trial),
        TEST(test_run),
        TEST(test_every_outcome),
        TEST(test_most_samples),
        TEST(test_locale),
        TEST(test_lines),
        TEST(test_record_order),
        TEST(test_replace),
        TEST(test_record),
        TEST(test_a_tie_of_one_sample),
        TEST(test_trials),
        TEST(test_bad_records),
        TEST(test_bad_trials),
        TEST(test_absurd_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
