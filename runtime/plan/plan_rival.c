/* SPDX-License-Identifier: Apache-2.0 */
/* plan_rival.c - what was measured of a plan's kernel beside a vendor's library. */
#include "runtime/plan/context.h"

#include "core/growth.h"

#include <stdio.h>

/* A struct of the first release of this ABI ends here. */
static const struct gt_growth rival_growth = {sizeof(gemmtune_rival_info),
                                              sizeof(gemmtune_rival_info), "rival info",
                                              "gemmtune_plan_rival"};

static int32_t verdict_of(const struct gt_duel *d) {
    return d->verdict == GT_WIN ? 1 : d->verdict == GT_LOSS ? -1 : 0;
}

static void fill(gemmtune_rival_info *info, const struct gt_duel *d) {
    (void)snprintf(info->library, sizeof info->library, "%s", d->library);
    info->known = 1;
    info->version = d->version;
    info->verdict = verdict_of(d);
    info->ours_ns = d->ours_ns;
    info->rival_ns = d->rival_ns;
    info->ratio = d->ratio;
    info->ratio_low = d->ratio_low;
    info->ratio_high = d->ratio_high;
    info->workspace = (size_t)d->workspace;
    info->verified = d->is_local;
    info->rounds = d->rounds;
}

gemmtune_status gemmtune_plan_rival_sized(const gemmtune_plan *plan, int32_t version,
                                          gemmtune_rival_info *info, size_t size) {
    struct gt_err *err = gt_public_entry();
    gemmtune_rival_info own = {.known = 0};
    const struct gt_duel *duel = NULL;
    if (plan == NULL || info == NULL)
        return plan == NULL ? gt_fail_null(err, "plan", GEMMTUNE_ARG_CTX)
                            : gt_fail_null(err, "info", GEMMTUNE_ARG_OUT);
    if (version < 0)
        return gt_blame(
            err,
            gt_fail(err, GEMMTUNE_EINVAL, "version is %d, must be 0 or more", (int)version),
            GEMMTUNE_ARG_OPTIONS);
    const size_t count = gt_plan_duels(&duel, plan);
    const struct gt_duel *const picked = gt_duels_pick(duel, count, version, SIZE_MAX);
    if (picked != NULL && picked->verdict != GT_NOISY)
        fill(&own, picked);
    return gt_growth_write(info, size, &own, &rival_growth, err);
}
