/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_store.h - lines of a comparison on their way into a database: a row for each
 * library that was timed beside our kernel and has a version. The library reads these rows
 * (gemmtune_plan_rival). A row has the time of a default that is wrong by our bound, where
 * this one is shorter: a program would get it.
 */
#ifndef GT_TUNER_BENCH_BENCH_STORE_H
#define GT_TUNER_BENCH_BENCH_STORE_H

#include "runtime/family/family.h"
#include "tuner/bench/bench.h"

/* Where lines are stored, and what all of them have in common. */
struct gt_bench_store {
    const char *db; /* path; NULL: the default one */
    const struct gt_device *device;
    const struct gt_families *families; /* the library has these */
    int version[GT_RIVALS];             /* of gt_rivals[i]; 0: it has none, is not stored */
    int64_t stored;                     /* rows so far */
};

/* Takes the versions that a child has said. */
void gt_bench_store_versions(struct gt_bench_store *s, const struct gt_absence *why);
/* Stores a line, judged with its noise floor. The file is opened for it and closed again,
 * so that no child is forked while it is open. */
gt_status gt_bench_store_line(struct gt_bench_store *s, const char *problem,
                              const struct gt_bench_line *line, double floor,
                              struct gt_err *err);

#endif
