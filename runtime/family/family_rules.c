/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_rules.c - what a family's rules and alignments say of a binding: may the point
 * exist, may it run the problem, and which of its values is too large.
 */
#include "runtime/family/family_inside.h"

/* The first rule that is 0 or cannot be evaluated. A split of k that suits few rows must
 * stay for many, so a problem with row_order has no rules about speed. */
static const struct gt_rule *first_refusal(const struct gt_rule *rules, int count,
                                           const struct gt_binding *b) {
    for (int i = 0; i < count; i++) {
        int64_t holds = 0;
        if (rules[i].is_speed && b->row_order)
            continue;
        if (gt_expr_eval(&holds, rules[i].expr, b->value, NULL) != GEMMTUNE_OK ||
            holds == 0)
            return &rules[i];
    }
    return NULL;
}

/* The first accept rule that refuses the bound problem; NULL when all hold. */
static const struct gt_rule *not_accepted(const struct gt_binding *b) {
    return first_refusal(b->family->accept, b->family->accept_count, b);
}

const struct gt_rule *gt_refused(const struct gt_binding *b) {
    const struct gt_family *f = b->family;
    if (f->refusal == NULL)
        return first_refusal(f->require, f->require_count, b);
    const int i = f->refusal(b->value);
    return i >= 0 ? &f->require[i] : NULL;
}

/* A demand that makes no sense becomes the strictest one: 0, not a power of two, larger
 * than a vector, or not computable. The kernel then runs less often, but never faults. */
int64_t gt_align_needed(const struct gt_binding *b, int operand) {
    int64_t bytes = 0;
    if (gt_expr_eval(&bytes, b->family->align[operand], b->value, NULL) != GEMMTUNE_OK)
        return GT_VECTOR_BYTES;
    return bytes > 0 && bytes < GT_VECTOR_BYTES && (bytes & (bytes - 1)) == 0
               ? bytes
               : GT_VECTOR_BYTES;
}

bool gt_align_met(const struct gt_binding *b, int operand) {
    return b->value[GT_IN_ALIGN_A + operand] >= gt_align_needed(b, operand);
}

const char *gt_not_accepted(const struct gt_binding *b) {
    static const char *const misaligned[3] = {
        "the rows of A are not aligned as this kernel needs",
        "the rows of B are not aligned as this kernel needs",
        "the rows of C are not aligned as this kernel needs",
    };
    const struct gt_rule *rule = not_accepted(b);
    if (rule != NULL)
        return rule->why;
    for (int i = 0; i < 3; i++)
        if (!gt_align_met(b, i))
            return misaligned[i];
    return NULL;
}

bool gt_is_misfit(const struct gt_binding *b) {
    const bool aligned = gt_align_met(b, 0) && gt_align_met(b, 1) && gt_align_met(b, 2);
    return (!aligned || gt_refused(b) != NULL) && not_accepted(b) == NULL;
}

/* The greatest value of the parameter below `value`; `value` itself when there is none. */
static int64_t next_smaller(const struct gt_param *p, int64_t value) {
    int64_t smaller = value;
    for (int i = 0; i < p->count; i++)
        if (p->value[i] < value && (smaller == value || p->value[i] > smaller))
            smaller = p->value[i];
    return smaller;
}

bool gt_family_lower(int64_t values[GT_POINT_MAX], int *last, const struct gt_binding *b) {
    const struct gt_family *f = b->family;
    const struct gt_rule *rule = gt_refused(b);
    if (rule == NULL)
        rule = not_accepted(b);
    const int which = rule != NULL && rule->lower >= 0 ? rule->lower : *last;
    if (rule == NULL || which < 0)
        return false;
    const int64_t value = b->value[f->param[which].slot];
    const int64_t smaller = next_smaller(&f->param[which], value);
    if (smaller == value)
        return false;
    for (int i = 0; i < f->param_count; i++)
        values[i] = b->value[f->param[i].slot];
    values[which] = smaller;
    *last = which;
    return true;
}
