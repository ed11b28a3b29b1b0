/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - the common part of all calls, errors and contexts. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext stack[STACK_MAX];
static _Thread_local int depth;
static struct CUctx_st primary[DEVICES_MAX];
struct live live;

CUcontext current(void) {
    return depth > 0 ? stack[depth - 1] : NULL;
}

static const char *const call_name[] = {
#define X(name, symbol, needed, params) #name,
    GT_CUDA_SYMBOLS(X)
#undef X
};

void unlock(int *unused) {
    (void)unused;
    (void)pthread_mutex_unlock(&mutex);
}

void hang(void) {
    const struct timespec hour = {.tv_sec = 3600};
    for (;;)
        (void)nanosleep(&hour, NULL);
}

gt_cu_result enter(enum call call, const char *kernel) {
    const bool needs_context = call >= CALL_cuCtxSynchronize;
    if (devices == 0 && call >= CALL_cuDeviceGetCount)
        return 3; /* CUDA_ERROR_NOT_INITIALIZED */
    if (needs_context && !current())
        return GT_CU_INVALID_CONTEXT;
    if (needs_context && current()->lost)
        return current()->lost;
    if (due("stall", call_name[call]))
        hang();
    const struct rule *r = due(call_name[call], kernel);
    if (!r)
        return GT_CU_SUCCESS;
    if (r->sticky && current())
        current()->lost = (gt_cu_result)r->value;
    return (gt_cu_result)r->value;
}

gt_cu_result cuInit(unsigned flags) {
    LOCK;
    read_script();
    const gt_cu_result scripted = enter(CALL_cuInit, "");
    if (!scripted)
        read_devices();
    return scripted;
}

gt_cu_result cuDriverGetVersion(int *version) {
    ENTER(cuDriverGetVersion);
    const char *text = getenv("FAKE_CUDA_VERSION");
    *version = text != NULL ? atoi(text) : 13000;
    return GT_CU_SUCCESS;
}

static const struct {
    gt_cu_result code;
    const char *name;
} errors[] = {
#define X(name, theirs, value) {value, #theirs},
    GT_CUDA_CONSTANTS(X)
#undef X
};

/* The list goes on with other enumerations. Their values repeat; errors come first. */
gt_cu_result cuGetErrorName(gt_cu_result error, const char **text) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error && strncmp(errors[i].name, "CUDA_", 5) == 0) {
            *text = errors[i].name;
            return GT_CU_SUCCESS;
        }
    *text = NULL;
    return GT_CU_INVALID_VALUE;
}

gt_cu_result cuGetErrorString(gt_cu_result error, const char **text) {
    *text = *ptx_complaint() ? ptx_complaint() : "as the test's script wanted it";
    return error == GT_CU_SUCCESS ? GT_CU_INVALID_VALUE : GT_CU_SUCCESS;
}

static gt_cu_result push(CUcontext context) {
    if (!context || depth == STACK_MAX)
        return GT_CU_INVALID_CONTEXT;
    stack[depth++] = context;
    return GT_CU_SUCCESS;
}

gt_cu_result cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d) {
    ENTER(cuDevicePrimaryCtxRetain);
    open_cl();
    primary[d].device = d;
    *context = &primary[d];
    return GT_CU_SUCCESS;
}

gt_cu_result cuDevicePrimaryCtxRelease_v2(CUdevice d) {
    ENTER(cuDevicePrimaryCtxRelease);
    return GT_CU_SUCCESS;
}

/* The last context that was destroyed: the next one gets its address. */
static CUcontext vacant;

gt_cu_result cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice d) {
    ENTER(cuCtxCreate);
    open_cl();
    CUcontext c = vacant ? vacant : malloc(sizeof *c);
    vacant = NULL;
    if (!c)
        return GT_CU_OUT_OF_MEMORY;
    memset(c, 0, sizeof *c);
    c->device = d;
    *context = c;
    live.contexts++;
    return push(c);
}

static void report(CUcontext context, long count, size_t bytes) {
    const char *path = getenv("FAKE_CUDA_REPORT");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(
        file,
        "memory %ld bytes %zu modules %ld streams %ld events %ld graphs %ld launches %ld "
        "early %ld pinned %ld lost %u pid %ld\n",
        count, bytes, live.modules, live.streams, live.events, live.graphs, live.launches,
        live.early, live.pinned, context->lost, (long)getpid());
    (void)fclose(file);
}

gt_cu_result cuCtxDestroy_v2(CUcontext context) {
    ENTER(cuCtxDestroy);
    long count = 0;
    size_t bytes = 0;
    (void)cl.clFinish(cl.queue);
    clear_memories(context, &count, &bytes);
    if (context->lost) /* nothing in it could be given back */
        live.modules = live.streams = live.events = live.graphs = count = 0;
    report(context, count, bytes);
    int kept = 0;
    for (int i = 0; i < depth; i++)
        if (stack[i] != context)
            stack[kept++] = stack[i];
    depth = kept;
    live.contexts--;
    free(vacant);
    vacant = context;
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxPushCurrent_v2(CUcontext context) {
    ENTER(cuCtxPushCurrent);
    return push(context);
}

gt_cu_result cuCtxPopCurrent_v2(CUcontext *context) {
    ENTER(cuCtxPopCurrent);
    if (depth == 0)
        return GT_CU_INVALID_CONTEXT;
    *context = stack[--depth];
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxSetCurrent(CUcontext context) {
    ENTER(cuCtxSetCurrent);
    depth -= depth > 0;
    return context ? push(context) : GT_CU_SUCCESS;
}

gt_cu_result cuCtxGetCurrent(CUcontext *context) {
    ENTER(cuCtxGetCurrent);
    *context = current();
    return GT_CU_SUCCESS;
}

/* A context gets its number when it is first asked for. */
gt_cu_result cuCtxGetId(CUcontext context, unsigned long long *id) {
    static atomic_ullong ids;
    if (!context)
        return GT_CU_INVALID_CONTEXT;
    if (context->id == 0)
        context->id = atomic_fetch_add(&ids, 1) + 1;
    *id = context->id;
    return GT_CU_SUCCESS;
}

gt_cu_result cuCtxGetDevice(CUdevice *d) {
    ENTER(cuCtxGetDevice);
    if (!current())
        return GT_CU_INVALID_CONTEXT;
    *d = current()->device;
    return GT_CU_SUCCESS;
}

gt_cu_result finish(void) {
    (void)cl.clFinish(cl.queue);
    return current()->lost;
}

gt_cu_result cuCtxSynchronize(void) {
    ENTER(cuCtxSynchronize);
    return finish();
}
