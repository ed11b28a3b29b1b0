/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - the inside of gemmtune_ctx, and the steps that several public calls share.
 */
#ifndef GT_RUNTIME_PLAN_CONTEXT_H
#define GT_RUNTIME_PLAN_CONTEXT_H

#include "core/shared.h"
#include "runtime/exec/exec.h"
#include "runtime/lookup/duels.h"
#include "runtime/lookup/general.h"
#include "runtime/lookup/lock.h"
#include "runtime/lookup/match.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/plan/plan_prepare.h"
#include "runtime/plan/workspace.h"

#include <pthread.h>
#include <stdatomic.h>

/* The kernels of gemmtune_pack, by log2 of an element's bytes; see pack.c. */
enum { GT_PACK_KERNELS = 4 };
struct gt_packer {
    pthread_mutex_t lock; /* held by the thread that loads the kernels */
    atomic_bool loaded;   /* from then on the kernels are read without the lock */
    struct gt_kernel *kernel[GT_PACK_KERNELS];
};

/* Only the cache, the packer, the preparer, the programs, the plans and the workspaces
 * change after gemmtune_open. */
struct gemmtune_ctx {
    struct gt_gpu *gpu;
    struct gt_families *families;
    struct gt_known *known;
    struct gt_index *index;
    struct gt_snapshot snapshot; /* of `known`, `index` and `families` */
    struct gt_duels duels;       /* of the device */
    struct gt_lock *lock;        /* NULL: none */
    char device_key[GT_DEVICE_KEY_MAX];
    bool builds_behind;                  /* GEMMTUNE_OPEN_BUILD_BEHIND */
    struct gt_generals generals;         /* with that flag */
    struct gt_sharing *programs, *plans; /* that are loaded, that exist */
    struct gt_plan_cache cache;
    struct gt_packer packer;
    struct gt_preparer preparer;
    struct gt_workspaces workspaces;
};

static inline const struct gt_device *gt_ctx_device(const gemmtune_ctx *ctx) {
    return &ctx->gpu->device;
}

gt_status gt_packer_init(struct gt_packer *packer, struct gt_err *err);
void gt_packer_clear(struct gt_packer *packer); /* with its kernels */

/* The question that a plan of a canonical problem begins with. It points to the problem. */
struct gt_query gt_ctx_query(const gemmtune_ctx *ctx, const gemmtune_problem *canonical,
                             gemmtune_match worst, size_t workspace_max);
/* Checks the arguments of a call that makes a plan, and gives the canonical problem. */
gt_status gt_plan_problem(gemmtune_problem *canonical, bool *swapped,
                          const gemmtune_ctx *ctx, const gemmtune_problem *p,
                          gemmtune_match worst, struct gt_err *err);

/* The question that a plan answers. */
struct gt_plan_ask {
    const gemmtune_problem *canonical;
    gemmtune_match worst;
    size_t workspace_max;
    bool only_cached; /* gemmtune_plan_create_cached */
    bool swapped;     /* gt_problem_canonical's for the caller's problem */
};

/* Makes a plan. Where the context has a plan of the same question, which may find all
 * kernels, *out is that one with one user more. */
gt_status gt_plan_make(gemmtune_plan **out, gemmtune_ctx *ctx,
                       const struct gt_plan_ask *ask, struct gt_err *err);
/* One user more; gemmtune_plan_destroy ends it. */
void gt_plan_hold(gemmtune_plan *plan);
/* Keeps the plan's programs loaded (gt_exec_retain). */
void gt_plan_retain(const gemmtune_plan *plan);

/* The context's own plan of a canonical problem, made at first use, with one user more. */
gt_status gt_plan_cached(gemmtune_plan **out, gemmtune_ctx *ctx,
                         const gemmtune_problem *canonical, size_t workspace_max,
                         struct gt_err *err);

/* Copies the caller's struct, which may be older or newer than the library's, to *out.
 * Errors of gt_growth_read, and EINVAL for a wait list that contradicts its length. */
gt_status gt_args_read(gemmtune_args *out, const gemmtune_args *args, struct gt_err *err);

/* The duels of the plan's kernel with no more workspace than the plan was made with. They
 * live as long as the plan. */
size_t gt_plan_duels(const struct gt_duel **first, const gemmtune_plan *plan);

/* Whether a better kernel than the plan's is built by now, so that a plan made anew has
 * it. */
bool gt_plan_is_outdated(const gemmtune_plan *plan);
/* No better kernel is waited for any more. */
void gt_plan_settle(const gemmtune_plan *plan);

/* Bytes of workspace that the plan's kernels need. */
size_t gt_plan_workspace(const gemmtune_plan *plan);
/* Executes; `swapped` is gt_problem_canonical's for the caller's problem. */
gt_status gt_plan_run(const gemmtune_plan *plan, bool swapped, const struct gt_call *call,
                      struct gt_err *err);

#endif
