/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checker.c - see check.h: the kernels of tuner/lab/kernels/check.cl, their arguments, and
 * the workspace that the checked kernels share.
 */
#include "tuner/lab/check_internal.h"

#include "core/embed.h"
#include "core/split.h"
#include "runtime/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256 }; /* the same number as in check.cl */

enum kernel {
    K_FILL,
    K_REFERENCE,
    K_COMPARE,
    K_UNCHANGED,
    K_WITHIN,
    K_PACE,
    K_BETWEEN,
    K_SAME,
    K_ERROR
};
static const char *const kernel_entry[] = {"gt_fill",      "gt_reference", "gt_compare",
                                           "gt_unchanged", "gt_within",    "gt_pace",
                                           "gt_between",   "gt_same",      "gt_error"};
_Static_assert(sizeof kernel_entry / sizeof *kernel_entry == GT_CHECKER_KERNELS,
               "one entry each");

/* ---- loading and launching ---- */

struct arg_list {
    union gt_value value[28];
    struct gt_value_ref ref[28];
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

/* Adds a number of check.cl's type gt_wide. */
static void push_wide(struct arg_list *l, const struct gt_checker *c, double v) {
    push(l, gt_value_of(c->wide, v), gt_type_size(c->wide));
}

/* Adds the arguments that describe a type to check.cl. */
static void push_type(struct arg_list *l, gemmtune_dtype type) {
    push_int(l, (int64_t)gt_type_size(type));
    push_int(l, gt_type_bits(type));
}

/* One thread for each element, up to eight blocks for each multiprocessor. The kernels
 * stride over the rest. */
static int64_t blocks_for(const struct gt_checker *c, int64_t elements) {
    const int64_t most = (int64_t)gt_rig_head(c->rig)->device->units * 8;
    const int64_t blocks = (elements + THREADS - 1) / THREADS;
    return blocks < 1 ? 1 : blocks > most ? most : blocks;
}

static gt_status run(struct gt_checker *c, enum kernel k, int64_t elements,
                     const struct arg_list *l, struct gt_err *err) {
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_launch launch = {.grid = {blocks_for(c, elements), 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .cluster = {1, 1, 1}};
    const struct gt_driver *driver = h->gpu->driver;
    return driver->launch(c->kernel[k], &launch, l->ref, l->count, h->stream, err);
}

/* Loads all kernels from one image. */
static gt_status load(struct gt_checker *c, const char *source, struct gt_err *err) {
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_driver *driver = h->gpu->driver;
    const struct gt_launch launch = {
        .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .cluster = {1, 1, 1}};
    struct gt_image image = {0};
    gt_status status = gt_build(&image, driver, h->device, source, NULL, err);
    if (status == GEMMTUNE_OK)
        status = driver->load(&c->kernel[0], h->gpu, &image, source, kernel_entry[0],
                              &launch, err);
    for (int k = 1; status == GEMMTUNE_OK && k < GT_CHECKER_KERNELS; k++)
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

static const char *wide_macro(gemmtune_dtype wide) {
    return wide == GEMMTUNE_F64   ? "GT_WIDE_F64"
           : wide == GEMMTUNE_I32 ? "GT_WIDE_I32"
                                  : "GT_WIDE_F32";
}

/* The text of check.cl with the macros that it needs. The caller frees it; NULL when memory
 * is short. */
static char *text_for(const gemmtune_problem *types) {
    const gemmtune_dtype type[3] = {types->type_a, types->type_b, types->type_c};
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return NULL;
    for (int i = 0; i < 3; i++)
        fprintf(f, "#define GT_BYTES_%c %zu\n#define GT_BITS_%c %d\n", "ABC"[i],
                gt_type_size(type[i]), "ABC"[i], gt_type_bits(type[i]));
    fprintf(f, "#define %s 1\n#line 1 \"tuner/lab/kernels/check.cl\"\n%s",
            wide_macro(gt_type_wide(types->type_acc)), kernel_text());
    fclose(f);
    return text;
}

/* The dialect is that of kernels for the wide type. */
gt_status gt_checker_source(char **out, const struct gt_device *d,
                            const gemmtune_problem *types, struct gt_err *err) {
    char *text = text_for(types);
    gemmtune_problem wide;
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the checking kernels");
    gemmtune_problem_init(&wide, gt_type_wide(types->type_acc), 1, 1, 1);
    const gt_status status =
        gt_source_plain(out, d, &wide, "tuner/lab/kernels/check.cl", text, err);
    free(text);
    return status;
}

static gt_status load_all(struct gt_checker *c, struct gt_err *err) {
    char *source = NULL;
    gt_status status =
        gt_checker_source(&source, gt_rig_head(c->rig)->device, &c->types, err);
    if (status == GEMMTUNE_OK)
        status = load(c, source, err);
    free(source);
    return status;
}

/* ---- a checker ---- */

void gt_checker_release(struct gt_checker *c, void *mem) {
    if (mem)
        gt_rig_head(c->rig)->ops->release(c->rig, mem);
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
    c->wide = gt_type_wide(types->type_acc);
    c->scratch_bytes = gt_guarded_bytes(scratch_bytes);
    gt_status status = load_all(c, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&c->found, rig, GT_CASES_MAX * GT_COUNTERS * 4, err);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&c->scratch, rig, c->scratch_bytes, err);
    if (status != GEMMTUNE_OK) {
        gt_checker_destroy(c);
        return status;
    }
    *out = c;
    return GEMMTUNE_OK;
}

void gt_checker_unreserve(struct gt_checker *c) {
    if (c->workspace.view)
        gt_rig_head(c->rig)->ops->view_release(c->rig, c->workspace.view);
    gt_checker_release(c, c->workspace.mem);
    memset(&c->workspace, 0, sizeof c->workspace);
}

void gt_checker_destroy(struct gt_checker *c) {
    if (!c)
        return;
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_driver *driver = h->gpu->driver;
    gt_checker_release(c, c->found);
    gt_checker_release(c, c->scratch);
    gt_checker_unreserve(c);
    for (int k = GT_CHECKER_KERNELS - 1; k >= 0;
         k--) /* the first one owns the module, so it goes last */
        if (c->kernel[k])
            driver->unload(c->kernel[k]);
    free(c);
}

/* ---- the arguments of each kernel ---- */

/* Adds the arguments that say where matrices lie in memory. */
static void push_stored(struct arg_list *l, const struct gt_stack *x) {
    push_long(l, x->count);
    push_long(l, x->stride);
    push_long(l, x->rows);
    push_long(l, x->cols);
    push_long(l, x->ld);
}

gt_status gt_checker_fill(struct gt_checker *c, void *view, const struct gt_stack *x,
                          uint64_t seed, enum gt_data_mode mode, struct gt_err *err) {
    const int64_t elements = x->count * x->rows * x->cols;
    struct arg_list l = {.count = 0};
    push_ptr(&l, view);
    push_type(&l, x->type);
    push_stored(&l, x);
    push_long(&l, (int64_t)seed);
    push_int(&l, mode);
    return elements == 0 ? GEMMTUNE_OK : run(c, K_FILL, elements, &l, err);
}

bool gt_case_is_exact(const struct gt_case *t) {
    return t->spec.mode == GT_DATA_SMALL || t->spec.mode == GT_DATA_UNIT ||
           t->spec.mode == GT_DATA_HIGH || !gt_type_is_float(t->checker->wide);
}

/* Whether tensor cores may compute the sum. They drop the bits that do not fit. */
static bool may_truncate(const gemmtune_problem *p) {
    return gt_type_size(p->type_a) < gt_type_size(p->type_acc) ||
           p->math == GEMMTUNE_MATH_TF32;
}

struct gt_bound gt_bound_of(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    const double u_c = gt_type_unit(p->type_c), u_in = gt_input_unit(p);
    const double truncation = may_truncate(p) ? (double)gt_type_size(p->type_a) / 4 *
                                                    sqrt((double)gt_sum_depth(p))
                                              : 0;
    const double units = p->math == GEMMTUNE_MATH_SPLIT
                             ? fmin(gt_split_error(p->k), GT_TOLERANCE + GT_SPLIT_PARTS)
                             : GT_TOLERANCE + truncation;
    const double outer = p->math == GEMMTUNE_MATH_PROMOTED ? GT_TOLERANCE : 0;
    const double sum =
        units * gt_sum_unit(p) + outer * gt_type_unit(p->type_acc) + u_in * (2 + u_in);
    return (struct gt_bound){.sum = sum * (1 + u_c),
                             .rounding = u_c + gt_type_unit(t->checker->wide),
                             .least = gt_type_least(p->type_c)};
}

gt_status gt_checker_reference(struct gt_case *t, void *c, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    struct arg_list l = {.count = 0};
    push_int(&l, p->m);
    push_int(&l, p->n);
    push_int(&l, p->k);
    push_int(&l, p->trans_a == GEMMTUNE_TRANS);
    push_int(&l, p->trans_b == GEMMTUNE_TRANS);
    push_long(&l, gt_problem_outputs(p));
    push_wide(&l, t->checker, gt_case_alpha(t));
    push_ptr(&l, t->a.view);
    push_long(&l, p->lda);
    push_long(&l, p->stride_a);
    push_ptr(&l, t->b.view);
    push_long(&l, p->ldb);
    push_long(&l, p->stride_b);
    push_wide(&l, t->checker, gt_case_beta(t));
    push_ptr(&l, c);
    push_long(&l, p->ldc);
    push_long(&l, p->stride_c);
    push_long(&l, t->orders.a.step);
    push_long(&l, t->orders.a.shift);
    push_long(&l, t->orders.b.step);
    push_long(&l, t->orders.b.shift);
    push_ptr(&l, t->rows.mem);
    push_int(&l, p->batch_kind == GEMMTUNE_GROUPED_ROWS ? p->batch : 0);
    push_ptr(&l, t->r);
    push_ptr(&l, t->s);
    return run(t->checker, K_REFERENCE, gt_case_elements(p), &l, err);
}

gt_status gt_checker_compare(struct gt_case *t, int slot, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_problem *p = &t->spec.problem;
    const int64_t size = (int64_t)gt_type_size(p->type_c);
    const int64_t total = gt_guarded_bytes(gt_problem_elems_c(p) * size) / size;
    const struct gt_bound bound = gt_bound_of(t);
    struct arg_list l = {.count = 0};
    push_ptr(&l, c->scratch);
    push_long(&l, total);
    push_long(&l, GT_GUARD / size);
    push_int(&l, p->m);
    push_int(&l, p->n);
    push_long(&l, gt_problem_outputs(p));
    push_long(&l, p->stride_c);
    push_long(&l, p->ldc);
    push_ptr(&l, t->r);
    push_ptr(&l, t->s);
    push_ptr(&l, t->rows.used_mem);
    push_int(&l, t->rows.used_mem != NULL);
    push_int(&l, gt_case_reads_c(t));
    push_int(&l, t->spec.mode);
    push_long(&l, (int64_t)gt_case_seed_c(t));
    push_int(&l, !gt_case_is_exact(t));
    push_wide(&l, c, bound.sum);
    push_wide(&l, c, bound.rounding);
    push_wide(&l, c, bound.least);
    push_word(&l, GT_POISON_C);
    push_int(&l, t->spec.finite);
    push_long(&l, (int64_t)t->finite_seed);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, K_COMPARE, total, &l, err);
}

gt_status gt_checker_unchanged(struct gt_case *t, const struct gt_guarded *o, int slot,
                               struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const gemmtune_dtype type = o->filled.type;
    const int64_t size = (int64_t)gt_type_size(type);
    struct arg_list l = {.count = 0};
    push_ptr(&l, o->mem);
    push_type(&l, type);
    push_long(&l, o->bytes / size);
    push_long(&l, GT_GUARD / size);
    push_stored(&l, &o->filled);
    push_long(&l, (int64_t)o->seed);
    push_int(&l, t->spec.mode);
    push_word(&l, gt_data_poison(type));
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, K_UNCHANGED, o->bytes / size, &l, err);
}

gt_status gt_checker_within(struct gt_checker *c, int64_t bytes, int slot,
                            struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_ptr(&l, c->workspace.mem);
    push_long(&l, bytes + 2 * GT_GUARD);
    push_long(&l, GT_GUARD);
    push_word(&l, GT_POISON_W);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return bytes == 0 ? GEMMTUNE_OK : run(c, K_WITHIN, 2 * GT_GUARD, &l, err);
}

/* The bits of the largest size that is no NaN; 0 for integers. */
static int64_t infinity_bits(gemmtune_dtype type) {
    const int bits = 8 * (int)gt_type_size(type), fraction = gt_type_bits(type) - 1;
    const int64_t all = (int64_t)(UINT64_MAX >> (65 - bits));
    if (!gt_type_is_float(type))
        return 0;
    return type == GEMMTUNE_E4M3 ? all - 1 : all >> fraction << fraction;
}

gt_status gt_checker_between(struct gt_checker *c, void *mem, int64_t bytes,
                             const gemmtune_problem *p, const struct gt_ranged *out,
                             uint32_t poison, uint64_t finite_seed, int slot,
                             struct gt_err *err) {
    const int64_t size = (int64_t)gt_type_size(out->type);
    struct arg_list l = {.count = 0};
    push_ptr(&l, mem);
    push_long(&l, bytes / size);
    push_long(&l, GT_GUARD / size);
    push_int(&l, p->n);
    push_long(&l, out->count);
    push_long(&l, out->stride);
    push_long(&l, out->rows);
    push_long(&l, out->ld);
    push_ptr(&l, out->low);
    push_ptr(&l, out->high);
    push_int(&l, size);
    push_long(&l, infinity_bits(out->type));
    push_word(&l, poison);
    push_int(&l, finite_seed != 0);
    push_long(&l, (int64_t)finite_seed);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, K_BETWEEN, bytes / size, &l, err);
}

gt_status gt_checker_same(struct gt_checker *c, void *x, void *copy, int64_t bytes,
                          int slot, struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_ptr(&l, x);
    push_ptr(&l, copy);
    push_long(&l, bytes);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, K_SAME, bytes, &l, err);
}

/* ---- the error ---- */

static gt_status enqueue_error(struct gt_case *t, void *out, struct gt_err *err) {
    const gemmtune_problem *p = &t->spec.problem;
    struct arg_list l = {.count = 0};
    push_ptr(&l, t->checker->scratch);
    push_long(&l, GT_GUARD / (int64_t)gt_type_size(p->type_c));
    push_int(&l, p->m);
    push_int(&l, p->n);
    push_long(&l, gt_problem_outputs(p));
    push_long(&l, p->stride_c);
    push_long(&l, p->ldc);
    push_ptr(&l, t->rows.used_mem);
    push_int(&l, t->rows.used_mem != NULL);
    push_ptr(&l, t->r);
    push_ptr(&l, t->s);
    push_ptr(&l, out);
    return run(t->checker, K_ERROR, gt_case_elements(p), &l, err);
}

/* The elements that a product computes. */
static int64_t computed(const struct gt_case *t) {
    const gemmtune_problem *p = &t->spec.problem;
    int64_t rows = 0;
    if (t->rows.used == NULL)
        return gt_case_elements(p);
    for (int64_t z = 0; z < gt_problem_outputs(p); z++)
        rows += t->rows.used[z];
    return rows * p->n;
}

/* `parts` pairs of a greatest number and a sum. */
static struct gt_error sum_up(const struct gt_case *t, const char *part, int64_t parts) {
    const gemmtune_problem *p = &t->spec.problem;
    const size_t size = gt_type_size(t->checker->wide);
    const double u = gt_type_unit(p->type_c), elements = fmax((double)computed(t), 1);
    struct gt_error all = {0, 0};
    for (int64_t i = 0; i < parts; i++, part += 2 * size) {
        const double most = gt_element_get(part, t->checker->wide) / u;
        all.most = most > all.most || isnan(most) ? most : all.most;
        all.mean += gt_element_get(part + size, t->checker->wide) / u / elements;
    }
    return all;
}

gt_status gt_checker_error(struct gt_error *out, struct gt_case *t, struct gt_err *err) {
    struct gt_rig *rig = t->checker->rig;
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const int64_t parts =
        THREADS * blocks_for(t->checker, gt_case_elements(&t->spec.problem));
    const int64_t bytes = parts * 2 * (int64_t)gt_type_size(t->checker->wide);
    void *mem = NULL;
    char *part = malloc((size_t)bytes);
    gt_status status = part != NULL
                           ? ops->alloc(&mem, rig, bytes, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for an error");
    if (status == GEMMTUNE_OK)
        status = enqueue_error(t, mem, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(rig, mem, 0, part, bytes, err);
    if (status == GEMMTUNE_OK)
        *out = sum_up(t, part, parts);
    gt_checker_release(t->checker, mem);
    free(part);
    return status;
}

/* ---- the clock ---- */

gt_status gt_checker_clock(int *mhz, struct gt_checker *c, struct gt_err *err) {
    enum { LOOK_NS = 32000 };
    struct arg_list l = {.count = 0};
    uint64_t pace[2] = {0, 0}; /* clocks, nanoseconds */
    *mhz = 0;
    if (!gt_rig_head(c->rig)->ops->kernels_see_clock)
        return GEMMTUNE_OK;
    push_ptr(&l, c->found);
    push_int(&l, LOOK_NS);
    gt_status status = run(c, K_PACE, 1, &l, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_rig_head(c->rig)->ops->read(c->rig, c->found, 0, pace, sizeof pace, err);
    if (pace[1] > 0)
        *mhz = (int)(pace[0] * 1000 / pace[1]);
    return status;
}

/* ---- the workspace ---- */

int64_t gt_workspace_bytes(int64_t bytes) {
    return bytes > 0 ? gt_guarded_bytes(bytes) : 0;
}

static gt_status make_workspace(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->rig)->ops;
    gt_status status =
        ops->alloc(&c->workspace.mem, c->rig, gt_workspace_bytes(bytes), err);
    if (status == GEMMTUNE_OK)
        status =
            ops->view(&c->workspace.view, c->rig, c->workspace.mem, GT_GUARD, bytes, err);
    if (status == GEMMTUNE_OK)
        c->workspace.bytes = bytes;
    return status;
}

/* There may be no room for both workspaces, so the old one is freed first. It is made again
 * when the new one fails, because other kernels rely on it. */
gt_status gt_checker_reserve(struct gt_checker *c, int64_t bytes, struct gt_err *err) {
    const int64_t had = c->workspace.bytes;
    if (bytes <= had)
        return GEMMTUNE_OK;
    gt_checker_unreserve(c);
    const gt_status status = make_workspace(c, bytes, err);
    if (status == GEMMTUNE_OK)
        return GEMMTUNE_OK;
    gt_checker_unreserve(c);
    if (had > 0)
        (void)make_workspace(c, had, NULL);
    return status;
}

void *gt_checker_workspace(const struct gt_checker *c) {
    return c->workspace.view;
}
