/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logged_tunable.c - a line of PyTorch's TunableOp, of tuned and of untuned products:
 *
 *   GemmTunableOp_float_TN,tn_200_100_20[,SOLUTION,TIME]
 *   GemmStridedBatchedTunableOp_Half_NN,nn_64_64_64_B_1000_ld_64_64_64
 *   GemmAndBiasTunableOp_BFloat16_TN,tn_6144_8_2560_ld_2560_2560_6144
 *   ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,
 *       tn_64_64_64_ld_64_64_64_rw_1_bias_BFloat16
 *
 * Without "ld" the matrices are packed. "rw 1" is a scale for each row of op(A) and each
 * column of op(B). Without it the scales are two numbers, which alpha stands for.
 */
#include "tuner/base/logged_inside.h"

#include <string.h>

enum { TYPES_MAX = 3 };

static const struct gt_logged_word types[] = {
    {"float", GEMMTUNE_F32},
    {"tf32", GEMMTUNE_F32},
    {"double", GEMMTUNE_F64},
    {"Half", GEMMTUNE_F16},
    {"BFloat16", GEMMTUNE_BF16},
    {"Float", GEMMTUNE_F32},
    {"Float8_e4m3fn", GEMMTUNE_E4M3},
    {"Float8_e5m2", GEMMTUNE_E5M2},
    {"Float8_e4m3fnuz", GT_LOGGED_UNKNOWN_TYPE},
    {"Float8_e5m2fnuz", GT_LOGGED_UNKNOWN_TYPE},
    {"c10::complex<float>", GT_LOGGED_COMPLEX_TYPE},
    {"c10::complex<double>", GT_LOGGED_COMPLEX_TYPE},
    {NULL, 0},
};

static const char *const operators[] = {"GemmTunableOp_", "GemmStridedBatchedTunableOp_",
                                        "GemmAndBiasTunableOp_", "ScaledGemmTunableOp_"};
enum { AND_BIAS = 2 };

/* ---- the operator's name ---- */

/* The operator that the line begins with; -1 for none. The reader then stands after it. */
static int take_operator(struct gt_reader *r) {
    for (int i = 0; i < (int)(sizeof operators / sizeof *operators); i++) {
        const size_t len = strlen(operators[i]);
        if ((size_t)(r->end - r->at) >= len && memcmp(r->at, operators[i], len) == 0) {
            r->at += len;
            return i;
        }
    }
    return -1;
}

/* A name of a type may have a "_": "Float8" is the first half of one. */
static struct gt_piece take_type(struct gt_reader *r) {
    struct gt_piece piece = gt_piece_take(r, "_,");
    if (gt_piece_is(piece, "Float8") && piece.stop == '_') {
        const struct gt_piece rest = gt_piece_take(r, "_,");
        piece.len += 1 + rest.len;
        piece.stop = rest.stop;
    }
    return piece;
}

/* Reads the types before the letters of the layout: of all matrices; of A and B, and of C;
 * or one of each. */
static void read_types(struct gt_logged_call *c, struct gt_reader *r, struct gt_err *err) {
    int type[TYPES_MAX + 1], count = 0;
    struct gt_piece piece;
    do {
        piece = take_type(r);
        if (piece.stop != '_')
            break;
        type[count++] = gt_logged_value(types, piece, GT_LOGGED_UNKNOWN_TYPE);
        if (gt_piece_is(piece, "tf32"))
            c->math = GEMMTUNE_MATH_TF32;
    } while (count <= TYPES_MAX);
    if (count < 1 || count > TYPES_MAX || piece.stop != ',') {
        gt_logged_damage(c, err, "the name of the operator has no end");
        return;
    }
    c->type_a = type[0];
    c->type_b = type[count == TYPES_MAX ? 1 : 0];
    c->type_c = type[count - 1];
}

/* ---- its parameters ---- */

static bool is_transposed(struct gt_logged_call *c, char letter, struct gt_err *err) {
    if (!gt_logged_is(letter, "nNtTcC"))
        gt_logged_damage(c, err, "the parameters do not begin with nn, nt, tn or tt");
    return letter != 'n' && letter != 'N';
}

static void read_layout(struct gt_logged_call *c, struct gt_reader *r, struct gt_err *err) {
    const struct gt_piece piece = gt_piece_take(r, "_,");
    if (piece.len != 2)
        gt_logged_damage(c, err, "the parameters do not begin with nn, nt, tn or tt");
    c->trans_a = is_transposed(c, piece.len == 2 ? piece.text[0] : 'n', err);
    c->trans_b = is_transposed(c, piece.len == 2 ? piece.text[1] : 'n', err);
}

static void read_numbers(struct gt_logged_call *c, struct gt_reader *r, int64_t **out,
                         int count, struct gt_err *err) {
    for (int i = 0; i < count && c->fate == GT_LOGGED_PROBLEM; i++) {
        const struct gt_piece piece = gt_piece_take(r, "_,");
        if (!gt_text_int(out[i], piece.text, (size_t)piece.len) || *out[i] < 0)
            gt_logged_damage(c, err, "\"%.*s\" is not a size",
                             piece.len < 40 ? piece.len : 40, piece.text);
    }
}

static void read_bias(struct gt_logged_call *c, struct gt_reader *r) {
    const struct gt_piece piece = gt_piece_take(r, "_,");
    struct gt_piece name = piece;
    if (gt_piece_is(piece, "Float8") && piece.stop == '_')
        name.len += 1 + gt_piece_take(r, "_,").len;
    if (gt_piece_is(name, "None"))
        return;
    c->has_bias = true;
    c->bias_type = gt_logged_value(types, name, GT_LOGGED_UNKNOWN_TYPE);
}

static void read_parameters(struct gt_logged_call *c, struct gt_reader *r,
                            struct gt_err *err) {
    int64_t by_rows = 0, *sizes[] = {&c->m, &c->n, &c->k},
            *leading[] = {&c->lda, &c->ldb, &c->ldc}, *batch[] = {&c->batch},
            *rows[] = {&by_rows};
    read_layout(c, r, err);
    read_numbers(c, r, sizes, 3, err);
    while (c->fate == GT_LOGGED_PROBLEM && r->at < r->end && r->at[-1] == '_') {
        const struct gt_piece word = gt_piece_take(r, "_,");
        if (gt_piece_is(word, "ld"))
            read_numbers(c, r, leading, 3, err);
        else if (gt_piece_is(word, "B"))
            read_numbers(c, r, batch, 1, err);
        else if (gt_piece_is(word, "rw"))
            read_numbers(c, r, rows, 1, err);
        else if (gt_piece_is(word, "bias"))
            read_bias(c, r);
    }
    c->scales_a = c->scales_b = by_rows != 0;
}

bool gt_logged_tunable(struct gt_logged_call *c, const char *line, size_t len,
                       struct gt_err *err) {
    struct gt_reader r = {line, line + len};
    const int op = take_operator(&r);
    if (op < 0)
        return false;
    c->has_bias = op == AND_BIAS;
    read_types(c, &r, err);
    if (c->fate == GT_LOGGED_PROBLEM)
        read_parameters(c, &r, err);
    return true;
}
