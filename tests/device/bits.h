/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - memory of one machine for tests that compare the bits of two products. */
#ifndef GT_TESTS_DEVICE_BITS_H
#define GT_TESTS_DEVICE_BITS_H

#include "runtime/exec/exec.h"
#include "tests/device/machines.h"

enum { BYTES = 1 << 18 }; /* of each of the four */

struct memory {
    struct machine *m;
    struct gt_gpu *gpu;
    struct gt_families *families;
    void *queue, *a, *b, *c, *workspace;
};

static inline void memory_open(struct memory *x, struct machine *m) {
    *x = (struct memory){.m = m, .queue = m->ops->queue_create(m)};
    assert_int_equal(gt_driver_of(m->device->backend)->open(&x->gpu, &m->target, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(gt_families_create(&x->families, NULL), GEMMTUNE_OK);
    x->a = m->ops->alloc(m, BYTES);
    x->b = m->ops->alloc(m, BYTES);
    x->c = m->ops->alloc(m, BYTES);
    x->workspace = m->ops->alloc(m, BYTES);
}

static inline void memory_close(struct memory *x) {
    struct machine *m = x->m;
    m->ops->release(m, x->workspace);
    m->ops->release(m, x->c);
    m->ops->release(m, x->b);
    m->ops->release(m, x->a);
    gt_driver_of(m->device->backend)->close(x->gpu);
    m->ops->queue_destroy(m, x->queue);
    gt_families_destroy(x->families);
}

#endif
