/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - what scenes do with the CUDA driver that GEMMTUNE_LIBCUDA names. Without one,
 * memory is malloc's. Memory of the stand-in can be read by the host. */
#ifndef GT_TESTS_SHIM_CUDA_H
#define GT_TESTS_SHIM_CUDA_H

#include <stdbool.h>
#include <stddef.h>

/* Makes a context current. False: there is no driver. */
bool cuda_begin(void);
/* Another context on the device. */
void cuda_new_context(void);
/* Ends the current context. The new one has its address. */
void cuda_renew_context(void);
void *cuda_memory(size_t bytes);
void *cuda_stream(void);
void cuda_capture(void *stream);
/* Ends the capture, and runs what was captured so many times. False: the capture was
 * lost. */
bool cuda_replay(void *stream, int times);
void cuda_wait(void *stream);

#endif
