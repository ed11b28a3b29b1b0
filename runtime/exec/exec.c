/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - one point's kernels, built, loaded and ready for one problem. It decides
 * everything that can be decided once.
 */
#include "runtime/exec/exec_inside.h"

#include "core/clock.h"
#include "core/epilogue/epilogue_keep.h"
#include "core/problem/packed.h"

#include <stdlib.h>

static const struct gt_device *device_of(const struct gt_gpu *gpu) {
    return &gpu->device;
}

/* ---- the loaded kernel ----------------------------------------------------------- */

static void note_image(struct gt_loaded *l) {
    l->info.registers = l->image.registers;
    l->info.spill_bytes = l->image.spill_bytes;
    l->info.smem_bytes = l->image.smem_bytes;
    l->info.log = l->image.log != NULL ? l->image.log : "";
}

struct gt_loaded *gt_loaded_create(struct gt_gpu *gpu, const struct gt_fit *fit) {
    struct gt_loaded *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    gt_shared_init(&l->shared);
    l->gpu = gpu;
    l->fit = *fit;
    l->driver = gpu->driver;
    l->info.image = l->digest;
    l->image.registers = l->image.spill_bytes = l->image.smem_bytes = -1;
    note_image(l);
    return l;
}

void gt_loaded_destroy(struct gt_loaded *l) {
    const struct gt_passes *p = &l->fit.passes;
    struct gt_kernel *const main = l->kernel[p->main];
    for (int i = 0; i < p->count; i++)
        if (i != p->main && l->kernel[i] != NULL)
            l->driver->unload(l->kernel[i]);
    if (main != NULL) /* last: the other kernels are in its module */
        l->driver->unload(main);
    gt_image_clear(&l->image);
    free(l);
}

void gt_loaded_release(struct gt_loaded *l) {
    if (l != NULL && gt_shared_drop(&l->shared))
        gt_loaded_destroy(l);
}

/* The main kernel comes first: the image has its facts. */
static gt_status load(struct gt_loaded *l, const char *source, struct gt_err *err) {
    const struct gt_passes *p = &l->fit.passes;
    struct gt_kernel **main = &l->kernel[p->main];
    gt_status status =
        l->driver->load(main, l->gpu, &l->image, source, p->item[p->main].entry,
                        &p->item[p->main].launch, err);
    for (int i = 0; i < p->count && status == GEMMTUNE_OK; i++)
        if (i != p->main)
            status = l->driver->load_also(&l->kernel[i], l->gpu, *main, p->item[i].entry,
                                          &p->item[i].launch, err);
    return status;
}

/* Loads the image, if it could be had. A driver that compiles only while loading has its
 * compile time in the load. */
static gt_status load_image(struct gt_loaded *l, gt_status status, const char *source,
                            const struct gt_build_stats *stats, bool keeps,
                            struct gt_err *err) {
    const double start = gt_seconds();
    if (status == GEMMTUNE_OK)
        status = load(l, source, err);
    const bool loads_source = status == GEMMTUNE_OK && l->image.bytes == NULL;
    l->info.cached = stats->cached && !loads_source;
    l->info.compile_ms = loads_source ? 1e3 * (gt_seconds() - start) : stats->compile_ms;
    if (loads_source && keeps)
        gt_build_keep(&l->image, l->kernel[l->fit.passes.main], device_of(l->gpu), source);
    note_image(l);
    if (l->image.bytes != NULL)
        gt_digest(l->digest, l->image.bytes, l->image.size);
    free(l->image.bytes); /* the driver has its own copy */
    l->image.bytes = NULL;
    return status;
}

/* A driver that refuses an image of the lock's folder must not compile the source. */
static gt_status build_pinned(struct gt_loaded *l, const char *source, bool only_cached,
                              struct gt_err *err) {
    const struct gt_pinned *pinned = l->fit.pinned;
    const bool kept = pinned->folder != NULL;
    struct gt_build_stats stats;
    const gt_status built = gt_build_pinned(&l->image, l->driver, device_of(l->gpu), source,
                                            pinned, only_cached, &stats, err);
    const gt_status status = load_image(l, built, kept ? NULL : source, &stats, true, err);
    return kept && built == GEMMTUNE_OK && status == GEMMTUNE_EBUILD
               ? gt_fail_within(err, GEMMTUNE_ELOCKED, "the pinned image %.12s...",
                                pinned->image)
               : status;
}

gt_status gt_loaded_build(struct gt_loaded *l, const char *source, bool keeps,
                          struct gt_err *err) {
    struct gt_build_stats stats = {0};
    if (l->fit.pinned != NULL)
        return build_pinned(l, source, false, err);
    const gt_status status =
        gt_build(&l->image, l->driver, device_of(l->gpu), source, &stats, err);
    return load_image(l, status, source, &stats, keeps, err);
}

gt_status gt_loaded_find(struct gt_loaded *l, const char *source, struct gt_err *err) {
    const struct gt_build_stats stats = {.cached = true};
    if (l->fit.pinned != NULL)
        return build_pinned(l, source, true, err);
    if (!gt_build_find(&l->image, l->driver, device_of(l->gpu), source))
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "its image is not in the cache");
    return load_image(l, GEMMTUNE_OK, source, &stats, true, err);
}

static gt_status build(struct gt_loaded *l, struct gt_err *err) {
    char *source = NULL;
    gt_status status = gt_source_of(&source, &l->fit.binding, device_of(l->gpu), err);
    if (status == GEMMTUNE_OK)
        status = gt_loaded_build(l, source, false, err);
    free(source);
    return status;
}

/* ---- create ---------------------------------------------------------------------- */

gt_status gt_exec_check_maps(const struct gt_gpu *gpu, const struct gt_fit *fit,
                             struct gt_err *err) {
    void *const somewhere = (void *)(uintptr_t)GT_WORKSPACE_ALIGN;
    const struct gt_passes *passes = &fit->passes;
    const bool described = fit->problem.k > 0 && !gt_exec_is_empty(&fit->problem);
    struct gt_tensor_map map;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; described && i < passes->map_count && status == GEMMTUNE_OK; i++)
        if (!passes->map[i].absent)
            status =
                gpu->driver->encode_map(&map, gpu, &passes->map[i].tiling, somewhere, err);
    return status;
}

static void prepare_args(struct gt_exec *e, const struct gt_binding *b) {
    const gemmtune_problem *p = &e->fit.problem;
    const size_t scalar = gt_type_size(p->type_acc), pointer = sizeof(void *);
    const struct {
        size_t size;
        union gt_value value;
    } kinds[GT_ARG_KINDS] = {
        [GT_ARG_M] = {sizeof(int32_t), {.i32 = (int32_t)p->m}},
        [GT_ARG_N] = {sizeof(int32_t), {.i32 = (int32_t)p->n}},
        [GT_ARG_K] = {sizeof(int32_t), {.i32 = (int32_t)p->k}},
        [GT_ARG_ALPHA] = {scalar, {0}},
        [GT_ARG_BETA] = {scalar, {0}},
        [GT_ARG_A] = {pointer, {0}},
        [GT_ARG_B] = {pointer, {0}},
        [GT_ARG_C] = {pointer, {0}},
        [GT_ARG_LDA] = {sizeof(int64_t), {.i64 = p->lda}},
        [GT_ARG_LDB] = {sizeof(int64_t), {.i64 = p->ldb}},
        [GT_ARG_LDC] = {sizeof(int64_t), {.i64 = p->ldc}},
        [GT_ARG_WORKSPACE] = {pointer, {0}},
        [GT_ARG_BATCH] = {sizeof(int32_t), {.i32 = (int32_t)p->batch}},
        [GT_ARG_STRIDE_A] = {sizeof(int64_t), {.i64 = p->stride_a}},
        [GT_ARG_STRIDE_B] = {sizeof(int64_t), {.i64 = p->stride_b}},
        [GT_ARG_STRIDE_C] = {sizeof(int64_t), {.i64 = p->stride_c}},
        [GT_ARG_STRIDE_W] = {sizeof(int64_t),
                             {.i64 = e->fit.passes.workspace_step / (int64_t)scalar}},
        [GT_ARG_ROWS] = {pointer, {0}},
    };
    for (int i = 0; i < GT_ARG_KINDS; i++) {
        e->value[i] = kinds[i].value;
        e->size[i] = kinds[i].size;
    }
    e->arg_count = gt_family_args(e->args, b);
}

static void prepare_units(struct gt_exec *e, const gemmtune_problem *p) {
    const bool behind = gt_problem_has_pointers(p);
    e->unit[GT_ARG_A] = behind ? sizeof(void *) : gt_type_size(p->type_a);
    e->unit[GT_ARG_B] = behind ? sizeof(void *) : gt_type_size(p->type_b);
    e->unit[GT_ARG_C] = behind ? sizeof(void *) : gt_type_size(p->type_c);
    e->unit[GT_ARG_WORKSPACE] = 1;
    e->unit[GT_ARG_ROWS] = sizeof(int32_t);
}

/* Bytes that the memory of A, B and C must have. */
static void prepare_bytes(struct gt_exec *e, const gemmtune_problem *p) {
    const int64_t elements[3] = {gt_problem_elems_a(p), gt_problem_elems_b(p),
                                 gt_problem_elems_c(p)};
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    for (int i = 0; i < 3; i++)
        e->bytes[i] = gt_problem_has_pointers(p)
                          ? p->batch * (int64_t)sizeof(void *)
                          : elements[i] * (int64_t)gt_type_size(type[i]);
    if (p->packed_b && !gt_problem_has_pointers(p))
        e->bytes[1] = gt_packed_bytes(p);
}

/* The launches of each kind of panel: those at the ends of C may be smaller. */
static gt_status prepare_panels(struct gt_exec *e, struct gt_err *err) {
    const struct gt_binding *b = &e->fit.binding;
    gt_status status = GEMMTUNE_OK;
    if (!gt_has_panels(b) || gt_exec_is_empty(&e->fit.problem))
        return GEMMTUNE_OK;
    if (!e->loaded->driver->pointers_are_addresses)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "panels of C need CUDA");
    e->panel = calloc(GT_PANEL_KINDS, sizeof *e->panel);
    if (e->panel == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int64_t i = 0; i < b->panels[0] * b->panels[1] && status == GEMMTUNE_OK; i++) {
        const struct gt_panel at = gt_panel_at(b, i);
        struct gt_binding own = *b;
        if (e->panel[at.kind].count > 0)
            continue;
        status = gt_bind_panel(&own, &at, err);
        if (status == GEMMTUNE_OK)
            status = gt_passes_of(&e->panel[at.kind], &own, device_of(e->loaded->gpu), err);
    }
    return status;
}

gt_status gt_exec_of(struct gt_exec **out, struct gt_loaded *l, const struct gt_fit *fit,
                     struct gt_err *err) {
    struct gt_exec *e = calloc(1, sizeof *e);
    if (e == NULL) {
        gt_loaded_release(l);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    e->loaded = l;
    e->fit = *fit;
    e->epilogue = gt_epilogue_of(&fit->problem);
    prepare_args(e, &fit->binding);
    prepare_units(e, &fit->problem);
    prepare_bytes(e, &fit->problem);
    const gt_status status = prepare_panels(e, err);
    if (status == GEMMTUNE_OK)
        *out = e;
    else
        gt_exec_destroy(e);
    return status;
}

/* Gives the compiler's messages to a caller that asked for them. */
static void give_log(char **log, struct gt_loaded *l, gt_status status) {
    if (log == NULL || (status != GEMMTUNE_EBUILD && status != GEMMTUNE_EDEVICE))
        return;
    *log = l->image.log;
    l->image.log = NULL;
}

gt_status gt_exec_build(struct gt_exec **out, struct gt_gpu *gpu, const struct gt_fit *fit,
                        char **log, struct gt_err *err) {
    *out = NULL;
    if (log != NULL)
        *log = NULL;
    struct gt_loaded *l = gt_loaded_create(gpu, fit);
    if (l == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_status status = gt_exec_check_maps(gpu, fit, err);
    if (status == GEMMTUNE_OK && !gt_exec_is_empty(&fit->problem))
        status = build(l, err);
    if (status == GEMMTUNE_OK)
        return gt_exec_of(out, l, fit, err);
    give_log(log, l, status);
    gt_loaded_release(l);
    return gt_fail_within(err, status, "family %s", fit->binding.family->name);
}

static bool has_image(const struct gt_gpu *gpu, const char *source) {
    struct gt_image image = {0};
    const bool found = gt_build_find(&image, gpu->driver, device_of(gpu), source);
    gt_image_clear(&image);
    return found;
}

/* Whether the image stands in the folder of a lock: nothing is compiled then. */
static bool is_kept(const struct gt_fit *fit) {
    return fit->pinned != NULL && fit->pinned->folder != NULL;
}

bool gt_exec_is_cached(const struct gt_gpu *gpu, const struct gt_fit *fit) {
    char *source = NULL;
    bool cached = gt_exec_is_empty(&fit->problem) || is_kept(fit);
    if (!cached &&
        gt_source_of(&source, &fit->binding, device_of(gpu), NULL) == GEMMTUNE_OK)
        cached = has_image(gpu, source);
    free(source);
    return cached;
}

/* Where only loading compiles, the kernel is loaded for a moment. */
static gt_status compile(struct gt_gpu *gpu, const struct gt_fit *fit, const char *source,
                         struct gt_err *err) {
    struct gt_build_stats stats;
    struct gt_image image = {0};
    gt_status status;
    if (gpu->driver->compiles_apart) {
        status = fit->pinned != NULL
                     ? gt_build_pinned(&image, gpu->driver, device_of(gpu), source,
                                       fit->pinned, false, &stats, err)
                     : gt_build(&image, gpu->driver, device_of(gpu), source, &stats, err);
        gt_image_clear(&image);
        return status;
    }
    struct gt_loaded *l = gt_loaded_create(gpu, fit);
    if (l == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    status = gt_loaded_build(l, source, true, err);
    gt_loaded_release(l);
    return status;
}

gt_status gt_exec_compile(struct gt_gpu *gpu, const struct gt_fit *fit,
                          struct gt_err *err) {
    char *source = NULL;
    if (gt_exec_is_empty(&fit->problem) || is_kept(fit))
        return GEMMTUNE_OK;
    gt_status status = gt_exec_check_maps(gpu, fit, err);
    if (status == GEMMTUNE_OK)
        status = gt_source_of(&source, &fit->binding, device_of(gpu), err);
    if (status == GEMMTUNE_OK)
        status = compile(gpu, fit, source, err);
    if (status == GEMMTUNE_OK && !has_image(gpu, source))
        status = gt_fail(err, GEMMTUNE_EIO, "the image cache does not keep the kernel");
    free(source);
    return status;
}

gt_status gt_exec_create(struct gt_exec **out, struct gt_gpu *gpu,
                         const struct gt_family *family, const struct gt_point *point,
                         const gemmtune_problem *p, char **log, struct gt_err *err) {
    struct gt_fit fit;
    *out = NULL;
    if (log != NULL)
        *log = NULL;
    const gt_status status = gt_fit_point(&fit, family, &gpu->device, p, point, err);
    return status == GEMMTUNE_OK ? gt_exec_build(out, gpu, &fit, log, err) : status;
}

void gt_exec_destroy(struct gt_exec *e) {
    if (e == NULL)
        return;
    gt_loaded_release(e->loaded);
    free(e->panel);
    free(e);
}

void gt_exec_describe(const struct gt_exec *e, struct gt_exec_info *info) {
    *info = e->loaded->info;
    info->fit = &e->fit;
}
