/* SPDX-License-Identifier: Apache-2.0 */
/* The tuner on a device with faults: the fake CUDA driver (tests/fake) computes wrongly,
 * runs out of memory or fails, in a process of its own. Errors are noticed, and nothing is
 * left behind. */
#include "tests/device/rigs.h"

static const char fault_problem[] = "f32-nn-5x6x7";

/* Takes effect with the next rig that is opened. */
static void script(const char *text) {
    assert_int_equal(setenv("FAKE_CUDA_SCRIPT", text, 1), 0);
}

/* The last line of the fake's report: nothing may be left in the context that was
 * destroyed. */
static void assert_nothing_left(void) {
    static const char none[] =
        "memory 0 bytes 0 modules 0 streams 0 events 0 graphs 0 launches ";
    char line[256] = "", last[256] = "";
    FILE *file = fopen(getenv("FAKE_CUDA_REPORT"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        memcpy(last, line, sizeof last);
    (void)fclose(file);
    if (strncmp(last, none, sizeof none - 1) != 0)
        fail_msg("left behind: %s", last);
}

/* A device that computes wrongly is found before a candidate is blamed. */
static void test_wrong_device(void **state) {
    static const char *const scripts[] = {"corrupt/gt_reference@1", "lose/gt_reference@3",
                                          "corrupt/gt_fill@1"};
    struct bench b;
    struct gt_err err;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        script(scripts[i]);
        assert_int_equal(open_bench(&b, *state, fault_problem, &err), GEMMTUNE_EDEVICE);
        print_message("%s: %s\n", scripts[i], err.line);
        assert_non_null(strstr(err.line, "the device computes"));
        close_bench(&b);
        assert_nothing_left();
    }
}

/* A candidate is blamed for its own failed launch. */
static void test_wrong_launch(void **state) {
    static const struct {
        const char *script, *says;
    } rows[] = {
        {"corrupt/gemm@1", "elements wrong"},
        {"lose/gemm@4", "elements wrong"},
        {"corrupt/gemm@11", "elements wrong"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        char why[GT_VERDICT_MAX] = "";
        struct gt_err err;
        bool right = true;
        script(rows[i].script);
        assert_ok(open_bench(&b, *state, fault_problem, &err));
        assert_ok(check_exec(&right, why, b.lab, b.exec, &err));
        print_message("%s: %s\n", rows[i].script, why);
        assert_false(right);
        assert_non_null(strstr(why, rows[i].says));
        close_bench(&b);
        assert_nothing_left();
    }
}

/* A fault shows after the launch, from then on in every call;
 * closing works all the same. */
static void test_lost_context(void **state) {
    struct bench b;
    char why[GT_VERDICT_MAX];
    struct gt_err err;
    bool right = true;
    script("fault/gemm@2");
    assert_ok(open_bench(&b, *state, fault_problem, &err));
    assert_int_equal(check_exec(&right, why, b.lab, b.exec, &err), GEMMTUNE_EDEVICE);
    print_message("%s\n", err.line);
    assert_non_null(strstr(err.line, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_false(right);
    assert_int_equal(check_exec(&right, why, b.lab, b.exec, &err), GEMMTUNE_EDEVICE);
    close_bench(&b);
    script("");
    check_one(*state, fault_problem);
}

/* Opens a bench. It will be refused the third launch of a candidate, and its wait of this
 * number faults. Whether the fault leaves the set-up alone. */
static bool open_with_fault_at(struct bench *b, const struct gt_device *d, int wait) {
    char text[80];
    struct gt_rig *rig = NULL;
    struct gt_err err;
    script(""); /* the fake counts from 0 when its script changes */
    assert_ok(gt_rig_open(&rig, d, &err));
    gt_rig_close(rig);
    snprintf(text, sizeof text, "cuLaunchKernel/gemm:3=701;cuStreamSynchronize:%d=700!",
             wait);
    script(text);
    return open_bench(b, d, fault_problem, &err) == GEMMTUNE_OK;
}

/* How often the set-up waits: a fault at a later wait leaves it alone. */
static int waits_of_set_up(const struct gt_device *d) {
    int within = 0, beyond = 4096;
    while (beyond - within > 1) {
        struct bench b;
        const int wait = (within + beyond) / 2;
        if (open_with_fault_at(&b, d, wait))
            beyond = wait;
        else
            within = wait;
        close_bench(&b);
    }
    return within;
}

/* A launch that the driver refuses is the candidate's fault, and the device stays usable;
 * unless an earlier launch of the candidate faults. */
static void test_refused_launch(void **state) {
    static const char *const errors[] = {"701", "1"};
    struct bench b;
    char why[GT_VERDICT_MAX], text[64];
    struct gt_err err;
    bool right;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "cuLaunchKernel/gemm:3=%s", errors[i]);
        script(text);
        assert_ok(open_bench(&b, *state, fault_problem, &err));
        assert_int_equal(check_exec(&right, why, b.lab, b.exec, &err), GEMMTUNE_EINVAL);
        print_message("%s\n", err.line);
        assert_non_null(strstr(err.line, "cuLaunchKernel: CUDA_ERROR_"));
        assert_false(right);
        assert_ok(check_exec(&right, why, b.lab, b.exec, &err));
        assert_true(right);
        close_bench(&b);
        assert_nothing_left();
    }
    /* the first wait after the refused launch */
    assert_true(open_with_fault_at(&b, *state, waits_of_set_up(*state) + 1));
    assert_int_equal(check_exec(&right, why, b.lab, b.exec, &err), GEMMTUNE_EDEVICE);
    close_bench(&b);
}

/* Memory runs out at every allocation in turn. */
static void test_out_of_memory(void **state) {
    struct bench b;
    struct gt_err err;
    gt_status status = GEMMTUNE_ENOMEM;
    int n = 0;
    while (status != GEMMTUNE_OK) {
        char text[40];
        snprintf(text, sizeof text, "cuMemAlloc:%d=2", ++n);
        script(text);
        status = open_bench(&b, *state, fault_problem, &err);
        assert_true(status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM);
        if (status != GEMMTUNE_OK)
            assert_non_null(strstr(err.line, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"));
        close_bench(&b);
        assert_nothing_left();
    }
    print_message("each of %d allocations failed once\n", n - 1);
    assert_true(n > 50); /* 14 cases of four buffers, and the rotating inputs */
}

static struct gt_exec *split_exec(const struct bench *b, const char *text) {
    struct gt_exec *e = NULL;
    struct gt_point point;
    struct gt_err err;
    assert_ok(gt_point_parse(&point, text, &err));
    assert_ok(gt_exec_create(&e, gt_lab_gpu(b->lab), gt_families_find(families, "split"),
                             &point, &b->problem, NULL, &err));
    return e;
}

/* A candidate with a workspace that does not fit does not affect the others. */
static void test_no_room_for_workspace(void **state) {
    struct bench b;
    struct gt_err err;
    char text[40], why[GT_VERDICT_MAX];
    bool right = false, met = false;
    for (int n = 50; !met; n++) {
        snprintf(text, sizeof text, "cuMemAlloc:%d=2", n);
        script(text);
        if (open_bench(&b, *state, fault_problem, &err) != GEMMTUNE_OK) {
            close_bench(&b); /* an earlier allocation failed */
            continue;
        }
        struct gt_exec *less = split_exec(&b, "SPLIT=2 PACK=0 BAD=0");
        struct gt_exec *more = split_exec(&b, "SPLIT=4 PACK=0 BAD=0");
        if (reserve(b.lab, less, &err) == GEMMTUNE_OK) {
            met = true;
            assert_int_equal(reserve(b.lab, more, &err), GEMMTUNE_ENOMEM);
            assert_ok(check_exec(&right, why, b.lab, less, &err));
            assert_true(right);
            assert_ok(reserve(b.lab, more, &err));
            assert_ok(check_exec(&right, why, b.lab, more, &err));
            assert_true(right);
        }
        gt_exec_destroy(less);
        gt_exec_destroy(more);
        close_bench(&b);
        assert_nothing_left();
    }
}

/* Any other call that fails is an error with the call's name, and leaves nothing behind. */
static void test_failing_calls(void **state) {
    static const char *const calls[] = {
        "cuCtxCreate",      "cuStreamCreate",      "cuEventCreate",
        "cuModuleLoadData", "cuModuleGetFunction", "cuMemsetD32Async",
        "cuLaunchKernel",   "cuStreamSynchronize", "cuMemcpyDtoHAsync",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct bench b;
        char text[64], why[GT_VERDICT_MAX];
        struct gt_err err = {""};
        bool right;
        snprintf(text, sizeof text, "%s:1=999", calls[i]);
        script(text);
        gt_status status = open_bench(&b, *state, fault_problem, &err);
        if (status == GEMMTUNE_OK)
            status = check_exec(&right, why, b.lab, b.exec, &err);
        print_message("%s\n", err.line);
        assert_true(status != GEMMTUNE_OK);
        assert_non_null(strstr(err.line, "CUDA_ERROR_UNKNOWN"));
        assert_non_null(strstr(err.line, calls[i]));
        close_bench(&b);
        if (strcmp(calls[i], "cuCtxCreate") != 0)
            assert_nothing_left();
    }
}

/* The same for the calls of timing alone. */
static void test_failing_timing(void **state) {
    static const char *const calls[] = {
        "cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
        "cuGraphLaunch",        "cuEventRecord",      "cuEventSynchronize",
        "cuEventElapsedTime",
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct bench b;
        struct gt_measurement m;
        char text[64];
        struct gt_err err = {""};
        snprintf(text, sizeof text, "%s:1=1", calls[i]);
        script(text);
        assert_ok(open_bench(&b, *state, fault_problem, &err));
        const struct gt_exec *exec = b.exec;
        assert_int_equal(gt_lab_time(&m, b.lab, &exec, 1, &gt_screen_budget, &err),
                         GEMMTUNE_EDEVICE);
        print_message("%s\n", err.line);
        close_bench(&b);
        assert_nothing_left();
    }
}

static struct gt_measurement measure_under(const struct gt_time_budget *budget,
                                           const struct gt_device *d, const char *text) {
    struct bench b;
    struct gt_measurement m;
    struct gt_err err;
    script(text);
    assert_ok(open_bench(&b, d, fault_problem, &err));
    const struct gt_exec *exec = b.exec;
    assert_ok(gt_lab_time(&m, b.lab, &exec, 1, budget, &err));
    close_bench(&b);
    print_message("%s: %.1f ns (%.1f to %.1f), %d samples, %d dropped, %d MHz\n",
                  *text ? text : "undisturbed", m.median_ns, m.low_ns, m.high_ns, m.samples,
                  m.dropped, m.clock_mhz);
    return m;
}

/* A scripted event must meet samples that count. */
static struct gt_measurement measure_scripted(const struct gt_device *d, const char *text) {
    struct gt_time_budget budget = gt_final_budget;
    budget.load_ns = 0;
    return measure_under(&budget, d, text);
}

/* With the model's clock: times repeat exactly, one outlier changes nothing, a value that
 * cannot be a time makes samples longer, a device that is slower for everything is reported
 * as it is, and samples under a throttled clock are dropped. */
static void test_clocks(void **state) {
    const struct gt_measurement plain = measure_scripted(*state, "");
    const struct gt_measurement again = measure_scripted(*state, "");
    assert_memory_equal(plain.sample_ns, again.sample_ns, sizeof plain.sample_ns);
    assert_true(plain.samples >= 6 && plain.dropped == 0 && plain.clock_mhz > 0);
    static const struct {
        const char *text;
        int longer;
    } outliers[] = {{"outlier=100@8", 1}, {"outlier=0@8", 2}, {"outlier=-1@8", 2}};
    for (size_t i = 0; i < sizeof outliers / sizeof *outliers; i++) {
        const struct gt_measurement m = measure_scripted(*state, outliers[i].text);
        assert_true(m.median_ns > 0.99 * plain.median_ns &&
                    m.median_ns < 1.01 * plain.median_ns);
        assert_int_equal(m.launches, outliers[i].longer * plain.launches);
    }
    /* of the load before finals nothing counts */
    assert_int_equal(measure_under(&gt_final_budget, *state, "outlier=0@8").launches,
                     plain.launches);
    const struct gt_measurement slow = measure_scripted(*state, "slow=1.5");
    assert_true(slow.median_ns > 1.45 * plain.median_ns);
    const struct gt_measurement hot = measure_scripted(*state, "clock=0.5@9");
    assert_true(hot.dropped > 0);
}

/* `count` of one kernel, timed as candidates are, a launch a sample;
 * the first one's time. */
static struct gt_measurement screened(const struct gt_device *d, const char *text,
                                      int count) {
    const struct gt_exec *exec[2];
    struct gt_time_budget budget = gt_screen_budget;
    struct bench b;
    struct gt_measurement m[2];
    struct gt_err err;
    budget.sample_ns = 1000;
    script(text);
    assert_ok(open_bench(&b, d, "f32-nn-128x128x128", &err));
    exec[0] = exec[1] = b.exec;
    assert_ok(gt_lab_time(m, b.lab, exec, count, &budget, &err));
    close_bench(&b);
    assert_int_equal(m[0].launches, 1);
    return m[0];
}

/* Whatever NVML reports: a kernel alone has the clock that a kernel measures, and its time
 * is converted to the highest clock. For kernels timed in turn, the clock does not matter.
 */
static void test_clock_of_one_alone(void **state) {
    const struct gt_device *d = *state;
    const struct gt_measurement plain = screened(d, "", 1);
    const struct gt_measurement stale = screened(d, "noted=0.5", 1);
    const struct gt_measurement slow = screened(d, "noted=1;clock=0.8@1", 1);
    const struct gt_measurement both = screened(d, "noted=0.5", 2);
    assert_int_equal(plain.clock_mhz, d->clock_mhz);
    assert_int_equal(stale.clock_mhz, d->clock_mhz);
    assert_int_equal(slow.clock_mhz, (4 * d->clock_mhz + 2) / 5);
    assert_int_equal(both.clock_mhz, (d->clock_mhz + 1) / 2);
    assert_true(slow.median_ns > 1.2 * plain.median_ns);
    const double fair = slow.median_ns * gt_clock_share(&slow, d->clock_mhz);
    assert_true(fair > 0.98 * plain.median_ns && fair < 1.02 * plain.median_ns);
}

static int run_all(void) {
    struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_wrong_device, NULL),
        cmocka_unit_test_prestate(test_wrong_launch, NULL),
        cmocka_unit_test_prestate(test_lost_context, NULL),
        cmocka_unit_test_prestate(test_refused_launch, NULL),
        cmocka_unit_test_prestate(test_out_of_memory, NULL),
        cmocka_unit_test_prestate(test_no_room_for_workspace, NULL),
        cmocka_unit_test_prestate(test_failing_calls, NULL),
        cmocka_unit_test_prestate(test_failing_timing, NULL),
        cmocka_unit_test_prestate(test_clocks, NULL),
        cmocka_unit_test_prestate(test_clock_of_one_alone, NULL),
    };
    if (devices.count == 0)
        return 1;
    return run_group(tests, sizeof tests / sizeof *tests, &devices.device[0]);
}

int main(int argc, char **argv) {
    if (argc == 1)
        return run_on_fake_device(argv[0]);
    if (!open_devices())
        return 1;
    const int failed = run_all();
    close_devices();
    return failed != 0;
}
