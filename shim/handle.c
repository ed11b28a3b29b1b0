/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - see handle.h. Several threads may use one handle of cuBLAS, as long as none of
 * them changes its stream or workspace meanwhile. So `given`, `stream`, `workspace` and
 * `bytes` need no lock. The buffers do. */
#include "shim/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SLOTS = 1024, TRIES = 64, BUFFERS_MAX = 8 };
static const size_t own_bytes = (size_t)32 << 20;

struct buffer {
    uint64_t stream; /* its number, which no other stream gets */
    uint64_t memory; /* 0: could not be allocated */
};

struct gt_shim_handle {
    _Atomic(void *) handle; /* NULL: free, for the next handle */
    atomic_bool used;       /* once used, a search goes on after it */
    bool locks;             /* `lock` is initialised */
    pthread_mutex_t lock;   /* from the choice of a workspace to the launch */
    bool given;
    atomic_bool shared;          /* by threads, since the workspace was given */
    _Atomic(const void *) owner; /* `self` of the first thread that used it */
    void *stream, *workspace;    /* given, for this stream */
    size_t bytes;
    int buffers;
    struct buffer buffer[BUFFERS_MAX];
};

static struct gt_shim_handle table[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char self; /* its address names a thread while the thread lives */

static size_t slot_of(const void *handle) {
    const uint64_t at = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(at >> 32);
}

static struct gt_shim_handle *find(void *handle) {
    for (size_t i = slot_of(handle), tries = 0; handle != NULL && tries < TRIES;
         i++, tries++) {
        struct gt_shim_handle *h = &table[i % SLOTS];
        if (atomic_load_explicit(&h->handle, memory_order_acquire) == handle)
            return h;
        if (!atomic_load_explicit(&h->used, memory_order_relaxed))
            return NULL;
    }
    return NULL;
}

/* Under the lock of the table. NULL: there is no room. */
static struct gt_shim_handle *add(void *handle) {
    struct gt_shim_handle *h = NULL;
    for (size_t i = slot_of(handle), tries = 0; h == NULL && tries < TRIES; i++, tries++)
        if (atomic_load(&table[i % SLOTS].handle) == NULL)
            h = &table[i % SLOTS];
    if (h == NULL || (!h->locks && pthread_mutex_init(&h->lock, NULL) != 0))
        return NULL;
    h->locks = true;
    h->given = false;
    h->buffers = 0;
    atomic_store(&h->used, true);
    atomic_store_explicit(&h->handle, handle, memory_order_release);
    return h;
}

static struct gt_shim_handle *find_or_add(void *handle) {
    struct gt_shim_handle *h = find(handle);
    if (h != NULL || handle == NULL)
        return h;
    (void)pthread_mutex_lock(&lock);
    h = find(handle); /* another thread may have added it */
    if (h == NULL)
        h = add(handle);
    (void)pthread_mutex_unlock(&lock);
    return h;
}

void gt_shim_workspace_given(void *handle, const struct gt_shim_library *library,
                             void *workspace, size_t bytes) {
    struct gt_shim_handle *h = find_or_add(handle);
    if (h == NULL)
        return;
    atomic_store(&h->owner, NULL);
    atomic_store(&h->shared, false);
    h->given = library->get_stream(handle, &h->stream) == 0;
    h->workspace = workspace;
    h->bytes = workspace != NULL ? bytes : 0;
}

void gt_shim_workspace_lost(void *handle) {
    struct gt_shim_handle *h = find(handle);
    if (h != NULL)
        h->given = false;
}

void gt_shim_handle_ends(void *handle) {
    struct gt_shim_handle *h = handle != NULL ? find(handle) : NULL;
    if (h == NULL)
        return;
    const struct gt_shim_driver *d = h->buffers > 0 ? gt_shim_driver() : NULL;
    if (d != NULL) {
        const unsigned mode = gt_shim_relax(d);
        for (int i = 0; i < h->buffers; i++)
            if (h->buffer[i].memory != 0)
                (void)d->free_memory(h->buffer[i].memory); /* waits for the device */
        gt_shim_unrelax(d, mode);
    }
    h->given = false;
    h->buffers = 0;
    atomic_store_explicit(&h->handle, NULL, memory_order_release);
}

/* The lock makes a second thread wait for a launch of the first one into the workspace that
 * was given: the call of the second thread may have cuBLAS use that workspace. */
void gt_shim_handle_used(void *handle) {
    struct gt_shim_handle *h = find(handle);
    const void *nobody = NULL;
    if (h == NULL || !h->given || atomic_load(&h->owner) == &self ||
        atomic_load(&h->shared) ||
        atomic_compare_exchange_strong(&h->owner, &nobody, &self))
        return;
    (void)pthread_mutex_lock(&h->lock);
    atomic_store(&h->shared, true);
    (void)pthread_mutex_unlock(&h->lock);
}

bool gt_shim_workspace_hold(struct gt_shim_handle **held, void *handle) {
    struct gt_shim_handle *h = find_or_add(handle);
    *held = h;
    if (h == NULL)
        return false;
    (void)pthread_mutex_lock(&h->lock);
    return h->given && !atomic_load(&h->shared);
}

void gt_shim_workspace_release(struct gt_shim_handle *held) {
    if (held != NULL)
        (void)pthread_mutex_unlock(&held->lock);
}

/* The mutexes of a child after a fork may be held by threads that the child does not
 * have. */
void gt_shim_handle_anew(void) {
    (void)pthread_mutex_init(&lock, NULL);
    for (int i = 0; i < SLOTS; i++)
        if (table[i].locks)
            (void)pthread_mutex_init(&table[i].lock, NULL);
}

size_t gt_shim_workspace_bytes(bool *given, void **workspace, void *handle,
                               const void *stream) {
    const struct gt_shim_handle *h = find(handle);
    *given = h != NULL && h->given && h->stream == stream;
    const bool ours = *given && !atomic_load(&h->shared);
    *workspace = ours ? h->workspace : NULL;
    return ours ? h->bytes : *given ? 0 : own_bytes;
}

void *gt_shim_workspace_own(void *handle, void *stream, const struct gt_shim_driver *d) {
    struct gt_shim_handle *h = find_or_add(handle);
    unsigned long long id = (unsigned long long)(uintptr_t)stream;
    if (h == NULL || (d->stream_id != NULL && d->stream_id(stream, &id) != 0))
        return NULL;
    int i = 0;
    while (i < h->buffers && h->buffer[i].stream != id)
        i++;
    if (i == BUFFERS_MAX)
        return NULL;
    if (i == h->buffers) {
        const unsigned mode = gt_shim_relax(d);
        uint64_t memory = 0;
        if (d->allocate(&memory, own_bytes) != 0)
            memory = 0;
        gt_shim_unrelax(d, mode);
        h->buffer[i] = (struct buffer){id, memory};
        h->buffers++;
    }
    return (void *)(uintptr_t)h->buffer[i].memory;
}
