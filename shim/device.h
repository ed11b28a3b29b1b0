/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the functions of the CUDA driver that the shim calls, found in the driver that
 * the program has loaded (or in $GEMMTUNE_LIBCUDA, as the library does). Pointers are
 * device memory.
 */
#ifndef GT_SHIM_DEVICE_H
#define GT_SHIM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(member, symbol, 1 needed or 0 optional, parameters); each returns 0 on success. */
#define GT_SHIM_DRIVER_CALLS(X)                                                            \
    X(current, cuCtxGetCurrent, 1, (void **context))                                       \
    X(context_id, cuCtxGetId, 0, (void *context, unsigned long long *id))                  \
    X(is_capturing, cuStreamIsCapturing, 1, (void *stream, unsigned *status))              \
    X(exchange_mode, cuThreadExchangeStreamCaptureMode, 1, (unsigned *mode))               \
    X(stream_id, cuStreamGetId, 0, (void *stream, unsigned long long *id))                 \
    X(stream_context, cuStreamGetCtx, 0, (void *stream, void **context))                   \
    X(synchronize, cuStreamSynchronize, 1, (void *stream))                                 \
    X(allocate, cuMemAlloc_v2, 1, (uint64_t * memory, size_t bytes))                       \
    X(free_memory, cuMemFree_v2, 1, (uint64_t memory))                                     \
    X(copy, cuMemcpyDtoDAsync_v2, 1,                                                       \
      (uint64_t to, uint64_t from, size_t bytes, void *stream))                            \
    X(read, cuMemcpyDtoHAsync_v2, 1, (void *to, uint64_t from, size_t bytes, void *stream))

struct gt_shim_driver {
#define X(member, symbol, needed, params) unsigned(*member) params;
    GT_SHIM_DRIVER_CALLS(X)
#undef X
};

/* NULL: there is no driver. */
const struct gt_shim_driver *gt_shim_driver(void);

/* The current context; 0: there is none. Another context may get its address later. */
uint64_t gt_shim_context(const struct gt_shim_driver *d);
/* A number of a context that no other one gets; 0 where the driver has none. */
uint64_t gt_shim_context_number(const struct gt_shim_driver *d, uint64_t context);
/* Whether work on the stream is recorded, or must be taken to be. */
bool gt_shim_captures(const struct gt_shim_driver *d, void *stream);
/* Lets this thread allocate and free while another stream of the process is captured, until
 * the mode that it returns is given back. */
unsigned gt_shim_relax(const struct gt_shim_driver *d);
void gt_shim_unrelax(const struct gt_shim_driver *d, unsigned mode);

#endif
