/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - files that are opened to be read, and whole transfers over descriptors, even when
 * signals arrive meanwhile.
 */
#ifndef GT_CORE_IO_H
#define GT_CORE_IO_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens an input file, which must be a regular one: a pipe may never have a writer, and a
 * device may have no end. EIO names the path. */
gt_status gt_open_input(int *fd, const char *path, struct gt_err *err);
gt_status gt_fopen_input(FILE **out, const char *path, struct gt_err *err);

/* False when the transfer ended early: end of file, or an error (errno). */
bool gt_read_all(int fd, void *to, size_t size);
bool gt_write_all(int fd, const void *from, size_t size);

#endif
