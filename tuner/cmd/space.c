/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.c - `gemmtune space FAMILY`: what a family lets one choose, how much of it a device
 * allows, and which rule stands in the way of a point.
 */
#include "tuner/cmd/common.h"

#include "core/json.h"
#include "tuner/probe.h"
#include "tuner/space.h"

#include <inttypes.h>
#include <string.h>

struct values {
    struct gt_format format;
    const char *device, *why;
    struct gt_texts templates;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    {"why", 'w', GT_OPT_TEXT, offsetof(struct values, why), "POINT",
     "evaluate every rule for this point; what it leaves out takes the default", 0, 0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

/* What the question is about. */
struct subject {
    const struct gt_family *family;
    struct gt_device device;
    gemmtune_problem problem; /* without one given: 1024^3 of a type the family has */
    bool has_problem;
    bool json;
};

/* No device, no question refused: the limits that every CUDA device since 2012 and most OpenCL
 * devices reach. */
static const struct gt_device nominal = {
    .backend = GEMMTUNE_CUDA,
    .name = "a nominal device",
    .arch = "sm_61",
    .cc = 61,
    .units = 16,
    .warp = 32,
    .max_threads = 1024,
    .regs_per_block = 65536,
    .smem_max = 48 * 1024,
    .has_f64 = true,
};

enum { ANY_SIZE = 1024 };

/* Of the first layout that the family has. */
static gemmtune_problem any_problem(const struct gt_family *f, const struct gt_dtype *type) {
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    gemmtune_problem p;
    char name[GT_PROBLEM_NAME_MAX];
    size_t i = 0;
    while (i < 3 && (f->layouts & gt_layout_bit(layouts[i])) == 0)
        i++;
    (void)snprintf(name, sizeof name, "%s-%s-%dx%dx%d", type->name, layouts[i], ANY_SIZE,
                   ANY_SIZE, ANY_SIZE);
    (void)gt_problem_from_name(&p, name, NULL); /* cannot fail: rows of our own tables */
    return p;
}

static bool has_type(const struct gt_family *f, size_t i) {
    return (f->dtypes & gt_dtype_bit(gt_dtype_at(i))) != 0;
}

static const struct gt_dtype *first_type(const struct gt_family *f) {
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++)
        if (has_type(f, i))
            return gt_dtype_at(i);
    return gt_dtype_at(0);
}

/* ---- a point ------------------------------------------------------------------------ */

/* Whether the value is one of the domain. */
static bool in_domain(const struct gt_param *param, int64_t value)
{
    for (int i = 0; i < param->count; i++)
        if (param->value[i] == value)
            return true;
    return false;
}

static gt_status check_names(const struct gt_family *f, const struct gt_point *point,
                             struct gt_err *err)
{
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

/* Binds the point whether it is legal or not: saying what is wrong with it is the purpose. */
static gt_status bind_freely(struct gt_binding *b, const struct subject *s,
                             const struct gt_point *point, struct gt_err *err)
{
    const struct gt_family *f = s->family;
    gt_status status = check_names(f, point, err);
    gt_bind_problem(b, f, &s->device, &s->problem);
    gt_bind_align(b, &s->problem, 16);
    for (int i = 0; i < f->param_count; i++)
        if (!gt_point_get(point, f->param[i].name, &b->value[f->param[i].slot]))
            b->value[f->param[i].slot] = f->param[i].preset;
    for (int i = 0; status == GEMMTUNE_OK && i < f->derive_count; i++)
        status = gt_expr_eval(&b->value[f->derive[i].slot], f->derive[i].expr, b->value, err);
    return status;
}

/* The names of an expression with their numbers, "THREADS=4096 MAX_THREADS=1024". */
static void numbers_of(char *buf, size_t size, const struct gt_expr *e,
                       const struct gt_binding *b)
{
    const struct gt_symbols *symbols = &b->family->symbols;
    buf[0] = '\0';
    for (size_t slot = 0, len = 0; slot < (size_t)symbols->count && len < size; slot++)
        if (gt_expr_uses(e, (int)slot))
            len += (size_t)snprintf(buf + len, size - len, "%s%s=%" PRId64, len > 0 ? " " : "",
                                    symbols->name[slot], b->value[slot]);
}

enum { NUMBERS_MAX = 1024 };

/* One line or object a rule; returns whether it holds. */
static bool judge(const struct gt_rule *rule, const char *kind, const struct gt_binding *b,
                  bool json, bool *first)
{
    char numbers[NUMBERS_MAX];
    struct gt_err err = {""};
    int64_t value = 0;
    const bool sound = gt_expr_eval(&value, rule->expr, b->value, &err) == GEMMTUNE_OK;
    const bool holds = sound && value != 0;
    numbers_of(numbers, sizeof numbers, rule->expr, b);
    if (!json) {
        printf("%-7s %-7s %s\n                %s\n                %s\n",
               holds ? "holds" : "REFUSES", kind, gt_expr_text(rule->expr), rule->why,
               sound ? numbers : err.line);
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

/* Derived names are where most numbers in rules come from. */
static void print_derived(const struct gt_binding *b, bool json)
{
    const struct gt_family *f = b->family;
    bool first = true;
    for (int i = 0; i < f->derive_count; i++) {
        const char *name = f->symbols.name[f->derive[i].slot];
        const int64_t value = b->value[f->derive[i].slot];
        if (json)
            gt_json_number(&first, name, (double)value);
        else
            printf("%s = %s = %" PRId64 "\n", name, gt_expr_text(f->derive[i].expr), value);
    }
}

static int judge_domains(const struct gt_binding *b, bool json)
{
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

static int judge_rules(const struct gt_binding *b, const struct subject *s)
{
    const struct gt_family *f = s->family;
    bool first = true;
    int refused = 0;
    for (int i = 0; i < f->require_count; i++)
        refused += !judge(&f->require[i], "require", b, s->json, &first);
    for (int i = 0; s->has_problem && i < f->accept_count; i++)
        refused += !judge(&f->accept[i], "accept", b, s->json, &first);
    return refused;
}

static void point_of(struct gt_point *out, const struct gt_binding *b)
{
    gt_family_default(b->family, out);
    for (int i = 0; i < b->family->param_count; i++)
        (void)gt_point_set(out, b->family->param[i].name,
                           b->value[b->family->param[i].slot], NULL);
}

static void why_people(const struct gt_binding *b, const struct subject *s, const char *point)
{
    printf("%s on %s, %s\n\n", point, s->device.name, gt_dtype_of(&s->problem)->name);
    print_derived(b, false);
    (void)fputs(b->family->derive_count > 0 ? "\n" : "", stdout);
    const int refused = judge_domains(b, false) + judge_rules(b, s);
    printf("\n%s\n", refused > 0 ? "The point is refused." : "The point is legal.");
}

static void why_json(const struct gt_binding *b, const struct subject *s, const char *point)
{
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "family", s->family->name);
    gt_json_text(&first, "point", point);
    gt_json_text(&first, "device", s->device.name);
    gt_json_name(&first, "derived");
    (void)fputs("{", stdout);
    print_derived(b, true);
    (void)fputs("}", stdout);
    gt_json_name(&first, "outside_domain");
    (void)fputs("[", stdout);
    int refused = judge_domains(b, true);
    (void)fputs("]", stdout);
    gt_json_name(&first, "rules");
    (void)fputs("[", stdout);
    refused += judge_rules(b, s);
    (void)fputs("]", stdout);
    gt_json_name(&first, "legal");
    (void)fputs(refused > 0 ? "false}\n" : "true}\n", stdout);
}

static void print_why(const struct gt_binding *b, const struct subject *s)
{
    struct gt_point whole;
    char text[GT_POINT_TEXT_MAX];
    point_of(&whole, b);
    (void)gt_point_text(&whole, text);
    (s->json ? why_json : why_people)(b, s, text);
}

static gt_status explain_point(const struct subject *s, const char *text, struct gt_err *err)
{
    struct gt_point point;
    struct gt_binding b;
    gt_status status = gt_point_parse(&point, text, err);
    if (status == GEMMTUNE_OK)
        status = bind_freely(&b, s, &point, err);
    if (status == GEMMTUNE_OK)
        print_why(&b, s);
    return status == GEMMTUNE_EPARSE ? GEMMTUNE_EINVAL : status; /* typed, not in a file */
}

/* ---- the family ------------------------------------------------------------------------ */

static void print_params(const struct gt_family *f)
{
    printf("\nParameters (default in brackets)\n");
    for (int i = 0; i < f->param_count; i++) {
        const struct gt_param *param = &f->param[i];
        printf("  %-14s", param->name);
        for (int j = 0; j < param->count; j++)
            printf(param->value[j] == param->preset ? " [%" PRId64 "]" : " %" PRId64,
                   param->value[j]);
        (void)fputc('\n', stdout);
    }
    for (int i = 0; i < f->derive_count; i++)
        printf("  %-14s = %s\n", f->symbols.name[f->derive[i].slot],
               gt_expr_text(f->derive[i].expr));
}

static void print_rules(const char *title, const struct gt_rule *rule, int count)
{
    if (count > 0)
        printf("\n%s\n", title);
    for (int i = 0; i < count; i++)
        printf("  %s\n      %s\n", gt_expr_text(rule[i].expr), rule[i].why);
}

static void json_params(const struct gt_family *f)
{
    for (int i = 0; i < f->param_count; i++) {
        bool first = true;
        (void)fputs(i > 0 ? ", {" : "{", stdout);
        gt_json_text(&first, "name", f->param[i].name);
        gt_json_name(&first, "values");
        for (int j = 0; j < f->param[i].count; j++)
            printf("%s%" PRId64, j > 0 ? ", " : "[", f->param[i].value[j]);
        (void)fputs("]", stdout);
        gt_json_number(&first, "default", (double)f->param[i].preset);
        (void)fputs("}", stdout);
    }
}

static void json_rules(const struct gt_rule *rule, int count)
{
    for (int i = 0; i < count; i++) {
        bool first = true;
        (void)fputs(i > 0 ? ", {" : "{", stdout);
        gt_json_text(&first, "rule", gt_expr_text(rule[i].expr));
        gt_json_text(&first, "why", rule[i].why);
        (void)fputs("}", stdout);
    }
}

static void json_family(const struct gt_family *f)
{
    bool first = true;
    gt_json_text(&first, "family", f->name);
    gt_json_text(&first, "about", f->about);
    gt_json_name(&first, "params");
    (void)fputs("[", stdout);
    json_params(f);
    (void)fputs("]", stdout);
    gt_json_name(&first, "require");
    (void)fputs("[", stdout);
    json_rules(f->require, f->require_count);
    (void)fputs("]", stdout);
    gt_json_name(&first, "accept");
    (void)fputs("[", stdout);
    json_rules(f->accept, f->accept_count);
    (void)fputs("]", stdout);
}

static const struct gt_column columns[] = {
    {"for", "for", GT_LEFT, GT_CELL_TEXT},
    {"raw", "raw", GT_RIGHT, GT_CELL_NUMBER},
    {"legal", "legal", GT_RIGHT, GT_CELL_NUMBER},
    {"note", "why", GT_LEFT, GT_CELL_TEXT},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static gt_status add_count(struct gt_table *t, const struct subject *s,
                           const gemmtune_problem *p, const char *label, struct gt_err *err)
{
    char raw[GT_CELL_MAX], legal[GT_CELL_MAX];
    struct gt_space space = {.raw = 0};
    const char *why = NULL;
    gt_status status = GEMMTUNE_OK;
    if (gt_family_serves(s->family, &s->device, p, &why))
        status = (s->has_problem ? gt_space_create : gt_space_create_any)(
            &space, s->family, &s->device, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    const char *const row[COLUMNS] = {label, gt_show_count(raw, space.raw),
                                      gt_show_count(legal, (double)space.count),
                                      why};
    gt_space_clear(&space);
    return gt_table_row(t, row, err);
}

static gt_status add_counts(struct gt_table *t, const struct subject *s, struct gt_err *err)
{
    char name[GT_PROBLEM_NAME_MAX];
    gt_status status = GEMMTUNE_OK;
    (void)gt_problem_name(&s->problem, name);
    if (s->has_problem)
        return add_count(t, s, &s->problem, name, err);
    for (size_t i = 0; status == GEMMTUNE_OK && gt_dtype_at(i) != NULL; i++) {
        if (!has_type(s->family, i))
            continue;
        const gemmtune_problem p = any_problem(s->family, gt_dtype_at(i));
        status = add_count(t, s, &p, gt_dtype_at(i)->name, err);
    }
    return status;
}

static void print_family(const struct subject *s, const struct gt_table *counts)
{
    const struct gt_family *f = s->family;
    bool first = false;
    if (s->json) {
        (void)fputs("{", stdout);
        json_family(f);
        gt_json_text(&first, "device", s->device.name);
        gt_json_name(&first, "points");
        gt_table_json(counts, stdout);
        (void)fputs("}\n", stdout);
        return;
    }
    printf("%s: %s\n", f->name, f->about);
    print_params(f);
    print_rules("A point may exist when", f->require, f->require_count);
    print_rules("A kernel runs a problem when", f->accept, f->accept_count);
    printf("\nPoints on %s\n", s->device.name);
    gt_table_print(counts, stdout);
}

static gt_status describe_family(const struct subject *s, struct gt_err *err)
{
    struct gt_table *counts = NULL;
    gt_status status = gt_table_create(&counts, columns, COLUMNS, err);
    if (status == GEMMTUNE_OK)
        status = add_counts(counts, s, err);
    if (status == GEMMTUNE_OK)
        print_family(s, counts);
    gt_table_destroy(counts);
    return status;
}

/* ---- the command -------------------------------------------------------------------------- */

/* The device asked for, else the first there is, else the nominal one. */
static int pick_device(struct gt_device *out, const char *what)
{
    struct gt_err err = {""};
    if (gt_probe_pick(out, what, false, &err) == GEMMTUNE_OK)
        return -1;
    if (what != NULL)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    fprintf(stderr, "gemmtune: %s; counting for %s\n", err.line, nominal.name);
    *out = nominal;
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv)
{
    struct values v = {.why = NULL};
    struct gt_families *families = NULL;
    struct gt_err err = {""};
    struct subject s = {.has_problem = false};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, 2, &first);
    s.json = v.format.json;
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = gt_common_family(&s.family, families, argv[first]);
    if (code >= 0)
        goto done;
    s.has_problem = first + 1 < argc;
    if (s.has_problem)
        code = gt_common_problem(&s.problem, argv[first + 1]);
    else
        s.problem = any_problem(s.family, first_type(s.family));
    if (code < 0)
        code = pick_device(&s.device, v.device);
    if (code >= 0)
        goto done;
    const gt_status status =
        v.why != NULL ? explain_point(&s, v.why, &err) : describe_family(&s, &err);
    code = status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
done:
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_space = {
    .name = "space",
    .operands = "FAMILY [PROBLEM]",
    .about = "Show a kernel family's parameters and rules, and what refuses a point.",
    .options = options,
    .run = run,
};
