/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_overhead.c - see bench_overhead.h. Calls are timed one by one, a few dozen of each
 * kind in turn. Between turns the device is waited for, so that no call waits for room in
 * its queue. The launches of a plan are recorded once, so that the driver alone gets
 * exactly the same kernels and arguments.
 */
#include "tuner/bench/bench_overhead.h"

#include "core/clock.h"
#include "tuner/lab/lab_internal.h"
#include "tuner/rig/bare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURN = 32,  /* calls between two waits */
    TURNS = 40, /* turns of each kind */
    WARM_UP = 2 /* turns that do not count */
};

const char *gt_call_name(int call) {
    static const char *const names[GT_CALL_RIVAL] = {
        [GT_CALL_LAUNCH] = "driver launch",
        [GT_CALL_EXECUTE] = "gemmtune_execute",
        [GT_CALL_GEMM] = "gemmtune_gemm",
    };
    return call < GT_CALL_RIVAL ? names[call] : gt_rivals[call - GT_CALL_RIVAL]->name;
}

struct calls {
    struct gt_lab *lab;
    gemmtune_problem problem;
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    struct gt_bench_workspace workspace;
    union gt_value alpha, beta;
    struct gt_call x;
    struct gt_rival_setup setup;
    void *rival[GT_RIVALS]; /* NULL: does not take part */
    struct gt_bare *bare;
};

static const struct gt_rig_ops *ops_of(const struct calls *c) {
    return gt_rig_head(c->lab->rig)->ops;
}

/* ---- the calls ---- */

static gt_status of_library(gt_status status, struct gt_err *err) {
    return status != GEMMTUNE_OK ? gt_fail(err, status, "%s", gemmtune_errmsg())
                                 : GEMMTUNE_OK;
}

static gt_status execute(void *calls, struct gt_err *err) {
    const struct calls *c = calls;
    return of_library(gemmtune_execute(c->plan, c->x.alpha, c->x.a, c->x.b, c->x.beta,
                                       c->x.c, c->x.workspace, c->x.stream),
                      err);
}

static gt_status make(struct calls *c, int call, struct gt_err *err) {
    switch (call) {
    case GT_CALL_LAUNCH:
        return ops_of(c)->bare->run(c->bare, err);
    case GT_CALL_EXECUTE:
        return execute(c, err);
    case GT_CALL_GEMM:
        return of_library(gemmtune_gemm(c->ctx, &c->problem, c->x.alpha, c->x.a, c->x.b,
                                        c->x.beta, c->x.c, c->x.stream),
                          err);
    default:
        call -= GT_CALL_RIVAL;
        return gt_rivals[call]->enqueue(c->rival[call], 0, &c->x, err);
    }
}

/* ---- making them ready ---- */

static gt_status prepare_plan(struct calls *c, struct gt_err *err) {
    return of_library(gemmtune_plan_create(&c->plan, c->ctx, &c->problem,
                                           GEMMTUNE_MATCH_DEFAULT, c->workspace.bytes),
                      err);
}

/* Rivals that are not measured: the CPU, which computes within the call, and our own
 * library. */
static bool is_measured(const struct calls *c, int rival) {
    return gt_rivals[rival] != &gt_rival_cpu && !gt_rivals[rival]->by_name_only &&
           gt_rivals[rival]->serves(gt_lab_device(c->lab), &c->problem);
}

static gt_status prepare_rival(struct calls *c, int i, struct gt_err *err) {
    int variants = 0;
    gt_status status = gt_rivals[i]->open(&c->rival[i], &c->setup, err);
    return status != GEMMTUNE_OK
               ? status
               : gt_rivals[i]->prepare(&variants, c->rival[i], &c->problem, err);
}

/* Makes the first call here, so that its additional work is not timed. */
static gt_status prepare(struct gt_overhead *out, struct calls *c, int call,
                         struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (call == GT_CALL_LAUNCH)
        status = ops_of(c)->bare->record(&c->bare, c->lab->rig, execute, c, err);
    if (c->bare != NULL)
        out->launches = c->bare->launches;
    if (call >= GT_CALL_RIVAL)
        status = prepare_rival(c, call - GT_CALL_RIVAL, err);
    if (status == GEMMTUNE_OK)
        status = make(c, call, err);
    return status != GEMMTUNE_OK ? status : ops_of(c)->finish(c->lab->rig, err);
}

/* The plan is needed for every comparison; any other call may be missing. */
static gt_status prepare_all(struct gt_overhead *out, struct calls *c, struct gt_err *err) {
    const gt_status status = prepare_plan(c, err);
    for (int i = 0; status == GEMMTUNE_OK && i < GT_CALLS; i++) {
        struct gt_err why = {""};
        out->asked[i] = i < GT_CALL_RIVAL || is_measured(c, i - GT_CALL_RIVAL);
        if (out->asked[i] && prepare(out, c, i, &why) != GEMMTUNE_OK)
            snprintf(out->why[i], sizeof out->why[i], "%s", why.line);
    }
    return status;
}

static gt_status open_calls(struct calls *c, const struct gt_device *d,
                            const struct gt_bench_options *o, const gemmtune_problem *p,
                            struct gt_err *err) {
    gemmtune_target target;
    c->problem = *p;
    gt_status status = gt_lab_create(&c->lab, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup(c->lab, p, o->seed, err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup_inputs(c->lab, err);
    if (status == GEMMTUNE_OK) {
        c->workspace.rig = c->lab->rig;
        c->workspace.limit = o->workspace;
        status = gt_bench_workspace_fit(&c->workspace, p, err);
    }
    if (status == GEMMTUNE_OK) {
        ops_of(c)->target(&target, c->lab->rig);
        status = of_library(gemmtune_open(&c->ctx, o->db, &target), err);
    }
    if (status == GEMMTUNE_OK)
        status = of_library(gemmtune_workspace_set(c->ctx, c->workspace.bytes), err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_sets *s = &c->lab->sets;
    c->setup = (struct gt_rival_setup){c->lab->rig, c->lab, o->db, &c->workspace};
    c->alpha = gt_value_of(p->type_acc, 1);
    c->beta = gt_value_of(p->type_acc, 0);
    c->x = (struct gt_call){.alpha = &c->alpha,
                            .a = s->view[0][0],
                            .b = s->view[1][0],
                            .beta = &c->beta,
                            .c = s->view[2][0],
                            .workspace = c->workspace.memory,
                            .stream = gt_rig_head(c->lab->rig)->stream};
    return GEMMTUNE_OK;
}

static void close_calls(struct calls *c) {
    for (int i = 0; i < GT_RIVALS; i++)
        if (c->rival[i])
            gt_rivals[i]->close(c->rival[i]);
    if (c->bare)
        ops_of(c)->bare->destroy(c->bare);
    gemmtune_plan_destroy(c->plan);
    gemmtune_close(c->ctx);
    gt_bench_workspace_release(&c->workspace);
    gt_lab_destroy(c->lab);
}

/* ---- timing them ---- */

/* The median of a turn's calls. */
static gt_status time_turn(float *ns, struct calls *c, int call, struct gt_err *err) {
    struct gt_measurement m = {.samples = 0};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < TURN; i++) {
        const double before = gt_seconds();
        status = make(c, call, err);
        m.sample_ns[m.samples++] = (float)(1e9 * (gt_seconds() - before));
    }
    gt_measurement_summarize(&m);
    *ns = (float)m.median_ns;
    return status != GEMMTUNE_OK ? status : ops_of(c)->finish(c->lab->rig, err);
}

static struct gt_cost cost_of(const float ns[TURNS], const float less[TURNS]) {
    struct gt_measurement m = {.samples = TURNS};
    for (int i = 0; i < TURNS; i++)
        m.sample_ns[i] = ns[i] - (less ? less[i] : 0);
    gt_measurement_summarize(&m);
    return (struct gt_cost){m.median_ns, m.low_ns, m.high_ns};
}

/* Forwards and backwards in turn, so that a drifting clock favours no call. */
static gt_status take_turns(struct gt_overhead *out, struct calls *c, struct gt_err *err) {
    float ns[GT_CALLS][TURNS] = {{0}}, warm;
    gt_status status = GEMMTUNE_OK;
    for (int t = -WARM_UP; status == GEMMTUNE_OK && t < TURNS; t++)
        for (int i = 0; status == GEMMTUNE_OK && i < GT_CALLS; i++) {
            const int call = t % 2 ? GT_CALLS - 1 - i : i;
            if (gt_call_counts(out, call))
                status = time_turn(t < 0 ? &warm : &ns[call][t], c, call, err);
        }
    for (int i = 0; status == GEMMTUNE_OK && i < GT_CALLS; i++) {
        if (!gt_call_counts(out, i))
            continue;
        out->cost[i] = cost_of(ns[i], NULL);
        if (gt_call_counts(out, GT_CALL_LAUNCH))
            out->above[i] = cost_of(ns[i], ns[GT_CALL_LAUNCH]);
    }
    return status;
}

bool gt_call_counts(const struct gt_overhead *o, int call) {
    return o->asked[call] && !o->why[call][0];
}

/* gemmtune_execute and gemmtune_gemm take three matrices and nothing else. */
static gt_status check_arguments(const gemmtune_problem *p, struct gt_err *err) {
    return gt_problem_has_pointers(p) || gt_problem_has_rows(p)
               ? gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "costs of calls are measured of products without pointer "
                         "arrays and lists of rows only")
               : GEMMTUNE_OK;
}

gt_status gt_overhead_measure(struct gt_overhead *out, const struct gt_device *d,
                              const struct gt_bench_options *options,
                              const gemmtune_problem *p, struct gt_err *err) {
    struct calls c = {.lab = NULL};
    memset(out, 0, sizeof *out);
    gt_status status = check_arguments(p, err);
    if (status == GEMMTUNE_OK)
        status = open_calls(&c, d, options, p, err);
    if (status == GEMMTUNE_OK)
        status = prepare_all(out, &c, err);
    if (status == GEMMTUNE_OK)
        status = take_turns(out, &c, err);
    if (status == GEMMTUNE_OK)
        gt_kernel_text(out->what, c.plan);
    if (c.lab)
        close_calls(&c);
    return status;
}
