/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - compares points. */
#ifndef GT_TESTS_UNIT_POINTS_H
#define GT_TESTS_UNIT_POINTS_H

#include "core/point.h"

/* Whether two points have the same values of the same names, in any order. */
static inline bool points_equal(const struct gt_point *a, const struct gt_point *b) {
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        int64_t value = 0;
        if (!gt_point_get(b, a->entry[i].name, &value) || value != a->entry[i].value)
            return false;
    }
    return true;
}

#endif
