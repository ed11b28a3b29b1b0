/* SPDX-License-Identifier: Apache-2.0 */
/* Batches in a family: which families serve them, their launches, workspace, arguments and
 * text. */
#include "runtime/family/fit.h"
#include "tests/unit/made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_device card = MADE_UP(.cc = 61, .units = 6, .smem_max = 49152);

/* A family with a workspace of 100 bytes for a product of m 1. The caller destroys it. */
static struct gt_family *family_of(const char *batch, const char *grid, const char *args) {
    static const char *const source[2] = {
        "GT_KERNEL(gemm, 1, 1, 1)(GT_PARAMS) { GT_PRODUCT(); }", ""};
    static const char form[] =
        "{\"format\": 1, \"family\": \"toy\", \"about\": \"\", %s"
        "\"source\": {\"cuda\": \"toy.cu\"}, \"entry\": \"gemm\", \"uses\": [],"
        "\"dtypes\": [\"f32\"], \"layouts\": [\"nn\"],"
        "\"params\": {\"W\": [8]}, \"default\": {\"W\": 8}, \"require\": [],"
        "\"accept\": [], \"align\": [\"16\", \"4\", \"4\"],"
        "\"launch\": {\"block\": [\"W\", \"1\", \"1\"], \"grid\": [%s],"
        "\"workspace\": \"100 * M\"},"
        "\"args\": [\"m\", \"alpha\", \"a\", \"b\", \"beta\", \"c\"%s]}";
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    char json[1024];
    (void)snprintf(json, sizeof json, form, batch, grid, args);
    (void)gt_family_parse(&f, "toy", "toy/space.json", json, source, &err);
    assert_string_equal(err.line, "");
    return f;
}

static struct gt_family *grid_family(void) {
    return family_of("\"batch\": \"grid\",", "\"M\", \"1\", \"1\"", ", \"workspace\"");
}

static gt_status fit_to(struct gt_fit *fit, const struct gt_family *f, const char *name,
                        struct gt_err *err) {
    gemmtune_problem p;
    struct gt_point point;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    gt_family_default(f, &point);
    return gt_fit_point(fit, f, &card, &p, &point, err);
}

/* CUDA has at most 65535 blocks along y and z, so a large batch is spread over both. */
static void test_the_grid_numbers_products(void **state) {
    static const struct {
        const char *name;
        int64_t y, z;
    } rows[] = {
        {"f32-nn-3x4x4", 1, 1},
        {"f32-nn-3x4x4,batch=2", 2, 1},
        {"f32-nn-3x4x4,batch=65535", 65535, 1},
        {"f32-nn-3x4x4,batch=65536", 32768, 2},
        {"f32-nn-3x4x4,batch=1000003", 62501, 16},
        {"f32-nn-3x4x4,batch=2147483647", 65535, 32769},
    };
    (void)state;
    struct gt_family *f = grid_family();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        struct gt_fit fit;
        (void)fit_to(&fit, f, rows[i].name, &err);
        assert_string_equal(err.line, "");
        assert_int_equal(fit.passes.item[0].launch.grid[0], 3);
        assert_int_equal(fit.passes.item[0].launch.grid[1], rows[i].y);
        assert_int_equal(fit.passes.item[0].launch.grid[2], rows[i].z);
    }
    gt_family_destroy(f);
}

static void test_each_product_has_its_workspace(void **state) {
    struct gt_fit fit;
    (void)state;
    struct gt_family *f = grid_family();
    assert_int_equal(fit_to(&fit, f, "f32-nn-3x4x4", NULL), GEMMTUNE_OK);
    assert_int_equal(fit.passes.workspace_bytes, 300);
    assert_int_equal(fit_to(&fit, f, "f32-nn-3x4x4,batch=7", NULL), GEMMTUNE_OK);
    assert_int_equal(fit.passes.workspace_step, 512);
    assert_int_equal(fit.passes.workspace_bytes, 7 * 512);
    gt_family_destroy(f);
}

static void test_refusals(void **state) {
    static const struct {
        const char *batch, *grid, *name, *said;
    } rows[] = {
        {"", "\"M\", \"1\", \"1\"", "f32-nn-3x4x4,batch=2", "has no kernel for batches"},
        {"\"batch\": \"only\",", "\"M\", \"1\", \"1\"", "f32-nn-3x4x4",
         "has kernels for batches only"},
        {"\"batch\": \"grid\",", "\"1\", \"M\", \"1\"", "f32-nn-3x4x4,batch=2",
         "the grid's y and z number the products, so they must be 1"},
        {"\"batch\": \"grid\",", "\"M\", \"1\", \"1\"", "f32-nn-3x4x4,batch=2,sa=14",
         "the rows of A are not aligned"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_family *f = family_of(rows[i].batch, rows[i].grid, "");
        struct gt_err err = {""};
        struct gt_fit fit;
        assert_int_not_equal(fit_to(&fit, f, rows[i].name, &err), GEMMTUNE_OK);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.line, rows[i].said);
        gt_family_destroy(f);
    }
}

static void expect(const struct gt_family *f, const char *name, const char *piece,
                   bool has) {
    struct gt_fit fit;
    char *text = NULL;
    assert_int_equal(fit_to(&fit, f, name, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_source_of(&text, &fit.binding, &card, NULL), GEMMTUNE_OK);
    if ((strstr(text, piece) != NULL) != has)
        fail_msg("the text for %s %s \"%s\"", name, has ? "lacks" : "has", piece);
    free(text);
}

/* Kernels of single products do not change when a family learns batches. */
static void test_text(void **state) {
    static const char strides[] =
        "GT_GLOBAL gt_acc *workspace, int batch, gt_long stride_a, gt_long stride_b, "
        "gt_long stride_c, gt_long stride_w\n";
    (void)state;
    struct gt_family *grid = grid_family();
    expect(grid, "f32-nn-3x4x4,batch=2", "#define GT_BATCH 1\n", true);
    expect(grid, "f32-nn-3x4x4,batch=2", strides, true);
    expect(grid, "f32-nn-3x4x4", "#define GT_BATCH", false);
    expect(grid, "f32-nn-3x4x4", "GT_GLOBAL gt_acc *workspace\n", true);
    gt_family_destroy(grid);
    struct gt_family *own =
        family_of("\"batch\": \"own\",", "\"cdiv(BATCH, 4)\", \"1\", \"1\"",
                  ", \"batch\", \"stride_a\", \"stride_c\"");
    expect(own, "f32-nn-3x4x4,batch=9",
           "c, int batch, gt_long stride_a, gt_long stride_c\n", true);
    expect(own, "f32-nn-3x4x4", "c, int batch, gt_long stride_a, gt_long stride_c\n", true);
    struct gt_fit fit;
    assert_int_equal(fit_to(&fit, own, "f32-nn-3x4x4,batch=9", NULL), GEMMTUNE_OK);
    assert_int_equal(fit.passes.item[0].launch.grid[0], 3);
    assert_int_equal(fit.passes.item[0].launch.grid[1], 1);
    gt_family_destroy(own);
}

/* Operands may have a value or a row for each product. A kernel of the grid is told the
 * number of its product or group. A kernel that deals with all products divides by m, which
 * must be a constant. */
static void expect_products(struct gt_family *f) {
    static const char *const name = "f32-nn-3x4x4,batch=2,epi=scale_batch_batch_bias";
    const char *why = "";
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    f->batching = GT_BATCHING_GRID;
    expect(f, name, "#define GT_Z gt_z\n", true);
    expect(f, name, "#define GT_MOVE_PRODUCT(product) gt_z = (int)(product)\n", true);
    expect(f, name, ", gt_long gt_ld_1, int gt_z", true);
    expect(f, "f32-nn-6x4x4,groups=2,epi=batch_bias", "#define GT_Z gt_z\n", true);
    expect(f, "f32-nn-3x4x4,epi=batch_bias", "#define GT_Z gt_z\n", true);
    f->batching = GT_BATCHING_OWN;
    assert_false(gt_family_serves(f, &card, &p, &why));
    assert_string_equal(why, "the family's kernels do not know the product of an element");
    f->per_problem = true;
    assert_true(gt_family_serves(f, &card, &p, &why));
    expect(f, name, "#define GT_Z ((int)(gt_i / 3))\n", true);
}

/* Operands with rows move to the block's product, others serve all products. A family that
 * deals with all products itself has an epilogue, too. */
static void test_epilogue(void **state) {
    static const char name[] = "f32-nn-3x4x4,batch=2,epi=s:f32;d=s*x+b[j]+r[i]*u[i,j]";
    static const char moves[] = "#define GT_MOVE_PRODUCT(product) (void)0\n"
                                "#define GT_MOVE_OPERANDS(rows, product) "
                                "GT_MOVE_PRODUCT(product); gt_op_2 += (rows)"
                                "; gt_op_3 += (rows) * gt_ld_3\n";
    gemmtune_problem p;
    const char *why = "";
    (void)state;
    struct gt_family *f = grid_family();
    f->epilogue = true;
    expect(f, name, moves, true);
    expect(f, name, "batch.h", true);
    expect(f, "f32-nn-3x4x4,epi=relu", "batch.h", false);
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    f->batching = GT_BATCHING_OWN;
    assert_true(gt_family_serves(f, &card, &p, &why));
    expect_products(f);
    f->epilogue = false;
    assert_false(gt_family_serves(f, &card, &p, &why));
    assert_string_equal(why, "the family has no place for an epilogue");
    gt_family_destroy(f);
}

/* Pointers reach any family of the grid, and only what they promise is aligned. */
static void test_pointers(void **state) {
    struct gt_err err = {""};
    struct gt_fit fit;
    (void)state;
    struct gt_family *f = grid_family();
    expect(f, "f32-nn-3x4x4,batch=2,pointers,align=16", "#define GT_POINTERS 1\n", true);
    expect(f, "f32-nn-3x4x4,batch=2", "#define GT_POINTERS 0\n", true);
    expect(f, "f32-nn-3x4x4,batch=2", "batch.h", false);
    expect(f, "f32-nn-3x4x4,batch=2,pointers,align=16",
           "const gt_a *const *GT_RESTRICT all_a, const gt_b *const *GT_RESTRICT all_b, "
           "gt_acc beta, gt_c *const *GT_RESTRICT all_c, ",
           true);
    assert_int_equal(fit_to(&fit, f, "f32-nn-3x4x4,batch=2,pointers,align=8", &err),
                     GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "the rows of A are not aligned"));
    gt_family_destroy(f);
    f = family_of("\"batch\": \"only\",", "\"M\", \"1\", \"1\"", "");
    assert_int_equal(fit_to(&fit, f, "f32-nn-3x4x4,batch=2,pointers,align=16", &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "has kernels for strided batches only"));
    gt_family_destroy(f);
    f = family_of("\"batch\": \"only\", \"pointers\": 1,", "\"M\", \"1\", \"1\"", "");
    expect(f, "f32-nn-3x4x4,batch=2,pointers,align=16", "gt_c *const *GT_RESTRICT all_c",
           true);
    assert_int_equal(fit_to(&fit, f, "f32-nn-30x4x4,groups=2", &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "has kernels for strided batches only"));
    gt_family_destroy(f);
}

/* A family without tiles has slots of 64 rows: one more a group than 64 goes into m. A
 * product has its own. M and BATCH are meant for slots. */
static void test_slots(void **state) {
    static const struct {
        const char *name;
        int64_t slots;
    } rows[] = {
        {"f32-nn-640x4x4,groups=3", 13},     {"f32-nn-3x4x4,groups=3", 3},
        {"f32-nn-3x4x4,groups=1", 2},        {"f32-nn-65x4x4,batch=3,masked", 6},
        {"f32-nn-64x4x4,batch=3,masked", 3},
    };
    (void)state;
    struct gt_family *f = grid_family();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_fit fit;
        assert_int_equal(fit_to(&fit, f, rows[i].name, NULL), GEMMTUNE_OK);
        assert_int_equal(fit.passes.item[0].launch.grid[0], 64);
        assert_int_equal(fit.passes.item[0].launch.grid[1], rows[i].slots);
        assert_int_equal(fit.passes.workspace_bytes, rows[i].slots * 6400);
    }
    expect(f, "f32-nn-65x4x4,groups=3", "#define GT_GROUPED 1\n#define GT_SLOT_ROWS 64\n",
           true);
    expect(f, "f32-nn-65x4x4,batch=3,masked",
           "gt_long stride_w, const GT_GLOBAL int *GT_RESTRICT all_rows\n", true);
    gt_family_destroy(f);
}

/* Where a family walks, one launch has all slots or products, and its expressions say how
 * many blocks. With arrays of pointers it walks when it says so. */
static void test_a_walk_has_one_launch(void **state) {
    static const struct {
        const char *name;
        bool pointers; /* the family says so */
        int64_t x, y;
    } rows[] = {
        /* 10 full tiles, and half one for each group */
        {"f32-nn-640x4x4,groups=3", false, 11, 1},
        {"f32-nn-65x4x4,batch=3,masked", false, 6, 1},
        {"f32-nn-65x4x4,batch=3", false, 3, 1},
        {"f32-nn-65x4x4,batch=3,epi=bias", false, 3, 1},
        {"f32-nn-65x4x4,batch=3,pointers,align=16", false, 1, 3},
        {"f32-nn-65x4x4,batch=3,pointers,align=16", true, 3, 1},
        {"f32-nn-65x4x4", false, 1, 1},
    };
    (void)state;
    struct gt_family *f = family_of("\"batch\": \"grid\",",
                                    "\"WALK ? BATCH : 1\", \"1\", \"1\"], \"walk\": \"W == "
                                    "8 ? 64 : 0\", \"cluster\": [\"1\", \"1\", \"1\"",
                                    ", \"workspace\"");
    f->epilogue = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool walks = rows[i].y == 1;
        struct gt_fit fit;
        f->pointers = rows[i].pointers;
        assert_int_equal(fit_to(&fit, f, rows[i].name, NULL), GEMMTUNE_OK);
        assert_int_equal(fit.passes.item[0].launch.grid[0], rows[i].x);
        assert_int_equal(fit.passes.item[0].launch.grid[1], rows[i].y);
        if (!gt_problem_is_batch(&fit.problem))
            continue;
        expect(f, rows[i].name, "#define GT_WALK 1\n", walks);
        expect(f, rows[i].name, "common/batch.h", !walks);
    }
    gt_family_destroy(f);
}

/* A family with "per_problem" has its problem's numbers in the text. */
static void test_text_of_one_problem(void **state) {
    (void)state;
    struct gt_family *f = family_of(
        "\"batch\": \"only\", \"per_problem\": 1, \"derive\": {\"ALL\": \"M * LDB\"},",
        "\"ALL\", \"1\", \"1\"", ", \"batch\"");
    expect(f, "f32-nn-3x4x4,batch=9", "#define GT_ALL 12\n", true);
    expect(f, "f32-nn-3x4x4,batch=9,ldb=8", "#define GT_ALL 24\n", true);
    gt_family_destroy(f);
    f = family_of("\"batch\": \"only\", \"derive\": {\"ALL\": \"M * N\"},",
                  "\"ALL\", \"1\", \"1\"", ", \"batch\"");
    expect(f, "f32-nn-3x4x4,batch=9", "#define GT_ALL (GT_M * GT_N)\n", true);
    gt_family_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_grid_numbers_products),
        cmocka_unit_test(test_each_product_has_its_workspace),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_epilogue),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_a_walk_has_one_launch),
        cmocka_unit_test(test_text_of_one_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
