/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - what a compiled CUDA kernel can reach at most, read from its machine code
 * before it is timed. A pure function of an image's bytes: no device, no disassembler.
 */
#ifndef GT_TUNER_WORK_JUDGE_H
#define GT_TUNER_WORK_JUDGE_H

#include "core/device.h"
#include "core/problem.h"

#include <stddef.h>

/* The inner loop of a kernel, that which multiply-adds fill most: instructions of one turn.
 */
struct gt_judgement {
    char kind[8]; /* the instruction that multiplies and adds: "FFMA"; "" not judged */
    int instructions, multiply_adds, shared_loads;
    int conflicts; /* multiply-adds that wait for a register bank; FFMA only */
    double share;  /* of the issue slots that multiply-adds fill; 0: not what binds them */
};

/* False, and nothing judged, when the image is no cubin, is of an architecture whose
 * encoding nobody verified, or has no loop with multiply-adds. Any bytes will do. */
bool gt_judge_image(struct gt_judgement *out, const void *image, size_t size);
/* The time below which such a loop cannot compute `p` on `d`; 0 when unknown. */
double gt_judge_least_ns(const struct gt_judgement *j, const gemmtune_problem *p,
                         const struct gt_device *d);

#endif
