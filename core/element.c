/* SPDX-License-Identifier: Apache-2.0 */
/* element.c - see element.h. */
#include "core/element.h"

#include <math.h>
#include <string.h>

/* ---- properties from size and unit ---- */

/* 2^exponent, from -1022 to 1023. ldexp and ilogb take longer, and an element that is
 * written alone needs a few of these. */
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

/* The largest number: (2 - 2 u) 2^e, where 2^(1 - e) is the smallest normal number. */
double gt_type_most(gemmtune_dtype type) {
    if (type == GEMMTUNE_E4M3)
        return 448; /* it has no infinity, so its largest exponent has numbers too */
    return gt_type_is_float(type) ? (2 - 2 * gt_type_unit(type)) / gt_type_least(type) * 2
                                  : gt_type_exact(type);
}

gemmtune_dtype gt_type_wide(gemmtune_dtype type) {
    if (!gt_type_is_float(type))
        return GEMMTUNE_I32;
    return type == GEMMTUNE_F64 ? GEMMTUNE_F64 : GEMMTUNE_F32;
}

struct gt_grid gt_grid_of(gemmtune_dtype type) {
    const int bits = gt_type_bits(type), of_double = gt_type_bits(GEMMTUNE_F64);
    const bool narrow = gt_type_is_float(type) && bits < of_double;
    if (!narrow)
        return (struct gt_grid){INFINITY, INFINITY, 0, 0, 0};
    const int least = least_exponent(type);
    return (struct gt_grid){.most = gt_type_most(type),
                            .past = type == GEMMTUNE_E4M3 ? NAN : INFINITY,
                            .least = power_of_two(least),
                            .top = power_of_two(2 - least),
                            .shift = 1.5 * power_of_two(of_double - bits)};
}

/* ---- floats of less than 32 bits ---- */

/* The layout of such an element. Its bits without the sign are the bits of a double when
 * the number is multiplied by `scale`, from the exponent's first bit on: the exponent of a
 * double counts from 1023, and the exponent of an element from a smaller number. */
struct format {
    double scale;
    int drop;            /* bits of a double's fraction that an element lacks */
    uint32_t sign, past; /* the sign's bit; the bits after the bits of the largest
                          * element: infinity, for e4m3 NaN */
    uint32_t nan;        /* bits of a NaN */
    size_t size;         /* bytes: 1 or 2 */
};

static struct format format_of(gemmtune_dtype type) {
    const int fraction = gt_type_bits(type) - 1;
    const uint32_t sign = UINT32_C(1) << (8 * gt_type_size(type) - 1), all = sign - 1;
    const uint32_t past = type == GEMMTUNE_E4M3 ? all : all >> fraction << fraction;
    return (struct format){.scale = power_of_two(-1022 - least_exponent(type)),
                           .drop = gt_type_bits(GEMMTUNE_F64) - 1 - fraction,
                           .sign = sign,
                           .past = past,
                           .nan = past | UINT32_C(1) << (fraction - 1),
                           .size = gt_type_size(type)};
}

/* The bits of an element or an infinity. */
static uint32_t narrow_bits(const struct format *f, double element) {
    const double scaled = fabs(element) * f->scale;
    uint64_t bits;
    memcpy(&bits, &scaled, sizeof bits);
    const uint64_t word = bits >> f->drop, size = word < f->past ? word : f->past;
    return (signbit(element) ? f->sign : 0) | (isnan(element) ? f->nan : (uint32_t)size);
}

static double narrow_value(const struct format *f, uint32_t word) {
    const uint32_t low = word & (f->sign - 1);
    const uint64_t bits = (uint64_t)low << f->drop;
    double scaled;
    memcpy(&scaled, &bits, sizeof scaled);
    const double past = low > f->past || f->nan == f->past ? NAN : INFINITY;
    const double size = low < f->past ? scaled / f->scale : past;
    return word & f->sign ? -size : size;
}

static void get_narrow(double *value, const char *p, gemmtune_dtype type, int64_t count) {
    const struct format f = format_of(type);
    for (int64_t i = 0; i < count; i++) {
        uint16_t half = 0;
        uint8_t byte = 0;
        memcpy(f.size == 2 ? (void *)&half : &byte, p + (size_t)i * f.size, f.size);
        value[i] = narrow_value(&f, f.size == 2 ? half : byte);
    }
}

static void put_narrow(char *p, gemmtune_dtype type, const double *value, int64_t count) {
    const struct format f = format_of(type);
    const struct gt_grid grid = gt_grid_of(type);
    for (int64_t i = 0; i < count; i++) {
        const uint32_t bits = narrow_bits(&f, gt_grid_round(&grid, value[i]));
        const uint16_t half = (uint16_t)bits;
        const uint8_t byte = (uint8_t)bits;
        memcpy(p + (size_t)i * f.size, f.size == 2 ? (const void *)&half : &byte, f.size);
    }
}

/* ---- elements ---- */

/* Elements of a type that C has. */
#define GET_ALL(ctype)                                                                     \
    for (int64_t i = 0; i < count; i++) {                                                  \
        ctype x;                                                                           \
        memcpy(&x, (const char *)p + (size_t)i * sizeof x, sizeof x);                      \
        value[i] = (double)x;                                                              \
    }
#define PUT_ALL(ctype)                                                                     \
    for (int64_t i = 0; i < count; i++) {                                                  \
        const ctype x = (ctype)value[i];                                                   \
        memcpy((char *)p + (size_t)i * sizeof x, &x, sizeof x);                            \
    }

void gt_elements_get(double *value, const void *p, gemmtune_dtype type, int64_t count) {
    switch (type) {
    case GEMMTUNE_F64:
        GET_ALL(double)
        break;
    case GEMMTUNE_F32:
        GET_ALL(float)
        break;
    case GEMMTUNE_I32:
        GET_ALL(int32_t)
        break;
    case GEMMTUNE_I8:
        GET_ALL(int8_t)
        break;
    default:
        get_narrow(value, p, type, count);
    }
}

void gt_elements_put(void *p, gemmtune_dtype type, const double *value, int64_t count) {
    switch (type) {
    case GEMMTUNE_F64:
        PUT_ALL(double)
        break;
    case GEMMTUNE_F32:
        PUT_ALL(float)
        break;
    case GEMMTUNE_I32:
        PUT_ALL(int32_t)
        break;
    case GEMMTUNE_I8:
        PUT_ALL(int8_t)
        break;
    default:
        put_narrow(p, type, value, count);
    }
}

double gt_element_get(const void *p, gemmtune_dtype type) {
    double value;
    gt_elements_get(&value, p, type, 1);
    return value;
}

void gt_element_put(void *p, gemmtune_dtype type, double value) {
    gt_elements_put(p, type, &value, 1);
}

double gt_element_round(gemmtune_dtype type, double value) {
    if (type == GEMMTUNE_F32)
        return (double)(float)value;
    if (gt_type_is_float(type)) {
        const struct gt_grid grid = gt_grid_of(type);
        return gt_grid_round(&grid, value);
    }
    return type == GEMMTUNE_I32 ? (int32_t)value : (int8_t)(int32_t)value;
}
