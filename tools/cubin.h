/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubin.h - whether two cubins are the same machine code with the same resources. A cubin
 * is an ELF file of 64 bits. Sections are compared by their names: code, constants, sizes
 * of shared memory, registers, and the places and sizes of parameters. Names of symbols and
 * debug information are left out, since no device reads them.
 */
#ifndef GT_TOOLS_CUBIN_H
#define GT_TOOLS_CUBIN_H

#include "runtime/drivers/driver.h"

enum { GT_CUBIN_WHY_MAX = 160 };

/* True: `why` is untouched. False: `why` says in a clause which section differs. */
bool gt_cubin_same(const struct gt_image *a, const struct gt_image *b,
                   char why[GT_CUBIN_WHY_MAX]);

#endif
