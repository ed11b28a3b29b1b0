/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_list.c - see sweep_list.h. */
#include "tuner/base/sweep_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void gt_sweep_clear(struct gt_sweep *s) {
    free(s->item);
    *s = (struct gt_sweep){0};
}

gt_status gt_sweep_reserve(struct gt_sweep *s, size_t more, struct gt_err *err) {
    struct gt_sweep_item *item = realloc(s->item, (s->count + more) * sizeof *item);
    if (item == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", s->count + more);
    s->item = item;
    return GEMMTUNE_OK;
}

void gt_sweep_append(struct gt_sweep *s, const gemmtune_problem *p, double weight) {
    struct gt_sweep_item *item = &s->item[s->count++];
    item->problem = *p;
    item->weight = weight;
    item->count = 1;
    (void)gt_problem_name(p, item->name);
}

static size_t hash_name(const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

/* Finds the slot in which the name stands or belongs. The table has a power of two of
 * slots; a slot holds item + 1, or 0 when it is empty. */
static size_t slot_of(const size_t *table, size_t mask, const struct gt_sweep *s,
                      const char *name) {
    size_t slot = hash_name(name) & mask;
    while (table[slot] != 0 && strcmp(s->item[table[slot] - 1].name, name) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

static void join(struct gt_sweep_item *into, const struct gt_sweep_item *same,
                 bool adds_up) {
    into->weight = adds_up ? into->weight + same->weight : fmax(into->weight, same->weight);
    into->count = same->count < GT_SWEEP_CALLS_MAX - into->count ? into->count + same->count
                                                                 : GT_SWEEP_CALLS_MAX;
}

gt_status gt_sweep_merge(struct gt_sweep *s, bool adds_up, struct gt_err *err) {
    size_t size = 16, kept = 0;
    while (size < 2 * s->count)
        size *= 2;
    size_t *table = calloc(size, sizeof *table);
    if (table == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu problems", s->count);
    for (size_t i = 0; i < s->count; i++) {
        const size_t slot = slot_of(table, size - 1, s, s->item[i].name);
        if (table[slot] == 0) {
            s->item[kept] = s->item[i];
            table[slot] = ++kept;
        } else {
            join(&s->item[table[slot] - 1], &s->item[i], adds_up);
        }
    }
    s->count = kept;
    free(table);
    return GEMMTUNE_OK;
}
