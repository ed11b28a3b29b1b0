/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - the functions of libgemmtune that the shim calls. The library is opened at
 * the first product, from the folder of the shim, else by its soname. Its names stay its
 * own (RTLD_LOCAL).
 */
#ifndef GT_SHIM_LIBRARY_H
#define GT_SHIM_LIBRARY_H

#include "include/gemmtune.h"

#include <stdbool.h>

/* X(member, symbol, 1 needed or 0 optional, result, parameters) */
#define GT_SHIM_GEMMTUNE_CALLS(X)                                                          \
    X(target_init, gemmtune_target_init_sized, 1, gemmtune_status,                         \
      (gemmtune_target * target, size_t size, gemmtune_backend backend))                   \
    X(open, gemmtune_open, 1, gemmtune_status,                                             \
      (gemmtune_ctx * *out, const char *db_path, const gemmtune_target *target))           \
    X(set_log, gemmtune_set_log, 1, void,                                                  \
      (gemmtune_log_fn fn, void *user, gemmtune_log_level most))                           \
    X(problem_init, gemmtune_problem_init_sized, 1, gemmtune_status,                       \
      (gemmtune_problem * p, size_t size, gemmtune_dtype type, int64_t m, int64_t n,       \
       int64_t k))                                                                         \
    X(problem_format, gemmtune_problem_format, 1, int,                                     \
      (const gemmtune_problem *p, char *buf, size_t size))                                 \
    X(plan_prepare, gemmtune_plan_prepare, 1, gemmtune_status,                             \
      (int *ready, gemmtune_ctx *ctx, const gemmtune_problem *p, gemmtune_match worst,     \
       size_t workspace_max))                                                              \
    X(plan_create_cached, gemmtune_plan_create_cached, 1, gemmtune_status,                 \
      (gemmtune_plan * *out, gemmtune_ctx * ctx, const gemmtune_problem *p,                \
       gemmtune_match worst, size_t workspace_max))                                        \
    X(plan_describe, gemmtune_plan_describe_sized, 1, gemmtune_status,                     \
      (const gemmtune_plan *plan, gemmtune_plan_info *info, size_t size))                  \
    X(plan_destroy, gemmtune_plan_destroy, 1, void, (gemmtune_plan * plan))                \
    X(plan_rival, gemmtune_plan_rival_sized, 0, gemmtune_status,                           \
      (const gemmtune_plan *plan, int32_t library_version, gemmtune_rival_info *info,      \
       size_t size))                                                                       \
    X(args_init, gemmtune_args_init_sized, 1, gemmtune_status,                             \
      (gemmtune_args * args, size_t size))                                                 \
    X(launch, gemmtune_launch, 1, gemmtune_status,                                         \
      (const gemmtune_plan *plan, const gemmtune_args *args, void *stream))                \
    X(errmsg, gemmtune_errmsg, 1, const char *, (void))

struct gt_shim_gemmtune {
#define X(member, symbol, needed, result, params) result(*member) params;
    GT_SHIM_GEMMTUNE_CALLS(X)
#undef X
};

/* NULL: the library cannot be opened, or lacks a function. gt_shim_trouble says which. */
const struct gt_shim_gemmtune *gt_shim_gemmtune(void);

#endif
