/* SPDX-License-Identifier: Apache-2.0 */
/* A lock in front of the library, on every OpenCL device: the pinned kernel runs, out of
 * the images beside the lock without a compiler, or a plan is refused. */
#include "tests/device/machines.h"
#include "tuner/tune/pins.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 32 };

/* ---- the driver's calls, counted ---- */

static struct gt_opencl real;
static atomic_int sources;
static atomic_bool refuses_binaries;

static cl_program count_source(cl_context context, cl_uint count, const char **text,
                               const size_t *lengths, cl_int *error) {
    atomic_fetch_add(&sources, 1);
    return real.clCreateProgramWithSource(context, count, text, lengths, error);
}

static cl_program refuse_binary(cl_context context, cl_uint count, const cl_device_id *on,
                                const size_t *sizes, const unsigned char **bytes,
                                cl_int *verdicts, cl_int *error) {
    if (!atomic_load(&refuses_binaries))
        return real.clCreateProgramWithBinary(context, count, on, sizes, bytes, verdicts,
                                              error);
    *error = GT_CL_INVALID_BINARY;
    return NULL;
}

static char folder[300], lock[400];

static int set_up(void **state) {
    const char *tmp = getenv("TMPDIR");
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    (void)snprintf(folder, sizeof folder, "%.200s/gemmtune-lock-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    (void)snprintf(lock, sizeof lock, "%s/test.lock", folder);
    if (cl != NULL) {
        real = *cl;
        struct gt_opencl counted = real;
        counted.clCreateProgramWithSource = count_source;
        counted.clCreateProgramWithBinary = refuse_binary;
        gt_opencl_replace(&counted);
    }
    return list_devices(state);
}

static int tear_down(void **state) {
    char command[400];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) != 0 || clear_devices(state) != 0;
}

/* ---- a lock ---- */

static gemmtune_problem problem_of(int64_t m) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, m, SIDE, SIDE);
    p.layout = GEMMTUNE_ROW_MAJOR;
    return p;
}

/* Pins the first problem, as `gemmtune lock --images` does, without a database. */
static void pin(struct gt_pinned_problem *out, struct machine *m) {
    const struct gt_driver *driver = gt_driver_of(m->device->backend);
    struct gt_snapshot snapshot = {.count = 0};
    struct gt_families *families = NULL;
    struct gt_gpu *gpu = NULL;
    struct gt_err err = {""};
    gemmtune_problem p = problem_of(SIDE);
    bool pinned = false;
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", folder, 1), 0);
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    assert_int_equal(driver->open(&gpu, &m->target, &err), GEMMTUNE_OK);
    assert_int_equal(gt_problem_canonical(&p, NULL, &p, &err), GEMMTUNE_OK);
    snapshot.families = families;
    const struct gt_pins_setup setup = {.path = lock,
                                        .version = "0",
                                        .gpu = gpu,
                                        .snapshot = &snapshot,
                                        .workspace_max = SIZE_MAX,
                                        .images = true};
    (void)gt_pin_problem(&pinned, out, &setup, &p, &err);
    assert_string_equal(err.line, "");
    assert_true(pinned);
    assert_int_equal(gt_pins_write(&setup, out, 1, &err), GEMMTUNE_OK);
    driver->close(gpu);
    gt_families_destroy(families);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", "", 1), 0);
    atomic_store(&sources, 0);
}

static gemmtune_ctx *opened(struct machine *m, const char *path) {
    gemmtune_ctx *ctx = NULL;
    gemmtune_target target = m->target;
    target.lock = path;
    const gemmtune_status status = gemmtune_open(&ctx, NULL, &target);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return ctx;
}

/* ---- tests ---- */

/* Two runs on random data: the same bits, and near the sum of products. */
static void expect_right(struct machine *m, const gemmtune_plan *plan) {
    float a[SIDE * SIDE], b[SIDE * SIDE], c[2][SIDE * SIDE];
    const float one = 1, zero = 0;
    void *queue = m->ops->queue_create(m), *in[2], *out;
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (float)(i * 7919 % 1000) / 999;
        b[i] = (float)(i * 104729 % 1000) / 999;
    }
    in[0] = m->ops->alloc(m, sizeof a);
    in[1] = m->ops->alloc(m, sizeof b);
    out = m->ops->alloc(m, sizeof *c);
    m->ops->write(m, queue, in[0], a, sizeof a);
    m->ops->write(m, queue, in[1], b, sizeof b);
    for (int run = 0; run < 2; run++) {
        memset(c[run], 0xff, sizeof *c);
        m->ops->write(m, queue, out, c[run], sizeof *c);
        assert_int_equal(
            gemmtune_execute(plan, &one, in[0], in[1], &zero, out, NULL, queue),
            GEMMTUNE_OK);
        m->ops->read(m, queue, c[run], out, sizeof *c);
    }
    assert_memory_equal(c[0], c[1], sizeof *c);
    for (int i = 0; i < SIDE * SIDE; i++) {
        double sum = 0;
        for (int k = 0; k < SIDE; k++)
            sum += (double)a[i / SIDE * SIDE + k] * (double)b[k * SIDE + i % SIDE];
        assert_true((double)c[0][i] - sum < 1e-4 && sum - (double)c[0][i] < 1e-4);
    }
    m->ops->release(m, out);
    m->ops->release(m, in[1]);
    m->ops->release(m, in[0]);
    m->ops->queue_destroy(m, queue);
}

/* The pinned kernel, whatever match is asked for, and no source is compiled. */
static void pinned_runs(struct machine *m, const struct gt_pinned_problem *pinned) {
    const struct gt_pinned_kernel *k = &pinned->kernel[GT_PIN_WIDE];
    const gemmtune_problem p = problem_of(SIDE);
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gemmtune_ctx *ctx = opened(m, lock);
    gemmtune_plan *plan = NULL;
    int ready = 0;
    const gemmtune_status status =
        gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    assert_int_equal(info.pinned, 1);
    assert_int_equal(info.same_bits, 1);
    assert_int_equal(info.match, GEMMTUNE_MATCH_DEFAULT);
    assert_string_equal(info.family, k->family->name);
    assert_string_equal(info.params, k->point);
    assert_string_equal(info.image, k->image);
    assert_non_null(strstr(info.why, "pinned by "));
    expect_right(m, plan);
    gemmtune_plan_destroy(plan);
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    assert_int_equal(gemmtune_plan_prepare(&ready, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(ready, 1);
    assert_int_equal(sources, 0);
    gemmtune_close(ctx);
}

/* A problem that is not pinned has no kernel. */
static void others_are_refused(struct machine *m) {
    const gemmtune_problem p = problem_of(SIDE + 1);
    gemmtune_ctx *ctx = opened(m, lock);
    gemmtune_plan *plan = NULL;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_ENOTFOUND);
    assert_null(plan);
    assert_non_null(strstr(gemmtune_errmsg(), "f32-nn-33x32x32 is not pinned"));
    assert_int_equal(sources, 0);
    gemmtune_close(ctx);
}

/* A driver that takes no binary is not given the source. */
static void refused_images_end(struct machine *m) {
    const gemmtune_problem p = problem_of(SIDE);
    gemmtune_ctx *ctx = opened(m, lock);
    gemmtune_plan *plan = NULL;
    atomic_store(&refuses_binaries, true);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_ELOCKED);
    atomic_store(&refuses_binaries, false);
    assert_non_null(strstr(gemmtune_errmsg(), "the driver refuses its binary"));
    assert_int_equal(sources, 0);
    gemmtune_close(ctx);
}

/* The target's lock goes before the variable's, and an empty variable is none. */
static void the_variable_is_read(struct machine *m) {
    gemmtune_ctx *ctx = NULL;
    assert_int_equal(setenv("GEMMTUNE_LOCK", "/nowhere/test.lock", 1), 0);
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_EIO);
    assert_null(ctx);
    assert_non_null(strstr(gemmtune_errmsg(), "/nowhere/test.lock"));
    gemmtune_close(opened(m, lock));
    assert_int_equal(setenv("GEMMTUNE_LOCK", "", 1), 0);
    gemmtune_close(opened(m, NULL));
    assert_int_equal(unsetenv("GEMMTUNE_LOCK"), 0);
}

static void on_opencl(struct machine *m) {
    struct gt_pinned_problem pinned;
    if (m->device->backend != GEMMTUNE_OPENCL)
        return;
    pin(&pinned, m);
    pinned_runs(m, &pinned);
    others_are_refused(m);
    refused_images_end(m);
    the_variable_is_read(m);
}

static void test_lock(void **state) {
    (void)state;
    on_every_device(on_opencl);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lock)};
    return cmocka_run_group_tests_name("lock", tests, set_up, tear_down);
}
