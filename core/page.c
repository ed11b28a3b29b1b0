/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - see page.h. */
#include "core/page.h"

#include <stdio.h>

struct gt_page gt_page_of(char *buf, size_t size) {
    if (size > 0)
        buf[0] = '\0';
    return (struct gt_page){buf, size, 0};
}

void gt_page_put(struct gt_page *page, const char *fmt, ...) {
    const size_t at = (size_t)page->len;
    const bool room = at < page->size;
    va_list args;
    va_start(args, fmt);
    page->len +=
        vsnprintf(room ? page->buf + at : NULL, room ? page->size - at : 0, fmt, args);
    va_end(args);
}
