/* SPDX-License-Identifier: Apache-2.0 */
/* short_of_memory.h - for tests that walk through every point at which memory may run out;
 * they are linked with --wrap=malloc. */
#ifndef GT_TESTS_SHORT_OF_MEMORY_H
#define GT_TESTS_SHORT_OF_MEMORY_H

#include <stddef.h>

void *__real_malloc(size_t size) __attribute__((weak)); /* NULL without --wrap=malloc */
void *__wrap_malloc(size_t size);

static int allocations_left = -1; /* -1: as many as there are */

void *__wrap_malloc(size_t size) {
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return __real_malloc(size);
}

#endif
