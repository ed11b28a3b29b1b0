/* SPDX-License-Identifier: Apache-2.0 */
/* read.h - from the arguments of a call to a problem of gemmtune's. */
#ifndef GT_SHIM_READ_H
#define GT_SHIM_READ_H

#include "shim/call.h"
#include "shim/state.h"
#include "shim/table.h"

/* Fills in all of *key but its context and workspace. Another reason than GT_SHIM_NONE: the
 * call is passed on for it. alpha and beta are read only where they lie in host memory. */
enum gt_shim_reason gt_shim_read(struct gt_shim_key *key, struct gt_shim_call *x,
                                 const struct gt_shim_state *s);
/* Fills in the arguments of a call of cublasLt out of its descriptors. */
enum gt_shim_reason gt_shim_read_lt(struct gt_shim_call *x);

#endif
