/* SPDX-License-Identifier: Apache-2.0 */
/* exported.h - the records of a file that `gemmtune export` wrote: which kernels they name,
 * and a change of the hashes in it. */
#ifndef GT_TOOLS_EXPORTED_H
#define GT_TOOLS_EXPORTED_H

#include "core/device.h"

struct gt_recorded {
    size_t device; /* its index */
    char *family, *hash, *problem, *point;
};

struct gt_exported {
    size_t devices, count;
    struct gt_device *device;
    struct gt_recorded *item; /* by device, problem and rank */
};

/* Reads the file as `gemmtune import` does. EIO, EPARSE, ENOMEM. */
gt_status gt_exported_read(struct gt_exported *out, const char *path, struct gt_err *err);
void gt_exported_clear(struct gt_exported *r);

/* Another hash for a family. */
struct gt_new_hash {
    const char *old_hash, *new_hash; /* 64 hex digits each */
};
/* Writes the file again with the new hashes and no other change. EIO, ENOMEM. */
gt_status gt_exported_stamp(const char *path, const struct gt_new_hash *change,
                            size_t count, struct gt_err *err);

#endif
