/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_store.h - lines of a comparison on their way into a database: a row for each
 * library that was timed beside our kernel and has a version. The library reads these rows
 * (gemmtune_plan_rival).
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
/* Side i as it is stored. A program may be content with a default that is wrong by our
 * bound, its library's or the other one's. `exec` promises it to be never slower than that,
 * so the time of such a default counts where it is shorter. */
struct gt_bench_side gt_bench_counted(const struct gt_bench_line *line, int i);
/* Stores a line, judged with its noise floor. The file is opened for it and closed again,
 * so that no child is forked while it is open. */
gt_status gt_bench_store_line(struct gt_bench_store *s, const char *problem,
                              const struct gt_bench_line *line, double floor,
                              struct gt_err *err);

#endif
