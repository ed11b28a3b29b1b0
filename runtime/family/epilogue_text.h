/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_text.h - an epilogue in the source of a kernel: the macros through which kernels
 * hand its operands on, and the function that computes an element of C. docs/templates.md
 * has an example. templates/common/types.h and epilogue.h say what both are made of.
 */
#ifndef GT_RUNTIME_FAMILY_EPILOGUE_TEXT_H
#define GT_RUNTIME_FAMILY_EPILOGUE_TEXT_H

#include "core/epilogue/epilogue_source.h"

/* Bytes that hold either text, with the NUL. */
enum { GT_EPILOGUE_TEXT_MAX = GT_EPILOGUE_SOURCE_MAX + 8192 };

/*
 * Writes GT_OPERAND_PARAMS, GT_OPERANDS, GT_NEEDS_X, GT_NEEDS_C and other macros that parts
 * read. The text needs GT_Z, the number of an element's product. The parameters are, in the
 * order of a launch's arguments:
 * - for each operand a pointer and, when it has rows, their leading dimension;
 * - gt_z, the number of the kernel's product, when an operand has a value or a row for
 *   each;
 * - alpha, when an expression names it: the kernel's own alpha may be 0 in place of it;
 * - the second output's pointer and leading dimension, when there is one.
 * Returns the length needed, as snprintf does.
 */
int gt_epilogue_macros(const struct gt_epilogue *e, char *buf, size_t size);

/* Writes the function gt_element. Returns the length needed, as snprintf does. */
int gt_epilogue_function(const struct gt_epilogue *e, char *buf, size_t size);

#endif
