/* SPDX-License-Identifier: Apache-2.0 */
/* problem.c - see problem.h. */
#include "shim/problem.h"

#include "shim/blas.h"

/* ---- epilogues  ---- */

/* Their GELU is the form with tanh. A bias of theirs for each row is one of ours for each
 * column. Masks of RELU_AUX are bits, which no epilogue of ours writes. */
const struct gt_shim_epilogue gt_shim_epilogues[GT_SHIM_EPILOGUES] = {
    {GT_SHIM_EPI_NONE, NULL, NULL, false},
    {GT_SHIM_EPI_RELU, "relu", NULL, false},
    {GT_SHIM_EPI_BIAS, "bias", "bias", false},
    {GT_SHIM_EPI_GELU, "gelu_tanh", NULL, false},
    {GT_SHIM_EPI_RELU_BIAS, "bias_relu", "bias_relu", false},
    {GT_SHIM_EPI_GELU_AUX, "d2=x;d=gelu_tanh(x)", NULL, true},
    {GT_SHIM_EPI_GELU_BIAS, "bias_gelu_tanh", "bias_gelu_tanh", false},
    {GT_SHIM_EPI_GELU_AUX_BIAS, "y=x+bias[j];d2=y;d=gelu_tanh(y)", NULL, true},
};

/* ---- a key's problem  ---- */

/* "d=..." of a bias with a type of its own is declared; else the text itself serves. */
static const char *epilogue_text(const struct gt_shim_key *key) {
    static const char *const typed[GT_SHIM_EPILOGUES][3] = {
#define TYPED(text) {"bias[j]:f32;" text, "bias[j]:f16;" text, "bias[j]:bf16;" text}
        [2] = TYPED("bias"),
        [4] = TYPED("bias_relu"),
        [6] = TYPED("bias_gelu_tanh"),
#undef TYPED
    };
    const struct gt_shim_epilogue *e = &gt_shim_epilogues[key->epilogue];
    const int at = key->bias_type == GEMMTUNE_F32   ? 0
                   : key->bias_type == GEMMTUNE_F16 ? 1
                                                    : 2;
    if (e->typed == NULL || key->bias_type == key->type_c)
        return e->text;
    return typed[key->epilogue][at];
}

void gt_shim_problem(gemmtune_problem *p, const struct gt_shim_key *key) {
    *p = (gemmtune_problem){
        .struct_size = sizeof *p,
        .layout = GEMMTUNE_ROW_MAJOR,
        .trans_a = key->trans & 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS,
        .trans_b = key->trans & 1 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS,
        .type_a = (gemmtune_dtype)key->type_a,
        .type_b = (gemmtune_dtype)key->type_b,
        .type_c = (gemmtune_dtype)key->type_c,
        .type_acc = (gemmtune_dtype)key->type_acc,
        .math = (gemmtune_math)key->math,
        .batch_kind = (gemmtune_batch_kind)key->kind,
        .reads_c = key->reads_c,
        .m = key->m,
        .n = key->n,
        .k = key->k,
        .lda = key->lda,
        .ldb = key->ldb,
        .ldc = key->ldc,
        .batch = key->batch,
        .stride_a = key->batch > 1 ? key->stride_a : GEMMTUNE_PACKED,
        .stride_b = key->batch > 1 ? key->stride_b : GEMMTUNE_PACKED,
        .stride_c = key->batch > 1 ? key->stride_c : GEMMTUNE_PACKED,
        .epilogue = epilogue_text(key),
    };
}
