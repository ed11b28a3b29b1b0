/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace.h - the workspaces of a context: device memory for its one-call forms, one for
 * each stream with calls that need some. The public calls gemmtune_workspace_set and
 * gemmtune_workspace_make are here as well.
 */
#ifndef GT_RUNTIME_PLAN_WORKSPACE_H
#define GT_RUNTIME_PLAN_WORKSPACE_H

#include "runtime/drivers/stream_memory.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    GT_WORKSPACE_DEFAULT = 32 << 20, /* bytes; what cuBLAS has on Hopper */
    GT_WORKSPACE_STREAMS = 32        /* streams of a context that have one, at most */
};

/* The workspace of one stream. Nothing but the lock changes until it is freed. */
struct gt_workspace {
    struct gt_stream_id id;
    void *stream;
    void *memory;         /* NULL: it could not be allocated */
    pthread_mutex_t lock; /* held while the launches of a call that uses it are enqueued */
};

/* All of them. Readers take no lock: item[i] never changes while i < count, but for
 * gt_workspaces_clear, beside which nobody may read. */
struct gt_workspaces {
    pthread_mutex_t lock; /* held by the thread that adds one */
    atomic_size_t bytes;  /* of each; 0: none */
    atomic_int count;
    struct gt_workspace *item[GT_WORKSPACE_STREAMS];
};

gt_status gt_workspaces_init(struct gt_workspaces *all, struct gt_err *err);
/* Frees all, and what they need to be made again. `gpu` may be NULL when there are none. */
void gt_workspaces_clear(struct gt_workspaces *all, const struct gt_gpu *gpu);

/* The most bytes of workspace that the plan of a one-call form on this stream may need. 0:
 * the stream can have none. */
size_t gt_workspace_room(const gemmtune_ctx *ctx, void *stream);
/* The stream's workspace, for one call; made now if there is none. Until gt_workspace_give
 * no other call may use it: the launches of two calls would mix. NULL: the stream has none
 * and gets none. */
struct gt_workspace *gt_workspace_take(gemmtune_ctx *ctx, void *stream);
void gt_workspace_give(struct gt_workspace *w); /* accepts NULL */

#endif
