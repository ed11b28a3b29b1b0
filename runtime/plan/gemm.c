/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - a product in one call. Plans are kept in the context, in a hash table that is
 * read without a lock:
 * - A slot changes from NULL to an entry once; an entry never changes.
 * - A full table is replaced by a larger one.
 * - Tables and plans live until gemmtune_close.
 * So a reader that still uses an old table may miss a plan, but no more: it then takes the
 * lock and looks again.
 */
#include "runtime/plan/context.h"
#include "runtime/plan/plan_key.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 64 };

struct entry {
    struct gt_plan_key key;
    gemmtune_plan *plan;
};

struct gt_plan_table {
    struct gt_plan_table *older; /* the table that this one replaced */
    size_t slots, used;          /* slots: a power of two */
    _Atomic(struct entry *) slot[];
};

/* ---- the table ------------------------------------------------------------------- */

/* The slot that holds the key, or the empty one where it belongs. A table is never full. */
static size_t find_slot(struct gt_plan_table *t, const struct gt_plan_key *key) {
    size_t at = gt_plan_key_hash(key) & (t->slots - 1);
    for (;;) {
        const struct entry *e = atomic_load_explicit(&t->slot[at], memory_order_acquire);
        if (e == NULL || gt_plan_key_same(&e->key, key))
            return at;
        at = (at + 1) & (t->slots - 1);
    }
}

static const gemmtune_plan *look_up(struct gt_plan_cache *cache,
                                    const struct gt_plan_key *key) {
    struct gt_plan_table *t = atomic_load_explicit(&cache->table, memory_order_acquire);
    const struct entry *e =
        atomic_load_explicit(&t->slot[find_slot(t, key)], memory_order_acquire);
    return e != NULL ? e->plan : NULL;
}

static struct gt_plan_table *table_create(size_t slots) {
    struct gt_plan_table *t = calloc(1, sizeof *t + slots * sizeof t->slot[0]);
    if (t == NULL)
        return NULL;
    t->slots = slots;
    for (size_t i = 0; i < slots; i++)
        atomic_init(&t->slot[i], NULL);
    return t;
}

static void put(struct gt_plan_table *t, struct entry *e) {
    atomic_store_explicit(&t->slot[find_slot(t, &e->key)], e, memory_order_release);
    t->used++;
}

/* A table with room for one more entry. It is at least half empty, so that searches are
 * short. */
static struct gt_plan_table *with_room(struct gt_plan_cache *cache) {
    struct gt_plan_table *t = atomic_load_explicit(&cache->table, memory_order_relaxed);
    if (2 * (t->used + 1) <= t->slots)
        return t;
    struct gt_plan_table *larger = table_create(2 * t->slots);
    if (larger == NULL)
        return NULL;
    for (size_t i = 0; i < t->slots; i++) {
        struct entry *e = atomic_load_explicit(&t->slot[i], memory_order_relaxed);
        if (e != NULL)
            put(larger, e);
    }
    larger->older = t;
    atomic_store_explicit(&cache->table, larger, memory_order_release);
    return larger;
}

gt_status gt_plan_cache_init(struct gt_plan_cache *cache, struct gt_err *err) {
    struct gt_plan_table *t = table_create(SLOTS_FIRST);
    if (t == NULL || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(t);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    atomic_init(&cache->table, t);
    return GEMMTUNE_OK;
}

void gt_plan_cache_clear(struct gt_plan_cache *cache) {
    struct gt_plan_table *t = atomic_load_explicit(&cache->table, memory_order_relaxed);
    for (size_t i = 0; i < t->slots; i++) {
        struct entry *e = atomic_load_explicit(&t->slot[i], memory_order_relaxed);
        if (e != NULL)
            gemmtune_plan_destroy(e->plan);
        free(e);
    }
    while (t != NULL) {
        struct gt_plan_table *older = t->older;
        free(t);
        t = older;
    }
    (void)pthread_mutex_destroy(&cache->lock);
}

/* ---- planning on a miss ---------------------------------------------------------- */

/* Makes and publishes the plan. The caller holds the lock. */
static gt_status add(const gemmtune_plan **out, gemmtune_ctx *ctx,
                     const struct gt_plan_key *key, const gemmtune_problem *p,
                     size_t workspace_max, struct gt_err *err) {
    struct gt_plan_table *t = with_room(&ctx->cache);
    struct entry *e = calloc(1, sizeof *e);
    if (t == NULL || e == NULL) {
        free(e);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    const gt_status status =
        gt_plan_make(&e->plan, ctx, p, GEMMTUNE_MATCH_DEFAULT, workspace_max, false, err);
    if (status != GEMMTUNE_OK) {
        free(e);
        return status;
    }
    e->key = *key;
    put(t, e);
    *out = e->plan;
    return GEMMTUNE_OK;
}

/* Looks a second time under the lock: another thread may have made the plan meanwhile. */
gt_status gt_plan_cached(const gemmtune_plan **out, gemmtune_ctx *ctx,
                         const gemmtune_problem *canonical, size_t workspace_max,
                         struct gt_err *err) {
    const struct gt_plan_key key = gt_plan_key_of(canonical, workspace_max);
    gt_status status = GEMMTUNE_OK;
    *out = look_up(&ctx->cache, &key);
    if (*out != NULL)
        return GEMMTUNE_OK;
    (void)pthread_mutex_lock(&ctx->cache.lock);
    *out = look_up(&ctx->cache, &key);
    if (*out == NULL)
        status = add(out, ctx, &key, canonical, workspace_max, err);
    (void)pthread_mutex_unlock(&ctx->cache.lock);
    return status;
}

static gt_status run(gemmtune_ctx *ctx, const gemmtune_problem *p,
                     const struct gt_call *call, struct gt_err *err) {
    gemmtune_problem canonical;
    const gemmtune_plan *plan;
    bool swapped;
    if (ctx == NULL || p == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", ctx == NULL ? "ctx" : "problem");
    gt_status status = gt_problem_canonical(&canonical, &swapped, p, err);
    if (status == GEMMTUNE_OK)
        status = gt_plan_cached(&plan, ctx, &canonical,
                                gt_workspace_room(ctx, call->stream), err);
    if (status != GEMMTUNE_OK)
        return status;
    struct gt_call own = *call;
    struct gt_workspace *w = NULL;
    if (gt_plan_workspace(plan) > 0) {
        w = gt_workspace_take(ctx, call->stream);
        if (w == NULL)
            status = gt_plan_cached(&plan, ctx, &canonical, 0, err);
        else
            own.workspace = w->memory;
    }
    if (status == GEMMTUNE_OK)
        status = gt_plan_run(plan, swapped, &own, err);
    gt_workspace_give(w);
    return status;
}

/* ---- public ---------------------------------------------------------------------- */

gemmtune_status gemmtune_gemm(gemmtune_ctx *ctx, const gemmtune_problem *p,
                              const void *alpha, const void *a, const void *b,
                              const void *beta, void *c, void *stream) {
    const struct gt_call call = {.alpha = alpha,
                                 .a = gt_device_pointer(a),
                                 .b = gt_device_pointer(b),
                                 .beta = beta,
                                 .c = c,
                                 .stream = stream};
    return run(ctx, p, &call, gt_public_entry());
}

/* The part of a problem that the typed calls have besides its type and sizes. */
struct form {
    gemmtune_layout layout;
    gemmtune_trans trans_a, trans_b;
    int64_t lda, ldb, ldc;
};

static gemmtune_problem problem_of(gemmtune_dtype type, int64_t m, int64_t n, int64_t k,
                                   struct form form) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, type, m, n, k);
    p.layout = form.layout;
    p.trans_a = form.trans_a;
    p.trans_b = form.trans_b;
    p.lda = form.lda;
    p.ldb = form.ldb;
    p.ldc = form.ldc;
    return p;
}

gemmtune_status gemmtune_sgemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                               gemmtune_trans trans_a, gemmtune_trans trans_b, int64_t m,
                               int64_t n, int64_t k, float alpha, const void *a,
                               int64_t lda, const void *b, int64_t ldb, float beta, void *c,
                               int64_t ldc, void *stream) {
    const struct form form = {layout, trans_a, trans_b, lda, ldb, ldc};
    const gemmtune_problem p = problem_of(GEMMTUNE_F32, m, n, k, form);
    return gemmtune_gemm(ctx, &p, &alpha, a, b, &beta, c, stream);
}

gemmtune_status gemmtune_dgemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                               gemmtune_trans trans_a, gemmtune_trans trans_b, int64_t m,
                               int64_t n, int64_t k, double alpha, const void *a,
                               int64_t lda, const void *b, int64_t ldb, double beta,
                               void *c, int64_t ldc, void *stream) {
    const struct form form = {layout, trans_a, trans_b, lda, ldb, ldc};
    const gemmtune_problem p = problem_of(GEMMTUNE_F64, m, n, k, form);
    return gemmtune_gemm(ctx, &p, &alpha, a, b, &beta, c, stream);
}

gemmtune_status gemmtune_igemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                               gemmtune_trans trans_a, gemmtune_trans trans_b, int64_t m,
                               int64_t n, int64_t k, int32_t alpha, const void *a,
                               int64_t lda, const void *b, int64_t ldb, int32_t beta,
                               void *c, int64_t ldc, void *stream) {
    const struct form form = {layout, trans_a, trans_b, lda, ldb, ldc};
    const gemmtune_problem p = problem_of(GEMMTUNE_I32, m, n, k, form);
    return gemmtune_gemm(ctx, &p, &alpha, a, b, &beta, c, stream);
}
