/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_name.c - a problem's name: from text to a problem and back. problem.h has the
 * grammar.
 */
#include "core/problem.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const layouts[2][2] = {{"nn", "nt"},
                                          {"tn", "tt"}}; /* [trans_a][trans_b] */

/* ---- from a name ----------------------------------------------------------- */

static gt_status take_types(gemmtune_problem *p, struct gt_reader *r, struct gt_err *err) {
    const struct gt_piece piece = gt_piece_take(r, "-");
    return gt_types_from_word(p, piece.text, (size_t)piece.len, err);
}

static gt_status take_layout(gemmtune_problem *p, struct gt_reader *r, struct gt_err *err) {
    const struct gt_piece piece = gt_piece_take(r, "-");
    for (int i = 0; i < 4; i++) {
        if (gt_piece_is(piece, layouts[i / 2][i % 2])) {
            p->trans_a = i / 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
            p->trans_b = i % 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
            return GEMMTUNE_OK;
        }
    }
    return gt_fail(err, GEMMTUNE_EPARSE, "layout \"%.*s\" is not nn, nt, tn or tt",
                   piece.len, piece.text);
}

static gt_status read_number(int64_t *out, const char *what, struct gt_piece piece,
                             int64_t least, struct gt_err *err) {
    int64_t value;
    if (!gt_text_int(&value, piece.text, (size_t)piece.len) || value < least ||
        value > GT_DIM_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s \"%.*s\" is not a number from %" PRId64 " to %" PRId64, what,
                       piece.len, piece.text, least, GT_DIM_MAX);
    *out = value;
    return GEMMTUNE_OK;
}

static gt_status take_sizes(gemmtune_problem *p, struct gt_reader *r, struct gt_err *err) {
    const struct {
        const char *what;
        int64_t *value;
        char stop; /* what must follow; ',' stands for the end as well */
    } sizes[] = {{"m", &p->m, 'x'}, {"n", &p->n, 'x'}, {"k", &p->k, ','}};
    for (size_t i = 0; i < 3; i++) {
        const struct gt_piece piece = gt_piece_take(r, "x,");
        gt_status status = read_number(sizes[i].value, sizes[i].what, piece, 0, err);
        if (status == GEMMTUNE_OK && piece.stop != sizes[i].stop &&
            (piece.stop != '\0' || sizes[i].stop != ','))
            status =
                gt_fail(err, GEMMTUNE_EPARSE,
                        "\"%.*s\" is followed by %s: the sizes are <m>x<n>x<k>", piece.len,
                        piece.text, piece.stop == '\0' ? "nothing" : "the wrong separator");
        if (status != GEMMTUNE_OK)
            return status;
    }
    return GEMMTUNE_OK;
}

/* One of "lda=8" .. "beta"; `seen` has a bit for each that came before. */
static gt_status take_option(gemmtune_problem *p, unsigned *seen, struct gt_reader *r,
                             struct gt_err *err) {
    static const char *const names[] = {"lda", "ldb", "ldc", "batch", "beta"};
    int64_t *const values[] = {&p->lda, &p->ldb, &p->ldc, &p->batch}; /* beta has none */
    const struct gt_piece piece = gt_piece_take(r, "=,");
    unsigned i = 0;
    while (i < 5 && !gt_piece_is(piece, names[i]))
        i++;
    if (i == 5 || (i < 4) != (piece.stop == '='))
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "\"%.*s\" is not lda=, ldb=, ldc=, batch= or beta", piece.len,
                       piece.text);
    if (*seen & 1U << i)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s is given a second time", names[i]);
    *seen |= 1U << i;
    if (i < 4)
        return read_number(values[i], names[i], gt_piece_take(r, ","), 1, err);
    p->reads_c = 1;
    return GEMMTUNE_OK;
}

static gt_status parse_name(gemmtune_problem *p, const char *name, struct gt_err *err) {
    struct gt_reader r = {name, name + strlen(name)};
    unsigned seen = 0;
    if (strlen(name) >= GT_PROBLEM_NAME_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE, "longer than %d bytes",
                       GT_PROBLEM_NAME_MAX - 1);
    gt_status status = take_types(p, &r, err);
    if (status == GEMMTUNE_OK)
        status = take_layout(p, &r, err);
    if (status == GEMMTUNE_OK)
        status = take_sizes(p, &r, err);
    while (status == GEMMTUNE_OK && r.at[-1] == ',')
        status = take_option(p, &seen, &r, err);
    return status;
}

gt_status gt_problem_from_name(gemmtune_problem *out, const char *name,
                               struct gt_err *err) {
    gemmtune_problem p;
    gemmtune_problem_init(&p, GEMMTUNE_F32, 0, 0, 0);
    p.layout = GEMMTUNE_ROW_MAJOR;
    gt_status status = parse_name(&p, name, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_canonical(out, NULL, &p, err);
    if (status == GEMMTUNE_EINVAL)
        status = GEMMTUNE_EPARSE; /* the text is wrong, not an argument of the call */
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status, "problem \"%.200s\"", name);
    return GEMMTUNE_OK;
}

/* ---- to a name ------------------------------------------------------------- */

const char *gt_problem_layout(const gemmtune_problem *p) {
    return layouts[p->trans_a != GEMMTUNE_NOTRANS][p->trans_b != GEMMTUNE_NOTRANS];
}

/* Writes ",lda=8" unless the value is the default; returns the new length. */
static int put_option(char *buf, int len, const char *what, int64_t value,
                      int64_t by_default) {
    if (value == by_default)
        return len;
    return len + snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",%s=%" PRId64,
                          what, value);
}

int gt_problem_name(const gemmtune_problem *p, char buf[GT_PROBLEM_NAME_MAX]) {
    char types[GT_TYPES_WORD_MAX];
    (void)gt_types_word(p, types);
    int len = snprintf(buf, GT_PROBLEM_NAME_MAX, "%s-%s-%" PRId64 "x%" PRId64 "x%" PRId64,
                       types, gt_problem_layout(p), p->m, p->n, p->k);
    len = put_option(buf, len, "lda", p->lda, gt_shape_packed_ld(gt_problem_shape_a(p)));
    len = put_option(buf, len, "ldb", p->ldb, gt_shape_packed_ld(gt_problem_shape_b(p)));
    len = put_option(buf, len, "ldc", p->ldc, gt_shape_packed_ld(gt_problem_shape_c(p)));
    len = put_option(buf, len, "batch", p->batch, 1);
    if (p->reads_c)
        len += snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",beta");
    return len;
}

/* ---- public ---------------------------------------------------------------- */

int gemmtune_problem_format(const gemmtune_problem *p, char *buf, size_t size) {
    struct gt_err *err = gt_thread_err();
    err->line[0] = '\0';
    if (p == NULL || (buf == NULL && size > 0))
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "buf");
    gemmtune_problem canonical;
    const gt_status status = gt_problem_canonical(&canonical, NULL, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    char name[GT_PROBLEM_NAME_MAX];
    (void)gt_problem_name(&canonical, name);
    return snprintf(buf, size, "%s", name);
}

gemmtune_status gemmtune_problem_parse(gemmtune_problem *p, const char *name) {
    struct gt_err *err = gt_thread_err();
    err->line[0] = '\0';
    if (p == NULL || name == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "name");
    return gt_problem_from_name(p, name, err);
}
