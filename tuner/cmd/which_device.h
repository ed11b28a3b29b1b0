/* SPDX-License-Identifier: Apache-2.0 */
/* which_device.h - the device of a command that runs nothing: it need not be here. */
#ifndef GT_TUNER_CMD_WHICH_DEVICE_H
#define GT_TUNER_CMD_WHICH_DEVICE_H

#include "core/device.h"
#include "tuner/base/view.h"
#include "tuner/cmd/common.h"

#define GT_OPTION_ANY_DEVICE(values)                                                       \
    {                                                                                      \
        "device", 'd', GT_OPT_TEXT, offsetof(values, device), "N",                         \
            "device: index, UUID, PCI id, key or part of its name, of this machine or of " \
            "the database",                                                                \
            0, 0                                                                           \
    }
#define GT_OPTION_DEVICE_FILE(values)                                                      \
    {                                                                                      \
        "device-file", 0, GT_OPT_TEXT, offsetof(values, device_file), "FILE",              \
            "a device that is not here, by its description (configs/devices/)", 0, 0       \
    }

/* What was said of the device; all may be NULL. */
struct gt_which {
    const char *device; /* --device; NULL: the first of this machine */
    const char *file;   /* --device-file, which excludes it */
    const char *db;     /* --db: where a device is looked for that is not here */
};

/* The device of the file; else of this machine; else of the database. Returns -1 with *out
 * filled, or the exit code with the reason in err: 2, 3 or 4. */
int gt_which_device(struct gt_device *out, const struct gt_which *which,
                    struct gt_err *err);

/* Of a database alone: `device` as gt_view_pick takes it, or the index or the name of a
 * device of this machine that the database knows. Errors as gt_view_pick's. */
gt_status gt_which_stored(size_t *index, const struct gt_view *v, const char *device,
                          struct gt_err *err);

#endif
