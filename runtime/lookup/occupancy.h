/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.h - how many blocks a CUDA unit (multiprocessor) holds at once, and how many
 * units clusters can use. Pure. A unit is known by its compute capability, `cc`.
 */
#ifndef GT_RUNTIME_LOOKUP_OCCUPANCY_H
#define GT_RUNTIME_LOOKUP_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GT_WARP = 32,
    GT_PARTITIONS = 4 /* of a multiprocessor; each issues one instruction a clock */
};

/* Whether the limits of such units are known. */
bool gt_occupancy_knows(int cc);
/* How many blocks of `threads` threads, with `registers` registers a thread and `smem`
 * bytes a block, a unit holds at once; 0 when none fits, or the unit is not known. */
int gt_occupancy_blocks(int cc, int threads, int registers, int64_t smem);
/* The most registers of a thread with which so many blocks (at most as many as a unit can
 * hold) of so many warps fit; 0 when the unit is not known. `warps` and `blocks` are 1 or
 * more. */
int gt_occupancy_registers(int cc, int64_t warps, int64_t blocks);
/* Units that clusters can use at once. A cluster takes pairs of units (TPC) of one group
 * (GPC), which has nine pairs at most. The pairs of a group that are left over stay empty.
 * When few blocks fit a unit, the other half of an odd cluster's last pair stays empty as
 * well. Chips differ in their groups: here all groups have equally many pairs, except one
 * that lacks a pair. */
double gt_occupancy_units(int units, int64_t cluster, int resident);

#endif
