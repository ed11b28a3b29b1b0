/* SPDX-License-Identifier: Apache-2.0 */
/* known_point.h - the point of a known kernel, as text and as pairs. */
#ifndef GT_TESTS_UNIT_KNOWN_POINT_H
#define GT_TESTS_UNIT_KNOWN_POINT_H

#include "runtime/lookup/match.h"
#include "tests/unit/points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Gives the kernel the point of its family. */
static inline void set_known_point(struct gt_known *k, const char *text) {
    struct gt_point point;
    assert_int_equal(gt_point_parse(&point, text, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_point_values(k->values, k->family, &point, NULL), GEMMTUNE_OK);
}

static inline struct gt_point known_point(const struct gt_known *k) {
    struct gt_point point;
    gt_known_point(&point, k);
    return point;
}

static inline void assert_known_point(const struct gt_known *k, const char *expected) {
    const struct gt_point point = known_point(k);
    char text[GT_POINT_TEXT_MAX];
    (void)gt_point_text(&point, text);
    assert_string_equal(text, expected);
}

static inline bool has_known_point(const struct gt_choice *c, const struct gt_known *k) {
    const struct gt_point point = known_point(k);
    return points_equal(&c->point, &point);
}

#endif
