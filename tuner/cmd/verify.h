/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - `gemmtune verify`, as a part of other commands: `import --verify`. */
#ifndef GT_TUNER_CMD_VERIFY_H
#define GT_TUNER_CMD_VERIFY_H

#include <stdint.h>

/* Checks `sample` winners of the device in the database, drawn by the clock. `device` NULL:
 * the first. Says on stderr how many were correct. Returns the exit code of `verify`. */
int gt_verify_sample(const char *db, const char *device, int64_t sample);

#endif
