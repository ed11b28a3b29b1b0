/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_space.c - the space of a family in space.json: parameters, default, starts, rungs,
 * derived names, rules. One function a key; family_parse.c calls them in order.
 */
#include "runtime/family/family_inside.h"

#include "core/json.h"

#include <string.h>

enum { VALUE_MAX = INT32_MAX }; /* parameters reach kernels as int constants */

/* ---- names ------------------------------------------------------- */

/* Whether text defines the macro GT_<name>. A #define starts in column 0; one in a comment
 * does not. */
static bool defines(const char *text, const char *name) {
    static const char mark[] = "\n#define GT_";
    const size_t len = strlen(name);
    for (const char *at = strstr(text, mark); at != NULL; at = strstr(at, mark)) {
        at += sizeof mark - 1;
        if (strncmp(at, name, len) == 0 && strchr(" \t(\r\n", at[len]) != NULL)
            return true;
    }
    return false;
}

/* Whether any part defines the macro GT_<name>, used by this family or not. So the family
 * can use the part later, and the name keeps its meaning. */
static bool in_a_part(const char *name) {
    for (int i = 0; gt_part_name(i) != NULL; i++)
        if (defines(gt_part_text(i), name))
            return true;
    return false;
}

/* Whether kernel sources get a macro GT_<name> from outside of the parts. */
static bool is_reserved(const char *name) {
    for (int i = 0; i < GT_BUILTIN_COUNT; i++) {
        const char *macro = gt_builtins[i].macro;
        if (strcmp(gt_builtins[i].name, name) == 0)
            return true;
        if (macro != NULL && strcmp(macro + strlen("GT_"), name) == 0)
            return true;
    }
    return strncmp(name, "DTYPE_", strlen("DTYPE_")) == 0 ||
           strncmp(name, "TYPE_", strlen("TYPE_")) == 0 || strcmp(name, "PARAMS") == 0;
}

static gt_status add_name(int *slot, struct gt_family *f, struct gt_node n,
                          struct gt_err *err) {
    const char *name = gt_json_key(n);
    struct gt_err why = {""};
    if (!gt_point_is_name(name, strlen(name)))
        return gt_json_fail(n, err, "names are [A-Z][A-Z0-9_]* of at most %d characters",
                            GT_NAME_MAX - 1);
    if (is_reserved(name) || in_a_part(name))
        return gt_json_fail(n, err, "the name %s is built in", name);
    if (gt_symbols_find(&f->symbols, name) >= 0)
        return gt_json_fail(n, err, "the name %s is taken", name);
    const gt_status status = gt_symbols_add(slot, &f->symbols, name, &why);
    return status == GEMMTUNE_OK ? status : gt_json_fail_because(n, status, &why, err);
}

/* Whether kernels can compute e: of a problem's numbers it uses only M, N and K. */
static bool in_source(const struct gt_family *f, const struct gt_expr *e) {
    for (int i = GT_IN_LDA; i <= GT_IN_ALIGN_C; i++)
        if (gt_expr_uses(e, i))
            return false;
    for (int i = 0; i < f->derive_count; i++)
        if (!f->derive[i].in_source && gt_expr_uses(e, f->derive[i].slot))
            return false;
    return true;
}

/* ---- one function a key ------------------------------------------------------------ */

static bool in_domain(const struct gt_param *p, int64_t value) {
    for (int i = 0; i < p->count; i++)
        if (p->value[i] == value)
            return true;
    return false;
}

static gt_status parse_domain(struct gt_param *p, struct gt_node n, struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 1, GT_VALUES_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        int64_t value;
        status = gt_json_int(&value, gt_json_at(n, i), 0, VALUE_MAX, err);
        if (status == GEMMTUNE_OK && in_domain(p, value))
            status = gt_json_fail(gt_json_at(n, i), err, "the value is listed twice");
        if (status == GEMMTUNE_OK)
            p->value[p->count++] = value;
    }
    return status;
}

gt_status gt_parse_params(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 0, GT_POINT_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        struct gt_param *p = &f->param[f->param_count++];
        status = add_name(&p->slot, f, member, err);
        if (status == GEMMTUNE_OK) {
            memcpy(p->name, gt_json_key(member), strlen(gt_json_key(member)) + 1);
            status = parse_domain(p, member, err);
        }
    }
    return status;
}

/* For people: the meaning of some parameters or of all. */
gt_status gt_parse_meaning(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (gt_json_kind(n) != GT_JSON_ABSENT)
        status = gt_read_list(n, GT_JSON_OBJECT, 0, GT_POINT_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        int at = 0;
        while (at < f->param_count && strcmp(f->param[at].name, gt_json_key(member)) != 0)
            at++;
        status = at < f->param_count
                     ? gt_read_text(&f->param[at].about, member, err)
                     : gt_json_fail(member, err, "the family has no such parameter");
    }
    return status;
}

static const struct gt_param *find_param(const struct gt_family *f, const char *name) {
    for (int i = 0; i < f->param_count; i++)
        if (strcmp(f->param[i].name, name) == 0)
            return &f->param[i];
    return NULL;
}

/* The index of the parameter that the text names. */
static gt_status read_param(int *out, const struct gt_family *f, struct gt_node n,
                            struct gt_err *err) {
    const char *name = "";
    const gt_status status = gt_json_string(&name, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_param *p = find_param(f, name);
    if (p == NULL)
        return gt_json_fail(n, err, "the family has no such parameter");
    *out = (int)(p - f->param);
    return GEMMTUNE_OK;
}

/* A complete point inside the domains, in the order of the parameters. */
static gt_status parse_point(int64_t out[GT_POINT_MAX], const struct gt_family *f,
                             struct gt_node n, struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 0, GT_POINT_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++)
        if (!gt_family_has_param(f, gt_json_key(gt_json_at(n, i))))
            status =
                gt_json_fail(gt_json_at(n, i), err, "the family has no such parameter");
    for (int i = 0; i < f->param_count && status == GEMMTUNE_OK; i++) {
        const struct gt_param *p = &f->param[i];
        const struct gt_node value = gt_json_member(n, p->name);
        if (gt_json_kind(value) == GT_JSON_ABSENT)
            return gt_json_fail(n, err, "no value for %s", p->name);
        status = gt_json_int(&out[i], value, 0, VALUE_MAX, err);
        if (status == GEMMTUNE_OK && !in_domain(p, out[i]))
            status = gt_json_fail(value, err, "is not one of the values of %s", p->name);
    }
    return status;
}

gt_status gt_parse_default(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    int64_t value[GT_POINT_MAX];
    const gt_status status = parse_point(value, f, n, err);
    for (int i = 0; i < f->param_count && status == GEMMTUNE_OK; i++)
        f->param[i].preset = value[i];
    return status;
}

gt_status gt_parse_starts(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 0, GT_STARTS_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++)
        status = parse_point(f->start[f->start_count++], f, gt_json_at(n, i), err);
    return status;
}

/* ["NAME", ...]: parameters that a lookup may change. */
gt_status gt_parse_adapt(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 0, GT_ADAPT_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        status = read_param(&f->adapt[f->adapt_count], f, gt_json_at(n, i), err);
        f->adapt_count += status == GEMMTUNE_OK;
    }
    return status;
}

/* {"NAME": value, ...}: values of some of the parameters. */
static gt_status parse_fixed(struct gt_point *out, const struct gt_family *f,
                             struct gt_node n, struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 0, GT_POINT_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        const struct gt_param *p = find_param(f, gt_json_key(member));
        int64_t value = 0;
        if (p == NULL)
            return gt_json_fail(member, err, "the family has no such parameter");
        status = gt_json_int(&value, member, 0, VALUE_MAX, err);
        if (status == GEMMTUNE_OK && !in_domain(p, value))
            status = gt_json_fail(member, err, "is not one of the values of %s", p->name);
        if (status == GEMMTUNE_OK)
            status = gt_point_set(out, p->name, value, err);
    }
    return status;
}

/* {"rung's name": fixed values, ...}, the lowest rung first */
gt_status gt_parse_rungs(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 1, GT_RUNGS_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        const char *name = gt_json_key(member);
        struct gt_rung *rung = &f->rung[f->rung_count++];
        if (strlen(name) == 0 || strlen(name) >= GT_RUNG_NAME_MAX)
            return gt_json_fail(member, err, "a rung's name has 1 to %d characters",
                                GT_RUNG_NAME_MAX - 1);
        memcpy(rung->name, name, strlen(name) + 1);
        status = parse_fixed(&rung->fixed, f, member, err);
    }
    return status;
}

/* In file order. A derived name may use those above it, so it is added after its
 * expression. */
gt_status gt_parse_derive(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 0, GT_RULES_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        struct gt_derived *d = &f->derive[f->derive_count++];
        status = gt_read_expr(&d->expr, f, gt_json_at(n, i), GT_OF_PROBLEM, err);
        if (status == GEMMTUNE_OK)
            status = add_name(&d->slot, f, gt_json_at(n, i), err);
        if (status == GEMMTUNE_OK) {
            d->of_problem = gt_name_beyond(GT_OF_POINT, f, d->expr) != NULL;
            d->in_source = in_source(f, d->expr);
            d->in_image = !d->of_problem || f->per_problem;
        }
    }
    return status;
}

gt_status gt_parse_variants(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 0, GT_RULES_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const char *name = NULL;
        status = gt_json_string(&name, gt_json_at(n, i), err);
        int at = status == GEMMTUNE_OK ? f->derive_count - 1 : -1;
        while (at >= 0 && strcmp(f->symbols.name[f->derive[at].slot], name) != 0)
            at--;
        if (status == GEMMTUNE_OK && at < 0)
            return gt_json_fail(gt_json_at(n, i), err, "%s is no derived name", name);
        if (at >= 0)
            f->derive[at].in_image = true;
    }
    return status;
}

/* "PARAMETER", or in accept "speed". */
static gt_status read_third(struct gt_rule *rule, const struct gt_family *f,
                            struct gt_node n, enum gt_scope scope, struct gt_err *err) {
    const char *text = "";
    const gt_status status = gt_json_string(&text, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    rule->is_speed = scope == GT_OF_PROBLEM && strcmp(text, "speed") == 0;
    return rule->is_speed ? GEMMTUNE_OK : read_param(&rule->lower, f, n, err);
}

/* [["expression", "why"], ["expression", "why", "PARAMETER to lower"],
 * ["expression", "why", "speed"], ...] */
static gt_status parse_rules(struct gt_rule *rules, int *count, const struct gt_family *f,
                             struct gt_node n, enum gt_scope scope, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 0, GT_RULES_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node entry = gt_json_at(n, i);
        struct gt_rule *rule = &rules[(*count)++];
        status = gt_read_list(entry, GT_JSON_ARRAY, 2, 3, err);
        if (status == GEMMTUNE_OK)
            status = gt_read_expr(&rule->expr, f, gt_json_at(entry, 0), scope, err);
        if (status == GEMMTUNE_OK)
            status = gt_read_text(&rule->why, gt_json_at(entry, 1), err);
        rule->lower = -1;
        if (status == GEMMTUNE_OK && gt_json_count(entry) > 2)
            status = read_third(rule, f, gt_json_at(entry, 2), scope, err);
    }
    return status;
}

gt_status gt_parse_require(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_rules(f->require, &f->require_count, f, n, GT_OF_POINT, err);
}

gt_status gt_parse_accept(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_rules(f->accept, &f->accept_count, f, n, GT_OF_PROBLEM, err);
}

gt_status gt_parse_align(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const presets[3] = {"sizeof(A)", "sizeof(B)", "sizeof(C)"};
    const enum gt_scope scope = f->per_problem ? GT_OF_PROBLEM : GT_OF_POINT;
    return gt_read_three(f->align, f, n, scope, presets, err);
}
