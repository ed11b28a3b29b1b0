/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemmkit.h - matrix products by kernels that gemmtune chose and compiled ahead. It needs
 * libc and the CUDA driver, which it opens when it runs: no compiler, no database.
 *
 *     C = alpha * op(A) * op(B) + beta * C
 *
 * Its words have the meaning that they have in gemmtune.h. A problem that the folder was
 * made for has its own kernel. Any other problem of the same types runs a general kernel.
 *
 * Device memory, contexts and streams are the caller's. Nothing here allocates device
 * memory or waits for the device; loading a kernel may wait in the driver. Any number of
 * threads may share a context and its plans. A failed call returns a negative status, and
 * gemmkit_errmsg() says the reason in one line.
 */
#ifndef GEMMKIT_H
#define GEMMKIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gemmkit_status {
    GEMMKIT_OK = 0,
    GEMMKIT_EINVAL = -1,       /* an argument is wrong */
    GEMMKIT_ENOMEM = -2,       /* out of host or device memory */
    GEMMKIT_ENODRIVER = -6,    /* there is no CUDA driver */
    GEMMKIT_EDEVICE = -7,      /* the driver reported an error */
    GEMMKIT_ENOTFOUND = -8,    /* the folder has no kernel for this device */
    GEMMKIT_EUNSUPPORTED = -9, /* the folder has no kernel for such a problem */
    GEMMKIT_EWORKSPACE = -10,  /* the workspace is missing or misaligned */
    GEMMKIT_EBUILD = -12       /* the driver refuses a kernel */
} gemmkit_status;

/* One line about this thread's last failed call, or "". */
const char *gemmkit_errmsg(void);

typedef enum gemmkit_dtype {
    GEMMKIT_F32 = 0,
    GEMMKIT_F64 = 1,
    GEMMKIT_F16 = 2,
    GEMMKIT_BF16 = 3,
    GEMMKIT_E4M3 = 4,
    GEMMKIT_E5M2 = 5,
    GEMMKIT_I8 = 6,
    GEMMKIT_I32 = 7
} gemmkit_dtype;

typedef enum gemmkit_trans { GEMMKIT_NOTRANS = 0, GEMMKIT_TRANS = 1 } gemmkit_trans;
typedef enum gemmkit_layout { GEMMKIT_COL_MAJOR = 0, GEMMKIT_ROW_MAJOR = 1 } gemmkit_layout;

/* How exact products and sums are. Where the folder has no kernel for a problem's
 * arithmetic, a strict kernel runs, which keeps every promise. */
typedef enum gemmkit_math {
    GEMMKIT_MATH_STRICT = 0,
    GEMMKIT_MATH_TF32 = 1,
    GEMMKIT_MATH_FAST = 2,
    GEMMKIT_MATH_SPLIT = 3,
    GEMMKIT_MATH_RESIDUES = 4,
    GEMMKIT_MATH_PROMOTED = 5,
    GEMMKIT_MATH_BF16X3 = 6
} gemmkit_math;

typedef enum gemmkit_batch_kind {
    GEMMKIT_BATCH_STRIDED = 0, /* matrix i of A begins i * stride_a elements after the
                                * first; with `batch` 1 it is a single product */
    GEMMKIT_BATCH_POINTERS = 1 /* a, b and c are device arrays of `batch` pointers */
} gemmkit_batch_kind;

/* A stride: each matrix begins where the one before it ends. */
#define GEMMKIT_PACKED INT64_MIN

/* A product to compute. gemmkit_problem_init fills it in; change members afterwards.
 * Lengths are in elements. */
typedef struct gemmkit_problem {
    gemmkit_layout layout;
    gemmkit_trans trans_a, trans_b;
    gemmkit_dtype type_a, type_b, type_c;
    gemmkit_dtype type_acc; /* of the sums, alpha and beta */
    gemmkit_math math;
    gemmkit_batch_kind batch_kind;
    uint32_t pointer_align; /* BATCH_POINTERS: bytes that every pointer of the arrays is a
                             * multiple of; 0: its element's size */
    int64_t m, n, k;        /* from 0 to 2^31 - 1 */
    int64_t lda, ldb, ldc;  /* 0: packed */
    int64_t batch;
    int64_t stride_a, stride_b, stride_c; /* GEMMKIT_PACKED, 0 or more */
    const char *epilogue; /* NULL, or one that gemmkit_epilogue gives; row-major only. It
                           * must live as long as a context that has met it */
} gemmkit_problem;

/* Column-major, not transposed, one product, packed. A, B and C have `type`, but C is BF16
 * for E4M3 and E5M2, and I32 for I8. Sums are F32 (F64 for F64, I32 for I8 and I32). */
void gemmkit_problem_init(gemmkit_problem *p, gemmkit_dtype type, int64_t m, int64_t n,
                          int64_t k);

/* The text of epilogue i of the folder; NULL past the last one. */
const char *gemmkit_epilogue(int i);

typedef struct gemmkit_ctx gemmkit_ctx;   /* a CUDA context and the kernels loaded there */
typedef struct gemmkit_plan gemmkit_plan; /* a problem and its kernel; never changes */

/* Opens the kernels of the context's device. `context` is a CUcontext; NULL: the one that
 * is current. ENOTFOUND names the architectures that the folder has. */
gemmkit_status gemmkit_open(gemmkit_ctx **out, void *context);
/* Destroys the plans of gemmkit_gemm and unloads all kernels. Plans of gemmkit_plan_create
 * are destroyed before it. Accepts NULL. */
void gemmkit_close(gemmkit_ctx *ctx);

/* The kernel for a problem that needs at most `workspace_max` bytes. The first plan of a
 * kernel loads it. */
gemmkit_status gemmkit_plan_create(gemmkit_plan **out, gemmkit_ctx *ctx,
                                   const gemmkit_problem *p, size_t workspace_max);
void gemmkit_plan_destroy(gemmkit_plan *plan); /* accepts NULL */

typedef struct gemmkit_plan_info {
    int exact;          /* 1: the kernel was chosen for this problem; 0: a general one */
    const char *name;   /* of the problem that it was chosen for; "" for general ones */
    const char *family; /* of gemmtune's kernels */
    const char *params; /* the point of the family */
    size_t workspace_bytes; /* device memory that gemmkit_execute needs */
    size_t workspace_align; /* of its pointer, in bytes */
} gemmkit_plan_info;
void gemmkit_plan_describe(const gemmkit_plan *plan, gemmkit_plan_info *info);

/* Enqueues the product on `stream`, a CUstream. alpha and beta are host scalars of
 * type_acc; a, b, c and workspace are device memory. With beta 0 C is not read, with alpha
 * or k 0 neither A nor B. Matrices may begin at any element. The workspace belongs to the
 * call until the product has run. */
gemmkit_status gemmkit_execute(const gemmkit_plan *plan, const void *alpha, const void *a,
                               const void *b, const void *beta, void *c, void *workspace,
                               void *stream);

/* The operands of one call, as in gemmtune.h. Members that are 0 or NULL are not there. */
typedef struct gemmkit_args {
    const void *alpha, *beta, *a, *b;
    void *c, *workspace;
    /* of the epilogue, in the order of its declarations */
    int operands;
    const void *const *operand;
    const int64_t *operand_ld; /* 0, or no array: packed */
    void *d2;                  /* its second output */
    int64_t d2_ld;
} gemmkit_args;

/* gemmkit_execute for problems with an epilogue. */
gemmkit_status gemmkit_launch(const gemmkit_plan *plan, const gemmkit_args *args,
                              void *stream);

/* gemmkit_execute in one call: the context keeps the plan of each problem until
 * gemmkit_close.
 * `workspace_bytes` is the size of `workspace`, which may be NULL with 0. */
gemmkit_status gemmkit_gemm(gemmkit_ctx *ctx, const gemmkit_problem *p, const void *alpha,
                            const void *a, const void *b, const void *beta, void *c,
                            void *workspace, size_t workspace_bytes, void *stream);

#ifdef __cplusplus
}
#endif
#endif
