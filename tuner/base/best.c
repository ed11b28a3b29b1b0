/* SPDX-License-Identifier: Apache-2.0 */
/* best.c - see best.h. */
#include "tuner/base/best.h"

#include <string.h>

static double key_of(const char *element) {
    double key;
    memcpy(&key, element, sizeof key);
    return key;
}

void *gt_best_place(void *array, int *count, int max, size_t size, double key) {
    char *const first = array;
    int at = *count;
    while (at > 0 && key_of(first + (size_t)(at - 1) * size) > key)
        at--;
    if (at == max)
        return NULL;
    *count += *count < max;
    char *const place = first + (size_t)at * size;
    memmove(place + size, place, (size_t)(*count - 1 - at) * size);
    return place;
}
