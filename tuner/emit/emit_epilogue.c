/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit_epilogue.c - the epilogues of a folder: their table, and the C by which the folder's
 * own test computes them, in doubles.
 */
#include "tuner/emit/emit_inside.h"

#include "core/epilogue/epilogue_keep.h"
#include "core/epilogue/epilogue_op.h"

#include <inttypes.h>
#include <string.h>

/* The problem's epilogue is printed with the first kernel that has it. */
static bool same(const gemmtune_problem *p, const gemmtune_problem *q) {
    return q->epilogue != NULL && strcmp(p->epilogue, q->epilogue) == 0 &&
           p->type_c == q->type_c && p->type_acc == q->type_acc;
}

static bool is_first(const struct gt_emit_kit *kit, int kernel) {
    for (int i = 0; i < kernel; i++)
        if (same(&kit->kernel[kernel].fit.problem, &kit->kernel[i].fit.problem))
            return false;
    return true;
}

int gt_emit_epilogue(const struct gt_emit_kit *kit, const gemmtune_problem *p) {
    int number = 0;
    for (int i = 0; p->epilogue != NULL && i < kit->kernels; i++) {
        const gemmtune_problem *q = &kit->kernel[i].fit.problem;
        if (q->epilogue == NULL || !is_first(kit, i))
            continue;
        number++;
        if (same(p, q))
            return number;
    }
    return 0;
}

/* Whether small integers give exact results, so that all bits of C are known. */
static bool is_exact(const struct gt_epilogue *e) {
    for (int i = 0; i < e->nodes; i++) {
        const struct gt_epi_node *n = &e->node[i];
        if (n->op >= GT_EPI_EXP || n->op == GT_EPI_DIV || n->op == GT_EPI_CAST ||
            (n->op == GT_EPI_NUMBER && n->number != (double)(int64_t)n->number))
            return false;
    }
    return true;
}

/* ---- the reference ---- */

static void print_node(FILE *out, const struct gt_epilogue *e, int at) {
    const struct gt_epi_node *n = &e->node[at];
    const struct gt_epi_op *op = &gt_epi_ops[n->op];
    if (n->op == GT_EPI_NUMBER) /* a double, whatever its digits are */
        (void)fprintf(out, "(double)%.17g", n->number);
    else if (n->op == GT_EPI_OPERAND)
        (void)fprintf(out, "e->operand[%d]", n->arg[0]);
    else if (n->op == GT_EPI_LOCAL)
        (void)fprintf(out, "v%d", n->arg[0]);
    else if (op->args == 0)
        (void)fprintf(out, "e->%s", op->text);
    else if (n->op == GT_EPI_CAST) {
        (void)fprintf(out, "gk_cast(%d, ", n->arg[1]);
        print_node(out, e, n->arg[0]);
        (void)fputc(')', out);
    } else if (op->level == GT_EPI_TIGHT || op->args == 1) {
        (void)fprintf(out, op->level == GT_EPI_TIGHT ? "gk_%s(" : "(%s", op->text);
        for (int i = 0; i < op->args; i++) {
            (void)fputs(i > 0 ? ", " : "", out);
            print_node(out, e, n->arg[i]);
        }
        (void)fputc(')', out);
    } else {
        (void)fputc('(', out);
        print_node(out, e, n->arg[0]);
        (void)fprintf(out, " %s ", n->op == GT_EPI_SELECT ? "?" : op->text);
        print_node(out, e, n->arg[1]);
        if (n->op == GT_EPI_SELECT) {
            (void)fputs(" : ", out);
            print_node(out, e, n->arg[2]);
        }
        (void)fputc(')', out);
    }
}

static void print_function(FILE *out, int number, const struct gt_epilogue *e) {
    (void)fprintf(out,
                  "static double epilogue_%d(const struct gk_element *e, double *d2) {\n"
                  "    (void)e;\n",
                  number);
    for (int i = 0; i < e->statements; i++) {
        (void)fprintf(out, "    const double v%d = ", i);
        print_node(out, e, e->statement[i].root);
        (void)fputs(";\n", out);
    }
    if (e->d2 >= 0)
        (void)fprintf(out, "    *d2 = v%d;\n", e->d2);
    else
        (void)fputs("    (void)d2;\n", out);
    (void)fprintf(out, "    return v%d;\n}\n\n", e->d);
}

void gt_emit_print_expected(FILE *out, const struct gt_emit_kit *kit) {
    int count = 0;
    (void)fputs(
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* gemmkit_expected.c - made by gemmtune emit; do not edit. The epilogues as "
        "the test computes them. */\n"
        "#include \"gemmkit_reference.h\"\n\n",
        out);
    for (int i = 0; i < kit->kernels; i++)
        if (kit->kernel[i].fit.problem.epilogue != NULL && is_first(kit, i))
            print_function(out, count++, gt_epilogue_of(&kit->kernel[i].fit.problem));
    (void)fputs(
        "double gk_expected(int epilogue, const struct gk_element *e, double *d2) {\n"
        "    switch (epilogue) {\n",
        out);
    for (int i = 0; i < count; i++)
        (void)fprintf(out, "    case %d:\n        return epilogue_%d(e, d2);\n", i, i);
    (void)fputs("    default:\n        (void)d2;\n        return e->x;\n    }\n}\n", out);
}

/* ---- the table ---- */

static void print_epilogue(FILE *out, const struct gt_epilogue *e, const char *text) {
    (void)fprintf(out,
                  "    {\"%s\", %" PRId32 ", %" PRId32 ", %d, %d, %d, %" PRId32 ", %" PRId32
                  ", {",
                  text, e->type_c, e->type_acc, gt_epilogue_has_products(e),
                  gt_epilogue_reads(e, GT_EPI_ALPHA), is_exact(e),
                  e->d2 >= 0 ? e->type_d2 : -1, e->operands);
    for (int i = 0; i < e->operands; i++)
        (void)fprintf(out, "%s{\"%s\", %" PRId32 ", %" PRId32 "}", i > 0 ? ", " : "",
                      e->operand[i].name, e->operand[i].type, e->operand[i].shape);
    (void)fputs(e->operands > 0 ? "}},\n" : "{NULL, 0, 0}}},\n", out);
}

void gt_emit_print_epilogues(FILE *out, const struct gt_emit_kit *kit) {
    int count = 0;
    (void)fputs("const struct gk_epilogue gk_epilogues[] = {\n", out);
    for (int i = 0; i < kit->kernels; i++) {
        const gemmtune_problem *p = &kit->kernel[i].fit.problem;
        if (p->epilogue == NULL || !is_first(kit, i))
            continue;
        print_epilogue(out, gt_epilogue_of(p), p->epilogue);
        count++;
    }
    if (count == 0)
        (void)fputs("    {.text = NULL},\n", out);
    (void)fprintf(out, "};\nconst int gk_epilogue_count = %d;\n\n", count);
}
