/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices in host memory on a device with faults: the fake CUDA driver
 * (tests/fake) in a process of its own. Every call of the driver fails once, while the link
 * is measured and while the product runs. Each failure is one sentence with the call's
 * name. Complete tiles of C are right, others are as they were, and nothing is left behind.
 */
#include "tests/device/devices.h"

#include "core/problem/problem.h"
#include "runtime/drivers/cuda_api.h"
#include "runtime/host/link.h"
#include "runtime/host/rates.h"
#include "tuner/rig/rig.h"

#include <string.h>

/* All tiles of A and B fit into MUCH. LITTLE has two slots for each of them and one for C,
 * so tiles take each other's place. */
enum { MUCH = 256 << 10, LITTLE = 24 << 10 };
enum { SIDE = 64, TILE = 32, TILES = (SIDE / TILE) * (SIDE / TILE), EVENTS_MAX = 256 };

static struct gt_err err;

/* ---- the fake ------------------------------------------------------------------------ */

static const struct gt_cuda *cuda(void) {
    const struct gt_cuda *cu = gt_cuda_api(&err);
    assert_non_null(cu);
    return cu;
}

/* Takes effect at once, and counts from the start. */
static void script(const char *text) {
    (void)setenv("FAKE_CUDA_SCRIPT", "", 1);
    assert_int_equal(cuda()->cuInit(0), GT_CU_SUCCESS);
    (void)setenv("FAKE_CUDA_SCRIPT", text, 1);
    assert_int_equal(cuda()->cuInit(0), GT_CU_SUCCESS);
}

/* The last line of the fake's report is about the context that was destroyed last. */
static void assert_nothing_left(bool lost) {
    char line[256] = "", last[256] = "";
    long count = -1, modules = -1, streams = -1, events = -1, pinned = -1;
    FILE *file = fopen(getenv("FAKE_CUDA_REPORT"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        memcpy(last, line, sizeof last);
    (void)fclose(file);
    const int read =
        sscanf(last,
               "memory %ld bytes %*u modules %ld streams %ld events %ld graphs "
               "%*d launches %*d early %*d pinned %ld",
               &count, &modules, &streams, &events, &pinned);
    assert_int_equal(read, 5);
    /* a lost context gives nothing back, and takes all with it */
    if (count != 0 || modules != 0 || streams != 0 || events != 0 || (pinned != 0 && !lost))
        fail_msg("left behind: %s", last);
}

/* The number of fake devices, which come first in the list. */
static size_t fakes(void) {
    size_t count = 0;
    while (count < devices.count && devices.device[count].backend == GEMMTUNE_CUDA)
        count++;
    return count;
}

/* ---- a product ----------------------------------------------------------------------- */

struct bench {
    struct gt_rig *rig;
    gemmtune_ctx *ctx;
    struct gt_link *link;
    bool pinned;
    size_t memory; /* for slots */
    float *a, *b, *c;
    float before[SIDE * SIDE], want[SIDE * SIDE];
    gemmtune_host_report report;
    gemmtune_host_event event[EVENTS_MAX];
    int events;
    const char *afterwards; /* a script for the time after the last lane; NULL: none */
};

static float *make(struct bench *b, int salt) {
    void *memory = NULL;
    if (b->pinned)
        assert_ok(b->link->ops->host_alloc(&memory, b->link, SIDE * SIDE * 4, &err));
    else
        memory = malloc(SIDE * SIDE * sizeof(float));
    float *x = memory;
    assert_non_null(x);
    for (int i = 0; i < SIDE * SIDE; i++)
        x[i] = (float)((i * 7 + i / SIDE * 3 + salt) % 9 - 4);
    return x;
}

static void drop(struct bench *b, float *x) {
    if (b->pinned)
        b->link->ops->host_release(b->link, x);
    else
        free(x);
}

static void open_bench(struct bench *b, size_t device, bool pinned) {
    gemmtune_target target;
    *b = (struct bench){.pinned = pinned, .memory = LITTLE};
    script("");
    assert_ok(gt_rig_open(&b->rig, &devices.device[device], &err));
    gt_rig_head(b->rig)->ops->target(&target, b->rig);
    assert_int_equal(gemmtune_open(&b->ctx, NULL, &target), GEMMTUNE_OK);
    assert_ok(gt_link_open(&b->link, gt_rig_head(b->rig)->gpu, &err));
    b->a = make(b, 1);
    b->b = make(b, 2);
    b->c = make(b, 3);
    memcpy(b->before, b->c, sizeof b->before);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int l = 0; l < SIDE; l++)
                sum += b->a[i * SIDE + l] * b->b[l * SIDE + j];
            b->want[i * SIDE + j] = 2 * sum + 3 * b->before[i * SIDE + j];
        }
}

static void close_bench(struct bench *b, bool lost) {
    script("");
    drop(b, b->a);
    drop(b, b->b);
    drop(b, b->c);
    gt_link_close(b->link);
    gemmtune_close(b->ctx);
    gt_rig_close(b->rig);
    assert_nothing_left(lost);
}

static void take_event(void *user, const gemmtune_host_event *event) {
    struct bench *b = user;
    assert_true(b->events < EVENTS_MAX);
    if (b->afterwards != NULL && b->events == 0)
        script(b->afterwards); /* events are told when all lanes have ended */
    b->event[b->events++] = *event;
}

static gemmtune_status multiply(struct bench *b) {
    const float alpha = 2, beta = 3;
    gemmtune_problem p;
    gemmtune_args args;
    gemmtune_host_options options;
    assert_ok(gt_problem_from_name(&p, "f32-nn-64x64x64", &err));
    gemmtune_args_init(&args);
    args.alpha = &alpha;
    args.beta = &beta;
    args.a = b->a;
    args.b = b->b;
    args.c = b->c;
    gemmtune_host_options_init(&options);
    options.tile_m = options.tile_n = options.tile_k = TILE;
    options.memory_max = b->memory;
    options.threads = 2;
    options.trace = take_event;
    options.trace_user = b;
    gemmtune_host_report_init(&b->report);
    b->events = 0;
    memcpy(b->c, b->before, sizeof b->before);
    return gemmtune_host_gemm(&b->ctx, 1, &p, &args, &options, &b->report);
}

/* Whether a tile of C is equal to the same tile of another matrix. */
static bool tile_is(const struct bench *b, int tile, const float *x) {
    const int row = tile / (SIDE / TILE) * TILE, col = tile % (SIDE / TILE) * TILE;
    for (int i = row; i < row + TILE; i++)
        if (memcmp(&b->c[i * SIDE + col], &x[i * SIDE + col], TILE * sizeof *x) != 0)
            return false;
    return true;
}

/* Tiles are complete or untouched, and all that are reported are complete. */
static void check_tiles(const struct bench *b) {
    int right = 0;
    for (int i = 0; i < TILES; i++) {
        const bool is_right = tile_is(b, i, b->want);
        assert_true(is_right || tile_is(b, i, b->before));
        right += is_right;
    }
    assert_true(right >= b->report.tiles_done);
}

static size_t free_memory(struct bench *b) {
    int64_t bytes = 0;
    assert_ok(b->link->ops->attach(b->link, &err));
    assert_ok(b->link->ops->free_bytes(&bytes, b->link, &err));
    b->link->ops->detach(b->link);
    return (size_t)bytes;
}

/* A failure says which call failed. Once the product has begun, it says how many tiles are
 * complete. */
static void check_sentence(const struct bench *b, const char *call, const char *text) {
    const char *line = gemmtune_errmsg(),
               *said = strstr(line, " of 4 tiles of C are complete");
    if (strstr(line, call) == NULL || strstr(line, "CUDA_ERROR_") == NULL ||
        strchr(line, '\n') != NULL)
        fail_msg("%s: \"%s\"", text, line);
    if (said != NULL)
        assert_int_equal(said[-1] - '0', b->report.tiles_done);
    else
        assert_int_equal(b->report.tiles_done, 0);
}

/* ---- failing calls ------------------------------------------------------------------- */

/* Lets the n-th call of a kind fail. Returns whether the product failed. */
static bool fail_once(struct bench *b, const char *call, int n, int code, int *running) {
    char text[64];
    snprintf(text, sizeof text, "%s:%d=%d", call, n, code);
    const size_t unused = free_memory(b);
    script(text);
    const gemmtune_status status = multiply(b);
    script("");
    check_tiles(b);
    assert_int_equal(free_memory(b), unused);
    if (status == GEMMTUNE_OK) {
        assert_int_equal(b->report.tiles_done, TILES);
        return false;
    }
    check_sentence(b, call, text);
    *running += strstr(gemmtune_errmsg(), "tiles of C are complete") != NULL;
    assert_int_equal(status,
                     code == GT_CU_OUT_OF_MEMORY ? GEMMTUNE_ENOMEM : GEMMTUNE_EDEVICE);
    return true;
}

/* Lets a call fail at growing counts, until the product comes to its end. Returns how often
 * it failed. */
static int fail_often(struct bench *b, const char *call, int code, int *running) {
    int failed = 0;
    for (int n = 1; fail_once(b, call, n, code, running); failed++)
        n += 1 + n / 8;
    return failed;
}

/* Whether a call is made while a link is measured, and while a product runs. The stream of
 * a product waits for an event only if the event's operation is not noted as over. */
enum phase { NEVER, ALWAYS, PERHAPS };

static void test_failing_calls(void **state) {
    static const struct {
        const char *call;
        int code;
        enum phase measuring, running;
    } rows[] = {
        {"cuMemAlloc", GT_CU_OUT_OF_MEMORY, ALWAYS, NEVER},
        {"cuMemHostAlloc", GT_CU_OUT_OF_MEMORY, ALWAYS, NEVER},
        {"cuStreamCreate", 999, ALWAYS, NEVER},
        {"cuEventCreate", 999, ALWAYS, ALWAYS},
        {"cuEventSynchronize", 999, ALWAYS, ALWAYS},
        {"cuEventElapsedTime", 999, ALWAYS, ALWAYS},
        {"cuMemcpy2DAsync", 999, ALWAYS, ALWAYS},
        {"cuLaunchKernel", 999, ALWAYS, ALWAYS},
        {"cuMemGetInfo", 999, ALWAYS, NEVER},
        {"cuStreamWaitEvent", 999, PERHAPS, PERHAPS},
        {"cuEventRecord", 999, ALWAYS, ALWAYS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        int running = 0, ignored = 0;
        /* The first product on a device measures its link. So does the first one with
         * another amount of memory; later ones do not. */
        open_bench(&b, i % fakes(), i % 2 == 0);
        b.memory = MUCH;
        const int first = fail_often(&b, rows[i].call, rows[i].code, &ignored);
        b.memory = LITTLE;
        assert_int_equal(multiply(&b), GEMMTUNE_OK);
        const int second = fail_often(&b, rows[i].call, rows[i].code, &running);
        print_message("%s failed %d times while and after the link was measured, %d times "
                      "without that, %d times in a running product\n",
                      rows[i].call, first, second, running);
        assert_true(rows[i].measuring != ALWAYS || first > 0);
        assert_true(rows[i].running == PERHAPS ||
                    (running > 0) == (rows[i].running == ALWAYS));
        close_bench(&b, false);
    }
}

/* The calling thread has its rig's context, but cannot be attached to the link while the
 * engine is destroyed: the product is right, and nothing is left behind. */
static void test_engine_without_attach(void **state) {
    (void)state;
    for (int pinned = 0; pinned < 2; pinned++) {
        struct bench b;
        open_bench(&b, 0, pinned == 1);
        const size_t unused = free_memory(&b);
        b.afterwards = "cuCtxPushCurrent:1=999";
        assert_int_equal(multiply(&b), GEMMTUNE_OK);
        script("");
        assert_int_equal(b.report.tiles_done, TILES);
        check_tiles(&b);
        assert_int_equal(free_memory(&b), unused);
        close_bench(&b, false);
    }
}

/* ---- rates -------------------------------------------------------------------------- */

/* The rates for a problem, under a script. */
static gt_status rates_of(const struct bench *b, const char *name, int64_t memory,
                          const char *text) {
    struct gt_host_cut cut = {.sums = true};
    struct gt_host_rates rates;
    double link[2];
    assert_ok(gt_problem_from_name(&cut.problem, name, &err));
    script(text);
    const gt_status status =
        gt_host_rates_of(&rates, link, b->ctx, &cut, memory, NULL, &err);
    script("");
    assert_true(status != GEMMTUNE_OK ||
                (rates.in > 0 && rates.out > 0 && rates.flops > 0));
    return status;
}

/* Rates are measured once for each size of problems: the rates of a small product do not
 * serve a large one. */
static void test_rates_are_remembered(void **state) {
    static const char failing[] = "cuLaunchKernel:1=999";
    struct bench b;
    (void)state;
    open_bench(&b, 1, false);
    assert_int_equal(rates_of(&b, "i32-nn-20x20x20", 1 << 20, failing), GEMMTUNE_EDEVICE);
    assert_ok(rates_of(&b, "i32-nn-20x20x20", 1 << 20, ""));
    assert_ok(rates_of(&b, "i32-nn-21x19x20", 1 << 20, failing));
    assert_int_equal(rates_of(&b, "i32-nn-90x90x90", 1 << 20, failing), GEMMTUNE_EDEVICE);
    assert_ok(rates_of(&b, "i32-nn-90x90x90", 1 << 20, ""));
    assert_ok(rates_of(&b, "i32-nn-90x90x90", 1 << 20, failing));
    assert_ok(rates_of(&b, "i32-nn-20x20x20", 1 << 20, failing));
    close_bench(&b, false);
}

/* ---- a lost device ------------------------------------------------------------------- */

/* The device goes away: that call and all later ones fail. */
static void test_lost_device(void **state) {
    static const char *const scripts[] = {
        "cuMemcpy2DAsync:3=700!",   "cuMemcpy2DAsync:16=700!", "cuEventSynchronize:9=700!",
        "cuEventRecord:20=700!",    "cuLaunchKernel:6=700!",   "fault@5",
        "cuEventElapsedTime:7=700!"};
    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct bench b;
        open_bench(&b, 0, i % 2 == 0);
        script(scripts[i]);
        assert_int_equal(multiply(&b), GEMMTUNE_EDEVICE);
        print_message("%s: %s\n", scripts[i], gemmtune_errmsg());
        assert_non_null(strstr(gemmtune_errmsg(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert_non_null(strstr(gemmtune_errmsg(), " of 4 tiles of C are complete"));
        check_tiles(&b);
        assert_int_equal(multiply(&b), GEMMTUNE_EDEVICE); /* it stays away */
        close_bench(&b, true);
    }
}

/* ---- order --------------------------------------------------------------------------- */

static bool covers(const gemmtune_host_event *x, int64_t row, int64_t col) {
    return x->row <= row && row < x->row + x->rows && x->col <= col &&
           col < x->col + x->cols;
}

/* Copies in of an element of an operand that ended before a time. */
static int copies_before(const struct bench *b, char operand, int32_t lane, int64_t row,
                         int64_t col, double time) {
    int count = 0;
    for (int i = 0; i < b->events; i++)
        count += b->event[i].operand == operand && b->event[i].lane == lane &&
                 covers(&b->event[i], row, col) && b->event[i].end <= time;
    return count;
}

/* A product begins after the copies of its A, B and C, and a tile's copy out after its
 * last product. Operations of a lane do not overlap. */
static void check_order(const struct bench *b) {
    int products = 0;
    for (int i = 0; i < b->events; i++) {
        const gemmtune_host_event *e = &b->event[i];
        if (e->operand == 'x') {
            assert_true(copies_before(b, 'A', 0, e->row, e->depth_at, e->begin) > 0);
            assert_true(copies_before(b, 'B', 0, e->depth_at, e->col, e->begin) > 0);
            assert_int_equal(copies_before(b, 'C', 1, e->row, e->col, e->begin), 1);
            assert_int_equal(copies_before(b, 'C', 3, e->row, e->col, e->begin), 0);
            products++;
        }
        for (int j = 0; e->lane == 3 && j < b->events; j++)
            if (b->event[j].operand == 'x' && covers(&b->event[j], e->row, e->col))
                assert_true(b->event[j].end <= e->begin);
        for (int j = 0; j < i; j++)
            if (b->event[j].lane == e->lane)
                assert_true(b->event[j].end <= e->begin);
    }
    assert_int_equal(products, 2 * TILES);
}

static void test_order(void **state) {
    (void)state;
    for (int pinned = 0; pinned < 2; pinned++) {
        struct bench b;
        open_bench(&b, 0, pinned == 1);
        for (int round = 0; round < 6; round++) {
            b.memory = round % 2 == 0 ? LITTLE : MUCH;
            assert_int_equal(multiply(&b), GEMMTUNE_OK);
            check_tiles(&b);
            check_order(&b);
        }
        close_bench(&b, false);
    }
}

/* ---- running ------------------------------------------------------------------------- */

static int run_all(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing_calls), cmocka_unit_test(test_rates_are_remembered),
        cmocka_unit_test(test_order),         cmocka_unit_test(test_engine_without_attach),
        cmocka_unit_test(test_lost_device), /* the last: it leaves pinned memory behind */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        const char *tmp = getenv("TMPDIR");
        char path[1024];
        snprintf(path, sizeof path, "%s/host_faults_report", tmp ? tmp : "/tmp");
        (void)setenv("FAKE_NVRTC_VERSION", "12.9", 1);
        (void)setenv("FAKE_CUDA_REPORT", path, 1);
        (void)setenv("FAKE_CUDA_ORDER", "1", 1);
        return run_faked(argv[0],
                         "gtx1080,gtx1080,gtx1080,gtx1080,gtx1080,gtx1080,gtx1080,gtx1080");
    }
    if (!open_devices())
        return 1;
    const int failed = fakes() == 0 ? 1 : run_all();
    close_devices();
    return failed != 0;
}
