/* SPDX-License-Identifier: Apache-2.0 */
/* json_python.h - text of Python's module json as JSON. Only json.c uses it. */
#ifndef GT_CORE_JSON_PYTHON_H
#define GT_CORE_JSON_PYTHON_H

#include <stddef.h>

/* Bytes that suffice for the JSON: NaN grows by a third. */
#define GT_JSON_PYTHON_ROOM(size) ((size) + (size) / 2 + 8)

/* Writes the text with every NaN as null, every Infinity as 1e999, and integers of 16
 * digits and more with an exponent, which says that they need not be read exactly. Returns
 * the length. Lines stay lines; what is wrong stays wrong. */
size_t gt_json_of_python(char *out, const char *text, size_t size);

#endif
