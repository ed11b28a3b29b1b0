/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.h - the points of a family that may exist on a device for a problem: the cross
 * product of the domains, filtered by the family's require and accept rules before anything
 * is compiled.
 */
#ifndef GT_TUNER_SEARCH_SPACE_H
#define GT_TUNER_SEARCH_SPACE_H

#include "runtime/family.h"

/* Index vectors into the parameters' domains, packed: point i is idx[i * params .. ]. */
struct gt_space {
    const struct gt_family *family;
    int params;
    size_t count; /* legal points */
    double raw;   /* size of the cross product */
    unsigned char *idx;
};

/* Enumerates by depth-first search that tests each rule as soon as its names are bound.
 * Points come in the order of the domains, the last parameter fastest. Buffers count as
 * 16-byte aligned, as the tuner's are. The caller has asked gt_family_serves. ENOMEM, or
 * EINVAL when more than 4 million points are legal or the search is hopeless (10^9 prefixes
 * tried). */
gt_status gt_space_create(struct gt_space *out, const struct gt_family *f,
                          const struct gt_device *d, const gemmtune_problem *p,
                          struct gt_err *err);
/* What may exist on the device for p's types and layout, whatever m, n, k: require rules
 * only. */
gt_status gt_space_create_any(struct gt_space *out, const struct gt_family *f,
                              const struct gt_device *d, const gemmtune_problem *p,
                              struct gt_err *err);
void gt_space_clear(struct gt_space *s);
void gt_space_point(const struct gt_space *s, size_t i, struct gt_point *out);
/* Its values in the family's parameter order, as gt_bind_values takes them. */
void gt_space_values(const struct gt_space *s, size_t i, int64_t values[GT_POINT_MAX]);
/* Position of a point, or SIZE_MAX when it is not legal here. O(log n) */
size_t gt_space_find(const struct gt_space *s, const struct gt_point *point);
/* The same for positions in the domains, one a parameter. */
size_t gt_space_at(const struct gt_space *s, const unsigned char *at);

#endif
