/* SPDX-License-Identifier: Apache-2.0 */
/* alike.h - several equal devices of this machine:
 * a result of one of them holds for all. */
#ifndef GT_TUNER_RIG_ALIKE_H
#define GT_TUNER_RIG_ALIKE_H

#include "runtime/drivers/driver.h"

enum { GT_ALIKE_MAX = 64 };

struct gt_alike {
    size_t count;
    struct gt_device device[GT_ALIKE_MAX];
    size_t number[GT_ALIKE_MAX]; /* theirs, as `gemmtune devices` counts */
    /* "all": a clause about the devices that are left out, or "" */
    char others[256];
};

/* `what` names one device, or several with commas between, each as gt_devices_pick
 * takes it; "all", the first usable device and all that are equal to it; NULL, the first.
 * ENODRIVER: one is not there or cannot be used. EINVAL: one is named twice, or two have
 * different keys. */
gt_status gt_alike_find(struct gt_alike *out, const char *what, struct gt_err *err);
/* The same among the devices of a list. */
gt_status gt_alike_pick(struct gt_alike *out, const struct gt_device_list *list,
                        const char *what, struct gt_err *err);

#endif
