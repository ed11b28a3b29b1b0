/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices inside of one buffer, on every device of this machine: all types and kinds of
 * batches, at odd elements, with random bytes around each matrix that must stay as they
 * are. Data are small integers, so results are equal bit by bit. The same program serves
 * CUDA, where offsets are added to the pointer.
 */
#include "runtime/plan/context.h"
#include "runtime/exec/exec.h"
#include "runtime/family/family.h"
#include "tests/device/machines.h"
#include "tests/unit/records.h"

#include "core/element.h"
#include "core/mix.h"
#include "core/problem/packed.h"
#include "db/db.h"

#include <stdio.h>
#include <string.h>

enum { ARENA = 1 << 20, WORKSPACE = 1 << 18, GROUPS_MAX = 8, OPERANDS = 2 };

static unsigned char arena[ARENA], want[ARENA], got[ARENA];
static uint64_t seed;
static struct gt_err err;

static int64_t draw(int64_t below) {
    return (int64_t)(gt_mix(seed += GT_MIX_STEP) % (uint64_t)below);
}

/* ---- the arena ---- */

static int64_t used; /* bytes */

/* Room for elements at a random multiple of `align` elements; returns the offset in
 * elements. */
static int64_t place(int64_t elements, int64_t size, int64_t align) {
    const int64_t unit = size * align;
    const int64_t at = (used + draw(200) + unit - 1) / unit;
    used = at * unit + elements * size;
    assert_true(used + 256 <= ARENA - WORKSPACE);
    return at * align;
}

/* Small integers to the elements from `offset` on. */
static void fill(int64_t offset, int64_t elements, gemmtune_dtype type) {
    const int64_t size = (int64_t)gt_type_size(type);
    for (int64_t i = 0; i < elements; i++)
        gt_element_put(arena + (offset + i) * size, type, (double)(draw(5) - 2));
}

static double read_element(const unsigned char *bytes, gemmtune_dtype type,
                           int64_t offset) {
    return gt_element_get(bytes + offset * (int64_t)gt_type_size(type), type);
}

/* ---- one product ---- */

struct drawn {
    gemmtune_problem p; /* canonical */
    gemmtune_args args;
    union gt_value alpha, beta;
    int32_t rows[GROUPS_MAX];
    int64_t operand_offset[OPERANDS];
};

static void draw_rows(struct drawn *x) {
    const bool grouped = x->p.batch_kind == GEMMTUNE_GROUPED_ROWS;
    for (int64_t i = 0; i < x->p.batch; i++)
        x->rows[i] = (int32_t)(grouped ? (i + 1) * x->p.m / x->p.batch : draw(x->p.m + 1));
    x->args.rows_offset = place(x->p.batch, sizeof *x->rows, 1);
    memcpy(arena + x->args.rows_offset * (int64_t)sizeof *x->rows, x->rows,
           (size_t)x->p.batch * sizeof *x->rows);
}

/* Draws the places of all matrices, at multiples of `align` elements, and their numbers. */
static void draw_memory(struct drawn *x, int64_t align) {
    const gemmtune_problem *p = &x->p;
    const int64_t elems[3] = {gt_problem_elems_a(p), gt_problem_elems_b(p),
                              gt_problem_elems_c(p)};
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    int64_t *const offset[3] = {&x->args.a_offset, &x->args.b_offset, &x->args.c_offset};
    used = 0;
    for (int i = 0; i < ARENA; i++)
        arena[i] = (unsigned char)draw(256);
    for (int i = 0; i < 3; i++) {
        *offset[i] = place(elems[i], (int64_t)gt_type_size(type[i]), align);
        fill(*offset[i], elems[i], type[i]);
    }
    if (gt_problem_has_rows(p))
        draw_rows(x);
    x->args.workspace_offset = (used + 255) / 256 * 256;
}

/* alpha op(A) op(B) of row i and column j of product z. */
static double product(const struct drawn *x, int64_t z, int64_t i, int64_t j) {
    const gemmtune_problem *p = &x->p;
    const int64_t matrix = p->batch_kind == GEMMTUNE_GROUPED_ROWS ? 0 : z;
    const int64_t a = x->args.a_offset + matrix * p->stride_a;
    const int64_t b = x->args.b_offset + z * p->stride_b;
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += read_element(arena, p->type_a,
                            a + (p->trans_a ? k * p->lda + i : i * p->lda + k)) *
               read_element(arena, p->type_b,
                            b + (p->trans_b ? j * p->ldb + k : k * p->ldb + j));
    return sum * gt_element_get(&x->alpha, p->type_acc);
}

/* Writes the expected C over `want`. */
static void expect_rows(const struct drawn *x, int64_t z, int64_t matrix, int64_t first,
                        int64_t end) {
    const gemmtune_problem *p = &x->p;
    const int64_t size = (int64_t)gt_type_size(p->type_c);
    const double beta = gt_element_get(&x->beta, p->type_acc);
    for (int64_t i = first; i < end; i++)
        for (int64_t j = 0; j < p->n; j++) {
            const int64_t at = x->args.c_offset + matrix * p->stride_c + i * p->ldc + j;
            double c = product(x, z, i, j);
            if (beta != 0)
                c += beta * read_element(arena, p->type_c, at);
            gt_element_put(want + at * size, p->type_c, c);
        }
}

static void expect(const struct drawn *x) {
    const gemmtune_problem *p = &x->p;
    memcpy(want, arena, sizeof want);
    for (int64_t z = 0; z < p->batch; z++)
        if (p->batch_kind == GEMMTUNE_GROUPED_ROWS)
            expect_rows(x, z, 0, z > 0 ? x->rows[z - 1] : 0, x->rows[z]);
        else
            expect_rows(x, z, z, 0,
                        p->batch_kind == GEMMTUNE_MASKED_ROWS ? x->rows[z] : p->m);
}

/* All bytes up to the workspace. */
static void compare(const struct drawn *x, const char *name) {
    for (int64_t i = 0; i < x->args.workspace_offset; i++)
        if (got[i] != want[i])
            fail_msg(
                "%s, seed %llu: byte %lld of the arena is %02x, not %02x (A from %lld, "
                "B from %lld, C from %lld)",
                name, (unsigned long long)seed, (long long)i, got[i], want[i],
                (long long)x->args.a_offset, (long long)x->args.b_offset,
                (long long)x->args.c_offset);
}

static void scalars(struct drawn *x, double alpha, double beta) {
    x->alpha = gt_value_of(x->p.type_acc, alpha);
    x->beta = gt_value_of(x->p.type_acc, beta);
    x->args.alpha = &x->alpha;
    x->args.beta = &x->beta;
}

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
    seed = 51;
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
    seed = 52;
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
    x.args.workspace_offset = (used + 255) / 256 * 256;
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
    seed = 53;
    on_every_device(operands_on);
}

/* ---- vector loads ---- */

static const char wide_point[] = "BM=64 BN=64 BK=8 THREADS=128 OWN=1 TM=4 VA=4 VB=4 PAD=4 "
                                 "DOUBLE=1 MINB=1 GROUP=4";
static const char wide_problem[] = "f32-nn-64x64x64";

/* Writes a database with a record that has loads of 16 bytes. */
static void write_record(const char *path, struct machine *m) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_families *families = NULL;
    struct gt_db *db = NULL;
    int64_t id = 0;
    (void)remove(path);
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_open(&db, path, GT_DB_WRITE, &err), GEMMTUNE_OK);
    assert_int_equal(gt_db_run_begin(&id, db, m->device, &info, &err), GEMMTUNE_OK);
    const struct gt_record_row row = {.subject = {m->key, wide_problem, "block",
                                                  gt_families_find(families, "block")->hash,
                                                  wide_point},
                                      .verified = true,
                                      .time = {.median_ns = 7000,
                                               .low_ns = 6900,
                                               .high_ns = 7100,
                                               .samples = 9,
                                               .launches = 1},
                                      .provenance = "local"};
    assert_int_equal(put_local_records(db, m->key, wide_problem, &row, 1, &err),
                     GEMMTUNE_OK);
    assert_int_equal(gt_db_run_end(db, id, "done", &err), GEMMTUNE_OK);
    gt_db_close(db);
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
    const char *tmp = getenv("TMPDIR");
    char path[512];
    gemmtune_ctx *ctx = NULL;
    struct drawn x;
    (void)snprintf(path, sizeof path, "%s/offsets.db", tmp != NULL ? tmp : "/tmp");
    write_record(path, m);
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
    seed = 54;
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
