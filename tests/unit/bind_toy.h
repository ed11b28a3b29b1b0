/* SPDX-License-Identifier: Apache-2.0 */
/* bind_toy.h - a small family with rules, alignment and a launch, for tests that bind its
 * points to problems on a made-up card. */
#ifndef GT_TESTS_BIND_TOY_H
#define GT_TESTS_BIND_TOY_H

#include "runtime/family/launch.h"
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
    "\"source\": {\"cuda\": \"toy.cl\"}, \"entry\": \"gemm\","
    "\"dtypes\": [\"f32\", \"f64\", \"f16\"], \"layouts\": [\"nn\", \"nt\"],"
    "\"min_arch\": {\"cuda\": 70}, \"max_arch\": {\"cuda\": 119},"
    "\"params\": {\"W\": [0, 4, 8, 32, 64], \"V\": [1, 2, 4]},"
    "\"default\": {\"W\": 8, \"V\": 2},"
    "\"derive\": {\"T\": \"W * W\", \"PER\": \"1024 / W\", \"ROWS\": \"M / W\"},"
    "\"require\": [[\"T <= MAX_THREADS\", \"too many threads\", \"W\"],"
    "[\"SMEM_MAX / (V - 2) != 0 || FLOAT\", \"an expression that fails refuses\"],"
    "[\"T * sizeof(A) <= SMEM_MAX\", \"too much shared memory\"]],"
    "\"accept\": [[\"K >= 1\", \"an empty sum\"],"
    "[\"M % V == 0\", \"ragged rows\", \"V\"]],"
    "\"align\": [\"V * sizeof(A)\", \"TB ? V * sizeof(B) : sizeof(B)\", \"sizeof(C)\"],"
    "\"launch\": {\"block\": [\"W\", \"W\", \"V\"], \"grid\": [\"cdiv(N, W)\", \"cdiv(M, "
    "W)\","
    "\"cdiv(K, 1000)\"], \"smem\": \"T * sizeof(A)\", \"workspace\": \"M * N * "
    "sizeof(ACC)\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

static const struct gt_device card =
    MADE_UP(.cc = 90, .units = 132, .smem_max = 49152, .has_f64 = true);

static struct gt_family *family;

static inline int setup(void **state) {
    static const char *const source[2] = {"text", NULL};
    (void)state;
    return gt_family_parse(&family, "toy", "toy/space.json", toy, source, NULL) !=
           GEMMTUNE_OK;
}

static inline int teardown(void **state) {
    (void)state;
    gt_family_destroy(family);
    return 0;
}

static inline gemmtune_problem problem(const char *name) {
    gemmtune_problem p;
    struct gt_err err = {""};
    (void)gt_problem_from_name(&p, name, &err);
    assert_string_equal(err.line, "");
    return p;
}

/* `toy` with more keys. The caller destroys it. */
static inline struct gt_family *toy_with(const char *more) {
    static const char *const source[2] = {"text", NULL};
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    char json[4096];
    const char *args = strstr(toy, "\"args\"");
    (void)snprintf(json, sizeof json, "%.*s%s%s", (int)(args - toy), toy, more, args);
    (void)gt_family_parse(&f, "toy", "toy", json, source, &err);
    assert_string_equal(err.line, "");
    return f;
}

static inline void expect_launch(const struct gt_launch *l,
                                 const struct gt_launch *expected) {
    for (int i = 0; i < 3; i++) {
        assert_int_equal(l->grid[i], expected->grid[i]);
        assert_int_equal(l->block[i], expected->block[i]);
        assert_int_equal(l->cluster[i], expected->cluster[i]);
    }
    assert_int_equal(l->smem_bytes, expected->smem_bytes);
    assert_int_equal(l->overlaps, expected->overlaps);
}

#endif
