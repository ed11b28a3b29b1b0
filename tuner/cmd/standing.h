/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standing.h - how the kernels of a database stand beside vendors' libraries on a device:
 * the kernel that a program gets for a problem, and what was measured of it.
 */
#ifndef GT_TUNER_CMD_STANDING_H
#define GT_TUNER_CMD_STANDING_H

#include "runtime/lookup/duels.h"
#include "runtime/lookup/match.h"
#include "tuner/base/sweep.h"

/* The kernels of a device's architecture, and the device's duels. */
struct gt_standings {
    const struct gt_device *device;
    char key[GT_DEVICE_KEY_MAX]; /* of the device */
    struct gt_snapshot snapshot;
    struct gt_known *known;
    struct gt_index *index;
    struct gt_duels duels;
};

/* A record that was imported does not count as tuned: another machine has measured it. */
enum gt_standing_kind { GT_STANDING_NONE, GT_STANDING_IMPORTED, GT_STANDING_TUNED };

struct gt_standing {
    struct gt_choice choice;
    const struct gt_duel *duel; /* the first of its duels */
    size_t duels;
};

/* `families` and `device` must outlive *out, which is cleared also after an error. */
gt_status gt_standings_load(struct gt_standings *out, struct gt_db *db,
                            const struct gt_families *families,
                            const struct gt_device *device, struct gt_err *err);
void gt_standings_clear(struct gt_standings *s);

/* The kernel of a caller with so many bytes of workspace, if one was tuned for the problem
 * on a device of this key; else *out has nothing. */
enum gt_standing_kind gt_standing_of(struct gt_standing *out, const struct gt_standings *s,
                                     const struct gt_sweep_item *item, int64_t workspace);

#endif
