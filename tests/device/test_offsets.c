/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices inside of one buffer, on every device of this machine: all types and kinds of
 * batches, at odd elements, with random bytes around each matrix that must stay as they
 * are. Data are small integers, so results are equal bit by bit. The same program serves
 * CUDA, where offsets are added to the pointer.
 */
#include "runtime/plan/context.h"
#include "tests/device/arena.h"
#include "tests/device/winners.h"

enum { WORKSPACE = ARENA / 4 };

static struct gt_err err;

/* Runs a plan with all matrices in one buffer. */
static void run(struct machine *m, void *queue, const gemmtune_plan *plan, struct drawn *x,
                const char *name) {
    void *const buffer = m->ops->alloc(m, ARENA);
    m->ops->write(m, queue, buffer, arena, ARENA);
    x->args.a = x->args.b = x->args.c = x->args.workspace = buffer;
    x->args.rows = gt_problem_has_rows(&x->p) ? buffer : NULL;
    if (gemmtune_launch(plan, &x->args, queue) != GEMMTUNE_OK)
        fail_msg("%s: %s", name, gemmtune_errmsg());
    m->ops->read(m, queue, got, buffer, ARENA);
    m->ops->release(m, buffer);
    compare(x, name);
}

static gemmtune_plan *plan_of(gemmtune_ctx *ctx, const gemmtune_problem *p,
                              const char *name) {
    gemmtune_plan *plan = NULL;
    if (gemmtune_plan_create(&plan, ctx, p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE) !=
        GEMMTUNE_OK)
        fail_msg("%s: %s", name, gemmtune_errmsg());
    return plan;
}

/* ---- every type and kind of batch ---- */

static const char *const types[] = {
    "f32",      "f64",   "i32",       "tf32",           "f16",      "bf16", "f16=f32",
    "bf16=f32", "e4m3",  "e5m2=f16",  "e4m3+e5m2=bf16", "e4m3=f32", "i8",   "i8=f32",
    "i8=bf16",  "i8=i8", "f32@split",
};

static void draw_name(char name[128], const char *type, int kind) {
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    static const char *const kinds[] = {"", ",batch=%d", ",groups=%d", ",batch=%d,masked"};
    const int m = (int)draw(20) + 5, n = (int)draw(20) + 1, k = (int)draw(12) + 1;
    const int at = snprintf(name, 128, "%s-%s-%dx%dx%d", type, layouts[draw(4)], m, n, k);
    if (kind > 0)
        (void)snprintf(name + at, 128 - (size_t)at, kinds[kind], (int)draw(4) + 2);
}

static void types_on(struct machine *m) {
    enum { CALLS = 3 };
    gemmtune_ctx *ctx = NULL;
    char name[128];
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_OK);
    void *const queue = m->ops->queue_create(m);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int batch = 0; batch < 2;
             batch++) { /* each kernel is compiled: not all kinds */
            struct drawn x;
            draw_name(name, types[t], batch * (1 + (int)t % 3));
            assert_int_equal(gt_problem_from_name(&x.p, name, &err), GEMMTUNE_OK);
            if (gt_type_size(x.p.type_acc) == 8 && !m->device->has_f64)
                continue;
            gemmtune_plan *plan = plan_of(ctx, &x.p, name);
            for (int call = 0; call < CALLS; call++) {
                gemmtune_args_init(&x.args);
                draw_memory(&x, 1);
                scalars(&x, 1, x.p.epilogue != NULL ? 0 : (double)(call % 2));
                expect(&x);
                run(m, queue, plan, &x, name);
            }
            gemmtune_plan_destroy(plan);
        }
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_every_type_and_batch(void **state) {
    (void)state;
    chance_seed = 51;
    on_every_device(types_on);
}

/* ---- every family ---- */

/* Runs a point, if it may exist, at offsets that its loads accept. */
static void run_point(struct machine *m, struct gt_gpu *gpu, void *queue,
                      const struct gt_family *f, const char *name, const char *change) {
    struct gt_point point, changes = {.count = 0};
    struct gt_exec *e = NULL;
    struct gt_exec_info info;
    struct drawn x;
    assert_int_equal(gt_problem_from_name(&x.p, name, &err), GEMMTUNE_OK);
    if (change[0] != '\0')
        assert_int_equal(gt_point_parse(&changes, change, &err), GEMMTUNE_OK);
    gt_family_default(f, &point);
    for (int i = 0; i < changes.count; i++)
        assert_int_equal(
            gt_point_set(&point, changes.entry[i].name, changes.entry[i].value, &err),
            GEMMTUNE_OK);
    const gt_status status = gt_exec_create(&e, gpu, f, &point, &x.p, NULL, &err);
    if (status == GEMMTUNE_EINVAL && change[0] == '\0')
        return; /* the default does not fit this device */
    if (status != GEMMTUNE_OK && strstr(err.line, "PoCL 5") != NULL)
        return; /* families with barriers are not offered there */
    if (status != GEMMTUNE_OK)
        fail_msg("%s %s: %s", f->name, change, err.line);
    gt_exec_describe(e, &info);
    gemmtune_args_init(&x.args);
    draw_memory(&x, 16 / (int64_t)gt_type_size(x.p.type_a)); /* vectors are 16 bytes */
    scalars(&x, 2, 1);
    expect(&x);
    void *const buffer = m->ops->alloc(m, ARENA);
    m->ops->write(m, queue, buffer, arena, ARENA);
    const struct gt_call call = {.alpha = &x.alpha,
                                 .a = buffer,
                                 .b = buffer,
                                 .beta = &x.beta,
                                 .c = buffer,
                                 .workspace = buffer,
                                 .stream = queue,
                                 .offset = {.a = x.args.a_offset,
                                            .b = x.args.b_offset,
                                            .c = x.args.c_offset,
                                            .workspace = x.args.workspace_offset}};
    if (gt_exec_run(e, &call, &err) != GEMMTUNE_OK)
        fail_msg("%s %s: %s", f->name, change, err.line);
    m->ops->read(m, queue, got, buffer, ARENA);
    m->ops->release(m, buffer);
    compare(&x, f->name);
    gt_exec_destroy(e);
}

static void families_on(struct machine *m) {
    static const char name[] = "f32-nn-24x40x64";
    struct gt_families *families = NULL;
    struct gt_gpu *gpu = NULL;
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    assert_int_equal(gt_driver_of(m->target.backend)->open(&gpu, &m->target, &err),
                     GEMMTUNE_OK);
    void *const queue = m->ops->queue_create(m);
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, &err), GEMMTUNE_OK);
    for (size_t i = 0; i < gt_families_count(families); i++) {
        const struct gt_family *f = gt_families_at(families, i);
        if (gt_family_serves(f, m->device, &p, NULL))
            run_point(m, gpu, queue, f, name, "");
    }
    /* points of several kernels, with a workspace */
    const struct gt_family *const multistage = gt_families_find(families, "multistage");
    run_point(m, gpu, queue, multistage, name, "SPLIT=4 GROUP=1");
    run_point(m, gpu, queue, multistage, name, "REPACK=2 VA=4 VB=4");
    run_point(m, gpu, queue, gt_families_find(families, "skinny"), "f32-nn-8x128x512",
              "SIDE=0 S=8 R=4 V=1 VX=1 U=1 STAGES=2 LANES=8 THREADS=128 MINB=1 SPLIT=8");
    m->ops->queue_destroy(m, queue);
    gt_driver_of(m->target.backend)->close(gpu);
    gt_families_destroy(families);
}

static void test_every_family(void **state) {
    (void)state;
    chance_seed = 52;
    on_every_device(families_on);
}

/* ---- operands ---- */

/* d = x sa[i] + up[i,j] and d2 = x, of two products. */
static void operands_on(struct machine *m) {
    static const char name[] = "f32-nn-13x9x7,batch=2,epi=sa[i]:f32;up[i,j]:f32;d=x*sa[i]+"
                               "up[i,j];d2=x";
    struct drawn x;
    gemmtune_ctx *ctx = NULL;
    assert_int_equal(gt_problem_from_name(&x.p, name, &err), GEMMTUNE_OK);
    assert_int_equal(gemmtune_open(&ctx, NULL, &m->target), GEMMTUNE_OK);
    void *const queue = m->ops->queue_create(m);
    gemmtune_plan *plan = plan_of(ctx, &x.p, name);
    const int64_t rows = x.p.batch * x.p.m, cells = rows * x.p.n;
    gemmtune_args_init(&x.args);
    draw_memory(&x, 1);
    scalars(&x, 2, 0);
    x.operand_offset[0] = place(rows, sizeof(float), 1);
    x.operand_offset[1] = place(cells, sizeof(float), 1);
    x.args.d2_offset = place(cells, sizeof(float), 1);
    fill(x.operand_offset[0], rows, GEMMTUNE_F32);
    fill(x.operand_offset[1], cells, GEMMTUNE_F32);
    x.end = x.args.workspace_offset = (used + 255) / 256 * 256;
    x.args.operand_offset = x.operand_offset;
    x.args.operands = OPERANDS;
    memcpy(want, arena, sizeof want);
    float *const out = (float *)(void *)want;
    for (int64_t e = 0; e < cells; e++) {
        const int64_t row = e / x.p.n;
        const double value = product(&x, row / x.p.m, row % x.p.m, e % x.p.n);
        out[x.args.d2_offset + e] = (float)value;
        out[x.args.c_offset + e] =
            (float)(value * read_element(arena, GEMMTUNE_F32, x.operand_offset[0] + row) +
                    read_element(arena, GEMMTUNE_F32, x.operand_offset[1] + e));
    }
    void *const buffer = m->ops->alloc(m, ARENA);
    const void *const operand[OPERANDS] = {buffer, buffer};
    m->ops->write(m, queue, buffer, arena, ARENA);
    x.args.a = x.args.b = x.args.c = x.args.d2 = x.args.workspace = buffer;
    x.args.operand = operand;
    if (gemmtune_launch(plan, &x.args, queue) != GEMMTUNE_OK)
        fail_msg("%s: %s", name, gemmtune_errmsg());
    m->ops->read(m, queue, got, buffer, ARENA);
    m->ops->release(m, buffer);
    compare(&x, name);
    gemmtune_plan_destroy(plan);
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_operands(void **state) {
    (void)state;
    chance_seed = 53;
    on_every_device(operands_on);
}

/* ---- vector loads ---- */

static const char wide_point[] = "BM=64 BN=64 BK=8 THREADS=128 OWN=1 TM=4 VA=4 VB=4 PAD=4 "
                                 "DOUBLE=1 MINB=1 GROUP=4";
static const char wide_problem[] = "f32-nn-64x64x64";

/* Writes a database with a record that has loads of 16 bytes. */
static void write_record(const char *path, struct machine *m) {
    struct gt_families *families = NULL;
    int64_t run;
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    struct gt_db *db = winners_begin(&run, path, m);
    winners_add(db, m, gt_families_find(families, "block"), wide_point, wide_problem);
    winners_end(db, run);
    gt_families_destroy(families);
}

/* A kernel with vector loads serves offsets at multiples of 16 bytes, another one of the
 * same plan all others, from several threads at once. */
struct caller {
    struct machine *m;
    const gemmtune_plan *plan;
    struct drawn x;
    void *buffer;
    gemmtune_status status;
};

static void *call_unaligned(void *argument) {
    struct caller *c = argument;
    c->m->ops->enter(c->m);
    void *const queue = c->m->ops->queue_create(c->m);
    c->status = gemmtune_launch(c->plan, &c->x.args, queue);
    unsigned char end[1];
    c->m->ops->read(c->m, queue, end, c->buffer, sizeof end); /* waits */
    c->m->ops->queue_destroy(c->m, queue);
    return NULL;
}

static void vectors_on(struct machine *m) {
    enum { THREADS = 4 };
    static struct caller callers[THREADS];
    pthread_t thread[THREADS];
    char path[512];
    gemmtune_ctx *ctx = NULL;
    struct drawn x;
    write_record(winners_path(path), m);
    assert_int_equal(gemmtune_open(&ctx, path, &m->target), GEMMTUNE_OK);
    assert_int_equal(gt_problem_from_name(&x.p, wide_problem, &err), GEMMTUNE_OK);
    gemmtune_plan *plan = plan_of(ctx, &x.p, wide_problem);
    gemmtune_plan_info info;
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    if (strncmp(gt_ctx_device(ctx)->compiler, "PoCL 5", 6) == 0)
        skip(); /* the family with barriers, the one with a record, is not offered there */
    assert_string_equal(info.params, wide_point);
    void *const queue = m->ops->queue_create(m);
    gemmtune_args_init(&x.args);
    draw_memory(&x, 4);
    scalars(&x, 2, 1);
    expect(&x);
    run(m, queue, plan, &x, "aligned");
    draw_memory(&x, 4);
    x.args.a_offset++, x.args.b_offset += 2, x.args.c_offset += 3;
    expect(&x);
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){m, plan, x, m->ops->alloc(m, ARENA), GEMMTUNE_EINVAL};
        callers[i].x.args.alpha = &callers[i].x.alpha;
        callers[i].x.args.beta = &callers[i].x.beta;
        callers[i].x.args.a = callers[i].x.args.b = callers[i].x.args.c =
            callers[i].x.args.workspace = callers[i].buffer;
        m->ops->write(m, queue, callers[i].buffer, arena, ARENA);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call_unaligned, &callers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(callers[i].status, GEMMTUNE_OK);
        m->ops->read(m, queue, got, callers[i].buffer, ARENA);
        compare(&x, "unaligned");
        m->ops->release(m, callers[i].buffer);
    }
    m->ops->queue_destroy(m, queue);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
    assert_int_equal(remove(path), 0);
}

static void test_vectors_and_odd_offsets(void **state) {
    (void)state;
    chance_seed = 54;
    on_every_device(vectors_on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_and_batch),
        cmocka_unit_test(test_every_family),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_vectors_and_odd_offsets),
    };
    return cmocka_run_group_tests_name("offsets", tests, list_devices, clear_devices);
}
