/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_of_memory.h - for tests that make each allocation fail in turn. They are linked
 * with --wrap=malloc, calloc and realloc.
 */
#ifndef GT_TESTS_SHORT_OF_MEMORY_H
#define GT_TESTS_SHORT_OF_MEMORY_H

#include <stddef.h>

void *__real_malloc(size_t size) __attribute__((weak)); /* NULL without --wrap=malloc */
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__real_realloc(void *old, size_t size) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int allocations_left = -1; /* -1: no limit */

static int take_allocation(void) {
    if (allocations_left > 0)
        allocations_left--;
    else if (allocations_left == 0)
        return 0;
    return 1;
}

void *__wrap_malloc(size_t size) {
    return take_allocation() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size) {
    return take_allocation() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size) {
    return take_allocation() ? __real_realloc(old, size) : NULL;
}

#endif
