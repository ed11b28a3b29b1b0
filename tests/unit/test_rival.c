/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rivals before any is opened: their names, the environment, and the arguments that cuBLAS
 * gets for a product.
 */
#include "tuner/bench/cublas_rows.h"
#include "tuner/bench/player.h"
#include "tuner/bench/rival.h"
#include "tuner/lab/lab_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int index_of(const char *name) {
    for (int i = 0; gt_rivals[i]; i++)
        if (strcmp(gt_rivals[i]->name, name) == 0)
            return i;
    return -1;
}

static void test_names(void **state) {
    struct gt_err err = {""};
    unsigned bits = 0;
    (void)state;
    assert_int_equal(gt_rivals_parse(&bits, "clblast", &err), GEMMTUNE_OK);
    assert_int_equal(bits, 1u << index_of("clblast"));
    assert_int_equal(gt_rivals_parse(&bits, "cublaslt,cublas,cublas", &err), GEMMTUNE_OK);
    assert_int_equal(bits, 1u << index_of("cublas") | 1u << index_of("cublaslt"));
    assert_int_equal(gt_rivals_parse(&bits, NULL, &err), GEMMTUNE_OK);
    unsigned all = 0;
    for (int i = 0; i < GT_RIVALS; i++)
        if (!gt_rivals[i]->is_way && i != index_of("self") &&
            i != index_of("cublas-autotune"))
            all |= 1u << i;
    assert_int_equal(bits, all);
    assert_int_equal(
        gt_rivals_parse(&bits, "one-call,plan+none,plan+any,cublas-autotune", &err),
        GEMMTUNE_OK);
    assert_int_equal(bits | all, (1u << GT_RIVALS) - 1 - (1u << index_of("self")));
}

static void test_names_that_are_none(void **state) {
    static const char *const lists[] = {"",        "cubla",       "cublas,",
                                        ",cublas", "cublas,none", "CUBLAS"};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct gt_err err = {""};
        unsigned bits;
        assert_int_equal(gt_rivals_parse(&bits, lists[i], &err), GEMMTUNE_EINVAL);
        assert_non_null(strstr(err.line, "there are cublas, cublaslt, cublas+kernel, "));
    }
}

static void test_environment(void **state) {
    struct gt_err err = {""};
    (void)state;
    unsetenv("NVIDIA_TF32_OVERRIDE");
    unsetenv("CUBLAS_EMULATION_STRATEGY");
    assert_int_equal(gt_rivals_environment(&err), GEMMTUNE_OK);
    setenv("NVIDIA_TF32_OVERRIDE", "0", 1); /* as without it: no TF32 */
    assert_int_equal(gt_rivals_environment(&err), GEMMTUNE_OK);
    setenv("NVIDIA_TF32_OVERRIDE", "1", 1);
    assert_int_equal(gt_rivals_environment(&err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "NVIDIA_TF32_OVERRIDE=1"));
    unsetenv("NVIDIA_TF32_OVERRIDE");
    setenv("CUBLAS_EMULATION_STRATEGY", "performant", 1);
    assert_int_equal(gt_rivals_environment(&err), GEMMTUNE_EINVAL);
    unsetenv("CUBLAS_EMULATION_STRATEGY");
}

/* Row-major C = A' B is column-major C' = B' A: B comes first, as it is stored. */
static void test_shape(void **state) {
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f64-tn-5x7x9,lda=11,ldb=12,ldc=13", NULL),
                     GEMMTUNE_OK);
    const struct gt_cublas_shape s = gt_cublas_shape_of(&p);
    assert_int_equal(s.m, 7);
    assert_int_equal(s.n, 5);
    assert_int_equal(s.k, 9);
    assert_int_equal(s.op_a, GT_CUBLAS_N);
    assert_int_equal(s.op_b, GT_CUBLAS_T);
    assert_int_equal(s.lda, 12);
    assert_int_equal(s.ldb, 11);
    assert_int_equal(s.ldc, 13);
    assert_int_equal(s.type_a, GT_CUBLAS_F64);
    assert_int_equal(s.type_b, GT_CUBLAS_F64);
    assert_int_equal(s.type_c, GT_CUBLAS_F64);
    assert_int_equal(s.scale, GT_CUBLAS_F64);
    assert_int_equal(s.compute, GT_CUBLAS_COMPUTE_F64);
}

/* The strides change places with A and B; 0 is a matrix that all products share. */
static void test_shape_of_a_batch(void **state) {
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-5x7x9,batch=3,sa=50,sb=0", NULL),
                     GEMMTUNE_OK);
    const struct gt_cublas_shape s = gt_cublas_shape_of(&p);
    assert_int_equal(s.batch, 3);
    assert_int_equal(s.stride_a, 0);
    assert_int_equal(s.stride_b, 50);
    assert_int_equal(s.stride_c, 35);
}

/* cuBLAS alone has calls for arrays of pointers and for groups, and none for them with an
 * epilogue. */
static void test_lists(void **state) {
    static const struct {
        const char *problem;
        bool has_pointers, has_rows, cublas, cublaslt;
    } rows[] = {
        {"f32-nn-5x7x9,batch=3", false, false, true, true},
        {"f32-nn-5x7x9,batch=3,pointers", true, false, true, false},
        {"f32-nn-5x7x9,batch=1,pointers", true, false, true, false},
        {"i32-nn-5x7x9,batch=3,pointers", true, false, false, false},
        {"bf16-nn-50x7x9,groups=3", false, true, true, false},
        {"i8-nn-5x7x9,batch=3,masked", false, true, true, false},
        {"i32-nn-50x7x9,groups=3", false, true, false, false},
    };
    const struct gt_device d = {.backend = GEMMTUNE_CUDA, .cc = 90};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, rows[i].problem, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_rival_cublas.serves(&d, &p), rows[i].cublas);
        assert_int_equal(gt_rival_cublaslt.serves(&d, &p), rows[i].cublaslt);
        assert_int_equal(gt_cublas_shape_of(&p).has_pointers, rows[i].has_pointers);
        assert_int_equal(gt_cublas_shape_of(&p).has_rows, rows[i].has_rows);
    }
}

/* The call with groups wants one type, and 16 bytes of alignment for tensor cores. */
static void test_rows_in_one_call(void **state) {
    static const struct {
        const char *problem;
        bool usual, pedantic;
    } rows[] = {
        {"bf16-nn-50x16x8,groups=3", true, false},
        {"bf16-nn-50x16x9,groups=3", false, false},
        {"bf16-nn-50x17x8,groups=3", false, false},
        {"f16-nn-50x16x8,ldc=20,groups=3", false, false},
        {"bf16-tn-56x16x8,groups=3", false, false},
        {"bf16-tn-56x16x8,batch=3,masked", true, false},
        {"bf16=f32-nn-50x16x8,groups=3", false, false},
        {"i8-nn-64x16x16,groups=3", false, false},
        {"f32-tn-50x17x9,groups=3", true, true},
        {"f64-nn-50x17x9,groups=3", true, true},
        {"tf32-nn-50x17x9,groups=3", false, true},
        {"tf32-nn-50x16x8,groups=3", true, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, rows[i].problem, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_cublas_rows_in_one(&p, false), rows[i].usual);
        assert_int_equal(gt_cublas_rows_in_one(&p, true), rows[i].pedantic);
    }
}

/* Which epilogues cublasLt has, and which take a kernel after the product. */
static void test_epilogues(void **state) {
    static const struct {
        const char *problem;
        bool fused, apart;
    } rows[] = {
        {"bf16-nn-8x8x8", true, false},
        {"bf16-nn-8x8x8,epi=bias", true, true},
        {"f32-nn-8x8x8,epi=relu", true, true},
        {"f32-nn-8x8x8,epi=bias_relu", true, true},
        {"f16-nn-8x8x8,epi=gelu_tanh", true, true},
        {"f16-nn-8x8x8,epi=bias_gelu_tanh", true, true},
        {"f16-nn-8x8x8,epi=gelu", false, true},
        {"f16-nn-8x8x8,epi=row_bias", false, true},
        {"bf16-nn-8x8x8,epi=bias[j]:f32;bias", false, true},
        {"f32-nn-8x8x8,epi=d=acc+1", false, false},
        {"f32-nn-8x8x8,epi=d=x;d2=relu(x)", false, false},
        {"i8-nn-8x8x8,epi=relu", false, true},
        {"i32-nn-8x8x8,epi=relu", false, false},
    };
    const struct gt_device d = {.backend = GEMMTUNE_CUDA, .cc = 90};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, rows[i].problem, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_rival_cublaslt.serves(&d, &p), rows[i].fused);
        assert_int_equal(gt_rival_cublas_apart.serves(&d, &p), rows[i].apart);
        assert_int_equal(gt_rival_cublaslt_apart.serves(&d, &p), rows[i].apart);
    }
}

/* Each matrix has a type of its own, the scalars and sums are of the accumulator's. */
static void test_shape_of_bf16(void **state) {
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "bf16-nn-5x7x9", NULL), GEMMTUNE_OK);
    p.type_c = GEMMTUNE_F32;
    const struct gt_cublas_shape s = gt_cublas_shape_of(&p);
    assert_int_equal(s.type_a, GT_CUBLAS_BF16);
    assert_int_equal(s.type_b, GT_CUBLAS_BF16);
    assert_int_equal(s.type_c, GT_CUBLAS_F32);
    assert_int_equal(s.scale, GT_CUBLAS_F32);
    assert_int_equal(s.compute, GT_CUBLAS_COMPUTE_F32);
}

/* The arithmetic that each mix asks for, and the strictest one. */
static void test_shape_of_each_math(void **state) {
    static const struct {
        const char *problem;
        unsigned type_a, type_b, type_c, scale, compute, pedantic;
        int fast;
        const char *note;
    } rows[] = {
        {"tf32-nn-1x1x1", GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32,
         GT_CUBLAS_COMPUTE_TF32, GT_CUBLAS_COMPUTE_F32_PEDANTIC, 0, NULL},
        {"f32@split-nn-1x1x1", GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32,
         GT_CUBLAS_COMPUTE_F32, GT_CUBLAS_COMPUTE_F32_PEDANTIC, 0, ", strict f32"},
        {"f32@bf16x3-nn-1x1x1", GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32, GT_CUBLAS_F32,
         GT_CUBLAS_COMPUTE_F32, GT_CUBLAS_COMPUTE_F32_PEDANTIC, 0, ", strict f32"},
        {"f64@residues-nn-1x1x1", GT_CUBLAS_F64, GT_CUBLAS_F64, GT_CUBLAS_F64,
         GT_CUBLAS_F64, GT_CUBLAS_COMPUTE_F64, GT_CUBLAS_COMPUTE_F64_PEDANTIC, 0,
         ", strict f64"},
        {"i8-nn-1x1x1", GT_CUBLAS_I8, GT_CUBLAS_I8, GT_CUBLAS_I32, GT_CUBLAS_I32,
         GT_CUBLAS_COMPUTE_I32, GT_CUBLAS_COMPUTE_I32_PEDANTIC, 0, NULL},
        {"e4m3+e5m2=f16-nt-1x1x1", GT_CUBLAS_E5M2, GT_CUBLAS_E4M3, GT_CUBLAS_F16,
         GT_CUBLAS_F32, GT_CUBLAS_COMPUTE_F32, GT_CUBLAS_COMPUTE_F32_PEDANTIC, 0, NULL},
        {"e4m3@fast-nt-1x1x1", GT_CUBLAS_E4M3, GT_CUBLAS_E4M3, GT_CUBLAS_BF16,
         GT_CUBLAS_F32, GT_CUBLAS_COMPUTE_F32, GT_CUBLAS_COMPUTE_F32_PEDANTIC, 1, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, rows[i].problem, NULL), GEMMTUNE_OK);
        const struct gt_cublas_shape s = gt_cublas_shape_of(&p);
        assert_int_equal(s.type_a, rows[i].type_a);
        assert_int_equal(s.type_b, rows[i].type_b);
        assert_int_equal(s.type_c, rows[i].type_c);
        assert_int_equal(s.scale, rows[i].scale);
        assert_int_equal(s.compute, rows[i].compute);
        assert_int_equal(s.pedantic, rows[i].pedantic);
        assert_int_equal(s.fast, rows[i].fast);
        assert_string_equal(s.note, rows[i].note != NULL ? rows[i].note : "");
    }
}

static void test_who_serves(void **state) {
    static const struct {
        const char *rival, *problem;
        gemmtune_backend backend;
        bool is_cpu, serves;
    } rows[] = {
        {"cublas", "f32-nn-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublas", "f64-tt-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublas", "i32-nn-1x1x1", GEMMTUNE_CUDA, false, false},
        {"cublas", "bf16-nn-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublaslt", "f16-tn-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublas", "tf32-nn-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublas", "i8-nn-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublas", "f32@split-nn-1x1x1", GEMMTUNE_CUDA, false, true}, /* in strict f32 */
        {"cpu", "f32@split-nn-1x1x1", GEMMTUNE_OPENCL, true, false},
        {"clblast", "f32@split-nn-1x1x1", GEMMTUNE_OPENCL, false, false},
        {"cublas", "e4m3-nn-1x1x1", GEMMTUNE_CUDA, false, false},
        {"cublaslt", "e4m3-nt-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublaslt", "e4m3+e5m2=f16@fast-nt-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublaslt", "e5m2-nt-1x1x1", GEMMTUNE_CUDA, false, false},
        {"clblast", "f16-nn-1x1x1", GEMMTUNE_OPENCL, false, false},
        {"clblast", "bf16-nn-1x1x1", GEMMTUNE_OPENCL, false, false},
        {"cpu", "bf16-nn-1x1x1", GEMMTUNE_OPENCL, true, false},
        {"cublas", "f32-nn-1x1x1", GEMMTUNE_OPENCL, false, false},
        {"cublaslt", "i32-nn-1x1x1", GEMMTUNE_CUDA, false, false},
        {"clblast", "f32-nn-1x1x1", GEMMTUNE_OPENCL, false, true},
        {"clblast", "f32-nn-1x1x1", GEMMTUNE_CUDA, false, false},
        {"clblast", "i32-nn-1x1x1", GEMMTUNE_OPENCL, true, false},
        {"cpu", "f64-nn-1x1x1", GEMMTUNE_OPENCL, true, true},
        {"cpu", "f64-nn-1x1x1", GEMMTUNE_OPENCL, false, false},
        {"cpu", "i32-nn-1x1x1", GEMMTUNE_OPENCL, true, false},
        {"self", "i32-nn-1x1x1", GEMMTUNE_CUDA, false, true},
        {"cublas", "f32-nn-1x1x1,batch=3", GEMMTUNE_CUDA, false, true},
        {"cublaslt", "f32-nn-1x1x1,batch=3", GEMMTUNE_CUDA, false, true},
        {"cublas", "f32-nn-1x1x1,batch=3,pointers", GEMMTUNE_CUDA, false, true},
        {"cublas-autotune", "f32-nn-1x1x1,batch=3,pointers", GEMMTUNE_CUDA, false, true},
        {"cublas-autotune", "bf16-nn-8x8x8,groups=3", GEMMTUNE_CUDA, false, false},
        {"cublaslt", "f32-nn-1x1x1,batch=3,pointers", GEMMTUNE_CUDA, false, false},
        {"cublas", "bf16-nn-8x8x8,groups=3", GEMMTUNE_CUDA, false, true},
        {"cublas", "bf16-nn-8x8x8,batch=3,masked", GEMMTUNE_CUDA, false, true},
        {"cublaslt", "bf16-nn-8x8x8,groups=3", GEMMTUNE_CUDA, false, false},
        {"cpu", "f64-nn-1x1x1,batch=3", GEMMTUNE_OPENCL, true, true},
        {"cublas", "f32-nn-1x1x1,epi=relu", GEMMTUNE_CUDA, false, false},
        {"cublaslt", "f32-nn-1x1x1,epi=relu", GEMMTUNE_CUDA, false, true},
        {"cublaslt", "f32-nn-1x1x1,epi=silu", GEMMTUNE_CUDA, false, false},
        {"cublas+kernel", "f32-nn-1x1x1,epi=silu", GEMMTUNE_CUDA, false, true},
        {"cublas+kernel", "f32-nn-1x1x1,epi=d=acc", GEMMTUNE_CUDA, false, false},
        {"cublas+kernel", "f32-nn-1x1x1,batch=3,epi=silu", GEMMTUNE_CUDA, false, true},
        {"cublaslt+kernel", "f32-nn-1x1x1,batch=3,epi=silu", GEMMTUNE_CUDA, false, true},
        {"cublas+kernel", "bf16-nn-8x8x8,groups=3,epi=silu", GEMMTUNE_CUDA, false, true},
        {"cublaslt+kernel", "bf16-nn-8x8x8,groups=3,epi=silu", GEMMTUNE_CUDA, false, false},
        {"cublas+kernel", "i8=bf16-nn-4x4x4,batch=3", GEMMTUNE_CUDA, false, true},
        {"cublas+kernel", "i8=i8-nn-8x8x8,groups=3", GEMMTUNE_CUDA, false, false},
        {"cublas+kernel", "i8=bf16-nn-4x4x4,epi=dequantise", GEMMTUNE_CUDA, false, true},
        {"cublas", "i8=bf16-nn-4x4x4", GEMMTUNE_CUDA, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_device d = {
            .backend = rows[i].backend, .is_cpu = rows[i].is_cpu, .cc = 90};
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, rows[i].problem, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_rivals[index_of(rows[i].rival)]->serves(&d, &p),
                         rows[i].serves);
    }
}

static void test_statuses(void **state) {
    struct gt_err err = {""};
    char text[32];
    (void)state;
    assert_int_equal(gt_cublas_result(GT_CUBLAS_SUCCESS, "x", &err), GEMMTUNE_OK);
    assert_int_equal(gt_cublas_result(GT_CUBLAS_NOT_SUPPORTED, "x", &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_int_equal(gt_cublas_result(13, "cublasGemmEx", &err), GEMMTUNE_EDEVICE);
    assert_string_equal(err.line, "cublasGemmEx: cuBLAS status 13");
    gt_cublas_version(text, 130100);
    assert_string_equal(text, "13.1.0");
    gt_cublas_version(text, 120304);
    assert_string_equal(text, "12.3.4");
}

/* A CPU's BLAS is timed as a program calls it: without the device's commands. There is no
 * device here that could get one. */
static void test_a_rival_on_the_host_has_its_own_watch(void **state) {
    static struct gt_lab lab;
    struct gt_player player = {.who = &gt_rival_cpu};
    const char *build = getenv("GT_BUILD");
    char path[512];
    struct gt_err err = {""};
    double ns = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/tests/fake/libcblas.so", build ? build : "build");
    setenv("GEMMTUNE_LIBCBLAS", path, 1);
    assert_int_equal(gt_problem_from_name(&lab.problem, "f32-nn-8x8x8", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_player_start(&player, &lab, 1e5, 1e9, &err), GEMMTUNE_OK);
    assert_true(gt_player_has_started(&player));
    assert_true(gt_player_launches(&player) > 1);
    assert_int_equal(gt_player_sample(&player, &ns, &err), GEMMTUNE_OK);
    assert_true(ns > 0);
    gt_player_stop(&player);
    assert_false(gt_player_has_started(&player));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_that_are_none),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_shape_of_a_batch),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_rows_in_one_call),
        cmocka_unit_test(test_epilogues),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_shape_of_bf16),
        cmocka_unit_test(test_shape_of_each_math),
        cmocka_unit_test(test_a_rival_on_the_host_has_its_own_watch),
        cmocka_unit_test(test_who_serves),
        cmocka_unit_test(test_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
