/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.h - the kernel launches of a point and their tensor maps: a family's expressions
 * as numbers, checked against the limits of the device. Pure: it asks no device.
 */
#ifndef GT_RUNTIME_FAMILY_LAUNCH_H
#define GT_RUNTIME_FAMILY_LAUNCH_H

#include "runtime/family/family.h"

/* The passes of a point, in the order in which they run, and their tensor maps. */
struct gt_passes {
    int64_t workspace_bytes; /* shared by all passes */
    int64_t workspace_step;  /* bytes of it for each product that the grid numbers */
    int count, main;         /* item[main] is the main kernel */
    struct {
        const char *entry; /* belongs to the family */
        struct gt_launch launch;
    } item[GT_PASSES_MAX];
    int map_count;
    struct {
        bool absent; /* the point has no such map: its argument is zeros */
        gt_arg base; /* the operand that holds the matrix */
        int64_t at;  /* bytes from that operand's start */
        struct gt_tiling tiling;
    } map[GT_MAPS_MAX]; /* in the family's order */
};

/* Appends the map for the bound problem. EINVAL: hardware does not accept it.
 * (launch_map.c) */
gt_status gt_map_add(struct gt_passes *out, const struct gt_map *map,
                     const struct gt_binding *b, const struct gt_device *d,
                     struct gt_err *err);

/* The launches and maps of all passes for the bound problem. EINVAL when one is beyond the
 * device's limits. */
gt_status gt_passes_of(struct gt_passes *out, const struct gt_binding *b,
                       const struct gt_device *d, struct gt_err *err);

#endif
