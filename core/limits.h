/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - checks of numbers against bounds, as tables of name, number and bounds. */
#ifndef GT_CORE_LIMITS_H
#define GT_CORE_LIMITS_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct gt_limit {
    const char *what; /* the number's name in a message: "grid y" */
    int64_t value, least, most;
};

/* EINVAL names the first number that is outside its bounds, and the bounds. */
gt_status gt_limits_check(const struct gt_limit *limits, size_t count, struct gt_err *err);

#endif
