/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contest.h - what `gemmtune stream` compares itself with: the same product with everything
 * on the device, and cublasXt, which is NVIDIA's library for host matrices.
 */
#ifndef GT_TUNER_STREAM_CONTEST_H
#define GT_TUNER_STREAM_CONTEST_H

#include "core/problem/problem.h"
#include "tuner/rig/rig.h"

enum { GT_CONTEST_DEVICES_MAX = 16 };

/* The product that all contestants compute, in host memory. */
struct gt_contest {
    const gemmtune_problem *p; /* canonical */
    double alpha, beta;
    const void *a, *b;
    void *c;
    int devices;
    struct gt_rig *rig[GT_CONTEST_DEVICES_MAX];
    gemmtune_ctx *ctx[GT_CONTEST_DEVICES_MAX];
};

/* ---- everything on the first device -------------------------------------------------- */

struct gt_resident;
/* Copies A and B to the first device and plans the product as one launch. ENOMEM: the
 * matrices do not fit. */
gt_status gt_resident_open(struct gt_resident **out, const struct gt_contest *c,
                           struct gt_err *err);
void gt_resident_close(struct gt_resident *r); /* accepts NULL */
/* Repeats the product for at least so many seconds; *one: seconds of one. */
gt_status gt_resident_time(double *one, struct gt_resident *r, double seconds,
                           struct gt_err *err);

/* ---- cublasXt ------------------------------------------------------------------------ */

/* Block sizes that are tried, ended by 0. */
extern const int gt_cublasxt_blocks[];

struct gt_cublasxt;
/* ENODRIVER: cuBLAS is not here. EUNSUPPORTED: it has no product of these types. */
gt_status gt_cublasxt_open(struct gt_cublasxt **out, const struct gt_contest *c,
                           struct gt_err *err);
void gt_cublasxt_close(struct gt_cublasxt *x); /* accepts NULL */
/* One product with such a block size; *seconds: until C is complete. It writes to C. */
gt_status gt_cublasxt_time(double *seconds, struct gt_cublasxt *x, int block,
                           struct gt_err *err);

#endif
