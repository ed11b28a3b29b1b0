/* SPDX-License-Identifier: Apache-2.0 */
/* row_order.c - see row_order.h. */
#include "tuner/tune/row_order.h"

#include "runtime/lookup/match.h"

#include <stdlib.h>
#include <string.h>

gt_status gt_tune_order(struct gt_tuner *t, const gemmtune_problem *p, struct gt_err *err) {
    struct gt_snapshot snapshot = {.families = t->families};
    struct gt_known *known = NULL;
    struct gt_row_order order;
    int64_t stale;
    t->order[0] = '\0';
    if (!p->row_order)
        return GEMMTUNE_OK;
    const gt_status status = gt_known_load(&known, &snapshot.count, &stale, t->db,
                                           t->families, t->device.arch, err);
    if (status != GEMMTUNE_OK)
        return status;
    snapshot.known = known;
    gt_match_order(&order, &snapshot, &t->device, p);
    memcpy(t->order, order.text, sizeof t->order);
    free(known);
    return t->order[0] != '\0'
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "row_order: no family states an order of sums for it");
}
