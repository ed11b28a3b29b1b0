/* SPDX-License-Identifier: Apache-2.0 */
/* space_points.c - the points of a space that was listed: by index, value or distance. */
#include "tuner/search/space.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void gt_space_values(const struct gt_space *s, size_t i, int64_t values[GT_POINT_MAX]) {
    const unsigned char *at = s->idx + i * (size_t)s->params;
    for (int j = 0; j < s->params; j++)
        values[j] = s->family->param[j].value[at[j]];
}

void gt_space_point(const struct gt_space *s, size_t i, struct gt_point *out) {
    const unsigned char *at = s->idx + i * (size_t)s->params;
    out->count = s->params;
    for (int j = 0; j < s->params; j++) {
        memcpy(out->entry[j].name, s->family->param[j].name, sizeof out->entry[j].name);
        out->entry[j].value = s->family->param[j].value[at[j]];
    }
}

/* Converts a point to positions in the domains. False when it has other names or values. */
static bool index_of(unsigned char at[GT_POINT_MAX], const struct gt_space *s,
                     const struct gt_point *point) {
    if (point->count != s->params)
        return false;
    for (int j = 0; j < s->params; j++) {
        const struct gt_param *param = &s->family->param[j];
        int64_t value;
        int i = 0;
        if (!gt_point_get(point, param->name, &value))
            return false;
        while (i < param->count && param->value[i] != value)
            i++;
        if (i == param->count)
            return false;
        at[j] = (unsigned char)i;
    }
    return true;
}

/* The walk leaves the packed rows in the order of memcmp. */
size_t gt_space_at(const struct gt_space *s, const unsigned char *at) {
    const size_t size = (size_t)s->params;
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = memcmp(s->idx + middle * size, at, size);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

size_t gt_space_find(const struct gt_space *s, const struct gt_point *point) {
    unsigned char at[GT_POINT_MAX];
    return index_of(at, s, point) ? gt_space_at(s, at) : SIZE_MAX;
}

/* The squared number of doublings between two values, each plus 1. */
static double doublings_2(int64_t x, int64_t y) {
    const double d = log2((1 + (double)x) / (1 + (double)y));
    return d * d;
}

size_t gt_space_nearest(double *distance, const struct gt_space *s,
                        const struct gt_point *point) {
    double far[GT_POINT_MAX][GT_VALUES_MAX] = {{0}};
    size_t nearest = SIZE_MAX;
    *distance = INFINITY;
    for (int i = 0; i < s->params; i++) {
        const struct gt_param *param = &s->family->param[i];
        int64_t value;
        if (gt_point_get(point, param->name, &value) && value >= 0)
            for (int j = 0; j < param->count; j++)
                far[i][j] = doublings_2(param->value[j], value);
    }
    for (size_t n = 0; n < s->count; n++) {
        const unsigned char *at = &s->idx[n * (size_t)s->params];
        double sum = 0;
        for (int i = 0; i < s->params; i++)
            sum += far[i][at[i]];
        if (sum < *distance) {
            *distance = sum;
            nearest = n;
        }
    }
    return nearest;
}
