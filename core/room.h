/* SPDX-License-Identifier: Apache-2.0 */
/* room.h - arrays that grow by one item at a time. */
#ifndef GT_CORE_ROOM_H
#define GT_CORE_ROOM_H

#include <stddef.h>

/* Room for one more item of `size` bytes after `count` items: the array, which may have
 * moved, and *room, the number of items that it has room for. NULL: out of memory, and
 * `items` and *room are as before. The first array has room for 64 items, each later one
 * for twice as many. `items` is NULL as long as *room is 0. */
void *gt_room_for(void *items, size_t *room, size_t count, size_t size);

#endif
