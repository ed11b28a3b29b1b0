/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - a call of gemmtune_host_gemm, for its parts: its arguments (call_read.c), its
 * plan (call_plan.c), and its running (host.c).
 */
#ifndef GT_RUNTIME_HOST_CALL_H
#define GT_RUNTIME_HOST_CALL_H

#include "runtime/host/engine.h"
#include "runtime/host/rates.h"

enum { GT_HOST_DEVICES_MAX = 64 };

struct gt_host_call {
    /* set by the caller of the functions below */
    gemmtune_ctx *const *ctx;
    int devices;
    /* from gt_host_call_read */
    gemmtune_host_options options;
    double flops; /* of the whole product */
    /* from gt_host_call_plan, which also sets the tiles and slots of `cut` */
    struct gt_host_rates rates[GT_HOST_DEVICES_MAX];
    struct gt_host_range range[GT_HOST_DEVICES_MAX];
    struct gt_host_tile *tile; /* owned */
    int64_t memory;            /* bytes that a device may use */
    int64_t workspace_max;     /* bytes of them that may be workspace */
    /* from several parts */
    struct gt_host_cut cut;
    struct gt_host_run run;
    gemmtune_host_report report;
    struct gt_host_engine *engine[GT_HOST_DEVICES_MAX]; /* owned */
};

/* Checks the list of devices and reads everything that the caller gives. As in BLAS, A and
 * B are not read when alpha or k is 0, and C is not read when beta is 0. *idle: C stays
 * unchanged, and there is nothing to do. EINVAL, EUNSUPPORTED. */
gt_status gt_host_call_read(bool *idle, struct gt_host_call *c, const gemmtune_problem *p,
                            const gemmtune_args *args, const gemmtune_host_options *options,
                            struct gt_err *err);

/* Finds the matrices that are not pinned, and starts a copier for them. A matrix counts as
 * pinned when its first and its last byte are pinned. The caller destroys run.copier. */
gt_status gt_host_call_find_staged(struct gt_host_call *c, struct gt_err *err);

/* Measures the devices where that was not done yet, chooses tiles and slots, and fills the
 * board and the plan's part of the report. EINVAL: not even the smallest tiles fit. */
gt_status gt_host_call_plan(struct gt_host_call *c, struct gt_err *err);

#endif
