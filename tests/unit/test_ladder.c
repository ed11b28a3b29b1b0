/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ladder.c - the rungs of the ladder are the ones that the families' space.json name.
 */
#include "tuner/tune/ladder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_families *families(void) {
    struct gt_families *f = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_families_create(&f, &err), GEMMTUNE_OK);
    return f;
}

static int find(const struct gt_ladder *l, const char *name) {
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->rung[i].name, name) == 0)
            return i;
    return -1;
}

static void test_rungs_of_the_built_in_families(void **state) {
    static const char *const names[] = {
        "cpu loop", "cpu blas", "naive", "naive, along rows", "coalesced", "tile",
        "column",   "block",    "tuned"};
    struct gt_families *f = families();
    struct gt_ladder l;
    (void)state;
    gt_ladder_init(&l, f);
    assert_int_equal(l.count, sizeof names / sizeof *names);
    for (int i = 0; i < l.count; i++) {
        assert_string_equal(l.rung[i].name, names[i]);
        assert_int_equal(l.rung[i].on_device, i >= 2);
        assert_true(l.rung[i].ns == 0);
    }
    assert_int_equal(l.baseline, find(&l, "naive"));
    gt_families_destroy(f);
}

/* The remark on a ladder of a coalesced and a tuned kernel with these times. */
static const char *remark_on(const float coalesced[6], const float tuned[6], bool same) {
    static struct gt_ladder l;
    static struct gt_report report;
    const int at[2] = {0, same ? 0 : 1};
    l = (struct gt_ladder){.count = 2,
                           .rung = {{.name = "coalesced", .on_device = true},
                                    {.name = "tuned", .on_device = true}}};
    for (int i = 0; i < 2; i++) {
        struct gt_measurement *m = &report.result[i].time;
        *m = (struct gt_measurement){.samples = 6};
        memcpy(m->sample_ns, i == 0 ? coalesced : tuned, 6 * sizeof *tuned);
        gt_measurement_summarize(m);
    }
    for (int i = 0; i < 2; i++)
        l.rung[i].ns = report.result[at[i]].time.median_ns;
    gt_ladder_remark(&l, at, &report);
    return l.remark;
}

/* The tuned rung is not below another one without a word. */
static void test_a_rung_above_the_tuned_one(void **state) {
    static const float fast[6] = {80, 81, 80, 81, 80, 81},
                       slow[6] = {90, 91, 90, 91, 90, 91},
                       loud[6] = {70, 101, 79, 111, 78, 101};
    (void)state;
    assert_string_equal(remark_on(slow, fast, false), "");
    assert_string_equal(remark_on(slow, slow, true), "");
    assert_non_null(strstr(remark_on(fast, slow, false), "rung \"coalesced\" takes 11"));
    assert_non_null(strstr(remark_on(fast, slow, false), "--again"));
    assert_non_null(strstr(remark_on(fast, loud, false), "within the noise"));
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A user's family gets its rungs without a line of C. */
static void test_a_family_adds_its_rung(void **state) {
    char folder[] = "/tmp/gt-ladder-XXXXXX", sub[64], json[96], source[96];
    struct gt_families *f = families();
    struct gt_err err = {""};
    struct gt_ladder l;
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(sub, sizeof sub, "%s/mine", folder);
    (void)snprintf(json, sizeof json, "%s/space.json", sub);
    (void)snprintf(source, sizeof source, "%s/mine.cl", sub);
    assert_int_equal(mkdir(sub, 0700), 0);
    write_file(source, "text");
    write_file(json, "{\"format\": 1, \"family\": \"mine\", \"about\": \"For a test.\","
                     " \"rank\": 45, \"rungs\": {\"my own\": {}},"
                     " \"source\": {\"opencl\": \"mine.cl\"}, \"entry\": \"gemm\","
                     " \"dtypes\": [\"f32\"], \"layouts\": [\"nn\"],"
                     " \"params\": {}, \"default\": {},"
                     " \"launch\": {\"block\": [\"1\", \"1\", \"1\"],"
                     " \"grid\": [\"M\", \"1\", \"1\"]},"
                     " \"args\": [\"alpha\", \"beta\", \"a\", \"b\", \"c\"]}");
    const gt_status status = gt_families_add_folder(f, folder, &err);
    (void)unlink(source);
    (void)unlink(json);
    (void)rmdir(sub);
    (void)rmdir(folder);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    gt_ladder_init(&l, f);
    assert_int_equal(find(&l, "my own"), find(&l, "naive, along rows") + 1);
    assert_int_equal(find(&l, "coalesced"), find(&l, "my own") + 1);
    gt_families_destroy(f);
}

static void test_roles(void **state) {
    struct gt_families *f = families();
    (void)state;
    assert_string_equal(gt_families_with_role(f, GT_ROLE_BASELINE)->name, "naive");
    assert_string_equal(gt_families_with_role(f, GT_ROLE_TEXTBOOK)->name, "tile");
    gt_families_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rungs_of_the_built_in_families),
        cmocka_unit_test(test_a_rung_above_the_tuned_one),
        cmocka_unit_test(test_a_family_adds_its_rung),
        cmocka_unit_test(test_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
