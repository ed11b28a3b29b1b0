/* SPDX-License-Identifier: Apache-2.0 */
/* Results of other tuners: what is kept of them, what is refused. */
#include "tests/unit/short_of_memory.h"
#include "tuner/study/elsewhere.h"
#include "tuner/study/file_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gt_families *families;
static struct gt_seeds *seeds;
static const struct gt_elsewhere_given nothing;

static int setup(void **state) {
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_seeds_create(&seeds, NULL, NULL), GEMMTUNE_OK);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gt_seeds_destroy(seeds);
    gt_families_destroy(families);
    return 0;
}

static gt_status read_text(struct gt_elsewhere *e, const char *text,
                           const struct gt_elsewhere_given *given, struct gt_err *err) {
    return gt_elsewhere_read(e, "a/x.json", text, strlen(text), given, seeds, families,
                             err);
}

static void read_file(struct gt_elsewhere *e, const char *path) {
    struct gt_err err = {""};
    char *text = NULL;
    size_t size;
    assert_int_equal(gt_file_text(&text, &size, path, &err), GEMMTUNE_OK);
    assert_true(gt_elsewhere_knows(text, size));
    const gt_status status =
        gt_elsewhere_read(e, path, text, size, &nothing, seeds, families, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    free(text);
}

static void expect(const struct gt_elsewhere *e, int i, const char *kernel,
                   const char *point, double ns) {
    char text[GT_POINT_TEXT_MAX];
    assert_true(i < e->count);
    (void)gt_point_text(&e->best[i].point, text);
    assert_string_equal(e->best[i].kernel, kernel);
    assert_string_equal(text, point);
    assert_true(e->best[i].ns == ns);
}

/* Parameters that make no difference here make no second seed. m and n change places. The
 * cache was not closed. */
static void test_kernel_tuner(void **state) {
    struct gt_elsewhere e;
    (void)state;
    read_file(&e, "tests/data/elsewhere/kernel_tuner.json");
    assert_string_equal(e.device, "NVIDIA A Card");
    assert_string_equal(e.problem, "f32-nn-512x1024x1024");
    assert_string_equal(e.source, "Kernel Tuner, kernel_tuner.json");
    assert_int_equal(e.results, 3);
    assert_int_equal(e.failed, 1);
    assert_int_equal(e.count, 2);
    expect(&e, 0, "xgemm", "KWG=32 MDIMC=8 MWG=64 NDIMC=8 NWG=32 SA=1 SB=1 VWM=1 VWN=2",
           2.125e6);
    expect(&e, 1, "xgemm", "KWG=32 MDIMC=8 MWG=32 NDIMC=8 NWG=32 SA=1 SB=1 VWM=1 VWN=2",
           3.5e6);
}

static void test_t4(void **state) {
    struct gt_elsewhere e;
    (void)state;
    read_file(&e, "tests/data/elsewhere/t4.json");
    assert_string_equal(e.device, "A Card");
    assert_string_equal(e.problem, "f64-nt-96x64x32");
    assert_int_equal(e.results, 3);
    assert_int_equal(e.failed, 1);
    assert_int_equal(e.strange, 1);
    assert_int_equal(e.count, 2);
    expect(&e, 0, "tile", "TILE_WIDTH=8 PAD=1 DOUBLE=0", 2.5e5);
    expect(&e, 1, "tile", "TILE_WIDTH=16 PAD=1 DOUBLE=0", 7.5e5);
}

static void test_clblast(void **state) {
    struct gt_elsewhere e;
    (void)state;
    read_file(&e, "tests/data/elsewhere/clblast_xgemm_direct_1_16.json");
    assert_string_equal(e.device, "AMD Radeon RX 6900 XT");
    assert_string_equal(e.problem, "f16-nn-128x384x256");
    assert_int_equal(e.results, 1);
    assert_int_equal(e.failed, 1);
    assert_int_equal(e.count, 1);
    expect(&e, 0, "xgemm_direct", "MDIMCD=8 NDIMCD=8 PADA=1 PADB=1 VWMD=1 VWND=2 WGD=32",
           0.53e6);
}

/* Of many results the fastest ones are kept, in order, each point once. */
static void test_the_fastest(void **state) {
    struct gt_elsewhere e;
    struct gt_err err = {""};
    const struct gt_elsewhere_given given = {"d", "f32-nn-8x8x8"};
    char *text = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("{\"results\": [", out);
    for (int i = 0; i < 90; i++) /* 30 points, each three times */
        fprintf(out,
                "%s{\"configuration\": {\"FAMILY\": \"tile\", \"TILE_WIDTH\": %d, \"PAD\": "
                "0, \"DOUBLE\": 0}, \"invalidity\": \"correct\", \"times\": {\"runtimes\": "
                "[%d]}}",
                i > 0 ? ", " : "", 1 + i % 30, 1 + (i * 37) % 90);
    fputs("]}", out);
    (void)fclose(out);
    assert_int_equal(read_text(&e, text, &given, &err), GEMMTUNE_OK);
    assert_int_equal(e.results, 90);
    assert_int_equal(e.count, GT_ELSEWHERE_MAX);
    for (int i = 0; i < e.count; i++)
        for (int j = 0; j < i; j++) {
            assert_true(e.best[j].ns <= e.best[i].ns);
            assert_int_not_equal(e.best[j].point.entry[0].value,
                                 e.best[i].point.entry[0].value);
        }
    assert_true(e.best[0].ns == 1e6);
    free(text);
}

/* The user's word goes before the file's. */
static void test_given(void **state) {
    static const char text[] =
        "{\"device_name\": \"theirs\", \"problem_size\": [8, 4, 2], \"tune_params\": {}, "
        "\"cache\": {\"1\": {\"WGD\": 8, \"MDIMCD\": 8, \"NDIMCD\": 8, \"VWMD\": 1, "
        "\"VWND\": 1, \"PADA\": 0, \"PADB\": 0, \"PRECISION\": 64, \"time\": 1}}}";
    const struct gt_elsewhere_given given = {"mine", "f16-tt-1x2x3"};
    struct gt_elsewhere e;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(read_text(&e, text, &nothing, &err), GEMMTUNE_OK);
    assert_string_equal(e.device, "theirs");
    assert_string_equal(e.problem, "f64-nn-4x8x2");
    assert_int_equal(read_text(&e, text, &given, &err), GEMMTUNE_OK);
    assert_string_equal(e.device, "mine");
    assert_string_equal(e.problem, "f16-tt-1x2x3");
}

#define T4(rest, parameters)                                                               \
    "{" rest "\"results\": [{\"configuration\": {" parameters                              \
    "}, \"invalidity\": \"correct\", \"times\": {\"runtimes\": [1]}}]}"
#define TILE  "\"FAMILY\": \"tile\", \"TILE_WIDTH\": 8, \"PAD\": 0, \"DOUBLE\": 0"
#define WHERE "\"metadata\": {\"device\": \"d\", \"problem\": \"f32-nn-8x8x8\"}, "

static void test_refused(void **state) {
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"{}", "x.json: not a result of another tuner"},
        {"{\"tune_params\": 1, \"cache\"", "x.json:1: "},
        {"{\"results\": [{\"configuration\": {}", "x.json:1: "},
        {"{\"tune_params\": {}, \"x\": \"\\\"cache\\\"\", \"cache\": {}}",
         "names no device"},
        {T4("", TILE), "names no device; say it with --measured-on NAME"},
        {T4("\"metadata\": {\"device\": \"d\"}, ", TILE),
         "says no problem; say it with --problem NAME"},
        {T4("\"metadata\": {\"device\": \"d\", \"problem\": \"f32\"}, ", TILE), "f32"},
        {T4(WHERE, "\"FAMILY\": \"tile\", \"TILE_WIDTH\": 8"),
         "its parameters are neither"},
        {T4(WHERE, TILE ", \"MORE\": 1"), "its parameters are neither"},
        {T4(WHERE, "\"FAMILY\": 7"), "its parameters are neither"},
        {T4(WHERE, "\"block_size_x\": 32"), "its parameters are neither"},
        {"{\"metadata\": {\"device\": \"d\", \"problem\": \"f32-nn-8x8x8\"}, \"results\": "
         "[{\"configuration\": {" TILE "}, \"invalidity\": \"timeout\"}]}",
         "no result of T4 has a time"},
        {"{\"metadata\": {\"device\": \"d\", \"problem\": \"f32-nn-8x8x8\"}, \"results\": "
         "[{\"configuration\": {" TILE "}, \"times\": {\"runtimes\": [-1, NaN]}}]}",
         "no result of T4 has a time"},
        {"{\"metadata\": {\"device\": \"d\", \"problem\": \"f32-nn-8x8x8\"}, \"results\": "
         "{\"configuration\": 1}}",
         "no result of T4 has a time"},
        {"{\"clblast_device_name\": \"d\", \"precision\": \"3232\", \"arg_m\": \"8\", "
         "\"arg_n\": \"8\", \"results\": []}",
         "says no problem"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_elsewhere e;
        struct gt_err err = {""};
        assert_int_equal(read_text(&e, rows[i].text, &nothing, &err), GEMMTUNE_EPARSE);
        assert_int_equal(e.count, 0);
        if (strstr(err.line, rows[i].reason) == NULL || strstr(err.line, "x.json") == NULL)
            fail_msg("%s: \"%s\"", rows[i].text, err.line);
    }
}

/* Every beginning of a file gets an answer. */
static void test_cut(void **state) {
    static const char *const files[] = {
        "tests/data/elsewhere/kernel_tuner.json", "tests/data/elsewhere/t4.json",
        "tests/data/elsewhere/clblast_xgemm_direct_1_16.json"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *text = NULL;
        size_t size;
        assert_int_equal(gt_file_text(&text, &size, files[i], NULL), GEMMTUNE_OK);
        for (size_t len = 0; len < size; len += 7) {
            struct gt_elsewhere e;
            struct gt_err err = {""};
            const gt_status status =
                gt_elsewhere_read(&e, "x", text, len, &nothing, seeds, families, &err);
            assert_true(status == GEMMTUNE_OK || status == GEMMTUNE_EPARSE);
            assert_true((status == GEMMTUNE_OK) == (e.count > 0));
            assert_true((status == GEMMTUNE_OK) == (err.line[0] == '\0'));
        }
        free(text);
    }
}

static void test_unknown_kinds(void **state) {
    static const char *const texts[] = {
        "", "{\"format\": 4, \"devices\": [], \"records\": []}",
        "{\"format\": 1, \"sizes\": []}", "SQLite format 3"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(gt_elsewhere_knows(texts[i], strlen(texts[i])));
}

static void test_memory(void **state) {
    gt_status status = GEMMTUNE_ENOMEM;
    (void)state;
    if (__real_malloc == NULL)
        skip();
    for (int i = 0; status != GEMMTUNE_OK && i < 5000; i += 1 + i / 8) {
        struct gt_elsewhere e;
        struct gt_err err = {""};
        allocations_left = i;
        status = read_text(&e, T4(WHERE, TILE), &nothing, &err);
        allocations_left = -1;
        assert_true(status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM);
    }
    assert_int_equal(status, GEMMTUNE_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_tuner), cmocka_unit_test(test_t4),
        cmocka_unit_test(test_clblast),      cmocka_unit_test(test_the_fastest),
        cmocka_unit_test(test_given),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_unknown_kinds),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
