/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.c - see decimal.h. The C library converts between digits and doubles. The point
 * is ours, since the C library's depends on the locale. */
#include "core/decimal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS_MAX = 800,     /* significant digits that can decide how a double is rounded */
    EXPONENT_MAX = 100000 /* beyond it every number is 0 or infinite */
};

/* Digits without a point. The value is <digits>e<exponent>. */
struct scanned {
    char digits[DIGITS_MAX + 32];
    int count;
    int exponent;
};

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

/* Takes digits; `fraction`: they follow the point. */
static const char *scan_digits(struct scanned *s, const char *at, const char *end,
                               bool fraction) {
    for (; is_digit(at, end); at++) {
        const bool leading = s->count == 0 && *at == '0';
        const bool kept = !leading && s->count < DIGITS_MAX;
        if (kept)
            s->digits[s->count++] = *at;
        if (fraction && (kept || leading))
            s->exponent--;
        if (!fraction && !kept && !leading)
            s->exponent++;
    }
    return at;
}

static const char *scan_exponent(struct scanned *s, const char *at, const char *end) {
    const char *digit = at + 1;
    int exponent = 0;
    if (at >= end || *at != 'e')
        return at;
    const bool minus = digit < end && *digit == '-';
    if (digit < end && (*digit == '-' || *digit == '+'))
        digit++;
    if (!is_digit(digit, end))
        return at;
    for (; is_digit(digit, end); digit++)
        if (exponent < EXPONENT_MAX)
            exponent = 10 * exponent + (*digit - '0');
    s->exponent += minus ? -exponent : exponent;
    return digit;
}

size_t gt_decimal_read(double *out, const char *text, size_t len) {
    struct scanned s = {.count = 0};
    const char *end = text + len;
    const char *at = scan_digits(&s, text, end, false);
    if (at == text)
        return 0;
    if (at < end && *at == '.' && is_digit(at + 1, end))
        at = scan_digits(&s, at + 1, end, true);
    at = scan_exponent(&s, at, end);
    if (s.count == 0)
        s.digits[s.count++] = '0';
    (void)snprintf(s.digits + s.count, sizeof s.digits - (size_t)s.count, "e%d",
                   s.exponent);
    *out = strtod(s.digits, NULL);
    return (size_t)(at - text);
}

/* The fewest digits that read as `value`, without trailing zeros; *point of them, counted
 * from the first, stand before the point. */
static int shortest_digits(char digits[GT_DECIMAL_MAX], int *point, double value) {
    char text[GT_DECIMAL_MAX];
    double again = -1;
    int count = 0;
    for (int more = 0; more < 17 && !(again >= value && again <= value); more++) {
        (void)snprintf(text, sizeof text, "%.*e", more, value);
        const char *exponent = strchr(text, 'e');
        count = 0;
        for (const char *at = text; at < exponent; at++)
            if (*at >= '0' && *at <= '9')
                digits[count++] = *at;
        *point = atoi(exponent + 1) + 1;
        (void)snprintf(digits + count, (size_t)(GT_DECIMAL_MAX - count), "e%d",
                       *point - count);
        again = strtod(digits, NULL);
    }
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return count;
}

int gt_decimal_write(char buf[GT_DECIMAL_MAX], double value) {
    char digits[GT_DECIMAL_MAX];
    int point = 0;
    const int count = shortest_digits(digits, &point, value);
    if (point < -4 || point > 15)
        return snprintf(buf, GT_DECIMAL_MAX, "%c%s%se%d", digits[0], count > 1 ? "." : "",
                        digits + 1, point - 1);
    if (point <= 0)
        return snprintf(buf, GT_DECIMAL_MAX, "0.%.*s%s", -point, "0000", digits);
    if (point >= count)
        return snprintf(buf, GT_DECIMAL_MAX, "%s%.*s", digits, point - count,
                        "000000000000000");
    return snprintf(buf, GT_DECIMAL_MAX, "%.*s.%s", point, digits, digits + point);
}
