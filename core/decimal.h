/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - decimal numbers as text. The locale has no influence. */
#ifndef GT_CORE_DECIMAL_H
#define GT_CORE_DECIMAL_H

#include <stddef.h>

enum { GT_DECIMAL_MAX = 32 }; /* bytes of the longest written number with its NUL */

/* Reads digits ["." digits] ["e" ["+" | "-"] digits], without a sign in front, rounded to
 * the nearest double. Returns the bytes that were read, 0 when no number is there. A number
 * beyond all doubles is infinite. */
size_t gt_decimal_read(double *out, const char *text, size_t len);

/* Writes the shortest text that reads as `value`, which is finite and not negative. Returns
 * its length. From 1e-5 to 1e15 there is no exponent. */
int gt_decimal_write(char buf[GT_DECIMAL_MAX], double value);

#endif
