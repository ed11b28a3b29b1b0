/* SPDX-License-Identifier: Apache-2.0 */
/* test_stored.c - Kernel Tuner caches, good and bad, and replays with known answers. */
#include "tuner/study/replay.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#define HEAD                                                                               \
    "{\"device_name\": \"a card\", \"kernel_name\": \"k\", \"problem_size\": [64, 64],\n"  \
    "\"tune_params_keys\": [\"B\", \"A\", \"MODE\"],\n"                                    \
    "\"tune_params\": {\"A\": [8, 4, 16], \"B\": [1, 2], \"MODE\": [\"x\", \"y\"]},\n"     \
    "\"cache\": {\n"
#define ENTRY(b, a, mode, rest)                                                            \
    "\"" #b "," #a "," mode "\": {\"B\": " #b ", \"A\": " #a ", \"MODE\": \"" mode         \
    "\", " rest "}"

/* clang-format off */
static const char good[] = HEAD
    ENTRY(2, 16, "y", "\"time\": 1.5") ",\n"
    ENTRY(1, 4, "x", "\"time\": 2") ",\n"
    ENTRY(1, 8, "x", "\"time\": \"CompilationFailedConfig\"") ",\n"
    ENTRY(1, 16, "y", "\"__error__\": \"RuntimeFailedConfig\"") ",\n"
    ENTRY(2, 4, "x", "\"time\": \"InvalidConfig\"") ",\n"
    ENTRY(2, 8, "x", "\"times\": [1, 9], \"time\": 4e0") "}}";
/* clang-format on */

static gt_status parse(struct gt_stored *s, const char *text, struct gt_err *err) {
    return gt_stored_parse(s, "c.json", text, strlen(text), err);
}

static size_t find(const struct gt_stored *s, int64_t b, int64_t a, int64_t mode) {
    const struct gt_point p = {.count = 3, .entry = {{"B", b}, {"A", a}, {"MODE", mode}}};
    return gt_space_find(s->space, &p);
}

static void test_a_cache(void **state) {
    struct gt_stored s;
    struct gt_err err = {""};
    assert_int_equal(parse(&s, good, &err), GEMMTUNE_OK);
    assert_string_equal(s.title, "k on a card");
    assert_int_equal(s.spaces, 1);
    assert_int_equal(s.space->count, 5); /* the invalid one is no point */
    assert_true(s.best_ns == 1.5e6);
    const size_t best = find(&s, 2, 16, 1);
    assert_int_not_equal(best, SIZE_MAX);
    assert_true(s.ns[0][best] == 1.5e6);
    assert_int_equal(s.outcome[0][find(&s, 1, 8, 0)], GT_COMPILE);
    assert_int_equal(s.outcome[0][find(&s, 1, 16, 1)], GT_LAUNCH);
    assert_int_equal(find(&s, 2, 4, 0), SIZE_MAX);
    assert_int_equal(find(&s, 1, 5, 0), SIZE_MAX);
    gt_stored_clear(&s);
}

static void test_a_cache_that_was_left_open(void **state) {
    struct gt_stored s;
    assert_int_equal(parse(&s, HEAD ENTRY(1, 4, "x", "\"time\": 2") ",\n", NULL),
                     GEMMTUNE_OK);
    assert_int_equal(s.space->count, 1);
    gt_stored_clear(&s);
}

/* As for Python, the last entry of a key is the one that is there, faster or not. */
static void test_the_last_entry_of_a_key_counts(void **state) {
    /* clang-format off */
    static const char text[] = HEAD
        ENTRY(1, 4, "x", "\"time\": 1") ",\n"
        ENTRY(2, 4, "y", "\"time\": 3") ",\n"
        ENTRY(1, 8, "x", "\"time\": 2") ",\n"
        ENTRY(1, 4, "x", "\"time\": 5") ",\n"
        ENTRY(1, 8, "x", "\"time\": \"RuntimeFailedConfig\"") "}}";
    /* clang-format on */
    struct gt_stored s;
    assert_int_equal(parse(&s, text, NULL), GEMMTUNE_OK);
    assert_int_equal(s.space->count, 3);
    assert_true(s.ns[0][find(&s, 1, 4, 0)] == 5e6);
    assert_int_equal(s.outcome[0][find(&s, 1, 8, 0)], GT_LAUNCH);
    assert_true(s.best_ns == 3e6);
    gt_stored_clear(&s);
}

/* The words that Kernel Tuner wrote when there was no time, and its measurements beside
 * times. */
static void test_times_that_are_none(void **state) {
    static const char *const none[] = {"NaN", "1e20", "1e+20", "Infinity", "null"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct gt_stored s;
        struct gt_err err = {""};
        char text[2048];
        snprintf(text, sizeof text, "%s%s\"time\": %s, \"power\": NaN}}}",
                 HEAD ENTRY(2, 8, "x", "\"time\": 4, \"GFLOP/s\": Infinity") ",\n",
                 "\"1,4,x\": {\"B\": 1, \"A\": 4, \"MODE\": \"x\", ", none[i]);
        if (parse(&s, text, &err) != GEMMTUNE_OK)
            fail_msg("%s: %s", none[i], err.line);
        assert_int_equal(s.space->count, 2);
        assert_int_equal(s.outcome[0][find(&s, 1, 4, 0)], GT_CRASHED);
        assert_true(s.best_ns == 4e6);
        gt_stored_clear(&s);
    }
}

/* Values of every kind that a list may have, and names as long as people's. */
static void test_odd_parameters(void **state) {
    static const char text[] =
        "{\"device_name\": \"\", \"kernel_name\": \"k\\u001b[31m\", \"tune_params_keys\": "
        "[\"loop_unroll_factor_channel\", \"loop_unroll_factor_chanson\"], "
        "\"tune_params\": {\"loop_unroll_factor_channel\": [null, [1, 2], [2, 1]], "
        "\"loop_unroll_factor_chanson\": [{\"a\": 1}, true]}, \"cache\": {"
        "\"1\": {\"loop_unroll_factor_channel\": null, \"loop_unroll_factor_chanson\": "
        "{\"a\": 1}, \"time\": 1}, \"2\": {\"loop_unroll_factor_channel\": [2, 1], "
        "\"loop_unroll_factor_chanson\": true, \"time\": 2}}}";
    struct gt_stored s;
    struct gt_err err = {""};
    if (parse(&s, text, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    assert_string_equal(s.title, "k [31m on a device without a name");
    assert_int_equal(s.space->params, 2);
    assert_int_equal(s.space->count, 2);
    const struct gt_family *f = s.space->family;
    assert_string_not_equal(f->param[0].name, f->param[1].name);
    assert_memory_equal(f->param[0].name, "loop_unroll_fa~", 15);
    assert_int_equal(f->param[0].value[1], 2); /* [2, 1] is the third of its list */
    gt_stored_clear(&s);
}

/* Parameters P0, P1, .. of the values 1 to `values`. Every value is 1 in point 0, with a
 * time of 1 ms; each other point, of 2 ms, has one other value of one parameter. */
static gt_status parse_wide(struct gt_stored *s, int params, int values,
                            struct gt_err *err) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    fputs("{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [", file);
    for (int i = 0; i < params; i++)
        fprintf(file, "%s\"P%d\"", i > 0 ? ", " : "", i);
    fputs("], \"tune_params\": {", file);
    for (int i = 0; i < params; i++) {
        fprintf(file, "%s\"P%d\": [1", i > 0 ? ", " : "", i);
        for (int j = 2; j <= values; j++)
            fprintf(file, ", %d", j);
        fputs("]", file);
    }
    fputs("}, \"cache\": {", file);
    for (int p = 0; p <= params * (values - 1); p++) {
        const int other = (p - 1) / (values - 1), value = 2 + (p - 1) % (values - 1);
        fprintf(file, "%s\"%d\": {", p > 0 ? ", " : "", p);
        for (int i = 0; i < params; i++)
            fprintf(file, "\"P%d\": %d, ", i, p > 0 && i == other ? value : 1);
        fprintf(file, "\"time\": %d}", p > 0 ? 2 : 1);
    }
    fputs("}}", file);
    assert_int_equal(fclose(file), 0);
    const gt_status status = parse(s, text, err);
    free(text);
    return status;
}

static void test_many_parameters(void **state) {
    static const struct {
        int params, values, places;
    } rows[] = {{24, 3, 24}, {25, 3, 24}, {40, 2, 24}, {48, 8, 24}, {72, 2, 24}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_stored s;
        struct gt_err err = {""};
        if (parse_wide(&s, rows[i].params, rows[i].values, &err) != GEMMTUNE_OK)
            fail_msg("%d: %s", rows[i].params, err.line);
        assert_int_equal(s.space->params, rows[i].places);
        /* no two points have become one */
        assert_int_equal(s.space->count, 1 + rows[i].params * (rows[i].values - 1));
        assert_true(s.best_ns == 1e6);
        gt_stored_clear(&s);
    }
    struct gt_stored s;
    struct gt_err err = {""};
    assert_int_equal(parse_wide(&s, 49, 8, &err), GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "/tune_params_keys: has too many"));
}

/* A list is refused before the entries are looked up in it. Entry 0 is bad: nobody sees. */
static void test_a_list_that_is_too_long(void **state) {
    struct gt_stored s;
    struct gt_err err = {""};
    assert_int_equal(parse_wide(&s, 1, GT_VALUES_MAX, NULL), GEMMTUNE_OK);
    gt_stored_clear(&s);
    assert_int_equal(parse_wide(&s, 1, GT_VALUES_MAX + 1, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "c.json:1: /tune_params/P0: has 65 values; a parameter "
                                  "may have 64");
}

/* Processor seconds for parameters P0, P1, .. of one value, in an entry of many members. */
static double parse_crowded(int params) {
    char *text = NULL;
    size_t size = 0;
    struct gt_stored s;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    fputs("{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": [", file);
    for (int i = 0; i < params; i++)
        fprintf(file, "%s\"P%d\"", i > 0 ? ", " : "", i);
    fputs("], \"tune_params\": {", file);
    for (int i = 0; i < params; i++)
        fprintf(file, "%s\"P%d\": [1]", i > 0 ? ", " : "", i);
    fputs("}, \"cache\": {\"1\": {", file);
    for (int i = 0; i < params; i++)
        fprintf(file, "\"P%d\": 1, ", i);
    for (int i = 0; i < 300000; i++)
        fprintf(file, "\"%x\": 0, ", (unsigned)i);
    fputs("\"time\": 1}}}", file);
    assert_int_equal(fclose(file), 0);
    const clock_t from = clock();
    assert_int_equal(parse(&s, text, NULL), GEMMTUNE_OK);
    const double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    gt_stored_clear(&s);
    free(text);
    return seconds;
}

/* The members of an entry are gone through once, not once for each parameter. */
static void test_an_entry_of_many_members(void **state) {
    const double few = parse_crowded(1), many = parse_crowded(500);
    print_message("%.3f s, %.3f s\n", few, many);
    assert_true(many < 3 * few);
}

static void test_files_of_another_kind(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"results\": [{\"configuration\": {\"bx\": 1}, \"invalidity\": \"correct\"}], "
         "\"schema_version\": \"1.0.0\"}",
         "T4 format"},
        {"{\"ConfigurationSpace\": {}, \"KernelSpecification\": {}}", "T1 format"},
        {"{\"Metadata\": {\"KttVersion\": \"2.1\"}, \"Results\": []}", "KTT"},
        {"{\"best_kernel\": \"X\", \"clblast_device_name\": \"g\"}", "CLBlast"},
        {"{\"input\": [], \"config\": {}, \"tvm_version\": \"0.7\"}\n{\"input\"",
         "AutoTVM"},
        {"{\"i\": [[\"k\"]], \"r\": [[0.1], 0, 1, 2], \"v\": \"v0.6\"}", "auto-scheduler"},
        {"Validator,PT_VERSION,2.4.0\nGemmTunableOp_float_TN,tn_1_2_3,G,0.1\n",
         "results of PyTorch's TunableOp"},
        {"GemmTunableOp_float_TN,tn_1_2_3\n", "a list of PyTorch's TunableOp"},
        {"I! cuBLAS (v12.1) function cublasStatus_t cublasGemmEx(..) called:\n", "cuBLAS"},
        {"[2024-01-01 00:00:00][cublasLt][1][Api][cublasLtMatmul] x\n", "cublasLt"},
        {"onednn_verbose,primitive,exec,cpu,matmul\n", "oneDNN"},
        {"dnnl_verbose,exec,cpu,matmul\n", "oneDNN"},
        {"MKL_VERBOSE SGEMM(N,N,1,2,3)\n", "oneMKL"},
        {"./rocblas-bench -f gemm -m 1\n", "rocBLAS"},
        {"- { rocblas_function: \"rocblas_sgemm\" }\n", "rocBLAS"},
        {"hipblaslt-bench -m 1\n", "hipBLASLt"},
        {"Problem,Provider,OperationKind\n", "CUTLASS"},
        {"m,n,k\n1,2,3\n", "a table of shapes"},
        {"[[1,2,3]]", "a list of shapes"},
        {"{\"format\": 1, \"sizes\": []}", "a list of problems"},
        {"{\"format\": 2, \"devices\": [], \"records\": []}", "gemmtune export"},
        {"{\"format\": 1, \"units\": 1, \"clock_mhz\": 2}", "description of a device"},
        {"SQLite format 3", "a database"},
        {"\x93NUMPY", "NumPy"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_stored s;
        struct gt_err err = {""};
        assert_int_equal(parse(&s, rows[i].text, &err), GEMMTUNE_EPARSE);
        print_message("%s\n", err.line);
        assert_non_null(strstr(err.line, rows[i].says));
        assert_non_null(strstr(err.line, "not a cache of Kernel Tuner; "));
    }
    /* a damaged cache is a cache */
    struct gt_stored s;
    struct gt_err err = {""};
    assert_int_equal(parse(&s, HEAD "\"cuBLAS\": 3}}", &err), GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "/cache/cuBLAS: must be an object"));
}

static void test_another_objective(void **state) {
    struct gt_stored s;
    struct gt_err err = {""};
    assert_int_equal(parse(&s,
                           "{\"objective\": \"score\", \"device_name\": \"d\", "
                           "\"kernel_name\": \"k\", \"tune_params_keys\": [\"A\"], "
                           "\"tune_params\": {\"A\": [1]}, \"cache\": {\"1\": {\"A\": 1, "
                           "\"score\": 0.5}}}",
                           &err),
                     GEMMTUNE_EPARSE);
    assert_string_equal(err.line,
                        "c.json:1: /objective: the cache compares by \"score\" and "
                        "has no \"time\": only times can be replayed");
}

static void test_bad_caches(void **state) {
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "c.json"},
        {"{", "c.json"},
        {"[1]", "must be an object, not an array"},
        {"{\"device_name\": 3}", "/device_name: must be a string"},
        {"{\"device_name\": \"d\"}", "\"kernel_name\" is missing"},
        {HEAD "}}", "/cache: holds no time"},
        {HEAD, "/cache: holds no time"},
        {HEAD "\"1\": 3}}", "/cache/1: must be an object"},
        {HEAD "\"1\": {\"B\": 1}}}", "\"A\" is missing"},
        {HEAD ENTRY(3, 4, "x", "\"time\": 2") "}}", "is not in the list of B"},
        {HEAD ENTRY(1, 4, "z", "\"time\": 2") "}}", "is not in the list of MODE"},
        {HEAD ENTRY(1, 4, "x", "\"tim\": 2") "}}", "\"time\" is missing"},
        {HEAD ENTRY(1, 4, "x", "\"time\": \"soon\"") "}}", "\"soon\" is not an error"},
        {HEAD ENTRY(1, 4, "x", "\"time\": -1") "}}", "above 0"},
        {HEAD ENTRY(1, 4, "x", "\"time\": -Infinity") "}}", "/cache: holds no time"},
        {HEAD ENTRY(1, 4, "x", "\"time\": 1e20") "}}", "/cache: holds no time"},
        {HEAD ENTRY(1, 4, "x", "\"time\": NaN") "}}", "/cache: holds no time"},
        {HEAD ENTRY(1, 4, "x", "\"time\": [2]") "}}", "must be a number"},
        {HEAD ENTRY(1, 4, "x", "\"__error__\": 7") "}}", "must be a string"},
        {HEAD ENTRY(1, 4, "x", "\"time\": 2"), "c.json:"}, /* cut in an entry */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_stored s;
        struct gt_err err = {""};
        print_message("%s\n", bad[i].says);
        assert_int_equal(parse(&s, bad[i].text, &err), GEMMTUNE_EPARSE);
        assert_non_null(strstr(err.line, "c.json"));
        if (!strstr(err.line, bad[i].says))
            print_message("said: %s\n", err.line);
        assert_non_null(strstr(err.line, bad[i].says));
        assert_int_equal(s.spaces, 0);
    }
}

static void test_bad_parameters(void **state) {
    static const struct {
        const char *keys, *lists, *says;
    } bad[] = {
        {"[]", "{}", "1 to 512 names"},
        {"3", "{}", "1 to 512 names"},
        {"[3]", "{}", "must be a string"},
        {"[\"A\"]", "{}", "\"A\" is missing"},
        {"[\"A\", \"A\"]", "{\"A\": [1]}", "a second time"},
        {"[\"A\"]", "{\"A\": []}", "must be a list of values"},
        {"[\"A\"]", "[]", "must be an object"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gt_stored s;
        struct gt_err err = {""};
        char text[512];
        snprintf(
            text, sizeof text,
            "{\"device_name\": \"d\", \"kernel_name\": \"k\", \"tune_params_keys\": %s, "
            "\"tune_params\": %s, \"cache\": {}}",
            bad[i].keys, bad[i].lists);
        assert_int_equal(parse(&s, text, &err), GEMMTUNE_EPARSE);
        print_message("%s\n", err.line);
        assert_non_null(strstr(err.line, bad[i].says));
    }
}

static void test_too_many_values(void **state) {
    struct gt_stored_rows rows = {.params = 1, .param = {"A"}};
    struct gt_stored s = {0};
    struct gt_err err = {""};
    for (int i = 0; i <= GT_VALUES_MAX; i++)
        assert_int_equal(
            gt_stored_row(&rows, &(struct gt_stored_row){.value = {i}, .ns = 1}, NULL),
            GEMMTUNE_OK);
    assert_int_equal(gt_stored_add(&s, &rows, &err), GEMMTUNE_EINVAL);
    assert_string_equal(err.line, "parameter A has more than 64 values");
    gt_stored_clear(&s);
    free(rows.row);
}

/* ---- files ---- */

static void path_of(char *path, size_t size, const char *name) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/%s", folder ? folder : "/tmp", name);
}

static long write_gz(const char *path) {
    gzFile gz = gzopen(path, "wb");
    assert_non_null(gz);
    assert_int_equal(gzwrite(gz, good, sizeof good - 1), sizeof good - 1);
    assert_int_equal(gzclose(gz), Z_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_int_equal(fclose(file), 0);
    return size;
}

static void test_files(void **state) {
    char path[512];
    struct gt_stored s;
    struct gt_err err = {""};
    path_of(path, sizeof path, "cache.json.gz");
    const long size = write_gz(path);
    assert_int_equal(gt_stored_cache(&s, path, &err), GEMMTUNE_OK);
    assert_int_equal(s.space->count, 5);
    gt_stored_clear(&s);

    assert_int_equal(truncate(path, size - 20), 0);
    assert_int_equal(gt_stored_cache(&s, path, &err), GEMMTUNE_EPARSE);
    print_message("%s\n", err.line);
    assert_non_null(strstr(err.line, "cut short or damaged"));

    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(good, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(gt_stored_cache(&s, path, &err), GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "not a gzip file"));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(gt_stored_cache(&s, path, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "No such file"));
}

/* ---- replay ---- */

/* A line of ten points; the time of point i is 10 - i ms, so that full gets better at every
 * step. */
static void make_line(struct gt_stored *s) {
    struct gt_stored_rows rows = {.name = "line", .params = 1, .param = {"A"}};
    *s = (struct gt_stored){0};
    for (int i = 0; i < 10; i++)
        assert_int_equal(
            gt_stored_row(
                &rows, &(struct gt_stored_row){.value = {i}, .ns = (10 - i) * 1e6}, NULL),
            GEMMTUNE_OK);
    assert_int_equal(gt_stored_add(s, &rows, NULL), GEMMTUNE_OK);
    free(rows.row);
}

static void test_a_replay_counts_evaluations(void **state) {
    struct gt_stored s;
    struct gt_replay r;
    make_line(&s);
    struct gt_replay_setup setup = {.stored = &s,
                                    .strategy = &gt_search_full,
                                    .budget = 1000,
                                    .ahead = 1,
                                    .runs = 3,
                                    .first_seed = 1};
    assert_int_equal(gt_replay_run(&r, &setup, NULL), GEMMTUNE_OK);
    assert_int_equal(r.budget, 10);
    assert_int_equal(r.reach[1].runs, 3);
    assert_true(r.reach[1].median == 10 && r.reach[1].p90 == 10);
    assert_true(fabs(r.median[0] - 0.1) < 1e-6 && fabs(r.median[8] - 0.5) < 1e-6);
    assert_true(r.median[9] == 1 && r.low[9] == 1);
    gt_replay_clear(&r);

    setup.budget = 9; /* one too few */
    setup.ahead = 4;
    assert_int_equal(gt_replay_run(&r, &setup, NULL), GEMMTUNE_OK);
    assert_int_equal(r.reach[0].runs, 0);
    assert_true(isinf(r.reach[0].median));
    assert_true(fabs(r.median[8] - 0.5) < 1e-6);
    gt_replay_clear(&r);
    gt_stored_clear(&s);
}

/* The chance of having found one point of ten after e evaluations is e / 10. */
static void test_random_replays_as_it_should(void **state) {
    struct gt_stored s;
    struct gt_replay r;
    make_line(&s);
    const struct gt_replay_setup setup = {.stored = &s,
                                          .strategy = &gt_search_random,
                                          .budget = 10,
                                          .ahead = 1,
                                          .runs = 2000,
                                          .first_seed = 1};
    assert_int_equal(gt_replay_run(&r, &setup, NULL), GEMMTUNE_OK);
    print_message("median %g, p90 %g\n", r.reach[1].median, r.reach[1].p90);
    assert_true(r.reach[1].median >= 5 && r.reach[1].median <= 6);
    assert_true(r.reach[1].p90 >= 9 && r.reach[1].p90 <= 10);
    gt_replay_clear(&r);
    gt_stored_clear(&s);
}

static void test_seeds_of_another(void **state) {
    struct gt_stored a, b;
    struct gt_pick pick[3];
    make_line(&a);
    make_line(&b);
    a.space->count = 9; /* the best of b is no point of a */
    assert_int_equal(gt_stored_starts(pick, 3, &a, &b), 3);
    assert_int_equal(pick[0].index, 8);
    assert_int_equal(pick[1].index, 7);
    assert_int_equal(pick[2].index, 6);
    b.ns[0][7] = b.ns[0][6] = b.ns[0][8]; /* those as fast as the last one count as well */
    assert_int_equal(gt_stored_starts(pick, 3, &a, &b), 3);
    assert_int_equal(pick[0].index, 6);
    assert_int_equal(pick[1].index, 7);
    assert_int_equal(pick[2].index, 8);
    gt_stored_clear(&a);
    gt_stored_clear(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cache),
        cmocka_unit_test(test_a_cache_that_was_left_open),
        cmocka_unit_test(test_the_last_entry_of_a_key_counts),
        cmocka_unit_test(test_times_that_are_none),
        cmocka_unit_test(test_odd_parameters),
        cmocka_unit_test(test_many_parameters),
        cmocka_unit_test(test_a_list_that_is_too_long),
        cmocka_unit_test(test_an_entry_of_many_members),
        cmocka_unit_test(test_files_of_another_kind),
        cmocka_unit_test(test_another_objective),
        cmocka_unit_test(test_bad_caches),
        cmocka_unit_test(test_bad_parameters),
        cmocka_unit_test(test_too_many_values),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_a_replay_counts_evaluations),
        cmocka_unit_test(test_random_replays_as_it_should),
        cmocka_unit_test(test_seeds_of_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
