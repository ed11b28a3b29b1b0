/* SPDX-License-Identifier: Apache-2.0 */
/* algos.h - the algorithms that cublasLt's heuristic has proposed in this process. A
 * program that passes one of them on has not chosen it, as opposed to one that it has made
 * itself. */
#ifndef GT_SHIM_ALGOS_H
#define GT_SHIM_ALGOS_H

#include "shim/blas.h"

#include <stdbool.h>

void gt_shim_algo_keep(const struct gt_shim_algo *algo);
bool gt_shim_algo_is_known(const void *algo);

#endif
