/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h: open addressing, a slot for each entry, filled once. */
#include "shim/table.h"

#include "shim/library.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 14,
    ENTRIES_MAX = SLOTS / 4 * 3,
    WORDS = sizeof(struct gt_shim_key) / 8
};
_Static_assert(sizeof(struct gt_shim_key) == 80, "a key is words, without padding");

static _Atomic(struct gt_shim_entry *) slots[SLOTS];
static int entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A sum of words times odd numbers drawn at random: the multiplications do not wait for
 * each other. */
static uint64_t hash_of(const struct gt_shim_key *key) {
    static const uint64_t factors[WORDS] = {
        UINT64_C(0xf2a74de452e6b439), UINT64_C(0x6513270e269e0d37),
        UINT64_C(0x0c5c7fd0a6a3a451), UINT64_C(0xd23f0824128b2f33),
        UINT64_C(0x1818e811892f902b), UINT64_C(0x9531985d5d9dc9f9),
        UINT64_C(0xe8e25d940ed90475), UINT64_C(0x36f675cc81e74ef5),
        UINT64_C(0x1600a35a099950d9), UINT64_C(0x6b0d549b6f03675b)};
    uint64_t word[WORDS], hash = 0;
    memcpy(word, key, sizeof word);
    for (int i = 0; i < WORDS; i++)
        hash += word[i] * factors[i];
    hash ^= hash >> 32;
    hash *= factors[0];
    return hash ^ hash >> 32;
}

static bool same(const struct gt_shim_key *a, const struct gt_shim_key *b) {
    uint64_t x[WORDS], y[WORDS], differs = 0;
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (int i = 0; i < WORDS; i++)
        differs |= x[i] ^ y[i];
    return differs == 0;
}

static struct gt_shim_entry *look(const struct gt_shim_key *key, uint64_t hash,
                                  size_t *slot) {
    size_t at = (size_t)hash & (SLOTS - 1);
    struct gt_shim_entry *e;
    while ((e = atomic_load_explicit(&slots[at], memory_order_acquire)) != NULL &&
           (e->hash != hash || !same(&e->key, key)))
        at = (at + 1) & (SLOTS - 1);
    *slot = at;
    return e;
}

static struct gt_shim_entry *make(const struct gt_shim_key *key, uint64_t hash, int id) {
    gemmtune_problem p;
    const struct gt_shim_gemmtune *g = gt_shim_gemmtune();
    struct gt_shim_entry *e = entries < ENTRIES_MAX ? calloc(1, sizeof *e) : NULL;
    if (e == NULL)
        return NULL;
    e->key = *key;
    e->hash = hash;
    e->id = id;
    gt_shim_problem(&p, key);
    if (g == NULL || g->problem_format(&p, e->name, sizeof e->name) < 0)
        e->name[0] = '\0';
    e->number = ++entries;
    return e;
}

struct gt_shim_entry *gt_shim_find(const struct gt_shim_key *key, int id) {
    const uint64_t hash = hash_of(key);
    size_t slot;
    struct gt_shim_entry *e = look(key, hash, &slot);
    if (e != NULL)
        return e;
    /* ld.so has locks of its own, which must not be waited for with this one held. */
    (void)gt_shim_gemmtune();
    (void)pthread_mutex_lock(&lock);
    e = look(key, hash, &slot);
    if (e == NULL) {
        e = make(key, hash, id);
        atomic_store_explicit(&slots[slot], e, memory_order_release);
    }
    (void)pthread_mutex_unlock(&lock);
    return e;
}

void gt_shim_each(void (*fn)(struct gt_shim_entry *e, void *user), void *user) {
    for (size_t i = 0; i < SLOTS; i++) {
        struct gt_shim_entry *e = atomic_load_explicit(&slots[i], memory_order_acquire);
        if (e != NULL)
            fn(e, user);
    }
}

static void forget(struct gt_shim_entry *e, void *user) {
    (void)user;
    atomic_store(&e->calls, 0);
    atomic_store(&e->served, 0);
    atomic_store(&e->wrong, 0);
    atomic_store(&e->compared, 0);
}

void gt_shim_forget_counts(void) {
    gt_shim_each(forget, NULL);
}

void gt_shim_table_hold(bool held) {
    (void)(held ? pthread_mutex_lock(&lock) : pthread_mutex_unlock(&lock));
}
