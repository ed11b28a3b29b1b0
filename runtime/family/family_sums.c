/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_sums.c - the order of sums of a family's points: the key "sums" of space.json,
 * its text for one point, and the numbers in such a text. The numbers are all that decides
 * in which order the k products of an element are added, and where sums are rounded.
 */
#include "runtime/family/family_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the key --------------------------------------------------------------------- */

static gt_status parse_numbers(struct gt_sums *sums, const struct gt_family *f,
                               struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 1, GT_SUMS_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        const char *key = gt_json_key(member);
        if (!gt_is_word(key, false))
            return gt_json_fail(member, err, "numbers have names [a-z][a-z0-9_]*");
        memcpy(sums->number[i].name, key, strlen(key) + 1);
        sums->count++;
        status = gt_read_expr(&sums->number[i].value, f, member, GT_OF_ORDER, err);
    }
    return status;
}

gt_status gt_parse_sums(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"by", "when", "numbers", "default", NULL};
    struct gt_sums *sums = &f->sums;
    const char *by = "";
    struct gt_node node;
    int64_t flag = 0;
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&node, n, "by", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_string(&by, node, err);
    if (status == GEMMTUNE_OK && !gt_is_word(by, false))
        status = gt_json_fail(node, err, "is no word [a-z][a-z0-9_]*");
    if (status == GEMMTUNE_OK)
        memcpy(sums->by, by, strlen(by) + 1);
    if (status == GEMMTUNE_OK)
        status =
            gt_read_or(&sums->when, "1", f, gt_json_member(n, "when"), GT_OF_ORDER, err);
    if (status == GEMMTUNE_OK)
        status = parse_numbers(sums, f, gt_json_member(n, "numbers"), err);
    if (status == GEMMTUNE_OK &&
        gt_json_kind(gt_json_member(n, "default")) != GT_JSON_ABSENT)
        status = gt_json_int(&flag, gt_json_member(n, "default"), 0, 1, err);
    sums->is_default = flag != 0;
    return status;
}

void gt_sums_clear(struct gt_sums *sums) {
    gt_expr_destroy(sums->when);
    for (int i = 0; i < sums->count; i++)
        gt_expr_destroy(sums->number[i].value);
}

/* ---- the text -------------------------------------------------------------------- */

/* Numbers that are 0 are left out, so that families without such a number agree. */
static bool put_numbers(char out[GT_ORDER_MAX], const struct gt_sums *sums,
                        const int64_t number[GT_SUMS_MAX]) {
    size_t at = strlen(out);
    for (int i = 0; i < sums->count; i++) {
        if (number[i] != 0)
            at += (size_t)snprintf(out + at, GT_ORDER_MAX - at, " %s=%" PRId64,
                                   sums->number[i].name, number[i]);
        if (at >= GT_ORDER_MAX)
            return false;
    }
    return true;
}

static bool put_values(char out[GT_ORDER_MAX], const struct gt_binding *b) {
    const struct gt_sums *sums = &b->family->sums;
    int64_t number[GT_SUMS_MAX];
    for (int i = 0; i < sums->count; i++)
        if (gt_expr_eval(&number[i], sums->number[i].value, b->value, NULL) != GEMMTUNE_OK)
            return false;
    return put_numbers(out, sums, number);
}

bool gt_order_of(char out[GT_ORDER_MAX], const struct gt_binding *b, const char **why) {
    const struct gt_sums *sums = &b->family->sums;
    const char *reason = NULL;
    int64_t holds = 0;
    (void)snprintf(out, GT_ORDER_MAX, "%s",
                   b->value[GT_IN_FLOAT] == 0 ? "exact" : sums->by);
    if (b->value[GT_IN_FLOAT] == 0)
        return true;
    if (sums->by[0] == '\0')
        reason = "the family states no order of sums";
    else if (gt_expr_eval(&holds, sums->when, b->value, NULL) != GEMMTUNE_OK || holds == 0)
        reason = "the point has no order of sums that is the same for every m";
    else if (!put_values(out, b))
        reason = "the point's order of sums is not known";
    if (reason != NULL)
        out[0] = '\0';
    if (why != NULL)
        *why = reason;
    return reason == NULL;
}

/* The number that the text has by this name; 0: it has none. */
static int64_t number_in(const char *order, const char *name) {
    char key[GT_NAME_MAX + 2];
    const int length = snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(order, key);
    return at == NULL ? 0 : strtoll(at + length, NULL, 10);
}

/* A text that is put together anew from what was read is the same only if it has no other
 * name, nor anything else that gt_order_of would not write. */
bool gt_order_numbers(int64_t out[GT_SUMS_MAX], const struct gt_family *f, bool is_float,
                      const char *order) {
    const struct gt_sums *sums = &f->sums;
    char own[GT_ORDER_MAX];
    memset(out, 0, GT_SUMS_MAX * sizeof *out);
    if (!is_float)
        return order[0] == '\0' || strcmp(order, "exact") == 0;
    if (order[0] == '\0' || sums->by[0] == '\0')
        return sums->by[0] != '\0';
    for (int i = 0; i < sums->count; i++)
        out[i] = number_in(order, sums->number[i].name);
    (void)snprintf(own, sizeof own, "%s", sums->by);
    return put_numbers(own, sums, out) && strcmp(own, order) == 0;
}
