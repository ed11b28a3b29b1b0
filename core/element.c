/* SPDX-License-Identifier: Apache-2.0 */
/* element.c - see element.h. */
#include "core/element.h"

#include <math.h>
#include <string.h>

enum { ELEMENT_MAX = 8 }; /* bytes */

/* ---- properties from size and unit ---- */

/* 2^exponent, from -1022 to 1023. These functions run for every element of a check on the
 * host, where ldexp and ilogb would take most of the time. */
static double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The exponent of a normal number; -1023 for 0 and subnormal numbers. */
static int exponent_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 52 & 2047) - 1023;
}

int gt_type_bits(gemmtune_dtype type) {
    return gt_type_is_float(type) ? -exponent_of(gt_type_unit(type)) : 0;
}

double gt_type_exact(gemmtune_dtype type) {
    return gt_type_is_float(type) ? 1 / gt_type_unit(type)
                                  : ldexp(1, 8 * (int)gt_type_size(type) - 1) - 1;
}

static int exponent_bits(gemmtune_dtype type) {
    return 8 * (int)gt_type_size(type) - gt_type_bits(type);
}

/* The exponent of the smallest normal number, which the stored exponent 1 stands for. */
static int least_exponent(gemmtune_dtype type) {
    return 2 - (1 << (exponent_bits(type) - 1));
}

double gt_type_least(gemmtune_dtype type) {
    return gt_type_is_float(type) ? power_of_two(least_exponent(type)) : 0;
}

gemmtune_dtype gt_type_wide(gemmtune_dtype type) {
    if (!gt_type_is_float(type))
        return GEMMTUNE_I32;
    return type == GEMMTUNE_F64 ? GEMMTUNE_F64 : GEMMTUNE_F32;
}

/* ---- floats of less than 32 bits ---- */

/* The bits that follow those of the largest element: infinity, for e4m3 NaN. */
static uint32_t overflow_bits(gemmtune_dtype type) {
    const int fraction = gt_type_bits(type) - 1;
    const uint32_t all = (UINT32_C(1) << (8 * gt_type_size(type) - 1)) - 1;
    return type == GEMMTUNE_E4M3 ? all : all >> fraction << fraction;
}

/* In units of the last place: from each element to the next, its bits grow by 1, since the
 * exponent stands in front of the fraction. */
static uint32_t narrow_bits(gemmtune_dtype type, double value) {
    const int fraction = gt_type_bits(type) - 1, least = least_exponent(type);
    const uint32_t sign = signbit(value) ? UINT32_C(1) << (8 * gt_type_size(type) - 1) : 0;
    const uint32_t most = overflow_bits(type);
    if (isnan(value))
        return sign | most | (UINT32_C(1) << (fraction - 1));
    if (fabs(value) >= power_of_two(3 - least)) /* beyond every exponent */
        return sign | most;
    const int own = exponent_of(value), exponent = own > least ? own : least;
    const double steps = nearbyint(fabs(value) * power_of_two(fraction - exponent));
    const uint32_t bits = ((uint32_t)(exponent - least) << fraction) + (uint32_t)steps;
    return sign | (bits < most ? bits : most);
}

static double narrow_value(gemmtune_dtype type, uint32_t word) {
    const int fraction = gt_type_bits(type) - 1, sign_at = 8 * (int)gt_type_size(type) - 1;
    const uint32_t bits = word & ((UINT32_C(1) << sign_at) - 1);
    const uint32_t low = bits & ((UINT32_C(1) << fraction) - 1);
    const int stored = (int)(bits >> fraction), exponent = stored > 1 ? stored : 1;
    double value = (double)(low + ((uint32_t)(stored > 0) << fraction)) *
                   power_of_two(least_exponent(type) + exponent - 1 - fraction);
    if (bits >= overflow_bits(type))
        value = bits > overflow_bits(type) || type == GEMMTUNE_E4M3 ? NAN : INFINITY;
    return word >> sign_at & 1 ? -value : value;
}

/* ---- elements ---- */

double gt_element_get(const void *p, gemmtune_dtype type) {
    double f64;
    float f32;
    int32_t i32;
    int8_t i8;
    uint16_t half;
    uint8_t byte;
    switch (type) {
    case GEMMTUNE_F64:
        memcpy(&f64, p, sizeof f64);
        return f64;
    case GEMMTUNE_F32:
        memcpy(&f32, p, sizeof f32);
        return (double)f32;
    case GEMMTUNE_I32:
        memcpy(&i32, p, sizeof i32);
        return i32;
    case GEMMTUNE_I8:
        memcpy(&i8, p, sizeof i8);
        return i8;
    case GEMMTUNE_F16:
    case GEMMTUNE_BF16:
        memcpy(&half, p, sizeof half);
        return narrow_value(type, half);
    case GEMMTUNE_E4M3:
    case GEMMTUNE_E5M2:
        memcpy(&byte, p, sizeof byte);
        return narrow_value(type, byte);
    }
    return NAN;
}

void gt_element_put(void *p, gemmtune_dtype type, double value) {
    const bool narrow = gt_type_is_float(type) && gt_type_size(type) < sizeof(float);
    const uint32_t bits = narrow ? narrow_bits(type, value) : 0;
    const float f32 = type == GEMMTUNE_F32 ? (float)value : 0;
    const int32_t i32 = gt_type_is_float(type) ? 0 : (int32_t)value;
    const int8_t i8 = (int8_t)i32;
    const uint16_t half = (uint16_t)bits;
    const uint8_t byte = (uint8_t)bits;
    switch (type) {
    case GEMMTUNE_F64:
        memcpy(p, &value, sizeof value);
        break;
    case GEMMTUNE_F32:
        memcpy(p, &f32, sizeof f32);
        break;
    case GEMMTUNE_I32:
        memcpy(p, &i32, sizeof i32);
        break;
    case GEMMTUNE_I8:
        memcpy(p, &i8, sizeof i8);
        break;
    case GEMMTUNE_F16:
    case GEMMTUNE_BF16:
        memcpy(p, &half, sizeof half);
        break;
    case GEMMTUNE_E4M3:
    case GEMMTUNE_E5M2:
        memcpy(p, &byte, sizeof byte);
        break;
    }
}

double gt_element_round(gemmtune_dtype type, double value) {
    char element[ELEMENT_MAX];
    if (type == GEMMTUNE_F32)
        return (double)(float)value;
    gt_element_put(element, type, value);
    return gt_element_get(element, type);
}
