/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_why.h - the half of `gemmtune space` that explains: which rules a point keeps.
 */
#ifndef GT_TUNER_CMD_SPACE_WHY_H
#define GT_TUNER_CMD_SPACE_WHY_H

#include "tuner/cmd/common.h"

struct gt_question {
    const struct gt_family *family;
    struct gt_device device;
    gemmtune_problem problem; /* if none was given: 1024^3 of a type that the family has */
    bool has_problem;
    struct gt_format format;
};

/* Parses a point. EINVAL (usage) when it is malformed or has names that the family lacks.
 * Values outside the domains are accepted, and names may be missing. */
gt_status gt_why_point(struct gt_point *out, const struct gt_family *f, const char *text,
                       struct gt_err *err);
/* Prints the verdict of every rule on the point. */
gt_status gt_why(const struct gt_question *q, const struct gt_point *point,
                 struct gt_err *err);

#endif
