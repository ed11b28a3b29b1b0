/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cache.c - see plan_cache.h. */
#include "runtime/plan/plan_cache.h"

#include "core/growth.h"
#include "runtime/exec/programs.h"
#include "runtime/plan/context.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 64 };

struct gt_plan_entry {
    struct gt_plan_key key;
    _Atomic(gemmtune_plan *) plan;
    atomic_uint used;            /* the cache's `now` at the last use */
    struct gt_plan_entry *after; /* in the list of entries that a table has lost */
};

struct gt_plan_table {
    size_t slots, used; /* slots: a power of two */
    /* of a table that was replaced: */
    struct gt_plan_table *older;
    struct gt_plan_entry *lost;
    bool left[2]; /* readers of the side were seen to be gone since then */
    _Atomic(struct gt_plan_entry *) slot[];
};

/* ---- the table ------------------------------------------------------------------- */

static struct gt_plan_entry *entry_at(struct gt_plan_table *t, size_t slot) {
    return atomic_load_explicit(&t->slot[slot], memory_order_acquire);
}

/* The slot that holds the key, or the empty one where it belongs. A table is never full. */
static size_t find_slot(struct gt_plan_table *t, const struct gt_plan_key *key) {
    size_t at = gt_plan_key_hash(key) & (t->slots - 1);
    for (;;) {
        const struct gt_plan_entry *e = entry_at(t, at);
        if (e == NULL || gt_plan_key_same(&e->key, key))
            return at;
        at = (at + 1) & (t->slots - 1);
    }
}

static gemmtune_plan *look_up(struct gt_plan_cache *cache, const struct gt_plan_key *key) {
    struct gt_plan_table *t = atomic_load(&cache->table);
    struct gt_plan_entry *e = entry_at(t, find_slot(t, key));
    if (e == NULL)
        return NULL;
    const unsigned now = atomic_load_explicit(&cache->now, memory_order_relaxed);
    if (atomic_load_explicit(&e->used, memory_order_relaxed) != now)
        atomic_store_explicit(&e->used, now, memory_order_relaxed);
    return atomic_load(&e->plan);
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

static void put(struct gt_plan_table *t, struct gt_plan_entry *e) {
    atomic_store_explicit(&t->slot[find_slot(t, &e->key)], e, memory_order_release);
    t->used++;
}

static struct gt_plan_table *current(struct gt_plan_cache *cache) {
    return atomic_load_explicit(&cache->table, memory_order_relaxed);
}

/* ---- readers --------------------------------------------------------------------- */

/* All threads see this addition and the loads that follow in one order: a reader that is
 * not counted yet when a thread looks finds the new table, and the new plan. */
static unsigned enter(struct gt_plan_cache *cache) {
    const unsigned side = atomic_load(&cache->side) & 1U;
    (void)atomic_fetch_add(&cache->readers[side].count, 1);
    return side;
}

static void leave(struct gt_plan_cache *cache, unsigned side) {
    (void)atomic_fetch_sub(&cache->readers[side].count, 1);
}

static void entry_destroy(struct gt_plan_entry *e) {
    gemmtune_plan_destroy(atomic_load(&e->plan));
    free(e);
}

/* The programs of a lost plan stay loaded until a later clear: work that uses them may be
 * under way. */
static void old_destroy(struct gt_plan_table *t) {
    while (t->lost != NULL) {
        struct gt_plan_entry *after = t->lost->after;
        gt_plan_retain(atomic_load(&t->lost->plan));
        entry_destroy(t->lost);
        t->lost = after;
    }
    free(t);
}

/* Frees the old tables that no reader can have. While a side has readers, new ones go to
 * the other side, so that it empties. The caller holds the lock. */
static void reclaim(struct gt_plan_cache *cache) {
    for (unsigned side = 0; side < 2 && cache->old != NULL; side++) {
        if (atomic_load(&cache->readers[side].count) == 0)
            for (struct gt_plan_table *t = cache->old; t != NULL; t = t->older)
                t->left[side] = true;
        else
            atomic_store(&cache->side, 1U - side);
    }
    for (struct gt_plan_table **at = &cache->old; *at != NULL;) {
        struct gt_plan_table *t = *at;
        if (!t->left[0] || !t->left[1]) {
            at = &t->older;
            continue;
        }
        *at = t->older;
        old_destroy(t);
    }
}

/* Publishes a table that has the present one's entries without the lost ones. */
static void replace(struct gt_plan_cache *cache, struct gt_plan_table *with) {
    struct gt_plan_table *t = current(cache);
    atomic_store(&cache->table, with);
    t->older = cache->old;
    cache->old = t;
    reclaim(cache);
}

/* ---- room ------------------------------------------------------------------------ */

/* When an entry was used, for a sort that leaves the entries alone. */
struct use {
    struct gt_plan_entry *entry;
    unsigned ago;
};

static int longest_unused_last(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    return (x->ago > y->ago) - (x->ago < y->ago);
}

/* Lists the entries, the latest used first. NULL: out of memory. */
static struct use *list_uses(struct gt_plan_cache *cache) {
    struct gt_plan_table *t = current(cache);
    struct use *all = malloc((t->used + 1) * sizeof *all);
    const unsigned now = atomic_load_explicit(&cache->now, memory_order_relaxed);
    size_t count = 0;
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < t->slots; i++) {
        struct gt_plan_entry *e = entry_at(t, i);
        if (e != NULL)
            all[count++] =
                (struct use){e, now - atomic_load_explicit(&e->used, memory_order_relaxed)};
    }
    qsort(all, count, sizeof *all, longest_unused_last);
    return all;
}

static size_t slots_for(size_t plans) {
    size_t slots = SLOTS_FIRST;
    while (slots < 2 * (plans + 1))
        slots *= 2;
    return slots;
}

/* Replaces the table by one with the `most` entries that were used last, and with room for
 * one more. It is at least half empty, so that searches are short. False: out of memory. */
static bool rebuild(struct gt_plan_cache *cache, size_t most) {
    struct gt_plan_table *t = current(cache);
    const size_t kept = t->used < most ? t->used : most;
    struct gt_plan_table *next = table_create(slots_for(kept));
    struct use *all = list_uses(cache);
    if (next == NULL || all == NULL) {
        free(next);
        free(all);
        return false;
    }
    for (size_t i = 0; i < kept; i++)
        put(next, all[i].entry);
    for (size_t i = kept; i < t->used; i++) {
        all[i].entry->after = t->lost;
        t->lost = all[i].entry;
        cache->dropped++;
    }
    free(all);
    replace(cache, next);
    return true;
}

/* Makes room for one more entry. At the limit a quarter of the plans goes, so that this is
 * seldom needed. */
static bool make_room(struct gt_plan_cache *cache) {
    const struct gt_plan_table *t = current(cache);
    const size_t limit = (size_t)cache->plans_max;
    if (limit > 0 && t->used >= limit)
        return rebuild(cache, limit - 1 - (limit - 1) / 4);
    return 2 * (t->used + 1) <= t->slots || rebuild(cache, t->used);
}

/* ---- from open to close ---------------------------------------------------------- */

gt_status gt_plan_cache_init(struct gt_plan_cache *cache, struct gt_err *err) {
    struct gt_plan_table *t = table_create(SLOTS_FIRST);
    if (t == NULL || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(t);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    atomic_init(&cache->table, t);
    atomic_init(&cache->side, 0);
    atomic_init(&cache->now, 0);
    for (int i = 0; i < 2; i++)
        atomic_init(&cache->readers[i].count, 0);
    return GEMMTUNE_OK;
}

void gt_plan_cache_clear(struct gt_plan_cache *cache) {
    struct gt_plan_table *t = current(cache);
    for (size_t i = 0; i < t->slots; i++)
        if (entry_at(t, i) != NULL)
            entry_destroy(entry_at(t, i));
    free(t);
    while (cache->old != NULL) {
        struct gt_plan_table *older = cache->old->older;
        old_destroy(cache->old);
        cache->old = older;
    }
    (void)pthread_mutex_destroy(&cache->lock);
}

/* ---- planning on a miss ---------------------------------------------------------- */

static gt_status make(gemmtune_plan **out, gemmtune_ctx *ctx, const gemmtune_problem *p,
                      size_t workspace_max, struct gt_err *err) {
    const struct gt_plan_ask ask = {p, GEMMTUNE_MATCH_DEFAULT, workspace_max, false, false};
    return gt_plan_make(out, ctx, &ask, err);
}

/* Makes and publishes the plan. The caller holds the lock. */
static gt_status add(gemmtune_plan **out, gemmtune_ctx *ctx, const struct gt_plan_key *key,
                     const gemmtune_problem *p, size_t workspace_max, struct gt_err *err) {
    struct gt_plan_cache *cache = &ctx->cache;
    struct gt_plan_entry *e = calloc(1, sizeof *e);
    reclaim(cache);
    if (e == NULL || !make_room(cache)) {
        free(e);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    const gt_status status = make(out, ctx, p, workspace_max, err);
    if (status != GEMMTUNE_OK) {
        free(e);
        return status;
    }
    e->key = *key;
    atomic_init(&e->plan, *out);
    atomic_init(&e->used, atomic_fetch_add(&cache->now, 1) + 1);
    cache->made++;
    put(current(cache), e);
    return GEMMTUNE_OK;
}

/* Looks a second time under the lock: another thread may have made the plan meanwhile. The
 * caller becomes a reader before the lock is free. */
static gt_status find_or_add(struct gt_plan_use *use, gemmtune_ctx *ctx,
                             const struct gt_plan_key *key, const gemmtune_problem *p,
                             size_t workspace_max, struct gt_err *err) {
    struct gt_plan_cache *cache = &ctx->cache;
    gt_status status = GEMMTUNE_OK;
    (void)pthread_mutex_lock(&cache->lock);
    use->plan = look_up(cache, key);
    if (use->plan == NULL)
        status = add(&use->plan, ctx, key, p, workspace_max, err);
    if (status == GEMMTUNE_OK)
        use->side = enter(cache);
    (void)pthread_mutex_unlock(&cache->lock);
    return status;
}

/* ---- better kernels -------------------------------------------------------------- */

/* Gives the plan up when its readers have gone, as an entry of a table without slots. */
static void give_up(struct gt_plan_cache *cache, struct gt_plan_table *shelf,
                    struct gt_plan_entry *e, gemmtune_plan *plan) {
    atomic_init(&e->plan, plan);
    shelf->lost = e;
    shelf->older = cache->old;
    cache->old = shelf;
    reclaim(cache);
}

/* Makes the plan of an entry anew. When that fails the entry keeps its plan, and no later
 * call tries again. The caller holds the lock. */
static void improve(gemmtune_ctx *ctx, struct gt_plan_entry *e, const gemmtune_problem *p,
                    size_t workspace_max) {
    struct gt_plan_cache *cache = &ctx->cache;
    gemmtune_plan *const old = atomic_load(&e->plan), *plan = NULL;
    struct gt_plan_table *shelf = calloc(1, sizeof *shelf);
    struct gt_plan_entry *lost = calloc(1, sizeof *lost);
    if (shelf != NULL && lost != NULL &&
        make(&plan, ctx, p, workspace_max, NULL) == GEMMTUNE_OK) {
        atomic_store(&e->plan, plan);
        give_up(cache, shelf, lost, old);
        return;
    }
    gt_plan_settle(old);
    free(shelf);
    free(lost);
}

/* Looks for a better plan than the outdated one that was found, unless another thread
 * changes the cache: nobody waits for that. */
static void try_to_improve(gemmtune_ctx *ctx, const struct gt_plan_key *key,
                           const gemmtune_problem *p, size_t workspace_max) {
    struct gt_plan_cache *cache = &ctx->cache;
    if (pthread_mutex_trylock(&cache->lock) != 0)
        return;
    struct gt_plan_table *t = current(cache);
    struct gt_plan_entry *e = entry_at(t, find_slot(t, key));
    if (e != NULL && gt_plan_is_outdated(atomic_load(&e->plan)))
        improve(ctx, e, p, workspace_max);
    (void)pthread_mutex_unlock(&cache->lock);
}

/* ---- use ------------------------------------------------------------------------- */

gt_status gt_plan_use_begin(struct gt_plan_use *use, gemmtune_ctx *ctx,
                            const gemmtune_problem *canonical, size_t workspace_max,
                            struct gt_err *err) {
    const struct gt_plan_key key = gt_plan_key_of(canonical, workspace_max);
    use->cache = &ctx->cache;
    use->side = enter(use->cache);
    use->plan = look_up(use->cache, &key);
    if (use->plan != NULL && !gt_plan_is_outdated(use->plan))
        return GEMMTUNE_OK;
    if (use->plan != NULL) {
        try_to_improve(ctx, &key, canonical, workspace_max);
        use->plan = look_up(use->cache, &key);
    }
    if (use->plan != NULL)
        return GEMMTUNE_OK;
    leave(use->cache, use->side);
    return find_or_add(use, ctx, &key, canonical, workspace_max, err);
}

void gt_plan_use_end(const struct gt_plan_use *use) {
    leave(use->cache, use->side);
}

gt_status gt_plan_cached(gemmtune_plan **out, gemmtune_ctx *ctx,
                         const gemmtune_problem *canonical, size_t workspace_max,
                         struct gt_err *err) {
    struct gt_plan_use use;
    *out = NULL;
    const gt_status status = gt_plan_use_begin(&use, ctx, canonical, workspace_max, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_plan_hold(use.plan);
    gt_plan_use_end(&use);
    *out = use.plan;
    return GEMMTUNE_OK;
}

/* ---- public ---------------------------------------------------------------------- */

/* The struct of the first release with it is the present one. */
static const struct gt_growth info_growth = {
    sizeof(gemmtune_plan_cache_info), sizeof(gemmtune_plan_cache_info), "plan cache info",
    "gemmtune_plan_cache_describe"};

gemmtune_status gemmtune_plan_cache_limit(gemmtune_ctx *ctx, int64_t plans) {
    struct gt_err *err = gt_public_entry();
    if (ctx == NULL)
        return gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX);
    if (plans < 0)
        return gt_blame(
            err,
            gt_fail(err, GEMMTUNE_EINVAL, "plans is %" PRId64 ", must be 0 or more", plans),
            GEMMTUNE_ARG_OPTIONS);
    struct gt_plan_cache *cache = &ctx->cache;
    bool done = true;
    (void)pthread_mutex_lock(&cache->lock);
    cache->plans_max = plans;
    if (plans > 0 && current(cache)->used > (size_t)plans)
        done = rebuild(cache, (size_t)plans);
    (void)pthread_mutex_unlock(&cache->lock);
    return done ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gemmtune_status gemmtune_plan_cache_clear(gemmtune_ctx *ctx) {
    struct gt_err *err = gt_public_entry();
    if (ctx == NULL)
        return gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX);
    (void)pthread_mutex_lock(&ctx->cache.lock);
    const bool done = rebuild(&ctx->cache, 0);
    (void)pthread_mutex_unlock(&ctx->cache.lock);
    gt_programs_relinquish(ctx->programs);
    return done ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gemmtune_status gemmtune_plan_cache_describe_sized(gemmtune_ctx *ctx,
                                                   gemmtune_plan_cache_info *info,
                                                   size_t size) {
    struct gt_err *err = gt_public_entry();
    if (ctx == NULL || info == NULL)
        return ctx == NULL ? gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX)
                           : gt_fail_null(err, "info", GEMMTUNE_ARG_OUT);
    struct gt_plan_cache *cache = &ctx->cache;
    (void)pthread_mutex_lock(&cache->lock);
    reclaim(cache);
    const gemmtune_plan_cache_info own = {.plans = (int64_t)current(cache)->used,
                                          .plans_max = cache->plans_max,
                                          .made = cache->made,
                                          .dropped = cache->dropped,
                                          .programs = gt_sharing_count(ctx->programs)};
    (void)pthread_mutex_unlock(&cache->lock);
    return gt_growth_write(info, size, &own, &info_growth, err);
}
