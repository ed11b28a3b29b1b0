/* SPDX-License-Identifier: Apache-2.0 */
/* template_file.h - the files of a kernel family that is not built in. Their author may be
 * a stranger, so they are read with care. */
#ifndef GT_RUNTIME_FAMILY_TEMPLATE_FILE_H
#define GT_RUNTIME_FAMILY_TEMPLATE_FILE_H

#include "core/status.h"

/* Reads a file as text, which the caller frees. The file must be a regular one: a pipe
 * would wait for ever, and a link may lead out of the family's folder. ENOTFOUND when there
 * is none; EIO; EPARSE when it is too large or holds a NUL byte. */
gt_status gt_template_read(char **out, const char *path, struct gt_err *err);

/* EPARSE when the kernel source would read another file: the compiler's messages about that
 * file would be stored. Messages call the source `path`. */
gt_status gt_template_check(const char *source, const char *path, struct gt_err *err);

#endif
