/* SPDX-License-Identifier: Apache-2.0 */
/* model_cpu.h - the computation of model.h for the cores of a CPU. */
#ifndef GT_RUNTIME_LOOKUP_MODEL_CPU_H
#define GT_RUNTIME_LOOKUP_MODEL_CPU_H

#include "runtime/lookup/model.h"

/* The time of a kernel that has one work-item a block, and works through a tile in vectors
 * as a CPU's BLAS does. False for other kernels: how fast a core goes through the
 * work-items of a GPU's block depends on the compiler. `out` is all 0 before;
 * who calls finds the term that binds. */
bool gt_model_on_cpu(struct gt_prediction *out, const struct gt_facts *facts,
                     const struct gt_device *d, const struct gt_costs *costs);

#endif
