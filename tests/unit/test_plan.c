/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls with a made-up driver: the launches, their arguments, and the number of
 * builds. gt_driver_of, gt_build and gt_image_clear below replace the library's.
 */
#include "runtime/build.h"
#include "runtime/exec.h"

#include "core/embed.h"
#include "db/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the driver ---- */

struct fake_kernel {
    struct gt_kernel head;
    bool vectors; /* built with 16-byte loads of A */
    const char *entry;
};

/* The arguments of this thread's last launch. */
static _Thread_local struct {
    int count;
    struct gt_launch launch;
    int64_t arg[GT_ARGS_MAX];
    int args;
    bool vectors;
    char entries[64];                     /* of all launches, each followed by a space */
    struct gt_launch each[GT_PASSES_MAX]; /* the first ones */
} seen;

static atomic_int builds, loaded, contexts;
static const char *bad_source; /* a build whose source holds this fails */

static gt_status fake_open(struct gt_gpu **out, const gemmtune_target *target,
                           struct gt_err *err) {
    if (target->context == NULL)
        return gt_fail(err, GEMMTUNE_EDEVICE, "no context");
    *out = calloc(1, sizeof **out);
    assert_non_null(*out);
    (*out)->driver = gt_driver_of(target->backend);
    (*out)->device = (struct gt_device){.backend = target->backend,
                                        .name = "Fake",
                                        .arch = "sm_90",
                                        .cc = 90,
                                        .units = 4,
                                        .warp = 32,
                                        .max_threads = 1024,
                                        .regs_per_block = 65536,
                                        .smem_max = 49152,
                                        .has_f64 = true};
    atomic_fetch_add(&contexts, 1);
    return GEMMTUNE_OK;
}

static void fake_close(struct gt_gpu *gpu) {
    atomic_fetch_sub(&contexts, 1);
    free(gpu);
}

static gt_status fake_load(struct gt_kernel **out, struct gt_gpu *gpu,
                           struct gt_image *image, const char *source, const char *entry,
                           const struct gt_launch *launch, struct gt_err *err) {
    (void)gpu;
    (void)image;
    (void)launch;
    (void)err;
    assert_string_equal(entry, "gemm");
    struct fake_kernel *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->vectors = strstr(source, "#define GT_VA 4\n") != NULL;
    k->entry = "gemm";
    *out = &k->head;
    atomic_fetch_add(&loaded, 1);
    return GEMMTUNE_OK;
}

static gt_status fake_load_also(struct gt_kernel **out, struct gt_gpu *gpu,
                                const struct gt_kernel *kernel, const char *entry,
                                const struct gt_launch *launch, struct gt_err *err) {
    (void)gpu;
    (void)launch;
    assert_string_equal(((const struct fake_kernel *)kernel)->entry, "gemm");
    *out = NULL;
    if (strcmp(entry, "nobody") == 0)
        return gt_fail(err, GEMMTUNE_EBUILD, "no kernel %s", entry);
    struct fake_kernel *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->entry = entry;
    *out = &k->head;
    atomic_fetch_add(&loaded, 1);
    return GEMMTUNE_OK;
}

static void fake_unload(struct gt_kernel *kernel) {
    atomic_fetch_sub(&loaded, 1);
    free(kernel);
}

static gt_status fake_launch(const struct gt_kernel *kernel, const struct gt_launch *launch,
                             const struct gt_value_ref *args, int arg_count, void *stream,
                             struct gt_err *err) {
    const struct fake_kernel *k = (const struct fake_kernel *)kernel;
    (void)stream;
    (void)err;
    if (seen.count < GT_PASSES_MAX)
        seen.each[seen.count] = *launch;
    seen.count++;
    if (strlen(seen.entries) + strlen(k->entry) + 2 < sizeof seen.entries) {
        strcat(seen.entries, k->entry);
        strcat(seen.entries, " ");
    }
    seen.vectors = k->vectors;
    seen.launch = *launch;
    seen.args = arg_count;
    for (int i = 0; i < arg_count; i++) {
        seen.arg[i] = 0;
        memcpy(&seen.arg[i], args[i].bytes, args[i].size); /* little-endian */
    }
    return GEMMTUNE_OK;
}

static const struct gt_driver fake[GT_BACKENDS] = {
    {.backend = GEMMTUNE_CUDA,
     .speaks_cuda = true,
     .pointers_are_addresses = true,
     .open = fake_open,
     .close = fake_close,
     .load = fake_load,
     .load_also = fake_load_also,
     .unload = fake_unload,
     .launch = fake_launch},
    {.backend = GEMMTUNE_OPENCL,
     .open = fake_open,
     .close = fake_close,
     .load = fake_load,
     .load_also = fake_load_also,
     .unload = fake_unload,
     .launch = fake_launch},
};

const struct gt_driver *gt_driver_of(gemmtune_backend backend) {
    return (unsigned)backend < GT_BACKENDS ? &fake[backend] : NULL;
}

gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err) {
    (void)driver;
    (void)device;
    atomic_fetch_add(&builds, 1);
    image->log = strdup("the compiler's words");
    assert_non_null(image->log);
    image->registers = 40;
    stats->compile_ms = 1;
    if (bad_source != NULL && strstr(source, bad_source) != NULL)
        return gt_fail(err, GEMMTUNE_EBUILD, "line 1: no");
    image->bytes = strdup("image");
    return GEMMTUNE_OK;
}

void gt_image_clear(struct gt_image *image) {
    free(image->bytes);
    free(image->log);
    *image = (struct gt_image){0};
}

/* ---- a database that names the points ---- */

static char db_path[512];
static char key[GT_DEVICE_KEY_MAX];

/* One record: the problem's winner is the family's point. */
static void put_record(struct gt_db *db, const char *problem, const char *family,
                       const char *hash, const char *point) {
    struct gt_err err = {""};
    const struct gt_record_row row = {.subject = {key, problem, family, hash, point},
                                      .verified = true,
                                      .time = {.median_ns = 7000,
                                               .low_ns = 6900,
                                               .high_ns = 7100,
                                               .samples = 9,
                                               .launches = 1},
                                      .provenance = "local"};
    (void)gt_db_records_put(db, key, problem, &row, 1, &err);
    assert_string_equal(err.line, "");
}

/* The block family with vector loads of 16 bytes, tuned for 512 and 1024 cubes. */
static int setup(void **state) {
    static const char wide[] = "BM=64 BN=64 BK=8 THREADS=128 OWN=1 TM=4 VA=4 VB=4 PAD=4 "
                               "DOUBLE=1 MINB=1 GROUP=4";
    const gemmtune_target target = {.backend = GEMMTUNE_CUDA, .context = &builds};
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    const char *tmp = getenv("TMPDIR");
    struct gt_families *families;
    struct gt_gpu *gpu;
    struct gt_db *db;
    struct gt_err err = {""};
    int64_t run;
    (void)state;
    (void)snprintf(db_path, sizeof db_path, "%s/gt-plan-%ld.db", tmp != NULL ? tmp : "/tmp",
                   (long)getpid());
    if (fake_open(&gpu, &target, &err) || gt_families_create(&families, &err) ||
        gt_db_open(&db, db_path, GT_DB_WRITE, &err))
        return 1;
    gt_device_key(&gpu->device, key);
    if (gt_db_run_begin(&run, db, &gpu->device, &info, &err))
        return 1;
    const char *hash = gt_families_find(families, "block")->hash;
    put_record(db, "f32-nn-512x512x512", "block", hash, wide);
    put_record(db, "f32-nn-1024x1024x1024", "block", hash, wide);
    (void)gt_db_run_end(db, run, "done", &err);
    gt_db_close(db);
    gt_families_destroy(families);
    fake_close(gpu);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return remove(db_path);
}

static gemmtune_ctx *opened(gemmtune_backend backend) {
    const gemmtune_target target = {.backend = backend, .context = &builds};
    gemmtune_ctx *ctx;
    assert_int_equal(gemmtune_open(&ctx, db_path, &target), GEMMTUNE_OK);
    builds = 0;
    seen.count = 0;
    return ctx;
}

/* Nothing of a context or a kernel is left over. */
static void close_all(gemmtune_ctx *ctx) {
    gemmtune_close(ctx);
    assert_int_equal(loaded, 0);
    assert_int_equal(contexts, 0);
}

static gemmtune_plan *planned(gemmtune_ctx *ctx, const char *name) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    const gemmtune_status status =
        gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return plan;
}

static void *at(uintptr_t address) {
    return (void *)address;
}

/* Kernel arguments of the built-in families: m n k alpha a lda b ldb beta c ldc. */
enum { M, N, K, ALPHA, A, LDA, B, LDB, BETA, C, LDC };

static float as_float(int64_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static const float zero = 0, one = 1, two = 2, minus_zero = -0.0f;

/* ---- plans ---- */

static void test_describe(void **state) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-1024x1024x1020");
    gemmtune_plan_describe(plan, &info);
    assert_int_equal(info.match, GEMMTUNE_MATCH_SHAPE);
    assert_string_equal(info.family, "block");
    assert_non_null(strstr(info.params, "VA=4 VB=4"));
    assert_string_equal(info.from, "f32-nn-1024x1024x1024");
    assert_non_null(strstr(info.why, "forecast"));
    assert_int_equal((int)info.tuned_median_ns, 7000);
    assert_int_equal(info.workspace_bytes, 0);
    assert_int_equal(info.workspace_align, 256);
    gemmtune_plan_destroy(plan);
    plan = planned(ctx, "f64-tt-9x9x9");
    gemmtune_plan_describe(plan, &info);
    assert_int_equal(info.match, GEMMTUNE_MATCH_DEFAULT);
    assert_string_equal(info.from, "");
    assert_true(info.tuned_median_ns == 0);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_arguments(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x256x128,lda=132");
    assert_int_equal(
        gemmtune_execute(plan, &two, at(0x1000), at(0x2000), &one, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    const int64_t expected[] = {512, 256,    128, seen.arg[ALPHA], 0x1000,
                                132, 0x2000, 256, seen.arg[BETA],  0x3000,
                                256};
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.args, 11);
    assert_memory_equal(seen.arg, expected, sizeof expected);
    assert_true(as_float(seen.arg[ALPHA]) == 2 && as_float(seen.arg[BETA]) == 1);
    assert_int_equal(seen.launch.grid[0], 8 * 4);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_column_major_exchanges_operands(void **state) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 30, 40, 50);
    p.trans_a = GEMMTUNE_TRANS;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_int_equal(seen.arg[M], 40);
    assert_int_equal(seen.arg[N], 30);
    assert_int_equal(seen.arg[A], 0x2000);
    assert_int_equal(seen.arg[B], 0x1000);
    assert_int_equal(seen.arg[LDA], 50);
    assert_int_equal(seen.arg[LDB], 50);
    gemmtune_plan_destroy(plan);
    /* the one-call form stores the canonical problem, not the order of the operands */
    assert_int_equal(
        gemmtune_gemm(ctx, &p, &one, at(0x1000), at(0x2000), &zero, at(0x3000), NULL),
        GEMMTUNE_OK);
    assert_int_equal(seen.arg[A], 0x2000);
    builds = 0;
    assert_int_equal(gemmtune_sgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_TRANS, 40, 30, 50, 1, at(0x1000), 50,
                                    at(0x2000), 50, 0, at(0x3000), 30, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(builds, 0);
    assert_int_equal(seen.arg[A], 0x1000);
    close_all(ctx);
}

/* A kernel with 16-byte loads, and its stand-in for pointers that are only 4-byte aligned.
 */
static void test_unaligned_pointers(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    assert_int_equal(builds, 2);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2000), &zero, at(0x3004), NULL, NULL),
        GEMMTUNE_OK); /* C is stored element by element */
    assert_true(seen.vectors);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1004), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1000), at(0x2008), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_OK);
    assert_false(seen.vectors);
    assert_int_equal(seen.count, 3);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1002), at(0x2000), &zero, at(0x3000), NULL, NULL),
        GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "not aligned to 4 bytes"));
    assert_int_equal(seen.count, 3);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
    ctx = opened(GEMMTUNE_OPENCL); /* handles, not addresses */
    plan = planned(ctx, "f32-nn-512x512x512");
    assert_int_equal(builds, 1);
    assert_int_equal(
        gemmtune_execute(plan, &one, at(0x1001), at(0x2003), &zero, at(0x3005), NULL, NULL),
        GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* As in Reference BLAS: unneeded operands are not read and may be NULL. */
static void test_degenerate_products(void **state) {
    static const struct {
        const char *problem;
        const float *alpha, *beta;
        int launches;
    } rows[] = {
        {"f32-nn-8x8x8", &zero, &two, 1},       {"f32-nn-8x8x8", &minus_zero, &two, 1},
        {"f32-nn-8x8x8", &zero, &zero, 1},      {"f32-nn-8x8x8", &zero, &one, 0},
        {"f32-nn-8x8x0", &two, &two, 1},        {"f32-nn-8x8x0", &two, &one, 0},
        {"f32-nn-0x8x8", &two, &two, 0},        {"f32-nn-8x0x8", &two, &two, 0},
        {"f32-nn-0x0x0", &two, &minus_zero, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
        gemmtune_plan *plan = planned(ctx, rows[i].problem);
        assert_int_equal(gemmtune_execute(plan, rows[i].alpha, NULL, NULL, rows[i].beta,
                                          at(0x3000), NULL, NULL),
                         GEMMTUNE_OK);
        assert_int_equal(seen.count, rows[i].launches);
        if (seen.count > 0) {
            assert_int_equal(seen.arg[K], 0);
            assert_true(as_float(seen.arg[ALPHA]) == 0);
            assert_true(as_float(seen.arg[BETA]) == *rows[i].beta);
        }
        gemmtune_plan_destroy(plan);
        close_all(ctx);
    }
}

static void test_empty_products_build_nothing(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-0x512x512");
    assert_int_equal(builds, 0);
    assert_int_equal(gemmtune_execute(plan, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                     GEMMTUNE_OK);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_scalars_of_each_type(void **state) {
    const double alpha = 0.5, none = 0;
    const int32_t minus = -3, zero_i = 0;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f64-nn-8x8x8");
    assert_int_equal(gemmtune_execute(plan, &alpha, at(0x1000), at(0x2000), &none,
                                      at(0x3000), NULL, NULL),
                     GEMMTUNE_OK);
    assert_memory_equal(&seen.arg[ALPHA], &alpha, sizeof alpha);
    gemmtune_plan_destroy(plan);
    plan = planned(ctx, "i32-nn-8x8x8");
    assert_int_equal(gemmtune_execute(plan, &minus, at(0x1000), at(0x2000), &zero_i,
                                      at(0x3000), NULL, NULL),
                     GEMMTUNE_OK);
    assert_int_equal((int32_t)seen.arg[ALPHA], -3);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* ---- failures ---- */

static void test_missing_pointers(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    const struct {
        const void *alpha, *a, *b, *beta;
        void *c;
        const char *said;
    } rows[] = {
        {NULL, at(16), at(16), &one, at(16), "alpha is NULL"},
        {&one, at(16), at(16), NULL, at(16), "beta is NULL"},
        {&one, NULL, at(16), &one, at(16), "A is NULL"},
        {&one, at(16), NULL, &one, at(16), "B is NULL"},
        {&one, at(16), at(16), &one, NULL, "C is NULL"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(gemmtune_execute(plan, rows[i].alpha, rows[i].a, rows[i].b,
                                          rows[i].beta, rows[i].c, NULL, NULL),
                         GEMMTUNE_EINVAL);
        assert_non_null(strstr(gemmtune_errmsg(), rows[i].said));
    }
    assert_int_equal(seen.count, 0);
    assert_int_equal(gemmtune_execute(NULL, &one, at(16), at(16), &one, at(16), NULL, NULL),
                     GEMMTUNE_EINVAL);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* gemmtune_launch is gemmtune_execute with the operands in a struct. */
static void test_launch(void **state) {
    gemmtune_args args;
    const int64_t ends[] = {4, 8};
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    gemmtune_args_init(&args);
    args.alpha = &two;
    args.beta = &one;
    args.a = at(0x1000);
    args.b = at(0x2000);
    args.c = at(0x3000);
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_OK);
    assert_int_equal(seen.count, 1);
    assert_true(as_float(seen.arg[ALPHA]) == 2 && as_float(seen.arg[BETA]) == 1);
    assert_int_equal(seen.arg[A], 0x1000);
    assert_int_equal(seen.arg[B], 0x2000);
    assert_int_equal(seen.arg[C], 0x3000);
    args.rows = ends;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(
        gemmtune_errmsg(),
        "rows is given, but the plan's rows are neither grouped nor masked");
    args.rows = NULL;
    args.d2 = at(0x4000);
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "d2 is given, but the plan has no epilogue");
    args.d2 = NULL;
    args.operands = 1;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(),
                        "operand is given, but the plan has no epilogue");
    args.struct_size = 8;
    assert_int_equal(gemmtune_launch(plan, &args, NULL), GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "call gemmtune_args_init first"));
    assert_int_equal(gemmtune_launch(plan, NULL, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "args is NULL");
    assert_int_equal(gemmtune_launch(NULL, &args, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "plan is NULL");
    assert_int_equal(seen.count, 1);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static void test_describe_refuses_null(void **state) {
    gemmtune_plan_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_plan *plan = planned(ctx, "f32-nn-8x8x8");
    assert_int_equal(gemmtune_plan_describe(NULL, &info), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "plan is NULL");
    assert_int_equal(gemmtune_plan_describe(plan, NULL), GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "info is NULL");
    assert_int_equal(gemmtune_plan_describe_sized(plan, &info, 3), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    assert_int_equal(info.struct_size, sizeof info);
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

/* A problem that has a name but no kernel is refused when a plan is made. */
static void test_what_has_no_kernel_has_no_plan(void **state) {
    static const struct {
        const char *name, *said;
    } cases[] = {
        {"f32-nn-8x8x8,batch=16", "no kernel for strided batches yet: batch=16"},
        {"f32-nn-8x8x8,groups=2", "no kernel for grouped rows yet: groups=2"},
        {"f32-nn-8x8x8,packed_b", "no kernel for packed weights yet: packed_b"},
        {"f32-nn-8x8x8,row_order", "no kernel for a fixed order of sums yet: row_order"},
        {"f32-nn-8x8x8,epi=bias[j]:f32;bias_relu",
         "no kernel for epilogues yet: epi=bias[j]:f32;bias_relu"},
        {"f16@f16-nn-8x8x8", "no kernel for types f16@f16 yet"},
    };
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gemmtune_problem p;
        gemmtune_plan *plan = (gemmtune_plan *)&p;
        assert_int_equal(gemmtune_problem_parse(&p, cases[i].name), GEMMTUNE_OK);
        assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                         GEMMTUNE_EUNSUPPORTED);
        assert_null(plan);
        assert_string_equal(gemmtune_errmsg(), cases[i].said);
        assert_int_equal(gemmtune_gemm(ctx, &p, &one, at(16), at(16), &one, at(16), NULL),
                         GEMMTUNE_EUNSUPPORTED);
        assert_string_equal(gemmtune_errmsg(), cases[i].said);
    }
    close_all(ctx);
}

/* Column-major: the message names the caller's operand, not the exchanged one. */
static void test_messages_name_the_callers_operand(void **state) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    assert_int_equal(gemmtune_execute(plan, &one, NULL, at(16), &one, at(16), NULL, NULL),
                     GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "the pointer to A is NULL");
    assert_int_equal(gemmtune_execute(plan, &one, at(16), at(17), &one, at(16), NULL, NULL),
                     GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(),
                        "the pointer to B, 0x11, is not aligned to 4 bytes");
    assert_int_equal(gemmtune_gemm(ctx, &p, &one, at(16), NULL, &one, at(16), NULL),
                     GEMMTUNE_EINVAL);
    assert_string_equal(gemmtune_errmsg(), "the pointer to B is NULL");
    gemmtune_plan_destroy(plan);
    close_all(ctx);
}

static int warnings;

static void on_log(void *user, gemmtune_log_level level, const char *line) {
    (void)user;
    warnings += level == GEMMTUNE_LOG_WARN && strstr(line, "line 1: no") != NULL;
}

/* The record's kernel does not build: the plan falls back and says so. */
static void test_a_kernel_that_does_not_build(void **state) {
    gemmtune_plan_info info;
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    gemmtune_set_log(on_log, NULL, GEMMTUNE_LOG_WARN);
    bad_source = "#define GT_VA 4\n";
    gemmtune_plan *plan = planned(ctx, "f32-nn-512x512x512");
    gemmtune_plan_describe(plan, &info);
    assert_int_equal(info.match, GEMMTUNE_MATCH_DEFAULT);
    assert_true(warnings >= 2); /* both records, and starts that load as they do */
    gemmtune_plan_destroy(plan);
    bad_source = "GT_STATIC_ASSERT"; /* nothing builds: the first complaint is reported */
    gemmtune_problem p;
    plan = (gemmtune_plan *)&p;
    assert_int_equal(gemmtune_problem_parse(&p, "f32-nn-512x512x512"), GEMMTUNE_OK);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EBUILD);
    assert_null(plan);
    assert_string_equal(gemmtune_errmsg(), "family block: line 1: no");
    bad_source = NULL;
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_ERROR);
    close_all(ctx);
}

static void test_refusals(void **state) {
    const gemmtune_target none = {.backend = GEMMTUNE_CUDA};
    const gemmtune_target target = {.backend = GEMMTUNE_CUDA, .context = &builds};
    const gemmtune_target wrong = {.backend = (gemmtune_backend)7, .context = &builds};
    gemmtune_ctx *ctx = NULL;
    gemmtune_plan *plan = NULL;
    gemmtune_problem p;
    (void)state;
    assert_int_equal(gemmtune_open(NULL, NULL, &target), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, NULL, NULL), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, NULL, &wrong), GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_open(&ctx, db_path, &none), GEMMTUNE_EDEVICE);
    assert_string_equal(gemmtune_errmsg(), "no context");
    assert_int_equal(gemmtune_open(&ctx, "/nonexistent/gt.db", &target), GEMMTUNE_EIO);
    assert_null(ctx);
    assert_int_equal(gemmtune_open(&ctx, "/proc/self/exe", &target), GEMMTUNE_EDB);
    assert_int_equal(contexts, 0);
    gemmtune_close(NULL);
    gemmtune_plan_destroy(NULL);
    ctx = opened(GEMMTUNE_CUDA);
    gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8);
    assert_int_equal(gemmtune_plan_create(NULL, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, NULL, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, NULL, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, (gemmtune_match)9, 0),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_EXACT, 0),
                     GEMMTUNE_ENOTFOUND);
    p.m = -1;
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EINVAL);
    assert_non_null(strstr(gemmtune_errmsg(), "m is -1"));
    assert_int_equal(gemmtune_gemm(ctx, &p, &one, at(16), at(16), &one, at(16), NULL),
                     GEMMTUNE_EINVAL);
    assert_int_equal(gemmtune_gemm(NULL, &p, &one, at(16), at(16), &one, at(16), NULL),
                     GEMMTUNE_EINVAL);
    gemmtune_problem_init(&p, GEMMTUNE_F16, 8, 8, 8);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_EUNSUPPORTED);
    assert_null(plan);
    close_all(ctx);
}

/* The default database is optional. */
static void test_default_database(void **state) {
    const gemmtune_target target = {.backend = GEMMTUNE_CUDA, .context = &builds};
    static const char *const paths[] = {"/nonexistent/gt.db", "/proc/self/exe"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        gemmtune_ctx *ctx = NULL;
        assert_int_equal(setenv("GEMMTUNE_DB", paths[i], 1), 0);
        assert_int_equal(gemmtune_open(&ctx, NULL, &target), GEMMTUNE_OK);
        assert_string_equal(gemmtune_errmsg(), "");
        gemmtune_plan_destroy(planned(ctx, "f32-nn-512x512x512"));
        close_all(ctx);
    }
    assert_int_equal(unsetenv("GEMMTUNE_DB"), 0);
}

/* ---- sharing a loaded kernel ---- */

static void test_share(void **state) {
    const gemmtune_target target = {.backend = GEMMTUNE_CUDA, .context = &builds};
    struct gt_families *families;
    struct gt_exec *first, *second, *none;
    struct gt_exec_info info;
    struct gt_gpu *gpu;
    struct gt_point point;
    struct gt_err err = {""};
    gemmtune_problem p, q;
    (void)state;
    assert_int_equal(fake_open(&gpu, &target, &err), GEMMTUNE_OK);
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    const struct gt_family *tile = gt_families_find(families, "tile");
    gt_family_default(tile, &point);
    (void)gt_problem_from_name(&p, "f32-nn-64x64x64", &err);
    (void)gt_problem_from_name(&q, "f32-nn-17x130x5", &err);
    builds = 0;
    assert_int_equal(gt_exec_create(&first, gpu, tile, &point, &p, NULL, &err),
                     GEMMTUNE_OK);
    assert_int_equal(gt_exec_share(&second, first, &q, &err), GEMMTUNE_OK);
    assert_int_equal(builds, 1);
    gt_exec_describe(second, &info);
    assert_int_equal(info.fit->passes.item[0].launch.grid[0], 2 * 9);
    assert_int_equal(info.registers, 40);
    assert_string_equal(info.log, "the compiler's words");
    (void)gt_problem_from_name(&q, "f32-nt-17x130x5", &err);
    assert_int_equal(gt_exec_share(&none, first, &q, &err), GEMMTUNE_EINVAL);
    assert_non_null(strstr(err.line, "layout nn"));
    (void)gt_problem_from_name(&q, "i32-nn-17x130x5", &err);
    assert_int_equal(gt_exec_share(&none, first, &q, &err), GEMMTUNE_EINVAL);
    assert_null(none);
    gt_exec_destroy(first);
    assert_int_equal(loaded, 1);
    seen.count = 0;
    assert_int_equal(
        gt_exec_run(second,
                    &(struct gt_call){
                        .alpha = &one, .a = at(16), .b = at(16), .beta = &one, .c = at(16)},
                    &err),
        GEMMTUNE_OK);
    assert_int_equal(seen.arg[N], 130);
    gt_exec_destroy(second);
    gt_exec_destroy(NULL);
    assert_int_equal(loaded, 0);
    gt_families_destroy(families);
    fake_close(gpu);
}

static void test_exec_failures(void **state) {
    const gemmtune_target target = {.backend = GEMMTUNE_CUDA, .context = &builds};
    struct gt_families *families;
    struct gt_exec *e;
    struct gt_gpu *gpu;
    struct gt_point point;
    struct gt_err err = {""};
    gemmtune_problem p;
    char *log;
    (void)state;
    assert_int_equal(fake_open(&gpu, &target, &err), GEMMTUNE_OK);
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    const struct gt_family *tile = gt_families_find(families, "tile");
    gt_family_default(tile, &point);
    (void)gt_problem_from_name(&p, "f32-nn-64x64x64", &err);
    bad_source = "gemm";
    assert_int_equal(gt_exec_create(&e, gpu, tile, &point, &p, &log, &err),
                     GEMMTUNE_EBUILD);
    bad_source = NULL;
    assert_null(e);
    assert_string_equal(log, "the compiler's words");
    free(log);
    gpu->device.smem_max = 100;
    assert_int_equal(gt_exec_create(&e, gpu, tile, &point, &p, &log, &err),
                     GEMMTUNE_EINVAL);
    assert_null(log);
    assert_non_null(strstr(err.line, "family tile: "));
    assert_non_null(strstr(err.line, "(SMEM <= SMEM_MAX)"));
    gt_families_destroy(families);
    fake_close(gpu);
}

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
enum { MANY_K, MANY_ALPHA, MANY_A, MANY_B, MANY_BETA, MANY_C, MANY_WORKSPACE };

static struct gt_family *many_family(void) {
    static const char *const source[2] = {"text", "text"};
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    (void)gt_family_parse(&f, "many", "many", many_json, source, &err);
    assert_string_equal(err.line, "");
    return f;
}

static struct gt_gpu *gpu_of(gemmtune_backend backend) {
    const gemmtune_target target = {.backend = backend, .context = &builds};
    struct gt_gpu *gpu = NULL;
    assert_int_equal(fake_open(&gpu, &target, NULL), GEMMTUNE_OK);
    return gpu;
}

static gt_status many_exec(struct gt_exec **out, struct gt_gpu *gpu,
                           const struct gt_family *f, const char *point_text,
                           struct gt_err *err) {
    gemmtune_problem p;
    struct gt_point point;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-100x40x20", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_parse(&point, point_text, NULL), GEMMTUNE_OK);
    return gt_exec_create(out, gpu, f, &point, &p, NULL, err);
}

/* alpha, A, B and beta of a run; C at 0x3000. */
static gt_status run_many(const struct gt_exec *e, const float *alpha, void *a, void *b,
                          void *workspace, struct gt_err *err) {
    memset(&seen, 0, sizeof seen);
    const struct gt_call call = {.alpha = alpha,
                                 .a = a,
                                 .b = b,
                                 .beta = &two,
                                 .c = at(0x3000),
                                 .workspace = workspace};
    return gt_exec_run(e, &call, err);
}

static void test_passes(void **state) {
    struct gt_family *f = many_family();
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e, *other;
    struct gt_exec_info info;
    struct gt_err err = {""};
    gemmtune_problem q;
    (void)state;
    assert_int_equal(many_exec(&e, gpu, f, "S=2 P=1", &err), GEMMTUNE_OK);
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

static void test_passes_that_a_point_lacks(void **state) {
    struct gt_family *f = many_family();
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(many_exec(&e, gpu, f, "S=1 P=0", &err), GEMMTUNE_OK);
    assert_int_equal(loaded, 1);
    assert_int_equal(run_many(e, &one, at(0x1000), at(0x2000), NULL, &err), GEMMTUNE_OK);
    assert_string_equal(seen.entries, "gemm ");
    gt_exec_destroy(e);
    assert_int_equal(many_exec(&e, gpu, f, "S=2 P=0", &err), GEMMTUNE_OK);
    assert_int_equal(run_many(e, &one, at(0x1000), at(0x2000), at(0x4000), &err),
                     GEMMTUNE_OK);
    assert_string_equal(seen.entries, "gemm add ");
    gt_exec_destroy(e);
    /* an entry that the source lacks: nothing stays loaded */
    assert_int_equal(many_exec(&e, gpu, f, "S=2 P=2", &err), GEMMTUNE_EBUILD);
    assert_non_null(strstr(err.line, "no kernel nobody"));
    assert_int_equal(loaded, 0);
    gt_family_destroy(f);
    fake_close(gpu);
}

/* Neither A nor B is read: all passes run with k 0, since the last of them scales C. */
static void test_passes_without_a_product(void **state) {
    struct gt_family *f = many_family();
    struct gt_gpu *gpu = gpu_of(GEMMTUNE_CUDA);
    struct gt_exec *e;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(many_exec(&e, gpu, f, "S=2 P=1", &err), GEMMTUNE_OK);
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
    } rows[] = {
        {GEMMTUNE_CUDA, 0, GEMMTUNE_EWORKSPACE, "needs 32000 bytes of workspace"},
        {GEMMTUNE_CUDA, 0x4080, GEMMTUNE_EWORKSPACE, "is not aligned to 256 bytes"},
        {GEMMTUNE_CUDA, 0x4100, GEMMTUNE_OK, ""},
        {GEMMTUNE_OPENCL, 0, GEMMTUNE_EWORKSPACE, "needs 32000 bytes of workspace"},
        {GEMMTUNE_OPENCL, 0x4081, GEMMTUNE_OK, ""}, /* a handle, not an address */
    };
    struct gt_family *f = many_family();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_gpu *gpu = gpu_of(rows[i].backend);
        struct gt_exec *e;
        struct gt_err err = {""};
        assert_int_equal(many_exec(&e, gpu, f, "S=2 P=0", &err), GEMMTUNE_OK);
        assert_int_equal(
            run_many(e, &one, at(0x1000), at(0x2000), at(rows[i].workspace), &err),
            rows[i].status);
        assert_non_null(strstr(err.line, rows[i].said));
        assert_string_equal(seen.entries, rows[i].status != GEMMTUNE_OK ? "" : "gemm add ");
        gt_exec_destroy(e);
        fake_close(gpu);
    }
    gt_family_destroy(f);
}

/* ---- the cache of the one-call form ---- */

enum { THREADS = 8, SHAPES = 100, ROUNDS = 3 };

struct worker {
    pthread_t thread;
    gemmtune_ctx *ctx;
    int wrong;
};

/* Every thread asks for the same shapes at once, cold at first. */
static void *work(void *user) {
    struct worker *w = user;
    for (int round = 0; round < ROUNDS; round++)
        for (int64_t i = 1; i <= SHAPES; i++) {
            const gemmtune_status status = gemmtune_sgemm(
                w->ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS, GEMMTUNE_NOTRANS, i, 20, 30,
                1, at(0x1000), 30, at(0x2000), 20, 0, at(0x3000), 20, NULL);
            w->wrong += status != GEMMTUNE_OK || seen.arg[M] != i || seen.arg[K] != 30;
        }
    w->wrong += seen.count != ROUNDS * SHAPES;
    return NULL;
}

static void test_one_call_from_many_threads(void **state) {
    struct worker worker[THREADS];
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.ctx = ctx};
        assert_int_equal(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(worker[i].thread, NULL), 0);
        assert_int_equal(worker[i].wrong, 0);
    }
    assert_int_equal(builds, SHAPES); /* each was planned only once */
    close_all(ctx);
}

static void test_typed_calls(void **state) {
    (void)state;
    gemmtune_ctx *ctx = opened(GEMMTUNE_CUDA);
    assert_int_equal(gemmtune_dgemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_TRANS, GEMMTUNE_TRANS,
                                    3, 4, 5, 0.25, at(0x1000), 6, at(0x2000), 7, 0.5,
                                    at(0x3000), 8, NULL),
                     GEMMTUNE_OK);
    const double alpha = 0.25, beta = 0.5;
    assert_memory_equal(&seen.arg[ALPHA], &alpha, sizeof alpha);
    assert_memory_equal(&seen.arg[BETA], &beta, sizeof beta);
    assert_int_equal(seen.arg[LDA], 6);
    assert_int_equal(seen.arg[LDB], 7);
    assert_int_equal(seen.arg[LDC], 8);
    assert_int_equal(gemmtune_igemm(ctx, GEMMTUNE_COL_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, 3, 4, 5, -2, at(0x1000), 3,
                                    at(0x2000), 5, 7, at(0x3000), 3, NULL),
                     GEMMTUNE_OK);
    assert_int_equal((int32_t)seen.arg[ALPHA], -2);
    assert_int_equal((int32_t)seen.arg[BETA], 7);
    assert_int_equal(seen.arg[M], 4);
    assert_int_equal(gemmtune_igemm(ctx, GEMMTUNE_COL_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, 3, 4, 5, -2, at(0x1000), 2,
                                    at(0x2000), 5, 7, at(0x3000), 3, NULL),
                     GEMMTUNE_EINVAL); /* lda below m */
    close_all(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_column_major_exchanges_operands),
        cmocka_unit_test(test_unaligned_pointers),
        cmocka_unit_test(test_degenerate_products),
        cmocka_unit_test(test_empty_products_build_nothing),
        cmocka_unit_test(test_scalars_of_each_type),
        cmocka_unit_test(test_missing_pointers),
        cmocka_unit_test(test_messages_name_the_callers_operand),
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_describe_refuses_null),
        cmocka_unit_test(test_what_has_no_kernel_has_no_plan),
        cmocka_unit_test(test_a_kernel_that_does_not_build),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_default_database),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_exec_failures),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_passes_that_a_point_lacks),
        cmocka_unit_test(test_passes_without_a_product),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_one_call_from_many_threads),
        cmocka_unit_test(test_typed_calls),
    };
    return cmocka_run_group_tests_name("plan", tests, setup, teardown);
}
