/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - see check.h. */
#include "shim/check.h"

#include "shim/compare.h"
#include "shim/launch.h"

#include <stdlib.h>
#include <string.h>

/* A call that is computed twice. */
struct gt_shim_comparison {
    struct gt_shim_entry *entry;
    const struct gt_shim_driver *driver;
    void *stream;
    uint64_t copy; /* of C in device memory */
    struct gt_shim_results host;
};

static void end(struct gt_shim_comparison *c) {
    if (c == NULL)
        return;
    if (c->copy != 0) {
        const unsigned mode = gt_shim_relax(c->driver);
        (void)c->driver->free_memory(c->copy);
        gt_shim_unrelax(c->driver, mode);
    }
    free(c->host.a);
    free(c->host.b);
    free(c->host.before);
    free(c->host.ours);
    free(c->host.theirs);
    free(c);
}

/* Reads device memory into new memory of the host. */
static bool fetch(void **out, const struct gt_shim_comparison *c, const void *from,
                  size_t bytes) {
    *out = malloc(bytes);
    return *out != NULL &&
           c->driver->read(*out, (uint64_t)(uintptr_t)from, bytes, c->stream) == 0;
}

static bool begin(struct gt_shim_comparison *c, const struct gt_shim_call *x) {
    const struct gt_shim_driver *d = c->driver;
    const size_t bytes = gt_shim_bytes(&c->entry->key, GT_SHIM_C);
    const unsigned mode = gt_shim_relax(d);
    if (d->allocate(&c->copy, bytes) != 0)
        c->copy = 0;
    gt_shim_unrelax(d, mode);
    return c->copy != 0 && fetch(&c->host.before, c, x->c, bytes) &&
           d->copy(c->copy, (uint64_t)(uintptr_t)x->c, bytes, c->stream) == 0 &&
           d->synchronize(c->stream) == 0;
}

enum gt_shim_reason gt_shim_check_begin(struct gt_shim_call *x, struct gt_shim_entry *e,
                                        void *workspace, void *stream,
                                        const struct gt_shim_driver *d) {
    enum gt_shim_reason why = GT_SHIM_UNCHECKED;
    if (gt_shim_captures(d, stream))
        return GT_SHIM_CAPTURED;
    if (x->kind == GT_SHIM_BY_POINTERS || x->aux != NULL)
        return GT_SHIM_UNCHECKED;
    struct gt_shim_comparison *c = calloc(1, sizeof *c);
    if (c == NULL)
        return GT_SHIM_FAILED;
    c->entry = e;
    c->driver = d;
    c->stream = stream;
    if (begin(c, x))
        why = gt_shim_launch(e, x, (void *)(uintptr_t)c->copy, workspace, stream);
    if (why == GT_SHIM_NONE)
        x->comparison = c;
    else
        end(c);
    return why;
}

void gt_shim_check_end(struct gt_shim_call *x, unsigned status) {
    struct gt_shim_comparison *c = x->comparison;
    const struct gt_shim_key *key = &c->entry->key;
    const size_t bytes = gt_shim_bytes(key, GT_SHIM_C);
    struct gt_shim_results *r = &c->host;
    /* The problem is the transpose: their B is our A. */
    if (status == 0 && fetch(&r->a, c, x->b, gt_shim_bytes(key, GT_SHIM_A)) &&
        fetch(&r->b, c, x->a, gt_shim_bytes(key, GT_SHIM_B)) &&
        fetch(&r->theirs, c, x->c, bytes) &&
        fetch(&r->ours, c, (void *)(uintptr_t)c->copy, bytes) &&
        c->driver->synchronize(c->stream) == 0) {
        r->alpha = x->alpha;
        r->beta = x->beta;
        gt_shim_compare(c->entry, r);
    }
    end(c);
    x->comparison = NULL;
}
