/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - see table.h: open addressing, a slot for each entry, filled once. */
#include "shim/table.h"

#include "shim/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 14,
    ENTRIES_MAX = SLOTS / 4 * 3,
    WORDS = sizeof(struct gt_shim_key) / 8
};
_Static_assert(sizeof(struct gt_shim_key) % 8 == 0, "a key is words");

static _Atomic(struct gt_shim_entry *) slots[SLOTS];
static int entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_of(const struct gt_shim_key *key) {
    uint64_t word[WORDS], even = 0, odd = UINT64_C(0x9e3779b97f4a7c15);
    memcpy(word, key, sizeof word);
    /* Two chains of multiplications run beside each other. */
    for (int i = 0; i + 1 < WORDS; i += 2) {
        even = (even ^ word[i]) * UINT64_C(0xff51afd7ed558ccd);
        odd = (odd ^ word[i + 1]) * UINT64_C(0xc4ceb9fe1a85ec53);
        even ^= even >> 32;
        odd ^= odd >> 29;
    }
    if (WORDS % 2 != 0)
        even = (even ^ word[WORDS - 1]) * UINT64_C(0xff51afd7ed558ccd);
    even ^= odd + (odd << 7);
    return even ^ even >> 31;
}

static struct gt_shim_entry *look(const struct gt_shim_key *key, uint64_t hash,
                                  size_t *slot) {
    size_t at = (size_t)hash & (SLOTS - 1);
    struct gt_shim_entry *e;
    while ((e = atomic_load_explicit(&slots[at], memory_order_acquire)) != NULL &&
           (e->hash != hash || memcmp(&e->key, key, sizeof *key) != 0))
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
