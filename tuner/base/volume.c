/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume.c - makes shapes from a number of multiplications, the scale of the published
 * ladders.
 */
#include "tuner/base/sweep.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

static uint64_t product(int64_t m, int64_t n, int64_t k) {
    return (uint64_t)m * (uint64_t)n * (uint64_t)k;
}

/* The largest r with r^3 <= volume. */
static int64_t cube_root(int64_t volume) {
    int64_t r = (int64_t)cbrt((double)volume);
    while (product(r, r, r) > (uint64_t)volume)
        r--;
    while (product(r + 1, r + 1, r + 1) <= (uint64_t)volume)
        r++;
    return r;
}

static uint64_t apart(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

void gt_volume_shape(int64_t volume, int64_t *m, int64_t *n, int64_t *k) {
    const int64_t r = cube_root(volume);
    int longer = 0; /* number of the three sides that are r + 1 */
    uint64_t nearest = apart(product(r, r, r), (uint64_t)volume);
    for (int i = 1; i <= 3; i++) {
        const uint64_t here =
            apart(product(r + (i > 2), r + (i > 1), r + 1), (uint64_t)volume);
        if (here < nearest) {
            nearest = here;
            longer = i;
        }
    }
    *m = r + (longer > 2);
    *n = r + (longer > 1);
    *k = r + (longer > 0);
}

/* Reads "5e8" or "500000000": at least 1 and below 2^63. */
static bool read_volume(int64_t *out, const char *text, size_t len) {
    const char *e = memchr(text, 'e', len);
    const size_t digits = e != NULL ? (size_t)(e - text) : len;
    int64_t value, exponent = 0;
    if (!gt_text_int(&value, text, digits) || value < 1)
        return false;
    if (e != NULL && (!gt_text_int(&exponent, e + 1, len - digits - 1) || exponent < 0))
        return false;
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(value, 10, &value))
            return false;
    *out = value;
    return true;
}

gt_status gt_volume_range(int64_t out[GT_VOLUMES_MAX], size_t *count, const char *text,
                          struct gt_err *err) {
    const size_t len = strcspn(text, ":");
    const char *end = text[len] == ':' ? text + len + 1 : text;
    int64_t low, high;
    *count = 0;
    if (!read_volume(&low, text, len) || !read_volume(&high, end, strlen(end)) ||
        low > high)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "\"%.60s\" is not a volume such as 5e8 or a range such as 1e3:1e10",
                       text);
    bool more = true;
    for (int64_t volume = low; more && volume <= high;) {
        out[(*count)++] = volume;
        more = !__builtin_mul_overflow(volume, 10, &volume);
    }
    return GEMMTUNE_OK;
}
