/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_inside.h - the tables of kernels (gemmkit_kernels.c), and the declarations that
 * the other files share. */
#ifndef GEMMKIT_INSIDE_H
#define GEMMKIT_INSIDE_H

#include "gemmkit.h"

#include <stdbool.h>

enum {
    GK_PASSES = 5,
    GK_MAPS = 4,
    GK_ARGS = 48,
    GK_OPERANDS = 8,
    GK_WORKSPACE_ALIGN = 256
};

/* ---- tables ---- */

enum gk_shape_of {
    GK_SCALAR,
    GK_PER_ROW,
    GK_PER_COLUMN,
    GK_MATRIX,
    GK_PER_PRODUCT,
    GK_ROWS_PER_PRODUCT
};

/* A function of each element before it is stored. */
struct gk_epilogue {
    const char *text;
    uint8_t type_c, type_acc; /* of the problems that have it */
    bool products;            /* an operand has a value or a row for each product */
    bool alpha;               /* it reads alpha */
    bool exact;               /* small integers give exact results */
    int d2;                   /* the type of the second output; -1: there is none */
    int operands;
    struct {
        const char *name;
        uint8_t type, shape;
    } operand[GK_OPERANDS];
};
extern const struct gk_epilogue gk_epilogues[];
extern const int gk_epilogue_count;

/* A compressed cubin, in gk_image_bytes. */
struct gk_image {
    uint32_t at, packed, size; /* bytes */
};

/* One kernel launch. */
struct gk_launch {
    int64_t grid[3];
    int32_t block[3], cluster[3], smem;
    bool overlaps; /* may begin before the launch ahead has ended */
};

/* A matrix that the hardware copies in boxes: a tensor map. */
struct gk_map {
    bool absent;
    uint8_t base;             /* the argument that it lies in */
    uint8_t type;             /* as the driver numbers it */
    int64_t at, inner, outer; /* bytes; elements; rows */
    int64_t stride, planes, plane;
    int32_t box[2], swizzle, fetch;
};

/* The launches of a kernel for one problem. */
struct gk_fit {
    int64_t workspace, step; /* bytes; of each product */
    int32_t align[3];        /* bytes, of the pointers to A, B and C */
    bool numbers; /* a general kernel's y and z of the grid number the products */
    int passes, maps;
    struct gk_launch launch[GK_PASSES];
    struct gk_map map[GK_MAPS];
};

enum gk_arg { /* as gemmtune numbers them */
              GK_M,
              GK_N,
              GK_K,
              GK_ALPHA,
              GK_BETA,
              GK_A,
              GK_B,
              GK_C,
              GK_LDA,
              GK_LDB,
              GK_LDC,
              GK_WORKSPACE,
              GK_BATCH,
              GK_STRIDE_A,
              GK_STRIDE_B,
              GK_STRIDE_C,
              GK_STRIDE_W,
              GK_ROWS,
              GK_MAP /* the first tensor map */
};

/* Types, arithmetic, layout and batch decide which kernels may serve a problem. */
struct gk_kind {
    uint8_t type_a, type_b, type_c, type_acc, math, trans_a, trans_b;
    uint8_t batch;    /* 0 single, 1 strided, 2 pointers */
    uint8_t epilogue; /* 1 + its index; 0: none */
};

/* A problem in its one form: row-major, lengths filled in. */
struct gk_problem {
    struct gk_kind kind;
    int32_t pointer_align;
    int64_t m, n, k, lda, ldb, ldc, batch, stride[3];
};

/* The numbers that launches of a general kernel depend on. */
struct gk_shape {
    int64_t m, n, k, lda, ldb, ldc, batch, align[3];
};

struct gk_kernel {
    int image;
    int units; /* multiprocessors that its blocks count on; 0: any number */
    const char *family, *params;
    const char *entry[GK_PASSES];
    int args;
    uint8_t arg[GK_ARGS];
    const struct gk_fit *fit; /* NULL: a general kernel */
    bool (*fit_any)(struct gk_fit *out, const struct gk_shape *s); /* false: it may not */
};

struct gk_exact {
    const char *name;
    int kernel;
    struct gk_problem problem;
};

/* A general kernel for problems of one kind; all that accept a problem are compared. */
struct gk_general {
    struct gk_kind kind;
    int kernel;
    int tile[2];
    double cost; /* picoseconds for a multiply-add of a tile, where all units have one */
};

struct gk_arch {
    const char *name;
    int cc, cc_last; /* compute capabilities that run its kernels */
    const char *device;
    int units;
    int exacts, generals;
    const struct gk_exact *exact;
    const struct gk_general *general; /* a kind's are side by side */
};

extern const struct gk_arch gk_archs[];
extern const int gk_arch_count;
extern const struct gk_kernel gk_kernels[];
extern const int gk_kernel_count;
extern const struct gk_image gk_images[];
extern const int gk_image_count;
extern const unsigned char gk_image_bytes[];

/* ---- gemmkit.c ---- */

gemmkit_status gk_fail(gemmkit_status status, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* The tables of the context's device. */
const struct gk_arch *gk_arch_of(const gemmkit_ctx *ctx);
/* Whether the device has the multiprocessors and the shared memory that the kernel counts
 * on. */
bool gk_fits_device(const gemmkit_ctx *ctx, int kernel, const struct gk_fit *fit);
/* A plan for a kernel of the tables, whatever the best one is. For tests. */
gemmkit_status gk_plan_of(gemmkit_plan **out, gemmkit_ctx *ctx, const gemmkit_problem *p,
                          int kernel);

/* ---- gemmkit_problem.c ---- */

size_t gk_type_size(int type);
/* The one form. *swapped: A and B are exchanged. */
gemmkit_status gk_settle(struct gk_problem *out, bool *swapped, const gemmkit_problem *in);
bool gk_same(const struct gk_problem *a, const struct gk_problem *b);
uint32_t gk_hash(const struct gk_problem *p);
/* Fills in a general kernel's launches; false: it may not run the problem. */
bool gk_fit_general(struct gk_fit *out, const struct gk_kernel *k,
                    const struct gk_problem *p, int pointer_align);

/* ---- gemmkit_inflate.c ---- */

/* Unpacks a raw deflate stream of exactly `size` bytes; false: it is damaged. */
bool gk_inflate(unsigned char *out, size_t size, const unsigned char *in, size_t packed);

/* ---- gemmkit_driver.c ---- */

struct gk_loaded; /* a kernel's functions in a context */

/* Opens libcuda, and finds the context and its device. */
struct gk_device {
    int cc, units,
        smem; /* compute capability; multiprocessors; bytes that a block may have */
};
gemmkit_status gk_driver_open(void **context, struct gk_device *device);
gemmkit_status gk_load(struct gk_loaded **out, void *context, const struct gk_kernel *k,
                       const struct gk_fit *fit);
void gk_unload(struct gk_loaded *l);
/* From now on nothing is launched or encoded: for the test, which times calls without the
 * driver. */
void gk_pretend(bool on);
struct gk_tensor_map {
    _Alignas(128) uint64_t opaque[16];
};
/* Describes the matrix at each `base` that is not NULL in the same place of `map`, and
 * launches all passes. */
gemmkit_status gk_run(const struct gk_loaded *l, const struct gk_fit *fit, void **params,
                      struct gk_tensor_map *map, void *const *base, void *stream);

#endif
