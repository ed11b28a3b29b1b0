/* SPDX-License-Identifier: Apache-2.0 */
/* exec_inside.h - declarations that exec.c (build and load), programs.c (load once),
 * exec_share.c (another problem) and exec_run.c (launch) share. */
#ifndef GT_RUNTIME_EXEC_EXEC_INSIDE_H
#define GT_RUNTIME_EXEC_EXEC_INSIDE_H

#include "core/epilogue/epilogue.h"
#include "core/shared.h"
#include "runtime/drivers/pinned.h"
#include "runtime/exec/exec.h"

enum { GT_ARG_KINDS = GT_ARG_MAP }; /* without the tensor maps */

/* The kernels of a point on the device, one a pass. Several execs may hold one; the last
 * one unloads them. */
struct gt_loaded {
    struct gt_shared shared;
    struct gt_gpu *gpu; /* borrowed */
    const struct gt_driver *driver;
    struct gt_kernel *kernel[GT_PASSES_MAX];
    struct gt_image image;       /* kept for its log */
    struct gt_fit fit;           /* to the problem for which it was built */
    struct gt_exec_info info;    /* of the build */
    char digest[GT_DIGEST_SIZE]; /* of the image; "": unknown */
};

struct gt_exec {
    struct gt_loaded *loaded;
    struct gt_fit fit;       /* to this problem; it has as many passes as were loaded */
    struct gt_passes *panel; /* the launches of each kind of gt_panel; NULL: C is one */
    const struct gt_epilogue *epilogue; /* the problem's, or NULL */
    gt_arg args[GT_ARGS_MAX];           /* in the kernel's order */
    int arg_count;
    union gt_value value[GT_ARG_KINDS]; /* by kind; gt_exec_run fills in a call's */
    size_t size[GT_ARG_KINDS];
    size_t unit[GT_ARG_KINDS]; /* bytes of what an offset counts; 0: no pointer */
    int64_t bytes[3];          /* of A, B and C, or of arrays of pointers to them */
};

/* Whether C has no element: then nothing is built and nothing runs. */
static inline bool gt_exec_is_empty(const gemmtune_problem *p) {
    return p->m == 0 || p->n == 0;
}

/* Whether the driver accepts the maps. This asks before anything is built, with an address
 * that is aligned like the later ones. */
gt_status gt_exec_check_maps(const struct gt_gpu *gpu, const struct gt_fit *fit,
                             struct gt_err *err);
/* Kernels that are not built yet, with one user; NULL: out of memory. */
struct gt_loaded *gt_loaded_create(struct gt_gpu *gpu, const struct gt_fit *fit);
/* Builds and loads the kernels from the source of their fit. With `keeps` an image that
 * exists only after loading goes into the image cache. */
gt_status gt_loaded_build(struct gt_loaded *l, const char *source, bool keeps,
                          struct gt_err *err);
/* The same without a compiler: the image comes out of the cache. ENOTFOUND: it is not
 * there. */
gt_status gt_loaded_find(struct gt_loaded *l, const char *source, struct gt_err *err);
/* Ends one use; the last one unloads. Accepts NULL. */
void gt_loaded_release(struct gt_loaded *l);
/* Unloads. The last use has ended. */
void gt_loaded_destroy(struct gt_loaded *l);
/* Makes an exec that owns `l`. On failure `l` is released as well. */
gt_status gt_exec_of(struct gt_exec **out, struct gt_loaded *l, const struct gt_fit *fit,
                     struct gt_err *err);

#endif
