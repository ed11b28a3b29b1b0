/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - the text a compiler sees: macros, prelude, rules, template. The template
 * itself is never changed, so a compiler's message names its lines and a reader finds them.
 */
#include "runtime/family_inside.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a growing text -------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length, room;
    bool failed; /* out of memory: everything after is dropped, the end tells */
};

static bool reserve(struct text *t, size_t more) {
    const size_t needed = t->length + more + 1;
    if (t->failed || needed <= t->room)
        return !t->failed;
    const size_t room = needed > 2 * t->room ? needed : 2 * t->room;
    char *grown = realloc(t->bytes, room);
    t->failed = grown == NULL;
    if (grown != NULL) {
        t->bytes = grown;
        t->room = room;
    }
    return !t->failed;
}

static void put(struct text *t, const char *piece) {
    const size_t length = strlen(piece);
    if (!reserve(t, length))
        return;
    memcpy(t->bytes + t->length, piece, length + 1);
    t->length += length;
}

GT_PRINTF(2, 3) static void putf(struct text *t, const char *fmt, ...) {
    char line[256]; /* names are short; expressions go through put_rule */
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    put(t, line);
}

static gt_status finish(char **out, struct text *t, struct gt_err *err) {
    *out = NULL;
    if (t->failed) {
        free(t->bytes);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    *out = t->bytes;
    return GEMMTUNE_OK;
}

/* ---- pieces ---------------------------------------------------------------------- */

/* Negative numbers in parentheses: GT_X-GT_Y must stay two operands and a minus. Past 31
 * bits with the L that both languages' 64-bit integer has. */
static void put_macro(struct text *t, const char *name, int64_t value) {
    const char *suffix = value > INT32_MAX || value < -INT32_MAX ? "L" : "";
    putf(t, value < 0 ? "#define %s (%" PRId64 "%s)\n" : "#define %s %" PRId64 "%s\n", name,
         value, suffix);
}

static void put_own_macro(struct text *t, const char *name, int64_t value) {
    char macro[GT_NAME_MAX + sizeof "GT_"];
    (void)snprintf(macro, sizeof macro, "GT_%s", name);
    put_macro(t, macro, value);
}

/* GT_DTYPE_F32 and the like. */
static void put_dtype(struct text *t, const struct gt_dtype *row) {
    char macro[GT_NAME_MAX] = "GT_DTYPE_";
    size_t length = strlen(macro);
    for (const char *c = row->name; *c != '\0' && length + 1 < sizeof macro; c++)
        macro[length++] = (char)toupper((unsigned char)*c);
    macro[length] = '\0';
    put_macro(t, macro, 1);
}

static void put_builtins(struct text *t, const struct gt_dtype *row, const int64_t *value) {
    if (row != NULL)
        put_dtype(t, row);
    for (int i = 0; i < GT_BUILTIN_COUNT; i++)
        if (gt_builtins[i].macro != NULL)
            put_macro(t, gt_builtins[i].macro, value[i]);
}

static void put_names(struct text *t, const struct gt_binding *b) {
    const struct gt_family *f = b->family;
    for (int i = 0; i < f->param_count; i++)
        put_own_macro(t, f->param[i].name, b->value[f->param[i].slot]);
    for (int i = 0; i < f->derive_count; i++)
        if (!f->derive[i].of_problem)
            put_own_macro(t, f->symbols.name[f->derive[i].slot],
                          b->value[f->derive[i].slot]);
}

/* A require rule as a static assertion, so that it holds even for a text built
 * elsewhere. */
static void put_rule(struct text *t, const struct gt_rule *rule, int number) {
    const int length = gt_expr_c(rule->expr, NULL, 0);
    char *expression = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (expression == NULL) {
        t->failed = true;
        return;
    }
    (void)gt_expr_c(rule->expr, expression, (size_t)length + 1);
    put(t, "GT_STATIC_ASSERT(");
    put(t, expression);
    putf(t, ", gt_rule_%d);\n", number);
    free(expression);
}

static void put_template(struct text *t, const char *name, const char *source) {
    putf(t, "#line 1 \"%s\"\n", name);
    put(t, source);
}

/* ---- whole texts ----------------------------------------------------------------- */

gt_status gt_source_of(char **out, const struct gt_binding *b, const struct gt_device *d,
                       struct gt_err *err) {
    const struct gt_family *f = b->family;
    struct text t = {0};
    *out = NULL;
    if (f->source[d->backend] == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "family %s has no source for %s", f->name,
                       gt_backend_name(d->backend));
    put_builtins(&t, b->dtype, b->value);
    put_names(&t, b);
    put(&t, gt_prelude());
    put(&t, "\n");
    for (int i = 0; i < f->require_count; i++)
        put_rule(&t, &f->require[i], i);
    put_template(&t, f->source_name[d->backend], f->source[d->backend]);
    return finish(out, &t, err);
}

gt_status gt_source_plain(char **out, const struct gt_device *d, const gemmtune_problem *p,
                          const char *name, const char *text, struct gt_err *err) {
    int64_t value[GT_BUILTIN_COUNT];
    struct text t = {0};
    gt_builtin_values(value, d, p);
    put_builtins(&t, p != NULL ? gt_dtype_of(p) : NULL, value);
    put(&t, gt_prelude());
    put(&t, "\n");
    put_template(&t, name, text);
    return finish(out, &t, err);
}
