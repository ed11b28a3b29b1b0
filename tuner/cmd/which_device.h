/* SPDX-License-Identifier: Apache-2.0 */
/*
 * which_device.h - finds the device of a command that runs nothing; it need not be present.
 */
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
            "a device that is not present, by its description (devices/)", 0, 0            \
    }

/* The options that name a device; all may be NULL. */
struct gt_which {
    const char *device; /* --device; NULL: the first of this machine */
    const char *file;   /* --device-file, which excludes --device */
    /* --db: a database in which a device is looked for that is not present */
    const char *db;
    /* The same database, where the command has read it: NULL there when there is none. NULL
     * here: it is opened when it is needed. */
    struct gt_db *const *opened;
};

/* Reads the file if one is named. Otherwise looks on this machine and then, for a device
 * that is named, in the database. Returns -1 with *out filled in, or the exit code (2, 3 or
 * 4) with the reason in err. */
int gt_which_device(struct gt_device *out, const struct gt_which *which,
                    struct gt_err *err);

/* Finds a device of the database only. `device` is as for gt_view_pick, or the index or
 * name of a device of this machine that the database knows. Errors as of gt_view_pick. */
gt_status gt_which_stored(size_t *index, const struct gt_view *v, const char *device,
                          struct gt_err *err);

#endif
