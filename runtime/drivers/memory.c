/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - see memory.h. */
#include "runtime/drivers/memory.h"

#include "core/bytes.h"

#include <inttypes.h>

struct gt_memory gt_memory_at(const struct gt_driver *driver, const void *pointer,
                              int64_t offset, size_t element_bytes) {
    const int64_t at = gt_bytes_product(offset, (int64_t)element_bytes);
    if (pointer == NULL || at == 0)
        return (struct gt_memory){pointer, 0};
    return driver->pointers_are_addresses
               ? (struct gt_memory){(const void *)((uintptr_t)pointer + (uintptr_t)at), 0}
               : (struct gt_memory){pointer, at};
}

int64_t gt_memory_bytes(const struct gt_driver *driver, struct gt_memory m) {
    if (driver->memory_bytes == NULL)
        return INT64_MAX;
    const int64_t bytes = driver->memory_bytes(m.pointer);
    return bytes > m.at ? bytes - m.at : 0;
}

static gt_status check_alignment(const struct gt_driver *driver, struct gt_memory m,
                                 struct gt_need need, struct gt_err *err) {
    if ((gt_memory_place(driver, m) & (uint64_t)(need.align - 1)) == 0)
        return GEMMTUNE_OK;
    if (driver->pointers_are_addresses)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "the pointer to %s, %p, is not aligned to %d bytes", need.what,
                       m.pointer, (int)need.align);
    return gt_fail(err, GEMMTUNE_EINVAL,
                   "%s begins at byte %" PRId64 " of its buffer, not at a multiple of %d",
                   need.what, m.at, (int)need.align);
}

gt_status gt_memory_check(const struct gt_driver *driver, struct gt_memory m,
                          struct gt_need need, struct gt_err *err) {
    if (m.pointer == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "the pointer to %s is NULL", need.what);
    const gt_status status = check_alignment(driver, m, need, err);
    if (status != GEMMTUNE_OK || gt_memory_bytes(driver, m) >= need.bytes)
        return status;
    return gt_fail(err, GEMMTUNE_EINVAL,
                   "the buffer of %s has %" PRId64 " bytes, must have %" PRId64 " at least",
                   need.what, driver->memory_bytes(m.pointer),
                   gt_bytes_sum(m.at, need.bytes));
}

gt_status gt_memory_apart(struct gt_named_memory memory,
                          const struct gt_named_memory *others, struct gt_err *err) {
    for (const struct gt_named_memory *o = others; o->name != NULL; o++)
        if (o->memory.pointer == memory.memory.pointer && o->memory.at == memory.memory.at)
            return gt_fail(err, GEMMTUNE_EINVAL, "%s and %s are the same memory",
                           memory.name, o->name);
    return GEMMTUNE_OK;
}
