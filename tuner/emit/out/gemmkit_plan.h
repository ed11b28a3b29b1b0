/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_plan.h - contexts and plans, for gemmkit.c (which makes them) and gemmkit_call.c
 * (which runs them). */
#ifndef GEMMKIT_PLAN_H
#define GEMMKIT_PLAN_H

#include "gemmkit_inside.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BUCKETS = 1024 }; /* of a context's own plans and of the exact kernels */

union gk_value {
    int32_t i32;
    int64_t i64;
    const void *ptr;
    double room;
};

struct gemmkit_plan {
    gemmkit_ctx *ctx;
    const struct gk_kernel *kernel;
    const struct gk_loaded *loaded; /* NULL: C has no elements */
    const char *name;               /* of an exact kernel's problem */
    struct gk_problem problem;
    bool swapped;
    struct gk_fit fit;
    union gk_value value[GK_MAP];   /* of the arguments that the problem decides */
    _Atomic(gemmkit_plan *) narrow; /* for pointers that are aligned to elements only */
};

/* A plan that the context keeps for gemmkit_gemm. */
struct gk_kept {
    struct gk_kept *next;
    gemmkit_problem problem;
    size_t workspace;
    gemmkit_plan *plan;
};

struct gemmkit_ctx {
    void *context;
    const struct gk_arch *arch;
    struct gk_device device;
    pthread_mutex_t lock;      /* of `loaded`, and for adding to `kept` and `narrow` */
    struct gk_loaded **loaded; /* by kernel */
    _Atomic(struct gk_kept *) kept[BUCKETS];
    int first[BUCKETS]; /* exact kernels by hash: 1 + index; 0: none */
    int *next;
};

/* Whether C has no element: then nothing runs. */
static inline bool gk_is_empty(const struct gk_problem *p) {
    return p->m == 0 || p->n == 0 || p->batch == 0;
}

/* A plan with a general kernel. `pointer_align`: bytes that pointers are multiples of; 1:
 * they are aligned to elements. */
gemmkit_status gk_plan_general(gemmkit_plan **out, gemmkit_ctx *ctx,
                               const struct gk_problem *p, bool swapped, int pointer_align);

#endif
