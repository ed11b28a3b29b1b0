/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tuner's operations on every device: memory, timing, checking a correct kernel. Then
 * the same in a process of its own on the fake CUDA driver (tests/fake).
 */
#include "tests/device/rigs.h"
#include "tuner/lab/witness.h"

#define POISON UINT32_C(0xfff1fff3) /* what memory holds around data */

/* ---- every device ---- */

/* Words 0, 1, 2 ... written, overwritten in part by a fill and by a copy, and read back. */
static void check_memory(struct gt_rig *rig) {
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
    assert_ok(ops->fill(rig, b, 4 * SOME, POISON, &err));
    assert_ok(ops->read(rig, b, 0, back, 4 * SOME, &err));
    for (int i = 0; i < SOME; i++)
        assert_true(back[i] == POISON);
    assert_ok(ops->write(rig, a, 4 * SOME, back, 4 * SOME, &err));
    assert_ok(ops->read(rig, a, 0, back, sizeof back, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_true(back[i] == (i >= SOME && i < 2 * SOME ? POISON : i));
    assert_ok(ops->read(rig, a, 4 * 1000, back, 4, &err));
    assert_true(back[0] == 1000);
    ops->release(rig, a);
    ops->release(rig, b);
}

/* A kernel fills a view in the middle of an allocation with elements of A's type; both ends
 * keep the poison. */
static void check_view_of(struct gt_rig *rig, const struct gt_dtype *types,
                          enum gt_data_mode mode) {
    enum { COUNT = 999, BYTES = 3 * GT_VIEW_ALIGN };
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const size_t size = gt_type_size(types->a);
    const uint32_t poison = POISON;
    struct gt_checker *checker = NULL;
    gemmtune_problem p;
    static char back[BYTES], want[BYTES];
    struct gt_err err;
    void *a = NULL, *view = NULL;
    gemmtune_problem_init(&p, types->a, 1, 1, 1);
    p.type_b = types->b, p.type_c = types->c, p.type_acc = types->acc;
    assert_ok(gt_checker_create(&checker, rig, &p, 4, &err));
    assert_ok(ops->alloc(&a, rig, BYTES, &err));
    assert_ok(ops->fill(rig, a, BYTES, POISON, &err));
    assert_ok(ops->view(&view, rig, a, GT_VIEW_ALIGN, 2 * GT_VIEW_ALIGN, &err));
    const struct gt_stack row = gt_stack_row(types->a, COUNT);
    assert_ok(gt_checker_fill(checker, view, &row, SEED, mode, &err));
    assert_ok(ops->finish(rig, &err));
    assert_ok(ops->read(rig, a, 0, back, BYTES, &err));
    for (size_t at = 0; at < BYTES; at += sizeof poison)
        memcpy(want + at, &poison, sizeof poison);
    for (int64_t i = 0; i < COUNT; i++)
        gt_element_put(want + GT_VIEW_ALIGN + (size_t)i * size, types->a,
                       gt_data_value(SEED, 0, i, mode, types->a));
    if (memcmp(back, want, BYTES) != 0)
        fail_msg("device and host make different data of type %s in mode %d",
                 gt_type_name(types->a), mode);
    ops->view_release(rig, view);
    ops->release(rig, a);
    gt_checker_destroy(checker);
}

static void check_view(struct gt_rig *rig) {
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++) {
        const struct gt_dtype *types = gt_dtype_at(i);
        const bool plain = types->a == types->acc && gt_type_is_float(types->a);
        if (types->acc == GEMMTUNE_F64 && !gt_rig_head(rig)->device->has_f64)
            continue;
        check_view_of(rig, types, GT_DATA_UNIFORM);
        check_view_of(rig, types, GT_DATA_HIGH);
        if (plain)
            check_view_of(rig, types, GT_DATA_POSITIVE);
        if (gt_type_is_float(types->acc) && gt_type_size(types->a) > 1) {
            check_view_of(rig, types, GT_DATA_WIDE);
            check_view_of(rig, types, GT_DATA_SPECIAL);
        }
        if (plain && types->acc == GEMMTUNE_F64)
            check_view_of(rig, types, GT_DATA_FAR);
        if (plain && types->acc == GEMMTUNE_F32) {
            check_view_of(rig, types, GT_DATA_ONES);
            check_view_of(rig, types, GT_DATA_STEEP);
        }
    }
}

/* More than any device has: refused at once, or at its first use by a driver that allocates
 * then (NVIDIA's OpenCL), which may not know any more what was wrong. */
static void check_too_much_memory(struct gt_rig *rig) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const uint32_t word = 1;
    struct gt_err err;
    void *mem = NULL;
    gt_status status = ops->alloc(&mem, rig, INT64_C(1) << 50, &err);
    if (status != GEMMTUNE_OK) {
        assert_int_equal(status, GEMMTUNE_ENOMEM);
        assert_null(mem);
        return;
    }
    status = ops->write(rig, mem, 0, &word, sizeof word, &err);
    if (status == GEMMTUNE_OK)
        status = ops->finish(rig, &err);
    assert_true(status != GEMMTUNE_OK);
    print_message("allocates at first use: %s\n", err.line);
    ops->release(rig, mem);
}

static void test_memory(void **state) {
    const struct gt_device *d = *state;
    struct gt_rig *rig = NULL;
    struct gt_err err;
    assert_ok(gt_rig_open(&rig, d, &err));
    check_memory(rig);
    check_view(rig);
    check_too_much_memory(rig);
    gt_rig_close(rig);
}

/* Launches of the naive kernel on a rig. */
struct repeat {
    struct gt_rig *rig;
    struct gt_exec *exec;
    void *mem[3];
    int launches;
};

static gt_status enqueue(void *user, struct gt_err *err) {
    const struct repeat *r = user;
    const float one = 1, zero = 0;
    const struct gt_call call = {.alpha = &one,
                                 .a = r->mem[0],
                                 .b = r->mem[1],
                                 .beta = &zero,
                                 .c = r->mem[2],
                                 .stream = gt_rig_head(r->rig)->stream};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < r->launches; i++)
        status = gt_exec_run(r->exec, &call, err);
    return status;
}

static double least_time(struct repeat *r, int launches) {
    const struct gt_rig_ops *ops = gt_rig_head(r->rig)->ops;
    struct gt_batch *batch = NULL;
    struct gt_err err;
    double least = 0, ns = 0;
    r->launches = launches;
    assert_ok(ops->batch(&batch, r->rig, enqueue, r, &err));
    for (int i = 0; i < 5; i++) {
        assert_ok(ops->time(batch, &ns, &err));
        assert_true(ns > 0);
        least = i == 0 || ns < least ? ns : least;
    }
    ops->batch_destroy(batch);
    return least;
}

static void test_time(void **state) {
    enum { SIDE = 64, BYTES = 4 * SIDE * SIDE };
    struct repeat r = {.launches = 0};
    struct gt_err err;
    gemmtune_problem p;
    assert_ok(gt_rig_open(&r.rig, *state, &err));
    assert_ok(gt_problem_from_name(&p, "f32-nn-64x64x64", &err));
    assert_ok(open_exec(&r.exec, gt_rig_head(r.rig)->gpu, &p, &err));
    for (int i = 0; i < 3; i++) {
        assert_ok(gt_rig_head(r.rig)->ops->alloc(&r.mem[i], r.rig, BYTES, &err));
        assert_ok(gt_rig_head(r.rig)->ops->fill(r.rig, r.mem[i], BYTES, 0, &err));
    }
    const double one = least_time(&r, 1), many = least_time(&r, 100);
    print_message("one launch %.0f ns, a hundred %.0f ns\n", one, many);
    assert_true(many > 2 * one); /* a first launch has costs that do not count */
    for (int i = 0; i < 3; i++)
        gt_rig_head(r.rig)->ops->release(r.rig, r.mem[i]);
    gt_exec_destroy(r.exec);
    gt_rig_close(r.rig);
}

static void test_lab(void **state) {
    const struct gt_device *d = *state;
    check_one(d, "f32-nn-33x17x20");
    check_one(d, "i32-tt-16x40x9");
    if (d->has_f64)
        check_one(d, "f64-tn-9x65x33,beta");
    else
        print_message("%s has no f64\n", d->name);
}

/* A kernel that notes which set it is run on, and how long ago, in launches, that one was
 * used last. */
struct noted {
    const struct gt_exec *exec;
    const struct gt_sets *sets;
    long *now, *last; /* of all kernels; last[set] */
    long *soonest;
};

static gt_status enqueue_noted(void *self, const struct gt_call *x, struct gt_err *err) {
    struct noted *n = self;
    const struct gt_product product = gt_product_of(n->exec);
    int set = 0;
    while (n->sets->view[0][set] != x->a)
        set++;
    const long ago = ++*n->now - n->last[set];
    if (n->last[set] > 0 && ago < *n->soonest)
        *n->soonest = ago;
    n->last[set] = *n->now;
    return product.enqueue(product.self, x, err);
}

/* Whichever kernel runs, during warm-up or timing and with any length of samples: no set is
 * used again within half a ring of launches. tests/unit/test_stopwatch.c tests every
 * length. */
static void test_ring(void **state) {
    static const double sample_ns[3] = {1, 1e7, 5e5};
    static long last[GT_SETS_MAX];
    struct gt_stopwatch *watch[3] = {NULL};
    struct noted noted[3];
    struct bench b;
    struct gt_err err;
    long now = 0, soonest = LONG_MAX;
    const struct gt_device *d = *state;
    if (d->backend == GEMMTUNE_CUDA)
        skip(); /* launches are captured once and replayed */
    memset(last, 0, sizeof last);
    assert_ok(open_bench(&b, d, "f32-nn-33x17x20", &err));
    for (int i = 0; i < 3; i++) {
        const struct gt_product product = {.enqueue = enqueue_noted, .self = &noted[i]};
        noted[i] = (struct noted){b.exec, &b.lab->sets, &now, last, &soonest};
        assert_ok(gt_stopwatch_create(&watch[i], b.lab, &product, sample_ns[i], 1e9, &err));
    }
    for (int round = 0; round < 12; round++)
        for (int i = 0; i < 3; i++) {
            double ns;
            assert_ok(gt_stopwatch_sample(watch[(i + round) % 3], &ns, &err));
        }
    print_message("%d sets; samples of %d, %d and %d launches; again after %ld\n",
                  b.lab->sets.count, gt_stopwatch_launches(watch[0]),
                  gt_stopwatch_launches(watch[1]), gt_stopwatch_launches(watch[2]),
                  soonest);
    assert_true(soonest >= b.lab->sets.count / 2);
    for (int i = 0; i < 3; i++)
        gt_stopwatch_destroy(watch[i]);
    close_bench(&b);
}

/* A kernel that is not always launched as it should be. */
struct lazy {
    const struct gt_exec *exec;
    enum { HONEST, LEAVES_OUT, OTHER_D2 } how;
    void *other_d2;
    int launches;
};

static gt_status enqueue_lazy(void *self, const struct gt_call *asked, struct gt_err *err) {
    struct lazy *l = self;
    struct gt_call call = *asked;
    if (l->how == LEAVES_OUT && l->launches++ % 2 == 1)
        return GEMMTUNE_OK;
    if (l->how == OTHER_D2)
        call.d2 = l->other_d2;
    return gt_exec_run(l->exec, &call, err);
}

/* Whether one of so many samples shows what is wrong. */
static bool is_found(struct bench *b, struct lazy *l, int samples) {
    enum { LONG_SAMPLE_NS = 200000 };
    const struct gt_product product = {.enqueue = enqueue_lazy, .self = l};
    struct gt_stopwatch *watch = NULL;
    struct gt_witness *witness = NULL;
    struct gt_err err;
    char why[GT_VERDICT_MAX] = "";
    bool right = true;
    l->exec = b->exec;
    assert_ok(gt_stopwatch_create(&watch, b->lab, &product, LONG_SAMPLE_NS, 1e9, &err));
    assert_ok(gt_witness_create(&witness, b->lab, &err));
    gt_stopwatch_watch(watch, witness);
    for (int i = 0; right && i < samples; i++)
        assert_ok(gt_stopwatch_prove(&right, why, watch, &err));
    print_message("%s %d: %s\n", b->lab->name, (int)l->how, right ? "right" : why);
    gt_stopwatch_destroy(watch);
    gt_witness_destroy(witness);
    return !right;
}

/* A launch that a sample has left out shows, and nothing else does. A sample in which every
 * second launch is missing has 4 sets looked at: one in twenty misses all. */
static void test_what_the_clock_saw(void **state) {
    static const struct {
        const char *problem;
        bool has_d2;
    } rows[] = {{"f32-tn-33x17x20,beta", false},
                {"i32-tt-20x8x9,groups=3", false},
                {"f32-nn-9x8x20,batch=3,masked,epi=u[z]:f32;d=x*u[z]+c;d2=x", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        struct gt_err err;
        struct lazy honest = {.how = HONEST}, lazy = {.how = LEAVES_OUT};
        assert_ok(open_bench(&b, *state, rows[i].problem, &err));
        assert_ok(reserve(b.lab, b.exec, &err));
        assert_false(is_found(&b, &honest, 6));
        assert_true(is_found(&b, &lazy, 40));
        if (rows[i].has_d2) {
            struct lazy other = {.how = OTHER_D2,
                                 .other_d2 = b.lab->timed[0]->fused->d2_view};
            assert_true(is_found(&b, &other, 6));
        }
        close_bench(&b);
    }
}

/* A family of several kernels, from the tests' folder. `says` is the expected error about
 * the point; NULL for none. */
static void check_passes(struct bench *b, const char *text, const char *says) {
    const struct gt_family *split = gt_families_find(families, "split");
    struct gt_exec *e = NULL;
    struct gt_measurement m[2];
    struct gt_point point;
    char why[GT_VERDICT_MAX] = "";
    struct gt_err err;
    bool right;
    assert_non_null(split);
    assert_ok(gt_point_parse(&point, text, &err));
    assert_ok(
        gt_exec_create(&e, gt_lab_gpu(b->lab), split, &point, &b->problem, NULL, &err));
    assert_ok(reserve(b->lab, e, &err));
    assert_ok(check_exec(&right, why, b->lab, e, &err));
    print_message("%s: %s\n", text, right ? "right" : why);
    assert_int_equal(right, says == NULL);
    if (says != NULL) {
        assert_non_null(strstr(why, says));
    } else {
        const struct gt_exec *execs[2] = {b->exec, e};
        assert_ok(gt_lab_time(m, b->lab, execs, 2, &gt_screen_budget, &err));
        assert_true(m[1].median_ns > 0);
        assert_ok(gt_lab_recheck(&right, why, b->lab, e, &err));
        assert_string_equal(why, "");
        assert_true(right);
    }
    gt_exec_destroy(e);
}

static void test_passes(void **state) {
    struct bench b;
    struct gt_err err;
    assert_ok(open_bench(&b, *state, "f32-nn-33x17x20,beta", &err));
    check_passes(&b, "SPLIT=1 PACK=0 BAD=0", NULL);
    check_passes(&b, "SPLIT=2 PACK=0 BAD=0", NULL);
    check_passes(&b, "SPLIT=1 PACK=1 BAD=0", NULL);
    check_passes(&b, "SPLIT=4 PACK=1 BAD=0", NULL);
    check_passes(&b, "SPLIT=4 PACK=1 BAD=1", "elements wrong");
    check_passes(&b, "SPLIT=4 PACK=1 BAD=2", "bytes written outside the workspace");
    check_passes(&b, "SPLIT=4 PACK=1 BAD=3", "elements wrong");
    close_bench(&b);
}

/* A kernel that needs more workspace than a caller can be asked for. */
static void test_workspace_too_large(void **state) {
    static const char json[] =
        "{\"format\": 1, \"family\": \"greedy\", \"about\": \"\", \"source\": {\"cuda\": "
        "\"x\","
        "\"opencl\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\"], \"layouts\": "
        "[\"nn\"],"
        "\"params\": {}, \"default\": {}, \"launch\": {\"block\": [\"1\", \"1\", \"1\"],"
        "\"grid\": [\"1\", \"1\", \"1\"], \"workspace\": \"M == 7 && N > 500 ? 1073741825 "
        ": 4\"},"
        "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\", \"workspace\"]}";
    static const char kernel[] = "GT_KERNEL(gemm, 1, 1, 1)(GT_PARAMS) {}\n";
    static const char *const source[2] = {kernel, kernel};
    const struct gt_point point = {.count = 0};
    struct gt_family *greedy;
    struct gt_exec *e;
    struct bench b;
    struct gt_err err;
    assert_ok(gt_family_parse(&greedy, "greedy", "greedy", json, source, &err));
    assert_ok(open_bench(&b, *state, "f32-nn-33x17x20", &err));
    assert_ok(
        gt_exec_create(&e, gt_lab_gpu(b.lab), greedy, &point, &b.problem, NULL, &err));
    assert_int_equal(reserve(b.lab, e, &err), GEMMTUNE_EINVAL); /* for a small case */
    print_message("%s\n", err.line);
    assert_non_null(strstr(err.line, "needs 1073741825 bytes of workspace"));
    gt_exec_destroy(e);
    close_bench(&b);
    gt_family_destroy(greedy);
}

/* A problem that cannot fit is refused before anything is allocated. */
static void test_too_large(void **state) {
    struct gt_lab *lab = NULL;
    struct gt_err err;
    gemmtune_problem p;
    assert_ok(gt_lab_create(&lab, *state, &err));
    assert_ok(gt_problem_from_name(&p, "f64-nn-1000000x1000000x1000000", &err));
    assert_int_equal(gt_lab_setup(lab, &p, SEED, &err), GEMMTUNE_ENOMEM);
    assert_non_null(strstr(err.line, "f64-nn-1000000x1000000x1000000: needs "));
    gt_lab_destroy(lab);
}

/* ---- clocks and barriers ---- */

/* CUDA's kernels see a clock that a device can have, OpenCL's none. */
static void test_look_at_the_clock(void **state) {
    const struct gt_device *d = *state;
    struct bench b;
    struct gt_err err;
    int mhz = -1;
    assert_ok(open_bench(&b, d, "f32-nn-33x17x20", &err));
    assert_ok(gt_checker_clock(&mhz, b.lab->checker, &err));
    if (d->backend == GEMMTUNE_CUDA)
        assert_in_range(mhz, 1, d->clock_mhz + d->clock_mhz / 2);
    else
        assert_int_equal(mhz, 0);
    close_bench(&b);
}

static void test_time_needs_inputs(void **state) {
    const struct gt_device *d = *state;
    struct bench b;
    struct gt_measurement m;
    struct gt_err err;
    assert_ok(open_bench(&b, d, "f32-nn-33x17x20", &err));
    const struct gt_exec *execs[] = {b.exec};
    gt_sets_clear(b.lab);
    assert_int_equal(gt_lab_time(&m, b.lab, execs, 1, &gt_screen_budget, &err),
                     GEMMTUNE_EINVAL);
    assert_ok(gt_lab_setup_inputs(b.lab, &err));
    assert_ok(gt_lab_time(&m, b.lab, execs, 1, &gt_screen_budget, &err));
    close_bench(&b);
}

/* A kernel that waits for a barrier that nobody reaches ends with an error: not never, and
 * not with a wrong result. (Whether it ends too early while others use the device shows
 * only under their load.) Only for real devices: the fake one runs a block's threads in any
 * order. */
static void test_endless_wait(void **state) {
    const struct gt_device *d = *state;
    const struct gt_family *stuck = gt_families_find(families, "stuck");
    struct bench b;
    char why[GT_VERDICT_MAX] = "";
    struct gt_err err;
    bool right = false;
    if (d->backend != GEMMTUNE_CUDA || d->cc < 90)
        skip();
    for (int bad = 0; bad < 2; bad++) {
        struct gt_point point;
        gt_family_default(stuck, &point);
        point.entry[0].value = bad;
        assert_ok(open_bench(&b, d, "f32-nn-33x17x20", &err));
        gt_exec_destroy(b.exec);
        b.exec = NULL;
        assert_ok(gt_exec_create(&b.exec, gt_lab_gpu(b.lab), stuck, &point, &b.problem,
                                 NULL, &err));
        const gt_status status = check_exec(&right, why, b.lab, b.exec, &err);
        assert_int_equal(status, bad ? GEMMTUNE_EDEVICE : GEMMTUNE_OK);
        assert_true(right == !bad);
        if (bad)
            assert_non_null(strstr(err.line, "CUDA_ERROR_LAUNCH_FAILED"));
        close_bench(&b);
    }
}

/* ---- running ---- */

/* The fake device runs a block's threads in any order, so it takes no test of barriers. */
static int run_on(struct gt_device *d, bool is_fake) {
    struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_memory, NULL),
        cmocka_unit_test_prestate(test_time, NULL),
        cmocka_unit_test_prestate(test_lab, NULL),
        cmocka_unit_test_prestate(test_look_at_the_clock, NULL),
        cmocka_unit_test_prestate(test_time_needs_inputs, NULL),
        cmocka_unit_test_prestate(test_ring, NULL),
        cmocka_unit_test_prestate(test_what_the_clock_saw, NULL),
        cmocka_unit_test_prestate(test_passes, NULL),
        cmocka_unit_test_prestate(test_workspace_too_large, NULL),
        cmocka_unit_test_prestate(test_too_large, NULL),
        cmocka_unit_test_prestate(test_endless_wait, NULL),
    };
    const size_t count = sizeof tests / sizeof *tests;
    printf("%s: %s\n", gt_backend_name(d->backend), d->name);
    if (!d->trouble[0])
        return run_group(tests, is_fake ? count - 1 : count, d);
    printf("skipped: %s\n", d->trouble);
    return 0;
}

int main(int argc, char **argv) {
    const bool is_fake = argc > 1;
    int failed = 0;
    if (!open_devices())
        return 1;
    if (is_fake)
        failed = devices.count > 0 ? run_on(&devices.device[0], true) : 1;
    for (size_t i = 0; !is_fake && i < devices.count; i++)
        failed += run_on(&devices.device[i], false);
    for (int i = 0; i < 2; i++)
        if (devices.missing[i][0])
            printf("no device: %s\n", devices.missing[i]);
    if (!is_fake && devices.count > 0)
        failed += run_on_fake_device(argv[0]);
    close_devices();
    return failed != 0;
}
