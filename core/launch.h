/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - the shape of one kernel launch, in numbers. Families hold it as expressions. */
#ifndef GT_CORE_LAUNCH_H
#define GT_CORE_LAUNCH_H

#include <stdint.h>

struct gt_launch {
    int64_t grid[3];    /* blocks (work-groups) */
    int64_t block[3];   /* threads a block (work-items) */
    int64_t cluster[3]; /* blocks a cluster, 1 1 1 when none */
    int64_t smem_bytes; /* dynamic shared memory (CUDA) */
    int64_t workspace_bytes;
};

#endif
