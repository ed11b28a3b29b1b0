/* SPDX-License-Identifier: Apache-2.0 */
/* ratio.c - see ratio.h. */
#include "tuner/lab/ratio.h"

#include <math.h>
#include <string.h>

/* A ratio has no unit. Its median and interval are found as for a time. */
void gt_ratio_of(struct gt_measurement *out, const struct gt_measurement *theirs,
                 const struct gt_measurement *ours) {
    memset(out, 0, sizeof *out);
    while (out->samples < theirs->samples && out->samples < ours->samples) {
        const int i = out->samples++;
        out->sample_ns[i] = theirs->sample_ns[i] / ours->sample_ns[i];
    }
    gt_measurement_summarize(out);
}

double gt_ratio_floor(const struct gt_measurement *ratio) {
    return fmax(fabs(ratio->low_ns - 1), fabs(ratio->high_ns - 1));
}
