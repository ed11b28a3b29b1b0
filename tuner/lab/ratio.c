/* SPDX-License-Identifier: Apache-2.0 */
/* ratio.c - see ratio.h. */
#include "tuner/lab/ratio.h"

#include <math.h>
#include <string.h>

/* Samples of `m` before the first round that `m` and `other` can both have. */
static int skipped(const struct gt_measurement *m, const struct gt_measurement *other) {
    return other->unsettled > m->unsettled ? other->unsettled - m->unsettled : 0;
}

/* A ratio has no unit. Its median and interval are found as for a time. */
void gt_ratio_of(struct gt_measurement *out, const struct gt_measurement *theirs,
                 const struct gt_measurement *ours) {
    const int their_first = skipped(theirs, ours), our_first = skipped(ours, theirs);
    memset(out, 0, sizeof *out);
    while (out->samples < theirs->samples - their_first &&
           out->samples < ours->samples - our_first) {
        const int i = out->samples++;
        out->sample_ns[i] =
            theirs->sample_ns[their_first + i] / ours->sample_ns[our_first + i];
    }
    gt_measurement_summarize(out);
}

double gt_ratio_median(const struct gt_measurement *theirs,
                       const struct gt_measurement *ours) {
    struct gt_measurement ratio;
    gt_ratio_of(&ratio, theirs, ours);
    return ratio.samples > 0 ? ratio.median_ns : theirs->median_ns / ours->median_ns;
}

double gt_ratio_floor(const struct gt_measurement *ratio) {
    return fmax(fabs(ratio->low_ns - 1), fabs(ratio->high_ns - 1));
}
