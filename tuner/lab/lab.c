/* SPDX-License-Identifier: Apache-2.0 */
/* lab.c - see lab.h: sets a problem up. Kernels are checked in suite.c and timed in
 * measure.c. */
#include "core/bytes.h"
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gt_status gt_lab_create(struct gt_lab **out, const struct gt_device *d,
                        struct gt_err *err) {
    *out = NULL;
    struct gt_lab *lab = calloc(1, sizeof *lab);
    if (!lab)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the test bench");
    gt_status status = gt_rig_open(&lab->rig, d, err);
    if (status != GEMMTUNE_OK) {
        gt_lab_destroy(lab);
        return status;
    }
    *out = lab;
    return GEMMTUNE_OK;
}

static void clear_cases(struct gt_case **first, int count) {
    for (int i = 0; i < count; i++) {
        gt_case_destroy(first[i]);
        first[i] = NULL;
    }
}

static void clear_problem(struct gt_lab *lab) {
    clear_cases(lab->timed, 2);
    clear_cases(&lab->listed[GT_LAB_SMALLS], GT_LAB_OWNS);
    gt_sets_clear(lab);
    if (lab->checker)
        gt_checker_unreserve(lab->checker);
    lab->name[0] = '\0';
}

static void clear_types(struct gt_lab *lab) {
    clear_problem(lab);
    clear_cases(lab->listed, GT_LAB_SMALLS);
    gt_checker_destroy(lab->checker);
    lab->checker = NULL;
}

void gt_lab_destroy(struct gt_lab *lab) {
    if (!lab)
        return;
    if (lab->rig) /* otherwise the rig never opened and has no memory */
        clear_types(lab);
    gt_rig_close(lab->rig);
    free(lab);
}

struct gt_gpu *gt_lab_gpu(struct gt_lab *lab) {
    return gt_rig_head(lab->rig)->gpu;
}

const struct gt_device *gt_lab_device(const struct gt_lab *lab) {
    return gt_rig_head(lab->rig)->device;
}

const gemmtune_problem *gt_lab_problem(const struct gt_lab *lab) {
    return &lab->problem;
}

/* ---- set-up ---- */

static int64_t c_bytes(const gemmtune_problem *p) {
    const gemmtune_problem memory = gt_memory_of(p);
    return gt_problem_elems_c(&memory) * (int64_t)gt_type_size(p->type_c);
}

static int64_t scratch_bytes(const gemmtune_problem *p) {
    struct gt_case_spec spec;
    int64_t most = c_bytes(p);
    for (int i = 0; i < GT_LAB_LISTED; i++)
        if (gt_case_listed(&spec, p, i, 0) && c_bytes(&spec.problem) > most)
            most = c_bytes(&spec.problem);
    return most;
}

/* Bytes of the cases of a batch's own shape. */
static int64_t own_bytes(const gemmtune_problem *p) {
    struct gt_case_spec spec;
    int64_t bytes = 0;
    for (int i = GT_LAB_SMALLS; i < GT_LAB_LISTED; i++)
        if (gt_case_listed(&spec, p, i, 0))
            bytes = gt_bytes_sum(bytes, gt_case_bytes(&spec.problem));
    return bytes;
}

int64_t gt_lab_bytes(const gemmtune_problem *p, const struct gt_device *d) {
    const int64_t other = INT64_C(32) << 20; /* small cases, and the rest */
    const int64_t cases = gt_bytes_sum(gt_bytes_product(2, gt_case_bytes(p)), own_bytes(p));
    const int64_t rest = gt_bytes_sum(scratch_bytes(p), gt_sets_bytes(p, d));
    return gt_bytes_sum(gt_bytes_sum(cases, rest), other);
}

/* Makes the listed cases from `first` to `end`. */
static gt_status setup_listed(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                              int first, int end, struct gt_err *err) {
    struct gt_case_spec spec;
    gt_status status = GEMMTUNE_OK;
    for (int i = first; status == GEMMTUNE_OK && i < end; i++)
        if (gt_case_listed(&spec, p, i, seed))
            status = gt_case_create(&lab->listed[i], lab->checker, &spec, err);
    return status;
}

/* The checker's scratch must hold the largest C. A larger problem makes a new checker. */
gt_status gt_lab_setup_types(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                             struct gt_err *err) {
    const int64_t scratch = scratch_bytes(p);
    if (lab->checker && gt_problem_same_kind(&lab->problem, p) &&
        lab->problem.pointer_align == p->pointer_align && scratch <= lab->scratch)
        return GEMMTUNE_OK;
    clear_types(lab);
    lab->problem = *p;
    lab->scratch = scratch;
    gt_status status = gt_checker_create(&lab->checker, lab->rig, p, scratch, err);
    if (status == GEMMTUNE_OK)
        status = setup_listed(lab, p, seed, 0, GT_LAB_SMALLS, err);
    if (status != GEMMTUNE_OK)
        clear_types(lab);
    return status;
}

static gt_status setup_timed(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                             struct gt_err *err) {
    const enum gt_data_mode mode[2] = {gt_data_exact(p, p->k), GT_DATA_UNIFORM};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++) {
        const struct gt_case_spec spec = {.problem = *p,
                                          .alpha = 1,
                                          .beta = p->reads_c ? 1 : 0,
                                          .mode = mode[i],
                                          .seed = seed + (uint64_t)i,
                                          /* like the C of a timed product */
                                          .finite = i == 1,
                                          .rounds_sum = lab->rounds_sum,
                                          .spread =
                                              i == 1 ? GT_SPREAD_AROUND : GT_SPREAD_UNEVEN};
        status = gt_case_create(&lab->timed[i], lab->checker, &spec, err);
    }
    return status;
}

/* Bytes of the largest buffer: a matrix or the reference. */
static int64_t largest_buffer(const gemmtune_problem *asked) {
    const gemmtune_problem memory = gt_memory_of(asked), *p = &memory;
    const int64_t bytes[] = {
        gt_problem_elems_a(p) * (int64_t)gt_type_size(p->type_a),
        gt_problem_elems_b(p) * (int64_t)gt_type_size(p->type_b),
        c_bytes(p),
        gt_bytes_product(gt_bytes_product(gt_problem_outputs(p), p->m * p->n),
                         (int64_t)gt_type_size(gt_type_wide(p->type_acc))),
    };
    int64_t most = 0;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        most = bytes[i] > most ? bytes[i] : most;
    return most;
}

static gt_status fits(const gemmtune_problem *p, const struct gt_device *d,
                      struct gt_err *err) {
    const int64_t need = gt_lab_bytes(p, d);
    const int64_t single = largest_buffer(p);
    if (need > d->mem_bytes)
        return gt_fail(
            err, GEMMTUNE_ENOMEM,
            "needs %lld bytes on the device (matrices, reference and rotating inputs), "
            "which has %lld",
            (long long)need, (long long)d->mem_bytes);
    if (gt_bytes_sum(single, 2 * GT_VIEW_ALIGN) > d->max_alloc)
        return gt_fail(
            err, GEMMTUNE_ENOMEM,
            "its largest matrix needs %lld bytes in one buffer, the device allows %lld",
            (long long)single, (long long)d->max_alloc);
    return GEMMTUNE_OK;
}

gt_status gt_lab_setup(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                       struct gt_err *err) {
    char name[GT_PROBLEM_NAME_MAX];
    gt_problem_name(p, name);
    if (strcmp(name, lab->name) == 0 && seed == lab->seed)
        return GEMMTUNE_OK;
    clear_problem(lab);
    gt_status status = fits(p, gt_lab_device(lab), err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup_types(lab, p, seed, err);
    if (status == GEMMTUNE_OK)
        status = setup_timed(lab, p, seed, err);
    if (status == GEMMTUNE_OK)
        status = setup_listed(lab, p, seed, GT_LAB_SMALLS, GT_LAB_LISTED, err);
    if (status != GEMMTUNE_OK) {
        clear_types(lab);
        return gt_fail_within(err, status, "%s", name);
    }
    lab->problem = *p;
    lab->seed = seed;
    snprintf(lab->name, sizeof lab->name, "%s", name);
    return GEMMTUNE_OK;
}

void gt_lab_set_spread(struct gt_lab *lab, enum gt_spread spread) {
    if (spread != lab->spread)
        gt_sets_clear(lab);
    lab->spread = spread;
}

gt_status gt_lab_setup_inputs(struct gt_lab *lab, struct gt_err *err) {
    if (lab->sets.count > 0)
        return GEMMTUNE_OK;
    gt_status status = gt_sets_create(lab, &lab->problem, lab->seed, err);
    if (status != GEMMTUNE_OK) {
        status = gt_fail_within(err, status, "%s", lab->name);
        clear_types(lab);
    }
    return status;
}
