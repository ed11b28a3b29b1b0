/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace.c - see workspace.h. Two streams may run at once, so each has memory of its
 * own. The calls of one stream run one after another and share it.
 */
#include "runtime/plan/workspace.h"

#include "core/log.h"
#include "runtime/plan/context.h"

#include <stdlib.h>

/* ---- finding --------------------------------------------------------------------- */

static bool is_same(const struct gt_stream_id *x, const struct gt_stream_id *asked) {
    return x->handle == asked->handle && (asked->is_captured || x->number == asked->number);
}

/* The latest comes first: see gt_stream_id. */
static struct gt_workspace *find(const struct gt_workspaces *all,
                                 const struct gt_stream_id *id) {
    for (int i = atomic_load_explicit(&all->count, memory_order_acquire) - 1; i >= 0; i--)
        if (is_same(&all->item[i]->id, id))
            return all->item[i];
    return NULL;
}

static bool identify(struct gt_stream_id *id, const gemmtune_ctx *ctx, void *stream) {
    const struct gt_stream_memory *ops = ctx->gpu->driver->stream_memory;
    return ops != NULL && ops->identify(id, ctx->gpu, stream);
}

static bool is_full(const struct gt_workspaces *all) {
    return atomic_load_explicit(&all->count, memory_order_relaxed) == GT_WORKSPACE_STREAMS;
}

size_t gt_workspace_room(const gemmtune_ctx *ctx, void *stream) {
    const struct gt_workspaces *all = &ctx->workspaces;
    const size_t bytes = atomic_load_explicit(&all->bytes, memory_order_relaxed);
    struct gt_stream_id id;
    if (bytes == 0 || !identify(&id, ctx, stream))
        return 0;
    const struct gt_workspace *w = find(all, &id);
    const bool has_none = w != NULL ? w->memory == NULL : id.is_captured || is_full(all);
    return has_none ? 0 : bytes;
}

/* ---- making ---------------------------------------------------------------------- */

static struct gt_workspace *create(const struct gt_stream_id *id, void *stream) {
    struct gt_workspace *w = calloc(1, sizeof *w);
    if (w == NULL || pthread_mutex_init(&w->lock, NULL) != 0) {
        free(w);
        return NULL;
    }
    w->id = *id;
    w->stream = stream;
    return w;
}

static void destroy(struct gt_workspace *w, const struct gt_gpu *gpu) {
    if (w->memory != NULL)
        gpu->driver->stream_memory->release(gpu, w->stream, w->memory);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

/* Makes and publishes the stream's workspace. The caller holds the lock, under which it
 * found none. Memory that is refused once is not asked for at each call: the workspace then
 * says so. A stream that is captured, or that the driver failed for, may get one later. */
static gt_status add(struct gt_workspace **out, gemmtune_ctx *ctx,
                     const struct gt_stream_id *id, void *stream, struct gt_err *err) {
    struct gt_workspaces *all = &ctx->workspaces;
    if (is_full(all))
        return gt_fail(err, GEMMTUNE_ENOMEM, "%d streams have a workspace already",
                       GT_WORKSPACE_STREAMS);
    struct gt_workspace *w = create(id, stream);
    if (w == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    const gt_status status = ctx->gpu->driver->stream_memory->make(
        &w->memory, ctx->gpu, stream, atomic_load(&all->bytes), err);
    if (status == GEMMTUNE_EINVAL || status == GEMMTUNE_EDEVICE) {
        destroy(w, ctx->gpu);
        return status;
    }
    const int count = atomic_load_explicit(&all->count, memory_order_relaxed);
    all->item[count] = w;
    atomic_store_explicit(&all->count, count + 1, memory_order_release);
    if (is_full(all))
        gt_log(GEMMTUNE_LOG_INFO,
               "%d streams have a workspace; calls of further ones run kernels without",
               GT_WORKSPACE_STREAMS);
    *out = w;
    return status;
}

/* The stream's workspace, made if need be. */
static gt_status obtain(struct gt_workspace **out, gemmtune_ctx *ctx,
                        const struct gt_stream_id *id, void *stream, struct gt_err *err) {
    struct gt_workspaces *all = &ctx->workspaces;
    gt_status status = GEMMTUNE_OK;
    *out = find(all, id);
    if (*out != NULL)
        return GEMMTUNE_OK;
    (void)pthread_mutex_lock(&all->lock);
    *out = find(all, id);
    if (*out == NULL)
        status = add(out, ctx, id, stream, err);
    (void)pthread_mutex_unlock(&all->lock);
    return status;
}

/* ---- a call ---------------------------------------------------------------------- */

struct gt_workspace *gt_workspace_take(gemmtune_ctx *ctx, void *stream) {
    struct gt_workspace *w = NULL;
    struct gt_stream_id id;
    struct gt_err why = {""};
    if (!identify(&id, ctx, stream))
        return NULL;
    const gt_status status = obtain(&w, ctx, &id, stream, &why);
    if (status != GEMMTUNE_OK)
        gt_log(status == GEMMTUNE_EINVAL ? GEMMTUNE_LOG_DEBUG : GEMMTUNE_LOG_WARN,
               "no workspace for a stream, so its calls run kernels without: %s", why.line);
    if (w == NULL || w->memory == NULL)
        return NULL;
    (void)pthread_mutex_lock(&w->lock);
    return w;
}

void gt_workspace_give(struct gt_workspace *w) {
    if (w != NULL)
        (void)pthread_mutex_unlock(&w->lock);
}

/* ---- the context ----------------------------------------------------------------- */

gt_status gt_workspaces_init(struct gt_workspaces *all, struct gt_err *err) {
    if (pthread_mutex_init(&all->lock, NULL) != 0)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    atomic_init(&all->bytes, GT_WORKSPACE_DEFAULT);
    atomic_init(&all->count, 0);
    return GEMMTUNE_OK;
}

static void free_all(struct gt_workspaces *all, const struct gt_gpu *gpu) {
    for (int i = atomic_load(&all->count) - 1; i >= 0; i--)
        destroy(all->item[i], gpu);
    atomic_store(&all->count, 0);
}

void gt_workspaces_clear(struct gt_workspaces *all, const struct gt_gpu *gpu) {
    free_all(all, gpu);
    (void)pthread_mutex_destroy(&all->lock);
}

gemmtune_status gemmtune_workspace_set(gemmtune_ctx *ctx, size_t bytes) {
    struct gt_err *err = gt_public_entry();
    if (ctx == NULL)
        return gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX);
    (void)pthread_mutex_lock(&ctx->workspaces.lock);
    free_all(&ctx->workspaces, ctx->gpu);
    atomic_store(&ctx->workspaces.bytes, bytes);
    (void)pthread_mutex_unlock(&ctx->workspaces.lock);
    return GEMMTUNE_OK;
}

gemmtune_status gemmtune_workspace_make(gemmtune_ctx *ctx, void *stream) {
    struct gt_err *err = gt_public_entry();
    struct gt_workspace *w = NULL;
    struct gt_stream_id id;
    if (ctx == NULL)
        return gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX);
    if (atomic_load(&ctx->workspaces.bytes) == 0)
        return GEMMTUNE_OK;
    if (!identify(&id, ctx, stream))
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "this stream can have no workspace: it has no order, or the driver "
                       "cannot tell it from others");
    const gt_status status = obtain(&w, ctx, &id, stream, err);
    if (status == GEMMTUNE_OK && w->memory == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "its memory was refused before");
    return status;
}
