/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_prepare.c - gemmtune_plan_prepare: a list of orders, and the thread that carries
 * them out one after another. The thread compiles into the image cache. It loads no image,
 * so it may run while the caller captures a stream.
 */
#include "runtime/plan/context.h"

#include "core/quiet_thread.h"
#include "runtime/plan/plan_choose.h"
#include "runtime/plan/plan_key.h"

#include <stdlib.h>

enum { ENDED_MAX = 64 }; /* the latest orders that are kept after their end */

/* An order whose kernels are in the image cache is dropped: the cache answers for it. */
enum order_state {
    WAITING,   /* also while it is carried out */
    SECONDARY, /* the best kernel does not build; another one is in the image cache */
    FAILED
};

/* A problem to prepare. */
struct gt_plan_order {
    struct gt_plan_order *next;
    struct gt_plan_key key;
    gemmtune_problem problem; /* canonical */
    gemmtune_match worst;
    size_t workspace_max;
    enum order_state state;
    gt_status status; /* FAILED: why */
    struct gt_err err;
    struct gt_better *better; /* NULL: no plan waits for it */
};

/* ---- the kernels of a plan --------------------------------------------------------- */

struct compiling {
    const struct gt_preparer *preparer;
    int refused;      /* kernels that did not build */
    int refused_wide; /* among them, those for aligned memory */
};

/* A gt_try_fn: builds into the image cache. ESTOPPED: the context is being closed. */
static gt_status compile(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                         struct gt_err *err) {
    struct compiling *c = user;
    if (atomic_load(&c->preparer->ends))
        return gt_fail(err, GEMMTUNE_ESTOPPED, "the context is being closed");
    const gt_status status = gt_exec_compile(gpu, fit, err);
    c->refused += status != GEMMTUNE_OK;
    return status;
}

/* Builds the images of the plan that gemmtune_plan_create would make. A plan can do without
 * a narrow kernel, so of its failures only that of the image cache counts. */
static gt_status compile_all(struct compiling *c, const gemmtune_ctx *ctx,
                             const struct gt_plan_order *o, struct gt_err *err) {
    struct gt_choice choice, narrow;
    const struct gt_query query =
        gt_ctx_query(ctx, &o->problem, o->worst, o->workspace_max);
    gt_status status = gt_plan_choose(&choice, ctx->gpu, query, false, compile, c, err);
    c->refused_wide = c->refused;
    if (status != GEMMTUNE_OK || !gt_wants_narrow(&choice.fit, &o->problem))
        return status;
    status =
        gt_plan_choose_narrow(&narrow, ctx->gpu, query, &choice, false, compile, c, err);
    return status == GEMMTUNE_EIO ? status : GEMMTUNE_OK;
}

/* Whether gemmtune_plan_create needs no compiler for the problem. */
static gt_status is_cached(bool *cached, const gemmtune_ctx *ctx,
                           const gemmtune_problem *canonical, gemmtune_match worst,
                           size_t workspace_max, struct gt_err *err) {
    struct gt_choice choice, narrow;
    const struct gt_query query = gt_ctx_query(ctx, canonical, worst, workspace_max);
    const gt_status status = gt_match(&choice, &query, err);
    *cached = status == GEMMTUNE_OK && gt_exec_is_cached(ctx->gpu, &choice.fit);
    if (*cached && gt_wants_narrow(&choice.fit, canonical) &&
        gt_match_narrow(&narrow, query, &choice, NULL) == GEMMTUNE_OK)
        *cached = gt_exec_is_cached(ctx->gpu, &narrow.fit);
    return status;
}

/* ---- plans that wait --------------------------------------------------------------- */

static struct gt_better *better_create(void) {
    struct gt_better *b = malloc(sizeof *b);
    if (b == NULL)
        return NULL;
    atomic_init(&b->users, 1);
    atomic_init(&b->state, GEMMTUNE_BETTER_BUILDING);
    return b;
}

void gt_better_release(struct gt_better *b) {
    if (b != NULL && atomic_fetch_sub(&b->users, 1) == 1)
        free(b);
}

/* Tells the plans that wait for the order what became of it. */
static void tell(struct gt_plan_order *o, gemmtune_better state) {
    if (o->better != NULL)
        atomic_store(&o->better->state, (int)state);
    gt_better_release(o->better);
    o->better = NULL;
}

/* ---- the list of orders; all under the lock ------------------------------------------ */

static struct gt_plan_order *first_waiting(const struct gt_preparer *p) {
    struct gt_plan_order *o = p->orders;
    while (o != NULL && o->state != WAITING)
        o = o->next;
    return o;
}

static void drop(struct gt_preparer *p, const struct gt_plan_order *o) {
    struct gt_plan_order **at = &p->orders;
    while (*at != o)
        at = &(*at)->next;
    struct gt_plan_order *dropped = *at;
    *at = dropped->next;
    p->ended -= dropped->state != WAITING;
    tell(dropped, GEMMTUNE_BETTER_NONE);
    free(dropped);
}

/* Keeps an order that has ended, with its state. At most ENDED_MAX of these are kept, so
 * there is always room for an order that waits. */
static void keep(struct gt_preparer *p, struct gt_plan_order *o, enum order_state state) {
    o->state = state;
    if (++p->ended <= ENDED_MAX)
        return;
    const struct gt_plan_order *oldest = p->orders;
    while (oldest->state == WAITING)
        oldest = oldest->next;
    drop(p, oldest);
}

/* The place of the order like *o, or the list's end. */
static struct gt_plan_order **place_of(struct gt_preparer *p,
                                       const struct gt_plan_order *o) {
    struct gt_plan_order **at = &p->orders;
    while (*at != NULL &&
           !((*at)->worst == o->worst && gt_plan_key_same(&(*at)->key, &o->key)))
        at = &(*at)->next;
    return at;
}

/* ---- the thread -------------------------------------------------------------------- */

/* Carries the order out. The lock is held before and after, and free meanwhile. */
static void carry_out(gemmtune_ctx *ctx, struct gt_plan_order *o) {
    struct gt_preparer *p = &ctx->preparer;
    struct compiling c = {.preparer = p};
    struct gt_err err = {""};
    (void)pthread_mutex_unlock(&p->lock);
    const gt_status status = compile_all(&c, ctx, o, &err);
    (void)pthread_mutex_lock(&p->lock);
    o->status = status;
    o->err = err;
    /* A plan that is made anew would wait for a wide kernel that does not build. */
    tell(o, status == GEMMTUNE_OK && c.refused_wide == 0 ? GEMMTUNE_BETTER_READY
                                                         : GEMMTUNE_BETTER_NONE);
    if (status == GEMMTUNE_OK && c.refused == 0)
        drop(p, o);
    else
        keep(p, o, status == GEMMTUNE_OK ? SECONDARY : FAILED);
}

static void *run(void *user) {
    gemmtune_ctx *ctx = user;
    struct gt_preparer *p = &ctx->preparer;
    (void)pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->ends)) {
        struct gt_plan_order *o = first_waiting(p);
        if (o != NULL)
            carry_out(ctx, o);
        else
            (void)pthread_cond_wait(&p->changed, &p->lock);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts the thread, unless it runs. The caller holds the lock. */
static gt_status start(gemmtune_ctx *ctx, struct gt_err *err) {
    struct gt_preparer *p = &ctx->preparer;
    if (!p->started)
        p->started = gt_quiet_thread_start(&p->thread, run, ctx);
    return p->started ? GEMMTUNE_OK
                      : gt_fail(err, GEMMTUNE_ENOMEM, "no thread can be started");
}

gt_status gt_preparer_init(struct gt_preparer *p, struct gt_err *err) {
    atomic_init(&p->ends, false);
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
    atomic_store(&p->ends, true);
    (void)pthread_cond_signal(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    if (p->started)
        (void)pthread_join(p->thread, NULL);
    while (p->orders != NULL)
        drop(p, p->orders);
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
}

/* ---- what callers ask ---------------------------------------------------------------- */

/* Drops an order with a failure that may pass, of the image cache for instance, so that the
 * next one like it is carried out. The caller holds the lock. */
static void drop_passing(struct gt_preparer *p, const struct gt_plan_order *order) {
    if (order != NULL && order->state == FAILED && order->status != GEMMTUNE_EBUILD &&
        order->status != GEMMTUNE_ELOCKED)
        drop(p, order);
}

/* Finds the order like *o, and gives its result, *ready and *status. False when there is no
 * such order. A failure that may pass is given once: the next call makes a new order. */
static bool find(bool *ready, gt_status *status, struct gt_preparer *p,
                 const struct gt_plan_order *o, struct gt_err *err) {
    (void)pthread_mutex_lock(&p->lock);
    const struct gt_plan_order *order = *place_of(p, o);
    const bool found = order != NULL;
    if (found) {
        *ready = order->state == SECONDARY;
        *status = order->state == FAILED
                      ? gt_fail(err, order->status, "%s", order->err.line)
                      : GEMMTUNE_OK;
        drop_passing(p, order);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return found;
}

/* The order like *o, which is added unless it is there. The caller holds the lock. NULL: no
 * thread, or no memory. */
static struct gt_plan_order *find_or_add(gemmtune_ctx *ctx, const struct gt_plan_order *o,
                                         struct gt_err *err) {
    struct gt_preparer *p = &ctx->preparer;
    struct gt_plan_order **at = place_of(p, o);
    if (*at != NULL)
        return *at;
    if (start(ctx, err) != GEMMTUNE_OK)
        return NULL;
    *at = malloc(sizeof **at);
    if (*at == NULL) {
        (void)gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        return NULL;
    }
    **at = *o;
    (void)pthread_cond_signal(&p->changed);
    return *at;
}

/* Adds a copy of *o, unless another thread was faster. */
static gt_status add(gemmtune_ctx *ctx, const struct gt_plan_order *o, struct gt_err *err) {
    struct gt_preparer *p = &ctx->preparer;
    (void)pthread_mutex_lock(&p->lock);
    const bool done = find_or_add(ctx, o, err) != NULL;
    (void)pthread_mutex_unlock(&p->lock);
    return done ? GEMMTUNE_OK : GEMMTUNE_ENOMEM;
}

/* The order's, with one user more; NULL when it has ended, or without memory. The caller
 * holds the lock. */
static struct gt_better *better_of(struct gt_plan_order *o) {
    if (o == NULL || o->state != WAITING)
        return NULL;
    if (o->better == NULL)
        o->better = better_create();
    if (o->better != NULL)
        (void)atomic_fetch_add(&o->better->users, 1);
    return o->better;
}

struct gt_better *gt_better_order(gemmtune_ctx *ctx, const struct gt_plan_ask *ask) {
    struct gt_preparer *p = &ctx->preparer;
    const struct gt_plan_order o = {.key =
                                        gt_plan_key_of(ask->canonical, ask->workspace_max),
                                    .problem = *ask->canonical,
                                    .worst = ask->worst,
                                    .workspace_max = ask->workspace_max};
    (void)pthread_mutex_lock(&p->lock);
    drop_passing(p, *place_of(p, &o));
    struct gt_better *b = better_of(find_or_add(ctx, &o, NULL));
    (void)pthread_mutex_unlock(&p->lock);
    return b;
}

static gt_status prepare(bool *ready, gemmtune_ctx *ctx, const struct gt_plan_order *o,
                         struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (find(ready, &status, &ctx->preparer, o, err))
        return status;
    status = is_cached(ready, ctx, &o->problem, o->worst, o->workspace_max, err);
    if (status != GEMMTUNE_OK || *ready)
        return status;
    return gt_build_keeps(ctx->gpu->driver)
               ? add(ctx, o, err)
               : gt_fail(err, GEMMTUNE_EIO, "no folder for the image cache can be opened");
}

gemmtune_status gemmtune_plan_prepare(int *ready, gemmtune_ctx *ctx,
                                      const gemmtune_problem *p, gemmtune_match worst,
                                      size_t workspace_max) {
    struct gt_err *err = gt_public_entry();
    struct gt_plan_order o = {.worst = worst, .workspace_max = workspace_max};
    bool swapped = false, done = false;
    if (ready == NULL)
        return gt_fail_null(err, "ready", GEMMTUNE_ARG_OUT);
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
