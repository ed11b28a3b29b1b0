/* SPDX-License-Identifier: Apache-2.0 */
/* shipped_families.h - the built-in families, an H200 that they serve, and its records: for
 * groups of tests of lookup that begin with setup and end with teardown. */
#ifndef GT_TESTS_UNIT_SHIPPED_FAMILIES_H
#define GT_TESTS_UNIT_SHIPPED_FAMILIES_H

#include "runtime/lookup/match.h"
#include "tests/unit/known_point.h"
#include "tests/unit/made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HERE "h200"

static const struct gt_device h200 =
    MADE_UP(.name = "NVIDIA H200", .arch = "sm_90", .cc = 90, .units = 132,
            .clock_mhz = 1980, .mem_clock_mhz = 3201, .bus_bits = 6016,
            .l2_bytes = 62914560, .smem_max = 232448, .has_f64 = true);

static struct gt_families *families;

static int setup(void **state) {
    (void)state;
    return gt_families_create(&families, NULL) == GEMMTUNE_OK ? 0 : 1;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    return 0;
}

static inline gemmtune_problem problem_of(const char *name) {
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, name, NULL), GEMMTUNE_OK);
    return p;
}

/* A verified record of the H200. */
static inline struct gt_known known_of(const char *problem, const char *family,
                                       const char *point, double median_ns) {
    struct gt_known k = {.verified = true,
                         .problem = problem_of(problem),
                         .family = gt_families_find(families, family),
                         .median_ns = median_ns};
    assert_non_null(k.family);
    set_known_point(&k, point);
    (void)gt_problem_name(&k.problem, k.problem_name);
    (void)snprintf(k.device_key, sizeof k.device_key, HERE);
    (void)snprintf(k.arch, sizeof k.arch, "sm_90");
    return k;
}

#endif
