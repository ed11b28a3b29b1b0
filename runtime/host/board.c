/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - which device computes which tile of C. See engine.h. */
#include "runtime/host/board.h"

/* The range with the most tiles left. */
static struct gt_host_range *longest(struct gt_host_board *b) {
    struct gt_host_range *best = &b->range[0];
    for (int i = 1; i < b->ranges; i++)
        if (b->range[i].end - b->range[i].next > best->end - best->next)
            best = &b->range[i];
    return best;
}

const struct gt_host_tile *gt_host_board_take(struct gt_host_board *b, int device) {
    struct gt_host_range *own = &b->range[device];
    if (own->next < own->end)
        return &b->tile[own->next++];
    struct gt_host_range *other = longest(b);
    return other->next < other->end ? &b->tile[--other->end] : NULL;
}
