/* SPDX-License-Identifier: Apache-2.0 */
/* misses.h - reads the log of misses that the library writes (runtime/plan/misses.h). */
#ifndef GT_TUNER_BASE_MISSES_H
#define GT_TUNER_BASE_MISSES_H

#include "tuner/base/sweep.h"

struct gt_misses_read {
    int64_t lines, others; /* of the device; of other devices */
    size_t problems;       /* different ones of the device */
};

/* Adds the problems that the device missed to the sweep. The order is by the sum of the
 * expected losses of a problem's lines, the largest first; the weight is the number of its
 * lines. EIO. A line that is none is left out, with a warning that names file and line. A
 * last line without its end was cut off, and does not count. */
gt_status gt_misses_load(struct gt_misses_read *out, struct gt_sweep *sweep,
                         const char *path, const char *device_key, struct gt_err *err);

#endif
