/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - how long kernels take. Random inputs, rotated over more than three times the last-
 * level cache, many launches a sample where one is short, kernels interleaved sample by sample,
 * samples under a throttled clock dropped.
 */
#include "tuner/lab_internal.h"
#include "tuner/stopwatch.h"

#include <stdlib.h>
#include <string.h>

const struct gt_time_budget gt_screen_budget = {
    .sample_ns = 2e5, .total_ns = 3e7, .samples_min = 5, .samples_max = 15};
const struct gt_time_budget gt_final_budget = {
    .sample_ns = 1e6, .total_ns = 1.2e8, .samples_min = 9, .samples_max = 30};

enum { DROPPED_MAX = 20 }; /* throttled samples after which one is taken as it comes */
/* A first sample this many times the best so far ends the timing of a candidate. */
static const double hopeless = 1.6;

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

/* Sets that together exceed three times the last-level cache. */
static int set_count(const gemmtune_problem *p, const struct gt_device *d) {
    int64_t stride[3];
    strides(stride, p);
    const int64_t one = stride[0] + stride[1] + stride[2];
    const int64_t count = 3 * cache_bytes(d) / one + 1;
    return count > GT_SETS_MAX ? GT_SETS_MAX : (int)count;
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

/* ---- one kernel under the clock ---- */

struct runner {
    struct gt_lab *lab;
    struct gt_kernel_call call;
    struct gt_stopwatch *watch;
    double spent_ns;
    bool ended;
};

static gt_status prepare(struct runner *r, struct gt_lab *lab, const struct gt_exec *exec,
                         const struct gt_time_budget *b, struct gt_err *err) {
    r->lab = lab;
    r->call = (struct gt_kernel_call){exec, gt_checker_workspace(lab->checker),
                                      gt_rig_head(lab->rig)->stream};
    const struct gt_product product = gt_product_of(&r->call);
    return gt_stopwatch_create(&r->watch, lab, &product, b->sample_ns, b->total_ns, err);
}

static gt_status sample(struct runner *r, struct gt_measurement *m, struct gt_err *err) {
    const int launches = gt_stopwatch_launches(r->watch);
    double ns = 0;
    int mhz = 0;
    bool throttled = false;
    gt_status status = gt_stopwatch_sample(r->watch, &ns, err);
    if (status)
        return status;
    r->spent_ns += ns * launches;
    gt_rig_head(r->lab->rig)->ops->clock(r->lab->rig, &mhz, &throttled);
    if (throttled && m->dropped < DROPPED_MAX) {
        m->dropped++;
        return GEMMTUNE_OK;
    }
    m->clock_mhz = mhz;
    m->launches = launches;
    m->sample_ns[m->samples++] = (float)ns;
    return GEMMTUNE_OK;
}

static bool enough(const struct runner *r, const struct gt_measurement *m,
                   const struct gt_time_budget *b) {
    if (m->samples >= b->samples_max || m->samples >= GT_SAMPLES_MAX)
        return true;
    if (b->best_ns > 0 && m->samples >= 2 &&
        (double)m->sample_ns[m->samples - 1] > hopeless * b->best_ns)
        return true;
    const bool over = r->spent_ns > b->total_ns;
    /* what takes longer than the whole budget is not run samples_min times */
    return over && (m->samples >= b->samples_min || r->spent_ns > 4 * b->total_ns);
}

/* One sample of each that has not ended, starting with another one each round. */
static gt_status round_robin(struct gt_measurement *out, struct runner *r, int count,
                             int round, const struct gt_time_budget *b, bool *more,
                             struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *more = false;
    for (int i = 0; !status && i < count; i++) {
        const int at = (i + round) % count;
        if (r[at].ended)
            continue;
        status = sample(&r[at], &out[at], err);
        r[at].ended = out[at].samples > 0 && enough(&r[at], &out[at], b);
        *more = *more || !r[at].ended;
    }
    return status;
}

gt_status gt_lab_time(struct gt_measurement *out, struct gt_lab *lab,
                      const struct gt_exec *const *execs, int count,
                      const struct gt_time_budget *budget, struct gt_err *err) {
    enum { RUNNERS_MAX = 8 };
    struct runner r[RUNNERS_MAX] = {{0}};
    bool more = count > 0;
    gt_status status = count > RUNNERS_MAX
                           ? gt_fail(err, GEMMTUNE_EINVAL,
                                     "at most %d kernels are timed together", RUNNERS_MAX)
                           : GEMMTUNE_OK;
    if (status)
        return status;
    memset(out, 0, (size_t)count * sizeof *out);
    for (int i = 0; !status && i < count; i++) {
        status = prepare(&r[i], lab, execs[i], budget, err);
    }
    for (int round = 0; !status && more; round++)
        status = round_robin(out, r, count, round, budget, &more, err);
    for (int i = 0; i < count; i++) {
        gt_stopwatch_destroy(r[i].watch);
        gt_measurement_summarize(&out[i]);
    }
    return status;
}
