/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small.h - the short way of a host product: one copy of each matrix, one product, in one
 * queue of the first device. Tiles, threads and measurements would take longer than the
 * product.
 */
#ifndef GT_RUNTIME_HOST_SMALL_H
#define GT_RUNTIME_HOST_SMALL_H

#include "runtime/host/call.h"

/* Whether the product goes the short way: its matrices are small, and the caller asks for
 * nothing that only tiles have. */
bool gt_host_is_small(const struct gt_host_call *c);
/* Carries the product out, and fills the report. Errors of gemmtune_host_gemm. */
gt_status gt_host_small(struct gt_host_call *c, struct gt_err *err);

#endif
