/* SPDX-License-Identifier: Apache-2.0 */
/* match_index.c - see match_index.h: how an index is made. */
#include "runtime/lookup/match_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAF_MAX = 16, /* entries of a leaf */
    NODES_MIN = 64 /* room for nodes at first */
};

/* ---- by name ----------------------------------------------------------------------- */

/* The array's order decides among records of one problem. */
static int by_name(const void *a, const void *b) {
    const struct gt_known *const *x = a, *const *y = b;
    const int names = strcmp((*x)->problem_name, (*y)->problem_name);
    return names != 0 ? names : (*x > *y) - (*x < *y);
}

/* A database gives its records in the order of their names, mostly. */
static void sort_by_name(struct gt_index *index) {
    size_t i = 1;
    while (i < index->count && by_name(&index->by_name[i - 1], &index->by_name[i]) < 0)
        i++;
    if (i < index->count)
        qsort(index->by_name, index->count, sizeof *index->by_name, by_name);
}

size_t gt_index_find(const struct gt_index *index, const char *problem_name) {
    size_t low = 0, high = index->count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (strcmp(index->by_name[mid]->problem_name, problem_name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- by kind ----------------------------------------------------------------------- */

/* Small numbers side by side: equal when gt_problem_lends gives the same answer for both
 * problems, whatever the problem that asks. */
static uint64_t kind_of(const gemmtune_problem *p) {
    const unsigned part[] = {(unsigned)p->type_a,
                             (unsigned)p->type_b,
                             (unsigned)p->type_c,
                             (unsigned)p->type_acc,
                             (unsigned)p->math,
                             (unsigned)p->trans_a << 1 | (unsigned)p->trans_b,
                             (unsigned)p->batch_kind << 1 | (p->batch > 1),
                             (unsigned)(p->row_order != 0) << 1 | (p->epilogue != NULL)};
    uint64_t packed = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        packed = packed << 8 | part[i];
    return packed;
}

static int compare_trees(const struct gt_index_entry *x, const struct gt_index_entry *y) {
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->known->verified != y->known->verified)
        return x->known->verified ? -1 : 1;
    return strcmp(x->known->device_key, y->known->device_key);
}

static int by_tree(const void *a, const void *b) {
    const struct gt_index_entry *x = a, *y = b;
    const int trees = compare_trees(x, y);
    return trees != 0 ? trees : (x->known > y->known) - (x->known < y->known);
}

/* ---- nodes ------------------------------------------------------------------------- */

/* Appends a node of these entries, with its box. */
static gt_status add_node(struct gt_index *index, size_t *room, size_t begin, size_t end,
                          struct gt_err *err) {
    if (index->node_count == *room) {
        const size_t more = *room == 0 ? NODES_MIN : 2 * *room;
        struct gt_index_node *grown = realloc(index->node, more * sizeof *grown);
        if (grown == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        index->node = grown;
        *room = more;
    }
    struct gt_index_node *n = &index->node[index->node_count++];
    *n = (struct gt_index_node){.begin = begin, .end = end};
    for (int d = 0; d < GT_PLACE_DIMS; d++) {
        n->low[d] = n->high[d] = index->entry[begin].at[d];
        for (size_t i = begin + 1; i < end; i++) {
            n->low[d] = fmin(n->low[d], index->entry[i].at[d]);
            n->high[d] = fmax(n->high[d], index->entry[i].at[d]);
        }
    }
    return GEMMTUNE_OK;
}

static int widest(const struct gt_index_node *n) {
    int most = 0;
    for (int d = 1; d < GT_PLACE_DIMS; d++)
        if (n->high[d] - n->low[d] > n->high[most] - n->low[most])
            most = d;
    return most;
}

static bool is_before(const struct gt_index_entry *x, const struct gt_index_entry *y,
                      int dim) {
    return x->at[dim] != y->at[dim] ? x->at[dim] < y->at[dim] : x->known < y->known;
}

static void swap_entries(struct gt_index_entry *x, struct gt_index_entry *y) {
    const struct gt_index_entry held = *x;
    *x = *y;
    *y = held;
}

/* Moves the entries before the middle one to the front. Returns how many. */
static size_t part(struct gt_index_entry *e, size_t count, int dim) {
    size_t before = 0;
    swap_entries(&e[count / 2], &e[count - 1]);
    for (size_t i = 0; i + 1 < count; i++)
        if (is_before(&e[i], &e[count - 1], dim))
            swap_entries(&e[i], &e[before++]);
    swap_entries(&e[before], &e[count - 1]);
    return before;
}

/* Hoare's quickselect: the lower half comes to the front. No two entries are equal. */
static void halve(struct gt_index_entry *e, size_t count, int dim) {
    size_t begin = 0, end = count;
    while (end - begin > 1) {
        const size_t pivot = begin + part(e + begin, end - begin, dim);
        if (pivot >= count / 2)
            end = pivot;
        else
            begin = pivot + 1;
    }
}

/* A root for the entries of each kind. */
static gt_status add_roots(struct gt_index *index, size_t *room, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    size_t begin = 0;
    for (size_t i = 1; i <= index->count && status == GEMMTUNE_OK; i++)
        if (i == index->count ||
            compare_trees(&index->entry[i - 1], &index->entry[i]) != 0) {
            status = add_node(index, room, begin, i, err);
            begin = i;
        }
    index->root_count = index->node_count;
    return status;
}

/* Halves each node at the median of its widest side, down to the leaves. */
static gt_status add_halves(struct gt_index *index, size_t *room, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < index->node_count && status == GEMMTUNE_OK; i++) {
        const struct gt_index_node n = index->node[i];
        if (n.end - n.begin <= LEAF_MAX)
            continue;
        const size_t middle = n.begin + (n.end - n.begin) / 2;
        halve(index->entry + n.begin, n.end - n.begin, widest(&n));
        index->node[i].halves = index->node_count;
        status = add_node(index, room, n.begin, middle, err);
        if (status == GEMMTUNE_OK)
            status = add_node(index, room, middle, n.end, err);
    }
    return status;
}

/* ---- create ------------------------------------------------------------------------ */

static gt_status fill(struct gt_index *index, const struct gt_known *known,
                      struct gt_err *err) {
    size_t room = 0;
    for (size_t i = 0; i < index->count; i++) {
        index->by_name[i] = &known[i];
        index->entry[i].known = &known[i];
        index->entry[i].kind = kind_of(&known[i].problem);
        gt_problem_place(index->entry[i].at, &known[i].problem);
    }
    sort_by_name(index);
    qsort(index->entry, index->count, sizeof *index->entry, by_tree);
    const gt_status status = add_roots(index, &room, err);
    return status == GEMMTUNE_OK ? add_halves(index, &room, err) : status;
}

gt_status gt_index_create(struct gt_index **out, const struct gt_known *known, size_t count,
                          struct gt_err *err) {
    gt_status status = GEMMTUNE_ENOMEM;
    *out = NULL;
    struct gt_index *index = calloc(1, sizeof *index);
    if (index != NULL) {
        index->count = count;
        index->by_name = malloc((count + 1) * sizeof *index->by_name);
        index->entry = malloc((count + 1) * sizeof *index->entry);
    }
    if (index != NULL && index->by_name != NULL && index->entry != NULL)
        status = fill(index, known, err);
    else
        (void)gt_fail(err, status, "out of memory");
    if (status == GEMMTUNE_OK)
        *out = index;
    else
        gt_index_destroy(index);
    return status;
}

void gt_index_destroy(struct gt_index *index) {
    if (index == NULL)
        return;
    free(index->by_name);
    free(index->entry);
    free(index->node);
    free(index);
}
