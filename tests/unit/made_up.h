/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_up.h - devices that nobody makes. MADE_UP initializes a struct gt_device with the
 * members that every CUDA device has alike; a test names those that it is about:
 *
 *     static const struct gt_device card = MADE_UP(.cc = 90, .units = 132);
 */
#ifndef GT_TESTS_UNIT_MADE_UP_H
#define GT_TESTS_UNIT_MADE_UP_H

#include "core/device.h"

#define MADE_UP(...)                                                                       \
    {                                                                                      \
        .backend = GEMMTUNE_CUDA, .warp = 32, .max_threads = 1024,                         \
        .regs_per_block = 65536, __VA_ARGS__                                               \
    }

#endif
