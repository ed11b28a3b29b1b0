/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - a problem's kernel, chosen, built and ready. A kernel with vector loads needs
 * aligned memory, and memory is known only when the plan runs. So such a plan holds a
 * second, narrow kernel for unaligned memory. Where pointers are buffers, only offsets are
 * unaligned, and few programs have any: the first of them has the narrow kernel built.
 */
#include "runtime/plan/context.h"

#include "core/growth.h"
#include "core/log.h"
#include "runtime/drivers/memory.h"
#include "runtime/exec/programs.h"
#include "runtime/plan/misses.h"
#include "runtime/plan/plan_choose.h"
#include "runtime/plan/plan_kernels.h"
#include "runtime/plan/plan_key.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A narrow kernel that is built when a call needs it. */
struct late {
    pthread_mutex_t lock; /* held by the thread that builds it */
    _Atomic(struct gt_exec *) narrow;
    gt_status
        failed; /* how the build ended that found no kernel, and why; under the lock */
    struct gt_err why;
    gemmtune_ctx *ctx;
    gemmtune_problem problem;
    gemmtune_match worst;
    struct gt_choice wide;
};

struct gemmtune_plan {
    struct gt_shared shared; /* plans of one question are one plan */
    bool swapped;            /* the caller's problem is column-major */
    const struct gt_driver *driver;
    struct gt_exec *wide;
    struct gt_exec
        *narrow;       /* NULL when the wide kernel accepts all memory, or with `late` */
    struct late *late; /* or NULL */
    uint64_t mask[3];  /* low bits of A, B and C that must be 0 for the wide kernel */
    size_t element_bytes[3];
    gemmtune_match match;
    bool pinned;              /* by a lock */
    bool same_bits;           /* of every kernel that it may run */
    bool for_now;             /* a better kernel than one of these is to be built */
    struct gt_better *better; /* what became of that; NULL: it is not waited for */
    size_t workspace_bytes;
    struct gt_duels duels; /* of the wide kernel, with no more workspace */
    double tuned_median_ns, expected_loss;
    char image[GT_DIGEST_SIZE];
    char family[GT_NAME_MAX];
    char params[GT_POINT_TEXT_MAX];
    char from[GT_PROBLEM_NAME_MAX];
    char why[sizeof(((struct gt_choice *)0)->why)];
};

static gemmtune_plan *plan_of(struct gt_shared *shared) {
    return (gemmtune_plan *)((char *)shared - offsetof(gemmtune_plan, shared));
}

/* ---- the plan -------------------------------------------------------------------- */

static void describe_choice(gemmtune_plan *plan, const struct gt_choice *choice) {
    plan->match = choice->match;
    memcpy(plan->family, choice->family->name, sizeof plan->family);
    (void)gt_point_text(&choice->point, plan->params);
    memcpy(plan->why, choice->why, sizeof plan->why);
    plan->pinned = choice->fit.pinned != NULL;
    plan->same_bits = choice->family->same_bits;
    plan->expected_loss = choice->expected_loss;
    if (choice->known == NULL)
        return;
    memcpy(plan->from, choice->known->problem_name, sizeof plan->from);
    plan->tuned_median_ns = choice->known->median_ns;
}

static void note_workspace(gemmtune_plan *plan, const struct gt_exec_info *info) {
    const size_t bytes = (size_t)info->fit->passes.workspace_bytes;
    if (bytes > plan->workspace_bytes)
        plan->workspace_bytes = bytes;
}

/* Adds the second kernel. Without one the plan still runs with aligned pointers and refuses
 * others, so a failure only gets a log line. */
static gt_status add_narrow(gemmtune_plan *plan, gemmtune_ctx *ctx,
                            const struct gt_query *query, const struct gt_choice *wide,
                            bool only_cached, struct gt_err *err) {
    struct gt_exec_info info;
    struct gt_err why = {""};
    const gt_status status = gt_kernel_narrow(&plan->narrow, &plan->for_now, ctx, query,
                                              wide, only_cached, &why);
    if (status == GEMMTUNE_ENOMEM || status == GEMMTUNE_ELOCKED)
        return gt_fail(err, status, "%s", why.line);
    if (status != GEMMTUNE_OK) {
        gt_log(GEMMTUNE_LOG_INFO, "no kernel for unaligned pointers: %s", why.line);
        return GEMMTUNE_OK;
    }
    gt_exec_describe(plan->narrow, &info);
    note_workspace(plan, &info);
    plan->same_bits = plan->same_bits && info.fit->binding.family->same_bits;
    return GEMMTUNE_OK;
}

static void late_destroy(struct late *late) {
    if (late == NULL)
        return;
    gt_exec_destroy(atomic_load(&late->narrow));
    (void)pthread_mutex_destroy(&late->lock);
    free(late);
}

static gt_status add_late(gemmtune_plan *plan, gemmtune_ctx *ctx,
                          const struct gt_query *query, const struct gt_choice *wide,
                          struct gt_err *err) {
    struct late *late = calloc(1, sizeof *late);
    if (late == NULL || pthread_mutex_init(&late->lock, NULL) != 0) {
        free(late);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    atomic_init(&late->narrow, NULL);
    late->ctx = ctx;
    late->problem = *query->problem;
    late->worst = query->worst;
    late->wide = *wide;
    plan->late = late;
    return GEMMTUNE_OK;
}

/* Builds the narrow kernel. It gets no more workspace than the plan has said. One that
 * serves while a better one is not built stays in the plan: few calls need it. */
static gt_status try_late(struct late *late, size_t workspace_max) {
    const struct gt_query query =
        gt_ctx_query(late->ctx, &late->problem, late->worst, workspace_max);
    struct gt_exec *narrow = NULL;
    bool for_now = false;
    const gt_status status = gt_kernel_narrow(&narrow, &for_now, late->ctx, &query,
                                              &late->wide, false, &late->why);
    if (status == GEMMTUNE_OK)
        atomic_store(&late->narrow, narrow);
    if (gt_is_about_kernel(status) && status != GEMMTUNE_EDEVICE) /* it may be busy now */
        late->failed = status;
    return status;
}

/* The narrow kernel, built unless another thread has. A compiler that has refused it is not
 * asked again by later calls. */
static gt_status build_late(struct gt_exec **out, struct late *late, size_t workspace_max,
                            struct gt_err *err) {
    (void)pthread_mutex_lock(&late->lock);
    gt_status status = late->failed;
    if (status == GEMMTUNE_OK && atomic_load(&late->narrow) == NULL)
        status = try_late(late, workspace_max);
    *out = atomic_load(&late->narrow);
    if (status != GEMMTUNE_OK)
        (void)gt_fail(err, status, "for unaligned offsets: %s", late->why.line);
    (void)pthread_mutex_unlock(&late->lock);
    return status;
}

static void note_memory(gemmtune_plan *plan, const struct gt_fit *fit) {
    const gemmtune_problem *p = &fit->problem;
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    for (int i = 0; i < 3 && !gt_problem_has_pointers(p); i++) {
        plan->mask[i] = (uint64_t)fit->align[i] - 1;
        plan->element_bytes[i] = gt_type_size(type[i]);
    }
}

/* Copies the duels of the kernel, which may outlive the context. */
static gt_status note_duels(gemmtune_plan *plan, const gemmtune_ctx *ctx,
                            const struct gt_query *query, const struct gt_choice *choice,
                            struct gt_err *err) {
    char problem[GT_PROBLEM_NAME_MAX];
    const struct gt_db_subject kernel = {ctx->device_key, problem, choice->family->name,
                                         choice->family->hash, plan->params};
    const struct gt_duel *first;
    if (ctx->duels.count == 0)
        return GEMMTUNE_OK;
    (void)gt_problem_name(query->problem, problem);
    const size_t count = gt_duels_of(&first, &ctx->duels, gt_db_subject_key(&kernel));
    if (count == 0)
        return GEMMTUNE_OK;
    plan->duels.item = calloc(count, sizeof *plan->duels.item);
    if (plan->duels.item == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++)
        if ((uint64_t)first[i].workspace <= query->workspace_max)
            plan->duels.item[plan->duels.count++] = first[i];
    return GEMMTUNE_OK;
}

static gt_status fill(gemmtune_plan *plan, gemmtune_ctx *ctx, const struct gt_query *query,
                      bool only_cached, struct gt_err *err) {
    struct gt_gpu *const gpu = ctx->gpu;
    struct gt_choice choice;
    struct gt_exec_info info;
    gt_status status =
        gt_kernel_wide(&plan->wide, &plan->for_now, &choice, ctx, query, only_cached, err);
    if (status != GEMMTUNE_OK)
        return status;
    describe_choice(plan, &choice);
    status = note_duels(plan, ctx, query, &choice, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_exec_describe(plan->wide, &info);
    note_workspace(plan, &info);
    memcpy(plan->image, info.image, strlen(info.image) + 1);
    plan->driver = gpu->driver;
    note_memory(plan, info.fit);
    if (!gt_wants_narrow(info.fit, query->problem))
        return GEMMTUNE_OK;
    return gpu->driver->pointers_are_addresses
               ? add_narrow(plan, ctx, query, &choice, only_cached, err)
               : add_late(plan, ctx, query, &choice, err);
}

static gt_status make(gemmtune_plan *plan, gemmtune_ctx *ctx, const struct gt_plan_ask *ask,
                      struct gt_err *err) {
    const struct gt_query query =
        gt_ctx_query(ctx, ask->canonical, ask->worst, ask->workspace_max);
    const gt_status status = fill(plan, ctx, &query, ask->only_cached, err);
    plan->swapped = ask->swapped;
    if (status == GEMMTUNE_OK && plan->for_now)
        plan->better = gt_better_order(ctx, ask);
    if (status == GEMMTUNE_OK && !ask->only_cached && plan->better == NULL &&
        plan->expected_loss > 0)
        gt_misses_note(ask->canonical, ctx->device_key, plan->expected_loss);
    return status;
}

/* Makes *plan, unless there is a plan of this question: then *plan becomes that one. On
 * failure *plan can be destroyed. */
static gt_status make_once(gemmtune_plan **plan, gemmtune_ctx *ctx,
                           const struct gt_plan_ask *ask, struct gt_err *err) {
    const struct gt_plan_key key = gt_plan_key_of(ask->canonical, ask->workspace_max);
    struct gt_shared *const fresh = &(*plan)->shared;
    fresh->key = gt_plan_key_bytes(&fresh->key_size, &key, ask->worst, ask->swapped);
    if (fresh->key == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    struct gt_shared *found = gt_sharing_take(ctx->plans, fresh);
    if (found != fresh) {
        gemmtune_plan_destroy(*plan);
        *plan = plan_of(found);
        return GEMMTUNE_OK;
    }
    const gt_status status = make(*plan, ctx, ask, err);
    /* A plan that is to be made anew is nobody else's. */
    gt_shared_settle(found, status == GEMMTUNE_OK && !(*plan)->for_now);
    return status;
}

/* The set of cached kernels may change, so plans of cached kernels are made anew. */
gt_status gt_plan_make(gemmtune_plan **out, gemmtune_ctx *ctx,
                       const struct gt_plan_ask *ask, struct gt_err *err) {
    *out = NULL;
    gemmtune_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_shared_init(&plan->shared);
    const gt_status status =
        ask->only_cached ? make(plan, ctx, ask, err) : make_once(&plan, ctx, ask, err);
    if (status == GEMMTUNE_OK)
        *out = plan;
    else
        gemmtune_plan_destroy(plan);
    return status;
}

void gt_plan_hold(gemmtune_plan *plan) {
    gt_shared_hold(&plan->shared);
}

void gt_plan_retain(const gemmtune_plan *plan) {
    const struct gt_exec *late =
        plan->late != NULL ? atomic_load(&plan->late->narrow) : NULL;
    gt_exec_retain(plan->wide);
    if (plan->narrow != NULL)
        gt_exec_retain(plan->narrow);
    if (late != NULL)
        gt_exec_retain(late);
}

size_t gt_plan_duels(const struct gt_duel **first, const gemmtune_plan *plan) {
    *first = plan->duels.item;
    return plan->duels.count;
}

static gemmtune_better better_of(const gemmtune_plan *plan) {
    return plan->better == NULL ? GEMMTUNE_BETTER_NONE
                                : (gemmtune_better)atomic_load(&plan->better->state);
}

bool gt_plan_is_outdated(const gemmtune_plan *plan) {
    return better_of(plan) == GEMMTUNE_BETTER_READY;
}

void gt_plan_settle(const gemmtune_plan *plan) {
    if (plan->better != NULL)
        atomic_store(&plan->better->state, (int)GEMMTUNE_BETTER_NONE);
}

size_t gt_plan_workspace(const gemmtune_plan *plan) {
    return plan->workspace_bytes;
}

/* ---- running --------------------------------------------------------------------- */

/* Whether the wide kernel accepts the memory of A, B and C. */
static bool is_aligned(const gemmtune_plan *plan, const struct gt_call *call) {
    const void *const pointer[3] = {call->a, call->b, call->c};
    const int64_t offset[3] = {call->offset.a, call->offset.b, call->offset.c};
    uint64_t low = 0;
    for (int i = 0; i < 3; i++)
        low |=
            plan->mask[i] &
            gt_memory_place(plan->driver, gt_memory_at(plan->driver, pointer[i], offset[i],
                                                       plan->element_bytes[i]));
    return low == 0;
}

static gt_status find_kernel(const struct gt_exec **out, const gemmtune_plan *plan,
                             const struct gt_call *call, struct gt_err *err) {
    struct gt_exec *late = NULL;
    *out = plan->wide;
    if ((plan->narrow == NULL && plan->late == NULL) || is_aligned(plan, call))
        return GEMMTUNE_OK;
    *out = plan->narrow;
    if (plan->late == NULL)
        return GEMMTUNE_OK;
    late = atomic_load(&plan->late->narrow);
    gt_status status = GEMMTUNE_OK;
    if (late == NULL)
        status = gt_call_check_scalars(&plan->late->problem, call, err);
    const bool idle = status == GEMMTUNE_OK && late == NULL &&
                      gt_call_is_idle(&plan->late->problem, call);
    if (status == GEMMTUNE_OK && late == NULL && !idle)
        status = build_late(&late, plan->late, plan->workspace_bytes, err);
    *out = idle ? plan->wide : late;
    return status;
}

/* No file, lock or allocation from here down to the driver's launch, but for a late narrow
 * kernel. */
gt_status gt_plan_run(const gemmtune_plan *plan, bool swapped, const struct gt_call *call,
                      struct gt_err *err) {
    struct gt_call own = *call;
    own.swapped = swapped;
    if (swapped) {
        own.a = call->b;
        own.b = call->a;
        own.offset.a = call->offset.b;
        own.offset.b = call->offset.a;
    }
    const struct gt_exec *e = NULL;
    const gt_status status = find_kernel(&e, plan, &own, err);
    return status == GEMMTUNE_OK ? gt_exec_run(e, &own, err) : status;
}

/* ---- public ---------------------------------------------------------------------- */

static gt_status create(gemmtune_plan **out, gemmtune_ctx *ctx, const gemmtune_problem *p,
                        gemmtune_match worst, size_t workspace_max, bool only_cached,
                        struct gt_err *err) {
    gemmtune_problem canonical;
    struct gt_plan_ask ask = {&canonical, worst, workspace_max, only_cached, false};
    if (out == NULL)
        return gt_fail_null(err, "out", GEMMTUNE_ARG_OUT);
    *out = NULL;
    const gt_status status = gt_plan_problem(&canonical, &ask.swapped, ctx, p, worst, err);
    return status == GEMMTUNE_OK ? gt_plan_make(out, ctx, &ask, err) : status;
}

gemmtune_status gemmtune_plan_create(gemmtune_plan **out, gemmtune_ctx *ctx,
                                     const gemmtune_problem *p, gemmtune_match worst,
                                     size_t workspace_max) {
    return create(out, ctx, p, worst, workspace_max, false, gt_public_entry());
}

gemmtune_status gemmtune_plan_create_cached(gemmtune_plan **out, gemmtune_ctx *ctx,
                                            const gemmtune_problem *p, gemmtune_match worst,
                                            size_t workspace_max) {
    return create(out, ctx, p, worst, workspace_max, true, gt_public_entry());
}

void gemmtune_plan_destroy(gemmtune_plan *plan) {
    if (plan == NULL || !gt_shared_drop(&plan->shared))
        return;
    gt_better_release(plan->better);
    late_destroy(plan->late);
    gt_exec_destroy(plan->narrow);
    gt_exec_destroy(plan->wide);
    gt_duels_clear(&plan->duels);
    free(plan);
}

/* The struct of the first release of this ABI ends before this member. */
static const struct gt_growth info_growth = {sizeof(gemmtune_plan_info),
                                             offsetof(gemmtune_plan_info, better),
                                             "plan info", "gemmtune_plan_describe"};

/* A late kernel is known once a call has needed it. */
static bool late_has_same_bits(const gemmtune_plan *plan) {
    struct gt_exec_info info;
    const struct gt_exec *late =
        plan->late != NULL ? atomic_load(&plan->late->narrow) : NULL;
    if (late == NULL)
        return true;
    gt_exec_describe(late, &info);
    return info.fit->binding.family->same_bits;
}

gemmtune_status gemmtune_plan_describe_sized(const gemmtune_plan *plan,
                                             gemmtune_plan_info *info, size_t size) {
    struct gt_err *err = gt_public_entry();
    if (plan == NULL || info == NULL)
        return plan == NULL ? gt_fail_null(err, "plan", GEMMTUNE_ARG_CTX)
                            : gt_fail_null(err, "info", GEMMTUNE_ARG_OUT);
    const gemmtune_plan_info own = {
        .match = plan->match,
        .family = plan->family,
        .params = plan->params,
        .tuned_median_ns = plan->tuned_median_ns,
        .workspace_bytes = plan->workspace_bytes,
        .workspace_align = GT_WORKSPACE_ALIGN,
        .from = plan->from,
        .why = plan->why,
        .expected_loss = plan->expected_loss,
        .better = better_of(plan),
        .image = plan->image,
        .pinned = plan->pinned,
        .same_bits = plan->same_bits && late_has_same_bits(plan),
    };
    return gt_growth_write(info, size, &own, &info_growth, err);
}

gemmtune_status gemmtune_launch(const gemmtune_plan *plan, const gemmtune_args *args,
                                void *stream) {
    struct gt_err *err = gt_public_entry();
    gemmtune_args own;
    if (plan == NULL || args == NULL)
        return plan == NULL ? gt_fail_null(err, "plan", GEMMTUNE_ARG_CTX)
                            : gt_fail_null(err, "args", GEMMTUNE_ARG_ARGS);
    gt_status status = gt_args_read(&own, args, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_call call = {.alpha = own.alpha,
                                 .a = gt_device_pointer(own.a),
                                 .b = gt_device_pointer(own.b),
                                 .beta = own.beta,
                                 .c = own.c,
                                 .workspace = own.workspace,
                                 .stream = stream,
                                 .operands = own.operands,
                                 .operand = own.operand,
                                 .operand_ld = own.operand_ld,
                                 .d2 = own.d2,
                                 .rows = gt_device_pointer(own.rows),
                                 .d2_ld = own.d2_ld,
                                 .offset = {.a = own.a_offset,
                                            .b = own.b_offset,
                                            .c = own.c_offset,
                                            .d2 = own.d2_offset,
                                            .rows = own.rows_offset,
                                            .workspace = own.workspace_offset,
                                            .operand = own.operand_offset},
                                 .order = {own.wait_count, own.wait_list, own.event}};
    return gt_plan_run(plan, plan->swapped, &call, err);
}

gemmtune_status gemmtune_execute(const gemmtune_plan *plan, const void *alpha,
                                 const void *a, const void *b, const void *beta, void *c,
                                 void *workspace, void *stream) {
    struct gt_err *err = gt_public_entry();
    const struct gt_call call = {.alpha = alpha,
                                 .a = gt_device_pointer(a),
                                 .b = gt_device_pointer(b),
                                 .beta = beta,
                                 .c = c,
                                 .workspace = workspace,
                                 .stream = stream};
    if (plan == NULL)
        return gt_fail_null(err, "plan", GEMMTUNE_ARG_CTX);
    return gt_plan_run(plan, plan->swapped, &call, err);
}
