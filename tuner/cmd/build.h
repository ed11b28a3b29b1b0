/* SPDX-License-Identifier: Apache-2.0 */
/* build.h - `gemmtune build`, as the end of other commands: `import --build`, `tune
 * --build`. */
#ifndef GT_TUNER_CMD_BUILD_H
#define GT_TUNER_CMD_BUILD_H

#include "core/device.h"
#include "tuner/base/sweep.h"

#include <stdbool.h>
#include <stdint.h>

struct gt_build_values {
    bool wanted, general;          /* the kernels of problems; general kernels */
    const char *device;            /* as given; NULL: the first */
    const struct gt_device *found; /* that is it, looked for already; may be NULL */
    const struct gt_sweep *sweep;  /* the problems; NULL: all that have results */
    int64_t jobs;                  /* -1: one for each core, at most 16 */
    bool quiet;
};

#define GT_OPTION_JOBS(values, member)                                                     \
    {                                                                                      \
        "jobs", 'j', GT_OPT_INT, offsetof(values, member), "N",                            \
            "processes that build (default: one for each core, at most 16)", 1, 32         \
    }

#define GT_OPTION_GENERAL(values, member)                                                  \
    {                                                                                      \
        "general", 0, GT_OPT_FLAG, offsetof(values, member), NULL,                         \
            "then build general kernels, as gemmtune build --general does", 0, 0           \
    }

/* Builds the kernels of the problems, and general kernels, as far as that is wanted. Says
 * what came of it on stderr. Returns the exit code; 0 when nothing is wanted.
 */
int gt_build_after(const struct gt_build_values *v, const char *db);

#endif
