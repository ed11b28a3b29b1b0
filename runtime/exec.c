/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - one point's kernels, built, loaded and ready for one problem. gt_exec_create
 * decides everything that can be decided once; gt_exec_run copies a few words and launches.
 */
#include "runtime/exec.h"

#include "core/clock.h"
#include "core/element.h"
#include "core/epilogue_keep.h"
#include "runtime/exec_epilogue.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARG_KINDS = GT_ARG_MAP };

/* The kernels of a point on the device, one a pass. Several execs may hold one; the last
 * one unloads them. */
struct loaded {
    atomic_int users;
    struct gt_gpu *gpu; /* borrowed */
    const struct gt_driver *driver;
    struct gt_kernel *kernel[GT_PASSES_MAX];
    struct gt_image image;    /* kept for its log */
    struct gt_fit fit;        /* to the problem for which it was built */
    struct gt_exec_info info; /* of the build */
};

struct gt_exec {
    struct loaded *loaded;
    struct gt_fit fit; /* to this problem; it has as many passes as were loaded */
    const struct gt_epilogue *epilogue; /* the problem's, or NULL */
    gt_arg args[GT_ARGS_MAX];           /* in the kernel's order */
    int arg_count;
    union gt_value value[ARG_KINDS]; /* by kind; gt_exec_run fills in those of a call */
    size_t size[ARG_KINDS];
};

static const struct gt_device *device_of(const struct gt_gpu *gpu) {
    return &gpu->device;
}

/* ---- the loaded kernel ----------------------------------------------------------- */

static void note_image(struct loaded *l) {
    l->info.registers = l->image.registers;
    l->info.spill_bytes = l->image.spill_bytes;
    l->info.smem_bytes = l->image.smem_bytes;
    l->info.log = l->image.log != NULL ? l->image.log : "";
}

static struct loaded *loaded_create(struct gt_gpu *gpu, const struct gt_fit *fit) {
    struct loaded *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    atomic_init(&l->users, 1);
    l->gpu = gpu;
    l->fit = *fit;
    l->driver = gpu->driver;
    l->image.registers = l->image.spill_bytes = l->image.smem_bytes = -1;
    note_image(l);
    return l;
}

static void loaded_release(struct loaded *l) {
    if (l == NULL || atomic_fetch_sub(&l->users, 1) > 1)
        return;
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

/* The main kernel comes first: the image has its facts. */
static gt_status load(struct loaded *l, const char *source, struct gt_err *err) {
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

/* A driver that compiles only while loading has its compile time in the load. */
static gt_status build(struct loaded *l, struct gt_err *err) {
    const struct gt_device *d = device_of(l->gpu);
    struct gt_build_stats stats = {0};
    char *source = NULL;
    gt_status status = gt_source_of(&source, &l->fit.binding, d, err);
    if (status == GEMMTUNE_OK)
        status = gt_build(&l->image, l->driver, d, source, &stats, err);
    const bool loads_source = status == GEMMTUNE_OK && l->image.bytes == NULL;
    const double start = gt_seconds();
    if (status == GEMMTUNE_OK)
        status = load(l, source, err);
    l->info.cached = stats.cached;
    l->info.compile_ms = loads_source ? 1e3 * (gt_seconds() - start) : stats.compile_ms;
    note_image(l);
    free(source);
    return status;
}

/* ---- create ---------------------------------------------------------------------- */

/* Whether C has no element: then nothing is built and nothing runs. */
static bool is_empty(const gemmtune_problem *p) {
    return p->m == 0 || p->n == 0;
}

/* Whether the driver accepts the maps. This asks before anything is built, with an address
 * that is aligned like the later ones. */
static gt_status check_maps(const struct loaded *l, const struct gt_fit *fit,
                            struct gt_err *err) {
    void *const somewhere = (void *)(uintptr_t)GT_WORKSPACE_ALIGN;
    const struct gt_passes *passes = &fit->passes;
    const bool described = fit->problem.k > 0 && !is_empty(&fit->problem);
    struct gt_tensor_map map;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; described && i < passes->map_count && status == GEMMTUNE_OK; i++)
        if (!passes->map[i].absent)
            status =
                l->driver->encode_map(&map, l->gpu, &passes->map[i].tiling, somewhere, err);
    return status;
}

static void prepare_args(struct gt_exec *e, const struct gt_binding *b) {
    const gemmtune_problem *p = &e->fit.problem;
    const size_t scalar = gt_type_size(p->type_acc), pointer = sizeof(void *);
    const struct {
        size_t size;
        union gt_value value;
    } kinds[ARG_KINDS] = {
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
    for (int i = 0; i < ARG_KINDS; i++) {
        e->value[i] = kinds[i].value;
        e->size[i] = kinds[i].size;
    }
    e->arg_count = gt_family_args(e->args, b);
}

/* Makes an exec that owns `l`. On failure `l` is released as well. */
static gt_status exec_of(struct gt_exec **out, struct loaded *l, const struct gt_fit *fit,
                         struct gt_err *err) {
    struct gt_exec *e = calloc(1, sizeof *e);
    if (e == NULL) {
        loaded_release(l);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    e->loaded = l;
    e->fit = *fit;
    e->epilogue = gt_epilogue_of(&fit->problem);
    prepare_args(e, &fit->binding);
    *out = e;
    return GEMMTUNE_OK;
}

/* Gives the compiler's messages to a caller that asked for them. */
static void give_log(char **log, struct loaded *l, gt_status status) {
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
    struct loaded *l = loaded_create(gpu, fit);
    if (l == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_status status = check_maps(l, fit, err);
    if (status == GEMMTUNE_OK && !is_empty(&fit->problem))
        status = build(l, err);
    if (status == GEMMTUNE_OK)
        return exec_of(out, l, fit, err);
    give_log(log, l, status);
    loaded_release(l);
    return gt_fail_within(err, status, "family %s", fit->binding.family->name);
}

bool gt_exec_is_cached(const struct gt_gpu *gpu, const struct gt_fit *fit) {
    struct gt_image image = {0};
    char *source = NULL;
    bool cached = is_empty(&fit->problem);
    if (!cached &&
        gt_source_of(&source, &fit->binding, device_of(gpu), NULL) == GEMMTUNE_OK) {
        cached = gt_build_find(&image, gpu->driver, device_of(gpu), source);
        gt_image_clear(&image);
    }
    free(source);
    return cached;
}

gt_status gt_exec_compile(const struct gt_gpu *gpu, const struct gt_fit *fit,
                          struct gt_err *err) {
    struct gt_build_stats stats;
    struct gt_image image = {0};
    char *source = NULL;
    if (is_empty(&fit->problem))
        return GEMMTUNE_OK;
    gt_status status = gt_source_of(&source, &fit->binding, device_of(gpu), err);
    if (status == GEMMTUNE_OK) {
        status = gt_build(&image, gpu->driver, device_of(gpu), source, &stats, err);
        gt_image_clear(&image);
    }
    if (status == GEMMTUNE_OK && !gt_exec_is_cached(gpu, fit))
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

/* ---- share ----------------------------------------------------------------------- */

/* Types, layout and the kind of batch are compiled in, and the driver was told the shared
 * memory when the kernel was loaded. */
static gt_status check_shareable(const struct loaded *l, const gemmtune_problem *p,
                                 struct gt_err *err) {
    const gemmtune_problem *own = &l->fit.problem;
    if (gt_dtype_of(p) != gt_dtype_of(own))
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for other data types");
    if (p->trans_a != own->trans_a || p->trans_b != own->trans_b)
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for layout %s",
                       gt_problem_layout(own));
    if (gt_problem_is_batch(p) != gt_problem_is_batch(own))
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for %s",
                       gt_problem_is_batch(own) ? "batches" : "single products");
    if (p->batch_kind != own->batch_kind)
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for another kind of batch");
    if (gt_epilogue_of(p) != gt_epilogue_of(own))
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for another epilogue");
    if (is_empty(own) && !is_empty(p))
        return gt_fail(err, GEMMTUNE_EINVAL, "nothing was built for an empty product");
    return GEMMTUNE_OK;
}

/* The loaded point, fitted to another problem. */
static gt_status refit(struct gt_fit *out, const struct loaded *l,
                       const gemmtune_problem *p, struct gt_err *err) {
    const struct gt_family *f = l->fit.binding.family;
    int64_t values[GT_POINT_MAX];
    for (int i = 0; i < f->param_count; i++)
        values[i] = l->fit.binding.value[f->param[i].slot];
    return gt_fit_values(out, f, device_of(l->gpu), p, GT_VECTOR_BYTES, values, err);
}

/* An image that was made for one problem has that problem's derived names in it. */
static gt_status check_derived(const struct gt_fit *fit, const struct loaded *l,
                               struct gt_err *err) {
    const struct gt_family *f = fit->binding.family;
    if (fit->binding.slot_rows != l->fit.binding.slot_rows)
        return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for slots of other rows");
    for (int i = 0; f->per_problem && i < f->derive_count; i++) {
        const int slot = f->derive[i].slot;
        if (fit->binding.value[slot] != l->fit.binding.value[slot])
            return gt_fail(err, GEMMTUNE_EINVAL, "the kernel is for another %s",
                           f->symbols.name[slot]);
    }
    return GEMMTUNE_OK;
}

/* The point alone decides which passes there are, so both have the same passes. */
static gt_status check_shared_memory(const struct gt_passes *passes, const struct loaded *l,
                                     struct gt_err *err) {
    for (int i = 0; i < passes->count; i++)
        if (passes->item[i].launch.smem_bytes > l->fit.passes.item[i].launch.smem_bytes)
            return gt_fail(err, GEMMTUNE_EINVAL, "the problem needs more shared memory");
    return GEMMTUNE_OK;
}

gt_status gt_exec_share(struct gt_exec **out, const struct gt_exec *e,
                        const gemmtune_problem *p, struct gt_err *err) {
    struct loaded *l = e->loaded;
    struct gt_fit fit;
    *out = NULL;
    gt_status status = check_shareable(l, p, err);
    if (status == GEMMTUNE_OK)
        status = refit(&fit, l, p, err);
    if (status == GEMMTUNE_OK)
        status = check_derived(&fit, l, err);
    if (status == GEMMTUNE_OK)
        status = check_shared_memory(&fit.passes, l, err);
    if (status == GEMMTUNE_OK)
        status = check_maps(l, &fit, err);
    if (status != GEMMTUNE_OK)
        return status;
    (void)atomic_fetch_add(&l->users, 1);
    return exec_of(out, l, &fit, err);
}

void gt_exec_destroy(struct gt_exec *e) {
    if (e == NULL)
        return;
    loaded_release(e->loaded);
    free(e);
}

void gt_exec_describe(const struct gt_exec *e, struct gt_exec_info *info) {
    *info = e->loaded->info;
    info->fit = &e->fit;
}

/* ---- run ------------------------------------------------------------------------- */

/* Where a pointer is not an address (a cl_mem), the buffer is aligned for every type. Of an
 * array of pointers only its own place can be checked. */
static gt_status check_pointer(const struct gt_exec *e, const char *what, int operand,
                               const void *pointer, struct gt_err *err) {
    const int64_t bytes = gt_problem_has_pointers(&e->fit.problem) ? (int64_t)sizeof(void *)
                                                                   : e->fit.align[operand];
    if (pointer == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "the pointer to %s is NULL", what);
    if (e->loaded->driver->pointers_are_addresses &&
        ((uintptr_t)pointer & (uintptr_t)(bytes - 1)) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the pointer to %s, %p, is not aligned to %d bytes", what, pointer,
                       (int)bytes);
    return GEMMTUNE_OK;
}

static gt_status check_workspace(const struct gt_exec *e, const void *workspace,
                                 struct gt_err *err) {
    if (e->fit.passes.workspace_bytes == 0)
        return GEMMTUNE_OK;
    if (workspace == NULL)
        return gt_fail(err, GEMMTUNE_EWORKSPACE, "the kernel needs %lld bytes of workspace",
                       (long long)e->fit.passes.workspace_bytes);
    if (e->loaded->driver->pointers_are_addresses &&
        ((uintptr_t)workspace & (GT_WORKSPACE_ALIGN - 1)) != 0)
        return gt_fail(err, GEMMTUNE_EWORKSPACE,
                       "the workspace, %p, is not aligned to %d bytes", workspace,
                       GT_WORKSPACE_ALIGN);
    return GEMMTUNE_OK;
}

static gt_status check_rows(const struct gt_exec *e, const void *rows, struct gt_err *err) {
    if (!gt_problem_has_rows(&e->fit.problem))
        return rows == NULL
                   ? GEMMTUNE_OK
                   : gt_fail(err, GEMMTUNE_EINVAL,
                             "rows is given, but the plan's rows are neither grouped nor "
                             "masked");
    if (rows == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "the pointer to the rows is NULL");
    if (e->loaded->driver->pointers_are_addresses && (uintptr_t)rows % sizeof(int32_t) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the pointer to the rows, %p, is not aligned to %zu bytes", rows,
                       sizeof(int32_t));
    return GEMMTUNE_OK;
}

static gt_status check_pointers(const struct gt_exec *e, bool reads_ab,
                                const struct gt_call *call, struct gt_err *err) {
    gt_status status = check_rows(e, call->rows, err);
    if (status == GEMMTUNE_OK)
        status = check_pointer(e, "C", 2, call->c, err);
    if (status == GEMMTUNE_OK && reads_ab)
        status = check_pointer(e, call->swapped ? "B" : "A", 0, call->a, err);
    if (status == GEMMTUNE_OK && reads_ab)
        status = check_pointer(e, call->swapped ? "A" : "B", 1, call->b, err);
    return status == GEMMTUNE_OK ? check_workspace(e, call->workspace, err) : status;
}

/* When neither A nor B is read there may be no matrix to describe: then maps are zeros. So
 * is a map that the point does not have. */
static gt_status encode_maps(struct gt_tensor_map map[GT_MAPS_MAX], const struct gt_exec *e,
                             const union gt_value value[ARG_KINDS], bool reads_ab,
                             struct gt_err *err) {
    const struct loaded *l = e->loaded;
    gt_status status = GEMMTUNE_OK;
    memset(map, 0, (size_t)e->fit.passes.map_count * sizeof *map);
    for (int i = 0; reads_ab && i < e->fit.passes.map_count && status == GEMMTUNE_OK; i++) {
        char *base = value[e->fit.passes.map[i].base].ptr;
        if (e->fit.passes.map[i].absent)
            continue;
        status = l->driver->encode_map(&map[i], l->gpu, &e->fit.passes.map[i].tiling,
                                       base + e->fit.passes.map[i].at, err);
    }
    return status;
}

static gt_status launch(const struct gt_exec *e, const union gt_value value[ARG_KINDS],
                        const struct gt_tensor_map map[GT_MAPS_MAX],
                        const struct gt_epilogue_args *epilogue, void *stream,
                        struct gt_err *err) {
    struct gt_value_ref refs[GT_ARGS_MAX + GT_EPILOGUE_ARGS_MAX];
    for (int i = 0; i < e->arg_count; i++) {
        const gt_arg arg = e->args[i];
        refs[i] = arg < GT_ARG_MAP
                      ? (struct gt_value_ref){&value[arg], e->size[arg]}
                      : (struct gt_value_ref){&map[arg - GT_ARG_MAP], sizeof *map};
    }
    for (int i = 0; i < epilogue->count; i++)
        refs[e->arg_count + i] =
            (struct gt_value_ref){&epilogue->value[i], epilogue->size[i]};
    const struct loaded *l = e->loaded;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < e->fit.passes.count && status == GEMMTUNE_OK; i++)
        status = l->driver->launch(l->kernel[i], &e->fit.passes.item[i].launch, refs,
                                   e->arg_count + epilogue->count, stream, err);
    return status;
}

/* As in BLAS, neither A nor B is read when alpha or k is 0. The kernel then runs with both
 * 0: the sum over an empty k is 0, so it writes beta C only. The other passes run as well,
 * since the pass that adds partial sums is the one that writes C. */
gt_status gt_exec_run(const struct gt_exec *e, const struct gt_call *call,
                      struct gt_err *err) {
    const gemmtune_dtype acc = e->fit.problem.type_acc;
    if (is_empty(&e->fit.problem))
        return GEMMTUNE_OK;
    if (call->alpha == NULL || call->beta == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL",
                       call->alpha == NULL ? "alpha" : "beta");
    const bool reads_ab = e->fit.problem.k > 0 && gt_element_get(call->alpha, acc) != 0;
    if (!reads_ab && e->epilogue == NULL && gt_element_get(call->beta, acc) == 1)
        return GEMMTUNE_OK;
    struct gt_epilogue_args epilogue;
    gt_status status = check_pointers(e, reads_ab, call, err);
    if (status == GEMMTUNE_OK)
        status = gt_epilogue_args_of(&epilogue, e->epilogue, &e->fit.problem, call,
                                     e->loaded->driver->pointers_are_addresses, err);
    if (status != GEMMTUNE_OK)
        return status;
    union gt_value value[ARG_KINDS];
    struct gt_tensor_map map[GT_MAPS_MAX];
    memcpy(value, e->value, sizeof value);
    if (reads_ab)
        memcpy(&value[GT_ARG_ALPHA], call->alpha, e->size[GT_ARG_ALPHA]);
    else
        value[GT_ARG_K].i32 = 0;
    memcpy(&value[GT_ARG_BETA], call->beta, e->size[GT_ARG_BETA]);
    value[GT_ARG_A].ptr = call->a;
    value[GT_ARG_B].ptr = call->b;
    value[GT_ARG_C].ptr = call->c;
    value[GT_ARG_WORKSPACE].ptr = call->workspace;
    value[GT_ARG_ROWS].ptr = call->rows;
    status = encode_maps(map, e, value, reads_ab, err);
    return status == GEMMTUNE_OK ? launch(e, value, map, &epilogue, call->stream, err)
                                 : status;
}
