/* SPDX-License-Identifier: Apache-2.0 */
/* exec_share.c - loaded kernels for another problem, and which problems they can serve. */
#include "runtime/exec/exec_inside.h"

#include "core/epilogue/epilogue_keep.h"

/* Types, layout and the kind of batch are compiled in, and the driver was told the shared
 * memory when the kernel was loaded. */
static gt_status check_shareable(const struct gt_loaded *l, const gemmtune_problem *p,
                                 struct gt_err *err) {
    const gemmtune_problem *own = &l->fit.problem;
    if (gt_dtype_of(p) != gt_dtype_of(own))
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for other data types");
    if (p->trans_a != own->trans_a || p->trans_b != own->trans_b)
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for layout %s",
                       gt_problem_layout(own));
    if (gt_problem_is_batch(p) != gt_problem_is_batch(own))
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for %s",
                       gt_problem_is_batch(own) ? "batches" : "single products");
    if (p->batch_kind != own->batch_kind)
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for another kind of batch");
    if (gt_epilogue_of(p) != gt_epilogue_of(own))
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for another epilogue");
    if (gt_exec_is_empty(own) && !gt_exec_is_empty(p))
        return gt_fail(err, GEMMTUNE_EINVAL, "nothing was built for an empty product");
    return GEMMTUNE_OK;
}

/* The loaded point, fitted to another problem. */
static gt_status refit(struct gt_fit *out, const struct gt_loaded *l,
                       const gemmtune_problem *p, struct gt_err *err) {
    const struct gt_family *f = l->fit.binding.family;
    int64_t values[GT_POINT_MAX];
    for (int i = 0; i < f->param_count; i++)
        values[i] = l->fit.binding.value[f->param[i].slot];
    return gt_fit_values(out, f, &l->gpu->device, p, GT_VECTOR_BYTES, values, err);
}

/* An image has derived names of its problem in it. */
static gt_status check_derived(const struct gt_fit *fit, const struct gt_loaded *l,
                               struct gt_err *err) {
    const struct gt_family *f = fit->binding.family;
    if (fit->binding.slot_rows != l->fit.binding.slot_rows)
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for slots of other rows");
    for (int i = 0; i < f->derive_count; i++) {
        const int slot = f->derive[i].slot;
        if (f->derive[i].in_image && fit->binding.value[slot] != l->fit.binding.value[slot])
            return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for another %s",
                           f->symbols.name[slot]);
    }
    return GEMMTUNE_OK;
}

/* The point alone decides which passes there are, so both have the same passes. */
static gt_status check_shared_memory(const struct gt_passes *passes,
                                     const struct gt_loaded *l, struct gt_err *err) {
    for (int i = 0; i < passes->count; i++)
        if (passes->item[i].launch.smem_bytes > l->fit.passes.item[i].launch.smem_bytes)
            return gt_fail(err, GEMMTUNE_EINVAL, "the problem needs more shared memory");
    return GEMMTUNE_OK;
}

gt_status gt_exec_share(struct gt_exec **out, const struct gt_exec *e,
                        const gemmtune_problem *p, struct gt_err *err) {
    struct gt_loaded *l = e->loaded;
    struct gt_fit fit;
    *out = NULL;
    gt_status status = check_shareable(l, p, err);
    if (status == GEMMTUNE_OK)
        status = refit(&fit, l, p, err);
    if (status == GEMMTUNE_OK)
        status = check_derived(&fit, l, err);
    if (status == GEMMTUNE_OK)
        status = check_shared_memory(&fit.passes, l, err);
    if (status == GEMMTUNE_OK)
        status = gt_exec_check_maps(l->gpu, &fit, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_shared_hold(&l->shared);
    return gt_exec_of(out, l, &fit, err);
}
