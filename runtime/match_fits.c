/* SPDX-License-Identifier: Apache-2.0 */
/* match_fits.c - whether a kernel may run what is asked, before anybody asks how fast. */
#include "runtime/match_inside.h"

#include <stdio.h>

struct gt_reason gt_because(const char *why) {
    struct gt_reason r = {""};
    (void)snprintf(r.line, sizeof r.line, "%.190s", why);
    return r;
}

struct gt_reason gt_why_not(struct gt_fit *out, const struct gt_query *q,
                            const struct gt_family *f, const int64_t *values) {
    struct gt_binding *b = &out->binding;
    struct gt_err err = {""};
    const char *why = NULL;
    if (!gt_family_serves(f, q->device, q->problem, &why))
        return gt_because(why);
    gt_bind_problem(b, f, q->device, &q->shape);
    gt_bind_align(b, &q->shape, q->pointer_align);
    if (gt_bind_values(b, values, &err) != GEMMTUNE_OK)
        return gt_because(err.line);
    const struct gt_rule *rule = gt_refused(b);
    if (rule != NULL)
        return gt_because(rule->why);
    why = gt_not_accepted(b);
    if (why != NULL)
        return gt_because(why);
    if (gt_passes_of(&out->passes, b, q->device, &err) != GEMMTUNE_OK)
        return gt_because(err.line);
    out->workspace_bytes = out->passes.item[out->passes.main].launch.workspace_bytes;
    if ((uint64_t)out->workspace_bytes > q->workspace_max)
        return gt_because("it needs more workspace than is allowed");
    return gt_because("");
}
