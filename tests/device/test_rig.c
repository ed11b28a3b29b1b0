/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tuner does with a device, on every device there is: memory, timing, checking a kernel
 * that is right. Then once more, in a process of its own, on the fake CUDA driver (tests/fake),
 * where the device can also be made to compute wrongly, run out of memory or fail.
 */
#include "tuner/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEED = 7 };

static struct gt_device_list devices;
static struct gt_families *families;

#define assert_ok(call)                                                                       \
    do {                                                                                      \
        const gt_status status_ = (call);                                                     \
        if (status_)                                                                          \
            fail_msg("%s: %s", #call, err.line);                                              \
    } while (0)

/* ---- a lab with the naive kernel in it ---- */

struct bench {
    struct gt_lab *lab;
    struct gt_exec *exec;
    gemmtune_problem problem;
};

static gt_status open_bench(struct bench *b, const struct gt_device *d, const char *problem,
                            struct gt_err *err)
{
    struct gt_point point;
    const struct gt_family *naive = gt_families_find(families, "naive");
    *b = (struct bench){.lab = NULL};
    gt_family_default(naive, &point);
    gt_status status = gt_problem_from_name(&b->problem, problem, err);
    if (!status)
        status = gt_lab_create(&b->lab, d, err);
    if (!status)
        status = gt_lab_setup(b->lab, &b->problem, SEED, err);
    if (!status)
        status = gt_exec_create(&b->exec, gt_lab_gpu(b->lab), naive, &point, &b->problem, NULL,
                                err);
    return status;
}

static void close_bench(struct bench *b)
{
    gt_exec_destroy(b->exec);
    gt_lab_destroy(b->lab);
}

/* ---- every device ---- */

/* Words 0, 1, 2 ... written, overwritten in part by a fill and by a copy, and read back. */
static void check_memory(struct gt_rig *rig)
{
    enum { WORDS = 4096, SOME = 100 };
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    uint32_t word[WORDS], back[WORDS];
    struct gt_err err;
    void *a = NULL, *b = NULL;
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = i;
    assert_ok(ops->alloc(&a, rig, sizeof word, &err));
    assert_ok(ops->alloc(&b, rig, 4 * SOME, &err));
    assert_ok(ops->write(rig, a, 0, word, sizeof word, &err));
    assert_ok(ops->fill(rig, b, 4 * SOME, GT_POISON, &err));
    assert_ok(ops->read(rig, b, 0, back, 4 * SOME, &err));
    for (int i = 0; i < SOME; i++)
        assert_true(back[i] == GT_POISON);
    assert_ok(ops->write(rig, a, 4 * SOME, back, 4 * SOME, &err));
    assert_ok(ops->read(rig, a, 0, back, sizeof back, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_true(back[i] == (i >= SOME && i < 2 * SOME ? GT_POISON : i));
    assert_ok(ops->read(rig, a, 4 * 1000, back, 4, &err));
    assert_true(back[0] == 1000);
    ops->release(rig, a);
    ops->release(rig, b);
}

/* A kernel fills a view of the middle of an allocation; both ends keep what they had. */
static void check_view(struct gt_rig *rig)
{
    enum { COUNT = 1000, BYTES = 3 * GT_VIEW_ALIGN };
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    struct gt_checker *checker = NULL;
    gemmtune_problem types;
    uint32_t back[BYTES / 4];
    struct gt_err err;
    void *a = NULL, *view = NULL;
    assert_ok(gt_problem_from_name(&types, "i32-nn-1x1x1", &err));
    assert_ok(gt_checker_create(&checker, rig, &types, 4, &err));
    assert_ok(ops->alloc(&a, rig, BYTES, &err));
    assert_ok(ops->fill(rig, a, BYTES, GT_POISON, &err));
    assert_ok(ops->view(&view, rig, a, GT_VIEW_ALIGN, 2 * GT_VIEW_ALIGN, &err));
    assert_ok(gt_checker_fill(checker, view, 1, COUNT, COUNT, SEED, GT_DATA_UNIFORM, &err));
    assert_ok(ops->finish(rig, &err));
    assert_ok(ops->read(rig, a, 0, back, BYTES, &err));
    for (int64_t i = 0; i < BYTES / 4; i++) {
        const int64_t at = i - GT_VIEW_ALIGN / 4;
        const double value = gt_data_value(SEED, 0, at, GT_DATA_UNIFORM, GEMMTUNE_I32);
        assert_true(back[i] == (at >= 0 && at < COUNT ? (uint32_t)(int32_t)value : GT_POISON));
    }
    ops->view_release(rig, view);
    ops->release(rig, a);
    gt_checker_destroy(checker);
}

static void test_memory(void **state)
{
    const struct gt_device *d = *state;
    struct gt_rig *rig = NULL;
    struct gt_err err;
    void *mem = NULL;
    assert_ok(gt_rig_open(&rig, d, &err));
    check_memory(rig);
    check_view(rig);
    /* more than any device has */
    assert_int_equal(
        gt_rig_head(rig)->ops->alloc(&mem, rig, INT64_C(1) << 50, &err), GEMMTUNE_ENOMEM);
    assert_null(mem);
    gt_rig_close(rig);
}

struct repeat {
    const struct bench *bench;
    void *mem[3];
    int launches;
};

static gt_status enqueue(void *user, struct gt_err *err)
{
    const struct repeat *r = user;
    const float one = 1, zero = 0;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; !status && i < r->launches; i++)
        status = gt_exec_run(r->bench->exec, &one, r->mem[0], r->mem[1], &zero, r->mem[2], NULL,
                             gt_rig_head(r->bench->lab ? *(struct gt_rig **)r->bench->lab : NULL)
                                 ->stream,
                             err);
    return status;
}

static double least_time(struct gt_rig *rig, struct repeat *r, int launches)
{
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    struct gt_batch *batch = NULL;
    struct gt_err err;
    double least = 0, ns = 0;
    r->launches = launches;
    assert_ok(ops->batch(&batch, rig, enqueue, r, &err));
    for (int i = 0; i < 5; i++) {
        assert_ok(ops->time(batch, &ns, &err));
        assert_true(ns > 0);
        least = i == 0 || ns < least ? ns : least;
    }
    ops->batch_destroy(batch);
    return least;
}
