/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_times.c - the stored times of kernels on the problems of an evaluation. */
#include "tuner/study/evaluate_inside.h"

#include <stdlib.h>
#include <string.h>

static int by_kernel(const void *a, const void *b) {
    const struct gt_kernel_times *x = a, *y = b;
    int order = strcmp(x->problem, y->problem);
    if (order == 0)
        order = strcmp(x->family, y->family);
    return order != 0 ? order : strcmp(x->point, y->point);
}

static struct gt_kernel_times stored_of(const struct gt_view_row *row) {
    struct gt_kernel_times s = {row->problem, row->family, row->point, 0, 0};
    *(row->record ? &s.final_ns : &s.tried_ns) = row->median_ns;
    return s;
}

static double first_known(double a, double b) {
    return a > 0 ? a : b;
}

/* Merges the rows of the same kernel and problem. */
static size_t fold_equal(struct gt_kernel_times *s, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_kernel(&s[kept - 1], &s[i]) == 0) {
            s[kept - 1].tried_ns = first_known(s[kept - 1].tried_ns, s[i].tried_ns);
            s[kept - 1].final_ns = first_known(s[kept - 1].final_ns, s[i].final_ns);
        } else
            s[kept++] = s[i];
    }
    return kept;
}

gt_status gt_evaluation_read_times(struct gt_evaluation *e, struct gt_err *err) {
    const struct gt_view *v = e->setup.view;
    e->stored = malloc((v->row_count + 1) * sizeof *e->stored);
    if (e->stored == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu rows", v->row_count);
    for (size_t i = 0; i < v->row_count; i++) {
        const struct gt_view_row *row = &v->row[i];
        const bool here = row->record || row->run_id != 0;
        if (here && row->state == GT_TRIAL_DONE && row->outcome == GT_CORRECT &&
            row->median_ns > 0 && gt_view_current(row, e->setup.families))
            e->stored[e->stored_count++] = stored_of(row);
    }
    qsort(e->stored, e->stored_count, sizeof *e->stored, by_kernel);
    e->stored_count = fold_equal(e->stored, e->stored_count);
    return GEMMTUNE_OK;
}

static const struct gt_kernel_times *find_stored(const struct gt_evaluation *e,
                                                 const char *problem, const char *family,
                                                 const char *point) {
    const struct gt_kernel_times key = {problem, family, point, 0, 0};
    return bsearch(&key, e->stored, e->stored_count, sizeof key, by_kernel);
}

bool gt_evaluation_times(double *ns, double *best_ns, const struct gt_evaluation *e,
                         const struct gt_known *winner, const char *family,
                         const char *point) {
    char text[GT_POINT_TEXT_MAX];
    struct gt_point own;
    gt_known_point(&own, winner);
    (void)gt_point_text(&own, text);
    const struct gt_kernel_times *best =
        find_stored(e, winner->problem_name, winner->family->name, text);
    const struct gt_kernel_times *s = find_stored(e, winner->problem_name, family, point);
    if (best == NULL || s == NULL)
        return false;
    const bool finals = s->final_ns > 0 && best->final_ns > 0;
    *ns = finals ? s->final_ns : s->tried_ns;
    *best_ns = finals ? best->final_ns : best->tried_ns;
    return *ns > 0 && *best_ns > 0;
}
