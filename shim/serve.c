/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - what becomes of a call. A call that is passed on costs a look into a table.
 */
#include "shim/call.h"

#include "shim/blas.h"
#include "shim/check.h"
#include "shim/decide.h"
#include "shim/handle.h"
#include "shim/launch.h"
#include "shim/life.h"
#include "shim/read.h"
#include "shim/record.h"

/* A library that calls itself through us is let through: cuBLAS calls cublasLtMatmul. */
static _Thread_local bool inside;

/* A call that may be served, on its way. */
struct attempt {
    struct gt_shim_key key;
    const struct gt_shim_driver *driver;
    void *stream;
    void *workspace; /* the program's */
    bool given;      /* the workspace is the program's */
};

/* ---- the entry and its verdict  ---- */

static enum gt_shim_reason verdict_of(const struct gt_shim_entry *e) {
    const int verdict = atomic_load_explicit(&e->verdict, memory_order_acquire);
    if (verdict == GT_SHIM_SERVED)
        return GT_SHIM_NONE;
    return verdict == GT_SHIM_FRESH ? GT_SHIM_BUILDING /* another thread decides just now */
                                    : (enum gt_shim_reason)atomic_load_explicit(
                                          &e->reason, memory_order_relaxed);
}

/* A kernel that needs a workspace of ours has none in a capture. A workspace of the
 * program's is not used once a second thread uses the handle. So the problem's kernel
 * without a workspace is looked for as well, now that it may be loaded. */
static void decide_without_workspace(const struct attempt *t,
                                     const struct gt_shim_call *x) {
    struct gt_shim_key key = t->key;
    key.workspace = 0;
    struct gt_shim_entry *e = gt_shim_find(&key, x->id);
    if (e != NULL)
        gt_shim_decide(e, x, t->driver);
}

static enum gt_shim_reason look_up(struct gt_shim_entry **out, const struct attempt *t,
                                   const struct gt_shim_call *x) {
    struct gt_shim_entry *e = gt_shim_find(&t->key, x->id);
    *out = e;
    if (e == NULL)
        return GT_SHIM_MANY;
    const int verdict = atomic_load_explicit(&e->verdict, memory_order_acquire);
    if (verdict == GT_SHIM_PASSED || verdict == GT_SHIM_SERVED)
        return verdict_of(e);
    if (gt_shim_captures(t->driver, t->stream))
        return GT_SHIM_CAPTURED;
    gt_shim_decide(e, x, t->driver);
    const enum gt_shim_reason why = verdict_of(e);
    if (why == GT_SHIM_NONE && x->lt == NULL && t->key.workspace > 0 &&
        (t->given || e->workspace_bytes > 0))
        decide_without_workspace(t, x);
    return why;
}

/* ---- what a call has  ---- */

static enum gt_shim_reason begin_attempt(struct attempt *t, const struct gt_shim_call *x) {
    t->stream = NULL;
    t->driver = gt_shim_driver();
    if (t->driver == NULL)
        return GT_SHIM_FAILED;
    t->key.context = gt_shim_context(t->driver);
    if (t->key.context == 0)
        return GT_SHIM_CONTEXT;
    if (x->lt != NULL) {
        t->stream = x->lt->stream;
        t->workspace = x->lt->workspace;
        t->key.workspace = x->lt->workspace_bytes;
        t->given = true;
        return GT_SHIM_NONE;
    }
    if (x->library->get_stream == NULL ||
        x->library->get_stream(x->handle, &t->stream) != 0)
        return GT_SHIM_INVALID;
    t->key.workspace =
        gt_shim_workspace_bytes(&t->given, &t->workspace, x->handle, t->stream);
    return GT_SHIM_NONE;
}

/* Whether the stream is of the current context. A stream is asked once: some questions end
 * a capture. */
static enum gt_shim_reason check_stream(struct gt_shim_entry *e, const struct attempt *t) {
    void *context = NULL;
    if (t->driver->stream_context == NULL || t->stream == NULL ||
        atomic_load_explicit(&e->stream, memory_order_relaxed) == t->stream ||
        gt_shim_captures(t->driver, t->stream))
        return GT_SHIM_NONE;
    if (t->driver->stream_context(t->stream, &context) != 0 ||
        (uint64_t)(uintptr_t)context != t->key.context)
        return GT_SHIM_CONTEXT;
    atomic_store_explicit(&e->stream, t->stream, memory_order_relaxed);
    return GT_SHIM_NONE;
}

/* Questions that only a call which is to be served is asked. */
static enum gt_shim_reason last_questions(struct gt_shim_entry *e, const struct attempt *t,
                                          const struct gt_shim_call *x) {
    int sms = 0;
    if (x->lt == NULL && x->library->get_sm_target != NULL &&
        (x->library->get_sm_target(x->handle, &sms) != 0 || sms != 0))
        return GT_SHIM_SMS;
    if (gt_shim_context_number(t->driver, t->key.context) != e->context_number) {
        /* Another context has come to the address: its products are decided anew. */
        atomic_store(&e->verdict, GT_SHIM_FRESH);
        return GT_SHIM_CONTEXT;
    }
    return check_stream(e, t);
}

/* The workspace of the entry's plan. Where there is none, *e becomes the entry that needs
 * none. */
static enum gt_shim_reason find_workspace(void **out, struct gt_shim_entry **e,
                                          struct attempt *t, const struct gt_shim_call *x) {
    *out = NULL;
    if ((*e)->workspace_bytes == 0)
        return GT_SHIM_NONE;
    if (t->given)
        *out = t->workspace;
    else if (!gt_shim_captures(t->driver, t->stream))
        *out = gt_shim_workspace_own(x->handle, t->stream, t->driver);
    if (*out != NULL && (uintptr_t)*out % (*e)->workspace_align == 0)
        return GT_SHIM_NONE;
    *out = NULL;
    t->key.workspace = 0;
    const enum gt_shim_reason why = look_up(e, t, x);
    return why == GT_SHIM_NONE && (*e)->workspace_bytes > 0 ? GT_SHIM_WORKSPACE : why;
}

/* ---- one call  ---- */

static enum gt_shim_reason launch(struct gt_shim_entry *e, struct attempt *t,
                                  struct gt_shim_call *x, const struct gt_shim_state *s) {
    void *workspace = NULL;
    const enum gt_shim_reason why = find_workspace(&workspace, &e, t, x);
    if (why != GT_SHIM_NONE)
        return why;
    return s->mode.does == GT_SHIM_CHECK
               ? gt_shim_check_begin(x, e, workspace, t->stream, t->driver)
               : gt_shim_launch(e, x, x->c, workspace, t->stream);
}

/* A workspace of cublasLtMatmul is this call's, so the call needs no lock. */
static enum gt_shim_reason launch_alone(struct gt_shim_entry *e, struct attempt *t,
                                        struct gt_shim_call *x,
                                        const struct gt_shim_state *s) {
    struct gt_shim_handle *held = NULL;
    if (e->workspace_bytes == 0 || x->lt != NULL)
        return launch(e, t, x, s);
    if (!gt_shim_workspace_hold(&held, x->handle))
        t->workspace = NULL;
    const enum gt_shim_reason why = launch(e, t, x, s);
    gt_shim_workspace_release(held);
    return why;
}

static enum gt_shim_reason try_to_serve(struct gt_shim_call *x, struct attempt *t,
                                        const struct gt_shim_state *s) {
    struct gt_shim_entry *e = NULL;
    if (atomic_load_explicit(&s->forked, memory_order_relaxed))
        return GT_SHIM_FORKED;
    enum gt_shim_reason why = begin_attempt(t, x);
    if (why == GT_SHIM_NONE)
        why = look_up(&e, t, x);
    if (why == GT_SHIM_NONE)
        why = last_questions(e, t, x);
    return why == GT_SHIM_NONE ? launch_alone(e, t, x, s) : why;
}

static enum gt_shim_reason consider(struct gt_shim_call *x, struct gt_shim_state *s) {
    struct attempt t;
    if (x->lt == NULL && s->mode.does != GT_SHIM_RECORD)
        gt_shim_handle_used(x->handle);
    enum gt_shim_reason why = gt_shim_read(&t.key, x, s);
    if (why == GT_SHIM_NONE && s->mode.does != GT_SHIM_RECORD)
        why = try_to_serve(x, &t, s);
    else if (s->mode.does == GT_SHIM_RECORD && gt_shim_record(&t.key, x, why))
        return GT_SHIM_NONE;
    if (why != GT_SHIM_NONE)
        atomic_fetch_add_explicit(&s->passed[x->id][why], 1, memory_order_relaxed);
    return why;
}

bool gt_shim_begin(unsigned *status, struct gt_shim_call *x) {
    struct gt_shim_state *s = gt_shim_life();
    x->original = gt_shim_original(&x->library, x->id, x->from);
    *status = GT_SHIM_NOT_INITIALIZED;
    if (x->original == NULL)
        return true;
    if (inside || s->mode.does == GT_SHIM_OFF)
        return false;
    inside = x->entered = true;
    const enum gt_shim_reason why = consider(x, s);
    if (why != GT_SHIM_NONE || s->mode.does == GT_SHIM_RECORD || x->comparison != NULL)
        return false;
    inside = false;
    *status = GT_SHIM_SUCCESS;
    return true;
}

void gt_shim_end(struct gt_shim_call *x, unsigned status) {
    if (x->comparison != NULL)
        gt_shim_check_end(x, status);
    if (x->entered)
        inside = false;
}
