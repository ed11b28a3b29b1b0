/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - see launch.h. */
#include "shim/launch.h"

#include "shim/library.h"
#include "shim/trouble.h"

enum gt_shim_reason gt_shim_launch(struct gt_shim_entry *e, const struct gt_shim_call *x,
                                   void *c, void *workspace, void *stream) {
    const struct gt_shim_gemmtune *g = gt_shim_gemmtune();
    const void *const operand[] = {x->bias};
    /* The problem is the transpose, so their B comes first. */
    const gemmtune_args args = {
        .struct_size = sizeof args,
        .operands = x->bias != NULL,
        .alpha = x->alpha,
        .beta = x->beta,
        .a = x->b,
        .b = x->a,
        .c = c,
        .operand = x->bias != NULL ? operand : NULL,
        .d2 = x->aux,
        .d2_ld = x->aux_ld,
        .workspace = workspace,
    };
    if (g->launch(e->plan, &args, stream) == GEMMTUNE_OK) {
        atomic_fetch_add_explicit(&e->served, 1, memory_order_relaxed);
        return GT_SHIM_NONE;
    }
    gt_shim_trouble("%s: %s", e->name, g->errmsg());
    atomic_store(&e->reason, GT_SHIM_FAILED);
    atomic_store(&e->verdict, GT_SHIM_PASSED);
    return GT_SHIM_FAILED;
}
