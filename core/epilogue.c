/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue.c - the shorthands, and the check that a text has the form of an epilogue. */
#include "core/epilogue.h"

#include "core/dtype.h"
#include "core/text.h"

#include <string.h>

enum { DEPTH_MAX = 16 /* open brackets */ };

const struct gt_epilogue_name gt_epilogues[] = {
    {"bias", "bias[j]", "d=x+bias[j]", "adds a value a column"},
    {"row_bias", "bias[i]", "d=x+bias[i]", "adds a value a row"},
    {"relu", "", "d=relu(x)", "takes 0 for what is negative"},
    {"gelu", "", "d=gelu(x)", "x times the normal distribution function of x"},
    {"silu", "", "d=silu(x)", "x times the logistic function of x"},
    {"bias_relu", "bias[j]", "d=relu(x+bias[j])", "bias, then relu"},
    {"bias_gelu", "bias[j]", "d=gelu(x+bias[j])", "bias, then gelu"},
    {"bias_silu", "bias[j]", "d=silu(x+bias[j])", "bias, then silu"},
    {"gate_silu", "up[i,j]", "d=silu(x)*up[i,j]", "silu, times a matrix (SwiGLU)"},
    {"scale", "sa[i];sb[j]", "d=x*sa[i]*sb[j]", "times a value a row and a value a column"},
    {NULL, NULL, NULL, NULL},
};

static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
static const char expression_chars[] =
    "abcdefghijklmnopqrstuvwxyz0123456789_.+-*/<>?:,()[]";

static gt_status fail(const char *text, int len, const char *what, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" in an epilogue %s", len, text, what);
}

/* ---- parts of a statement -------------------------------------------------- */

/* Takes a name: a lower-case letter, then lower-case letters, digits and "_". */
static gt_status take_name(struct gt_reader *r, struct gt_err *err) {
    const char *name = r->at;
    while (r->at < r->end && strchr(name_chars, *r->at) != NULL)
        r->at++;
    const int len = (int)(r->at - name);
    if (len == 0 || len >= GT_EPILOGUE_NAME_MAX || *name < 'a' || *name > 'z')
        return fail(name, len > 0 ? len : (int)(r->end - name),
                    "does not begin with a name", err);
    return GEMMTUNE_OK;
}

/* Takes "[i]", "[j]" or "[i,j]" when one is there. */
static void take_index(struct gt_reader *r) {
    static const char *const indices[] = {"[i]", "[j]", "[i,j]"};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
        const size_t len = strlen(indices[i]);
        if ((size_t)(r->end - r->at) >= len && memcmp(r->at, indices[i], len) == 0) {
            r->at += len;
            return;
        }
    }
}

/* Checks that the rest is an expression, by its characters and brackets. */
static gt_status check_expression(struct gt_reader r, struct gt_err *err) {
    char open[DEPTH_MAX];
    int depth = 0;
    const char *bad = r.at < r.end ? NULL : r.at;
    for (const char *c = r.at; c < r.end && bad == NULL; c++) {
        if (strchr(expression_chars, *c) == NULL)
            bad = c;
        else if ((*c == '(' || *c == '[') && depth == DEPTH_MAX)
            bad = c;
        else if (*c == '(' || *c == '[')
            open[depth++] = *c == '(' ? ')' : ']';
        else if ((*c == ')' || *c == ']') && (depth == 0 || open[--depth] != *c))
            bad = c;
    }
    if (bad != NULL || depth > 0)
        return fail(r.at, (int)(r.end - r.at), "is not an expression", err);
    return GEMMTUNE_OK;
}

static gt_status check_shorthand(const char *name, int len, struct gt_err *err) {
    for (const struct gt_epilogue_name *e = gt_epilogues; e->name != NULL; e++)
        if (strlen(e->name) == (size_t)len && memcmp(e->name, name, (size_t)len) == 0)
            return GEMMTUNE_OK;
    return fail(name, len, "is neither a shorthand nor an assignment", err);
}

/* ---- statements ------------------------------------------------------------ */

/* The kind of a statement, which decides what kind may come next. */
enum statement { NOTHING, DECLARATION, ASSIGNMENT, SHORTHAND };

static gt_status read_statement(enum statement *kind, struct gt_reader r,
                                struct gt_err *err) {
    const char *start = r.at;
    gemmtune_dtype type;
    gt_status status = take_name(&r, err);
    if (status != GEMMTUNE_OK)
        return status;
    const char *end_of_name = r.at;
    if (r.at < r.end && *r.at == '=') {
        *kind = ASSIGNMENT;
        return check_expression((struct gt_reader){r.at + 1, r.end}, err);
    }
    take_index(&r);
    if (r.at == r.end && r.at == end_of_name) {
        *kind = SHORTHAND;
        return check_shorthand(start, (int)(end_of_name - start), err);
    }
    *kind = DECLARATION;
    if (r.at < r.end && *r.at == ':' &&
        gt_type_by_name(&type, r.at + 1, (size_t)(r.end - r.at - 1)))
        return GEMMTUNE_OK;
    return fail(start, (int)(r.end - start),
                "is neither <name>=<expression> nor <name>[<index>]:<type>", err);
}

gt_status gt_epilogue_check(const char *text, struct gt_err *err) {
    struct gt_reader r = {text, text + strlen(text)};
    enum statement last = NOTHING;
    struct gt_piece piece;
    if (strlen(text) >= GT_EPILOGUE_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE, "an epilogue of %zu bytes: the limit is %d",
                       strlen(text), GT_EPILOGUE_MAX - 1);
    do {
        enum statement kind = NOTHING;
        piece = gt_piece_take(&r, ";");
        const gt_status status = read_statement(
            &kind, (struct gt_reader){piece.text, piece.text + piece.len}, err);
        if (status != GEMMTUNE_OK)
            return status;
        if (last == SHORTHAND || (last == ASSIGNMENT && kind != ASSIGNMENT))
            return fail(piece.text, piece.len, "stands behind its last statement", err);
        last = kind;
    } while (piece.stop != '\0');
    return last == DECLARATION
               ? gt_fail(err, GEMMTUNE_EPARSE, "an epilogue that assigns nothing")
               : GEMMTUNE_OK;
}
