/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival_own.c - our side of a comparison: gemmtune.h, called as by its users: a plan with
 * the workspace of all sides, and other ways.
 */
#include "tuner/bench/rival.h"

#include "core/clock.h"
#include "tuner/base/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct own {
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    const struct gt_bench_workspace *workspace; /* all sides' workspace, or `mine` */
    struct gt_bench_workspace mine;
    bool in_one_call; /* there is no plan, and the context has a workspace */
    gemmtune_problem problem;
    void *stream;
    double first_s;
    bool called;
};

static bool serves(const struct gt_device *d, const gemmtune_problem *p) {
    (void)d;
    (void)p;
    return true;
}

static gt_status failed(gt_status status, struct gt_err *err) {
    return status != GEMMTUNE_OK ? gt_fail(err, status, "%s", gemmtune_errmsg())
                                 : GEMMTUNE_OK;
}

static void close_own(void *self) {
    struct own *o = self;
    gemmtune_plan_destroy(o->plan);
    gemmtune_close(o->ctx);
    gt_bench_workspace_release(&o->mine);
    free(o);
}

static gt_status open_own(void **self, const struct gt_rival_setup *setup,
                          struct gt_err *err) {
    gemmtune_target target;
    struct own *o = calloc(1, sizeof *o);
    *self = NULL;
    if (!o)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to open the library");
    o->workspace = setup->workspace;
    o->mine.rig = setup->rig;
    o->stream = gt_rig_head(setup->rig)->stream;
    gt_rig_head(setup->rig)->ops->target(&target, setup->rig);
    const gt_status status = failed(gemmtune_open(&o->ctx, setup->db, &target), err);
    if (status != GEMMTUNE_OK) {
        close_own(o);
        return status;
    }
    *self = o;
    return GEMMTUNE_OK;
}

/* The same with a workspace of its own: of `limit` bytes, or as large as without one. */
static gt_status open_with(void **self, const struct gt_rival_setup *setup, double limit,
                           struct gt_err *err) {
    const gt_status status = open_own(self, setup, err);
    struct own *o = *self;
    if (o != NULL) {
        o->mine.limit = limit;
        o->workspace = &o->mine;
    }
    return status;
}

static gt_status open_none(void **self, const struct gt_rival_setup *setup,
                           struct gt_err *err) {
    return open_with(self, setup, 0, err);
}

static gt_status open_any(void **self, const struct gt_rival_setup *setup,
                          struct gt_err *err) {
    return open_with(self, setup, (double)INFINITY, err);
}

static gt_status open_call(void **self, const struct gt_rival_setup *setup,
                           struct gt_err *err) {
    const gt_status status = open_own(self, setup, err);
    if (*self != NULL)
        ((struct own *)*self)->in_one_call = true;
    return status;
}

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct own *o = self;
    gemmtune_plan_destroy(o->plan);
    o->plan = NULL;
    o->problem = *p;
    o->called = false;
    o->first_s = 0;
    *variants = 1;
    gt_status status = GEMMTUNE_OK;
    if (o->workspace == &o->mine)
        status = gt_bench_workspace_fit(&o->mine, p, err);
    if (status != GEMMTUNE_OK || o->in_one_call)
        return status;
    const double began = gt_seconds();
    status = failed(gemmtune_plan_create(&o->plan, o->ctx, p, GEMMTUNE_MATCH_DEFAULT,
                                         o->workspace->bytes),
                    err);
    o->first_s = gt_seconds() - began;
    return status;
}

static gt_status launch(const struct own *o, const struct gt_call *x) {
    gemmtune_args args;
    gemmtune_args_init(&args);
    args.alpha = x->alpha;
    args.beta = x->beta;
    args.a = x->a;
    args.b = x->b;
    args.c = x->c;
    args.workspace = o->workspace->memory;
    args.operands = x->operands;
    args.operand = x->operand;
    args.operand_ld = x->operand_ld;
    args.d2 = x->d2;
    args.rows = x->rows;
    args.d2_ld = x->d2_ld;
    return gemmtune_launch(o->plan, &args, o->stream);
}

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    struct own *o = self;
    const double began = gt_seconds();
    (void)variant;
    const gt_status status =
        failed(o->in_one_call ? gemmtune_gemm(o->ctx, &o->problem, x->alpha, x->a, x->b,
                                              x->beta, x->c, o->stream)
                              : launch(o, x),
               err);
    if (!o->called)
        o->first_s += gt_seconds() - began;
    o->called = true;
    return status;
}

static double first_s(const void *self) {
    return ((const struct own *)self)->first_s;
}

/* gemmtune_gemm takes three matrices and nothing else. */
static bool serves_call(const struct gt_device *d, const gemmtune_problem *p) {
    (void)d;
    return !gt_problem_has_pointers(p) && !gt_problem_has_rows(p) && p->epilogue == NULL;
}

void gt_kernel_text(char text[GT_RIVAL_TEXT_MAX], const gemmtune_plan *plan) {
    gemmtune_plan_info info;
    gemmtune_plan_describe(plan, &info);
    snprintf(text, GT_RIVAL_TEXT_MAX, "%s: %s %s", gt_match_word(info.match), info.family,
             info.params);
}

void gt_rival_own_kernel(struct gt_candidate *out, const void *own) {
    gemmtune_plan_info info;
    gemmtune_plan_describe(((const struct own *)own)->plan, &info);
    gt_candidate_set(out, info.family, info.params);
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct own *o = self;
    (void)variant;
    if (o->in_one_call)
        (void)snprintf(text, GT_RIVAL_TEXT_MAX, "gemmtune_gemm");
    else
        gt_kernel_text(text, o->plan);
}

#define OWN                                                                                \
    .close = close_own, .prepare = prepare, .enqueue = enqueue, .describe = describe,      \
    .first_s = first_s

const struct gt_rival gt_rival_own = {.name = "gemmtune",
                                      .about = "the library with its database",
                                      .serves = serves,
                                      .open = open_own,
                                      OWN};
const struct gt_rival gt_rival_self = {.name = "self",
                                       .about = "the same a second time",
                                       .by_name_only = true,
                                       .serves = serves,
                                       .open = open_own,
                                       OWN};
const struct gt_rival gt_rival_plan_none = {.name = "plan+none",
                                            .about = "the library without a workspace",
                                            .by_name_only = true,
                                            .is_way = true,
                                            .serves = serves,
                                            .open = open_none,
                                            OWN};
const struct gt_rival gt_rival_plan_any = {.name = "plan+any",
                                           .about = "the library with any workspace",
                                           .by_name_only = true,
                                           .is_way = true,
                                           .serves = serves,
                                           .open = open_any,
                                           OWN};
const struct gt_rival gt_rival_one_call = {.name = "one-call",
                                           .about = "the library's one-call form",
                                           .by_name_only = true,
                                           .is_way = true,
                                           .serves = serves_call,
                                           .open = open_call,
                                           OWN};
