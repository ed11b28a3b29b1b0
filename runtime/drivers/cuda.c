/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c - the CUDA driver: the caller's context, modules and launches. nvrtc.c compiles,
 * cuda_device.c finds devices. Every function here leaves the same context current as
 * before.
 */
#include "runtime/drivers/cuda_device.h"
#include "runtime/drivers/cuda_limits.h"
#include "runtime/drivers/driver_util.h"
#include "runtime/drivers/nvrtc.h"
#include "runtime/drivers/stream_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuda_gpu {
    struct gt_gpu head;
    const struct gt_cuda *cu;
    CUcontext context; /* the caller's */
};

struct cuda_kernel {
    struct gt_kernel head;
    const struct gt_cuda *cu;
    CUcontext context;
    CUmodule module;
    bool borrowed; /* the module belongs to another kernel */
    bool follows;  /* a launch may start before the previous one ends */
    CUfunction function;
};

enum {
    STATIC_SMEM_MAX = 48 * 1024, /* bytes of a block without opting in */
    PORTABLE_CLUSTER = 8,        /* blocks of a cluster on every sm_90 or later */
    FOLLOW_CC = 90,              /* compute capability where programmatic launches begin */
    FOLLOW_DRIVER = 12030,       /* CUDA 12.3: since then, graphs can capture them */
    PARAMS_MAX = 32              /* arguments of a launch; a family has fewer */
};

/* ---- context ------------------------------------------------------------------------- */

static gt_status enter(const struct gt_cuda *cu, CUcontext context, struct gt_err *err) {
    const gt_cu_result result = cu->cuCtxPushCurrent(context);
    return result == GT_CU_SUCCESS ? GEMMTUNE_OK
                                   : gt_cuda_fail(err, "cuCtxPushCurrent", result);
}

static void leave(const struct gt_cuda *cu) {
    CUcontext mine;
    (void)cu->cuCtxPopCurrent(&mine);
}

static gt_status caller_context(CUcontext *out, const struct gt_cuda *cu,
                                const gemmtune_target *target, struct gt_err *err) {
    *out = (CUcontext)target->context;
    if (*out)
        return GEMMTUNE_OK;
    const gt_cu_result result = cu->cuCtxGetCurrent(out);
    if (result != GT_CU_SUCCESS)
        return gt_cuda_fail(err, "cuCtxGetCurrent", result);
    if (*out)
        return GEMMTUNE_OK;
    return gt_fail(
        err, GEMMTUNE_EDEVICE,
        "no CUDA context is current on this thread: pass one, or make one current "
        "with cuCtxSetCurrent or a first CUDA runtime call such as cudaFree(0)");
}

static gt_status device_of_context(struct cuda_gpu *gpu, struct gt_err *err) {
    const struct gt_cuda *cu = gpu->cu;
    gt_status status = enter(cu, gpu->context, err);
    if (status != GEMMTUNE_OK)
        return status;
    CUdevice device = 0;
    const gt_cu_result result = cu->cuCtxGetDevice(&device);
    leave(cu);
    if (result != GT_CU_SUCCESS)
        return gt_cuda_fail(err, "cuCtxGetDevice", result);
    return gt_cuda_describe(&gpu->head.device, cu, device, err);
}

static void close_gpu(struct gt_gpu *gpu) {
    free(gpu);
}

static gt_status open_gpu(struct gt_gpu **out, const gemmtune_target *target,
                          struct gt_err *err) {
    *out = NULL;
    const struct gt_cuda *cu = gt_cuda_api(err);
    if (!cu)
        return GEMMTUNE_ENODRIVER;
    const gt_cu_result result = cu->cuInit(0);
    if (result != GT_CU_SUCCESS)
        return gt_cuda_fail(err, "cuInit", result);
    struct cuda_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a context");
    gpu->head.driver = &gt_driver_cuda;
    gpu->cu = cu;
    gt_status status = caller_context(&gpu->context, cu, target, err);
    if (status == GEMMTUNE_OK)
        status = device_of_context(gpu, err);
    gpu->head.target = (gemmtune_target){.struct_size = sizeof(gemmtune_target),
                                         .backend = GEMMTUNE_CUDA,
                                         .context = gpu->context};
    if (status != GEMMTUNE_OK)
        close_gpu(&gpu->head);
    else
        *out = &gpu->head;
    return status;
}

/* ---- build --------------------------------------------------------------------------- */

static gt_status toolchain(char text[GT_TOOLCHAIN_MAX], const struct gt_device *d,
                           struct gt_err *err) {
    struct gt_nvrtc_choice choice;
    text[0] = '\0';
    const gt_status status = gt_nvrtc_choose(&choice, d->cc, err);
    if (status == GEMMTUNE_OK)
        gt_nvrtc_toolchain(&choice, text, GT_TOOLCHAIN_MAX);
    return status;
}

/* The options depend on the compute capability, so it is part of the digest. */
static void libraries(char digest[65], const struct gt_device *d) {
    char cc[16];
    (void)snprintf(cc, sizeof cc, "%d", d->cc);
    gt_nvrtc_digest(digest, cc);
}

static gt_status build(struct gt_image *image, const struct gt_device *d,
                       const char *source, struct gt_err *err) {
    gt_image_init(image);
    struct gt_nvrtc_choice choice;
    const gt_status status = gt_nvrtc_choose(&choice, d->cc, err);
    return status != GEMMTUNE_OK ? status : gt_nvrtc_build(image, &choice, source, err);
}

/* ---- load ---------------------------------------------------------------------------- */

/* EBUILD when the driver refuses this image and the context is sound; else EDEVICE. */
static gt_status fail_load(const char *call, gt_cu_result result, struct gt_err *err) {
    gt_status status = gt_cuda_fail(err, call, result);
    if (result == GT_CU_OUT_OF_MEMORY)
        status = GEMMTUNE_ENOMEM;
    const bool image_is_bad = result == GT_CU_INVALID_IMAGE ||
                              result == GT_CU_NO_BINARY_FOR_GPU ||
                              result == GT_CU_NOT_FOUND || result == GT_CU_INVALID_VALUE;
    return image_is_bad ? GEMMTUNE_EBUILD : status;
}

static gt_status opt_in(const struct cuda_kernel *k, const struct gt_launch *launch,
                        struct gt_err *err) {
    if (launch->smem_bytes > STATIC_SMEM_MAX) {
        const gt_cu_result result = k->cu->cuFuncSetAttribute(
            k->function, GT_CU_FUNC_MAX_DYNAMIC_SMEM, (int)launch->smem_bytes);
        if (result != GT_CU_SUCCESS)
            return fail_load("cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)", result,
                             err);
    }
    if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > PORTABLE_CLUSTER) {
        const gt_cu_result result =
            k->cu->cuFuncSetAttribute(k->function, GT_CU_FUNC_BIG_CLUSTERS, 1);
        if (result != GT_CU_SUCCESS)
            return fail_load("cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE)", result, err);
    }
    return GEMMTUNE_OK;
}

static int function_fact(const struct cuda_kernel *k, enum gt_cuda_constant which) {
    int value = -1;
    const gt_cu_result result =
        k->cu->cuFuncGetAttribute(&value, (unsigned)which, k->function);
    return result == GT_CU_SUCCESS ? value : -1;
}

/* Adds the driver's facts about the loaded function. Its local memory holds spills and
 * arrays alike, so it stands for spills only when the compiler gave no number. */
static gt_status take_facts(struct gt_image *image, const struct cuda_kernel *k,
                            const struct gt_launch *launch, struct gt_err *err) {
    const int registers = function_fact(k, GT_CU_FUNC_REGISTERS);
    const int smem = function_fact(k, GT_CU_FUNC_SMEM_BYTES);
    if (registers >= 0)
        image->registers = registers;
    if (smem >= 0)
        image->smem_bytes = smem;
    if (image->spill_bytes < 0)
        image->spill_bytes = function_fact(k, GT_CU_FUNC_LOCAL_BYTES);
    const int most = function_fact(k, GT_CU_FUNC_MAX_THREADS);
    const int64_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (most > 0 && threads > most)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "%d registers a thread leave room for %d threads a block, not %lld",
                       registers, most, (long long)threads);
    return GEMMTUNE_OK;
}

static gt_status load_module(struct cuda_kernel *k, const struct gt_image *image,
                             struct gt_err *err) {
    const gt_cu_result result = k->cu->cuModuleLoadData(&k->module, image->bytes);
    if (result == GT_CU_SUCCESS)
        return GEMMTUNE_OK;
    k->module = NULL;
    return fail_load("cuModuleLoadData", result, err);
}

static gt_status find_function(struct cuda_kernel *k, struct gt_image *image,
                               const char *entry, const struct gt_launch *launch,
                               struct gt_err *err) {
    const gt_cu_result result = k->cu->cuModuleGetFunction(&k->function, k->module, entry);
    if (result != GT_CU_SUCCESS)
        return fail_load("cuModuleGetFunction", result, err);
    const gt_status status = opt_in(k, launch, err);
    return status != GEMMTUNE_OK ? status : take_facts(image, k, launch, err);
}

static void unload(struct gt_kernel *kernel) {
    struct cuda_kernel *k = (struct cuda_kernel *)kernel;
    if (!k)
        return;
    if (k->module && !k->borrowed && enter(k->cu, k->context, NULL) == GEMMTUNE_OK) {
        (void)k->cu->cuModuleUnload(k->module);
        leave(k->cu);
    }
    free(k);
}

/* Whether the driver can launch early. Kernels for such a device always contain the wait of
 * GT_FOLLOW. */
static bool can_follow(const struct cuda_gpu *gpu) {
    int driver = 0;
    return gpu->head.device.cc >= FOLLOW_CC && gpu->cu->cuLaunchKernelEx &&
           gpu->cu->cuDriverGetVersion(&driver) == GT_CU_SUCCESS && driver >= FOLLOW_DRIVER;
}

static gt_status load(struct gt_kernel **out, struct gt_gpu *gpu, struct gt_image *image,
                      const char *source, const char *entry, const struct gt_launch *launch,
                      struct gt_err *err) {
    const struct cuda_gpu *g = (const struct cuda_gpu *)gpu;
    (void)source;
    *out = NULL;
    if (!image->bytes)
        return gt_fail(err, GEMMTUNE_EINVAL, "there is no image of %s to load", entry);
    struct cuda_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a kernel");
    k->head.driver = &gt_driver_cuda;
    k->cu = g->cu;
    k->context = g->context;
    k->follows = can_follow(g);
    gt_status status = enter(k->cu, k->context, err);
    if (status == GEMMTUNE_OK) {
        status = load_module(k, image, err);
        if (status == GEMMTUNE_OK)
            status = find_function(k, image, entry, launch, err);
        leave(k->cu);
    }
    if (status != GEMMTUNE_OK)
        unload(&k->head);
    else
        *out = &k->head;
    return status;
}

static gt_status load_also(struct gt_kernel **out, struct gt_gpu *gpu,
                           const struct gt_kernel *kernel, const char *entry,
                           const struct gt_launch *launch, struct gt_err *err) {
    struct gt_image facts = {0}; /* not used: an image has the facts of its main kernel */
    (void)gpu;
    *out = NULL;
    struct cuda_kernel *k = malloc(sizeof *k);
    if (!k)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a kernel");
    *k = *(const struct cuda_kernel *)kernel;
    k->borrowed = true;
    gt_status status = enter(k->cu, k->context, err);
    if (status == GEMMTUNE_OK) {
        status = find_function(k, &facts, entry, launch, err);
        leave(k->cu);
    }
    if (status != GEMMTUNE_OK)
        unload(&k->head);
    else
        *out = &k->head;
    return status;
}

/* ---- launch -------------------------------------------------------------------------- */

/* Writes the launch's special attributes to `of`; returns how many. */
static unsigned attributes(struct gt_cu_launch_attribute of[2], const struct cuda_kernel *k,
                           const struct gt_launch *launch) {
    unsigned count = 0;
    if (launch->cluster[0] > 1 || launch->cluster[1] > 1 || launch->cluster[2] > 1) {
        struct gt_cu_launch_attribute *cluster = &of[count++];
        *cluster = (struct gt_cu_launch_attribute){.id = GT_CU_LAUNCH_CLUSTER};
        cluster->value.cluster.x = (unsigned)launch->cluster[0];
        cluster->value.cluster.y = (unsigned)launch->cluster[1];
        cluster->value.cluster.z = (unsigned)launch->cluster[2];
    }
    if (launch->overlaps && k->follows) {
        struct gt_cu_launch_attribute *follow = &of[count++];
        *follow = (struct gt_cu_launch_attribute){.id = GT_CU_LAUNCH_PROGRAMMATIC};
        follow->value.programmatic_serialization = 1;
    }
    return count;
}

static gt_cu_result launch_with(struct gt_cu_launch_attribute *attribute, unsigned count,
                                const struct cuda_kernel *k, const struct gt_launch *launch,
                                void **params, CUstream stream) {
    const struct gt_cu_launch_config config = {
        .grid_x = (unsigned)launch->grid[0],
        .grid_y = (unsigned)launch->grid[1],
        .grid_z = (unsigned)launch->grid[2],
        .block_x = (unsigned)launch->block[0],
        .block_y = (unsigned)launch->block[1],
        .block_z = (unsigned)launch->block[2],
        .smem_bytes = (unsigned)launch->smem_bytes,
        .stream = stream,
        .attributes = attribute,
        .attribute_count = count,
    };
    return k->cu->cuLaunchKernelEx
               ? k->cu->cuLaunchKernelEx(&config, k->function, params, NULL)
               : GT_CU_NOT_SUPPORTED;
}

static gt_cu_result launch_plain(const struct cuda_kernel *k,
                                 const struct gt_launch *launch, void **params,
                                 CUstream stream) {
    return k->cu->cuLaunchKernel(
        k->function, (unsigned)launch->grid[0], (unsigned)launch->grid[1],
        (unsigned)launch->grid[2], (unsigned)launch->block[0], (unsigned)launch->block[1],
        (unsigned)launch->block[2], (unsigned)launch->smem_bytes, stream, params, NULL);
}

/* EINVAL when the launch was refused before anything ran and the context is sound; else
 * EDEVICE. */
static gt_status fail_launch(const char *call, gt_cu_result result, struct gt_err *err) {
    const gt_status status = gt_cuda_fail(err, call, result);
    const bool refused = result == GT_CU_INVALID_VALUE ||
                         result == GT_CU_LAUNCH_OUT_OF_RESOURCES ||
                         result == GT_CU_NOT_SUPPORTED;
    return refused ? GEMMTUNE_EINVAL : status;
}

/* enter() for the case that another context is current. *elsewhere: whether to leave. */
static gt_status enter_from_elsewhere(bool *elsewhere, const struct gt_cuda *cu,
                                      CUcontext context, struct gt_err *err) {
    CUcontext current = NULL;
    (void)cu->cuCtxGetCurrent(&current);
    *elsewhere = current != context;
    return *elsewhere ? enter(cu, context, err) : GEMMTUNE_OK;
}

static gt_status launch(const struct gt_kernel *kernel, const struct gt_launch *launch,
                        const struct gt_value_ref *args, int arg_count, void *stream,
                        struct gt_event_order order, struct gt_err *err) {
    (void)order; /* a stream has one */
    const struct cuda_kernel *k = (const struct cuda_kernel *)kernel;
    const struct gt_cuda *cu = k->cu;
    void *params[PARAMS_MAX]; /* the driver only reads through these */
    if (arg_count > PARAMS_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "no launch with %d arguments", arg_count);
    for (int i = 0; i < arg_count; i++)
        memcpy(&params[i], &args[i].bytes, sizeof params[i]);
    bool elsewhere;
    const gt_status status = enter_from_elsewhere(&elsewhere, cu, k->context, err);
    if (status != GEMMTUNE_OK)
        return status;
    struct gt_cu_launch_attribute attribute[2];
    const unsigned special = attributes(attribute, k, launch);
    const gt_cu_result result =
        special ? launch_with(attribute, special, k, launch, params, (CUstream)stream)
                : launch_plain(k, launch, params, (CUstream)stream);
    if (elsewhere)
        leave(cu);
    if (result == GT_CU_SUCCESS)
        return GEMMTUNE_OK;
    return fail_launch(special ? "cuLaunchKernelEx" : "cuLaunchKernel", result, err);
}

/* ---- tensor maps --------------------------------------------------------------------- */

static const struct {
    gemmtune_dtype type;
    enum gt_cuda_constant theirs;
} map_types[] = {
    {GEMMTUNE_F32, GT_CU_TMA_F32},   {GEMMTUNE_F64, GT_CU_TMA_F64},
    {GEMMTUNE_I32, GT_CU_TMA_I32},   {GEMMTUNE_F16, GT_CU_TMA_F16},
    {GEMMTUNE_BF16, GT_CU_TMA_BF16},
};

static gt_cu_tma_type map_type(gemmtune_dtype type) {
    for (size_t i = 0; i < sizeof map_types / sizeof *map_types; i++)
        if (map_types[i].type == type)
            return map_types[i].theirs;
    return GT_CU_TMA_U8; /* only bytes are left */
}

/* The swizzle has passed gt_cuda_check_map. */
static gt_cu_tma_swizzle map_swizzle(int64_t bytes) {
    return bytes == 128  ? GT_CU_TMA_SWIZZLE_128B
           : bytes == 64 ? GT_CU_TMA_SWIZZLE_64B
           : bytes == 32 ? GT_CU_TMA_SWIZZLE_32B
                         : GT_CU_TMA_SWIZZLE_NONE;
}

static gt_cu_result encode(struct gt_cu_tensor_map *map, const struct gt_cuda *cu,
                           const struct gt_tiling *t, void *memory) {
    const uint64_t sides[3] = {(uint64_t)t->inner, (uint64_t)t->outer, (uint64_t)t->planes};
    const uint64_t stride[2] = {(uint64_t)t->stride, (uint64_t)t->plane};
    const uint32_t box[3] = {(uint32_t)t->box[0], (uint32_t)t->box[1], 1};
    static const uint32_t dense[3] = {1, 1, 1};
    return cu->cuTensorMapEncodeTiled(
        map, map_type(t->type), t->planes > 0 ? 3 : 2, memory, sides, stride, box, dense,
        GT_CU_TMA_INTERLEAVE_NONE, map_swizzle(t->swizzle),
        t->fetch == 256 ? GT_CU_TMA_L2_256B : GT_CU_TMA_L2_128B, GT_CU_TMA_FILL_ZERO);
}

/*
 * Drivers up to 595 set bit 85 of the maps of small operands wrongly on Blackwell: now and
 * then a copy through such a map reads memory that does not exist. NVIDIA's remedy is to
 * clear that bit where the memory has less than 128 KiB and rows have gaps (release notes
 * of the driver 595.71.05, "Known Issues"). Maps of operands without gaps mean the same
 * without it.
 */
static void mend_small_map(struct gt_cu_tensor_map *map, const struct gt_device *d,
                           const struct gt_tiling *t) {
    const bool is_blackwell = d->cc >= 100 && d->cc < 130;
    const int64_t bytes = t->planes > 0 ? t->planes * t->plane : t->outer * t->stride;
    if (is_blackwell && bytes < 128 << 10)
        map->opaque[1] &= ~(UINT64_C(1) << 21);
}

static gt_status encode_map(struct gt_tensor_map *out, const struct gt_gpu *gpu,
                            const struct gt_tiling *tiling, void *memory,
                            struct gt_err *err) {
    const struct cuda_gpu *g = (const struct cuda_gpu *)gpu;
    const struct gt_cuda *cu = g->cu;
    struct gt_cu_tensor_map map;
    bool elsewhere;
    if (!cu->cuTensorMapEncodeTiled)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the CUDA driver is too old: it has no cuTensorMapEncodeTiled");
    const gt_status status = enter_from_elsewhere(&elsewhere, cu, g->context, err);
    if (status != GEMMTUNE_OK)
        return status;
    const gt_cu_result result = encode(&map, cu, tiling, memory);
    if (elsewhere)
        leave(cu);
    if (result != GT_CU_SUCCESS)
        return fail_launch("cuTensorMapEncodeTiled", result, err);
    mend_small_map(&map, &gpu->device, tiling);
    memcpy(out, &map, sizeof *out);
    return GEMMTUNE_OK;
}

const struct gt_driver gt_driver_cuda = {
    .backend = GEMMTUNE_CUDA,
    .speaks_cuda = true,
    .pointers_are_addresses = true,
    .keeps_images = true,
    .compiles_apart = true,
    .check_launch = gt_cuda_check_launch,
    .check_map = gt_cuda_check_map,
    .enumerate = gt_cuda_enumerate,
    .open = open_gpu,
    .close = close_gpu,
    .fill_version = gt_cuda_fill_version,
    .toolchain = toolchain,
    .libraries = libraries,
    .build = build,
    .load = load,
    .load_also = load_also,
    .unload = unload,
    .encode_map = encode_map,
    .launch = launch,
    .stream_memory = &gt_stream_memory_cuda,
};
