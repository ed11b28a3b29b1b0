/* SPDX-License-Identifier: Apache-2.0 */
/* check: long */
/*
 * Drawn problems of every type, on every device of this machine, through plans and one-call
 * forms. Each problem has a record of a drawn point of a drawn family, so that kernels are
 * tried that nobody tunes. Drawn are sizes, layouts, paddings, batches, offsets of
 * matrices, alpha and beta, and the workspace: none, as much as the kernel needs, less, or
 * plenty. Every element must be equal bit by bit, and around the matrices and the workspace
 * nothing may change. GT_SEED draws others; GT_LONG=1 draws more.
 */
#include "tests/device/arena.h"
#include "tests/device/winners.h"
#include "tests/share.h"
#include "tuner/search/space.h"

#include <inttypes.h>

enum {
    ALIGN = 16, /* bytes, to which the pointers of fast kernels are aligned */
    ZONE = 256, /* bytes beside a workspace */
    PROBLEMS_MAX = 8
};

static struct gt_err err;

/* A problem and the kernel that has won it. */
struct drawing {
    char name[GT_PROBLEM_NAME_MAX];
    const struct gt_family *family; /* NULL: none was found */
    char point[GT_POINT_TEXT_MAX];
};

static struct { int plans, exact, with_workspace, calls; } done;

/* ---- drawing ---- */

static int64_t draw_size(void) {
    return draw(3) == 0 ? 1 + draw(8) : draw(2) == 0 ? 16 * (1 + draw(4)) : 1 + draw(70);
}

/* Elements from one row to the next: packed, padded, or padded to multiples of 16 bytes. */
static int64_t draw_ld(int64_t cols, gemmtune_dtype type) {
    const int64_t unit = ALIGN / (int64_t)gt_type_size(type);
    const int64_t padded = cols + draw(3) * draw(9);
    return draw(2) == 0 ? padded : (padded + unit - 1) / unit * unit;
}

/* Products, their groups or masks, and gaps between the matrices. */
static void draw_batch(gemmtune_problem *p) {
    static const gemmtune_batch_kind kinds[] = {
        GEMMTUNE_BATCH_STRIDED, GEMMTUNE_BATCH_STRIDED, GEMMTUNE_GROUPED_ROWS,
        GEMMTUNE_MASKED_ROWS};
    p->batch_kind = kinds[draw(4)];
    p->batch = 2 + draw(4);
    p->stride_a = gt_shape_elems(gt_problem_shape_a(p), p->lda) + draw(2) * draw(20);
    p->stride_b =
        draw(4) == 0 ? 0 : p->ldb * gt_problem_shape_b(p).rows + draw(2) * draw(20);
    p->stride_c = p->ldc * p->m + draw(2) * draw(20);
}

/* A row of types; false when such a problem has no kernel. */
static bool draw_problem(char name[GT_PROBLEM_NAME_MAX], const struct gt_dtype *row) {
    gemmtune_problem p, canonical;
    if (gt_problem_from_name(&p, "f32-nn-1x1x1", &err) != GEMMTUNE_OK ||
        gt_types_from_word(&p, row->name, strlen(row->name), &err) != GEMMTUNE_OK)
        return false;
    p.m = draw_size();
    p.n = draw_size();
    p.k = draw_size();
    p.trans_a = draw(2) ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.trans_b = draw(2) ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.lda = draw_ld(gt_problem_shape_a(&p).cols, p.type_a);
    p.ldb = draw_ld(gt_problem_shape_b(&p).cols, p.type_b);
    p.ldc = draw_ld(p.n, p.type_c);
    p.reads_c = (int32_t)draw(2);
    p.stride_a = p.stride_b = p.stride_c = GEMMTUNE_PACKED;
    p.epilogue = NULL;
    if (draw(3) == 0)
        draw_batch(&p);
    if (gt_problem_canonical(&canonical, NULL, &p, &err) != GEMMTUNE_OK)
        return false;
    (void)gt_problem_name(&canonical, name);
    return true;
}

/* A point of any family that may run the problem. */
static void draw_kernel(struct drawing *x, const struct machine *m,
                        const struct gt_families *families) {
    enum { TRIES = 20 };
    const size_t count = gt_families_count(families);
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, x->name, &err), GEMMTUNE_OK);
    for (int i = 0; i < TRIES && x->family == NULL; i++) {
        const struct gt_family *f = gt_families_at(families, (size_t)draw((int64_t)count));
        struct gt_space space = {.count = 0};
        struct gt_point point;
        if (!gt_family_serves(f, m->device, &p, NULL) ||
            gt_space_create(&space, f, m->device, &p, &err) != GEMMTUNE_OK)
            continue;
        if (space.count > 0) {
            gt_space_point(&space, (size_t)draw((int64_t)space.count), &point);
            (void)gt_point_text(&point, x->point);
            x->family = f;
        }
        gt_space_clear(&space);
    }
}

/* ---- plans ---- */

/* The same product as a column-major caller has it: A and B, m and n change places. */
static void transpose(gemmtune_problem *p, gemmtune_args *args) {
    const gemmtune_problem q = *p;
    const gemmtune_args was = *args;
    p->layout = GEMMTUNE_COL_MAJOR;
    p->epilogue = NULL; /* "d=x" of integers, which is meant without it */
    p->m = q.n, p->n = q.m;
    p->trans_a = q.trans_b, p->trans_b = q.trans_a;
    p->type_a = q.type_b, p->type_b = q.type_a;
    p->lda = q.ldb, p->ldb = q.lda;
    p->stride_a = q.stride_b, p->stride_b = q.stride_a;
    args->a_offset = was.b_offset, args->b_offset = was.a_offset;
}

/* Memory for a workspace of so many bytes, between two zones. */
static void *make_workspace(struct machine *m, void *queue, unsigned char *bytes,
                            size_t size) {
    for (size_t i = 0; i < size + 2 * ZONE; i++)
        bytes[i] = (unsigned char)draw(256);
    void *const memory = m->ops->alloc(m, size + 2 * ZONE);
    m->ops->write(m, queue, memory, bytes, size + 2 * ZONE);
    return memory;
}

static void check_zones(struct machine *m, void *queue, const unsigned char *bytes,
                        size_t size, void *memory, const char *what) {
    unsigned char *now = malloc(size + 2 * ZONE);
    assert_non_null(now);
    m->ops->read(m, queue, now, memory, size + 2 * ZONE);
    if (memcmp(now, bytes, ZONE) != 0 ||
        memcmp(now + ZONE + size, bytes + ZONE + size, ZONE) != 0)
        fail_msg("%s: bytes beside the workspace of %zu bytes have changed", what, size);
    m->ops->release(m, memory);
    free(now);
}

static void launch(struct machine *m, void *queue, const gemmtune_plan *plan,
                   const gemmtune_args *args, size_t size, const char *what) {
    gemmtune_args with = *args;
    if (size == 0) {
        if (gemmtune_launch(plan, &with, queue) != GEMMTUNE_OK)
            fail_msg("%s: %s", what, gemmtune_errmsg());
        return;
    }
    unsigned char *bytes = malloc(size + 2 * ZONE);
    assert_non_null(bytes);
    with.workspace = make_workspace(m, queue, bytes, size);
    with.workspace_offset = ZONE;
    if (gemmtune_launch(plan, &with, queue) != GEMMTUNE_OK)
        fail_msg("%s: %s", what, gemmtune_errmsg());
    check_zones(m, queue, bytes, size, with.workspace, what);
    free(bytes);
}

static void draw_numbers(struct drawn *x, int64_t align) {
    gemmtune_args_init(&x->args);
    draw_memory(x, align);
    x->end = ARENA;
    x->args.workspace_offset = 0;
    scalars(x, (double)(draw(5) - 2), (double)(draw(4) - 1));
    expect(x);
}

/* Runs the plan with matrices at such multiples of bytes. */
static void run_plan(struct machine *m, void *queue, const gemmtune_plan *plan,
                     struct drawn *x, bool swapped, bool aligned, const char *name) {
    gemmtune_plan_info info;
    char what[1400];
    gemmtune_problem p = x->p;
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    (void)snprintf(what, sizeof what, "%s on %s, %s %s, %s%s", name, m->key, info.family,
                   info.params, aligned ? "aligned" : "anywhere",
                   swapped ? ", column-major" : "");
    draw_numbers(x, aligned ? ALIGN : 1);
    gemmtune_args args = x->args;
    if (swapped)
        transpose(&p, &args);
    void *const buffer = m->ops->alloc(m, ARENA);
    m->ops->write(m, queue, buffer, arena, ARENA);
    args.a = args.b = args.c = buffer;
    args.rows = gt_problem_has_rows(&x->p) ? buffer : NULL;
    launch(m, queue, plan, &args, info.workspace_bytes, what);
    m->ops->read(m, queue, got, buffer, ARENA);
    m->ops->release(m, buffer);
    compare(x, what);
}

static gemmtune_plan *plan_of(gemmtune_ctx *ctx, const gemmtune_problem *p, bool swapped,
                              size_t workspace_max, const char *name) {
    gemmtune_plan *plan = NULL;
    gemmtune_problem q = *p;
    gemmtune_args unused = {0};
    if (swapped)
        transpose(&q, &unused);
    if (gemmtune_plan_create(&plan, ctx, &q, GEMMTUNE_MATCH_DEFAULT, workspace_max) !=
        GEMMTUNE_OK)
        fail_msg("%s with %zu bytes: %s", name, workspace_max, gemmtune_errmsg());
    return plan;
}

/* A plan with so much workspace, run with memory that is aligned, and that is not. Returns
 * the bytes that it needs. */
static size_t try_plan(struct machine *m, gemmtune_ctx *ctx, void *queue,
                       const struct drawing *d, size_t workspace_max) {
    struct drawn x;
    gemmtune_plan_info info;
    assert_int_equal(gt_problem_from_name(&x.p, d->name, &err), GEMMTUNE_OK);
    const bool swapped = !gt_problem_has_rows(&x.p) && draw(3) == 0;
    gemmtune_plan *plan = plan_of(ctx, &x.p, swapped, workspace_max, d->name);
    assert_int_equal(gemmtune_plan_describe(plan, &info), GEMMTUNE_OK);
    if (info.workspace_bytes > workspace_max)
        fail_msg("%s: a plan for %zu bytes needs %zu", d->name, workspace_max,
                 info.workspace_bytes);
    run_plan(m, queue, plan, &x, swapped, true, d->name);
    run_plan(m, queue, plan, &x, swapped, false, d->name);
    done.plans++;
    done.exact += info.match == GEMMTUNE_MATCH_EXACT;
    done.with_workspace += info.workspace_bytes > 0;
    const size_t bytes = info.workspace_bytes;
    gemmtune_plan_destroy(plan);
    return bytes;
}

/* ---- one-call forms ---- */

static bool is_strict(const gemmtune_problem *p, gemmtune_dtype type) {
    return p->type_a == type && p->type_b == type && p->type_c == type &&
           p->type_acc == type && p->math == GEMMTUNE_MATH_STRICT && p->batch == 1 &&
           p->batch_kind == GEMMTUNE_BATCH_STRIDED && draw(2) == 0;
}

#define TYPED(function, member)                                                            \
    function(ctx, GEMMTUNE_ROW_MAJOR, p->trans_a, p->trans_b, p->m, p->n, p->k,            \
             x->alpha.member, a, p->lda, b, p->ldb, x->beta.member, c, p->ldc, queue)

static gemmtune_status gemm(gemmtune_ctx *ctx, const struct drawn *x, const void *a,
                            const void *b, void *c, void *queue) {
    const gemmtune_problem *p = &x->p;
    if (is_strict(p, GEMMTUNE_F32))
        return TYPED(gemmtune_sgemm, f32);
    if (is_strict(p, GEMMTUNE_F64))
        return TYPED(gemmtune_dgemm, f64);
    if (is_strict(p, GEMMTUNE_I32))
        return TYPED(gemmtune_igemm, i32);
    return gemmtune_gemm(ctx, p, &x->alpha, a, b, &x->beta, c, queue);
}

/* A part of the arena in memory of its own. */
struct piece {
    void *memory;
    int64_t first, bytes; /* in the arena */
    void *start;          /* the pointer of the call */
};

/* The matrix at `offset`, and after it as many bytes as the arena has there; before it as
 * well, where a pointer may point into memory. */
static struct piece piece_of(struct machine *m, void *queue, int64_t offset, int64_t count,
                             gemmtune_dtype type) {
    const int64_t size = (int64_t)gt_type_size(type);
    const bool is_address = m->target.backend == GEMMTUNE_CUDA;
    const int64_t most = offset < 9 ? offset : 9;
    const int64_t before = is_address ? size * draw(most + 1) : 0;
    struct piece x = {.first = offset * size - before};
    x.bytes = before + count * size + ZONE;
    x.memory = m->ops->alloc(m, (size_t)x.bytes);
    m->ops->write(m, queue, x.memory, arena + x.first, (size_t)x.bytes);
    x.start = is_address ? (char *)x.memory + before : x.memory;
    return x;
}

static void call_once(struct machine *m, gemmtune_ctx *ctx, void *queue,
                      const struct drawing *d) {
    struct drawn x;
    assert_int_equal(gt_problem_from_name(&x.p, d->name, &err), GEMMTUNE_OK);
    if (gt_problem_has_rows(&x.p))
        return;
    draw_numbers(&x, 1);
    const struct piece a =
        piece_of(m, queue, x.args.a_offset, gt_problem_elems_a(&x.p), x.p.type_a);
    const struct piece b =
        piece_of(m, queue, x.args.b_offset, gt_problem_elems_b(&x.p), x.p.type_b);
    const struct piece c =
        piece_of(m, queue, x.args.c_offset, gt_problem_elems_c(&x.p), x.p.type_c);
    if (gemm(ctx, &x, a.start, b.start, c.start, queue) != GEMMTUNE_OK)
        fail_msg("%s in one call: %s", d->name, gemmtune_errmsg());
    memcpy(got, want, sizeof got);
    m->ops->read(m, queue, got + c.first, c.memory, (size_t)c.bytes);
    compare(&x, d->name);
    m->ops->release(m, a.memory);
    m->ops->release(m, b.memory);
    m->ops->release(m, c.memory);
    done.calls++;
}

/* ---- all of it ---- */

static void try_drawing(struct machine *m, gemmtune_ctx *ctx, void *queue,
                        const struct drawing *d) {
    static const size_t of_calls[] = {0, 4096, 32 << 20};
    const size_t needed = try_plan(m, ctx, queue, d, SIZE_MAX);
    if (needed > 0) {
        (void)try_plan(m, ctx, queue, d, needed);
        (void)try_plan(m, ctx, queue, d, (size_t)draw((int64_t)needed));
    }
    assert_int_equal(gemmtune_workspace_set(ctx, of_calls[draw(3)]), GEMMTUNE_OK);
    call_once(m, ctx, queue, d);
    call_once(m, ctx, queue, d);
}

static gemmtune_ctx *opened(struct machine *m, const struct gt_families *families,
                            struct drawing *drawing, int count) {
    gemmtune_ctx *ctx = NULL;
    char path[512];
    int64_t run;
    struct gt_db *db = winners_begin(&run, winners_path(path), m);
    for (int i = 0; i < count; i++) {
        draw_kernel(&drawing[i], m, families);
        if (drawing[i].family != NULL)
            winners_add(db, m, drawing[i].family, drawing[i].point, drawing[i].name);
    }
    winners_end(db, run);
    (void)gemmtune_open(&ctx, path, &m->target);
    assert_string_equal(gemmtune_errmsg(), "");
    (void)remove(path);
    return ctx;
}

static void try_types(struct machine *m, const struct gt_families *families,
                      const struct gt_dtype *row, int count) {
    struct drawing drawing[PROBLEMS_MAX] = {{.family = NULL}};
    for (int i = 0; i < count;)
        i += draw_problem(drawing[i].name, row);
    gemmtune_ctx *ctx = opened(m, families, drawing, count);
    void *const queue = m->ops->queue_create(m);
    for (int i = 0; i < count; i++) {
        print_message("%s: %s %s\n", drawing[i].name,
                      drawing[i].family != NULL ? drawing[i].family->name : "no family",
                      drawing[i].point);
        try_drawing(m, ctx, queue, &drawing[i]);
    }
    gemmtune_close(ctx);
    m->ops->queue_destroy(m, queue);
}

/* Each type has a seed of its own, so that it draws the same alone. */
static void drawn_on(struct machine *m) {
    const char *seed = getenv("GT_SEED");
    const int count = getenv("GT_LONG") != NULL ? PROBLEMS_MAX : 2;
    struct gt_families *families = NULL;
    assert_int_equal(gt_families_create(&families, &err), GEMMTUNE_OK);
    memset(&done, 0, sizeof done);
    for (int i = 0; i < GT_DTYPES; i++) {
        const struct gt_dtype *row = gt_dtype_at((size_t)i);
        if (!is_in_share(i) || (row->acc == GEMMTUNE_F64 && !m->device->has_f64))
            continue;
        chance_seed = 1000 * (uint64_t)i + (seed != NULL ? strtoull(seed, NULL, 10) : 0);
        try_types(m, families, row, count);
    }
    print_message("%s: %d plans, %d of them of the record, %d with a workspace; %d calls\n",
                  m->key, done.plans, done.exact, done.with_workspace, done.calls);
    gt_families_destroy(families);
}

static void test_drawn(void **state) {
    (void)state;
    on_every_device(drawn_on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drawn),
    };
    /* Large points take minutes to optimise. */
    (void)setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
    return cmocka_run_group_tests_name("drawn", tests, list_devices, clear_devices);
}
