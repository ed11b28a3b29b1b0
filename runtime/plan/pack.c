/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - gemmtune_pack: B in the packed form of core/problem/packed.h. The kernels are
 * built when a context packs for the first time, and live as long as the context.
 */
#include "core/problem/packed.h"
#include "runtime/plan/context.h"
#include "runtime/drivers/memory.h"

#include <stdlib.h>

enum { THREADS = 256, PIECE_BYTES = 16 }; /* as in pack.cl */

static const char *const entry[GT_PACK_KERNELS] = {"pack_1", "pack_2", "pack_4", "pack_8"};

/* ---- the kernels ----------------------------------------------------------------- */

gt_status gt_packer_init(struct gt_packer *packer, struct gt_err *err) {
    atomic_init(&packer->loaded, false);
    return pthread_mutex_init(&packer->lock, NULL) == 0
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* The first kernel owns the module of all. */
static void unload(struct gt_packer *packer) {
    for (int i = GT_PACK_KERNELS - 1; i >= 0; i--) {
        if (packer->kernel[i] != NULL)
            packer->kernel[i]->driver->unload(packer->kernel[i]);
        packer->kernel[i] = NULL;
    }
}

void gt_packer_clear(struct gt_packer *packer) {
    unload(packer);
    (void)pthread_mutex_destroy(&packer->lock);
}

static gt_status build(struct gt_packer *packer, struct gt_gpu *gpu, const char *source,
                       struct gt_err *err) {
    const struct gt_driver *driver = gpu->driver;
    const struct gt_launch shape = {
        .grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .cluster = {1, 1, 1}};
    struct gt_image image = {0};
    gt_status status = gt_build(&image, driver, &gpu->device, source, NULL, err);
    if (status == GEMMTUNE_OK)
        status =
            driver->load(&packer->kernel[0], gpu, &image, source, entry[0], &shape, err);
    for (int i = 1; i < GT_PACK_KERNELS && status == GEMMTUNE_OK; i++)
        status = driver->load_also(&packer->kernel[i], gpu, packer->kernel[0], entry[i],
                                   &shape, err);
    if (status != GEMMTUNE_OK)
        unload(packer);
    else if (image.bytes == NULL) /* it was built while it was loaded */
        gt_build_keep(&image, packer->kernel[0], &gpu->device, source);
    gt_image_clear(&image);
    return status;
}

static gt_status load(struct gt_packer *packer, struct gt_gpu *gpu, struct gt_err *err) {
    static const char path[] = "runtime/kernels/pack.cl";
    char *source = NULL;
    gt_status status =
        gt_source_plain(&source, &gpu->device, NULL, path, gt_template_text(path), err);
    if (status == GEMMTUNE_OK)
        status = build(packer, gpu, source, err);
    free(source);
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, status, "packing");
}

static gt_status load_once(struct gt_packer *packer, struct gt_gpu *gpu,
                           struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (atomic_load(&packer->loaded))
        return GEMMTUNE_OK;
    (void)pthread_mutex_lock(&packer->lock);
    if (!atomic_load(&packer->loaded))
        status = load(packer, gpu, err);
    if (status == GEMMTUNE_OK)
        atomic_store(&packer->loaded, true);
    (void)pthread_mutex_unlock(&packer->lock);
    return status;
}

/* The kernel for elements of `size` bytes. */
static gt_status find(const struct gt_kernel **out, gemmtune_ctx *ctx, size_t size,
                      struct gt_err *err) {
    const gt_status status = load_once(&ctx->packer, ctx->gpu, err);
    int i = 0;
    while ((size_t)1 << i < size)
        i++;
    *out = ctx->packer.kernel[i];
    return status;
}

/* ---- one packing ----------------------------------------------------------------- */

/* B of a problem as it is stored, and packed; both problems are canonical. */
struct packing {
    gemmtune_problem stored, packed;
};

static gt_status read_problem(struct packing *out, const gemmtune_problem *p,
                              struct gt_err *err) {
    if (p == NULL)
        return gt_fail_null(err, "problem", GEMMTUNE_ARG_PROBLEM);
    gt_status status = gt_problem_canonical(&out->stored, NULL, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (out->stored.packed_b)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "packed_b is 1, must be 0: the problem describes B as it is stored");
    if (p->layout != GEMMTUNE_ROW_MAJOR)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "only B of a row-major problem is packed: layout must be "
                       "GEMMTUNE_ROW_MAJOR");
    if (gt_problem_has_pointers(&out->stored))
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "pointers lead to the matrices of B: pack them one by one, with the "
                       "problem of a single product");
    out->packed = out->stored;
    out->packed.packed_b = 1;
    return gt_problem_settle(&out->packed, NULL, &out->packed, err);
}

/* Launches the kernel with the arguments that pack.cl lists. */
static gt_status launch(const struct gt_kernel *kernel, const struct packing *x,
                        const void *b, void *packed, void *stream, struct gt_err *err) {
    const gemmtune_problem *p = &x->packed;
    const struct gt_shape shape = gt_problem_shape_b(p);
    const int64_t matrices = p->stride_b == 0 ? 1 : p->batch;
    const int64_t pieces = gt_packed_bytes(p) / PIECE_BYTES;
    const union gt_value value[] = {
        {.i32 = (int32_t)shape.rows},
        {.i32 = (int32_t)shape.cols},
        {.i32 = x->stored.trans_b != p->trans_b},
        {.ptr = gt_device_pointer(b)},
        {.i64 = x->stored.ldb},
        {.i64 = x->stored.stride_b},
        {.ptr = packed},
        {.i64 = p->ldb},
        {.i32 = (int32_t)matrices},
    };
    const struct gt_value_ref args[] = {
        {&value[0], sizeof(int32_t)}, {&value[1], sizeof(int32_t)},
        {&value[2], sizeof(int32_t)}, {&value[3], sizeof(void *)},
        {&value[4], sizeof(int64_t)}, {&value[5], sizeof(int64_t)},
        {&value[6], sizeof(void *)},  {&value[7], sizeof(int64_t)},
        {&value[8], sizeof(int32_t)},
    };
    const struct gt_launch shape_of_launch = {
        .grid = {(pieces + THREADS - 1) / THREADS, 1, 1},
        .block = {THREADS, 1, 1},
        .cluster = {1, 1, 1}};
    return kernel->driver->launch(kernel, &shape_of_launch, args,
                                  sizeof args / sizeof *args, stream,
                                  (struct gt_event_order){0}, err);
}

static gt_status pack(gemmtune_ctx *ctx, const gemmtune_problem *p, const void *b,
                      void *packed, void *stream, struct gt_err *err) {
    struct packing x;
    const struct gt_kernel *kernel;
    if (ctx == NULL)
        return gt_fail_null(err, "ctx", GEMMTUNE_ARG_CTX);
    gt_status status = read_problem(&x, p, err);
    if (status != GEMMTUNE_OK || gt_packed_bytes(&x.packed) == 0)
        return status;
    const size_t size = gt_type_size(x.stored.type_b);
    const struct gt_need stored = {"B", (int64_t)size,
                                   gt_problem_elems_b(&x.stored) * (int64_t)size};
    const struct gt_need room = {"the packed B", PIECE_BYTES, gt_packed_bytes(&x.packed)};
    const struct gt_driver *driver = ctx->gpu->driver;
    status = gt_blame(err, gt_memory_check(driver, (struct gt_memory){b, 0}, stored, err),
                      GEMMTUNE_ARG_B);
    if (status == GEMMTUNE_OK)
        status =
            gt_blame(err, gt_memory_check(driver, (struct gt_memory){packed, 0}, room, err),
                     GEMMTUNE_ARG_OUT);
    if (status == GEMMTUNE_OK)
        status = find(&kernel, ctx, size, err);
    return status == GEMMTUNE_OK ? launch(kernel, &x, b, packed, stream, err) : status;
}

/* ---- public ---------------------------------------------------------------------- */

gemmtune_status gemmtune_packed_bytes(size_t *bytes, const gemmtune_problem *p) {
    struct gt_err *err = gt_public_entry();
    struct packing x;
    if (bytes == NULL)
        return gt_fail_null(err, "bytes", GEMMTUNE_ARG_OUT);
    *bytes = 0;
    const gt_status status = read_problem(&x, p, err);
    if (status == GEMMTUNE_OK)
        *bytes = (size_t)gt_packed_bytes(&x.packed);
    return status;
}

gemmtune_status gemmtune_pack(gemmtune_ctx *ctx, const gemmtune_problem *p, const void *b,
                              void *packed, void *stream) {
    return pack(ctx, p, b, packed, stream, gt_public_entry());
}
