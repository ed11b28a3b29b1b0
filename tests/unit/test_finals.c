/* SPDX-License-Identifier: Apache-2.0 */
/* test_finals.c - which of the screened candidates are measured again, and which stored
 * records answer instead. */
#include "tuner/tune/finals_limit.h"

#include "core/clock.h"
#include "tests/unit/test_db.h"
#include "tuner/lab/race.h"

static struct gt_families *families;
static struct gt_tuner tuner;

static int setup(void **state) {
    if (folder_make(state) != 0)
        return -1;
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    tuner.families = families;
    return 0;
}

/* A correct trial with this time at this part of the highest clock. Its interval is half a
 * percent to each side. */
static void offer(struct gt_finals *f, const char *family, double ns, double share) {
    const double fair = ns * share;
    struct gt_finalist who = {.workspace_bytes = INT64_MAX,
                              .screen_ns = fair,
                              .low_ns = 0.995 * fair,
                              .high_ns = 1.005 * fair,
                              .share = share};
    snprintf(who.candidate.family, sizeof who.candidate.family, "%s", family);
    snprintf(who.candidate.point, sizeof who.candidate.point, "NS=%d", (int)ns);
    gt_finals_offer(f, &tuner, &who);
}

static void assert_place(const struct gt_finals *f, int place, const char *point) {
    assert_string_equal(f->best[place].candidate.point, point);
}

/* Candidates that were timed later, at a lowered clock, are not slower because of that. */
static void test_clock_does_not_decide(void **state) {
    struct gt_finals f = {.count = 0};
    (void)state;
    offer(&f, "dmma", 1183, 1);
    offer(&f, "dmma", 1300, 0.88); /* 1144 */
    offer(&f, "dmma", 1230, 0.95); /* 1168.5 */
    offer(&f, "dmma", 1250, 1);
    assert_int_equal(f.count, 4);
    assert_place(&f, 0, "NS=1300");
    assert_place(&f, 1, "NS=1230");
    assert_place(&f, 2, "NS=1183");
    assert_place(&f, 3, "NS=1250");
}

/* The best of each family that tables compare with is kept. */
static void test_compared_are_kept(void **state) {
    struct gt_finals f = {.count = 0};
    (void)state;
    offer(&f, "naive", 20000, 0.75);
    offer(&f, "naive", 30000, 0.75);
    offer(&f, "tile", 9000, 0.5);
    offer(&f, "tile", 8000, 0.5);
    assert_string_equal(f.compared[0].candidate.point, "NS=20000");
    assert_string_equal(f.compared[1].candidate.point, "NS=8000");
}

/* Families compared with take part when they may be as fast, once. */
static void test_compared_take_part(void **state) {
    struct gt_finals f = {.count = 0};
    (void)state;
    for (int i = 0; i < 5; i++)
        offer(&f, "dmma", 1000 + i, 1);
    offer(&f, "naive", 3900, 1);
    offer(&f, "tile", 4100, 1); /* more than four times the best's time */
    f.count = 3;
    gt_finals_add_compared(&f);
    assert_int_equal(f.count, 4);
    assert_string_equal(f.best[3].candidate.family, "naive");
    gt_finals_add_compared(&f);
    assert_int_equal(f.count, 4);
}

static int entrants(double step, int count, double share) {
    struct gt_finals f = {.count = 0};
    for (int i = 0; i < count; i++)
        offer(&f, "dmma", 10000 * (1 + i * step) / share, share);
    return gt_finals_entrants(&f);
}

static void test_entrants(void **state) {
    static const struct {
        double step; /* from one to the next */
        double share;
        int count, entrants;
    } rows[] = {
        {0.1, 1, 2, 2},
        {0.1, 1, 10, 3},  /* three at least */
        {0.01, 1, 10, 4}, /* to 3 %: two intervals and 2 % */
        {0.001, 1, 10, GT_BEST_STEADY},
        {0.001, 0.985, 10, GT_BEST_STEADY},
        {0.01, 0.9, 10, 7}, /* to 6 %: two intervals and 5 % */
        {0.001, 0.9, 10, GT_BEST_MAX},
        {0.1, 0.9, 10, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(entrants(rows[i].step, rows[i].count, rows[i].share),
                         rows[i].entrants);
}

/* A finalist of a job, with samples of its first rounds. */
static void add(struct gt_job *job, struct gt_report *report, const char *family,
                const float *ns, int samples, bool beaten) {
    struct gt_result *r = &report->result[report->count++];
    gt_candidate_set(&job->candidate[job->count++], family, "X=1");
    r->outcome = GT_CORRECT;
    r->time.beaten = beaten;
    r->time.samples = samples;
    memcpy(r->time.sample_ns, ns, (size_t)samples * sizeof *ns);
    gt_measurement_summarize(&r->time);
}

/* Ranks a winner that has eight samples, the first of them in round `first`, and a naive
 * kernel that left after four rounds. */
static void rank_late(struct gt_tune_result *result, const float *winner, int first,
                      const float *left) {
    static struct gt_job job;
    static struct gt_report report;
    const struct gt_finals f = {.count = 0};
    memset(result, 0, sizeof *result);
    job.count = report.count = 0;
    add(&job, &report, "vector", winner, 8, false);
    report.result[0].time.unsettled = first;
    add(&job, &report, "naive", left, 4, true);
    gt_finals_rank(result, &f, &tuner, &job, &report);
    assert_int_equal(result->winners, 2);
    assert_string_equal(result->winner[0].candidate.family, "vector");
}

static void rank(struct gt_tune_result *result, const float *winner, const float *left) {
    rank_late(result, winner, 0, left);
}

/* The later rounds were slow for everybody: only common rounds compare. */
static void test_common_rounds_compare(void **state) {
    static const float winner[] = {80, 81, 80, 81, 120, 121, 120, 121};
    static const float slower[] = {90, 91, 90, 91};
    struct gt_tune_result result;
    (void)state;
    rank(&result, winner, slower);
    assert_true(result.winner[1].time.median_ns < result.winner[0].time.median_ns);
    assert_true(result.baseline_ns > 1.1 * result.winner[0].time.median_ns);
    assert_false(result.winner[1].tied);
}

/* A kernel that was beaten before the winner's first settled round has no common round with
 * the winner. Its time is of a higher clock, so it proves no tie. */
static void test_beaten_before_all_is_slower(void **state) {
    static const float winner[] = {100, 101, 100, 101, 100, 101, 100, 101};
    static const float boosted[] = {97, 98, 97, 98};
    struct gt_tune_result result;
    (void)state;
    rank_late(&result, winner, 4, boosted);
    assert_true(result.winner[1].time.median_ns < result.winner[0].time.median_ns);
    assert_false(result.winner[1].tied);
    rank_late(&result, winner, 3, boosted); /* the last of the four is of a common round */
    assert_true(result.winner[1].tied);
}

/* A winner that is slower than the baseline in their common rounds is said to tie. */
static void test_as_fast_is_a_tie(void **state) {
    static const float winner[] = {80, 81, 80, 81, 60, 61, 60, 61};
    static const float faster[] = {70, 71, 70, 71};
    struct gt_tune_result result;
    (void)state;
    rank(&result, winner, faster);
    assert_true(result.baseline_ns < result.winner[0].time.median_ns);
    assert_true(result.winner[1].tied);
}

/* Stores a winner of so many samples. Whether it is the answer to tuning the problem. */
static bool recalls(struct gt_db *db, int samples) {
    const struct gt_device device = a_device("H200");
    struct gt_tune_result result = {.winners = 0};
    struct gt_sweep_item item = {.weight = 1};
    struct gt_tuner t = {.db = db, .families = families, .device = device};
    bool found = false;
    gt_device_key(&device, t.device_key);
    struct gt_record_row row = a_record(t.device_key, 1, 0);
    row.subject.family = "naive";
    row.subject.family_hash = gt_families_find(families, "naive")->hash;
    row.time.samples = samples;
    snprintf(item.name, sizeof item.name, "%s", row.subject.problem);
    OK(put_local_records(db, t.device_key, item.name, &row, 1, &err));
    OK(gt_finals_recall(&found, &result, &t, &item, &err));
    assert_int_equal(result.winners, 1); /* it takes part in the next finals */
    return found;
}

/* A winner of a single sample is measured again. */
static void test_one_sample_is_no_answer(void **state) {
    const struct gt_device device = a_device("H200");
    struct gt_db *db = db_open(in_folder("finals.db"), GT_DB_WRITE);
    (void)state;
    (void)run_begin(db, &device);
    assert_false(recalls(db, 1));
    assert_true(recalls(db, 2));
    gt_db_close(db);
}

/* Finals take longer on a CPU, unless the problem's share is over. */
static void test_patience(void **state) {
    const struct gt_sweep_item item = {.name = "f32-nn-8x8x8"};
    struct gt_tuner t = {.seed = 7};
    struct gt_finals f = {0};
    struct gt_job job;
    (void)state;
    offer(&f, "naive", 100, 1);
    gt_finals_job(&job, &f, &t, &item);
    assert_true(job.patience == 1);
    t.device.is_cpu = true;
    gt_finals_job(&job, &f, &t, &item);
    assert_true(job.patience == 4);
    f.until = gt_seconds();
    gt_finals_job(&job, &f, &t, &item);
    assert_true(job.patience == 1);
    f.until = gt_seconds() + 100;
    gt_finals_job(&job, &f, &t, &item);
    assert_true(job.patience == 4);
}

static int teardown(void **state) {
    gt_families_destroy(families);
    return folder_remove(state);
}

/* Finals and the search have different data, or the same when hurried. */
static void test_seed_of_the_job(void **state) {
    const struct gt_sweep_item item = {.name = "f32-nn-8x8x8"};
    struct gt_tuner t = {.seed = 7};
    struct gt_finals f = {0};
    struct gt_job job;
    (void)state;
    offer(&f, "naive", 100, 1);
    gt_finals_job(&job, &f, &t, &item);
    assert_int_equal(job.seed, 7 + GT_FINALS_SEED);
    assert_int_equal(job.count, 1);
    assert_string_equal(job.candidate[0].family, "naive");
    f.hurried = true;
    gt_finals_job(&job, &f, &t, &item);
    assert_int_equal(job.seed, 7);
}

/* ---- finals within a workspace ---- */

#define SQUARE "f32-nn-1024x1024x1024" /* a part of k takes 4 MiB */

static void set_point(struct gt_candidate *c, int split) {
    char point[160];
    snprintf(
        point, sizeof point,
        "BM=64 BN=64 BK=16 TM=4 TN=8 STAGES=2 SLICES=1 SPLIT=%d CLUSTER=0 STREAM=0 FOLD=1 "
        "VA=1 VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1",
        split);
    gt_candidate_set(c, "multistage", point);
}

static int64_t need_of(int split) {
    return split > 1 ? split * INT64_C(4194304) : 0;
}

static void offer_split(struct gt_finals *f, int split, double ns) {
    struct gt_finalist who = {.workspace_bytes = need_of(split),
                              .screen_ns = ns,
                              .low_ns = ns,
                              .high_ns = ns,
                              .share = 1};
    set_point(&who.candidate, split);
    gt_finals_offer(f, &tuner, &who);
}

/* The ranked candidates have these parts of k. */
static void rank_splits(struct gt_tune_result *result, const int *split, int count) {
    memset(result, 0, sizeof *result);
    for (int i = 0; i < count; i++) {
        set_point(&result->winner[i].candidate, split[i]);
        result->winner[i].workspace_bytes = need_of(split[i]);
    }
    result->winners = count;
}

static void assert_splits(const struct gt_tune_result *result, const int *split,
                          int count) {
    struct gt_candidate c;
    assert_int_equal(result->winners, count);
    for (int i = 0; i < count; i++) {
        set_point(&c, split[i]);
        assert_string_equal(result->winner[i].candidate.point, c.point);
    }
}

/* The need of a stored candidate is counted like the need that a trial reports. */
static void test_workspace(void **state) {
    const struct gt_tuner t = {.families = families, .device = a_device("H200")};
    struct gt_candidate c;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, SQUARE, NULL), GEMMTUNE_OK);
    set_point(&c, 11);
    assert_int_equal(gt_finals_workspace(&t, &p, &c), need_of(11));
    set_point(&c, 1);
    assert_int_equal(gt_finals_workspace(&t, &p, &c), 0);
    gt_candidate_set(&c, "multistage", "BM=5");
    assert_true(gt_finals_workspace(&t, &p, &c) == INT64_MAX);
}

/* A winner of 44 MiB: those within 32 MiB meet, with the best of them that was ranked. */
static void test_limited_entrants(void **state) {
    struct gt_finals f = {.count = 0}, some;
    struct gt_tune_result result;
    (void)state;
    offer_split(&f, 11, 100);
    offer_split(&f, 4, 150);
    offer_split(&f, 3, 151);
    offer_split(&f, 5, 152);
    offer_split(&f, 2, 190);
    offer_split(&f, 1, 300);
    assert_int_equal(f.limited[1].count, GT_LIMITED_MAX);
    assert_int_equal(f.limited[0].count, 1);
    rank_splits(&result, (const int[]){11, 2, 1}, 3);
    assert_int_equal(gt_finals_limit_entrants(&some, &result, &f, 1), 4);
    assert_non_null(strstr(some.best[0].candidate.point, "SPLIT=4 "));
    assert_non_null(strstr(some.best[3].candidate.point, "SPLIT=2 "));
    /* who needs nothing is alone */
    assert_int_equal(gt_finals_limit_entrants(&some, &result, &f, 0), 0);
    /* one of them ties with the winner, or wins */
    result.winner[1].tied = true;
    assert_int_equal(gt_finals_limit_entrants(&some, &result, &f, 1), 0);
    rank_splits(&result, (const int[]){4, 11}, 2);
    assert_int_equal(gt_finals_limit_entrants(&some, &result, &f, 1), 0);
}

/* The winner stands before all candidates that need as little, and before no other. */
static void test_limited_winner(void **state) {
    struct gt_tune_result result, won;
    (void)state;
    rank_splits(&result, (const int[]){11, 9, 2, 1}, 4);
    rank_splits(&won, (const int[]){4, 2}, 2);
    won.winner[0].time.median_ns = 77;
    gt_finals_limit_take(&result, &won, gt_workspace_limits[1]);
    assert_splits(&result, (const int[]){11, 9, 4, 2, 1}, 5);
    assert_true(result.winner[2].time.median_ns == 77);
    /* one that is there moves up */
    rank_splits(&won, (const int[]){1}, 1);
    gt_finals_limit_take(&result, &won, gt_workspace_limits[1]);
    assert_splits(&result, (const int[]){11, 9, 1, 4, 2}, 5);
    /* none was ranked: it is the last */
    rank_splits(&result, (const int[]){11, 9}, 2);
    gt_finals_limit_take(&result, &won, gt_workspace_limits[1]);
    assert_splits(&result, (const int[]){11, 9, 1}, 3);
    rank_splits(&won, NULL, 0); /* nobody was correct */
    gt_finals_limit_take(&result, &won, gt_workspace_limits[1]);
    assert_int_equal(result.winners, 3);
}

/* With all places taken the last one goes. */
static void test_limited_winner_takes_a_place(void **state) {
    static const int split[GT_FINALISTS_MAX] = {11, 9,  11, 9,  11, 9, 11,
                                                9,  11, 9,  11, 2,  1};
    struct gt_tune_result result, won;
    (void)state;
    rank_splits(&result, split, GT_FINALISTS_MAX);
    rank_splits(&won, (const int[]){4}, 1);
    gt_finals_limit_take(&result, &won, gt_workspace_limits[1]);
    assert_splits(&result, (const int[]){11, 9, 11, 9, 11, 9, 11, 9, 11, 9, 11, 4, 2},
                  GT_FINALISTS_MAX);
}

/* A search that was limited to less than 32 MiB decides within its own limit as well: a
 * stored kernel that callers with 32 MiB get stays among the finalists. */
static void test_own_limit(void **state) {
    static const struct {
        int64_t own;
        int limits;
        int64_t bytes[GT_LIMITS_MAX];
    } rows[] = {{0, 2, {0, 32 << 20, 0}},
                {4096, 3, {0, 4096, 32 << 20}},
                {64 << 20, 2, {0, 32 << 20, 0}}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_finals f = {.own_limit = rows[i].own};
        struct gt_finalist who = {.workspace_bytes = 8192, .screen_ns = 5};
        assert_int_equal(gt_finals_limits(&f), rows[i].limits);
        gt_finals_offer_limited(&f, &who);
        for (int j = 0; j < rows[i].limits; j++) {
            assert_int_equal(gt_finals_limit_bytes(&f, j), rows[i].bytes[j]);
            assert_int_equal(f.limited[j].count, rows[i].bytes[j] >= 8192);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_limit),
        cmocka_unit_test(test_seed_of_the_job),
        cmocka_unit_test(test_clock_does_not_decide),
        cmocka_unit_test(test_compared_are_kept),
        cmocka_unit_test(test_compared_take_part),
        cmocka_unit_test(test_entrants),
        cmocka_unit_test(test_common_rounds_compare),
        cmocka_unit_test(test_as_fast_is_a_tie),
        cmocka_unit_test(test_beaten_before_all_is_slower),
        cmocka_unit_test(test_one_sample_is_no_answer),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_limited_entrants),
        cmocka_unit_test(test_limited_winner),
        cmocka_unit_test(test_limited_winner_takes_a_place),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
