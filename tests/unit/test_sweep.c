/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.json: its meaning, all errors it can have, and the shipped files. */
#include "core/json.h"
#include "tests/unit/short_of_memory.h"
#include "tests/unit/sweep_text.h"
#include "tuner/base/sweep.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static gt_status parse(struct gt_sweep *s, const char *sizes, struct gt_err *err) {
    char text[4096];
    const int len =
        snprintf(text, sizeof text, "{\"format\": 1,\n\"sizes\": [\n%s\n]}\n", sizes);
    return parse_sweep(s, "a.json", text, (size_t)len, err);
}

static void good(struct gt_sweep *s, const char *sizes) {
    struct gt_err err = {""};
    const gt_status status = parse(s, sizes, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
}

/* Names in order, blank between; their weights when `weights` is given. */
static void expect(const char *sizes, const char *names, const char *weights) {
    struct gt_sweep s;
    char found[4096] = "", weight[1024] = "";
    good(&s, sizes);
    for (size_t i = 0, n = 0, w = 0; i < s.count; i++) {
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%s", i ? " " : "",
                              s.item[i].name);
        w += (size_t)snprintf(weight + w, sizeof weight - w, "%s%g", i ? " " : "",
                              s.item[i].weight);
    }
    assert_string_equal(found, names);
    if (weights != NULL)
        assert_string_equal(weight, weights);
    gt_sweep_clear(&s);
}

static void test_expansion(void **state) {
    (void)state;
    expect("\"f32-nn-3x4x5\"", "f32-nn-3x4x5", "1");
    expect("{\"dtype\":\"f32\",\"m\":1,\"n\":2,\"k\":3}", "f32-nn-1x2x3", "1");
    expect(
        "{\"dtype\":\"f64\",\"layout\":\"tt\",\"m\":[1,2],\"n\":\"8:16:4\",\"k\":3,"
        "\"weight\":7}",
        "f64-tt-1x8x3 f64-tt-1x12x3 f64-tt-1x16x3 f64-tt-2x8x3 f64-tt-2x12x3 f64-tt-2x16x3",
        "7 7 7 7 7 7");
    expect("{\"dtype\":\"i32\",\"m\":[\"2:5:3\",9],\"n\":1,\"k\":1}",
           "i32-nn-2x1x1 i32-nn-5x1x1 i32-nn-9x1x1", NULL);
    expect(
        "{\"dtype\":[\"f32\",\"f64\"],\"layout\":[\"nn\",\"nt\"],\"m\":1,\"n\":1,\"k\":1}",
        "f32-nn-1x1x1 f32-nt-1x1x1 f64-nn-1x1x1 f64-nt-1x1x1", NULL);
    expect("{\"dtype\":\"f32\",\"m\":4,\"n\":4,\"k\":4,\"lda\":8,\"ldb\":12,\"ldc\":16,"
           "\"beta\":true}",
           "f32-nn-4x4x4,lda=8,ldb=12,ldc=16,beta", NULL);
    expect("{\"dtype\":\"f32\",\"m\":4,\"n\":4,\"k\":4,\"lda\":4,\"beta\":false}",
           "f32-nn-4x4x4", NULL);
    expect("{\"dtype\":\"f32\",\"m\":[4,5],\"n\":4,\"k\":4,\"batch\":[3,7],"
           "\"beta\":[false,true],\"epi\":\"relu\"}",
           "f32-nn-4x4x4,batch=3,epi=relu f32-nn-4x4x4,batch=7,epi=relu "
           "f32-nn-4x4x4,batch=3,beta,epi=relu f32-nn-4x4x4,batch=7,beta,epi=relu "
           "f32-nn-5x4x4,batch=3,epi=relu f32-nn-5x4x4,batch=7,epi=relu "
           "f32-nn-5x4x4,batch=3,beta,epi=relu f32-nn-5x4x4,batch=7,beta,epi=relu",
           NULL);
    expect(
        "{\"dtype\":\"f32\",\"m\":4,\"n\":4,\"k\":4,\"batch\":3,\"pointers\":[false,true],"
        "\"masked\":false}",
        "f32-nn-4x4x4,batch=3 f32-nn-4x4x4,batch=3,pointers", NULL);
    expect("{\"dtype\":\"f32\",\"m\":4,\"n\":4,\"k\":4,\"epi\":[\"relu\",\"bias\"]}",
           "f32-nn-4x4x4,epi=relu f32-nn-4x4x4,epi=bias", NULL);
    expect("{\"dtype\":\"f32\",\"m\":\"10:19:5\",\"n\":1,\"k\":1}",
           "f32-nn-10x1x1 f32-nn-15x1x1", NULL);
}

static void test_volumes(void **state) {
    (void)state;
    expect("{\"dtype\":\"f32\",\"volume\":\"1e3:1e5\"}",
           "f32-nn-10x10x10 f32-nn-21x22x22 f32-nn-46x46x47", NULL);
    expect("{\"dtype\":\"f32\",\"layout\":\"nt\",\"volume\":[8,27],\"weight\":2}",
           "f32-nt-2x2x2 f32-nt-3x3x3", "2 2");
    expect("{\"dtype\":\"f64\",\"volume\":1}", "f64-nn-1x1x1", NULL);
}

static void test_duplicates(void **state) {
    (void)state;
    expect("\"f32-nn-1x2x3\", {\"dtype\":\"f32\",\"m\":[9,1],\"n\":2,\"k\":3,\"weight\":5},"
           "\"f32-nn-9x2x3\"",
           "f32-nn-1x2x3 f32-nn-9x2x3", "5 5");
    expect("{\"dtype\":[\"f32\",\"f32\"],\"layout\":[\"nn\",\"nn\"],\"m\":[2,2],\"n\":1,"
           "\"k\":1}",
           "f32-nn-2x1x1", NULL);
    /* a leading dimension that is the packed one is no difference */
    expect("\"f32-nn-1x2x3,lda=3\", \"f32-nn-1x2x3\"", "f32-nn-1x2x3", NULL);
}

/* Calls of a problem, as `gemmtune record` counts them. Duplicates add up. */
static void test_calls(void **state) {
    struct gt_sweep s;
    (void)state;
    good(&s, "\"f32-nn-1x2x3\", {\"problem\":\"f32-nn-4x4x4\",\"count\":12,\"weight\":3},"
             "{\"problem\":\"f32-nn-5x5x5\",\"count\":4503599627370496},"
             "{\"problem\":\"f32-nn-4x4x4\",\"count\":30},"
             "{\"problem\":\"f32-nn-5x5x5\",\"count\":7}");
    assert_int_equal(s.count, 3);
    assert_int_equal(s.item[0].count, 1);
    assert_int_equal(s.item[1].count, 42);
    assert_true(s.item[1].weight == 3);
    assert_true(s.item[2].count == GT_SWEEP_CALLS_MAX);
    gt_sweep_clear(&s);
}

static void test_many(void **state) {
    struct gt_sweep s;
    (void)state;
    good(&s, "{\"dtype\":\"f32\",\"m\":\"1:100:1\",\"n\":\"1:1000:1\",\"k\":1}");
    assert_int_equal(s.count, GT_SWEEP_MAX);
    assert_string_equal(s.item[GT_SWEEP_MAX - 1].name, "f32-nn-100x1000x1");
    gt_sweep_clear(&s);
}

/* Everything here must be refused with this line; the file is a.json, entries begin in
 * line 3. */
static const struct {
    const char *sizes, *line;
} refusals[] = {
    {"", "a.json:2: /sizes: must be a list of one or more problems"},
    {"7", "a.json:3: /sizes/0: must be a problem name or an object"},
    {"null", "a.json:3: /sizes/0: must be a problem name or an object"},
    {"[\"f32-nn-1x1x1\"]", "a.json:3: /sizes/0: must be a problem name or an object"},
    {"\"f32-nn-1x1\"", "a.json:3: /sizes/0: problem \"f32-nn-1x1\""},
    {"{\"dtype\":\"f32\",\"m\":8,\"n\":1,\"k\":1,\"groups\":4,\"rows\":9}",
     "expected_rows is 9, more than the 8 of m"},
    {"{\"dtype\":\"f32\",\"m\":8,\"n\":1,\"k\":1,\"batch\":4,\"align\":16}",
     "pointer_align is 16, but the batch has no pointers"},
    {"{\"dtype\":\"f32\",\"m\":8,\"n\":1,\"k\":1,\"batch\":4,\"rows\":2}",
     "expected_rows is 2, but no rows are grouped or masked"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"epi\":\"rleu\"}",
     "column 1 of the epilogue: \"rleu\" is neither a shorthand"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":2,\"sa\":-1}",
     "/sizes/0/sa: must be from 0 to"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":2,\"sc\":0}",
     "stride_c is 0: the products of the batch overlap in C"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":2,\"groups\":2}",
     "/sizes/0/groups: batch and groups exclude each other"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"epi\":7}",
     "/sizes/0/epi: must be a string"},
    {"{\"dtype\":\"f16@f16\",\"m\":1,\"n\":1,\"k\":1}", "no kernel for types f16@f16 yet"},
    {"\"f33-nn-1x1x1\"", "\"f33\" is not a data type"},
    {"\"f32-nn-0x1x1\"", "a.json:3: /sizes/0: \"f32-nn-0x1x1\" is an empty product"},
    {"\"f32-nn-1x1x1\",\n7", "a.json:4: /sizes/1: must be"},
    {"{}", "a.json:3: /sizes/0: \"dtype\" is missing"},
    {"{\"dtype\":\"f32\"}", "a.json:3: /sizes/0: \"m\" is missing"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1}", "a.json:3: /sizes/0: \"k\" is missing"},
    {"{\"dtype\":\"f23\",\"m\":1,\"n\":1,\"k\":1}",
     "a.json:3: /sizes/0/dtype: \"f23\" is not a data type"},
    {"{\"dtype\":32,\"m\":1,\"n\":1,\"k\":1}",
     "a.json:3: /sizes/0/dtype: must be a string, not a number"},
    {"{\"dtype\":[],\"m\":1,\"n\":1,\"k\":1}", "/sizes/0/dtype: is an empty list"},
    {"{\"dtype\":[\"f32\",\"x\"],\"m\":1,\"n\":1,\"k\":1}", "/sizes/0/dtype/1: \"x\""},
    {"{\"dtype\":\"f32\",\"layout\":\"xx\",\"m\":1,\"n\":1,\"k\":1}",
     "/sizes/0/layout: \"xx\" is not a layout"},
    {"{\"dtype\":\"f32\",\n\"m\":-1,\"n\":1,\"k\":1}",
     "a.json:4: /sizes/0/m: must be from 1"},
    {"{\"dtype\":\"f32\",\"m\":0,\"n\":1,\"k\":1}", "/sizes/0/m: must be from 1"},
    {"{\"dtype\":\"f32\",\"m\":1.5,\"n\":1,\"k\":1}", "/sizes/0/m: must be an integer"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":3,\"masked\":[true,false],"
     "\"pointers\":[true,false]}",
     "exclude each other"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":3,\"masked\":[false,true],"
     "\"pointers\":[true,false]}",
     "exclude each other"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":[]}",
     "/sizes/0/batch: is an empty list"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"batch\":[2,0]}", "/sizes/0/batch/1: "},
    {"{\"dtype\":\"f32\",\"m\":1e99,\"n\":1,\"k\":1}", "/sizes/0/m: must be from 1"},
    {"{\"dtype\":\"f32\",\"m\":9007199254740993,\"n\":1,\"k\":1}", "a.json:3: "},
    {"{\"dtype\":\"f32\",\"m\":2147483648,\"n\":1,\"k\":1}", "/sizes/0/m: must be from 1"},
    {"{\"dtype\":\"f32\",\"m\":true,\"n\":1,\"k\":1}",
     "/sizes/0/m: must be an integer or a"},
    {"{\"dtype\":\"f32\",\"m\":{},\"n\":1,\"k\":1}", "/sizes/0/m: must be an integer or a"},
    {"{\"dtype\":\"f32\",\"m\":[1,[2]],\"n\":1,\"k\":1}",
     "/sizes/0/m/1: must be an integer"},
    {"{\"dtype\":\"f32\",\"m\":[],\"n\":1,\"k\":1}", "/sizes/0/m: is an empty list"},
    {"{\"dtype\":\"f32\",\"m\":\"1:2\",\"n\":1,\"k\":1}", "is not start:end:step"},
    {"{\"dtype\":\"f32\",\"m\":\"1:2:3:4\",\"n\":1,\"k\":1}", "is not start:end:step"},
    {"{\"dtype\":\"f32\",\"m\":\"1:2:0\",\"n\":1,\"k\":1}", "is not start:end:step"},
    {"{\"dtype\":\"f32\",\"m\":\"1:2:-1\",\"n\":1,\"k\":1}", "is not start:end:step"},
    {"{\"dtype\":\"f32\",\"m\":\" 1:2:1\",\"n\":1,\"k\":1}", "is not start:end:step"},
    {"{\"dtype\":\"f32\",\"m\":\"\",\"n\":1,\"k\":1}", "is not start:end:step"},
    {"{\"dtype\":\"f32\",\"m\":\"8:4:1\",\"n\":1,\"k\":1}", "starts after its end"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"weight\":0}",
     "/sizes/0/weight: must be"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"weight\":\"3\"}",
     "/sizes/0/weight: must"},
    {"{\"problem\":\"f32-nn-1x1x1\",\"count\":0}", "/sizes/0/count: must be"},
    {"{\"problem\":\"f32-nn-1x1x1\",\"count\":\"many\"}", "/sizes/0/count: must"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"wieght\":3}",
     "did you mean \"weight\"?"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"k\":2}", "a second time"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":1,\"beta\":1}",
     "/sizes/0/beta: must be true"},
    {"{\"dtype\":\"f32\",\"m\":1,\"n\":1,\"k\":8,\"lda\":4}", "lda is 4, must be"},
    {"{\"dtype\":\"f32\",\"volume\":8,\"m\":1}", "/sizes/0/m: stands beside \"volume\""},
    {"{\"dtype\":\"f32\",\"volume\":0}", "/sizes/0/volume: must be from 1"},
    {"{\"dtype\":\"f32\",\"volume\":\"1e3:\"}",
     "/sizes/0/volume: \"1e3:\" is not a volume"},
    {"{\"dtype\":\"f32\",\"volume\":[1,\"2\"]}", "/sizes/0/volume/1: must be an integer"},
    {"{\"dtype\":\"f32\",\"volume\":[]}", "/sizes/0/volume: is an empty list"},
    {"{\"dtype\":\"f32\",\"volume\":null}", "/sizes/0/volume: must be an integer"},
    {"{\"dtype\":\"f32\",\"m\":\"1:1000:1\",\"n\":\"1:1000:1\",\"k\":\"1:1000:1\"}",
     "a.json:3: /sizes/0: 1000000000 problems up to here; the limit is 100000"},
    {"{\"dtype\":\"f32\",\"m\":\"1:2147483647:1\",\"n\":\"1:2147483647:1\","
     "\"k\":\"1:2147483647:1\"}",
     "problems up to here; the limit is 100000"},
    {"{\"dtype\":\"f32\",\"m\":\"1:99999:1\",\"n\":1,\"k\":1},\n"
     "{\"dtype\":\"f64\",\"m\":[1,2],\"n\":1,\"k\":1}",
     "a.json:4: /sizes/1: 100001 problems up to here"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        assert_int_equal(parse(&s, refusals[i].sizes, &err), GEMMTUNE_EPARSE);
        if (strstr(err.line, refusals[i].line) == NULL)
            fail_msg("row %zu: \"%s\"", i, err.line);
        assert_null(s.item);
        assert_int_equal(s.count, 0);
    }
}

static void test_documents(void **state) {
    static const struct {
        const char *text, *line;
    } rows[] = {
        {"", "a.json"},
        {"sizes", "a.json:1: "},
        {"[]", "a.json:1: /"},
        {"{}", "\"format\" is missing"},
        {"{\"format\":2,\"sizes\":[\"f32-nn-1x1x1\"]}", "/format: must be 1, not 2"},
        {"{\"format\":\"1\",\"sizes\":[]}", "/format: must be an integer"},
        {"{\"format\":1}", "\"sizes\" is missing"},
        {"{\"format\":1,\"sizes\":{}}", "/sizes: must be a list"},
        {"{\"format\":1,\"sizes\":[\"f32-nn-1x1x1\"],\"more\":1}", "/more: unknown key"},
        {"{\"format\":1,\"sizes\":[\"f32-nn-1x1x1\"]} x", "a.json:1: "},
        {"{\"format\":1,\"format\":1,\"sizes\":[\"f32-nn-1x1x1\"]}", "a second time"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        assert_int_equal(
            parse_sweep(&s, "a.json", rows[i].text, strlen(rows[i].text), &err),
            GEMMTUNE_EPARSE);
        if (strstr(err.line, rows[i].line) == NULL)
            fail_msg("row %zu: \"%s\"", i, err.line);
    }
}

/* A list of another program in an entry: the samples, from a file beside them. */
static void test_lists(void **state) {
    static const struct {
        const char *entry, *says; /* the error, or NULL */
        size_t problems;
        const char *last;
    } rows[] = {
        {"{\"list\": \"deepbench.h\"}", NULL, 3, "f32-nt-8457x35x2560"},
        {"{\"list\": \"deepbench.h\", \"dtype\": [\"f16\", \"i8\"], \"weight\": 5}", NULL,
         6, "i8-nt-8457x35x2560"},
        {"{\"list\": \"tuned.csv\"}, \"f32-nn-1x2x3\"", NULL, 3, "f32-nn-1x2x3"},
        {"{\"list\": \"tuned.csv\", \"dtype\": \"f16\"}",
         "/sizes/0: the list names its types", 0, NULL},
        {"{\"list\": \"none.csv\"}", "tests/data/lists/none.csv", 0, NULL},
        {"{\"list\": \"../cache.json\"}", "/sizes/0: the list is not the log", 0, NULL},
        {"{\"list\": 3}", "/sizes/0/list", 0, NULL},
        {"{\"list\": \"tuned.csv\", \"m\": 3}", "/sizes/0/m: unknown key", 0, NULL},
        {"{\"list\": \"deepbench.h\", \"dtype\": \"f23\"}", "/sizes/0/dtype", 0, NULL},
        {"{\"list\": \"deepbench.h\", \"weight\": 0}", "/sizes/0/weight", 0, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct gt_sweep s;
        struct gt_err err = {""};
        const int len =
            snprintf(text, sizeof text, "{\"format\": 1, \"sizes\": [%s]}", rows[i].entry);
        const gt_status status =
            parse_sweep(&s, "tests/data/lists/s.json", text, (size_t)len, &err);
        if (rows[i].says == NULL)
            assert_string_equal(err.line, "");
        else if (status == GEMMTUNE_OK || strstr(err.line, rows[i].says) == NULL)
            fail_msg("%s: \"%s\"", rows[i].entry, err.line);
        assert_int_equal(s.count, rows[i].problems);
        if (rows[i].last != NULL)
            assert_string_equal(s.item[s.count - 1].name, rows[i].last);
        gt_sweep_clear(&s);
    }
}

static void test_missing_file(void **state) {
    struct gt_sweep s;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_sweep_load(&s, "/no/such/sweep.json", &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "/no/such/sweep.json"));
}

static void test_add(void **state) {
    struct gt_sweep s = {0};
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_sweep_add(&s, "f32-nn-1x2x3", &err), GEMMTUNE_OK);
    assert_int_equal(gt_sweep_add(&s, "f64-tt-1x2x3", &err), GEMMTUNE_OK);
    assert_int_equal(gt_sweep_add(&s, "f32-nn-1x2x3", &err), GEMMTUNE_OK);
    assert_int_equal(gt_sweep_add(&s, "f32-nn-1x2", &err), GEMMTUNE_EPARSE);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.item[1].name, "f64-tt-1x2x3");
    assert_true(s.item[1].weight == 1);
    gt_sweep_clear(&s);
    gt_sweep_clear(&s);
}

/* The sweeps in configs/ can be read. They have the problems that they promise, and no more
 * work. */
static void test_shipped(void **state) {
    struct gt_sweep s;
    struct gt_err err = {""};
    double flops = 0;
    unsigned types = 0, layouts = 0;
    (void)state;
    assert_int_equal(gt_sweep_load(&s, "configs/sweep.json", &err), GEMMTUNE_OK);
    for (size_t i = 0; i < s.count; i++) {
        const gemmtune_problem *p = &s.item[i].problem;
        types |= 1U << p->type_a;
        layouts |= 1U << (2 * p->trans_a + p->trans_b);
        flops += gt_problem_flops(p);
        assert_true(gt_problem_flops(p) <= 0.3e9);
    }
    assert_in_range(s.count, 18, 25);
    assert_int_equal(types, 1U << GEMMTUNE_F32 | 1U << GEMMTUNE_F64 | 1U << GEMMTUNE_I32);
    assert_int_equal(layouts, 15);
    assert_true(flops < 2e9);
    gt_sweep_clear(&s);
    assert_int_equal(gt_sweep_load(&s, "configs/demo.json", &err), GEMMTUNE_OK);
    assert_int_equal(s.count, 7); /* as README says */
    gt_sweep_clear(&s);
    assert_int_equal(gt_sweep_load(&s, "configs/seeds.json", &err), GEMMTUNE_OK);
    assert_int_equal(s.count, 18);
    assert_string_equal(s.item[0].name, "f32-nn-4096x4096x4096");
    gt_sweep_clear(&s);
    types = 0;
    assert_int_equal(gt_sweep_load(&s, "configs/bench-tensor.json", &err), GEMMTUNE_OK);
    for (size_t i = 0; i < s.count; i++) {
        assert_non_null(gt_dtype_of(&s.item[i].problem));
        types |= 1U << s.item[i].problem.type_a;
    }
    assert_in_range(s.count, 180, 190);
    assert_int_equal(types, 1U << GEMMTUNE_F16 | 1U << GEMMTUNE_BF16 | 1U << GEMMTUNE_F32 |
                                1U << GEMMTUNE_I8 | 1U << GEMMTUNE_E4M3);
    gt_sweep_clear(&s);
}

/* The lists of problems with a batch, an epilogue or arithmetic of their own. */
static void test_lists_of_comparisons(void **state) {
    static const struct {
        const char *file;
        size_t count;
        const char *first, *last;
    } lists[] = {
        {"configs/bench-batched.json", 46, "f32-nn-4x4x4,batch=1000000",
         "f16-nn-64x64x64,lda=72,ldb=72,ldc=72,batch=10000"},
        {"configs/bench-batched-other.json", 42, "f16-nn-3x3x3,batch=1000000",
         "bf16-nn-512x80x1500,batch=64"},
        {"configs/bench-epilogue.json", 70, "bf16-nt-4096x4096x4096",
         "f32-nt-8192x1024x512,epi=swiglu"},
        {"configs/bench-dequantise.json", 24, "i8=bf16-nt-16x4096x4096,epi=dequantise",
         "i8=bf16-nt-2048x4096x4096,epi=dequantise_residual"},
        {"configs/bench-split.json", 30, "f32@split-nn-256x256x256",
         "f32@split-tt-4096x4096x4096"},
        {"configs/bench-torch.json", 10, "bf16-nt-4096x4096x4096", "bf16-nt-64x64x65536"},
        {"configs/bench-untuned.json", 68, "f32-nn-127x257x389", "f64-nn-97x257x61"},
        {"configs/bench-bf16x3.json", 30, "f32@bf16x3-nn-256x256x256",
         "f32@bf16x3-tt-4096x4096x4096"},
        {"configs/bench-residues.json", 16, "f64@residues-nn-1024x1024x1024",
         "f64@residues-nn-7680x48x2560"},
        {"configs/bench-batches-cpu.json", 22, "f32-nn-4x4x4,batch=300000",
         "f64-nn-64x64x64,batch=650"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        assert_int_equal(gt_sweep_load(&s, lists[i].file, &err), GEMMTUNE_OK);
        assert_int_equal(s.count, lists[i].count);
        assert_string_equal(s.item[0].name, lists[i].first);
        assert_string_equal(s.item[s.count - 1].name, lists[i].last);
        gt_sweep_clear(&s);
    }
}

/* bench-bf16x3.json claims to have the lines of bench-split.json in its own type. */
static void test_bf16x3_has_the_lines_of_split(void **state) {
    static const char split[] = "f32@split-", bf16x3[] = "f32@bf16x3-";
    struct gt_sweep a, b;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_sweep_load(&a, "configs/bench-split.json", &err), GEMMTUNE_OK);
    assert_int_equal(gt_sweep_load(&b, "configs/bench-bf16x3.json", &err), GEMMTUNE_OK);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        const char *one = a.item[i].name, *other = b.item[i].name;
        assert_int_equal(strncmp(one, split, strlen(split)), 0);
        assert_int_equal(strncmp(other, bf16x3, strlen(bf16x3)), 0);
        assert_string_equal(one + strlen(split), other + strlen(bf16x3));
    }
    gt_sweep_clear(&a);
    gt_sweep_clear(&b);
}

/* The name of a problem that both the sweep and the records of a device have, else NULL. */
static const char *problem_of_both(const struct gt_sweep *s, struct gt_node records) {
    const char *name = NULL;
    struct gt_err err = {""};
    for (size_t r = 0; r < gt_json_count(records); r++) {
        const struct gt_node problem = gt_json_member(gt_json_at(records, r), "problem");
        assert_int_equal(gt_json_string(&name, problem, &err), GEMMTUNE_OK);
        for (size_t i = 0; i < s->count; i++)
            if (strcmp(name, s->item[i].name) == 0)
                return s->item[i].name;
    }
    return NULL;
}

/* bench-untuned.json shows what a lookup guesses, so no shipped record may answer. */
static void test_untuned_problems_have_no_record(void **state) {
    struct gt_sweep s;
    struct gt_err err = {""};
    glob_t files;
    (void)state;
    assert_int_equal(gt_sweep_load(&s, "configs/bench-untuned.json", &err), GEMMTUNE_OK);
    assert_int_equal(glob("devices/*/tuned.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct gt_json *doc = NULL;
        assert_int_equal(gt_json_load(&doc, files.gl_pathv[i], &err), GEMMTUNE_OK);
        const struct gt_node devices = gt_json_member(gt_json_root(doc), "records");
        assert_true(gt_json_count(devices) > 0);
        for (size_t d = 0; d < gt_json_count(devices); d++) {
            const struct gt_node records = gt_json_at(devices, d);
            assert_true(gt_json_count(records) > 0);
            const char *both = problem_of_both(&s, records);
            if (both != NULL)
                fail_msg("%s has a record of %s", files.gl_pathv[i], both);
        }
        gt_json_destroy(doc);
    }
    globfree(&files);
    gt_sweep_clear(&s);
}

static void test_out_of_memory_stays_so(void **state) {
    static const char text[] =
        "{\"format\":1,\"sizes\":[{\"dtype\":\"f32\",\"m\":[1,2],\"n\":\"1:4:1\",\"k\":1},"
        "{\"dtype\":\"f32\",\"volume\":\"1e3:1e5\"},\"f64-nn-1x2x3\"]}";
    gt_status status = GEMMTUNE_ENOMEM;
    int n = 0;
    (void)state;
    if (__real_malloc == NULL)
        skip();
    for (; status == GEMMTUNE_ENOMEM && n < 1000; n++) {
        struct gt_sweep s;
        struct gt_err err = {""};
        allocations_left = n;
        status = parse_sweep(&s, "a.json", text, sizeof text - 1, &err);
        allocations_left = -1;
        assert_int_equal(err.line[0] == '\0', status == GEMMTUNE_OK);
        gt_sweep_clear(&s);
    }
    assert_int_equal(status, GEMMTUNE_OK);
    assert_in_range(n, 10, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expansion),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_shipped),
        cmocka_unit_test(test_lists_of_comparisons),
        cmocka_unit_test(test_bf16x3_has_the_lines_of_split),
        cmocka_unit_test(test_untuned_problems_have_no_record),
        cmocka_unit_test(test_out_of_memory_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
