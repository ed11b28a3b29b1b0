/* SPDX-License-Identifier: Apache-2.0 */
/* doubtful.h - which problems a lookup is least sure about. No device. */
#ifndef GT_TUNER_TUNE_DOUBTFUL_H
#define GT_TUNER_TUNE_DOUBTFUL_H

#include "core/device.h"
#include "db/db.h"
#include "runtime/family/family.h"
#include "tuner/base/sweep.h"

/* The losses that lookups of a sweep's problems expect. */
struct gt_doubts {
    size_t served;  /* problems that have a kernel */
    size_t unknown; /* problems of them that nothing is known of */
    /* the expected losses of the others, as parts of the time; 0 without any */
    double least, most;
};

/*
 * Looks each problem up, as the library does, and puts the one with the largest expected
 * loss first. Problems without a kernel come last; equal losses keep their order. `db` may
 * be NULL, which counts as an empty database: then an expected loss says only how unlike
 * its family's starts the answer is. About a millisecond a problem.
 */
gt_status gt_doubtful_sort(struct gt_doubts *out, struct gt_sweep *s, struct gt_db *db,
                           const struct gt_families *families, const struct gt_device *d,
                           struct gt_err *err);

#endif
