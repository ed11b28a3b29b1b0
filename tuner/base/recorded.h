/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.h - the GEMM calls of programs: brought together out of the files that processes
 * wrote (shim/record.h has their lines), and kept as a sweep file.
 *
 *     {"format": 1, "about": ...,
 *      "sizes": [{"problem": "f32-nn-64x64x64", "count": 1000, "weight": 12}, ...],
 *      "passed_on": [{"function": "cublasCgemm_v2", "why": ..., "count": 3}, ...]}
 */
#ifndef GT_TUNER_BASE_RECORDED_H
#define GT_TUNER_BASE_RECORDED_H

#include "core/status.h"

#include <stdint.h>

struct gt_recorded_item {
    char *what;     /* a problem's name, or why a call had none */
    char *function; /* of a call that had none; else NULL */
    int64_t count;
    double weight; /* of a problem: its part of the time of all, at least 1 */
};

struct gt_recorded {
    size_t count, room;
    struct gt_recorded_item *item;
};

/* Adds what a file of gt_recorded_write has. A file that is missing has nothing. */
gt_status gt_recorded_load(struct gt_recorded *r, const char *path, struct gt_err *err);
/* Adds what a process wrote, as far as it came. */
gt_status gt_recorded_add_process(struct gt_recorded *r, const char *path,
                                  struct gt_err *err);
/* Sorts the items, gives problems their weights, and writes the file whole. */
gt_status gt_recorded_write(struct gt_recorded *r, const char *path, struct gt_err *err);
void gt_recorded_clear(struct gt_recorded *r);

#endif
