/* SPDX-License-Identifier: Apache-2.0 */
/* checker_run.c - launches of the checking kernels: the arguments of each kernel of
 * tuner/lab/kernels/, and what the host makes of the results. */
#include "tuner/lab/check_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same numbers as in reference.cl. */
enum {
    TILE = 64,                               /* sides of a block's tiles of the reference */
    DEPTH = 16,                              /* of a slab */
    SLABS_BYTES = 2 * DEPTH * (TILE + 4) * 8 /* of shared memory, where sums are f64 */
};

/* The same numbers as in witness.cl. */
enum {
    LANES = 32, /* threads of a place */
    PARTS_BYTES = 3 * GT_CHECKER_THREADS * 8
};

/* ---- launching ---- */

struct arg_list {
    union gt_value value[32];
    struct gt_value_ref ref[32];
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

/* Adds a number of the kernels' type gt_wide. */
static void push_wide(struct arg_list *l, const struct gt_checker *c, double v) {
    push(l, gt_value_of(c->wide, v), gt_type_size(c->wide));
}

/* Adds the arguments that describe a type to a kernel. */
static void push_type(struct arg_list *l, gemmtune_dtype type) {
    push_int(l, (int64_t)gt_type_size(type));
    push_int(l, gt_type_bits(type));
}

/* One thread for each element, up to eight blocks for each multiprocessor. The kernels
 * stride over the rest. */
static int64_t blocks_for(const struct gt_checker *c, int64_t elements) {
    const int64_t most = (int64_t)gt_rig_head(c->rig)->device->units * 8;
    const int64_t blocks = (elements + GT_CHECKER_THREADS - 1) / GT_CHECKER_THREADS;
    return blocks < 1 ? 1 : blocks > most ? most : blocks;
}

static gt_status run(struct gt_checker *c, enum gt_checker_kernel k, int64_t elements,
                     const struct arg_list *l, struct gt_err *err) {
    const struct gt_rig_head *h = gt_rig_head(c->rig);
    const struct gt_launch launch = {.grid = {blocks_for(c, elements), 1, 1},
                                     .block = {GT_CHECKER_THREADS, 1, 1},
                                     .cluster = {1, 1, 1},
                                     .smem_bytes = k == GT_KERNEL_REFERENCE ? SLABS_BYTES
                                                   : k == GT_KERNEL_WITNESS ? PARTS_BYTES
                                                                            : 0};
    const struct gt_driver *driver = h->gpu->driver;
    return driver->launch(c->kernel[k], &launch, l->ref, l->count, h->stream,
                          (struct gt_event_order){0}, err);
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
    return elements == 0 ? GEMMTUNE_OK : run(c, GT_KERNEL_FILL, elements, &l, err);
}

/* Products of less than a tile and a slab's depth leave most threads of a block idle. */
static gt_status run_reference(struct gt_checker *c, const gemmtune_problem *p,
                               const struct arg_list *l, struct gt_err *err) {
    const int64_t across = (p->n + TILE - 1) / TILE, down = (p->m + TILE - 1) / TILE;
    const int64_t tiles = gt_problem_outputs(p) * down * across;
    return p->m * p->n * p->k < TILE * TILE * DEPTH
               ? run(c, GT_KERNEL_REFERENCE_SMALL, gt_case_elements(p), l, err)
               : run(c, GT_KERNEL_REFERENCE, tiles * GT_CHECKER_THREADS, l, err);
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
    push_int(&l, gt_case_is_exact(t));
    push_ptr(&l, t->r);
    push_ptr(&l, t->s);
    return run_reference(t->checker, p, &l, err);
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
    push_int(&l, gt_case_mode_c(t));
    push_long(&l, (int64_t)gt_case_seed_c(t));
    push_int(&l, !gt_case_is_exact(t));
    push_wide(&l, c, bound.sum);
    push_wide(&l, c, bound.rounding);
    push_wide(&l, c, bound.least);
    push_word(&l, t->poison_c);
    push_int(&l, t->spec.finite);
    push_long(&l, (int64_t)t->finite_seed);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, GT_KERNEL_COMPARE, total, &l, err);
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
    push_word(&l, o->poison);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, GT_KERNEL_UNCHANGED, o->bytes / size, &l, err);
}

gt_status gt_checker_within(const struct gt_case *t, int64_t bytes, int slot,
                            struct gt_err *err) {
    struct gt_checker *c = t->checker;
    struct arg_list l = {.count = 0};
    push_ptr(&l, c->workspace.mem);
    push_long(&l, bytes + 2 * GT_GUARD);
    push_long(&l, GT_GUARD);
    push_word(&l, t->poison_w);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return bytes == 0 ? GEMMTUNE_OK : run(c, GT_KERNEL_WITHIN, 2 * GT_GUARD, &l, err);
}

/* The bits of the largest size that is no NaN; 0 for integers. */
static int64_t infinity_bits(gemmtune_dtype type) {
    const int bits = 8 * (int)gt_type_size(type), fraction = gt_type_bits(type) - 1;
    const int64_t all = (int64_t)(UINT64_MAX >> (65 - bits));
    if (!gt_type_is_float(type))
        return 0;
    return type == GEMMTUNE_E4M3 ? all - 1 : all >> fraction << fraction;
}

gt_status gt_checker_between(const struct gt_case *t, void *mem, int64_t bytes,
                             const struct gt_ranged *out, uint32_t poison,
                             uint64_t finite_seed, int slot, struct gt_err *err) {
    struct gt_checker *c = t->checker;
    const int64_t size = (int64_t)gt_type_size(out->type);
    struct arg_list l = {.count = 0};
    push_ptr(&l, mem);
    push_long(&l, bytes / size);
    push_long(&l, GT_GUARD / size);
    push_int(&l, t->spec.problem.n);
    push_long(&l, out->count);
    push_long(&l, out->stride);
    push_long(&l, out->rows);
    push_long(&l, out->ld);
    push_ptr(&l, out->low);
    push_ptr(&l, out->high);
    push_long(&l, out->ranges.step);
    push_long(&l, out->ranges.shift);
    push_ptr(&l, t->rows.used_mem);
    push_int(&l, t->rows.used_mem != NULL);
    push_int(&l, out->keeps_old);
    push_int(&l, gt_case_mode_c(t));
    push_long(&l, (int64_t)gt_case_seed_c(t));
    push_int(&l, size);
    push_long(&l, infinity_bits(out->type));
    push_word(&l, poison);
    push_int(&l, finite_seed != 0);
    push_long(&l, (int64_t)finite_seed);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, GT_KERNEL_BETWEEN, bytes / size, &l, err);
}

gt_status gt_checker_same(struct gt_checker *c, void *x, void *copy, int64_t bytes,
                          int slot, struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_ptr(&l, x);
    push_ptr(&l, copy);
    push_long(&l, bytes);
    push_ptr(&l, c->found);
    push_int(&l, slot);
    return run(c, GT_KERNEL_SAME, bytes, &l, err);
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
    return run(t->checker, GT_KERNEL_ERROR, gt_case_elements(p), &l, err);
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
        GT_CHECKER_THREADS * blocks_for(t->checker, gt_case_elements(&t->spec.problem));
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

/* ---- timed products ---- */

/* Adds GT_RING_PARAMS of witness.cl. */
static void push_places(struct arg_list *l, const struct gt_ring *ring,
                        const struct gt_places *at) {
    const gemmtune_problem *p = &ring->memory;
    push_ptr(l, ring->mem[2]);
    push_long(l, GT_GUARD);
    push_long(l, ring->apart[2]);
    for (int i = 0; i < GT_WITNESS_SETS; i++)
        push_int(l, at->set[i]);
    push_int(l, at->sets);
    push_int(l, p->m);
    push_int(l, p->n);
    push_long(l, gt_problem_outputs(p));
    push_long(l, p->stride_c);
    push_long(l, p->ldc);
    push_long(l, (int64_t)at->seed);
    push_int(l, at->count);
}

gt_status gt_checker_spoil(const struct gt_case *t, const struct gt_ring *ring,
                           const struct gt_places *at, struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_places(&l, ring, at);
    push_int(&l, ring->memory.k);
    push_int(&l, gt_case_reads_c(t));
    push_int(&l, gt_case_mode_c(t));
    push_ptr(&l, at->words);
    return run(t->checker, GT_KERNEL_SPOIL, at->count, &l, err);
}

gt_status gt_checker_witness(const struct gt_case *t, const struct gt_ring *ring,
                             const struct gt_places *at, struct gt_err *err) {
    const gemmtune_problem *p = &ring->memory;
    struct arg_list l = {.count = 0};
    push_places(&l, ring, at);
    push_int(&l, p->k);
    push_int(&l, p->trans_a == GEMMTUNE_TRANS);
    push_int(&l, p->trans_b == GEMMTUNE_TRANS);
    push_ptr(&l, ring->mem[0]);
    push_long(&l, ring->apart[0]);
    push_long(&l, p->lda);
    push_long(&l, p->stride_a);
    push_ptr(&l, ring->mem[1]);
    push_long(&l, ring->apart[1]);
    push_long(&l, p->ldb);
    push_long(&l, p->stride_b);
    push_ptr(&l, ring->ends);
    push_int(&l, ring->groups);
    push_long(&l, (int64_t)ring->data_seed);
    push_ptr(&l, at->words);
    push_ptr(&l, at->sums);
    return run(t->checker, GT_KERNEL_WITNESS, at->count * LANES, &l, err);
}

gt_status gt_checker_stain(struct gt_checker *c, int64_t words, uint64_t seed, int places,
                           struct gt_err *err) {
    struct arg_list l = {.count = 0};
    push_ptr(&l, c->workspace.view);
    push_long(&l, words);
    push_long(&l, (int64_t)seed);
    push_int(&l, places);
    return run(c, GT_KERNEL_STAIN, places, &l, err);
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
    gt_status status = run(c, GT_KERNEL_PACE, 1, &l, err);
    if (status == GEMMTUNE_OK)
        status =
            gt_rig_head(c->rig)->ops->read(c->rig, c->found, 0, pace, sizeof pace, err);
    if (pace[1] > 0)
        *mhz = (int)(pace[0] * 1000 / pace[1]);
    return status;
}
