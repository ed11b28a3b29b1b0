/* SPDX-License-Identifier: Apache-2.0 */
/* logged.c - see logged.h: from a reader's words to a problem. */
#include "tuner/base/logged.h"

#include "tuner/base/logged_inside.h"

#include <stdio.h>
#include <string.h>

enum { EPILOGUE_MAX = 96 };

static bool (*const readers[])(struct gt_logged_call *, const char *, size_t,
                               struct gt_err *) = {gt_logged_tunable, gt_logged_bench,
                                                   gt_logged_tuple};

/* ---- types ---- */

static bool has_type(const struct gt_logged_call *c, int type) {
    return c->type_a == type || c->type_b == type || c->type_c == type ||
           c->type_acc == type || (c->has_bias && c->bias_type == type);
}

/* Sums of f16 in f16 have no kernel. Sums in f32 are more exact, and their products have
 * the same shapes. */
static void widen_sums(struct gt_logged_call *c) {
    if (c->type_acc != GEMMTUNE_F16)
        return;
    c->type_acc = GEMMTUNE_F32;
    c->notes |= GT_LOGGED_HALF_SUMS;
}

static enum gt_logged_fate settle_types(struct gt_logged_call *c) {
    if (has_type(c, GT_LOGGED_COMPLEX_TYPE))
        return GT_LOGGED_COMPLEX;
    if (has_type(c, GT_LOGGED_UNKNOWN_TYPE) || c->type_a < 0 || c->type_b < 0 ||
        c->type_c < 0)
        return GT_LOGGED_TYPES;
    if (c->type_acc == GT_LOGGED_NO_TYPE)
        c->type_acc =
            (int)gt_type_accumulator((gemmtune_dtype)c->type_a, (gemmtune_dtype)c->type_b);
    widen_sums(c);
    return GT_LOGGED_PROBLEM;
}

/* ---- the epilogue ---- */

/* The rows of the log's C are our columns. So a value for each row of its C is one for each
 * of our columns, and its scales of A are our scales of B. */
static void write_epilogue(char text[EPILOGUE_MAX], const struct gt_logged_call *c) {
    const char *scales = c->scales_a && c->scales_b ? "dequantise_"
                         : c->scales_a              ? "scale_cols_"
                         : c->scales_b              ? "scale_rows_"
                                                    : "";
    const bool declared = c->has_bias && c->bias_type >= 0 && c->bias_type != c->type_c;
    const int len = snprintf(
        text, EPILOGUE_MAX, "%s%s%s%s%s%s%s", declared ? "bias[j]:" : "",
        declared ? gt_type_name((gemmtune_dtype)c->bias_type) : "", declared ? ";" : "",
        scales, c->has_bias ? "bias_" : "", c->activation != NULL ? c->activation : "",
        c->activation != NULL ? "_" : "");
    if (len > 0)
        text[len - 1] = '\0'; /* the last "_" */
}

/* ---- the problem ---- */

static gemmtune_problem row_major(const struct gt_logged_call *c) {
    gemmtune_problem p;
    (void)gt_problem_init(&p, sizeof p, GEMMTUNE_F32, c->n, c->m, c->k, NULL);
    p.layout = GEMMTUNE_ROW_MAJOR;
    p.trans_a = c->trans_b ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.trans_b = c->trans_a ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
    p.type_a = (gemmtune_dtype)c->type_b, p.type_b = (gemmtune_dtype)c->type_a;
    p.type_c = (gemmtune_dtype)c->type_c, p.type_acc = (gemmtune_dtype)c->type_acc;
    p.math = c->math;
    p.lda = c->ldb, p.ldb = c->lda, p.ldc = c->ldc;
    p.batch = c->batch;
    p.stride_a = c->stride_b, p.stride_b = c->stride_a, p.stride_c = c->stride_c;
    p.batch_kind = c->has_pointers ? GEMMTUNE_BATCH_POINTERS : GEMMTUNE_BATCH_STRIDED;
    p.reads_c = c->reads_c;
    return p;
}

/* Which fate a refusal of gt_problem_canonical is. */
static enum gt_logged_fate refusal(gt_status status, const struct gt_logged_call *c) {
    if (status == GEMMTUNE_EUNSUPPORTED)
        return GT_LOGGED_TYPES;
    return status == GEMMTUNE_EPARSE && (c->has_bias || c->activation != NULL)
               ? GT_LOGGED_EPILOGUE
               : GT_LOGGED_DAMAGED;
}

static gt_status settle(struct gt_logged *out, struct gt_logged_call *c,
                        struct gt_err *err) {
    char epilogue[EPILOGUE_MAX];
    if (c->fate == GT_LOGGED_PROBLEM)
        c->fate = settle_types(c);
    if (c->fate == GT_LOGGED_PROBLEM &&
        (c->m == 0 || c->n == 0 || c->k == 0 || c->batch == 0))
        c->fate = GT_LOGGED_EMPTY;
    out->fate = c->fate;
    out->notes = c->notes;
    out->calls = c->calls;
    if (out->fate != GT_LOGGED_PROBLEM)
        return GEMMTUNE_OK;
    gemmtune_problem p = row_major(c);
    write_epilogue(epilogue, c);
    p.epilogue = epilogue[0] != '\0' ? epilogue : NULL;
    const gt_status status = gt_problem_canonical(&out->problem, NULL, &p, err);
    if (status == GEMMTUNE_ENOMEM)
        return status;
    if (status != GEMMTUNE_OK)
        out->fate = refusal(status, c);
    return GEMMTUNE_OK;
}

gt_status gt_logged_read(struct gt_logged *out, const char *line, size_t len,
                         struct gt_err *err) {
    struct gt_logged_call c = {.fate = GT_LOGGED_PROBLEM,
                               .batch = 1,
                               .stride_a = GEMMTUNE_PACKED,
                               .stride_b = GEMMTUNE_PACKED,
                               .stride_c = GEMMTUNE_PACKED,
                               .type_a = GT_LOGGED_NO_TYPE,
                               .type_b = GT_LOGGED_NO_TYPE,
                               .type_c = GT_LOGGED_NO_TYPE,
                               .type_acc = GT_LOGGED_NO_TYPE,
                               .bias_type = GT_LOGGED_NO_TYPE,
                               .math = GEMMTUNE_MATH_STRICT,
                               .calls = 1};
    *out = (struct gt_logged){.fate = GT_LOGGED_NONE};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (readers[i](&c, line, len, err))
            return settle(out, &c, err);
    return GEMMTUNE_OK;
}
