/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_walk.c - the candidates of a query, group by group. Without an index all of them
 * are gathered, and each group is selected among the candidates that are left. With an
 * index only the records of this very problem are gathered. The others come from a search,
 * which begins when they are asked for.
 */
#include "runtime/lookup/match_index.h"

#include <stdlib.h>
#include <string.h>

/* Gathers the records of this very problem. */
static gt_status gather_same(struct gt_match_walk *w, struct gt_err *err) {
    const struct gt_index *index = w->lookup->query.snapshot->index;
    const char *name = w->lookup->name;
    const size_t begin = gt_index_find(index, name);
    size_t end = begin;
    while (end < index->count && strcmp(index->by_name[end]->problem_name, name) == 0)
        end++;
    if (begin == end)
        return GEMMTUNE_OK;
    w->all = malloc((end - begin) * sizeof *w->all);
    if (w->all == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = begin; i < end; i++)
        w->count += gt_near_classify(&w->all[w->count], w->lookup, index->by_name[i]);
    return GEMMTUNE_OK;
}

gt_status gt_match_walk_begin(struct gt_match_walk *w, const struct gt_lookup *l,
                              struct gt_err *err) {
    w->lookup = l;
    w->seen = w->count = w->at = 0;
    w->all = NULL;
    w->nearest = NULL;
    w->preference = GT_SAME_HERE;
    return l->query.snapshot->index != NULL ? gather_same(w, err)
                                            : gt_near_gather(&w->all, &w->count, l, err);
}

/* The next group of the gathered candidates. */
static size_t take_gathered(struct gt_near **group, struct gt_match_walk *w) {
    const size_t left = w->count - w->at;
    const size_t most = left < GT_NEAR_MAX ? left : GT_NEAR_MAX;
    size_t count = 0;
    *group = w->all + w->at;
    gt_near_select(*group, left, most);
    while (count < most && (*group)[count].preference == (*group)->preference)
        count++;
    w->at += count;
    return count;
}

size_t gt_match_walk_same(struct gt_near **group, struct gt_match_walk *w) {
    const size_t count = w->at < w->count ? take_gathered(group, w) : 0;
    return count > 0 && (*group)->preference <= GT_SAME_UNCHECKED ? count : 0;
}

/* The gathered candidates that have the walk's preference. */
static size_t take_same(struct gt_near **group, struct gt_match_walk *w) {
    const size_t at = w->at, count = w->at < w->count ? take_gathered(group, w) : 0;
    if (count == 0 || (*group)->preference == w->preference)
        return count;
    w->at = at; /* their turn comes later */
    return 0;
}

static gt_status take_found(struct gt_near **group, size_t *count, struct gt_match_walk *w,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *group = w->found;
    if (w->nearest == NULL)
        status = gt_nearest_begin(&w->nearest, w->lookup, w->preference, err);
    if (status == GEMMTUNE_OK)
        status = gt_nearest_next(w->found, count, GT_NEAR_MAX, w->nearest, err);
    return status;
}

/* The next group of the walk's preference; none when there is no more of it. */
static gt_status take_preferred(struct gt_near **group, size_t *count,
                                struct gt_match_walk *w, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *count = 0;
    if (w->preference == GT_OTHER_KEY || w->preference == GT_OTHER_ARCH)
        status = take_found(group, count, w, err);
    else
        *count = take_same(group, w);
    return status;
}

static void go_on(struct gt_match_walk *w) {
    gt_nearest_end(w->nearest);
    w->nearest = NULL;
    w->preference++;
}

static gt_status next_of_index(struct gt_near **group, size_t *count,
                               struct gt_match_walk *w, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *count = 0;
    while (w->preference <= GT_OTHER_ARCH && status == GEMMTUNE_OK && *count == 0) {
        status = take_preferred(group, count, w, err);
        if (*count == 0)
            go_on(w);
    }
    return status;
}

gt_status gt_match_walk_next(struct gt_near **group, size_t *count, struct gt_match_walk *w,
                             struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (w->lookup->query.snapshot->index != NULL)
        status = next_of_index(group, count, w, err);
    else
        *count = w->at < w->count ? take_gathered(group, w) : 0;
    w->seen += *count;
    return status;
}

void gt_match_walk_end(struct gt_match_walk *w) {
    gt_nearest_end(w->nearest);
    free(w->all);
}
