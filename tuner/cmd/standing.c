/* SPDX-License-Identifier: Apache-2.0 */
/* standing.c - see standing.h. */
#include "tuner/cmd/standing.h"

#include "runtime/lookup/known.h"
#include "tuner/base/choose.h"

#include <stdlib.h>
#include <string.h>

gt_status gt_standings_load(struct gt_standings *out, struct gt_db *db,
                            const struct gt_families *families,
                            const struct gt_device *device, struct gt_err *err) {
    size_t count = 0;
    int64_t stale = 0;
    *out = (struct gt_standings){.device = device};
    gt_device_key(device, out->key);
    gt_status status =
        gt_known_load(&out->known, &count, &stale, db, families, device->arch, err);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&out->index, out->known, count, err);
    if (status == GEMMTUNE_OK)
        status = gt_duels_load(&out->duels, db, out->key, err);
    out->snapshot = (struct gt_snapshot){families, out->known, count, out->index};
    return status;
}

void gt_standings_clear(struct gt_standings *s) {
    gt_duels_clear(&s->duels);
    gt_index_destroy(s->index);
    free(s->known);
    *s = (struct gt_standings){.device = NULL};
}

/* Whether the choice is a record of the problem and the device. */
static enum gt_standing_kind kind_of(const struct gt_choice *c,
                                     const struct gt_standings *s,
                                     const struct gt_sweep_item *item) {
    if (c->match == GEMMTUNE_MATCH_EXACT)
        return GT_STANDING_TUNED;
    return c->match == GEMMTUNE_MATCH_ARCH && strcmp(c->known->device_key, s->key) == 0 &&
                   strcmp(c->known->problem_name, item->name) == 0
               ? GT_STANDING_IMPORTED
               : GT_STANDING_NONE;
}

enum gt_standing_kind gt_standing_of(struct gt_standing *out, const struct gt_standings *s,
                                     const struct gt_sweep_item *item, int64_t workspace) {
    char point[GT_POINT_TEXT_MAX];
    struct gt_choice *const c = &out->choice;
    const gt_status status =
        gt_choose_from(c, &s->snapshot, s->device, &item->problem, (size_t)workspace, NULL);
    const enum gt_standing_kind kind =
        status == GEMMTUNE_OK ? kind_of(c, s, item) : GT_STANDING_NONE;
    if (kind == GT_STANDING_NONE)
        return kind;
    (void)gt_point_text(&c->point, point);
    const struct gt_db_subject kernel = {s->key, item->name, c->family->name,
                                         c->family->hash, point};
    out->duels = gt_duels_of(&out->duel, &s->duels, gt_db_subject_key(&kernel));
    return kind;
}
