/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_general.c - from `gemmtune build --general` to a program that lets better
 * kernels be built: its first product does not wait for the compiler, a later one has the
 * better kernel, and both are right. On the fake CUDA driver the compiler hangs until the
 * first product is there. On OpenCL as well, where the compiler does not hang.
 */
#include "core/problem/problem.h"
#include "runtime/family/family.h"
#include "tests/tune/program.h"
#include "tests/unit/records.h"
#include "tuner/rig/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SIDE = 96, SHAPES = 8, WORKSPACE = 32 << 20 };
static char work[300], hold[400], database[400];

/* ---- products ---------------------------------------------------------------------- */

/* Matrices of small integers on the device: sums of them are exact. */
struct setting {
    struct gt_rig *rig;
    const struct gt_rig_ops *ops;
    gemmtune_ctx *ctx;
    void *a, *b, *c;
    float in_a[SIDE * SIDE], in_b[SIDE * SIDE], out[SIDE * SIDE];
};

static void *on_device(const struct setting *s, const float *from) {
    void *memory = NULL;
    assert_int_equal(s->ops->alloc(&memory, s->rig, sizeof s->out, NULL), GEMMTUNE_OK);
    assert_int_equal(s->ops->write(s->rig, memory, 0, from, sizeof s->out, NULL),
                     GEMMTUNE_OK);
    return memory;
}

static void begin(struct setting *s, const struct gt_device *d) {
    gemmtune_target target;
    assert_int_equal(gt_rig_open(&s->rig, d, NULL), GEMMTUNE_OK);
    s->ops = gt_rig_head(s->rig)->ops;
    s->ops->target(&target, s->rig);
    target.flags = GEMMTUNE_OPEN_BUILD_BEHIND;
    assert_int_equal(gemmtune_open(&s->ctx, database, &target), GEMMTUNE_OK);
    for (int i = 0; i < SIDE * SIDE; i++) {
        s->in_a[i] = (float)(i * 7 % 5 - 2);
        s->in_b[i] = (float)(i * 5 % 7 - 3);
    }
    s->a = on_device(s, s->in_a);
    s->b = on_device(s, s->in_b);
    s->c = on_device(s, s->in_a);
}

static void end(struct setting *s) {
    gemmtune_close(s->ctx);
    s->ops->release(s->rig, s->a);
    s->ops->release(s->rig, s->b);
    s->ops->release(s->rig, s->c);
    gt_rig_close(s->rig);
}

/* One product in one call, and a look at all of its elements. */
static void multiply(struct setting *s, int m, int n, int k) {
    assert_int_equal(gemmtune_sgemm(s->ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, m, n, k, 1, s->a, k, s->b, n, 0, s->c,
                                    n, gt_rig_head(s->rig)->stream),
                     GEMMTUNE_OK);
    assert_int_equal(s->ops->finish(s->rig, NULL), GEMMTUNE_OK);
    assert_int_equal(s->ops->read(s->rig, s->c, 0, s->out, sizeof s->out, NULL),
                     GEMMTUNE_OK);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int l = 0; l < k; l++)
                sum += s->in_a[i * k + l] * s->in_b[l * n + j];
            if (s->out[i * n + j] != sum)
                fail_msg("%dx%dx%d: element %d,%d is %g, not %g", m, n, k, i, j,
                         (double)s->out[i * n + j], (double)sum);
        }
}

static gemmtune_plan *plan_of(const struct setting *s, int m, int n, int k) {
    gemmtune_problem p;
    gemmtune_plan *plan = NULL;
    assert_int_equal(gemmtune_problem_init(&p, GEMMTUNE_F32, m, n, k), GEMMTUNE_OK);
    p.layout = GEMMTUNE_ROW_MAJOR;
    assert_int_equal(
        gemmtune_plan_create(&plan, s->ctx, &p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE),
        GEMMTUNE_OK);
    return plan;
}

static gemmtune_better better_of(const gemmtune_plan *plan) {
    gemmtune_plan_info info;
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    return info.better;
}

static void wait_while_building(const gemmtune_plan *plan) {
    const struct timespec time = {.tv_nsec = 20000000};
    while (better_of(plan) == GEMMTUNE_BETTER_BUILDING)
        (void)nanosleep(&time, NULL);
}

static void hang(bool hangs) {
    FILE *file = hangs ? fopen(hold, "w") : NULL;
    if (file != NULL)
        (void)fclose(file);
    else
        (void)unlink(hold);
}

/* A shape, before and after its better kernel is built. False when it needs none. */
static bool try_shape(struct setting *s, int m, int n, int k) {
    const int64_t before = count_images();
    hang(true);
    multiply(s, m, n, k);
    gemmtune_plan *plan = plan_of(s, m, n, k);
    const bool was_behind = better_of(plan) != GEMMTUNE_BETTER_NONE;
    hang(false);
    wait_while_building(plan);
    if (was_behind) {
        assert_int_equal(better_of(plan), GEMMTUNE_BETTER_READY);
        assert_true(count_images() > before);
    }
    gemmtune_plan_destroy(plan);
    multiply(s, m, n, k);
    plan = plan_of(s, m, n, k);
    assert_int_equal(better_of(plan), GEMMTUNE_BETTER_NONE);
    gemmtune_plan_destroy(plan);
    return was_behind;
}

/* A record of the first shape with the default point of the plainest family, which no
 * lookup answers with. */
static void put_record(const struct gt_device *d) {
    static const char problem[] = "f32-nn-64x64x64";
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_families *families;
    struct gt_db *db;
    struct gt_point point;
    struct gt_err err = {""};
    char key[GT_DEVICE_KEY_MAX], text[GT_POINT_TEXT_MAX];
    int64_t run;
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_open(&db, database, GT_DB_WRITE, &err), GEMMTUNE_OK);
    const struct gt_family *naive = gt_families_find(families, "naive");
    gt_family_default(naive, &point);
    (void)gt_point_text(&point, text);
    gt_device_key(d, key);
    assert_int_equal(gt_db_run_begin(&run, db, d, &info, &err), GEMMTUNE_OK);
    const struct gt_record_row row = {
        .subject = {key, problem, naive->name, naive->hash, text},
        .verified = true,
        .time = {.median_ns = 7000,
                 .low_ns = 6900,
                 .high_ns = 7100,
                 .samples = 9,
                 .launches = 1},
        .provenance = "local"};
    assert_int_equal(put_local_records(db, key, problem, &row, 1, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_run_end(db, run, "done", &err), GEMMTUNE_OK);
    gt_db_close(db);
    gt_families_destroy(families);
}

/* One of the shapes has another kernel than the general ones. */
static void try_device(const struct gt_device *d) {
    static const int shape[SHAPES][3] = {{64, 64, 64}, {33, 95, 17}, {1, 96, 96},
                                         {96, 96, 96}, {96, 3, 80},  {16, 16, 96},
                                         {80, 48, 8},  {5, 7, 96}};
    struct setting *s = calloc(1, sizeof *s);
    bool behind = false;
    assert_non_null(s);
    begin(s, d);
    for (int i = 0; i < SHAPES && !behind; i++)
        behind = try_shape(s, shape[i][0], shape[i][1], shape[i][2]);
    assert_true(behind);
    end(s);
    free(s);
}

/* ---- tests ------------------------------------------------------------------------- */

static void build_general(const struct gt_device *d) {
    char command[1000], key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    (void)snprintf(command, sizeof command,
                   "build --general --device %s --types f32 --kernels 2 --draws 8 --jobs 2",
                   key);
    assert_int_equal(run_gemmtune(work, command), 0);
    assert_true(count_images() > 0);
    put_record(d);
}

static void test_cuda(void **state) {
    struct gt_device d;
    (void)state;
    if (!find_device(&d, GEMMTUNE_CUDA))
        skip();
    build_general(&d);
    try_device(&d);
}

static void test_opencl(void **state) {
    struct gt_device d;
    (void)state;
    if (!find_device(&d, GEMMTUNE_OPENCL))
        skip();
    build_general(&d);
    try_device(&d);
}

static int set_up(void **state) {
    char path[400];
    (void)state;
    (void)snprintf(work, sizeof work, "%.250s/general-XXXXXX", getenv("TMPDIR"));
    if (mkdtemp(work) == NULL)
        return -1;
    (void)snprintf(database, sizeof database, "%s/db", work);
    (void)snprintf(hold, sizeof hold, "%s/hold", work);
    (void)setenv("FAKE_NVRTC_HOLD", hold, 1);
    (void)snprintf(path, sizeof path, "%s/images", work);
    (void)setenv("GEMMTUNE_CACHE_DIR", path, 1);
    (void)snprintf(path, sizeof path, "%s/tests/fake/libcuda.so", getenv("GT_BUILD"));
    if (access(path, R_OK) != 0 || getenv("GT_SAN")[0] != '\0')
        return 0;
    (void)setenv("GEMMTUNE_LIBCUDA", path, 1);
    (void)snprintf(path, sizeof path, "%s/tests/fake/libnvrtc.so", getenv("GT_BUILD"));
    (void)setenv("GEMMTUNE_LIBNVRTC", path, 1);
    (void)setenv("FAKE_NVRTC_VERSION", "12.9", 1);
    (void)setenv("FAKE_CUDA_DEVICE", "gtx1080", 1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuda),
                                       cmocka_unit_test(test_opencl)};
    return cmocka_run_group_tests_name("general", tests, set_up, NULL);
}
