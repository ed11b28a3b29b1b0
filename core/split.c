/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - see split.h. */
#include "core/split.h"

#include <math.h>
#include <stddef.h>

static const struct kind {
    gemmtune_math math;
    int parts; /* the error of one product a b by splitting, in units of u |a||b|, and a
                * rest for products of errors */
    int step;  /* of k, in an instruction */
} kinds[] = {{GEMMTUNE_MATH_SPLIT, 9, 8}, {GEMMTUNE_MATH_BF16X3, 516, 16}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct kind *kind_of(gemmtune_math math) {
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].math == math)
            return &kinds[i];
    return NULL;
}

bool gt_math_splits(gemmtune_math math) {
    return kind_of(math) != NULL;
}

static int64_t least(int64_t x, int64_t y) {
    return x < y ? x : y;
}

static int64_t quotient_up(int64_t x, int64_t y) {
    return (x + y - 1) / y;
}

double gt_split_error(gemmtune_math math, int64_t k) {
    const struct kind *kind = kind_of(math);
    if (kind == NULL || k <= 0)
        return 0;
    /* The order of k is the kernel's: few elements may be spread over all steps. */
    const int64_t steps = least(k, GT_SPLIT_DEPTH / kind->step);
    const int64_t cut = 2 * (3 * steps - 2) * (least(k, kind->step) + 2);
    return (double)(kind->parts + cut + quotient_up(k, GT_SPLIT_LEAST) - 1);
}

double gt_split_parts(gemmtune_math math, int64_t k) {
    const struct kind *kind = kind_of(math);
    const double independent = 8; /* docs/split.md */
    return kind == NULL || k <= 0 ? 0
                                  : kind->parts * fmin(1, independent / sqrt((double)k));
}
