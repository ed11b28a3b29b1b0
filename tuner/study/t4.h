/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t4.h - the trials of a problem on a device as results in the T4 format, version 1.0.0, of
 * the autotuning community (github.com/odgaard/TuningSchema): every finished trial with its
 * point, its times in ms and how it ended. The family is the parameter FAMILY, since a
 * problem has trials of several.
 */
#ifndef GT_TUNER_STUDY_T4_H
#define GT_TUNER_STUDY_T4_H

#include "db/db.h"

/* The only problem with finished trials on the device. ENOTFOUND: there is none; EINVAL:
 * there are several, with their number. */
gt_status gt_t4_problem(char name[GT_PROBLEM_NAME_MAX], struct gt_db *db,
                        const char *device_key, struct gt_err *err);
/* Writes the file as gt_new_text_begin does; "-" is standard output. *count: the trials.
 * ENOTFOUND: there is none. EIO. */
gt_status gt_t4_write(int64_t *count, struct gt_db *db, const char *device_key,
                      const char *device, const char *problem, const char *version,
                      const char *path, struct gt_err *err);

#endif
