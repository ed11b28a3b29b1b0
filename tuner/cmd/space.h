/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - what the two halves of `gemmtune space` share: space.c asks, space_why.c
 * explains. */
#ifndef GT_TUNER_CMD_SPACE_H
#define GT_TUNER_CMD_SPACE_H

#include "tuner/cmd/common.h"

struct gt_question {
    const struct gt_family *family;
    struct gt_device device;
    gemmtune_problem problem; /* without one given: 1024^3 of a type the family has */
    bool has_problem;
    struct gt_format format;
};

/* Parses a point; EINVAL (usage) when it is malformed or names what the family lacks.
 * Values outside the domains are welcome, and names may be missing. */
gt_status gt_why_point(struct gt_point *out, const struct gt_family *f, const char *text,
                       struct gt_err *err);
/* Prints what every rule says of the point. */
gt_status gt_why(const struct gt_question *q, const struct gt_point *point,
                 struct gt_err *err);

#endif
