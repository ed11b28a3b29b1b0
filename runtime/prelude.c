/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelude.c - the text that every template begins with, and the other texts under
 * templates/ that are compiled in.
 */
#include "runtime/family_inside.h"

#include "core/embed.h"

#include <string.h>

const char *gt_template_text(const char *path) {
    for (const struct gt_embedded *e = gt_embedded_templates; e->path != NULL; e++)
        if (strcmp(e->path, path) == 0)
            return e->text;
    return NULL;
}

const char *gt_prelude(void) {
    const char *text = gt_template_text("templates/common/prelude.h");
    return text != NULL ? text : "";
}
