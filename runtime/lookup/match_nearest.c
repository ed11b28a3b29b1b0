/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_nearest.c - the nearest kernels of an index, one after another.
 *
 * A heap holds nodes and kernels. A node stands at the least distance that a kernel in it
 * may have. The first of the heap is taken out: a kernel is the next result, a node is
 * replaced by its halves or its kernels. So the kernels come in the order of gt_near_select
 * for candidates of one preference: by distance, rank, and place in the array.
 */
#include "runtime/lookup/match_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The distance of a box may come out larger than the distance of a kernel at its edge, by
 * rounding. This is more than the rounding of numbers up to 64. */
static const double rounding = 1e-9;

enum { ROOM_MIN = 256 };

struct item {
    double distance;              /* of a node: the least one */
    double apart;                 /* the part of it that is not one of sizes */
    const struct gt_known *known; /* NULL: a node */
    size_t node;
};

struct gt_nearest {
    const struct gt_lookup *lookup;
    enum gt_preference preference;
    double at[GT_PLACE_DIMS]; /* the place of the query's problem */
    size_t count, room;
    struct item *heap;
};

/* ---- the heap ---------------------------------------------------------------------- */

/* Whether x comes out first. A node comes before a kernel of its distance, since it may
 * hold one of a better rank. */
static bool is_first(const struct item *x, const struct item *y) {
    if (x->distance != y->distance)
        return x->distance < y->distance;
    if (x->known == NULL || y->known == NULL)
        return y->known != NULL;
    if (x->known->rank != y->known->rank)
        return x->known->rank < y->known->rank;
    return x->known < y->known;
}

static gt_status push(struct gt_nearest *s, struct item new, struct gt_err *err) {
    if (s->count == s->room) {
        const size_t room = s->room == 0 ? ROOM_MIN : 2 * s->room;
        struct item *grown = realloc(s->heap, room * sizeof *grown);
        if (grown == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        s->heap = grown;
        s->room = room;
    }
    size_t i = s->count++;
    while (i > 0 && is_first(&new, &s->heap[(i - 1) / 2])) {
        s->heap[i] = s->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->heap[i] = new;
    return GEMMTUNE_OK;
}

static struct item pop(struct gt_nearest *s) {
    const struct item first = s->heap[0], last = s->heap[--s->count];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->count) {
        if (child + 1 < s->count && is_first(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!is_first(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

/* ---- nodes ------------------------------------------------------------------------- */

static double least_distance(const struct gt_nearest *s, const struct gt_index_node *n) {
    double nearest[GT_PLACE_DIMS];
    for (int d = 0; d < GT_PLACE_DIMS; d++)
        nearest[d] = fmin(fmax(s->at[d], n->low[d]), n->high[d]);
    return sqrt(gt_place_distance2(nearest, s->at)) - rounding;
}

static gt_status push_node(struct gt_nearest *s, size_t node, double apart,
                           struct gt_err *err) {
    const struct gt_index_node *n = &s->lookup->query.snapshot->index->node[node];
    const struct item item = {
        .distance = least_distance(s, n) + apart, .apart = apart, .node = node};
    return push(s, item, err);
}

/* Kernels of the query's own problem are left out, and those in another arithmetic. */
static gt_status push_kernels(struct gt_nearest *s, const struct gt_index_node *n,
                              double apart, struct gt_err *err) {
    const struct gt_index *index = s->lookup->query.snapshot->index;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = n->begin; i < n->end && status == GEMMTUNE_OK; i++) {
        const struct gt_index_entry *e = &index->entry[i];
        const struct item item = {
            .distance = sqrt(gt_place_distance2(e->at, s->at)) + apart, .known = e->known};
        if (strcmp(e->known->problem_name, s->lookup->name) != 0 &&
            gt_near_computes_alike(e->known, s->lookup->query.problem))
            status = push(s, item, err);
    }
    return status;
}

static gt_status open_node(struct gt_nearest *s, const struct item *item,
                           struct gt_err *err) {
    const struct gt_index_node *n = &s->lookup->query.snapshot->index->node[item->node];
    if (n->halves == 0)
        return push_kernels(s, n, item->apart, err);
    const gt_status status = push_node(s, n->halves, item->apart, err);
    return status == GEMMTUNE_OK ? push_node(s, n->halves + 1, item->apart, err) : status;
}

/* ---- the nearest ------------------------------------------------------------------- */

/* Whether the caller accepts the kernels of the tree, and they have the preference that is
 * asked for. */
static bool belongs(const struct gt_nearest *s, const struct gt_known *any) {
    const struct gt_query *q = &s->lookup->query;
    const bool mine = strcmp(any->device_key, q->device_key) == 0;
    return mine == (s->preference == GT_OTHER_KEY) &&
           (mine || strcmp(any->arch, q->device->arch) == 0) &&
           gt_near_match(s->lookup, any) <= q->worst &&
           gt_near_may_serve(&any->problem, q->problem);
}

gt_status gt_nearest_begin(struct gt_nearest **out, const struct gt_lookup *l,
                           enum gt_preference preference, struct gt_err *err) {
    const struct gt_index *index = l->query.snapshot->index;
    gt_status status = GEMMTUNE_OK;
    struct gt_nearest *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    s->lookup = l;
    s->preference = preference;
    gt_problem_place(s->at, l->query.problem);
    for (size_t i = 0; i < index->root_count && status == GEMMTUNE_OK; i++) {
        const struct gt_known *any = index->entry[index->node[i].begin].known;
        if (belongs(s, any))
            status = push_node(s, i, gt_near_apart(any, l->query.problem), err);
    }
    return status;
}

gt_status gt_nearest_next(struct gt_near *out, size_t *count, size_t most,
                          struct gt_nearest *s, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *count = 0;
    while (s->count > 0 && *count < most && status == GEMMTUNE_OK) {
        const struct item item = pop(s);
        if (item.known == NULL)
            status = open_node(s, &item, err);
        else
            out[(*count)++] =
                (struct gt_near){.known = item.known,
                                 .preference = s->preference,
                                 .match = gt_near_match(s->lookup, item.known),
                                 .distance = item.distance};
    }
    return status;
}

void gt_nearest_end(struct gt_nearest *s) {
    if (s != NULL)
        free(s->heap);
    free(s);
}
