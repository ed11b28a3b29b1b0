/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_db_claims.c - claims on trials: tuners side by side, tuners that died, points that
 * kill. Nothing acknowledged is ever lost to kill -9.
 */
#include "tests/unit/test_db.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { TUNERS = 4, SHARED_TRIALS = 60, KILLS = 100 };

static char key[GT_DEVICE_KEY_MAX];
static struct gt_device device;

static int setup(void **state) {
    device = a_device("H200");
    gt_device_key(&device, key);
    return folder_make(state);
}

static bool begin(struct gt_db *db, int64_t run, int i, int64_t *id) {
    const struct gt_db_subject subject = a_subject(key, i);
    bool claimed = false;
    OK(gt_db_trial_begin(id, &claimed, db, run, &subject, &err));
    return claimed;
}

static bool find(struct gt_db *db, int i, struct gt_trial_row *row) {
    const struct gt_db_subject subject = a_subject(key, i);
    bool found = false;
    OK(gt_db_trial_find(&found, row, db, &subject, &err));
    return found;
}

/* ---- the dead and the living ---- */

static void test_held_by_the_living(void **state) {
    int64_t id = 0;
    (void)state;
    struct gt_db *one = db_open(in_folder("a.db"), GT_DB_WRITE);
    struct gt_db *two = db_open(in_folder("a.db"), GT_DB_WRITE);
    const int64_t run_one = run_begin(one, &device), run_two = run_begin(two, &device);
    assert_true(begin(one, run_one, 1, &id));
    assert_false(begin(two, run_two, 1, &id));
    assert_false(begin(one, run_one, 1, &id)); /* nor by ourselves a second time */
    assert_true(begin(two, run_two, 2, &id));
    gt_db_close(one); /* its run is over */
    assert_true(begin(two, run_two, 1, &id));
    OK(gt_db_run_end(two, run_two, "stopped", &err));
    const int64_t run_three = run_begin(two, &device);
    assert_true(begin(two, run_three, 2, &id));
    gt_db_close(two);
}

/* Begins trial i in a run that neither ends it nor itself, whatever becomes of the handle:
 * the database goes back to what it was before. The run seems to live on in this process.
 */
static int64_t begin_and_vanish(int i) {
    size_t size;
    int64_t id = 0;
    const char *path = in_folder("a.db");
    struct gt_db *db = db_open(path, GT_DB_WRITE);
    assert_true(begin(db, run_begin(db, &device), i, &id));
    unsigned char *begun = file_read(path, &size);
    gt_db_close(db);
    file_write(path, begun, size);
    free(begun);
    return id;
}

static void change_owners(const char *what) {
    char sql[256];
    (void)snprintf(sql, sizeof sql, "UPDATE run SET %s", what);
    tamper(in_folder("a.db"), sql);
}

/* Another boot, another process of that pid, no such process. */
static void test_left_by_the_dead(void **state) {
    static const char *const deaths[] = {"boot = 'another'", "start_time = start_time + 1",
                                         "pid = 999999999"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        int64_t again = 0;
        struct gt_trial_row row = a_result(i);
        const int64_t id = begin_and_vanish(i);
        struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
        const int64_t run = run_begin(db, &device);
        assert_false(begin(db, run, i, &again)); /* as if it lived */
        gt_db_close(db);
        change_owners(deaths[i]);
        db = db_open(in_folder("a.db"), GT_DB_WRITE);
        assert_true(begin(db, run_begin(db, &device), i, &again));
        assert_int_equal(again, id);
        OK(gt_db_trial_end(db, id, &row, &err));
        assert_true(find(db, i, &row));
        assert_int_equal(row.attempts, i == 0 ? 2 : 1); /* killed is not gone down */
        gt_db_close(db);
    }
}

static gt_status check_quarantined(void *user, const struct gt_trial_row *row,
                                   struct gt_err *unused) {
    (void)unused;
    ++*(int *)user;
    assert_int_equal(row->state, GT_TRIAL_QUARANTINED);
    assert_int_equal(row->outcome, GT_CRASHED);
    assert_int_equal(row->attempts, 2);
    return GEMMTUNE_OK;
}

static void test_two_strikes(void **state) {
    int64_t id = 0;
    int count = 0;
    struct gt_trial_row row;
    (void)state;
    for (int strike = 0; strike < 2; strike++) {
        (void)begin_and_vanish(1);
        change_owners("boot = 'another'");
    }
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    const int64_t run = run_begin(db, &device);
    assert_false(begin(db, run, 1, &id));
    assert_false(begin(db, run, 1, &id));
    assert_true(find(db, 1, &row));
    OK(gt_db_trials(db, NULL, NULL, check_quarantined, &count, &err));
    assert_int_equal(count, 1);
    gt_db_close(db);
}

static gt_status count_states(void *user, const struct gt_trial_row *row,
                              struct gt_err *unused) {
    (void)unused;
    ((int *)user)[row->state]++;
    return GEMMTUNE_OK;
}

/* Begins trial 1 in a run that ends without its outcome, at its own end or at the end of
 * the handle, and asserts how many trials are stored then. */
static void end_without_outcome(bool at_its_end, int running, int done) {
    int states[3] = {0};
    int64_t id = 0;
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    const int64_t run = run_begin(db, &device);
    assert_true(begin(db, run, 1, &id));
    try_one(db, run, key, 2 + at_its_end); /* what has an outcome stays */
    if (at_its_end)
        OK(gt_db_run_end(db, run, "stopped", &err));
    gt_db_close(db);
    db = db_open(in_folder("a.db"), GT_DB_WRITE);
    OK(gt_db_trials(db, NULL, NULL, count_states, states, &err));
    gt_db_close(db);
    assert_int_equal(states[GT_TRIAL_RUNNING], running);
    assert_int_equal(states[GT_TRIAL_DONE], done);
}

/* A run that ends in good order leaves no trial open, and forgets no strike. */
static void test_ended_without_an_outcome(void **state) {
    int64_t id = 0;
    (void)state;
    end_without_outcome(false, 0, 1);
    end_without_outcome(true, 0, 2);
    (void)begin_and_vanish(1);
    change_owners("boot = 'another'");
    tamper(in_folder("a.db"), "DELETE FROM trial WHERE state = 'done'");
    end_without_outcome(true, 1, 1);
    (void)begin_and_vanish(1);
    change_owners("boot = 'another'");
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    assert_false(begin(db, run_begin(db, &device), 1, &id));
    gt_db_close(db);
}

/* ---- side by side ---- */

/* Starts at its own place, so that tuners meet in the middle. Returns the trials it did. */
static int tune_all(const char *path, int first) {
    struct gt_db *db = NULL;
    const struct gt_run_info info = {0};
    int64_t run = 0;
    int done = 0;
    if (gt_db_open(&db, path, GT_DB_WRITE, &err) != GEMMTUNE_OK ||
        gt_db_run_begin(&run, db, &device, &info, &err) != GEMMTUNE_OK)
        return 255;
    for (int i = 0; i < SHARED_TRIALS; i++) {
        const int n = (first + i) % SHARED_TRIALS;
        const struct gt_db_subject subject = a_subject(key, n);
        const struct gt_trial_row row = a_result(n);
        int64_t id = 0;
        bool claimed = false;
        if (gt_db_trial_begin(&id, &claimed, db, run, &subject, &err) != GEMMTUNE_OK)
            return 254;
        if (claimed && gt_db_trial_end(db, id, &row, &err) != GEMMTUNE_OK)
            return 253;
        done += claimed;
    }
    gt_db_close(db);
    return done;
}

static gt_status count_first_attempts(void *user, const struct gt_trial_row *row,
                                      struct gt_err *unused) {
    (void)unused;
    *(int *)user += row->attempts == 1 && row->state == GT_TRIAL_DONE;
    return GEMMTUNE_OK;
}

/* They also create the file together. */
static void test_side_by_side(void **state) {
    pid_t pids[TUNERS];
    int total = 0, count = 0;
    (void)state;
    for (int i = 0; i < TUNERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(tune_all(in_folder("a.db"), i * SHARED_TRIALS / TUNERS));
    }
    for (int i = 0; i < TUNERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) <= SHARED_TRIALS);
        total += WEXITSTATUS(status);
    }
    assert_int_equal(total, SHARED_TRIALS);
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_READ);
    OK(gt_db_trials(db, key, NULL, count_first_attempts, &count, &err));
    assert_int_equal(count, SHARED_TRIALS);
    gt_db_close(db);
}

/* ---- kill -9 ---- */

/* Tries points for ever; writes the number of each to fd once it is on disk. */
static void tune_for_ever(const char *path, int fd) {
    struct gt_db *db = NULL;
    const struct gt_run_info info = {0};
    int64_t run = 0;
    if (gt_db_open(&db, path, GT_DB_WRITE, &err) != GEMMTUNE_OK ||
        gt_db_run_begin(&run, db, &device, &info, &err) != GEMMTUNE_OK)
        return;
    for (int i = 0;; i++) {
        const struct gt_db_subject subject = a_subject(key, i);
        const struct gt_trial_row row = a_result(i);
        struct gt_trial_row found_row;
        int64_t id = 0;
        bool claimed = false, found = false;
        if (gt_db_trial_find(&found, &found_row, db, &subject, &err) != GEMMTUNE_OK)
            return;
        if (found)
            continue;
        if (gt_db_trial_begin(&id, &claimed, db, run, &subject, &err) != GEMMTUNE_OK)
            return;
        if (!claimed)
            continue;
        if (gt_db_trial_end(db, id, &row, &err) != GEMMTUNE_OK ||
            write(fd, &i, sizeof i) != (ssize_t)sizeof i)
            return;
    }
}

/* One life of a tuner, killed `delay_ns` after it had something to lose. */
static void live_and_die(const char *path, int fds[2], long delay_ns) {
    int status = 0;
    const struct timespec delay = {0, delay_ns};
    struct pollfd ready = {.fd = fds[0], .events = POLLIN};
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[0]);
        tune_for_ever(path, fds[1]);
        (void)fprintf(stderr, "%s\n", err.line);
        _exit(1);
    }
    assert_int_equal(poll(&ready, 1, 10000), 1);
    (void)nanosleep(&delay, NULL);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

enum { ACKS_MAX = 16384 };
static bool acknowledged[ACKS_MAX];

/* Reads the acknowledged trials so far; none may be acknowledged twice. */
static int read_acks(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int number = 0, acks = 0;
    while (poll(&ready, 1, 0) == 1 &&
           read(fd, &number, sizeof number) == (ssize_t)sizeof number) {
        assert_in_range(number, 0, ACKS_MAX - 1);
        assert_false(acknowledged[number]);
        acknowledged[number] = true;
        acks++;
    }
    return acks;
}

static void all_there(const char *path) {
    int64_t bad = 0;
    struct gt_trial_row row;
    struct gt_db *db = db_open(path, GT_DB_WRITE);
    OK(gt_db_check(db, &bad, &err));
    assert_int_equal(bad, 0);
    for (int i = 0; i < ACKS_MAX; i++) {
        if (!acknowledged[i])
            continue;
        const struct gt_trial_row want = a_result(i);
        assert_true(find(db, i, &row));
        assert_int_equal(row.outcome, GT_CORRECT);
        assert_memory_equal(&row.time, &want.time, sizeof want.time);
    }
    gt_db_close(db);
}

static void test_kill(void **state) {
    int fds[2], acks = 0;
    uint32_t x = 1;
    (void)state;
    memset(acknowledged, 0, sizeof acknowledged);
    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < KILLS; i++) {
        x = x * 1664525 + 1013904223;
        live_and_die(in_folder("a.db"), fds, (long)(x >> 8) % 20000000);
        acks += read_acks(fds[0]);
    }
    all_there(in_folder("a.db"));
    (void)close(fds[0]);
    (void)close(fds[1]);
    print_message("%d kills, %d acknowledged, all there\n", KILLS, acks);
    assert_true(acks >= KILLS);
}

/* ---- no room ---- */

/* Limits files to 120 KB, as on a full disk. Returns 0 when the error was reported. */
static int tune_until_full(const char *path, int fd) {
    const struct rlimit limit = {120000, 120000};
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    tune_for_ever(path, fd);
    return err.line[0] != '\0' ? 0 : 1;
}

static void test_full(void **state) {
    int fds[2], status = 0;
    (void)state;
    memset(acknowledged, 0, sizeof acknowledged);
    assert_int_equal(pipe(fds), 0);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(tune_until_full(in_folder("a.db"), fds[1]));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(read_acks(fds[0]) > 10);
    all_there(in_folder("a.db")); /* and there is room again */
    struct gt_db *db = db_open(in_folder("a.db"), GT_DB_WRITE);
    try_one(db, run_begin(db, &device), key, ACKS_MAX);
    gt_db_close(db);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

/* ---- reading while another writes ---- */

/* Sets of two, three, two, ... records; baseline_ns tells the set. */
static void rewrite_for_ever(const char *path) {
    struct gt_db *db = NULL;
    if (gt_db_open(&db, path, GT_DB_WRITE, &err) != GEMMTUNE_OK)
        return;
    for (int n = 1;; n++) {
        struct gt_record_row rows[3];
        for (int i = 0; i < 3; i++) {
            rows[i] = a_record(key, i, i);
            rows[i].baseline_ns = n;
        }
        if (put_local_records(db, key, rows[0].subject.problem, rows, 2 + (size_t)n % 2,
                              &err) != GEMMTUNE_OK)
            return;
    }
}

struct set {
    int count;
    double baseline_ns;
};

static gt_status note(void *user, const struct gt_record_row *row, struct gt_err *unused) {
    struct set *set = user;
    (void)unused;
    assert_true(set->count == 0 || (row->baseline_ns >= set->baseline_ns &&
                                    row->baseline_ns <= set->baseline_ns));
    set->baseline_ns = row->baseline_ns;
    set->count++;
    return GEMMTUNE_OK;
}

static void test_snapshot(void **state) {
    double last = 0;
    int status = 0;
    (void)state;
    fill(in_folder("a.db"), "H200", 0, 3);
    const pid_t pid = fork();
    if (pid == 0) {
        rewrite_for_ever(in_folder("a.db"));
        _exit(1);
    }
    for (int i = 0; i < 200; i++) {
        struct set set = {0};
        struct gt_db *db = db_open(in_folder("a.db"), GT_DB_READ);
        OK(gt_db_records(db, key, NULL, note, &set, &err));
        gt_db_close(db);
        if (set.baseline_ns < 123456) { /* written by the other */
            assert_int_equal(set.count, 2 + (int)set.baseline_ns % 2);
            assert_true(set.baseline_ns >= last);
            last = set.baseline_ns;
        }
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, folder_remove)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_held_by_the_living),
        TEST(test_left_by_the_dead),
        TEST(test_two_strikes),
        TEST(test_ended_without_an_outcome),
        TEST(test_side_by_side),
        TEST(test_kill),
        TEST(test_full),
        TEST(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
