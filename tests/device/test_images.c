/* SPDX-License-Identifier: Apache-2.0 */
/* The image cache with OpenCL: binaries of programs that are kept, found, damaged, refused
 * by the driver, and built ahead. */
#include "tests/device/machines.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SIDE = 16 };

/* ---- the driver's calls, counted ---- */

static struct gt_opencl real;
static atomic_int sources, binaries;
static atomic_bool refuses_binaries;

static cl_program count_source(cl_context context, cl_uint count, const char **text,
                               const size_t *lengths, cl_int *error) {
    atomic_fetch_add(&sources, 1);
    return real.clCreateProgramWithSource(context, count, text, lengths, error);
}

static cl_program count_binary(cl_context context, cl_uint count, const cl_device_id *on,
                               const size_t *sizes, const unsigned char **bytes,
                               cl_int *verdicts, cl_int *error) {
    if (atomic_load(&refuses_binaries)) {
        *error = GT_CL_INVALID_BINARY;
        return NULL;
    }
    atomic_fetch_add(&binaries, 1);
    return real.clCreateProgramWithBinary(context, count, on, sizes, bytes, verdicts,
                                          error);
}

static void count_calls(void) {
    const struct gt_opencl *cl = gt_opencl_api(NULL);
    if (cl == NULL)
        return;
    real = *cl;
    struct gt_opencl counted = real;
    counted.clCreateProgramWithSource = count_source;
    counted.clCreateProgramWithBinary = count_binary;
    gt_opencl_replace(&counted);
}

/* ---- a cache folder of the test's own ---- */

static char folder[300];

static int set_up(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.200s/gemmtune-images-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL || setenv("GEMMTUNE_CACHE_DIR", folder, 1) != 0)
        return -1;
    count_calls();
    return list_devices(state);
}

/* Calls `fn` with the path of each image; returns their number. */
static int each_image(void (*fn)(const char *path)) {
    DIR *dir = opendir(folder);
    char path[600];
    int count = 0;
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strstr(e->d_name, ".img") != NULL) {
            (void)snprintf(path, sizeof path, "%s/%.200s", folder, e->d_name);
            if (fn != NULL)
                fn(path);
            count++;
        }
    (void)closedir(dir);
    return count;
}

static void remove_image(const char *path) {
    assert_int_equal(remove(path), 0);
}

static int tear_down(void **state) {
    (void)each_image(remove_image);
    (void)rmdir(folder);
    return clear_devices(state);
}

/* Changes a byte in the middle. */
static void damage(const char *path) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const long middle = ftell(f) / 2;
    assert_int_equal(fseek(f, middle, SEEK_SET), 0);
    const int byte = fgetc(f);
    assert_int_equal(fseek(f, middle, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 0x21, f), byte ^ 0x21);
    assert_int_equal(fclose(f), 0);
}

/* ---- one product ---- */

static gemmtune_ctx *opened(struct machine *m) {
    gemmtune_ctx *ctx = NULL;
    const gemmtune_status status = gemmtune_open(&ctx, NULL, &m->target);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    atomic_store(&sources, 0);
    atomic_store(&binaries, 0);
    return ctx;
}

static gemmtune_problem problem(void) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, SIDE, SIDE, SIDE);
    p.layout = GEMMTUNE_ROW_MAJOR;
    return p;
}

/* Runs the plan on matrices of ones, and looks at every element. */
static void expect_right(struct machine *m, const gemmtune_plan *plan) {
    float x[SIDE * SIDE];
    const float one = 1, zero = 0;
    void *queue = m->ops->queue_create(m);
    void *in = m->ops->alloc(m, sizeof x), *out = m->ops->alloc(m, sizeof x);
    for (int i = 0; i < SIDE * SIDE; i++)
        x[i] = 1;
    m->ops->write(m, queue, in, x, sizeof x);
    m->ops->write(m, queue, out, x, sizeof x);
    assert_int_equal(gemmtune_execute(plan, &one, in, in, &zero, out, NULL, queue),
                     GEMMTUNE_OK);
    m->ops->read(m, queue, x, out, sizeof x);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_true(x[i] == SIDE);
    m->ops->release(m, out);
    m->ops->release(m, in);
    m->ops->queue_destroy(m, queue);
}

/* Makes the plan in a context of its own and runs it. Returns the programs that were built
 * from a source. */
static int built_for_plan(struct machine *m) {
    const gemmtune_problem p = problem();
    gemmtune_plan *plan = NULL;
    gemmtune_ctx *ctx = opened(m);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    expect_right(m, plan);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
    return atomic_load(&sources);
}

/* ---- tests ---- */

static gemmtune_status wait_for(int *ready, gemmtune_ctx *ctx, const gemmtune_problem *p) {
    const struct timespec while_compiling = {.tv_nsec = 2000000};
    gemmtune_status status;
    do {
        (void)nanosleep(&while_compiling, NULL);
        status = gemmtune_plan_prepare(ready, ctx, p, GEMMTUNE_MATCH_DEFAULT, 0);
    } while (status == GEMMTUNE_OK && !*ready);
    return status;
}

/* The context's thread builds the image. Then a plan needs no compiler. */
static void built_ahead(struct machine *m) {
    const gemmtune_problem p = problem();
    gemmtune_plan *plan = NULL;
    int ready = 0;
    gemmtune_ctx *ctx = opened(m);
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_ENOTFOUND);
    const gemmtune_status status = wait_for(&ready, ctx, &p);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_int_equal(sources, 1);
    assert_int_equal(each_image(NULL), 1);
    assert_int_equal(gemmtune_plan_create_cached(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(sources, 1);
    assert_int_equal(binaries, 1);
    expect_right(m, plan);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

/* The next context, as the next process, finds the image. */
static void found_again(struct machine *m) {
    assert_int_equal(built_for_plan(m), 0);
    assert_int_equal(binaries, 1);
}

static void damaged(struct machine *m) {
    assert_int_equal(each_image(damage), 1);
    assert_int_equal(built_for_plan(m), 1);
    assert_int_equal(binaries, 0); /* the driver never saw it */
    assert_int_equal(built_for_plan(m), 0);
}

/* A driver that takes no binary gets the source. */
static void refused(struct machine *m) {
    atomic_store(&refuses_binaries, true);
    assert_int_equal(built_for_plan(m), 1);
    atomic_store(&refuses_binaries, false);
    assert_int_equal(each_image(NULL), 1);
    assert_int_equal(built_for_plan(m), 0);
}

static void not_kept(struct machine *m) {
    assert_int_equal(each_image(remove_image), 1);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", "", 1), 0);
    assert_int_equal(built_for_plan(m), 1);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", folder, 1), 0);
    assert_int_equal(each_image(NULL), 0);
    assert_int_equal(built_for_plan(m), 1);
    assert_int_equal(each_image(NULL), 1);
}

/* The steps of one life of an image. */
static void on_opencl(struct machine *m) {
    if (m->device->backend != GEMMTUNE_OPENCL)
        return;
    (void)each_image(remove_image);
    built_ahead(m);
    found_again(m);
    damaged(m);
    refused(m);
    not_kept(m);
}

static void test_images(void **state) {
    (void)state;
    on_every_device(on_opencl);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_images)};
    return cmocka_run_group_tests_name("images", tests, set_up, tear_down);
}
