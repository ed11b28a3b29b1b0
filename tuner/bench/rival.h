/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival.h - the seam to what a user might run instead of a tuned kernel, and to the tuned
 * kernel as a user would run it. One file a library (rival_*.c), listed once in rival.c.
 * Libraries are opened at run time, in the process that owns the device.
 */
#ifndef GT_TUNER_BENCH_RIVAL_H
#define GT_TUNER_BENCH_RIVAL_H

#include "tuner/lab/product.h"
#include "tuner/rig/rig.h"

enum { GT_VARIANTS_MAX = 8, GT_RIVAL_NAME_MAX = 16, GT_RIVAL_TEXT_MAX = 640 };

struct gt_rival_setup {
    struct gt_rig *rig;
    const char *db; /* ours; NULL: the default one */
    void *workspace;
};

struct gt_rival {
    const char *name;  /* as --against takes it */
    const char *about; /* a clause */
    bool by_name_only; /* not among those that take part unasked */
    /* Its threads go on spinning for so long after a sample, on cores that the next side
     * needs: the bench waits meanwhile. 0 for GPUs. */
    int rest_ms;
    /* Whether it computes such a problem on such a device at all. */
    bool (*serves)(const struct gt_device *d, const gemmtune_problem *p);
    /* ENODRIVER with a sentence: it is not installed, or unusable. */
    gt_status (*open)(void **self, const struct gt_rival_setup *setup, struct gt_err *err);
    void (*close)(void *self);
    /* Makes up to GT_VARIANTS_MAX ways ready to compute the canonical problem, and forgets
     * those of the problem before. EUNSUPPORTED: none. */
    gt_status (*prepare)(int *variants, void *self, const gemmtune_problem *p,
                         struct gt_err *err);
    /* As a gt_product; workspace and stream are those of the set-up. EUNSUPPORTED: this way
     * does not compute the problem after all, and nothing was enqueued. */
    gt_status (*enqueue)(void *self, int variant, const struct gt_call *x,
                         struct gt_err *err);
    /* "cuBLAS 13.1.0, pedantic" */
    void (*describe)(char text[GT_RIVAL_TEXT_MAX], void *self, int variant);
};

/* The library's own kernel through its public calls; `gt_rival_self` is the same once more.
 */
extern const struct gt_rival gt_rival_own, gt_rival_self;
extern const struct gt_rival gt_rival_cublas, gt_rival_cublaslt, gt_rival_clblast,
    gt_rival_cpu;

/* "exact: tile T=8": how a plan's kernel was found, and which it is. */
void gt_kernel_text(char text[GT_RIVAL_TEXT_MAX], const gemmtune_plan *plan);

enum { GT_RIVALS = 5 };
extern const struct gt_rival *const gt_rivals[GT_RIVALS + 1]; /* NULL-ended, without own */

/* Bit i: gt_rivals[i]. `list` is "cublas,clblast"; NULL: all that take part unasked. EINVAL
 * names the word that is none, and those there are. */
gt_status gt_rivals_parse(unsigned *out, const char *list, struct gt_err *err);
/* EINVAL when the environment makes a vendor's library compute something else than was
 * asked for. */
gt_status gt_rivals_environment(struct gt_err *err);

#endif
