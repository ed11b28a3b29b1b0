/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - whole transfers over descriptors, even when signals arrive meanwhile.
 */
#ifndef GT_CORE_IO_H
#define GT_CORE_IO_H

#include <stdbool.h>
#include <stddef.h>

/* False when the transfer ended early: end of file, or an error (errno). */
bool gt_read_all(int fd, void *to, size_t size);
bool gt_write_all(int fd, const void *from, size_t size);

#endif
