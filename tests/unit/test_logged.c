/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of other programs' logs and lists: their problems, calls that no kernel has,
 * damaged ones, and whole files. */
#include "tests/unit/short_of_memory.h"
#include "tuner/base/logged.h"
#include "tuner/base/sweep_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROCBLAS "rocblas-bench -f gemm_ex --transposeA N --transposeB N -m 8 -n 4 -k 2 "
#define TYPES(a, c, sum)                                                                   \
    "--a_type " a " --b_type " a " --c_type " c " --d_type " c " --compute_type " sum
#define HIPBLASLT "hipblaslt-bench -m 8 -n 4 -k 2 " TYPES("f16_r", "f16_r", "f32_r") " "

static const struct {
    const char *line, *name;
} problems[] = {
    /* TunableOp: leading dimensions and batches may be missing */
    {"GemmTunableOp_float_TN,tn_200_100_20", "f32-nt-100x200x20"},
    {"GemmTunableOp_double_NT,nt_8_4_2_ld_8_4_8,Default,0.1", "f64-tn-4x8x2"},
    {"GemmTunableOp_Half_NN,nn_8_4_2_ld_9_3_10", "f16-nn-4x8x2,lda=3,ldb=9,ldc=10"},
    {"GemmTunableOp_tf32_NN,nn_8_4_2_ld_8_2_8", "tf32-nn-4x8x2"},
    {"GemmStridedBatchedTunableOp_BFloat16_NN,nn_8_4_2_B_7_ld_8_2_8",
     "bf16-nn-4x8x2,batch=7"},
    {"GemmStridedBatchedTunableOp_BFloat16_float_NN,nn_8_4_2_B_7_ld_8_2_8",
     "bf16=f32-nn-4x8x2,batch=7"},
    {"GemmAndBiasTunableOp_Half_TN,tn_8_4_2_ld_2_2_8", "f16-nt-4x8x2,epi=bias"},
    {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e5m2_Half_TN,"
     "tn_8_4_2_ld_2_2_8_rw_0_bias_None",
     "e5m2+e4m3=f16-nt-4x8x2"},
    {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,"
     "tn_8_4_2_ld_2_2_8_rw_1_bias_Half",
     "e4m3-nt-4x8x2,epi=bias[j]:f16;dequantise_bias"},
    /* rocBLAS: commands and members */
    {ROCBLAS TYPES("f32_r", "f32_r", "f32_r"), "f32-nn-4x8x2"},
    {ROCBLAS TYPES("bf16_r", "f32_r", "f32_r") " --beta 2", "bf16=f32-nn-4x8x2,beta"},
    {ROCBLAS TYPES("i8_r", "i32_r", "i32_r"), "i8-nn-4x8x2"},
    {ROCBLAS TYPES("f32_r", "f32_r", "xf32_r"), "tf32-nn-4x8x2"},
    {"time=3 /opt/rocm/bin/rocblas-bench -f gemm -r s --transposeA T --transposeB C -m 8 "
     "-n 4 -k 2 --lda 2 --ldb 4 --ldc 8 --beta -0.0e7",
     "f32-tt-4x8x2"},
    {"rocblas-bench -f gemm_strided_batched -r d -m 8 -n 4 -k 2 --lda 8 --stride_a 0 "
     "--ldb 2 --stride_b 9 --ldc 8 --stride_c 32 --batch_count 3",
     "f64-nn-4x8x2,batch=3,sa=9,sb=0"},
    {"rocblas-bench -f gemm_batched -r d -m 8 -n 4 -k 2 --batch_count 3",
     "f64-nn-4x8x2,batch=3,pointers"},
    {"- { rocblas_function: \"rocblas_dgemm_64\", transA: 'T', M: 8, N: 4, K: 2, beta: 1, "
     "call_count: 5 }",
     "f64-nt-4x8x2,beta"},
    /* hipBLASLt */
    {HIPBLASLT, "f16-nn-4x8x2"},
    {HIPBLASLT "--bias_vector --activation_type gelu", "f16-nn-4x8x2,epi=bias_gelu_tanh"},
    {HIPBLASLT "--bias_vector --bias_type f16_r --activation_type none",
     "f16-nn-4x8x2,epi=bias"},
    {HIPBLASLT "--activation_type relu", "f16-nn-4x8x2,epi=relu"},
    {"- { function: matmul, M: 8, N: 4, K: 2, transA: N, transB: N, a_type: f16_r, b_type: "
     "f16_r, "
     "c_type: f16_r, d_type: f16_r, compute_type: f32_r, bias_vector: true, use_e: false, "
     "activation_type: relu }",
     "f16-nn-4x8x2,epi=bias_relu"},
    {HIPBLASLT "--scaleA v --scaleB s", "f16-nn-4x8x2,epi=scale_cols"},
    {HIPBLASLT "--scaleA --scaleB", "f16-nn-4x8x2"},
    {HIPBLASLT "--scaleAlpha_vector --scaleB v", "f16-nn-4x8x2,epi=dequantise"},
    {HIPBLASLT "--ldc 9 --ldd 10 --beta 0", "f16-nn-4x8x2,ldc=10"},
    {"- { function: matmul, M: 8, N: 4, K: 2, a_type: f8_r, b_type: bf8_r, c_type: f16_r, "
     "d_type: f16_r, compute_type: f32_r }",
     "e5m2+e4m3=f16-nn-4x8x2"},
    /* DeepBench */
    {"    std::make_tuple(1760, 16, 2048, true, false),", "f32-nt-16x1760x2048"},
    {"make_tuple(1,2,3,false,true)};", "f32-tn-2x1x3"},
};

static struct gt_logged read_line(const char *line, struct gt_err *err) {
    struct gt_logged logged;
    *err = (struct gt_err){""};
    assert_int_equal(gt_logged_read(&logged, line, strlen(line), err), GEMMTUNE_OK);
    return logged;
}

static void test_problems(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct gt_err err;
        char name[GT_PROBLEM_NAME_MAX];
        const struct gt_logged x = read_line(problems[i].line, &err);
        if (x.fate != GT_LOGGED_PROBLEM)
            fail_msg("%s: fate %d, \"%s\"", problems[i].line, (int)x.fate, err.line);
        (void)gt_problem_name(&x.problem, name);
        assert_string_equal(name, problems[i].name);
    }
}

static void test_calls_and_notes(void **state) {
    struct gt_err err;
    (void)state;
    assert_int_equal(read_line("- { rocblas_function: \"rocblas_sgemm\", M: 1, N: 1, K: 1, "
                               "call_count: 5 }",
                               &err)
                         .calls,
                     5);
    assert_int_equal(read_line(problems[0].line, &err).calls, 1);
    assert_int_equal(read_line(problems[0].line, &err).notes, 0);
    assert_int_equal(read_line("make_tuple(1,2,3,false,true)", &err).notes,
                     GT_LOGGED_UNTYPED);
    assert_int_equal(read_line("rocblas-bench -f gemm -r h -m 1 -n 2 -k 3", &err).notes,
                     GT_LOGGED_HALF_SUMS);
}

static void test_left_out(void **state) {
    static const struct {
        const char *line;
        enum gt_logged_fate fate;
    } rows[] = {
        {"", GT_LOGGED_NONE},
        {"Validator,PT_VERSION,2.2.0", GT_LOGGED_NONE},
        {"loss 0.3, see rocblas-bench.txt", GT_LOGGED_NONE},
        {"{ a: 1 }", GT_LOGGED_NONE},
        {"// std::make_tuple(1, 2, 3, false, false),", GT_LOGGED_NONE},
        {"XGemmTunableOp_float_TN,tn_200_100_20", GT_LOGGED_NONE},
        {"GemmTunableOp_c10::complex<double>_NN,nn_1_2_3", GT_LOGGED_COMPLEX},
        {"rocblas-bench -f gemm -r f32_c -m 1 -n 1 -k 1", GT_LOGGED_COMPLEX},
        {"- { rocblas_function: \"rocblas_zgemm\", M: 1, N: 1, K: 1 }", GT_LOGGED_COMPLEX},
        {"GemmTunableOp_Float8_e4m3fnuz_NN,nn_1_2_3", GT_LOGGED_TYPES},
        {ROCBLAS TYPES("f4_r", "f32_r", "f32_r"), GT_LOGGED_TYPES},
        {ROCBLAS TYPES("f32_r", "f32_r", "f32_bf16_r"), GT_LOGGED_TYPES},
        {ROCBLAS TYPES("i8_r", "f64_r", "i32_r"), GT_LOGGED_TYPES},
        {"rocblas-bench -f gemm -m 1 -n 1 -k 1", GT_LOGGED_TYPES},
        {HIPBLASLT "--activation_type clamp", GT_LOGGED_EPILOGUE},
        {HIPBLASLT "--use_e --bias_vector", GT_LOGGED_EPILOGUE},
        {HIPBLASLT "--gradient", GT_LOGGED_EPILOGUE},
        {HIPBLASLT "--bias_vector --bias_source a", GT_LOGGED_EPILOGUE},
        {HIPBLASLT "--scaleA v --beta 1", GT_LOGGED_EPILOGUE},
        {"hipblaslt-bench --grouped_gemm -m 1 -n 1 -k 1", GT_LOGGED_GROUPED},
        {HIPBLASLT "--ldc 9 --ldd 10 --beta 1", GT_LOGGED_APART},
        {"GemmTunableOp_float_TN,tn_200_0_20", GT_LOGGED_EMPTY},
        {"rocblas-bench -f gemm -r s -m 1 -n 1 -k 1 --batch_count 0", GT_LOGGED_EMPTY},
        {"rocblas-bench -f trsm -r f32_r -m 1 -n 1", GT_LOGGED_OTHER},
        {"rocblas-bench -f gemmt -r f32_r -n 1 -k 1", GT_LOGGED_OTHER},
        {"- { rocblas_function: \"rocblas_sgemv\", M: 1, N: 1 }", GT_LOGGED_OTHER},
        {"std::make_tuple(700, 161, 1, 4, 32, 20, 5),", GT_LOGGED_OTHER},
        {"std::make_tuple(7680, 1, 2560, false, false, 0.95),", GT_LOGGED_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err;
        const struct gt_logged x = read_line(rows[i].line, &err);
        if (x.fate != rows[i].fate)
            fail_msg("%s: fate %d, \"%s\"", rows[i].line, (int)x.fate, err.line);
    }
}

static void test_damaged(void **state) {
    static const struct {
        const char *line, *reason;
    } rows[] = {
        {"GemmTunableOp_float", "has no end"},
        {"GemmTunableOp_float_TN", "has no end"},
        {"GemmTunableOp_a_b_c_d_TN,tn_1_2_3", "has no end"},
        {"GemmTunableOp_float_TN,", "do not begin with nn"},
        {"GemmTunableOp_float_TN,xn_1_2_3", "do not begin with nn"},
        {"GemmTunableOp_float_TN,tn_1_2", "\"\" is not a size"},
        {"GemmTunableOp_float_TN,tn_1_2_-3", "\"-3\" is not a size"},
        {"GemmTunableOp_float_TN,tn_1_2_3_ld_4_5", "is not a size"},
        {"GemmTunableOp_float_TN,tn_99999999999999999999_2_3", "is not a size"},
        {"GemmTunableOp_float_NN,nn_8_4_2_ld_7_2_8", "must be 0 (packed) or at least 8"},
        {"GemmTunableOp_float_NN,nn_3000000000_4_2", "3000000000"},
        {"rocblas-bench -f gemm -r s -m 1 -n 2", "there is no K"},
        {"rocblas-bench -f gemm -r s -m 1 -n 2 -k", "there is no K"},
        {"rocblas-bench -f gemm -r s -m 1 -n 2 -k x", "K is \"x\": not a size"},
        {"rocblas-bench -f gemm -r s --transposeA Q -m 1 -n 2 -k 3", "transA is \"Q\""},
        {"- { rocblas_function: \"rocblas_sgemm\", M: 1, N: 2", "no closing brace"},
        {"- { rocblas_function: \"rocblas_sgemm\", M: 1, N: 2, K: }", "there is no K"},
        {"std::make_tuple(1760, 16,", "has no end"},
        {"std::make_tuple(1760, x, 2, true, false)", "\"x\" is not a size"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err;
        const struct gt_logged x = read_line(rows[i].line, &err);
        if (x.fate != GT_LOGGED_DAMAGED || strstr(err.line, rows[i].reason) == NULL)
            fail_msg("%s: fate %d, \"%s\"", rows[i].line, (int)x.fate, err.line);
    }
}

/* Whatever is left of a good line gets an answer, and a damaged line a reason. */
static void test_cut(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (size_t len = 0; len < strlen(problems[i].line); len++) {
            struct gt_logged x;
            struct gt_err err = {""};
            char *exact = malloc(len + 1);
            assert_non_null(exact);
            memcpy(exact, problems[i].line, len);
            assert_int_equal(gt_logged_read(&x, exact, len, &err), GEMMTUNE_OK);
            assert_true(x.fate != GT_LOGGED_DAMAGED || err.line[0] != '\0');
            free(exact);
        }
}

/* ---- files ---- */

static gt_status read_text(struct gt_sweep *s, bool *is_json, const char *text,
                           struct gt_err *err) {
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(file);
    const gt_status status = gt_sweep_lines_read(s, is_json, file, "x.log", err);
    (void)fclose(file);
    return status;
}

/* Equal problems are one, and its weight is the part of the time of all. */
static void test_weights(void **state) {
    struct gt_sweep s;
    struct gt_err err = {""};
    bool is_json;
    (void)state;
    assert_int_equal(
        read_text(&s, &is_json,
                  "rocblas-bench -f gemm -r s -m 8 -n 8 -k 8\r\n"
                  "nothing\n"
                  "rocblas-bench -f gemm -r s -m 8 -n 8 -k 9\n"
                  "- { rocblas_function: rocblas_sgemm, M: 8, N: 8, K: 8, call_count: 9 }",
                  &err),
        GEMMTUNE_OK);
    assert_false(is_json);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.item[0].name, "f32-nn-8x8x8");
    assert_true(s.item[0].weight == 1000);
    assert_in_range((long)s.item[1].weight, 99, 101);
    assert_int_equal(s.lines.fate[GT_LOGGED_PROBLEM], 3);
    assert_int_equal(s.lines.fate[GT_LOGGED_NONE], 1);
    gt_sweep_clear(&s);
    assert_int_equal(read_text(&s, &is_json, "GemmTunableOp_float_TN,tn_2_1_2\n", &err),
                     GEMMTUNE_OK);
    assert_true(s.item[0].weight == 1);
    gt_sweep_clear(&s);
}

static void test_left_text(void **state) {
    char left[GT_SWEEP_LEFT_MAX];
    struct gt_sweep s;
    struct gt_err err = {""};
    bool is_json;
    (void)state;
    assert_int_equal(read_text(&s, &is_json,
                               "rocblas-bench -f gemm -r c -m 8 -n 8 -k 8\n"
                               "rocblas-bench -f gemm -r s -m 8 -n 8 -k 8\n"
                               "rocblas-bench -f gemm -r s -m 8 -n\n"
                               "rocblas-bench -f gemm -r s -m 8 -n 7\n"
                               "rocblas-bench -f trsm\n",
                               &err),
                     GEMMTUNE_OK);
    gt_sweep_lines_left(left, &s.lines);
    assert_string_equal(left, "1 complex, 1 of another function, 2 damaged (line 3: "
                              "there is no K)");
    gt_sweep_clear(&s);
}

static void test_refused(void **state) {
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"some text\n", "neither a list of problems in JSON nor lines"},
        {"Validator,PT_VERSION,2.2.0\n", "neither"},
        {"rocblas-bench -f trsm\n", "no line can be tuned: 1 of another function"},
        {"GemmTunableOp_float_TN,tn_1\n",
         "no line can be tuned: 1 damaged (line 1: \"\" is not a size)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        bool is_json;
        assert_int_equal(read_text(&s, &is_json, rows[i].text, &err), GEMMTUNE_EPARSE);
        assert_null(s.item);
        if (strstr(err.line, rows[i].reason) == NULL || strstr(err.line, "x.log: ") == NULL)
            fail_msg("%s: \"%s\"", rows[i].text, err.line);
    }
}

static void test_json_is_left(void **state) {
    static const char *const texts[] = {" \n{}", "[", "\"f32\"", "\xEF\xBB\xBF {", "\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        bool is_json = false;
        assert_int_equal(read_text(&s, &is_json, texts[i], &err), GEMMTUNE_OK);
        assert_true(is_json);
        assert_int_equal(s.count, 0);
    }
}

/* The samples, as a command reads them. */
static void test_samples(void **state) {
    static const struct {
        const char *file;
        size_t problems;
        int64_t left;
        const char *first;
    } rows[] = {
        {"tests/data/lists/untuned.csv", 5, 3, "bf16-nt-8x6144x2560"},
        {"tests/data/lists/tuned.csv", 2, 0, "f32-tn-4096x25088x64"},
        {"tests/data/lists/rocblas_bench.log", 5, 3, "f32-tn-100x200x50,lda=112"},
        {"tests/data/lists/rocblas_profile.yaml", 3, 1, "f32-nn-64x128x32"},
        {"tests/data/lists/hipblaslt.log", 4, 3,
         "bf16-nt-512x1024x256,epi=bias[j]:f32;bias_relu"},
        {"tests/data/lists/deepbench.h", 3, 1, "f32-nn-16x1760x1760"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        int64_t left = 0;
        assert_int_equal(gt_sweep_load(&s, rows[i].file, &err), GEMMTUNE_OK);
        for (int f = GT_LOGGED_PROBLEM + 1; f < GT_LOGGED_NONE; f++)
            left += s.lines.fate[f];
        assert_int_equal(s.count, rows[i].problems);
        assert_int_equal(left, rows[i].left);
        assert_string_equal(s.item[0].name, rows[i].first);
        gt_sweep_clear(&s);
    }
}

/* A log of more calls than the list is allowed to hold at once. */
static void test_many_calls(void **state) {
    enum { CALLS = 20000, SHAPES = 5 };
    char *text = NULL;
    size_t size = 0;
    struct gt_sweep s;
    struct gt_err err = {""};
    bool is_json;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int i = 0; i < CALLS; i++)
        fprintf(out, "rocblas-bench -f gemm -r s -m 8 -n 8 -k %d\n", 1 + i % SHAPES);
    (void)fclose(out);
    assert_int_equal(read_text(&s, &is_json, text, &err), GEMMTUNE_OK);
    assert_int_equal(s.count, SHAPES);
    assert_int_equal(s.lines.fate[GT_LOGGED_PROBLEM], CALLS);
    gt_sweep_clear(&s);
    free(text);
}

static void test_memory(void **state) {
    gt_status status = GEMMTUNE_ENOMEM;
    (void)state;
    if (__real_malloc == NULL)
        skip();
    for (int i = 0; status != GEMMTUNE_OK && i < 100; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        bool is_json;
        FILE *file = fopen("tests/data/lists/untuned.csv", "r");
        assert_non_null(file);
        allocations_left = i;
        status = gt_sweep_lines_read(&s, &is_json, file, "x", &err);
        allocations_left = -1;
        (void)fclose(file);
        assert_true(status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM);
        assert_true((status == GEMMTUNE_OK) == (s.count > 0));
        gt_sweep_clear(&s);
    }
    assert_int_equal(status, GEMMTUNE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problems),     cmocka_unit_test(test_calls_and_notes),
        cmocka_unit_test(test_left_out),     cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_weights),
        cmocka_unit_test(test_left_text),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_json_is_left), cmocka_unit_test(test_samples),
        cmocka_unit_test(test_many_calls),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
