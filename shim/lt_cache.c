/* SPDX-License-Identifier: Apache-2.0 */
/* lt_cache.c - see lt_cache.h. */
#include "shim/lt_cache.h"

#include "shim/original.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 128 };

static _Thread_local struct gt_shim_lt_slot *slots;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

/* Destructors of other keys may still call cublasLt in this thread. */
static void forget_slots(void *memory) {
    slots = NULL;
    free(memory);
}

static void make_key(void) {
    has_key = pthread_key_create(&key, forget_slots) == 0;
}

/* This thread's slots, which go with it. */
static struct gt_shim_lt_slot *own_slots(void) {
    if (slots != NULL)
        return slots;
    (void)pthread_once(&once, make_key);
    slots = has_key ? calloc(SLOTS, sizeof *slots) : NULL;
    if (slots != NULL && pthread_setspecific(key, slots) != 0) {
        free(slots);
        slots = NULL;
    }
    return slots;
}

/* The headers of 12.6 and 13.0 have these sizes. */
static bool has_known_sizes(const struct gt_shim_library *l) {
    enum { FROM = 120600, BEFORE = 130200 };
    return l->lt_release >= FROM && l->lt_release < BEFORE;
}

/* Adds words to four sums that run beside each other. */
static void add_words(uint64_t sum[4], const void *from, int count) {
    for (int i = 0; i < count; i += 4) {
        uint64_t word[4];
        memcpy(word, (const char *)from + (size_t)i * sizeof *word, sizeof word);
        for (int lane = 0; lane < 4; lane++)
            sum[lane] = (sum[lane] ^ word[lane]) * UINT64_C(0x9e3779b97f4a7c15);
    }
}

static uint64_t hash_of(const struct gt_shim_lt *lt) {
    uint64_t sum[4] = {1, 2, 3, 4}, hash = 0;
    add_words(sum, lt->desc, GT_SHIM_DESC_WORDS);
    for (int i = 0; i < 4; i++)
        add_words(sum, lt->layout[i], GT_SHIM_LAYOUT_WORDS);
    for (int lane = 0; lane < 4; lane++)
        hash = (hash ^ sum[lane] ^ sum[lane] >> 32) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 29;
}

static bool same_bytes(const struct gt_shim_lt_bytes *b, const struct gt_shim_lt *lt) {
    bool same = memcmp(b->desc, lt->desc, sizeof b->desc) == 0;
    for (int i = 0; same && i < 4; i++)
        same = memcmp(b->layout[i], lt->layout[i], sizeof b->layout[i]) == 0;
    return same;
}

static void keep_bytes(struct gt_shim_lt_bytes *b, const struct gt_shim_lt *lt) {
    memcpy(b->desc, lt->desc, sizeof b->desc);
    for (int i = 0; i < 4; i++)
        memcpy(b->layout[i], lt->layout[i], sizeof b->layout[i]);
}

struct gt_shim_lt_slot *gt_shim_lt_slot(bool *known, const struct gt_shim_call *x) {
    const struct gt_shim_lt *lt = x->lt;
    *known = false;
    if (!has_known_sizes(x->library) || own_slots() == NULL || lt->layout[0] == NULL ||
        lt->layout[1] == NULL || lt->layout[2] == NULL || lt->layout[3] == NULL)
        return NULL;
    const uint64_t hash = hash_of(lt);
    struct gt_shim_lt_slot *slot = &slots[hash % SLOTS];
    *known =
        slot->library == x->library && slot->hash == hash && same_bytes(&slot->bytes, lt);
    if (!*known) {
        slot->library = x->library;
        slot->hash = hash;
        keep_bytes(&slot->bytes, lt);
    }
    return slot;
}
