/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.h - the points of a family that may exist on a device for a problem: the cross
 * product of the domains, filtered by the family's require and accept rules. Nothing is
 * compiled for it.
 */
#ifndef GT_TUNER_SEARCH_SPACE_H
#define GT_TUNER_SEARCH_SPACE_H

#include "runtime/family/family.h"

/* Packed indices into the parameters' domains: point i is idx[i * params ..]. */
struct gt_space {
    const struct gt_family *family;
    int params;
    size_t count; /* legal points */
    double raw;   /* size of the cross product */
    unsigned char *idx;
};

/* Lists the legal points. The search is depth-first and tests each rule as soon as its
 * names are bound. The points are in the order of the domains; the last parameter changes
 * fastest. Buffers count as 16-byte aligned, as the tuner's are. gt_family_serves must have
 * accepted the problem. ENOMEM; EINVAL when more than 4 million points are legal or the
 * walk takes too many steps. */
gt_status gt_space_create(struct gt_space *out, const struct gt_family *f,
                          const struct gt_device *d, const gemmtune_problem *p,
                          struct gt_err *err);
/* Lists the points that may exist for p's types and layout, whatever m, n, k are: only the
 * require rules are tested. */
gt_status gt_space_create_any(struct gt_space *out, const struct gt_family *f,
                              const struct gt_device *d, const gemmtune_problem *p,
                              struct gt_err *err);
/* Which legal points are wanted. */
struct gt_space_filter {
    /* Where p has row_order, the order of sums that the points have, as gt_order_of writes
     * it; "": any that m leaves alone; NULL: any or none. The walk tests it as early as a
     * rule. */
    const char *order;
    /* By the point's values in the family's parameter order; NULL: all. It is asked for
     * each point of that order. */
    bool (*wants)(const void *user, const int64_t values[GT_POINT_MAX]);
    const void *user;
};
/* Lists the points of gt_space_create that the filter wants, in the same order. */
gt_status gt_space_create_wanted(struct gt_space *out, const struct gt_family *f,
                                 const struct gt_device *d, const gemmtune_problem *p,
                                 const struct gt_space_filter *filter, struct gt_err *err);
/* Counts the points of gt_space_create that the filter wants (NULL: all), and ends once
 * there are `enough`: *out is then at least `enough`. Nothing is listed. ENOMEM; EINVAL as
 * gt_space_create, for the points that were counted. */
gt_status gt_space_count(size_t *out, size_t enough, const struct gt_family *f,
                         const struct gt_device *d, const gemmtune_problem *p,
                         const struct gt_space_filter *filter, struct gt_err *err);
void gt_space_clear(struct gt_space *s);
void gt_space_point(const struct gt_space *s, size_t i, struct gt_point *out);
/* The point's values in the family's parameter order, as gt_bind_values takes them. */
void gt_space_values(const struct gt_space *s, size_t i, int64_t values[GT_POINT_MAX]);
/* Index of a point, or SIZE_MAX when it is not legal here. O(log n) */
size_t gt_space_find(const struct gt_space *s, const struct gt_point *point);
/* Index of the legal point that is least far from *point, or SIZE_MAX when there is none.
 * The distance is the sum over the family's parameters of the squared number of doublings
 * between two values (of the values plus 1, since they may be 0). A parameter that *point
 * does not have counts nothing. O(n) */
size_t gt_space_nearest(double *distance, const struct gt_space *s,
                        const struct gt_point *point);
/* gt_space_find for a point given as positions in the domains, one for each parameter. */
size_t gt_space_at(const struct gt_space *s, const unsigned char *at);

#endif
