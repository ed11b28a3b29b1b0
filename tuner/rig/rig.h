/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - what only tuning needs of a device: a context of our own, memory, copies, timing.
 * One file a driver (rig_cuda.c, rig_opencl.c), listed once in rig.c. Used by the run
 * worker alone; everything is in order on one stream.
 */
#ifndef GT_TUNER_RIG_RIG_H
#define GT_TUNER_RIG_RIG_H

#include "runtime/driver.h"

struct gt_rig; /* each driver defines its own, with struct gt_rig_head first */

/* Something that enqueues launches on the rig's stream. */
typedef gt_status (*gt_enqueue_fn)(void *user, struct gt_err *err);

struct gt_bare_ops; /* tuner/rig/bare.h */

/* Launches that are prepared to be timed many times. A rig's own struct begins with this
 * one. */
struct gt_batch {
    struct gt_rig *rig;
    gt_enqueue_fn fn;
    void *user;
};

struct gt_rig_ops {
    gemmtune_backend backend;
    bool kernels_see_clock; /* a kernel can read its multiprocessor's clock and a timer */
    gt_status (*open)(struct gt_rig **out, const struct gt_device *d, struct gt_err *err);
    void (*close)(struct gt_rig *rig);
    /* Fills in what gemmtune_open takes for the rig's device; its context is current. */
    void (*target)(gemmtune_target *out, struct gt_rig *rig);
    /* ENOMEM when the device has no room. */
    gt_status (*alloc)(void **mem, struct gt_rig *rig, int64_t bytes, struct gt_err *err);
    void (*release)(struct gt_rig *rig, void *mem);
    /* The part of mem from `offset` (a multiple of GT_VIEW_ALIGN) as a pointer that kernels
     * take. */
    gt_status (*view)(void **out, struct gt_rig *rig, void *mem, int64_t offset,
                      int64_t bytes, struct gt_err *err);
    void (*view_release)(struct gt_rig *rig, void *view);
    gt_status (*write)(struct gt_rig *rig, void *mem, int64_t offset, const void *from,
                       int64_t bytes, struct gt_err *err);
    gt_status (*read)(struct gt_rig *rig, void *mem, int64_t offset, void *to,
                      int64_t bytes, struct gt_err *err);
    /* Repeats a 32-bit pattern over the whole of mem; bytes a multiple of 4. Enqueued. */
    gt_status (*fill)(struct gt_rig *rig, void *mem, int64_t bytes, uint32_t pattern,
                      struct gt_err *err);
    /* Waits for everything enqueued. EDEVICE on an asynchronous fault. */
    gt_status (*finish)(struct gt_rig *rig, struct gt_err *err);
    /* Prepares what `fn` enqueues (CUDA: captured in a graph) for repeated timing. `user`
     * must outlive the batch. */
    gt_status (*batch)(struct gt_batch **out, struct gt_rig *rig, gt_enqueue_fn fn,
                       void *user, struct gt_err *err);
    void (*batch_destroy)(struct gt_batch *batch);
    /* Runs the batch once and gives its device time in nanoseconds. */
    gt_status (*time)(struct gt_batch *batch, double *ns, struct gt_err *err);
    /* Clock now in MHz and whether the device says it is throttled; 0 and false when
     * unknown. */
    void (*clock)(struct gt_rig *rig, int *mhz, bool *throttled);
    const struct gt_bare_ops *bare; /* launches without us */
};

struct gt_rig_head {
    const struct gt_rig_ops *ops;
    struct gt_gpu *gpu;             /* for the runtime's driver */
    void *stream;                   /* CUstream or cl_command_queue */
    const struct gt_device *device; /* gpu's */
};

enum { GT_VIEW_ALIGN = 4096 };

extern const struct gt_rig_ops gt_rig_cuda, gt_rig_opencl;

static inline struct gt_rig_head *gt_rig_head(struct gt_rig *rig) {
    return (struct gt_rig_head *)rig;
}
gt_status gt_rig_open(struct gt_rig **out, const struct gt_device *d, struct gt_err *err);
void gt_rig_close(struct gt_rig *rig); /* accepts NULL */

#endif
