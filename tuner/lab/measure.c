/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - times kernels: on rotating inputs (sets.c), with many launches in a sample
 * where one launch is short, and sample by sample in turn. race.c decides when there are
 * enough samples.
 */
#include "tuner/lab/lab_internal.h"
#include "tuner/lab/stopwatch.h"
#include "tuner/lab/witness.h"

#include <stdio.h>

const struct gt_time_budget gt_screen_budget = {
    .sample_ns = 2e5, .rule = {.total_ns = 3e7, .narrow = 0.01, .samples_max = 20}};
const struct gt_time_budget gt_final_budget = {.sample_ns = 1e6,
                                               .load_ns = 3e8,
                                               .rule = {.total_ns = 6e7,
                                                        .narrow = 0.005,
                                                        .samples_max = GT_SAMPLES_MAX,
                                                        .samples_least = 2}};
const struct gt_time_budget gt_compare_budget = {.sample_ns = 1e6,
                                                 .load_ns = 3e8,
                                                 .rule = {.total_ns = 6e7,
                                                          .narrow = 0.005,
                                                          .samples_max = GT_SAMPLES_MAX,
                                                          .samples_least = 2,
                                                          .all_stay = true}};

/* ---- kernels under the clock ---- */

enum { LONG = 5 }; /* samples' time; a longer launch is not repeated to warm up */

struct field {
    struct gt_lab *lab;
    struct gt_stopwatch *watch[GT_RACERS_MAX];
    struct gt_witness *witness;
    bool seen[GT_RACERS_MAX]; /* the last sample was looked at */
    struct gt_race race;
};

static gt_status prepare(struct field *f, const struct gt_exec *const *execs, int count,
                         const struct gt_time_budget *b, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < count; i++) {
        const struct gt_product product = gt_product_of(execs[i]);
        status = gt_stopwatch_create(&f->watch[i], f->lab, &product, b->sample_ns,
                                     LONG * b->sample_ns, err);
        if (status == GEMMTUNE_OK)
            gt_stopwatch_watch(f->watch[i], f->witness);
    }
    return status;
}

/* ---- what the clock saw ---- */

typedef gt_status (*look_fn)(bool *right, char *why, struct gt_stopwatch *w,
                             struct gt_err *err);

/* Looks at a kernel's outputs, unless it is known to be wrong. */
static gt_status look(struct field *f, int i, look_fn fn, struct gt_err *err) {
    bool right = true;
    char *why = f->lab->found[i].why;
    return why[0] == '\0' ? fn(&right, why, f->watch[i], err) : GEMMTUNE_OK;
}

/* Looks at one sample of eight, and no kernel can know which; and at every long one, beside
 * which a look takes little time. */
static gt_status look_by_chance(struct field *f, int i, const struct gt_sample *s,
                                struct gt_err *err) {
    enum { ONE_OF = 8 };
    const double long_ns = 2e7;
    f->seen[i] = s->ns * s->launches > long_ns || gt_witness_chance() % ONE_OF == 0;
    return f->seen[i] ? look(f, i, gt_stopwatch_look, err) : GEMMTUNE_OK;
}

/* Looks at one more sample of each kernel, unless its last one has been looked at and shows
 * everything: of laps it shows one sign. */
static gt_status prove_all(struct field *f, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < f->race.count; i++)
        if (!f->seen[i] || gt_stopwatch_has_laps(f->watch[i]))
            status = look(f, i, gt_stopwatch_prove, err);
    return status;
}

/* Runs all kernels in turn for `ns` of device time. Under a load above its power limit, a
 * GPU lowers its clock gradually. When it has done so, the times no longer depend on how
 * soon they are taken. */
static gt_status load(struct field *f, double ns, struct gt_err *err) {
    enum { MOST = 1000 }; /* samples at most: a timer may measure 0 for each */
    double spent = 0, now = 0;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < MOST && spent < ns; i++) {
        struct gt_stopwatch *w = f->watch[i % f->race.count];
        status = gt_stopwatch_sample(w, &now, err);
        spent += now * gt_stopwatch_launches(w);
    }
    return status;
}

/* Kernels that are timed in turn have the same clock. A kernel that is timed alone is
 * compared with kernels that were alone at other times. Where one launch is a sample, its
 * load may have lowered the clock, so the clock is measured. */
static gt_status sample(struct gt_sample *out, struct field *f, int i, struct gt_err *err) {
    gt_status status = gt_stopwatch_sample(f->watch[i], &out->ns, err);
    out->launches = gt_stopwatch_launches(f->watch[i]);
    if (status != GEMMTUNE_OK)
        return status;
    gt_rig_head(f->lab->rig)->ops->clock(f->lab->rig, &out->clock_mhz, &out->throttled);
    if (f->race.count == 1 && out->launches == 1)
        status = gt_checker_clock(&out->clock_mhz, f->lab->checker, err);
    return status == GEMMTUNE_OK ? look_by_chance(f, i, out, err) : status;
}

static void lengthen(struct field *f, const struct gt_sample *got) {
    for (int i = 0; i < f->race.count; i++)
        if (!f->race.racer[i].left && gt_sample_is_short(&got[i]))
            gt_stopwatch_lengthen(f->watch[i]);
}

/* Takes one sample of each kernel in the race. Each round starts with another kernel. */
static gt_status run_round(struct field *f, int round, struct gt_err *err) {
    struct gt_sample got[GT_RACERS_MAX] = {{0}};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < f->race.count; i++) {
        const int at = (i + round) % f->race.count;
        if (!f->race.racer[at].left)
            status = sample(&got[at], f, at, err);
    }
    if (status == GEMMTUNE_OK && gt_race_round(&f->race, got) == GT_ROUND_TOO_SHORT)
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
    if (status == GEMMTUNE_OK && lab->sets.count == 0)
        status = gt_fail(err, GEMMTUNE_EINVAL,
                         "kernels are timed on sets of inputs, and none was made");
    if (status != GEMMTUNE_OK)
        return status;
    rule.top_mhz = gt_lab_device(lab)->clock_mhz;
    gt_race_start(&f.race, &rule, count);
    for (int i = 0; i < GT_RACERS_MAX; i++)
        lab->found[i] = (struct gt_found){.exec = i < count ? execs[i] : NULL};
    status = gt_witness_create(&f.witness, lab, err);
    if (status == GEMMTUNE_OK)
        status = prepare(&f, execs, count, budget, err);
    if (status == GEMMTUNE_OK && count > 0 && !gt_lab_device(lab)->is_cpu)
        status = load(&f, budget->load_ns, err);
    for (int round = 0; status == GEMMTUNE_OK && !f.race.over; round++)
        status = run_round(&f, round, err);
    if (status == GEMMTUNE_OK)
        status = prove_all(&f, err);
    gt_race_finish(&f.race);
    for (int i = 0; i < count; i++) {
        gt_stopwatch_destroy(f.watch[i]);
        out[i] = f.race.racer[i].time;
    }
    gt_witness_destroy(f.witness);
    return status;
}
