/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.h - the operations on a device that only tuning needs: a context of our own, memory,
 * copies, timing. Each driver has one file (rig_cuda.c, rig_opencl.c), which rig.c lists.
 * Only the run worker uses it. Everything runs in order on one stream.
 */
#ifndef GT_TUNER_RIG_RIG_H
#define GT_TUNER_RIG_RIG_H

#include "runtime/drivers/driver.h"

struct gt_rig; /* each driver defines its own, with struct gt_rig_head first */

/* A function that enqueues launches on the rig's stream. */
typedef gt_status (*gt_enqueue_fn)(void *user, struct gt_err *err);

struct gt_bare_ops; /* see tuner/rig/bare.h */

/* Launches that are prepared for being timed many times. A rig's own struct begins with
 * this one. */
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
    /* Fills in the target that gemmtune_open takes for the rig's device. The rig's context
     * becomes current. */
    void (*target)(gemmtune_target *out, struct gt_rig *rig);
    /* ENOMEM when the device has too little memory. */
    gt_status (*alloc)(void **mem, struct gt_rig *rig, int64_t bytes, struct gt_err *err);
    void (*release)(struct gt_rig *rig, void *mem);
    /* The part of `mem` from `offset` on, as a pointer that kernels take. `offset` is a
     * multiple of GT_VIEW_ALIGN. */
    gt_status (*view)(void **out, struct gt_rig *rig, void *mem, int64_t offset,
                      int64_t bytes, struct gt_err *err);
    void (*view_release)(struct gt_rig *rig, void *view);
    gt_status (*write)(struct gt_rig *rig, void *mem, int64_t offset, const void *from,
                       int64_t bytes, struct gt_err *err);
    gt_status (*read)(struct gt_rig *rig, void *mem, int64_t offset, void *to,
                      int64_t bytes, struct gt_err *err);
    /* Enqueues writing a 32-bit pattern over all of `mem`. `bytes` is a multiple of 4. */
    gt_status (*fill)(struct gt_rig *rig, void *mem, int64_t bytes, uint32_t pattern,
                      struct gt_err *err);
    /* Waits for all enqueued work. EDEVICE on an asynchronous fault. */
    gt_status (*finish)(struct gt_rig *rig, struct gt_err *err);
    /* Prepares the launches that `fn` enqueues for being timed repeatedly. CUDA captures
     * them in a graph. `user` must outlive the batch. */
    gt_status (*batch)(struct gt_batch **out, struct gt_rig *rig, gt_enqueue_fn fn,
                       void *user, struct gt_err *err);
    void (*batch_destroy)(struct gt_batch *batch);
    /* Runs the batch once. *ns is its time on the device in nanoseconds. */
    gt_status (*time)(struct gt_batch *batch, double *ns, struct gt_err *err);
    /* The present clock in MHz, and whether the device reports that it is throttled. 0 and
     * false when unknown. */
    void (*clock)(struct gt_rig *rig, int *mhz, bool *throttled);
    const struct gt_bare_ops *bare; /* launches without our runtime */
};

struct gt_rig_head {
    const struct gt_rig_ops *ops;
    struct gt_gpu *gpu;             /* the runtime's side of the device */
    void *stream;                   /* CUstream or cl_command_queue */
    const struct gt_device *device; /* the device of `gpu` */
};

enum { GT_VIEW_ALIGN = 4096 };

extern const struct gt_rig_ops gt_rig_cuda, gt_rig_opencl;

static inline struct gt_rig_head *gt_rig_head(struct gt_rig *rig) {
    return (struct gt_rig_head *)rig;
}
gt_status gt_rig_open(struct gt_rig **out, const struct gt_device *d, struct gt_err *err);
void gt_rig_close(struct gt_rig *rig); /* accepts NULL */

#endif
