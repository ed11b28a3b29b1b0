/* SPDX-License-Identifier: Apache-2.0 */
/* rigs.h - a lab with a kernel in it, for tests of rigs and labs on a device. */
#ifndef GT_TESTS_DEVICE_RIGS_H
#define GT_TESTS_DEVICE_RIGS_H

#include "tests/device/devices.h"
#include "tuner/lab/lab_internal.h"
#include "tuner/lab/stopwatch.h"

#include <limits.h>
#include <string.h>

enum { SEED = 7 };

/* ---- a lab with the naive kernel in it ---- */

struct bench {
    struct gt_lab *lab;
    struct gt_exec *exec;
    gemmtune_problem problem;
};

static inline gt_status open_exec(struct gt_exec **out, struct gt_gpu *gpu,
                                  const gemmtune_problem *p, struct gt_err *err) {
    struct gt_point point;
    const struct gt_family *naive = gt_families_find(families, "naive");
    gt_family_default(naive, &point);
    return gt_exec_create(out, gpu, naive, &point, p, NULL, err);
}

/* Makes sure of the workspace of a kernel. */
static inline gt_status reserve(struct gt_lab *lab, const struct gt_exec *e,
                                struct gt_err *err) {
    struct gt_suite *suite = NULL;
    const gt_status status = gt_lab_reserve(&suite, lab, e, err);
    assert_true((status == GEMMTUNE_OK) == (suite != NULL));
    gt_suite_destroy(suite);
    return status;
}

/* Reserves and checks. */
static inline gt_status check_exec(bool *right, char why[GT_VERDICT_MAX],
                                   struct gt_lab *lab, const struct gt_exec *e,
                                   struct gt_err *err) {
    struct gt_suite *suite = NULL;
    gt_status status = gt_lab_reserve(&suite, lab, e, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_check(right, why, lab, suite, err);
    gt_suite_destroy(suite);
    return status;
}

static inline gt_status open_bench(struct bench *b, const struct gt_device *d,
                                   const char *problem, struct gt_err *err) {
    *b = (struct bench){.lab = NULL};
    gt_status status = gt_problem_from_name(&b->problem, problem, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_create(&b->lab, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup(b->lab, &b->problem, SEED, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup_inputs(b->lab, err);
    if (status == GEMMTUNE_OK)
        status = open_exec(&b->exec, gt_lab_gpu(b->lab), &b->problem, err);
    return status;
}

static inline void close_bench(struct bench *b) {
    gt_exec_destroy(b->exec);
    gt_lab_destroy(b->lab);
}

static inline void check_one(const struct gt_device *d, const char *problem) {
    struct bench b;
    char why[GT_VERDICT_MAX] = "";
    struct gt_err err;
    bool right = false;
    assert_ok(open_bench(&b, d, problem, &err));
    assert_ok(check_exec(&right, why, b.lab, b.exec, &err));
    assert_string_equal(why, "");
    assert_true(right);
    struct gt_measurement m;
    const struct gt_exec *exec = b.exec;
    assert_ok(gt_lab_time(&m, b.lab, &exec, 1, &gt_screen_budget, &err));
    print_message("%s: naive %.0f ns in %d samples of %d launches\n", problem, m.median_ns,
                  m.samples, m.launches);
    assert_true(m.median_ns > 0 && m.low_ns <= m.median_ns && m.median_ns <= m.high_ns);
    assert_ok(gt_lab_recheck(&right, why, b.lab, b.exec, &err));
    assert_string_equal(why, "");
    assert_true(right);
    close_bench(&b);
}

/* ---- running ---- */

static inline int run_group(struct CMUnitTest *tests, size_t count, struct gt_device *d) {
    for (size_t i = 0; i < count; i++)
        tests[i].initial_state = d;
    return _cmocka_run_group_tests(d->name, tests, count, NULL, NULL);
}

/* Runs this program again on the fake device. */
static inline int run_on_fake_device(char *self) {
    const char *tmp = getenv("TMPDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/fake_cuda_report", tmp ? tmp : "/tmp");
    (void)setenv("FAKE_NVRTC_VERSION", "12.9", 1);
    (void)setenv("FAKE_CUDA_TIME", "model", 1);
    (void)setenv("FAKE_CUDA_REPORT", path, 1);
    return run_faked(self, "gtx1050-2gb");
}

#endif
