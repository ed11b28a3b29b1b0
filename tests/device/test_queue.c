/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL queues that are out of order, on every OpenCL device of this machine: kernels of
 * several passes, and calls that are ordered by events. Data are small integers, so results
 * are equal bit by bit.
 */
#include "runtime/exec/exec.h"
#include "runtime/family/family.h"
#include "tests/device/machines.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { M = 8, N = 512, K = 8192, REPEATS = 12, WORKSPACE = 1 << 26 };
#define PROBLEM "f32-nn-8x512x8192"

/* Events that the test itself ends. */
static cl_event (*create_user_event)(cl_context context, cl_int *error);
static cl_int (*end_user_event)(cl_event event, cl_int status);

static struct numbers { float a[M * K], b[K * N], c[M * N], got[M * N]; } x;

static struct gt_families *families;

/* Other data for each `salt`. */
static void fill(int salt) {
    for (int i = 0; i < M * K; i++)
        x.a[i] = (float)(i * (salt + 2) % 7 - 3);
    for (int i = 0; i < K * N; i++)
        x.b[i] = (float)((i + salt) % 5 - 2);
}

static void expect_product(void) {
    memset(x.c, 0, sizeof x.c);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++)
                x.c[i * N + j] += x.a[i * K + k] * x.b[k * N + j];
    for (int i = 0; i < M * N; i++)
        if (x.got[i] != x.c[i])
            fail_msg("element %d of C is %g, not %g", i, (double)x.got[i], (double)x.c[i]);
}

static void *unordered_queue(struct machine *m) {
    cl_int error = 0;
    cl_command_queue queue = gt_opencl_api(NULL)->clCreateCommandQueue(
        m->target.context, m->target.device, GT_CL_QUEUE_OUT_OF_ORDER, &error);
    assert_int_equal(error, 0);
    return queue;
}

static void on_every_opencl_device(void (*test)(struct machine *m)) {
    for (size_t i = 0; i < devices.count; i++) {
        struct machine m = {.device = &devices.device[i], .ops = &opencl_ops};
        if (m.device->backend != GEMMTUNE_OPENCL || m.device->trouble[0] != '\0' ||
            !m.ops->open(&m))
            continue;
        test(&m);
        m.ops->close(&m);
    }
}

/* ---- kernels of several passes ---- */

struct memory {
    void *a, *b, *c, *workspace;
};

static struct memory memory_of(struct machine *m) {
    return (struct memory){m->ops->alloc(m, sizeof x.a), m->ops->alloc(m, sizeof x.b),
                           m->ops->alloc(m, sizeof x.c), m->ops->alloc(m, WORKSPACE)};
}

static void release_memory(struct machine *m, const struct memory *d) {
    void *const all[] = {d->a, d->b, d->c, d->workspace};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        m->ops->release(m, all[i]);
}

static struct gt_exec *exec_of(struct gt_gpu *gpu, const char *family, const char *change,
                               int passes) {
    const struct gt_family *f = gt_families_find(families, family);
    struct gt_exec *e = NULL;
    struct gt_exec_info info;
    gemmtune_problem p;
    struct gt_point point, changes;
    struct gt_err err = {""};
    assert_int_equal(gt_problem_from_name(&p, PROBLEM, &err), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&changes, change, &err), GEMMTUNE_OK);
    gt_family_default(f, &point);
    for (int i = 0; i < changes.count; i++)
        (void)gt_point_set(&point, changes.entry[i].name, changes.entry[i].value, &err);
    (void)gt_exec_create(&e, gpu, f, &point, &p, NULL, &err);
    if (strstr(err.line, "PoCL 5") !=
        NULL) /* no family of several passes is offered there */
        skip();
    assert_string_equal(err.line, "");
    gt_exec_describe(e, &info);
    assert_int_equal(info.fit->passes.count, passes);
    assert_true(info.fit->passes.workspace_bytes <= WORKSPACE);
    return e;
}

static void run_passes(struct machine *m, const char *family, const char *change,
                       int passes) {
    const float one = 1, zero = 0;
    struct gt_gpu *gpu = NULL;
    struct gt_err err = {""};
    (void)gt_driver_opencl.open(&gpu, &m->target, &err);
    assert_string_equal(err.line, "");
    struct gt_exec *e = exec_of(gpu, family, change, passes);
    void *const queue = unordered_queue(m);
    struct memory d = memory_of(m);
    for (int i = 0; i < REPEATS; i++) {
        fill(i);
        m->ops->write(m, queue, d.a, x.a, sizeof x.a);
        m->ops->write(m, queue, d.b, x.b, sizeof x.b);
        const struct gt_call call = {.alpha = &one,
                                     .a = d.a,
                                     .b = d.b,
                                     .beta = &zero,
                                     .c = d.c,
                                     .workspace = d.workspace,
                                     .stream = queue};
        (void)gt_exec_run(e, &call, &err);
        assert_string_equal(err.line, "");
        assert_int_equal(gt_opencl_api(NULL)->clFinish(queue), 0);
        m->ops->read(m, queue, x.got, d.c, sizeof x.got);
        expect_product();
    }
    release_memory(m, &d);
    m->ops->queue_destroy(m, queue);
    gt_exec_destroy(e);
    gt_driver_opencl.close(gpu);
}

static void passes_on(struct machine *m) {
    run_passes(m, "skinny",
               "SIDE=0 S=8 R=4 V=1 VX=1 U=1 STAGES=2 LANES=8 THREADS=128 MINB=1 SPLIT=8",
               2);
    run_passes(m, "multistage", "SPLIT=4 GROUP=1", 2);
    run_passes(m, "multistage", "REPACK=2 VA=4 VB=4", 2);
}

static void test_passes_follow_each_other(void **state) {
    (void)state;
    on_every_opencl_device(passes_on);
}

/* ---- calls ---- */

static cl_int status_of(cl_event event) {
    cl_int status = 1;
    assert_int_equal(gt_opencl_api(NULL)->clGetEventInfo(event, GT_CL_EVENT_STATUS,
                                                         sizeof status, &status, NULL),
                     0);
    return status;
}

static gemmtune_plan *plan_of(gemmtune_ctx *ctx, const char *name) {
    gemmtune_problem p;
    gemmtune_plan *plan = NULL;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    (void)gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE);
    assert_string_equal(gemmtune_errmsg(), "");
    return plan;
}

/* Writes A, computes and reads C, each after the event of the step before it. The first
 * event is the test's own: nothing may have run before the test ends it. */
static void chain_on(struct machine *m) {
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    const float one = 1, zero = 0;
    gemmtune_ctx *ctx = NULL;
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_OK);
    gemmtune_plan *plan = plan_of(ctx, PROBLEM);
    void *const queue = unordered_queue(m);
    struct memory d = memory_of(m);
    for (int i = 0; i < REPEATS; i++) {
        cl_event mine, written[2], computed, read;
        cl_int error = 0;
        gemmtune_args args;
        gemmtune_args_init(&args);
        fill(i);
        mine = create_user_event(m->target.context, &error);
        assert_int_equal(error, 0);
        assert_int_equal(cl->clEnqueueWriteBuffer(queue, d.a, GT_CL_FALSE, 0, sizeof x.a,
                                                  x.a, 1, &mine, &written[0]),
                         0);
        assert_int_equal(cl->clEnqueueWriteBuffer(queue, d.b, GT_CL_FALSE, 0, sizeof x.b,
                                                  x.b, 0, NULL, &written[1]),
                         0);
        args.alpha = &one;
        args.beta = &zero;
        args.a = d.a;
        args.b = d.b;
        args.c = d.c;
        args.workspace = d.workspace;
        args.wait_list = written;
        args.wait_count = 2;
        args.event = &computed;
        assert_int_equal(gemmtune_launch(plan, &args, queue), GEMMTUNE_OK);
        assert_int_equal(cl->clReleaseEvent(written[0]), 0);
        assert_int_equal(cl->clReleaseEvent(written[1]), 0);
        assert_int_equal(cl->clEnqueueReadBuffer(queue, d.c, GT_CL_FALSE, 0, sizeof x.got,
                                                 x.got, 1, &computed, &read),
                         0);
        assert_int_equal(cl->clFlush(queue), 0);
        assert_int_not_equal(status_of(computed), GT_CL_COMPLETE);
        assert_int_equal(end_user_event(mine, GT_CL_COMPLETE), 0);
        assert_int_equal(cl->clWaitForEvents(1, &read), 0);
        assert_int_equal(status_of(computed), GT_CL_COMPLETE);
        expect_product();
        cl_event *const all[] = {&mine, &computed, &read};
        for (size_t e = 0; e < sizeof all / sizeof *all; e++)
            assert_int_equal(cl->clReleaseEvent(*all[e]), 0);
    }
    release_memory(m, &d);
    m->ops->queue_destroy(m, queue);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

static void test_calls_follow_events(void **state) {
    (void)state;
    on_every_opencl_device(chain_on);
}

/* A call that computes nothing, in a queue of either kind. */
static void empty_on(struct machine *m) {
    static const char *const names[] = {"f32-nn-0x8x8", "f32-nn-8x8x0"};
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    const float one = 1;
    gemmtune_ctx *ctx = NULL;
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_OK);
    for (int i = 0; i < 4; i++) {
        gemmtune_plan *plan = plan_of(ctx, names[i % 2]);
        void *const queue = i < 2 ? unordered_queue(m) : m->ops->queue_create(m);
        void *const c = m->ops->alloc(m, 8 * 8 * sizeof(float));
        cl_int error = 0;
        cl_event event = NULL, mine = create_user_event(m->target.context, &error);
        gemmtune_args args;
        gemmtune_args_init(&args);
        args.alpha = args.beta = &one;
        args.c = c;
        args.wait_list = &mine;
        args.wait_count = 1;
        args.event = &event;
        assert_int_equal(gemmtune_launch(plan, &args, queue), GEMMTUNE_OK);
        assert_non_null(event);
        assert_int_equal(cl->clFlush(queue), 0);
        assert_int_not_equal(status_of(event), GT_CL_COMPLETE);
        assert_int_equal(end_user_event(mine, GT_CL_COMPLETE), 0);
        assert_int_equal(cl->clWaitForEvents(1, &event), 0);
        assert_int_equal(cl->clReleaseEvent(event), 0);
        assert_int_equal(cl->clReleaseEvent(mine), 0);
        m->ops->release(m, c);
        m->ops->queue_destroy(m, queue);
        gemmtune_plan_destroy(plan);
    }
    gemmtune_close(ctx);
}

static void test_calls_without_work_follow_events(void **state) {
    (void)state;
    on_every_opencl_device(empty_on);
}

/* ---- set-up ---- */

/* Looks up a function that the library does not use itself. */
static bool find(void *function, void *library, const char *name) {
    void *const found = library != NULL ? dlsym(library, name) : NULL;
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static int setup(void **state) {
    const char *path = getenv("GEMMTUNE_LIBOPENCL");
    struct gt_err err = {""};
    if (list_devices(state) != 0 || gt_families_create(&families, &err) != GEMMTUNE_OK)
        return 1;
    void *const library =
        dlopen(path != NULL ? path : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < devices.count; i++)
        if (devices.device[i].backend == GEMMTUNE_OPENCL)
            return !find(&create_user_event, library, "clCreateUserEvent") ||
                   !find(&end_user_event, library, "clSetUserEventStatus");
    print_message("skipped: no OpenCL device\n");
    return 0;
}

static int teardown(void **state) {
    gt_families_destroy(families);
    return clear_devices(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_follow_each_other),
        cmocka_unit_test(test_calls_follow_events),
        cmocka_unit_test(test_calls_without_work_follow_events),
    };
    return cmocka_run_group_tests_name("queue", tests, setup, teardown);
}
