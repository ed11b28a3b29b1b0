/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - see memory.h. */
#include "runtime/memory.h"

#include <inttypes.h>

int64_t gt_memory_bytes(const struct gt_driver *driver, const void *pointer) {
    return driver->memory_bytes != NULL ? driver->memory_bytes(pointer) : INT64_MAX;
}

gt_status gt_memory_check(const struct gt_driver *driver, const void *pointer,
                          struct gt_need need, struct gt_err *err) {
    if (pointer == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "the pointer to %s is NULL", need.what);
    if (driver->pointers_are_addresses &&
        ((uintptr_t)pointer & (uintptr_t)(need.align - 1)) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the pointer to %s, %p, is not aligned to %d bytes", need.what,
                       pointer, (int)need.align);
    const int64_t has = gt_memory_bytes(driver, pointer);
    if (has < need.bytes)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the buffer of %s has %" PRId64 " bytes, must have %" PRId64
                       " at least",
                       need.what, has, need.bytes);
    return GEMMTUNE_OK;
}

gt_status gt_memory_apart(struct gt_named_memory memory,
                          const struct gt_named_memory *others, struct gt_err *err) {
    for (const struct gt_named_memory *o = others; o->name != NULL; o++)
        if (o->pointer == memory.pointer)
            return gt_fail(err, GEMMTUNE_EINVAL, "%s and %s are the same memory",
                           memory.name, o->name);
    return GEMMTUNE_OK;
}
