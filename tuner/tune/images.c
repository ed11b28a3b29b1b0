/* SPDX-License-Identifier: Apache-2.0 */
/* images.c - see images.h: a hash table with open addressing. */
#include "tuner/tune/images.h"

#include "core/hash.h"
#include "core/mix.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 1024 }; /* places; always a power of two */

/* The source of the default point has all that sources take from the problem. */
uint64_t gt_images_kind(const struct gt_family *f, const struct gt_device *d,
                        const gemmtune_problem *p) {
    struct gt_point point;
    struct gt_binding b;
    char *source = NULL;
    uint64_t kind = 0;
    gt_family_default(f, &point);
    gt_bind_problem(&b, f, d, p);
    if (gt_bind_point(&b, &point, NULL) != GEMMTUNE_OK ||
        gt_source_of(&source, &b, d, NULL) != GEMMTUNE_OK)
        return 0;
    for (const char *c = source; *c != '\0'; c++)
        kind = gt_mix(kind + (unsigned char)*c + GT_MIX_STEP);
    free(source);
    return kind;
}

/* Never 0. */
static uint64_t key_of(uint64_t kind, const struct gt_space *space, size_t index) {
    const unsigned char *at = space->idx + index * (size_t)space->params;
    uint64_t key = gt_mix(kind);
    for (int i = 0; i < space->params; i++)
        key = gt_mix(key + at[i] + GT_MIX_STEP);
    return key != 0 ? key : 1;
}

/* The place of the key, or the free one where it belongs. */
static uint64_t *find(const struct gt_images *set, uint64_t key) {
    size_t i = (size_t)key & (set->room - 1);
    while (set->key[i] != 0 && set->key[i] != key)
        i = (i + 1) & (set->room - 1);
    return &set->key[i];
}

/* At most half of the places are taken. */
static bool make_room(struct gt_images *set) {
    struct gt_images larger = {.room = set->room > 0 ? 2 * set->room : ROOM_MIN};
    if (2 * (set->count + 1) <= set->room)
        return true;
    larger.key = calloc(larger.room, sizeof *larger.key);
    if (larger.key == NULL)
        return false;
    for (size_t i = 0; i < set->room; i++)
        if (set->key[i] != 0)
            *find(&larger, set->key[i]) = set->key[i];
    larger.count = set->count;
    free(set->key);
    *set = larger;
    return true;
}

void gt_images_add(struct gt_images *set, uint64_t kind, const struct gt_space *space,
                   size_t index) {
    if (kind == 0 || !make_room(set))
        return;
    const uint64_t key = key_of(kind, space, index);
    uint64_t *const place = find(set, key);
    set->count += *place == 0;
    *place = key;
}

bool gt_images_has(const struct gt_images *set, uint64_t kind, const struct gt_space *space,
                   size_t index) {
    return kind != 0 && set->room > 0 && *find(set, key_of(kind, space, index)) != 0;
}

void gt_images_clear(struct gt_images *set) {
    free(set->key);
    memset(set, 0, sizeof *set);
}
