/* SPDX-License-Identifier: Apache-2.0 */
/* seeds_file.h - the file of seeds beside a database, for seeds.c. */
#ifndef GT_TUNER_TUNE_SEEDS_FILE_H
#define GT_TUNER_TUNE_SEEDS_FILE_H

#include "core/json.h"

/* *out is NULL when there is no such file. EPARSE with file and line; EIO. */
gt_status gt_seeds_file_load(struct gt_json **out, const char *path, struct gt_err *err);

#endif
