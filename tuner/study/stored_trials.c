/* SPDX-License-Identifier: Apache-2.0 */
/* stored_trials.c - makes stored spaces from the trials of one problem on one device. */
#include "tuner/study/stored.h"
#include "tuner/base/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the point of a row. False when it is not a point, or has other parameters than the
 * family's first row. */
static bool take_point(struct gt_stored_rows *rows, struct gt_stored_row *row,
                       const struct gt_view_row *from) {
    struct gt_point point;
    if (gt_point_parse(&point, from->point, NULL) != GEMMTUNE_OK)
        return false;
    if (rows->count == 0) {
        rows->params = point.count;
        for (int i = 0; i < point.count; i++)
            memcpy(rows->param[i], point.entry[i].name, sizeof rows->param[i]);
    }
    if (point.count != rows->params)
        return false;
    for (int i = 0; i < point.count; i++) {
        if (strcmp(rows->param[i], point.entry[i].name) != 0)
            return false;
        row->value[i] = point.entry[i].value;
    }
    return true;
}

static bool same_space(const struct gt_view_row *a, const struct gt_view_row *b) {
    return strcmp(a->family, b->family) == 0 && strcmp(a->hash, b->hash) == 0;
}

/* Whether a trial has finished. Points that the rules refused are not points
 * of the space. */
static bool counts(const struct gt_view_row *r) {
    return r->state == GT_TRIAL_DONE && r->outcome != GT_CONSTRAINTS;
}

static gt_status add_family(struct gt_stored *s, const struct gt_view *v, size_t first,
                            struct gt_err *err) {
    struct gt_stored_rows rows = {.count = 0};
    gt_status status = GEMMTUNE_OK;
    snprintf(rows.name, sizeof rows.name, "%s", v->row[first].family);
    for (size_t i = first; status == GEMMTUNE_OK && i < v->row_count; i++) {
        const struct gt_view_row *r = &v->row[i];
        struct gt_stored_row row = {.outcome = r->outcome, .ns = r->median_ns};
        if (same_space(r, &v->row[first]) && counts(r) && take_point(&rows, &row, r))
            status = gt_stored_row(&rows, &row, err);
    }
    if (status == GEMMTUNE_OK && rows.count > 0)
        status = gt_stored_add(s, &rows, err);
    free(rows.row);
    return status;
}

gt_status gt_stored_trials(struct gt_stored *out, struct gt_db *db, const char *device_key,
                           const char *problem, struct gt_err *err) {
    struct gt_view v = {0};
    *out = (struct gt_stored){0};
    gt_status status = gt_view_trials(&v, db, device_key, problem, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < v.row_count; i++) {
        size_t before = 0;
        while (before < i && !same_space(&v.row[before], &v.row[i]))
            before++;
        if (before == i)
            status = add_family(out, &v, i, err);
    }
    gt_view_clear(&v);
    if (status == GEMMTUNE_OK && out->best_ns == 0)
        status = gt_fail(err, GEMMTUNE_ENOTFOUND, "no correct trial of %s on %s", problem,
                         device_key);
    snprintf(out->title, sizeof out->title, "%s on %s", problem, device_key);
    if (status != GEMMTUNE_OK)
        gt_stored_clear(out);
    return status;
}
