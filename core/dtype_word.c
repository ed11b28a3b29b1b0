/* SPDX-License-Identifier: Apache-2.0 */
/* dtype_word.c - the word of a problem's types: read and written. */
#include "core/dtype.h"

#include "core/text.h"

#include <stdio.h>

/* ---- from text ------------------------------------------------------------- */

static const char type_marks[] = "+=@";

static gt_status fail_type(struct gt_piece piece, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" is not a data type", piece.len,
                   piece.text);
}

static gt_status read_input(gemmtune_problem *p, struct gt_piece piece,
                            struct gt_err *err) {
    const struct gt_input *in = gt_input_by_name(piece.text, (size_t)piece.len);
    if (in == NULL)
        return fail_type(piece, err);
    p->type_a = p->type_b = in->type;
    p->type_c = in->c;
    p->type_acc = in->acc;
    p->math = in->math;
    return GEMMTUNE_OK;
}

/* "+<input of B>": A and B differ, so the word must name the type of C. */
static gt_status read_second_input(gemmtune_problem *p, struct gt_piece piece,
                                   struct gt_err *err) {
    if (!gt_type_by_name(&p->type_b, piece.text, (size_t)piece.len))
        return fail_type(piece, err);
    p->type_acc = gt_type_accumulator(p->type_a, p->type_b);
    if (piece.stop != '=')
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "two input types need the type of C, as in e4m3+e5m2=bf16");
    return GEMMTUNE_OK;
}

static gt_status read_output(gemmtune_problem *p, struct gt_piece piece,
                             struct gt_err *err) {
    return gt_type_by_name(&p->type_c, piece.text, (size_t)piece.len)
               ? GEMMTUNE_OK
               : fail_type(piece, err);
}

/* The words after @ that name an arithmetic. */
static const struct {
    const char *name;
    gemmtune_math math;
} maths[] = {{"fast", GEMMTUNE_MATH_FAST},
             {"promoted", GEMMTUNE_MATH_PROMOTED},
             {"split", GEMMTUNE_MATH_SPLIT},
             {"bf16x3", GEMMTUNE_MATH_BF16X3},
             {"residues", GEMMTUNE_MATH_RESIDUES}};

enum { MATHS = sizeof maths / sizeof *maths };

static gt_status fail_how(struct gt_piece piece, struct gt_err *err) {
    char names[64] = "";
    for (size_t i = 0, at = 0; i < MATHS; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s\"%s\"",
                               i > 0 ? " or " : "", maths[i].name);
    return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" behind @ is neither a data type nor %s",
                   piece.len, piece.text, names);
}

/* "@<accumulator>" or an arithmetic, such as "@fast". */
static gt_status read_how(gemmtune_problem *p, struct gt_piece piece, struct gt_err *err) {
    for (size_t i = 0; i < MATHS; i++)
        if (gt_piece_is(piece, maths[i].name)) {
            p->math = maths[i].math;
            return GEMMTUNE_OK;
        }
    return gt_type_by_name(&p->type_acc, piece.text, (size_t)piece.len)
               ? GEMMTUNE_OK
               : fail_how(piece, err);
}

/* The parts that may follow the first input: in this order, each at most once. */
static const struct {
    char mark;
    gt_status (*read)(gemmtune_problem *p, struct gt_piece piece, struct gt_err *err);
} type_parts[] = {{'+', read_second_input}, {'=', read_output}, {'@', read_how}};

enum { TYPE_PARTS = sizeof type_parts / sizeof *type_parts };

gt_status gt_types_from_word(gemmtune_problem *p, const char *word, size_t len,
                             struct gt_err *err) {
    struct gt_reader r = {word, word + len};
    struct gt_piece piece = gt_piece_take(&r, type_marks);
    gt_status status = read_input(p, piece, err);
    for (size_t i = 0; status == GEMMTUNE_OK && piece.stop != '\0'; i++) {
        while (i < TYPE_PARTS && type_parts[i].mark != piece.stop)
            i++;
        if (i == TYPE_PARTS)
            return gt_fail(err, GEMMTUNE_EPARSE,
                           "\"%.*s\" is not <type>[+<type of B>][=<type of C>]"
                           "[@<accumulator>|@fast|@promoted|@split|@bf16x3|@residues]",
                           (int)len, word);
        piece = gt_piece_take(&r, type_marks);
        status = type_parts[i].read(p, piece, err);
    }
    p->math = gt_type_math(p->math, p->type_a, p->type_b, p->type_acc);
    return status;
}

/* ---- to text --------------------------------------------------------------- */

int gt_types_word(const gemmtune_problem *p, char buf[GT_TYPES_WORD_MAX]) {
    const bool tf32 = p->math == GEMMTUNE_MATH_TF32;
    const struct gt_input *in =
        gt_input_of(p->type_a, tf32 ? GEMMTUNE_MATH_TF32 : GEMMTUNE_MATH_STRICT);
    const bool mixed = p->type_a != p->type_b;
    const char *part[] = {
        in != NULL ? in->name : "?",
        mixed ? "+" : "",
        mixed ? gt_type_name(p->type_b) : "",
        mixed || in == NULL || p->type_c != in->c ? "=" : "",
        mixed || in == NULL || p->type_c != in->c ? gt_type_name(p->type_c) : "",
    };
    int len = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        len = gt_text_put(buf, GT_TYPES_WORD_MAX, len, part[i]);
    if (p->type_acc != gt_type_accumulator(p->type_a, p->type_b)) {
        len = gt_text_put(buf, GT_TYPES_WORD_MAX, len, "@");
        len = gt_text_put(buf, GT_TYPES_WORD_MAX, len, gt_type_name(p->type_acc));
    }
    for (size_t i = 0; i < MATHS; i++)
        if (p->math == maths[i].math) {
            len = gt_text_put(buf, GT_TYPES_WORD_MAX, len, "@");
            len = gt_text_put(buf, GT_TYPES_WORD_MAX, len, maths[i].name);
        }
    return len;
}
