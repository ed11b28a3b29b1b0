/* SPDX-License-Identifier: Apache-2.0 */
/* shelf_inside.h - what the files of shelf.h share. */
#ifndef GT_RUNTIME_LOOKUP_SHELF_INSIDE_H
#define GT_RUNTIME_LOOKUP_SHELF_INSIDE_H

#include "runtime/lookup/shelf.h"

#include <limits.h>

/* Joins a folder and a file. A path that is too long is "". */
void gt_shelf_join(char path[PATH_MAX], const char *folder, const char *file);

/* Whether the folder `path` serves the device; one that cannot be read serves none. *named
 * says whether the folder is of a device of this name. */
bool gt_shelf_serves(bool *named, const char *path, const struct gt_device *d);

#endif
