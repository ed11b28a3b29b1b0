/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.h - how fast a device's link copies and how fast the device multiplies, measured
 * once in the life of a process for each device, mix of types and size of problem.
 */
#ifndef GT_RUNTIME_HOST_RATES_H
#define GT_RUNTIME_HOST_RATES_H

#include "runtime/plan/context.h"
#include "runtime/host/copier.h"
#include "runtime/host/forecast.h"

/* Measures the rates, or returns the rates of an earlier measurement. Uses at most `memory`
 * bytes of device memory. `staged`: copies go through host memory that the copier's threads
 * fill, so they are no faster than those threads. link[0] (in) and link[1] (out) get the
 * link's own rates. */
gt_status gt_host_rates_of(struct gt_host_rates *out, double link[2], gemmtune_ctx *ctx,
                           const struct gt_host_cut *cut, int64_t memory,
                           struct gt_copier *staged, struct gt_err *err);

#endif
