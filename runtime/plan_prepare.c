/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_prepare.c - gemmtune_plan_prepare: a list of orders, and the thread that carries
 * them out one after another. The thread compiles into the image cache. It loads no image,
 * so it may run while the caller captures a stream.
 */
#include "runtime/context.h"
#include "runtime/plan_choose.h"
#include "runtime/plan_key.h"

#include <signal.h>
#include <stdlib.h>

enum order_state { WAITING, DONE, FAILED };

/* A problem, and what came of it. */
struct gt_plan_order {
    struct gt_plan_order *next;
    struct gt_plan_key key;
    gemmtune_problem problem; /* canonical */
    gemmtune_match worst;
    size_t workspace_max;
    enum order_state state;
    gt_status status; /* FAILED: why */
    struct gt_err err;
};

/* ---- the kernels of a plan ------------------------------------------------------------
 */

/* A gt_try_fn: builds into the image cache. `user` is not used. */
static gt_status compile(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                         struct gt_err *err) {
    (void)user;
    return gt_exec_compile(gpu, fit, err);
}

/* Builds the images of the plan that gemmtune_plan_create would make. A plan can do without
 * a narrow kernel. */
static gt_status compile_all(const gemmtune_ctx *ctx, const struct gt_plan_order *o,
                             struct gt_err *err) {
    struct gt_choice choice;
    struct gt_query query = gt_ctx_query(ctx, &o->problem, o->worst, o->workspace_max);
    const gt_status status =
        gt_plan_choose(&choice, ctx->gpu, query, false, compile, NULL, err);
    if (status != GEMMTUNE_OK || !gt_wants_narrow(&choice.fit, ctx->gpu, &o->problem))
        return status;
    query.pointer_align = gt_narrow_align(&o->problem);
    (void)gt_plan_choose(&choice, ctx->gpu, query, false, compile, NULL, NULL);
    return GEMMTUNE_OK;
}

/* Whether the image of the query's first choice is cached. Gives the choice. */
static gt_status first_is_cached(bool *cached, struct gt_choice *choice,
                                 const gemmtune_ctx *ctx, const struct gt_query *query,
                                 struct gt_err *err) {
    const gt_status status = gt_match(choice, query, err);
    *cached = status == GEMMTUNE_OK && gt_exec_is_cached(ctx->gpu, &choice->fit);
    return status;
}

/* Whether gemmtune_plan_create needs no compiler for the problem. */
static gt_status is_cached(bool *cached, const gemmtune_ctx *ctx,
                           const gemmtune_problem *canonical, gemmtune_match worst,
                           size_t workspace_max, struct gt_err *err) {
    struct gt_choice choice;
    struct gt_query query = gt_ctx_query(ctx, canonical, worst, workspace_max);
    const gt_status status = first_is_cached(cached, &choice, ctx, &query, err);
    if (!*cached || !gt_wants_narrow(&choice.fit, ctx->gpu, canonical))
        return status;
    query.pointer_align = gt_narrow_align(canonical);
    if (first_is_cached(cached, &choice, ctx, &query, NULL) != GEMMTUNE_OK)
        *cached = true; /* there is no narrow kernel */
    return GEMMTUNE_OK;
}

/* ---- the thread -----------------------------------------------------------------------
 */

static struct gt_plan_order *first_waiting(const struct gt_preparer *p) {
    struct gt_plan_order *o = p->orders;
    while (o != NULL && o->state != WAITING)
        o = o->next;
    return o;
}

/* Carries the order out. The lock is held before and after, and free meanwhile. */
static void carry_out(gemmtune_ctx *ctx, struct gt_plan_order *o) {
    struct gt_err err = {""};
    (void)pthread_mutex_unlock(&ctx->preparer.lock);
    const gt_status status = compile_all(ctx, o, &err);
    (void)pthread_mutex_lock(&ctx->preparer.lock);
    o->state = status == GEMMTUNE_OK ? DONE : FAILED;
    o->status = status;
    o->err = err;
}

static void *run(void *user) {
    gemmtune_ctx *ctx = user;
    struct gt_preparer *p = &ctx->preparer;
    (void)pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        struct gt_plan_order *o = first_waiting(p);
        if (o != NULL)
            carry_out(ctx, o);
        else
            (void)pthread_cond_wait(&p->changed, &p->lock);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts the thread, unless it runs. It gets none of the program's signals. The caller
 * holds the lock. */
static gt_status start(gemmtune_ctx *ctx, struct gt_err *err) {
    struct gt_preparer *p = &ctx->preparer;
    sigset_t all, before;
    if (p->started)
        return GEMMTUNE_OK;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    p->started = pthread_create(&p->thread, NULL, run, ctx) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->started ? GEMMTUNE_OK
                      : gt_fail(err, GEMMTUNE_ENOMEM, "no thread can be started");
}

gt_status gt_preparer_init(struct gt_preparer *p, struct gt_err *err) {
    if (pthread_mutex_init(&p->lock, NULL) != 0)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (pthread_cond_init(&p->changed, NULL) != 0) {
        (void)pthread_mutex_destroy(&p->lock);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    return GEMMTUNE_OK;
}

void gt_preparer_end(struct gt_preparer *p) {
    (void)pthread_mutex_lock(&p->lock);
    p->ends = true;
    (void)pthread_cond_signal(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    if (p->started)
        (void)pthread_join(p->thread, NULL);
    while (p->orders != NULL) {
        struct gt_plan_order *next = p->orders->next;
        free(p->orders);
        p->orders = next;
    }
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
}

/* ---- orders ---------------------------------------------------------------------------
 */

/* The place of the order like *o in the list, or the list's end. */
static struct gt_plan_order **place_of(struct gt_preparer *p,
                                       const struct gt_plan_order *o) {
    struct gt_plan_order **at = &p->orders;
    while (*at != NULL &&
           !((*at)->worst == o->worst && gt_plan_key_same(&(*at)->key, &o->key)))
        at = &(*at)->next;
    return at;
}

/* What came of the order like *o. False when there is none. */
static bool find(bool *ready, gt_status *status, struct gt_preparer *p,
                 const struct gt_plan_order *o, struct gt_err *err) {
    (void)pthread_mutex_lock(&p->lock);
    const struct gt_plan_order *found = *place_of(p, o);
    if (found != NULL) {
        *ready = found->state == DONE;
        *status = found->state == FAILED
                      ? gt_fail(err, found->status, "%s", found->err.line)
                      : GEMMTUNE_OK;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return found != NULL;
}

/* Adds a copy of *o, unless another thread was faster. */
static gt_status add(gemmtune_ctx *ctx, const struct gt_plan_order *o, struct gt_err *err) {
    struct gt_preparer *p = &ctx->preparer;
    (void)pthread_mutex_lock(&p->lock);
    struct gt_plan_order **at = place_of(p, o);
    gt_status status = *at == NULL ? start(ctx, err) : GEMMTUNE_OK;
    if (status == GEMMTUNE_OK && *at == NULL) {
        *at = malloc(sizeof **at);
        if (*at != NULL)
            **at = *o;
        else
            status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        (void)pthread_cond_signal(&p->changed);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return status;
}

static gt_status prepare(bool *ready, gemmtune_ctx *ctx, const struct gt_plan_order *o,
                         struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (find(ready, &status, &ctx->preparer, o, err))
        return status;
    status = is_cached(ready, ctx, &o->problem, o->worst, o->workspace_max, err);
    return status == GEMMTUNE_OK && !*ready ? add(ctx, o, err) : status;
}

gemmtune_status gemmtune_plan_prepare(int *ready, gemmtune_ctx *ctx,
                                      const gemmtune_problem *p, gemmtune_match worst,
                                      size_t workspace_max) {
    struct gt_err *err = gt_public_entry();
    struct gt_plan_order o = {.worst = worst, .workspace_max = workspace_max};
    bool swapped = false, done = false;
    if (ready == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "ready is NULL");
    *ready = 0;
    gt_status status = gt_plan_problem(&o.problem, &swapped, ctx, p, worst, err);
    if (status == GEMMTUNE_OK && !ctx->gpu->driver->keeps_images)
        status = gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "images of this backend are not kept, so none is built ahead");
    if (status != GEMMTUNE_OK)
        return status;
    o.key = gt_plan_key_of(&o.problem, workspace_max);
    status = prepare(&done, ctx, &o, err);
    *ready = done;
    return status;
}
