/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_why.c - `gemmtune space FAMILY --why POINT`: evaluates each rule of the family for
 * one point, legal or not, and prints the numbers that decide it.
 */
#include "tuner/cmd/space_why.h"

#include "tuner/base/wrap.h"

#include "runtime/family/fit.h"

#include <inttypes.h>
#include <string.h>

/* ---- binding ---- */

/* Whether the value is in the domain. */
static bool in_domain(const struct gt_param *param, int64_t value) {
    for (int i = 0; i < param->count; i++)
        if (param->value[i] == value)
            return true;
    return false;
}

static gt_status check_names(const struct gt_family *f, const struct gt_point *point,
                             struct gt_err *err) {
    for (int i = 0; i < point->count; i++) {
        int j = 0;
        while (j < f->param_count && strcmp(f->param[j].name, point->entry[i].name) != 0)
            j++;
        if (j == f->param_count)
            return gt_fail(err, GEMMTUNE_EINVAL, "family %s has no parameter %s", f->name,
                           point->entry[i].name);
    }
    return GEMMTUNE_OK;
}

/* Binds the point even if it is not legal, since the reason is to be explained. */
static gt_status bind_freely(struct gt_binding *b, const struct gt_question *q,
                             const struct gt_point *point, struct gt_err *err) {
    const struct gt_family *f = q->family;
    int64_t values[GT_POINT_MAX];
    for (int i = 0; i < f->param_count; i++)
        if (!gt_point_get(point, f->param[i].name, &values[i]))
            values[i] = f->param[i].preset;
    gt_bind_problem(b, f, &q->device, &q->problem);
    return gt_bind_checked(b, values, err);
}

/* Lists the names of an expression with their numbers, "THREADS=4096 MAX_THREADS=1024". */
static void numbers_of(char *buf, size_t size, const struct gt_expr *e,
                       const struct gt_binding *b) {
    const struct gt_symbols *symbols = &b->family->symbols;
    buf[0] = '\0';
    for (size_t slot = 0, len = 0; slot < (size_t)symbols->count && len < size; slot++)
        if (gt_expr_uses(e, (int)slot))
            len +=
                (size_t)snprintf(buf + len, size - len, "%s%s=%" PRId64, len > 0 ? " " : "",
                                 symbols->name[slot], b->value[slot]);
}

enum { NUMBERS_MAX = 1024 };

/* Prints one line or object for a rule. Returns whether the rule holds. */
static bool judge(const struct gt_rule *rule, const char *kind, const struct gt_binding *b,
                  bool json, bool *first) {
    char numbers[NUMBERS_MAX];
    struct gt_err err = {""};
    int64_t value = 0;
    const bool sound = gt_expr_eval(&value, rule->expr, b->value, &err) == GEMMTUNE_OK;
    const bool holds = sound && value != 0;
    numbers_of(numbers, sizeof numbers, rule->expr, b);
    if (!json) {
        gt_wrap_print(stdout, 18, "%-7s %-7s %s", holds ? "holds" : "REFUSES", kind,
                      gt_expr_text(rule->expr));
        gt_wrap_print(stdout, 16, "%16s%s", "", rule->why);
        gt_wrap_print(stdout, 16, "%16s%s", "", sound ? numbers : err.line);
        return holds;
    }
    bool member = true;
    (void)fputs(*first ? "{" : ", {", stdout);
    gt_json_text(&member, "kind", kind);
    gt_json_text(&member, "rule", gt_expr_text(rule->expr));
    gt_json_text(&member, "why", rule->why);
    gt_json_text(&member, "numbers", sound ? numbers : err.line);
    gt_json_name(&member, "holds");
    (void)fputs(holds ? "true}" : "false}", stdout);
    *first = false;
    return holds;
}

/* Prints the derived names, from which most numbers in rules come. Names that use a problem
 * need one. */
static void print_derived(const struct gt_binding *b, bool has_problem, bool json) {
    const struct gt_family *f = b->family;
    bool first = true;
    for (int i = 0; i < f->derive_count; i++) {
        if (f->derive[i].of_problem && !has_problem)
            continue;
        const char *name = f->symbols.name[f->derive[i].slot];
        const int64_t value = b->value[f->derive[i].slot];
        if (json)
            gt_json_number(&first, name, (double)value);
        else
            gt_wrap_print(stdout, 4, "%s = %s = %" PRId64, name,
                          gt_expr_text(f->derive[i].expr), value);
    }
}

static int judge_domains(const struct gt_binding *b, bool json) {
    int refused = 0;
    for (int i = 0; i < b->family->param_count; i++) {
        const struct gt_param *param = &b->family->param[i];
        if (in_domain(param, b->value[param->slot]))
            continue;
        if (!json)
            printf("REFUSES domain  %s=%" PRId64 " is not one of its values\n", param->name,
                   b->value[param->slot]);
        else
            printf("%s\"%s\"", refused > 0 ? ", " : "", param->name);
        refused++;
    }
    return refused;
}

static bool are_in_domain(const struct gt_binding *b) {
    const struct gt_family *f = b->family;
    int i = 0;
    while (i < f->param_count && in_domain(&f->param[i], b->value[f->param[i].slot]))
        i++;
    return i == f->param_count;
}

static void point_of(struct gt_point *out, const struct gt_binding *b) {
    gt_family_default(b->family, out);
    for (int i = 0; i < b->family->param_count; i++)
        (void)gt_point_set(out, b->family->param[i].name,
                           b->value[b->family->param[i].slot], NULL);
}

/* Requirements that no rule states (alignment, launch limits) are checked by gt_fit_point
 * once all rules hold. */
static int judge_fit(const struct gt_binding *b, const struct gt_question *q, bool *first) {
    struct gt_point point;
    struct gt_fit fit;
    struct gt_err err = {""};
    point_of(&point, b);
    if (gt_fit_point(&fit, q->family, &q->device, &q->problem, &point, &err) == GEMMTUNE_OK)
        return 0;
    if (!q->format.json) {
        gt_wrap_print(stdout, 16, "REFUSES %-7s %s", "fit", err.line);
        return 1;
    }
    bool member = true;
    (void)fputs(*first ? "{" : ", {", stdout);
    gt_json_text(&member, "kind", "fit");
    gt_json_text(&member, "why", err.line);
    gt_json_name(&member, "holds");
    (void)fputs("false}", stdout);
    *first = false;
    return 1;
}

static int judge_rules(const struct gt_binding *b, const struct gt_question *q) {
    const struct gt_family *f = q->family;
    bool first = true;
    int refused = 0;
    for (int i = 0; i < f->require_count; i++)
        refused += !judge(&f->require[i], "require", b, q->format.json, &first);
    for (int i = 0; q->has_problem && i < f->accept_count; i++)
        refused += !judge(&f->accept[i], "accept", b, q->format.json, &first);
    if (q->has_problem && refused == 0 && are_in_domain(b))
        refused += judge_fit(b, q, &first);
    return refused;
}

static void why_people(const struct gt_binding *b, const struct gt_question *q,
                       const char *point) {
    gt_wrap_print(stdout, 4, "%s on %s, %s", point, q->device.name,
                  gt_dtype_of(&q->problem)->name);
    (void)fputs("\n", stdout);
    print_derived(b, q->has_problem, false);
    (void)fputs(b->family->derive_count > 0 ? "\n" : "", stdout);
    const int refused = judge_domains(b, false) + judge_rules(b, q);
    printf("\n%s\n", refused > 0 ? "The point is refused." : "The point is legal.");
}

static void why_json(const struct gt_binding *b, const struct gt_question *q,
                     const char *point) {
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "family", q->family->name);
    gt_json_text(&first, "point", point);
    gt_json_text(&first, "device", q->device.name);
    gt_json_name(&first, "derived");
    (void)fputs("{", stdout);
    print_derived(b, q->has_problem, true);
    (void)fputs("}", stdout);
    gt_json_name(&first, "outside_domain");
    (void)fputs("[", stdout);
    int refused = judge_domains(b, true);
    (void)fputs("]", stdout);
    gt_json_name(&first, "rules");
    (void)fputs("[", stdout);
    refused += judge_rules(b, q);
    (void)fputs("]", stdout);
    gt_json_name(&first, "legal");
    (void)fputs(refused > 0 ? "false}\n" : "true}\n", stdout);
}

static void print_why(const struct gt_binding *b, const struct gt_question *q) {
    struct gt_point whole;
    char text[GT_POINT_TEXT_MAX];
    point_of(&whole, b);
    (void)gt_point_text(&whole, text);
    (q->format.json ? why_json : why_people)(b, q, text);
}

gt_status gt_why_point(struct gt_point *out, const struct gt_family *f, const char *text,
                       struct gt_err *err) {
    gt_status status = gt_point_parse(out, text, err);
    if (status == GEMMTUNE_OK)
        status = check_names(f, out, err);
    /* it was typed, not read from a file */
    return status == GEMMTUNE_EPARSE ? GEMMTUNE_EINVAL : status;
}

gt_status gt_why(const struct gt_question *q, const struct gt_point *point,
                 struct gt_err *err) {
    struct gt_binding b;
    const gt_status status = bind_freely(&b, q, point, err);
    if (status == GEMMTUNE_OK)
        print_why(&b, q);
    return status;
}
