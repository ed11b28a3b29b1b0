/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of the worker processes. The workers are this program again; the
 * families of a job's candidates tell a worker how to behave.
 */
#include "core/clock.h"
#include "core/io.h"
#include "tuner/base/cores.h"
#include "tuner/work/pool.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a worker ---- */

/* For a launch. A worker must come to its answer in this time, on a busy machine too. */
static const double limit_s = 2;
static const double short_limit_s = 0.5; /* where no answer need come in time */

static struct gt_job job; /* the worker's, or the one that a test sends */
static bool on_cpu;       /* whether the device of the next jobs is */

static bool asked(const char *what) {
    for (int i = 0; i < job.count; i++)
        if (strcmp(job.candidate[i].family, what) == 0)
            return true;
    return false;
}

static struct gt_core_set cores_allowed(void) {
    struct gt_core_set cores;
    gt_cores_allowed(&cores);
    return cores;
}

/* A candidate that "loses" takes the later ones with it; one that "spoils" makes them
 * wrong. */
static void answer(struct gt_report *report) {
    gt_outcome outcome = GT_CORRECT;
    gt_report_init(report, job.id, GT_STAGE_DONE);
    report->count = job.count;
    for (int i = 0; i < job.count; i++) {
        if (strcmp(job.candidate[i].family, "loses") == 0)
            outcome = GT_CRASHED;
        if (strcmp(job.candidate[i].family, "spoils") == 0)
            outcome = GT_WRONG_RESULT;
        report->result[i].outcome = outcome;
        report->result[i].fatal = outcome != GT_CORRECT;
        report->result[i].registers = (int)getpid();
        if (strcmp(job.candidate[i].family, "counts") == 0) { /* its cores */
            const struct gt_core_set cores = cores_allowed();
            report->result[i].registers = gt_core_set_count(&cores);
        }
    }
}

/* Whether no other worker of this test program has asked. */
static bool first_time(void) {
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/gt-pool-killed-%ld", (long)getppid());
    return unlink(path) == 0;
}

static void nap(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000L * 1000}, NULL);
}

/* A file from which a test reads facts that have no place in a report. */
enum { TOLD_FD = 100 };

static void open_ahead(void) {
    if (asked("dies"))
        abort();
    if (asked("counts")) {
        const struct gt_core_set cores = cores_allowed();
        (void)gt_write_all(TOLD_FD, &cores, sizeof cores);
    }
    if (asked("dawdles") || asked("dies_late"))
        nap(300);
    if (asked("dies_late"))
        abort();
}

/* As a compiler in the worker may: LLVM handles the signals that end programs. */
static void signal_itself(void) {
    const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        (void)signal(signals[i], _exit);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        (void)raise(signals[i]);
}

static double worked_s(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Works for a tenth of the time of three limits, as beside nine others on one core. */
static void toil(void) {
    const double began = gt_seconds();
    while (gt_seconds() - began < 3 * short_limit_s) {
        const double worked = worked_s();
        while (worked_s() - worked < 0.005)
            ;
        nap(45);
    }
}

static void serve(int in, int out) {
    struct gt_report report;
    const size_t half = sizeof report / 2;
    int opened = 0;
    while (gt_job_read(in, &job)) {
        if (job.kind == GT_JOB_OPEN) {
            open_ahead();
            opened++;
            continue;
        }
        if (asked("dies_unheard")) {
            (void)gt_write_all(TOLD_FD, "", 1);
            abort();
        }
        gt_report_init(&report, job.id, GT_STAGE_LAUNCHING);
        (void)gt_write_all(out, &report, sizeof report);
        if (asked("prints") || asked("prints_and_dies")) {
            printf("a library \033]0;says this\n");
            fflush(stdout);
            fprintf(stderr, "1 error generated.\ngemmtune: our own line\n");
        }
        if (asked("prints_and_dies"))
            abort();
        answer(&report);
        if (asked("tells"))
            report.result[0].spill_bytes = opened;
        if (asked("fails"))
            report.stage = GT_STAGE_FAILED;
        if (asked("is_signalled"))
            signal_itself();
        if (asked("toils"))
            toil();
        if (asked("dies"))
            abort();
        if (asked("killed") || (asked("killed_once") && first_time()))
            raise(SIGKILL);
        if (asked("lies"))
            report.magic++;
        (void)gt_write_all(out, &report, half);
        if (asked("dies_inside"))
            abort();
        if (asked("stops_inside"))
            raise(SIGSTOP);
        if (asked("dawdles"))
            nap(100);
        (void)gt_write_all(out, (const char *)&report + half, sizeof report - half);
    }
}

/* ---- the pool ---- */

static struct gt_pool *pool;
static volatile int stop; /* the user's wish */

/* The answer of getloadavg; 0: the truth. */
static double load_of_machine;

int getloadavg(double *load, int count);
int getloadavg(double *load, int count) {
    FILE *f = fopen("/proc/loadavg", "r");
    const bool read = f != NULL && count > 0 && fscanf(f, "%lf", load) == 1;
    if (f != NULL)
        (void)fclose(f);
    if (load_of_machine > 0)
        *load = load_of_machine;
    return read ? 1 : -1;
}

static int set_up(void **state) {
    const struct gt_pool_setup setup = {.timeout_s = limit_s, .stop = &stop};
    struct gt_err err;
    stop = on_cpu = false;
    alarm(300); /* a test fails when the parent hangs */
    return gt_pool_create(&pool, &setup, &err);
}

static int set_up_short(void **state) {
    const struct gt_pool_setup setup = {.timeout_s = short_limit_s};
    struct gt_err err;
    alarm(300);
    return gt_pool_create(&pool, &setup, &err);
}

static int tear_down(void **state) {
    gt_pool_destroy(pool);
    alarm(0);
    return 0;
}

/* Candidates of these families as one job, one that the pool accepts. */
static void make_job(enum gt_job_kind kind, const char *const *families) {
    static int64_t id;
    gt_job_init(&job, kind, &(struct gt_device){.is_cpu = on_cpu}, "f32-nn-8x8x8");
    job.id = ++id;
    for (; families[job.count]; job.count++)
        snprintf(job.candidate[job.count].family, GT_NAME_MAX, "%s", families[job.count]);
}

/* The result of a job of one candidate. */
static gt_outcome outcome_of(const char *family) {
    static struct gt_report report;
    const char *const families[] = {family, NULL};
    struct gt_err err = {""};
    make_job(GT_JOB_TRIAL, families);
    assert_int_equal(gt_pool_run(&report, pool, &job, &err), GEMMTUNE_OK);
    assert_int_equal(report.count, 1);
    if (report.result[0].error[0])
        print_message("%s: %s\n", family, report.result[0].error);
    return report.result[0].outcome;
}

static void test_inside_a_frame(void **state) {
    assert_int_equal(outcome_of("stops_inside"), GT_TIMEOUT);
    assert_int_equal(outcome_of("good"), GT_CORRECT);
    assert_int_equal(outcome_of("dies_inside"), GT_CRASHED);
    assert_int_equal(outcome_of("dies"), GT_CRASHED);
    assert_int_equal(outcome_of("lies"), GT_CRASHED);
    assert_int_equal(outcome_of("dawdles"), GT_CORRECT);
}

static void test_signals_to_a_group(void **state) {
    assert_int_equal(outcome_of("is_signalled"), GT_CORRECT);
}

/* Work of cores is not late when other programs keep the worker from it. */
static void test_kept_from_its_work(void **state) {
    assert_int_equal(outcome_of("toils"), GT_TIMEOUT);
    on_cpu = true;
    assert_int_equal(outcome_of("toils"), GT_CORRECT);
    assert_int_equal(outcome_of("stops_inside"), GT_TIMEOUT);
}

/* Waits until a worker is dead: this one, or any for P_ALL. The pool still sees it. */
static void await_death(idtype_t which, pid_t who) {
    siginfo_t info;
    assert_int_equal(waitid(which, (id_t)who, &info, WEXITED | WNOWAIT), 0);
}

/* The user's limit is one of the clock, however busy the machine is. */
static void test_stated_limit(void **state) {
    const struct gt_pool_setup setup = {.timeout_s = 0.5};
    struct gt_err err;
    struct gt_report report;
    const char *const families[] = {"stops_inside", NULL};
    gt_pool_destroy(pool);
    assert_int_equal(gt_pool_create(&pool, &setup, &err), GEMMTUNE_OK);
    load_of_machine = 1000;
    make_job(GT_JOB_TRIAL, families);
    job.device.is_cpu = true;
    const double began = gt_seconds();
    assert_int_equal(gt_pool_run(&report, pool, &job, &err), GEMMTUNE_OK);
    load_of_machine = 0;
    assert_int_equal(report.result[0].outcome, GT_TIMEOUT);
    assert_string_equal(report.result[0].error, "still running after 0.5 s");
    assert_true(gt_seconds() - began < 5); /* ten times the limit, which is for crowds */
}

/* An idle worker that was killed is replaced in silence. */
static void test_killed_while_idle(void **state) {
    static struct gt_report report;
    const char *const good[] = {"good", NULL};
    struct gt_err err = {""};
    make_job(GT_JOB_TRIAL, good);
    assert_int_equal(gt_pool_run(&report, pool, &job, &err), GEMMTUNE_OK);
    const pid_t first = report.result[0].registers;
    assert_int_equal(kill(first, SIGKILL), 0);
    await_death(P_PID, first);
    make_job(GT_JOB_TRIAL, good);
    assert_int_equal(gt_pool_run(&report, pool, &job, &err), GEMMTUNE_OK);
    assert_int_equal(report.result[0].outcome, GT_CORRECT);
    assert_int_not_equal(report.result[0].registers, first);
}

/* The next event within a minute. */
static struct gt_event wait_event(void) {
    static struct gt_event event;
    struct gt_err err = {""};
    bool got = false;
    for (int i = 0; !got && i < 600; i++)
        assert_int_equal(gt_pool_wait(&got, &event, pool, 0.1, &err), GEMMTUNE_OK);
    assert_true(got);
    return event;
}

static int64_t send_trial(const char *family) {
    const char *const families[] = {family, NULL};
    struct gt_err err = {""};
    make_job(GT_JOB_TRIAL, families);
    assert_int_equal(gt_pool_send(pool, &job, &err), GEMMTUNE_OK);
    return job.id;
}

/* One job waits for the job under way and begins when that ends, however it ends. */
static void test_one_waits(void **state) {
    static const char *const firsts[] = {"dawdles", "dies", "loses", "stops_inside",
                                         "good"};
    struct gt_err err = {""};
    for (int i = 0; i < 5; i++) {
        assert_true(gt_pool_idle(pool) && gt_pool_can_run(pool));
        const int64_t first = send_trial(firsts[i]);
        assert_true(!gt_pool_idle(pool) && gt_pool_can_run(pool));
        const int64_t second = send_trial("good");
        assert_false(gt_pool_can_run(pool));
        assert_int_equal(gt_pool_send(pool, &job, &err), GEMMTUNE_EINVAL);
        assert_int_equal(wait_event().report.id, first);
        assert_true(!gt_pool_idle(pool) && gt_pool_can_run(pool));
        const struct gt_event event = wait_event();
        assert_int_equal(event.report.id, second);
        assert_int_equal(event.report.result[0].outcome, GT_CORRECT);
        assert_true(gt_pool_idle(pool));
    }
}

/* No event comes after the wish to stop, whether its report had come by then or not. */
static void test_stop(void **state) {
    static struct gt_event event;
    struct gt_err err = {""};
    static const char *const under_way[] = {"good", "stops_inside"};
    for (int i = 0; i < 2; i++) {
        bool got = false;
        stop = 0;
        (void)send_trial(under_way[i]);
        (void)send_trial("good");
        nap(100);
        stop = SIGINT;
        for (int j = 0; j < 3; j++) {
            assert_int_equal(gt_pool_wait(&got, &event, pool, 0.1, &err), GEMMTUNE_OK);
            assert_false(got);
        }
        assert_true(gt_pool_idle(pool) && gt_pool_can_run(pool));
        assert_true(gt_pool_was_ended(pool));
        gt_pool_end_at(pool, HUGE_VAL);
    }
}

/* A job that cannot be done takes the next along. */
static void test_none_waits_for_what_failed(void **state) {
    const int64_t first = send_trial("fails");
    (void)send_trial("good");
    const struct gt_event event = wait_event();
    assert_int_equal(event.report.id, first);
    assert_int_equal(event.report.stage, GT_STAGE_FAILED);
    assert_true(gt_pool_idle(pool) && gt_pool_can_run(pool));
}

/* Every second of the run worker is counted once, and no other time is. */
static void test_use_is_counted(void **state) {
    const double began = gt_seconds();
    (void)send_trial("dawdles");
    (void)send_trial("dawdles");
    (void)wait_event();
    (void)wait_event();
    nap(100);
    const struct gt_pool_use use = gt_pool_use(pool);
    const double all = gt_seconds() - began;
    const double counted = use.running_s + use.preparing_s + use.building_s;
    assert_true(use.running_s > 0); /* we may hear late that it runs */
    assert_true(counted >= 0.2 && counted <= all - 0.1);
    assert_true(use.compile_wait_s == 0);
}

/* The output on our stderr while a job of this family is done. */
static const char *shown_by(const char *family) {
    static char text[4096];
    FILE *file = tmpfile();
    const int ours = dup(STDERR_FILENO);
    assert_non_null(file);
    (void)dup2(fileno(file), STDERR_FILENO);
    (void)outcome_of(family);
    (void)dup2(ours, STDERR_FILENO);
    close(ours);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

/* The output of libraries is shown only for a worker that died. */
static void test_what_workers_print(void **state) {
    assert_string_equal(shown_by("prints"), "gemmtune: our own line\n");
    assert_string_equal(shown_by("good"), "");
    assert_string_equal(
        shown_by("prints_and_dies"),
        "a library  ]0;says this\n1 error generated.\ngemmtune: our own line\n");
    assert_string_equal(shown_by("dies"), "");
    assert_string_equal(shown_by("stops_inside"), "");
}

/* The run worker's cores are not ours, and afterwards we have ours back. With few cores, or
 * where all are threads of one core, none is reserved. */
static void test_a_core_of_its_own(void **state) {
    static struct gt_report report;
    const char *const counts[] = {"counts", NULL};
    const struct gt_pool_setup setup = {.timeout_s = 60, .own_core = true};
    struct gt_core_set before, own, rest, now;
    struct gt_err err = {""};
    gt_cores_allowed(&before);
    const bool split = gt_cores_split(&own, &rest, &before, gt_cores_beside);
    gt_pool_destroy(pool);
    assert_int_equal(gt_pool_create(&pool, &setup, &err), GEMMTUNE_OK);
    gt_cores_allowed(&now);
    assert_memory_equal(&now, split ? &rest : &before, sizeof now);
    make_job(GT_JOB_TRIAL, counts);
    assert_int_equal(gt_pool_run(&report, pool, &job, &err), GEMMTUNE_OK);
    assert_int_equal(report.result[0].registers, gt_core_set_count(split ? &own : &before));
    gt_pool_destroy(pool);
    pool = NULL;
    gt_cores_allowed(&now);
    assert_memory_equal(&now, &before, sizeof now);
}

/* Starts a standby that behaves like this. */
static void stand_by(const char *how) {
    const char *const families[] = {how, NULL};
    make_job(GT_JOB_OPEN, families);
    gt_pool_start_standby(pool, &job);
}

/* The number of devices that the worker of a job had opened before it, and the worker's
 * number. */
static int opened_by(pid_t *who, bool last) {
    static struct gt_report report;
    const char *const tells[] = {"tells", NULL};
    struct gt_err err = {""};
    make_job(last ? GT_JOB_FINAL : GT_JOB_TRIAL, tells);
    assert_int_equal(last ? gt_pool_run_final(&report, pool, &job, true, &err)
                          : gt_pool_run(&report, pool, &job, &err),
                     GEMMTUNE_OK);
    assert_int_equal(report.result[0].outcome, GT_CORRECT);
    *who = report.result[0].registers;
    return report.result[0].spill_bytes;
}

/* Finals run in the former standby, and so do later jobs; then in another process. */
static void test_one_stands_by(void **state) {
    pid_t first, second, third;
    assert_int_equal(opened_by(&first, false), 0);
    stand_by("dawdles");
    stand_by("dawdles"); /* one is enough */
    assert_int_equal(opened_by(&second, false), 0);
    assert_int_equal(second, first);
    assert_int_equal(opened_by(&second, true), 1); /* which waits for it to be open */
    assert_int_not_equal(second, first);
    assert_int_equal(kill(first, 0), -1);
    assert_int_equal(opened_by(&third, false), 1);
    assert_int_equal(third, second);
    assert_int_equal(opened_by(&third, true), 0); /* there was no standby */
    assert_int_not_equal(third, second);
}

/* A standby replaces a worker that dies. */
static void test_it_replaces_what_died(void **state) {
    pid_t who;
    static const char *const deaths[] = {"dies", "stops_inside", "loses"};
    assert_int_equal(opened_by(&who, false), 0);
    for (int i = 0; i < 3; i++) {
        stand_by("good");
        (void)outcome_of(deaths[i]);
        assert_int_equal(opened_by(&who, false), 1);
    }
    (void)outcome_of("dies");
    assert_int_equal(opened_by(&who, false), 0);
}

/* A standby that died, by itself or killed, is not an outcome, even when the run worker
 * died as well. */
static void test_standby_dies(void **state) {
    pid_t who;
    stand_by("dies");
    await_death(P_ALL, 0);
    assert_int_equal(opened_by(&who, true), 0);
    stand_by("dies");
    await_death(P_ALL, 0);
    assert_int_equal(kill(who, SIGKILL), 0);
    await_death(P_PID, who);
    assert_int_equal(opened_by(&who, false), 0);
    stand_by("good");
    gt_pool_end_standby(pool);
    gt_pool_end_standby(pool);
    assert_int_equal(opened_by(&who, true), 0);
}

/* A standby that dies on its first job does not fail that job: a fresh worker does it. */
static void test_standby_dies_with_a_job(void **state) {
    pid_t who;
    stand_by("dies_late");
    assert_int_equal(opened_by(&who, true), 0);
    stand_by("dies_late");
    assert_int_equal(outcome_of("dies"), GT_CRASHED);
    assert_int_equal(opened_by(&who, false), 0);
}

/* Makes later workers report to the reader of the returned descriptor. */
static int begin_telling(void) {
    int told[2];
    assert_int_equal(pipe(told), 0);
    assert_int_equal(dup2(told[1], TOLD_FD), TOLD_FD);
    close(told[1]);
    return told[0];
}

/* When the fresh worker dies too, the job has failed, even if there is another standby. */
static void test_a_job_is_handed_again_once(void **state) {
    const int told = begin_telling();
    char tries[8];
    stand_by("dies_late");
    const int64_t id = send_trial("dies_unheard");
    stand_by("good");
    const struct gt_event event = wait_event();
    assert_int_equal(event.report.id, id);
    assert_int_equal(event.report.stage, GT_STAGE_FAILED);
    close(TOLD_FD);
    assert_int_equal(read(told, tries, sizeof tries), 1);
    close(told);
}

/* A standby stays off the run worker's core until it becomes the run worker. */
static void test_cores_of_the_next(void **state) {
    static struct gt_report report;
    const char *const counts[] = {"counts", NULL};
    const struct gt_pool_setup setup = {.timeout_s = 60, .own_core = true};
    struct gt_core_set before, own, rest, now;
    struct gt_err err = {""};
    const int told = begin_telling();
    gt_cores_allowed(&before);
    const bool split = gt_cores_split(&own, &rest, &before, gt_cores_beside);
    gt_pool_destroy(pool);
    assert_int_equal(gt_pool_create(&pool, &setup, &err), GEMMTUNE_OK);
    stand_by("counts");
    close(TOLD_FD);
    assert_int_equal(read(told, &now, sizeof now), sizeof now);
    assert_memory_equal(&now, split ? &rest : &before, sizeof now);
    make_job(GT_JOB_FINAL, counts);
    assert_int_equal(gt_pool_run_final(&report, pool, &job, true, &err), GEMMTUNE_OK);
    assert_int_equal(report.result[0].registers, gt_core_set_count(split ? &own : &before));
    close(told);
}

/* SIGKILL from another program is not an outcome: a fresh worker does the job. */
static void test_killed_once(void **state) {
    char path[64];
    (void)snprintf(path, sizeof path, "/tmp/gt-pool-killed-%ld", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(outcome_of("killed_once"), GT_CORRECT);
    assert_int_equal(access(path, F_OK), -1);
}

/* After a second time the job is given up; the job that waits for it is done. */
static void test_killed_twice(void **state) {
    const int64_t id = send_trial("killed"), next = send_trial("good");
    struct gt_event event = wait_event();
    assert_int_equal(event.report.id, id);
    assert_true(event.killed);
    assert_int_equal(event.report.stage, GT_STAGE_FAILED);
    assert_non_null(strstr(event.report.error, "by another program"));
    event = wait_event();
    assert_int_equal(event.report.id, next);
    assert_false(event.killed);
    assert_int_equal(event.report.result[0].outcome, GT_CORRECT);
}

/* The results of a final of three. */
static void assert_final(const char *a, const char *b, const char *c, gt_outcome of_a,
                         gt_outcome of_b, gt_outcome of_c) {
    static struct gt_report report;
    const char *const families[] = {a, b, c, NULL};
    struct gt_err err = {""};
    make_job(GT_JOB_FINAL, families);
    assert_int_equal(gt_pool_run_final(&report, pool, &job, true, &err), GEMMTUNE_OK);
    assert_int_equal(report.count, 3);
    assert_int_equal(report.result[0].outcome, of_a);
    assert_int_equal(report.result[1].outcome, of_b);
    assert_int_equal(report.result[2].outcome, of_c);
}

/* A bad finalist is out, and none of the others with it. */
static void test_finals(void **state) {
    assert_final("good", "dies", "good", GT_CORRECT, GT_CRASHED, GT_CORRECT);
    assert_final("good", "loses", "good", GT_CORRECT, GT_CRASHED, GT_CORRECT);
    assert_final("spoils", "good", "good", GT_WRONG_RESULT, GT_CORRECT, GT_CORRECT);
    assert_final("good", "stops_inside", "dies", GT_CORRECT, GT_TIMEOUT, GT_CRASHED);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_inside_a_frame, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stated_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_signals_to_a_group, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kept_from_its_work, set_up_short, tear_down),
        cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_while_idle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_none_waits_for_what_failed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_use_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_workers_print, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_core_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_stands_by, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_it_replaces_what_died, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_standby_dies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_standby_dies_with_a_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_job_is_handed_again_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cores_of_the_next, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_killed_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_finals, set_up, tear_down),
    };
    if (argc > 3 && strcmp(argv[1], "worker") == 0) {
        serve(atoi(argv[2]), atoi(argv[3]));
        return 0;
    }
    (void)setenv("GEMMTUNE_SELF", "/proc/self/exe", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
