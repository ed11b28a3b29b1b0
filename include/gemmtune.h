/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemmtune.h - run the fastest known GEMM kernel for a problem on this device.
 *
 *     C = alpha * op(A) * op(B) + beta * C
 *
 * The library only reads the database. It looks a problem up and takes the kernel from the
 * image cache, or builds it from the template that is compiled into the library (with NVRTC
 * or the OpenCL driver, loaded at run time). It loads the kernel into the caller's own CUDA
 * or OpenCL context and launches it on the caller's own stream. It never times and never
 * writes the database. It waits for the device in gemmtune_host_gemm only, but a driver may
 * wait where memory is allocated or freed.
 *
 * Ownership.
 *   - The results of gemmtune_open and gemmtune_plan_create belong to the caller until
 *     gemmtune_close and gemmtune_plan_destroy. Both accept NULL.
 *   - Every const char * that a function returns belongs to the library. The function's
 *     comment says how long it lives.
 *   - Device memory is the caller's. The library allocates some of its own in two places: a
 *     context has a workspace for each stream of its one-call forms, until
 *     gemmtune_workspace_set or gemmtune_close, and gemmtune_host_gemm has tiles while it
 *     runs.
 *
 * Errors. A gemmtune_status is 0 on success and negative otherwise. On failure an
 * out-parameter is set to NULL, gemmtune_errmsg() gives the reason in one line, and
 * gemmtune_errarg() the argument that was wrong, if one was.
 *
 * Threads.
 *   - Several threads may share a gemmtune_ctx. These calls lock: all that make, destroy,
 *     count or drop plans, a one-call form that meets a problem for the first time, one
 *     that runs a kernel with a workspace (against others on the same stream),
 *     gemmtune_workspace_make, gemmtune_plan_prepare, the first gemmtune_pack, and on
 *     OpenCL a gemmtune_launch with offsets that need another kernel of the plan. A call
 *     waits while another thread makes the same plan, or builds a kernel of the same
 *     source.
 *   - gemmtune_plan_prepare, or a plan that serves until a better kernel is built, starts a
 *     thread, which lives until gemmtune_close. A plan with two kernels that are not built
 *     starts one, which ends before the plan is made. Both compile, and call the function
 *     of gemmtune_set_log.
 *   - A gemmtune_plan never changes after it is made, but for that kernel. Any number of
 * threads may execute it at once, on different streams, each with its own workspace.
 *   - No thread may close or destroy an object that another thread is using.
 *
 * Growth. Structs with a struct_size grow at their end only. A member that a caller's older
 * struct lacks counts as 0, and 0 means the behaviour from before the member existed. The
 * library accepts a newer struct as long as the members that it does not know are 0;
 * otherwise the call returns GEMMTUNE_EUNSUPPORTED. The inline functions below tell the
 * library how long the caller's struct is. Callers without a C compiler call their `_sized`
 * forms, with the length of their struct in bytes.
 *
 * The values of enums are fixed as well: new ones are added at the end, none is reused. So
 * a caller must expect values in results that its header does not have.
 *
 * Some features have a place here but no kernel yet. A plan that needs one is refused with
 * GEMMTUNE_EUNSUPPORTED and one sentence; docs/api.md lists them.
 */
#ifndef GEMMTUNE_H
#define GEMMTUNE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GEMMTUNE_VERSION_MAJOR 0
#define GEMMTUNE_VERSION_MINOR 3
#define GEMMTUNE_VERSION_PATCH 0

#if defined(_WIN32)
#define GEMMTUNE_API
#else
#define GEMMTUNE_API __attribute__((visibility("default")))
#endif

/* ---- status ------------------------------------------------------------- */

/* The one list of status codes. New codes are added at the end, none is reused. */
#define GEMMTUNE_STATUS_LIST(X)                                                            \
    X(GEMMTUNE_OK, 0, "success")                                                           \
    X(GEMMTUNE_EINVAL, -1, "invalid argument")                                             \
    X(GEMMTUNE_ENOMEM, -2, "out of host memory")                                           \
    X(GEMMTUNE_EIO, -3, "file cannot be opened, read or written")                          \
    X(GEMMTUNE_EDB, -4, "database is damaged or is not a gemmtune database")               \
    X(GEMMTUNE_ESCHEMA, -5, "database schema is newer than this library")                  \
    X(GEMMTUNE_ENODRIVER, -6, "device driver is not installed")                            \
    X(GEMMTUNE_EDEVICE, -7, "device driver reported an error")                             \
    X(GEMMTUNE_ENOTFOUND, -8, "no kernel is known for this problem on this device")        \
    X(GEMMTUNE_EUNSUPPORTED, -9, "this problem is outside what gemmtune handles")          \
    X(GEMMTUNE_EWORKSPACE, -10, "workspace is missing or misaligned")                      \
    X(GEMMTUNE_EPARSE, -11, "input is malformed")                                          \
    X(GEMMTUNE_EBUILD, -12, "kernel does not build for this device")                       \
    X(GEMMTUNE_ESTOPPED, -13, "stopped by the caller")                                     \
    X(GEMMTUNE_ELOCKED, -14, "kernel is not the one that the lock pins")

typedef enum gemmtune_status {
#define X(name, value, text) name = value,
    GEMMTUNE_STATUS_LIST(X)
#undef X
} gemmtune_status;

/* Fixed text for a code, never NULL. Lives for ever. */
GEMMTUNE_API const char *gemmtune_strerror(gemmtune_status status);

/* One line about this thread's last failed gemmtune_ call, or "". Lives until this
 * thread's next gemmtune_ call. */
GEMMTUNE_API const char *gemmtune_errmsg(void);

/* An argument that a failed call refused: an argument of the function, or a member of a
 * struct that it was given. The numbers from 1 to 13 are the numbers of BLAS's xGEMM, so
 * that a BLAS on top of this library can call XERBLA with them. */
typedef enum gemmtune_argument {
    GEMMTUNE_ARG_NONE = 0, /* the call succeeded, or no single argument is wrong */
    GEMMTUNE_ARG_TRANS_A = 1,
    GEMMTUNE_ARG_TRANS_B = 2,
    GEMMTUNE_ARG_M = 3,
    GEMMTUNE_ARG_N = 4,
    GEMMTUNE_ARG_K = 5,
    GEMMTUNE_ARG_ALPHA = 6,
    GEMMTUNE_ARG_A = 7, /* a, a_offset; also: A is too large */
    GEMMTUNE_ARG_LDA = 8,
    GEMMTUNE_ARG_B = 9,
    GEMMTUNE_ARG_LDB = 10,
    GEMMTUNE_ARG_BETA = 11,
    GEMMTUNE_ARG_C = 12,
    GEMMTUNE_ARG_LDC = 13,
    GEMMTUNE_ARG_LAYOUT = 14,
    GEMMTUNE_ARG_CTX = 15, /* ctx, plan, devices, target */
    GEMMTUNE_ARG_PROBLEM = 16,
    GEMMTUNE_ARG_TYPES = 17, /* type_a, type_b, type_c, type_acc, math */
    GEMMTUNE_ARG_BATCH = 18, /* batch, batch_kind, pointer_align */
    GEMMTUNE_ARG_STRIDE_A = 19,
    GEMMTUNE_ARG_STRIDE_B = 20,
    GEMMTUNE_ARG_STRIDE_C = 21,
    GEMMTUNE_ARG_ROWS = 22, /* rows, rows_offset, expected_rows */
    GEMMTUNE_ARG_EPILOGUE = 23,
    GEMMTUNE_ARG_OPERANDS = 24, /* operands, operand, operand_ld, operand_offset */
    GEMMTUNE_ARG_D2 = 25,       /* d2, d2_ld, d2_offset */
    GEMMTUNE_ARG_WORKSPACE = 26,
    GEMMTUNE_ARG_EVENTS = 27, /* wait_list, wait_count, event */
    GEMMTUNE_ARG_ARGS = 28,
    GEMMTUNE_ARG_OPTIONS = 29, /* any other argument: options, worst, plans ... */
    GEMMTUNE_ARG_OUT = 30      /* the place of a result */
} gemmtune_argument;

/* The argument that this thread's last failed gemmtune_ call refused, as gemmtune_errmsg
 * says in words. A column-major problem's are the caller's own. */
GEMMTUNE_API gemmtune_argument gemmtune_errarg(void);

/* ---- problem ------------------------------------------------------------ */

typedef enum gemmtune_dtype {
    GEMMTUNE_F32 = 0,
    GEMMTUNE_F64 = 1,
    GEMMTUNE_F16 = 2,
    GEMMTUNE_BF16 = 3,
    GEMMTUNE_E4M3 = 4,
    GEMMTUNE_E5M2 = 5,
    GEMMTUNE_I8 = 6,
    GEMMTUNE_I32 = 7
} gemmtune_dtype;

typedef enum gemmtune_trans { GEMMTUNE_NOTRANS = 0, GEMMTUNE_TRANS = 1 } gemmtune_trans;
typedef enum gemmtune_layout {
    GEMMTUNE_COL_MAJOR = 0,
    GEMMTUNE_ROW_MAJOR = 1
} gemmtune_layout;

/* How exact the products and their sum are. TF32 matters for F32 inputs only, SPLIT and
 * BF16X3 for F32 inputs that are accumulated in F32, FAST and PROMOTED for 8-bit floats
 * that are accumulated in F32, RESIDUES for F64 inputs that are accumulated in F64. For
 * other types they mean STRICT. */
typedef enum gemmtune_math {
    GEMMTUNE_MATH_STRICT = 0, /* inputs as stored, the sum in type_acc */
    GEMMTUNE_MATH_TF32 = 1,   /* F32 inputs may be rounded to 10 bits after the point */
    GEMMTUNE_MATH_FAST = 2,   /* partial sums may be kept in fewer bits than F32 has */
    GEMMTUNE_MATH_SPLIT = 3,  /* each F32 input may be two TF32 parts, each product three */
    GEMMTUNE_MATH_RESIDUES = 4, /* F64 by exact products of bytes, with the bound of F64 */
    GEMMTUNE_MATH_PROMOTED = 5, /* as FAST, but sums over 128 of k are added up in F32 */
    GEMMTUNE_MATH_BF16X3 = 6    /* as SPLIT, but the parts are BF16: about 2^-15 is lost */
} gemmtune_math;

/* Which products one call computes. `batch` and the strides below say how many there are
 * and where each one's matrices begin. */
typedef enum gemmtune_batch_kind {
    GEMMTUNE_BATCH_STRIDED =
        0, /* matrix i of A begins i * stride_a elements after the first,
            * and so for B and C; with `batch` 1 it is a single product */
    GEMMTUNE_BATCH_POINTERS = 1, /* a, b and c of a call are device arrays of `batch` device
                                  * pointers, one for each matrix; CUDA only.
                                  * `pointer_align` says how they are aligned */
    GEMMTUNE_GROUPED_ROWS = 2, /* A and C are one matrix each, of m rows in `batch` groups,
                                * one after another. Group g is multiplied by matrix g of
                                * B; `rows` of a call says where groups end */
    GEMMTUNE_MASKED_ROWS = 3   /* as STRIDED, but only the first rows of each product are
                                * computed. `rows` of a call says how many */
} gemmtune_batch_kind;

/* A stride: each matrix begins where the one before it ends, `rows * ld` elements after it.
 * A stride of 0 is something else: all products share one A, or one B. */
#define GEMMTUNE_PACKED INT64_MIN

/*
 * A product to compute: the types, sizes and layout, not how to compute it.
 * gemmtune_problem_init fills it in; change members afterwards. All lengths are in
 * elements. Copy it freely: it owns nothing. `epilogue` must live as long as the problem is
 * used.
 *
 * Rows and columns are meant in the problem's own layout. GROUPED_ROWS, MASKED_ROWS,
 * packed_b, row_order and an epilogue refer to rows, columns or B, so they need
 * GEMMTUNE_ROW_MAJOR.
 */
typedef struct gemmtune_problem {
    uint32_t struct_size; /* sizeof(gemmtune_problem), for growth */
    gemmtune_layout layout;
    gemmtune_trans trans_a, trans_b;
    gemmtune_dtype type_a, type_b, type_c; /* as stored */
    gemmtune_dtype type_acc;               /* of the sums, alpha and beta */
    gemmtune_math math;
    gemmtune_batch_kind batch_kind;
    int32_t reads_c;   /* 1: beta is usually not zero. The tuner tunes for that; any beta
                        * gives a right result with either value */
    int32_t packed_b;  /* 1: B is an output of gemmtune_pack: its layout replaces trans_b
                        * and ldb. ldb must be 0 or possible for trans_b all the same. A
                        * stride_b of 0 means one packed B for all products; no other
                        * value of stride_b has an effect */
    int32_t row_order; /* 1: a row of C has the same bits for every m and batch; where no
                        * kernel can, a plan is ENOTFOUND (docs/row-order.md) */
    uint32_t pointer_align; /* BATCH_POINTERS: bytes, a power of two, that every pointer of
                             * the arrays is a multiple of; 0: its element's size. Of 16
                             * and more, kernels make the same use */
    int64_t m, n, k;        /* from 0 to 2^31 - 1; op(A) is m x k, op(B) k x n, C m x n */
    int64_t lda, ldb, ldc;  /* elements from one row to the next (column-major: from one
                             * column); 0: packed, no gap between them. At most 2^31 - 1
                             * unless there is a single row: its ld has no effect */
    int64_t batch;          /* products or groups; 0: nothing is computed or read */
    int64_t stride_a, stride_b, stride_c; /* GEMMTUNE_PACKED, 0 or more. With stride_c no
                                           * two products may overlap. A stride that has no
                                           * meaning is ignored: all strides with one
                                           * product or arrays of pointers, the strides of A
                                           * and C with GROUPED_ROWS */
    int64_t expected_rows; /* GROUPED_ROWS, MASKED_ROWS: rows of a group or product that
                            * tuning should expect; 0: equal groups, or all rows */
    const char *epilogue;  /* function of each element before it is stored, in the words of
                            * docs/epilogue.md; NULL: alpha op(A) op(B) + beta C. I8 with C
                            * of F32, F16, BF16 or I8: NULL means "d=x", also in the
                            * name */
} gemmtune_problem;

/* gemmtune_problem_init for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_problem_init_sized(gemmtune_problem *p, size_t size,
                                                         gemmtune_dtype type, int64_t m,
                                                         int64_t n, int64_t k);

/* Column-major, not transposed, one product, strides GEMMTUNE_PACKED, the rest 0. A and B
 * have `type`. C has it as well, but BF16 for E4M3 and E5M2, and I32 for I8. Sums, alpha
 * and beta are F32 (F64 for F64, I32 for I8 and I32). Afterwards type_c may be set to F32
 * for the types of 16 and 8 bits, to F16 and BF16 for the types of 8 bits, and to I8 for
 * I8. EINVAL for NULL. */
static inline gemmtune_status gemmtune_problem_init(gemmtune_problem *p,
                                                    gemmtune_dtype type, int64_t m,
                                                    int64_t n, int64_t k) {
    return gemmtune_problem_init_sized(p, sizeof(gemmtune_problem), type, m, n, k);
}

/* The problem's canonical name, e.g. "f32-nt-4096x4096x1024". A name is row-major: the name
 * of a column-major problem has A and B, m and n exchanged. The same text is the database
 * key, the command-line argument and the name in messages; docs/api.md has the grammar.
 * Writes at most `size` bytes with the NUL. Returns the length needed, as snprintf does, or
 * a negative gemmtune_status for an invalid problem. A problem without a kernel has a name
 * too. */
GEMMTUNE_API int gemmtune_problem_format(const gemmtune_problem *p, char *buf, size_t size);

/* gemmtune_problem_parse for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_problem_parse_sized(gemmtune_problem *p, size_t size,
                                                          const char *name);

/* Reads a name; *p needs no init. An epilogue is not copied: p->epilogue points into
 * `name`. EPARSE quotes the part that is wrong. */
static inline gemmtune_status gemmtune_problem_parse(gemmtune_problem *p,
                                                     const char *name) {
    return gemmtune_problem_parse_sized(p, sizeof(gemmtune_problem), name);
}

/* ---- elements in host memory -------------------------------------------- */

/*
 * Converts a matrix in host memory from one element type to another: `rows` rows of `cols`
 * elements. dst_ld and src_ld are the elements from one row to the next, 0 for packed rows.
 * (For a column-major matrix read columns for rows.) dst and src must not overlap.
 *
 * Each value is rounded to the nearest element; of two equally near, to the one with a last
 * bit of 0. Beyond the largest element lies infinity; E4M3 has none and becomes NaN.
 * Integers take the nearest value of their range, and 0 for NaN. C has no types for F16,
 * BF16, E4M3 and E5M2: they are integers of 2 and 1 bytes there.
 *
 * It is for the data of tests and examples: one core converts about 10 million elements
 * a second.
 * EINVAL: NULL, a type that does not exist, a size or ld out of range.
 */
GEMMTUNE_API gemmtune_status gemmtune_convert(void *dst, gemmtune_dtype dst_type,
                                              int64_t dst_ld, const void *src,
                                              gemmtune_dtype src_type, int64_t src_ld,
                                              int64_t rows, int64_t cols);

/* ---- context: one database, one device ---------------------------------- */

typedef enum gemmtune_backend { GEMMTUNE_CUDA = 0, GEMMTUNE_OPENCL = 1 } gemmtune_backend;

/* Permissions of a context: gemmtune_target.flags. */
typedef enum gemmtune_open_flag {
    /* Where the kernel of a plan is not in the image cache, the plan does not wait for the
     * compiler: it takes the best kernel that is there, and a thread of the context builds
     * the better one. One-call forms take that one as soon as it is built; for a plan of
     * gemmtune_plan_create gemmtune_plan_describe tells it (`better`), and
     * gemmtune_plan_create gives it. `gemmtune build --general` builds kernels that serve
     * until then. Where no kernel for a problem is in the image cache, a plan waits after
     * all; so does a plan that accepts less than GEMMTUNE_MATCH_DEFAULT. */
    GEMMTUNE_OPEN_BUILD_BEHIND = 1
} gemmtune_open_flag;

/* A device to run on. The handles stay the caller's and must outlive the gemmtune_ctx.
 * gemmtune_target_init sets them to NULL; set members afterwards. */
typedef struct gemmtune_target {
    uint32_t struct_size; /* sizeof(gemmtune_target), for growth */
    gemmtune_backend backend;
    void *context;  /* CUcontext or cl_context; NULL: CUDA's current one */
    void *device;   /* cl_device_id; NULL for CUDA */
    uint32_t flags; /* of gemmtune_open_flag, added up; 0: none */
    int32_t reserved;
    const char *lock; /* the path of a lock (docs/lock.md); NULL: $GEMMTUNE_LOCK, else
                       * none. Read by gemmtune_open alone */
} gemmtune_target;

/* gemmtune_target_init for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_target_init_sized(gemmtune_target *target,
                                                        size_t size,
                                                        gemmtune_backend backend);

/* EINVAL for NULL. */
static inline gemmtune_status gemmtune_target_init(gemmtune_target *target,
                                                   gemmtune_backend backend) {
    return gemmtune_target_init_sized(target, sizeof(gemmtune_target), backend);
}

typedef struct gemmtune_ctx gemmtune_ctx;

/* Opens the database read-only, and the lock if there is one. db_path NULL: $GEMMTUNE_DB,
 * else the user's default; when that one is missing or cannot be read, nothing counts as
 * tuned, and the log (gemmtune_set_log) says why. With a db_path that is EIO, EDB or
 * ESCHEMA.
 *
 * With a lock the kernels that it pins are the only ones, unless it says otherwise:
 * docs/lock.md. ELOCKED: the device, its driver or a template is another one than in the
 * lock; EIO, EPARSE: the lock cannot be read.
 *
 * The library keeps what it has read of a large database in the user's cache folder, beside
 * the images. The next process then opens an unchanged database several times faster. */
GEMMTUNE_API gemmtune_status gemmtune_open(gemmtune_ctx **out, const char *db_path,
                                           const gemmtune_target *target);
GEMMTUNE_API void gemmtune_close(gemmtune_ctx *ctx);

/* ---- plan: one problem, one loaded kernel ------------------------------- */

typedef struct gemmtune_plan gemmtune_plan;

/* How far from an exact match the lookup may go. Each value allows the values above it too,
 * and the lookup prefers matches of the values above. Results that were tuned elsewhere, on
 * a device of the same key (imported, merged), are GEMMTUNE_MATCH_ARCH, with two
 * exceptions. Such a result for the same problem goes before GEMMTUNE_MATCH_SHAPE. Such
 * results for other problems compete with GEMMTUNE_MATCH_SHAPE by forecast. */
typedef enum gemmtune_match {
    GEMMTUNE_MATCH_EXACT = 0,  /* tuned for the same problem on this device */
    GEMMTUNE_MATCH_SHAPE = 1,  /* tuned on this device, for another problem */
    GEMMTUNE_MATCH_ARCH = 2,   /* tuned elsewhere, on a device of this architecture */
    GEMMTUNE_MATCH_DEFAULT = 3 /* never measured here: a family's start or default point */
} gemmtune_match;

/* Whether a faster kernel than a plan's is being built. */
typedef enum gemmtune_better {
    GEMMTUNE_BETTER_NONE = 0,     /* no: the plan has the one that was preferred, or that
                                   * one does not build */
    GEMMTUNE_BETTER_BUILDING = 1, /* it is being built, or waits for its turn */
    GEMMTUNE_BETTER_READY = 2     /* it is built: gemmtune_plan_create has it */
} gemmtune_better;

typedef struct gemmtune_plan_info {
    uint32_t struct_size;
    gemmtune_match match;   /* how the kernel was found */
    const char *family;     /* e.g. "block" */
    const char *params;     /* e.g. "BM=128 BN=128 BK=16 STAGES=3" */
    double tuned_median_ns; /* as measured when tuned; 0 if never */
    size_t workspace_bytes; /* device memory that gemmtune_execute needs; 0: none */
    size_t workspace_align; /* alignment of the workspace pointer, in bytes */
    const char *from; /* the tuned problem that the kernel comes from; "" at DEFAULT */
    const char *why;  /* one line for people: why this kernel was chosen */
    /* How much longer the kernel may take than the best one for this problem, as a part of
     * the best one's time: 0.05 is 5 %. 0 for a kernel that was tuned for the problem, on
     * this device or on one of the same key. A guess, fitted on one H200. 2.75 means
     * that nothing is known, as where there is no forecast. */
    double expected_loss;
    /* Not NONE only in a context with GEMMTUNE_OPEN_BUILD_BEHIND. It may change from
     * BUILDING to another value at any time. */
    gemmtune_better better;
    int32_t reserved;
    /* SHA-256 of the image of the kernel for aligned pointers, 64 hexadecimal digits; "":
     * nothing is loaded, as for a C without elements, or the driver does not give it. */
    const char *image;
    int32_t pinned;    /* 1: by the lock of the context */
    int32_t same_bits; /* 1: the same operands at the same places give the same bits in
                        * every run of the plan; 0: sums may be in another order */
} gemmtune_plan_info;

/* The fastest known kernel that needs at most workspace_max bytes; with
 * GEMMTUNE_OPEN_BUILD_BEHIND the fastest one that is built, if there is one. EUNSUPPORTED
 * names the feature of the problem that has no kernel yet. In a context with a lock the
 * pinned kernel, whatever `worst` is: ELOCKED when its source, its image or the compiler
 * is another one; EWORKSPACE when it needs more than workspace_max; ENOTFOUND when the
 * problem is not pinned. Plans of one context share their
 * kernels where these have the same source, and equal calls give the same plan once more:
 * each is destroyed by a call of its own. */
GEMMTUNE_API gemmtune_status gemmtune_plan_create(gemmtune_plan **out, gemmtune_ctx *ctx,
                                                  const gemmtune_problem *p,
                                                  gemmtune_match worst,
                                                  size_t workspace_max);

/* gemmtune_plan_create that never waits for a compiler: the fastest known kernel in the
 * image cache. Run it until gemmtune_plan_prepare says that the one
 * of gemmtune_plan_create is built. The plan refuses pointers that are not aligned when no
 * kernel for these is cached. ENOTFOUND: none of the 64 kernels that were preferred is
 * cached. On OpenCL an image is a binary of the driver's. A driver that refuses a binary of
 * its own is given the source, and compiles after all. */
GEMMTUNE_API gemmtune_status gemmtune_plan_create_cached(gemmtune_plan **out,
                                                         gemmtune_ctx *ctx,
                                                         const gemmtune_problem *p,
                                                         gemmtune_match worst,
                                                         size_t workspace_max);

/*
 * Lets a thread of the context build the kernel that gemmtune_plan_create would take, into
 * the image cache, and returns at once. Call it again to ask, and take the plan of
 * gemmtune_plan_create_cached meanwhile.
 *
 *   - *ready is 1 when gemmtune_plan_create need not wait for a compiler, unless the best
 *     kernel does not build or load: then gemmtune_plan_create tries it before the next.
 *   - *ready is 0 while the kernel is being built or waits for its turn, and on failure.
 *   - The thread builds one kernel after another. gemmtune_close waits for the kernel that
 *     is being built, and drops the others.
 *
 * On OpenCL only a context compiles: the thread builds the program in the context of the
 * target, and releases it.
 *
 * Errors of gemmtune_plan_create; and EIO: the image cache cannot be written, or the OpenCL
 * driver gives no binary; ENOMEM: no thread can be started. EBUILD, where no kernel for the
 * problem builds, and ELOCKED are the answers of later calls as well. After any other error
 * the next call tries again.
 */
GEMMTUNE_API gemmtune_status gemmtune_plan_prepare(int *ready, gemmtune_ctx *ctx,
                                                   const gemmtune_problem *p,
                                                   gemmtune_match worst,
                                                   size_t workspace_max);
GEMMTUNE_API void gemmtune_plan_destroy(gemmtune_plan *plan);

/* gemmtune_plan_describe for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_plan_describe_sized(const gemmtune_plan *plan,
                                                          gemmtune_plan_info *info,
                                                          size_t size);

/* Fills *info. The strings live as long as the plan. EINVAL for NULL. */
static inline gemmtune_status gemmtune_plan_describe(const gemmtune_plan *plan,
                                                     gemmtune_plan_info *info) {
    return gemmtune_plan_describe_sized(plan, info, sizeof(gemmtune_plan_info));
}

/* Our kernel beside a vendor's library, both timed in turns on the plan's problem by
 * `gemmtune tune --against` or `gemmtune bench --store`. */
typedef struct gemmtune_rival_info {
    uint32_t struct_size;
    int32_t known;    /* 0: nothing is known, and all other members are 0 */
    char library[32]; /* "cublas" or "cublaslt" */
    int32_t version;  /* of the library, as cublasGetVersion gives it: 130100 is 13.1.0 */
    int32_t verdict;  /* 1: our kernel is faster; 0: neither is proven faster; -1: slower */
    /* Medians of one product. Where the default of a library is outside of our bound and
     * takes less time, rival_ns is that time, by a short measurement. */
    double ours_ns, rival_ns;
    /* The rival's time over ours, taken round by round: the median and its 95 % interval;
     * scaled to such a default. */
    double ratio, ratio_low, ratio_high;
    size_t workspace; /* bytes that each of the two had */
    int32_t verified; /* 1: measured on the machine of the database; 0: it came from another
                       * one with such a device, by import or merge */
    int32_t rounds;   /* that were measured */
} gemmtune_rival_info;

/* gemmtune_plan_rival for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_plan_rival_sized(const gemmtune_plan *plan,
                                                       int32_t version,
                                                       gemmtune_rival_info *info,
                                                       size_t size);

/*
 * Tells what the database knows of the plan's kernel beside the fastest library of this
 * version: of the very kernel (device, problem, source and parameters), as
 * gemmtune_plan_describe names it. So a program that serves calls of cuBLAS can leave to
 * cuBLAS what cuBLAS does faster.
 *
 *   - `version` 0 stands for the version that was measured last.
 *   - Measurements with more workspace than the plan's workspace_max do not count. Of the
 *     others those with the most count; `workspace` says how much that was.
 *   - Of these the measurements made here count, unless all come from elsewhere.
 *   - Of these the library with the least ratio is the answer. One that was measured with
 *     too much noise for a verdict makes the answer unknown.
 *   - The matrices were aligned. Pointers that are not aligned to 16 bytes may run the
 *     plan's second kernel, and this says nothing of it.
 *
 * It reads no file: gemmtune_open has read the measurements. EINVAL: NULL, or a negative
 * version.
 */
static inline gemmtune_status
gemmtune_plan_rival(const gemmtune_plan *plan, int32_t version, gemmtune_rival_info *info) {
    return gemmtune_plan_rival_sized(plan, version, info, sizeof(gemmtune_rival_info));
}

/*
 * The operands of one call. gemmtune_args_init sets all to 0; set members afterwards. alpha
 * and beta are in host memory, all other pointers are to device memory (cl_mem for OpenCL).
 * All memory stays the caller's.
 *
 * A matrix reaches from its first to its last element: the last row needs no padding, nor
 * does the last matrix of a batch. Matrices and operands may begin at any element of their
 * memory: a pointer is aligned to its own element. Where fast kernels copy more than an
 * element at a time, a plan has a second kernel for other pointers. C must overlap neither
 * A nor B, also where they are not read. EINVAL where C begins where one of them does, and
 * on OpenCL where a buffer is too small. Any other overlap is not noticed, and the result
 * is then undefined: addresses inside the same matrix, or an OpenCL sub-buffer that shares
 * bytes with another buffer.
 *
 * Nothing needs to be given that is not read, in any form of a call. alpha and beta are
 * read where C has elements.
 *
 *   - Where alpha or k is 0, a and b may be NULL.
 *   - Where beta is 1 besides, and there is no epilogue, c may be NULL.
 *   - Where m, n or batch is 0, all pointers may be NULL.
 */
typedef struct gemmtune_args {
    uint32_t struct_size;     /* sizeof(gemmtune_args), for growth */
    int32_t operands;         /* length of `operand` and `operand_ld` */
    const void *alpha, *beta; /* host scalars of type_acc, read before the call returns */
    const void *a, *b; /* matrices, or arrays of pointers (GEMMTUNE_BATCH_POINTERS) */
    void *c;           /* written; read only when beta is not zero */
    const void *rows;  /* `batch` values of int32, or NULL. GROUPED_ROWS: the row after the
                        * last one of each group; MASKED_ROWS: the rows of each product */
    /* The epilogue's operands: what it reads beside the product and C. Their index in the
     * epilogue says what each one is:
     *     (none)  one value
     *     [i]     a value for each row
     *     [j]     a value for each column
     *     [i,j]   a matrix of the size of C
     *     [z]     a value for each product or group
     *     [z,j]   a row of n values for each product or group
     * In a batch the rows of all products count, one product after another: [i] is m values
     * for each product, [i,j] a matrix for each, as d2 has them. GROUPED_ROWS: the rows are
     * the m rows of C. One value, and a value for each column, serve all products.
     *
     * An operand has the type that the epilogue declares. Without a declaration it has C's
     * type, and a scale of a shorthand is F32 (F64 beside F64 sums).
     *
     * `operand` has a pointer for each: declared operands come first, in their order, then
     * the others in the order of their first use. Values lie in device memory, row after
     * row. They are only read, and must not overlap C or d2. */
    const void *const *operand;
    const int64_t *operand_ld; /* elements from a row of an operand to the next, 0: packed;
                                * NULL: all packed. Only [i,j] and [z,j] have rows */
    void *d2;                  /* the epilogue's second output, or NULL; overlaps nothing */
    void *workspace;           /* workspace_bytes of the plan, or NULL when that is 0 */
    int64_t d2_ld;             /* elements from a row of d2 to the next; 0: packed */
    /* OpenCL only, as for clEnqueueNDRangeKernel: EINVAL on CUDA, where streams order
     * calls. A call without products waits and gives an event as well. */
    const void *wait_list; /* const cl_event *: `wait_count` events that the call waits for;
                            * they stay the caller's */
    void *event;           /* cl_event *, or NULL: becomes an event of the call's end, which
                            * the caller releases; NULL after an error, unless the library
                            * could not read the args. After EDEVICE a part of the call may
                            * run: finish the queue before its memory is used again */
    uint32_t wait_count;   /* 0: wait_list is NULL */
    int32_t reserved;
    /* Where matrices begin, counted from their pointers: 0 or more elements, each of its
     * matrix's own type; of `rows` int32; of arrays of pointers pointers. A cl_mem has no
     * address to add to. On CUDA an offset is added to the pointer, so one program serves
     * both. */
    int64_t a_offset, b_offset, c_offset, d2_offset, rows_offset;
    int64_t workspace_offset;      /* bytes, a multiple of workspace_align */
    const int64_t *operand_offset; /* one for each operand; NULL: all 0 */
} gemmtune_args;

/* gemmtune_args_init for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_args_init_sized(gemmtune_args *args, size_t size);

/* EINVAL for NULL. */
static inline gemmtune_status gemmtune_args_init(gemmtune_args *args) {
    return gemmtune_args_init_sized(args, sizeof(gemmtune_args));
}

/* Enqueues the plan's products on `stream` (CUstream, or cl_command_queue) and returns.
 * Each product is C = alpha op(A) op(B) + beta C, or the epilogue of that; when beta is
 * zero, C is written and not read, unless the epilogue names c. EINVAL: the operands differ
 * from the operands that the epilogue declares.
 *
 * On OpenCL the first call with offsets that the plan's kernel cannot load vectors at
 * builds a second kernel, and such calls of other threads wait for it. The plan's context
 * must still be open then.
 *
 * An OpenCL queue may be out of order. The kernels of a call are ordered among themselves;
 * calls that share memory, the workspace too, are ordered by wait_list and event. */
GEMMTUNE_API gemmtune_status gemmtune_launch(const gemmtune_plan *plan,
                                             const gemmtune_args *args, void *stream);

/* gemmtune_launch for plans that need nothing but alpha, a, b, beta, c and workspace: those
 * without an epilogue, or with one without operands and second output. */
GEMMTUNE_API gemmtune_status gemmtune_execute(const gemmtune_plan *plan, const void *alpha,
                                              const void *a, const void *b,
                                              const void *beta, void *c, void *workspace,
                                              void *stream);

/* ---- in one call, in the manner of BLAS --------------------------------- */

/* Makes a plan on first use (GEMMTUNE_MATCH_DEFAULT, with the stream's workspace), keeps it
 * in ctx, and executes it. With GEMMTUNE_OPEN_BUILD_BEHIND a later call may make the plan
 * anew: with the better kernel, once that is built. A call that leaves C as it is (m, n or
 * batch is 0; or without an epilogue beta is 1, and alpha or k is 0) makes none. */
GEMMTUNE_API gemmtune_status gemmtune_gemm(gemmtune_ctx *ctx, const gemmtune_problem *p,
                                           const void *alpha, const void *a, const void *b,
                                           const void *beta, void *c, void *stream);

GEMMTUNE_API gemmtune_status gemmtune_sgemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                                            gemmtune_trans trans_a, gemmtune_trans trans_b,
                                            int64_t m, int64_t n, int64_t k, float alpha,
                                            const void *a, int64_t lda, const void *b,
                                            int64_t ldb, float beta, void *c, int64_t ldc,
                                            void *stream);
GEMMTUNE_API gemmtune_status gemmtune_dgemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                                            gemmtune_trans trans_a, gemmtune_trans trans_b,
                                            int64_t m, int64_t n, int64_t k, double alpha,
                                            const void *a, int64_t lda, const void *b,
                                            int64_t ldb, double beta, void *c, int64_t ldc,
                                            void *stream);
/* Arithmetic is modulo 2^32. */
GEMMTUNE_API gemmtune_status gemmtune_igemm(gemmtune_ctx *ctx, gemmtune_layout layout,
                                            gemmtune_trans trans_a, gemmtune_trans trans_b,
                                            int64_t m, int64_t n, int64_t k, int32_t alpha,
                                            const void *a, int64_t lda, const void *b,
                                            int64_t ldb, int32_t beta, void *c, int64_t ldc,
                                            void *stream);

/*
 * The one-call forms keep the plan of each problem in ctx, until gemmtune_close. A program
 * with ever new shapes may limit their number, or drop them all. A dropped problem is
 * planned again at its next call. A plan of gemmtune_plan_create is not one of them.
 */

/* Sets a limit for the plans that the context keeps, and drops those beyond it: the longest
 * unused ones go first. 0, as at first: no limit. The loaded kernels of dropped plans stay
 * until gemmtune_plan_cache_clear, since work that uses them may be under way. EINVAL:
 * NULL, or a negative number. */
GEMMTUNE_API gemmtune_status gemmtune_plan_cache_limit(gemmtune_ctx *ctx, int64_t plans);

/* Drops all of these plans, and unloads kernels that no other plan uses. As before
 * gemmtune_plan_destroy, the work of earlier calls must have ended, and on CUDA no graph
 * that captured such a call may be launched any more. Other threads may be inside calls of
 * ctx; their plans are dropped later. EINVAL: NULL. */
GEMMTUNE_API gemmtune_status gemmtune_plan_cache_clear(gemmtune_ctx *ctx);

/* The plans that the context keeps. */
typedef struct gemmtune_plan_cache_info {
    uint32_t struct_size;
    int32_t reserved;
    int64_t plans;         /* now */
    int64_t plans_max;     /* the limit; 0: none */
    int64_t made, dropped; /* since gemmtune_open */
    int64_t programs;      /* loaded now, for all plans of ctx: one for each source */
} gemmtune_plan_cache_info;

/* gemmtune_plan_cache_describe for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_plan_cache_describe_sized(
    gemmtune_ctx *ctx, gemmtune_plan_cache_info *info, size_t size);

/* Fills *info. It waits while another thread makes a plan. EINVAL for NULL. */
static inline gemmtune_status gemmtune_plan_cache_describe(gemmtune_ctx *ctx,
                                                           gemmtune_plan_cache_info *info) {
    return gemmtune_plan_cache_describe_sized(ctx, info, sizeof(gemmtune_plan_cache_info));
}

/*
 * The workspace of the one-call forms. Many of the fastest kernels need some. So a context
 * has a workspace for each stream (or queue) on which such a kernel runs: 32 MiB of device
 * memory, or what gemmtune_workspace_set says.
 *
 *   - The first one-call form that needs it allocates it. gemmtune_workspace_make allocates
 *     it before any call.
 *   - None is allocated while its stream is captured. A captured call uses the workspace
 *     that its stream has; without one it takes the fastest kernel that needs none. So
 *     call gemmtune_workspace_make for the stream that will be captured. Each launch of the
 *     graph uses that workspace: order it with the stream's other one-call forms, and do
 *     not launch the graph after the workspace is freed.
 *   - The calls of a stream share its workspace, since a stream runs them one after
 *     another. An OpenCL queue that is out of order has none.
 *   - At most 32 streams of a context have one. Further streams, and those for which there
 *     is no memory, run kernels that need none. A CUDA stream that was destroyed still
 *     counts. While a stream is captured, and with a driver before CUDA 12.0, it is not
 *     told from a destroyed one with the same handle: finish the calls of a stream before
 * you destroy it. CUDA's stream of a thread has a workspace, but not while it is captured.
 *   - gemmtune_workspace_set and gemmtune_close free all of a context. An OpenCL queue with
 *     a workspace is retained until then.
 */

/* The bytes that each workspace has from now on: 32 MiB at first, 0 for none. Frees the
 * workspaces of ctx, so their calls must have ended, and no other thread may be in a
 * one-call form of ctx, or in gemmtune_workspace_make, meanwhile. Must not be called while
 * a stream is captured. EINVAL: ctx is NULL. */
GEMMTUNE_API gemmtune_status gemmtune_workspace_set(gemmtune_ctx *ctx, size_t bytes);

/* Allocates the stream's workspace, unless it is there already, or none is wanted. EINVAL:
 * ctx is NULL, or the stream is captured; EUNSUPPORTED: the queue is out of order, or the
 * driver does not tell the stream from others, as CUDA's stream of a thread in a capture;
 * ENOMEM: there is no memory, or 32 streams have a workspace; EDEVICE: the driver failed.
 * Calls on a stream that got ENOMEM once run without workspace until
 * gemmtune_workspace_set. */
GEMMTUNE_API gemmtune_status gemmtune_workspace_make(gemmtune_ctx *ctx, void *stream);

/* ---- weights that are packed once --------------------------------------- */

/*
 * A B that many calls share, as weights do, may be brought once into the layout that
 * kernels read fastest: rows that begin at multiples of 128 bytes from its start, along k
 * for the types of tensor cores and along n for others. No call then pays for a copy or a
 * transposition.
 *
 *     gemmtune_packed_bytes(&bytes, &p);            p describes B as it is stored
 *     (allocate `bytes` bytes of device memory)
 *     gemmtune_pack(ctx, &p, b, packed, stream);
 *     p.packed_b = 1;
 *     gemmtune_plan_create(&plan, ctx, &p, ...);    its calls take `packed` as b
 *
 * A packed B belongs to the types, the math, n, k, the number of matrices of B and whether
 * stride_b is 0, not to a plan: plans of any m, layout of A, database and device may share
 * it. Make it anew with each release of gemmtune; it is no file format.
 */

/* Bytes of the packed B of `p`: 0 when n, k or batch is 0. packed_b of `p` must be 0. All
 * matrices of a batch are packed together, one after another. EINVAL: the layout is
 * column-major, or packed_b is 1; EUNSUPPORTED: the batch has pointers (pack its matrices
 * one by one). */
GEMMTUNE_API gemmtune_status gemmtune_packed_bytes(size_t *bytes,
                                                   const gemmtune_problem *p);

/*
 * Enqueues the packing of `b` on `stream`, and returns. `b` is device memory as `p`
 * describes it, aligned to the size of its elements. `packed` is device memory of
 * gemmtune_packed_bytes, which must not overlap b. It must be aligned to 16 bytes; 128 is
 * better, because kernels then read whole lines.
 *
 * The first call of a context builds and loads a kernel, and calls of other threads wait
 * for it. So that call must not be made while a stream is captured.
 *
 * Where gemmtune_packed_bytes is 0, nothing is done, and both pointers may be NULL.
 *
 * Errors of gemmtune_packed_bytes; and EINVAL: a pointer is NULL or misaligned, or on
 * OpenCL a buffer is too small; EDEVICE: the driver failed. The first call may also give
 * EBUILD, ENODRIVER and ENOMEM.
 */
GEMMTUNE_API gemmtune_status gemmtune_pack(gemmtune_ctx *ctx, const gemmtune_problem *p,
                                           const void *b, void *packed, void *stream);

/* ---- matrices in host memory -------------------------------------------- */

/* The order of a host product's tiles of C, and which tiles stay on the device. */
typedef enum gemmtune_host_order {
    GEMMTUNE_HOST_PLANNED = 0,     /* the order with the fastest forecast */
    GEMMTUNE_HOST_FIVE_BUFFERS = 1 /* as published in 2010: one tile of C, two of A and two
                                    * of B on the device, nothing kept beyond them */
} gemmtune_host_order;

/* How matrices get to the device. */
typedef enum gemmtune_host_copies {
    GEMMTUNE_HOST_AUTO = 0,  /* pinned matrices directly, others through staging memory */
    GEMMTUNE_HOST_STAGED = 1 /* all through staging memory */
} gemmtune_host_copies;

/* The progress of a host product. */
typedef struct gemmtune_host_progress {
    uint32_t struct_size;
    int32_t reserved;
    int64_t tiles, tiles_done; /* of C: in all, and complete in host memory */
    double flops, flops_done;
    double seconds; /* since the first copy began */
} gemmtune_host_progress;

/* One operation of a host product, for a timeline. */
typedef struct gemmtune_host_event {
    uint32_t struct_size;
    int32_t device; /* its index in the call's list */
    int32_t lane;   /* 0: A and B in, 1: C in, 2: products, 3: C out */
    char operand;   /* 'A', 'B' or 'C' of a copy; 'x': a product */
    char reserved[3];
    int64_t row, col, rows, cols; /* the part of the stored matrix; of C for a product */
    int64_t depth_at, depth;      /* the slab of k of a product */
    double bytes, flops;
    double begin, end; /* seconds since the first copy began */
} gemmtune_host_event;

/* gemmtune_host_options_init sets all to 0; set members afterwards. */
typedef struct gemmtune_host_options {
    uint32_t struct_size;
    gemmtune_host_order order;
    gemmtune_host_copies copies;
    int32_t threads;   /* that copy to and from staging memory; 0: half of the cores */
    size_t memory_max; /* bytes a device may use; 0: nine tenths of its free memory */
    int64_t tile_m, tile_n, tile_k; /* 0: planned */
    /* Called by the thread that called gemmtune_host_gemm, after tiles and five times a
     * second. A result other than 0 stops the product: tiles that have been begun are
     * completed or stay untouched, and the call returns GEMMTUNE_ESTOPPED. */
    int (*progress)(void *user, const gemmtune_host_progress *progress);
    void *user;
    /* Called for each operation that ran, when the product has ended. */
    void (*trace)(void *trace_user, const gemmtune_host_event *event);
    void *trace_user;
} gemmtune_host_options;

/* gemmtune_host_options_init for callers without a C compiler. */
GEMMTUNE_API gemmtune_status
gemmtune_host_options_init_sized(gemmtune_host_options *options, size_t size);

/* EINVAL for NULL. */
static inline gemmtune_status gemmtune_host_options_init(gemmtune_host_options *options) {
    return gemmtune_host_options_init_sized(options, sizeof(gemmtune_host_options));
}

/* The results of a host product. Times of several devices are averaged. */
typedef struct gemmtune_host_report {
    uint32_t struct_size;
    int32_t devices;
    int64_t tile_m, tile_n, tile_k;    /* of C and k; the last ones may be smaller */
    int64_t slots_a, slots_b, slots_c; /* tiles that a device had room for */
    int64_t tiles, tiles_done;         /* of C: in all, and complete in host memory */
    double bytes_in, bytes_out;        /* copied to all devices, and back */
    double prepare_seconds;   /* measuring the link, planning, building, allocating */
    double seconds;           /* from the first copy until C is complete */
    double compute_seconds;   /* while a product ran */
    double copy_seconds;      /* while a copy ran */
    double exposed_seconds;   /* while a copy and no product ran */
    double bound_seconds;     /* forecast: only the products, or one copy of each matrix */
    double forecast_seconds;  /* as planned, at the rates that were measured before */
    double link_in, link_out; /* measured bytes per second, one way at a time. These four
                               * are 0 for a product that goes the short way */
    int64_t device_bytes;     /* the most that one device allocated */
    int64_t pinned_bytes;     /* staging memory, all devices */
    gemmtune_match match;     /* how the kernel of a whole slab was found, first device */
    int32_t reserved;
    char kernel[256]; /* its family and point, cut to fit */
} gemmtune_host_report;

/* gemmtune_host_report_init for callers without a C compiler. */
GEMMTUNE_API gemmtune_status gemmtune_host_report_init_sized(gemmtune_host_report *report,
                                                             size_t size);

/* EINVAL for NULL. */
static inline gemmtune_status gemmtune_host_report_init(gemmtune_host_report *report) {
    return gemmtune_host_report_init_sized(report, sizeof(gemmtune_host_report));
}

/*
 * C = alpha op(A) op(B) + beta C of matrices in host memory, which may be larger than the
 * devices' memory. Returns when C is complete.
 *
 * - `ctx`: `devices` contexts, each of another device. Tiles of C go to all of them.
 * - `args`: as for gemmtune_launch, but a, b and c are host pointers, and there is no
 *   workspace. C must not overlap A or B.
 * - `options` and `report` may be NULL. *report is filled after a failure as well.
 *
 * The call allocates device memory, and staging memory for matrices that are not pinned; it
 * frees both. It waits, and uses four threads a device. The first call for a device
 * measures the link, and the first one for types and a size of problem measures a product;
 * together they take about 0.3 s. All later calls of the process use what was measured.
 *
 * Matrices of 4 MiB together, or less, go a short way, without threads, tiles and
 * measurements: they are copied whole to the first device, and C back. Options that ask for
 * tiles, staging, a limit of memory or a trace have the long way taken.
 *
 * Between slabs of k, a sum over k is stored in C's type. When that is narrower than the
 * accumulator's type, k is one slab, whatever tile_k is.
 *
 * EINVAL: memory_max is too small for any tile, C overlaps, or a bad argument. ENOMEM: no
 * room for the tiles. ESTOPPED: `progress` stopped the product. EDEVICE: a device failed.
 * When some tiles of C are complete by then, the error line says how many.
 */
GEMMTUNE_API gemmtune_status gemmtune_host_gemm(gemmtune_ctx *const *ctx, int32_t devices,
                                                const gemmtune_problem *p,
                                                const gemmtune_args *args,
                                                const gemmtune_host_options *options,
                                                gemmtune_host_report *report);

/* ---- process-wide ------------------------------------------------------- */

typedef enum gemmtune_log_level {
    GEMMTUNE_LOG_ERROR = 0,
    GEMMTUNE_LOG_WARN = 1,
    GEMMTUNE_LOG_INFO = 2,
    GEMMTUNE_LOG_DEBUG = 3
} gemmtune_log_level;
typedef void (*gemmtune_log_fn)(void *user, gemmtune_log_level level, const char *line);

/* The library logs nothing until this is called. Call it before the first gemmtune_open.
 * `fn` may be called from any thread that is inside a gemmtune_ call, and from the threads
 * that the library starts. It must not call gemmtune_ functions. */
GEMMTUNE_API void gemmtune_set_log(gemmtune_log_fn fn, void *user, gemmtune_log_level most);

/* 10000 * major + 100 * minor + patch of the library in use. */
GEMMTUNE_API int gemmtune_version(void);

#ifdef __cplusplus
}
#endif
#endif /* GEMMTUNE_H */
