/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - checks of the device memory that a call is given. */
#ifndef GT_RUNTIME_MEMORY_H
#define GT_RUNTIME_MEMORY_H

#include "runtime/driver.h"

/* The needs of a kernel for one pointer. */
struct gt_need {
    const char *what; /* in a message: "A", "operand bias" */
    int64_t align;    /* in bytes, a power of two; counts where pointers are addresses */
    int64_t bytes;    /* from the first to the last element */
};

/* The bytes of a buffer; INT64_MAX where nobody knows them. A cl_mem has a size, an address
 * has none. */
int64_t gt_memory_bytes(const struct gt_driver *driver, const void *pointer);

/* EINVAL: the pointer is NULL, is not aligned, or leads to a buffer that is known to be too
 * small. */
gt_status gt_memory_check(const struct gt_driver *driver, const void *pointer,
                          struct gt_need need, struct gt_err *err);

/* A pointer of a call and its name in messages. */
struct gt_named_memory {
    const char *name;
    const void *pointer;
};

/* EINVAL: the memory is one of the others, which end with a NULL name. That memory does not
 * overlap in part is the caller's promise. */
gt_status gt_memory_apart(struct gt_named_memory memory,
                          const struct gt_named_memory *others, struct gt_err *err);

#endif
