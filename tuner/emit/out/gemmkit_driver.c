/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_driver.c - the CUDA driver, by declarations of its own: it is opened when the
 * program runs. GEMMKIT_LIBCUDA names another library than libcuda.so.1. */
#include "gemmkit_inside.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned result_t; /* CUresult */

enum { SUCCESS = 0, OUT_OF_MEMORY = 2 };
enum { CC_MAJOR = 75, CC_MINOR = 76, UNITS = 16, SMEM = 97 }; /* CUdevice_attribute */
enum { DYNAMIC_SMEM = 8, BIG_CLUSTERS = 14 };                 /* CUfunction_attribute */
enum { CLUSTER = 4, PROGRAMMATIC = 6 };                       /* CUlaunchAttributeID */
enum { STATIC_SMEM_MAX = 48 * 1024, PORTABLE = 8 }; /* beyond these, a kernel opts in */
enum { FOLLOW_CC = 90, FOLLOW_DRIVER = 12030 };     /* where launches may overlap */

struct attribute {
    unsigned id;
    char pad[4];
    union {
        char room[64];
        unsigned cluster[3];
        int overlaps;
    } value;
};

struct config {
    unsigned grid[3], block[3], smem;
    void *stream;
    struct attribute *attribute;
    unsigned attributes;
};

#define SYMBOLS(X)                                                                         \
    X(cuInit, cuInit, 1, (unsigned))                                                       \
    X(cuDriverGetVersion, cuDriverGetVersion, 1, (int *))                                  \
    X(cuGetErrorName, cuGetErrorName, 1, (result_t, const char **))                        \
    X(cuGetErrorString, cuGetErrorString, 1, (result_t, const char **))                    \
    X(cuCtxGetCurrent, cuCtxGetCurrent, 1, (void **))                                      \
    X(cuCtxPushCurrent, cuCtxPushCurrent_v2, 1, (void *))                                  \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2, 1, (void **))                                   \
    X(cuCtxGetDevice, cuCtxGetDevice, 1, (int *))                                          \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, 1, (int *, unsigned, int))               \
    X(cuModuleLoadData, cuModuleLoadData, 1, (void **, const void *))                      \
    X(cuModuleUnload, cuModuleUnload, 1, (void *))                                         \
    X(cuModuleGetFunction, cuModuleGetFunction, 1, (void **, void *, const char *))        \
    X(cuFuncSetAttribute, cuFuncSetAttribute, 1, (void *, unsigned, int))                  \
    X(cuLaunchKernel, cuLaunchKernel, 1,                                                   \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
       void *, void **, void **))                                                          \
    X(cuLaunchKernelEx, cuLaunchKernelEx, 0,                                               \
      (const struct config *, void *, void **, void **))                                   \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, 0,                                   \
      (struct gk_tensor_map *, unsigned, uint32_t, void *, const uint64_t *,               \
       const uint64_t *, const uint32_t *, const uint32_t *, unsigned, unsigned, unsigned, \
       unsigned))

static struct driver {
#define X(name, symbol, needed, params) result_t(*name) params;
    SYMBOLS(X)
#undef X
    char missing[256]; /* why there is no driver; "": there is one */
    int version;
} cu;

/* ---- opening ---- */

static void find_symbols(void *library) {
    static const struct {
        const char *symbol;
        size_t at;
        int needed;
    } wanted[] = {
#define X(name, symbol, needed, params) {#symbol, offsetof(struct driver, name), needed},
        SYMBOLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *const found = dlsym(library, wanted[i].symbol);
        if (found == NULL && wanted[i].needed) {
            strcpy(cu.missing, "the CUDA driver is too old: it has no ");
            strncat(cu.missing, wanted[i].symbol, 64);
            return;
        }
        memcpy((char *)&cu + wanted[i].at, &found, sizeof found);
    }
}

static void open_library(void) {
    const char *path = getenv("GEMMKIT_LIBCUDA");
    path = path != NULL && *path != '\0' ? path : "libcuda.so.1";
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        strcpy(cu.missing, "there is no CUDA driver: ");
        strncat(cu.missing, why != NULL ? why : path, 200);
        return;
    }
    find_symbols(library);
    if (cu.missing[0] == '\0' && cu.cuInit(0) == SUCCESS)
        (void)cu.cuDriverGetVersion(&cu.version);
}

static gemmkit_status fail(const char *call, result_t result, gemmkit_status status) {
    const char *name = NULL, *text = NULL;
    (void)cu.cuGetErrorName(result, &name);
    (void)cu.cuGetErrorString(result, &text);
    return gk_fail(result == OUT_OF_MEMORY ? GEMMKIT_ENOMEM : status, "%s: %s (%s)", call,
                   name != NULL ? name : "unknown error", text != NULL ? text : "");
}

static gemmkit_status enter(void *context) {
    const result_t result = cu.cuCtxPushCurrent(context);
    return result == SUCCESS ? GEMMKIT_OK
                             : fail("cuCtxPushCurrent", result, GEMMKIT_EDEVICE);
}

static void leave(void) {
    void *mine;
    (void)cu.cuCtxPopCurrent(&mine);
}

static gemmkit_status ask_device(struct gk_device *out) {
    int device = 0, major = 0, minor = 0;
    result_t result = cu.cuCtxGetDevice(&device);
    if (result == SUCCESS)
        result = cu.cuDeviceGetAttribute(&major, CC_MAJOR, device);
    if (result == SUCCESS)
        result = cu.cuDeviceGetAttribute(&minor, CC_MINOR, device);
    if (result == SUCCESS)
        result = cu.cuDeviceGetAttribute(&out->units, UNITS, device);
    if (result == SUCCESS)
        result = cu.cuDeviceGetAttribute(&out->smem, SMEM, device);
    out->cc = 10 * major + minor;
    return result == SUCCESS ? GEMMKIT_OK
                             : fail("cuDeviceGetAttribute", result, GEMMKIT_EDEVICE);
}

gemmkit_status gk_driver_open(void **context, struct gk_device *device) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, open_library);
    if (cu.missing[0] != '\0')
        return gk_fail(GEMMKIT_ENODRIVER, "%s", cu.missing);
    if (*context == NULL)
        (void)cu.cuCtxGetCurrent(context);
    if (*context == NULL)
        return gk_fail(GEMMKIT_EDEVICE, "no CUDA context is current: pass one, or make one "
                                        "current with cuCtxSetCurrent or cudaFree(0)");
    gemmkit_status status = enter(*context);
    if (status != GEMMKIT_OK)
        return status;
    status = ask_device(device);
    leave();
    return status;
}

/* ---- loading ---- */

struct gk_loaded {
    void *context, *module;
    void *function[GK_PASSES];
    bool follows; /* launches may overlap */
    bool mends;   /* see mend */
};

static gemmkit_status find_function(struct gk_loaded *l, int i, const char *entry,
                                    const struct gk_launch *launch) {
    const int32_t *const c = launch->cluster;
    result_t result = cu.cuModuleGetFunction(&l->function[i], l->module, entry);
    if (result != SUCCESS)
        return fail("cuModuleGetFunction", result, GEMMKIT_EBUILD);
    if (launch->smem > STATIC_SMEM_MAX)
        result = cu.cuFuncSetAttribute(l->function[i], DYNAMIC_SMEM, launch->smem);
    if (result == SUCCESS && c[0] * c[1] * c[2] > PORTABLE)
        result = cu.cuFuncSetAttribute(l->function[i], BIG_CLUSTERS, 1);
    return result == SUCCESS ? GEMMKIT_OK
                             : fail("cuFuncSetAttribute", result, GEMMKIT_EBUILD);
}

static gemmkit_status load_image(struct gk_loaded *l, const struct gk_image *image) {
    /* Text (PTX) ends in a zero byte. */
    unsigned char *bytes = calloc((size_t)image->size + 1, 1);
    if (bytes == NULL)
        return gk_fail(GEMMKIT_ENOMEM, "out of memory");
    gemmkit_status status = GEMMKIT_OK;
    if (!gk_inflate(bytes, image->size, gk_image_bytes + image->at, image->packed))
        status = gk_fail(GEMMKIT_EBUILD, "the image of a kernel is damaged");
    if (status == GEMMKIT_OK) {
        const result_t result = cu.cuModuleLoadData(&l->module, bytes);
        if (result != SUCCESS)
            status = fail("cuModuleLoadData", result, GEMMKIT_EBUILD);
    }
    free(bytes);
    return status;
}

gemmkit_status gk_load(struct gk_loaded **out, void *context, const struct gk_kernel *k,
                       const struct gk_fit *fit) {
    struct gk_device device = {0, 0, 0};
    struct gk_loaded *l = calloc(1, sizeof *l);
    if (l == NULL)
        return gk_fail(GEMMKIT_ENOMEM, "out of memory");
    l->context = context;
    gemmkit_status status = enter(context);
    if (status == GEMMKIT_OK) {
        status = ask_device(&device);
        l->follows = device.cc >= FOLLOW_CC && cu.version >= FOLLOW_DRIVER;
        l->mends = device.cc >= 100 && device.cc < 130;
        if (status == GEMMKIT_OK)
            status = load_image(l, &gk_images[k->image]);
        for (int i = 0; i < fit->passes && status == GEMMKIT_OK; i++)
            status = find_function(l, i, k->entry[i], &fit->launch[i]);
        leave();
    }
    if (status != GEMMKIT_OK)
        gk_unload(l);
    else
        *out = l;
    return status;
}

void gk_unload(struct gk_loaded *l) {
    if (l == NULL)
        return;
    if (l->module != NULL && enter(l->context) == GEMMKIT_OK) {
        (void)cu.cuModuleUnload(l->module);
        leave();
    }
    free(l);
}

/* ---- launching ---- */

static unsigned attributes_of(struct attribute of[2], const struct gk_loaded *l,
                              const struct gk_launch *launch) {
    const int32_t *const c = launch->cluster;
    unsigned count = 0;
    memset(of, 0, 2 * sizeof *of);
    if (c[0] * c[1] * c[2] > 1) {
        of[count].id = CLUSTER;
        for (int i = 0; i < 3; i++)
            of[count].value.cluster[i] = (unsigned)c[i];
        count++;
    }
    if (launch->overlaps && l->follows) {
        of[count].id = PROGRAMMATIC;
        of[count++].value.overlaps = 1;
    }
    return count;
}

static result_t launch_one(const struct gk_loaded *l, int i, const struct gk_launch *launch,
                           void **params, void *stream) {
    const int64_t *const g = launch->grid;
    const int32_t *const b = launch->block, *const c = launch->cluster;
    struct attribute attribute[2];
    if (c[0] * c[1] * c[2] == 1 && !(launch->overlaps && l->follows))
        return cu.cuLaunchKernel(
            l->function[i], (unsigned)g[0], (unsigned)g[1], (unsigned)g[2], (unsigned)b[0],
            (unsigned)b[1], (unsigned)b[2], (unsigned)launch->smem, stream, params, NULL);
    const struct config config = {.grid = {(unsigned)g[0], (unsigned)g[1], (unsigned)g[2]},
                                  .block = {(unsigned)b[0], (unsigned)b[1], (unsigned)b[2]},
                                  .smem = (unsigned)launch->smem,
                                  .stream = stream,
                                  .attribute = attribute,
                                  .attributes = attributes_of(attribute, l, launch)};
    return cu.cuLaunchKernelEx != NULL
               ? cu.cuLaunchKernelEx(&config, l->function[i], params, NULL)
               : 801; /* CUDA_ERROR_NOT_SUPPORTED */
}

/* Makes the kernel's context current where another one is. */
static gemmkit_status enter_from_elsewhere(bool *elsewhere, void *context) {
    void *current = NULL;
    (void)cu.cuCtxGetCurrent(&current);
    *elsewhere = current != context;
    return *elsewhere ? enter(context) : GEMMKIT_OK;
}

/* Drivers up to 595 set bit 85 of the maps of small operands wrongly on Blackwell. NVIDIA's
 * remedy is to clear it (release notes of the driver 595.71.05, "Known Issues"). */
static void mend(struct gk_tensor_map *map, const struct gk_map *m) {
    const int64_t bytes = m->planes > 0 ? m->planes * m->plane : m->outer * m->stride;
    if (bytes < 128 << 10)
        map->opaque[1] &= ~(UINT64_C(1) << 21);
}

static gemmkit_status encode(struct gk_tensor_map *out, const struct gk_loaded *l,
                             const struct gk_map *m, void *memory) {
    const uint64_t sides[3] = {(uint64_t)m->inner, (uint64_t)m->outer, (uint64_t)m->planes};
    const uint64_t stride[2] = {(uint64_t)m->stride, (uint64_t)m->plane};
    const uint32_t box[3] = {(uint32_t)m->box[0], (uint32_t)m->box[1], 1};
    static const uint32_t dense[3] = {1, 1, 1};
    const unsigned swizzle = m->swizzle == 128  ? 3
                             : m->swizzle == 64 ? 2
                             : m->swizzle == 32 ? 1
                                                : 0;
    if (cu.cuTensorMapEncodeTiled == NULL)
        return gk_fail(GEMMKIT_EDEVICE,
                       "the CUDA driver is too old: it has no cuTensorMapEncodeTiled");
    const result_t result = cu.cuTensorMapEncodeTiled(out, m->type, m->planes > 0 ? 3 : 2,
                                                      memory, sides, stride, box, dense, 0,
                                                      swizzle, m->fetch == 256 ? 3 : 2, 0);
    if (result != SUCCESS)
        return fail("cuTensorMapEncodeTiled", result, GEMMKIT_EDEVICE);
    if (l->mends)
        mend(out, m);
    return GEMMKIT_OK;
}

static bool pretends;

void gk_pretend(bool on) {
    pretends = on;
}

gemmkit_status gk_run(const struct gk_loaded *l, const struct gk_fit *fit, void **params,
                      struct gk_tensor_map *map, void *const *base, void *stream) {
    bool elsewhere;
    gemmkit_status status = enter_from_elsewhere(&elsewhere, l->context);
    if (status != GEMMKIT_OK)
        return status;
    if (pretends) {
        if (elsewhere)
            leave();
        return GEMMKIT_OK;
    }
    for (int i = 0; i < fit->maps && status == GEMMKIT_OK; i++)
        if (base[i] != NULL)
            status = encode(&map[i], l, &fit->map[i], base[i]);
    for (int i = 0; i < fit->passes && status == GEMMKIT_OK; i++) {
        const result_t result = launch_one(l, i, &fit->launch[i], params, stream);
        if (result != SUCCESS)
            status = fail("cuLaunchKernel", result, GEMMKIT_EDEVICE);
    }
    if (elsewhere)
        leave();
    return status;
}
