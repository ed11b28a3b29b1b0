/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - `gemmtune lock --check`, as a part of two commands: `exec --lock` asks first. */
#ifndef GT_TUNER_CMD_LOCK_H
#define GT_TUNER_CMD_LOCK_H

/* Which lock, and where it is to hold. A device that is not said is the one of the lock. */
struct gt_lock_check_values {
    const char *path, *device, *device_file, *db;
};

/* Prints a line on stdout for each change since the lock was made. Exit 7 when there is
 * one; 3: a bad file. */
int gt_lock_check(const struct gt_lock_check_values *v);
/* Reads the lock, and compares what needs no compiler: the device, its driver, templates.
 * Returns -1 when all is as it was, else the exit code, with a sentence on stderr. */
int gt_lock_glance(const char *path);

#endif
