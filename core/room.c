/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - see room.h. */
#include "core/room.h"

#include <stdint.h>
#include <stdlib.h>

void *gt_room_for(void *items, size_t *room, size_t count, size_t size) {
    enum { FIRST = 64 };
    if (count < *room)
        return items;
    const size_t more = *room > 0 ? 2 * *room : FIRST;
    if (more > SIZE_MAX / size)
        return NULL;
    void *const grown = realloc(items, more * size);
    if (grown != NULL)
        *room = more;
    return grown;
}
