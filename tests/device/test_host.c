/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices in host memory, on every device: many tiles in little device memory,
 * against a plain loop. Data are small integers, with sums that are exact in every type, so
 * results are compared bit by bit.
 */
#include "tests/device/devices.h"

#include "core/element.h"
#include "core/problem/problem.h"
#include "tuner/rig/rig.h"

#include <string.h>

struct matrix {
    struct gt_shape shape;
    int64_t ld;
    gemmtune_dtype type;
    char *bytes;
};

static struct gt_err err;
static struct gt_rig *rig;
static gemmtune_ctx *ctx;
/* The device is the fake one. Its kernels run on the CPU that was tested before: one type
 * is enough there. */
static bool faked;

static int64_t size_of(const struct matrix *m) {
    return m->shape.rows * m->ld * (int64_t)gt_type_size(m->type);
}

static double at(const struct matrix *m, int64_t row, int64_t col) {
    return gt_element_get(m->bytes + (row * m->ld + col) * (int64_t)gt_type_size(m->type),
                          m->type);
}

/* From -4 to 4, of a place and a seed. */
static double number(int64_t row, int64_t col, unsigned seed) {
    uint64_t x = (uint64_t)row * 0x9e3779b97f4a7c15u + (uint64_t)col * 0xbf58476d1ce4e5b9u +
                 seed * 0x94d049bb133111ebu;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 32;
    return (double)(x % 9) - 4;
}

/* The padding of leading dimensions is filled as well: nothing may change it. */
static struct matrix make(struct gt_shape shape, int64_t ld, gemmtune_dtype type,
                          unsigned seed) {
    struct matrix m = {shape, ld, type, NULL};
    const int64_t step = (int64_t)gt_type_size(type);
    m.bytes = malloc((size_t)(size_of(&m) > 0 ? size_of(&m) : 1));
    assert_non_null(m.bytes);
    for (int64_t i = 0; i < shape.rows; i++)
        for (int64_t j = 0; j < ld; j++)
            gt_element_put(m.bytes + (i * ld + j) * step, type, number(i, j, seed));
    return m;
}

struct product {
    gemmtune_problem p; /* canonical */
    struct matrix a, b, c, want;
    double alpha, beta;
};

static double op_at(const struct matrix *m, gemmtune_trans trans, int64_t row,
                    int64_t col) {
    return trans == GEMMTUNE_TRANS ? at(m, col, row) : at(m, row, col);
}

static void expect(struct product *x) {
    for (int64_t i = 0; i < x->p.m; i++)
        for (int64_t j = 0; j < x->p.n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < x->p.k; l++)
                sum += op_at(&x->a, x->p.trans_a, i, l) * op_at(&x->b, x->p.trans_b, l, j);
            gt_element_put(x->want.bytes +
                               (i * x->want.ld + j) * (int64_t)gt_type_size(x->want.type),
                           x->want.type, x->alpha * sum + x->beta * at(&x->c, i, j));
        }
}

static struct product product_of(const char *name, double alpha, double beta) {
    struct product x = {.alpha = alpha, .beta = beta};
    assert_ok(gt_problem_from_name(&x.p, name, &err));
    x.a = make(gt_problem_shape_a(&x.p), x.p.lda, x.p.type_a, 1);
    x.b = make(gt_problem_shape_b(&x.p), x.p.ldb, x.p.type_b, 2);
    x.c = make(gt_problem_shape_c(&x.p), x.p.ldc, x.p.type_c, 3);
    x.want = make(gt_problem_shape_c(&x.p), x.p.ldc, x.p.type_c, 3);
    expect(&x);
    return x;
}

static void drop(struct product *x) {
    free(x->a.bytes);
    free(x->b.bytes);
    free(x->c.bytes);
    free(x->want.bytes);
}

union scalar {
    char bytes[8];
    double align;
};

static gemmtune_status multiply(struct product *x, gemmtune_ctx *const *list, int32_t count,
                                const gemmtune_host_options *options,
                                gemmtune_host_report *report) {
    union scalar alpha, beta;
    gemmtune_args args;
    gt_element_put(alpha.bytes, x->p.type_acc, x->alpha);
    gt_element_put(beta.bytes, x->p.type_acc, x->beta);
    gemmtune_args_init(&args);
    args.alpha = alpha.bytes;
    args.beta = beta.bytes;
    args.a = x->a.bytes;
    args.b = x->b.bytes;
    args.c = x->c.bytes;
    if (report != NULL)
        gemmtune_host_report_init(report);
    return gemmtune_host_gemm(list, count, &x->p, &args, options, report);
}

/* ---- results ------------------------------------------------------------------------- */

/* All of C's memory, padding included. -0 and 0 are equal. */
static void compare(const struct product *x, const char *name) {
    for (int64_t i = 0; i < x->c.shape.rows; i++)
        for (int64_t j = 0; j < x->c.ld; j++)
            if (at(&x->c, i, j) != at(&x->want, i, j))
                fail_msg("%s, alpha %g, beta %g: C[%d, %d] is %g, not %g", name, x->alpha,
                         x->beta, (int)i, (int)j, at(&x->c, i, j), at(&x->want, i, j));
}

static void check(const char *name, double alpha, double beta,
                  const gemmtune_host_options *options, gemmtune_host_report *report) {
    struct product x = product_of(name, alpha, beta);
    const gemmtune_status status = multiply(&x, &ctx, 1, options, report);
    if (status != GEMMTUNE_OK)
        fail_msg("%s: %s", name, gemmtune_errmsg());
    compare(&x, name);
    drop(&x);
}

static gemmtune_host_options tiled(int64_t m, int64_t n, int64_t k) {
    gemmtune_host_options o;
    gemmtune_host_options_init(&o);
    o.tile_m = m;
    o.tile_n = n;
    o.tile_k = k;
    o.memory_max = 64 << 20;
    return o;
}

/* Every layout, ragged tiles, several slabs, padded rows, three types. A layout has one
 * type, here and in the tests below: a CPU takes seconds to compile each pair. */
static void test_tiles(void **state) {
    static const char *const name[] = {
        "f32-nn-150x130x170", "f32-nt-150x130x170,lda=173,ldb=181,ldc=140",
        "f32-nt-96x64x128",   "i32-tt-101x67x89",
        "i32-tt-64x64x64",    "f32-nn-1x200x33",
        "f64-tn-77x99x55",    "f64-tn-130x70x90,ldc=75"};
    gemmtune_host_options o = tiled(48, 32, 40);
    gemmtune_host_report r;
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        if (name[i][1] == '6' && !gt_rig_head(rig)->device->has_f64)
            continue;
        if (faked && strncmp(name[i], "f32", 3) != 0)
            continue;
        check(name[i], 2, 0, &o, &r);
        assert_true(r.tiles > 1 && r.tiles_done == r.tiles);
        check(name[i], -1, 3, &o, &r);
    }
}

/* In whole tiles, for which one kernel is built: ragged ones are above. */
static void test_scalars(void **state) {
    static const double scalar[] = {0, 1, -2};
    gemmtune_host_options o = tiled(32, 32, 16);
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            check("f32-nn-64x96x32", scalar[i], scalar[j], &o, NULL);
            check("i32-tt-32x64x48", scalar[i], scalar[j], &o, NULL);
        }
    check("f32-nn-40x40x0", 1, 2, &o, NULL);
    check("f32-nn-40x40x0", 1, 0, &o, NULL);
    check("f32-nn-0x40x8", 1, 2, &o, NULL);
    check("f32-nn-40x0x8", 1, 2, &o, NULL);
}

static void test_staged(void **state) {
    gemmtune_host_options o = tiled(100, 64, 70);
    gemmtune_host_report r;
    (void)state;
    o.copies = GEMMTUNE_HOST_STAGED;
    o.threads = 3;
    check("f32-nn-200x190x150,lda=155", 1, 1, &o, &r);
    assert_true(r.pinned_bytes > 0);
    check("f32-nt-200x190x150", 1, 0, &o, &r);
}

static void test_five_buffers(void **state) {
    gemmtune_host_options o = tiled(0, 0, 0);
    gemmtune_host_report r;
    (void)state;
    o.order = GEMMTUNE_HOST_FIVE_BUFFERS;
    o.memory_max = 200 << 10;
    check("f32-nn-300x200x250", 1, 1, &o, &r);
    assert_int_equal(r.slots_a, 2);
    assert_int_equal(r.slots_b, 2);
    assert_int_equal(r.slots_c, 1);
    assert_true(r.tiles > 1);
}

/* The plan keeps within the memory it is given, whatever that is. */
static void test_memory(void **state) {
    static const size_t memory[] = {64 << 10, 300 << 10, 3 << 20};
    (void)state;
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        gemmtune_host_options o = tiled(0, 0, 0);
        gemmtune_host_report r;
        o.memory_max = memory[i];
        check("f32-nn-260x240x250", 1, 0, &o, &r);
        assert_in_range(r.device_bytes, 1, memory[i]);
        assert_true(r.bytes_in >= 4.0 * (260 * 250 + 250 * 240));
        assert_true(r.bytes_out == 4.0 * 260 * 240);
    }
}

/* Small products go without tiles, unless options ask for them. */
static void test_small(void **state) {
    static const char *const name[] = {"f32-nn-150x130x170",
                                       "f32-nt-50x30x70,lda=73,ldb=81,ldc=40",
                                       "i32-tt-64x67x89", "f32-nn-1x200x33"};
    static const double scalar[][2] = {{1, 0}, {2, -3}, {0, 2}, {0, 1}};
    gemmtune_host_report r;
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (size_t j = 0; j < sizeof scalar / sizeof *scalar; j++) {
            if (faked && strncmp(name[i], "f32", 3) != 0)
                continue;
            check(name[i], scalar[j][0], scalar[j][1], NULL, &r);
            const bool idle = scalar[j][0] == 0 && scalar[j][1] == 1;
            assert_int_equal(r.tiles, idle ? 0 : 1);
            assert_int_equal(r.tiles_done, r.tiles);
        }
    check("f32-nn-40x40x0", 1, 2, NULL, &r);
    assert_true(r.bytes_in == 4.0 * 40 * 40 && r.bytes_out == r.bytes_in);
    check("f32-nn-150x130x170", 1, 0, NULL, &r);
    assert_true(r.bytes_in == 4.0 * 170 * (150 + 130));
    assert_true(r.bytes_out == 4.0 * 150 * 130);
    assert_true(r.link_in == 0 && r.compute_seconds > 0 && r.copy_seconds > 0);
    assert_int_equal(r.tile_k, 170);
    assert_true(r.device_bytes > 0 && r.kernel[0] != '\0');
    check("f32-nn-600x600x800", 1, 1, NULL, &r); /* 5 MiB */
    assert_true(r.link_in > 0);
}

/* A measurement that was made again would be another number. */
static void expect_measured_once(const char *name, const gemmtune_host_options *o) {
    gemmtune_host_report first, again;
    check(name, 1, 2, o, &first);
    check(name, 1, 2, o, &again);
    assert_true(first.link_in > 0 && first.link_out > 0);
    assert_true(first.link_in == again.link_in && first.link_out == again.link_out);
}

/* The link is measured once for each size of its copies, without sums as well, and however
 * many classes of products there are. */
static void test_measured_once(void **state) {
    static const size_t memory[] = {256 << 10, 1 << 20, 4 << 20};
    char name[64];
    gemmtune_host_options o = tiled(16, 16, 0);
    (void)state;
    expect_measured_once("f32-nn-40x40x0", &o);
    for (size_t i = 0; i < sizeof memory / sizeof *memory && !faked; i++)
        for (int k = 1; k <= 2048; k *= 2) {
            o.memory_max = memory[i];
            (void)snprintf(name, sizeof name, "f32-nn-16x16x%d", k);
            check(name, 1, 0, &o, NULL);
        }
    expect_measured_once("f32-nn-16x16x4000", &o);
}

/* A narrow C is rounded once: k stays whole. */
static void test_narrow_c(void **state) {
    gemmtune_host_options o = tiled(48, 48, 0);
    gemmtune_host_report r;
    (void)state;
    if (faked)
        skip();
    check("bf16-nn-100x90x60", 1, 0, &o, &r);
    assert_int_equal(r.tile_k, 60);
    check("bf16=f32-nn-100x90x60", 1, 1, &o, &r);
}

/* Two contexts of one device work as two devices do. */
static void test_two(void **state) {
    struct gt_rig *second = NULL;
    gemmtune_ctx *list[2] = {ctx, NULL};
    gemmtune_target target;
    gemmtune_host_options o = tiled(32, 32, 64);
    gemmtune_host_report r;
    struct product x = product_of("f32-nn-200x200x64", 1, 0);
    (void)state;
    assert_ok(gt_rig_open(&second, gt_rig_head(rig)->device, &err));
    gt_rig_head(second)->ops->target(&target, second);
    assert_int_equal(gemmtune_open(&list[1], "/dev/null/none", &target), GEMMTUNE_EIO);
    assert_int_equal(gemmtune_open(&list[1], NULL, &target), GEMMTUNE_OK);
    assert_int_equal(multiply(&x, list, 2, &o, &r), GEMMTUNE_OK);
    compare(&x, "two");
    assert_int_equal(r.devices, 2);
    gemmtune_close(list[1]);
    gt_rig_close(second);
    drop(&x);
}

/* ---- progress, stop, trace ----------------------------------------------------------- */

struct seen {
    int64_t stop_at, last;
    int events;
    double products;
};

static int watch(void *user, const gemmtune_host_progress *p) {
    struct seen *s = user;
    assert_true(p->tiles_done >= s->last && p->tiles_done <= p->tiles);
    s->last = p->tiles_done;
    return p->tiles_done >= s->stop_at;
}

static void trace(void *user, const gemmtune_host_event *e) {
    struct seen *s = user;
    assert_true(e->end >= e->begin && e->begin >= 0);
    s->events++;
    s->products += e->flops;
}

static void test_trace(void **state) {
    struct seen seen = {.stop_at = INT64_MAX};
    gemmtune_host_options o = tiled(64, 64, 32);
    gemmtune_host_report r;
    (void)state;
    o.progress = watch;
    o.trace = trace;
    o.user = o.trace_user = &seen;
    check("f32-nn-128x128x64", 1, 1, &o, &r);
    assert_int_equal(seen.last, r.tiles);
    assert_true(seen.products == 2.0 * 128 * 128 * 64);
    assert_true(seen.events >= 4 * 4);
    assert_true(r.compute_seconds > 0 && r.exposed_seconds >= 0);
}

/* A tile of C that is not complete is as it was. */
static void test_stop(void **state) {
    struct seen seen = {.stop_at = 1};
    gemmtune_host_options o = tiled(16, 16, 0);
    gemmtune_host_report r;
    struct product x = product_of("f32-nn-512x512x32", 1, 0);
    struct matrix before = make(x.c.shape, x.c.ld, x.c.type, 3);
    int64_t done = 0;
    (void)state;
    o.progress = watch;
    o.user = &seen;
    assert_int_equal(multiply(&x, &ctx, 1, &o, &r), GEMMTUNE_ESTOPPED);
    for (int64_t i = 0; i < x.p.m; i += 16)
        for (int64_t j = 0; j < x.p.n; j += 16) {
            bool is_new = true, is_old = true;
            for (int64_t y = i; y < i + 16; y++)
                for (int64_t z = j; z < j + 16; z++) {
                    is_new = is_new && at(&x.c, y, z) == at(&x.want, y, z);
                    is_old = is_old && at(&x.c, y, z) == at(&before, y, z);
                }
            assert_true(is_new || is_old);
            done += is_new;
        }
    assert_true(r.tiles_done >= 1 && r.tiles_done < r.tiles);
    assert_int_equal(done, r.tiles_done);
    assert_non_null(strstr(gemmtune_errmsg(), "tiles of C are complete"));
    free(before.bytes);
    drop(&x);
}

/* ---- refusals ------------------------------------------------------------------------ */

static void refuse(struct product *x, gemmtune_ctx *const *list, int32_t count,
                   const gemmtune_host_options *o, const char *words) {
    assert_int_equal(multiply(x, list, count, o, NULL), GEMMTUNE_EINVAL);
    if (strstr(gemmtune_errmsg(), words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", gemmtune_errmsg(), words);
}

/* The call waits by itself. */
static void refuse_events(const struct product *x) {
    const float one = 1;
    void *event = &event;
    gemmtune_args args;
    gemmtune_args_init(&args);
    args.alpha = args.beta = &one;
    args.a = x->a.bytes;
    args.b = x->b.bytes;
    args.c = x->c.bytes;
    args.event = &event;
    assert_int_equal(gemmtune_host_gemm(&ctx, 1, &x->p, &args, NULL, NULL),
                     GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(gemmtune_errmsg(), "neither wait_list nor event"));
    assert_null(event);
}

static void test_refused(void **state) {
    struct product x = product_of("f32-nn-100x100x100", 1, 0);
    gemmtune_ctx *const twice[] = {ctx, ctx};
    gemmtune_host_options o = tiled(0, 0, 0);
    char *a = x.a.bytes, *c = x.c.bytes;
    (void)state;
    refuse(&x, twice, 2, &o, "are the same");
    refuse(&x, &ctx, 0, &o, "0 devices");
    o.memory_max = 100;
    refuse(&x, &ctx, 1, &o, "bytes of device memory");
    o = tiled(0, 0, 0);
    o.tile_k = -1;
    refuse(&x, &ctx, 1, &o, "not all valid");
    o = tiled(0, 0, 0);
    x.c.bytes = a;
    refuse(&x, &ctx, 1, &o, "overlaps");
    x.c.bytes = a + 400;
    refuse(&x, &ctx, 1, &o, "overlaps");
    x.c.bytes = NULL;
    refuse(&x, &ctx, 1, &o, "the pointer to C is NULL");
    x.c.bytes = c;
    refuse_events(&x);
    x.a.bytes = NULL;
    refuse(&x, &ctx, 1, &o, "the pointer to A is NULL");
    x.p.layout = GEMMTUNE_COL_MAJOR;
    refuse(&x, &ctx, 1, &o, "the pointer to A is NULL");
    x.a.bytes = a;
    drop(&x);
}

/* An offset counts elements of its matrix, in a column-major product as well. */
static void test_offsets(void **state) {
    static const gemmtune_layout layouts[] = {GEMMTUNE_ROW_MAJOR, GEMMTUNE_COL_MAJOR};
    const float one = 1, zero = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct product x = product_of("f32-nn-40x40x40", 1, 0);
        gemmtune_args args;
        x.p.layout = layouts[i];
        gemmtune_args_init(&args);
        args.alpha = &one;
        args.beta = &zero;
        args.a = x.a.bytes - 4 * 3;
        args.b = x.b.bytes - 4 * 50;
        args.c = x.c.bytes - 4 * 7;
        args.a_offset = 3;
        args.b_offset = 50;
        args.c_offset = 7;
        if (i == 1) { /* C' = B' A' */
            args.a = x.b.bytes - 4 * 3;
            args.b = x.a.bytes - 4 * 50;
        }
        assert_int_equal(gemmtune_host_gemm(&ctx, 1, &x.p, &args, NULL, NULL), GEMMTUNE_OK);
        compare(&x, "offsets");
        drop(&x);
    }
}

/* A and C as columns of one larger matrix share no element. */
static void test_side_by_side(void **state) {
    struct product x = product_of("f32-nn-60x50x40,lda=90,ldc=90", 1, 0);
    struct matrix both = make((struct gt_shape){60, 90}, 90, GEMMTUNE_F32, 1);
    gemmtune_host_options o = tiled(32, 32, 32);
    char *a = x.a.bytes, *c = x.c.bytes;
    (void)state;
    x.a.bytes = both.bytes; /* columns 0 to 39, made alike */
    x.c.bytes = both.bytes + 40 * sizeof(float);
    assert_int_equal(multiply(&x, &ctx, 1, &o, NULL), GEMMTUNE_OK);
    for (int64_t i = 0; i < 60; i++)
        for (int64_t j = 0; j < 50; j++)
            assert_true(at(&both, i, 40 + j) == at(&x.want, i, j));
    x.a.bytes = a;
    x.c.bytes = c;
    free(both.bytes);
    drop(&x);
}

/* ---- all devices --------------------------------------------------------------------- */

static int run_all(const struct gt_device *d) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),   cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_staged),  cmocka_unit_test(test_five_buffers),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_narrow_c),
        cmocka_unit_test(test_two),     cmocka_unit_test(test_trace),
        cmocka_unit_test(test_stop),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_offsets), cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_small),   cmocka_unit_test(test_measured_once),
    };
    gemmtune_target target;
    if (gt_rig_open(&rig, d, &err) != GEMMTUNE_OK) {
        printf("not ok - %s\n", err.line);
        return 1;
    }
    gt_rig_head(rig)->ops->target(&target, rig);
    if (d->backend == GEMMTUNE_OPENCL) /* PoCL compiles more for each image that is kept */
        (void)setenv("GEMMTUNE_CACHE_DIR", "", 1);
    if (gemmtune_open(&ctx, NULL, &target) != GEMMTUNE_OK) {
        printf("not ok - %s\n", gemmtune_errmsg());
        return 1;
    }
    const int failed = cmocka_run_group_tests_name(d->name, tests, NULL, NULL);
    gemmtune_close(ctx);
    gt_rig_close(rig);
    return failed;
}

/* The fake has no clusters of blocks, so it plays a device that has none either. */
int main(int argc, char **argv) {
    int failed = 0, ran = 0;
    faked = argc > 1;
    if (!open_devices())
        return 1;
    for (size_t i = 0; i < devices.count; i++) {
        const struct gt_device *d = &devices.device[i];
        if (d->trouble[0] || (faked && d->backend != GEMMTUNE_CUDA))
            continue;
        failed += run_all(d);
        ran++;
    }
    close_devices();
    if (faked) {
        if (ran == 0)
            printf("not ok - the fake CUDA driver has no device\n");
        return failed + (ran == 0);
    }
    (void)setenv("FAKE_NVRTC_VERSION", "12.9", 1);
    return failed + run_faked(argv[0], "gtx1080");
}
