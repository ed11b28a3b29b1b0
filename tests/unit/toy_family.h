/* SPDX-License-Identifier: Apache-2.0 */
/* toy_family.h - a small family that has every key of space.json, and the built-in
 * families. */
#ifndef GT_TESTS_TOY_FAMILY_H
#define GT_TESTS_TOY_FAMILY_H

#include "runtime/family/family.h"
#include "runtime/family/family_inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One key a line, so that a row below can say which line it spoils. */
static const char good[] =
    "{\n"
    " \"format\": 1,\n"
    " \"family\": \"toy\",\n"
    " \"about\": \"A family for tests.\","
    " \"role\": \"textbook\", \"rungs\": {\"toy\": {}, \"toy, padded\": {\"PAD\": 1}},\n"
    " \"source\": {\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"},\n"
    " \"entry\": \"gemm\",\n"
    " \"dtypes\": [\"f32\", \"i32\"],\n"
    " \"layouts\": [\"nn\", \"tt\"],\n"
    " \"min_arch\": {\"i32\": 75, \"cuda\": 61},\n"
    " \"max_arch\": {\"cuda\": 99},"
    " \"cuda_only\": [\"i32\" ],\n"
    " \"rank\": 7,\n"
    " \"params\": {\"W\": [4, 8, 16], \"PAD\": [0, 1]},\n"
    " \"meaning\": {\"W\": \"how wide\"},"
    " \"default\": {\"W\": 8, \"PAD\": 0},\n"
    " \"derive\": {\"T\": \"W * W\", \"S\": \"T * sizeof(A)\"},\n"
    " \"require\": [[\"T <= MAX_THREADS\", \"too many threads\"]],\n"
    " \"accept\": [[\"K >= 1\", \"an empty sum\"]],\n"
    " \"align\": [\"4\", \"8\", \"sizeof(C)\"],\n"
    " \"launch\": {\"block\": [\"W\", \"W\", \"1\"],"
    " \"grid\": [\"cdiv(N, W)\", \"cdiv(M, W)\", \"1\"],"
    " \"smem\": \"S\"},\n"
    " \"after\": [{\"entry\": \"add\", \"when\": \"W > 4\","
    " \"block\": [\"64\", \"1\", \"1\"], \"grid\": [\"cdiv(M * N, 64)\", \"1\", \"1\"]}],\n"
    " \"before\": [{\"entry\": \"pack\", \"block\": [\"W\", \"1\", \"1\"],"
    " \"grid\": [\"K\", \"1\", \"1\"], \"cluster\": [\"2\", \"1\", \"1\"], \"smem\": "
    "\"N\"}],\n"
    " \"args\": [\"m\", \"n\", \"k\", \"alpha\", \"a\", \"lda\", \"b\","
    " \"ldb\", \"beta\", \"c\", \"ldc\", \"map\"],\n"
    " \"tensor_maps\": {\"map\": {\"of\": {\"workspace\": \"PAD\", \"b\": \"1\"},"
    " \"inner\": \"N\", \"outer\": \"K\", \"stride\": \"LDB * sizeof(B)\","
    " \"at\": \"16 * M\", \"box\": [\"W\", \"T\"]}}\n"
    "}\n";

static const char *const sources[2] = {"cuda text", "opencl text"};

/* `good` with `now` in place of `was`. The caller frees it. */
static inline char *spoilt(const char *was, const char *now) {
    const char *at = strstr(good, was);
    assert_non_null(at);
    const size_t before = (size_t)(at - good), size = sizeof good + strlen(now);
    char *text = malloc(size);
    assert_non_null(text);
    (void)snprintf(text, size, "%.*s%s%s", (int)before, good, now, at + strlen(was));
    return text;
}

static inline struct gt_family *parsed(const char *json) {
    struct gt_family *f;
    struct gt_err err = {""};
    const gt_status status =
        gt_family_parse(&f, "toy", "toy/space.json", json, sources, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return f;
}

static const char before_entry[] = " \"entry\": \"gemm\",\n";

/* `good` with a line more. */
static inline char *with_line(const char *line) {
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s", line, before_entry);
    return spoilt(before_entry, text);
}

static inline struct gt_families *builtin(void) {
    struct gt_families *all;
    struct gt_err err = {""};
    const gt_status status = gt_families_create(&all, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return all;
}

#endif
