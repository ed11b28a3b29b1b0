/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_up.h - devices that do not exist. MADE_UP initializes a struct gt_device with the
 * members that all CUDA devices have in common; a test sets the members that it is about:
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

/* A CPU of OpenCL with two cores. */
#define MADE_UP_CPU                                                                        \
    {                                                                                      \
        .backend = GEMMTUNE_OPENCL, .name = "CPU", .arch = "cpu", .units = 2, .warp = 1,   \
        .max_threads = 4096, .smem_max = 2097152, .has_f64 = true, .is_cpu = true          \
    }

#endif
