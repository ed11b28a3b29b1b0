/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_print.c - the launches of a general kernel as a C function of the call's sizes.
 * Numbers that the point, the types and the device decide are constants in it. Derived
 * names that use numbers of the problem are expressions.
 */
#include "tuner/emit/emit_inside.h"

#include "runtime/drivers/cuda_api.h"

#include <inttypes.h>
#include <string.h>

/* The names that a call decides, and their members of struct gk_shape. */
static const struct {
    const char *name, *member;
} of_call[] = {
    {"M", "m"},
    {"N", "n"},
    {"K", "k"},
    {"LDA", "lda"},
    {"LDB", "ldb"},
    {"LDC", "ldc"},
    {"BATCH", "batch"},
    {"ALIGN_A", "align[0]"},
    {"ALIGN_B", "align[1]"},
    {"ALIGN_C", "align[2]"},
};
enum { OF_CALL = sizeof of_call / sizeof *of_call };

/* ---- which names an expression needs ---- */

/* By slot: the member of the shape; NULL: the name is no number of the call. */
static const char *member_of(const struct gt_family *f, int slot) {
    for (int i = 0; i < OF_CALL; i++)
        if (strcmp(f->symbols.name[slot], of_call[i].name) == 0)
            return of_call[i].member;
    return NULL;
}

static const struct gt_derived *derived_at(const struct gt_family *f, int slot) {
    for (int i = 0; i < f->derive_count; i++)
        if (f->derive[i].slot == slot && f->derive[i].of_problem)
            return &f->derive[i];
    return NULL;
}

/* Marks the names that the expression needs. */
static void need(bool needed[GT_SYMBOLS_MAX], const struct gt_family *f,
                 const struct gt_expr *e) {
    for (int slot = 0; e != NULL && slot < f->symbols.count; slot++) {
        if (needed[slot] || !gt_expr_uses(e, slot))
            continue;
        const struct gt_derived *d = derived_at(f, slot);
        needed[slot] = true;
        if (d != NULL)
            need(needed, f, d->expr);
    }
}

/* Whether the value depends on the call's sizes. */
static bool varies(const struct gt_family *f, const struct gt_expr *e) {
    bool needed[GT_SYMBOLS_MAX] = {false};
    need(needed, f, e);
    for (int slot = 0; slot < f->symbols.count; slot++)
        if (needed[slot] && member_of(f, slot) != NULL)
            return true;
    return false;
}

/* ---- kernels that may be general ---- */

static const struct gt_pass *pass_of(const struct gt_fit *fit, int i) {
    const struct gt_family *f = fit->binding.family;
    for (int j = 0; j < f->pass_count; j++)
        if (fit->passes.item[i].entry == f->pass[j].entry)
            return &f->pass[j];
    return NULL;
}

bool gt_emit_is_general(const struct gt_fit *fit) {
    const struct gt_family *f = fit->binding.family;
    const struct gt_binding *b = &fit->binding;
    int64_t panel = 0;
    if (f->per_problem || fit->passes.workspace_bytes > 0 || b->slot_rows > 0)
        return false;
    if (f->panel[0] != NULL &&
        (gt_expr_eval(&panel, f->panel[0], b->value, NULL) != GEMMTUNE_OK || panel > 0))
        return false;
    if (b->is_batch && (f->map_count > 0 || f->batching != GT_BATCHING_GRID))
        return false;
    for (int i = 0; i < fit->passes.count; i++) {
        const struct gt_pass *p = pass_of(fit, i);
        for (int side = 0; side < 3; side++)
            if (varies(f, p->block[side]) || varies(f, p->cluster[side]))
                return false;
        if (varies(f, p->smem))
            return false;
    }
    return true;
}

/* ---- printing ---- */

int gt_emit_map_type(gemmtune_dtype type) {
    static const int of[] = {
        [GEMMTUNE_F32] = GT_CU_TMA_F32, [GEMMTUNE_F64] = GT_CU_TMA_F64,
        [GEMMTUNE_F16] = GT_CU_TMA_F16, [GEMMTUNE_BF16] = GT_CU_TMA_BF16,
        [GEMMTUNE_E4M3] = GT_CU_TMA_U8, [GEMMTUNE_E5M2] = GT_CU_TMA_U8,
        [GEMMTUNE_I8] = GT_CU_TMA_U8,   [GEMMTUNE_I32] = GT_CU_TMA_I32,
    };
    return of[type];
}

static void print_expr(FILE *out, const struct gt_expr *e) {
    char text[4096];
    (void)gt_expr_c(e, text, sizeof text);
    (void)fputs(text, out);
}

/* The spelling of a name in such a text: as gt_expr_c writes it. */
static void print_name(FILE *out, const char *name) {
    if (strncmp(name, "sizeof(", 7) == 0)
        (void)fprintf(out, "GT_SIZEOF_%.*s", (int)strcspn(name + 7, ")"), name + 7);
    else
        (void)fprintf(out, "GT_%s", name);
}

static void need_all(bool needed[GT_SYMBOLS_MAX], const struct gt_fit *fit) {
    const struct gt_family *f = fit->binding.family;
    for (int i = 0; i < f->accept_count; i++)
        need(needed, f, f->accept[i].expr);
    need(needed, f, f->workspace);
    for (int i = 0; i < fit->passes.count; i++)
        for (int side = 0; side < 3; side++)
            need(needed, f, pass_of(fit, i)->grid[side]);
    for (int i = 0; i < f->map_count; i++) {
        if (fit->passes.map[i].absent)
            continue;
        need(needed, f, f->map[i].at);
        need(needed, f, f->map[i].inner);
        need(needed, f, f->map[i].outer);
        need(needed, f, f->map[i].stride);
    }
    for (int i = 0; i < f->derive_count; i++)
        if (f->derive[i].of_problem && f->derive[i].in_image)
            needed[f->derive[i].slot] = true, need(needed, f, f->derive[i].expr);
}

static void print_names(FILE *out, const struct gt_fit *fit,
                        const bool needed[GT_SYMBOLS_MAX]) {
    const struct gt_family *f = fit->binding.family;
    for (int slot = 0; slot < f->symbols.count; slot++) {
        const char *const member = member_of(f, slot);
        if (!needed[slot] || derived_at(f, slot) != NULL)
            continue;
        (void)fputs("    const int64_t ", out);
        print_name(out, f->symbols.name[slot]);
        if (member != NULL)
            (void)fprintf(out, " = s->%s;\n", member);
        else
            (void)fprintf(out, " = %" PRId64 ";\n", fit->binding.value[slot]);
    }
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        if (!needed[d->slot] || !d->of_problem)
            continue;
        (void)fputs("    const int64_t ", out);
        print_name(out, f->symbols.name[d->slot]);
        (void)fputs(" = ", out);
        print_expr(out, d->expr);
        (void)fputs(";\n", out);
    }
}

/* Where the function says no: a rule refuses, or another image would be needed. */
static void print_rules(FILE *out, const struct gt_fit *fit) {
    const struct gt_family *f = fit->binding.family;
    for (int i = 0; i < f->accept_count; i++) {
        (void)fputs("    if (!(", out);
        print_expr(out, f->accept[i].expr);
        (void)fputs("))\n        return false;\n", out);
    }
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        if (!d->of_problem || !d->in_image)
            continue;
        (void)fputs("    if (", out);
        print_name(out, f->symbols.name[d->slot]);
        (void)fprintf(out, " != %" PRId64 ")\n        return false;\n",
                      fit->binding.value[d->slot]);
    }
    if (varies(f, f->workspace)) {
        (void)fputs("    if (", out);
        print_expr(out, f->workspace);
        (void)fputs(" != 0)\n        return false;\n", out);
    }
}

static void print_launch(FILE *out, const struct gt_fit *fit, int i) {
    const struct gt_launch *l = &fit->passes.item[i].launch;
    const struct gt_pass *p = pass_of(fit, i);
    const char *const comma[3] = {"", ", ", ", "};
    (void)fprintf(out, "    out->launch[%d] = (struct gk_launch){\n        {", i);
    for (int side = 0; side < 3; side++) {
        (void)fputs(comma[side], out);
        print_expr(out, p->grid[side]);
    }
    (void)fprintf(out,
                  "},\n        {%" PRId64 ", %" PRId64 ", %" PRId64 "}, {%" PRId64
                  ", %" PRId64 ", %" PRId64 "}, %" PRId64 ", %d};\n",
                  l->block[0], l->block[1], l->block[2], l->cluster[0], l->cluster[1],
                  l->cluster[2], l->smem_bytes, l->overlaps);
}

static void print_map(FILE *out, const struct gt_fit *fit, int i) {
    const struct gt_map *m = &fit->binding.family->map[i];
    const struct gt_tiling *t = &fit->passes.map[i].tiling;
    const struct gt_expr *const vary[] = {m->at, m->inner, m->outer, m->stride};
    if (fit->passes.map[i].absent) {
        (void)fprintf(out, "    out->map[%d].absent = true;\n", i);
        return;
    }
    (void)fprintf(out, "    out->map[%d] = (struct gk_map){\n        false, %d, %d", i,
                  (int)fit->passes.map[i].base, gt_emit_map_type(t->type));
    for (size_t j = 0; j < sizeof vary / sizeof *vary; j++) {
        (void)fputs(", ", out);
        print_expr(out, vary[j]);
    }
    (void)fprintf(out, ", 0, 0, {%" PRId64 ", %" PRId64 "}, %" PRId64 ", 0};\n", t->box[0],
                  t->box[1], t->swizzle);
    (void)fprintf(out,
                  "    out->map[%d].fetch = out->map[%d].stride %% 256 == 0 ? 256 : 128;\n",
                  i, i);
}

void gt_emit_print_general(FILE *out, int number, const struct gt_fit *fit) {
    const struct gt_family *f = fit->binding.family;
    const struct gt_binding *b = &fit->binding;
    bool needed[GT_SYMBOLS_MAX] = {false};
    need_all(needed, fit);
    (void)fprintf(out,
                  "static bool fit_%d(struct gk_fit *out, const struct gk_shape *s) {\n"
                  "    (void)s;\n",
                  number);
    print_names(out, fit, needed);
    print_rules(out, fit);
    for (int i = 0; i < 3; i++)
        (void)fprintf(out, "    out->align[%d] = %" PRId64 ";\n", i, fit->align[i]);
    (void)fprintf(out, "    out->passes = %d;\n    out->numbers = %d;\n", fit->passes.count,
                  b->is_batch && f->batching == GT_BATCHING_GRID && b->walks == 0);
    for (int i = 0; i < fit->passes.count; i++)
        print_launch(out, fit, i);
    (void)fprintf(out, "    out->maps = %d;\n", fit->passes.map_count);
    for (int i = 0; i < fit->passes.map_count; i++)
        print_map(out, fit, i);
    (void)fputs("    return true;\n}\n\n", out);
}
