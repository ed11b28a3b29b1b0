/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - see decide.h. */
#include "shim/decide.h"

#include "shim/library.h"
#include "shim/original.h"
#include "shim/trouble.h"
#include "shim/state.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONTEXTS_MAX = 32 };
static const uint64_t look_again_ns = 10 * 1000 * 1000, look_again_max = 640 * 1000 * 1000;

/* A problem is built at a time, so that the end of the process has one to wait for. */
static struct {
    const struct gt_shim_entry *entry; /* NULL: none */
    gemmtune_ctx *ctx;
} building;

/* A context of CUDA's, with what libgemmtune knows of its device. None is ever closed: its
 * CUDA context may be gone by then. */
static struct context {
    uint64_t address, number;
    gemmtune_ctx *ctx; /* NULL: it cannot be opened */
} contexts[CONTEXTS_MAX];
static int context_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void pass(struct gt_shim_entry *e, enum gt_shim_reason why) {
    if (why == GT_SHIM_UNTUNED && gt_shim_state()->locked)
        why = GT_SHIM_UNPINNED;
    atomic_store_explicit(&e->reason, why, memory_order_relaxed);
    atomic_store_explicit(&e->verdict, GT_SHIM_PASSED, memory_order_release);
}

/* ---- contexts  ---- */

/* Warnings, and why nothing counts as tuned: a database that is missing is none. */
static void hear(void *user, gemmtune_log_level level, const char *line) {
    static const char untuned[] = "no tuned results";
    (void)user;
    if (level <= GEMMTUNE_LOG_WARN || strncmp(line, untuned, sizeof untuned - 1) == 0)
        gt_shim_trouble("%s", line);
}

static gemmtune_ctx *open_context(const struct gt_shim_gemmtune *g, uint64_t address,
                                  uint64_t number) {
    for (int i = 0; i < context_count; i++)
        if (contexts[i].address == address && contexts[i].number == number)
            return contexts[i].ctx;
    if (context_count == CONTEXTS_MAX)
        return NULL;
    gemmtune_target target;
    struct context *c = &contexts[context_count++];
    *c = (struct context){.address = address, .number = number};
    if (context_count == 1)
        g->set_log(hear, NULL, GEMMTUNE_LOG_INFO);
    atomic_store(&gt_shim_state()->has_plans, true);
    (void)g->target_init(&target, sizeof target, GEMMTUNE_CUDA);
    if (g->open(&c->ctx, NULL, &target) != GEMMTUNE_OK) {
        gt_shim_trouble("%s", g->errmsg());
        c->ctx = NULL;
    }
    return c->ctx;
}

/* ---- the guard  ---- */

static int32_t version_of(const struct gt_shim_call *x) {
    int version = 0;
    if (x->lt != NULL)
        return x->library->lt_version != NULL ? (int32_t)x->library->lt_version() : 0;
    return x->library->get_version != NULL &&
                   x->library->get_version(x->handle, &version) == 0
               ? version
               : 0;
}

/* The plan's kernel beside this version of the library; known 0: nobody has measured it. */
static gemmtune_rival_info rival_of(const struct gt_shim_gemmtune *g,
                                    const gemmtune_plan *plan, int32_t version) {
    gemmtune_rival_info rival = {.struct_size = sizeof rival};
    const bool measured =
        g->plan_rival != NULL && version != 0 &&
        g->plan_rival(plan, version, &rival, sizeof rival) == GEMMTUNE_OK &&
        rival.known == 1 && rival.version == version;
    return measured ? rival : (gemmtune_rival_info){.known = 0};
}

/* Whether the plan's kernel was measured, and was the faster one. With a lock the database
 * decides nothing: what is pinned serves. */
static enum gt_shim_reason judge(struct gt_shim_entry *e, const struct gt_shim_gemmtune *g,
                                 const gemmtune_plan *plan, const struct gt_shim_call *x) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    if (g->plan_describe(plan, &info, sizeof info) != GEMMTUNE_OK)
        return GT_SHIM_FAILED;
    const bool locked = gt_shim_state()->locked;
    const gemmtune_rival_info rival = rival_of(g, plan, version_of(x));
    if (locked ? info.pinned == 0 : info.match != GEMMTUNE_MATCH_EXACT)
        return GT_SHIM_UNTUNED;
    if (!locked && rival.known == 0)
        return GT_SHIM_UNMEASURED;
    if (!locked && rival.verdict != 1)
        return GT_SHIM_SLOWER;
    e->workspace_bytes = info.workspace_bytes;
    e->workspace_align = info.workspace_align;
    e->saved_ns = rival.rival_ns - rival.ours_ns;
    return GT_SHIM_NONE;
}

static enum gt_shim_reason reason_of(const struct gt_shim_gemmtune *g,
                                     gemmtune_status status) {
    switch (status) {
    case GEMMTUNE_ENOTFOUND:
        return GT_SHIM_UNTUNED;
    case GEMMTUNE_EUNSUPPORTED:
        return GT_SHIM_UNSUPPORTED;
    case GEMMTUNE_EWORKSPACE: /* of a pinned kernel */
        return GT_SHIM_WORKSPACE;
    case GEMMTUNE_EINVAL: /* cuBLAS says it in its own way */
        return GT_SHIM_INVALID;
    default:
        gt_shim_trouble("%s", g->errmsg());
        return GT_SHIM_FAILED;
    }
}

/* ---- the decision  ---- */

/* Looks become rarer: a compiler may hang. */
static void wait_for_image(struct gt_shim_entry *e) {
    e->pause_ns = e->pause_ns == 0               ? look_again_ns
                  : e->pause_ns < look_again_max ? 2 * e->pause_ns
                                                 : e->pause_ns;
    e->next_look = now_ns() + e->pause_ns;
    atomic_store_explicit(&e->reason, GT_SHIM_BUILDING, memory_order_relaxed);
    atomic_store_explicit(&e->verdict, GT_SHIM_WAITING, memory_order_release);
}

/* Makes a plan of a kernel in the image cache, and keeps it if it may serve. */
static enum gt_shim_reason try_cached(struct gt_shim_entry *e,
                                      const struct gt_shim_gemmtune *g, gemmtune_ctx *ctx,
                                      const gemmtune_problem *p,
                                      const struct gt_shim_call *x) {
    gemmtune_plan *plan = NULL;
    const gemmtune_status status =
        g->plan_create_cached(&plan, ctx, p, GEMMTUNE_MATCH_EXACT, e->key.workspace);
    const enum gt_shim_reason why =
        status == GEMMTUNE_OK ? judge(e, g, plan, x) : reason_of(g, status);
    if (why == GT_SHIM_NONE)
        e->plan = plan;
    else
        g->plan_destroy(plan);
    return why;
}

/* Whether a kernel is still being built. */
static bool is_building(const struct gt_shim_gemmtune *g) {
    gemmtune_problem p;
    int ready = 0;
    if (building.entry == NULL)
        return false;
    gt_shim_problem(&p, &building.entry->key);
    if (g->plan_prepare(&ready, building.ctx, &p, GEMMTUNE_MATCH_EXACT,
                        building.entry->key.workspace) != GEMMTUNE_OK ||
        ready != 0)
        building.entry = NULL;
    return building.entry != NULL;
}

/* exit() ends the compiler's library while a thread may be in it. So the end of the process
 * waits for the thread, but not for a compiler that hangs. */
static void wait_for_compiler(void) {
    enum { TURNS = 100 };
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    if (atomic_load(&gt_shim_state()->forked) || pthread_mutex_trylock(&lock) != 0)
        return;
    for (int i = 0; i < TURNS && is_building(gt_shim_gemmtune()); i++)
        (void)nanosleep(&pause, NULL);
    (void)pthread_mutex_unlock(&lock);
}

/* Functions that are registered later run earlier, and the compiler's library may register
 * its own at any time until the first kernel is built. */
static void begin_building(const struct gt_shim_entry *e, gemmtune_ctx *ctx) {
    static int registered;
    if (registered < 2 && atexit(wait_for_compiler) == 0)
        registered++;
    building.entry = e;
    building.ctx = ctx;
}

/* The best kernel may lack an image. Then the cache has given another kernel, or none. */
static void make_plan(struct gt_shim_entry *e, const struct gt_shim_gemmtune *g,
                      gemmtune_ctx *ctx, const struct gt_shim_call *x) {
    gemmtune_problem p;
    int ready = 0;
    gt_shim_problem(&p, &e->key);
    enum gt_shim_reason why = try_cached(e, g, ctx, &p, x);
    gemmtune_status status = GEMMTUNE_OK;
    if (why != GT_SHIM_NONE && is_building(g)) {
        wait_for_image(e);
        return;
    }
    if (why != GT_SHIM_NONE)
        status = g->plan_prepare(&ready, ctx, &p, GEMMTUNE_MATCH_EXACT, e->key.workspace);
    if (why != GT_SHIM_NONE && status == GEMMTUNE_OK && ready == 0) {
        begin_building(e, ctx);
        wait_for_image(e);
        return;
    }
    if (why == GT_SHIM_UNTUNED && status == GEMMTUNE_OK)
        why = try_cached(e, g, ctx, &p, x); /* it was built just now */
    if (why == GT_SHIM_NONE)
        atomic_store_explicit(&e->verdict, GT_SHIM_SERVED, memory_order_release);
    else
        pass(e, status == GEMMTUNE_OK ? why : reason_of(g, status));
}

static void decide(struct gt_shim_entry *e, const struct gt_shim_call *x,
                   const struct gt_shim_driver *d) {
    const int verdict = atomic_load(&e->verdict);
    if (verdict != GT_SHIM_FRESH &&
        !(verdict == GT_SHIM_WAITING && now_ns() >= e->next_look))
        return;
    const struct gt_shim_gemmtune *g = gt_shim_gemmtune();
    const unsigned mode = gt_shim_relax(d);
    gemmtune_ctx *ctx = NULL;
    e->context_number = gt_shim_context_number(d, e->key.context);
    if (g != NULL)
        ctx = open_context(g, e->key.context, e->context_number);
    if (ctx != NULL)
        make_plan(e, g, ctx, x);
    else
        pass(e, GT_SHIM_FAILED);
    gt_shim_unrelax(d, mode);
}

void gt_shim_decide(struct gt_shim_entry *e, const struct gt_shim_call *x,
                    const struct gt_shim_driver *d) {
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    decide(e, x, d);
    (void)pthread_mutex_unlock(&lock);
}

void gt_shim_decide_anew(void) {
    (void)pthread_mutex_init(&lock, NULL);
}
