/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pins.h - makes a lock (runtime/lookup/lock.h): the kernels that the library takes for
 * problems, built into the image cache, and written down with their digests.
 */
#ifndef GT_TUNER_TUNE_PINS_H
#define GT_TUNER_TUNE_PINS_H

#include "runtime/exec/exec.h"
#include "runtime/lookup/duels.h"
#include "runtime/lookup/lock.h"

/* A kernel as it will be pinned. */
struct gt_pinned_kernel {
    const struct gt_family *family; /* NULL: none */
    char point[GT_POINT_TEXT_MAX];
    char source[GT_DIGEST_SIZE], image[GT_DIGEST_SIZE];
    int64_t workspace;
};

struct gt_pinned_problem {
    char problem[GT_PROBLEM_NAME_MAX];
    gemmtune_match match;
    double expected_loss;
    char signature[GT_ORDER_MAX]; /* the order of sums of a problem with row_order; else ""
                                   */
    struct gt_pinned_kernel kernel[GT_PIN_KERNELS];
};

/* How a lock is made. */
struct gt_pins_setup {
    const char *path;    /* of the lock */
    const char *version; /* of gemmtune */
    struct gt_gpu *gpu;
    const struct gt_snapshot *snapshot;
    const struct gt_duels *duels; /* only kernels that won are pinned; NULL: all are */
    size_t workspace_max;         /* bytes that callers will have */
    bool images;                  /* into the folder beside the lock */
    bool others;                  /* problems that are not pinned are looked up */
    bool any_driver;              /* the driver's version is not written */
};

/* Chooses and builds the kernels of a canonical problem, and keeps their images. *pinned:
 * false for a kernel that has not won a duel, where duels are asked. Errors of
 * gt_plan_choose; EIO: the image cache or the folder cannot be written. */
gt_status gt_pin_problem(bool *pinned, struct gt_pinned_problem *out,
                         const struct gt_pins_setup *setup, const gemmtune_problem *p,
                         struct gt_err *err);
/* Writes the lock, which appears whole. EIO; EBUILD: there is no compiler to name. */
gt_status gt_pins_write(const struct gt_pins_setup *setup,
                        const struct gt_pinned_problem *pin, size_t count,
                        struct gt_err *err);

#endif
