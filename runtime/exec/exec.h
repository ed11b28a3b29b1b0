/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - the built kernels of one point, ready to run one problem. A public plan holds
 * them, and the tuner times them.
 */
#ifndef GT_RUNTIME_EXEC_EXEC_H
#define GT_RUNTIME_EXEC_EXEC_H

#include "runtime/drivers/build.h"
#include "runtime/family/fit.h"

/* Alignment of a workspace pointer in bytes (CUDA's own), so that families may lay it out
 * in lines. */
enum { GT_WORKSPACE_ALIGN = 256 };

struct gt_exec; /* immutable after create; any thread may run it */

/* Facts about an exec. Registers, bytes and the log belong to the main kernel. */
struct gt_exec_info {
    int registers, spill_bytes, smem_bytes; /* -1 unknown */
    bool cached;
    const char *image; /* the digest of its bytes; "": the driver has kept them */
    double compile_ms;
    /* These live as long as the exec. */
    const struct gt_fit *fit; /* to its problem: launches, workspace, alignment */
    const char *log;          /* the compiler's messages */
};

/* Whether gt_exec_build would find the image in the cache. Loads no compiler. */
bool gt_exec_is_cached(const struct gt_gpu *gpu, const struct gt_fit *fit);

/* Builds, into the image cache, the image that gt_exec_build would load. Where the driver
 * compiles apart it loads nothing, so it may run while a stream is captured. EINVAL: the
 * driver refuses a tensor map; EBUILD: the compiler refuses the source; EIO: the cache has
 * no such image afterwards. */
gt_status gt_exec_compile(struct gt_gpu *gpu, const struct gt_fit *fit, struct gt_err *err);

/* Builds and loads the kernels of a point that was fitted to a problem on the gpu's device;
 * the fit is copied. EINVAL: the driver refuses a tensor map; EBUILD: the compiler refuses
 * the source; EDEVICE: the driver failed; ENOMEM. On EBUILD and EDEVICE *log (may be NULL;
 * the caller frees it) gets the compiler's messages. */
gt_status gt_exec_build(struct gt_exec **out, struct gt_gpu *gpu, const struct gt_fit *fit,
                        char **log, struct gt_err *err);
/* gt_fit_point for the canonical problem `p`, then gt_exec_build. */
gt_status gt_exec_create(struct gt_exec **out, struct gt_gpu *gpu,
                         const struct gt_family *family, const struct gt_point *point,
                         const gemmtune_problem *p, char **log, struct gt_err *err);
/* The same loaded kernel for another problem of the same types and layout, a batch as well
 * or a single product as well; `e` may be destroyed before or after. EINVAL: as
 * gt_fit_values, or the problem needs more shared memory. */
gt_status gt_exec_share(struct gt_exec **out, const struct gt_exec *e,
                        const gemmtune_problem *p, struct gt_err *err);
void gt_exec_destroy(struct gt_exec *e);
void gt_exec_describe(const struct gt_exec *e, struct gt_exec_info *info);

/* The offsets of a call, as in gemmtune_args: none is negative. `operand` may be NULL. */
struct gt_offsets {
    int64_t a, b, c, d2, rows, workspace;
    const int64_t *operand;
};

/* One product C = alpha op(A) op(B) + beta C, or the problem's epilogue of it. alpha and
 * beta are on the host, in the accumulator's type. Matrices, operands and the workspace are
 * pointers in the form that kernels take. */
struct gt_call {
    const void *alpha;
    void *a, *b; /* never written to */
    const void *beta;
    void *c, *workspace;
    void *stream; /* CUstream or cl_command_queue */
    bool swapped; /* a is the caller's B and b his A, as messages must say */
    /* the epilogue's operands, in the order of its declarations */
    int operands;
    const void *const *operand;
    const int64_t *operand_ld; /* 0, or no array: packed; only matrices have one */
    void *d2;                  /* the epilogue's second output */
    void *rows;                /* as in gemmtune_args; never written to */
    int64_t d2_ld;             /* 0: packed */
    struct gt_offsets offset;
    struct gt_event_order order; /* of all kernels of the call */
};

/* Drivers take pointers without const, so those to A and B lose theirs. */
static inline void *gt_device_pointer(const void *p) {
    return (void *)(uintptr_t)p;
}

/* EINVAL: alpha or beta is NULL, though C has elements. */
gt_status gt_call_check_scalars(const gemmtune_problem *p, const struct gt_call *call,
                                struct gt_err *err);
/* Whether the call leaves everything as it was: C has no elements, or without an epilogue
 * nothing is added to it and beta is 1. The scalars were checked. */
bool gt_call_is_idle(const gemmtune_problem *p, const struct gt_call *call);

/* Enqueues the product. Handles m, n or k of 0 and alpha of 0 as BLAS does; an epilogue is
 * computed then as well, with an acc of 0. EINVAL: a pointer is misaligned for this kernel,
 * the operands differ from the epilogue's, the driver takes no order, or the device
 * refuses a launch; EWORKSPACE: the workspace is missing or misaligned. */
gt_status gt_exec_run(const struct gt_exec *e, const struct gt_call *call,
                      struct gt_err *err);

#endif
