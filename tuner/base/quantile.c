/* SPDX-License-Identifier: Apache-2.0 */
/* quantile.c - see quantile.h. */
#include "tuner/base/quantile.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void gt_sort_numbers(double *values, size_t count) {
    qsort(values, count, sizeof *values, by_size);
}

double gt_median(double *values, size_t count) {
    gt_sort_numbers(values, count);
    return count > 0 ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

double gt_quantile(const double *sorted, size_t count, double share) {
    const double rank = ceil(share * (double)count);
    return sorted[rank > 1 ? (size_t)rank - 1 : 0];
}
