/* SPDX-License-Identifier: Apache-2.0 */
/* exec_epilogue.c - see exec_epilogue.h. */
#include "runtime/exec/exec_epilogue.h"

#include "core/bytes.h"
#include "core/epilogue/epilogue_op.h"
#include "runtime/drivers/memory.h"

#include <stdio.h>
#include <string.h>

/* One call's arguments in the making. */
struct making {
    struct gt_epilogue_args *out;
    const struct gt_epilogue *epilogue;
    const gemmtune_problem *problem;
    const struct gt_call *call;
    const struct gt_call_matrices *matrices;
    struct gt_memory d2;
    const struct gt_driver *driver;
};

static void add_pointer(struct gt_epilogue_args *out, struct gt_memory memory,
                        size_t element_bytes) {
    out->value[out->count].ptr = gt_device_pointer(memory.pointer);
    out->size[out->count++] = sizeof memory.pointer;
    out->offset[out->offsets++] = memory.at / (int64_t)element_bytes;
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

static gt_status check_operand(const struct making *m, const struct gt_epi_operand *x,
                               const char *what, struct gt_memory memory, int64_t ld,
                               struct gt_err *err) {
    const gemmtune_problem *p = m->problem;
    const int64_t size = (int64_t)gt_type_size((gemmtune_dtype)x->type);
    const struct gt_epi_extent extent =
        gt_epi_extent_of(x->shape, gt_problem_outputs(p) * p->m, p->n, p->batch);
    const struct gt_shape shape = {extent.rows, extent.columns};
    const struct gt_need need = {
        .what = what,
        .align = size,
        .bytes = gt_bytes_product(size,
                                  gt_shape_elems(shape, gt_epi_has_ld(x->shape) ? ld : 0))};
    return gt_memory_check(m->driver, memory, need, err);
}

/* Adds an operand, or d2, called `what` in messages. */
static gt_status add_memory(struct making *m, const struct gt_epi_operand *x,
                            const char *what, struct gt_memory memory, int64_t ld,
                            const struct gt_named_memory *others, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (gt_epi_has_ld(x->shape))
        status = settle_ld(&ld, what, m->problem, err);
    if (status == GEMMTUNE_OK)
        status = check_operand(m, x, what, memory, ld, err);
    if (status == GEMMTUNE_OK)
        status = gt_memory_apart((struct gt_named_memory){what, memory}, others, err);
    if (status != GEMMTUNE_OK)
        return status;
    add_pointer(m->out, memory, gt_type_size((gemmtune_dtype)x->type));
    if (gt_epi_has_ld(x->shape))
        add_ld(m->out, ld);
    return GEMMTUNE_OK;
}

static gt_status add_operand(struct making *m, int i, struct gt_err *err) {
    const struct gt_call *call = m->call;
    const struct gt_epi_operand *x = &m->epilogue->operand[i];
    const struct gt_named_memory written[] = {
        {"C", m->matrices->c}, {call->d2 != NULL ? "d2" : NULL, m->d2}, {NULL, {NULL, 0}}};
    const int64_t offset = call->offset.operand != NULL ? call->offset.operand[i] : 0;
    char what[GT_EPILOGUE_NAME_MAX + 16];
    (void)snprintf(what, sizeof what, "operand %s", x->name);
    if (offset < 0)
        return gt_fail(err, GEMMTUNE_EINVAL, "the offset of %s is %lld, must be 0 or more",
                       what, (long long)offset);
    const struct gt_memory memory = gt_memory_at(m->driver, call->operand[i], offset,
                                                 gt_type_size((gemmtune_dtype)x->type));
    return add_memory(m, x, what, memory,
                      call->operand_ld != NULL ? call->operand_ld[i] : 0, written, err);
}

/* The number of the product. A kernel of a product at a time replaces it by its own; one
 * that deals with all products computes it from the row. */
static void add_product(struct gt_epilogue_args *out) {
    out->value[out->count].i32 = 0;
    out->size[out->count++] = sizeof(int32_t);
}

static void add_alpha(struct making *m) {
    struct gt_epilogue_args *out = m->out;
    const size_t size = gt_type_size(m->problem->type_acc);
    memcpy(&out->value[out->count], m->call->alpha, size);
    out->size[out->count++] = size;
}

static gt_status add_second(struct making *m, struct gt_err *err) {
    const struct gt_call *call = m->call;
    const struct gt_epi_operand d2 = {
        .name = "d2", .type = m->epilogue->type_d2, .shape = GT_EPI_MATRIX};
    const struct gt_named_memory matrices[] = {{"C", m->matrices->c},
                                               {call->swapped ? "B" : "A", m->matrices->a},
                                               {call->swapped ? "A" : "B", m->matrices->b},
                                               {NULL, {NULL, 0}}};
    return add_memory(m, &d2, "d2", m->d2, call->d2_ld, matrices, err);
}

gt_status gt_epilogue_args_of(struct gt_epilogue_args *out, const struct gt_epilogue *e,
                              const gemmtune_problem *p, const struct gt_call *call,
                              const struct gt_call_matrices *matrices,
                              const struct gt_driver *driver, struct gt_err *err) {
    out->count = out->offsets = 0;
    if (e == NULL)
        return gt_blame(err, check_none(call, err),
                        call->d2 != NULL ? GEMMTUNE_ARG_D2 : GEMMTUNE_ARG_OPERANDS);
    struct making m = {.out = out,
                       .epilogue = e,
                       .problem = p,
                       .call = call,
                       .matrices = matrices,
                       .d2 = gt_memory_at(driver, call->d2, call->offset.d2,
                                          gt_type_size((gemmtune_dtype)e->type_d2)),
                       .driver = driver};
    gt_status status = gt_blame(err, check_counts(e, call, err), GEMMTUNE_ARG_OPERANDS);
    for (int i = 0; i < e->operands && status == GEMMTUNE_OK; i++)
        status = gt_blame(err, add_operand(&m, i, err), GEMMTUNE_ARG_OPERANDS);
    if (status == GEMMTUNE_OK && gt_epilogue_has_products(e))
        add_product(out);
    if (status == GEMMTUNE_OK && gt_epilogue_reads(e, GT_EPI_ALPHA))
        add_alpha(&m);
    if (status == GEMMTUNE_OK && e->d2 >= 0)
        status = gt_blame(err, add_second(&m, err), GEMMTUNE_ARG_D2);
    return status;
}
