/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - see clock.h. */
#include "core/clock.h"

#include <time.h>

double gt_seconds(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
