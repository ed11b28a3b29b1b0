/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_index.h - the inside of gt_index: known kernels in the order of their problems'
 * names, and in trees.
 *
 * A tree holds the kernels of one kind: kernels of one device, measured here or elsewhere,
 * for problems that differ in their sizes and epilogues alone. It is a k-d tree (Bentley
 * 1975) over the problems' places. A search takes the nearest kernels out of several trees,
 * one after another (Hjaltason and Samet 1999).
 *
 * An index takes about 80 bytes a kernel. It never changes after it was made.
 */
#ifndef GT_RUNTIME_LOOKUP_MATCH_INDEX_H
#define GT_RUNTIME_LOOKUP_MATCH_INDEX_H

#include "runtime/lookup/match_inside.h"

/* A kernel in its tree. */
struct gt_index_entry {
    const struct gt_known *known;
    double at[GT_PLACE_DIMS]; /* the place of its problem */
    uint64_t kind;            /* of the problem; see match_index.c */
};

/* The entries from `begin` to before `end`, and the least box around them. */
struct gt_index_node {
    double low[GT_PLACE_DIMS], high[GT_PLACE_DIMS];
    size_t begin, end;
    size_t halves; /* the first of two nodes, side by side; 0: a leaf */
};

struct gt_index {
    size_t count, node_count, root_count;
    const struct gt_known **by_name; /* by problem name; of equal ones the first is first */
    struct gt_index_entry *entry;    /* tree by tree */
    struct gt_index_node *node;      /* the roots of all trees stand first */
};

/* The place in by_name of the first kernel of this problem; when there is none, of the next
 * one. */
size_t gt_index_find(const struct gt_index *index, const char *problem_name);

/* ---- the search (match_nearest.c) ---------------------------------------------------- */

/* Goes through the kernels of other problems than the query's, nearest first. */
struct gt_nearest;
/* `preference` is GT_OTHER_HERE or GT_OTHER_ARCH. ENOMEM. */
gt_status gt_nearest_begin(struct gt_nearest **out, const struct gt_lookup *l,
                           enum gt_preference preference, struct gt_err *err);
/* The next `most` candidates; fewer at the end. ENOMEM. */
gt_status gt_nearest_next(struct gt_near *out, size_t *count, size_t most,
                          struct gt_nearest *s, struct gt_err *err);
void gt_nearest_end(struct gt_nearest *s);

#endif
