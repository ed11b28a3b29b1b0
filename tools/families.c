/* SPDX-License-Identifier: Apache-2.0 */
/*
 * families.c - prints a C file that holds the kernel families of templates/, parsed and
 * hashed: gt_families_built_in. The build runs it, so that gemmtune_open need not parse.
 */
#include "tools/print_family.h"

/* This program parses the families, so it has none yet. */
const struct gt_family *const gt_families_built_in[] = {NULL};

static bool print_all(FILE *out, const struct gt_families *all) {
    bool complete = true;
    (void)fputs("/* made by tools/families; do not edit */\n"
                "#include \"core/expr_inside.h\"\n#include \"runtime/family.h\"\n",
                out);
    print_declarations(out);
    (void)fputs("static const struct gt_family family[] = {\n", out);
    for (size_t i = 0; i < gt_families_count(all); i++)
        complete = print_family(out, gt_families_at(all, i)) && complete;
    (void)fputs("};\nconst struct gt_family *const gt_families_built_in[] = {\n", out);
    for (size_t i = 0; i < gt_families_count(all); i++)
        (void)fprintf(out, "&family[%zu],\n", i);
    (void)fputs("NULL};\n", out);
    return complete;
}

int main(void) {
    struct gt_err err = {""};
    struct gt_families *all = NULL;
    gt_status status = gt_families_create(&all, &err);
    if (status == GEMMTUNE_OK)
        status = gt_families_add_folder(all, "templates", &err);
    if (status == GEMMTUNE_OK && !print_all(stdout, all))
        status = gt_fail(&err, GEMMTUNE_EPARSE, "a template is not compiled in");
    if (status != GEMMTUNE_OK)
        (void)fprintf(stderr, "families: %s\n", err.line);
    gt_families_destroy(all);
    return status == GEMMTUNE_OK && fflush(stdout) == 0 ? 0 : 1;
}
