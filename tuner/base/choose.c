/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - see choose.h. */
#include "tuner/base/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gt_status gt_choose_from(struct gt_choice *out, const struct gt_snapshot *snapshot,
                         const struct gt_device *device, const gemmtune_problem *p,
                         size_t workspace_max, struct gt_err *err) {
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(device, key);
    const struct gt_query query = {.snapshot = snapshot,
                                   .device = device,
                                   .device_key = key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = workspace_max,
                                   .pointer_align = GT_VECTOR_BYTES};
    return gt_match(out, &query, err);
}

gt_status gt_choose(struct gt_chosen *out, struct gt_db *db,
                    const struct gt_families *families, const struct gt_device *device,
                    const gemmtune_problem *p, size_t workspace_max, struct gt_err *err) {
    size_t count = 0;
    memset(out, 0, sizeof *out);
    gt_status status = GEMMTUNE_OK;
    if (db)
        status = gt_known_load(&out->known, &count, &out->stale, db, families, device->arch,
                               err);
    const struct gt_snapshot snapshot = {families, out->known, count, NULL};
    if (status == GEMMTUNE_OK)
        status = gt_choose_from(&out->choice, &snapshot, device, p, workspace_max, err);
    if (status != GEMMTUNE_OK)
        gt_chosen_clear(out);
    return status;
}

void gt_chosen_clear(struct gt_chosen *c) {
    free(c->known);
    memset(c, 0, sizeof *c);
}

const char *gt_expected_loss(char buf[GT_CELL_MAX], const struct gt_choice *c) {
    if (gt_loss_is_known(c))
        (void)snprintf(buf, GT_CELL_MAX, "%.3g %% expected", 100 * c->expected_loss);
    else
        (void)snprintf(buf, GT_CELL_MAX, "unknown");
    return buf;
}

double gt_expected_percent(const struct gt_choice *c) {
    return gt_loss_is_known(c) ? 100 * c->expected_loss : (double)NAN;
}
