/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - how long kernels take. Random inputs, rotated over more than three times the last-
 * level cache, many launches a sample where one is short, kernels interleaved sample by sample.
 * When it is enough, and what the samples say, is race.c's.
 */
#include "tuner/lab_internal.h"
#include "tuner/stopwatch.h"

#include <string.h>

const struct gt_time_budget gt_screen_budget = {
    .sample_ns = 2e5, .rule = {.total_ns = 3e7, .narrow = 0.01, .samples_max = 20}};
const struct gt_time_budget gt_final_budget = {
    .sample_ns = 1e6,
    .load_ns = 3e8,
    .rule = {.total_ns = 6e7, .narrow = 0.005, .samples_max = GT_SAMPLES_MAX}};
const struct gt_time_budget gt_again_budget = {
    .sample_ns = 1e6,
    .load_ns = 3e8,
    .rule = {
        .total_ns = 6e7, .narrow = 0.005, .samples_max = GT_SAMPLES_MAX, .all_stay = true}};

/* ---- rotating inputs ---- */

static int64_t round_up(int64_t v, int64_t to) {
    return (v + to - 1) / to * to;
}

/* Bytes from one set's operand to the next's. */
static void strides(int64_t out[3], const gemmtune_problem *p) {
    const int64_t bytes[3] = {gt_problem_elems_a(p) * (int64_t)gt_type_size(p->type_a),
                              gt_problem_elems_b(p) * (int64_t)gt_type_size(p->type_b),
                              gt_problem_elems_c(p) * (int64_t)gt_type_size(p->type_c)};
    for (int i = 0; i < 3; i++)
        out[i] = round_up(bytes[i] > 0 ? bytes[i] : 1, GT_VIEW_ALIGN);
}

/* The last-level cache. 32 MiB where the driver does not tell, and at most that for a CPU device:
 * PoCL reports the sum over a whole server of which we may own two cores. */
static int64_t cache_bytes(const struct gt_device *d) {
    const int64_t usual = INT64_C(32) << 20;
    if (d->l2_bytes <= 0 || (d->is_cpu && d->l2_bytes > usual))
        return usual;
    return d->l2_bytes;
}

/* Sets that together exceed three times the last-level cache: a power of two, so that samples of as
 * many launches as a power of two go round the ring evenly. */
static int set_count(const gemmtune_problem *p, const struct gt_device *d) {
    int64_t stride[3];
    int count = 1;
    strides(stride, p);
    const int64_t one = stride[0] + stride[1] + stride[2];
    while (count < GT_SETS_MAX && count * one <= 3 * cache_bytes(d))
        count *= 2;
    return count;
}

int64_t gt_sets_bytes(const gemmtune_problem *p, const struct gt_device *d) {
    int64_t stride[3];
    strides(stride, p);
    return set_count(p, d) * (stride[0] + stride[1] + stride[2]);
}

static gt_status make_views(struct gt_lab *lab, const int64_t stride[3],
                            struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    gt_status status = GEMMTUNE_OK;
    for (int o = 0; !status && o < 3; o++) {
        status = ops->alloc(&lab->sets.mem[o], lab->rig, lab->sets.count * stride[o], err);
        for (int i = 0; !status && i < lab->sets.count; i++)
            status = ops->view(&lab->sets.view[o][i], lab->rig, lab->sets.mem[o],
                               i * stride[o], stride[o], err);
    }
    return status;
}

static gt_status fill_sets(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                           struct gt_err *err) {
    const int64_t rows[3] = {p->trans_a ? p->k : p->m, p->trans_b ? p->n : p->k, p->m};
    const int64_t cols[3] = {p->trans_a ? p->m : p->k, p->trans_b ? p->k : p->n, p->n};
    const int64_t ld[3] = {p->lda, p->ldb, p->ldc};
    gt_status status = GEMMTUNE_OK;
    for (int o = 0; o < 3; o++)
        for (int i = 0; !status && i < lab->sets.count; i++)
            status = gt_checker_fill(lab->checker, lab->sets.view[o][i], rows[o], cols[o],
                                     ld[o], seed * 7 + (uint64_t)(3 * i + o) + 100,
                                     GT_DATA_UNIFORM, err);
    return status;
}

gt_status gt_sets_create(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                         struct gt_err *err) {
    int64_t stride[3];
    strides(stride, p);
    lab->sets.count = set_count(p, gt_lab_device(lab));
    gt_status status = make_views(lab, stride, err);
    if (!status)
        status = fill_sets(lab, p, seed, err);
    if (!status)
        status = gt_rig_head(lab->rig)->ops->finish(lab->rig, err);
    return status;
}

void gt_sets_clear(struct gt_lab *lab) {
    const struct gt_rig_ops *ops = gt_rig_head(lab->rig)->ops;
    for (int o = 0; o < 3; o++) {
        for (int i = 0; i < lab->sets.count; i++)
            if (lab->sets.view[o][i])
                ops->view_release(lab->rig, lab->sets.view[o][i]);
        if (lab->sets.mem[o])
            ops->release(lab->rig, lab->sets.mem[o]);
    }
    memset(&lab->sets, 0, sizeof lab->sets);
}

/* ---- kernels under the clock ---- */

enum { LONG = 5 }; /* samples that a launch may take and be launched again to warm up */

struct field {
    struct gt_lab *lab;
    struct gt_kernel_call call[GT_RACERS_MAX];
    struct gt_stopwatch *watch[GT_RACERS_MAX];
    struct gt_race race;
};

static gt_status prepare(struct field *f, const struct gt_exec *const *execs, int count,
                         const struct gt_time_budget *b, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; !status && i < count; i++) {
        f->call[i] =
            (struct gt_kernel_call){execs[i], gt_checker_workspace(f->lab->checker),
                                    gt_rig_head(f->lab->rig)->stream};
        const struct gt_product product = gt_product_of(&f->call[i]);
        status = gt_stopwatch_create(&f->watch[i], f->lab, &product, b->sample_ns,
                                     LONG * b->sample_ns, err);
    }
    return status;
}

/* Under a load that takes more power than it may, a GPU lowers its clock little by little: all take turns
 * until it has, so that their times do not depend on how soon they are known. */
static gt_status load(struct field *f, double ns, struct gt_err *err) {
    enum { MOST = 1000 }; /* samples, of which a timer may see nothing */
    double spent = 0, now = 0;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; !status && i < MOST && spent < ns; i++) {
        struct gt_stopwatch *w = f->watch[i % f->race.count];
        status = gt_stopwatch_sample(w, &now, err);
        spent += now * gt_stopwatch_launches(w);
    }
    return status;
}

/* Those that take turns have one clock. One alone is compared with others that were alone
 * at other times, and where a launch is a sample its load may have brought the clock down:
 * that is looked at. */
static gt_status sample(struct gt_sample *out, struct field *f, int i, struct gt_err *err) {
    gt_status status = gt_stopwatch_sample(f->watch[i], &out->ns, err);
    out->launches = gt_stopwatch_launches(f->watch[i]);
    if (status)
        return status;
    gt_rig_head(f->lab->rig)->ops->clock(f->lab->rig, &out->clock_mhz, &out->throttled);
    if (f->race.count == 1 && out->launches == 1)
        status = gt_checker_clock(&out->clock_mhz, f->lab->checker, err);
    return status;
}

static void lengthen(struct field *f, const struct gt_sample *got) {
    for (int i = 0; i < f->race.count; i++)
        if (!f->race.racer[i].left && gt_sample_is_short(&got[i]))
            gt_stopwatch_lengthen(f->watch[i]);
}

/* One sample of each that is in the race, starting with another one each round. */
static gt_status run_round(struct field *f, int round, struct gt_err *err) {
    struct gt_sample got[GT_RACERS_MAX] = {{0}};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; !status && i < f->race.count; i++) {
        const int at = (i + round) % f->race.count;
        if (!f->race.racer[at].left)
            status = sample(&got[at], f, at, err);
    }
    if (!status && gt_race_round(&f->race, got) == GT_ROUND_TOO_SHORT)
        lengthen(f, got);
    return status;
}

gt_status gt_lab_time(struct gt_measurement *out, struct gt_lab *lab,
                      const struct gt_exec *const *execs, int count,
                      const struct gt_time_budget *budget, struct gt_err *err) {
    struct field f = {.lab = lab};
    struct gt_race_rule rule = budget->rule;
    gt_status status = count > GT_RACERS_MAX
                           ? gt_fail(err, GEMMTUNE_EINVAL,
                                     "at most %d kernels are timed together", GT_RACERS_MAX)
                           : GEMMTUNE_OK;
    if (!status && lab->sets.count == 0)
        status = gt_fail(err, GEMMTUNE_EINVAL, "there are no inputs to time kernels on");
    if (status)
        return status;
    rule.top_mhz = gt_lab_device(lab)->clock_mhz;
    gt_race_start(&f.race, &rule, count);
    status = prepare(&f, execs, count, budget, err);
    if (!status && count > 0 && !gt_lab_device(lab)->is_cpu)
        status = load(&f, budget->load_ns, err);
    for (int round = 0; !status && !f.race.over; round++)
        status = run_round(&f, round, err);
    gt_race_finish(&f.race);
    for (int i = 0; i < count; i++) {
        gt_stopwatch_destroy(f.watch[i]);
        out[i] = f.race.racer[i].time;
    }
    return status;
}
