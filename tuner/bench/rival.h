/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival.h - the interface to the libraries that a user could call instead of a tuned
 * kernel, and to our own library. Each library has one file (rival_*.c), which rival.c
 * lists. Libraries are opened at run time, in the process that owns the device.
 */
#ifndef GT_TUNER_BENCH_RIVAL_H
#define GT_TUNER_BENCH_RIVAL_H

#include "tuner/bench/workspace.h"
#include "tuner/lab/lab.h"
#include "tuner/lab/product.h"
#include "tuner/rig/rig.h"
#include "tuner/work/proto.h"

enum { GT_VARIANTS_MAX = 8, GT_RIVAL_NAME_MAX = 16, GT_RIVAL_TEXT_MAX = 640 };

struct gt_rival_setup {
    struct gt_rig *rig;
    struct gt_lab *lab; /* has the rotating inputs when a problem is prepared */
    const char *db;     /* our database; NULL: the default one */
    /* made large enough before each `prepare`, which may move it */
    const struct gt_bench_workspace *workspace;
};

struct gt_rival {
    const char *name;  /* the name for --against */
    const char *about; /* the meaning, in one clause */
    bool by_name_only; /* takes part only when it is named */
    bool is_way;       /* another way to call our library: never a line's baseline */
    bool rounds_sum;   /* as in gt_product */
    /* The CPU's BLAS: `enqueue` only serves checks. Its times are the times that a program
     * on the host sees (cpu_time.h). */
    bool on_host;
    /* Its threads keep spinning for this long after a sample, on cores that the next side
     * needs. The bench waits meanwhile. 0 for GPUs. */
    int rest_ms;
    /* Whether it can compute such a problem on such a device. */
    bool (*serves)(const struct gt_device *d, const gemmtune_problem *p);
    /* ENODRIVER with a sentence: it is not installed, or cannot be used. */
    gt_status (*open)(void **self, const struct gt_rival_setup *setup, struct gt_err *err);
    void (*close)(void *self);
    /* Prepares up to GT_VARIANTS_MAX ways to compute the canonical problem. The ways of the
     * last problem are dropped. EUNSUPPORTED: there is none. */
    gt_status (*prepare)(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err);
    /* As in gt_product; workspace and stream come from the set-up. EUNSUPPORTED: this
     * way cannot compute the problem, and nothing was enqueued. */
    gt_status (*enqueue)(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err);
    /* Host seconds of the problem's first call, with all that it had to prepare. NULL: not
     * known. */
    double (*first_s)(const void *self);
    /* As the library numbers itself: 130100. NULL: it has no number, and what is measured
     * of it is not stored. */
    int (*version)(const void *self);
    /* "cuBLAS 13.1.0, pedantic" */
    void (*describe)(char text[GT_RIVAL_TEXT_MAX], void *self, int variant);
};

/* The library's own kernel through its public calls. `gt_rival_self` is the same a second
 * time. */
extern const struct gt_rival gt_rival_own, gt_rival_self;
/* The library without a workspace, with as much as it likes, and by gemmtune_gemm. */
extern const struct gt_rival gt_rival_plan_none, gt_rival_plan_any, gt_rival_one_call;
extern const struct gt_rival gt_rival_cublas, gt_rival_cublaslt, gt_rival_cublas_apart,
    gt_rival_cublaslt_apart, gt_rival_clblast, gt_rival_cpu, gt_rival_cublas_autotune;

/* Each variant is one kind of arithmetic: strict, tf32, cuBLAS's emulations. Not listed. */
extern const struct gt_rival gt_rival_cublas_kinds;

/* The kernel of the last problem of gt_rival_own, for aligned memory. */
void gt_rival_own_kernel(struct gt_candidate *out, const void *own);
/* "exact: tile T=8": the way in which a plan's kernel was found, and its name. */
void gt_kernel_text(char text[GT_RIVAL_TEXT_MAX], const gemmtune_plan *plan);

enum { GT_RIVALS = 11 };
/* ends with NULL; without own */
extern const struct gt_rival *const gt_rivals[GT_RIVALS + 1];

/* Bit i stands for gt_rivals[i]. `list` is "cublas,clblast"; NULL: all that do not need to
 * be named. EINVAL names the unknown word and the known ones. */
gt_status gt_rivals_parse(unsigned *out, const char *list, struct gt_err *err);
/* EINVAL names a rival among `rivals` that has no version. */
gt_status gt_rivals_storable(unsigned rivals, struct gt_err *err);
/* EINVAL when a variable of the environment makes a vendor's library compute something
 * else. */
gt_status gt_rivals_environment(struct gt_err *err);

#endif
