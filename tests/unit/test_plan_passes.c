/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of several passes: launches, arguments, workspace. */
#include "tests/unit/plan_driver.h"

/* ---- several passes ---- */

/* Packs for P, and for S > 1 adds S sums of m x n. */
static const char many_json[] =
    "{\"format\": 1, \"family\": \"many\", \"about\": \"\", \"source\": {\"cuda\": \"x\","
    "\"opencl\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\"], \"layouts\": [\"nn\"],"
    "\"params\": {\"S\": [1, 2], \"P\": [0, 1, 2]}, \"default\": {\"S\": 2, \"P\": 1},"
    "\"before\": [{\"entry\": \"pack\", \"when\": \"P == 1\", \"block\": [\"8\", \"1\", "
    "\"1\"],"
    "\"grid\": [\"cdiv(N, 8)\", \"1\", \"1\"]}, {\"entry\": \"nobody\", \"when\": \"P == "
    "2\","
    "\"block\": [\"1\", \"1\", \"1\"], \"grid\": [\"1\", \"1\", \"1\"]}],"
    "\"launch\": {\"block\": [\"64\", \"1\", \"1\"], \"grid\": [\"cdiv(M, 64)\", \"S\", "
    "\"1\"],"
    "\"smem\": \"256\", \"workspace\": \"S > 1 ? S * M * N * sizeof(ACC) : 0\"},"
    "\"after\": [{\"entry\": \"add\", \"when\": \"S > 1\", \"block\": [\"32\", \"1\", "
    "\"1\"],"
    "\"grid\": [\"cdiv(M * N, 32)\", \"1\", \"1\"], \"smem\": \"4 * N\"}],"
    "\"args\": [\"k\", \"alpha\", \"a\", \"b\", \"beta\", \"c\", \"workspace\"]}";

/* Has two sources: one for k that is a multiple of 8. */
static const char two_json[] =
    "{\"format\": 1, \"family\": \"two\", \"about\": \"\", \"source\": {\"cuda\": \"x\","
    "\"opencl\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\"], \"layouts\": [\"nn\"],"
    "\"params\": {\"S\": [1]}, \"default\": {\"S\": 1},"
    "\"derive\": {\"REST\": \"K % 8 != 0\"}, \"variants\": [\"REST\"],"
    "\"launch\": {\"block\": [\"64\", \"1\", \"1\"], \"grid\": [\"cdiv(M, 64)\", \"1\", "
    "\"1\"]},"
    "\"args\": [\"k\", \"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

static struct gt_family *family_of(const char *name, const char *json) {
    static const char *const source[2] = {"text", "text"};
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    (void)gt_family_parse(&f, name, name, json, source, &err);
    assert_string_equal(err.line, "");
    return f;
}

static struct gt_gpu *gpu_of(gemmtune_backend backend) {
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = backend, .context = &builds};
    struct gt_gpu *gpu = NULL;
    assert_int_equal(fake_open(&gpu, &target, NULL), GEMMTUNE_OK);
    return gpu;
}

static gt_status exec_of(struct gt_exec **out, struct gt_gpu *gpu,
                         const struct gt_family *f, const char *point_text,
                         struct gt_err *err) {
    gemmtune_problem p;
    struct gt_point point;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-100x40x20", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point, point_text, NULL), GEMMTUNE_OK);
    return gt_exec_create(out, gpu, f, &point, &p, NULL, err);
}

static int64_t workspace_offset; /* of run_many */

/* alpha, A, B and beta of a run; C at 0x3000. */
static gt_status run_many(const struct gt_exec *e, const float *alpha, void *a, void *b,
                          void *workspace, struct gt_err *err) {
    memset(&seen, 0, sizeof seen);
    const struct gt_call call = {.alpha = alpha,
                                 .a = a,
                                 .b = b,
                                 .beta = &two,
                                 .c = at(0x3000),
                                 .workspace = workspace,
                                 .offset = {.workspace = workspace_offset}};
    return gt_exec_run(e, &call, err);
}

static void test_passes(void **state) {
    struct gt_family *f = family_of("many", many_json);
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e, *other;
    struct gt_exec_info info;
    struct gt_err err = {""};
    gemmtune_problem q;
    (void)state;
    assert_int_equal(exec_of(&e, gpu, f, "S=2 P=1", &err), GEMMTUNE_OK);
    assert_int_equal(loaded, 3);
    gt_exec_describe(e, &info); /* the main kernel's */
    assert_int_equal(info.fit->passes.main, 1);
    assert_int_equal(info.fit->passes.item[1].launch.grid[1], 2);
    assert_int_equal(info.fit->passes.item[1].launch.smem_bytes, 256);
    assert_int_equal(info.fit->passes.workspace_bytes, 2 * 100 * 40 * 4);
    assert_int_equal(info.registers, 40);
    assert_int_equal(run_many(e, &one, at(0x1000), at(0x2000), at(0x4000), &err),
                     GEMMTUNE_OK);
    assert_string_equal(seen.entries, "pack gemm add ");
    assert_int_equal(seen.each[0].grid[0], 5);
    assert_int_equal(seen.each[1].grid[0], 2);
    assert_int_equal(seen.each[2].grid[0], 125);
    assert_int_equal(seen.args, 7); /* of the last pass, as of the others */
    assert_int_equal(seen.arg[MANY_K], 20);
    assert_int_equal(seen.arg[MANY_A], 0x1000);
    assert_int_equal(seen.arg[MANY_WORKSPACE], 0x4000);
    /* the same kernels for another problem: every launch anew */
    assert_int_equal(gt_problem_from_name(&q, "f32-nn-10x16x20", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_exec_share(&other, e, &q, &err), GEMMTUNE_OK);
    assert_int_equal(run_many(other, &one, at(0x1000), at(0x2000), at(0x4000), &err),
                     GEMMTUNE_OK);
    assert_string_equal(seen.entries, "pack gemm add ");
    assert_int_equal(seen.each[0].grid[0], 2);
    assert_int_equal(seen.each[2].grid[0], 5);
    assert_int_equal(seen.each[2].smem_bytes, 64);
    gt_exec_destroy(other);
    assert_int_equal(gt_problem_from_name(&q, "f32-nn-10x41x20", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_exec_share(&other, e, &q, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "more shared memory"));
    gt_exec_destroy(e);
    assert_int_equal(loaded, 0);
    gt_family_destroy(f);
    fake_close(gpu);
}

/* A variant of the source is in the image: a problem that needs another one has other
 * kernels. */
static void test_variants_do_not_share(void **state) {
    struct gt_family *f = family_of("two", two_json);
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e, *other;
    struct gt_err err = {""};
    gemmtune_problem p;
    (void)state;
    assert_int_equal(exec_of(&e, gpu, f, "S=1", &err), GEMMTUNE_OK); /* k is 20 */
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-10x16x21", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_exec_share(&other, e, &p, &err), GEMMTUNE_OK);
    gt_exec_destroy(other);
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-100x40x24", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_exec_share(&other, e, &p, &err), GEMMTUNE_EINVAL);
    assert_string_equal(err.line, "the kernel is for another REST");
    assert_null(other);
    gt_exec_destroy(e);
    gt_family_destroy(f);
    fake_close(gpu);
}

static void test_passes_that_a_point_lacks(void **state) {
    struct gt_family *f = family_of("many", many_json);
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(exec_of(&e, gpu, f, "S=1 P=0", &err), GEMMTUNE_OK);
    assert_int_equal(loaded, 1);
    assert_int_equal(run_many(e, &one, at(0x1000), at(0x2000), NULL, &err), GEMMTUNE_OK);
    assert_string_equal(seen.entries, "gemm ");
    gt_exec_destroy(e);
    assert_int_equal(exec_of(&e, gpu, f, "S=2 P=0", &err), GEMMTUNE_OK);
    assert_int_equal(run_many(e, &one, at(0x1000), at(0x2000), at(0x4000), &err),
                     GEMMTUNE_OK);
    assert_string_equal(seen.entries, "gemm add ");
    gt_exec_destroy(e);
    /* an entry that the source lacks: nothing stays loaded */
    assert_int_equal(exec_of(&e, gpu, f, "S=2 P=2", &err), GEMMTUNE_EBUILD);
    assert_non_null(strstr(err.line, "no kernel nobody"));
    assert_int_equal(loaded, 0);
    gt_family_destroy(f);
    fake_close(gpu);
}

/* Neither A nor B is read: all passes run with k 0, since the last of them scales C. */
static void test_passes_without_a_product(void **state) {
    struct gt_family *f = family_of("many", many_json);
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(exec_of(&e, gpu, f, "S=2 P=1", &err), GEMMTUNE_OK);
    assert_int_equal(run_many(e, &zero, NULL, NULL, at(0x4000), &err), GEMMTUNE_OK);
    assert_string_equal(seen.entries, "pack gemm add ");
    assert_int_equal(seen.arg[MANY_K], 0);
    assert_true(as_float(seen.arg[MANY_ALPHA]) == 0);
    assert_true(as_float(seen.arg[MANY_BETA]) == 2);
    assert_int_equal(seen.each[0].grid[0], 5);
    gt_exec_destroy(e);
    gt_family_destroy(f);
    fake_close(gpu);
}

static void test_workspace(void **state) {
    static const struct {
        gemmtune_backend backend;
        uintptr_t workspace;
        gt_status status;
        const char *said;
        int64_t offset;
    } rows[] = {
        {GEMMTUNE_CUDA, 0, GEMMTUNE_EWORKSPACE, "needs 32000 bytes of workspace", 0},
        {GEMMTUNE_CUDA, 0x4080, GEMMTUNE_EWORKSPACE, "is not aligned to 256 bytes", 0},
        {GEMMTUNE_CUDA, 0x4100, GEMMTUNE_OK, "", 0},
        {GEMMTUNE_OPENCL, 0, GEMMTUNE_EWORKSPACE, "needs 32000 bytes of workspace", 0},
        {GEMMTUNE_OPENCL, 0x4081, GEMMTUNE_OK, "", 0}, /* a handle, not an address */
        {GEMMTUNE_OPENCL, 0x4081, GEMMTUNE_OK, "", .offset = 512},
        {GEMMTUNE_OPENCL, 0x4081, GEMMTUNE_EWORKSPACE, "is not aligned to 256 bytes",
         .offset = 128},
        {GEMMTUNE_OPENCL, 0x4081, GEMMTUNE_EWORKSPACE, "needs 32000 bytes of workspace",
         .offset = 1 << 20},
        {GEMMTUNE_CUDA, 0x4080, GEMMTUNE_OK, "", .offset = 128},
    };
    struct gt_family *f = family_of("many", many_json);
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_gpu *gpu = gpu_of(rows[i].backend);
        struct gt_exec *e;
        struct gt_err err = {""};
        assert_int_equal(exec_of(&e, gpu, f, "S=2 P=0", &err), GEMMTUNE_OK);
        buffer_bytes = 1 << 20;
        workspace_offset = rows[i].offset;
        assert_int_equal(
            run_many(e, &one, at(0x1000), at(0x2000), at(rows[i].workspace), &err),
            rows[i].status);
        workspace_offset = buffer_bytes = 0;
        assert_non_null(strstr(err.line, rows[i].said));
        if (rows[i].status == GEMMTUNE_OK) {
            const bool cuda = rows[i].backend == GEMMTUNE_CUDA;
            assert_int_equal(seen.arg[MANY_WORKSPACE],
                             (int64_t)rows[i].workspace + (cuda ? rows[i].offset : 0));
            if (!cuda) /* in sums, after the offsets of a, b and c */
                assert_int_equal(seen.arg[MANY_WORKSPACE + 4], rows[i].offset / 4);
        }
        assert_string_equal(seen.entries, rows[i].status != GEMMTUNE_OK ? "" : "gemm add ");
        gt_exec_destroy(e);
        fake_close(gpu);
    }
    gt_family_destroy(f);
}

/* Runs S=2 P=1, of three kernels, and says its orders. The call waits for events 7 and 8
 * where `waits`, and gives an event where `event` is not NULL. */
static const char *orders_of(const struct gt_exec *e, bool unordered, bool waits,
                             void *event) {
    void *const list[] = {(void *)7, (void *)8};
    struct gt_err err = {""};
    memset(&seen, 0, sizeof seen);
    seen.unordered = unordered;
    const struct gt_call call = {.alpha = &one,
                                 .a = at(0x1000),
                                 .b = at(0x2000),
                                 .beta = &two,
                                 .c = at(0x3000),
                                 .workspace = at(0x4000),
                                 .order = {waits ? 2 : 0, waits ? list : NULL, event}};
    assert_int_equal(gt_exec_run(e, &call, &err), GEMMTUNE_OK);
    return seen.orders;
}

/* In a queue without an order each kernel waits for the previous one; in others none
 * has an event. The call's own events are the first kernel's and the last one's. */
static void test_passes_are_in_order(void **state) {
    struct gt_family *f = family_of("many", many_json);
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_OPENCL);
    struct gt_exec *e;
    struct gt_err err = {""};
    void *event = NULL;
    (void)state;
    assert_int_equal(exec_of(&e, gpu, f, "S=2 P=1", &err), GEMMTUNE_OK);
    assert_string_equal(orders_of(e, false, false, NULL), "0> 0> 0> ");
    assert_string_equal(orders_of(e, true, false, NULL), "0>1 1>2 2> ");
    assert_int_equal(seen.released, 2);
    assert_string_equal(orders_of(e, true, true, &event), "7,8>1 1>2 2>3 ");
    assert_int_equal(seen.released, 2); /* the third is the caller's */
    assert_ptr_equal(event, (void *)3);
    assert_string_equal(orders_of(e, false, true, &event), "7,8> 0> 0>1 ");
    assert_int_equal(seen.released, 0);
    gt_exec_destroy(e);
    assert_int_equal(exec_of(&e, gpu, f, "S=1 P=0", &err), GEMMTUNE_OK);
    assert_string_equal(orders_of(e, true, true, &event), "7,8>1 ");
    assert_int_equal(seen.released, 0);
    gt_exec_destroy(e);
    gt_family_destroy(f);
    fake_close(gpu);
}

/* A failed launch ends the chain, and its event is released all the same. */
static void test_a_chain_that_breaks(void **state) {
    struct gt_family *f = family_of("many", many_json);
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_OPENCL);
    struct gt_exec *e;
    struct gt_err err = {""};
    void *event = NULL;
    (void)state;
    assert_int_equal(exec_of(&e, gpu, f, "S=2 P=1", &err), GEMMTUNE_OK);
    memset(&seen, 0, sizeof seen);
    seen.unordered = true;
    seen.fails_at = 2;
    const struct gt_call call = {.alpha = &one,
                                 .a = at(0x1000),
                                 .b = at(0x2000),
                                 .beta = &two,
                                 .c = at(0x3000),
                                 .workspace = at(0x4000),
                                 .order = {.event = &event}};
    assert_int_equal(gt_exec_run(e, &call, &err), GEMMTUNE_EDEVICE);
    assert_string_equal(seen.entries, "pack ");
    assert_int_equal(seen.released, 1);
    assert_null(event);
    gt_exec_destroy(e);
    gt_family_destroy(f);
    fake_close(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_variants_do_not_share),
        cmocka_unit_test(test_passes_that_a_point_lacks),
        cmocka_unit_test(test_passes_without_a_product),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_passes_are_in_order),
        cmocka_unit_test(test_a_chain_that_breaks),
    };
    return cmocka_run_group_tests_name("plan_passes", tests, setup, teardown);
}
