/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forecast.h - how long a cut takes on a device, and which cut is the fastest. Pure: it
 * computes seconds from rates.
 */
#ifndef GT_RUNTIME_HOST_FORECAST_H
#define GT_RUNTIME_HOST_FORECAST_H

#include "runtime/host/schedule.h"

/* Measured rates of a device and its link (rates.h). All are above 0. */
struct gt_host_rates {
    double in, out;           /* bytes per second, one way at a time */
    double both_in, both_out; /* with both ways in use */
    double row;   /* seconds that a short row costs beside its bytes; 0 or more. Rows of
                   * GT_HOST_LONG_ROW bytes cost nothing, shorter ones in proportion */
    double flops; /* operations per second of a large product; see
                   * gt_host_product_flops */
};
enum { GT_HOST_LONG_ROW = 48 * 1024 };

/* `flops` of gt_host_rates from the seconds of one product of m x n x k in one launch. */
double gt_host_product_flops(int64_t m, int64_t n, int64_t k, double seconds);
/* Seconds of all products of a cut. */
double gt_host_compute_seconds(const struct gt_host_cut *cut, double flops);

struct gt_host_forecast {
    double seconds;             /* from the first copy to the last */
    double compute_seconds;     /* of the products alone */
    double bytes_in, bytes_out; /* copied to the device, and back */
};

/* Walks through the first `tiles` tiles in the way of the engine. Of many tiles it walks
 * through the first ones, and scales their forecast by the area of C. ENOMEM. */
gt_status gt_host_forecast(struct gt_host_forecast *out, const struct gt_host_cut *cut,
                           const struct gt_host_tile *tile, size_t tiles,
                           const struct gt_host_rates *rates, struct gt_err *err);

/* Seconds of the device with most to do,
 * when `devices` equal ones share the tiles. ENOMEM. */
gt_status gt_host_forecast_even(double *seconds, const struct gt_host_cut *cut, int devices,
                                const struct gt_host_rates *rates, struct gt_err *err);

/* A lower bound in seconds for every schedule of one device: the products alone, or one
 * copy of A, B and C over the link, whichever takes longer. */
double gt_host_lower_bound(const struct gt_host_cut *cut,
                           const struct gt_host_rates *rates);

struct gt_host_limits {
    int64_t memory;    /* bytes of device memory for all slots */
    int64_t max_alloc; /* bytes of the largest slot */
    int devices;       /* devices that share the product evenly */
};

/* Cuts with different tiles, the fastest by forecast first. */
enum { GT_HOST_CHOICES = 4 };
struct gt_host_choices {
    int count;
    struct gt_host_cut cut[GT_HOST_CHOICES];
    double seconds[GT_HOST_CHOICES]; /* as forecast */
};

/* Chooses tiles and slots: the fastest cuts by forecast that fit the limits.
 * *given has problem, reads_c and sums, and tile sizes; sizes that are not 0 stay. EINVAL
 * with the numbers when not even the smallest tiles fit. */
gt_status gt_host_choose_some(struct gt_host_choices *out, const struct gt_host_cut *given,
                              const struct gt_host_limits *limits,
                              const struct gt_host_rates *rates, struct gt_err *err);

/* Chooses tiles as in the paper of 2010: five slots (C0, A0, A1, B0, B1) and the largest
 * square tiles of C that fit, with slabs as deep as the slots' memory allows. EINVAL. */
gt_status gt_host_choose_five(struct gt_host_cut *cut, const struct gt_host_limits *limits,
                              struct gt_err *err);

#endif
