/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - the kernel launches of a point, and the tensor maps that they take: a family's
 * expressions in numbers, held against the limits of the device. Pure: no device is asked.
 */
#ifndef GT_RUNTIME_LAUNCH_H
#define GT_RUNTIME_LAUNCH_H

#include "runtime/family.h"

/* The passes that a point has, in the order they run, and the tensor maps they take. */
struct gt_passes {
    int64_t workspace_bytes; /* that all passes share */
    int count, main;         /* item[main] is the main kernel */
    struct {
        const char *entry; /* the family's */
        struct gt_launch launch;
    } item[GT_PASSES_MAX];
    int map_count;
    struct {
        gt_arg base; /* the pointer that it is of */
        int64_t at;  /* bytes into that */
        struct gt_tiling tiling;
    } map[GT_MAPS_MAX]; /* in the family's order */
};

/* Appends the map for the bound problem. EINVAL: it lies nowhere, or hardware does not take
 * it. (launch_map.c) */
gt_status gt_map_add(struct gt_passes *out, const struct gt_map *map,
                     const struct gt_binding *b, const struct gt_device *d,
                     struct gt_err *err);

/* The launches and maps of all passes for the bound problem. EINVAL when one is out of the
 * device's limits. */
gt_status gt_passes_of(struct gt_passes *out, const struct gt_binding *b,
                       const struct gt_device *d, struct gt_err *err);

#endif
