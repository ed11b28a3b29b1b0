/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - a host product, made, multiplied, checked and timed, beside others that
 * compute the same. `gemmtune stream` is this and its options.
 */
#ifndef GT_TUNER_STREAM_STREAM_H
#define GT_TUNER_STREAM_STREAM_H

#include "tuner/stream/contest.h"
#include "tuner/stream/matrices.h"
#include "tuner/stream/timeline.h"

enum { GT_STREAM_ROUNDS_MAX = 64, GT_STREAM_WHY_MAX = 200 };

/* The product, its matrices, and the others that it is compared with. */
struct gt_stream_setup {
    gemmtune_problem p;  /* canonical; reads_c: beta is not 0 */
    double alpha, beta;  /* numbers that the accumulator's type has */
    const char *path[3]; /* .npy files of A, B and C; NULL: random matrices */
    bool pageable;
    bool five_buffers;
    bool resident, cublasxt; /* to be compared with */
    double memory;           /* bytes a device; 0: the free memory */
    int64_t tile[3];         /* 0: planned */
    int threads;
    int rounds;
    uint64_t seed;
    /* As gemmtune_host_options has it; may be NULL. */
    int (*progress)(void *user, const gemmtune_host_progress *progress);
    /* Called before each part of the work with its name; may be NULL. */
    void (*step)(void *user, const char *what);
    void *user;
};

/* One contestant's times. */
struct gt_stream_times {
    bool took_part;
    int block;                            /* of cublasXt */
    double seconds[GT_STREAM_ROUNDS_MAX]; /* of one product, a round */
    char why[GT_STREAM_WHY_MAX];          /* it did not take part; "" */
};

struct gt_stream {
    gemmtune_host_report report;    /* of the first round */
    struct gt_timeline timeline;    /* of it */
    char slab[GT_PROBLEM_NAME_MAX]; /* the product of a whole slab; "": none was computed */
    struct gt_stream_times own, resident, cublasxt;
    double bytes; /* of A, B and C */
    double worst; /* error over its bound, of the check */
    bool correct;
    char wrong[256]; /* what the check found; "" */
};

/* `devices` have been picked. Errors end it before or in the first product; *out is to be
 * cleared after a failure as well. A wrong product is none: `correct` says so. A file of C
 * takes its place when the product was found correct, and not before. ESTOPPED as
 * gemmtune_host_gemm. */
gt_status gt_stream_run(struct gt_stream *out, const struct gt_stream_setup *setup,
                        const struct gt_device *const *device, int devices,
                        const char *db_path, struct gt_err *err);
void gt_stream_clear(struct gt_stream *s);
/* The end of a sentence about a file of C that did not take its place: what has become of
 * it. */
void gt_stream_unkept(char *text, size_t size, const char *path);

/* The median of a contestant's rounds; 0 when it did not take part. */
double gt_stream_median(const struct gt_stream_times *t, int rounds);
/* The median of `t`'s seconds over own's, round by round. */
double gt_stream_ratio(const struct gt_stream *s, const struct gt_stream_times *t,
                       int rounds);

#endif
