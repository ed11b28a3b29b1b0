/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - writes the cells of a table. No locale changes how numbers are written. */
#include "tuner/base/cell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A host program may have set a locale with a decimal comma. */
static const char *with_point(char buf[GT_CELL_MAX]) {
    for (char *at = buf; *at != '\0'; at++)
        if (*at == ',')
            *at = '.';
    return buf;
}

/* ---- numbers ---- */

/* Units, the largest first. A value is written in the largest unit that is not above it. */
struct unit {
    double size;
    const char *name;
};

/* Writes three digits, and no exponent below a million: "999", "1.25", "0.0123". */
static const char *show_scaled(char buf[GT_CELL_MAX], double value,
                               const struct unit *units) {
    /* A value that rounds up to 1 of the next unit is written in it: 999.6 us is 1 ms. */
    while (units[1].name != NULL && fabs(value) < units->size * 0.9995)
        units++;
    const double scaled = value / units->size;
    const double rounded = fabs(scaled) >= 100 ? round(scaled) : scaled;
    (void)snprintf(buf, GT_CELL_MAX, fabs(scaled) >= 100 ? "%.6g %s" : "%.3g %s", rounded,
                   units->name);
    return with_point(buf);
}

const char *gt_show_ns(char buf[GT_CELL_MAX], double ns) {
    static const struct unit units[] = {
        {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}, {0, NULL}};
    buf[0] = '\0';
    return isfinite(ns) && ns > 0 ? show_scaled(buf, ns, units) : buf;
}

const char *gt_show_bytes(char buf[GT_CELL_MAX], double bytes) {
    static const struct unit units[] = {{0x1p50, "PiB"}, {0x1p40, "TiB"}, {0x1p30, "GiB"},
                                        {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"},
                                        {0, NULL}};
    buf[0] = '\0';
    return isfinite(bytes) ? show_scaled(buf, bytes, units) : buf;
}

const char *gt_show_count(char buf[GT_CELL_MAX], double value) {
    buf[0] = '\0';
    if (!isfinite(value))
        return buf;
    const bool large = fabs(value) >= 999999.5; /* %.6g would write an exponent */
    const bool plain = (large || value == floor(value)) && fabs(value) < 1e15;
    (void)snprintf(buf, GT_CELL_MAX, plain ? "%.0f" : "%.6g", value);
    return with_point(buf);
}

const char *gt_show_power(char buf[GT_CELL_MAX], double value) {
    if (!isfinite(value) || fabs(value) < 1e6)
        return gt_show_count(buf, value);
    (void)snprintf(buf, GT_CELL_MAX, "%.3e", value);
    char *e = strchr(buf, 'e');
    const int power = atoi(e + 1);
    while (e[-1] == '0' || e[-1] == '.' || e[-1] == ',') /* 2.500e9 is 2.5e9 */
        if (*--e != '0')
            break;
    (void)snprintf(e, GT_CELL_MAX - (size_t)(e - buf), "e%d", power);
    return with_point(buf);
}

const char *gt_show_rate(char buf[GT_CELL_MAX], double flops, double ns) {
    const double rate = flops / ns; /* operations per nanosecond are GFLOP/s */
    buf[0] = '\0';
    if (!isfinite(rate) || rate < 0)
        return buf;
    /* %g would write 12345 with an exponent */
    (void)snprintf(buf, GT_CELL_MAX, rate >= 999.95 && rate < 1e15 ? "%.0f" : "%.4g", rate);
    return with_point(buf);
}

static const char *show_gflops(char buf[GT_CELL_MAX], double gflops) {
    return gt_show_rate(buf, gflops, 1);
}

static const char *show_count_of_ns(char buf[GT_CELL_MAX], double ns) {
    return gt_show_count(buf, ns > 0 ? ns : (double)NAN);
}

static const char *show_fixed(char buf[GT_CELL_MAX], double value) {
    buf[0] = '\0';
    if (isfinite(value))
        (void)snprintf(buf, GT_CELL_MAX, "%.3f", value);
    return with_point(buf);
}

static const char *show_bool(char buf[GT_CELL_MAX], double value) {
    (void)snprintf(buf, GT_CELL_MAX, "%s",
                   isfinite(value) ? value != 0 ? "true" : "false" : "");
    return buf;
}

/* ---- cells ---- */

/* The functions that write the numbers of each kind. A kind without a row holds texts. */
static const struct {
    const char *(*for_people)(char buf[GT_CELL_MAX], double value);
    const char *(*for_programs)(char buf[GT_CELL_MAX], double value);
} numbers[] = {
    [GT_CELL_BOOL] = {show_bool, show_bool},
    [GT_CELL_COUNT] = {gt_show_count, gt_show_count},
    [GT_CELL_FIXED] = {show_fixed, gt_show_count},
    [GT_CELL_RATE] = {show_gflops, show_gflops},
    [GT_CELL_NS] = {gt_show_ns, show_count_of_ns},
    [GT_CELL_BYTES] = {gt_show_bytes, gt_show_count},
};

struct gt_cell gt_cell_text(const char *text) {
    return (struct gt_cell){text, NAN};
}

struct gt_cell gt_cell_number(double value) {
    return (struct gt_cell){NULL, value};
}

double gt_cell_known(double value) {
    return value != 0 ? value : (double)NAN;
}

const char *gt_cell_filled(const char *text) {
    return text != NULL && text[0] != '\0' ? text : NULL;
}

bool gt_cell_is_text(enum gt_cell_kind kind) {
    return numbers[kind].for_people == NULL;
}

const char *gt_cell_show(char buf[GT_CELL_MAX], enum gt_cell_kind kind, struct gt_cell cell,
                         bool people) {
    if (gt_cell_is_text(kind))
        return cell.text;
    const char *text = people ? numbers[kind].for_people(buf, cell.number)
                              : numbers[kind].for_programs(buf, cell.number);
    return text[0] != '\0' ? text : NULL;
}
