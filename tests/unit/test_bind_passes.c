/* SPDX-License-Identifier: Apache-2.0 */
/* The passes and the tensor maps of bound points, with known answers. */
#include "tests/unit/bind_toy.h"

/* ---- passes ---- */

/* `toy` with a pass before it for V > 1 and one after it. */
static struct gt_family *toy_with_passes(void) {
    static const char passes[] =
        "\"overlap\": 1,"
        "\"before\": [{\"entry\": \"pack\", \"when\": \"V - 1\", \"block\": [\"64\", "
        "\"1\", \"1\"], \"grid\": [\"cdiv(K, 64)\", \"N\", \"1\"], \"smem\": \"K\"}],"
        "\"after\": [{\"entry\": \"add\", \"block\": [\"W\", \"1\", \"1\"], \"grid\": "
        "[\"6\", \"1\", \"1\"], \"cluster\": [\"V\", \"1\", \"1\"]}],";
    return toy_with(passes);
}

static gt_status passes_of(struct gt_passes *out, const struct gt_family *f,
                           const char *name, const char *text, struct gt_err *err) {
    const gemmtune_problem p = problem(name);
    struct gt_binding b;
    struct gt_point point;
    gt_bind_problem(&b, f, &card, &p);
    assert_int_equal(gt_point_parse(&point, text, err), GEMMTUNE_OK);
    assert_int_equal(gt_bind_point(&b, &point, err), GEMMTUNE_OK);
    return gt_passes_of(out, &b, &card, err);
}

static void test_passes_of_a_point(void **state) {
    struct gt_family *f = toy_with_passes();
    struct gt_passes p;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(passes_of(&p, f, "f32-nn-100x200x2300", "W=8 V=2", &err), GEMMTUNE_OK);
    assert_int_equal(p.count, 3);
    assert_int_equal(p.main, 1);
    assert_string_equal(p.item[0].entry, "pack");
    const struct gt_launch pack = {.grid = {36, 200, 1},
                                   .block = {64, 1, 1},
                                   .cluster = {1, 1, 1},
                                   .smem_bytes = 2300};
    assert_int_equal(p.workspace_bytes, 80000);
    expect_launch(&p.item[0].launch, &pack);
    assert_string_equal(p.item[1].entry, "gemm");
    assert_int_equal(p.item[1].launch.grid[0], 25);
    assert_string_equal(p.item[2].entry, "add");
    assert_int_equal(p.item[2].launch.cluster[0], 2);
    assert_true(p.item[1].launch.overlaps);
    assert_true(p.item[2].launch.overlaps);
    /* no pack for this point */
    assert_int_equal(passes_of(&p, f, "f32-nn-100x200x2300", "W=8 V=1", &err), GEMMTUNE_OK);
    assert_int_equal(p.count, 2);
    assert_int_equal(p.main, 0);
    assert_string_equal(p.item[0].entry, "gemm");
    assert_string_equal(p.item[1].entry, "add");
    assert_false(p.item[0].launch.overlaps); /* the launch before it is not ours */
    assert_true(p.item[1].launch.overlaps);
    gt_family_destroy(f);
}

/* The limits of a launch hold for every pass. */
static void test_passes_have_limits(void **state) {
    static const struct {
        const char *problem, *point, *said;
    } rows[] = {
        {"f32-nn-8x8x50000", "W=8 V=2", "launch: pack: shared memory in bytes is 50000"},
        {"f32-nn-8x70000x8", "W=8 V=2", "launch: pack: grid y is 70000"},
        {"f32-nn-8x8x8", "W=8 V=4", "launch: add: grid of 6 blocks is no multiple"},
    };
    struct gt_family *f = toy_with_passes();
    struct gt_passes p;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_err err = {""};
        assert_int_equal(passes_of(&p, f, rows[i].problem, rows[i].point, &err),
                         GEMMTUNE_EINVAL);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.line, rows[i].said);
    }
    struct gt_err err = {""}; /* what is not there is not asked */
    assert_int_equal(passes_of(&p, f, "f32-nn-8x70000x8", "W=8 V=1", &err), GEMMTUNE_OK);
    gt_family_destroy(f);
}

/* ---- tensor maps ---- */

/* `toy` with a map of the workspace for V > 1, else of A for W > 8; and one of C. */
static struct gt_family *toy_with_maps(void) {
    static const char maps[] =
        "\"tensor_maps\": {\"x\": {\"of\": {\"workspace\": \"V > 1\", \"a\": \"W > 8\"},"
        "\"at\": \"V > 1 ? 64 * M : 0\", \"inner\": \"K\", \"outer\": \"M\","
        "\"stride\": \"LDA * sizeof(A)\", \"box\": [\"W\", \"4 * V\"]},"
        "\"y\": {\"of\": {\"c\": \"1\"}, \"inner\": \"N\", \"outer\": \"M\","
        "\"stride\": \"LDC * sizeof(C)\", \"box\": [\"16\", \"100 * V\"],"
        "\"swizzle\": \"V == 2 ? 64 : W > 4 ? W : 0\"}},";
    return toy_with(maps);
}

static void test_maps_of_a_point(void **state) {
    struct gt_family *f = toy_with_maps();
    struct gt_passes p;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(passes_of(&p, f, "f32-nn-100x200x2300", "W=8 V=2", &err), GEMMTUNE_OK);
    assert_int_equal(p.map_count, 2);
    assert_int_equal(p.map[0].base, GT_ARG_WORKSPACE);
    assert_int_equal(p.map[0].at, 6400);
    assert_int_equal(p.map[0].tiling.type, GEMMTUNE_F32);
    assert_int_equal(p.map[0].tiling.inner, 2300);
    assert_int_equal(p.map[0].tiling.outer, 100);
    assert_int_equal(p.map[0].tiling.stride, 9200);
    assert_int_equal(p.map[0].tiling.box[0], 8);
    assert_int_equal(p.map[0].tiling.box[1], 8);
    assert_int_equal(p.map[1].base, GT_ARG_C);
    assert_int_equal(p.map[1].at, 0);
    assert_int_equal(p.map[1].tiling.inner, 200);
    assert_int_equal(p.map[1].tiling.box[1], 200);
    assert_int_equal(p.map[1].tiling.swizzle, 64);
    /* the other base; elements of C are wider than A's */
    assert_int_equal(passes_of(&p, f, "f16-nn-100x200x2300", "W=32 V=1", &err),
                     GEMMTUNE_OK);
    assert_int_equal(p.map[0].base, GT_ARG_A);
    assert_int_equal(p.map[0].at, 0);
    assert_int_equal(p.map[0].tiling.type, gt_dtype_by_name("f16", 3)->a);
    assert_int_equal(p.map[0].tiling.stride, 4600);
    assert_int_equal(p.map[1].tiling.type, gt_dtype_by_name("f16", 3)->c);
    assert_int_equal(p.map[1].tiling.swizzle, 32);
    /* no base */
    assert_int_equal(passes_of(&p, f, "f32-nn-100x200x2300", "W=4 V=1", &err), GEMMTUNE_OK);
    assert_true(p.map[0].absent);
    assert_false(p.map[1].absent);
    assert_int_equal(p.map[1].tiling.swizzle, 0);
    gt_family_destroy(f);
}

static void test_maps_have_limits(void **state) {
    static const struct {
        const char *problem, *point, *said;
    } rows[] = {
        {"f32-nn-8x8x8", "W=8 V=1", "launch: y: swizzle is 8"},
        {"f32-nn-8x8x8", "W=32 V=1", "launch: y: a row of the box has 64 bytes"},
        {"f32-nn-8x8x8", "W=8 V=4", "launch: y: outer side of the box is 400"},
    };
    struct gt_family *f = toy_with_maps();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_passes p;
        struct gt_err err = {""};
        assert_int_equal(passes_of(&p, f, rows[i].problem, rows[i].point, &err),
                         GEMMTUNE_EINVAL);
        if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", err.line, rows[i].said);
    }
    gt_family_destroy(f);
}

static void test_maps_are_cuda_s(void **state) {
    struct gt_family *f = toy_with_maps();
    const gemmtune_problem p = problem("f32-nn-8x8x8");
    struct gt_device opencl = card;
    const char *why = "";
    (void)state;
    opencl.backend = GEMMTUNE_OPENCL;
    f->source[GEMMTUNE_OPENCL][0] =
        (struct gt_template){strdup("toy/toy.cl"), strdup("text")};
    assert_true(gt_family_serves(f, &card, &p, NULL));
    assert_false(gt_family_serves(f, &opencl, &p, &why));
    assert_non_null(strstr(why, "tensor maps"));
    gt_family_destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_of_a_point), cmocka_unit_test(test_passes_have_limits),
        cmocka_unit_test(test_maps_of_a_point),   cmocka_unit_test(test_maps_have_limits),
        cmocka_unit_test(test_maps_are_cuda_s),
    };
    return cmocka_run_group_tests_name("bind_passes", tests, setup, teardown);
}
