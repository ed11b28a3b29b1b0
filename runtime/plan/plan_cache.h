/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_cache.h - the plans of the one-call functions, in a hash table that is read without
 * a lock.
 *
 * - A slot changes from NULL to an entry once; an entry's key never changes. Its plan is
 *   replaced when a better kernel was built. A table that is full, or that loses
 *   entries, is replaced by another one.
 * - A reader is counted while it uses a table or a plan. So a reader that still uses an old
 *   table may miss a plan, but no more: it then takes the lock and looks again.
 * - An old table, with the entries or plans that it has lost, is freed when every reader
 * that may have seen it has gone. Nobody waits for that: whoever changes the cache looks
 * whether it is so.
 */
#ifndef GT_RUNTIME_PLAN_PLAN_CACHE_H
#define GT_RUNTIME_PLAN_PLAN_CACHE_H

#include "runtime/plan/plan_key.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct gt_plan_table; /* plan_cache.c */
struct gt_plan_entry;

/* Readers on one of two sides. No other number is on their cache line. */
struct gt_plan_readers {
    char before[64];
    atomic_uint count;
    char after[64];
};

struct gt_plan_cache {
    pthread_mutex_t lock; /* held by the thread that changes the cache; guards the rest */
    _Atomic(struct gt_plan_table *) table;
    atomic_uint side; /* that new readers are counted on: 0 or 1 */
    atomic_uint now;  /* counts additions: the time of a plan's last use */
    struct gt_plan_readers readers[2];
    struct gt_plan_table *old; /* replaced tables that a reader may use */
    int64_t plans_max;         /* 0: no limit */
    int64_t made, dropped;     /* plans, since the beginning */
};

gt_status gt_plan_cache_init(struct gt_plan_cache *cache, struct gt_err *err);
void gt_plan_cache_clear(struct gt_plan_cache *cache); /* with every plan in it */

/* A plan that the cache does not give up while it is in use. */
struct gt_plan_use {
    gemmtune_plan *plan;
    struct gt_plan_cache *cache;
    unsigned side;
};

/* The context's own plan of a canonical problem, made at first use. After success the
 * caller ends the use, in the same call of the library. Errors of gemmtune_plan_create. */
gt_status gt_plan_use_begin(struct gt_plan_use *use, gemmtune_ctx *ctx,
                            const gemmtune_problem *canonical, size_t workspace_max,
                            struct gt_err *err);
void gt_plan_use_end(const struct gt_plan_use *use);

#endif
