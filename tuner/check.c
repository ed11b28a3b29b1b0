/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - see check.h. All cases of a candidate are enqueued back to back and judged by counters
 * that are read once; only a failure costs a second look.
 */
#include "tuner/check.h"

#include "core/embed.h"
#include "runtime/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a sum may be off, in units of u (|alpha| |A||B| + |beta| |C|). Of products of random data summed
 * one after the other, one element of 8192^2 was seen at 8.5: the partial sums of the largest results
 * round worst. A wrong or missing product is off by thousands. */
enum { TOLERANCE = 12 };

enum {
    GUARD = GT_VIEW_ALIGN, /* bytes of poison on either side of every operand */
    THREADS = 256,         /* as in check.cl */
    COUNTERS = 4,          /* wrong, touched, changed, beyond: as in check.cl */
    CASES_MAX = 32,        /* the last slot is for a second look */
    HOST_MACS = 1 << 22,   /* multiplications the host spends on checking a reference */
};

enum kernel { K_FILL, K_REFERENCE, K_COMPARE, K_UNCHANGED, K_WITHIN, K_COUNT };
static const char *const kernel_entry[K_COUNT] = {"gt_fill", "gt_reference", "gt_compare",
                                                  "gt_unchanged", "gt_within"};

struct gt_checker {
    struct gt_rig *rig;
    gemmtune_problem types;
    struct gt_kernel *kernel[K_COUNT];
    void *found;   /* COUNTERS words a case */
    void *scratch; /* C with its guards */
    int64_t scratch_bytes;
    struct {
        void *mem, *view;
        int64_t bytes; /* of the view; mem has guards on either side */
    } workspace;
};

/* An operand on the device: poison, rows of data, poison. */
struct operand {
    void *mem, *view;
    int64_t rows, cols, ld, bytes; /* bytes of mem */
    int64_t filled;                /* rows that hold data: none when alpha is 0 */
    uint64_t seed;
};

struct gt_case {
    struct gt_checker *checker;
    struct gt_case_spec spec;
    struct operand a, b;
    void *r, *s; /* reference and size, m x n packed */
};

/* ---- launching our own kernels ---- */

struct arg_list {
    union gt_value value[16];
    struct gt_value_ref ref[16];
    int count;
};

static void push(struct arg_list *l, union gt_value v, size_t size) {
    l->value[l->count] = v;
    l->ref[l->count].bytes = &l->value[l->count];
    l->ref[l->count].size = size;
    l->count++;
}

static void push_ptr(struct arg_list *l, void *p) {
    push(l, (union gt_value){.ptr = p}, sizeof p);
}

static void push_long(struct arg_list *l, int64_t v) {
    push(l, (union gt_value){.i64 = v}, sizeof v);
}

static void push_int(struct arg_list *l, int64_t v) {
    push(l, (union gt_value){.i32 = (int32_t)v}, sizeof(int32_t));
}

static void push_word(struct arg_list *l, uint32_t v) {
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    push(l, (union gt_value){.i32 = bits}, sizeof bits);
}

static void push_elem(struct arg_list *l, gemmtune_dtype type, double v) {
    union gt_value u = {.i64 = 0};
    gt_data_put(&u, type, v);
    push(l, u, gt_type_size(type));
}

/* One thread an element up to eight blocks a unit; the kernels stride over the rest. */
static gt_status run(struct gt_checker *c, enum kernel k, int64_t elements,
                     const struct arg_list *l, struct gt_err *err) {
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const int64_t most = (int64_t)h->device->units * 8;
    int64_t blocks = (elements + THREADS - 1) / THREADS;
    blocks = blocks > most ? most : blocks;
    const struct gt_launch launch = {.grid = {blocks < 1 ? 1 : blocks, 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .cluster = {1, 1, 1}};
    const struct gt_driver *driver = ((const struct gt_gpu_head *)h->gpu)->driver;
    return driver->launch(c->kernel[k], &launch, l->ref, l->count, h->stream, err);
}

/* One image, all kernels. */
static gt_status load(struct gt_checker *c, const char *source, struct gt_err *err) {
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_driver *driver = ((const struct gt_gpu_head *)h->gpu)->driver;
    const struct gt_launch launch = {
        .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .cluster = {1, 1, 1}};
    struct gt_image image = {0};
    gt_status status = gt_build(&image, driver, h->device, source, NULL, err);
    if (!status)
        status = driver->load(&c->kernel[0], h->gpu, &image, source, kernel_entry[0],
                              &launch, err);
    for (int k = 1; !status && k < K_COUNT; k++)
        status = driver->load_also(&c->kernel[k], h->gpu, c->kernel[0], kernel_entry[k],
                                   &launch, err);
    gt_image_clear(&image);
    return status;
}

static const char *kernel_text(void) {
    for (const struct gt_embedded *e = gt_embedded_kernels; e->path; e++)
        if (strstr(e->path, "check.cl"))
            return e->text;
    return NULL;
}

static gt_status load_all(struct gt_checker *c, struct gt_err *err) {
    char *source = NULL;
    gt_status status = gt_source_plain(&source, gt_rig_head(c->rig)->device, &c->types,
                                       "tuner/kernels/check.cl", kernel_text(), err);
    if (!status)
        status = load(c, source, err);
    free(source);
    return status;
}

static void release(struct gt_rig *rig, void *mem) {
    if (mem)
        gt_rig_head(rig)->ops->release(rig, mem);
}

gt_status gt_checker_create(struct gt_checker **out, struct gt_rig *rig,
                            const gemmtune_problem *types, int64_t scratch_bytes,
                            struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    *out = NULL;
    struct gt_checker *c = calloc(1, sizeof *c);
    if (!c)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the checking kernels");
    c->rig = rig;
    c->types = *types;
    c->types.trans_a = c->types.trans_b = GEMMTUNE_NOTRANS; /* one source for all layouts */
    c->scratch_bytes = (scratch_bytes + 2 * GUARD + 7) / 8 * 8;
    gt_status status = load_all(c, err);
    if (!status)
        status = ops->alloc(&c->found, rig, CASES_MAX * COUNTERS * 4, err);
    if (!status)
        status = ops->alloc(&c->scratch, rig, c->scratch_bytes, err);
    if (status) {
        gt_checker_destroy(c);
        return status;
    }
    *out = c;
    return GEMMTUNE_OK;
}

void gt_checker_unreserve(struct gt_checker *c) {
    if (c->workspace.view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, c->workspace.view);
    release(c->rig, c->workspace.mem);
    memset(&c->workspace, 0, sizeof c->workspace);
}

void gt_checker_destroy(struct gt_checker *c) {
    if (!c)
        return;
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_driver *driver = ((const struct gt_gpu_head *)h->gpu)->driver;
    release(c->rig, c->found);
    release(c->rig, c->scratch);
    gt_checker_unreserve(c);
    for (int k = K_COUNT - 1; k >= 0; k--) /* the first, whose module it is, last */
        if (c->kernel[k])
            driver->unload(c->kernel[k]);
    free(c);
}

gt_status gt_checker_fill(struct gt_checker *c, void *view, int64_t rows, int64_t cols,
                          int64_t ld, uint64_t seed, enum gt_data_mode mode,
                          struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_ptr(&l, view);
    push_long(&l, rows);
    push_long(&l, cols);
    push_long(&l, ld);
    push_long(&l, (int64_t)seed);
    push_int(&l, mode);
    return rows * cols == 0 ? GEMMTUNE_OK : run(c, K_FILL, rows * cols, &l, err);
}

/* ---- the workspace ---- */

int64_t gt_workspace_bytes(int64_t bytes) {
    return bytes > 0 ? (bytes + 2 * GUARD + 7) / 8 * 8 : 0;
}

static gt_status make_workspace(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    gt_status status =
        ops->alloc(&c->workspace.mem, c->rig, gt_workspace_bytes(bytes), err);
    if (!status)
        status = ops->view(&c->workspace.view, c->rig, c->workspace.mem, GUARD, bytes, err);
    if (!status)
        c->workspace.bytes = bytes;
    return status;
}

/* There may be no room for both, so the old one goes first; it comes back when the new one does
 * not, since others were promised it. */
gt_status gt_checker_reserve(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    const int64_t had = c->workspace.bytes;
    if (bytes <= had)
        return GEMMTUNE_OK;
    gt_checker_unreserve(c);
    const gt_status status = make_workspace(c, bytes, err);
    if (!status)
        return GEMMTUNE_OK;
    gt_checker_unreserve(c);
    if (had > 0)
        (void)make_workspace(c, had, NULL);
    return status;
}

void *gt_checker_workspace(const struct gt_checker *c) {
    return c->workspace.view;
}

/* Poison for `bytes` of it and the guards. */
static gt_status fresh_workspace(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    return bytes == 0 ? GEMMTUNE_OK
                      : gt_rig_head(c->rig)->ops->fill(c->rig, c->workspace.mem,
                                                       gt_workspace_bytes(bytes),
                                                       GT_POISON_W, err);
}

/* ---- a case ---- */

static int64_t guarded_bytes(int64_t elements, gemmtune_dtype type) {
    return (elements * (int64_t)gt_type_size(type) + 2 * GUARD + 7) / 8 * 8;
}

int64_t gt_case_bytes(const gemmtune_problem *p) {
    const int64_t c = p->m * p->n * (int64_t)gt_type_size(p->type_c);
    return guarded_bytes(gt_problem_elems_a(p), p->type_a) +
           guarded_bytes(gt_problem_elems_b(p), p->type_b) + 2 * c;
}

static gt_status make_operand(struct operand *o, struct gt_checker *c, gemmtune_dtype type,
                              enum gt_data_mode mode, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    const int64_t elements = o->rows > 0 ? (o->rows - 1) * o->ld + o->cols : 0;
    o->bytes = guarded_bytes(elements, type);
    gt_status status = ops->alloc(&o->mem, c->rig, o->bytes, err);
    if (!status)
        status = ops->fill(c->rig, o->mem, o->bytes, GT_POISON, err);
    if (!status)
        status = ops->view(&o->view, c->rig, o->mem, GUARD, o->bytes - GUARD, err);
    if (!status)
        status = gt_checker_fill(c, o->view, o->filled, o->cols, o->ld, o->seed, mode, err);
    return status;
}

static void clear_operand(struct operand *o, struct gt_checker *c) {
    if (o->view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, o->view);
    release(c->rig, o->mem);
}

static uint64_t seed_c(const struct gt_case *t) {
    return t->spec.seed * 4 + 3;
}

/* The output's view of scratch: poisoned, then holding C0 when beta asks for it. */
static gt_status fresh_c(void **view, struct gt_case *t, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t bytes = guarded_bytes(gt_problem_elems_c(p), p->type_c);
    if (bytes > c->scratch_bytes)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the checker has %lld bytes for C, the case needs %lld",
                       (long long)c->scratch_bytes, (long long)bytes);
    gt_status status = ops->fill(c->rig, c->scratch, bytes, GT_POISON_C, err);
    if (!status)
        status = ops->view(view, c->rig, c->scratch, GUARD, bytes - GUARD, err);
    if (!status && t->spec.beta != 0)
        status =
            gt_checker_fill(c, *view, p->m, p->n, p->ldc, seed_c(t), t->spec.mode, err);
    return status;
}

static gt_status make_reference(struct gt_case *t, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_problem *p = &t->spec.problem;
    void *view = NULL;
    gt_status status = fresh_c(&view, t, err);
    struct arg_list l = {.count = 0};
    push_int(&l, p->m);
    push_int(&l, p->n);
    push_int(&l, p->k);
    push_int(&l, p->trans_a == GEMMTUNE_TRANS);
    push_int(&l, p->trans_b == GEMMTUNE_TRANS);
    push_elem(&l, p->type_acc, t->spec.alpha);
    push_ptr(&l, t->a.view);
    push_long(&l, p->lda);
    push_ptr(&l, t->b.view);
    push_long(&l, p->ldb);
    push_elem(&l, p->type_acc, t->spec.beta);
    push_ptr(&l, view);
    push_long(&l, p->ldc);
    push_ptr(&l, t->r);
    push_ptr(&l, t->s);
    if (!status)
        status = run(c, K_REFERENCE, p->m * p->n, &l, err);
    if (!status)
        status = gt_rig_head(c->rig)->ops->finish(c->rig, err);
    if (view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, view);
    return status;
}

/* ---- the host's word on the reference ---- */

/* Element (i, j) in higher precision and the size of what was summed; i32 exactly, modulo 2^32. */
static long double host_element(const struct gt_case *t, int64_t i, int64_t j,
                                long double *size) {
    const struct gt_case_spec *s = &t->spec;
    const gemmtune_problem *p = &s->problem;
    const int64_t depth = s->alpha == 0 ? 0 : p->k;
    const bool whole = p->type_c == GEMMTUNE_I32;
    long double sum = 0, abs_sum = 0;
    uint32_t wrap = 0;
    for (int64_t q = 0; q < depth; q++) {
        const double x = p->trans_a ? gt_data_value(t->a.seed, q, i, s->mode, p->type_a)
                                    : gt_data_value(t->a.seed, i, q, s->mode, p->type_a);
        const double y = p->trans_b ? gt_data_value(t->b.seed, j, q, s->mode, p->type_b)
                                    : gt_data_value(t->b.seed, q, j, s->mode, p->type_b);
        if (whole) {
            wrap += (uint32_t)(int32_t)x * (uint32_t)(int32_t)y;
        } else {
            sum += (long double)x * y;
            abs_sum += fabsl((long double)x * y);
        }
    }
    const double old =
        s->beta == 0 ? 0 : gt_data_value(seed_c(t), i, j, s->mode, p->type_c);
    *size = fabsl((long double)s->alpha) * abs_sum + fabsl((long double)s->beta * old);
    if (whole)
        return (int32_t)((uint32_t)(int32_t)s->alpha * wrap +
                         (uint32_t)(int32_t)s->beta * (uint32_t)(int32_t)old);
    return s->alpha * sum + (long double)s->beta * old;
}

static gt_status agree(struct gt_case *t, int64_t e, const void *bytes,
                       struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    long double size;
    const long double want = host_element(t, e / p->n, e % p->n, &size);
    const double got = gt_data_get(bytes, p->type_c);
    const long double u = gt_type_unit(p->type_c);
    if (fabsl(got - want) <= 2 * u * size + u * fabsl(want))
        return GEMMTUNE_OK;
    char name[GT_PROBLEM_NAME_MAX];
    gt_problem_name(p, name);
    return gt_fail(
        err, GEMMTUNE_EDEVICE,
        "the device computes %s wrongly even without tuning: element (%lld, %lld) of "
        "the reference is %.17g, the host has %.17Lg",
        name, (long long)(e / p->n), (long long)(e % p->n), got, want);
}

static gt_status agree_all(struct gt_case *t, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const size_t size = gt_type_size(p->type_c);
    char *host = malloc((size_t)(p->m * p->n) * size);
    if (!host)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to check the reference");
    gt_status status =
        gt_rig_head(t->checker->rig)
            ->ops->read(t->checker->rig, t->r, 0, host, p->m * p->n * (int64_t)size, err);
    for (int64_t e = 0; !status && e < p->m * p->n; e++)
        status = agree(t, e, host + (size_t)e * size, err);
    free(host);
    return status;
}

static gt_status agree_sampled(struct gt_case *t, int64_t samples, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t size = (int64_t)gt_type_size(p->type_c), total = p->m * p->n;
    gt_status status = GEMMTUNE_OK;
    for (int64_t i = 0; !status && i < samples; i++) {
        /* both ends, and golden-ratio steps between: spread over rows and columns alike */
        const double where = fmod((double)i * 0.6180339887498949, 1.0);
        const int64_t e = i == 0   ? 0
                          : i == 1 ? total - 1
                                   : (int64_t)(where * (double)total);
        char bytes[8];
        status = gt_rig_head(t->checker->rig)
                     ->ops->read(t->checker->rig, t->r, e * size, bytes, size, err);
        if (!status)
            status = agree(t, e, bytes, err);
    }
    return status;
}

static gt_status host_check(struct gt_case *t, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t depth = p->k > 1 ? p->k : 1;
    const int64_t samples = HOST_MACS / depth > 16 ? HOST_MACS / depth : 16;
    if (p->m * p->n <= samples)
        return agree_all(t, err);
    return agree_sampled(t, samples < 512 ? samples : 512, err);
}

gt_status gt_case_create(struct gt_case **out, struct gt_checker *c,
                         const struct gt_case_spec *spec, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    const gemmtune_problem *p = &spec->problem;
    *out = NULL;
    struct gt_case *t = calloc(1, sizeof *t);
    if (!t)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a test case");
    t->checker = c;
    t->spec = *spec;
    t->a = (struct operand){.rows = p->trans_a ? p->k : p->m,
                            .cols = p->trans_a ? p->m : p->k,
                            .ld = p->lda,
                            .seed = spec->seed * 4 + 1};
    t->b = (struct operand){.rows = p->trans_b ? p->n : p->k,
                            .cols = p->trans_b ? p->k : p->n,
                            .ld = p->ldb,
                            .seed = spec->seed * 4 + 2};
    if (spec->alpha != 0) { /* else neither is read: it stays NaN */
        t->a.filled = t->a.rows;
        t->b.filled = t->b.rows;
    }
    const int64_t c_bytes = p->m * p->n * (int64_t)gt_type_size(p->type_c);
    gt_status status = make_operand(&t->a, c, p->type_a, spec->mode, err);
    if (!status)
        status = make_operand(&t->b, c, p->type_b, spec->mode, err);
    if (!status)
        status = ops->alloc(&t->r, c->rig, c_bytes, err);
    if (!status)
        status = ops->alloc(&t->s, c->rig, c_bytes, err);
    if (!status)
        status = make_reference(t, err);
    if (!status)
        status = host_check(t, err);
    if (status) {
        gt_case_destroy(t);
        return status;
    }
    *out = t;
    return GEMMTUNE_OK;
}

void gt_case_destroy(struct gt_case *t) {
    if (!t)
        return;
    clear_operand(&t->a, t->checker);
    clear_operand(&t->b, t->checker);
    release(t->checker->rig, t->r);
    release(t->checker->rig, t->s);
    free(t);
}

/* ---- a candidate against a case ---- */

static gt_status enqueue_compare(struct gt_case *t, int slot, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t size = (int64_t)gt_type_size(p->type_c);
    const int64_t total = guarded_bytes(gt_problem_elems_c(p), p->type_c) / size;
    const double u = t->spec.mode == GT_DATA_UNIFORM ? gt_type_unit(p->type_c) : 0;
    struct arg_list l = {.count = 0};
    push_ptr(&l, c->scratch);
    push_long(&l, total);
    push_long(&l, GUARD / size);
    push_int(&l, p->m);
    push_int(&l, p->n);
    push_long(&l, p->ldc);
    push_ptr(&l, t->r);
    push_ptr(&l, t->s);
    push_elem(&l, p->type_c, TOLERANCE * u);
    push_elem(&l, p->type_c, 2 * u); /* the reference's rounding and the result's */
    push_word(&l, GT_POISON_C);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, K_COMPARE, total, &l, err);
}

static gt_status enqueue_unchanged(struct gt_case *t, const struct operand *o,
                                   gemmtune_dtype type, int slot, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const int64_t size = (int64_t)gt_type_size(type);
    struct arg_list l = {.count = 0};
    push_ptr(&l, o->mem);
    push_long(&l, o->bytes / size);
    push_long(&l, GUARD / size);
    push_long(&l, o->filled);
    push_long(&l, o->cols);
    push_long(&l, o->ld);
    push_long(&l, (int64_t)o->seed);
    push_int(&l, t->spec.mode);
    push_word(&l, GT_POISON);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, K_UNCHANGED, o->bytes / size, &l, err);
}

static gt_status enqueue_within(struct gt_checker *c, int64_t bytes, int slot,
                                struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_ptr(&l, c->workspace.mem);
    push_long(&l, bytes + 2 * GUARD);
    push_long(&l, GUARD);
    push_word(&l, GT_POISON_W);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return bytes == 0 ? GEMMTUNE_OK : run(c, K_WITHIN, 2 * GUARD, &l, err);
}

static gt_status enqueue_case(struct gt_case *t, const struct gt_product *product, int slot,
                              struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_problem *p = &t->spec.problem;
    void *view = NULL;
    union gt_value alpha = {.i64 = 0}, beta = {.i64 = 0};
    gt_data_put(&alpha, p->type_acc, t->spec.alpha);
    gt_data_put(&beta, p->type_acc, t->spec.beta);
    gt_status status = fresh_c(&view, t, err);
    const struct gt_operands x = {&alpha, t->a.view, t->b.view, &beta, view};
    if (!status)
        status = fresh_workspace(c, product->workspace_bytes, err);
    if (!status)
        status = product->enqueue(product->self, &x, err);
    if (!status)
        status = enqueue_compare(t, slot, err);
    if (!status)
        status = enqueue_unchanged(t, &t->a, p->type_a, slot, err);
    if (!status)
        status = enqueue_unchanged(t, &t->b, p->type_b, slot, err);
    if (!status)
        status = enqueue_within(c, product->workspace_bytes, slot, err);
    if (view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, view);
    return status;
}

/* ---- a failure in words ---- */

/* The output and the reference of a case on the host, C with its leading dimension. */
struct seen {
    char *c, *r, *s;
};

static gt_status see(struct seen *v, struct gt_case *t, struct gt_err *err) {
    struct gt_checker *k = t->checker;
    const struct gt_rig_ops *ops = gt_rig_head(k->rig)->ops;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t es = (int64_t)gt_type_size(p->type_c);
    const int64_t c_bytes = gt_problem_elems_c(p) * es, r_bytes = p->m * p->n * es;
    v->c = malloc((size_t)c_bytes);
    v->r = malloc((size_t)r_bytes);
    v->s = malloc((size_t)r_bytes);
    if (!v->c || !v->r || !v->s)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to look at a wrong result");
    gt_status status = ops->read(k->rig, k->scratch, GUARD, v->c, c_bytes, err);
    if (!status)
        status = ops->read(k->rig, t->r, 0, v->r, r_bytes, err);
    if (!status)
        status = ops->read(k->rig, t->s, 0, v->s, r_bytes, err);
    return status;
}

/* "; (3, 4) is 1.5, not 2" for the first wrong element; "" when a second run had none. */
static void first_wrong(char *text, size_t size, const struct gt_case *t,
                        const struct seen *v) {
    const gemmtune_problem *p = &t->spec.problem;
    const size_t es = gt_type_size(p->type_c);
    const double u = t->spec.mode == GT_DATA_UNIFORM ? gt_type_unit(p->type_c) : 0;
    snprintf(text, size, ", none when run again");
    for (int64_t e = 0; e < p->m * p->n; e++) {
        const int64_t i = e / p->n, j = e % p->n;
        const double got = gt_data_get(v->c + (size_t)(i * p->ldc + j) * es, p->type_c);
        const double want = gt_data_get(v->r + (size_t)e * es, p->type_c);
        const double bound = TOLERANCE * u * gt_data_get(v->s + (size_t)e * es, p->type_c);
        if (!(fabs(got - want) <= (u > 0 ? bound + 2 * u * fabs(want) : 0))) {
            snprintf(text, size, "; (%lld, %lld) is %.9g, not %.9g", (long long)i,
                     (long long)j, got, want);
            return;
        }
    }
}

static void describe_wrong(char *text, size_t size, struct gt_case *t,
                           const struct gt_product *product) {
    enum { LOOK_MAX = 1 << 26 }; /* elements: larger outputs are only counted */
    struct seen v = {0};
    const gemmtune_problem *p = &t->spec.problem;
    if (p->m * p->ldc <= LOOK_MAX && !enqueue_case(t, product, CASES_MAX - 1, NULL) &&
        !see(&v, t, NULL))
        first_wrong(text, size, t, &v);
    free(v.c);
    free(v.r);
    free(v.s);
}

static void describe(char *why, struct gt_case *t, const struct gt_product *product,
                     const uint32_t found[COUNTERS]) {
    char name[GT_PROBLEM_NAME_MAX], element[96] = "";
    gt_problem_name(&t->spec.problem, name);
    if (found[0])
        describe_wrong(element, sizeof element, t, product);
    static const char *const what[COUNTERS] = {
        "elements wrong", "elements written outside C", "input elements overwritten",
        "bytes written outside the workspace"};
    int i = 0;
    while (i < COUNTERS - 1 && !found[i])
        i++;
    snprintf(why, GT_VERDICT_MAX, "%s alpha %g beta %g: %u %s%s", name, t->spec.alpha,
             t->spec.beta, found[i], what[i], element);
}

/* ---- all cases ---- */

static gt_status enqueue_all(struct gt_checker *c, struct gt_case *const *cases,
                             const struct gt_product *products, int count,
                             struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    gt_status status = ops->fill(c->rig, c->found, CASES_MAX * COUNTERS * 4, 0, err);
    for (int i = 0; !status && i < count; i++)
        status = enqueue_case(cases[i], &products[i], i, err);
    return status;
}

/* The first case with a counter that is not 0, or -1. */
static int first_failed(uint32_t (*found)[COUNTERS], int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < COUNTERS; j++)
            if (found[i][j])
                return i;
    return -1;
}

/* What was enqueued before a launch was refused may fault all the same, which is worse. */
static gt_status finish(struct gt_checker *c, gt_status status, struct gt_err *err) {
    struct gt_err fault;
    const gt_status ended = gt_rig_head(c->rig)->ops->finish(c->rig, &fault);
    return ended ? gt_fail(err, ended, "%s", fault.line) : status;
}

/* products[i] on cases[i] */
static gt_status check_all(bool *right, char *why, struct gt_checker *c,
                           struct gt_case *const *cases, const struct gt_product *products,
                           int count, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    uint32_t found[CASES_MAX][COUNTERS];
    *right = false;
    why[0] = '\0';
    gt_status status = enqueue_all(c, cases, products, count, err);
    if (!status || status == GEMMTUNE_EINVAL || status == GEMMTUNE_EUNSUPPORTED)
        status = finish(c, status, err);
    if (!status)
        status = ops->read(c->rig, c->found, 0, found, count * COUNTERS * 4, err);
    if (status)
        return status;
    const int bad = first_failed(found, count);
    *right = bad < 0;
    if (bad >= 0)
        describe(why, cases[bad], &products[bad], found[bad]);
    return GEMMTUNE_OK;
}

gt_status gt_check(bool *right, char *why, struct gt_checker *c,
                   struct gt_case *const *cases, const struct gt_exec *const *execs,
                   int count, struct gt_err *err) {
    struct gt_kernel_call call[CASES_MAX];
    struct gt_product product[CASES_MAX];
    for (int i = 0; i < count; i++) {
        call[i] = (struct gt_kernel_call){execs[i], c->workspace.view,
                                          gt_rig_head(c->rig)->stream};
        product[i] = gt_product_of(&call[i]);
    }
    return check_all(right, why, c, cases, product, count, err);
}

gt_status gt_check_product(bool *right, char *why, struct gt_checker *c,
                           struct gt_case *const *cases, const struct gt_product *product,
                           int count, struct gt_err *err) {
    struct gt_product same[CASES_MAX];
    for (int i = 0; i < count; i++)
        same[i] = *product;
    return check_all(right, why, c, cases, same, count, err);
}
