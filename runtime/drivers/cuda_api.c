/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/drivers/cuda_api.h"

#include "runtime/drivers/driver_util.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct gt_cu_tensor_map) == 128, "a TMA descriptor has 128 bytes");
_Static_assert(sizeof(struct gt_cu_launch_attribute) == 72,
               "id, padding, 64 bytes of value");
_Static_assert(sizeof(void *) == 8, "declared for 64-bit Linux");

/* ---- the driver ---- */

static const struct gt_symbol cuda_symbols[] = {
#define X(name, symbol, needed, params) {#symbol, offsetof(struct gt_cuda, name), needed},
    GT_CUDA_SYMBOLS(X)
#undef X
};

static pthread_once_t cuda_once = PTHREAD_ONCE_INIT;
static struct gt_cuda cuda;
static bool cuda_ready;
static char cuda_why[400]; /* the reason when it is not ready */

static void load_cuda(void) {
    static const char *const names[] = {"libcuda.so.1", NULL};
    char text[GT_LIBRARY_TEXT_MAX];
    void *library = gt_library_open("GEMMTUNE_LIBCUDA", names, text);
    if (!library) {
        snprintf(cuda_why, sizeof cuda_why, "the CUDA driver %s", text);
        return;
    }
    const char *missing = gt_library_fill(&cuda, library, cuda_symbols,
                                          sizeof cuda_symbols / sizeof *cuda_symbols);
    cuda_ready = !missing;
    if (missing)
        snprintf(cuda_why, sizeof cuda_why,
                 "%.280s is no CUDA driver, or is too old: it has no %s", text, missing);
}

const struct gt_cuda *gt_cuda_api(struct gt_err *err) {
    (void)pthread_once(&cuda_once, load_cuda);
    if (cuda_ready)
        return &cuda;
    (void)gt_fail(err, GEMMTUNE_ENODRIVER, "%s", cuda_why);
    return NULL;
}

gt_status gt_cuda_fail(struct gt_err *err, const char *call, gt_cu_result result) {
    const char *name = NULL, *text = NULL;
    if (cuda_ready) {
        (void)cuda.cuGetErrorName(result, &name);
        (void)cuda.cuGetErrorString(result, &text);
    }
    if (!name)
        return gt_fail(err, GEMMTUNE_EDEVICE, "%s: CUDA error %u", call, result);
    return gt_fail(err, GEMMTUNE_EDEVICE, "%s: %s (%s)", call, name,
                   text ? text : "no text");
}

gt_status gt_cuda_result(gt_cu_result result, const char *call, struct gt_err *err) {
    if (result == GT_CU_SUCCESS)
        return GEMMTUNE_OK;
    const gt_status status = gt_cuda_fail(err, call, result);
    return result == GT_CU_OUT_OF_MEMORY ? GEMMTUNE_ENOMEM : status;
}

/* ---- NVRTC ---- */

static const struct gt_symbol nvrtc_symbols[] = {
#define X(type, name, needed, params) {#name, offsetof(struct gt_nvrtc, name), needed},
    GT_NVRTC_SYMBOLS(X)
#undef X
};

const char *const gt_nvrtc_names[GT_NVRTC_NAMES] = {
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so",
    "/usr/local/cuda/lib64/libnvrtc.so.13",
    "/usr/local/cuda/lib64/libnvrtc.so.12",
    "/usr/local/cuda/lib64/libnvrtc.so.11.2",
};
static pthread_once_t nvrtc_once = PTHREAD_ONCE_INIT;
static struct gt_nvrtcs nvrtcs;

/* NVRTC opens its companion library by bare name, and the loader looks in its own folders
 * only. When NVRTC was named by a path, this opens the companion beside it first. A missing
 * companion shows at the first build. */
static void open_builtins(const char *path, const struct gt_nvrtc *lib) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return;
    char beside[1024];
    const int n = snprintf(beside, sizeof beside, "%.*s/libnvrtc-builtins.so.%d.%d",
                           (int)(slash - path), path, lib->major, lib->minor);
    if (n > 0 && n < (int)sizeof beside)
        (void)dlopen(beside, RTLD_NOW | RTLD_LOCAL);
}

/* Asks a library for its version and architectures. False when it is no usable NVRTC. */
static bool describe_nvrtc(struct gt_nvrtc *lib, void *library) {
    if (gt_library_fill(lib, library, nvrtc_symbols,
                        sizeof nvrtc_symbols / sizeof *nvrtc_symbols))
        return false;
    int count = 0, archs[256] = {0};
    if (lib->nvrtcVersion(&lib->major, &lib->minor) != GT_NVRTC_SUCCESS ||
        lib->nvrtcGetNumSupportedArchs(&count) != GT_NVRTC_SUCCESS || count < 1 ||
        count > 256 || lib->nvrtcGetSupportedArchs(archs) != GT_NVRTC_SUCCESS)
        return false;
    lib->arch_count = count < GT_NVRTC_ARCHS_MAX ? count : GT_NVRTC_ARCHS_MAX;
    memcpy(lib->arch, archs, (size_t)lib->arch_count * sizeof *archs);
    return true;
}

static bool newer(const struct gt_nvrtc *a, const struct gt_nvrtc *b) {
    return a->major != b->major ? a->major > b->major : a->minor > b->minor;
}

_Static_assert(sizeof nvrtcs.why == GT_LIBRARY_TEXT_MAX, "a clause of gt_library_open");

/* Keeps the list sorted, newest first. Of two libraries with one version the first
 * stays. */
static void add_nvrtc(void *library, const char *path) {
    struct gt_nvrtc lib = {0};
    if (nvrtcs.count == GT_NVRTC_MAX || !describe_nvrtc(&lib, library))
        return;
    int at = 0;
    while (at < nvrtcs.count && newer(&nvrtcs.lib[at], &lib))
        at++;
    if (at < nvrtcs.count && !newer(&lib, &nvrtcs.lib[at]))
        return;
    memmove(&nvrtcs.lib[at + 1], &nvrtcs.lib[at],
            (size_t)(nvrtcs.count - at) * sizeof *nvrtcs.lib);
    nvrtcs.lib[at] = lib;
    nvrtcs.count++;
    open_builtins(path, &lib);
}

static void load_nvrtc(void) {
    const char *override = getenv("GEMMTUNE_LIBNVRTC");
    const bool chosen = override && *override;
    char text[GT_LIBRARY_TEXT_MAX];
    for (size_t i = 0; i < (chosen ? 1 : GT_NVRTC_NAMES); i++) {
        const char *const one[] = {chosen ? override : gt_nvrtc_names[i], NULL};
        void *library = gt_library_open("GEMMTUNE_LIBNVRTC", one, text);
        if (library)
            add_nvrtc(library, one[0]);
        else
            gt_library_keep(nvrtcs.why, text);
    }
    if (!nvrtcs.why[0])
        snprintf(nvrtcs.why, sizeof nvrtcs.why, "is older than 11.2");
}

const struct gt_nvrtcs *gt_nvrtc_api(void) {
    (void)pthread_once(&nvrtc_once, load_nvrtc);
    return &nvrtcs;
}

/* ---- NVML ---- */

static const struct gt_symbol nvml_symbols[] = {
#define X(name, symbol, needed, params) {#symbol, offsetof(struct gt_nvml, name), needed},
    GT_NVML_SYMBOLS(X)
#undef X
};

static pthread_once_t nvml_once = PTHREAD_ONCE_INIT;
static struct gt_nvml nvml;
static bool nvml_ready;

static void load_nvml(void) {
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    char text[GT_LIBRARY_TEXT_MAX];
    void *library = gt_library_open("GEMMTUNE_LIBNVML", names, text);
    nvml_ready = library &&
                 !gt_library_fill(&nvml, library, nvml_symbols,
                                  sizeof nvml_symbols / sizeof *nvml_symbols) &&
                 nvml.nvmlInit() == 0;
}

const struct gt_nvml *gt_nvml_api(void) {
    (void)pthread_once(&nvml_once, load_nvml);
    return nvml_ready ? &nvml : NULL;
}
