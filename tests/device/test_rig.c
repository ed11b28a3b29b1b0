/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tuner's operations on a device, on every device: memory, timing, checking a correct
 * kernel. Then, in a process of its own, on the fake CUDA driver (tests/fake), which can
 * also compute wrongly, run out of memory or fail.
 */
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

static gt_status open_exec(struct gt_exec **out, struct gt_gpu *gpu,
                           const gemmtune_problem *p, struct gt_err *err) {
    struct gt_point point;
    const struct gt_family *naive = gt_families_find(families, "naive");
    gt_family_default(naive, &point);
    return gt_exec_create(out, gpu, naive, &point, p, NULL, err);
}

/* Makes sure of the workspace of a kernel. */
static gt_status reserve(struct gt_lab *lab, const struct gt_exec *e, struct gt_err *err) {
    struct gt_suite *suite = NULL;
    const gt_status status = gt_lab_reserve(&suite, lab, e, err);
    assert_true((status == GEMMTUNE_OK) == (suite != NULL));
    gt_suite_destroy(suite);
    return status;
}

/* Reserves and checks. */
static gt_status check_exec(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                            const struct gt_exec *e, struct gt_err *err) {
    struct gt_suite *suite = NULL;
    gt_status status = gt_lab_reserve(&suite, lab, e, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_check(right, why, lab, suite, err);
    gt_suite_destroy(suite);
    return status;
}

static gt_status open_bench(struct bench *b, const struct gt_device *d, const char *problem,
                            struct gt_err *err) {
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

static void close_bench(struct bench *b) {
    gt_exec_destroy(b->exec);
    gt_lab_destroy(b->lab);
}

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

/* A kernel fills a view in the middle of an allocation with elements of A's type; both ends
 * keep the poison. */
static void check_view_of(struct gt_rig *rig, const struct gt_dtype *types) {
    enum { COUNT = 999, BYTES = 3 * GT_VIEW_ALIGN };
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const size_t size = gt_type_size(types->a);
    const uint32_t poison = GT_POISON;
    struct gt_checker *checker = NULL;
    gemmtune_problem p;
    static char back[BYTES], want[BYTES];
    struct gt_err err;
    void *a = NULL, *view = NULL;
    gemmtune_problem_init(&p, types->a, 1, 1, 1);
    p.type_b = types->b, p.type_c = types->c, p.type_acc = types->acc;
    assert_ok(gt_checker_create(&checker, rig, &p, 4, &err));
    assert_ok(ops->alloc(&a, rig, BYTES, &err));
    assert_ok(ops->fill(rig, a, BYTES, GT_POISON, &err));
    assert_ok(ops->view(&view, rig, a, GT_VIEW_ALIGN, 2 * GT_VIEW_ALIGN, &err));
    assert_ok(gt_checker_fill(checker, view, types->a, 1, COUNT, COUNT, SEED,
                              GT_DATA_UNIFORM, &err));
    assert_ok(ops->finish(rig, &err));
    assert_ok(ops->read(rig, a, 0, back, BYTES, &err));
    for (size_t at = 0; at < BYTES; at += sizeof poison)
        memcpy(want + at, &poison, sizeof poison);
    for (int64_t i = 0; i < COUNT; i++)
        gt_element_put(want + GT_VIEW_ALIGN + (size_t)i * size, types->a,
                       gt_data_value(SEED, 0, i, GT_DATA_UNIFORM, types->a));
    if (memcmp(back, want, BYTES) != 0)
        fail_msg("device and host make different data of type %s", gt_type_name(types->a));
    ops->view_release(rig, view);
    ops->release(rig, a);
    gt_checker_destroy(checker);
}

static void check_view(struct gt_rig *rig) {
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++)
        if (gt_dtype_at(i)->acc != GEMMTUNE_F64 || gt_rig_head(rig)->device->has_f64)
            check_view_of(rig, gt_dtype_at(i));
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
    const struct gt_call call = {
        &one, r->mem[0], r->mem[1], &zero, r->mem[2], NULL, gt_rig_head(r->rig)->stream,
        false};
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

static void check_one(const struct gt_device *d, const char *problem) {
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
    assert_true(right);
    close_bench(&b);
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

/* ---- the fake device: its errors are noticed, and nothing is left behind ---- */

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
        {"corrupt/gemm@12", "elements wrong"},
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

/* A fault shows after the launch, from then on in every call; closing works all the same.
 */
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
    for (int n = 1; n < 4000;
         n++) { /* whichever is the one that waits for the refused candidate */
        snprintf(text, sizeof text, "cuLaunchKernel/gemm:3=701;cuStreamSynchronize:%d=700!",
                 n);
        script(text);
        gt_status status = open_bench(&b, *state, fault_problem, &err);
        if (status == GEMMTUNE_OK) {
            status = check_exec(&right, why, b.lab, b.exec, &err);
            assert_int_equal(status, GEMMTUNE_EDEVICE);
            close_bench(&b);
            return;
        }
        close_bench(&b);
    }
    fail_msg("no wait behind a refused launch");
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

/* A candidate whose workspace does not fit does not affect the others. */
static void test_no_room_for_workspace(void **state) {
    struct bench b;
    struct gt_err err;
    char text[40], why[GT_VERDICT_MAX];
    bool right = false, met = false;
    for (int n = 50; !met; n++) {
        snprintf(text, sizeof text, "cuMemAlloc:%d=2", n);
        script(text);
        if (open_bench(&b, *state, fault_problem, &err)) { /* an earlier allocation */
            close_bench(&b);
            continue;
        }
        struct gt_exec *less = split_exec(&b, "SPLIT=2 PACK=0 BAD=0");
        struct gt_exec *more = split_exec(&b, "SPLIT=4 PACK=0 BAD=0");
        if (!reserve(b.lab, less, &err)) {
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

/* `count` of one kernel, timed as candidates are, a launch a sample; the first one's time.
 */
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
static void test_wait_in_vain(void **state) {
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

#define ON_EVERY_DEVICE                                                                    \
    cmocka_unit_test_prestate(test_memory, NULL),                                          \
        cmocka_unit_test_prestate(test_time, NULL),                                        \
        cmocka_unit_test_prestate(test_lab, NULL),                                         \
        cmocka_unit_test_prestate(test_look_at_the_clock, NULL),                           \
        cmocka_unit_test_prestate(test_time_needs_inputs, NULL),                           \
        cmocka_unit_test_prestate(test_ring, NULL),                                        \
        cmocka_unit_test_prestate(test_passes, NULL),                                      \
        cmocka_unit_test_prestate(test_workspace_too_large, NULL),                         \
        cmocka_unit_test_prestate(test_too_large, NULL)

static int run_group(struct CMUnitTest *tests, size_t count, struct gt_device *d) {
    for (size_t i = 0; i < count; i++)
        tests[i].initial_state = d;
    return _cmocka_run_group_tests(d->name, tests, count, NULL, NULL);
}

static int run_on(struct gt_device *d) {
    struct CMUnitTest tests[] = {ON_EVERY_DEVICE,
                                 cmocka_unit_test_prestate(test_wait_in_vain, NULL)};
    printf("%s: %s\n", gt_backend_name(d->backend), d->name);
    if (!d->trouble[0])
        return run_group(tests, sizeof tests / sizeof *tests, d);
    printf("skipped: %s\n", d->trouble);
    return 0;
}

static int run_on_fake(struct gt_device *d) {
    struct CMUnitTest tests[] = {
        ON_EVERY_DEVICE,
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
    return run_group(tests, sizeof tests / sizeof *tests, d);
}

static int run_all_faked(char *self) {
    const char *tmp = getenv("TMPDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/fake_cuda_report", tmp ? tmp : "/tmp");
    (void)setenv("FAKE_NVRTC_VERSION", "12.9", 1);
    (void)setenv("FAKE_CUDA_TIME", "model", 1);
    (void)setenv("FAKE_CUDA_REPORT", path, 1);
    return run_faked(self, "gtx1050-2gb");
}

int main(int argc, char **argv) {
    int failed = 0;
    if (!open_devices())
        return 1;
    if (argc > 1)
        failed = devices.count > 0 ? run_on_fake(&devices.device[0]) : 1;
    for (size_t i = 0; argc == 1 && i < devices.count; i++)
        failed += run_on(&devices.device[i]);
    for (int i = 0; i < 2; i++)
        if (devices.missing[i][0])
            printf("no device: %s\n", devices.missing[i]);
    if (argc == 1 && devices.count > 0)
        failed += run_all_faked(argv[0]);
    close_devices();
    return failed != 0;
}
