/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - checks of the device memory that a call is given. */
#ifndef GT_RUNTIME_MEMORY_H
#define GT_RUNTIME_MEMORY_H

#include "runtime/driver.h"

/* What a kernel needs of a pointer. */
struct gt_need {
    const char *what; /* in a message: "A", "operand bias" */
    int64_t align;    /* in bytes, a power of two; counts where pointers are addresses */
    int64_t bytes;    /* from the first to the last element */
};

/* EINVAL: the pointer is NULL, is not aligned, or leads to a buffer that is known to be too
 * small (a cl_mem has a size, an address has none). */
gt_status gt_memory_check(const struct gt_driver *driver, const void *pointer,
                          struct gt_need need, struct gt_err *err);

#endif
