/* SPDX-License-Identifier: Apache-2.0 */
/* build_general.c - see build_general.h. */
#include "tuner/cmd/build_general.h"

#include "tuner/cmd/session.h"

#include <math.h>
#include <string.h>

/* ---- the table --------------------------------------------------------------------- */

static double percent(const struct gt_general_loss *r, double loss) {
    return r->asked > r->refused ? round(1e4 * loss) / 100 : NAN;
}

#define LOSSES(X)                                                                          \
    X("types", "types", TEXT, 0, r->kind.types->name, "types of the problems")             \
    X("layout", "layout", TEXT, 0, r->kind.layout, "layout of A and B")                    \
    X("products", "products", TEXT, 0, r->kind.batch ? "batch" : "single",                 \
      "single products, or batches with strides")                                          \
    X("kernels", "kernels", COUNT, 0, r->kernels, "general kernels for them")              \
    X("asked", "asked", COUNT, 1, r->asked,                                                \
      "questions about drawn problems: with 32 MiB of workspace, without, and without "    \
      "for pointers that are not aligned")                                                 \
    X("refused", "refused", COUNT, 1, r->refused, "of these, no general kernel may run")   \
    X("loss_percent", "mean loss %", COUNT, 0, percent(r, r->mean),                        \
      "how much longer the best general kernel takes than the kernel of a lookup, by "     \
      "forecast: the mean")                                                                \
    X("loss_percent_95", "95 %", COUNT, 0, percent(r, r->of_95),                           \
      "the 95th percentile of these losses")                                               \
    X("loss_percent_worst", "worst", COUNT, 0, percent(r, r->largest), "the largest one")
GT_COLUMNS(loss, struct gt_general_loss, LOSSES)
const struct gt_form gt_build_general_form = GT_FORM(loss, "with --general");

int gt_build_general_print(const struct gt_general_set *set,
                           const struct gt_format *format) {
    struct gt_table *t = NULL;
    struct gt_err err = {""};
    gt_status status = gt_table_create(&t, &gt_build_general_form, &err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < set->losses; i++)
        status = add_loss(t, &set->loss[i], &err);
    if (status == GEMMTUNE_OK)
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

/* ---- the choice -------------------------------------------------------------------- */

static bool has_types(const struct gt_snapshot *s, const struct gt_dtype *row) {
    size_t i = 0;
    while (i < s->count && !(s->known[i].problem.epilogue == NULL &&
                             gt_dtype_of(&s->known[i].problem) == row))
        i++;
    return i < s->count;
}

/* The types of the results; without results f32 and f64. */
static struct gt_texts known_types(const struct gt_snapshot *s) {
    static const struct gt_texts usual = {2, {"f32", "f64"}};
    struct gt_texts types = {0};
    for (size_t i = 0; gt_dtype_at(i) != NULL && types.count < GT_TEXTS_MAX; i++)
        if (has_types(s, gt_dtype_at(i)))
            types.text[types.count++] = gt_dtype_at(i)->name;
    return types.count > 0 ? types : usual;
}

int gt_build_general_choose(struct gt_general_set *set,
                            const struct gt_build_general_values *v,
                            const struct gt_snapshot *snapshot, const struct gt_device *d,
                            struct gt_progress *progress) {
    const struct gt_texts types = v->types.count > 0 ? v->types : known_types(snapshot);
    const struct gt_general_setup setup = {.snapshot = snapshot,
                                           .device = d,
                                           .kernels = (size_t)v->kernels,
                                           .draws = (size_t)v->draws,
                                           .seed = (uint64_t)v->seed,
                                           .progress = progress,
                                           .stop = &gt_session_stop};
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < types.count && status == GEMMTUNE_OK; i++)
        status = gt_general_make(set, &setup, types.text[i], &err);
    gt_progress_end(progress);
    if (status == GEMMTUNE_ESTOPPED)
        return gt_session_exit(GT_EXIT_OK);
    if (status == GEMMTUNE_EPARSE)
        return gt_die(GT_EXIT_USAGE, "build: %s", err.line);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}
