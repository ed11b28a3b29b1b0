/* SPDX-License-Identifier: Apache-2.0 */
/* emit_general.c - general kernels: for each kind of problem a few that serve any shape,
 * and one among them that never refuses. */
#include "tuner/emit/emit_inside.h"

#include "runtime/lookup/model.h"

#include <string.h>

enum { BATCH_FEW = 3 };

/* The choice that a lookup makes, among kernels that serve many problems. */
struct wish {
    const struct gt_emit_kit *kit;
    int target;
    bool any_shape;                /* no rule of the family may refuse a problem */
    const struct gt_family *small; /* this family alone; NULL: any */
};

static bool is_skipped(void *user, const struct gt_choice *c) {
    const struct wish *w = user;
    const struct gt_family *f = c->family;
    if (!gt_emit_is_general(&c->fit) || (w->small != NULL && w->small != f))
        return true;
    if (w->any_shape && (f->accept_count > 0 || f->map_count > 0))
        return true;
    return gt_emit_failed(w->kit, w->target, &c->fit);
}

/* ---- shapes that stand for others ---- */

/* Sizes for which a general kernel is chosen. */
static const struct {
    int64_t m, n, k;
    bool odd; /* rows begin anywhere */
} stand_ins[] = {
    {4096, 4096, 4096, false}, {4099, 4101, 4103, true}, {256, 256, 1024, false},
    {16, 4096, 4096, false},   {509, 521, 523, true},
};
/* The last one stands for kernels that take any problem: a tile of middle size is never far
 * from the best. */
enum { ANY = sizeof stand_ins / sizeof *stand_ins - 1 };

/* A problem of the types of `like`. */
static gt_status make_problem(gemmtune_problem *out, const gemmtune_problem *like,
                              int layout, int kind, int shape, struct gt_err *err) {
    gemmtune_problem p = {.struct_size = sizeof p,
                          .layout = GEMMTUNE_ROW_MAJOR,
                          .trans_a = (gemmtune_trans)(layout / 2),
                          .trans_b = (gemmtune_trans)(layout % 2),
                          .type_a = like->type_a,
                          .type_b = like->type_b,
                          .type_c = like->type_c,
                          .type_acc = like->type_acc,
                          .math = like->math,
                          .batch_kind =
                              kind == 2 ? GEMMTUNE_BATCH_POINTERS : GEMMTUNE_BATCH_STRIDED,
                          .m = stand_ins[shape].m,
                          .n = stand_ins[shape].n,
                          .k = stand_ins[shape].k,
                          .batch = kind == 0 ? 1 : BATCH_FEW,
                          .stride_a = GEMMTUNE_PACKED,
                          .stride_b = GEMMTUNE_PACKED,
                          .stride_c = GEMMTUNE_PACKED,
                          .epilogue = like->epilogue};
    return gt_problem_canonical(out, NULL, &p, err);
}

/* ---- choices ---- */

/* Picoseconds for a multiply-add of a tile while every unit has one. */
static void set_cost(struct gt_emit_kernel *k, const struct gt_device *d) {
    const gemmtune_problem *p = &k->fit.problem;
    int64_t shape[GT_SHAPE_COUNT];
    struct gt_prediction prediction;
    struct gt_model model;
    k->tile[0] = k->tile[1] = 64;
    k->cost = 1000;
    if (!gt_shape_of(shape, &k->fit.binding))
        return;
    k->tile[0] = (int)shape[GT_SHAPE_TILE_M];
    k->tile[1] = (int)shape[GT_SHAPE_TILE_N];
    gt_model_begin(&model, &k->fit.binding, d);
    if (!gt_model_predict_fit(&prediction, &model, &k->fit))
        return;
    const double tiles = (double)((p->m + k->tile[0] - 1) / k->tile[0]) *
                         (double)((p->n + k->tile[1] - 1) / k->tile[1]) * (double)p->batch;
    const double rounds = tiles / d->units < 1 ? 1 : tiles / d->units;
    k->ns = prediction.ns;
    k->cost =
        1000 * prediction.ns / (rounds * k->tile[0] * k->tile[1] * (double)(p->k + 64));
}

/* Whether the kit has this very kernel for the same kind already. */
static bool is_there(const struct gt_emit_kit *kit, int target, const char *kind,
                     const struct gt_choice *c) {
    for (int i = 0; i < kit->kernels; i++) {
        const struct gt_emit_kernel *k = &kit->kernel[i];
        const struct gt_family *f = k->fit.binding.family;
        bool same = k->general && k->target == target && strcmp(k->name, kind) == 0 &&
                    f == c->family;
        for (int j = 0; same && j < f->param_count; j++)
            same = k->fit.binding.value[f->param[j].slot] ==
                   c->fit.binding.value[f->param[j].slot];
        if (same)
            return true;
    }
    return false;
}

/* The words of a kind, for people. */
static void name_kind(char out[GT_PROBLEM_NAME_MAX], const gemmtune_problem *p, int kind) {
    static const char *const words[] = {"", ", batches", ", batches of pointers"};
    const struct gt_dtype *type = gt_dtype_of(p);
    (void)snprintf(out, GT_PROBLEM_NAME_MAX, "%s-%s%s%s%s", type != NULL ? type->name : "?",
                   gt_problem_layout(p), words[kind], p->epilogue != NULL ? ", epi=" : "",
                   p->epilogue != NULL ? p->epilogue : "");
}

static gt_status choose(struct gt_emit_kit *kit, int target, const gemmtune_problem *p,
                        int kind, bool odd, struct wish w, struct gt_err *err) {
    const struct gt_emit_target *t = &kit->target[target];
    const struct gt_query query = {.snapshot = &t->snapshot,
                                   .device = &t->device,
                                   .device_key = t->device_key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = 0,
                                   .pointer_align = odd ? 1 : GT_VECTOR_BYTES,
                                   .skip = is_skipped,
                                   .user = &w};
    char name[GT_PROBLEM_NAME_MAX];
    struct gt_choice choice;
    struct gt_emit_kernel *k = NULL;
    name_kind(name, p, kind);
    gt_status status = gt_match(&choice, &query, err);
    if (status == GEMMTUNE_ENOTFOUND && w.small != NULL)
        return choose(kit, target, p, kind, odd,
                      (struct wish){kit, target, w.any_shape, NULL}, err);
    if (status == GEMMTUNE_ENOTFOUND && !w.any_shape)
        return GEMMTUNE_OK;
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status, "no general kernel for %s", name);
    if (is_there(kit, target, name, &choice))
        return GEMMTUNE_OK;
    status = gt_emit_add(&k, kit, target, err);
    if (status != GEMMTUNE_OK)
        return status;
    memcpy(k->name, name, sizeof k->name);
    k->general = true;
    k->fit = choice.fit;
    k->match = choice.match;
    k->units = gt_emit_units(t, &k->fit);
    set_cost(k, &t->device);
    return GEMMTUNE_OK;
}

/* ---- kinds ---- */

static int kind_of(const gemmtune_problem *p) {
    return gt_problem_has_pointers(p) ? 2 : gt_problem_is_batch(p);
}

/* Whether two problems have the same types, arithmetic and epilogue. */
static bool alike(const gemmtune_problem *p, const gemmtune_problem *q) {
    const char *const e = p->epilogue, *const f = q->epilogue;
    return gt_dtype_of(p) == gt_dtype_of(q) && (e == NULL) == (f == NULL) &&
           (e == NULL || strcmp(e, f) == 0);
}

/* Whether an earlier problem of the sweep is alike, or, with `whole_kind`, has this layout
 * and kind of batch as well. */
static bool is_repeated(const struct gt_sweep *sweep, size_t at, bool whole_kind) {
    const gemmtune_problem *p = &sweep->item[at].problem;
    for (size_t i = 0; i < at; i++) {
        const gemmtune_problem *q = &sweep->item[i].problem;
        if (alike(p, q) &&
            (!whole_kind || (kind_of(p) == kind_of(q) && p->trans_a == q->trans_a &&
                             p->trans_b == q->trans_b)))
            return true;
    }
    return false;
}

/* Whether the sweep has a problem of these types, this layout, and this kind of batch;
 * kernels for strides serve single products, too. */
static bool has_kind(const struct gt_sweep *sweep, const gemmtune_problem *p) {
    for (size_t i = 0; i < sweep->count; i++) {
        const gemmtune_problem *q = &sweep->item[i].problem;
        if (alike(p, q) && p->trans_a == q->trans_a && p->trans_b == q->trans_b &&
            gt_problem_has_pointers(p) == gt_problem_has_pointers(q))
            return true;
    }
    return false;
}

/* For each layout a kernel for batches at strides, which serves single products too, and
 * one for pointers: they take any problem. Where the sweep has no problem of such a kind, a
 * small one is enough. */
static gt_status choose_plain(struct gt_emit_kit *kit, int target,
                              const gemmtune_problem *like, const struct gt_sweep *sweep,
                              struct gt_err *err) {
    const struct gt_family *small =
        gt_families_with_role(kit->target[target].snapshot.families, GT_ROLE_TEXTBOOK);
    gt_status status = GEMMTUNE_OK;
    for (int layout = 0; layout < GT_LAYOUTS; layout++)
        for (int kind = 1; kind <= 2 && status == GEMMTUNE_OK; kind++) {
            gemmtune_problem p;
            status = make_problem(&p, like, layout, kind, ANY, err);
            if (status != GEMMTUNE_OK)
                return status;
            const struct wish w = {kit, target, true, has_kind(sweep, &p) ? NULL : small};
            status = choose(kit, target, &p, kind, true, w, err);
        }
    return status;
}

/* Faster ones for the kinds that the sweep has. */
static gt_status choose_fast(struct gt_emit_kit *kit, int target,
                             const gemmtune_problem *like, struct gt_err *err) {
    const int layout =
        2 * (like->trans_a != GEMMTUNE_NOTRANS) + (like->trans_b != GEMMTUNE_NOTRANS);
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < ANY && status == GEMMTUNE_OK; i++) {
        gemmtune_problem p;
        status = make_problem(&p, like, layout, kind_of(like), i, err);
        if (status == GEMMTUNE_OK)
            status = choose(kit, target, &p, kind_of(like), stand_ins[i].odd,
                            (struct wish){kit, target, false, NULL}, err);
    }
    return status;
}

gt_status gt_emit_choose_general(struct gt_emit_kit *kit, int target,
                                 const struct gt_sweep *sweep, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sweep->count && status == GEMMTUNE_OK; i++) {
        const gemmtune_problem *p = &sweep->item[i].problem;
        if (!is_repeated(sweep, i, true))
            status = choose_fast(kit, target, p, err);
        if (status == GEMMTUNE_OK && !is_repeated(sweep, i, false))
            status = choose_plain(kit, target, p, sweep, err);
    }
    return status;
}
