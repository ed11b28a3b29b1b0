/* SPDX-License-Identifier: Apache-2.0 */
/* file_text.h - files of other tuners: plain or gzip, and JSON that was not closed. */
#ifndef GT_TUNER_STUDY_FILE_TEXT_H
#define GT_TUNER_STUDY_FILE_TEXT_H

#include "core/json.h"

/* Reads a file, plain or gzip. At most 64 MiB count; of more, one byte more is there. EIO;
 * EPARSE: damaged gzip data. */
gt_status gt_file_text(char **text, size_t *size, const char *path, struct gt_err *err);
/* As gt_json_parse_python, also for a file of Kernel Tuner that is still being written: it
 * ends after the comma of an entry, and is completed here. */
gt_status gt_file_json(struct gt_json **doc, const char *name, const char *text,
                       size_t size, struct gt_err *err);

#endif
