/* SPDX-License-Identifier: Apache-2.0 */
/* check: part */
/*
 * The library as a program uses it, on every device of this machine: a plan, an execution,
 * and a comparison of every element with a plain loop. The data are small integers, with
 * sums that are exact in every type, so results must be equal bit by bit.
 */
#include "tests/device/winners.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- elements ---- */

static void put(gemmtune_dtype type, void *array, size_t i, double value) {
    if (type == GEMMTUNE_F32)
        ((float *)array)[i] = (float)value;
    else if (type == GEMMTUNE_F64)
        ((double *)array)[i] = value;
    else
        ((int32_t *)array)[i] = isnan(value) ? INT32_MIN : (int32_t)value;
}

static double get(gemmtune_dtype type, const void *array, size_t i) {
    if (type == GEMMTUNE_F32)
        return (double)((const float *)array)[i];
    if (type == GEMMTUNE_F64)
        return ((const double *)array)[i];
    return (double)((const int32_t *)array)[i];
}

/* A stored matrix on the host and on the device. */
struct matrix {
    gemmtune_dtype type;
    bool row_major;
    int64_t rows, cols, ld;
    size_t bytes;
    void *host;
    void *device;
};

static size_t lines(const struct matrix *x) {
    return (size_t)(x->row_major ? x->rows : x->cols);
}

static size_t index_of(const struct matrix *x, int64_t i, int64_t j) {
    return (size_t)(x->row_major ? i * x->ld + j : j * x->ld + i);
}

/* -3..3, different from line to line, and `padding` between the lines. */
static void fill(struct matrix *x, int seed, double everywhere, double padding) {
    for (size_t i = 0; i < x->bytes / gt_type_size(x->type); i++)
        put(x->type, x->host, i, padding);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++)
            put(x->type, x->host, index_of(x, i, j),
                everywhere != 0 ? everywhere : (double)((i * 5 + j * 3 + seed) % 7 - 3));
}

static struct matrix matrix_create(struct machine *m, gemmtune_dtype type, bool row_major,
                                   int64_t rows, int64_t cols, int64_t ld) {
    struct matrix x = {
        .type = type, .row_major = row_major, .rows = rows, .cols = cols, .ld = ld};
    x.bytes = lines(&x) * (size_t)ld * gt_type_size(type);
    x.host = calloc(1, at_least_one(x.bytes));
    assert_non_null(x.host);
    x.device = m->ops->alloc(m, x.bytes);
    return x;
}

static void matrix_clear(struct machine *m, struct matrix *x) {
    m->ops->release(m, x->device);
    free(x->host);
}

/* ---- one product ---- */

struct product {
    gemmtune_problem p;
    double alpha, beta;
    struct matrix a, b, c;
    void *expected; /* the expected C, padding included */
};

static double op_element(const struct matrix *x, gemmtune_trans trans, int64_t i,
                         int64_t j) {
    return get(x->type, x->host, trans ? index_of(x, j, i) : index_of(x, i, j));
}

/* alpha op(A) op(B) + beta C in double, which is exact here. Nothing is read that BLAS does
 * not read. */
static double element(const struct product *q, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t l = 0; l < q->p.k && q->alpha != 0; l++)
        sum +=
            op_element(&q->a, q->p.trans_a, i, l) * op_element(&q->b, q->p.trans_b, l, j);
    sum *= q->alpha;
    if (q->beta != 0)
        sum += q->beta * get(q->c.type, q->c.host, index_of(&q->c, i, j));
    return sum;
}

static void compute_expected(struct product *q) {
    memcpy(q->expected, q->c.host, q->c.bytes);
    for (int64_t i = 0; i < q->p.m; i++)
        for (int64_t j = 0; j < q->p.n; j++)
            put(q->c.type, q->expected, index_of(&q->c, i, j), element(q, i, j));
}

enum { VECTORS = -1 }; /* a pad: leading dimensions that vector loads of 16 bytes accept */

static int64_t padded(int64_t ld, int64_t pad) {
    return pad == VECTORS ? (ld + 3) / 4 * 4 : ld + pad;
}

/* Leading dimensions the smallest there are, plus `pad`. */
static gemmtune_problem with_pad(const gemmtune_problem *from, int64_t pad) {
    gemmtune_problem p = *from;
    const bool row = p.layout == GEMMTUNE_ROW_MAJOR;
    p.lda = padded((p.trans_a != 0) == row ? p.m : p.k, pad);
    p.ldb = padded((p.trans_b != 0) == row ? p.k : p.n, pad);
    p.ldc = padded(row ? p.n : p.m, pad);
    return p;
}

static struct product product_create(struct machine *m, const gemmtune_problem *from,
                                     int64_t pad) {
    struct product q = {.p = with_pad(from, pad)};
    const gemmtune_problem *p = &q.p;
    const bool row = p->layout == GEMMTUNE_ROW_MAJOR;
    const int64_t ra = p->trans_a ? p->k : p->m, ca = p->trans_a ? p->m : p->k;
    const int64_t rb = p->trans_b ? p->n : p->k, cb = p->trans_b ? p->k : p->n;
    q.a = matrix_create(m, p->type_a, row, ra, ca, q.p.lda);
    q.b = matrix_create(m, p->type_b, row, rb, cb, q.p.ldb);
    q.c = matrix_create(m, p->type_c, row, p->m, p->n, q.p.ldc);
    q.expected = malloc(at_least_one(q.c.bytes));
    assert_non_null(q.expected);
    return q;
}

static void product_clear(struct machine *m, struct product *q) {
    free(q->expected);
    matrix_clear(m, &q->c);
    matrix_clear(m, &q->b);
    matrix_clear(m, &q->a);
}

/* NaN wherever nothing may be read: in C when beta is 0, in A and B when alpha is 0. */
static void prepare(struct machine *m, void *queue, struct product *q, double alpha,
                    double beta) {
    q->alpha = alpha;
    q->beta = beta;
    fill(&q->a, 1, alpha == 0 ? NAN : 0, NAN);
    fill(&q->b, 2, alpha == 0 ? NAN : 0, NAN);
    fill(&q->c, 3, beta == 0 ? NAN : 0, -77);
    compute_expected(q);
    m->ops->write(m, queue, q->a.device, q->a.host, q->a.bytes);
    m->ops->write(m, queue, q->b.device, q->b.host, q->b.bytes);
    m->ops->write(m, queue, q->c.device, q->c.host, q->c.bytes);
}

/* Complaints go to the line, since a thread must not fail a test by itself. */
static bool compare(const struct product *q, const void *got, char line[256]) {
    for (size_t i = 0; i < q->c.bytes / gt_type_size(q->c.type); i++) {
        const double is = get(q->c.type, got, i), wanted = get(q->c.type, q->expected, i);
        if (is == wanted)
            continue;
        char name[GT_PROBLEM_NAME_MAX];
        (void)gemmtune_problem_format(&q->p, name, sizeof name);
        (void)snprintf(line, 256, "%.150s alpha %g beta %g: C[%zu] is %g, not %g", name,
                       q->alpha, q->beta, i, is, wanted);
        return false;
    }
    return true;
}

static bool read_and_compare(struct machine *m, void *queue, const struct product *q,
                             void *c, char line[256]) {
    void *got = malloc(at_least_one(q->c.bytes));
    if (got == NULL)
        return false;
    m->ops->read(m, queue, got, c, q->c.bytes);
    const bool same = compare(q, got, line);
    free(got);
    return same;
}

/* alpha or beta in the accumulator's type; the problems here accumulate in their own. */
union scalar {
    float f32;
    double f64;
    int32_t i32;
};

static union scalar scalar_of(gemmtune_dtype type, double value) {
    union scalar s;
    memset(&s, 0, sizeof s);
    put(type, &s, 0, value);
    return s;
}

static const struct {
    double alpha, beta;
} scalings[] = {{1, 0}, {2, -1}, {0, 3}, {0, 0}, {-1, 1}, {0, 1}};
enum { SCALINGS = sizeof scalings / sizeof *scalings };
enum { WORKSPACE_MAX = 1 << 20 }; /* plenty for products of this size */

/* Executes the plan with several alpha and beta. */
static void run_plan(struct machine *m, void *queue, const gemmtune_plan *plan,
                     struct product *q, size_t count) {
    gemmtune_plan_info info;
    gemmtune_plan_describe(plan, &info);
    void *workspace =
        info.workspace_bytes > 0 ? m->ops->alloc(m, info.workspace_bytes) : NULL;
    for (size_t i = 0; i < count; i++) {
        char line[256] = "";
        const union scalar alpha = scalar_of(q->p.type_acc, scalings[i].alpha);
        const union scalar beta = scalar_of(q->p.type_acc, scalings[i].beta);
        prepare(m, queue, q, scalings[i].alpha, scalings[i].beta);
        const gemmtune_status status = gemmtune_execute(
            plan, &alpha, q->a.device, q->b.device, &beta, q->c.device, workspace, queue);
        assert_string_equal(gemmtune_errmsg(), "");
        assert_int_equal(status, GEMMTUNE_OK);
        if (!read_and_compare(m, queue, q, q->c.device, line))
            fail_msg("%s with %s %s: %s", m->key, info.family, info.params, line);
    }
    if (workspace != NULL)
        m->ops->release(m, workspace);
}

/* A plan that must be the record of `family` (NULL: whichever plan), run and checked. */
static void run_problem(struct machine *m, void *queue, gemmtune_ctx *ctx,
                        const gemmtune_problem *p, int64_t pad, const char *family,
                        size_t count) {
    gemmtune_plan *plan;
    gemmtune_plan_info info;
    struct product q = product_create(m, p, pad);
    const gemmtune_status status =
        gemmtune_plan_create(&plan, ctx, &q.p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE_MAX);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    gemmtune_plan_describe(plan, &info);
    if (family != NULL) {
        assert_string_equal(info.family, family);
        assert_int_equal(info.match, GEMMTUNE_MATCH_EXACT);
    }
    run_plan(m, queue, plan, &q, count);
    gemmtune_plan_destroy(plan);
    product_clear(m, &q);
}

static gemmtune_ctx *opened(struct machine *m, const char *path) {
    gemmtune_ctx *ctx;
    const gemmtune_status status = gemmtune_open(&ctx, path, &m->target);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return ctx;
}

static gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    return p;
}

/* ---- every family, type and layout ---- */

/* Every layout and every type; not every pair,
 * since a CPU takes a second to compile each. */
static const char *const kinds[] = {"f32-nn", "f32-nt", "f32-tn", "f32-tt",
                                    "f64-nn", "f64-tt", "i32-nt", "i32-tn"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Each family has every third kind, another family other ones; with GT_LONG=1 it has the
 * kinds that are left. */
static bool is_tried(size_t family, size_t kind) {
    return ((family + kind) % 3 == 0) == (getenv("GT_LONG") == NULL);
}

/* A database in which the family's default point has won these problems (those with an m).
 * They are the problems that are asked for: on a device that the model knows, a record of
 * another problem need not be the answer. */
static void write_database(const char *path, struct machine *m, const struct gt_family *f,
                           const gemmtune_problem p[KINDS]) {
    struct gt_point point;
    char text[GT_POINT_TEXT_MAX];
    int64_t run;
    gt_family_default(f, &point);
    (void)gt_point_text(&point, text);
    struct gt_db *db = winners_begin(&run, path, m);
    for (size_t i = 0; i < KINDS; i++) {
        char name[GT_PROBLEM_NAME_MAX];
        const gemmtune_problem asked = with_pad(&p[i], VECTORS);
        if (p[i].m == 0)
            continue;
        (void)gemmtune_problem_format(&asked, name, sizeof name);
        winners_add(db, m, f, text, name);
    }
    winners_end(db, run);
}

/* Whether the family's own rules let its default point exist and run the problem. */
static bool default_runs(const struct gt_family *f, const struct gt_device *d,
                         const gemmtune_problem *p) {
    struct gt_binding b;
    struct gt_point point;
    gt_family_default(f, &point);
    gt_bind_problem(&b, f, d, p);
    return gt_family_serves(f, d, p, NULL) &&
           gt_bind_point(&b, &point, NULL) == GEMMTUNE_OK && gt_refused(&b) == NULL &&
           gt_not_accepted(&b) == NULL;
}

/* The problem of a kind that the family's default point runs; of no rows: none. It is
 * ragged in every tile; for families for skinny products, it is a skinny one. */
static gemmtune_problem problem_for(const struct gt_family *f, const struct gt_device *d,
                                    const char *kind) {
    static const char *const shapes[] = {"77x67x29", "7x67x29"};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s-%s", kind, shapes[s]);
        const gemmtune_problem p = problem_of(name);
        if (default_runs(f, d, &p))
            return p;
    }
    return (gemmtune_problem){.m = 0};
}

static void run_family(struct machine *m, const struct gt_family *f, size_t index) {
    gemmtune_problem p[KINDS] = {{0}};
    char path[512];
    for (size_t i = 0; i < KINDS; i++)
        if (is_tried(index, i))
            p[i] = problem_for(f, m->device, kinds[i]);
    write_database(winners_path(path), m, f, p);
    gemmtune_ctx *ctx = opened(m, path);
    void *queue = m->ops->queue_create(m);
    int served = 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (p[i].m == 0)
            continue;
        run_problem(m, queue, ctx, &p[i], VECTORS, f->name, SCALINGS);
        served++;
    }
    print_message("%s: family %s, %d types and layouts\n", m->key, f->name, served);
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
    (void)remove(path);
}

static void every_family(struct machine *m) {
    struct gt_families *families;
    assert_int_equal(gt_families_create(&families, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < gt_families_count(families); i++)
        run_family(m, gt_families_at(families, i), i);
    gt_families_destroy(families);
}

static void test_every_family(void **state) {
    (void)state;
    on_every_device(every_family);
}

/* ---- shapes and orders, with the plan a fresh user gets ---- */

static void shapes(struct machine *m) {
    static const char *const names[] = {
        "f32-nn-1x1x1",   "f32-nn-64x64x64",    "f32-nt-128x1x33", "f32-tn-1x130x7",
        "f32-tt-65x63x1", "f32-nn-5x7x300",     "f32-nn-9x11x0",   "f32-nn-0x11x5",
        "f32-nn-9x0x5",   "f32-nn-100x100x100",
    };
    gemmtune_ctx *ctx = opened(m, NULL);
    void *queue = m->ops->queue_create(m);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gemmtune_problem p = problem_of(names[i]);
        run_problem(m, queue, ctx, &p, 0, NULL, SCALINGS);
    }
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_shapes(void **state) {
    (void)state;
    on_every_device(shapes);
}

static void column_major(struct machine *m) {
    gemmtune_ctx *ctx = opened(m, NULL);
    void *queue = m->ops->queue_create(m);
    for (int i = 0; i < 8; i++) {
        gemmtune_problem p;
        gemmtune_problem_init(&p, i < 4 ? GEMMTUNE_F32 : GEMMTUNE_I32, 33, 21, 18);
        p.trans_a = i & 1 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
        p.trans_b = i & 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
        run_problem(m, queue, ctx, &p, i, NULL, 2);
    }
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_column_major(void **state) {
    (void)state;
    on_every_device(column_major);
}

/* ---- threads ---- */

enum { THREADS = 8, ROUNDS = 6, SHAPES = 3 };

struct worker {
    pthread_t thread;
    struct machine *m;
    gemmtune_ctx *ctx;
    const gemmtune_plan *plan;
    const struct product *shared; /* the operands and the expected result */
    int failures;
    char line[256];
};

static void start(struct worker *w, void *(*work)(void *user)) {
    assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
}

static void finish(struct worker *w) {
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    if (w->failures > 0)
        fail_msg("%d failures; the last: %s", w->failures, w->line);
}

static void note(struct worker *w, gemmtune_status status) {
    if (status == GEMMTUNE_OK)
        return;
    w->failures++;
    (void)snprintf(w->line, sizeof w->line, "%s", gemmtune_errmsg());
}

/* Each thread has its own queue and its own C; operands and plan are shared. */
static void *execute_plan(void *user) {
    struct worker *w = user;
    struct machine *m = w->m;
    const struct product *q = w->shared;
    const float alpha = 2, beta = -1;
    m->ops->enter(m);
    void *queue = m->ops->queue_create(m);
    void *c = m->ops->alloc(m, q->c.bytes);
    for (int round = 0; round < ROUNDS; round++) {
        m->ops->write(m, queue, c, q->c.host, q->c.bytes);
        note(w, gemmtune_execute(w->plan, &alpha, q->a.device, q->b.device, &beta, c, NULL,
                                 queue));
        w->failures += !read_and_compare(m, queue, q, c, w->line);
    }
    m->ops->release(m, c);
    m->ops->queue_destroy(m, queue);
    return NULL;
}

static void one_plan(struct machine *m) {
    struct worker worker[THREADS];
    const gemmtune_problem p = problem_of("f32-nn-150x130x70");
    gemmtune_plan *plan;
    gemmtune_ctx *ctx = opened(m, NULL);
    void *queue = m->ops->queue_create(m);
    struct product q = product_create(m, &p, 1);
    assert_int_equal(gemmtune_plan_create(&plan, ctx, &q.p, GEMMTUNE_MATCH_DEFAULT, 0),
                     GEMMTUNE_OK);
    prepare(m, queue, &q, 2, -1);
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.m = m, .plan = plan, .shared = &q};
        start(&worker[i], execute_plan);
    }
    for (int i = 0; i < THREADS; i++)
        finish(&worker[i]);
    product_clear(m, &q);
    m->ops->queue_destroy(m, queue);
    gemmtune_plan_destroy(plan);
    gemmtune_close(ctx);
}

static void test_one_plan_from_eight_threads(void **state) {
    (void)state;
    on_every_device(one_plan);
}

/* shared[] are SHAPES products; the cache is cold when all threads begin. */
static void *call_at_once(void *user) {
    struct worker *w = user;
    struct machine *m = w->m;
    m->ops->enter(m);
    void *queue = m->ops->queue_create(m);
    for (int i = 0; i < SHAPES * ROUNDS; i++) {
        const struct product *q = &w->shared[i % SHAPES];
        void *c = m->ops->alloc(m, q->c.bytes);
        m->ops->write(m, queue, c, q->c.host, q->c.bytes);
        note(w, gemmtune_sgemm(w->ctx, q->p.layout, q->p.trans_a, q->p.trans_b, q->p.m,
                               q->p.n, q->p.k, 2, q->a.device, q->p.lda, q->b.device,
                               q->p.ldb, -1, c, q->p.ldc, queue));
        w->failures += !read_and_compare(m, queue, q, c, w->line);
        m->ops->release(m, c);
    }
    m->ops->queue_destroy(m, queue);
    return NULL;
}

static void one_call(struct machine *m) {
    static const char *const names[SHAPES] = {"f32-nn-40x50x60", "f32-nt-61x9x13",
                                              "f32-tt-17x90x8"};
    struct worker worker[THREADS];
    struct product q[SHAPES];
    gemmtune_ctx *ctx = opened(m, NULL);
    void *queue = m->ops->queue_create(m);
    for (int i = 0; i < SHAPES; i++) {
        const gemmtune_problem p = problem_of(names[i]);
        q[i] = product_create(m, &p, i);
        prepare(m, queue, &q[i], 2, -1);
    }
    for (int i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.m = m, .ctx = ctx, .shared = q};
        start(&worker[i], call_at_once);
    }
    for (int i = 0; i < THREADS; i++)
        finish(&worker[i]);
    for (int i = 0; i < SHAPES; i++)
        product_clear(m, &q[i]);
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_one_call_from_eight_threads(void **state) {
    (void)state;
    on_every_device(one_call);
}

/* ---- typed calls ---- */

/* i32 is computed modulo 2^32. */
static void typed(struct machine *m) {
    gemmtune_ctx *ctx = opened(m, NULL);
    void *queue = m->ops->queue_create(m);
    const int32_t a = INT32_MAX, b = 3;
    int32_t c = 5;
    void *on_a = m->ops->alloc(m, 4), *on_b = m->ops->alloc(m, 4),
         *on_c = m->ops->alloc(m, 4);
    m->ops->write(m, queue, on_a, &a, 4);
    m->ops->write(m, queue, on_b, &b, 4);
    m->ops->write(m, queue, on_c, &c, 4);
    assert_int_equal(gemmtune_igemm(ctx, GEMMTUNE_ROW_MAJOR, GEMMTUNE_NOTRANS,
                                    GEMMTUNE_NOTRANS, 1, 1, 1, 7, on_a, 0, on_b, 0, -2,
                                    on_c, 0, queue),
                     GEMMTUNE_OK);
    m->ops->read(m, queue, &c, on_c, 4);
    assert_int_equal((uint32_t)c, (uint32_t)INT32_MAX * 21u - 10u);
    m->ops->release(m, on_a);
    m->ops->release(m, on_b);
    m->ops->release(m, on_c);
    m->ops->queue_destroy(m, queue);
    gemmtune_close(ctx);
}

static void test_integers_wrap(void **state) {
    (void)state;
    on_every_device(typed);
}

/* ---- main ---- */

static void on_log(void *user, gemmtune_log_level level, const char *line) {
    (void)user;
    (void)level;
    (void)fprintf(stderr, "log: %s\n", line); /* a fallback would otherwise be silent */
}

static int setup(void **state) {
    gemmtune_set_log(on_log, NULL, GEMMTUNE_LOG_WARN);
    return list_devices(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_family),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_column_major),
        cmocka_unit_test(test_one_plan_from_eight_threads),
        cmocka_unit_test(test_one_call_from_eight_threads),
        cmocka_unit_test(test_integers_wrap),
    };
    const struct CMUnitTest rest[] = {cmocka_unit_test(test_every_family)};
    return getenv("GT_LONG") != NULL
               ? cmocka_run_group_tests_name("library", rest, setup, clear_devices)
               : cmocka_run_group_tests_name("library", tests, setup, clear_devices);
}
