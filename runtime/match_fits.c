/* SPDX-License-Identifier: Apache-2.0 */
/* match_fits.c - whether a kernel may run the problem of a query. Asked before its
 * speed. */
#include "runtime/match_inside.h"

bool gt_lookup_fits(struct gt_fit *out, const struct gt_lookup *l,
                    const struct gt_family *f, const int64_t *values, struct gt_err *why) {
    const struct gt_query *q = &l->query;
    if (gt_fit_values(out, f, q->device, q->problem, q->pointer_align, values, why) !=
        GEMMTUNE_OK)
        return false;
    if ((uint64_t)out->passes.workspace_bytes <= q->workspace_max)
        return true;
    (void)gt_fail(why, GEMMTUNE_EWORKSPACE, "it needs more workspace than is allowed");
    return false;
}
