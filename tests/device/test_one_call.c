/* SPDX-License-Identifier: Apache-2.0 */
/* check: platform */
/*
 * The workspaces of the one-call forms, on every device of this machine: a record with a
 * kernel that needs one, called on two queues in turn, from threads that share queues, and
 * while a stream is captured. Data are small integers, so results are equal bit by bit.
 */
#include "tests/device/winners.h"

enum { M = 8, N = 64, K = 256, QUEUES = 2, THREADS = 4, CALLS = 4 };
#define PROBLEM "f32-nn-8x64x256"
#define POINT                                                                              \
    "BM=64 BN=64 BK=16 TM=4 TN=8 STAGES=2 SLICES=1 SPLIT=8 CLUSTER=0 STREAM=0 FOLD=1 "     \
    "VA=1 VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1"

static const float one = 1, zero = 0;

static float a[M * K], b[K * N], expected[M * N];

static void fill(void) {
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(i * 5 % 7 - 3);
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(i % 5 - 2);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++)
                expected[i * N + j] += a[i * K + k] * b[k * N + j];
}

/* ---- a context with a kernel that needs a workspace ---- */

static gemmtune_ctx *opened(struct machine *m) {
    struct gt_families *families = NULL;
    gemmtune_ctx *ctx = NULL;
    struct gt_point point;
    char path[512], text[GT_POINT_TEXT_MAX];
    int64_t run;
    assert_int_equal(gt_point_parse(&point, POINT, NULL), GEMMTUNE_OK);
    (void)gt_point_text(&point, text);
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    struct gt_db *db = winners_begin(&run, winners_path(path), m);
    winners_add(db, m, gt_families_find(families, "multistage"), text, PROBLEM);
    winners_end(db, run);
    gt_families_destroy(families);
    (void)gemmtune_open(&ctx, path, &m->target);
    assert_string_equal(gemmtune_errmsg(), "");
    (void)remove(path);
    return ctx;
}

/* Whether the plan with so much workspace is the record's. It is not where the driver is
 * one that the family is not offered on. */
static bool has_record(gemmtune_ctx *ctx) {
    gemmtune_plan_info info;
    gemmtune_problem p;
    gemmtune_plan *plan = NULL;
    assert_int_equal(gemmtune_problem_parse(&p, PROBLEM), GEMMTUNE_OK);
    (void)gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 32 << 20);
    assert_string_equal(gemmtune_errmsg(), "");
    gemmtune_plan_describe(plan, &info);
    const bool has = info.workspace_bytes > 0;
    gemmtune_plan_destroy(plan);
    return has;
}

/* ---- calls ---- */

struct memory {
    void *a, *b;
};

static gemmtune_status call(gemmtune_ctx *ctx, const struct memory *d, void *c,
                            void *queue) {
    gemmtune_problem p;
    gemmtune_status status = gemmtune_problem_parse(&p, PROBLEM);
    if (status == GEMMTUNE_OK)
        status = gemmtune_gemm(ctx, &p, &one, d->a, d->b, &zero, c, queue);
    return status;
}

static bool is_right(struct machine *m, void *queue, void *c) {
    float got[M * N];
    m->ops->read(m, queue, got, c, sizeof got);
    return memcmp(got, expected, sizeof got) == 0;
}

static struct memory memory_of(struct machine *m, void *queue) {
    const struct memory d = {m->ops->alloc(m, sizeof a), m->ops->alloc(m, sizeof b)};
    m->ops->write(m, queue, d.a, a, sizeof a);
    m->ops->write(m, queue, d.b, b, sizeof b);
    return d;
}

static void release_memory(struct machine *m, const struct memory *d) {
    m->ops->release(m, d->a);
    m->ops->release(m, d->b);
}

/* Calls that follow each other on two queues, then read. */
static void in_turn(struct machine *m, gemmtune_ctx *ctx, void *const queue[QUEUES],
                    const struct memory *d) {
    void *c[QUEUES];
    for (int i = 0; i < QUEUES; i++)
        c[i] = m->ops->alloc(m, sizeof expected);
    for (int i = 0; i < QUEUES * CALLS; i++) {
        (void)call(ctx, d, c[i % QUEUES], queue[i % QUEUES]);
        assert_string_equal(gemmtune_errmsg(), "");
    }
    for (int i = 0; i < QUEUES; i++) {
        assert_true(is_right(m, queue[i], c[i]));
        m->ops->release(m, c[i]);
    }
}

struct worker {
    pthread_t thread;
    struct machine *m;
    gemmtune_ctx *ctx;
    void *queue;
    const struct memory *d;
    int wrong;
};

static void *call_often(void *user) {
    struct worker *w = user;
    w->m->ops->enter(w->m);
    void *const c = w->m->ops->alloc(w->m, sizeof expected);
    for (int i = 0; i < CALLS; i++) {
        w->wrong += call(w->ctx, w->d, c, w->queue) != GEMMTUNE_OK;
        w->wrong += !is_right(w->m, w->queue, c);
    }
    w->m->ops->release(w->m, c);
    return NULL;
}

static void from_threads(struct machine *m, gemmtune_ctx *ctx, void *const queue[QUEUES],
                         const struct memory *d) {
    struct worker worker[THREADS];
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.m = m, .ctx = ctx, .queue = queue[i % QUEUES], .d = d};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, call_often, &worker[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        assert_int_equal(worker[i].wrong, 0);
    }
}

static void streams_on(struct machine *m) {
    gemmtune_ctx *ctx = opened(m);
    void *queue[QUEUES];
    for (int i = 0; i < QUEUES; i++)
        queue[i] = m->ops->queue_create(m);
    const struct memory d = memory_of(m, queue[0]);
    if (has_record(ctx)) {
        in_turn(m, ctx, queue, &d);
        from_threads(m, ctx, queue, &d);
        assert_int_equal(gemmtune_workspace_set(ctx, 0), GEMMTUNE_OK);
        in_turn(m, ctx, queue, &d);
        assert_int_equal(gemmtune_workspace_set(ctx, 1 << 20), GEMMTUNE_OK);
        assert_int_equal(gemmtune_workspace_make(ctx, queue[1]), GEMMTUNE_OK);
        in_turn(m, ctx, queue, &d);
    }
    release_memory(m, &d);
    for (int i = 0; i < QUEUES; i++)
        m->ops->queue_destroy(m, queue[i]);
    gemmtune_close(ctx);
}

static void test_streams(void **state) {
    (void)state;
    on_every_device(streams_on);
}

/* ---- captures ---- */

/* Ends the capture; how many kernels it has. The graph is launched once. */
static size_t end_capture(CUstream stream) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    size_t nodes = 0;
    assert_int_equal(cu->cuStreamEndCapture(stream, &graph), 0);
    assert_int_equal(cu->cuGraphGetNodes(graph, NULL, &nodes), 0);
    assert_int_equal(cu->cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    assert_int_equal(cu->cuGraphLaunch(exec, stream), 0);
    assert_int_equal(cu->cuStreamSynchronize(stream), 0);
    assert_int_equal(cu->cuGraphExecDestroy(exec), 0);
    assert_int_equal(cu->cuGraphDestroy(graph), 0);
    return nodes;
}

/* The first stream has a workspace before it is captured. The second gets one while the
 * first is captured, strictly. The third, which is captured without one, gets none. */
static void captures_on(struct machine *m) {
    const struct gt_cuda *cu = gt_cuda_api(NULL);
    if (m->device->backend != GEMMTUNE_CUDA)
        return;
    gemmtune_ctx *ctx = opened(m);
    CUstream stream[3];
    for (int i = 0; i < 3; i++)
        stream[i] = m->ops->queue_create(m);
    const struct memory d = memory_of(m, stream[0]);
    void *const c = m->ops->alloc(m, sizeof expected), *const other = m->ops->alloc(
                                                           m, sizeof expected);
    assert_int_equal(call(ctx, &d, c, stream[0]), GEMMTUNE_OK);
    assert_int_equal(gemmtune_workspace_set(ctx, 0), GEMMTUNE_OK);
    assert_int_equal(call(ctx, &d, c, stream[0]), GEMMTUNE_OK); /* its kernel is loaded */
    assert_int_equal(gemmtune_workspace_set(ctx, 32 << 20), GEMMTUNE_OK);
    assert_int_equal(gemmtune_workspace_make(ctx, stream[0]), GEMMTUNE_OK);
    assert_int_equal(cu->cuStreamBeginCapture(stream[0], GT_CU_CAPTURE_GLOBAL), 0);
    assert_int_equal(call(ctx, &d, c, stream[0]), GEMMTUNE_OK);
    assert_int_equal(gemmtune_workspace_make(ctx, stream[1]), GEMMTUNE_OK);
    assert_int_equal(call(ctx, &d, other, stream[1]), GEMMTUNE_OK);
    assert_int_equal(end_capture(stream[0]), 2);
    assert_true(is_right(m, stream[0], c) && is_right(m, stream[1], other));
    assert_int_equal(cu->cuStreamBeginCapture(stream[2], GT_CU_CAPTURE_GLOBAL), 0);
    assert_int_equal(call(ctx, &d, other, stream[2]), GEMMTUNE_OK);
    assert_int_equal(gemmtune_workspace_make(ctx, stream[2]), GEMMTUNE_EINVAL);
    assert_int_equal(end_capture(stream[2]), 1);
    assert_true(is_right(m, stream[2], other));
    release_memory(m, &d);
    m->ops->release(m, c);
    m->ops->release(m, other);
    gemmtune_close(ctx);
    for (int i = 0; i < 3; i++)
        m->ops->queue_destroy(m, stream[i]);
}

static void test_captures(void **state) {
    (void)state;
    on_every_device(captures_on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_captures),
    };
    fill();
    return cmocka_run_group_tests_name("one_call", tests, list_devices, clear_devices);
}
