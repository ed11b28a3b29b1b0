/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - things that several owners use, found by a key: whoever asks first makes the
 * thing, and whoever asks meanwhile waits for it. The last owner destroys it. Any thread
 * may call any of these functions.
 *
 *     struct gt_shared *found = gt_sharing_take(s, &fresh->shared);
 *     if (found == &fresh->shared) {
 *         (make it)
 *         gt_shared_settle(found, made);
 *     } else {
 *         (destroy fresh, use found)
 *     }
 *     if (gt_shared_drop(found))
 *         (destroy it)
 */
#ifndef GT_CORE_SHARED_H
#define GT_CORE_SHARED_H

#include "core/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The things of one kind. It lives until its creator and all of its things are gone. */
struct gt_sharing;

/* A part of each thing. The members belong to shared.c, but for the key until the thing is
 * offered to gt_sharing_take. */
struct gt_shared {
    void *key; /* from malloc; gt_shared_drop frees it */
    size_t key_size;
    uint64_t hash;
    atomic_int users;
    struct gt_sharing *in; /* NULL: only those who were given the thing know of it */
    struct gt_shared *next;
    bool made, retained;
};

gt_status gt_sharing_create(struct gt_sharing **out, struct gt_err *err);
/* Ends the creator's use. No thing of it may be asked for any more. Accepts NULL. */
void gt_sharing_release(struct gt_sharing *s);
/* The number of things that are made and in use. */
int64_t gt_sharing_count(struct gt_sharing *s);

/* Begins a thing with one user that nobody else can find. */
void gt_shared_init(struct gt_shared *thing);
/* Returns the thing that is made and has the key of `fresh`, with one user more. Where
 * there is none, adds and returns `fresh`. The caller then makes it and calls
 * gt_shared_settle, and other threads that ask for its key wait until then. */
struct gt_shared *gt_sharing_take(struct gt_sharing *s, struct gt_shared *fresh);
/* Ends the making. A thing that could not be made is found by nobody: the next thread that
 * waits makes its own. The caller is still its user. */
void gt_shared_settle(struct gt_shared *thing, bool made);

/* One user more; the caller is one already. */
void gt_shared_hold(struct gt_shared *thing);
/* One user less. True: that was the last one, and the caller destroys the thing. */
bool gt_shared_drop(struct gt_shared *thing);

/* Makes the collection a user of the thing, until gt_sharing_relinquish. */
void gt_shared_retain(struct gt_shared *thing);
/* Ends these uses. `destroy` is called for each thing that has no other user. */
void gt_sharing_relinquish(struct gt_sharing *s, void (*destroy)(struct gt_shared *thing));

#endif
