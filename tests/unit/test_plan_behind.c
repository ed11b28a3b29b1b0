/* SPDX-License-Identifier: Apache-2.0 */
/* check: threads */
/* A context with GEMMTUNE_OPEN_BUILD_BEHIND: plans take kernels that are built, and the
 * better ones when these are. While the gate of plan_driver.h is closed the
 * compiler hangs, so a call that returns has not waited for it. */
#include "runtime/lookup/general.h"
#include "runtime/plan/context.h"
#include "tests/unit/plan_driver.h"

/* The points of the general kernels differ from the tuned one, which has BM 64. */
#define GENERAL "#define GT_BM 32\n"
static const char *const points[] = {
    "BM=32 BN=32 BK=8 THREADS=64 OWN=1 TM=4 VA=2 VB=2 PAD=4 DOUBLE=1 MINB=1 GROUP=4",
    "BM=32 BN=32 BK=8 THREADS=64 OWN=1 TM=4 VA=1 VB=1 PAD=4 DOUBLE=1 MINB=1 GROUP=4"};
enum { POINTS = sizeof points / sizeof *points, CALLERS = 6, TURNS = 200 };
static char cache[600];

/* ---- setting up -------------------------------------------------------------------- */

static struct gt_device device_here(void) {
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = GEMMTUNE_CUDA, .context = &builds};
    struct gt_gpu *gpu;
    assert_int_equal(fake_open(&gpu, &target, NULL), GEMMTUNE_OK);
    const struct gt_device d = gpu->device;
    fake_close(gpu);
    return d;
}

/* Keeps a list of general kernels, as `gemmtune build --general` does. */
static void keep_list(size_t count) {
    const struct gt_device d = device_here();
    struct gt_generals list = {0};
    struct gt_families *families;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    struct gt_general k = {.kind = {gt_dtype_by_name("f32", 3), gt_layout_words[0], false},
                           .family = gt_families_find(families, "block")};
    for (size_t i = 0; i < count; i++) {
        struct gt_err err = {""};
        (void)gt_values_parse(k.values, k.family, points[i], &err);
        assert_string_equal(err.line, "");
        assert_true(gt_generals_add(&list, &k));
    }
    assert_true(gt_generals_keep(&list, &d));
    gt_generals_clear(&list);
    gt_families_destroy(families);
}

static int begin_all(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(cache, sizeof cache, "%s/gt-behind-%ld", tmp != NULL ? tmp : "/tmp",
                   (long)getpid());
    return setenv("GEMMTUNE_CACHE_DIR", cache, 1) == 0 ? setup(state) : 1;
}

static int end_all(void **state) {
    char command[700];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", cache);
    return system(command) == 0 ? teardown(state) : 1; /* NOLINT: our own words */
}

static gemmtune_ctx *open_with(uint32_t flags) {
    const gemmtune_target target = {.struct_size = sizeof target,
                                    .backend = GEMMTUNE_CUDA,
                                    .context = &builds,
                                    .flags = flags};
    gemmtune_ctx *ctx = NULL;
    (void)gemmtune_open(&ctx, db_path, &target);
    builds = compiles = 0;
    seen.count = 0;
    return ctx;
}

/* A context with that flag and so many general kernels in its list; `built` of them
 * are built. The compiler hangs. */
static gemmtune_ctx *begin(size_t kernels, const char *built) {
    atomic_store(&kept_count, 0);
    atomic_store(&keeps_builds, true);
    atomic_store(&gate_closed, true);
    atomic_store(&has_no_folder, false);
    bad_source = NULL;
    cached_source = built;
    keep_list(kernels);
    gemmtune_ctx *ctx = open_with(GEMMTUNE_OPEN_BUILD_BEHIND);
    assert_non_null(ctx);
    return ctx;
}

static gemmtune_better better_of(const gemmtune_plan *plan) {
    gemmtune_plan_info info;
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    return info.better;
}

static bool is_general(const gemmtune_plan *plan) {
    gemmtune_plan_info info;
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    return strstr(info.params, "BM=32") != NULL;
}

/* Until the thread of the context has carried out the order. */
static void wait_while_building(const gemmtune_plan *plan) {
    while (better_of(plan) == GEMMTUNE_BETTER_BUILDING)
        nap();
}

/* Until the thread has carried out all orders; `failed` of them stay in its list. */
static void wait_for_orders(gemmtune_ctx *ctx, int failed) {
    struct gt_preparer *p = &ctx->preparer;
    bool done = false;
    while (!done) {
        nap();
        (void)pthread_mutex_lock(&p->lock);
        done = p->ended == failed && (failed > 0 || p->orders == NULL);
        (void)pthread_mutex_unlock(&p->lock);
    }
}

static gemmtune_status multiply(gemmtune_ctx *ctx, int64_t m, uintptr_t a) {
    seen.count = 0;
    return gemmtune_sgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS, GEMMTUNE_NOTRANS, m,
                          512, 512, 1, at(a), 512, at(0x2000), 512, 0, at(0x3000), 512,
                          NULL);
}

/* Whether the last launch was one of a kernel with blocks of 64 rows of C. */
static bool ran_the_tuned_one(int64_t m) {
    return seen.count == 1 && seen.vectors &&
           seen.launch.grid[0] * seen.launch.grid[1] == (m / 64) * (512 / 64);
}

/* ---- plans of the caller's own ----------------------------------------------------- */

static void test_a_plan_and_the_better_one(void **state) {
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, GENERAL);
    gemmtune_plan *first = planned(ctx, "f32-nn-512x512x512");
    assert_true(is_general(first));
    assert_int_equal(better_of(first), GEMMTUNE_BETTER_BUILDING);
    gemmtune_plan *second = planned(ctx, "f32-nn-512x512x512");
    assert_ptr_not_equal(first, second); /* it is to be made anew, so it is not shared */
    for (uintptr_t a = 0x1000; a <= 0x1004;
         a += 4) { /* also a pointer that is not aligned */
        seen.count = 0;
        assert_int_equal(
            gemmtune_execute(first, &one, at(a), at(0x2000), &zero, at(0x3000), NULL, NULL),
            GEMMTUNE_OK);
        assert_int_equal(seen.count, 1);
    }
    atomic_store(&gate_closed, false);
    wait_while_building(first);
    assert_int_equal(better_of(first), GEMMTUNE_BETTER_READY);
    assert_int_equal(better_of(second), GEMMTUNE_BETTER_READY);
    assert_true(is_general(first)); /* a plan never changes */
    gemmtune_plan *third = planned(ctx, "f32-nn-512x512x512"),
                  *fourth = planned(ctx, "f32-nn-512x512x512");
    assert_false(is_general(third));
    assert_int_equal(better_of(third), GEMMTUNE_BETTER_NONE);
    assert_ptr_equal(third, fourth);
    gemmtune_plan_destroy(fourth);
    gemmtune_plan_destroy(third);
    gemmtune_plan_destroy(second);
    gemmtune_plan_destroy(first);
    close_all(ctx);
}

static void *plan_it(void *ctx) {
    return planned(ctx, "f32-nn-512x512x512");
}

/* Plans in a thread, which waits for the compiler, and gives the plan. */
static gemmtune_plan *plan_that_waits(gemmtune_ctx *ctx) {
    pthread_t thread;
    void *plan = NULL;
    assert_int_equal(pthread_create(&thread, NULL, plan_it, ctx), 0);
    while (atomic_load(&waiting) == 0)
        nap();
    atomic_store(&gate_closed, false);
    assert_int_equal(pthread_join(thread, &plan), 0);
    return plan;
}

/* General kernels are listed, but none is built: the plan waits for the best one. */
static void test_nothing_is_built(void **state) {
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, NULL);
    gemmtune_plan *plan = plan_that_waits(ctx);
    assert_false(is_general(plan));
    assert_int_equal(better_of(plan), GEMMTUNE_BETTER_NONE);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* Without general kernels any other kernel that is built serves. */
static void test_another_kernel_serves(void **state) {
    (void)state;
    gemmtune_ctx *ctx = begin(0, "#define GT_VA 2\n");
    gemmtune_plan *plan = plan_that_waits(ctx); /* for the narrow one */
    gemmtune_plan_info info;
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    assert_non_null(strstr(info.params, "VA=2"));
    wait_while_building(plan);
    assert_int_equal(better_of(plan), GEMMTUNE_BETTER_READY);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* A plan that accepts tuned kernels alone gets no other one. */
static void test_exact_plans_wait(void **state) {
    gemmtune_problem own;
    gemmtune_plan *plan = NULL;
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, GENERAL);
    atomic_store(&gate_closed, false);
    assert_int_equal(gemmtune_problem_parse(&own, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &own, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_OK);
    assert_false(is_general(plan));
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* When the better kernel does not build, the one that serves stays. */
static void test_the_better_one_does_not_build(void **state) {
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, GENERAL);
    bad_source = "#define GT_BM 64\n";
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    assert_int_equal(multiply(ctx, 512, 0x1000), GEMMTUNE_OK);
    atomic_store(&gate_closed, false);
    wait_for_orders(ctx, 2); /* without a workspace, and with one */
    assert_int_equal(better_of(plan), GEMMTUNE_BETTER_NONE);
    const int tried = atomic_load(&compiles);
    assert_int_equal(multiply(ctx, 512, 0x1000), GEMMTUNE_OK);
    gemmtune_plan *again = planned(ctx, "f32-nn-512x512x512");
    assert_true(is_general(again));
    assert_int_equal(better_of(again), GEMMTUNE_BETTER_NONE);
    assert_int_equal(atomic_load(&compiles), tried);
    gemmtune_plan_destroy(again);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* ---- one-call forms ---------------------------------------------------------------- */

static int64_t programs_of(gemmtune_ctx *ctx) {
    gemmtune_plan_cache_info info;
    assert_int_equal(gemmtune_plan_cache_describe(ctx, &info), GEMMTUNE_OK);
    return info.programs;
}

/* The kernels of the first plan stay loaded: a graph may have captured them. */
static void test_calls_take_the_better_one(void **state) {
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, GENERAL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(multiply(ctx, 512, 0x1000), GEMMTUNE_OK);
        assert_false(ran_the_tuned_one(512));
        assert_int_equal(seen.count, 1);
    }
    const int64_t general = programs_of(ctx);
    atomic_store(&gate_closed, false);
    wait_for_orders(ctx, 0);
    assert_int_equal(multiply(ctx, 512, 0x1000), GEMMTUNE_OK);
    assert_true(ran_the_tuned_one(512));
    const int so_far = atomic_load(&compiles);
    assert_int_equal(multiply(ctx, 512, 0x1004), GEMMTUNE_OK);
    assert_int_equal(atomic_load(&compiles), so_far);
    assert_true(programs_of(ctx) > general);
    assert_int_equal(gemmtune_plan_cache_clear(ctx), GEMMTUNE_OK);
    assert_int_equal(programs_of(ctx), 0);
    close_all(ctx);
}

static void *close_it(void *ctx) {
    gemmtune_close(ctx);
    return NULL;
}

/* gemmtune_close waits for the compile that is under way, and for no other. */
static void test_close_while_building(void **state) {
    pthread_t closer;
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, GENERAL);
    for (int64_t m = 64; m <= 512; m += 64)
        assert_int_equal(multiply(ctx, m, 0x1000), GEMMTUNE_OK);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    while (atomic_load(&waiting) == 0)
        nap();
    assert_int_equal(pthread_create(&closer, NULL, close_it, ctx), 0);
    while (!atomic_load(&ctx->preparer.ends))
        nap();
    gemmtune_plan_destroy(plan);
    atomic_store(&gate_closed, false);
    assert_int_equal(pthread_join(closer, NULL), 0);
    assert_int_equal(atomic_load(&compiles), 1);
    close_all(NULL);
}

struct caller {
    pthread_t thread;
    gemmtune_ctx *ctx;
    int wrong;
};

static void *call(void *user) {
    struct caller *c = user;
    for (int i = 0; i < TURNS; i++)
        c->wrong +=
            multiply(c->ctx, 64 * (1 + i % 8), 0x1000) != GEMMTUNE_OK || seen.count != 1;
    return NULL;
}

/* Plans are made anew while other threads use them. At the end all have better kernels. */
static void test_many_callers(void **state) {
    struct caller caller[CALLERS];
    (void)state;
    gemmtune_ctx *ctx = begin(POINTS, GENERAL);
    for (int i = 0; i < CALLERS; i++) {
        caller[i] = (struct caller){.ctx = ctx};
        assert_int_equal(pthread_create(&caller[i].thread, NULL, call, &caller[i]), 0);
    }
    atomic_store(&gate_closed, false);
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(caller[i].thread, NULL), 0);
        assert_int_equal(caller[i].wrong, 0);
    }
    wait_for_orders(ctx, 0);
    for (int64_t m = 64; m <= 512; m += 64) {
        assert_int_equal(multiply(ctx, m, 0x1000), GEMMTUNE_OK);
        assert_int_equal(multiply(ctx, m, 0x1000), GEMMTUNE_OK);
        assert_true(seen.vectors);
    }
    close_all(ctx);
}

/* ---- flags ------------------------------------------------------------------------- */

static void test_flags(void **state) {
    const struct {
        uint32_t struct_size;
        gemmtune_backend backend;
        void *context, *device;
    } before = {sizeof before, GEMMTUNE_CUDA, &builds, NULL}; /* of the first release */
    gemmtune_ctx *ctx = NULL;
    (void)state;
    assert_int_equal(gemmtune_open(&ctx, db_path, (const gemmtune_target *)&before),
                     GEMMTUNE_OK);
    assert_false(ctx->builds_behind);
    close_all(ctx);
    assert_null(open_with(2));
    assert_non_null(strstr(gemmtune_errmsg(), "flags"));
    atomic_store(&has_no_folder, true);
    ctx = open_with(GEMMTUNE_OPEN_BUILD_BEHIND);
    assert_false(ctx->builds_behind); /* no image could be kept */
    close_all(ctx);
}

/* ---- the list ---------------------------------------------------------------------- */

static void test_the_list_is_kept(void **state) {
    const struct gt_device here = device_here();
    struct gt_device there = here;
    struct gt_families *families;
    struct gt_generals list;
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    keep_list(POINTS);
    gt_generals_load(&list, families, &here);
    assert_int_equal(list.count, POINTS);
    assert_string_equal(list.item[1].family->name, "block");
    assert_string_equal(list.item[1].kind.layout, "nn");
    assert_string_equal(list.item[1].kind.types->name, "f32");
    assert_false(list.item[1].kind.batch);
    gt_generals_clear(&list);
    keep_list(1); /* in place of the one before */
    gt_generals_load(&list, families, &here);
    assert_int_equal(list.count, 1);
    gt_generals_clear(&list);
    there.units++;
    gt_generals_load(&list, families, &there);
    assert_int_equal(list.count, 0);
    gt_generals_clear(&list);
    gt_families_destroy(families);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plan_and_the_better_one),
        cmocka_unit_test(test_nothing_is_built),
        cmocka_unit_test(test_another_kernel_serves),
        cmocka_unit_test(test_exact_plans_wait),
        cmocka_unit_test(test_the_better_one_does_not_build),
        cmocka_unit_test(test_calls_take_the_better_one),
        cmocka_unit_test(test_close_while_building),
        cmocka_unit_test(test_many_callers),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_the_list_is_kept),
    };
    return cmocka_run_group_tests_name("plan_behind", tests, begin_all, end_all);
}
