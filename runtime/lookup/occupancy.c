/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.c - see occupancy.h. */
#include "runtime/lookup/occupancy.h"

#include <math.h>
#include <stddef.h>

enum {
    HALVES_FROM = 4, /* blocks a unit, from which clusters can use half pairs */
    GROUP_PAIRS = 9, /* the most pairs of units in a group (sm_90) */
    REGISTERS_MAX = 255,
    REGISTER_UNIT = 8, /* a thread's registers are a multiple of this */
};

/*
 * CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": resident
 * threads, blocks, registers, shared memory, and the shared memory that the system takes of
 * each block.
 */
static const struct room {
    int cc, threads, blocks, registers, smem, smem_lost;
} rooms[] = {
    {50, 2048, 32, 65536, 65536, 0},      {52, 2048, 32, 65536, 98304, 0},
    {53, 2048, 32, 65536, 65536, 0},      {60, 2048, 32, 65536, 65536, 0},
    {61, 2048, 32, 65536, 98304, 0},      {62, 2048, 32, 65536, 65536, 0},
    {70, 2048, 32, 65536, 98304, 0},      {72, 2048, 32, 65536, 98304, 0},
    {75, 1024, 16, 65536, 65536, 0},      {80, 2048, 32, 65536, 167936, 1024},
    {86, 1536, 16, 65536, 102400, 1024},  {87, 1536, 16, 65536, 167936, 1024},
    {89, 1536, 24, 65536, 102400, 1024},  {90, 2048, 32, 65536, 233472, 1024},
    {100, 2048, 32, 65536, 233472, 1024}, {120, 1536, 24, 65536, 102400, 1024},
    {121, 1536, 24, 65536, 102400, 1024},
};

static const struct room *room_of(int cc) {
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (rooms[i].cc == cc)
            return &rooms[i];
    return NULL;
}

static int64_t cdiv(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Registers are allocated to warps; each of the four partitions holds the same number of
 * warps. */
int gt_occupancy_blocks(int cc, int threads, int registers, int64_t smem) {
    const struct room *room = room_of(cc);
    if (room == NULL || threads < 1)
        return 0;
    const int64_t warps = cdiv(threads, GT_WARP);
    const int64_t each = cdiv(registers > 0 ? registers : 1, REGISTER_UNIT) * REGISTER_UNIT;
    const int64_t per_partition = room->registers / GT_PARTITIONS / (each * GT_WARP);
    int64_t blocks = least(room->blocks, room->threads / (warps * GT_WARP));
    blocks = least(blocks, per_partition * GT_PARTITIONS / warps);
    if (smem > 0)
        blocks = least(blocks, room->smem / (smem + room->smem_lost));
    return (int)blocks;
}

bool gt_occupancy_knows(int cc) {
    return room_of(cc) != NULL;
}

int gt_occupancy_registers(int cc, int64_t warps, int64_t blocks) {
    const struct room *room = room_of(cc);
    if (room == NULL)
        return 0;
    const int64_t each = cdiv(warps * least(blocks, room->blocks), GT_PARTITIONS);
    const int64_t share = room->registers / GT_PARTITIONS / (each * GT_WARP);
    return (int)least(REGISTERS_MAX, share / REGISTER_UNIT * REGISTER_UNIT);
}

double gt_occupancy_units(int units, int64_t cluster, int resident) {
    const int64_t pairs = units / 2, groups = cdiv(pairs, GROUP_PAIRS);
    const double pairs_each = (double)cluster / 2;
    double clusters = 0;
    if (cluster <= 2)
        return units;
    for (int64_t g = 0; g < groups; g++) {
        const int64_t size = pairs / groups + (g <= pairs % groups) - (g == groups - 1);
        clusters +=
            floor((double)size / (resident < HALVES_FROM ? ceil(pairs_each) : pairs_each));
    }
    return clusters > 0 ? clusters * (double)cluster : units;
}
