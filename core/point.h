/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point.h - one choice in a family's space: names and integers, nothing else.
 * Text form, as stored and typed: "BM=128 BN=128 BK=16" ("" for a family without
 * parameters).
 */
#ifndef GT_CORE_POINT_H
#define GT_CORE_POINT_H

#include "core/status.h"

#include <stdbool.h>

enum {
    GT_NAME_MAX = 24,        /* bytes of a parameter name with its NUL */
    GT_POINT_MAX = 24,       /* parameters of a family */
    GT_POINT_TEXT_MAX = 1080 /* bytes of the longest text with its NUL */
};

struct gt_point {
    int count;
    struct {
        char name[GT_NAME_MAX]; /* [A-Z][A-Z0-9_]* */
        int64_t value;
    } entry[GT_POINT_MAX];
};

/* Whether the len bytes are a parameter name: [A-Z][A-Z0-9_]*, shorter than GT_NAME_MAX. */
bool gt_point_is_name(const char *text, size_t len);

/* Separators are spaces or commas. Names may not repeat. The order is kept. EPARSE quotes
 * the part that is wrong. */
gt_status gt_point_parse(struct gt_point *out, const char *text, struct gt_err *err);
/* Whether the text is as gt_point_text writes it for some point. */
bool gt_point_is_canonical(const char *text);
int gt_point_text(const struct gt_point *p,
                  char buf[GT_POINT_TEXT_MAX]); /* returns length */
bool gt_point_get(const struct gt_point *p, const char *name, int64_t *value);
/* Sets or appends; EINVAL when the point is full or the name is malformed. */
gt_status gt_point_set(struct gt_point *p, const char *name, int64_t value,
                       struct gt_err *err);

#endif
