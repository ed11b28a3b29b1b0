/* SPDX-License-Identifier: Apache-2.0 */
/* print_family.h - a kernel family as C: an initializer that needs no parsing. */
#ifndef GT_TOOLS_PRINT_FAMILY_H
#define GT_TOOLS_PRINT_FAMILY_H

#include "runtime/family/family.h"

#include <stdio.h>

struct gt_printer {
    FILE *code;    /* functions, and declarations of texts */
    FILE *data;    /* initializers, which name them */
    int functions; /* functions so far: x0, x1 ... */
};

/* Prints declarations of the templates, and the helpers that functions call. */
void gt_families_print_declarations(struct gt_printer *to);
/* Prints the initializer, in braces, of a struct gt_family that is never destroyed. The
 * templates of the family must be among gt_embedded_templates. False when one is not. */
bool gt_family_print(struct gt_printer *to, const struct gt_family *f);

#endif
