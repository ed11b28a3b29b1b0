/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the parts that all examples share: checks of statuses, and what they print. */
#ifndef GEMMTUNE_EXAMPLES_REPORT_H
#define GEMMTUNE_EXAMPLES_REPORT_H

#include "gemmtune.h"

#include <stdio.h>
#include <stdlib.h>

/* Every gemmtune call returns a status; gemmtune_errmsg says the rest in one line. */
static inline void check(gemmtune_status status, const char *what) {
    if (status == GEMMTUNE_OK)
        return;
    (void)fprintf(stderr, "%s: %s: %s\n", what, gemmtune_strerror(status),
                  gemmtune_errmsg());
    exit(1);
}

static inline void print_plan(const gemmtune_plan *plan) {
    static const char *const matches[] = {"exact", "shape", "arch", "default"};
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gemmtune_plan_describe(plan, &info);
    (void)printf("kernel  %s %s\nmatch   %s: %s\n", info.family, info.params,
                 matches[info.match], info.why);
}

/* The program's exit code. */
static inline int print_result(double worst_error) {
    const int right = worst_error < 1e-3;
    (void)printf("result  largest error %g: %s\n", worst_error, right ? "right" : "WRONG");
    return right ? 0 : 1;
}

#endif
