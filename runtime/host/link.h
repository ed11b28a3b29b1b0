/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - the interface of host products to a device: memory on it, pinned memory beside
 * it, queues, events, and copies of boxes of a matrix that overlap with kernels. One file a
 * driver (link_cuda.c, link_opencl.c), listed once in link.c.
 *
 * Threads: a thread calls `attach` before anything else and `detach` at its end. All other
 * functions may be called from several threads at once, each with queues and events of its
 * own; `wait` may name another thread's event.
 */
#ifndef GT_RUNTIME_HOST_LINK_H
#define GT_RUNTIME_HOST_LINK_H

#include "runtime/drivers/driver.h"

/* A device, for copies of matrices to and from it. A driver's own struct begins with this
 * one. */
struct gt_link {
    const struct gt_link_ops *ops;
};

/* A box of `rows` rows of `row_bytes` bytes, in host memory and in a device buffer. */
struct gt_box {
    void *host;         /* its first byte; not written to by copy_in */
    int64_t host_pitch; /* bytes from a row to the next */
    void *memory;       /* the device buffer from `alloc` */
    int64_t offset;     /* bytes from the buffer's beginning to the box */
    int64_t pitch;
    int64_t row_bytes, rows; /* both at least 1 */
};

struct gt_link_ops {
    gemmtune_backend backend;

    /* Opens a link; the gpu must outlive it. */
    gt_status (*open)(struct gt_link **out, const struct gt_gpu *gpu, struct gt_err *err);
    void (*close)(struct gt_link *link);
    gt_status (*attach)(struct gt_link *link, struct gt_err *err);
    void (*detach)(struct gt_link *link);

    /* Bytes of free device memory, or a careful guess. */
    gt_status (*free_bytes)(int64_t *out, struct gt_link *link, struct gt_err *err);
    /* Allocates device memory. ENOMEM when there is no room for `bytes`. */
    gt_status (*alloc)(void **memory, struct gt_link *link, int64_t bytes,
                       struct gt_err *err);
    void (*release)(struct gt_link *link, void *memory);
    /* Allocates pinned host memory. ENOMEM when there is none. */
    gt_status (*host_alloc)(void **memory, struct gt_link *link, int64_t bytes,
                            struct gt_err *err);
    void (*host_release)(struct gt_link *link, void *memory);
    /* Whether `copy_in` and `copy_out` with this host pointer run at the link's speed and
     * beside kernels. */
    bool (*is_pinned)(struct gt_link *link, const void *host);

    /* Commands of one queue run in order; queues run beside each other. */
    gt_status (*queue_open)(void **queue, struct gt_link *link, struct gt_err *err);
    void (*queue_close)(struct gt_link *link, void *queue);
    /* Enqueue and return. Host and device memory must stay until the end of an event that
     * is recorded later. */
    gt_status (*copy_in)(struct gt_link *link, void *queue, const struct gt_box *box,
                         struct gt_err *err);
    gt_status (*copy_out)(struct gt_link *link, void *queue, const struct gt_box *box,
                          struct gt_err *err);
    /* Waits for everything that was enqueued. */
    gt_status (*finish)(struct gt_link *link, void *queue, struct gt_err *err);

    /* Records an event that ends when all commands enqueued before it have ended. */
    gt_status (*record)(void **event, struct gt_link *link, void *queue,
                        struct gt_err *err);
    void (*event_release)(struct gt_link *link, void *event);
    /* Makes commands that are enqueued later on `queue` wait for the event. */
    gt_status (*wait)(struct gt_link *link, void *queue, void *event, struct gt_err *err);
    /* Waits on the host for the end of an event. EDEVICE: the device failed. */
    gt_status (*join)(struct gt_link *link, void *event, struct gt_err *err);
    /* Seconds between two events that have ended. */
    gt_status (*seconds)(double *out, struct gt_link *link, void *from, void *to,
                         struct gt_err *err);
};

extern const struct gt_link_ops gt_link_cuda, gt_link_opencl;

gt_status gt_link_open(struct gt_link **out, const struct gt_gpu *gpu, struct gt_err *err);
void gt_link_close(struct gt_link *link); /* accepts NULL */

#endif
