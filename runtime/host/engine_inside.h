/* SPDX-License-Identifier: Apache-2.0 */
/* engine_inside.h - declarations that engine.c (memory, threads) and lane.c (operations)
 * share. */
#ifndef GT_RUNTIME_HOST_ENGINE_INSIDE_H
#define GT_RUNTIME_HOST_ENGINE_INSIDE_H

#include "runtime/host/engine.h"
#include "runtime/host/plans.h"
#include "runtime/host/stage.h"

enum {
    IN_FLIGHT_MAX = 8,            /* operations of a lane that are enqueued */
    CHUNK_BYTES = 8 * 1024 * 1024 /* bytes of a chunk of a stage */
};

/* The progress of an operation. */
enum gt_op_state { GT_OP_WAITING, GT_OP_ENQUEUED, GT_OP_OVER };

struct gt_host_state {
    enum gt_op_state progress;
    void *begin, *end; /* events, from ENQUEUED to OVER */
};

struct gt_host_lane {
    struct gt_host_engine *engine;
    enum gt_lane lane;
    pthread_t thread;
    bool started;
    void *queue;
    struct gt_host_stage stage[GT_OPERANDS]; /* for the staged operands of the lane */
    int64_t flight[IN_FLIGHT_MAX];           /* a ring of operations */
    int flying, oldest;
};

/* `schedule`, `state`, `span` and `claimed` are guarded by run->lock while threads run. */
struct gt_host_engine {
    struct gt_host_run *run;
    gemmtune_ctx *ctx;
    struct gt_link *link;
    int device; /* its place in the run's list */
    struct gt_host_plans plans;
    void **slot[GT_OPERANDS]; /* device buffers */
    void *workspace;
    int64_t device_bytes, pinned_bytes;
    struct gt_host_schedule schedule;
    struct gt_host_state *state;
    struct gt_host_span *span;
    int64_t room;        /* length of `state` and `span` */
    int64_t claimed;     /* tiles of C taken from the board */
    int64_t stored;      /* tiles of C copied back */
    double base_seconds; /* time of `base`, after run->began */
    void *base;          /* an event before all operations */
    struct gt_host_lane lane[GT_LANES];
};

/* The function of a lane's thread. */
void *gt_host_lane_main(void *lane_thread);

#endif
