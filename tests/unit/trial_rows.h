/* SPDX-License-Identifier: Apache-2.0 */
/* trial_rows.h - made-up trials in a view of one device, "card".
 * gt_view_clear frees them. */
#ifndef GT_TESTS_UNIT_TRIAL_ROWS_H
#define GT_TESTS_UNIT_TRIAL_ROWS_H

#include "tuner/base/view.h"

/* Gives the empty view its device. */
static void make_device(struct gt_view *v, const struct gt_device *d) {
    v->device = calloc(1, sizeof *v->device);
    assert_non_null(v->device);
    v->device_count = 1;
    (void)snprintf(v->device[0].key, sizeof v->device[0].key, "card");
    v->device[0].device = *d;
}

/* Adds a correct trial of the point that took `ns`. */
static void add_trial(struct gt_view *v, const char *problem, const char *family,
                      const struct gt_point *point, double ns) {
    char text[GT_POINT_TEXT_MAX];
    v->row = realloc(v->row, (v->row_count + 1) * sizeof *v->row);
    assert_non_null(v->row);
    struct gt_view_row *r = &v->row[v->row_count++];
    (void)gt_point_text(point, text);
    *r = (struct gt_view_row){.outcome = GT_CORRECT, .median_ns = ns};
    (void)snprintf(r->device, sizeof r->device, "card");
    (void)snprintf(r->problem, sizeof r->problem, "%s", problem);
    (void)snprintf(r->family, sizeof r->family, "%s", family);
    r->point = strdup(text);
    r->error = strdup("");
    r->provenance = strdup("local");
}

#endif
