/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_prebuilt.c - after `gemmtune build` a plan compiles nothing: every kernel of
 * gemmtune_plan_create is in the image cache, for aligned and other pointers, without a
 * workspace, with 32 MiB and with any. On the fake CUDA driver for imported records, on
 * OpenCL for a problem that was never tuned. The fake driver loads the kernels by OpenCL,
 * so these are in both languages.
 */
#include "core/problem/problem.h"
#include "tests/tune/program.h"
#include "tuner/rig/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const size_t workspace[] = {0, (size_t)32 << 20, SIZE_MAX};
static const char *const recorded[] = {"f32-nn-1024x1024x1024", "f32-nn-155x28x74",
                                       "f32-nn-1x24x680"};
enum { RECORDED = sizeof recorded / sizeof *recorded };
static char work[300], database[400], records[400];

/* ---- records ---- */

static bool is_wanted(const char *line) {
    char member[200];
    for (size_t i = 0; i < RECORDED; i++) {
        (void)snprintf(member, sizeof member, "\"problem\": \"%s\"", recorded[i]);
        if (strstr(line, member) != NULL)
            return true;
    }
    return false;
}

/* Some of the H200's records, in a file of their own. */
static size_t write_records(void) {
    static const char first_word[] = "      {\"family\"";
    char path[400], line[8192];
    size_t count = 0;
    (void)snprintf(path, sizeof path, "%s/devices/h200/tuned.json", getenv("GT_SRC"));
    FILE *from = fopen(path, "r"), *to = fopen(records, "w");
    assert_non_null(from);
    assert_non_null(to);
    while (fgets(line, sizeof line, from) != NULL) {
        const bool is_record = strncmp(line, first_word, sizeof first_word - 1) == 0;
        if (is_record && !is_wanted(line))
            continue;
        line[strcspn(line, "\n")] = '\0';
        const size_t length = strlen(line);
        if (is_record && line[length - 1] == ',')
            line[length - 1] = '\0';
        (void)fprintf(to, "%s%s", is_record && count > 0 ? "," : "", line);
        (void)fprintf(to, "\n");
        count += is_record;
    }
    (void)fclose(from);
    assert_int_equal(fclose(to), 0);
    return count;
}

/* ---- the library ---- */

/* Whether the library needs no compiler for any plan of the problem, and what is new in
 * the cache once it has made them. */
static void check_plans(gemmtune_ctx *ctx, const char *name, bool prebuilt) {
    const int64_t before = count_images();
    gemmtune_problem p;
    gemmtune_plan *plan = NULL;
    int ready = 0, all = 1;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof workspace / sizeof *workspace && prebuilt; i++) {
        assert_int_equal(
            gemmtune_plan_prepare(&ready, ctx, &p, GEMMTUNE_MATCH_DEFAULT, workspace[i]),
            GEMMTUNE_OK);
        all &= ready;
    }
    for (size_t i = 0; i < sizeof workspace / sizeof *workspace; i++) {
        assert_int_equal(
            gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, workspace[i]),
            GEMMTUNE_OK);
        gemmtune_plan_destroy(plan);
    }
    assert_true(all == 1);
    if (prebuilt)
        assert_int_equal(count_images(), before);
    else
        assert_true(count_images() > before);
}

static void check_device(const struct gt_device *d, const char *const *name, size_t count,
                         const char *other) {
    struct gt_err err = {""};
    struct gt_rig *rig = NULL;
    gemmtune_target target;
    gemmtune_ctx *ctx = NULL;
    assert_int_equal(gt_rig_open(&rig, d, &err), GEMMTUNE_OK);
    gt_rig_head(rig)->ops->target(&target, rig);
    assert_int_equal(gemmtune_open(&ctx, database, &target), GEMMTUNE_OK);
    for (size_t i = 0; i < count; i++)
        check_plans(ctx, name[i], true);
    check_plans(ctx, other, false); /* what was not asked for is compiled now */
    gemmtune_close(ctx);
    gt_rig_close(rig);
}

/* ---- tests ---- */

static void test_records(void **state) {
    char command[1000];
    struct gt_device d;
    (void)state;
    if (!find_device(&d, GEMMTUNE_CUDA))
        skip();
    assert_true(write_records() >= RECORDED);
    (void)snprintf(command, sizeof command, "import %s --db %s --build --device 0", records,
                   database);
    assert_int_equal(run_gemmtune(work, command), 0);
    assert_true(count_images() > RECORDED);
    check_device(&d, recorded, RECORDED, "f32-tt-333x222x111");
}

static void test_named(void **state) {
    static const char *const named[] = {"f32-nn-48x40x56"};
    char command[1000], key[GT_DEVICE_KEY_MAX];
    struct gt_device d;
    (void)state;
    if (!find_device(&d, GEMMTUNE_OPENCL))
        skip();
    gt_device_key(&d, key);
    (void)snprintf(command, sizeof command, "import %s --db %s", records, database);
    assert_true(write_records() >= RECORDED);
    assert_int_equal(run_gemmtune(work, command), 0);
    (void)snprintf(command, sizeof command, "build %s --db %s --device %s --jobs 2",
                   named[0], database, key);
    assert_int_equal(run_gemmtune(work, command), 0);
    check_device(&d, named, 1, "f64-tt-48x40x56");
}

static int set_up(void **state) {
    char fake[400];
    (void)state;
    (void)snprintf(work, sizeof work, "%.250s/prebuilt-XXXXXX", getenv("TMPDIR"));
    if (mkdtemp(work) == NULL)
        return -1;
    (void)snprintf(database, sizeof database, "%s/db", work);
    (void)snprintf(records, sizeof records, "%s/records.json", work);
    (void)snprintf(fake, sizeof fake, "%s/images", work);
    (void)setenv("GEMMTUNE_CACHE_DIR", fake, 1);
    (void)snprintf(fake, sizeof fake, "%s/tests/fake/libcuda.so", getenv("GT_BUILD"));
    if (access(fake, R_OK) != 0 || getenv("GT_SAN")[0] != '\0')
        return 0;
    (void)setenv("GEMMTUNE_LIBCUDA", fake, 1);
    (void)snprintf(fake, sizeof fake, "%s/tests/fake/libnvrtc.so", getenv("GT_BUILD"));
    (void)setenv("GEMMTUNE_LIBNVRTC", fake, 1);
    (void)setenv("FAKE_CUDA_DEVICE", "h200", 1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_named)};
    return cmocka_run_group_tests_name("prebuilt", tests, set_up, NULL);
}
