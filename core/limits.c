/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - see limits.h. */
#include "core/limits.h"

#include <inttypes.h>

gt_status gt_limits_check(const struct gt_limit *limits, size_t count, struct gt_err *err) {
    for (size_t i = 0; i < count; i++)
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most)
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "%s is %" PRId64 ", must be from %" PRId64 " to %" PRId64,
                           limits[i].what, limits[i].value, limits[i].least,
                           limits[i].most);
    return GEMMTUNE_OK;
}
