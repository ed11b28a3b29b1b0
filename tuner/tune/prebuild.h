/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prebuild.h - builds the images that plans of a list of problems want (wanted.h) into the
 * image cache, in the compile workers, so that no first call waits for a compiler.
 */
#ifndef GT_TUNER_TUNE_PREBUILD_H
#define GT_TUNER_TUNE_PREBUILD_H

#include "tuner/base/progress.h"
#include "tuner/tune/wanted.h"
#include "tuner/work/pool.h"

struct gt_prebuild_setup {
    const struct gt_snapshot *snapshot;
    const struct gt_device *device;
    const gemmtune_problem *problem; /* canonical */
    size_t problems;
    const struct gt_wish *wish; /* images that are built first */
    size_t wishes;
    struct gt_pool *pool; /* it must have compile workers */
    struct gt_progress *progress;
    volatile const int *stop; /* is no longer 0 when the user wants an end */
};

/* Numbers of images. */
struct gt_prebuild_result {
    size_t built, found; /* found: they were in the cache before */
    size_t failed;
    size_t left_out; /* they would not stay within the limit of the cache */
    size_t open;     /* the user stopped before they were built */
    size_t dropped;  /* of those built and found: the cache has removed them since */
    int64_t bytes;   /* of those built and found that are still there */
    char why[512];   /* the first failure */
};

/*
 * Builds what is missing, most wanted first. Where a kernel does not build, the kernel
 * that a plan then takes is built, too.
 *
 * The cache removes the longest unused images when all together exceed its limit, down to
 * three quarters of it. So no more is built than what three quarters of the limit hold.
 *
 * ENODRIVER or EBUILD: there is no device or no compiler; ENOMEM; EDEVICE: workers cannot
 * be started. *out is right after a failure as well.
 */
gt_status gt_prebuild(struct gt_prebuild_result *out, const struct gt_prebuild_setup *setup,
                      struct gt_err *err);

#endif
