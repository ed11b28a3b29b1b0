/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_memory.h - device memory that the library itself holds for the calls of one stream
 * or queue: how a driver tells streams apart, and when it may make memory. One file a
 * driver.
 */
#ifndef GT_RUNTIME_DRIVERS_STREAM_MEMORY_H
#define GT_RUNTIME_DRIVERS_STREAM_MEMORY_H

#include "runtime/drivers/driver.h"

/* A stream. Handles come again: a stream that is made later may have the handle of one that
 * was destroyed. The number then differs, or the first handle cannot have been destroyed.
 */
struct gt_stream_id {
    const void *handle;
    uint64_t number;
    bool is_captured; /* the number may not be asked for: the latest with this handle */
};

struct gt_stream_memory {
    /* Tells the stream from every other one. False: the driver cannot, or the stream has
     * no order, so that two of its calls may run at once. No allocation, no lock, no wait
     * for the device. */
    bool (*identify)(struct gt_stream_id *out, const struct gt_gpu *gpu, void *stream);
    /* Allocates `bytes` of device memory, aligned to 256 bytes, and keeps the stream's
     * handle from coming again, if it must. The driver may wait for the device. EINVAL: the
     * stream is captured, and nothing was allocated; ENOMEM; EDEVICE. */
    gt_status (*make)(void **memory, const struct gt_gpu *gpu, void *stream, size_t bytes,
                      struct gt_err *err);
    /* Frees it. The driver may wait for the device. */
    void (*release)(const struct gt_gpu *gpu, void *stream, void *memory);
};

extern const struct gt_stream_memory gt_stream_memory_cuda, gt_stream_memory_opencl;

#endif
