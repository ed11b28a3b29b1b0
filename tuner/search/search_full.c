/* SPDX-License-Identifier: Apache-2.0 */
/* search_full.c - all points: in order, and in random order. */
#include "tuner/search/search.h"

#include <stdlib.h>

struct full {
    struct gt_search *search;
    struct gt_pick next;
};

static gt_status full_create(void **self, struct gt_search *search, struct gt_err *err) {
    struct full *f = calloc(1, sizeof *f);
    *self = f;
    if (!f)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    f->search = search;
    return GEMMTUNE_OK;
}

static enum gt_ask full_ask(void *self, struct gt_pick *out) {
    struct full *f = self;
    const struct gt_search_setup *setup = gt_search_setup_of(f->search);
    for (; f->next.space < setup->spaces; f->next = (struct gt_pick){f->next.space + 1, 0})
        for (; f->next.index < setup->space[f->next.space].count; f->next.index++)
            if (!gt_search_taken(f->search, f->next)) {
                *out = f->next;
                return GT_ASK_PICK;
            }
    return GT_ASK_DONE;
}

static enum gt_ask random_ask(void *self, struct gt_pick *out) {
    struct full *f = self;
    return gt_search_any(out, f->search) ? GT_ASK_PICK : GT_ASK_DONE;
}

static void ignore(void *self, const struct gt_pick *pick, gt_outcome outcome, double ns) {
    (void)self;
    (void)pick;
    (void)outcome;
    (void)ns;
}

const struct gt_strategy gt_search_full = {
    .name = "full",
    .create = full_create,
    .destroy = free,
    .ask = full_ask,
    .tell = ignore,
};

const struct gt_strategy gt_search_random = {
    .name = "random",
    .create = full_create,
    .destroy = free,
    .ask = random_ask,
    .tell = ignore,
};
