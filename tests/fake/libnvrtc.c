/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libnvrtc.c - a replacement for NVRTC (GEMMTUNE_LIBNVRTC) for use with tests/fake/cuda/.
 * The "cubin" is a line that names the device, followed by the source. Nothing is compiled.
 *
 *   FAKE_NVRTC_VERSION   13.0 (default: sm_75 and later) or 12.9 (sm_50 and later)
 *   FAKE_NVRTC_FAIL      a source that contains this text does not compile
 *   FAKE_NVRTC_SLOW      a source that contains this text takes three seconds
 *   FAKE_NVRTC_HOLD      no source compiles while this file exists
 *   FAKE_NVRTC_COUNT     file to which every compilation adds a byte
 */
#define _DEFAULT_SOURCE
#include "runtime/drivers/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define X(type, name, needed, params) type name params;
GT_NVRTC_SYMBOLS(X)
#undef X

enum { LOG_SIZE = 512 };

struct _nvrtcProgram {
    char *source, *cubin; /* cubin: with its NUL */
    char log[LOG_SIZE];
};

static bool is_old(void) {
    const char *text = getenv("FAKE_NVRTC_VERSION");
    return text && strncmp(text, "12", 2) == 0;
}

static const int archs[] = {50, 52, 53, 60, 61, 62, 70, 72,
                            75, 80, 86, 87, 88, 89, 90, 100};
enum { ARCHS = sizeof archs / sizeof *archs, OLD_ARCHS = 8 };

gt_nvrtc_result nvrtcVersion(int *major, int *minor) {
    *major = is_old() ? 12 : 13;
    *minor = is_old() ? 9 : 0;
    return GT_NVRTC_SUCCESS;
}

gt_nvrtc_result nvrtcGetNumSupportedArchs(int *count) {
    *count = is_old() ? ARCHS : ARCHS - OLD_ARCHS;
    return GT_NVRTC_SUCCESS;
}

gt_nvrtc_result nvrtcGetSupportedArchs(int *out) {
    const int skip = is_old() ? 0 : OLD_ARCHS;
    memcpy(out, archs + skip, (size_t)(ARCHS - skip) * sizeof *archs);
    return GT_NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(gt_nvrtc_result result) {
    return result == GT_NVRTC_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER";
}

gt_nvrtc_result nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                                   const char *name, int header_count,
                                   const char *const *headers,
                                   const char *const *include_names) {
    nvrtcProgram p = calloc(1, sizeof *p);
    const size_t size = strlen(source) + 1;
    if (p)
        p->source = malloc(size);
    if (!p || !p->source) {
        free(p);
        return GT_NVRTC_OUT_OF_MEMORY;
    }
    memcpy(p->source, source, size);
    *program = p;
    return GT_NVRTC_SUCCESS;
}

gt_nvrtc_result nvrtcDestroyProgram(nvrtcProgram *program) {
    free((*program)->source);
    free((*program)->cubin);
    free(*program);
    *program = NULL;
    return GT_NVRTC_SUCCESS;
}

static void count_compilation(void) {
    const char *path = getenv("FAKE_NVRTC_COUNT");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    (void)fputc('.', file);
    (void)fclose(file);
}

/* "sm_90a" of --gpu-architecture=sm_90a, or NULL. */
static const char *arch_of(int count, const char *const *options) {
    static const char option[] = "--gpu-architecture=";
    for (int i = 0; i < count; i++)
        if (strncmp(options[i], option, sizeof option - 1) == 0)
            return options[i] + sizeof option - 1;
    return NULL;
}

/* The number that a real compiler's register allocator might report. */
static int registers_of(const char *source) {
    unsigned hash = 0;
    for (; *source; source++)
        hash = hash * 31 + (unsigned char)*source;
    return (int)(24 + hash % 32);
}

static gt_nvrtc_result make_cubin(nvrtcProgram p, const char *arch) {
    const int registers = registers_of(p->source);
    const size_t size = strlen(p->source) + 64;
    p->cubin = malloc(size);
    if (!p->cubin)
        return GT_NVRTC_OUT_OF_MEMORY;
    snprintf(p->cubin, size, "FAKECUBIN %.8s registers %d\n%s", arch, registers, p->source);
    snprintf(p->log, LOG_SIZE,
             "ptxas info    : 0 bytes gmem\n"
             "ptxas info    : Compiling entry function 'gemm' for '%.8s'\n"
             "ptxas info    : Function properties for gemm\n"
             "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill "
             "loads\n"
             "ptxas info    : Used %d registers, used 1 barriers, 400 bytes cmem[0]\n",
             arch, registers);
    return GT_NVRTC_SUCCESS;
}

/* The text that an environment variable holds, if the source has it. */
static const char *found(const char *variable, const char *source) {
    const char *text = getenv(variable);
    return text && *text && strstr(source, text) ? text : NULL;
}

static void wait_for_hold(void) {
    const char *path = getenv("FAKE_NVRTC_HOLD");
    while (path && *path && access(path, F_OK) == 0)
        usleep(20000);
}

gt_nvrtc_result nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                    const char *const *options) {
    const char *arch = arch_of(option_count, options);
    const char *fail = found("FAKE_NVRTC_FAIL", program->source);
    count_compilation();
    wait_for_hold();
    if (found("FAKE_NVRTC_SLOW", program->source))
        sleep(3);
    if (!arch || strncmp(arch, "sm_", 3) != 0)
        return 5; /* NVRTC_ERROR_INVALID_OPTION */
    if (!fail)
        return make_cubin(program, arch);
    snprintf(program->log, LOG_SIZE,
             "gemmtune.cu(1): error: the test wants no kernel with \"%.100s\"\n\n"
             "1 error detected in the compilation of \"gemmtune.cu\".\n",
             fail);
    return GT_NVRTC_COMPILATION;
}

gt_nvrtc_result nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
    *size = strlen(program->log) + 1;
    return GT_NVRTC_SUCCESS;
}

gt_nvrtc_result nvrtcGetProgramLog(nvrtcProgram program, char *log) {
    memcpy(log, program->log, strlen(program->log) + 1);
    return GT_NVRTC_SUCCESS;
}

gt_nvrtc_result nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
    *size = program->cubin ? strlen(program->cubin) + 1 : 0;
    return program->cubin ? GT_NVRTC_SUCCESS : GT_NVRTC_COMPILATION;
}

gt_nvrtc_result nvrtcGetCUBIN(nvrtcProgram program, char *cubin) {
    memcpy(cubin, program->cubin, strlen(program->cubin) + 1);
    return GT_NVRTC_SUCCESS;
}

gt_nvrtc_result nvrtcGetPTXSize(nvrtcProgram program, size_t *size) {
    return nvrtcGetCUBINSize(program, size);
}

gt_nvrtc_result nvrtcGetPTX(nvrtcProgram program, char *ptx) {
    return nvrtcGetCUBIN(program, ptx);
}
