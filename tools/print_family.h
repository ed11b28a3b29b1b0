/* SPDX-License-Identifier: Apache-2.0 */
/* print_family.h - a kernel family as C: an initializer that needs no parsing. */
#ifndef GT_TOOLS_PRINT_FAMILY_H
#define GT_TOOLS_PRINT_FAMILY_H

#include "runtime/family.h"

#include <stdio.h>

/* Prints declarations of the texts that initializers name. */
void print_declarations(FILE *out);
/* Prints the initializer, in braces, of a struct gt_family that is never destroyed. The
 * templates of the family must be among gt_embedded_templates. False when one is not. */
bool print_family(FILE *out, const struct gt_family *f);

#endif
