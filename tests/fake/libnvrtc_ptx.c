/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnvrtc_ptx.c - stands between gemmtune and a real NVRTC (GEMMTUNE_LIBNVRTC), for use
 * with tests/fake/cuda/. It has the real one compile for the virtual architecture
 * (compute_90a instead of sm_90a) and gives out PTX where gemmtune asks for a cubin. The
 * fake driver runs PTX with tests/ptx/. A cache of images must not be shared with a real
 * device: the name of an image does not say that it is PTX.
 *
 *   FAKE_NVRTC_REAL   the real library; needed
 *   FAKE_NVRTC_KEEP   folder that gets every PTX text, as PROCESS-NUMBER.ptx
 *   FAKE_NVRTC_WHOLE  compiles for the device as well, which takes as long as it does
 * beside one
 */
#define _DEFAULT_SOURCE
#include "runtime/drivers/cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define X(type, name, needed, params) type name params;
GT_NVRTC_SYMBOLS(X)
#undef X

enum { OPTIONS_MAX = 16 };

static struct { struct gt_nvrtc api; } real;

static void stop(const char *why, const char *what) {
    fprintf(stderr, "libnvrtc_ptx: %s %s\n", why, what);
    abort();
}

static void find(void *to, void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol)
        stop("the real NVRTC has no", name);
    memcpy(to, &symbol, sizeof symbol);
}

static void open_real(void) {
    const char *path = getenv("FAKE_NVRTC_REAL");
    if (!path || !*path)
        stop("set FAKE_NVRTC_REAL to", "a real NVRTC");
    /* Its own calls must not come back here. */
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library)
        stop("cannot open", path);
#define X(type, name, needed, params) find(&real.api.name, library, #name);
    GT_NVRTC_SYMBOLS(X)
#undef X
}

static const struct gt_nvrtc *api(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, open_real);
    return &real.api;
}

gt_nvrtc_result nvrtcVersion(int *major, int *minor) {
    return api()->nvrtcVersion(major, minor);
}

gt_nvrtc_result nvrtcGetNumSupportedArchs(int *count) {
    return api()->nvrtcGetNumSupportedArchs(count);
}

gt_nvrtc_result nvrtcGetSupportedArchs(int *archs) {
    return api()->nvrtcGetSupportedArchs(archs);
}

const char *nvrtcGetErrorString(gt_nvrtc_result result) {
    return api()->nvrtcGetErrorString(result);
}

gt_nvrtc_result nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                                   const char *name, int header_count,
                                   const char *const *headers,
                                   const char *const *include_names) {
    return api()->nvrtcCreateProgram(program, source, name, header_count, headers,
                                     include_names);
}

gt_nvrtc_result nvrtcDestroyProgram(nvrtcProgram *program) {
    return api()->nvrtcDestroyProgram(program);
}

/* Whether the text begins so; *rest is the text after that. */
static bool begins(const char *text, const char *with, const char **rest) {
    *rest = text + strlen(with);
    return strncmp(text, with, strlen(with)) == 0;
}

/* Options for ptxas mean nothing, and lines of the source do. */
gt_nvrtc_result nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                    const char *const *options) {
    const char *own[OPTIONS_MAX + 1] = {"--generate-line-info"}, *rest;
    char arch[64];
    int count = 1;
    if (getenv("FAKE_NVRTC_WHOLE"))
        return api()->nvrtcCompileProgram(program, option_count, options);
    for (int i = 0; i < option_count && count < OPTIONS_MAX; i++) {
        if (begins(options[i], "--ptxas-options", &rest))
            continue;
        own[count] = options[i];
        if (begins(options[i], "--gpu-architecture=sm_", &rest)) {
            snprintf(arch, sizeof arch, "--gpu-architecture=compute_%s", rest);
            own[count] = arch;
        }
        count++;
    }
    return api()->nvrtcCompileProgram(program, count, own);
}

gt_nvrtc_result nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
    return api()->nvrtcGetProgramLogSize(program, size);
}

gt_nvrtc_result nvrtcGetProgramLog(nvrtcProgram program, char *log) {
    return api()->nvrtcGetProgramLog(program, log);
}

static void keep(const char *ptx) {
    static int number;
    const char *folder = getenv("FAKE_NVRTC_KEEP");
    char path[512];
    if (!folder || !*folder)
        return;
    snprintf(path, sizeof path, "%s/%ld-%d.ptx", folder, (long)getpid(), number++);
    FILE *file = fopen(path, "w");
    if (!file)
        stop("cannot write", path);
    (void)fputs(ptx, file);
    (void)fclose(file);
}

gt_nvrtc_result nvrtcGetPTXSize(nvrtcProgram program, size_t *size) {
    return api()->nvrtcGetPTXSize(program, size);
}

gt_nvrtc_result nvrtcGetPTX(nvrtcProgram program, char *ptx) {
    const gt_nvrtc_result result = api()->nvrtcGetPTX(program, ptx);
    if (result == GT_NVRTC_SUCCESS)
        keep(ptx);
    return result;
}

gt_nvrtc_result nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
    return nvrtcGetPTXSize(program, size);
}

gt_nvrtc_result nvrtcGetCUBIN(nvrtcProgram program, char *cubin) {
    return nvrtcGetPTX(program, cubin);
}
