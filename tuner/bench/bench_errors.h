/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_errors.h - the time and the error of a product of f32 or f64 matrices, in every
 * arithmetic that is at hand: the problem's own and the strict one by our library, and
 * cuBLAS's. Nobody is checked here: an arithmetic with few bits has a large error.
 */
#ifndef GT_TUNER_BENCH_BENCH_ERRORS_H
#define GT_TUNER_BENCH_BENCH_ERRORS_H

#include "tuner/bench/bench.h"
#include "tuner/lab/check.h"

enum { GT_WAYS_MAX = 2 + GT_VARIANTS_MAX };

/* Kinds of data: uniform in [-1, 1), sizes of these, and these times powers of two. */
enum { GT_ERROR_DATA = 3 };
const char *gt_error_data_name(int data);

/* One way to compute the product. */
struct gt_way {
    char whose[32];                /* "gemmtune", "gemmtune, strict", "cublas" */
    char name[GT_RIVAL_TEXT_MAX];  /* our kernel, or cuBLAS with its arithmetic */
    char why[GT_VERDICT_TEXT_MAX]; /* the reason why it has no numbers, or "" */
    struct gt_measurement time;    /* on uniform data */
    struct gt_error error[GT_ERROR_DATA];
};

struct gt_errors {
    int ways;
    struct gt_way way[GT_WAYS_MAX];
    char missing[GT_VERDICT_TEXT_MAX]; /* the reason why cuBLAS takes no part, or "" */
};

/* Runs in the process that owns the device. EUNSUPPORTED: the problem's matrices are not
 * all f32 or all f64, or it has an epilogue. */
gt_status gt_errors_measure(struct gt_errors *out, const struct gt_device *d,
                            const struct gt_bench_options *options,
                            const gemmtune_problem *p, struct gt_err *err);

#endif
