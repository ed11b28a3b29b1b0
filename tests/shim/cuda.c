/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - see cuda.h. */
#include "tests/shim/cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *driver;

#define CALL(name, params, args)                                                           \
    ((union {                                                                              \
        void *address;                                                                     \
        unsigned(*call) params;                                                            \
    }){dlsym(driver, name)})                                                               \
        .call args

bool cuda_begin(void) {
    const char *path = getenv("GEMMTUNE_LIBCUDA");
    void *context = NULL;
    driver = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (driver == NULL || CALL("cuInit", (unsigned), (0)) != 0)
        return false;
    return CALL("cuDevicePrimaryCtxRetain", (void **, int), (&context, 0)) == 0 &&
           CALL("cuCtxSetCurrent", (void *), (context)) == 0;
}

void cuda_new_context(void) {
    void *context = NULL;
    if (CALL("cuCtxCreate_v2", (void **, unsigned, int), (&context, 0, 0)) != 0)
        abort();
}

void cuda_renew_context(void) {
    void *old = NULL, *context = NULL;
    if (CALL("cuCtxGetCurrent", (void **), (&old)) != 0 ||
        CALL("cuCtxDestroy_v2", (void *), (old)) != 0)
        abort();
    cuda_new_context();
    if (CALL("cuCtxGetCurrent", (void **), (&context)) != 0 || context != old)
        abort();
}

void *cuda_memory(size_t bytes) {
    uint64_t memory = 0;
    if (driver == NULL)
        return calloc(1, bytes);
    if (CALL("cuMemAlloc_v2", (uint64_t *, size_t), (&memory, bytes)) != 0)
        abort();
    memset((void *)(uintptr_t)memory, 0, bytes);
    return (void *)(uintptr_t)memory;
}

void *cuda_stream(void) {
    void *stream = NULL;
    if (CALL("cuStreamCreate", (void **, unsigned), (&stream, 1)) != 0)
        abort();
    return stream;
}

void cuda_capture(void *stream) {
    if (CALL("cuStreamBeginCapture_v2", (void *, unsigned), (stream, 0)) != 0)
        abort();
}

bool cuda_replay(void *stream, int times) {
    void *graph = NULL, *runs = NULL;
    if (CALL("cuStreamEndCapture", (void *, void **), (stream, &graph)) != 0 ||
        CALL("cuGraphInstantiateWithFlags", (void **, void *, unsigned long long),
             (&runs, graph, 0)) != 0)
        return false;
    for (int i = 0; i < times; i++)
        if (CALL("cuGraphLaunch", (void *, void *), (runs, stream)) != 0)
            return false;
    cuda_wait(stream);
    return true;
}

void cuda_wait(void *stream) {
    if (driver != NULL)
        (void)CALL("cuStreamSynchronize", (void *), (stream));
}
