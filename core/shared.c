/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - see shared.h: lists of things by the hash of their keys, under one lock. */
#include "core/shared.h"

#include "core/mix.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 256 }; /* a power of two */

struct gt_sharing {
    pthread_mutex_t lock;
    pthread_cond_t settled; /* a thing was made, or could not be made */
    int64_t owners;         /* the creator, and each thing */
    int64_t made;
    struct gt_shared *list[LISTS];
};

/* ---- keys ------------------------------------------------------------------------ */

/* Eight bytes at a time: a key may be a program's source. */
static uint64_t hash_of(const unsigned char *key, size_t size) {
    uint64_t hash = size, word;
    for (; size >= sizeof word; key += sizeof word, size -= sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = gt_mix(hash + word + GT_MIX_STEP);
    }
    word = 0;
    memcpy(&word, key, size);
    return gt_mix(hash + word + GT_MIX_STEP);
}

static struct gt_shared **list_of(struct gt_sharing *s, const struct gt_shared *thing) {
    return &s->list[thing->hash & (LISTS - 1)];
}

/* The thing with the key of `like`, or NULL. The caller holds the lock. */
static struct gt_shared *find(struct gt_sharing *s, const struct gt_shared *like) {
    struct gt_shared *x = *list_of(s, like);
    while (x != NULL && !(x->hash == like->hash && x->key_size == like->key_size &&
                          memcmp(x->key, like->key, x->key_size) == 0))
        x = x->next;
    return x;
}

/* Takes a thing out of its list. The caller holds the lock. */
static void unlink_thing(struct gt_sharing *s, struct gt_shared *thing) {
    struct gt_shared **at = list_of(s, thing);
    while (*at != thing)
        at = &(*at)->next;
    *at = thing->next;
    s->made -= thing->made;
}

/* ---- the collection -------------------------------------------------------------- */

gt_status gt_sharing_create(struct gt_sharing **out, struct gt_err *err) {
    struct gt_sharing *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL || pthread_mutex_init(&s->lock, NULL) != 0)
        goto no_lock;
    if (pthread_cond_init(&s->settled, NULL) != 0)
        goto no_condition;
    s->owners = 1;
    *out = s;
    return GEMMTUNE_OK;
no_condition:
    (void)pthread_mutex_destroy(&s->lock);
no_lock:
    free(s);
    return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* Ends one owner's use of the collection and gives the lock back. */
static void leave(struct gt_sharing *s) {
    const bool last = --s->owners == 0;
    (void)pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    (void)pthread_cond_destroy(&s->settled);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

void gt_sharing_release(struct gt_sharing *s) {
    if (s == NULL)
        return;
    (void)pthread_mutex_lock(&s->lock);
    leave(s);
}

int64_t gt_sharing_count(struct gt_sharing *s) {
    (void)pthread_mutex_lock(&s->lock);
    const int64_t made = s->made;
    (void)pthread_mutex_unlock(&s->lock);
    return made;
}

/* ---- things ---------------------------------------------------------------------- */

void gt_shared_init(struct gt_shared *thing) {
    *thing = (struct gt_shared){.key = NULL};
    atomic_init(&thing->users, 1);
}

struct gt_shared *gt_sharing_take(struct gt_sharing *s, struct gt_shared *fresh) {
    fresh->hash = hash_of(fresh->key, fresh->key_size);
    (void)pthread_mutex_lock(&s->lock);
    struct gt_shared *found = find(s, fresh);
    while (found != NULL && !found->made) {
        (void)pthread_cond_wait(&s->settled, &s->lock);
        found = find(s, fresh);
    }
    if (found != NULL) {
        (void)atomic_fetch_add(&found->users, 1);
    } else {
        found = fresh;
        fresh->in = s;
        fresh->next = *list_of(s, fresh);
        *list_of(s, fresh) = fresh;
        s->owners++;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return found;
}

void gt_shared_settle(struct gt_shared *thing, bool made) {
    struct gt_sharing *s = thing->in;
    (void)pthread_mutex_lock(&s->lock);
    (void)pthread_cond_broadcast(&s->settled);
    if (made) {
        thing->made = true;
        s->made++;
        (void)pthread_mutex_unlock(&s->lock);
        return;
    }
    unlink_thing(s, thing);
    thing->in = NULL;
    leave(s);
}

void gt_shared_hold(struct gt_shared *thing) {
    (void)atomic_fetch_add(&thing->users, 1);
}

/* Under the lock, so that nobody finds a thing without users. */
static bool drop_found(struct gt_shared *thing) {
    struct gt_sharing *s = thing->in;
    (void)pthread_mutex_lock(&s->lock);
    const bool last = atomic_fetch_sub(&thing->users, 1) == 1;
    if (last)
        unlink_thing(s, thing);
    if (last)
        leave(s);
    else
        (void)pthread_mutex_unlock(&s->lock);
    return last;
}

bool gt_shared_drop(struct gt_shared *thing) {
    const bool last =
        thing->in != NULL ? drop_found(thing) : atomic_fetch_sub(&thing->users, 1) == 1;
    if (last)
        free(thing->key);
    return last;
}

/* ---- things that the collection uses --------------------------------------------- */

void gt_shared_retain(struct gt_shared *thing) {
    struct gt_sharing *s = thing->in;
    if (s == NULL)
        return;
    (void)pthread_mutex_lock(&s->lock);
    if (!thing->retained)
        (void)atomic_fetch_add(&thing->users, 1);
    thing->retained = true;
    (void)pthread_mutex_unlock(&s->lock);
}

/* A thing that the collection uses, or NULL. The caller holds the lock. */
static struct gt_shared *next_retained(struct gt_sharing *s) {
    for (int i = 0; i < LISTS; i++)
        for (struct gt_shared *x = s->list[i]; x != NULL; x = x->next)
            if (x->retained)
                return x;
    return NULL;
}

void gt_sharing_relinquish(struct gt_sharing *s, void (*destroy)(struct gt_shared *thing)) {
    struct gt_shared *thing;
    do {
        (void)pthread_mutex_lock(&s->lock);
        thing = next_retained(s);
        if (thing != NULL)
            thing->retained = false;
        (void)pthread_mutex_unlock(&s->lock);
        if (thing != NULL && gt_shared_drop(thing))
            destroy(thing);
    } while (thing != NULL);
}
