/* SPDX-License-Identifier: Apache-2.0 */
/*
 * families.c - prints a C file that holds the kernel families of templates/, parsed and
 * hashed: gt_families_built_in. The build runs it, so that gemmtune_open need not parse.
 * Their expressions become functions.
 */
#include "tools/print_family.h"

#include <stdlib.h>

/* This program parses the families, so it has none yet. */
const struct gt_family *const gt_families_built_in[] = {NULL};

static bool print_all(struct gt_printer *to, const struct gt_families *all) {
    bool complete = true;
    (void)fputs("/* made by tools/families; do not edit */\n", to->code);
    gt_families_print_declarations(to);
    (void)fputs("static const struct gt_family family[] = {\n", to->data);
    for (size_t i = 0; i < gt_families_count(all); i++)
        complete = gt_family_print(to, gt_families_at(all, i)) && complete;
    (void)fputs("};\nconst struct gt_family *const gt_families_built_in[] = {\n", to->data);
    for (size_t i = 0; i < gt_families_count(all); i++)
        (void)fprintf(to->data, "&family[%zu],\n", i);
    (void)fputs("NULL};\n", to->data);
    return complete;
}

/* Functions go to stdout at once, the initializers that name them after the last one. */
static gt_status print_file(const struct gt_families *all, struct gt_err *err) {
    char *data = NULL;
    size_t size = 0;
    struct gt_printer to = {.code = stdout, .data = open_memstream(&data, &size)};
    if (to.data == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    const bool complete = print_all(&to, all);
    const bool collected = !ferror(to.data);
    const bool closed = fclose(to.data) == 0;
    const bool written =
        collected && closed && fputs(data, stdout) >= 0 && fflush(stdout) == 0;
    free(data);
    if (!complete)
        return gt_fail(err, GEMMTUNE_EPARSE, "a template is not compiled in");
    return written && !ferror(stdout) ? GEMMTUNE_OK
                                      : gt_fail(err, GEMMTUNE_EIO, "cannot write");
}

int main(void) {
    struct gt_err err = {""};
    struct gt_families *all = NULL;
    gt_status status = gt_families_create(&all, &err);
    if (status == GEMMTUNE_OK)
        status = gt_families_add_folder(all, "templates", &err);
    if (status == GEMMTUNE_OK)
        status = print_file(all, &err);
    if (status != GEMMTUNE_OK)
        (void)fprintf(stderr, "families: %s\n", err.line);
    gt_families_destroy(all);
    return status == GEMMTUNE_OK ? 0 : 1;
}
