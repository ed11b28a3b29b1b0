/* SPDX-License-Identifier: Apache-2.0 */
/* The text for a compiler, piece by piece and in order. */
#include "runtime/family/family.h"
#include "tests/unit/made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char toy[] =
    "{\"format\": 1, \"family\": \"toy\", \"about\": \"\","
    "\"source\": {\"cuda\": \"toy.cu\", \"opencl\": \"toy.cl\"}, \"entry\": \"gemm\","
    "\"uses\": [\"patches\"],"
    "\"dtypes\": [\"f32\", \"tf32\", \"bf16\", \"i32\"], \"layouts\": [\"nn\", \"nt\"],"
    "\"params\": {\"W\": [8], \"V\": [1]}, \"default\": {\"W\": 8, \"V\": 1},"
    "\"derive\": {\"T\": \"W * W\", \"NEG\": \"-T\", \"BIG\": \"65536 * 65536\", \"OWN\": "
    "\"M * W\", \"FAR\": \"M * LDA\", \"FARTHER\": \"FAR + 1\"},"
    "\"require\": [[\"T <= MAX_THREADS\", \"a\"], [\"min(T, cdiv(W, 3)) * sizeof(ACC) > "
    "0\","
    "\"b\"]], \"accept\": [[\"K > 123456\", \"c\"]],"
    "\"launch\": {\"block\": [\"W\", \"W\", \"1\"], \"grid\": [\"N\", \"M\", \"1\"]},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

static const struct gt_device card = MADE_UP(.cc = 61, .units = 6, .smem_max = 49152);

static struct gt_family *family;

static int setup(void **state) {
    static const char *const source[2] = {"the CUDA template\n", "the OpenCL template\n"};
    (void)state;
    return gt_family_parse(&family, "toy", "toy/space.json", toy, source, NULL) !=
           GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_family_destroy(family);
    return 0;
}

static char *source_of(const struct gt_family *f, const struct gt_point *point,
                       const char *name, const struct gt_device *d) {
    gemmtune_problem p;
    struct gt_binding b;
    char *text = NULL;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, f, d, &p);
    assert_int_equal(gt_bind_point(&b, point, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_source_of(&text, &b, d, NULL), GEMMTUNE_OK);
    return text;
}

static char *source_for(const char *name, const struct gt_device *d) {
    struct gt_point point;
    gt_family_default(family, &point);
    return source_of(family, &point, name, d);
}

static void expect_in_order(const char *text, const char *const *pieces) {
    const char *at = text;
    for (; *pieces != NULL; pieces++) {
        const char *found = strstr(at, *pieces);
        if (found == NULL)
            fail_msg("no \"%s\" after its predecessor", *pieces);
        else
            at = found + strlen(*pieces);
    }
}

/* Each file of a template has a #line of its own. */
static void test_files_of_a_template(void **state) {
    static const char *const pieces[] = {"#line 1 \"toy/first.h\"\nthe CUDA template\n",
                                         "#line 1 \"toy/toy.cu\"\nthe CUDA template\n",
                                         NULL};
    static const char one[] = "\"toy.cu\"", two[] = "[\"first.h\", \"toy.cu\"]";
    static const char *const source[2] = {"the CUDA template\n", "the OpenCL template\n"};
    struct gt_family *kept = family;
    char json[2 * sizeof toy];
    const char *at = strstr(toy, one);
    (void)state;
    assert_non_null(at);
    snprintf(json, sizeof json, "%.*s%s%s", (int)(at - toy), toy, two, at + strlen(one));
    assert_int_equal(gt_family_parse(&family, "toy", "toy/space.json", json, source, NULL),
                     GEMMTUNE_OK);
    char *text = source_for("f32-nt-64x64x64", &card);
    expect_in_order(text, pieces);
    free(text);
    gt_family_destroy(family);
    family = kept;
}

static void test_order_and_values(void **state) {
    static const char *const pieces[] = {
        "#define GT_DTYPE_F32 1\n",
        "#define GT_TYPE_A f32\n",
        "#define GT_TYPE_B f32\n",
        "#define GT_TYPE_C f32\n",
        "#define GT_TYPE_ACC f32\n",
        "#define GT_TA 0\n",
        "#define GT_TB 1\n",
        "#define GT_SIZEOF_A 4\n",
        "#define GT_SIZEOF_B 4\n",
        "#define GT_SIZEOF_C 4\n",
        "#define GT_SIZEOF_ACC 4\n",
        "#define GT_FLOAT 1\n",
        "#define GT_CUDA 1\n",
        "#define GT_CC 61\n",
        "#define GT_CPU 0\n",
        "#define GT_UNITS 6\n",
        "#define GT_WARP 32\n",
        "#define GT_MAX_THREADS 1024\n",
        "#define GT_SMEM_MAX 49152\n",
        "#define GT_REGS_MAX 65536\n",
        "#define GT_W 8\n",
        "#define GT_V 1\n",
        "#define GT_T 64\n",
        "#define GT_NEG (-64)\n",
        "#define GT_BIG 4294967296L\n",
        "#define GT_OWN (GT_M * GT_W)\n", /* of the kernel's m */
        "#define GT_PARAMS gt_acc alpha, const GT_GLOBAL gt_a *GT_RESTRICT a, "
        "const GT_GLOBAL gt_b *GT_RESTRICT b, gt_acc beta, GT_GLOBAL gt_c *GT_RESTRICT c\n",
        "#line 1 \"common/dialect.h\"\n",
        "#define GT_STATIC_ASSERT(",
        "#line 1 \"common/types.h\"\n",
        "#line 1 \"common/patches.h\"\n",
        "GT_STATIC_ASSERT((GT_T <= GT_MAX_THREADS), gt_rule_0);\n",
        "GT_STATIC_ASSERT(",
        "GT_MIN(GT_T, GT_CDIV(GT_W, 3))",
        "GT_SIZEOF_ACC",
        ", gt_rule_1);\n",
        "#line 1 \"toy/toy.cu\"\n",
        "the CUDA template\n",
        NULL,
    };
    (void)state;
    char *text = source_for("f32-nt-64x64x64", &card);
    expect_in_order(text, pieces);
    assert_string_equal(strstr(text, "the CUDA template"), "the CUDA template\n");
    assert_null(strstr(text, "123456")); /* accept is lookup's, not the compiler's */
    assert_null(strstr(text, "#define GT_FAR ")); /* of LDA, which kernels may not have */
    assert_null(strstr(text, "#define GT_FARTHER "));
    assert_null(strstr(text, "common/copies.h")); /* not among "uses" */
    assert_null(strstr(text, "#define GT_LDA"));
    assert_null(strstr(text, "#define GT_ALIGN_A"));
    free(text);
}

/* Types of equal sizes differ in text, so that their images differ in the cache. */
static void test_types_have_names(void **state) {
    static const struct {
        const char *problem, *macro;
    } rows[] = {
        {"f32-nn-8x8x8", "#define GT_DTYPE_F32 1\n"},
        {"tf32-nn-8x8x8", "#define GT_DTYPE_TF32 1\n"},
        {"bf16-nn-8x8x8", "#define GT_DTYPE_BF16 1\n"},
        {"i32-nn-8x8x8", "#define GT_DTYPE_I32 1\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = source_for(rows[i].problem, &card);
        assert_ptr_equal(strstr(text, rows[i].macro), text);
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++)
            if (j != i)
                assert_null(strstr(text, rows[j].macro));
        free(text);
    }
}

static void test_sizes_are_not_in_it(void **state) {
    (void)state;
    char *small = source_for("f32-nn-1x2x3", &card);
    char *large = source_for("f32-nn-1000x2000x3000,lda=4000", &card);
    assert_string_equal(small, large);
    free(small);
    free(large);
}

static void test_each_backend_its_template(void **state) {
    struct gt_device d = card;
    (void)state;
    d.backend = GEMMTUNE_OPENCL;
    char *text = source_for("f32-nn-8x8x8", &d);
    assert_non_null(strstr(text, "#define GT_CUDA 0\n"));
    assert_non_null(strstr(text, "#define GT_CC 0\n"));
    assert_non_null(strstr(text, "#line 1 \"toy/toy.cl\"\nthe OpenCL template\n"));
    assert_null(strstr(text, "the CUDA template"));
    free(text);
}

/* Where pointers are buffers, kernels take the elements before their first ones, and
 * begin by moving there. Lines stay as they are. */
static void test_offsets(void **state) {
    static const char *const source[2] = {
        "GT_KERNEL(gemm, 1, 1, 1)(GT_PARAMS) { x(); }\n",
        "/* GT_KERNEL(no, 1, 1, 1)(GT_PARAMS) { */\n"
        "GT_KERNEL(one, 1, 1, 1)(GT_PARAMS) { /* { */ x(); }\n"
        "GT_KERNEL(two, f(1), 1, 1) // (\n( GT_PARAMS )\n{\n#if 1\n y();\n#endif\n}\n"};
    static const char *const pieces[] = {
        "beta, GT_GLOBAL gt_c *GT_RESTRICT c GT_OPERAND_PARAMS GT_OFFSET_PARAMS\n",
        "#define GT_OFFSET_PARAMS, gt_long gt_at_a, gt_long gt_at_b, gt_long gt_at_c, "
        "gt_long gt_at_gt_op_0, gt_long gt_at_gt_d2\n",
        "#define GT_AT_OFFSETS() a += gt_at_a; b += gt_at_b; c += gt_at_c; "
        "gt_op_0 += gt_at_gt_op_0; gt_d2 += gt_at_gt_d2;\n",
        "/* GT_KERNEL(no, 1, 1, 1)(GT_PARAMS) { */\n"
        "GT_KERNEL(one, 1, 1, 1)(GT_PARAMS) { GT_AT_OFFSETS() /* { */ x(); }\n"
        "GT_KERNEL(two, f(1), 1, 1) // (\n( GT_PARAMS )\n{ GT_AT_OFFSETS()\n#if 1\n y();\n",
        NULL};
    struct gt_family *kept = family;
    struct gt_device d = card;
    struct gt_err err = {""};
    char json[2 * sizeof toy];
    (void)state;
    (void)snprintf(json, sizeof json, "{\"epilogue\": 1, %s", toy + 1);
    (void)gt_family_parse(&family, "toy", "toy/space.json", json, source, &err);
    assert_string_equal(err.line, "");
    d.backend = GEMMTUNE_OPENCL;
    char *text = source_for("f32-nn-8x8x8,epi=s[j]:f32;d=x+s[j];d2=x", &d);
    expect_in_order(text, pieces);
    free(text);
    text = source_for("f32-nn-8x8x8", &card);
    assert_null(strstr(text, "OFFSET"));
    assert_non_null(strstr(text, source[0]));
    free(text);
    gt_family_destroy(family);
    family = kept;
}

static void test_plain(void **state) {
    static const char *const pieces[] = {"#define GT_DTYPE_I32 1\n",
                                         "#define GT_TA 1\n",
                                         "#define GT_UNITS 6\n",
                                         "#define GT_STATIC_ASSERT(",
                                         "#line 1 \"own.cl\"\nhelper text",
                                         NULL};
    gemmtune_problem p;
    char *text = NULL;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "i32-tn-8x8x8", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_source_plain(&text, &card, &p, "own.cl", "helper text", NULL),
                     GEMMTUNE_OK);
    expect_in_order(text, pieces);
    free(text);
    assert_int_equal(gt_source_plain(&text, &card, NULL, "own.cl", "helper", NULL),
                     GEMMTUNE_OK);
    assert_ptr_equal(strstr(text, "#define GT_TA "), text); /* no GT_DTYPE_ before it */
    free(text);
}

static void expect_in_tma(const char *problem, const char *piece) {
    static const struct gt_device h200 =
        MADE_UP(.cc = 90, .units = 132, .smem_max = 227 * 1024);
    struct gt_families *families;
    struct gt_point point;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point,
                                    "BM=96 BN=128 BK=16 TM=12 TN=8 STAGES=3 SPLIT=1 TAIL=0 "
                                    "ORDER=0 REPACK=0 MINB=1 GROUP=8",
                                    NULL),
                     GEMMTUNE_OK);
    char *text = source_of(gt_families_find(families, "tma"), &point, problem, &h200);
    if (strstr(text, piece) == NULL)
        fail_msg("%s: no %s", problem, piece);
    free(text);
    gt_families_destroy(families);
}

/* A compiler warns of a macro with a text that begins right after its name. */
static void test_lists_of_operands_begin_with_a_blank(void **state) {
    (void)state;
    expect_in_tma("f32-nn-96x128x64,epi=bias", "#define GT_OPERANDS , gt_op_0\n");
    expect_in_tma("f32-nn-96x128x64,epi=bias", "#define GT_OPERAND_PARAMS , const");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_values),
        cmocka_unit_test(test_files_of_a_template),
        cmocka_unit_test(test_types_have_names),
        cmocka_unit_test(test_sizes_are_not_in_it),
        cmocka_unit_test(test_each_backend_its_template),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_lists_of_operands_begin_with_a_blank),
    };
    return cmocka_run_group_tests_name("source", tests, setup, teardown);
}
