/* SPDX-License-Identifier: Apache-2.0 */
/* The search for legal points, compared with trying every point of the cross product. */
#include "tuner/search/search.h"
#include "tuner/search/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RAW_MAX = 300000 }; /* of a built-in family that is tried whole */

static struct gt_device cuda_device(int64_t smem, int threads) {
    const struct gt_device d = {
        .backend = GEMMTUNE_CUDA,
        .name = "a device",
        .arch = "sm_61",
        .cc = 61,
        .units = 10,
        .warp = 32,
        .max_threads = threads,
        .regs_per_block = 65536,
        .smem_max = smem,
        .has_f64 = true,
    };
    return d;
}

/* As many units as an H200, and the families for tensor cores. */
static struct gt_device large_device(void) {
    struct gt_device d = cuda_device(232448, 1024);
    d.cc = 90;
    d.units = 132;
    return d;
}

static gemmtune_problem named(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    return p;
}

/* A family with these members in place of params .. accept. */
static struct gt_family *family(const char *members) {
    static const char *const source[2] = {"text", "text"};
    char json[8192];
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    (void)snprintf(json, sizeof json,
                   "{\"format\": 1, \"family\": \"toy\", \"about\": \"x\","
                   "\"source\": {\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"},"
                   "\"entry\": \"gemm\", \"dtypes\": [\"f32\", \"f64\", \"i32\"],"
                   "\"layouts\": [\"nn\", \"nt\", \"tn\", \"tt\"], %s,"
                   "\"launch\": {\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"1\", \"1\","
                   "\"1\"]}, \"args\": [\"m\", \"n\", \"k\", \"alpha\", \"a\", \"lda\", "
                   "\"b\", \"ldb\",\"beta\", \"c\", \"ldc\"]}",
                   members);
    const gt_status status =
        gt_family_parse(&f, "toy", "toy/space.json", json, source, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return f;
}

/* ---- brute force ---- */

static bool is_legal(struct gt_binding *b, const int64_t *values, bool accept) {
    return gt_bind_values(b, values, NULL) == GEMMTUNE_OK && gt_refused(b) == NULL &&
           (!accept || gt_not_accepted(b) == NULL);
}

/* Steps `at` to the next point, the last parameter fastest; false past the last. */
static bool next(int *at, const struct gt_family *f) {
    for (int i = f->param_count - 1; i >= 0; i--) {
        if (++at[i] < f->param[i].count)
            return true;
        at[i] = 0;
    }
    return false;
}

static void values_at(int64_t *values, const int *at, const struct gt_family *f) {
    for (int i = 0; i < f->param_count; i++)
        values[i] = f->param[i].value[at[i]];
}

static void assert_is_point(const struct gt_space *s, size_t i, const int64_t *values) {
    struct gt_point point;
    gt_space_point(s, i, &point);
    assert_int_equal(point.count, s->params);
    for (int j = 0; j < s->params; j++) {
        assert_string_equal(point.entry[j].name, s->family->param[j].name);
        assert_int_equal(point.entry[j].value, values[j]);
    }
    assert_int_equal(gt_space_find(s, &point), i);
}

/* The space has the legal points, all of them, in order. Returns how many. */
static size_t compare(const struct gt_family *f, const struct gt_device *d,
                      const gemmtune_problem *p, bool accept) {
    struct gt_space s;
    struct gt_binding b;
    struct gt_err err = {""};
    int at[GT_POINT_MAX] = {0};
    int64_t values[GT_POINT_MAX];
    size_t count = 0;
    double raw = 0;
    assert_int_equal((accept ? gt_space_create : gt_space_create_any)(&s, f, d, p, &err),
                     GEMMTUNE_OK);
    gt_bind_problem(&b, f, d, p);
    gt_bind_align(&b, p, 16);
    do {
        raw++;
        values_at(values, at, f);
        if (!is_legal(&b, values, accept))
            continue;
        assert_true(count < s.count);
        assert_is_point(&s, count++, values);
    } while (next(at, f));
    assert_int_equal(count, s.count);
    assert_true(raw == s.raw);
    gt_space_clear(&s);
    return count;
}

/* ---- families of our own ---- */

static void test_rules_and_derived_names(void **state) {
    static const struct {
        const char *members;
        size_t legal;
    } rows[] = {
        /* no parameter at all: one point */
        {"\"params\": {}, \"default\": {}", 1},
        {"\"params\": {}, \"default\": {}, \"require\": [[\"CUDA == 0\", \"x\"]]", 0},
        {"\"params\": {\"A\": [1, 2, 3]}, \"default\": {\"A\": 1}", 3},
        /* a rule on the first and one on the last parameter */
        {"\"params\": {\"A\": [1, 2, 3], \"B\": [1, 2, 3], \"C\": [1, 2, 3]},"
         "\"default\": {\"A\": 1, \"B\": 1, \"C\": 1},"
         "\"require\": [[\"A != 2\", \"x\"], [\"C >= A\", \"y\"]]",
         12},
        /* a derived name of derived names, over the last and the first parameter */
        {"\"params\": {\"A\": [1, 2, 3, 4], \"B\": [1, 2], \"C\": [0, 1, 2]},"
         "\"default\": {\"A\": 1, \"B\": 1, \"C\": 1},"
         "\"derive\": {\"X\": \"A * A\", \"Y\": \"X + C\", \"Z\": \"Y * 2 + B\"},"
         "\"require\": [[\"Z < 20\", \"x\"], [\"X > 1\", \"y\"]]",
         7},
        /* a derived name that fails refuses, used by a rule or not */
        {"\"params\": {\"A\": [0, 1, 2], \"B\": [0, 1]}, \"default\": {\"A\": 1, \"B\": 1},"
         "\"derive\": {\"X\": \"4 / A\"}",
         4},
        {"\"params\": {\"A\": [0, 1, 2], \"B\": [0, 1]}, \"default\": {\"A\": 1, \"B\": 1},"
         "\"require\": [[\"4 / A > 1 || B\", \"x\"]]",
         4},
        /* the problem, the device, the type, the layout, the alignment */
        {"\"params\": {\"A\": [1, 2, 4, 8]}, \"default\": {\"A\": 1},"
         "\"accept\": [[\"M % A == 0\", \"x\"]]",
         3},
        {"\"params\": {\"A\": [1, 2, 4, 8]}, \"default\": {\"A\": 1},"
         "\"require\": [[\"A * sizeof(A) <= 16 && TA == 0\", \"x\"]]",
         3},
        {"\"params\": {\"A\": [1, 2, 4]}, \"default\": {\"A\": 1},"
         "\"align\": [\"A * sizeof(A)\", \"4\", \"4\"]",
         2},
        {"\"params\": {\"A\": [100, 1000, 1024, 1025]}, \"default\": {\"A\": 100},"
         "\"require\": [[\"A <= MAX_THREADS\", \"x\"]]",
         3},
        /* a rule without a name */
        {"\"params\": {\"A\": [1, 2]}, \"default\": {\"A\": 1}, \"require\": [[\"0\", "
         "\"x\"]]",
         0},
    };
    const struct gt_device d = cuda_device(49152, 1024);
    const gemmtune_problem p =
        named("f32-nn-12x33x14"); /* rows of A: 56 bytes, 8-aligned */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_family *f = family(rows[i].members);
        const size_t legal = compare(f, &d, &p, true);
        if (legal != rows[i].legal)
            fail_msg("row %zu: %zu legal points, not %zu", i, legal, rows[i].legal);
        (void)compare(f, &d, &p, false);
        gt_family_destroy(f);
    }
}

static void test_find(void **state) {
    struct gt_family *f = family("\"params\": {\"A\": [4, 2, 9], \"B\": [7, 5]},"
                                 "\"default\": {\"A\": 4, \"B\": 7},"
                                 "\"require\": [[\"A + B != 9\", \"x\"]]");
    const struct gt_device d = cuda_device(49152, 1024);
    const gemmtune_problem p = named("f32-nn-8x8x8");
    static const struct {
        const char *point;
        size_t at;
    } rows[] = {
        {"A=4 B=7", 0},        {"B=7 A=4", 0},        {"A=2 B=5", 1},
        {"A=9 B=7", 2},        {"A=9 B=5", 3},        {"A=4 B=5", SIZE_MAX},
        {"A=2 B=7", SIZE_MAX}, {"A=3 B=7", SIZE_MAX}, {"A=4", SIZE_MAX},
        {"A=4 C=7", SIZE_MAX}, {"", SIZE_MAX},        {"A=4 B=7 C=1", SIZE_MAX},
    };
    struct gt_space s;
    (void)state;
    assert_int_equal(gt_space_create(&s, f, &d, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(s.count, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_point point;
        assert_int_equal(gt_point_parse(&point, rows[i].point, NULL), GEMMTUNE_OK);
        assert_true(gt_space_find(&s, &point) == rows[i].at);
    }
    gt_space_clear(&s);
    gt_space_clear(&s);
    gt_family_destroy(f);
}

static void test_nearest(void **state) {
    struct gt_family *f = family("\"params\": {\"A\": [1, 3, 15], \"B\": [0, 1, 7]},"
                                 "\"default\": {\"A\": 1, \"B\": 0},"
                                 "\"require\": [[\"A != 3 || B != 1\", \"x\"]]");
    const struct gt_device d = cuda_device(49152, 1024);
    const gemmtune_problem p = named("f32-nn-8x8x8");
    static const struct {
        const char *point, *nearest;
        double distance;
    } rows[] = {
        {"A=15 B=7", "A=15 B=7", 0},
        {"B=3", "A=1 B=1", 1},
        {"A=3 B=1", "A=1 B=1", 1},
        {"A=127 B=0", "A=15 B=0", 9},
        {"A=3 B=3 C=9", "A=3 B=7", 1},
        {"A=1 B=-4", "A=1 B=0", 0},
        {"", "A=1 B=0", 0},
    };
    struct gt_space s;
    (void)state;
    assert_int_equal(gt_space_create(&s, f, &d, &p, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_point point;
        char text[GT_POINT_TEXT_MAX];
        double distance;
        assert_int_equal(gt_point_parse(&point, rows[i].point, NULL), GEMMTUNE_OK);
        gt_space_point(&s, gt_space_nearest(&distance, &s, &point), &point);
        (void)gt_point_text(&point, text);
        assert_string_equal(text, rows[i].nearest);
        assert_true(distance > rows[i].distance - 1e-9 &&
                    distance < rows[i].distance + 1e-9);
    }
    s.count = 0;
    double distance;
    struct gt_point any = {.count = 0};
    assert_true(gt_space_nearest(&distance, &s, &any) == SIZE_MAX);
    gt_space_clear(&s);
    gt_family_destroy(f);
}

/* 64^4 points, all legal: past the limit, said before memory is gone. */
static void test_too_many(void **state) {
    char members[4096], list[512] = "";
    struct gt_space s;
    struct gt_err err = {""};
    const struct gt_device d = cuda_device(49152, 1024);
    const gemmtune_problem p = named("f32-nn-8x8x8");
    (void)state;
    for (int i = 0, len = 0; i < GT_VALUES_MAX; i++)
        len += snprintf(list + len, sizeof list - (size_t)len, "%s%d", i > 0 ? "," : "", i);
    (void)snprintf(members, sizeof members,
                   "\"params\": {\"A\": [%s], \"B\": [%s], \"C\": [%s], \"D\": [%s]},"
                   "\"default\": {\"A\": 1, \"B\": 1, \"C\": 1, \"D\": 1}",
                   list, list, list, list);
    struct gt_family *f = family(members);
    assert_int_equal(gt_space_create(&s, f, &d, &p, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "more than 4194304 legal points"));
    assert_null(s.idx);
    size_t count = 0;
    assert_int_equal(gt_space_count(&count, SIZE_MAX, f, &d, &p, NULL, &err),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gt_space_count(&count, 1000, f, &d, &p, NULL, &err), GEMMTUNE_OK);
    assert_int_equal(count, 1000); /* it ended there */
    gt_family_destroy(f);
}

/* Parameters P0, P1 .. of 64 values each, and rules. */
static struct gt_family *family_of(int params, const char *rules) {
    char members[8192], list[512] = "";
    size_t len = 0;
    for (int i = 0, n = 0; i < GT_VALUES_MAX; i++)
        n += snprintf(list + n, sizeof list - (size_t)n, "%s%d", i > 0 ? "," : "", i);
    len += (size_t)snprintf(members, sizeof members, "\"params\": {");
    for (int i = 0; i < params; i++)
        len += (size_t)snprintf(members + len, sizeof members - len, "%s\"P%d\": [%s]",
                                i > 0 ? "," : "", i, list);
    len += (size_t)snprintf(members + len, sizeof members - len, "}, \"default\": {");
    for (int i = 0; i < params; i++)
        len += (size_t)snprintf(members + len, sizeof members - len, "%s\"P%d\": 5",
                                i > 0 ? "," : "", i);
    (void)snprintf(members + len, sizeof members - len, "}, \"require\": [%s]", rules);
    return family(members);
}

/* Rules that say which value P<first> .. P<last> have: 5. */
static void fix(char *rules, size_t size, int first, int last) {
    for (int i = first; i <= last; i++) {
        const size_t len = strlen(rules);
        (void)snprintf(rules + len, size - len, "%s[\"P%d == 5\", \"x\"]",
                       len > 0 ? "," : "", i);
    }
}

static size_t legal_points(struct gt_family *f, double *raw) {
    const struct gt_device d = cuda_device(49152, 1024);
    const gemmtune_problem p = named("f32-nn-8x8x8");
    struct gt_space s;
    assert_int_equal(gt_space_create(&s, f, &d, &p, NULL), GEMMTUNE_OK);
    const size_t count = s.count;
    *raw = s.raw;
    gt_space_clear(&s);
    gt_family_destroy(f);
    return count;
}

/* A rule that leaves one value of each parameter is met early:
 * 64^12 points take no time. */
static void test_early_refusal(void **state) {
    char rules[1024] = "";
    double raw;
    (void)state;
    fix(rules, sizeof rules, 0, 11);
    assert_int_equal(legal_points(family_of(12, rules), &raw), 1);
    assert_true(raw > 1e21);
}

/* A rule reads 66 bits of P0 .. P10. If contexts were words, 5 and 21 as P0 would be one
 * context. */
static void test_a_rule_that_reads_much(void **state) {
    char rules[2048] = "[\"P0 == 5 || P0 == 21\", \"x\"],"
                       "[\"P12 + P1 + P2 + P3 + P4 + P5 + P6 + P7 + P8 + P9 + P10 < "
                       "(P0 == 5 ? 53 : 54)\", \"x\"]";
    double raw;
    (void)state;
    fix(rules, sizeof rules, 1, 11);
    assert_int_equal(legal_points(family_of(13, rules), &raw), 3 + 4);
}

/* ---- the families that ship ---- */

static void test_built_in(void **state) {
    static const char *const names[] = {"f32-nn-128x128x128", "f64-tt-127x129x131",
                                        "i32-nt-16x1024x1024"};
    const struct gt_device devices[] = {cuda_device(49152, 1024), cuda_device(4096, 256)};
    struct gt_families *families = NULL;
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        double raw = 1;
        for (int j = 0; j < f->param_count; j++)
            raw *= f->param[j].count;
        for (size_t j = 0; raw <= RAW_MAX && j < sizeof names / sizeof *names; j++) {
            const gemmtune_problem p = named(names[j]);
            (void)compare(f, &devices[j % 2], &p, true);
        }
    }
    gt_families_destroy(families);
}

/* Too many points to try all: points of the space, and what lies beside them, one value
 * off. */
static void compare_some(const struct gt_family *f, const struct gt_device *d,
                         const gemmtune_problem *p) {
    enum { LOOKS = 3000 };
    struct gt_space s = {0};
    struct gt_binding b;
    uint64_t seed = 1;
    size_t refused = 0;
    assert_int_equal(gt_space_create(&s, f, d, p, NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, f, d, p);
    gt_bind_align(&b, p, 16);
    for (int k = 0; s.count > 0 && k < LOOKS; k++) {
        const size_t at = (size_t)gt_random(&seed) % s.count;
        const size_t off = (size_t)gt_random(&seed) % (size_t)s.params;
        const struct gt_param *param = &f->param[off];
        int64_t values[GT_POINT_MAX];
        struct gt_point point;
        gt_space_values(&s, at, values);
        gt_space_point(&s, at, &point);
        assert_true(is_legal(&b, values, true));
        values[off] = param->value[(size_t)gt_random(&seed) % (size_t)param->count];
        point.entry[off].value = values[off];
        const bool legal = is_legal(&b, values, true);
        assert_true((gt_space_find(&s, &point) != SIZE_MAX) == legal);
        refused += !legal;
    }
    if (s.count > 0)
        assert_in_range(refused, LOOKS / 100, LOOKS);
    gt_space_clear(&s);
}

static void test_large_built_in(void **state) {
    static const char *const names[] = {
        "f32-nn-1021x64x60000", "f64-tn-1024x1024x1024", "i32-tt-200x500x400",
        /* WALK depends on the point, and so do M and BATCH of slots */
        "f64-nn-100x100x100,batch=400", "f16-nn-160x160x160,batch=150",
        "f64-nt-4000x256x96,groups=16", "bf16-nn-4096x1536x512,groups=64",
        "bf16-nt-200x96x64,batch=40,masked", "bf16-nt-256x256x128,batch=8,epi=bias"};
    const struct gt_device d = large_device();
    struct gt_families *families = NULL;
    int compared = 0;
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < gt_families_count(families); i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            const struct gt_family *f = gt_families_at(families, i);
            const gemmtune_problem p = named(names[j]);
            double raw = 1;
            for (int k = 0; k < f->param_count; k++)
                raw *= f->param[k].count;
            if (raw <= RAW_MAX || !gt_family_serves(f, &d, &p, NULL))
                continue;
            compare_some(f, &d, &p);
            compared++;
        }
    assert_true(compared >= 30);
    gt_families_destroy(families);
}

/* A search must be able to try what the family's author would try first. */
static void test_starts_of_batches(void **state) {
    static const struct {
        const char *problem, *family, *part;
    } rows[] = {
        {"f64-nn-100x100x100,batch=4000", "dmma", "TAIL=1"},
        {"f64-nn-40000x256x256,groups=64", "dmma", "TAIL=1"},
        {"bf16-nn-1024x1536x2048,groups=128", "wgmma", "SWAP=1"},
        {"bf16-nn-65536x2048x768,groups=128", "wgmma", "CM=2"},
    };
    const struct gt_device d = large_device();
    struct gt_families *families = NULL;
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_family *f = gt_families_find(families, rows[i].family);
        const gemmtune_problem p = named(rows[i].problem);
        struct gt_space s;
        int with_part = 0;
        assert_int_equal(gt_space_create(&s, f, &d, &p, NULL), GEMMTUNE_OK);
        for (int j = 0; j < f->start_count; j++) {
            char text[GT_POINT_TEXT_MAX];
            struct gt_point point;
            gt_family_start(f, j, &point);
            (void)gt_point_text(&point, text);
            with_part +=
                strstr(text, rows[i].part) != NULL && gt_space_find(&s, &point) != SIZE_MAX;
        }
        if (with_part == 0)
            fail_msg("no start of %s with %s for %s", rows[i].family, rows[i].part,
                     rows[i].problem);
        gt_space_clear(&s);
    }
    gt_families_destroy(families);
}

/* The default point must be legal wherever the family serves at all, on a common device. */
static void test_default_points(void **state) {
    const struct gt_device d = cuda_device(49152, 1024);
    const gemmtune_problem p = named("f32-nn-16x1024x1024");
    struct gt_families *families = NULL;
    (void)state;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    assert_true(gt_families_count(families) > 0);
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        struct gt_space s;
        struct gt_point point;
        if (!gt_family_serves(f, &d, &p, NULL))
            continue;
        gt_family_default(f, &point);
        assert_int_equal(gt_space_create(&s, f, &d, &p, NULL), GEMMTUNE_OK);
        assert_true(gt_space_find(&s, &point) != SIZE_MAX);
        gt_space_clear(&s);
    }
    gt_families_destroy(families);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_and_derived_names),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_early_refusal),
        cmocka_unit_test(test_a_rule_that_reads_much),
        cmocka_unit_test(test_built_in),
        cmocka_unit_test(test_large_built_in),
        cmocka_unit_test(test_starts_of_batches),
        cmocka_unit_test(test_default_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
