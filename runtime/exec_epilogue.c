/* SPDX-License-Identifier: Apache-2.0 */
/* exec_epilogue.c - see exec_epilogue.h. */
#include "runtime/exec_epilogue.h"

#include "core/epilogue_op.h"

#include <string.h>

static void add_pointer(struct gt_epilogue_args *out, const void *pointer) {
    out->value[out->count].ptr = gt_device_pointer(pointer);
    out->size[out->count++] = sizeof pointer;
}

static void add_ld(struct gt_epilogue_args *out, int64_t ld) {
    out->value[out->count].i64 = ld;
    out->size[out->count++] = sizeof ld;
}

/* ---- checks ---------------------------------------------------------------------- */

static gt_status check_none(const struct gt_call *call, struct gt_err *err) {
    if (call->operands != 0 || call->operand != NULL || call->d2 != NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is given, but the plan has no epilogue",
                       call->d2 != NULL ? "d2" : "operand");
    return GEMMTUNE_OK;
}

static gt_status check_counts(const struct gt_epilogue *e, const struct gt_call *call,
                              struct gt_err *err) {
    if (call->operands != e->operands)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the call has %d operands, the plan's epilogue %d", call->operands,
                       e->operands);
    if (e->operands > 0 && call->operand == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "operand is NULL");
    if (e->d2 < 0 && call->d2 != NULL)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "d2 is given, but the plan's epilogue has one output");
    return GEMMTUNE_OK;
}

static gt_status check_pointer(const char *name, const void *pointer, int32_t type,
                               bool aligns, struct gt_err *err) {
    const size_t bytes = gt_type_size((gemmtune_dtype)type);
    if (pointer == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "the pointer to %s is NULL", name);
    if (aligns && (uintptr_t)pointer % bytes != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the pointer to %s, %p, is not aligned to %d bytes", name, pointer,
                       (int)bytes);
    return GEMMTUNE_OK;
}

/* Replaces 0 by the packed leading dimension. */
static gt_status settle_ld(int64_t *ld, const char *name, const gemmtune_problem *p,
                           struct gt_err *err) {
    const int64_t least = gt_shape_least_ld(gt_problem_shape_c(p));
    if (*ld == 0)
        *ld = least;
    if (*ld < least || *ld > GT_DIM_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the leading dimension of %s is %lld, must be 0 (packed) or at "
                       "least %lld",
                       name, (long long)*ld, (long long)least);
    return GEMMTUNE_OK;
}

/* ---- arguments ------------------------------------------------------------------- */

static gt_status add_operand(struct gt_epilogue_args *out, const struct gt_epi_operand *x,
                             const void *pointer, int64_t ld, const gemmtune_problem *p,
                             bool aligns, struct gt_err *err) {
    gt_status status = check_pointer(x->name, pointer, x->type, aligns, err);
    if (status == GEMMTUNE_OK && gt_epi_has_ld(x->shape))
        status = settle_ld(&ld, x->name, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    add_pointer(out, pointer);
    if (gt_epi_has_ld(x->shape))
        add_ld(out, ld);
    return GEMMTUNE_OK;
}

/* The number of the product. A kernel of a product at a time replaces it by its own; one
 * that deals with all products computes it from the row. */
static void add_product(struct gt_epilogue_args *out) {
    out->value[out->count].i32 = 0;
    out->size[out->count++] = sizeof(int32_t);
}

static void add_alpha(struct gt_epilogue_args *out, const gemmtune_problem *p,
                      const struct gt_call *call) {
    memcpy(&out->value[out->count], call->alpha, gt_type_size(p->type_acc));
    out->size[out->count++] = gt_type_size(p->type_acc);
}

static gt_status add_second(struct gt_epilogue_args *out, const struct gt_epilogue *e,
                            const gemmtune_problem *p, const struct gt_call *call,
                            bool aligns, struct gt_err *err) {
    const struct gt_epi_operand d2 = {
        .name = "d2", .type = e->type_d2, .shape = GT_EPI_MATRIX};
    return add_operand(out, &d2, call->d2, call->d2_ld, p, aligns, err);
}

gt_status gt_epilogue_args_of(struct gt_epilogue_args *out, const struct gt_epilogue *e,
                              const gemmtune_problem *p, const struct gt_call *call,
                              bool aligns, struct gt_err *err) {
    out->count = 0;
    if (e == NULL)
        return check_none(call, err);
    gt_status status = check_counts(e, call, err);
    for (int i = 0; i < e->operands && status == GEMMTUNE_OK; i++)
        status =
            add_operand(out, &e->operand[i], call->operand[i],
                        call->operand_ld != NULL ? call->operand_ld[i] : 0, p, aligns, err);
    if (status == GEMMTUNE_OK && gt_epilogue_has_products(e))
        add_product(out);
    if (status == GEMMTUNE_OK && gt_epilogue_reads(e, GT_EPI_ALPHA))
        add_alpha(out, p, call);
    if (status == GEMMTUNE_OK && e->d2 >= 0)
        status = add_second(out, e, p, call, aligns, err);
    return status;
}
