/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c - see embed.h. */
#include "core/embed.h"

#include <string.h>

const char *gt_embedded_text(const struct gt_embedded *list, const char *path) {
    while (list->path != NULL && strcmp(list->path, path) != 0)
        list++;
    return list->text;
}
