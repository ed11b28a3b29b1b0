/* SPDX-License-Identifier: Apache-2.0 */
/* logged_tuple.c - a line of DeepBench's lists of products (gemm_problems.h): m, n, k, and
 * whether A and B are transposed. Its lists of other things have other tuples. */
#include "tuner/base/logged_inside.h"

#include <string.h>

enum { VALUES = 5, VALUES_MAX = 6 };

static struct gt_piece trimmed(struct gt_piece p) {
    while (p.len > 0 && (*p.text == ' ' || *p.text == '\t'))
        p.text++, p.len--;
    while (p.len > 0 && (p.text[p.len - 1] == ' ' || p.text[p.len - 1] == '\t'))
        p.len--;
    return p;
}

static bool is_bool(struct gt_piece p) {
    return gt_piece_is(p, "true") || gt_piece_is(p, "false");
}

bool gt_logged_tuple(struct gt_logged_call *c, const char *line, size_t len,
                     struct gt_err *err) {
    const char *at = gt_logged_after(line, len, "make_tuple(");
    const char *comment = gt_logged_after(line, len, "//");
    struct gt_piece value[VALUES_MAX];
    int count = 0;
    if (at == NULL || (comment != NULL && comment < at))
        return false;
    struct gt_reader r = {at, line + len};
    do
        value[count++] = trimmed(gt_piece_take(&r, ",)"));
    while (value[count - 1].stop == ',' && count < VALUES_MAX);
    if (value[count - 1].stop == '\0') {
        gt_logged_damage(c, err, "the tuple has no end");
        return true;
    }
    if (count != VALUES || !is_bool(value[3]) || !is_bool(value[4])) {
        c->fate = GT_LOGGED_OTHER;
        return true;
    }
    int64_t *const size[] = {&c->m, &c->n, &c->k};
    for (int i = 0; i < 3; i++)
        if (!gt_text_int(size[i], value[i].text, (size_t)value[i].len))
            gt_logged_damage(c, err, "\"%.*s\" is not a size", value[i].len, value[i].text);
    c->trans_a = gt_piece_is(value[3], "true");
    c->trans_b = gt_piece_is(value[4], "true");
    c->type_a = c->type_b = c->type_c = GEMMTUNE_F32;
    c->notes |= GT_LOGGED_UNTYPED;
    return true;
}
