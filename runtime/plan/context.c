/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - gemmtune_open and gemmtune_close: one device, and the database's results for
 * its architecture, read once into memory.
 */
#include "runtime/plan/context.h"

#include "core/growth.h"
#include "core/log.h"
#include "db/db.h"
#include "runtime/exec/programs.h"
#include "runtime/lookup/known.h"
#include "runtime/lookup/shelf.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

enum { PATH_SIZE = 4096 };

/* ---- the database ---------------------------------------------------------------- */

static gt_status read_file(gemmtune_ctx *ctx, const char *path, struct gt_err *err) {
    struct gt_db *db = NULL;
    int64_t stale = 0;
    gt_status status = gt_db_open(&db, path, GT_DB_READ, err);
    if (status == GEMMTUNE_OK)
        status = gt_known_load_kept(&ctx->known, &ctx->snapshot.count, &stale, db,
                                    ctx->families, gt_ctx_device(ctx)->arch, err);
    if (status == GEMMTUNE_OK)
        status = gt_duels_load(&ctx->duels, db, ctx->device_key, err);
    gt_db_close(db);
    if (status == GEMMTUNE_OK)
        gt_shelf_beside(path);
    if (status == GEMMTUNE_OK)
        gt_log(GEMMTUNE_LOG_INFO,
               "%.300s: %zu kernels for %s, %" PRId64 " records outdated", path,
               ctx->snapshot.count, ctx->device_key, stale);
    return status;
}

/* The default database is optional: without it, default points serve. */
static gt_status read_default(gemmtune_ctx *ctx, struct gt_err *err) {
    char path[PATH_SIZE];
    gt_status status = gt_db_default_path(path, sizeof path, err);
    if (status == GEMMTUNE_OK)
        status = read_file(ctx, path, err);
    if (status == GEMMTUNE_OK || status == GEMMTUNE_ENOMEM)
        return status;
    gt_log(status == GEMMTUNE_EIO ? GEMMTUNE_LOG_INFO : GEMMTUNE_LOG_WARN,
           "no tuned results: %s", err->line);
    err->line[0] = '\0';
    return GEMMTUNE_OK;
}

/* ---- open and close -------------------------------------------------------------- */

/* The struct of the first release of this ABI ends before `flags`. */
static const struct gt_growth target_growth = {sizeof(gemmtune_target),
                                               offsetof(gemmtune_target, flags), "target",
                                               "gemmtune_target_init"};

gemmtune_status gemmtune_target_init_sized(gemmtune_target *target, size_t size,
                                           gemmtune_backend backend) {
    const gt_status status =
        gt_growth_init(target, size, &target_growth, gt_public_entry());
    if (status == GEMMTUNE_OK)
        target->backend = backend;
    return status;
}

static gt_status read_target(gemmtune_target *out, const gemmtune_target *target,
                             struct gt_err *err) {
    if (target == NULL)
        return gt_fail_null(err, "target", GEMMTUNE_ARG_CTX);
    const gt_status status = gt_growth_read(out, target, &target_growth, err);
    if (status == GEMMTUNE_OK && gt_driver_of(out->backend) == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "backend is %u, not a value of its enum",
                       (unsigned)out->backend);
    if (status == GEMMTUNE_OK && (out->flags & ~(unsigned)GEMMTUNE_OPEN_BUILD_BEHIND) != 0)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "flags are %u, of which this library knows %u", (unsigned)out->flags,
                       (unsigned)GEMMTUNE_OPEN_BUILD_BEHIND);
    if (status == GEMMTUNE_OK && out->reserved != 0)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "reserved is %d, must be 0",
                       (int)out->reserved);
    return status;
}

/* Without an image cache no plan need be made anew. */
static void allow(gemmtune_ctx *ctx, uint32_t flags) {
    ctx->builds_behind =
        (flags & GEMMTUNE_OPEN_BUILD_BEHIND) != 0 && gt_build_keeps(ctx->gpu->driver);
    if (!ctx->builds_behind)
        return;
    gt_build_know(ctx->gpu->driver, gt_ctx_device(ctx));
    gt_generals_load(&ctx->generals, ctx->families, gt_ctx_device(ctx));
}

/* The target's lock, else the variable's. */
static gt_status read_lock(gemmtune_ctx *ctx, const char *path, struct gt_err *err) {
    if (path == NULL)
        path = getenv("GEMMTUNE_LOCK");
    if (path == NULL || path[0] == '\0')
        return GEMMTUNE_OK;
    const gt_status status = gt_lock_load(&ctx->lock, path, err);
    struct gt_device d = *gt_ctx_device(ctx);
    if (status == GEMMTUNE_OK && ctx->gpu->driver->fill_version != NULL)
        ctx->gpu->driver->fill_version(&d);
    return status == GEMMTUNE_OK ? gt_lock_bind(ctx->lock, ctx->families, &d, err) : status;
}

static gt_status fill(gemmtune_ctx *ctx, const char *db_path, const gemmtune_target *target,
                      struct gt_err *err) {
    gt_status status = gt_driver_of(target->backend)->open(&ctx->gpu, target, err);
    if (status == GEMMTUNE_OK)
        status = gt_families_create(&ctx->families, err);
    if (status == GEMMTUNE_OK)
        status = read_lock(ctx, target->lock, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_device_key(gt_ctx_device(ctx), ctx->device_key);
    status = db_path != NULL ? read_file(ctx, db_path, err) : read_default(ctx, err);
    if (status == GEMMTUNE_OK)
        status = gt_index_create(&ctx->index, ctx->known, ctx->snapshot.count, err);
    ctx->snapshot.families = ctx->families;
    ctx->snapshot.known = ctx->known;
    ctx->snapshot.index = ctx->index;
    if (status == GEMMTUNE_OK)
        allow(ctx, target->flags);
    return status;
}

static gt_status init_parts(gemmtune_ctx *ctx, struct gt_err *err) {
    gt_status status = gt_packer_init(&ctx->packer, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_plan_cache_init(&ctx->cache, err);
    if (status != GEMMTUNE_OK)
        goto clear_packer;
    status = gt_preparer_init(&ctx->preparer, err);
    if (status != GEMMTUNE_OK)
        goto clear_cache;
    status = gt_sharing_create(&ctx->programs, err);
    if (status == GEMMTUNE_OK)
        status = gt_sharing_create(&ctx->plans, err);
    if (status == GEMMTUNE_OK)
        status = gt_workspaces_init(&ctx->workspaces, err);
    if (status == GEMMTUNE_OK)
        return GEMMTUNE_OK;
    gt_sharing_release(ctx->plans);
    gt_sharing_release(ctx->programs);
    gt_preparer_end(&ctx->preparer);
clear_cache:
    gt_plan_cache_clear(&ctx->cache);
clear_packer:
    gt_packer_clear(&ctx->packer);
    return status;
}

gemmtune_status gemmtune_open(gemmtune_ctx **out, const char *db_path,
                              const gemmtune_target *target) {
    struct gt_err *err = gt_public_entry();
    gemmtune_target own;
    if (out == NULL)
        return gt_fail_null(err, "out", GEMMTUNE_ARG_OUT);
    *out = NULL;
    gt_status status = read_target(&own, target, err);
    if (status != GEMMTUNE_OK)
        return status;
    gemmtune_ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    status = init_parts(ctx, err);
    if (status != GEMMTUNE_OK) {
        free(ctx);
        return status;
    }
    status = fill(ctx, db_path, &own, err);
    if (status == GEMMTUNE_OK) {
        *out = ctx;
        ctx = NULL;
    }
    gemmtune_close(ctx);
    return status;
}

void gemmtune_close(gemmtune_ctx *ctx) {
    if (ctx == NULL)
        return;
    gt_preparer_end(&ctx->preparer);
    gt_packer_clear(&ctx->packer);
    gt_plan_cache_clear(&ctx->cache);
    gt_workspaces_clear(&ctx->workspaces, ctx->gpu);
    gt_programs_relinquish(ctx->programs);
    gt_sharing_release(ctx->plans);
    gt_sharing_release(ctx->programs);
    gt_generals_clear(&ctx->generals);
    gt_index_destroy(ctx->index);
    gt_lock_destroy(ctx->lock);
    gt_duels_clear(&ctx->duels);
    free(ctx->known);
    gt_families_destroy(ctx->families);
    if (ctx->gpu != NULL)
        ctx->gpu->driver->close(ctx->gpu);
    free(ctx);
}
