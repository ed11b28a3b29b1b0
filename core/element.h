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

#include <math.h>
#include <string.h>

/* Bits of the significand, the leading one included; 0 for integers. */
int gt_type_bits(gemmtune_dtype type);
/* The largest n such that all integers from -n to n are elements. */
double gt_type_exact(gemmtune_dtype type);
/* The smallest positive normal number; 0 for integers. */
double gt_type_least(gemmtune_dtype type);
/* The largest number. */
double gt_type_most(gemmtune_dtype type);
/* The type in which references of such elements are computed: F64 for F64, F32 for all
 * other floats, I32 for integers. It holds every element exactly, and every device that
 * serves the type has it. */
gemmtune_dtype gt_type_wide(gemmtune_dtype type);

/* The element at p; i32 and i8 as their values. p need not be aligned. */
double gt_element_get(const void *p, gemmtune_dtype type);
/* Writes the element nearest to the value; of two equally near, the one with a last bit of
 * 0. Values beyond the largest element become infinite (e4m3: NaN). Integers must be in
 * range. */
void gt_element_put(void *p, gemmtune_dtype type, double value);
/* The nearest element as a double, as gt_element_put rounds. */
double gt_element_round(gemmtune_dtype type, double value);

/* ---- many elements of a type ---- */

/* Reads and writes elements one after another, each as gt_element_get and gt_element_put
 * do. */
void gt_elements_get(double *value, const void *p, gemmtune_dtype type, int64_t count);
void gt_elements_put(void *p, gemmtune_dtype type, const double *value, int64_t count);

/* The elements of a float type among the doubles. */
struct gt_grid {
    double most, past; /* the largest element, and what stands for numbers beyond it */
    double least, top; /* the smallest normal number; a power of 2 at or above the exponent
                        * of the largest one: larger numbers are rounded as at it */
    double shift;      /* see gt_grid_round; 0: every double is an element */
};
/* Of an integer type: one on which every double is. */
struct gt_grid gt_grid_of(gemmtune_dtype type);

/* The power of 2 at or below the size of a normal number; 0 for subnormal numbers. */
static inline double gt_power_below(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= UINT64_C(0x7ff) << 52;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* gt_element_round for a float type. A sum with a number so large that the unit of its last
 * place is the element's is rounded as the element is. */
static inline double gt_grid_round(const struct gt_grid *g, double value) {
    const double own = gt_power_below(value), above = own > g->least ? own : g->least;
    const double shift = g->shift * (above < g->top ? above : g->top);
    const double near = fabs(value + shift - shift);
    return copysign(near > g->most ? g->past : near, value);
}

#endif
