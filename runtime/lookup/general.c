/* SPDX-License-Identifier: Apache-2.0 */
/* general.c - see general.h: which general kernel for a problem. general_file.c has the
 * list's text. */
#include "runtime/lookup/general.h"

#include "core/room.h"
#include "runtime/lookup/match_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list -------------------------------------------------------------------- */

void gt_generals_clear(struct gt_generals *g) {
    free(g->item);
    *g = (struct gt_generals){.count = 0};
}

bool gt_generals_add(struct gt_generals *g, const struct gt_general *kernel) {
    struct gt_general *const all = gt_room_for(g->item, &g->room, g->count, sizeof *all);
    if (all == NULL)
        return false;
    g->item = all;
    g->item[g->count++] = *kernel;
    return true;
}

bool gt_general_may(const struct gt_family *f) {
    return !f->per_problem;
}

/* ---- forecasts ------------------------------------------------------------------- */

bool gt_general_forecast(double *ns, struct gt_fit *fit, const struct gt_query *q,
                         const struct gt_family *f, const int64_t *values) {
    const struct gt_device device = gt_model_device(q->device);
    struct gt_prediction prediction;
    struct gt_model model;
    *ns = 0;
    if (gt_fit_values(fit, f, q->device, q->problem, q->pointer_align, values, NULL) !=
            GEMMTUNE_OK ||
        (uint64_t)fit->passes.workspace_bytes > q->workspace_max)
        return false;
    gt_model_begin(&model, &fit->binding, &device);
    if (gt_model_predict_fit(&prediction, &model, fit))
        *ns = fmax(prediction.ns, 1);
    return true;
}

/* Whether the kernels of the kind may serve the problem: kernels of strict arithmetic serve
 * any other, and an epilogue is a part of an image. A problem with row_order waits for a
 * kernel with its order of sums. */
static bool is_of_kind(const struct gt_general_kind *kind, const gemmtune_problem *p) {
    const struct gt_dtype *own = gt_dtype_of(p);
    return p->epilogue == NULL && !p->row_order &&
           p->batch_kind == GEMMTUNE_BATCH_STRIDED &&
           (kind->types == own || kind->types == gt_dtype_strict(own)) &&
           kind->batch == gt_problem_is_batch(p) &&
           strcmp(kind->layout, gt_problem_layout(p)) == 0;
}

static int by_time(const void *a, const void *b) {
    const struct gt_general_rank *x = a, *y = b;
    const double left = x->ns > 0 ? x->ns : INFINITY, right = y->ns > 0 ? y->ns : INFINITY;
    const int o = gt_compare(left, right);
    return o != 0 ? o : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

size_t gt_generals_rank(struct gt_general_rank out[GT_GENERALS_RANKED],
                        const struct gt_generals *g, const struct gt_query *q) {
    size_t count = 0;
    struct gt_fit fit;
    for (size_t i = 0; i < g->count && count < GT_GENERALS_RANKED; i++) {
        const struct gt_general *kernel = &g->item[i];
        double ns;
        if (is_of_kind(&kernel->kind, q->problem) &&
            gt_general_forecast(&ns, &fit, q, kernel->family, kernel->values))
            out[count++] = (struct gt_general_rank){kernel, ns};
    }
    if (count > 1)
        qsort(out, count, sizeof *out, by_time);
    return count;
}

bool gt_general_choose(struct gt_choice *out, const struct gt_general_rank *rank,
                       const struct gt_query *q, double best_ns) {
    memset(out, 0, sizeof *out);
    out->match = GEMMTUNE_MATCH_DEFAULT;
    out->family = rank->kernel->family;
    gt_point_of_values(&out->point, out->family, rank->kernel->values);
    if (!gt_general_forecast(&out->forecast_ns, &out->fit, q, out->family,
                             rank->kernel->values))
        return false;
    out->expected_loss = best_ns > 0 && out->forecast_ns > 0
                             ? fmax(out->forecast_ns / best_ns - 1, 0)
                             : GT_LOSS_UNKNOWN;
    (void)snprintf(out->why, sizeof out->why,
                   "a general kernel of family %s, while a better one is built",
                   out->family->name);
    return true;
}
