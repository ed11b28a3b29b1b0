/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gains.h - what the problems of a sweep file would gain under `gemmtune exec`, by what a
 * database knows: our stored time, the vendor's stored time, and how often the problem was
 * asked for.
 */
#ifndef GT_TUNER_CMD_GAINS_H
#define GT_TUNER_CMD_GAINS_H

#include "tuner/base/sweep.h"
#include "tuner/cmd/common.h"

struct gt_gains_ask {
    const struct gt_sweep *sweep;
    struct gt_db *db;
    const struct gt_families *families;
    const char *device; /* part of a key or a name; NULL: all on which a problem is tuned */
};

extern const struct gt_form gt_gains_form;

/* Prints a line a problem to stdout, and the sums to stderr. Problems that no device was
 * tuned for have a line without a device. */
gt_status gt_gains_print(const struct gt_gains_ask *ask, const struct gt_format *format,
                         struct gt_err *err);
/* Says on stderr the sums of each device, below the problems with the largest weights, so
 * many at most. `file` is a sweep file, and `db` a database's path or NULL. Nothing is said
 * where no problem is tuned, and why something cannot be read. */
void gt_gains_say(const char *file, const char *db, size_t most);

#endif
