/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_read.c - what the caller of a host product asks: checks and copies options and
 * arguments, decides which operands are needed, and finds out where the matrices lie.
 */
#include "runtime/host/call.h"

#include "core/element.h"
#include "core/growth.h"

#include <inttypes.h>

/* The struct of the first release of this ABI is the present one. */
static const struct gt_growth options_growth = {
    sizeof(gemmtune_host_options), sizeof(gemmtune_host_options), "host options",
    "gemmtune_host_options_init"};

gemmtune_status gemmtune_host_options_init_sized(gemmtune_host_options *options,
                                                 size_t size) {
    return gt_growth_init(options, size, &options_growth, gt_public_entry());
}

/* ---- options and arguments ----------------------------------------------------------- */

static gt_status check_list(gemmtune_ctx *const *ctx, int32_t devices, struct gt_err *err) {
    if (ctx == NULL || devices < 1 || devices > GT_HOST_DEVICES_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "a list of %d devices, must be from 1 to %d",
                       ctx == NULL ? 0 : (int)devices, GT_HOST_DEVICES_MAX);
    for (int i = 0; i < devices; i++) {
        if (ctx[i] == NULL)
            return gt_fail(err, GEMMTUNE_EINVAL, "context %d of the list is NULL", i);
        for (int j = 0; j < i; j++)
            if (ctx[j] == ctx[i])
                return gt_fail(err, GEMMTUNE_EINVAL, "contexts %d and %d are the same", j,
                               i);
    }
    return GEMMTUNE_OK;
}

static gt_status read_options(struct gt_host_call *c, const gemmtune_host_options *options,
                              struct gt_err *err) {
    (void)gt_growth_init(&c->options, sizeof c->options, &options_growth, err);
    if (options == NULL)
        return GEMMTUNE_OK;
    const gt_status status = gt_growth_read(&c->options, options, &options_growth, err);
    if (status != GEMMTUNE_OK)
        return status;
    const gemmtune_host_options *o = &c->options;
    if ((unsigned)o->order > GEMMTUNE_HOST_FIVE_BUFFERS ||
        (unsigned)o->copies > GEMMTUNE_HOST_STAGED || o->threads < 0 || o->tile_m < 0 ||
        o->tile_n < 0 || o->tile_k < 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "host options: order %u, copies %u, threads %d, tiles %" PRId64
                       " x %" PRId64 " x %" PRId64 " are not all valid",
                       (unsigned)o->order, (unsigned)o->copies, (int)o->threads, o->tile_m,
                       o->tile_n, o->tile_k);
    return GEMMTUNE_OK;
}

/* NULL stays NULL. */
static void *first_element(const struct gt_host_call *c, enum gt_operand operand,
                           const void *matrix, int64_t offset) {
    const uintptr_t bytes =
        (uintptr_t)offset * (uintptr_t)gt_host_element_bytes(&c->cut, operand);
    return (void *)((uintptr_t)matrix + (matrix != NULL ? bytes : 0));
}

static gt_status read_args(struct gt_host_call *c, const gemmtune_args *args, bool swapped,
                           struct gt_err *err) {
    gemmtune_args own;
    const gt_status status = gt_args_read(&own, args, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (own.rows != NULL || own.operands != 0 || own.operand != NULL || own.d2 != NULL)
        return gt_blame(
            err,
            gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                    "host products have neither rows, operands nor a second output"),
            own.rows != NULL ? GEMMTUNE_ARG_ROWS
            : own.d2 != NULL ? GEMMTUNE_ARG_D2
                             : GEMMTUNE_ARG_OPERANDS);
    if (own.wait_count > 0 || own.event != NULL)
        return gt_blame(err,
                        gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                                "host products have neither wait_list nor event: the call "
                                "returns when C is complete"),
                        GEMMTUNE_ARG_EVENTS);
    const struct gt_call scalars = {.alpha = own.alpha, .beta = own.beta};
    const gt_status given = gt_call_check_scalars(&c->cut.problem, &scalars, err);
    if (given != GEMMTUNE_OK)
        return given;
    c->run.alpha = own.alpha;
    c->run.beta = own.beta;
    const enum gt_operand a = swapped ? GT_B : GT_A, b = swapped ? GT_A : GT_B;
    c->run.host[a] = first_element(c, a, own.a, own.a_offset);
    c->run.host[b] = first_element(c, b, own.b, own.b_offset);
    c->run.host[GT_C] = first_element(c, GT_C, own.c, own.c_offset);
    return GEMMTUNE_OK;
}

/* ---- where matrices lie -------------------------------------------------------------- */

/* The host memory of a stored matrix. */
struct extent {
    uintptr_t begin;
    int64_t row_bytes, rows, pitch;
};

static struct extent extent_of(const struct gt_host_call *c, enum gt_operand operand) {
    const gemmtune_problem *p = &c->cut.problem;
    const struct gt_shape shape[GT_OPERANDS] = {
        gt_problem_shape_a(p), gt_problem_shape_b(p), gt_problem_shape_c(p)};
    const int64_t ld[GT_OPERANDS] = {p->lda, p->ldb, p->ldc};
    const int64_t size = gt_host_element_bytes(&c->cut, operand);
    return (struct extent){(uintptr_t)c->run.host[operand], shape[operand].cols * size,
                           shape[operand].rows, ld[operand] * size};
}

static int64_t bytes_of(struct extent x) {
    return x.rows == 0 ? 0 : (x.rows - 1) * x.pitch + x.row_bytes;
}

/* Whether two matrices lie beside each other in the columns of one larger matrix. Their
 * rows then interleave, and they share no element. */
static bool lie_beside(struct extent x, struct extent y) {
    if (x.pitch != y.pitch)
        return false;
    const struct extent first = x.begin <= y.begin ? x : y;
    const struct extent second = x.begin <= y.begin ? y : x;
    const int64_t column = (int64_t)(second.begin - first.begin) % x.pitch;
    return column >= first.row_bytes && column + second.row_bytes <= x.pitch;
}

static gt_status check_overlap(const struct gt_host_call *c, struct gt_err *err) {
    const struct extent out = extent_of(c, GT_C);
    for (int i = GT_A; i <= GT_B; i++) {
        const struct extent in = extent_of(c, (enum gt_operand)i);
        const bool apart = out.begin + (uintptr_t)bytes_of(out) <= in.begin ||
                           in.begin + (uintptr_t)bytes_of(in) <= out.begin;
        if (!apart && !lie_beside(in, out))
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "C, %" PRId64 " bytes at %p, overlaps an input, %" PRId64
                           " bytes at %p",
                           bytes_of(out), c->run.host[GT_C], bytes_of(in), c->run.host[i]);
    }
    return GEMMTUNE_OK;
}

/* `swapped`: the caller's A and B are exchanged here, as for column-major products. */
static gt_status check_matrices(const struct gt_host_call *c, bool swapped,
                                struct gt_err *err) {
    const char *const name[GT_OPERANDS] = {
        [GT_A] = swapped ? "B" : "A", [GT_B] = swapped ? "A" : "B", [GT_C] = "C"};
    for (int i = 0; i < GT_OPERANDS; i++)
        if (c->run.host[i] == NULL && (i == GT_C || c->cut.sums))
            return gt_blame(
                err, gt_fail(err, GEMMTUNE_EINVAL, "the pointer to %s is NULL", name[i]),
                name[i][0] == 'A'   ? GEMMTUNE_ARG_A
                : name[i][0] == 'B' ? GEMMTUNE_ARG_B
                                    : GEMMTUNE_ARG_C);
    return c->cut.sums ? gt_blame(err, check_overlap(c, err), GEMMTUNE_ARG_C) : GEMMTUNE_OK;
}

gt_status gt_host_call_find_staged(struct gt_host_call *c, struct gt_err *err) {
    struct gt_link *link = NULL;
    bool any = false;
    gt_status status = gt_link_open(&link, c->ctx[0]->gpu, err);
    if (status == GEMMTUNE_OK)
        status = link->ops->attach(link, err);
    if (status == GEMMTUNE_OK) {
        for (int i = 0; i < GT_OPERANDS; i++) {
            const struct extent x = extent_of(c, (enum gt_operand)i);
            const char *first = c->run.host[i];
            const bool used = i == GT_C || c->cut.sums;
            c->run.staged[i] =
                used && (c->options.copies == GEMMTUNE_HOST_STAGED ||
                         !link->ops->is_pinned(link, first) ||
                         !link->ops->is_pinned(link, first + bytes_of(x) - 1));
            any = any || c->run.staged[i];
        }
        link->ops->detach(link);
    }
    gt_link_close(link);
    if (status == GEMMTUNE_OK && any)
        status = gt_copier_create(&c->run.copier, c->options.threads, err);
    return status;
}

/* ---- all of it ----------------------------------------------------------------------- */

static gt_status check_plain(const gemmtune_problem *p, struct gt_err *err) {
    if (gt_problem_is_batch(p))
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "a product of host matrices is a single product, not a batch");
    if (p->packed_b)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "host products take B as a plain matrix, not packed_b");
    if (p->row_order)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "host products cut k where memory asks for it: no row_order");
    if (p->epilogue != NULL)
        return gt_fail(
            err, GEMMTUNE_EUNSUPPORTED,
            "host products have no epilogues, and store sums of i8 as i32: epi=%s",
            p->epilogue);
    return GEMMTUNE_OK;
}

/* Decides which operands are needed. As in BLAS, A and B are not read when alpha or k is 0,
 * and C is not read when beta is 0. *idle: C stays unchanged. */
static gt_status settle(struct gt_host_call *c, const gemmtune_problem *p,
                        const gemmtune_args *args, bool *idle, struct gt_err *err) {
    bool swapped = false;
    gt_status status = gt_problem_canonical(&c->cut.problem, &swapped, p, err);
    if (status == GEMMTUNE_OK)
        status = check_plain(&c->cut.problem, err);
    if (status == GEMMTUNE_OK)
        status = read_args(c, args, swapped, err);
    if (status != GEMMTUNE_OK)
        return status;
    const gemmtune_problem *own = &c->cut.problem;
    const struct gt_call scalars = {.alpha = c->run.alpha, .beta = c->run.beta};
    *idle = gt_call_is_idle(own, &scalars);
    if (*idle)
        return GEMMTUNE_OK;
    c->cut.sums = own->k > 0 && gt_element_get(c->run.alpha, own->type_acc) != 0;
    c->cut.reads_c = gt_element_get(c->run.beta, own->type_acc) != 0;
    c->flops = c->cut.sums ? gt_problem_flops(own) : 0;
    return check_matrices(c, swapped, err);
}

gt_status gt_host_call_read(bool *idle, struct gt_host_call *c, const gemmtune_problem *p,
                            const gemmtune_args *args, const gemmtune_host_options *options,
                            struct gt_err *err) {
    gt_status status = gt_blame(err, check_list(c->ctx, c->devices, err), GEMMTUNE_ARG_CTX);
    *idle = false;
    if (status == GEMMTUNE_OK)
        status = gt_blame(err, read_options(c, options, err), GEMMTUNE_ARG_OPTIONS);
    return status == GEMMTUNE_OK ? settle(c, p, args, idle, err) : status;
}
