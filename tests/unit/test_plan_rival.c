/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan_rival.c - what a plan says of its kernel beside a vendor's library: measured of
 * exactly this kernel, version and no more workspace than the plan has.
 */
#include "tests/unit/plan_driver.h"

#include <math.h>

#define CUBE "f32-nn-1024x1024x1024"
enum { MIB_32 = 32 << 20 };

static char point[GT_POINT_TEXT_MAX];

/* The point of the cube's record. */
static gt_status note_point(void *user, const struct gt_record_row *row,
                            struct gt_err *err) {
    (void)user;
    (void)err;
    (void)snprintf(point, sizeof point, "%s", row->subject.point);
    return GEMMTUNE_OK;
}

static struct gt_rival_row a_rival(const char *library, int64_t workspace, double ratio,
                                   enum gt_verdict verdict) {
    return (struct gt_rival_row){.subject = {key, CUBE, "block", NULL, point},
                                 .workspace = workspace,
                                 .library = library,
                                 .version = 130100,
                                 .verdict = verdict,
                                 .ours_ns = 1000,
                                 .rival_ns = 1000 * ratio,
                                 .ratio = ratio,
                                 .ratio_low = ratio - 0.01,
                                 .ratio_high = ratio + 0.01,
                                 .rounds = 21,
                                 .driver = "driver"};
}

static int begin(void **state) {
    struct gt_families *families;
    struct gt_db *db;
    struct gt_err err = {""};
    if (setup(state) != 0 || gt_families_create(&families, &err) != GEMMTUNE_OK ||
        gt_db_open(&db, db_path, GT_DB_WRITE, &err) != GEMMTUNE_OK ||
        gt_db_records(db, key, CUBE, note_point, NULL, &err) != GEMMTUNE_OK)
        return 1;
    struct gt_rival_row rows[] = {
        a_rival("cublas", 0, 1.25, GT_WIN),
        a_rival("cublas", MIB_32, 0.75, GT_LOSS),
        a_rival("cublaslt", MIB_32, 0.5, GT_LOSS),
        a_rival("cublas", 0, 1.02, GT_TIE),
        a_rival("cublas", 0, 1.1, GT_NOISY),
        a_rival("cublas", 0, 3, GT_WIN), /* of another kernel */
        a_rival("cublas", 0, 3, GT_WIN), /* of an older source */
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    for (size_t i = 0; i < COUNT; i++)
        rows[i].subject.family_hash = gt_families_find(families, "block")->hash;
    rows[3].version = 120900;
    rows[4].version = 120800;
    rows[5].version = rows[6].version = 110000;
    rows[5].subject.point = "BM=32";
    rows[6].subject.family_hash =
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const bool put = gt_db_rivals_put(db, rows, COUNT, &err) == GEMMTUNE_OK;
    gt_db_close(db);
    gt_families_destroy(families);
    return put ? 0 : 1;
}

static gemmtune_plan *made(gemmtune_ctx *ctx, const char *name, size_t workspace_max) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    assert_int_equal(
        gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, workspace_max),
        GEMMTUNE_OK);
    return plan;
}

static gemmtune_rival_info ask(gemmtune_ctx *ctx, const char *name, size_t workspace_max,
                               int version) {
    gemmtune_rival_info info;
    gemmtune_plan *plan = made(ctx, name, workspace_max);
    assert_int_equal(gemmtune_plan_rival(plan, version, &info), GEMMTUNE_OK);
    assert_int_equal(info.struct_size, sizeof info);
    gemmtune_plan_destroy(plan);
    return info;
}

static void test_answers(void **state) {
    static const struct {
        const char *name;
        int version;
        size_t workspace_max;
        int known, verdict;
        double ratio;
    } rows[] = {
        {CUBE, 130100, 0, 1, 1, 1.25},
        {CUBE, 130100, MIB_32 - 1, 1, 1, 1.25},
        {CUBE, 130100, MIB_32, 1, -1, 0.5},
        {CUBE, 130100, SIZE_MAX, 1, -1, 0.5},
        {CUBE, 120900, SIZE_MAX, 1, 0, 1.02},
        {CUBE, 120800, SIZE_MAX, 0, 0, 0}, /* too noisy */
        {CUBE, 110000, SIZE_MAX, 0, 0, 0}, /* of another kernel */
        {CUBE, 100000, SIZE_MAX, 0, 0, 0},
        /* the same kernel with another problem, and another kernel */
        {"f32-nn-1024x1024x1020", 130100, SIZE_MAX, 0, 0, 0},
        {"f32-nn-512x512x512", 130100, SIZE_MAX, 0, 0, 0},
    };
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_rival_info info =
            ask(ctx, rows[i].name, rows[i].workspace_max, rows[i].version);
        if (info.known != rows[i].known || info.verdict != rows[i].verdict ||
            fabs(info.ratio - rows[i].ratio) > 1e-12)
            fail_msg("row %zu: known %d, verdict %d, ratio %g", i, (int)info.known,
                     (int)info.verdict, info.ratio);
    }
    close_all(ctx);
}

static void test_all_members(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = made(ctx, CUBE, MIB_32);
    gemmtune_close(ctx); /* the plan has its own copy */
    gemmtune_rival_info info;
    assert_int_equal(gemmtune_plan_rival(plan, 130100, &info), GEMMTUNE_OK);
    assert_string_equal(info.library, "cublaslt");
    assert_int_equal(info.version, 130100);
    assert_int_equal(info.workspace, MIB_32);
    assert_int_equal(info.verified, 1);
    assert_int_equal(info.rounds, 21);
    assert_true(fabs(info.ours_ns - 1000) < 1e-9 && fabs(info.rival_ns - 500) < 1e-9);
    assert_true(fabs(info.ratio_low - 0.49) < 1e-12 &&
                fabs(info.ratio_high - 0.51) < 1e-12);
    assert_int_equal(gemmtune_plan_rival(plan, 110000, &info), GEMMTUNE_OK);
    const gemmtune_rival_info nothing = {.struct_size = sizeof info};
    assert_memory_equal(&info, &nothing, sizeof info);
    gemmtune_plan_destroy(plan);
}

static void test_column_major(void **state) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    gemmtune_rival_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 1024, 1024, 1024);
    assert_int_equal(p.layout, GEMMTUNE_COL_MAJOR);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_rival(plan, 130100, &info), GEMMTUNE_OK);
    assert_int_equal(info.known, 1);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_errors(void **state) {
    gemmtune_rival_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = made(ctx, CUBE, 0);
    assert_int_equal(gemmtune_plan_rival(NULL, 1, &info), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_CTX);
    assert_int_equal(gemmtune_plan_rival(plan, 1, NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_OUT);
    assert_int_equal(gemmtune_plan_rival(plan, -1, &info), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_errarg(), GEMMTUNE_ARG_OPTIONS);
    assert_int_equal(gemmtune_plan_rival_sized(plan, 1, &info, 4), GEMMTUNE_EINVAL);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_all_members),
        cmocka_unit_test(test_column_major),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, begin, teardown);
}
