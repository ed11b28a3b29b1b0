/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h - one element of a matrix: its bits, and the conversion from and to a double.
 * All of it follows from the size and the unit roundoff in dtype.c's table.
 *
 * A float of `size` bytes with p significand bits has a sign, 8 size - p bits of exponent
 * and p - 1 bits of fraction, as in IEEE 754. e4m3 (p = 4) has no infinities and one NaN
 * for each sign, as in the Open Compute Project's 8-bit formats.
 */
#ifndef GT_CORE_ELEMENT_H
#define GT_CORE_ELEMENT_H

#include "core/dtype.h"

/* Bits of the significand, the leading one included; 0 for integers. */
int gt_type_bits(gemmtune_dtype type);
/* The largest n such that all integers from -n to n are elements. */
double gt_type_exact(gemmtune_dtype type);
/* The smallest positive normal number; 0 for integers. */
double gt_type_least(gemmtune_dtype type);
/* The type in which references of such elements are computed: F64 for F64, F32 for all
 * other floats, I32 for integers. It holds every element exactly, and every device that
 * serves the type has it. */
gemmtune_dtype gt_type_wide(gemmtune_dtype type);

/* The element at p; i32 and i8 as their values. p need not be aligned. */
double gt_element_get(const void *p, gemmtune_dtype type);
/* Writes the element nearest to the value; of two equally near, the one whose last bit is
 * 0. Values beyond the largest element become infinite (e4m3: NaN). Integers must be in
 * range. */
void gt_element_put(void *p, gemmtune_dtype type, double value);
/* The nearest element as a double, as gt_element_put rounds. */
double gt_element_round(gemmtune_dtype type, double value);

#endif
