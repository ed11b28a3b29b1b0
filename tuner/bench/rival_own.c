/* SPDX-License-Identifier: Apache-2.0 */
/* rival_own.c - our side of a comparison: gemmtune.h, called as by its users. */
#include "tuner/bench/rival.h"

#include "tuner/base/choose.h"

#include <stdio.h>
#include <stdlib.h>

struct own {
    gemmtune_ctx *ctx;
    gemmtune_plan *plan;
    const struct gt_bench_workspace *workspace;
    void *stream;
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

static gt_status prepare(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err) {
    struct own *o = self;
    gemmtune_plan_destroy(o->plan);
    *variants = 1;
    return failed(gemmtune_plan_create(&o->plan, o->ctx, p, GEMMTUNE_MATCH_DEFAULT,
                                       o->workspace->bytes),
                  err);
}

static gt_status enqueue(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err) {
    const struct own *o = self;
    gemmtune_args args;
    (void)variant;
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
    return failed(gemmtune_launch(o->plan, &args, o->stream), err);
}

void gt_kernel_text(char text[GT_RIVAL_TEXT_MAX], const gemmtune_plan *plan) {
    gemmtune_plan_info info;
    gemmtune_plan_describe(plan, &info);
    snprintf(text, GT_RIVAL_TEXT_MAX, "%s: %s %s", gt_match_word(info.match), info.family,
             info.params);
}

static void describe(char text[GT_RIVAL_TEXT_MAX], void *self, int variant) {
    const struct own *o = self;
    (void)variant;
    gt_kernel_text(text, o->plan);
}

#define OWN                                                                                \
    .serves = serves, .open = open_own, .close = close_own, .prepare = prepare,            \
    .enqueue = enqueue, .describe = describe

const struct gt_rival gt_rival_own = {
    .name = "gemmtune", .about = "the library with its database", OWN};
const struct gt_rival gt_rival_self = {
    .name = "self", .about = "the same a second time", .by_name_only = true, OWN};
