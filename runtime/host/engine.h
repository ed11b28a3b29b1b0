/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - executes a schedule on one device: four threads, one a lane, each with a queue
 * of its own. Tiles of C come from a board that all devices share.
 */
#ifndef GT_RUNTIME_HOST_ENGINE_H
#define GT_RUNTIME_HOST_ENGINE_H

#include "runtime/plan/context.h"
#include "runtime/host/link.h"
#include "runtime/host/run.h"

/* When an operation ran, in seconds from gt_host_run's `began`. */
struct gt_host_span {
    double begin, end;
};

struct gt_host_engine;

/* Opens the device's link, builds kernels for every shape of tile, and allocates slots,
 * workspace and staging memory. `run` and `ctx` must outlive the engine. ENOMEM names the
 * number of bytes that do not fit. */
gt_status gt_host_engine_create(struct gt_host_engine **out, struct gt_host_run *run,
                                gemmtune_ctx *ctx, int device, size_t workspace_max,
                                struct gt_err *err);
/* Waits for its threads. Accepts NULL. */
void gt_host_engine_destroy(struct gt_host_engine *e);
/* Starts the threads; run->lanes counts them. */
gt_status gt_host_engine_start(struct gt_host_engine *e, struct gt_err *err);
/* Waits until all threads have ended. */
void gt_host_engine_join(struct gt_host_engine *e);

/* After gt_host_engine_join: the operations that ran, in order, with their times. */
int64_t gt_host_engine_ops(const struct gt_host_engine *e, const struct gt_host_op **op,
                           const struct gt_host_span **span);

struct gt_host_engine_facts {
    int64_t device_bytes, pinned_bytes;
    char kernel[GT_NAME_MAX + GT_POINT_TEXT_MAX]; /* family and point for a whole tile */
    gemmtune_match match;
};
void gt_host_engine_describe(const struct gt_host_engine *e,
                             struct gt_host_engine_facts *out);

#endif
