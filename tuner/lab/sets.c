/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.c - rotating inputs: enough sets of A, B and C to exceed three times the last-level
 * cache. No launch then finds data in the cache that another launch has just used. Each
 * operand lies between guards, as in the cases with finite numbers.
 */
#include "core/bytes.h"
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"

#include <string.h>

static int64_t round_up(int64_t v, int64_t to) {
    return gt_bytes_sum(v, to - 1) / to * to;
}

/* Bytes of a set's operands. */
static void operand_bytes(int64_t out[3], const gemmtune_problem *asked) {
    const gemmtune_problem memory = gt_timed_memory_of(asked), *p = &memory;
    const int64_t bytes[3] = {gt_problem_elems_a(p) * (int64_t)gt_type_size(p->type_a),
                              gt_problem_elems_b(p) * (int64_t)gt_type_size(p->type_b),
                              gt_problem_elems_c(p) * (int64_t)gt_type_size(p->type_c)};
    for (int i = 0; i < 3; i++)
        out[i] = round_up(bytes[i] > 0 ? bytes[i] : 1, GT_VIEW_ALIGN);
}

void gt_set_strides(int64_t out[3], const gemmtune_problem *p) {
    operand_bytes(out, p);
    for (int i = 0; i < 3; i++)
        out[i] = gt_bytes_sum(out[i], 2 * GT_GUARD);
}

static int64_t sum_of(const int64_t stride[3]) {
    return gt_bytes_sum(gt_bytes_sum(stride[0], stride[1]), stride[2]);
}

/* Size of the last-level cache. The usual one where the driver does not report it, and at
 * most that for a CPU device: PoCL reports the sum over a server, and we may own two cores
 * of it. */
static int64_t cache_bytes(const struct gt_device *d) {
    if (d->l2_bytes <= 0 || (d->is_cpu && d->l2_bytes > GT_CACHE_USUAL))
        return GT_CACHE_USUAL;
    return d->l2_bytes;
}

int gt_set_count(const gemmtune_problem *p, int64_t cache) {
    int64_t bytes[3];
    int count = 1;
    operand_bytes(bytes, p);
    const int64_t one = sum_of(bytes);
    while (count < GT_SETS_MAX && count * one <= 3 * cache)
        count *= 2;
    return count;
}

int64_t gt_sets_bytes(const gemmtune_problem *p, const struct gt_device *d) {
    int64_t stride[3];
    gt_set_strides(stride, p);
    return gt_bytes_product(gt_set_count(p, cache_bytes(d)),
                            gt_bytes_sum(sum_of(stride), gt_lists_bytes(p)));
}

static gt_status make_views(struct gt_lab *lab, const int64_t stride[3],
                            struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    gt_status status = GEMMTUNE_OK;
    for (int o = 0; status == GEMMTUNE_OK && o < 3; o++) {
        status = ops->alloc(&lab->sets.mem[o], lab->rig, lab->sets.count * stride[o], err);
        for (int i = 0; status == GEMMTUNE_OK && i < lab->sets.count; i++)
            status = ops->view(&lab->sets.view[o][i], lab->rig, lab->sets.mem[o],
                               GT_GUARD + i * stride[o], stride[o] - GT_GUARD, err);
    }
    return status;
}

static uint64_t data_seed(uint64_t seed) {
    return seed * 7 + 100;
}

/* Fills a set's input and its guards: first all with a word of its own. */
static gt_status fill_input(struct gt_lab *lab, const struct gt_stack *stored, int o,
                            int set, int64_t stride, uint64_t seed, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    void *all = NULL;
    gt_status status =
        ops->view(&all, lab->rig, lab->sets.mem[o], set * stride, stride, err);
    if (status == GEMMTUNE_OK)
        status = ops->fill(lab->rig, all, stride, gt_data_finite_word(~seed), err);
    if (status == GEMMTUNE_OK)
        status = gt_checker_fill(lab->checker, lab->sets.view[o][set], stored, seed,
                                 GT_DATA_UNIFORM, err);
    if (all)
        ops->view_release(lab->rig, all);
    return status;
}

/* Fills C of all sets and its guards with one row of the generator, as gt_case_output. */
static gt_status fill_outputs(struct gt_lab *lab, int64_t stride, uint64_t seed,
                              struct gt_err *err) {
    const gemmtune_dtype type = lab->problem.type_c;
    const int64_t elements = lab->sets.count * (stride / (int64_t)gt_type_size(type));
    const struct gt_stack row = gt_stack_row(type, elements);
    return gt_checker_fill(lab->checker, lab->sets.mem[2], &row, ~seed, GT_DATA_UNIFORM,
                           err);
}

static gt_status fill_sets(struct gt_lab *lab, const gemmtune_problem *asked,
                           const int64_t stride[3], uint64_t seed, struct gt_err *err) {
    const gemmtune_problem memory = gt_timed_memory_of(asked), *p = &memory;
    gt_status status = fill_outputs(lab, stride[2], data_seed(seed), err);
    for (int o = 0; o < 2; o++) {
        const struct gt_stack stored = gt_stack_of(p, o);
        for (int i = 0; status == GEMMTUNE_OK && i < lab->sets.count; i++)
            status = fill_input(lab, &stored, o, i, stride[o],
                                data_seed(seed) + (uint64_t)(3 * i + o), err);
    }
    return status;
}

struct gt_ring gt_sets_ring(const struct gt_lab *lab) {
    const gemmtune_problem *p = &lab->problem;
    const struct gt_sets *s = &lab->sets;
    struct gt_ring ring = {.memory = gt_timed_memory_of(p),
                           .count = s->count,
                           .mem = {s->mem[0], s->mem[1], s->mem[2]},
                           .data_seed = data_seed(lab->seed),
                           .ends = s->rows.mem,
                           .groups =
                               p->batch_kind == GEMMTUNE_GROUPED_ROWS ? (int)p->batch : 0};
    gt_set_strides(ring.apart, p);
    return ring;
}

/* Pointers to the matrices of each set, in the order in which these lie in memory. */
static gt_status make_lists(struct gt_lab *lab, const gemmtune_problem *p,
                            struct gt_err *err) {
    const gemmtune_problem memory = gt_timed_memory_of(p);
    struct gt_sets *s = &lab->sets;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < s->count; i++) {
        void *const matrix[3] = {s->view[0][i], s->view[1][i], s->view[2][i]};
        status = gt_lists_create(&s->lists[i], lab->rig, p, &memory, matrix,
                                 &gt_orders_plain, err);
    }
    return status;
}

gt_status gt_sets_create(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                         struct gt_err *err) {
    int64_t stride[3];
    gt_set_strides(stride, p);
    lab->sets.count = gt_set_count(p, cache_bytes(gt_rig_head(lab->rig)->device));
    gt_status status = make_views(lab, stride, err);
    if (status == GEMMTUNE_OK)
        status = fill_sets(lab, p, stride, seed, err);
    if (status == GEMMTUNE_OK)
        status = make_lists(lab, p, err);
    if (status == GEMMTUNE_OK)
        status = gt_rows_create(&lab->sets.rows, lab->rig, p, lab->spread, seed, err);
    if (status == GEMMTUNE_OK)
        status = gt_rig_head(lab->rig)->ops->finish(lab->rig, err);
    return status;
}

void gt_sets_clear(struct gt_lab *lab) {
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    for (int i = 0; i < lab->sets.count; i++)
        gt_lists_clear(&lab->sets.lists[i], lab->rig);
    gt_rows_clear(&lab->sets.rows, lab->rig);
    for (int o = 0; o < 3; o++) {
        for (int i = 0; i < lab->sets.count; i++)
            if (lab->sets.view[o][i])
                ops->view_release(lab->rig, lab->sets.view[o][i]);
        if (lab->sets.mem[o])
            ops->release(lab->rig, lab->sets.mem[o]);
    }
    memset(&lab->sets, 0, sizeof lab->sets);
}
