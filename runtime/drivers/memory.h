/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - checks of the device memory that a call is given. */
#ifndef GT_RUNTIME_DRIVERS_MEMORY_H
#define GT_RUNTIME_DRIVERS_MEMORY_H

#include "runtime/drivers/driver.h"

/* The needs of a kernel for one pointer. */
struct gt_need {
    const char *what; /* in a message: "A", "operand bias" */
    int64_t align;    /* in bytes, a power of two */
    int64_t bytes;    /* from the first to the last element */
};

/* The place of a call's first element. */
struct gt_memory {
    const void *pointer; /* an address, or a buffer */
    int64_t at;          /* the bytes of the buffer before it; 0 with an address */
};

/* The place of element `offset`, which is not negative. NULL stays NULL. */
struct gt_memory gt_memory_at(const struct gt_driver *driver, const void *pointer,
                              int64_t offset, size_t element_bytes);

/* A number: its low bits say how the place is aligned. Buffers begin at multiples of
 * what any kernel asks for. */
static inline uint64_t gt_memory_place(const struct gt_driver *driver, struct gt_memory m) {
    return driver->pointers_are_addresses ? (uint64_t)(uintptr_t)m.pointer : (uint64_t)m.at;
}

/* The bytes from a place to the end of its buffer; INT64_MAX where nobody knows them. A
 * cl_mem has a size, an address has none. */
int64_t gt_memory_bytes(const struct gt_driver *driver, struct gt_memory m);

/* EINVAL: the pointer is NULL, the place is not aligned, or its buffer is known to be too
 * small. */
gt_status gt_memory_check(const struct gt_driver *driver, struct gt_memory m,
                          struct gt_need need, struct gt_err *err);

/* A place of a call and its name in messages. */
struct gt_named_memory {
    const char *name;
    struct gt_memory memory;
};

/* EINVAL: the memory begins where one of the others does, which end with a NULL name. That
 * memory does not overlap in part is the caller's promise: the rows of matrices in one
 * buffer may interleave. */
gt_status gt_memory_apart(struct gt_named_memory memory,
                          const struct gt_named_memory *others, struct gt_err *err);

#endif
