/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.c - `gemmtune space`: lists the families. `gemmtune space FAMILY` shows a family's
 * parameters, how many points a device allows, and which rule refuses a point.
 */
#include "tuner/cmd/space_why.h"

#include "tuner/rig/probe.h"
#include "tuner/search/space.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"

#include <inttypes.h>

struct values {
    struct gt_format format;
    const char *device, *why;
    struct gt_texts templates;
};

static const struct gt_option options[] = {
    GT_OPTION_DEVICE(struct values),
    {"why", 'w', GT_OPT_TEXT, offsetof(struct values, why), "POINT",
     "evaluate every rule for this point; missing parameters take their defaults", 0, 0},
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

/* Without a device no question is refused: these are the limits that every CUDA device
 * since 2012 and most OpenCL devices reach. */
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

/* A problem with the first layout that the family has; a batch where it serves no other. */
static gemmtune_problem any_problem(const struct gt_family *f,
                                    const struct gt_dtype *type) {
    gemmtune_problem p;
    char name[GT_PROBLEM_NAME_MAX];
    size_t i = 0;
    while (i < GT_LAYOUTS - 1 && (f->layouts & gt_layout_bit(gt_layout_words[i])) == 0)
        i++;
    (void)snprintf(name, sizeof name, "%s-%s-%dx%dx%d%s", type->name, gt_layout_words[i],
                   ANY_SIZE, ANY_SIZE, ANY_SIZE,
                   f->batching == GT_BATCHING_ONLY ? ",batch=2" : "");
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

/* ---- the family ---- */

static void print_param(const struct gt_param *param) {
    struct gt_wrap w = gt_wrap_begin(stdout, 17);
    char text[40];
    (void)snprintf(text, sizeof text, "  %-14s", param->name);
    gt_wrap_words(&w, text);
    for (int j = 0; j < param->count; j++) {
        (void)snprintf(text, sizeof text,
                       param->value[j] == param->preset ? " [%" PRId64 "]" : " %" PRId64,
                       param->value[j]);
        gt_wrap_words(&w, text);
    }
    gt_wrap_end(&w);
    if (param->about != NULL)
        gt_wrap_print(stdout, 17, "%17s%s", "", param->about);
}

static void print_params(const struct gt_family *f) {
    printf("\nParameters (default in brackets)\n");
    for (int i = 0; i < f->param_count; i++)
        print_param(&f->param[i]);
    for (int i = 0; i < f->derive_count; i++)
        gt_wrap_print(stdout, 19, "  %-14s = %s", f->symbols.name[f->derive[i].slot],
                      gt_expr_text(f->derive[i].expr));
}

/* The parameter that a lookup lowers when the rule refuses; NULL: none. */
static const char *lowers(const struct gt_family *f, const struct gt_rule *rule) {
    return rule->lower >= 0 ? f->param[rule->lower].name : NULL;
}

static void print_rules(const char *title, const struct gt_family *f,
                        const struct gt_rule *rule, int count) {
    if (count > 0)
        printf("\n%s\n", title);
    for (int i = 0; i < count; i++) {
        const char *lower = lowers(f, &rule[i]);
        gt_wrap_print(stdout, 4, "  %s", gt_expr_text(rule[i].expr));
        gt_wrap_print(stdout, 6, "      %s%s%s", rule[i].why,
                      lower != NULL ? "; a lookup lowers " : "",
                      lower != NULL ? lower : "");
    }
}

static void json_params(const struct gt_family *f) {
    for (int i = 0; i < f->param_count; i++) {
        bool first = true;
        (void)fputs(i > 0 ? ", {" : "{", stdout);
        gt_json_text(&first, "name", f->param[i].name);
        gt_json_name(&first, "values");
        for (int j = 0; j < f->param[i].count; j++)
            printf("%s%" PRId64, j > 0 ? ", " : "[", f->param[i].value[j]);
        (void)fputs("]", stdout);
        gt_json_number(&first, "default", (double)f->param[i].preset);
        gt_json_text(&first, "about", f->param[i].about);
        (void)fputs("}", stdout);
    }
}

static void json_rules(const struct gt_family *f, const struct gt_rule *rule, int count) {
    for (int i = 0; i < count; i++) {
        bool first = true;
        (void)fputs(i > 0 ? ", {" : "{", stdout);
        gt_json_text(&first, "rule", gt_expr_text(rule[i].expr));
        gt_json_text(&first, "why", rule[i].why);
        if (lowers(f, &rule[i]) != NULL)
            gt_json_text(&first, "lowers", lowers(f, &rule[i]));
        (void)fputs("}", stdout);
    }
}

static void json_family(const struct gt_family *f) {
    bool first = true;
    gt_json_text(&first, "family", f->name);
    gt_json_text(&first, "about", f->about);
    gt_json_text(&first, "hash", f->hash);
    gt_json_name(&first, "params");
    (void)fputs("[", stdout);
    json_params(f);
    (void)fputs("]", stdout);
    gt_json_name(&first, "require");
    (void)fputs("[", stdout);
    json_rules(f, f->require, f->require_count);
    (void)fputs("]", stdout);
    gt_json_name(&first, "accept");
    (void)fputs("[", stdout);
    json_rules(f, f->accept, f->accept_count);
    (void)fputs("]", stdout);
}

struct row {
    const char *label, *why;
    double raw;
    size_t legal;
};

#define COUNTS(X)                                                                          \
    X("for", "for", TEXT, 0, r->label, "problem, or data type of a problem of 1024^3")     \
    X("raw", "raw", COUNT, 0, r->raw, "points in the cross product of all values")         \
    X("legal", "legal", COUNT, 0, r->legal, "points that the rules allow")                 \
    X("why", "note", TEXT, 0, r->why, "the reason why there are none")
GT_COLUMNS(counted, struct row, COUNTS)
static const struct gt_form counts = GT_FORM(counted, "");

static gt_status add_count(struct gt_table *t, const struct gt_question *s,
                           const gemmtune_problem *p, const char *label,
                           struct gt_err *err) {
    struct gt_space space = {.raw = 0};
    struct row row = {.label = label};
    gt_status status = GEMMTUNE_OK;
    if (gt_family_serves(s->family, &s->device, p, &row.why))
        status = (s->has_problem ? gt_space_create : gt_space_create_any)(
            &space, s->family, &s->device, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    row.raw = space.raw;
    row.legal = space.count;
    if (row.why == NULL && space.count == 0)
        row.why = "the rules refuse every point";
    gt_space_clear(&space);
    return add_counted(t, &row, err);
}

static gt_status add_counts(struct gt_table *t, const struct gt_question *s,
                            struct gt_err *err) {
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

static void print_family(const struct gt_question *s, const struct gt_table *t) {
    const struct gt_family *f = s->family;
    bool first = false;
    if (s->format.json) {
        (void)fputs("{", stdout);
        json_family(f);
        gt_json_text(&first, "device", s->device.name);
        gt_json_name(&first, "points");
        gt_table_json(t, stdout);
        (void)fputs("}\n", stdout);
        return;
    }
    if (s->format.csv) {
        gt_table_csv(t, stdout);
        return;
    }
    gt_wrap_print(stdout, 4, "%s: %s", f->name, f->about);
    print_params(f);
    print_rules("A point may exist when", f, f->require, f->require_count);
    print_rules("A kernel runs a problem when", f, f->accept, f->accept_count);
    printf("\nPoints on %s\n", s->device.name);
    gt_common_print_people(t, &s->format, stdout);
}

static gt_status describe_family(const struct gt_question *s, struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &counts, err);
    if (status == GEMMTUNE_OK)
        status = add_counts(t, s, err);
    if (status == GEMMTUNE_OK)
        print_family(s, t);
    gt_table_destroy(t);
    return status;
}

/* ---- all families ---- */

struct family_row {
    const struct gt_family *family;
    char types[256];
};

#define FAMILIES(X)                                                                        \
    X("family", "family", TEXT, 0, r->family->name, "its name")                            \
    X("types", NULL, TEXT, 0, r->types, "its data types, with blanks between")             \
    X("about", "about", PROSE, 0, r->family->about, "its kernels, in a sentence")
GT_COLUMNS(listed, struct family_row, FAMILIES)
static const struct gt_form listing = GT_FORM(listed, "without FAMILY");

static void name_types(struct family_row *row) {
    int len = 0;
    row->types[0] = '\0';
    for (size_t i = 0; gt_dtype_at(i) != NULL; i++)
        if (has_type(row->family, i)) {
            len = gt_text_put(row->types, sizeof row->types, len, len > 0 ? " " : "");
            len = gt_text_put(row->types, sizeof row->types, len, gt_dtype_at(i)->name);
        }
}

static int list_families(const struct gt_families *families,
                         const struct gt_format *format) {
    struct gt_table *t = NULL;
    struct gt_err err = {""};
    struct family_row row;
    gt_status status = gt_table_create(&t, &listing, &err);
    for (size_t i = 0; status == GEMMTUNE_OK && gt_families_at(families, i) != NULL; i++) {
        row.family = gt_families_at(families, i);
        name_types(&row);
        status = add_listed(t, &row, &err);
    }
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
}

/* ---- the command ---- */

/* Picks the requested device, else the first one present, else the nominal one. */
static int pick_device(struct gt_device *out, const char *what) {
    struct gt_err err = {""};
    if (gt_probe_pick(out, what, false, &err) == GEMMTUNE_OK)
        return -1;
    if (what != NULL)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    gt_talk("%s; counting for %s", err.line, nominal.name);
    *out = nominal;
    return -1;
}

/* Reads everything that was typed, before any device is asked. */
static int read_question(struct gt_question *q, struct gt_point *point, const char *problem,
                         const char *why) {
    struct gt_err err = {""};
    int code = -1;
    q->has_problem = problem != NULL;
    if (q->has_problem)
        code = gt_common_problem(&q->problem, problem);
    else
        q->problem = any_problem(q->family, first_type(q->family));
    if (code < 0 && why != NULL && gt_why_point(point, q->family, why, &err) != GEMMTUNE_OK)
        code = gt_die(GT_EXIT_USAGE, "%s", err.line);
    return code;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.why = NULL};
    struct gt_families *families = NULL;
    struct gt_err err = {""};
    struct gt_question q = {.has_problem = false};
    struct gt_point point;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 2, &first);
    q.format = v.format;
    if (code < 0 && v.why != NULL && v.format.csv)
        code = gt_die(GT_EXIT_USAGE, "space: --why has no table: --csv is not for it");
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0 && first == argc)
        code = v.why == NULL ? list_families(families, &v.format)
                             : gt_die(GT_EXIT_USAGE, "space: --why needs a FAMILY");
    if (code < 0)
        code = gt_common_family(&q.family, families, argv[first]);
    if (code < 0)
        code = read_question(&q, &point, argv[first + 1], v.why); /* argv ends with NULL */
    if (code < 0)
        code = pick_device(&q.device, v.device);
    if (code < 0) {
        const gt_status status =
            v.why != NULL ? gt_why(&q, &point, &err) : describe_family(&q, &err);
        code = status == GEMMTUNE_OK ? GT_EXIT_OK : gt_common_fail(status, &err);
    }
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_space = {
    .name = "space",
    .operands = "[FAMILY [PROBLEM]]",
    .about =
        "Show a kernel family's parameters and rules, and which rule refuses a point; or "
        "list the families.",
    .options = options,
    .tables = (const struct gt_form *const[]){&listing, &counts, NULL},
    .run = run,
};
