/* SPDX-License-Identifier: Apache-2.0 */
/* match_near.c - the records that may serve a query, in the order of preference and
 * distance. A lookup needs only the first few hundred in order, so only those are sorted.
 */
#include "runtime/lookup/match_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distances of problems that differ in more than sizes. */
static const double turned_operand = 1.5; /* per operand in the other layout */
static const double other_types = 0.5;
static const double other_arithmetic = 1; /* strict, where the problem allows more */
static const double single_for_batch = 1;
static const double measured_elsewhere = 0.5;

/* The known problem with these properties of `p`:
 *
 *     its layout
 *     its types, when they are alike
 *     its arithmetic, when the known problem is strict: a strict kernel may run it
 *     its number of products, when the known problem is a single product */
static gemmtune_problem likened(const gemmtune_problem *known, const gemmtune_problem *p) {
    const struct gt_dtype *types = gt_dtype_of(known), *own = gt_dtype_of(p);
    gemmtune_problem r = *known;
    r.trans_a = p->trans_a;
    r.trans_b = p->trans_b;
    if (gt_dtypes_alike(types, own) || gt_dtypes_alike(types, gt_dtype_strict(own))) {
        r.type_a = p->type_a;
        r.type_b = p->type_b;
        r.type_c = p->type_c;
        r.math = p->math;
    }
    if (!gt_problem_is_batch(known)) {
        r.batch_kind = p->batch_kind;
        r.batch = p->batch;
    }
    return r;
}

bool gt_near_may_serve(const gemmtune_problem *known, const gemmtune_problem *p) {
    const gemmtune_problem like = likened(known, p);
    return gt_problem_lends(&like, p);
}

bool gt_near_computes_alike(const struct gt_known *known, const gemmtune_problem *p) {
    const struct gt_dtype *measured = gt_family_dtype(known->family, &known->problem);
    const struct gt_dtype *own = gt_family_dtype(known->family, p);
    return known->problem.math == p->math ||
           (measured != NULL && own != NULL && measured->math == own->math);
}

double gt_near_apart(const struct gt_known *known, const gemmtune_problem *p) {
    const gemmtune_problem *x = &known->problem;
    return turned_operand * ((x->trans_a != p->trans_a) + (x->trans_b != p->trans_b)) +
           other_types * (gt_dtype_of(x) != gt_dtype_of(p)) +
           other_arithmetic * (x->math != p->math) +
           single_for_batch * (gt_problem_is_batch(x) != gt_problem_is_batch(p)) +
           (known->verified ? 0 : measured_elsewhere);
}

static double distance(const struct gt_known *known, const gemmtune_problem *p) {
    return sqrt(gt_problem_distance2(&known->problem, p)) + gt_near_apart(known, p);
}

bool gt_near_is_mine(const struct gt_lookup *l, const struct gt_known *known) {
    return strcmp(known->device_key, l->query.device_key) == 0;
}

static enum gt_preference preference_of(const struct gt_lookup *l,
                                        const struct gt_known *known) {
    const bool same = strcmp(known->problem_name, l->name) == 0;
    if (!gt_near_is_mine(l, known))
        return same ? GT_SAME_ARCH : GT_OTHER_ARCH;
    if (!same)
        return GT_OTHER_KEY;
    return known->verified ? GT_SAME_HERE : GT_SAME_UNCHECKED;
}

gemmtune_match gt_near_match(const struct gt_lookup *l, const struct gt_known *known) {
    return gt_near_is_mine(l, known) && known->verified ? GEMMTUNE_MATCH_SHAPE
                                                        : GEMMTUNE_MATCH_ARCH;
}

bool gt_near_classify(struct gt_near *out, const struct gt_lookup *l,
                      const struct gt_known *known) {
    if (!gt_near_may_serve(&known->problem, l->query.problem) ||
        !gt_near_computes_alike(known, l->query.problem))
        return false;
    if (!gt_near_is_mine(l, known) && strcmp(known->arch, l->query.device->arch) != 0)
        return false;
    out->known = known;
    out->preference = preference_of(l, known);
    out->match =
        out->preference == GT_SAME_HERE ? GEMMTUNE_MATCH_EXACT : gt_near_match(l, known);
    out->distance = distance(known, l->query.problem);
    return out->match <= l->query.worst;
}

/* Best first. Ties keep the order of the array, which is the database's. */
static int by_preference(const void *a, const void *b) {
    const struct gt_near *x = a, *y = b;
    int o = gt_compare((double)x->preference, (double)y->preference);
    if (o == 0)
        o = gt_compare(x->distance, y->distance);
    if (o == 0)
        o = gt_compare((double)x->known->rank, (double)y->known->rank);
    return o != 0 ? o : (x->known > y->known) - (x->known < y->known);
}

gt_status gt_near_gather(struct gt_near **out, size_t *count, const struct gt_lookup *l,
                         struct gt_err *err) {
    const struct gt_snapshot *s = l->query.snapshot;
    *count = 0;
    *out = NULL;
    if (s->count == 0)
        return GEMMTUNE_OK;
    *out = malloc(s->count * sizeof **out);
    if (*out == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < s->count; i++)
        *count += gt_near_classify(&(*out)[*count], l, &s->known[i]);
    return GEMMTUNE_OK;
}

static void exchange(struct gt_near *a, struct gt_near *b) {
    const struct gt_near held = *a;
    *a = *b;
    *b = held;
}

/* Moves the records that are better than the middle one to the front. Returns how many. */
static size_t partition(struct gt_near *near, size_t count) {
    size_t better = 0;
    exchange(&near[count / 2], &near[count - 1]);
    for (size_t i = 0; i + 1 < count; i++)
        if (by_preference(&near[i], &near[count - 1]) < 0)
            exchange(&near[i], &near[better++]);
    exchange(&near[better], &near[count - 1]);
    return better;
}

/* Hoare's quickselect; no two records are equal in by_preference. */
void gt_near_select(struct gt_near *near, size_t count, size_t most) {
    size_t begin = 0, end = count;
    while (most < end && end - begin > 1) {
        const size_t pivot = begin + partition(near + begin, end - begin);
        if (pivot >= most)
            end = pivot;
        else
            begin = pivot + 1;
    }
    qsort(near, most, sizeof *near, by_preference);
}
