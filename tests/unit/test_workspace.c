/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* The workspaces of the one-call forms: one for each stream, never made during a capture,
 * and used by one call at a time. */
#include "tests/unit/plan_driver.h"

#include "runtime/plan/workspace.h"

#define DEEP "f32-nn-64x64x4096" /* its record needs 8 * 64 * 64 * 4 bytes */

enum { NEED = 8 * 64 * 64 * 4, WORKSPACE = LDC + 1, STREAMS = 4, CALLS = 200 };

static void put_deep(struct gt_db *db, gemmtune_backend backend, const char *hash) {
    static const char split[] =
        "BM=64 BN=64 BK=16 TM=4 TN=8 STAGES=2 SLICES=1 SPLIT=8 CLUSTER=0 STREAM=0 "
        "FOLD=1 VA=1 VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1";
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = backend, .context = &builds};
    struct gt_gpu *gpu;
    assert_int_equal(fake_open(&gpu, &target, NULL), GEMMTUNE_OK);
    gt_device_key(&gpu->device, key);
    put_record(db, DEEP, "multistage", hash, split);
    fake_close(gpu);
}

static int setup_deep(void **state) {
    struct gt_families *families;
    struct gt_db *db;
    struct gt_err err = {""};
    if (setup(state) != 0 || gt_families_create(&families, &err) != GEMMTUNE_OK ||
        gt_db_open(&db, db_path, GT_DB_WRITE, &err) != GEMMTUNE_OK)
        return 1;
    const char *hash = gt_families_find(families, "multistage")->hash;
    put_deep(db, GEMMTUNE_CUDA, hash);
    put_deep(db, GEMMTUNE_OPENCL, hash);
    gt_db_close(db);
    gt_families_destroy(families);
    return 0;
}

/* One call; the workspace of its last launch, NULL when its kernel has one launch only. */
static void *call_deep(gemmtune_ctx *ctx, void *stream) {
    gemmtune_problem p;
    seen.count = 0;
    seen.entries[0] = '\0';
    assert_int_equal(gemmtune_problem_parse(&p, DEEP), GEMMTUNE_OK);
    const gemmtune_status status =
        gemmtune_gemm(ctx, &p, &one, at(0x1000), at(0x2000), &zero, at(0x3000), stream);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return seen.count > 1 ? at((uintptr_t)seen.arg[WORKSPACE]) : NULL;
}

static gemmtune_ctx *opened_fresh(gemmtune_backend backend) {
    gemmtune_ctx *ctx = opened(backend);
    atomic_store(&makes, 0);
    return ctx;
}

static void test_streams(void **state) {
    static const gemmtune_backend backends[] = {GEMMTUNE_CUDA, GEMMTUNE_OPENCL};
    (void)state;
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        gemmtune_ctx *ctx = opened_fresh(backends[i]);
        void *const first = call_deep(ctx, at(1));
        assert_non_null(first);
        assert_string_equal(seen.entries, "gemm reduce ");
        assert_int_equal(made_bytes, 32 << 20);
        assert_ptr_equal(call_deep(ctx, at(1)), first);
        assert_int_equal(makes, 1);
        void *const second = call_deep(ctx, at(2));
        assert_non_null(second);
        assert_ptr_not_equal(second, first);
        assert_ptr_equal(call_deep(ctx, at(1)), first);
        assert_int_equal(makes, 2);
        assert_int_equal(builds, 1);
        close_all(ctx);
    }
}

/* Nothing is allocated for calls that need no workspace. */
static void test_not_needed(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_sgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, 512, 512, 512, 1, at(0x1000), 512,
                                    at(0x2000), 512, 0, at(0x3000), 512, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(makes, 0);
    close_all(ctx);
}

/* A captured call takes what its stream has, else a kernel that needs none. */
static void test_capture(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_CUDA);
    void *const first = call_deep(ctx, at(1));
    atomic_store(&captured, true);
    assert_ptr_equal(call_deep(ctx, at(1)), first);
    assert_null(call_deep(ctx, at(2)));
    assert_int_equal(seen.count, 1);
    assert_int_equal(makes, 1);
    assert_int_equal(gemmtune_workspace_make(ctx, at(2)), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "the stream is captured");
    atomic_store(&captured, false);
    assert_int_equal(gemmtune_workspace_make(ctx, at(3)), GEMMTUNE_OK);
    assert_int_equal(makes, 2);
    atomic_store(&captured, true);
    assert_non_null(call_deep(ctx, at(3)));
    atomic_store(&captured, false);
    assert_non_null(call_deep(ctx, at(2)));
    close_all(ctx);
}

static void test_set(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_CUDA);
    assert_non_null(call_deep(ctx, NULL));
    assert_int_equal(gemmtune_workspace_set(ctx, 0), GEMMTUNE_OK);
    assert_int_equal(memories, 0);
    assert_null(call_deep(ctx, NULL));
    assert_int_equal(gemmtune_workspace_make(ctx, NULL), GEMMTUNE_OK); /* none is wanted */
    assert_int_equal(memories, 0);
    assert_int_equal(gemmtune_workspace_set(ctx, NEED - 1), GEMMTUNE_OK);
    (void)call_deep(ctx, NULL);
    assert_string_not_equal(seen.entries, "gemm reduce "); /* the record needs more */
    assert_int_equal(gemmtune_workspace_set(ctx, NEED), GEMMTUNE_OK);
    assert_non_null(call_deep(ctx, NULL));
    assert_string_equal(seen.entries, "gemm reduce ");
    assert_int_equal(made_bytes, NEED);
    assert_int_equal(gemmtune_workspace_set(NULL, 0), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_workspace_make(NULL, NULL), GEMMTUNE_EINVAL);
    close_all(ctx);
}

/* Memory that is refused is asked for once. */
static void test_no_memory(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_CUDA);
    atomic_store(&no_memory, true);
    assert_null(call_deep(ctx, at(1)));
    assert_null(call_deep(ctx, at(1)));
    assert_int_equal(makes, 1);
    assert_int_equal(gemmtune_workspace_make(ctx, at(1)), GEMMTUNE_ENOMEM);
    assert_int_equal(gemmtune_workspace_make(ctx, at(2)), GEMMTUNE_ENOMEM);
    assert_string_equal(gemmtune_errmsg(), "no room");
    atomic_store(&no_memory, false);
    assert_null(call_deep(ctx, at(2)));
    assert_int_equal(gemmtune_workspace_set(ctx, NEED), GEMMTUNE_OK);
    assert_non_null(call_deep(ctx, at(2)));
    close_all(ctx);
}

static void test_many_streams(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_CUDA);
    for (uintptr_t i = 1; i <= GT_WORKSPACE_STREAMS; i++)
        assert_non_null(call_deep(ctx, at(i)));
    assert_null(call_deep(ctx, at(GT_WORKSPACE_STREAMS + 1)));
    assert_int_equal(memories, GT_WORKSPACE_STREAMS);
    assert_int_equal(gemmtune_workspace_make(ctx, at(GT_WORKSPACE_STREAMS + 1)),
                     GEMMTUNE_ENOMEM);
    assert_non_null(call_deep(ctx, at(GT_WORKSPACE_STREAMS)));
    close_all(ctx);
}

static void test_unordered_queue(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_OPENCL);
    seen.unordered = true;
    assert_null(call_deep(ctx, at(1)));
    assert_int_equal(gemmtune_workspace_make(ctx, at(1)), GEMMTUNE_EUNSUPPORTED);
    seen.unordered = false;
    assert_int_equal(makes, 0);
    assert_non_null(call_deep(ctx, at(1)));
    close_all(ctx);
}

/* ---- threads ---- */

/* For each stream, the call that has made its first launch and not yet its last; else 0. */
static atomic_int inside[STREAMS + 1];
static atomic_int mixed;
static _Thread_local int token; /* of this thread, from 1 on */

static void watch(void *stream, const char *entry) {
    atomic_int *const at_work = &inside[(uintptr_t)stream];
    const bool first = strcmp(entry, "gemm") == 0;
    if (first)
        nap();
    if (atomic_exchange(at_work, first ? token : 0) != (first ? 0 : token))
        atomic_fetch_add(&mixed, 1);
}

struct caller {
    pthread_t thread;
    gemmtune_ctx *ctx;
    int number;
};

static void *call_often(void *user) {
    const struct caller *c = user;
    token = c->number;
    for (int i = 0; i < CALLS; i++)
        (void)call_deep(c->ctx, at((uintptr_t)(1 + (c->number + i) % STREAMS)));
    return NULL;
}

/* The launches of two calls on one stream never mix, and each stream gets one workspace. */
static void test_threads(void **state) {
    struct caller caller[THREADS];
    (void)state;
    gemmtune_ctx *ctx = opened_fresh(GEMMTUNE_CUDA);
    on_launch = watch;
    for (int i = 0; i < THREADS; i++) {
        caller[i] = (struct caller){.ctx = ctx, .number = i + 1};
        assert_int_equal(pthread_create(&caller[i].thread, NULL, call_often, &caller[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(caller[i].thread, NULL), 0);
    on_launch = NULL;
    assert_int_equal(mixed, 0);
    assert_int_equal(makes, STREAMS);
    assert_int_equal(builds, 1);
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),         cmocka_unit_test(test_not_needed),
        cmocka_unit_test(test_capture),         cmocka_unit_test(test_set),
        cmocka_unit_test(test_no_memory),       cmocka_unit_test(test_many_streams),
        cmocka_unit_test(test_unordered_queue), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests_name("workspace", tests, setup_deep, teardown);
}
