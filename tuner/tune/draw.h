/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draw.h - draws problems at random that no list names. The same seed draws the same
 * problems, and a larger count only adds problems after them. No device, no file.
 */
#ifndef GT_TUNER_TUNE_DRAW_H
#define GT_TUNER_TUNE_DRAW_H

#include "core/text.h"
#include "tuner/base/sweep.h"

/*
 * The kinds of shapes take turns: any, thin (few rows or few columns of C), deep, flat,
 * small and large. Sides are log-uniform within the kind's ranges, and then left as they
 * are, made odd, or rounded to multiples of 8 or 64. Layouts and types are drawn evenly.
 * Half of the problems are batches, if the caller asks for batches.
 */
struct gt_draw {
    size_t count;
    uint64_t seed;
    const struct gt_texts *types; /* words of types, one at least */
    double volume;   /* the most multiplications of all products together, 1 or more */
    double elements; /* the most elements of A, B and C of all products; 0: no limit */
    int batch;       /* the most products of a problem; below 2: single products only */
};

/* Fills `out`, which was empty, with different problems. EPARSE when a word of types is
 * wrong, EINVAL when there are fewer problems of that volume. */
gt_status gt_draw_problems(struct gt_sweep *out, const struct gt_draw *how,
                           struct gt_err *err);

#endif
