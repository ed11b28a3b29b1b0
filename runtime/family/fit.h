/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - may a point run a problem on a device, and with which launches? Only this module
 * works that out. The answer is a value that is handed on: from the lookup to the build,
 * from there to the tuner's reports. Pure: it asks no device.
 */
#ifndef GT_RUNTIME_FAMILY_FIT_H
#define GT_RUNTIME_FAMILY_FIT_H

#include "runtime/family/launch.h"

struct gt_pinned; /* runtime/drivers/pinned.h */

struct gt_fit {
    gemmtune_problem problem; /* the caller's: m or n may be 0 */
    int64_t align[3]; /* required alignment of the pointers and rows of A, B, C in bytes */
    struct gt_passes passes; /* launches within the device's limits, and workspace; of the
                              * first panel where the binding has panels */
    struct gt_binding binding;
    const struct gt_pinned *pinned; /* the image that it must have; NULL: any. A fit begins
                                     * without one */
};

/*
 * Fits the family's point to a canonical problem on a device. `values` are the point's, in
 * the family's parameter order; the pointers of A, B and C are multiples of `pointer_align`
 * bytes and of their own elements. A C without elements (m or n is 0) is treated as one of
 * 1 row or 1 column: its kernel is never launched.
 *
 * EUNSUPPORTED, with the reason, when the family has no kernel for the device, the data
 * types or the layout. EINVAL, with the reason, when the point may not run the problem:
 * - a parameter's value is not in its domain, or a derived name cannot be computed;
 * - a rule of "require" or "accept" refuses;
 * - rows or pointers of A, B or C are not aligned as the kernel needs;
 * - a launch is beyond the limits of the device;
 * - the problem has row_order, and the point states no order of sums (gt_order_of).
 */
gt_status gt_fit_values(struct gt_fit *out, const struct gt_family *f,
                        const struct gt_device *d, const gemmtune_problem *p,
                        int64_t pointer_align, const int64_t *values, struct gt_err *err);

/* The part of a fit that is the same for all points of a family. */
struct gt_fit_base {
    gemmtune_problem problem;
    struct gt_binding binding;
    /* The one order of sums that is wanted of points, where the problem has row_order; NULL
     * or "": any. gt_fit_begin sets NULL; the text must outlive the base. */
    const char *order;
};
/* gt_fit_values in two parts. The first one tells whether the family may serve the problem.
 * The second one believes that the values are of the parameters' domains; a failure leaves
 * in out->binding as much as was found out. */
gt_status gt_fit_begin(struct gt_fit_base *out, const struct gt_family *f,
                       const struct gt_device *d, const gemmtune_problem *p,
                       int64_t pointer_align, struct gt_err *err);
gt_status gt_fit_end(struct gt_fit *out, const struct gt_fit_base *base,
                     const struct gt_device *d, const int64_t *values, struct gt_err *err);

/* EINVAL unless the fit's kernel adds in this order, where its problem has row_order. NULL
 * or "": it must have some order. */
gt_status gt_fit_order(const struct gt_fit *fit, const char *order, struct gt_err *err);

/* gt_fit_values for a point by name, with pointers aligned to GT_VECTOR_BYTES. */
gt_status gt_fit_point(struct gt_fit *out, const struct gt_family *f,
                       const struct gt_device *d, const gemmtune_problem *p,
                       const struct gt_point *point, struct gt_err *err);

#endif
