/* SPDX-License-Identifier: Apache-2.0 */
/* template_file.h - the files of a kernel family that is not built in: they come from
 * somebody else, and are read with care. */
#ifndef GT_RUNTIME_TEMPLATE_FILE_H
#define GT_RUNTIME_TEMPLATE_FILE_H

#include "core/status.h"

/* A file as text, which the caller frees. The file must be a regular one: a pipe would wait
 * for ever, a link may lead out of the family's folder. ENOTFOUND when there is none; EIO;
 * EPARSE when it is too large or holds a NUL byte. */
gt_status gt_template_read(char **out, const char *path, struct gt_err *err);

/* EPARSE when the kernel source would read another file: what a compiler says of such a
 * file would be stored. `path` stands for the source in the message. */
gt_status gt_template_check(const char *source, const char *path, struct gt_err *err);

#endif
