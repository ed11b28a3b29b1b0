/* SPDX-License-Identifier: Apache-2.0 */
/* bench_errors.c - see bench_errors.h. */
#include "tuner/bench/bench_errors.h"

#include "tuner/bench/player.h"
#include "tuner/lab/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double sample_ns = 2e6;
enum { ROUNDS = 9 };

static const struct {
    const char *name;
    enum gt_data_mode mode;
} data[GT_ERROR_DATA] = {
    {"uniform", GT_DATA_UNIFORM},
    {"one sign", GT_DATA_POSITIVE},
    {"wide exponents", GT_DATA_WIDE},
};

const char *gt_error_data_name(int which) {
    return data[which].name;
}

/* A way that takes part: a variant of one of three rivals. */
struct entrant {
    struct gt_player player;
    struct gt_way *way;
};

enum { OWN, OWN_STRICT, CUBLAS, SIDES };

struct errors {
    struct gt_lab *lab;
    struct gt_bench_workspace workspace;
    void *side[SIDES]; /* NULL: not available */
    int entrants;
    struct entrant entrant[GT_WAYS_MAX];
};

static const struct gt_rival *rival_of(int side) {
    return side == CUBLAS ? &gt_rival_cublas_kinds : &gt_rival_own;
}

/* ---- making the ways ready ---- */

static gt_status check_types(const gemmtune_problem *p, struct gt_err *err) {
    const bool floats = p->type_c == GEMMTUNE_F32 || p->type_c == GEMMTUNE_F64;
    if (p->type_a != p->type_c || p->type_b != p->type_c || p->type_acc != p->type_c ||
        !floats)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "errors are measured of f32 and f64 matrices only");
    return p->epilogue != NULL
               ? gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "errors are measured of products without an epilogue only")
               : GEMMTUNE_OK;
}

static void add_ways(struct errors *x, struct gt_errors *out, int side, int variants) {
    for (int i = 0; i < variants && x->entrants < GT_WAYS_MAX; i++) {
        struct entrant *p = &x->entrant[x->entrants++];
        *p = (struct entrant){
            .player = {.who = rival_of(side), .self = x->side[side], .variant = i},
            .way = &out->way[out->ways++]};
        snprintf(p->way->whose, sizeof p->way->whose, "%s%s", p->player.who->name,
                 side == OWN_STRICT ? ", strict" : "");
        p->player.who->describe(p->way->name, p->player.self, i);
    }
}

static gt_status open_side(struct errors *x, struct gt_errors *out, int side,
                           const struct gt_rival_setup *setup, const gemmtune_problem *p,
                           struct gt_err *err) {
    const struct gt_rival *who = rival_of(side);
    gemmtune_problem problem = *p;
    int variants = 0;
    if (side != OWN)
        problem.math = GEMMTUNE_MATH_STRICT;
    gt_status status = who->open(&x->side[side], setup, err);
    if (status == GEMMTUNE_OK)
        status = who->prepare(&variants, x->side[side], &problem, err);
    if (status == GEMMTUNE_OK)
        add_ways(x, out, side, variants);
    return status;
}

/* cuBLAS may be missing. The strict way of ours is left out where it is the problem's. */
static gt_status open_sides(struct errors *x, struct gt_errors *out,
                            const struct gt_rival_setup *setup, const gemmtune_problem *p,
                            struct gt_err *err) {
    struct gt_err why = {"it does not run on this device"};
    gt_status status = open_side(x, out, OWN, setup, p, err);
    if (status == GEMMTUNE_OK && p->math != GEMMTUNE_MATH_STRICT)
        status = open_side(x, out, OWN_STRICT, setup, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!gt_rival_cublas_kinds.serves(gt_lab_device(x->lab), p) ||
        open_side(x, out, CUBLAS, setup, p, &why) != GEMMTUNE_OK)
        snprintf(out->missing, sizeof out->missing, "%s", why.line);
    return GEMMTUNE_OK;
}

static gt_status open_errors(struct errors *x, struct gt_errors *out,
                             const struct gt_device *d, const struct gt_bench_options *o,
                             const gemmtune_problem *p, struct gt_err *err) {
    gt_status status = check_types(p, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_create(&x->lab, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup(x->lab, p, o->seed, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup_inputs(x->lab, err);
    if (status != GEMMTUNE_OK)
        return status;
    x->workspace.rig = x->lab->rig;
    x->workspace.limit = o->workspace;
    const struct gt_rival_setup setup = {x->lab->rig, x->lab, o->db, &x->workspace};
    status = gt_bench_workspace_fit(&x->workspace, p, err);
    return status == GEMMTUNE_OK ? open_sides(x, out, &setup, p, err) : status;
}

static void close_errors(struct errors *x) {
    for (int i = 0; i < x->entrants; i++)
        gt_player_stop(&x->entrant[i].player);
    for (int i = 0; i < SIDES; i++)
        if (x->side[i] != NULL)
            rival_of(i)->close(x->side[i]);
    gt_bench_workspace_release(&x->workspace);
    gt_lab_destroy(x->lab);
}

/* ---- measuring ---- */

/* A way that cannot compute the problem has the reason, and no numbers. */
static gt_status settle(struct entrant *p, gt_status status, struct gt_err *why,
                        struct gt_err *err) {
    if (status == GEMMTUNE_OK)
        return GEMMTUNE_OK;
    snprintf(p->way->why, sizeof p->way->why, "%s", why->line);
    return status == GEMMTUNE_EUNSUPPORTED ? GEMMTUNE_OK
                                           : gt_fail(err, status, "%s", why->line);
}

static gt_status measure_data(struct errors *x, int which, uint64_t seed,
                              struct gt_err *err) {
    const struct gt_case_spec spec = {.problem = x->lab->problem,
                                      .alpha = 1,
                                      .mode = data[which].mode,
                                      .seed = seed + 100 + (uint64_t)which};
    struct gt_case *t = NULL;
    gt_status status = gt_case_create(&t, x->lab->checker, &spec, err);
    for (int i = 0; status == GEMMTUNE_OK && i < x->entrants; i++) {
        struct entrant *p = &x->entrant[i];
        const struct gt_product product = gt_player_product(&p->player);
        struct gt_err why = {""};
        if (p->way->why[0] == '\0')
            status = settle(
                p, gt_error_of(&p->way->error[which], x->lab->checker, t, &product, &why),
                &why, err);
    }
    gt_case_destroy(t);
    return status;
}

static gt_status start_watch(struct errors *x, struct entrant *p, double most_ns,
                             struct gt_err *err) {
    struct gt_err why = {""};
    if (p->way->why[0] != '\0')
        return GEMMTUNE_OK;
    return settle(p, gt_player_start(&p->player, x->lab, sample_ns, most_ns, &why), &why,
                  err);
}

/* The ways take turns. */
static gt_status measure_times(struct errors *x, double most_ns, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < x->entrants; i++)
        status = start_watch(x, &x->entrant[i], most_ns, err);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; status == GEMMTUNE_OK && i < x->entrants; i++) {
            struct gt_measurement *m = &x->entrant[i].way->time;
            double ns = 0;
            if (!gt_player_has_started(&x->entrant[i].player))
                continue;
            status = gt_player_sample(&x->entrant[i].player, &ns, err);
            m->sample_ns[m->samples++] = (float)ns;
        }
    for (int i = 0; i < x->entrants; i++)
        if (x->entrant[i].way->time.samples > 0)
            gt_measurement_summarize(&x->entrant[i].way->time);
    return status;
}

gt_status gt_errors_measure(struct gt_errors *out, const struct gt_device *d,
                            const struct gt_bench_options *options,
                            const gemmtune_problem *p, struct gt_err *err) {
    struct errors x = {.lab = NULL};
    memset(out, 0, sizeof *out);
    gt_status status = open_errors(&x, out, d, options, p, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_ERROR_DATA; i++)
        status = measure_data(&x, i, options->seed, err);
    if (status == GEMMTUNE_OK)
        status = measure_times(&x, options->budget_s * 1e9, err);
    if (x.lab != NULL)
        close_errors(&x);
    return status;
}
