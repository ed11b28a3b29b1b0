/* SPDX-License-Identifier: Apache-2.0 */
/*
 * print_family.c - see print_family.h. Every pointer in an initializer leads to a compound
 * literal at file scope, which lives for ever.
 */
#include "tools/print_family.h"

#include "core/embed.h"
#include "core/expr_inside.h"

#include <inttypes.h>
#include <string.h>

/* ---- texts and numbers ------------------------------------------------------------- */

static void print_text(FILE *out, const char *text) {
    (void)fputs("(char *)\"", out);
    for (; *text != '\0'; text++)
        (void)fprintf(
            out, *text >= ' ' && *text <= '~' && !strchr("\"\\?", *text) ? "%c" : "\\%03o",
            (unsigned char)*text);
    (void)fputc('"', out);
}

static void print_word(FILE *out, const char *key, const char *word) {
    (void)fprintf(out, ".%s = \"%s\",\n", key, word);
}

static void print_int(FILE *out, const char *key, int64_t value) {
    (void)fprintf(out, ".%s = %" PRId64 ",\n", key, value);
}

static void print_set(FILE *out, const char *key, uint64_t set) {
    (void)fprintf(out, ".%s = UINT64_C(%" PRIu64 "),\n", key, set);
}

/* An array of at least one number: a point without parameters has a 0. */
static void print_values(FILE *out, const int64_t *value, int count) {
    (void)fputs(count > 0 ? "{" : "{0", out);
    for (int i = 0; i < count; i++)
        (void)fprintf(out, "INT64_C(%" PRId64 "),", value[i]);
    (void)fputc('}', out);
}

/* Begins the value of member i of the array `key`. */
static void print_at(FILE *out, const char *key, int i) {
    (void)fprintf(out, ".%s[%d] = ", key, i);
}

static void print_end(FILE *out) {
    (void)fputs("},\n", out);
}

/* ---- expressions ------------------------------------------------------------------- */

static void print_node(FILE *out, const struct gt_expr_node *n) {
    (void)fprintf(
        out, "{(enum gt_expr_op)%d, {%d, %d, %d}, %d, %d, %d, INT64_C(%" PRId64 ")},",
        (int)n->op, n->arg[0], n->arg[1], n->arg[2], n->slot, n->name, n->len, n->number);
}

/* A pointer to the expression, and a comma. */
static void print_expr(FILE *out, const struct gt_expr *e) {
    if (e == NULL) {
        (void)fputs("NULL,", out);
        return;
    }
    (void)fputs("&(struct gt_expr){", out);
    print_text(out, e->text);
    (void)fprintf(out, ", %d, %d, (const struct gt_expr_node[]){", e->root, e->count);
    for (int i = 0; i < e->count; i++)
        print_node(out, &e->node[i]);
    (void)fputs("}},\n", out);
}

static void print_member(FILE *out, const char *key, const struct gt_expr *e) {
    (void)fprintf(out, ".%s = ", key);
    print_expr(out, e);
}

static void print_exprs(FILE *out, const char *key, struct gt_expr *const *e, int count) {
    for (int i = 0; i < count; i++) {
        print_at(out, key, i);
        print_expr(out, e[i]);
    }
}

/* ---- members ----------------------------------------------------------------------- */

static void print_symbols(FILE *out, const struct gt_symbols *s) {
    (void)fprintf(out, ".symbols = {%d, {", s->count);
    for (int i = 0; i < s->count; i++)
        (void)fprintf(out, "\"%s\",", s->name[i]);
    (void)fputs("}},\n", out);
}

static void print_params(FILE *out, const struct gt_family *f) {
    print_int(out, "param_count", f->param_count);
    for (int i = 0; i < f->param_count; i++) {
        const struct gt_param *p = &f->param[i];
        print_at(out, "param", i);
        (void)fprintf(out, "{\"%s\", %d, %d, ", p->name, p->slot, p->count);
        print_values(out, p->value, p->count);
        (void)fprintf(out, ", INT64_C(%" PRId64 ")},\n", p->preset);
    }
}

static void print_constants(FILE *out, const struct gt_family *f) {
    print_int(out, "constant_count", f->constant_count);
    for (int i = 0; i < f->constant_count; i++) {
        print_at(out, "constant", i);
        (void)fprintf(out, "{%d, INT64_C(%" PRId64 ")},\n", f->constant[i].slot,
                      f->constant[i].value);
    }
}

/* The points of "starts", and the parameters of "adapt". */
static void print_points(FILE *out, const struct gt_family *f) {
    print_int(out, "start_count", f->start_count);
    for (int i = 0; i < f->start_count; i++) {
        print_at(out, "start", i);
        print_values(out, f->start[i], f->param_count);
        (void)fputs(",\n", out);
    }
    print_int(out, "adapt_count", f->adapt_count);
    for (int i = 0; i < f->adapt_count; i++) {
        print_at(out, "adapt", i);
        (void)fprintf(out, "%d,\n", f->adapt[i]);
    }
}

static void print_rungs(FILE *out, const struct gt_family *f) {
    print_int(out, "rung_count", f->rung_count);
    for (int i = 0; i < f->rung_count; i++) {
        const struct gt_point *p = &f->rung[i].fixed;
        print_at(out, "rung", i);
        (void)fprintf(out, "{.name = \"%s\", .fixed = {.count = %d, ", f->rung[i].name,
                      p->count);
        for (int j = 0; j < p->count; j++) {
            print_at(out, "entry", j);
            (void)fprintf(out, "{\"%s\", INT64_C(%" PRId64 ")},", p->entry[j].name,
                          p->entry[j].value);
        }
        (void)fputs("}},\n", out);
    }
}

static void print_derived(FILE *out, const struct gt_family *f) {
    print_int(out, "derive_count", f->derive_count);
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        print_at(out, "derive", i);
        (void)fprintf(out,
                      "{.slot = %d, .of_problem = %d, .in_source = %d, .expr = ", d->slot,
                      d->of_problem, d->in_source);
        print_expr(out, d->expr);
        print_end(out);
    }
}

static void print_rules(FILE *out, const char *key, const struct gt_rule *rule, int count) {
    (void)fprintf(out, ".%s_count = %d,\n", key, count);
    for (int i = 0; i < count; i++) {
        print_at(out, key, i);
        (void)fputs("{.why = ", out);
        print_text(out, rule[i].why);
        (void)fputs(", .expr = ", out);
        print_expr(out, rule[i].expr);
        print_end(out);
    }
}

static void print_passes(FILE *out, const struct gt_family *f) {
    print_int(out, "pass_count", f->pass_count);
    print_int(out, "main", f->main);
    for (int i = 0; i < f->pass_count; i++) {
        const struct gt_pass *p = &f->pass[i];
        print_at(out, "pass", i);
        (void)fputs("{\n", out);
        print_word(out, "entry", p->entry);
        print_member(out, "when", p->when);
        print_exprs(out, "grid", p->grid, 3);
        print_exprs(out, "block", p->block, 3);
        print_exprs(out, "cluster", p->cluster, 3);
        print_member(out, "smem", p->smem);
        print_end(out);
    }
}

static void print_map(FILE *out, const struct gt_map *map) {
    (void)fputs("{\n", out);
    print_word(out, "name", map->name);
    print_int(out, "base_count", map->base_count);
    for (int i = 0; i < map->base_count; i++) {
        print_at(out, "base", i);
        (void)fprintf(out, "{.arg = (gt_arg)%d, .when = ", (int)map->base[i].arg);
        print_expr(out, map->base[i].when);
        print_end(out);
    }
    print_member(out, "at", map->at);
    print_member(out, "inner", map->inner);
    print_member(out, "outer", map->outer);
    print_member(out, "stride", map->stride);
    print_exprs(out, "box", map->box, 2);
    print_member(out, "swizzle", map->swizzle);
    print_end(out);
}

static void print_arguments(FILE *out, const struct gt_family *f) {
    print_int(out, "map_count", f->map_count);
    for (int i = 0; i < f->map_count; i++) {
        print_at(out, "map", i);
        print_map(out, &f->map[i]);
    }
    print_int(out, "arg_count", f->arg_count);
    for (int i = 0; i < f->arg_count; i++) {
        print_at(out, "args", i);
        (void)fprintf(out, "(gt_arg)%d,\n", (int)f->args[i]);
    }
}

/* ---- sources ----------------------------------------------------------------------- */

/* The place of the family's template among the embedded ones; -1 when it is not there. */
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

static bool print_sources(FILE *out, const struct gt_family *f) {
    bool complete = true;
    for (int i = 0; i < GT_BACKENDS; i++) {
        if (f->source_name[i] == NULL)
            continue;
        const int place = place_of(f->source_name[i]);
        complete = complete && place >= 0;
        (void)fprintf(out, ".source[%d] = (char *)gt_embedded_templates_%d,\n", i, place);
        (void)fprintf(out, ".source_name[%d] = ", i);
        print_text(out, f->source_name[i]);
        (void)fputs(",\n", out);
    }
    return complete;
}

void print_declarations(FILE *out) {
    for (int i = 0; gt_embedded_templates[i].path != NULL; i++)
        (void)fprintf(out, "extern const unsigned char gt_embedded_templates_%d[];\n", i);
}

/* ---- the family -------------------------------------------------------------------- */

static void print_facts(FILE *out, const struct gt_family *f) {
    print_word(out, "name", f->name);
    print_word(out, "hash", f->hash);
    print_word(out, "entry", f->entry);
    (void)fputs(".about = ", out);
    print_text(out, f->about);
    (void)fprintf(out, ",\n.uses = %uu,\n", f->uses);
    print_set(out, "dtypes", f->dtypes);
    print_set(out, "layouts", f->layouts);
    for (int i = 0; i < (int)GT_DTYPES; i++) {
        print_at(out, "min_cc", i);
        (void)fprintf(out, "%d,\n", f->min_cc[i]);
    }
    print_int(out, "max_cc", f->max_cc);
    print_int(out, "rank", f->rank);
    (void)fprintf(out, ".role = (enum gt_role)%d,\n", (int)f->role);
    print_int(out, "overlap", f->overlap);
    (void)fprintf(out, ".batching = (enum gt_batching)%d,\n", (int)f->batching);
    print_int(out, "epilogue", f->epilogue);
    print_int(out, "per_problem", f->per_problem);
}

bool print_family(FILE *out, const struct gt_family *f) {
    (void)fputs("{\n", out);
    print_facts(out, f);
    const bool complete = print_sources(out, f);
    print_symbols(out, &f->symbols);
    print_constants(out, f);
    print_params(out, f);
    print_points(out, f);
    print_rungs(out, f);
    print_derived(out, f);
    print_rules(out, "require", f->require, f->require_count);
    print_rules(out, "accept", f->accept, f->accept_count);
    print_exprs(out, "align", f->align, 3);
    print_member(out, "workspace", f->workspace);
    print_passes(out, f);
    print_int(out, "has_shape", f->has_shape);
    print_exprs(out, "shape", f->shape, GT_SHAPE_COUNT);
    print_arguments(out, f);
    print_end(out);
    return complete;
}
