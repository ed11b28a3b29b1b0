/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - the list of strategies, and the one that tries everything in order. */
#include "tuner/search.h"

#include <stdlib.h>
#include <string.h>

const struct gt_strategy *const gt_strategies[] = {&gt_search_local, &gt_search_full, NULL};

const struct gt_strategy *gt_strategy_find(const char *name) {
    for (const struct gt_strategy *const *s = gt_strategies; *s; s++)
        if (strcmp((*s)->name, name) == 0)
            return *s;
    return NULL;
}

uint64_t gt_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- full ---- */

struct full {
    struct gt_search_setup setup;
    struct gt_pick next;
    size_t given;
};

static gt_status full_create(void **self, const struct gt_search_setup *setup,
                             struct gt_err *err) {
    struct full *f = calloc(1, sizeof *f);
    *self = f;
    if (!f)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the search");
    f->setup = *setup;
    return GEMMTUNE_OK;
}

static enum gt_ask full_ask(void *self, struct gt_pick *out) {
    struct full *f = self;
    while (f->next.space < f->setup.spaces &&
           f->next.index >= f->setup.space[f->next.space].count)
        f->next = (struct gt_pick){.space = f->next.space + 1};
    if (f->next.space >= f->setup.spaces || f->given >= f->setup.budget)
        return GT_ASK_DONE;
    *out = f->next;
    f->next.index++;
    f->given++;
    return GT_ASK_PICK;
}

static void full_tell(void *self, const struct gt_pick *pick, gt_outcome outcome,
                      double ns) {
    (void)self;
    (void)pick;
    (void)outcome;
    (void)ns;
}

const struct gt_strategy gt_search_full = {
    .name = "full",
    .about = "every legal point, in order",
    .create = full_create,
    .destroy = free,
    .ask = full_ask,
    .tell = full_tell,
};
