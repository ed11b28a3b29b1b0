/* SPDX-License-Identifier: Apache-2.0 */
/* Points bound to problems: rules, alignment and launches with known answers. */
#include "tests/unit/bind_toy.h"

/* A point bound to a problem on the card; what it says in the error line is returned. */
static struct gt_err bind(struct gt_binding *b, const char *name, const char *point) {
    const gemmtune_problem p = problem(name);
    struct gt_point parsed;
    struct gt_err err = {""};
    assert_int_equal(gt_point_parse(&parsed, point, &err), GEMMTUNE_OK);
    gt_bind_problem(b, family, &card, &p);
    const gt_status status = gt_bind_point(b, &parsed, &err);
    assert_int_equal(status, err.line[0] == '\0' ? GEMMTUNE_OK : GEMMTUNE_EINVAL);
    return err;
}

static int64_t value(const struct gt_binding *b, const char *name) {
    const int slot = gt_symbols_find(&family->symbols, name);
    assert_true(slot >= 0);
    return b->value[slot];
}

static void test_built_in_values(void **state) {
    static const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        {"M", 100},
        {"N", 200},
        {"K", 300},
        {"LDA", 304},
        {"LDB", 302},
        {"LDC", 200},
        {"ALIGN_A", 16},
        {"ALIGN_B", 4},
        {"ALIGN_C", 16},
        {"TA", 0},
        {"TB", 1},
        {"sizeof(A)", 2},
        {"sizeof(B)", 2},
        {"sizeof(C)", 2},
        {"sizeof(ACC)", 4},
        {"FLOAT", 1},
        {"FAST", 0},
        {"BF16X3", 0},
        {"CUDA", 1},
        {"CC", 90},
        {"CPU", 0},
        {"UNITS", 132},
        {"WARP", 32},
        {"SMEM_MAX", 49152},
        {"T", 64},
        {"ROWS", 12},
        {"PER", 128},
        {"W", 8},
        {"V", 2},
        {"MAX_THREADS", 1024},
        {"REGS_MAX", 65536},
        {"PTX", 90},
        {"F16", 1},
        {"DOT4", 1},
        {"SUBGROUPS", 0},
        {"NATIVE", 0},
    };
    struct gt_binding b;
    (void)state;
    (void)bind(&b, "f16-nt-100x200x300,lda=304,ldb=302", "W=8 V=2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(value(&b, rows[i].name), rows[i].value);
    assert_string_equal(b.dtype->name, "f16");
}

static void test_an_opencl_device(void **state) {
    const struct gt_device cpu = {.backend = GEMMTUNE_OPENCL, .cc = 7, .is_cpu = true};
    const gemmtune_problem p = problem("i32-tn-3x5x7");
    struct gt_binding b;
    (void)state;
    gt_bind_problem(&b, family, &cpu, &p);
    assert_int_equal(value(&b, "CUDA"), 0);
    assert_int_equal(value(&b, "CC"), 0);
    assert_int_equal(value(&b, "CPU"), 1);
    assert_int_equal(value(&b, "FLOAT"), 0);
    assert_int_equal(value(&b, "TA"), 1);
    assert_int_equal(value(&b, "PTX") + value(&b, "F16") + value(&b, "DOT4"), 0);
}

/* Abilities of an OpenCL compiler beyond OpenCL C 1.2. */
static void test_opencl_extras(void **state) {
    static const struct {
        struct gt_device device;
        int ptx, f16, dot4, subgroups, native;
    } rows[] = {
        {{.backend = GEMMTUNE_OPENCL, .ptx = 60}, 60, 0, 0, 0, 0},
        {{.backend = GEMMTUNE_OPENCL, .ptx = 61}, 61, 0, 1, 0, 0},
        {{.backend = GEMMTUNE_OPENCL, .has_dot4 = true, .subgroup_sizes = 24},
         0,
         0,
         1,
         24,
         0},
        {{.backend = GEMMTUNE_OPENCL, .has_f16 = true, .vector_bytes = 32}, 0, 1, 0, 0, 32},
        {{.backend = GEMMTUNE_CUDA, .cc = 60}, 60, 1, 0, 0, 0},
    };
    const gemmtune_problem p = problem("i32-tn-3x5x7");
    struct gt_binding b;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gt_bind_problem(&b, family, &rows[i].device, &p);
        assert_int_equal(value(&b, "PTX"), rows[i].ptx);
        assert_int_equal(value(&b, "F16"), rows[i].f16);
        assert_int_equal(value(&b, "DOT4"), rows[i].dot4);
        assert_int_equal(value(&b, "SUBGROUPS"), rows[i].subgroups);
        assert_int_equal(value(&b, "NATIVE"), rows[i].native);
    }
}

static void test_points_that_do_not_bind(void **state) {
    static const struct {
        const char *point, *said;
    } rows[] = {
        {"W=8", "needs a value for V"},   {"W=8 V=2 X=1", "has no parameter X"},
        {"W=5 V=2", "W=5 is not one of"}, {"W=0 V=2", "PER: "}, /* 1024 / 0 */
        {"", "needs a value for W"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_binding b;
        const struct gt_err err = bind(&b, "f32-nn-8x8x8", rows[i].point);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.line, rows[i].said);
    }
}

static void test_values_without_names(void **state) {
    const int64_t good[] = {32, 4}, bad[] = {32, 3};
    struct gt_binding b;
    (void)state;
    (void)bind(&b, "f32-nn-8x8x8", "W=8 V=2");
    assert_int_equal(gt_bind_values(&b, good, NULL), GEMMTUNE_OK);
    assert_int_equal(value(&b, "T"), 1024);
    assert_int_equal(gt_bind_values(&b, bad, NULL), GEMMTUNE_EINVAL);
}

static void test_point_values(void **state) {
    struct gt_point p;
    int64_t values[GT_POINT_MAX];
    (void)state;
    gt_family_default(family, &p);
    char text[GT_POINT_TEXT_MAX];
    (void)gt_point_text(&p, text);
    assert_string_equal(text, "W=8 V=2");
    assert_int_equal(gt_point_parse(&p, "V=4 W=32", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_values(values, family, &p, NULL), GEMMTUNE_OK);
    assert_int_equal(values[0], 32); /* the family's order, not the text's */
    assert_int_equal(values[1], 4);
}

static void test_require(void **state) {
    struct gt_binding b;
    (void)state;
    (void)bind(&b, "f32-nn-8x8x8", "W=8 V=1");
    assert_null(gt_refused(&b));
    (void)bind(&b, "f32-nn-8x8x8", "W=64 V=1");
    assert_string_equal(gt_refused(&b)->why, "too many threads");
    (void)bind(&b, "f32-nn-8x8x8", "W=8 V=2");
    assert_string_equal(gt_refused(&b)->why, "an expression that fails refuses");
}

static void test_accept(void **state) {
    static const struct {
        const char *name, *point, *why; /* part of the answer; NULL: accepted */
    } rows[] = {
        {"f32-nn-8x8x8", "W=8 V=4", NULL},
        {"f32-nn-8x8x0", "W=8 V=4", "an empty sum"},
        {"f32-nn-9x8x8", "W=8 V=4", "ragged rows"},
        {"f32-nn-9x8x8", "W=8 V=1", NULL},
        {"f32-nn-8x8x9", "W=8 V=4", "rows of A"}, /* lda = 9 */
        {"f32-nn-8x9x8", "W=8 V=4", NULL}, /* ldb = 9, B needs no more than 4 bytes */
        {"f32-nt-8x8x8,ldb=10", "W=8 V=4", "rows of B"},
        {"f32-nt-8x8x8,ldb=10", "W=8 V=2", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_binding b;
        (void)bind(&b, rows[i].name, rows[i].point);
        const char *why = gt_not_accepted(&b);
        if (rows[i].why == NULL)
            assert_null(why);
        else if (why == NULL || strstr(why, rows[i].why) == NULL)
            fail_msg("%s: %s", rows[i].name, why != NULL ? why : "accepted");
    }
}

/* A rule may name a parameter: while it refuses, that one gets its next smaller value. */
static void test_lower(void **state) {
    static const struct {
        const char *name, *point;
        int64_t w, v; /* the values after it; 0, 0: it writes none */
    } rows[] = {
        {"f32-nn-8x8x8", "W=64 V=1", 32, 1}, /* 4096 threads */
        {"f32-nn-9x8x8", "W=8 V=4", 8, 2},   /* ragged rows */
        {"f32-nn-9x8x8", "W=64 V=4", 32, 4}, /* both: a rule of require comes first */
        {"f32-nn-8x8x8", "W=8 V=1", 0, 0},   /* nothing refuses */
        {"f32-nn-8x8x0", "W=8 V=1", 0, 0},   /* the rule names no parameter */
        {"f32-nn-8x8x8", "W=8 V=2", 0, 0},   /* nor does this one: its expression fails */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_binding b;
        int64_t values[GT_POINT_MAX] = {0};
        int last = -1;
        (void)bind(&b, rows[i].name, rows[i].point);
        assert_int_equal(gt_family_lower(values, &last, &b), rows[i].w != 0);
        assert_int_equal(values[0], rows[i].w);
        assert_int_equal(values[1], rows[i].v);
    }
}

/* A rule that names no parameter lowers the one that was lowered before. */
static void test_lower_goes_on(void **state) {
    int64_t values[GT_POINT_MAX] = {0};
    struct gt_binding b;
    int last = 1;
    (void)state;
    (void)bind(&b, "f32-nn-8x8x0", "W=8 V=4"); /* an empty sum */
    assert_true(gt_family_lower(values, &last, &b));
    assert_int_equal(values[0], 8);
    assert_int_equal(values[1], 2);
    assert_int_equal(last, 1);
}

/* There may be no smaller value. */
static void test_lower_has_an_end(void **state) {
    static const char *const points[] = {"W=4 V=1", "W=0 V=1"};
    const gemmtune_problem p = problem("f32-nn-8x8x8");
    struct gt_device tiny = card;
    (void)state;
    tiny.max_threads = -1;
    for (int i = 0; i < 2; i++) {
        int64_t values[GT_POINT_MAX] = {7, 7};
        struct gt_binding b;
        struct gt_point point;
        assert_int_equal(gt_point_parse(&point, points[i], NULL), GEMMTUNE_OK);
        gt_bind_problem(&b, family, &tiny, &p);
        (void)gt_bind_point(&b, &point, NULL);
        int last = -1;
        assert_int_equal(gt_family_lower(values, &last, &b), i == 0);
        assert_int_equal(last, i == 0 ? 0 : -1);
        assert_int_equal(values[0], i == 0 ? 0 : 7);
        assert_int_equal(values[1], i == 0 ? 1 : 7);
    }
}

static void test_alignment(void **state) {
    const gemmtune_problem p = problem("f32-nn-8x8x8");
    struct gt_binding b;
    (void)state;
    (void)bind(&b, "f32-nn-8x8x8", "W=8 V=4");
    assert_int_equal(gt_align_needed(&b, 0), 16);
    assert_int_equal(gt_align_needed(&b, 1), 4);
    assert_int_equal(gt_align_needed(&b, 2), 4);
    assert_null(gt_not_accepted(&b));
    gt_bind_align(&b, &p, 4);
    assert_int_equal(value(&b, "ALIGN_A"), 4);
    assert_non_null(gt_not_accepted(&b));
    (void)bind(&b, "f64-nn-8x8x8", "W=8 V=4"); /* 32 bytes: past the widest load */
    assert_int_equal(gt_align_needed(&b, 0), 16);
}

/* ---- launch ---- */

static void test_launch_numbers(void **state) {
    struct gt_binding b;
    struct gt_passes p;
    (void)state;
    (void)bind(&b, "f32-nn-100x200x2300", "W=8 V=4");
    assert_int_equal(gt_passes_of(&p, &b, &card, NULL), GEMMTUNE_OK);
    const struct gt_launch expected = {
        .grid = {25, 13, 3}, .block = {8, 8, 4}, .cluster = {1, 1, 1}, .smem_bytes = 256};
    expect_launch(&p.item[p.main].launch, &expected);
    assert_int_equal(p.workspace_bytes, 80000);
}

static void expect_launch_refused(const struct gt_device *d, const char *name,
                                  const char *point, const char *said) {
    struct gt_binding b;
    struct gt_passes p;
    struct gt_err err = bind(&b, name, point);
    assert_int_equal(gt_passes_of(&p, &b, d, &err), GEMMTUNE_EINVAL);
    if (strstr(err.line, said) == NULL)
        fail_msg("%s: \"%s\" lacks \"%s\"", name, err.line, said);
}

static void test_launch_limits(void **state) {
    struct gt_device small = card, other = card;
    struct gt_binding b;
    struct gt_passes p;
    (void)state;
    expect_launch_refused(&card, "f32-nn-0x8x8", "W=8 V=1", "grid y is 0");
    expect_launch_refused(&card, "f32-nn-8x8x0", "W=8 V=1", "grid z is 0");
    expect_launch_refused(&card, "f32-nn-524288x8x8", "W=8 V=1", "grid y is 65536");
    expect_launch_refused(&card, "f32-nn-8x8x65536000", "W=8 V=1", "grid z is 65536");
    expect_launch_refused(&card, "f32-nn-8x8x8", "W=64 V=1", "threads a block is 4096");
    expect_launch_refused(&card, "f32-nn-8x8x8", "W=32 V=2", "threads a block is 2048");
    small.smem_max = 255;
    expect_launch_refused(&small, "f32-nn-8x8x8", "W=8 V=1",
                          "shared memory in bytes is 256");
    small.max_threads = 4;
    expect_launch_refused(&small, "f32-nn-8x8x8", "W=8 V=1", "block x is 8");
    other.backend = GEMMTUNE_OPENCL; /* no such limit on a grid there */
    (void)bind(&b, "f32-nn-524288x8x8", "W=8 V=1");
    assert_int_equal(gt_passes_of(&p, &b, &other, NULL), GEMMTUNE_OK);
    assert_int_equal(p.item[p.main].launch.grid[1], 65536);
}

/* `toy` with another launch, bound to f32-nn-64x64x64 and launched on the card. */
static gt_status launch_with(const char *launch, int cc, struct gt_err *err) {
    static const char *const source[2] = {"text", NULL};
    const gemmtune_problem p = problem("f32-nn-64x64x64");
    struct gt_device d = card;
    struct gt_family *f = NULL;
    struct gt_passes passes;
    struct gt_binding b;
    struct gt_point point;
    char json[2048];
    const char *at = strstr(toy, "\"launch\""), *end = strstr(toy, "\"args\"");
    (void)snprintf(json, sizeof json, "%.*s\"launch\": {%s}, %s", (int)(at - toy), toy,
                   launch, end);
    assert_int_equal(gt_family_parse(&f, "toy", "toy", json, source, err), GEMMTUNE_OK);
    d.cc = cc;
    gt_bind_problem(&b, f, &d, &p);
    gt_family_default(f, &point);
    assert_int_equal(gt_bind_point(&b, &point, err), GEMMTUNE_OK);
    const gt_status status = gt_passes_of(&passes, &b, &d, err);
    gt_family_destroy(f);
    return status;
}

static void test_launch_of_odd_families(void **state) {
    static const struct {
        const char *launch;
        int cc;
        const char *said; /* NULL: fine */
    } rows[] = {
        {"\"block\": [\"W\", \"1\", \"1\"], \"grid\": [\"6\", \"1\", \"1\"], \"cluster\":"
         "[\"2\", \"1\", \"1\"]",
         90, NULL},
        {"\"block\": [\"W\", \"1\", \"1\"], \"grid\": [\"6\", \"1\", \"1\"], \"cluster\":"
         "[\"2\", \"1\", \"1\"]",
         80, "blocks a cluster is 2"},
        {"\"block\": [\"W\", \"1\", \"1\"], \"grid\": [\"7\", \"1\", \"1\"], \"cluster\":"
         "[\"2\", \"1\", \"1\"]",
         90, "no multiple"},
        {"\"block\": [\"W\", \"1\", \"1\"], \"grid\": [\"64\", \"16\", \"1\"], \"cluster\":"
         "[\"4\", \"8\", \"1\"]",
         90, "blocks a cluster is 32"},
        {"\"block\": [\"1\", \"1\", \"65\"], \"grid\": [\"1\", \"1\", \"1\"]", 90,
         "block z is 65"},
        {"\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"2147483648\", \"1\", \"1\"]", 90,
         "grid x is 2147483648"},
        {"\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"2147483647\", \"1\", \"1\"]", 90,
         NULL},
        {"\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"1\", \"1\", \"1\"],"
         "\"workspace\": \"M - 65\"",
         90, "workspace in bytes is -1"},
        {"\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"M / (N - 64)\", \"1\", \"1\"]", 90,
         "launch: gemm"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        const gt_status status = launch_with(rows[i].launch, rows[i].cc, &err);
        assert_int_equal(status, rows[i].said == NULL ? GEMMTUNE_OK : GEMMTUNE_EINVAL);
        if (rows[i].said != NULL && strstr(err.line, rows[i].said) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.line, rows[i].said);
    }
}

/* ---- serving ---- */

static void test_serves(void **state) {
    struct gt_device opencl = card, old = card, single = card, new = card;
    opencl.backend = GEMMTUNE_OPENCL;
    old.cc = 61;
    new.cc = 120;
    single.has_f64 = false;
    const struct {
        const struct gt_device *d;
        const char *name, *why;
    } rows[] = {
        {&card, "f32-nn-8x8x8", NULL},
        {&card, "f64-nt-8x8x8", NULL},
        {&card, "i32-nn-8x8x8", "data types"},
        {&card, "bf16-nn-8x8x8", "data types"},
        {&card, "tf32-nn-8x8x8", NULL}, /* by its kernels for f32 */
        {&card, "f32@split-nn-8x8x8", NULL},
        {&card, "f32-tn-8x8x8", "layout"},
        {&opencl, "f32-nn-8x8x8", "OpenCL"},
        {&old, "f32-nn-8x8x8", "capability"},
        {&single, "f64-nn-8x8x8", "double"},
        {&single, "f32-nn-8x8x8", NULL},
        {&new, "f32-nn-8x8x8", "so new a compute"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_problem p = problem(rows[i].name);
        const char *why = "";
        assert_int_equal(gt_family_serves(family, rows[i].d, &p, &why),
                         rows[i].why == NULL);
        assert_int_equal(gt_family_serves(family, rows[i].d, &p, NULL),
                         rows[i].why == NULL);
        if (rows[i].why != NULL)
            assert_non_null(strstr(why, rows[i].why));
        else
            assert_null(why);
    }
}

/* Types that other backends do not get, with a least architecture of their own; OpenCL C
 * with PTX, for which that architecture holds as well. */
static void test_serves_by_architecture(void **state) {
    static const struct {
        const char *family;
        enum gemmtune_backend backend;
        int cc, ptx;
        const char *name, *why;
    } rows[] = {
        {"tailored", GEMMTUNE_CUDA, 80, 0, "bf16-nn-64x64x64,batch=9", NULL},
        {"tailored", GEMMTUNE_CUDA, 75, 0, "bf16-nn-64x64x64,batch=9", "capability"},
        {"tailored", GEMMTUNE_CUDA, 75, 0, "f32-nn-64x64x64,batch=9", NULL},
        {"tailored", GEMMTUNE_OPENCL, 0, 0, "bf16-nn-64x64x64,batch=9", "need CUDA"},
        {"tailored", GEMMTUNE_OPENCL, 0, 80, "bf16-nn-64x64x64,batch=9", "need CUDA"},
        {"tailored", GEMMTUNE_OPENCL, 0, 0, "f32-nn-64x64x64,batch=9", NULL},
        {"mma", GEMMTUNE_CUDA, 80, 0, "bf16-nn-8x8x8", NULL},
        {"mma", GEMMTUNE_OPENCL, 0, 80, "bf16-nn-8x8x8", NULL},
        {"mma", GEMMTUNE_OPENCL, 80, 0, "bf16-nn-8x8x8", "PTX"},
        {"mma", GEMMTUNE_OPENCL, 0, 75, "bf16-nn-8x8x8", "capability"},
        {"mma", GEMMTUNE_OPENCL, 0, 75, "f16-nn-8x8x8", NULL},
        {"dot", GEMMTUNE_CUDA, 60, 0, "i8-nn-8x8x8", "capability"},
        {"dot", GEMMTUNE_CUDA, 61, 0, "i8-nn-8x8x8", NULL},
        {"dot", GEMMTUNE_CUDA, 80, 0, "i8-nn-8x8x8", "so new"},
        {"dot", GEMMTUNE_OPENCL, 0, 90, "i8-nn-8x8x8", NULL},
    };
    struct gt_families *all;
    struct gt_err err;
    (void)state;
    assert_int_equal(gt_families_create(&all, &err), GEMMTUNE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gemmtune_problem p = problem(rows[i].name);
        struct gt_device d = card;
        const char *why = NULL;
        d.backend = rows[i].backend;
        d.cc = rows[i].cc;
        d.ptx = rows[i].ptx;
        const struct gt_family *f = gt_families_find(all, rows[i].family);
        assert_int_equal(gt_family_serves(f, &d, &p, &why), rows[i].why == NULL);
        if (rows[i].why != NULL)
            assert_non_null(strstr(why, rows[i].why));
    }
    gt_families_destroy(all);
}

/* The words are real: 5.0 is Ubuntu 24.04's. */
static void test_serves_barriers(void **state) {
    static const char *const with[2] = {"GT_BARRIER();", NULL};
    const gemmtune_problem p = problem("f32-nn-8x8x8");
    struct gt_device old = card, new = card;
    struct gt_family *f;
    const char *why = "";
    (void)state;
    snprintf(old.compiler, sizeof old.compiler, "PoCL 5.0");
    snprintf(new.compiler, sizeof new.compiler, "PoCL 6.0");
    assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", toy, with, NULL),
                     GEMMTUNE_OK);
    assert_false(gt_family_serves(f, &old, &p, &why));
    assert_non_null(strstr(why, "barriers"));
    assert_true(gt_family_serves(f, &new, &p, NULL));
    assert_true(gt_family_serves(family, &old, &p, NULL));
    gt_family_destroy(f);
}

static void test_bits(void **state) {
    (void)state;
    assert_int_equal(gt_layout_bit("nn"), 1);
    assert_int_equal(gt_layout_bit("tt"), 8);
    assert_int_equal(gt_layout_bit("xx"), 0);
    assert_int_equal(gt_dtype_bit(gt_dtype_at(0)), 1);
    assert_int_equal(gt_dtype_bit(gt_dtype_at(2)), 4);
    assert_int_equal(gt_dtype_bit(NULL), 0);
}

/* The text is read as gt_point_parse and gt_point_values read it, however it is written. */
static void test_values_of_text(void **state) {
    static const char *const texts[] = {
        "W=8 V=2",
        "W=64 V=4",
        "W=0 V=1",
        "V=2 W=8",
        "W=8,V=2",
        " W=8  V=2 ",
        "W=8 V=2 ",
        "W=008 V=2",
        "W=-0 V=2",
        "W=-8 V=2",
        "W=9 V=2",
        "W=8",
        "W=8 V",
        "W=8 V=",
        "W=8 V=2x",
        "W=8 V=2 W=8",
        "W=8 V=2 X=1",
        "WW=8 V=2",
        "W=18446744073709551624 V=2",
        "W=000000000000000000008 V=2",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t one[GT_POINT_MAX] = {0}, other[GT_POINT_MAX] = {0};
        struct gt_point point;
        gt_status status = gt_point_parse(&point, texts[i], NULL);
        if (status == GEMMTUNE_OK)
            status = gt_point_values(one, family, &point, NULL);
        assert_int_equal(gt_values_parse(other, family, texts[i], NULL), status);
        for (int j = 0; status == GEMMTUNE_OK && j < family->param_count; j++)
            assert_int_equal(one[j], other[j]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_text),
        cmocka_unit_test(test_built_in_values),
        cmocka_unit_test(test_an_opencl_device),
        cmocka_unit_test(test_opencl_extras),
        cmocka_unit_test(test_points_that_do_not_bind),
        cmocka_unit_test(test_values_without_names),
        cmocka_unit_test(test_point_values),
        cmocka_unit_test(test_require),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_lower),
        cmocka_unit_test(test_lower_goes_on),
        cmocka_unit_test(test_lower_has_an_end),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_launch_numbers),
        cmocka_unit_test(test_launch_limits),
        cmocka_unit_test(test_launch_of_odd_families),
        cmocka_unit_test(test_serves),
        cmocka_unit_test(test_serves_by_architecture),
        cmocka_unit_test(test_serves_barriers),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests_name("bind", tests, setup, teardown);
}
