/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print_family.c - see print_family.h. Every pointer in an initializer leads to a compound
 * literal at file scope, which lives for ever.
 */
#include "tools/print_family.h"

#include "core/embed.h"
#include "core/expr_inside.h"
#include "tools/print_expr.h"

#include <inttypes.h>
#include <string.h>

/* ---- texts and numbers ------------------------------------------------------------- */

static void print_text(struct gt_printer *to, const char *text) {
    (void)fputs("(char *)\"", to->data);
    for (; *text != '\0'; text++)
        (void)fprintf(to->data,
                      *text >= ' ' && *text <= '~' && !strchr("\"\\?", *text) ? "%c"
                                                                              : "\\%03o",
                      (unsigned char)*text);
    (void)fputc('"', to->data);
}

static void print_word(struct gt_printer *to, const char *key, const char *word) {
    (void)fprintf(to->data, ".%s = \"%s\",\n", key, word);
}

static void print_int(struct gt_printer *to, const char *key, int64_t value) {
    (void)fprintf(to->data, ".%s = %" PRId64 ",\n", key, value);
}

static void print_set(struct gt_printer *to, const char *key, uint64_t set) {
    (void)fprintf(to->data, ".%s = UINT64_C(%" PRIu64 "),\n", key, set);
}

/* An array of at least one number: a point without parameters has a 0. */
static void print_values(struct gt_printer *to, const int64_t *value, int count) {
    (void)fputs(count > 0 ? "{" : "{0", to->data);
    for (int i = 0; i < count; i++)
        (void)fprintf(to->data, "INT64_C(%" PRId64 "),", value[i]);
    (void)fputc('}', to->data);
}

/* Begins the value of member i of the array `key`. */
static void print_at(struct gt_printer *to, const char *key, int i) {
    (void)fprintf(to->data, ".%s[%d] = ", key, i);
}

static void print_end(struct gt_printer *to) {
    (void)fputs("},\n", to->data);
}

/* ---- expressions ------------------------------------------------------------------- */

static void print_node(struct gt_printer *to, const struct gt_expr_node *n) {
    (void)fprintf(
        to->data, "{(enum gt_expr_op)%d, {%d, %d, %d}, %d, %d, %d, INT64_C(%" PRId64 ")},",
        (int)n->op, n->arg[0], n->arg[1], n->arg[2], n->slot, n->name, n->len, n->number);
}

/* A pointer to the expression, and a comma. */
static void print_expr(struct gt_printer *to, const struct gt_expr *e) {
    if (e == NULL) {
        (void)fputs("NULL,", to->data);
        return;
    }
    (void)fputs("&(struct gt_expr){", to->data);
    print_text(to, e->text);
    (void)fprintf(to->data, ", %d, %d, (const struct gt_expr_node[]){", e->root, e->count);
    for (int i = 0; i < e->count; i++)
        print_node(to, &e->node[i]);
    (void)fprintf(to->data, "}, x%d},\n", to->functions);
    gt_expr_print(to->code, to->functions++, e);
}

static void print_member(struct gt_printer *to, const char *key, const struct gt_expr *e) {
    (void)fprintf(to->data, ".%s = ", key);
    print_expr(to, e);
}

static void print_exprs(struct gt_printer *to, const char *key, struct gt_expr *const *e,
                        int count) {
    for (int i = 0; i < count; i++) {
        print_at(to, key, i);
        print_expr(to, e[i]);
    }
}

/* ---- lists of expressions as one function ------------------------------------------ */

/* Each calls the functions from x<first> on. */

static void print_derive_all(struct gt_printer *to, const struct gt_family *f, int first) {
    (void)fprintf(to->data, ".derive_all = derive%d,\n", first);
    (void)fprintf(to->code, "static bool derive%d(int64_t *v) {\n(void)v;\nreturn true",
                  first);
    for (int i = 0; i < f->derive_count; i++)
        (void)fprintf(to->code, "\n&& x%d(&v[%d], v)", first + i, f->derive[i].slot);
    (void)fputs(";\n}\n", to->code);
}

static void print_refusal(struct gt_printer *to, int count, int first) {
    (void)fprintf(to->data, ".refusal = refusal%d,\n", first);
    (void)fprintf(to->code,
                  "static int refusal%d(const int64_t *v) {\n"
                  "int64_t holds = 0;\n(void)v;\n(void)holds;\n",
                  first);
    for (int i = 0; i < count; i++)
        (void)fprintf(to->code, "if (!x%d(&holds, v) || holds == 0)\nreturn %d;\n",
                      first + i, i);
    (void)fputs("return -1;\n}\n", to->code);
}

static void print_shape_all(struct gt_printer *to, int first) {
    (void)fprintf(to->data, ".shape_all = shape%d,\n", first);
    (void)fprintf(to->code,
                  "static bool shape%d(int64_t *out, const int64_t *v) {\nreturn true",
                  first);
    for (int i = 0; i < GT_SHAPE_COUNT; i++)
        (void)fprintf(to->code, "\n&& x%d(&out[%d], v) && out[%d] >= 0", first + i, i, i);
    (void)fputs(";\n}\n", to->code);
}

/* ---- members ----------------------------------------------------------------------- */

static void print_symbols(struct gt_printer *to, const struct gt_symbols *s) {
    (void)fprintf(to->data, ".symbols = {%d, {", s->count);
    for (int i = 0; i < s->count; i++)
        (void)fprintf(to->data, "\"%s\",", s->name[i]);
    (void)fputs("}},\n", to->data);
}

static void print_params(struct gt_printer *to, const struct gt_family *f) {
    print_int(to, "param_count", f->param_count);
    for (int i = 0; i < f->param_count; i++) {
        const struct gt_param *p = &f->param[i];
        print_at(to, "param", i);
        (void)fprintf(to->data, "{\"%s\", %d, %d, ", p->name, p->slot, p->count);
        print_values(to, p->value, p->count);
        (void)fprintf(to->data, ", INT64_C(%" PRId64 "), ", p->preset);
        if (p->about != NULL)
            print_text(to, p->about);
        (void)fputs(p->about != NULL ? "},\n" : "NULL},\n", to->data);
    }
}

static void print_constants(struct gt_printer *to, const struct gt_family *f) {
    print_int(to, "constant_count", f->constant_count);
    for (int i = 0; i < f->constant_count; i++) {
        print_at(to, "constant", i);
        (void)fprintf(to->data, "{%d, INT64_C(%" PRId64 ")},\n", f->constant[i].slot,
                      f->constant[i].value);
    }
}

/* The points of "starts", and the parameters of "adapt". */
static void print_points(struct gt_printer *to, const struct gt_family *f) {
    print_int(to, "start_count", f->start_count);
    for (int i = 0; i < f->start_count; i++) {
        print_at(to, "start", i);
        print_values(to, f->start[i], f->param_count);
        (void)fputs(",\n", to->data);
    }
    print_int(to, "adapt_count", f->adapt_count);
    for (int i = 0; i < f->adapt_count; i++) {
        print_at(to, "adapt", i);
        (void)fprintf(to->data, "%d,\n", f->adapt[i]);
    }
}

static void print_rungs(struct gt_printer *to, const struct gt_family *f) {
    print_int(to, "rung_count", f->rung_count);
    for (int i = 0; i < f->rung_count; i++) {
        const struct gt_point *p = &f->rung[i].fixed;
        print_at(to, "rung", i);
        (void)fprintf(to->data, "{.name = \"%s\", .fixed = {.count = %d, ", f->rung[i].name,
                      p->count);
        for (int j = 0; j < p->count; j++) {
            print_at(to, "entry", j);
            (void)fprintf(to->data, "{\"%s\", INT64_C(%" PRId64 ")},", p->entry[j].name,
                          p->entry[j].value);
        }
        (void)fputs("}},\n", to->data);
    }
}

static void print_derived(struct gt_printer *to, const struct gt_family *f) {
    const int first = to->functions;
    print_int(to, "derive_count", f->derive_count);
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        print_at(to, "derive", i);
        (void)fprintf(to->data,
                      "{.slot = %d, .of_problem = %d, .in_source = %d, .in_image = %d, "
                      ".expr = ",
                      d->slot, d->of_problem, d->in_source, d->in_image);
        print_expr(to, d->expr);
        print_end(to);
    }
    print_derive_all(to, f, first);
}

static void print_rules(struct gt_printer *to, const char *key, const struct gt_rule *rule,
                        int count) {
    (void)fprintf(to->data, ".%s_count = %d,\n", key, count);
    for (int i = 0; i < count; i++) {
        print_at(to, key, i);
        (void)fprintf(to->data, "{.lower = %d, .is_speed = %d, .why = ", rule[i].lower,
                      rule[i].is_speed);
        print_text(to, rule[i].why);
        (void)fputs(", .expr = ", to->data);
        print_expr(to, rule[i].expr);
        print_end(to);
    }
}

static void print_require(struct gt_printer *to, const struct gt_family *f) {
    const int first = to->functions;
    print_rules(to, "require", f->require, f->require_count);
    print_refusal(to, f->require_count, first);
}

static void print_shape(struct gt_printer *to, const struct gt_family *f) {
    const int first = to->functions;
    print_int(to, "has_shape", f->has_shape);
    print_exprs(to, "shape", f->shape, GT_SHAPE_COUNT);
    if (f->has_shape)
        print_shape_all(to, first);
}

static void print_sums(struct gt_printer *to, const struct gt_sums *sums) {
    (void)fprintf(to->data,
                  ".sums = {.by = \"%s\", .is_default = %d, .count = %d, .when = ",
                  sums->by, sums->is_default, sums->count);
    print_expr(to, sums->when);
    for (int i = 0; i < sums->count; i++) {
        print_at(to, "number", i);
        (void)fprintf(to->data, "{\"%s\", ", sums->number[i].name);
        print_expr(to, sums->number[i].value);
        print_end(to);
    }
    print_end(to);
}

static void print_passes(struct gt_printer *to, const struct gt_family *f) {
    print_int(to, "pass_count", f->pass_count);
    print_int(to, "main", f->main);
    for (int i = 0; i < f->pass_count; i++) {
        const struct gt_pass *p = &f->pass[i];
        print_at(to, "pass", i);
        (void)fputs("{\n", to->data);
        print_word(to, "entry", p->entry);
        print_member(to, "when", p->when);
        print_exprs(to, "grid", p->grid, 3);
        print_exprs(to, "block", p->block, 3);
        print_exprs(to, "cluster", p->cluster, 3);
        print_member(to, "smem", p->smem);
        print_end(to);
    }
}

static void print_map(struct gt_printer *to, const struct gt_map *map) {
    (void)fputs("{\n", to->data);
    print_word(to, "name", map->name);
    print_int(to, "base_count", map->base_count);
    for (int i = 0; i < map->base_count; i++) {
        print_at(to, "base", i);
        (void)fprintf(to->data, "{.arg = (gt_arg)%d, .when = ", (int)map->base[i].arg);
        print_expr(to, map->base[i].when);
        print_end(to);
    }
    print_member(to, "at", map->at);
    print_member(to, "inner", map->inner);
    print_member(to, "outer", map->outer);
    print_member(to, "stride", map->stride);
    print_exprs(to, "box", map->box, 2);
    print_member(to, "swizzle", map->swizzle);
    print_member(to, "planes", map->planes);
    print_end(to);
}

static void print_arguments(struct gt_printer *to, const struct gt_family *f) {
    print_int(to, "map_count", f->map_count);
    for (int i = 0; i < f->map_count; i++) {
        print_at(to, "map", i);
        print_map(to, &f->map[i]);
    }
    print_int(to, "arg_count", f->arg_count);
    for (int i = 0; i < f->arg_count; i++) {
        print_at(to, "args", i);
        (void)fprintf(to->data, "(gt_arg)%d,\n", (int)f->args[i]);
    }
}

/* ---- sources ----------------------------------------------------------------------- */

/* The place of a file of the family's template among the embedded ones; -1 when it is not
 * there. */
static int place_of(const char *source_name) {
    static const char head[] = "templates/";
    for (int i = 0; gt_embedded_templates[i].path != NULL; i++) {
        const char *path = gt_embedded_templates[i].path;
        if (strncmp(path, head, strlen(head)) == 0 &&
            strcmp(path + strlen(head), source_name) == 0)
            return i;
    }
    return -1;
}

static bool print_sources(struct gt_printer *to, const struct gt_family *f) {
    bool complete = true;
    for (int i = 0; i < GT_BACKENDS; i++) {
        for (int j = 0; j < GT_TEMPLATES_MAX && f->source[i][j].name != NULL; j++) {
            const int place = place_of(f->source[i][j].name);
            complete = complete && place >= 0;
            (void)fprintf(to->data, ".source[%d][%d] = {", i, j);
            print_text(to, f->source[i][j].name);
            (void)fprintf(to->data, ", (char *)gt_embedded_templates_%d},\n", place);
        }
    }
    return complete;
}

void gt_families_print_declarations(struct gt_printer *to) {
    (void)fputs("#include \"core/expr_inside.h\"\n#include \"core/expr_native.h\"\n"
                "#include \"runtime/family/family.h\"\n",
                to->code);
    for (int i = 0; gt_embedded_templates[i].path != NULL; i++)
        (void)fprintf(to->code, "extern const unsigned char gt_embedded_templates_%d[];\n",
                      i);
}

/* ---- the family -------------------------------------------------------------------- */

static void print_facts(struct gt_printer *to, const struct gt_family *f) {
    print_word(to, "name", f->name);
    print_word(to, "hash", f->hash);
    print_word(to, "entry", f->entry);
    (void)fputs(".about = ", to->data);
    print_text(to, f->about);
    (void)fputs(",\n", to->data);
    print_set(to, "uses", f->uses);
    print_set(to, "dtypes", f->dtypes);
    print_set(to, "layouts", f->layouts);
    for (int i = 0; i < (int)GT_DTYPES; i++) {
        print_at(to, "min_cc", i);
        (void)fprintf(to->data, "%d,\n", f->min_cc[i]);
    }
    print_set(to, "cuda_only", f->cuda_only);
    print_int(to, "max_cc", f->max_cc);
    print_int(to, "ptx", f->ptx);
    print_int(to, "rank", f->rank);
    (void)fprintf(to->data, ".role = (enum gt_role)%d,\n", (int)f->role);
    print_int(to, "overlap", f->overlap);
    (void)fprintf(to->data, ".batching = (enum gt_batching)%d,\n", (int)f->batching);
    print_int(to, "epilogue", f->epilogue);
    print_int(to, "pointers", f->pointers);
    print_int(to, "per_problem", f->per_problem);
    print_int(to, "same_bits", f->same_bits);
}

bool gt_family_print(struct gt_printer *to, const struct gt_family *f) {
    (void)fputs("{\n", to->data);
    print_facts(to, f);
    const bool complete = print_sources(to, f);
    print_symbols(to, &f->symbols);
    print_constants(to, f);
    print_params(to, f);
    print_points(to, f);
    print_rungs(to, f);
    print_derived(to, f);
    print_require(to, f);
    print_rules(to, "accept", f->accept, f->accept_count);
    print_sums(to, &f->sums);
    print_exprs(to, "align", f->align, 3);
    print_member(to, "workspace", f->workspace);
    print_member(to, "walk", f->walk);
    if (f->panel[0] != NULL)
        print_exprs(to, "panel", f->panel, 2);
    print_passes(to, f);
    print_shape(to, f);
    print_arguments(to, f);
    print_end(to);
    return complete;
}
