/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver alone repeats the launches of one of our kernels: as many of them, with the
 * same arguments, in the same clusters, with the same result. This runs on every device,
 * and then in a process of its own on the fake CUDA driver, which loses the context when
 * clusters are missing.
 */
#include "tests/device/devices.h"
#include "tuner/rig/bare.h"
#include "tuner/lab/lab_internal.h"

#include <string.h>

enum { M = 19, N = 21, K = 16, MARK = 0x5a5a5a5a };

/* One of our kernels with its operands. */
struct job {
    struct gt_rig *rig;
    struct gt_exec *exec;
    void *a, *b, *c, *workspace;
    int runs;
};

static gt_status run(void *user, struct gt_err *err) {
    static const float one = 1, zero = 0;
    struct job *j = user;
    j->runs++;
    const struct gt_call call = {.alpha = &one,
                                 .a = j->a,
                                 .b = j->b,
                                 .beta = &zero,
                                 .c = j->c,
                                 .workspace = j->workspace,
                                 .stream = gt_rig_head(j->rig)->stream};
    return gt_exec_run(j->exec, &call, err);
}

static void open_job(struct job *j, struct gt_rig *rig, const char *family,
                     const char *point) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    static float ones[M * K > K * N ? M * K : K * N];
    struct gt_point chosen;
    gemmtune_problem p;
    struct gt_err err = {""};
    *j = (struct job){.rig = rig};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        ones[i] = 1;
    assert_ok(gt_problem_from_name(&p, "f32-nn-19x21x16", &err));
    assert_ok(gt_point_parse(&chosen, point, &err));
    assert_ok(gt_exec_create(&j->exec, gt_rig_head(rig)->gpu,
                             gt_families_find(families, family), &chosen, &p, NULL, &err));
    assert_ok(ops->alloc(&j->a, rig, M * K * 4, &err));
    assert_ok(ops->alloc(&j->b, rig, K * N * 4, &err));
    assert_ok(ops->alloc(&j->c, rig, M * N * 4, &err));
    assert_ok(ops->alloc(&j->workspace, rig, 1 << 16, &err));
    assert_ok(ops->write(rig, j->a, 0, ones, M * K * 4, &err));
    assert_ok(ops->write(rig, j->b, 0, ones, K * N * 4, &err));
}

static void close_job(struct job *j) {
    const struct gt_rig_ops *ops = gt_rig_head(j->rig)->ops;
    ops->release(j->rig, j->a);
    ops->release(j->rig, j->b);
    ops->release(j->rig, j->c);
    ops->release(j->rig, j->workspace);
    gt_exec_destroy(j->exec);
}

static void check_bare(struct gt_rig *rig, const char *family, const char *point,
                       int kernels) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    struct gt_bare *bare = NULL;
    struct gt_err err = {""};
    static float got[M * N];
    struct job j;
    open_job(&j, rig, family, point);
    assert_ok(run(&j, &err)); /* as a plan is: warm before it is recorded */
    assert_ok(ops->bare->record(&bare, rig, run, &j, &err));
    assert_int_equal(bare->launches, kernels);
    assert_int_equal(j.runs, 2);
    assert_ok(ops->fill(rig, j.c, M * N * 4, MARK, &err));
    assert_ok(ops->bare->run(bare, &err));
    assert_ok(ops->finish(rig, &err));
    assert_int_equal(j.runs, 2);
    assert_ok(ops->read(rig, j.c, 0, got, M * N * 4, &err));
    for (int i = 0; i < M * N; i++)
        assert_true(got[i] == K);
    /* The table of functions is the original one again: nobody records this launch. */
    assert_ok(run(&j, &err));
    assert_ok(ops->finish(rig, &err));
    ops->bare->destroy(bare);
    close_job(&j);
}

static void test_bare(void **state) {
    struct gt_rig *rig = NULL;
    struct gt_err err = {""};
    const struct gt_device *d = *state;
    assert_ok(gt_rig_open(&rig, d, &err));
    check_bare(rig, "plain", "TAG=1", 1);
    check_bare(rig, "split", "SPLIT=4 PACK=1 BAD=0", 3);
    if (d->backend == GEMMTUNE_CUDA && d->cc >= 90)
        check_bare(rig, "clustered", "WIDE=4", 1);
    gt_rig_close(rig);
}

static gt_status run_often(void *user, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i <= GT_BARE_MAX; i++)
        status = run(user, err);
    return status;
}

static void test_too_many(void **state) {
    struct gt_bare *bare = NULL;
    struct gt_rig *rig = NULL;
    struct gt_err err = {""};
    struct job j;
    assert_ok(gt_rig_open(&rig, *state, &err));
    open_job(&j, rig, "plain", "TAG=1");
    assert_int_equal(gt_rig_head(rig)->ops->bare->record(&bare, rig, run_often, &j, &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_null(bare);
    assert_ok(gt_rig_head(rig)->ops->finish(rig, &err));
    close_job(&j);
    gt_rig_close(rig);
}

/* ---- running ---- */

static int run_on(struct gt_device *d) {
    struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_bare, d),
        cmocka_unit_test_prestate(test_too_many, d),
    };
    printf("%s: %s\n", gt_backend_name(d->backend), d->name);
    if (!d->trouble[0])
        return _cmocka_run_group_tests(d->name, tests, sizeof tests / sizeof *tests, NULL,
                                       NULL);
    printf("skipped: %s\n", d->trouble);
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    if (!open_devices())
        return 1;
    if (argc > 1) /* only on the fake: CUDA comes first */
        failed = run_on(&devices.device[0]);
    for (size_t i = 0; argc == 1 && i < devices.count; i++)
        failed += run_on(&devices.device[i]);
    if (argc == 1)
        failed += run_faked(argv[0], "h200");
    close_devices();
    return failed != 0;
}
