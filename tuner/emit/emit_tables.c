/* SPDX-License-Identifier: Apache-2.0 */
/* emit_tables.c - gemmkit_kernels.c: the tables of a folder. */
#include "tuner/emit/emit_inside.h"

#include <inttypes.h>
#include <string.h>

/* A text as a string of C. Names of devices come from databases, so they are anybody's. */
static void print_text(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~' || strchr("\"\\?", *text) != NULL)
            (void)fprintf(out, "\\%03o", (unsigned)(unsigned char)*text);
        else
            (void)fputc(*text, out);
    (void)fputc('"', out);
}

/* ---- the launches of one problem ---- */

static void print_map(FILE *out, const struct gt_passes *p, int i) {
    const struct gt_tiling *t = &p->map[i].tiling;
    if (p->map[i].absent) {
        (void)fputs("        {.absent = true},\n", out);
        return;
    }
    (void)fprintf(out,
                  "        {false, %d, %d, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                  ", %" PRId64 ", %" PRId64 ", {%" PRId64 ", %" PRId64 "}, %" PRId64
                  ", %" PRId64 "},\n",
                  (int)p->map[i].base, gt_emit_map_type(t->type), p->map[i].at, t->inner,
                  t->outer, t->stride, t->planes, t->plane, t->box[0], t->box[1],
                  t->swizzle, t->fetch);
}

static void print_fit(FILE *out, int number, const struct gt_fit *fit) {
    const struct gt_passes *p = &fit->passes;
    (void)fprintf(out,
                  "static const struct gk_fit fit_%d = {\n    .workspace = %" PRId64
                  ", .step = %" PRId64 ", .align = {%" PRId64 ", %" PRId64 ", %" PRId64
                  "},\n    .passes = %d, .maps = %d,\n    .launch = {\n",
                  number, p->workspace_bytes, p->workspace_step, fit->align[0],
                  fit->align[1], fit->align[2], p->count, p->map_count);
    for (int i = 0; i < p->count; i++) {
        const struct gt_launch *l = &p->item[i].launch;
        (void)fprintf(
            out,
            "        {{%" PRId64 ", %" PRId64 ", %" PRId64 "}, {%" PRId64 ", %" PRId64
            ", %" PRId64 "}, {%" PRId64 ", %" PRId64 ", %" PRId64 "}, %" PRId64 ", %d},\n",
            l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
            l->cluster[0], l->cluster[1], l->cluster[2], l->smem_bytes, l->overlaps);
    }
    (void)fputs("    },\n", out);
    if (p->map_count > 0)
        (void)fputs("    .map = {\n", out);
    for (int i = 0; i < p->map_count; i++)
        print_map(out, p, i);
    (void)fputs(p->map_count > 0 ? "    },\n};\n\n" : "};\n\n", out);
}

/* ---- kernels ---- */

static void print_kernel(FILE *out, int number, const struct gt_emit_kernel *k) {
    const struct gt_passes *p = &k->fit.passes;
    const struct gt_family *f = k->fit.binding.family;
    char text[GT_POINT_TEXT_MAX];
    struct gt_point point;
    gt_arg args[GT_ARGS_MAX];
    int64_t values[GT_POINT_MAX];
    const int count = gt_family_args(args, &k->fit.binding);
    for (int i = 0; i < f->param_count; i++)
        values[i] = k->fit.binding.value[f->param[i].slot];
    gt_point_of_values(&point, f, values);
    (void)gt_point_text(&point, text);
    (void)fprintf(out, "    {%d, %d, \"%s\",\n     \"%s\",\n     {", k->image, k->units,
                  f->name, text);
    for (int i = 0; i < p->count; i++)
        (void)fprintf(out, "%s\"%s\"", i > 0 ? ", " : "", p->item[i].entry);
    (void)fprintf(out, "}, %d, {", count);
    for (int i = 0; i < count; i++)
        (void)fprintf(out, "%s%d", i > 0 ? ", " : "", (int)args[i]);
    (void)fprintf(out, k->general ? "}, NULL, fit_%d},\n" : "}, &fit_%d, NULL},\n", number);
}

static void print_kernels(FILE *out, const struct gt_emit_kit *kit) {
    for (int i = 0; i < kit->kernels; i++)
        if (kit->kernel[i].general)
            gt_emit_print_general(out, i, &kit->kernel[i].fit);
        else
            print_fit(out, i, &kit->kernel[i].fit);
    (void)fputs("const struct gk_kernel gk_kernels[] = {\n", out);
    for (int i = 0; i < kit->kernels; i++)
        print_kernel(out, i, &kit->kernel[i]);
    (void)fprintf(out, "};\nconst int gk_kernel_count = %d;\n\n", kit->kernels);
}

static void print_images(FILE *out, const struct gt_emit_kit *kit) {
    (void)fputs("const struct gk_image gk_images[] = {\n", out);
    for (int i = 0; i < kit->images; i++)
        (void)fprintf(out, "    {%zu, %zu, %zu},\n", kit->image[i].at,
                      kit->image[i].used ? kit->image[i].packed_size : 0,
                      kit->image[i].size);
    (void)fprintf(out, "};\nconst int gk_image_count = %d;\n\n", kit->images);
}

/* ---- problems ---- */

/* `math` is the kernel's arithmetic: a strict kernel serves other problems, too. */
static void print_kind(FILE *out, const struct gt_emit_kit *kit, const gemmtune_problem *p,
                       gemmtune_math math) {
    (void)fprintf(
        out, "{%d, %d, %d, %d, %d, %d, %d, %d, %d}", (int)p->type_a, (int)p->type_b,
        (int)p->type_c, (int)p->type_acc, (int)math, (int)p->trans_a, (int)p->trans_b,
        gt_problem_has_pointers(p) ? 2 : gt_problem_is_batch(p), gt_emit_epilogue(kit, p));
}

/* Strides that have no effect are 0. */
static void print_exact(FILE *out, const struct gt_emit_kit *kit, int number) {
    const struct gt_emit_kernel *k = &kit->kernel[number];
    const gemmtune_problem *p = &k->fit.problem;
    const bool strided = gt_problem_is_batch(p) && !gt_problem_has_pointers(p);
    (void)fprintf(out, "    {\"%s\", %d,\n     {", k->name, number);
    print_kind(out, kit, p, p->math);
    (void)fprintf(
        out,
        ", %" PRIu32 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
        ", %" PRId64 ", %" PRId64 ", {%" PRId64 ", %" PRId64 ", %" PRId64 "}}},\n",
        p->pointer_align, p->m, p->n, p->k, p->lda, p->ldb, p->ldc, p->batch,
        strided ? p->stride_a : 0, strided ? p->stride_b : 0, strided ? p->stride_c : 0);
}

static void print_target(FILE *out, const struct gt_emit_kit *kit, int target) {
    (void)fprintf(out, "static const struct gk_exact exact_%d[] = {\n", target);
    for (int i = 0; i < kit->kernels; i++)
        if (kit->kernel[i].target == target && !kit->kernel[i].general)
            print_exact(out, kit, i);
    (void)fprintf(out, "};\n\nstatic const struct gk_general general_%d[] = {\n", target);
    for (int i = 0; i < kit->kernels; i++) {
        const struct gt_emit_kernel *k = &kit->kernel[i];
        if (k->target != target || !k->general)
            continue;
        (void)fputs("    {", out);
        print_kind(out, kit, &k->fit.problem, k->fit.binding.dtype->math);
        (void)fprintf(out, ", %d, {%d, %d}, %.6g},\n", i, k->tile[0], k->tile[1], k->cost);
    }
    (void)fputs("};\n\n", out);
}

/* The last compute capability that runs a cubin: of the same generation; images of an
 * architecture's own instructions run there alone. */
static int last_cc(int cc) {
    return cc >= 90 ? cc : cc / 10 * 10 + 9;
}

static void print_arch(FILE *out, const struct gt_emit_kit *kit, int target) {
    const struct gt_emit_target *t = &kit->target[target];
    const struct gt_device *d = &t->device;
    (void)fprintf(out, "    {\"%s\", %d, %d, ", t->arch, d->cc,
                  t->ptx ? 999 : last_cc(d->cc));
    print_text(out, d->name);
    (void)fprintf(out,
                  ", %d, sizeof exact_%d / sizeof *exact_%d,\n"
                  "     sizeof general_%d / sizeof *general_%d, exact_%d, general_%d},\n",
                  d->units, target, target, target, target, target, target);
}

void gt_emit_print_tables(FILE *out, const struct gt_emit_kit *kit) {
    (void)fputs("/* SPDX-License-Identifier: Apache-2.0 */\n"
                "/* gemmkit_kernels.c - made by gemmtune emit; do not edit. */\n"
                "#include \"gemmkit_inside.h\"\n\n"
                "#define GT_MIN(a, b) ((a) < (b) ? (a) : (b))\n"
                "#define GT_MAX(a, b) ((a) > (b) ? (a) : (b))\n"
                "#define GT_CDIV(a, b) (((a) + (b) - 1) / (b))\n\n",
                out);
    gt_emit_print_epilogues(out, kit);
    print_kernels(out, kit);
    print_images(out, kit);
    for (int t = 0; t < kit->targets; t++)
        print_target(out, kit, t);
    (void)fputs("const struct gk_arch gk_archs[] = {\n", out);
    for (int t = 0; t < kit->targets; t++)
        print_arch(out, kit, t);
    (void)fprintf(out, "};\nconst int gk_arch_count = %d;\n", kit->targets);
}
